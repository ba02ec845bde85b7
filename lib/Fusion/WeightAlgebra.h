//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the gradients of a softmax compute, by algebra: however they are spelled, what comes out is a
// multiple of the weights or of the gradient of the scores.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_WEIGHTALGEBRA_H
#define ZYX_LIB_FUSION_WEIGHTALGEBRA_H

#include "Sinks.h"

namespace zyx::fusion {

/// A number times powers of e, the exponentials of an attention; s, what they are divided by: their sum along the keys,
/// and o, those of others, where there are some; g, the gradient of the weights; and d, the sum along the keys of
/// e g / s.
struct Term {
  double number = 1;
  int exp = 0, sum = 0, others = 0, gradient = 0, delta = 0;

  bool hasPowersOf(const Term &other) const {
    return exp == other.exp && sum == other.sum && others == other.others && gradient == other.gradient &&
           delta == other.delta;
  }
};
/// Terms of different powers, added up.
using Polynomial = llvm::SmallVector<Term, 2>;

/// Polynomials of the values around one attention: of those with the shape of its scores, and of those
/// that lack the keys. Roundings between floats are overlooked.
class WeightAlgebra {
public:
  WeightAlgebra(graph::ir::Attention &attention, const Sinks *sinks);

  /// False where the attention is spelled in a way that says nothing about its gradients.
  bool isUsable() const { return usable; }

  /// Null where nothing is known.
  const Polynomial *get(mlir::Value value);
  /// The factor of e / s, which is one weight; none where a value is something else.
  std::optional<double> getWeights(mlir::Value value);
  /// The factor of (e / s) (g - d), the gradient of the scores.
  std::optional<double> getScoreGradient(mlir::Value value);
  /// What a number of each row is that has d as a factor; none where a value is something else.
  std::optional<Term> getRow(mlir::Value value);
  /// Whether a value is made of the sums of rows alone, which are few.
  bool isOfSums(mlir::Value value);
  bool hasShapeOfScores(mlir::Value value) const;

  /// What is `getSumNumber` times s. Null where nobody asked for a value that reads it, so not where there are weights.
  mlir::Value getSum() const { return sum; }
  /// What o is, if there is one.
  mlir::Value getOthers() const { return sinks ? sinks->others : mlir::Value(); }
  double getSumNumber() const { return sumNumber; }
  /// The gradient of the weights: a sum of products of what comes to the results and the values. Null where
  /// nobody asked for a value that reads it.
  graph::ir::ReduceOp getGradient() const { return gradient; }
  /// What comes to the results, as a factor of that.
  mlir::Value getSeed();

private:
  std::optional<llvm::SmallVector<int64_t>> labelsOf(mlir::Value value) const;
  bool keepsLabels(mlir::Operation *view) const;
  bool isGradient(graph::ir::ReduceOp reduce) const;
  std::optional<Polynomial> compute(mlir::Value value);
  std::optional<Polynomial> computeBinary(graph::ir::BinaryOp op);
  std::optional<Polynomial> computeReduce(graph::ir::ReduceOp op);

  graph::ir::Attention &attention;
  const Sinks *sinks;
  llvm::ArrayRef<int64_t> shape;
  int64_t keys;
  /// The values as a factor of the attention's last product, and the dimension of the features there.
  mlir::Value values;
  int64_t features = 0;
  bool usable = false;
  mlir::Value sum;
  graph::ir::ReduceOp gradient;
  double sumNumber = 1;
  /// Calls of `get` inside of each other.
  int depth = 0;
  llvm::DenseMap<mlir::Value, std::optional<Polynomial>> known;
};

/// Whether two values are the same by the same views and casts of one.
bool areAlike(mlir::Value a, mlir::Value b);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_WEIGHTALGEBRA_H
