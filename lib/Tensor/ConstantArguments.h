//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Numbers of C++ are constants of programs, until they have another value in the same program.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_CONSTANTARGUMENTS_H
#define ZYX_LIB_TENSOR_CONSTANTARGUMENTS_H

#include "zyx/Graph/Graph.h"

#include <optional>
#include <unordered_map>

namespace zyx::detail {

/// Knows of programs that differ in constants alone, and makes arguments of those that had two values: a program whose
/// constant never changes keeps it, with all that follows from its value; one that is called with ever new ones, such
/// as learning rates or the number of a step, is compiled once more and never again.
///
/// A constant may become an argument where that changes no bit of the results: where it is one finite number that is
/// added to, multiplied or compared with what depends on inputs, or is repeated as a result. It stays where its value
/// says what the program is: exponents, fills of pads, branches of selects, divisors of integers, what is computed of
/// constants alone, and factors of weights of attention, by whose algebra kernels are chosen.
class ConstantArguments {
public:
  struct Split {
    /// With further inputs, of rank 0, behind the others.
    graph::Graph graph;
    /// Their elements.
    std::vector<std::vector<std::byte>> numbers;
  };
  /// None where all constants have the values that they always had.
  Result<std::optional<Split>> split(const graph::Graph &graph, uint16_t device);

private:
  /// Programs that are one but for their constants: the values of the first one, and which had another.
  struct Family {
    std::vector<std::vector<std::byte>> first;
    std::vector<bool> varies;
  };
  std::unordered_map<std::string, Family> families;
};

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_CONSTANTARGUMENTS_H
