//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_KERNELATTRS_TD
#define ZYX_DIALECT_KERNEL_IR_KERNELATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "zyx/Dialect/Kernel/IR/KernelEnums.td"

class Kernel_Attr<string name, string attrMnemonic> : AttrDef<Kernel_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Kernel_FormAttr : EnumAttr<Kernel_Dialect, Kernel_Form, "form"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Maps of views
//===----------------------------------------------------------------------===//

def Kernel_BlockAttr : Kernel_Attr<"Block", "block"> {
  let summary = "One strided block of a view's map";
  let description = [{
    Maps an index (i0, ..., in) inside `shape` to the number `offset + sum(i * stride)`. Entries are
    affine expressions of the view's symbols, so `s1` is its second symbol operand. `valid` gives,
    per dimension, the half-open interval of indices that exist; an index outside reads the load's
    `other` and is not written. Without `valid` every index exists.

    `#kernel.block<[256, 1024] strides [1024, 1]>`
    `#kernel.block<[s0, 66] strides [64, 1] offset -1 valid [0 : s0, 1 : 65]>`
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::AffineExpr">:$shape,
    ArrayRefParameter<"::mlir::AffineExpr">:$strides,
    "::mlir::AffineExpr":$offset,
    ArrayRefParameter<"::mlir::AffineExpr">:$validLow,
    ArrayRefParameter<"::mlir::AffineExpr">:$validHigh);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getShape().size(); }
    bool hasValid() const { return !getValidLow().empty(); }
    /// The constant value of an entry, or std::nullopt where it depends on a symbol.
    static std::optional<int64_t> constant(::mlir::AffineExpr expr);
    /// A dense row-major block of a static shape.
    static BlockAttr rowMajor(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape);
  }];
}

def Kernel_MapAttr : Kernel_Attr<"Map", "map"> {
  let summary = "How the indices of a view find elements of a buffer";
  let description = [{
    A list of blocks. The first is indexed by the view's user. The number it yields is split into
    indices of the next block's shape, in row-major order, and so on; the last one's number is the
    element's place in the buffer. Movement ops compose by prepending blocks, which merge where
    strides allow, so that most maps have one. An index exists where every block says so.

    `#kernel.map<[#kernel.block<[6] strides [1]>, #kernel.block<[2, 3] strides [1, 2]>]>`
    reads a transposed 2x3 buffer as a row of six.
  }];
  let parameters = (ins ArrayRefParameter<"::zyx::kernel::BlockAttr">:$blocks);
  let assemblyFormat = "`<` `[` $blocks `]` `>`";
  let extraClassDeclaration = [{
    BlockAttr front() const { return getBlocks().front(); }
    unsigned getRank() const { return front().getRank(); }
    bool isSingleBlock() const { return getBlocks().size() == 1; }
    /// Whether each index is an element of one block, so that an address is a sum of one product per dimension.
    bool isOneWholeBlock() const { return isSingleBlock() && !front().hasValid(); }
    /// Number of symbols that the entries mention.
    unsigned getNumSymbols() const;
    /// The whole of a row-major buffer.
    static MapAttr identity(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape);
  }];
}

//===----------------------------------------------------------------------===//
// Layouts: where the elements of a tile or of an allocation are
//===----------------------------------------------------------------------===//

def Kernel_MemoryAttr : Kernel_Attr<"Memory", "memory"> {
  let summary = "The layout of a tile that has been put into memory";
  let description = [{
    A tile converted to `#kernel.memory<private>` or `#kernel.memory<shared>` is computed once and kept in row-major
    order; converted back, it is read from there. This is how a schedule says `stage`. Who makes the tile decides the
    space, and lowering obeys: private memory is that of the one thread that a program is, and shared memory that of the
    threads that compute a program together.
  }];
  let parameters = (ins EnumParameter<Kernel_Space>:$space);
  let assemblyFormat = "`<` $space `>`";
}

def Kernel_SharedAttr : Kernel_Attr<"Shared", "shared"> {
  let summary = "The layout of an allocation in shared memory";
  let description = [{
    Rows of the innermost dimension, with 16-byte pieces permuted by exclusive-or with the row
    number within `swizzle` bytes (0: not at all; 32, 64, 128: as the tensor copy engine of Hopper
    and the descriptors of wgmma mean them). The innermost dimension then spans a multiple of
    `swizzle` bytes: panels of that width, each with all rows, lie one after the other.
  }];
  let parameters = (ins "unsigned":$swizzle);
  let assemblyFormat = "`<` `swizzle` `=` $swizzle `>`";
  let genVerifyDecl = 1;
}

def Kernel_PixelsAttr : Kernel_Attr<"Pixels", "pixels"> {
  let summary = "Which pixels of images the tensor copy engine walks";
  let description = [{
    For a view of [images, positions, channels] with one to three dimensions of positions, outermost first. Along
    each of these a window begins at `low`, and every `steps` behind it, up to the last position plus `high`; at most
    -`low` lie in front of the image. Windows are walked as they are numbered: along the last dimension first, image
    after image.

    `#kernel.pixels<low = [-1, -1] high = [-1, -1] steps = [1, 1]>` is a window of 3 x 3 with a padding of 1.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$low, ArrayRefParameter<"int64_t">:$high,
                        ArrayRefParameter<"int64_t">:$steps);
  let assemblyFormat = "`<` `low` `=` `[` $low `]` `high` `=` `[` $high `]` `steps` `=` `[` $steps `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// `low` and `high` are at least -reach and below it, and offsets inside of a window are below twice of it.
    static int64_t reach(size_t positions) { return positions == 1 ? 32768 : positions == 2 ? 128 : 16; }
    /// Of each step.
    static constexpr int64_t mostSteps = 8;
  }];
}

def Kernel_FragAttr : Kernel_Attr<"Frag", "frag"> {
  let summary = "The layout of a tile in the registers of a warp or warp group";
  let description = [{
    Which thread holds which element is fixed by the instruction that makes or reads the tile:
    `wgmma_acc` is the accumulator of wgmma m64nNk16 over 128 threads, `wgmma_a` its register form of
    A, `mma_*` those of mma.sync over 32 threads: 16 rows of an accumulator or of A, 32 bytes of A and B along the
    contraction. `block` is what
    128 threads that multiply themselves have of 64 x 128: each four neighbours of every sixteen of 32 rows, and four of
    every thirty-two of 64 columns; or of 32 x 128, with four neighbours of 16 rows.
    `pieces` is what all threads of a workgroup hold of a box that they copy: 16 bytes each, in turn, row by row.
    `arith` and `math` apply element by element and keep the layout.
  }];
  let parameters = (ins EnumParameter<Kernel_FragKind>:$kind);
  let assemblyFormat = "`<` $kind `>`";
}

def Kernel_SliceAttr : Kernel_Attr<"Slice", "slice"> {
  let summary = "The layout of a tile that a reduction made out of another layout";
  let description = [{
    The result of reducing dimension `dim` of a tile in layout `parent`: every thread that held
    elements of a row holds the row's result.
  }];
  let parameters = (ins "unsigned":$dim, "::mlir::Attribute":$parent);
  let assemblyFormat = "`<` `dim` `=` $dim `,` $parent `>`";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def Kernel_GridStepAttr : Kernel_Attr<"GridStep", "grid_step"> {
  let summary = "Give each program of the grid `tile` elements of a parallel axis";
  let description = [{
    Where the extent is no multiple, the last program's surplus is dropped by its stores. An axis may be
    given again, in pieces that divide the first ones.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$tile);
  let assemblyFormat = "`<` $axis `,` $tile `>`";
  let genVerifyDecl = 1;
}
def Kernel_LoopStepAttr : Kernel_Attr<"LoopStep", "loop_step"> {
  let summary = "Walk an axis in pieces of `tile` elements, one after the other";
  let description = [{
    A parallel axis becomes a loop around everything that depends on it; what does not depend on it
    stays before the loop. Where the extent is no multiple, the rest is walked one by one. The
    contraction axis of a dot becomes a loop that carries the accumulator.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$tile);
  let assemblyFormat = "`<` $axis `,` $tile `>`";
  let genVerifyDecl = 1;
}
def Kernel_StageStepAttr : Kernel_Attr<"StageStep", "stage_step"> {
  let summary = "Put operand `operand` of the kernel's dot into memory before it is used";
  let description = [{
    A program of one thread has a tile in `private` memory. Threads that compute a program together have it in `shared`
    memory. The other one is refused.
  }];
  let parameters = (ins "unsigned":$operand, EnumParameter<Kernel_Space>:$space);
  let assemblyFormat = "`<` $operand `,` $space `>`";
  let genVerifyDecl = 1;
}

def Kernel_BlockingAttr : Kernel_Attr<"Blocking", "blocking"> {
  let summary = "How a processor walks a dot";
  let description = [{
    The dot is summed up in tiles of `rows` by `columns` elements that stay in registers along `depth`
    steps of the contraction; partial sums between such pieces are kept in memory. A packed factor is
    copied before it is used, as it will be read: of the right one `depth` by all columns of the program,
    in panels of `columns`; of the left one `rowBlock` rows by `depth`, a multiple of `rows`. A factor that
    is not packed is evaluated where it is used. Tiles of a block of `rowBlock` rows are walked before those of
    the next one: row by row where the right factor is packed, else panel by panel.

    With `along depth` vectors run along the contraction instead of the columns, and the lanes of each sum
    are added up at the end of a piece; nothing is packed.

    With `narrow` the tiles are summed up by a matrix unit, or by instructions that multiply groups of narrow
    factors, out of a right factor that is packed in its own 8- or 16-bit type, and a left one that is packed if
    that is said, or if its rows do not fill the unit's registers where they lie; where the machine has neither,
    or the dot's factors are of other types, the word changes nothing.

    Of a kernel whose threads share a program, `rows` and `columns` are those of a thread, and `depth` is that of a slice in
    shared memory. With `narrow` they are those of a warp, which multiplies blocks of 16 x 16 by 16 x 8 elements: one of
    both a multiple of 16, and the other one of 8. Where warps do not, a program is one thread.

    `#kernel.blocking<8 x 48, rows 96, depth 256, pack rhs>`
    `#kernel.blocking<4 x 6 along depth, rows 4, depth 1024>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$rowBlock, "int64_t":$depth,
    DefaultValuedParameter<"bool", "false">:$packLhs, DefaultValuedParameter<"bool", "false">:$packRhs,
    DefaultValuedParameter<"bool", "false">:$alongDepth, DefaultValuedParameter<"bool", "false">:$narrow);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Kernel_BlockStepAttr : Kernel_Attr<"BlockStep", "block_step"> {
  let summary = "Walk the kernel's dot in blocks";
  let description = [{
    Sets `blocking` of the first dot that has none; what uses its result is done to each block of it where it can be.
  }];
  let parameters = (ins "::zyx::kernel::BlockingAttr":$blocking);
  let assemblyFormat = "`<` $blocking `>`";
}
def Kernel_SwapStepAttr : Kernel_Attr<"SwapStep", "swap_step"> {
  let summary = "Multiply the other way round";
  let description = [{
    Each dot becomes the transpose of the dot of its transposed factors. Rows of the result are
    then columns, along which vectors lie: what is done to each row is done to vectors of rows, and a
    right factor that is small and read again takes the place of one that is large and transposed.
  }];
  let assemblyFormat = "";
}
def Kernel_OnlineStepAttr : Kernel_Attr<"OnlineStep", "online_step"> {
  let summary = "Walk the axis of a softmax, or of sums, in pieces of `tile` elements, in one pass";
  let description = [{
    The axis is one along which the kernel takes a maximum, the exponentials of the differences from
    it, and sums and dots that are linear in these. It becomes a loop that carries the maximum so far
    and the sums relative to it; where a piece has a larger one, the sums shrink by the exponential of
    the difference before they go on. What does not walk the axis and is read in each piece by a dot is
    put into the program's memory before the loop. A row of nothing but minus infinity gives 0 / 0, as without
    the step.

    Where the kernel takes no maximum along the axis, the loop carries sums and dots of floats, from zero, of
    anything that is computed without them. What has the axis and is stored is stored in the loop. In pieces of one
    element a sum along the axis is that element.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$tile);
  let assemblyFormat = "`<` $axis `,` $tile `>`";
  let genVerifyDecl = 1;
}

def Kernel_StreamStepAttr : Kernel_Attr<"StreamStep", "stream_step"> {
  let summary = "Fetch ahead of what is combined, and write results past the caches: nobody reads them soon";
}

def Kernel_TensorStepAttr : Kernel_Attr<"TensorStep", "tensor_step"> {
  let summary = "Have groups of four warps multiply by tensor cores, and the copy engine feed them";
  let description = [{
    The only step of its schedule. A tile of the result has `rows` by `columns` elements: 64 rows for each group of
    warps. Slices of `depth` elements along the contraction, 128 bytes, pass through a ring of `stages` in shared memory.
    Workgroups walk all tiles with the stride of their number, in columns of `group` tiles.

    Of an attention a tile has `rows` queries, which walk the keys in blocks of `columns`. Keys and values pass through
    rings of `stages` blocks each, and workgroups walk the tiles of `group` heads at a time.

    With `split`, a cluster of so many workgroups has one tile: each sums up a part of the contraction, and adds
    up, in their order, what all of them have of its part of the columns.

    Factors of f32 are multiplied by the threads themselves, with all digits. With `tf32` they are cut to tf32, which
    tensor cores multiply: only this changes what is computed.

    With `warps`, so many warps share a tile and multiply by mma.sync, as cards before Hopper do: each a part of rows and
    columns, which is as square as can be. All their threads copy, 64 or 128 bytes of a slice along the contraction:
    through registers where there are two stages, asynchronously where there are more.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$depth, "int64_t":$stages, "int64_t":$group,
    DefaultValuedParameter<"int64_t", "1">:$split, DefaultValuedParameter<"bool", "false">:$tf32,
    DefaultValuedParameter<"int64_t", "0">:$warps);
  let assemblyFormat = [{
    `<` $rows `,` $columns `,` $depth `,` `stages` $stages `,` `group` $group (`,` `split` $split^)? (`tf32` $tf32^)?
    (`warps` $warps^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Warps that share the rows of a tile, and rows and columns of each; all 0 where no division fits.
    struct WarpPart {
      int64_t down = 0, rows = 0, columns = 0;
    };
    static WarpPart warpPart(int64_t rows, int64_t columns, int64_t warps);
    WarpPart warpPart() const { return warpPart(getRows(), getColumns(), getWarps()); }
  }];
}

def Kernel_ScheduleAttr : Kernel_Attr<"Schedule", "schedule"> {
  let summary = "An ordered list of steps";
  let description = [{
    What `-zyx-kernel-apply-schedule` does to a kernel, in order. Each step is legal or refused with
    a reason, and keeps the meaning by itself. A step names an axis: a name that `kernel.load` and
    `kernel.iota` give to dimensions, shared by all dimensions that must agree.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$steps);
  let assemblyFormat = "`<` custom<Steps>($steps) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

def Kernel_TargetAttr : Kernel_Attr<"Target", "target"> {
  let summary = "The machine that the kernels of a module are for";
  let description = [{
    The name of a record (`zyx/Target/Info/TargetInfo.h`), and facts in which the machine differs from it, each under the
    names of its group and its field. The record is found once, when the attribute is made; passes read its facts. The
    module carries it as `kernel.target`, which `-zyx-kernel-attach-target` sets. `cpu` is the processor that reads the
    text.

    ```mlir
    module attributes {kernel.target = #kernel.target<"sm_90a">} {}
    module attributes {kernel.target = #kernel.target<"sm_90a", {simt.sharedBytes = 65536 : i64}>} {}
    ```
  }];
  let parameters = (ins StringRefParameter<"name of the record">:$name,
                        OptionalParameter<"::mlir::DictionaryAttr">:$facts);
  let assemblyFormat = "`<` $name (`,` $facts^)? `>`";
  let genVerifyDecl = 1;
  let genStorageClass = 0;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{ return $_get($_ctxt, name, ::mlir::DictionaryAttr()); }]>];
  let extraClassDeclaration = [{
    /// The record with these facts.
    const ::zyx::target::TargetInfo &getInfo() const;
  }];
}

def Kernel_ExternalAttr : Kernel_Attr<"External", "external"> {
  let summary = "Code of the user's own that is a kernel";
  let description = [{
    The language, the function in the text, the custom op that it stands for, how many arguments, the last ones, it
    writes, the bytes of shared memory beyond what the text declares, and the lines of the text. A `kernel.func` that has it has no body. docs/custom-kernels.md says
    what the function is given.

    `#kernel.external<ptx "scale" of "scale" results 1 shared 0 text [".version 7.0", ".target sm_80"]>`
  }];
  let parameters = (ins EnumParameter<Kernel_Language>:$language, "::mlir::StringAttr":$entry, "::mlir::StringAttr":$op,
                        "int64_t":$numResults, "int64_t":$sharedBytes, "::mlir::StringAttr":$text);
  let assemblyFormat = "`<` $language $entry `of` $op `results` $numResults `shared` $sharedBytes `text` custom<Lines>($text) `>`";
}

#endif // ZYX_DIALECT_KERNEL_IR_KERNELATTRS_TD
