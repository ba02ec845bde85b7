//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/Bake.h"

using namespace zyx;
using namespace zyx::artifact;

Result<Artifact> artifact::bake(Artifact artifact, std::span<const std::vector<std::byte>> values) {
  if (values.empty())
    return artifact;
  if (values.size() > artifact.inputs.size())
    return Status::invalidArgument("bake: " + std::to_string(values.size()) + " values, and " +
                                   std::to_string(artifact.inputs.size()) + " inputs");
  const size_t first = artifact.inputs.size() - values.size();
  std::vector<uint64_t> positions;
  for (size_t i = 0; i < values.size(); ++i) {
    const Argument &input = artifact.inputs[first + i];
    if (const Result<int64_t> size = byteSize(input.type); !size || static_cast<uint64_t>(*size) != values[i].size())
      return Status::invalidArgument("bake: the value of input '" + input.name + "' has " +
                                     std::to_string(values[i].size()) + " bytes");
    artifact.constants.resize((artifact.constants.size() + alignment - 1) / alignment * alignment);
    positions.push_back(artifact.constants.size());
    artifact.constants.insert(artifact.constants.end(), values[i].begin(), values[i].end());
  }
  for (Buffer &buffer : artifact.buffers)
    if (buffer.kind == BufferKind::Input && buffer.position >= first) {
      buffer.kind = BufferKind::Constant;
      buffer.position = positions[buffer.position - first];
    }
  artifact.inputs.resize(first);
  // What a step makes now depends on constants that its identity does not say.
  artifact.initSteps.clear();
  ZYX_RETURN_IF_ERROR(artifact.verify());
  return artifact;
}
