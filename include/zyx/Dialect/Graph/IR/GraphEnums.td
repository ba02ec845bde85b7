//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHENUMS_TD
#define ZYX_DIALECT_GRAPH_IR_GRAPHENUMS_TD

include "zyx/Dialect/Graph/IR/KindTable.td"

// The kinds of binary, reduce, scatter and sort; those of unary are in UnaryKinds.td.

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
