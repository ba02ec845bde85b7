//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_TENSORCHAIN_H
#define ZYX_CODEGEN_MATRIX_TENSORCHAIN_H

#include "zyx/Codegen/Matrix/TensorPlaces.h"

namespace zyx::kernel {

/// A chain of products of whole tiles that tensor cores can compute, as the gradients of an attention are: inner
/// products of what lies along rows with what lies along another axis, over features; something elementwise on them;
/// and outer products of that with what lies along the other axis again, over that axis. All factors and results have
/// one 16-bit type, sums are f32. Or a sum over batches of something elementwise on inner products.
struct TensorChain {
  /// [rows, features] x [streamed, features].
  struct Inner {
    DotOp dot;
    TensorOperand own, other;
    int64_t depth = 0;
  };
  /// [rows, streamed] x [streamed, columns].
  struct Outer {
    DotOp dot;
    /// The left factor is this times `weight`.
    mlir::Value factor;
    double weight = 1;
    TensorOperand other, result;
    StoreOp store;
    /// The computed factor is the right one: the product is that of the others, transposed.
    bool isTransposed = false;
    /// Threads write it in f32, as a gradient has it that is added up over heads; others leave by the copy engine.
    bool isWide = false;
    Axis columns = 0;
    int64_t width = 0;
  };
  /// In place of outer products: what is computed of inner ones is added up over batches, element by element.
  struct Total {
    ReduceOp sum;
    mlir::Value term;
    StoreOp store;
    /// The batches that are summed up, outermost first.
    llvm::SmallVector<Axis> walked;
    /// What all of these read alike, and what each reads.
    llvm::SmallVector<mlir::Value> ofTile, ofBatch;
  };
  std::optional<Total> total;
  Axis rows = 0, streamed = 0;
  /// All of them, outermost first.
  llvm::SmallVector<Axis> batches;
  llvm::SmallVector<Inner> inner;
  /// Those that need fewer inner products first.
  llvm::SmallVector<Outer> outer;
  /// Whether what is zero outside of a bound need not be multiplied: left factors are weights of an attention. Of other
  /// products a zero times an infinity is a NaN, which the result has.
  bool hides = true;
  /// Conditions on places; outside of `begin`, whose factor is 1, and of `end`, whose factor is -1, all left factors of
  /// outer products are zero where that hides.
  llvm::SmallVector<TensorBound> bounds;
  std::optional<TensorBound> begin, end;
  /// Selects of zero outside of a bound, of what is zero there anyway.
  llvm::DenseSet<mlir::Value> idle;
  /// What every element has of all left factors, but for the inner products: tiles without the streamed axis, which
  /// need to be computed once for each tile of rows.
  llvm::SmallVector<mlir::Value> ofRows;

  /// Factors along the streamed axis, each once: what is multiplied twice has to be fetched once.
  llvm::SmallVector<const TensorOperand *> others() const;
  mlir::Type element() { return getElementTypeOrSelf(inner.front().dot.getLhs().getType()); }
};

/// Whether a kernel may be one: it has dots of which one reads what another one has computed, and no reduction.
bool isChain(FuncOp func);

/// Whether a kernel may be a sum over batches of what is computed of products: these read what lies in memory, and the
/// one sum adds up along dimensions that are neither rows nor columns of them.
bool isTotal(FuncOp func);

/// Reads the chain, or such a sum, off a kernel that may be one, and whose constants have one use each
/// (unshareConstants); where it is none for tensor cores, `reason` says why.
std::optional<TensorChain> matchTensorChain(FuncOp func, const Axes &axes, const target::TargetInfo &machine,
                                            std::string &reason);

/// Whether all left factors of outer products are zero where a condition does not hold, provided that what is finite
/// elsewhere is finite there.
bool isZeroWhereFalse(const TensorChain &chain, mlir::Value condition);

/// Makes the machine form of a kernel and erases it. `func` has been matched, and has a tensor_step, whose tiles are of
/// rows and blocks along the streamed axis.
void mapChain(FuncOp func, const TensorChain &chain, const Axes &axes);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_MATRIX_TENSORCHAIN_H
