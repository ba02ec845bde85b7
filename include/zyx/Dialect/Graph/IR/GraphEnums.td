//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHENUMS_TD
#define ZYX_DIALECT_GRAPH_IR_GRAPHENUMS_TD

include "mlir/IR/EnumAttr.td"

// The kinds of unary, binary and reduce. Numbers are stable, because the byte form of the plain
// graph holds them; utils/gen-graph-inc.py writes these records into zyx/Graph/GraphOps.inc.

/// A kind, the element types it takes, and its meaning in one sentence.
class Graph_Kind<string name, int number, string keyword, string types, string text>
    : I32EnumCase<name, number, keyword> {
  string takes = types;
  string meaning = text;
}

/// Rows of the tables in the op descriptions.
class Graph_KindTable<list<Graph_Kind> kinds> {
  string rows = "| kind | takes | meaning |\n|---|---|---|\n" # !interleave(
      !foreach(kind, kinds, "| `" # kind.str # "` | " # kind.takes # " | " # kind.meaning # " |"),
      "\n") #
      "\n\n`float` is f16, bf16, f32 or f64: 8-bit floats are not computed with, but cast first.";
}

defvar floatTypes = "float";
defvar numberTypes = "integer, float";
defvar bitTypes = "bool, integer";
defvar allTypes = "bool, integer, float";

class Graph_Unary<string name, int number, string keyword, string types, string text>
    : Graph_Kind<name, number, keyword, types, text>;
defvar Graph_UnaryKinds = [
  Graph_Unary<"Neg", 0, "neg", numberTypes, "-x; integers wrap, unsigned ones too">,
  Graph_Unary<"Not", 1, "not", bitTypes, "every bit inverted; of a bool, the other bool">,
  Graph_Unary<"Exp", 2, "exp", floatTypes, "e to the x">,
  Graph_Unary<"Exp2", 3, "exp2", floatTypes, "2 to the x">,
  Graph_Unary<"Log", 4, "log", floatTypes, "natural logarithm; NaN below 0, -inf at 0">,
  Graph_Unary<"Log2", 5, "log2", floatTypes, "logarithm to base 2">,
  Graph_Unary<"Recip", 6, "recip", floatTypes, "1 / x, rounded once">,
  Graph_Unary<"Sqrt", 7, "sqrt", floatTypes, "square root, rounded once; NaN below 0">,
  Graph_Unary<"Rsqrt", 8, "rsqrt", floatTypes, "1 / sqrt(x)">,
  Graph_Unary<"Sin", 9, "sin", floatTypes, "sine, of radians">,
  Graph_Unary<"Cos", 10, "cos", floatTypes, "cosine, of radians">,
  Graph_Unary<"Tan", 11, "tan", floatTypes, "tangent, of radians">,
  Graph_Unary<"Tanh", 12, "tanh", floatTypes, "hyperbolic tangent">,
  Graph_Unary<"Erf", 13, "erf", floatTypes, "error function">,
  Graph_Unary<"Floor", 14, "floor", floatTypes, "the next whole number at or below x">,
  Graph_Unary<"Ceil", 15, "ceil", floatTypes, "the next whole number at or above x">,
  Graph_Unary<"Round", 16, "round", floatTypes, "the nearest whole number, ties to the even one">,
  Graph_Unary<"Trunc", 17, "trunc", floatTypes, "x without its fraction">,
  Graph_Unary<"Abs", 18, "abs", numberTypes, "absolute value; of the smallest signed integer, itself">,
  Graph_Unary<"Expm1", 19, "expm1", floatTypes, "e to the x, less 1, with all digits near 0; -0 stays -0">,
];
def Graph_UnaryKind : I32Enum<"UnaryKind", "what a unary op computes",
                              !foreach(kind, Graph_UnaryKinds, !cast<EnumCase>(kind))> {
  let cppNamespace = "::zyx::graph::ir";
}

class Graph_Binary<string name, int number, string keyword, string types, string text>
    : Graph_Kind<name, number, keyword, types, text>;
defvar Graph_BinaryKinds = [
  Graph_Binary<"Add", 0, "add", numberTypes, "a + b; integers wrap">,
  Graph_Binary<"Sub", 1, "sub", numberTypes, "a - b; integers wrap">,
  Graph_Binary<"Mul", 2, "mul", numberTypes, "a * b; integers wrap">,
  Graph_Binary<"Div", 3, "div", numberTypes, "a / b; integers truncate, a / 0 has all bits set (-1 signed), the smallest signed integer / -1 is itself">,
  Graph_Binary<"Rem", 4, "rem", numberTypes, "the remainder of the truncated quotient, with the sign of a; a rem 0 = a for integers, NaN for floats">,
  Graph_Binary<"Pow", 5, "pow", numberTypes, "a to the b; of floats as C's pow; integers wrap, a to the 0 is 1, and for b < 0 it is 1 div (a to the -b) without wrapping: 1 or -1 of those, all bits set of 0, else 0">,
  Graph_Binary<"Max", 6, "max", allTypes, "the larger one; NaN where either is NaN; +0 is larger than -0; or for bools">,
  Graph_Binary<"Min", 7, "min", allTypes, "the smaller one; NaN where either is NaN; -0 is smaller than +0; and for bools">,
  Graph_Binary<"And", 8, "and", bitTypes, "bitwise and">,
  Graph_Binary<"Or", 9, "or", bitTypes, "bitwise or">,
  Graph_Binary<"Xor", 10, "xor", bitTypes, "bitwise exclusive or">,
  Graph_Binary<"Shl", 11, "shl", "integer", "a shifted left by b, read as unsigned; 0 where b is the width or more">,
  Graph_Binary<"Shr", 12, "shr", "integer", "a shifted right by b, read as unsigned, filled with the sign (unsigned: 0); only fill where b is the width or more">,
  Graph_Binary<"Lt", 13, "lt", allTypes, "a < b, IEEE 754: false with NaN">,
  Graph_Binary<"Le", 14, "le", allTypes, "a <= b, false with NaN">,
  Graph_Binary<"Gt", 15, "gt", allTypes, "a > b, false with NaN">,
  Graph_Binary<"Ge", 16, "ge", allTypes, "a >= b, false with NaN">,
  Graph_Binary<"Eq", 17, "eq", allTypes, "a == b, false with NaN; -0 == +0">,
  Graph_Binary<"Ne", 18, "ne", allTypes, "a != b, true with NaN">,
];
def Graph_BinaryKind : I32Enum<"BinaryKind", "what a binary op computes",
                               !foreach(kind, Graph_BinaryKinds, !cast<EnumCase>(kind))> {
  let cppNamespace = "::zyx::graph::ir";
}

class Graph_Reduce<string name, int number, string keyword, string types, string text>
    : Graph_Kind<name, number, keyword, types, text>;
defvar Graph_ReduceKinds = [
  Graph_Reduce<"Add", 0, "add", numberTypes, "the sum, which begins with +0: it is +0 of nothing and of -0 alone; integers wrap; f16 and bf16 accumulate in f32 and round once">,
  Graph_Reduce<"Max", 1, "max", allTypes, "the largest, as binary max; NaN where one is NaN">,
  Graph_Reduce<"Min", 2, "min", allTypes, "the smallest, as binary min; NaN where one is NaN">,
  Graph_Reduce<"Mul", 3, "mul", numberTypes, "the product; 1 of nothing; integers wrap; f16 and bf16 accumulate in f32 and round once">,
  Graph_Reduce<"And", 4, "and", bitTypes, "bitwise and; all bits set of nothing">,
  Graph_Reduce<"Or", 5, "or", bitTypes, "bitwise or; 0 of nothing">,
];
def Graph_ReduceKind : I32Enum<"ReduceKind", "how a reduce combines",
                               !foreach(kind, Graph_ReduceKinds, !cast<EnumCase>(kind))> {
  let cppNamespace = "::zyx::graph::ir";
}

class Graph_Scatter<string name, int number, string keyword, string types, string text>
    : Graph_Kind<name, number, keyword, types, text>;
defvar Graph_ScatterKinds = [
  Graph_Scatter<"Set", 0, "set", "all", "the update; of several for one element, the last">,
  Graph_Scatter<"Add", 1, "add", numberTypes, "element + update, as binary add">,
  Graph_Scatter<"Max", 2, "max", allTypes, "the larger one, as binary max">,
  Graph_Scatter<"Min", 3, "min", allTypes, "the smaller one, as binary min">,
  Graph_Scatter<"Mul", 4, "mul", numberTypes, "element * update, as binary mul">,
];
def Graph_ScatterKind : I32Enum<"ScatterKind", "what a scatter makes of an element and an update",
                                !foreach(kind, Graph_ScatterKinds, !cast<EnumCase>(kind))> {
  let cppNamespace = "::zyx::graph::ir";
}

class Graph_Sort<string name, int number, string keyword, string types, string text>
    : Graph_Kind<name, number, keyword, types, text>;
defvar Graph_SortKinds = [
  Graph_Sort<"Values", 0, "values", allTypes, "the elements in their new order, of the operand's type">,
  Graph_Sort<"Indices", 1, "indices", allTypes, "where along `dim` each of them was, as i64">,
];
def Graph_SortKind : I32Enum<"SortKind", "what a sort gives",
                               !foreach(kind, Graph_SortKinds, !cast<EnumCase>(kind))> {
  let cppNamespace = "::zyx::graph::ir";
}

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHENUMS_TD
