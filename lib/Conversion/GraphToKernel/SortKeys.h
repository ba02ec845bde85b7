//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SORTKEYS_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SORTKEYS_H

#include "OrderEmitter.h"

namespace zyx::lowering {

/// Integers in the order in which elements are to stand: what comes first is the least.
class SortKeys {
public:
  SortKeys(mlir::OpBuilder &builder, mlir::Location loc, graph::ir::SortOp sort)
      : type(builder.getIntegerType(countBits(sort))), builder(builder), loc(loc), isUnsigned(sortsUnsigned(sort)),
        descending(sort.getDescending()) {}

  /// Bits of a key.
  static int64_t countBits(graph::ir::SortOp sort) {
    return std::max(32u, mlir::getElementTypeOrSelf(sort.getX().getType()).getIntOrFloatBitWidth());
  }

  /// What no key comes behind.
  llvm::APInt getLast() const { return llvm::APInt::getSignedMaxValue(type.getWidth()); }

  mlir::Value of(mlir::Value element) {
    return mlir::isa<mlir::FloatType>(element.getType()) ? ofFloat(element) : turn(ofInteger(element));
  }

  mlir::Value number(const llvm::APInt &value) {
    return mlir::arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }

  const mlir::IntegerType type;

private:
  mlir::Value turn(mlir::Value key) {
    return descending ? mlir::arith::XOrIOp::create(builder, loc, key, number(llvm::APInt::getAllOnes(type.getWidth())))
                            .getResult()
                      : key;
  }

  mlir::Value ofInteger(mlir::Value element) {
    const unsigned width = element.getType().getIntOrFloatBitWidth();
    if (width < type.getWidth())
      return isUnsigned ? mlir::arith::ExtUIOp::create(builder, loc, type, element).getResult()
                        : mlir::arith::ExtSIOp::create(builder, loc, type, element).getResult();
    // Half of the range away, unsigned numbers are signed ones.
    return isUnsigned
               ? mlir::arith::XOrIOp::create(builder, loc, element, number(llvm::APInt::getSignMask(width))).getResult()
               : element;
  }

  /// The bits of a float are its sign and its size. Both zeros are equal, and NaN comes last in any order.
  mlir::Value ofFloat(mlir::Value element) {
    auto format = mlir::cast<mlir::FloatType>(element.getType());
    const unsigned width = format.getWidth();
    auto narrow = builder.getIntegerType(width);
    auto constant = [&](const llvm::APInt &value) -> mlir::Value {
      return mlir::arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(narrow, value));
    };
    mlir::Value bits = mlir::arith::BitcastOp::create(builder, loc, narrow, element);
    mlir::Value size = mlir::arith::AndIOp::create(builder, loc, bits, constant(llvm::APInt::getSignedMaxValue(width)));
    mlir::Value isNegative = mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::slt, bits,
                                                         constant(llvm::APInt::getZero(width)));
    mlir::Value below = mlir::arith::SubIOp::create(builder, loc, constant(llvm::APInt::getZero(width)), size);
    mlir::Value key = mlir::arith::SelectOp::create(builder, loc, isNegative, below, size);
    if (width < type.getWidth())
      key = mlir::arith::ExtSIOp::create(builder, loc, type, key);
    const llvm::APInt infinity = llvm::APFloat::getInf(format.getFloatSemantics()).bitcastToAPInt();
    mlir::Value isNaN =
        mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::sgt, size, constant(infinity));
    return mlir::arith::SelectOp::create(builder, loc, isNaN, number(getLast()), turn(key));
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const bool isUnsigned, descending;
};

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_SORTKEYS_H
