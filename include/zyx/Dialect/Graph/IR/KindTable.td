//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_KINDTABLE_TD
#define ZYX_DIALECT_GRAPH_IR_KINDTABLE_TD

include "mlir/IR/EnumAttr.td"

// A kind of unary, binary and so on is a row of its family's list. Numbers are stable, because the byte form of the
// plain graph holds them; utils/gen-graph-inc.py writes these records into the lists that C++ and Python read.

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

#endif // ZYX_DIALECT_GRAPH_IR_KINDTABLE_TD
