//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_GGUF_H
#define ZYX_NN_GGUF_H

#include "zyx/IO/Gguf.h"
#include "zyx/NN/Module.h"

namespace zyx::nn {

/// Tensors of a GGUF file by name, row-major, each in the file until a program needs it (mapTensors). Those of floats
/// and integers are of their dtypes. Quantised ones are lazy f32 tensors: their blocks lie in the file, and then in
/// memory, as they are, and whoever reads the tensor dequantises them; a matrix product with one row, as a decoding
/// step has, does so in its own kernel. Throws where the file has a tensor of a type that zyx does not know.
///
/// Module::load takes them, under other names by LoadOptions::rename; with LoadOptions::assign parameters stay
/// quantised.
NamedTensors mapGguf(const std::string &path, Place where = Place::current());
/// Of a file whose metadata was read.
NamedTensors mapGguf(const io::GgufFile &file, Place where = Place::current());

} // namespace zyx::nn

#endif // ZYX_NN_GGUF_H
