//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_IO_NPY_H
#define ZYX_IO_NPY_H

#include "zyx/Base/Tensor.h"

#include <span>
#include <string>
#include <vector>

/// NumPy's .npy files, versions 1.0 to 3.0: little-endian, row-major, of bool, integers, f16, f32
/// or f64. The format has no bf16 and no f8.
namespace zyx::io {

/// Every message starts with `name`, usually the path.
Result<HostTensor> parseNpy(std::span<const std::byte> bytes, const std::string &name);
/// The same; the tensor takes the memory of `bytes`.
Result<HostTensor> parseNpy(std::vector<std::byte> &&bytes, const std::string &name);
Result<HostTensor> readNpy(const std::string &path);

/// The bytes of a version 1.0 file; refuses dtypes that the format lacks.
Result<std::vector<std::byte>> encodeNpy(const HostTensor &tensor);
/// Atomic: never leaves a half-written file.
Status writeNpy(const std::string &path, const HostTensor &tensor);

} // namespace zyx::io

#endif // ZYX_IO_NPY_H
