//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Programs that leave the process: as text, as an artifact, as C.
#ifndef ZYX_TENSOR_EXPORT_H
#define ZYX_TENSOR_EXPORT_H

#include "zyx/Tensor/Jit.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace zyx {

enum class ExportForm : uint8_t {
  /// Text of graph ops, which zyx-compile and zyx-run read.
  Text,
  /// What zyx-compile writes: the runtime loads it without the compiler.
  Artifact,
  /// One C11 source that needs libc and libm alone.
  CSource,
};

struct ExportOptions {
  /// The name of the program's function.
  std::string entry = "main";
  /// Names of arguments and results; where there are none, "in0" and "out0".
  std::vector<std::string> inputs = {}, outputs = {};
  /// Of an artifact: what it is compiled for. By default the device on which the arguments lie.
  std::string target = "";
  /// Of code for "cpu": the instruction set, "x86-64-v3" say. "native" runs where it was compiled.
  std::string isa = "native";
};

struct Exported {
  /// The text, or what a file holds.
  std::vector<std::byte> bytes;
  /// Of a text: inputs behind the arguments, with their values.
  std::vector<std::pair<std::string, Tensor>> values;
};

/// The function as a program. It is called once, with arguments of these types and without values. Values that it reads
/// beside them, such as parameters, are constants of the program; in a text those of more than graph::maxConstantBytes
/// are inputs. A function that sets a parameter, or draws from a Generator, is refused: nobody would keep that.
Exported exportProgram(const Jit::Function &function, Tensors arguments, ExportForm form,
                       const ExportOptions &options = {}, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_EXPORT_H
