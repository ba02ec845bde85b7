//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Formulas over scalars, vectors and tiles, written with operators.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_DIALECT_KERNEL_TRANSFORMS_EXPANDMATHEMITTER_H
#define ZYX_LIB_DIALECT_KERNEL_TRANSFORMS_EXPANDMATHEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <functional>
#include <initializer_list>

namespace zyx::kernel::expand {

class Emitter;

/// A number of a formula: a float, integer or bool, or a vector or tile of them.
struct Num {
  Emitter *emitter = nullptr;
  mlir::Value value;

  mlir::Type type() const { return value.getType(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type())); }
  unsigned width() const { return mlir::getElementTypeOrSelf(type()).getIntOrFloatBitWidth(); }
};

/// What the machine has an instruction for.
struct Instructions {
  bool fma = true, exactFma = true, rounding = true, doubles = true;
  /// Powers of two of f32, good to 2 units in the last place, without denormals; maxima and minima in which NaN stays.
  bool powers = false, maximum = false;
};

/// Builds ops at one place; equal constants are built once.
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, Instructions has) : has(has), builder(builder), loc(loc) {}

  const Instructions has;

  Num num(mlir::Value value) { return {this, value}; }
  /// A constant of the type of `like`, which is splatted over vectors and tiles.
  Num constant(Num like, double value);
  /// The same for integers, given by their bits.
  Num bits(Num like, uint64_t value);
  template <typename Op, typename... Args> Num emit(Args &&...args) {
    return num(Op::create(builder, loc, std::forward<Args>(args)...).getResult());
  }

private:
  Num splat(mlir::Type type, mlir::TypedAttr element);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// `like` with another element type.
mlir::Type withElement(mlir::Type like, mlir::Type element);

// Arithmetic of two floats or two integers.
Num operator+(Num a, Num b);
Num operator-(Num a, Num b);
Num operator*(Num a, Num b);
Num operator/(Num a, Num b);
inline Num operator+(Num a, double b) { return a + a.emitter->constant(a, b); }
inline Num operator-(Num a, double b) { return a - a.emitter->constant(a, b); }
inline Num operator*(Num a, double b) { return a * a.emitter->constant(a, b); }
inline Num operator/(Num a, double b) { return a / a.emitter->constant(a, b); }
inline Num operator-(double a, Num b) { return b.emitter->constant(b, a) - b; }
inline Num operator/(double a, Num b) { return b.emitter->constant(b, a) / b; }

// Bits.
Num operator&(Num a, Num b);
Num operator|(Num a, Num b);
Num operator^(Num a, Num b);
Num operator<<(Num a, unsigned by);
/// Logical: zeros come in.
Num operator>>(Num a, unsigned by);
/// Arithmetic: copies of the sign come in.
Num shiftSigned(Num a, unsigned by);

// Comparisons: ordered for floats (false with NaN; unequal is true), signed for integers.
Num operator<(Num a, Num b);
Num operator<=(Num a, Num b);
Num operator==(Num a, Num b);
Num operator!=(Num a, Num b);
inline Num operator>(Num a, Num b) { return b < a; }
inline Num operator<(Num a, double b) { return a < a.emitter->constant(a, b); }
inline Num operator>(Num a, double b) { return a.emitter->constant(a, b) < a; }
inline Num operator==(Num a, double b) { return a == a.emitter->constant(a, b); }
inline Num operator!=(Num a, double b) { return a != a.emitter->constant(a, b); }

Num select(Num condition, Num a, Num b);
inline Num select(Num condition, Num a, double b) { return select(condition, a, a.emitter->constant(a, b)); }
inline Num select(Num condition, double a, Num b) { return select(condition, b.emitter->constant(b, a), b); }
/// a * b + c, with an error of hardly more than half a unit in the last place also where a * b and c
/// nearly cancel.
Num fma(Num a, Num b, Num c);
inline Num fma(Num a, double b, Num c) { return fma(a, a.emitter->constant(a, b), c); }
inline Num fma(Num a, double b, double c) { return fma(a, a.emitter->constant(a, b), a.emitter->constant(a, c)); }
inline Num fma(Num a, Num b, double c) { return fma(a, b, a.emitter->constant(a, c)); }
/// a * b + c, where what the product is rounded to does not matter.
Num addProduct(Num a, Num b, Num c);
Num abs(Num a);
Num negate(Num a);
Num sqrt(Num a);
Num truncate(Num a);
Num floor(Num a);
Num ceil(Num a);
/// To the nearest whole number, ties to the even one.
Num nearest(Num a);
/// The size of `a` with the sign of `b`.
Num copySign(Num a, Num b);

/// The smaller, and `a` where it is NaN: one instruction on most machines, unlike IEEE's minimum.
Num clampAbove(Num a, double limit);
Num clampBelow(Num a, double limit);
/// 2^a by the machine's instruction.
Num machinePower(Num a);
/// 1 / a of a number from 1 on, by the machine's instruction where it has one that is good to a unit in the last place.
Num machineInverse(Num a);

/// The bits of a float as an integer of its width.
Num toBits(Num a);
/// The float of these bits.
Num fromBits(Num a);
/// A float in another format, exact or rounded to nearest even.
Num toFormat(Num a, mlir::Type element);
/// A signed integer as a float of its width.
Num toFloat(Num a);

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
Num polynomial(Num x, llvm::ArrayRef<double> c);

//===----------------------------------------------------------------------===//
// One function per math op: f32 or f64 in, the same out
//===----------------------------------------------------------------------===//

// Of one operand: in ExpandMathExpLog.cpp, those of angles in ExpandMathTrig.cpp.
#define ZYX_KERNEL_FUNCTION(Op, name, ...) Num name(Num x);
#include "zyx/Dialect/Kernel/IR/Functions.inc"
/// exp for an x that is at most 0 or NaN.
Num expNonpositive(Num x);
Num pow(Num x, Num y);
/// The remainder of the truncated quotient, exact; NaN where y is 0 or x infinite.
Num fmod(Num x, Num y);

} // namespace zyx::kernel::expand

#endif // ZYX_LIB_DIALECT_KERNEL_TRANSFORMS_EXPANDMATHEMITTER_H
