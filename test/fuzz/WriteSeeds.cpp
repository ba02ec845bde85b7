//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../unit/Runtime/TestArtifact.h"

#include "zyx/Base/File.h"
#include "zyx/Graph/UnaryKind.h"
#include "zyx/Session/Cache.h"

#include <cstdio>
#include <filesystem>

using namespace zyx;

/// A node of every kind that the byte form tells apart.
static graph::Graph sampleGraph() {
  graph::Graph graph;
  const graph::NodeId x = *graph.parameter("x", {DType::F32, {4, 3}});
  const graph::NodeId w = *graph.parameter("w", {DType::BF16, {3, 2}});
  const graph::NodeId wide = *graph.cast(w, DType::F32);
  const graph::NodeId a = *graph.expand(*graph.reshape(x, {4, 3, 1}), {4, 3, 2});
  const graph::NodeId b = *graph.expand(*graph.reshape(wide, {1, 3, 2}), {4, 3, 2});
  const graph::NodeId y = *graph.reduce(graph::ReduceKind::Add, *graph.binary(graph::BinaryKind::Mul, a, b), {1});
  const graph::NodeId zero = *graph.expand(*graph.splat({DType::F32, {1, 1}}, std::vector<std::byte>(4)), {4, 2});
  const graph::NodeId chosen = *graph.select(*graph.binary(graph::BinaryKind::Lt, y, zero), zero, y);
  const graph::NodeId index = *graph.constant({DType::I64, {2}}, std::vector<std::byte>(16, static_cast<std::byte>(1)));
  graph.inputs = {x};
  graph.outputs = {{"y", *graph.permute(*graph.unary(graph::UnaryKind::Exp, chosen), {1, 0})},
                   {"rows", *graph.iota({DType::I64, {4, 2}}, 0)},
                   {"index", index}};
  graph.bindParameters();
  return graph;
}

/// WriteSeeds FOLDER: an example of each binary format of ours, made by today's writers, so that a
/// change of a format leaves no corpus behind that is refused at its first bytes.
int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  const std::string folder = argv[1];
  const std::string code = folder + "/code";
  auto write = [&](const char *name, std::span<const std::byte> bytes) {
    std::filesystem::create_directories(folder + "/" + name);
    Status status = writeFileAtomically(folder + "/" + name + "/sample", bytes);
    if (!status)
      std::fprintf(stderr, "%s\n", status.toString().c_str());
    return status.isOk();
  };
  std::filesystem::create_directories(folder);
  const std::vector<std::byte> elf(16, static_cast<std::byte>(0x7f));
  return writeFileAtomically(code, elf).isOk() && write("graph", sampleGraph().serialize()) &&
                 write("artifact", sampleArtifact(code).serialize()) &&
                 write("cache",
                       session::CacheEntry{
                           "key", {{"tool", "build 00"}}, 2, "remark", std::nullopt, sampleArtifact(code).serialize()}
                           .serialize())
             ? 0
             : 1;
}
