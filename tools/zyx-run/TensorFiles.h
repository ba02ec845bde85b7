//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_ZYX_RUN_TENSORFILES_H
#define ZYX_TOOLS_ZYX_RUN_TENSORFILES_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Tensor.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zyx::run {

/// NAME=FILE[:TENSOR][[BEGIN:END]], as the user wrote it.
struct InputSpec {
  std::string name, file;
  /// A tensor of a safetensors file; empty where none was named.
  std::string tensor;
  /// Rows: the half-open range of indices of the first dimension.
  std::optional<std::pair<int64_t, int64_t>> rows;
};
Result<InputSpec> parseInputSpec(std::string_view text);

/// Reads what the spec names and checks it against the input.
Result<HostTensor> readInput(const InputSpec &spec, const artifact::Argument &input);

/// The rows [begin, end) of a tensor.
Result<HostTensor> sliceRows(HostTensor tensor, int64_t begin, int64_t end);

} // namespace zyx::run

#endif // ZYX_TOOLS_ZYX_RUN_TENSORFILES_H
