//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A program that knows zyx by find_package alone, and works with its rooms below tensors: a session compiles a text,
// the artifact goes through its byte form, and the runtime runs it on a device that was chosen by its facts.
//===----------------------------------------------------------------------===//

#include <zyx/Artifact/Artifact.h>
#include <zyx/Runtime/Executor.h>
#include <zyx/Session/Session.h>
#include <zyx/Version.h>

#include <array>
#include <cstdio>

using namespace zyx;

static_assert(ZYX_VERSION_NUMBER >= 100 && artifact::oldestFormatVersion < artifact::formatVersion);

static constexpr char text[] =
    "func.func @twice(%x: tensor<4xf32> {graph.name = \"x\"}) -> (tensor<4xf32> {graph.name = \"y\"}) {\n"
    "  %y = graph.binary add %x, %x : tensor<4xf32>\n"
    "  return %y : tensor<4xf32>\n"
    "}\n";

static Status run() {
  bool isPresent = false;
  for (const runtime::DeviceListing &listing : runtime::listDevices())
    isPresent |= listing.present && listing.facts.memoryBytes > 0 && listing.name == "cpu";
  if (!isPresent)
    return Status::internal("there is no cpu");
  session::Session session;
  ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs,
                       session.parseGraphs(std::as_bytes(std::span(text, sizeof(text) - 1)), "twice.mlir"));
  session::CompileOptions options;
  ZYX_ASSIGN_OR_RETURN(session::Compiled compiled, session.compile(std::move(graphs.front()), options));
  ZYX_ASSIGN_OR_RETURN(const artifact::Artifact made, compiled.readArtifact());
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact read, artifact::Artifact::deserialize(made.serialize()));
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Device> device, runtime::createDevice("cpu"));
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Executor> executor, runtime::Executor::create(device, std::move(read)));
  const std::array<float, 4> x = {1, 2, 3, 4};
  std::array<float, 4> y = {};
  ZYX_RETURN_IF_ERROR(executor->setInput(0, std::as_bytes(std::span(x))));
  ZYX_RETURN_IF_ERROR(executor->run());
  ZYX_RETURN_IF_ERROR(executor->readOutput(0, std::as_writable_bytes(std::span(y))));
  std::printf("%s: %g %g %g %g\n", ZYX_VERSION_STRING, y[0], y[1], y[2], y[3]);
  return Status::ok();
}

int main() {
  const Status status = run();
  if (!status.isOk())
    std::fprintf(stderr, "rooms: %s\n", status.toString().c_str());
  return !status.isOk();
}
