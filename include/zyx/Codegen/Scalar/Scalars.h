//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SCALAR_SCALARS_H
#define ZYX_CODEGEN_SCALAR_SCALARS_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

/// What conversions of the lowered form to LLVM, SPIR-V and WGSL share: each function rewrites numbers that a machine
/// or a language does not have, by those that it has. Code moves nowhere, and memory stays as it is.
namespace zyx::kernel {

/// Lanes of a value: 1 of what is no vector. And the type of so many elements.
inline int64_t lanesOf(mlir::Type type) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}
inline mlir::Type lanesType(mlir::Type element, int64_t lanes) {
  return lanes == 1 ? element : mlir::VectorType::get({lanes}, element);
}

/// Lanes of what a load or a store reads or writes.
int64_t accessLanesOf(mlir::Operation *access);
/// The access of a vector as accesses of so many lanes.
void takeApart(mlir::Operation *access, int64_t lanesOfEach);
/// The number of the vector, of so many lanes, that begins with an element: a multiple of them. Each term is divided
/// where all can be, so that a driver sees places behind one base.
mlir::Value vectorPlaceOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element, int64_t lanes, mlir::Type type);
/// For languages whose memory has one type, and that let nobody write a lane of a vector by itself: takes the accesses
/// of vectors apart but to memory of which all are such, of 32 bits each and of as many lanes. Of those the index is
/// that of the vector.
void keepWholeVectors(FuncOp func);
/// Lanes of the vectors that a buffer or an array consists of, as `keepWholeVectors` sees it.
int64_t memoryLanesOf(mlir::Value memory);

/// Whether signs of zeros, infinities and NaN may not be left to the driver. They may where floats are only moved,
/// widened, multiplied and added up, of constants from 0 on: a machine's products and sums have them right, and nobody
/// asks for them. A driver that is to keep them need not make one op of a product and a sum: NVIDIA's does not. What is
/// rounded to a small float is told from NaN before. Drivers may know products with numbers of bools or with 0, sums
/// with 0, and differences, which products with -1 are: a choice of 0, and 0.
bool needsSpecials(FuncOp func);

/// True for f16, bf16, f8E4M3FN and f8E5M2, and vectors of them.
bool isSmallFloat(mlir::Type type);

/// Instructions that compute with two small floats at a time: how the names of LLVM's intrinsics begin, and how they
/// end for each format.
struct PairIntrinsics {
  llvm::StringRef fma = "llvm.fma.", maximum = "llvm.maximum.", minimum = "llvm.minimum.";
  llvm::StringRef half = "v2f16", bfloat = "v2bf16";
};

/// Formats that LLVM converts to: others are rounded by operations on bits.
struct SmallFloatConversions {
  bool half = true, bfloat = false;
  /// f16 from f64, too: elsewhere that is a function of a library.
  bool halfOfDouble = false;
  /// Instructions of a GPU add, subtract and multiply two f16, or two bf16; whether they know maxima and minima, too.
  bool halfPairs = false, bfloatPairs = false, maximum = false;
  PairIntrinsics pairs = {};
  /// Elsewhere integers are converted by f32 alone, and no step has a denormal of f32, which a device may take for 0.
  bool doubles = true, denormals = true;
};

/// Leaves f16, bf16 and f8 only as bits, and in LLVM's conversions. A kernel's buffers and views have the bits, too.
mlir::LogicalResult lowerSmallFloats(mlir::FunctionOpInterface body, SmallFloatConversions has);

/// For machines that may take denormals of f32 and f64 for 0, and NaN for a number: comparisons, maxima and minima,
/// signs, roots and rounding to integers of scalars are right for them. What adds, multiplies and divides is left.
void keepDenormals(mlir::FunctionOpInterface body);

/// lowerSmallFloats to bits, and then keepDenormals, for languages whose drivers promise no floats but f32: SPIR-V and
/// WGSL. It fails where an op of small floats would be rounded twice.
mlir::LogicalResult lowerFloats(mlir::FunctionOpInterface body);

/// For languages that leave results open: shifts by too many digits, remainders of negative numbers, rounded quotients
/// and conversions of too large floats become ops on scalars that no machine computes otherwise. So do maxima and
/// minima of integers that have not 32 bits, and arithmetic of bools.
void spellOut(mlir::FunctionOpInterface body);

/// Behind spellOut, for languages whose integers have 32 bits: sums, products, quotients, shifts by less than 64,
/// comparisons, and conversions from and to f32, of scalars of 64 bits, and products of twice the digits. What is left
/// of those are bits, choices, extensions, `trunci`, and shifts by 32, which move one word to the place of the other.
void splitWideIntegers(mlir::FunctionOpInterface body);

/// Ops of subgroups, and numbers of them, as those of MLIR's gpu dialect, which has conversions to others.
void lowerSubgroups(mlir::FunctionOpInterface body);

/// Replaces division and square roots of scalars of f32, and division and remainders of scalars of 64 bits, by ops that
/// are correctly rounded, subnormals included. Where NVIDIA's driver of Vulkan (580) calls a routine for one of these,
/// some kernels compute garbage; and Vulkan promises no driver's division of f32 to be correctly rounded. Without
/// `floats` those of integers alone. Call it after `spellOut`.
void expandQuotients(mlir::FunctionOpInterface body, bool floats = true);

/// What drivers must not see, or compute something else. They fold sums and products with a zero as if floats had no
/// -0, infinity and NaN, whatever code asks for (lavapipe 22.3 does). The result is one more argument of 64 bits, whose
/// zero such zeros are made of; null where there are none. The type of the function stays as it is.
mlir::Value hideConstants(mlir::FunctionOpInterface func);

/// An integer of so many bits, of no sign or of one.
mlir::Value resize(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Type type, bool isSigned = false);

/// Indices become integers of so many bits, and casts of them conversions of integers. A counter of a loop that fits
/// has 32 bits: drivers are wrong and slow with wider ones.
void lowerIndices(mlir::FunctionOpInterface body, unsigned bits);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SCALAR_SCALARS_H
