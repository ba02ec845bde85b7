//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_KERNELOPS_TD
#define ZYX_DIALECT_KERNEL_IR_KERNELOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "zyx/Dialect/Kernel/IR/KernelTypes.td"

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

// A tile, or in the lowered form a scalar or a native vector.
def Kernel_Tile : RankedTensorOf<[AnyType], [HasStaticShapePred], "tile (a tensor of static shape)">;
def Kernel_Value : AnyTypeOf<[Kernel_Tile, VectorOfRankAndType<[1], [AnySignlessInteger, AnyFloat, Index]>,
  AnySignlessInteger, AnyFloat, Index], "tile, scalar or 1-D vector">;
def Kernel_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat, Index], "scalar">;
def Kernel_Indices : AnyTypeOf<[RankedTensorOf<[AnySignlessInteger, Index], [HasStaticShapePred]>,
  VectorOfRankAndType<[1], [AnySignlessInteger, Index]>], "tile or 1-D vector of integers">;
def Kernel_Elements : AnyTypeOf<[Kernel_Tile, VectorOfRankAndType<[1], [AnySignlessInteger, AnyFloat, Index]>],
  "tile or 1-D vector">;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Kernel_FuncOp : Kernel_Op<"func", [AutomaticAllocationScope, FunctionOpInterface,
    IsolatedFromAbove, Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One launch";
  let description = [{
    Arguments are buffers in global memory, then scalars (`index` for sizes). Nothing is returned.
    `schedule` says how a kernel of whole tiles is to be split; applying it empties it. `threads` is
    the number of threads of a workgroup (1 where absent: on a CPU each program of the grid is one),
    `cluster` the number of workgroups that share a cluster. `programs` is the number of programs of a kernel
    that has no grid, and hands them out itself by `kernel.id`. One that is `external` is code of the user's own: its
    body holds nothing, since passes see nothing of what it does, and it computes its `programs` by `threads` each.

    `form` is the form of the body, tiled where absent. Who makes a kernel sets it, and so does a pass that takes a kernel
    from one form to another; the verifier refuses what the form does not have.

    For a GPU, `min_resident_threads` is the number of threads that a multiprocessor is to have room for: they get no more
    registers than that allows, however many of them are a workgroup. With `row_groups`, threads that are more than a row has vectors
    are groups that take rows in turns.

    A kernel for tensor cores whose rows stream blocks of another axis may know which of its places are seen. `visible` is the
    number of an argument of i32, then where its parts lie: how far behind the first places that are seen those are which come behind the last ones,
    how far apart the numbers of 16 rows and of the next 16 are, and those of each batch. `finite`
    is the number of an argument of i32 that is not 0 in a batch whose blocks are all streamed after all, and how far apart its batches
    are.

    One with `parts` stands for other kernels of its module, which one launch is to run side by side. Its body holds nothing until
    they are lowered: `-zyx-kernel-join-parts` makes it of theirs then. `part_arguments` says for each part which of this
    kernel's arguments are its own.

    `key`, `choices` and `costs` are there where the schedules of a kernel were listed: by what it is known, the texts of the
    schedules, and what each is estimated to take. A kernel with `trial` is made to be weighed alone: nothing is said of its
    schedule.

    ```mlir
    kernel.func @double(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
      %xs = kernel.view %x map <[<[1024] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1024xf32, global>
      %ys = kernel.view %y map <[<[1024] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1024xf32, global>
      %c0 = arith.constant 0 : index
      %t = kernel.load %xs[%c0] axes ["i"] : !kernel.view<1024xf32, global> -> tensor<1024xf32>
      %d = arith.addf %t, %t : tensor<1024xf32>
      kernel.store %d, %ys[%c0] : tensor<1024xf32>, !kernel.view<1024xf32, global>
      kernel.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
    DefaultValuedOptionalAttr<Kernel_FormAttr, "::zyx::kernel::Form::Tiled">:$form,
    OptionalAttr<Kernel_ScheduleAttr>:$schedule,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$threads,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$cluster,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$programs,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$min_resident_threads, UnitAttr:$row_groups,
    OptionalAttr<StrAttr>:$key, OptionalAttr<StrArrayAttr>:$choices, OptionalAttr<F64ArrayAttr>:$costs, UnitAttr:$trial,
    OptionalAttr<Kernel_ExternalAttr>:$external, OptionalAttr<DenseI64ArrayAttr>:$visible,
    OptionalAttr<DenseI64ArrayAttr>:$finite, OptionalAttr<FlatSymbolRefArrayAttr>:$parts,
    OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "argument numbers of each part">>:$part_arguments);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Kernel_ReturnOp : Kernel_Op<"return", [Pure, ReturnLike, Terminator, HasParent<"FuncOp">]> {
  let summary = "End of a kernel";
  let assemblyFormat = "attr-dict";
}

def Kernel_GridOp : Kernel_Op<"grid", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    AutomaticAllocationScope]> {
  let summary = "The programs of a launch";
  let description = [{
    Runs the body once for every point of the grid, in any order and at the same time. Body argument
    d runs from 0 below `extents[d]` in steps of `steps[d]`. A kernel has at most one grid, at its top;
    before it stand only views and constants. On a CPU the runtime hands out ranges of the linear
    (row-major) program number; on a GPU a program is a workgroup.

    `kernel.grid (%m, %n) in [256, %size] step [8, 32] { ... }`
  }];
  let arguments = (ins Variadic<Index>:$dynamicExtents, DenseI64ArrayAttr:$staticExtents,
    DenseI64ArrayAttr:$steps);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<::mlir::OpFoldResult>":$extents, "::llvm::ArrayRef<int64_t>":$steps)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// Extents, constants where they are known.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedExtents();
    ::mlir::Block::BlockArgListType getIndices() { return getBody().getArguments(); }
  }];
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, ReturnLike, Terminator, ParentOneOf<["GridOp", "ElectOp", "RoleOp", "RolesOp"]>]> {
  let summary = "End of a region";
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Kernel_ViewOp : Kernel_Op<"view", [Pure]> {
  let summary = "Look at a buffer through a map";
  let description = [{
    `%v = kernel.view %buffer[%m, %n] map <[...]> : !kernel.buffer<f32, global> -> !kernel.view<?x?xf32, global>`;
    the bracketed indices are the map's symbols s0, s1, ...
  }];
  let arguments = (ins Kernel_BufferType:$buffer, Variadic<Index>:$symbols, Kernel_MapAttr:$map);
  let results = (outs Kernel_ViewType:$result);
  let assemblyFormat = "$buffer (`[` $symbols^ `]`)? `map` $map attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_AllocOp : Kernel_Op<"alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Memory of one program";
  let description = [{
    Uninitialised `private` (one program or thread) or `shared` (one workgroup) memory of a static
    shape, row-major, 64-byte aligned (1024 with a swizzle). It lives until the kernel ends.
  }];
  let results = (outs Kernel_ViewType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_MatrixMultiplyOp : Kernel_Op<"matrix_multiply", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A product of narrow factors by the processor's matrix unit or instructions for groups of them";
  let description = [{
    `sums[r, c] = sum over k below depth of lhs[..., i + r, j + k] * rhs[..., k, c]`, of the shape of `sums`, one
    or two times 16 by one or two times 16 elements. `lhs` holds bf16 or i8, in rows of neighbours a known
    number of elements apart, wherever it lies; an element of `rhs` is an i32 with 2 or 4 values of that type,
    of neighbouring k, the first in its low bits: `rhs[p, q, c]` are those from q * 2 or q * 4 on. Or `rhs` holds that type itself, in any memory, `rhs[p, q, c * 2 + i]`
    or `rhs[p, q, c * 4 + i]`. `depth` is a multiple of 32 or 64. i8 is signed unless `lhs_unsigned` or `rhs_unsigned`
    says otherwise; sums of i32 wrap. Of bf16 the unit takes denormals for zero and makes none: who emits the
    op knows that there are none.

    With `ahead`, the caches may be told to fetch `ahead_rows` rows of the left factor meanwhile, of which the
    first is that many rows behind the tile's first one, wherever the view ends.
  }];
  let arguments = (ins Kernel_ViewType:$sums, Kernel_ViewType:$lhs, Variadic<Index>:$lhsIndices,
    Kernel_ViewType:$rhs, Variadic<Index>:$rhsIndices, Index:$depth, Optional<Index>:$ahead,
    DefaultValuedAttr<I64Attr, "0">:$ahead_rows, UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned);
  let assemblyFormat = [{
    $sums `,` $lhs `[` $lhsIndices `]` `,` $rhs `[` $rhsIndices `]` `depth` $depth (`ahead` $ahead^)? attr-dict `:`
    type($lhs) `,` type($rhs) `->` type($sums)
  }];
  let hasVerifier = 1;
}

def Kernel_WarpReadOp : Kernel_Op<"warp_read", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Four blocks of 8 x 8 elements of 16 bits out of shared memory, by the threads of a warp together";
  let description = [{
    Thread t of a warp names row t % 8 of block t / 8: eight neighbours, on a multiple of 16 bytes. Of each block it gets
    elements 2 * (t % 4) and the next one of row t / 4, or with `transposed` those of column t / 4: a word of each, the first
    element in its low bits. All threads of the warp are here.

    `%words = kernel.warp_read %slice[%row, %k] : !kernel.view<64x40xbf16, shared> -> vector<4xi32>`
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Index>:$indices, UnitAttr:$transposed);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$view `[` $indices `]` (`transposed` $transposed^)? attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_WarpMultiplyOp : Kernel_Op<"warp_multiply", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "A product of 16 x 16 by 16 x 8 elements of 16 bits, by the threads of a warp together";
  let description = [{
    Thread t has, as `warp_read` gives them, words of four blocks of the left factor (rows 0 to 7 and 8 to 15 of the first eight
    steps of the contraction, and of the other eight), words of two blocks of the right one, whose rows are its columns, and
    f32 sums: 2 * (t % 4) and the next one of row t / 4, and of the row eight below it. All threads of the warp are here.

    `%sum = kernel.warp_multiply bf16 %a, %b, %acc : vector<4xi32>, vector<2xi32>, vector<4xf32>`
  }];
  let arguments = (ins TypeAttr:$element, AnyType:$lhs, AnyType:$rhs, AnyType:$acc);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$element $lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)";
  let hasVerifier = 1;
}

def Kernel_SubviewOp : Kernel_Op<"subview", [Pure]> {
  let summary = "A box inside an allocation";
  let description = [{
    The box of the result's shape that begins at the indices; where the result has a smaller rank,
    leading dimensions are dropped.

    `%slot = kernel.subview %ring[%stage, %c0, %c0] : !kernel.view<4x128x64xbf16, shared> -> !kernel.view<128x64xbf16, shared>`
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Index>:$indices);
  let results = (outs Kernel_ViewType:$result);
  let assemblyFormat = "$view `[` $indices `]` attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_PeerOp : Kernel_Op<"peer", [Pure, AllTypesMatch<["view", "result"]>]> {
  let summary = "The same place in the shared memory of another workgroup of the cluster";
  let description = [{
    `group` is its number in the cluster. What is written there is to be seen by its threads behind the next cluster
    barrier, and it must not end before that.

    `%there = kernel.peer %here of %group : !kernel.view<8xf32, shared>`
  }];
  let arguments = (ins Kernel_ViewType:$view, Index:$group);
  let results = (outs Kernel_ViewType:$result);
  let assemblyFormat = "$view `of` $group attr-dict `:` type($view)";
}

def Kernel_LoadOp : Kernel_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Read a tile, a vector or a scalar";
  let description = [{
    Reads the box of the result's shape that begins at the indices. Elements outside the view, or where
    the view's map has no element, are `other` (zero where absent); a dimension in `in_bounds` is known to
    have none outside. In the lowered form the result is a scalar, or a vector along the innermost
    dimension, whose lanes are read where `mask` is set. A tile that lies in registers may lack leading
    dimensions of the view, where it has one element.

    `axes` names the dimensions of a tile for schedules; equal names are one axis. `stream` says that what
    lies behind the elements is read soon, and that no cache has it: a machine may fetch ahead.

    `%t = kernel.load %x[%m, %k] axes ["m", "k"] : !kernel.view<256x64xf32, global> -> tensor<8x64xf32>`
    `%v = kernel.load %x[%i] mask %lanes : !kernel.view<1000xf32, global> -> vector<16xf32>`
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Index>:$indices, Optional<AnyType>:$mask,
    Optional<Kernel_Scalar>:$other, OptionalAttr<StrArrayAttr>:$axes,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds, UnitAttr:$stream);
  let results = (outs Kernel_Value:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))?
    (`axes` $axes^)? (`in_bounds` $in_bounds^)? (`stream` $stream^)? attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// True where the tile is known to lie inside the view along dimension `dim`.
    bool isInBounds(unsigned dim) { return getInBounds() && (*getInBounds())[dim]; }
  }];
}

def Kernel_PrefetchOp : Kernel_Op<"prefetch"> {
  let summary = "Say that memory is read soon";
  let description = [{
    A machine may fetch the line of the element into its second cache. The indices may be outside of the view.

    `kernel.prefetch %x[%i] : !kernel.view<1000xf32, global>`
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Index>:$indices);
  let assemblyFormat = "$view `[` $indices `]` attr-dict `:` type($view)";
  let hasVerifier = 1;
}

def Kernel_GatherOp : Kernel_Op<"gather", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Read elements at computed indices";
  let description = [{
    Element p of the result is the view's element at (index0[p], index1[p], ...): one tile of integers
    per dimension of the view, all of the result's shape, read as signed. An index outside the view reads zero.
    In the lowered form the result and the indices are vectors.

    `%v = kernel.gather %row[%at] : !kernel.view<1000xf32, global>, vector<16xi32> -> vector<16xf32>`
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Kernel_Indices>:$indices);
  let results = (outs Kernel_Elements:$result);
  let assemblyFormat = "$view `[` $indices `]` attr-dict `:` type($view) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_StoreOp : Kernel_Op<"store", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Write a tile, a vector or a scalar";
  let description = [{
    Writes the box that begins at the indices; elements outside the view are dropped. A tile in registers may lack
    leading dimensions of the view. In the lowered
    form a vector's lanes are written where `mask` is set. `stream` says that nobody reads the elements
    soon: a machine may write them past its caches.

    `axes` names the dimensions of a tile for schedules, as that of `kernel.load` does. What is the same along an axis is
    loaded without it, so that only its store can say what the axis is called.
  }];
  let arguments = (ins Kernel_Value:$value, Kernel_ViewType:$view, Variadic<Index>:$indices,
    Optional<AnyType>:$mask, OptionalAttr<DenseBoolArrayAttr>:$in_bounds, UnitAttr:$stream,
    OptionalAttr<StrArrayAttr>:$axes);
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$view, "::mlir::ValueRange":$indices,
      "::mlir::Value":$mask, "::mlir::DenseBoolArrayAttr":$in_bounds, CArg<"bool", "false">:$stream), [{
    build($_builder, $_state, value, view, indices, mask, in_bounds, stream, ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` (`mask` $mask^ `:` type($mask))? (`axes` $axes^)? (`in_bounds` $in_bounds^)?
    (`stream` $stream^)? attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isInBounds(unsigned dim) { return getInBounds() && (*getInBounds())[dim]; }
  }];
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Kernel_DotOp : Kernel_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Contraction of two tiles";
  let description = [{
    `result[..., m, n] = acc[..., m, n] + sum over k of lhs[..., m, k] * rhs[..., k, n]`, both factors
    converted to the accumulator's element type, which is not narrower (integers as signed ones), before
    they are multiplied. In floating point the order of the sum and the use of fused multiply-add are
    free; integers wrap. Leading dimensions are batches. `blocking` says how a processor walks it and
    changes nothing else.
  }];
  let arguments = (ins Kernel_Tile:$lhs, Kernel_Tile:$rhs, Kernel_Tile:$acc, OptionalAttr<Kernel_BlockingAttr>:$blocking);
  let results = (outs Kernel_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::Value":$acc),
    [{ build($_builder, $_state, type, lhs, rhs, acc, BlockingAttr()); }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`blocking` $blocking^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_ReduceOp : Kernel_Op<"reduce", [Pure]> {
  let summary = "Combine the elements of some dimensions of a tile";
  let description = [{
    `add` and `mul` of floating point may be combined in any order; `max` and `min` propagate NaN, and are
    signed on integers, where a true `i1` is -1; `umax`, `umin` are of unsigned integers; the order never
    shows elsewhere. No elements make the neutral one. A floating-point sum begins with +0: it is +0 of no
    elements, and of -0 alone.

    `%s = kernel.reduce add %x dims [1] : tensor<8x1024xf32> -> tensor<8xf32>`
  }];
  let arguments = (ins Kernel_Combine:$kind, Kernel_Tile:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_AnyOp : Kernel_Op<"any", [Pure]> {
  let summary = "Whether a condition holds for some element of a tile";
  let description = [{
    A warp may answer for the elements that its threads have, so that what follows must have the same
    meaning whatever the answer is: it chooses between a fast way and one that is right for all numbers.

    `%far = kernel.any %large : tensor<64xi1, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>`
  }];
  let arguments = (ins TypeConstraint<And<[Kernel_Tile.predicate, TensorOf<[I1]>.predicate]>, "tile of conditions">:$conditions);
  let results = (outs I1:$result);
  let assemblyFormat = "$conditions attr-dict `:` type($conditions)";
}

def Kernel_SplatOp : Kernel_Op<"splat", [Pure]> {
  let summary = "A tile of one value";
  let arguments = (ins Kernel_Scalar:$value);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_BroadcastOp : Kernel_Op<"broadcast", [Pure]> {
  let summary = "Repeat a tile along new dimensions";
  let description = [{
    `dims[i]` is the result dimension of operand dimension i (increasing); along the others the operand
    is repeated. An empty list repeats a tile of rank 0.

    `%b = kernel.broadcast %row dims [0] : tensor<8xf32> -> tensor<8x1024xf32>`
  }];
  let arguments = (ins Kernel_Tile:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_TransposeOp : Kernel_Op<"transpose", [Pure]> {
  let summary = "Permute the dimensions of a tile";
  let description = "Result dimension i is operand dimension `order[i]`.";
  let arguments = (ins Kernel_Tile:$input, DenseI64ArrayAttr:$order);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$input `order` $order attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_ReshapeOp : Kernel_Op<"reshape", [Pure]> {
  let summary = "Another shape for the same elements in row-major order";
  let arguments = (ins Kernel_Tile:$input);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_ExtractOp : Kernel_Op<"extract", [Pure]> {
  let summary = "A box of a tile";
  let description = [{
    The elements of the result's shape that begin at the constant offsets. The layout stays.

    `%q = kernel.extract %t[0, 64] : tensor<64x256xf32, #acc> -> tensor<64x64xf32, #acc>`
  }];
  let arguments = (ins Kernel_Tile:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$input `` $offsets attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_IotaOp : Kernel_Op<"iota", [Pure]> {
  let summary = "A tile of its own indices";
  let description = [{
    The element's index along `dim`, plus `base`: the place of the tile in the whole. Integers wrap;
    floating point takes the nearest value.
  }];
  let arguments = (ins Optional<Index>:$base, I64Attr:$dim, OptionalAttr<StrArrayAttr>:$axes);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "`dim` $dim (`base` $base^)? (`axes` $axes^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_ConvertOp : Kernel_Op<"convert", [Pure]> {
  let summary = "The same tile in another layout";
  let description = [{
    `%s = kernel.convert %t : tensor<64x32xf32> -> tensor<64x32xf32, #kernel.memory<private>>` stages a tile:
    it is computed once and kept.
  }];
  let arguments = (ins Kernel_Tile:$input);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Threads and workgroups
//===----------------------------------------------------------------------===//

// Who runs the code is not the same everywhere in a kernel: `kernel.role` gives it to other threads, and numbers them anew.
// An op without effects would be moved out of a role, or merged with one before it. No trait of MLIR forbids both: what is
// not speculatable may still be merged. So the number is read from a resource that no kernel writes. An id that nobody uses
// can be erased, which one of unknown effects could not.
def Kernel_RunningThread : Resource<"::zyx::kernel::RunningThread">;

def Kernel_IdOp : Kernel_Op<"id", [MemoryEffects<[MemRead<Kernel_RunningThread>]>]> {
  let summary = "Which thread or workgroup this is";
  let description = [{
    `thread`: within the workgroup, or inside a role within its instance. `workgroup` and
    `num_workgroups`: of the launch, for kernels that walk their tiles themselves (persistent ones);
    with clusters, they count clusters. `cluster_rank`: of this workgroup in its cluster. `lane`: of the
    thread in its subgroup, each of which has a 0. `subgroup` and `num_subgroups`: in the workgroup; sizes
    are the device's.
  }];
  let arguments = (ins Kernel_IdKind:$kind);
  let results = (outs Index:$result);
  let assemblyFormat = "$kind attr-dict";
}

def Kernel_SubgroupReduceOp : Kernel_Op<"subgroup_reduce", [MemoryEffects<[MemRead<Kernel_RunningThread>]>,
                                                           AllTypesMatch<["value", "result"]>]> {
  let summary = "What the threads of a subgroup have, combined: the same in all of them";
  let description = [{
    All threads of the workgroup come here, as to a barrier, and none waits for other subgroups. Numbers are added
    up, floats in any order, or the largest unsigned integer is found: of it all other extremes are made.

    `%s = kernel.subgroup_reduce add %x : f32`
  }];
  let arguments = (ins Kernel_Combine:$kind, AnyTypeOf<[I32, F32, F64]>:$value);
  let results = (outs AnyTypeOf<[I32, F32, F64]>:$result);
  let assemblyFormat = "$kind $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Kernel_SubgroupScanOp : Kernel_Op<"subgroup_scan", [MemoryEffects<[MemRead<Kernel_RunningThread>]>,
                                                       AllTypesMatch<["value", "result"]>]> {
  let summary = "What the threads of a subgroup have, added up to each of them, its own included";
  let description = [{
    All threads of the workgroup come here, as to a barrier, and none waits for other subgroups. The order is that of
    `lane`, which need not be that of `thread`.

    `%s = kernel.subgroup_scan %x : i32`
  }];
  let arguments = (ins AnyTypeOf<[I32, F32, F64]>:$value);
  let results = (outs AnyTypeOf<[I32, F32, F64]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Kernel_ShuffleOp : Kernel_Op<"shuffle", [MemoryEffects<[MemRead<Kernel_RunningThread>]>,
                                             AllTypesMatch<["value", "result"]>]> {
  let summary = "What another thread of the subgroup has";
  let description = [{
    Each thread gets what the one has whose number in the subgroup differs from its own in the bits of `distance`. All
    threads of the subgroup come here together, but for those that have ended.

    `%y = kernel.shuffle %x xor 16 : f32`
  }];
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value, ConfinedAttr<I64Attr, [IntPositive]>:$distance);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "$value `xor` $distance attr-dict `:` type($value)";
}

def Kernel_BarrierOp : Kernel_Op<"barrier"> {
  let summary = "Wait until all threads of the scope have come here";
  let description = [{
    Memory that they wrote before is visible to all of them after. With `async`, writes to shared memory
    are visible to asynchronous copies as well. With `threads`, which are whole subgroups, the first threads of a workgroup
    alone come here and wait for each other.
  }];
  let arguments = (ins Kernel_Scope:$scope, UnitAttr:$async,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$threads);
  let builders = [OpBuilder<(ins "::zyx::kernel::Scope":$scope, "bool":$async), [{
    build($_builder, $_state, scope, async, ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = "$scope (`threads` $threads^)? (`async` $async^)? attr-dict";
}

def Kernel_RolesOp : Kernel_Op<"roles", [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments]> {
  let summary = "Groups of threads that run different code side by side";
  let description = [{
    Holds `kernel.role` ops and nothing else, at the top of a kernel or of its grid. Their threads, in
    order, make up the workgroup. A kernel has at most one; what follows it runs on no thread before all roles have ended.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

def Kernel_RoleOp : Kernel_Op<"role", [SingleBlockImplicitTerminator<"YieldOp">, HasParent<"RolesOp">]> {
  let summary = "The code of one group of threads";
  let description = [{
    `count` instances of `threads` threads each; the region's argument is the number of the instance.
    `registers` asks for that many registers a thread. With `single`, one thread of each instance runs
    the code.

    `kernel.role "consumer" count 2 threads 128 registers 232 { ^bb0(%instance: index): ... }`
  }];
  let arguments = (ins StrAttr:$name, ConfinedAttr<I64Attr, [IntPositive]>:$count,
    ConfinedAttr<I64Attr, [IntPositive]>:$threads, OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$registers,
    UnitAttr:$single);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `count` $count `threads` $threads (`registers` $registers^)? (`single` $single^)? $body attr-dict
  }];
  let hasVerifier = 1;
}

def Kernel_ElectOp : Kernel_Op<"elect", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "Code for one thread of the role or workgroup";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}

//===----------------------------------------------------------------------===//
// Transaction barriers and asynchronous copies
//===----------------------------------------------------------------------===//

def Kernel_BarriersOp : Kernel_Op<"barriers"> {
  let summary = "Make transaction barriers";
  let description = [{
    Each completes a phase when `arrivals` arrivals, and the bytes announced by `expect`, have come. They are
    ready for every thread (of the cluster) at the next workgroup or cluster barrier.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$arrivals);
  let results = (outs Kernel_BarriersType:$result);
  let assemblyFormat = "`arrivals` $arrivals attr-dict `:` type($result)";
}

def Kernel_ExpectOp : Kernel_Op<"expect"> {
  let summary = "Arrive, and announce bytes that asynchronous copies will bring";
  let arguments = (ins Kernel_BarriersType:$barriers, Index:$slot, ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let assemblyFormat = "$barriers `[` $slot `]` `bytes` $bytes attr-dict `:` type($barriers)";
}

def Kernel_ArriveOp : Kernel_Op<"arrive"> {
  let summary = "One arrival on behalf of the role's instance";
  let arguments = (ins Kernel_BarriersType:$barriers, Index:$slot);
  let assemblyFormat = "$barriers `[` $slot `]` attr-dict `:` type($barriers)";
}

def Kernel_WaitOp : Kernel_Op<"wait"> {
  let summary = "Wait until a barrier has completed the phase of this parity";
  let description = [{
    Before the first phase completes, waiting for parity 1 returns at once, for parity 0 it blocks. With `cluster`,
    what other workgroups of the cluster have sent is visible behind it.
  }];
  let arguments = (ins Kernel_BarriersType:$barriers, Index:$slot, I1:$parity, UnitAttr:$cluster);
  let assemblyFormat = "$barriers `[` $slot `]` `parity` $parity (`cluster` $cluster^)? attr-dict `:` type($barriers)";
}

def Kernel_ClusterArriveOp : Kernel_Op<"cluster_arrive"> {
  let summary = "Tell the cluster that this workgroup's shared memory and barriers are ready";
  let description = "All threads of the workgroup run it once, outside of roles; `cluster_wait` is for those that need to know.";
  let assemblyFormat = "attr-dict";
}

def Kernel_ClusterWaitOp : Kernel_Op<"cluster_wait"> {
  let summary = "Wait until all workgroups of the cluster have come to `cluster_arrive`";
  let assemblyFormat = "attr-dict";
}

def Kernel_ClusterSendOp : Kernel_Op<"cluster_send"> {
  let summary = "Send a tile to the same threads of a workgroup of the cluster";
  let description = [{
    What each thread holds of `tile` goes to where `slot` is in the shared memory of workgroup `to`, which may be this
    one. Its order there is that of threads and registers: only `cluster_receive` of a tile of the same type reads it.
    Its bytes count at that workgroup's `barriers[at]`.
  }];
  let arguments = (ins Kernel_Tile:$tile, Kernel_ViewType:$slot, Index:$to, Kernel_BarriersType:$barriers, Index:$at);
  let assemblyFormat = [{
    $tile `to` $slot `of` $to `signal` $barriers `[` $at `]` attr-dict `:` type($tile) `,` type($slot) `,` type($barriers)
  }];
}

def Kernel_ClusterReceiveOp : Kernel_Op<"cluster_receive"> {
  let summary = "What was sent to these threads";
  let arguments = (ins Kernel_ViewType:$slot);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$slot attr-dict `:` type($slot) `->` type($result)";
}

def Kernel_AsyncLoadOp : Kernel_Op<"async_load", [AttrSizedOperandSegments]> {
  let summary = "Start a copy of a box from global to shared memory";
  let description = [{
    The box has the shape of `slot`, which may lack leading dimensions; elements outside the view are
    zero. When it has arrived, its bytes count at `barriers[at]`. One thread starts it.

    With `pixels` the rows of `slot` are pixels, and its columns channels: of so many windows, from the one that begins
    at `indices` on, the element at `offsets` from where the window begins. Positions may be outside the view.
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Index>:$indices, Kernel_ViewType:$slot,
    Kernel_BarriersType:$barriers, Index:$at, Variadic<Index>:$offsets, OptionalAttr<Kernel_PixelsAttr>:$pixels);
  let builders = [OpBuilder<(ins "::mlir::Value":$view, "::mlir::ValueRange":$indices, "::mlir::Value":$slot,
      "::mlir::Value":$barriers, "::mlir::Value":$at), [{
    build($_builder, $_state, view, indices, slot, barriers, at, ::mlir::ValueRange(), PixelsAttr());
  }]>];
  let assemblyFormat = [{
    $view `[` $indices `]` (`pixels` $pixels^ `at` `[` $offsets `]`)? `to` $slot `signal` $barriers `[` $at `]`
    attr-dict `:` type($view) `,` type($slot) `,` type($barriers)
  }];
  let hasVerifier = 1;
}

def Kernel_AsyncStoreOp : Kernel_Op<"async_store"> {
  let summary = "Start a copy of a box from shared to global memory";
  let description = [{
    Elements outside the view are dropped. Each op is one group for `async_wait`. One thread starts it.
  }];
  let arguments = (ins Kernel_ViewType:$slot, Kernel_ViewType:$view, Variadic<Index>:$indices);
  let assemblyFormat = "$slot `to` $view `[` $indices `]` attr-dict `:` type($slot) `,` type($view)";
  let hasVerifier = 1;
}

def Kernel_StoreSharedOp : Kernel_Op<"store_shared", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Write a panel from shared to global memory";
  let description = [{
    The threads of a warpgroup write the box that begins at the indices; elements outside the view are dropped, where
    `in_bounds` does not say that a dimension has none. Rows of the view may begin at any element: lanes of a warp write
    neighbours. Each warp writes the rows that it stored into the panel, a quarter of them, so that a barrier of the
    warpgroup in between is enough.
  }];
  let arguments = (ins Kernel_ViewType:$slot, Kernel_ViewType:$view, Variadic<Index>:$indices,
    DenseBoolArrayAttr:$in_bounds);
  let assemblyFormat = "$slot `to` $view `[` $indices `]` `in_bounds` $in_bounds attr-dict `:` type($slot) `,` type($view)";
  let hasVerifier = 1;
}

def Kernel_AsyncWaitOp : Kernel_Op<"async_wait"> {
  let summary = "Wait until at most `pending` of this thread's stores are unfinished";
  let description = "With `read` it is enough that shared memory has been read and may be written again.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending, UnitAttr:$read);
  let assemblyFormat = "`pending` $pending (`read` $read^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Asynchronous matrix units
//===----------------------------------------------------------------------===//

def Kernel_MmaFenceOp : Kernel_Op<"mma_fence"> {
  let summary = "Order register and shared-memory writes before the matrix instructions that follow";
  let assemblyFormat = "attr-dict";
}

def Kernel_MmaAsyncOp : Kernel_Op<"mma_async"> {
  let summary = "Start a contraction on the matrix unit";
  let description = [{
    `result = acc + lhs x rhs` over the tile in one asynchronous group of instructions. `lhs` is a view of
    shared memory, [m, k] or with `transpose_lhs` [k, m], or a tile in registers (`#kernel.frag<wgmma_a>`);
    `rhs` is a view, [n, k] with `transpose_rhs` or [k, n]. Without `acc` it starts from zero. The result may
    be read only behind `mma_wait`, and used as `acc` of the next before it.
  }];
  let arguments = (ins AnyTypeOf<[Kernel_ViewType, Kernel_Tile]>:$lhs, Kernel_ViewType:$rhs,
    Optional<Kernel_Tile>:$acc, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `,` $rhs (`transposed` $transpose_rhs^)? (`acc` $acc^ `:` type($acc))? attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_OuterProductsOp : Kernel_Op<"outer_products", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "A contraction that the threads multiply themselves";
  let description = [{
    `result = acc + lhs x rhs` out of shared memory, `lhs` a view of [k, m] and `rhs` one of [k, n]: each thread adds up
    the outer products of its rows and its columns (`#kernel.frag<block>`) along the contraction, by fused
    multiply-add.
  }];
  let arguments = (ins Kernel_ViewType:$lhs, Kernel_ViewType:$rhs, Kernel_Tile:$acc);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `acc` $acc attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Kernel_TransposeSharedOp : Kernel_Op<"transpose_shared"> {
  let summary = "Transpose a matrix from one place in shared memory to another";
  let description = [{
    All threads of a role write the columns of `from` as rows of `to`: 4 x 4 elements of 32 bits each, in turn. What others
    see of it is up to the barrier behind it.
  }];
  let arguments = (ins Kernel_ViewType:$from, Kernel_ViewType:$to);
  let assemblyFormat = "$from `to` $to attr-dict `:` type($from) `to` type($to)";
  let hasVerifier = 1;
}

def Kernel_MmaCommitOp : Kernel_Op<"mma_commit"> {
  let summary = "Close a group of asynchronous contractions";
  let assemblyFormat = "attr-dict";
}

def Kernel_MmaWaitOp : Kernel_Op<"mma_wait"> {
  let summary = "Wait until at most `pending` groups are unfinished";
  let description = [{
    Takes accumulators and gives them back, so that nothing that reads them can move before the wait.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending, Variadic<Kernel_Tile>:$accumulators);
  let results = (outs Variadic<Kernel_Tile>:$results);
  let assemblyFormat = "`pending` $pending ($accumulators^ `:` type($accumulators))? attr-dict (`->` type($results)^)?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Copies by all threads, and matrix units of warps
//===----------------------------------------------------------------------===//

def Kernel_CopyAsyncOp : Kernel_Op<"copy_async"> {
  let summary = "Start a copy of a box from global to shared memory, by all threads of the workgroup";
  let description = [{
    The box has the shape of `slot`, which may lack leading dimensions, and begins at the indices; elements outside the
    view are zero. A dimension in `in_bounds` is known to have none outside. Threads copy pieces of 16 bytes in turn,
    which the view's rows lie on. What a thread has started belongs to its next `copy_commit`.

    `kernel.copy_async %a[%m, %k] to %slot : !kernel.view<4096x4096xbf16, global>, !kernel.view<128x32xbf16, shared, #s>`
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Index>:$indices, Kernel_ViewType:$slot,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let assemblyFormat = [{
    $view `[` $indices `]` `to` $slot (`in_bounds` $in_bounds^)? attr-dict `:` type($view) `,` type($slot)
  }];
  let hasVerifier = 1;
}

def Kernel_CopyCommitOp : Kernel_Op<"copy_commit"> {
  let summary = "Close a group of this thread's asynchronous copies";
  let assemblyFormat = "attr-dict";
}

def Kernel_CopyWaitOp : Kernel_Op<"copy_wait"> {
  let summary = "Wait until at most `pending` of this thread's groups of copies are unfinished";
  let description = "What other threads have copied is visible behind a barrier.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "`pending` $pending attr-dict";
}

def Kernel_FetchOp : Kernel_Op<"fetch"> {
  let summary = "Read a box of global memory into registers of all threads of the workgroup";
  let description = [{
    As `copy_async` divides it among them (`#kernel.frag<pieces>`), for cards that copy nothing by themselves.
    `kernel.store` puts it into shared memory.
  }];
  let arguments = (ins Kernel_ViewType:$view, Variadic<Index>:$indices, OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$view `[` $indices `]` (`in_bounds` $in_bounds^)? attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_LoadMatrixOp : Kernel_Op<"load_matrix"> {
  let summary = "Read a factor of a warp's product out of shared memory";
  let description = [{
    The box of a swizzled view that begins at the indices, the row a multiple of 8 and the column one of 16 bytes, as
    mma.sync takes it: `#kernel.frag<mma_a>` of [16, k] or `#kernel.frag<mma_b>` of [k, n], of 32 bytes along k. The box
    is [m, k] or [n, k] in memory, with `transposed` [k, m] or [k, n].
  }];
  let arguments = (ins Kernel_ViewType:$view, Index:$row, Index:$column, UnitAttr:$transposed);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$view `[` $row `,` $column `]` (`transposed` $transposed^)? attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_MmaOp : Kernel_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "A contraction by one warp";
  let description = "`result = acc + lhs x rhs`, of [16, k] and [k, n]: one mma.sync for every eight columns.";
  let arguments = (ins Kernel_Tile:$lhs, Kernel_Tile:$rhs, Kernel_Tile:$acc);
  let results = (outs Kernel_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `acc` $acc attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

#endif // ZYX_DIALECT_KERNEL_IR_KERNELOPS_TD
