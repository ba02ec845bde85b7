//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a kernel of whole tiles means, op by op: the oracle that the schedule and the lowering are
// tested against. It shares nothing with them.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_CODEGENLOOPS_TILEINTERPRETER_H
#define ZYX_TEST_UNIT_CODEGENLOOPS_TILEINTERPRETER_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "llvm/ADT/MapVector.h"

#include <string>
#include <vector>

namespace zyx::kernel {

/// The elements of a buffer, as numbers.
struct TestBuffer {
  mlir::Type element;
  std::vector<double> elements;
};

/// The nearest number that the type has; integers wrap.
double roundTo(mlir::Type type, double value);
/// Elements as the kernel's memory holds them, and back.
std::vector<std::byte> encode(const TestBuffer &buffer);
std::vector<double> decode(mlir::Type element, const std::byte *bytes, size_t count);

/// One buffer per buffer argument, as long as the function's views need, with small whole numbers.
std::vector<TestBuffer> makeBuffers(FuncOp func, unsigned seed);
/// Runs a function without a schedule. Fails, with its name, at an op that it does not know.
mlir::LogicalResult interpret(FuncOp func, std::vector<TestBuffer> &buffers);

} // namespace zyx::kernel

#endif // ZYX_TEST_UNIT_CODEGENLOOPS_TILEINTERPRETER_H
