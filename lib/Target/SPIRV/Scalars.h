//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_SPIRV_SCALARS_H
#define ZYX_LIB_TARGET_SPIRV_SCALARS_H

#include "zyx/Base/Status.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace zyx::target {

/// A refusal that names the op and its location.
Status refuseOp(mlir::Operation *op, const llvm::Twine &why);

/// Builds arithmetic on scalars in the spirv dialect. SPIR-V leaves open what shifts by
/// too many digits, remainders of negative numbers and conversions of too large numbers are: each is spelled out here.
class Scalars {
public:
  explicit Scalars(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  /// The type of a value; null where there is none.
  mlir::Type valueType(mlir::Type type) const;
  /// One result of an op whose operands are these values, as `op` has them.
  Result<mlir::Value> compute(mlir::Operation *op, mlir::ValueRange operands);
  Result<mlir::Value> constant(mlir::Operation *op, mlir::Attribute value);

  mlir::Value number(mlir::Type type, uint64_t value);
  mlir::Value zero(mlir::Type type);
  mlir::Value index(int64_t value) { return number(b.getI64Type(), static_cast<uint64_t>(value)); }
  /// An integer of another width.
  mlir::Value resize(mlir::Value value, mlir::Type type, bool isSigned);
  /// Sums and products of indices, without what a constant decides.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  template <typename Op> mlir::Value make(mlir::Value x, mlir::Value y) { return Op::create(b, loc, x, y).getResult(); }
  template <typename Op> mlir::Value make(mlir::Value x) { return Op::create(b, loc, x).getResult(); }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::spirv::SelectOp::create(b, loc, condition, x, y).getResult();
  }
  /// Whether it is a constant, and which one.
  static std::optional<int64_t> known(mlir::Value value);

private:
  using Make = mlir::Value (Scalars::*)(mlir::Value, mlir::Value);
  mlir::Value real(mlir::Type type, double value);
  mlir::Value bits(mlir::Value x, mlir::Type type);
  mlir::Value bitAnd(mlir::Value x, uint64_t mask);
  mlir::Value shl(mlir::Value x, unsigned by);
  /// No driver may make one op of two such: results would differ from those of other devices.
  template <typename Op> mlir::Value exact(mlir::Value x, mlir::Value y) {
    auto op = Op::create(b, loc, x, y);
    op->setAttr("no_contraction", b.getUnitAttr());
    return op.getResult();
  }
  mlir::Value isNaN(mlir::Value x) { return make<mlir::spirv::FUnordNotEqualOp>(x, x); }
  mlir::Value shift(mlir::Operation *op, mlir::Value x, mlir::Value by);
  mlir::Value divide(mlir::Operation *op, mlir::Value x, mlir::Value y);
  mlir::Value toInteger(mlir::Value x, mlir::Type type, bool isSigned);
  Result<mlir::Value> compareIntegers(mlir::Operation *op, mlir::Value x, mlir::Value y);
  mlir::Value compareFloats(mlir::Operation *op, mlir::Value x, mlir::Value y);
  /// Of i1, which is no integer in SPIR-V; null where the op is none of bools.
  mlir::Value computeBools(mlir::Operation *op, mlir::ValueRange x);
  mlir::Value convert(mlir::Operation *op, mlir::Value x, mlir::Type to);
  /// All others, on integers and f32 and f64; null where there is none.
  mlir::Value computeNumbers(mlir::Operation *op, mlir::ValueRange x);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_SPIRV_SCALARS_H
