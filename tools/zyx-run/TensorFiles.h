//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_ZYX_RUN_TENSORFILES_H
#define ZYX_TOOLS_ZYX_RUN_TENSORFILES_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Tensor.h"
#include "zyx/IO/Npy.h"
#include "zyx/IO/Safetensors.h"

#include <memory>
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

/// A tensor in a file, of which the header was read, and nothing else.
class TensorSource {
public:
  /// What the spec names, checked against the input. A stream of another type than the input's is refused
  /// by its first bytes.
  static Result<TensorSource> open(const InputSpec &spec, const artifact::Argument &input);
  /// A tensor of an open file, that of the spec.
  static Result<TensorSource> open(std::shared_ptr<const io::SafetensorsFile> file, const InputSpec &spec,
                                   const artifact::Argument &input);

  const TensorType &type() const { return tensorType; }
  /// The elements.
  Result<HostTensor> read() const;

private:
  TensorSource() = default;
  Result<TensorType> findTensor(const InputSpec &spec);
  Status check(const InputSpec &spec, TensorType found, const artifact::Argument &input);

  /// One of these.
  std::shared_ptr<const io::NpyFile> npy;
  std::shared_ptr<const io::SafetensorsFile> safetensors;
  const io::SafetensorsFile::Entry *entry = nullptr;
  std::optional<std::pair<int64_t, int64_t>> rows;
  /// Of the rows.
  TensorType tensorType;
};

/// Opens what the spec names, and reads it.
Result<HostTensor> readInput(const InputSpec &spec, const artifact::Argument &input);

} // namespace zyx::run

#endif // ZYX_TOOLS_ZYX_RUN_TENSORFILES_H
