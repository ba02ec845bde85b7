//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_TENSORCHAIN_H
#define ZYX_CODEGEN_MATRIX_TENSORCHAIN_H

#include "zyx/Codegen/Matrix/TensorPlaces.h"

#include <vector>

namespace zyx::kernel {

/// A chain of products of whole tiles that tensor cores can compute, as the gradients of an attention are: inner
/// products of what lies along rows with what lies along another axis, over features; something elementwise on them;
/// and outer products of that with what lies along the other axis again, over that axis. Factors of inner products and
/// results have one 16-bit type, other factors of outer products that one or another, sums are f32. Or a
/// sum over batches of something elementwise on inner products.
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
    /// What kernels read of it: the result of the dot, or the sum of that and of `more`'s.
    mlir::Value sum;
    /// Dots of the same left factor that are added to it.
    llvm::SmallVector<DotOp> more;
    /// The left factor is this times `weight`.
    mlir::Value factor;
    double weight = 1;
    /// Numbers of the type of the other factors that the left one is the sum of. One if it has been rounded to that
    /// type, or may be.
    int64_t parts = 1;
    /// Right factors: the sum is that of all products with each part.
    std::vector<TensorOperand> others;
    mlir::Type element;
    TensorOperand result;
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
  std::vector<Outer> outer;
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
