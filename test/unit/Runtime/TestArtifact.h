//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_RUNTIME_TESTARTIFACT_H
#define ZYX_TEST_UNIT_RUNTIME_TESTARTIFACT_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/File.h"

/// What a compiler makes of y = (x * 2 + 1) + c, z = x, w = 7 for x: f32[4], c = [10, 20, 30, 40],
/// w: i32[2]. `kernels` is the path of the shared object of Kernels.c.
inline zyx::artifact::Artifact sampleArtifact(const std::string &kernels) {
  using namespace zyx;
  using namespace zyx::artifact;
  Artifact a;
  a.entry = "main";
  a.target = "cpu";
  a.inputs = {{"x", {DType::F32, {4}}}};
  a.outputs = {{"y", {DType::F32, {4}}}, {"z", {DType::F32, {2, 2}}}, {"w", {DType::I32, {2}}}};
  a.buffers = {{BufferKind::Input, 0, 16}, {BufferKind::Output, 0, 16}, {BufferKind::Output, 1, 16},
               {BufferKind::Output, 2, 8}, {BufferKind::Arena, 64, 16}, {BufferKind::Constant, 64, 16}};
  a.arenaSize = 128;
  const float c[] = {10, 20, 30, 40};
  a.constants.resize(64);
  const auto bytes = std::as_bytes(std::span(c));
  a.constants.insert(a.constants.end(), bytes.begin(), bytes.end());
  if (auto code = readFile(kernels); code.isOk())
    a.code = {{"elf-so", std::move(*code)}};
  a.kernels = {{"add", 0, 3, 0, "sum", {}, 1}, {"scale", 0, 2, 2, "affine", {}, 1}};
  // In two halves, by offsets into the buffers.
  a.commands = {{Launch{1, {{0, 0}, {4, 0}}, {1, 2, 1}, {2, 1}}, {}},
                {Launch{1, {{0, 8}, {4, 8}}, {2, 1, 1}, {2, 1}, 4, 16}, {}},
                {Copy{{0, 0}, {2, 0}, 16}, {}},
                {Fill{{3, 0}, 8, 7, 4}, {}},
                {Launch{0, {{4, 0}, {5, 0}, {1, 0}}, {4, 1, 1}, {}}, {0, 1}}};
  return a;
}

#endif // ZYX_TEST_UNIT_RUNTIME_TESTARTIFACT_H
