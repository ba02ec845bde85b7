//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The specification of the graph: every device computes what stands here.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHOPS_TD
#define ZYX_DIALECT_GRAPH_IR_GRAPHOPS_TD

include "zyx/Dialect/Graph/IR/GraphAttrs.td"
include "zyx/Dialect/Graph/IR/GraphDialect.td"
include "zyx/Dialect/Graph/IR/GraphEnums.td"
include "zyx/Dialect/Graph/IR/UnaryKinds.td"
include "zyx/Dialect/Graph/IR/GraphInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Element : AnyTypeOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64,
                               F8E4M3FN, F8E5M2],
                              "bool, integer or float">;
def Graph_Tensor : RankedTensorOf<[Graph_Element]>;

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// An op that is a node of the plain graph. `number` is stable: the byte form holds it. A number of
/// operands of -1 means any number from 1 on. The verifier converts the operands to plain types and calls zyx::graph::inferType.
class Graph_NodeOp<string name, int number, int numOperands, list<Trait> traits = []>
    : Op<Graph_Dialect, name, traits # [Pure, DeclareOpInterfaceMethods<Graph_NodeOpInterface>]> {
  int opcode = number;
  int arity = numOperands;
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

/// A node whose type follows from its operands.
class Graph_InferredOp<string name, int number, int numOperands, list<Trait> traits = []>
    : Graph_NodeOp<name, number, numOperands, traits # [InferTypeOpAdaptor]> {
  // InferTypeOpInterface compares the type that is inferred with the one that is written.
  let hasVerifier = 0;
}

/// The elements of the operand under other indices; computes nothing, and costs nothing where it
/// is folded into the load of its operand.
class Graph_ViewOp<string name, int number, list<Trait> traits = []>
    : Graph_NodeOp<name, number, 1, traits> {
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// Elements in the text, or in a resource behind it. Whoever asks for them gets the elements themselves.
def Graph_DenseElementsAttr
    : ElementsAttrBase<CPred<"::llvm::isa<::mlir::DenseIntOrFPElementsAttr, ::mlir::DenseResourceElementsAttr>($_self)">,
                       "dense integer or float elements"> {
  let storageType = "::mlir::ElementsAttr";
  let returnType = "::mlir::DenseElementsAttr";
  let convertFromStorage = "::zyx::graph::ir::toDenseElements($_self)";
}

def Graph_ConstantOp : Graph_NodeOp<"constant", 0, 0,
    [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A tensor known to the compiler";
  let description = [{
    The elements are one that is repeated (a splat), or at most 4096 bytes; more data is a
    `graph.parameter`, because a compiler never frees its attributes.

    ```mlir
    %eps = graph.constant dense<1.0e-5> : tensor<4xf32>
    %table = graph.constant dense_resource<table> : tensor<2xf32>
    ```

    The resource of a constant is in the section `dialect_resources` of the text, under `builtin`: a number
    that says how the elements are aligned, four bytes, and then the little-endian elements. A bool is a byte, 0 or 1.
    The text of an op keeps it; a pass that makes a constant of another writes its elements.
  }];
  let arguments = (ins Graph_DenseElementsAttr:$value);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Graph_ParameterOp : Graph_NodeOp<"parameter", 1, 0> {
  let summary = "A tensor bound by name when the program is loaded";
  let description = [{
    Weights and other data that stay the same over many runs. Two parameters of one name are one
    tensor and have one type. Arguments of the entry are parameters too, bound at each run; their
    names differ from the names of these.

    ```mlir
    %w = graph.parameter "weights" : tensor<64x32xbf16>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def Graph_IotaOp : Graph_NodeOp<"iota", 10, 0> {
  let summary = "Each element is its own index along one dimension";
  let description = [{
    `result[i0, ..., in] = i_dim`, of an integer or float type that counts exactly to the last index.

    ```mlir
    %columns = graph.iota dim = 1 : tensor<4x8xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let assemblyFormat = "`dim` `=` $dim attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

def Graph_ReshapeOp : Graph_ViewOp<"reshape", 2> {
  let summary = "The same elements in row-major order under other extents";
  let description = [{
    ```mlir
    %y = graph.reshape %x : tensor<4x6xf32> -> tensor<2x2x6x1xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

def Graph_ExpandOp : Graph_ViewOp<"expand", 3> {
  let summary = "Repeats the element of dimensions of extent 1";
  let description = [{
    Operand and result have the same rank; where the extents differ, the operand's is 1, and every
    index along that dimension reads its only element. New dimensions are made by a reshape before.

    ```mlir
    %y = graph.expand %x : tensor<4x1xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

def Graph_PermuteOp : Graph_ViewOp<"permute", 4, [InferTypeOpAdaptor]> {
  let summary = "Dimensions in another order";
  let description = [{
    `order` names, for each dimension of the result, the operand's dimension that it is:
    `extent(result, i) = extent(x, order[i])`. A transposition has order [1, 0].

    ```mlir
    %y = graph.permute %x order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$order);
  let hasVerifier = 0;
  let assemblyFormat = "$x `order` `=` $order attr-dict `:` type($x) `->` type($result)";
}

def Graph_FlipOp : Graph_ViewOp<"flip", 12, [InferTypeOpAdaptor]> {
  let summary = "Dimensions walked backwards";
  let description = [{
    Along each of `dims`, which are increasing and not empty, index i reads index
    `extent - 1 - i` of the operand.

    ```mlir
    %y = graph.flip %x dims = [1] : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims);
  let hasVerifier = 0;
  let assemblyFormat = "$x `dims` `=` $dims attr-dict `:` type($x)";
}

def Graph_PadOp : Graph_InferredOp<"pad", 13, 2,
    [TypesMatchWith<"the fill is one element of the operand's type", "x", "fill",
                    "::mlir::RankedTensorType::get({}, "
                    "::mlir::cast<::mlir::RankedTensorType>($_self).getElementType())">]> {
  let summary = "Elements around and between those of a tensor";
  let description = [{
    Along each dimension `interior` elements are put between each two neighbours, then `low` before
    the first and `high` after the last; all of them are `fill`, a tensor of rank 0. Where `low` or
    `high` is negative that many elements are removed instead, fills of the interior among them. So
    the extent is `low + extent + max(extent - 1, 0) * interior + high`; one below 0 is refused, and
    so is a negative `interior`.

    An element of the result is one of `x` or the fill, bit for bit: neither has an influence on the
    places of the other, NaN included.

    ```mlir
    %zero = graph.constant dense<0.0> : tensor<f32>
    %y = graph.pad %x, %zero low = [1, -2] high = [1, 0] interior = [0, 1]
        : tensor<4x8xf32> -> tensor<6x13xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$fill, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let hasFolder = 1;
  let assemblyFormat = [{
    $x `,` $fill `low` `=` $low `high` `=` $high `interior` `=` $interior attr-dict
    `:` type($x) `->` type($result)
  }];
}

def Graph_WindowOp : Graph_InferredOp<"window", 14, 1> {
  let summary = "Overlapping slices of a tensor";
  let description = [{
    Along the i-th of `dims` a window has `size[i]` elements, which lie `dilation[i]` apart in the
    operand, and windows begin `stride[i]` apart; all three are positive. That dimension counts
    windows in the result, as many as fit: `(extent - 1 - (size - 1) * dilation) / stride + 1`, or 0
    where none does. The dimensions inside of a window stand at the end, in the order of `dims`,
    which are increasing and not empty:
    `result[..., p, ..., k...] = x[..., p * stride + k * dilation, ...]`.

    Strided slices are windows of size 1; a pooling reduces the last dimensions; a convolution
    multiplies the windows of a padded tensor with the filter and adds.

    ```mlir
    %w = graph.window %x dims = [1, 2] size = [3, 3] stride = [2, 2] dilation = [1, 1]
        : tensor<8x9x9xf32> -> tensor<8x4x4x3x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims, DenseI64ArrayAttr:$size,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$dilation);
  let assemblyFormat = [{
    $x `dims` `=` $dims `size` `=` $size `stride` `=` $stride `dilation` `=` $dilation attr-dict
    `:` type($x) `->` type($result)
  }];
}

def Graph_ConcatOp : Graph_InferredOp<"concat", 15, -1> {
  let summary = "Tensors one after the other along a dimension";
  let description = [{
    One operand or more, of one element type and of equal extents in all dimensions but `dim`. The
    elements are copied bit for bit.

    ```mlir
    %y = graph.concat %a, %b dim = 0 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$parts, I64Attr:$dim);
  let hasFolder = 1;
  let assemblyFormat = "$parts `dim` `=` $dim attr-dict `:` functional-type(operands, results)";
}

def Graph_TransferOp : Graph_ViewOp<"transfer", 21, [InferTypeOpAdaptor]> {
  let summary = "The same tensor on another device";
  let description = [{
    The only op that names a device: lower-case letters and digits, and the number of the device
    among those of its kind where there may be several. The values stay as they are. A
    program runs on one device: one that names another is refused when it is compiled.

    ```mlir
    %y = graph.transfer %x to "cuda:1" : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, StrAttr:$device);
  let hasVerifier = 0;
  let assemblyFormat = "$x `to` $device attr-dict `:` type($x)";
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

def Graph_CastOp : Graph_NodeOp<"cast", 6, 1> {
  let summary = "Element-wise conversion of values to another type";
  let description = [{
    - integer to integer: the low bits (wraps), or the sign or zero extension;
    - float to integer: towards zero, saturating at the ends of the range; NaN gives 0;
    - integer or float to float: rounded once, to nearest even; beyond the range infinity, and NaN
      where the type has no infinity (f8E4M3FN);
    - to bool: `x != 0`, so NaN gives true; from bool: 0 or 1.

    ```mlir
    %y = graph.cast %x : tensor<4xbf16> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

def Graph_BitcastOp : Graph_NodeOp<"bitcast", 16, 1> {
  let summary = "The same bits as another type of the same width";
  let description = [{
    Between integers and floats of one width; bools have no bits. A NaN that was read from memory, or
    moved by views and selects, keeps its sign and its bits, but a signalling one may become quiet;
    which NaN an op makes is left open.

    ```mlir
    %y = graph.bitcast %x : tensor<4xf32> -> tensor<4xui32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

// For the page alone: descriptions are comments of GraphOps.h.inc, too, and a new row would build all that includes it.
#ifdef ZYX_DOCS
defvar unaryTable = Graph_KindTable<!foreach(k, Graph_UnaryKinds, !cast<Graph_Kind>(k))>.rows;
#else
defvar unaryTable = "The kinds are in UnaryKinds.td.";
#endif
def Graph_UnaryOp : Graph_InferredOp<"unary", 7, 1> {
  let summary = "An element-wise function of one tensor";
  let description = unaryTable # [{


```mlir
%y = graph.unary exp %x : tensor<4xf32>
```
  }];
  let arguments = (ins EnumProp<Graph_UnaryKind>:$kind, Graph_Tensor:$x);
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
}

def Graph_BinaryOp : Graph_InferredOp<"binary", 8, 2, [SameTypeOperands]> {
  let summary = "An element-wise function of two tensors of one type";
  let description = Graph_KindTable<!foreach(k, Graph_BinaryKinds, !cast<Graph_Kind>(k))>.rows # [{


The result has the operands' type; of a comparison it is a tensor of bools. The printed type is
the operands'.

```mlir
%z = graph.binary add %a, %b : tensor<4xf32>
%c = graph.binary lt %a, %b : tensor<4xf32>   // %c is a tensor<4xi1>
```
  }];
  let arguments = (ins EnumProp<Graph_BinaryKind>:$kind, Graph_Tensor:$a, Graph_Tensor:$b);
  let assemblyFormat = "$kind $a `,` $b attr-dict `:` type($a)";
}

def Graph_SelectOp : Graph_InferredOp<"select", 9, 3,
    [AllTypesMatch<["a", "b"]>,
     TypesMatchWith<"the condition is a tensor of bools of the operands' extents", "a", "condition",
                    "::mlir::cast<::mlir::RankedTensorType>($_self).clone("
                    "::mlir::IntegerType::get($_self.getContext(), 1))">]> {
  let summary = "Element-wise choice";
  let description = [{
    `a` where the condition is true, `b` elsewhere. The side that is not chosen has no influence,
    NaN included.

    ```mlir
    %y = graph.select %c, %a, %b : tensor<4xf32>   // %c is a tensor<4xi1>
    ```
  }];
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$a, Graph_Tensor:$b);
  let assemblyFormat = "$condition `,` $a `,` $b attr-dict `:` type($a)";
}

//===----------------------------------------------------------------------===//
// Reductions and gather
//===----------------------------------------------------------------------===//

def Graph_ReduceOp : Graph_InferredOp<"reduce", 5, 1> {
  let summary = "Combines the elements along dimensions, which disappear";
  let description = Graph_KindTable<!foreach(k, Graph_ReduceKinds, !cast<Graph_Kind>(k))>.rows # [{


`dims` is increasing and not empty. Along dimensions of extent 0 the result is the one "of
nothing"; `max` and `min` have none and refuse them.

```mlir
%r = graph.reduce add %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
```
  }];
  let arguments = (ins EnumProp<Graph_ReduceKind>:$kind, Graph_Tensor:$x, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$kind $x `dims` `=` $dims attr-dict `:` type($x) `->` type($result)";
}

def Graph_GatherOp : Graph_InferredOp<"gather", 11, 2> {
  let summary = "Slices of a tensor, chosen by indices that are data";
  let description = [{
    The result's extents are those of `x` with dimension `dim` replaced by the extents of
    `indices`, an integer tensor of any rank:
    `result[p..., i..., q...] = x[p..., indices[i...], q...]`. An index below 0, or not below the
    extent, gives 0.

    ```mlir
    %rows = graph.gather %x[%i] dim = 0 : (tensor<100x8xf32>, tensor<5xi64>) -> tensor<5x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$indices, I64Attr:$dim);
  let assemblyFormat = [{
    $x `[` $indices `]` `dim` `=` $dim attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

def Graph_ScanOp : Graph_InferredOp<"scan", 17, 1> {
  let summary = "Running combination along a dimension";
  let description = [{
    Element j along `dim` combines the elements 0 to j, `exclusive` those before j, and `reverse` counts
    from the last one. The kinds are those of `graph.reduce`: integers wrap, max and min propagate NaN
    to every element behind it, f16 and bf16 sums and products accumulate in f32, and each element is
    rounded once. In a floating-point sum or product the order of the terms is as free as in a reduce.

    What an exclusive scan begins with is the identity: 0 (add, or), 1 (mul), all bits set (and), and
    the smallest (max) or largest (min) value of the type, infinite where it has infinities. An
    inclusive scan begins with the first element itself, so that -0 stays -0.

    ```mlir
    %y = graph.scan add %x dim = 1 : tensor<4x8xf32>
    %z = graph.scan max %x dim = 0 exclusive reverse : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins EnumProp<Graph_ReduceKind>:$kind, Graph_Tensor:$x, I64Attr:$dim,
                   UnitAttr:$exclusive, UnitAttr:$reverse);
  let assemblyFormat = [{
    $kind $x `dim` `=` $dim (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($x)
  }];
}

def Graph_SortOp : Graph_InferredOp<"sort", 18, 1> {
  let summary = "Elements along a dimension in ascending or descending order";
  let description = Graph_KindTable<!foreach(k, Graph_SortKinds, !cast<Graph_Kind>(k))>.rows # [{


Stable: elements that compare equal (-0 and +0 do) keep their order, in descending sorts too. NaN
stands last in ascending and in descending order, in the order of the operand. Of bools, false is
the smaller.

```mlir
%y = graph.sort values %x dim = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
%i = graph.sort indices %x dim = 1 descending : tensor<4x8xf32> -> tensor<4x8xi64>
```
  }];
  let arguments = (ins EnumProp<Graph_SortKind>:$kind, Graph_Tensor:$x, I64Attr:$dim,
                   UnitAttr:$descending);
  let assemblyFormat = [{
    $kind $x `dim` `=` $dim (`descending` $descending^)? attr-dict `:` type($x) `->` type($result)
  }];
}

def Graph_ScatterOp : Graph_InferredOp<"scatter", 19, 3> {
  let summary = "Writes slices of a tensor at indices that are data";
  let description = Graph_KindTable<!foreach(k, Graph_ScatterKinds, !cast<Graph_Kind>(k))>.rows # [{


The inverse of `graph.gather`: `updates` has the type that a gather from `x` with these indices and
this `dim` has. The result is `x`, where for every `p..., i..., q...` of the updates the element
`[p..., indices[i...], q...]` is replaced by what `kind` makes of it and `updates[p..., i..., q...]`.
It is as if this happened one by one in row-major order of the updates; the order of floating-point
add and mul is free, and each step rounds as the binary op does. An index below 0, or not below the
extent, drops its updates.

```mlir
%y = graph.scatter add %x[%i], %u dim = 0
  : (tensor<100x8xf32>, tensor<5xi64>, tensor<5x8xf32>) -> tensor<100x8xf32>
```
  }];
  let arguments = (ins EnumProp<Graph_ScatterKind>:$kind, Graph_Tensor:$x, Graph_Tensor:$indices,
                   Graph_Tensor:$updates, I64Attr:$dim);
  let assemblyFormat = [{
    $kind $x `[` $indices `]` `,` $updates `dim` `=` $dim attr-dict `:`
    functional-type(operands, results)
  }];
}

def Graph_RandomBitsOp : Graph_NodeOp<"random_bits", 20, 1> {
  let summary = "Bits of a counter-based generator";
  let description = [{
    Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
    The key is the low and the high word of `seed`, a rank-0 tensor of u64. Element n of the result in
    row-major order is word n mod 4 of the block whose 128-bit counter is n / 4. Every device gives the
    same bits. Integers and uniforms are made of them by ordinary ops; other streams by other seeds.

    ```mlir
    %bits = graph.random_bits %seed : tensor<ui64> -> tensor<4x8xui32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$seed);
  let assemblyFormat = "$seed attr-dict `:` type($seed) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

def Graph_GroupOp : Op<Graph_Dialect, "group", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "Ops that become one kernel";
  let description = [{
    The body sees nothing but its block arguments, one per operand, and has no effect beside its
    results. A group means what its body means in place; forming groups and dissolving them changes
    no value. Groups do not nest, and parameters stay outside. What holds inside a group that
    `-zyx-fusion-form-groups` made is said in `docs/fusion.md`.

    ```mlir
    %y = graph.group(%p = %a : tensor<4xf32>, %q = %b : tensor<4xf32>) -> tensor<4xf32> {
      %0 = graph.binary add %p, %q : tensor<4xf32>
      %1 = graph.unary exp %0 : tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
  }];
}

//===----------------------------------------------------------------------===//
// Ops with a body
//===----------------------------------------------------------------------===//

/// An op whose meaning is its body, a graph of its own that sees nothing but its block arguments.
/// In the plain graph each of its results is a node, which holds the body and the number of the
/// result.
class Graph_BodyOp<string name, int number, list<Trait> traits = []>
    : Op<Graph_Dialect, name, traits # [Pure, IsolatedFromAbove, SingleBlock]> {
  int opcode = number;
  int arity = -1;
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
  }];
}

def Graph_LoopOp : Graph_BodyOp<"loop", 22, [AttrSizedOperandSegments]> {
  let summary = "A body that is evaluated again and again, and values that it carries";
  let description = [{
    The body is evaluated once for each index 0, 1, ... below the number of trips: a constant, or an
    i64 of rank 0 that is data; none where that is negative. It sees the index, an i64 of rank 0, the
    carried values and the invariants, and yields the carried values of the next trip, of the same
    types. The results are those after the last trip, and the initial values where there is none.
    At least one value is carried.

    A loop with neither goes on `while` its first carried value, a bool of rank 0, is true: it is looked at before each
    trip, the first included. Nothing ends a loop whose body never makes it false.

    Parameters stay outside, as invariants.

    What data chooses without computing the other is a loop of at most one trip, whose count is a cast of a bool.

    ```mlir
    // h = tanh(h * w + x), 16 times
    %h:2 = graph.loop(%i to 16) carry(%p = %h0 : tensor<4xf32>, %n = %n0 : tensor<i64>)
        with(%w = %w0 : tensor<4xf32>) {
      %0 = graph.binary mul %p, %w : tensor<4xf32>
      %1 = graph.unary tanh %0 : tensor<4xf32>
      %2 = graph.binary add %n, %i : tensor<i64>
      graph.yield %1, %2 : tensor<4xf32>, tensor<i64>
    }
    // as often as %k says
    %m = graph.loop(%i to %k) carry(%n = %n0 : tensor<i64>) {
      %0 = graph.binary add %n, %i : tensor<i64>
      graph.yield %0 : tensor<i64>
    }
    // while n < 100
    %e:2 = graph.loop(%i while) carry(%go = %go0 : tensor<i1>, %n = %n0 : tensor<i64>) with(%most = %hundred : tensor<i64>) {
      %0 = graph.binary add %n, %n : tensor<i64>
      %1 = graph.binary lt %0, %most : tensor<i64>
      graph.yield %1, %0 : tensor<i1>, tensor<i64>
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$trips, Optional<Graph_Tensor>:$count,
                       Variadic<Graph_Tensor>:$initial, Variadic<Graph_Tensor>:$invariants);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// Whether its first carried value says before each trip if there is one more.
    bool isWhile() { return !getTripsAttr() && !getCount(); }
  }];
}

def Graph_CustomOp : Graph_BodyOp<"custom", 23> {
  let summary = "An op by name, with its meaning";
  let description = [{
    What it computes is what the body means. A machine for which there is one of the `implementations`, kernels of the
    user's own, runs that one (`graph.external`); everywhere else the body takes the op's place
    (`-zyx-graph-inline-custom`). The types of each implementation are those of the op, and no two are for one target.
    `config` is text that tells apart ops of one name and body.

    It has at least one operand.

    ```mlir
    %y = graph.custom "gelu" config "tanh"(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = graph.unary tanh %p : tensor<4xf32>
      %1 = graph.binary mul %0, %p : tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, DefaultValuedOptionalAttr<StrAttr, "\"\"">:$config,
                       OptionalAttr<TypedArrayAttrBase<Graph_ImplementationAttr, "implementations">>:$implementations,
                       Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
}

def Graph_ExternalOp : Op<Graph_Dialect, "external", [Pure]> {
  let summary = "A custom op by a kernel of the user's own";
  let description = [{
    What `-zyx-graph-inline-custom` puts in the place of a `graph.custom` on a machine for which that has an
    implementation. It has no plain form: a program that is handed on is made before. It is a kernel of its own, into
    which nothing is fused.

    ```mlir
    %y = graph.external "twice" by <c "twice" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text [
      "void twice(const float *x, float *y) {",
      "  for (int i = 0; i < 4; ++i) y[i] = 2 * x[i];",
      "}"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Graph_ImplementationAttr:$implementation, Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let assemblyFormat = [{
    $name `by` $implementation `(` $inputs `)` attr-dict `:` functional-type($inputs, results)
  }];
  let hasVerifier = 1;
}

def Graph_YieldOp : Op<Graph_Dialect, "yield",
    [Pure, Terminator, ParentOneOf<["GroupOp", "LoopOp", "CustomOp"]>]> {
  let summary = "The results of a body";
  let description = [{
    The `graph.group` or `graph.custom` around it has these values as its results; of a `graph.loop`
    they are the carried values of the next trip.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHOPS_TD
