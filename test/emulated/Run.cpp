//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs one artifact for zyx-conformance --emulator: reads its size in 8 bytes, the artifact and the bytes of
// all inputs from the standard input, and writes the bytes of all outputs.
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Executor.h"

#include <cstdio>
#include <cstring>
#include <iterator>

using namespace zyx;

static Status run() {
  std::vector<std::byte> request;
  std::byte piece[1 << 16];
  for (size_t got; (got = std::fread(piece, 1, sizeof(piece), stdin)) > 0;)
    request.insert(request.end(), piece, piece + got);
  uint64_t size = 0;
  if (request.size() < sizeof(size))
    return Status::invalidArgument("the request is too short");
  std::memcpy(&size, request.data(), sizeof(size));
  std::span<const std::byte> rest = std::span(request).subspan(sizeof(size));
  if (rest.size() < size)
    return Status::invalidArgument("the request is too short");
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, artifact::Artifact::deserialize(rest.first(size)));
  rest = rest.subspan(size);
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Device> device, runtime::createDevice("cpu", {.threads = 1}));
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Executor> executor,
                       runtime::Executor::create(device, std::move(artifact)));
  const artifact::Artifact &program = executor->artifact();
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    ZYX_ASSIGN_OR_RETURN(const int64_t bytes, byteSize(program.inputs[i].type));
    if (rest.size() < static_cast<size_t>(bytes))
      return Status::invalidArgument("the request is too short");
    ZYX_RETURN_IF_ERROR(executor->setInput(i, rest.first(bytes)));
    rest = rest.subspan(bytes);
  }
  ZYX_RETURN_IF_ERROR(executor->run());
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    ZYX_ASSIGN_OR_RETURN(const int64_t bytes, byteSize(program.outputs[i].type));
    std::vector<std::byte> output(bytes);
    ZYX_RETURN_IF_ERROR(executor->readOutput(i, output));
    std::fwrite(output.data(), 1, output.size(), stdout);
  }
  return Status::ok();
}

int main() {
  const Status status = run();
  if (!status.isOk())
    std::fprintf(stderr, "%s\n", status.toString().c_str());
  return status.isOk() ? 0 : 1;
}
