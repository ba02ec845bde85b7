//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// All that is known of a kind of unary beside its formulas. docs/adding-an-op.md says what a new row needs beside
// itself. A file of its own, so that a new kind builds only what names kinds of unary.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_UNARYKINDS_TD
#define ZYX_DIALECT_GRAPH_IR_UNARYKINDS_TD

include "zyx/Dialect/Graph/IR/KindTable.td"

/// How kernels compute a kind: ops that Tiles::unary of lib/Conversion/GraphToKernel/Elements.cpp builds.
class Graph_Lowering {
  string op = "";
  string length = "";
  bit isOnRegisters = 0;
  bit isHeavy = 0;
}
def byHand : Graph_Lowering;

/// One op of `math` which the machines have, or nearly.
class Graph_Instruction<string mathOp> : Graph_Lowering {
  let op = mathOp;
}

/// One op of `math` which lib/Dialect/Kernel/Transforms/ExpandMath makes arithmetic of, within 4 units in the last place.
class Graph_Function<string mathOp, string functionLength, bit onRegisters, bit heavy> : Graph_Lowering {
  let op = mathOp;
  /// What it takes of an element: "Root", little more than a square root; "Short", a polynomial, which is not computed
  /// again for each row only to save a kernel; "Long", one of an argument that is reduced exactly.
  let length = functionLength;
  /// Whether it can be computed of what a product or an attention on tensor cores has in its registers.
  let isOnRegisters = onRegisters;
  /// Whether it takes more time and registers than the exponential of a softmax.
  let isHeavy = heavy;
}

class Graph_Unary<string name, int number, string keyword, string types, string text, Graph_Lowering by,
                  bit flat = 0, bit nanBelowZero = 0, string function = keyword> :
    Graph_Kind<name, number, keyword, types, text> {
  Graph_Lowering lowering = by;
  /// The derivative is 0 wherever there is one.
  bit isFlat = flat;
  /// NaN where the operand is less than 0: random programs and tests stay above.
  bit isNanBelowZero = nanBelowZero;
  /// What tensors call it. None where the function is more than the op.
  string member = function;
}

defvar Graph_UnaryKinds = [
  Graph_Unary<"Neg", 0, "neg", numberTypes, "-x; integers wrap, unsigned ones too", byHand>,
  Graph_Unary<"Not", 1, "not", bitTypes, "every bit inverted; of a bool, the other bool", byHand, function = "">,
  Graph_Unary<"Exp", 2, "exp", floatTypes, "e to the x", Graph_Function<"Exp", "Short", 1, 0>>,
  Graph_Unary<"Exp2", 3, "exp2", floatTypes, "2 to the x", Graph_Function<"Exp2", "Short", 1, 0>>,
  Graph_Unary<"Log", 4, "log", floatTypes, "natural logarithm; NaN below 0, -inf at 0",
              Graph_Function<"Log", "Short", 1, 1>, nanBelowZero = 1>,
  Graph_Unary<"Log2", 5, "log2", floatTypes, "logarithm to base 2", Graph_Function<"Log2", "Short", 1, 1>,
              nanBelowZero = 1>,
  Graph_Unary<"Recip", 6, "recip", floatTypes, "1 / x, rounded once", byHand, function = "reciprocal">,
  Graph_Unary<"Sqrt", 7, "sqrt", floatTypes, "square root, rounded once; NaN below 0", Graph_Instruction<"Sqrt">,
              nanBelowZero = 1>,
  Graph_Unary<"Rsqrt", 8, "rsqrt", floatTypes, "1 / sqrt(x)", Graph_Function<"Rsqrt", "Root", 1, 0>, nanBelowZero = 1>,
  Graph_Unary<"Sin", 9, "sin", floatTypes, "sine, of radians", Graph_Function<"Sin", "Long", 0, 1>>,
  Graph_Unary<"Cos", 10, "cos", floatTypes, "cosine, of radians", Graph_Function<"Cos", "Long", 0, 1>>,
  Graph_Unary<"Tan", 11, "tan", floatTypes, "tangent, of radians", Graph_Function<"Tan", "Long", 0, 1>>,
  Graph_Unary<"Tanh", 12, "tanh", floatTypes, "hyperbolic tangent", Graph_Function<"Tanh", "Short", 1, 1>>,
  Graph_Unary<"Erf", 13, "erf", floatTypes, "error function", Graph_Function<"Erf", "Short", 1, 1>>,
  Graph_Unary<"Floor", 14, "floor", floatTypes, "the next whole number at or below x", Graph_Instruction<"Floor">,
              flat = 1>,
  Graph_Unary<"Ceil", 15, "ceil", floatTypes, "the next whole number at or above x", Graph_Instruction<"Ceil">,
              flat = 1>,
  Graph_Unary<"Round", 16, "round", floatTypes, "the nearest whole number, ties to the even one",
              Graph_Instruction<"RoundEven">, flat = 1>,
  Graph_Unary<"Trunc", 17, "trunc", floatTypes, "x without its fraction", Graph_Instruction<"Trunc">, flat = 1>,
  Graph_Unary<"Abs", 18, "abs", numberTypes, "absolute value; of the smallest signed integer, itself", byHand>,
  Graph_Unary<"Expm1", 19, "expm1", floatTypes, "e to the x, less 1, with all digits near 0; -0 stays -0",
              Graph_Function<"ExpM1", "Short", 1, 1>>,
  Graph_Unary<"Cbrt", 20, "cbrt", floatTypes, "cube root; of -x that of x, negated",
              Graph_Function<"Cbrt", "Short", 1, 1>>,
];
def Graph_UnaryKind : I32Enum<"UnaryKind", "what a unary op computes",
                              !foreach(kind, Graph_UnaryKinds, !cast<EnumCase>(kind))> {
  let cppNamespace = "::zyx::graph::ir";
}

#endif // ZYX_DIALECT_GRAPH_IR_UNARYKINDS_TD
