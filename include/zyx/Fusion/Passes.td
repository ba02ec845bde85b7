//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_FUSION_PASSES_TD
#define ZYX_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckEntryPass : Pass<"zyx-fusion-check-entry", "::mlir::func::FuncOp"> {
  let summary = "Refuse what no groups can be formed of";
  let description = [{
    The passes of this room expect a function of one block of graph ops and of loops of such ops, whose extents are
    numbers. What they note on ops for each other is removed where a text has it.

    ```mlir
    %0 = graph.reduce add %x dims = [0] {zyx.parts = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
    // becomes
    %0 = graph.reduce add %x dims = [0] : tensor<4xf32> -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SimplifyLoopsPass : Pass<"zyx-fusion-simplify-loops", "::mlir::func::FuncOp"> {
  let summary = "Take out of loops what does not need their order";
  let description = [{
    Of loops whose number of trips is a constant:

    - A loop all of whose carried values another loop of the block carries, too, is that one.
    - A row that is read before the trip writes it is read from what the loop begins with.
    - A reduction of what no trip carries is computed for all trips in front of the loop.
    - A carried sum that no trip reads is computed behind the loop, out of rows that the trips leave.

    The last two take at most 4 MiB for a trip, and for all trips 64 MiB, or four times what the loop reads.

    ```mlir
    %0 = graph.loop (%i) trips = 8 carried(%sum = %zero) invariant(%rows = %x) {
      %row = graph.gather %rows[%i] dim = 0
      %next = graph.binary add %sum, %row
      graph.yield %next
    }
    // becomes
    %0 = graph.reduce add %x dims = [0]
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def MarkElementLoopsPass : Pass<"zyx-fusion-mark-element-loops", "::mlir::func::FuncOp"> {
  let summary = "Mark loops that are one kernel";
  let description = [{
    A loop each trip of which computes an element of what is carried from that same element is marked with
    `zyx.one_kernel`: its body is in no groups. Views, casts and element-wise ops that only such a loop reads are taken
    into it, and so is a cast of its rows. docs/fusion.md has the rules; the analysis is
    `zyx/Dialect/Graph/Analysis/ElementLoop.h`.

    ```mlir
    %0 = graph.loop ... { ... }
    // becomes
    %0 = graph.loop ... { ... } {zyx.one_kernel}
    ```

    Where points are fewer than threads, and each trip writes a sum of what a point carries, points fall into parts. The
    loop writes the sum of each part, and a reduction behind it adds these up. Machines whose programs are threads of
    subgroups (`#kernel.target` of the module) are meant.

    On machines with clusters a loop whose trips contract carried rows with columns of invariants is marked, too, where
    the registers of a cluster have room for these columns.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def FoldIndexArithmeticPass : Pass<"zyx-fusion-fold-index-arithmetic", "::mlir::func::FuncOp"> {
  let summary = "Fold integer arithmetic on what iotas count";
  let description = [{
    Integers to which zero is added, or which are multiplied with one, are themselves. A cast of an iota is an iota of
    the other type, where that holds all of its numbers. An iota of one element is zero.

    ```mlir
    %i = graph.iota dim = 0 : tensor<4xi32>
    %0 = graph.cast %i : tensor<4xi32> -> tensor<4xi64>
    // becomes
    %0 = graph.iota dim = 0 : tensor<4xi64>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def FormUpdatesPass : Pass<"zyx-fusion-form-updates", "::mlir::func::FuncOp"> {
  let summary = "Write selects of rows as scatters";
  let description = [{
    A select that exchanges rows at a position, of what may be overwritten, is a scatter: as such it can update its operand
    where that lies. What may be overwritten is an argument that is no weight, or what a loop carries, which nobody else
    reads.

    ```mlir
    %i = graph.iota dim = 0 : tensor<64x8xi64>
    %isRow = graph.binary eq %i, %position : tensor<64x8xi64>
    %0 = graph.select %isRow, %row, %cache : tensor<64x8xf32>
    // becomes
    %0 = graph.scatter set %cache[%index] = %update dim = 0
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SortOncePass : Pass<"zyx-fusion-sort-once", "::mlir::func::FuncOp"> {
  let summary = "Sort rows once for their values and their indices";
  let description = [{
    Where both are wanted of the same rows, as top-k does, the elements at the indices are the values: sorts are stable. As many
    are gathered as are read.

    ```mlir
    %0 = graph.sort values %x dim = 0 : tensor<8xf32>
    %1 = graph.sort indices %x dim = 0 : tensor<8xf32> -> tensor<8xi64>
    // becomes
    %1 = graph.sort indices %x dim = 0 : tensor<8xf32> -> tensor<8xi64>
    %0 = graph.gather %x[%1] dim = 0
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SortRunsPass : Pass<"zyx-fusion-sort-runs", "::mlir::func::FuncOp"> {
  let summary = "Sort few long rows in steps";
  let description = [{
    A row becomes runs, of which there are enough for workgroups; a second sort merges them. It is noted there of how many
    runs a row consists (`zyx.runs`): up to eleven of 2048 elements, or as many as a workgroup has threads. Runs divide a row,
    where about as many elements do. Rows stay whole where there is a workgroup for each on half of the machine, or a cluster has
    room for one. If few first elements of a row are read, runs give so many each, and the second sort is one of these. Many rows
    go that way, too, where one pass of a workgroup has no room for as many elements. Indices count in their own row.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.sort values %x dim = 0 : tensor<8192xf32>
    // becomes
    %0 = graph.reshape %x : tensor<8192xf32> -> tensor<4x2048xf32>
    %1 = graph.sort values %0 dim = 1 : tensor<4x2048xf32>
    %2 = graph.reshape %1 : tensor<4x2048xf32> -> tensor<8192xf32>
    %3 = graph.sort values %2 dim = 0 {zyx.runs = 4} : tensor<8192xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def PartScansPass : Pass<"zyx-fusion-part-scans", "::mlir::func::FuncOp"> {
  let summary = "Scan few long rows in parts";
  let description = [{
    A workgroup walks a row of a scan, or eight columns. Where there are few, of 2^14 elements or more, each becomes parts that are scanned by
    themselves, and each element is combined with what the parts before its own have. What is computed of the scan element by element, and
    of what is stored anyway, has the parts, too.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.scan add %x dim = 1 : tensor<8x65536xf32>
    // becomes
    %1 = graph.reshape %x : tensor<8x65536xf32> -> tensor<8x32x2048xf32>
    %2 = graph.scan add %1 dim = 2 : tensor<8x32x2048xf32>
    %3 = graph.pad %2, %zero low = [0, 0, -2047] high = [0, 0, 0] interior = [0, 0, 0]
       : tensor<8x32x2048xf32> -> tensor<8x32x1xf32>
    %4 = graph.reshape %3 : tensor<8x32x1xf32> -> tensor<8x32xf32>
    %5 = graph.scan add %4 dim = 1 exclusive : tensor<8x32xf32>
    // repeated along the parts, added where a part is not the first one, and reshaped
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SumProductsPass : Pass<"zyx-fusion-sum-products", "::mlir::func::FuncOp"> {
  let summary = "Add up over batches what is computed of products where these are computed";
  let description = [{
    The gradient of a bias that is added to the scores of all windows is the sum over these of what has an element for
    each score. Nobody stores that: one kernel multiplies, computes and adds up, for each tile of rows and columns one
    batch after the other. The batches fall into as many parts as the machine has room for workgroups, and another sum
    adds these up. For machines whose tensor cores have whole tiles, and products of at most 256 features of `bits`.
    `zyx.products_sum` notes the sum for `-zyx-fusion-form-groups`.

    ```mlir
    %sum = graph.reduce add %gradientOfScores dims = [0] : tensor<4096x196x196xf32> -> tensor<196x196xf32>
    // becomes, with the products and what lies between in parts as well
    %parts = graph.reduce add %partsOfGradient dims = [1] {zyx.products_sum} : tensor<16x256x196x196xf32> -> tensor<16x196x196xf32>
    %sum = graph.reduce add %parts dims = [0] : tensor<16x196x196xf32> -> tensor<196x196xf32>
    ```
  }];
  let options = [Option<"bits", "bits", "int64_t", "16", "Bits of the widest factors that tensor cores multiply">];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SumSegmentsPass : Pass<"zyx-fusion-sum-segments", "::mlir::func::FuncOp"> {
  let summary = "Add updates to the last marked place before them by a scan";
  let description = [{
    The gradient of a running maximum adds each update to the last place that is marked, of those up to its own: a scatter into
    zeros at places of which all but those along one dimension are the updates' own. The updates between two marked places lie one
    behind the other. It is noted on the scatter (`zyx.segments`: rows, their length, and columns) that it is a scan from the end, which
    begins again in front of each marked place. Places are counted in 32 bits, unsigned ones for more than 2^31 elements, where that is
    enough, and marked ones are compared instead of positions.

    Few long rows become parts, as those of a scan. What a part adds up for a place before it is added by a second scatter.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.select %marks, %position, %zero : tensor<4x512x8xi64>
    %1 = graph.scan max %0 dim = 1 : tensor<4x512x8xi64>
    // times 8, and 4096 times the first position and the last one added, reshaped
    %y = graph.scatter add %zeros[%places], %u dim = 0 : (tensor<16384xf32>, tensor<16384xi64>, tensor<16384xf32>) -> tensor<16384xf32>
    // becomes
    %0 = graph.select %marks, %own, %first : tensor<4x1x512x8xi32>
    %1 = graph.scan max %0 dim = 2 : tensor<4x1x512x8xi32>
    %2 = graph.reshape %1 : tensor<4x1x512x8xi32> -> tensor<16384xi32>
    %y = graph.scatter add %zeros[%2], %u dim = 0 {zyx.segments = array<i64: 4, 512, 8>}
       : (tensor<16384xf32>, tensor<16384xi32>, tensor<16384xf32>) -> tensor<16384xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def PartScattersPass : Pass<"zyx-fusion-part-scatters", "::mlir::func::FuncOp"> {
  let summary = "Add up many updates of few rows in parts";
  let description = [{
    A scatter that adds 2^20 elements or more to at most 128 rows, of fewer elements than the machine has threads, becomes a
    scatter into rows of each part, and a sum over the parts. The first one says how many parts it has
    (`zyx.scatter_parts`): the updates of a part name its rows alone.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.scatter add %table[%i], %u dim = 0 : (tensor<32x12xf32>, tensor<2250000xi32>, tensor<2250000x12xf32>) -> tensor<32x12xf32>
    // becomes
    %1 = graph.scatter add %zeros[%places], %parts dim = 0 {zyx.scatter_parts = 80}
       : (tensor<2560x12xf32>, tensor<80x28125xi32>, tensor<80x28125x12xf32>) -> tensor<2560x12xf32>
    %2 = graph.reshape %1 : tensor<2560x12xf32> -> tensor<80x32x12xf32>
    %3 = graph.reduce add %2 dims = [0] : tensor<80x32x12xf32> -> tensor<32x12xf32>
    %0 = graph.binary add %table, %3 : tensor<32x12xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def NarrowScattersPass : Pass<"zyx-fusion-narrow-scatters", "::mlir::func::FuncOp"> {
  let summary = "Add up the few rows of a narrow table that have updates apart from it";
  let description = [{
    The gradient of a table of bf16 adds rows in f32, and is rounded once. Where at most a quarter of the rows has updates, a table
    of f32 is mostly zeros that are written, read and rounded. The sums are as many rows as there are updates instead: those of one row
    are added at the place of the last of them, and this one alone is written to the narrow table. Which place that is, a table of
    integers says. Sums have the same terms in the same order.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) change nothing. Tables have 65536 elements and more.

    ```mlir
    %0 = graph.scatter add %zeros[%i], %u dim = 0 : (tensor<32000x64xf32>, tensor<9xi64>, tensor<9x64xf32>) -> tensor<32000x64xf32>
    %1 = graph.cast %0 : tensor<32000x64xf32> -> tensor<32000x64xbf16>
    // becomes
    %0 = graph.iota dim = 0 : tensor<9xi32>
    %1 = graph.binary sub %0, %c9 : tensor<9xi32>
    %2 = graph.scatter set %none[%i], %1 dim = 0 : (tensor<32000xi32>, tensor<9xi64>, tensor<9xi32>) -> tensor<32000xi32>
    %3 = graph.gather %2[%i] dim = 0 : (tensor<32000xi32>, tensor<9xi64>) -> tensor<9xi32>
    %4 = graph.binary add %3, %c9 : tensor<9xi32>
    %5 = graph.scatter add %few[%4], %u dim = 0 : (tensor<9x64xf32>, tensor<9xi32>, tensor<9x64xf32>) -> tensor<9x64xf32>
    %6 = graph.cast %5 : tensor<9x64xf32> -> tensor<9x64xbf16>
    %7 = graph.binary eq %4, %0 : tensor<9xi32>
    %8 = graph.select %7, %i, %outside : tensor<9xi64>
    %1 = graph.scatter set %zeros[%8], %6 dim = 0 : (tensor<32000x64xbf16>, tensor<9xi64>, tensor<9x64xbf16>) -> tensor<32000x64xbf16>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def ViewGathersPass : Pass<"zyx-fusion-view-gathers", "::mlir::func::FuncOp"> {
  let summary = "Repeat rows by views instead of gathers";
  let description = [{
    An upsampling by a whole number gathers each row as often as it is repeated, at positions that are made of positions and numbers.
    Views show the same elements, without indices in memory and without a kernel of their own. A scatter that adds at such positions, as its
    gradient does, becomes a sum over neighbours; scatters along several dimensions become one sum. It is added to the scatter's operand.
    Scatters of numbers of less than 32 bits stay, as they round behind each update, and those that leave rows alone unless they add to
    zeros.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.iota dim = 0 : tensor<8xi64>
    %1 = graph.binary div %0, %c2 : tensor<8xi64>
    %2 = graph.gather %x[%1] dim = 0 : (tensor<4x64xf32>, tensor<8xi64>) -> tensor<8x64xf32>
    // becomes
    %0 = graph.reshape %x : tensor<4x64xf32> -> tensor<4x1x64xf32>
    %1 = graph.expand %0 : tensor<4x1x64xf32> -> tensor<4x2x64xf32>
    %2 = graph.reshape %1 : tensor<4x2x64xf32> -> tensor<8x64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def GatherScatteredPass : Pass<"zyx-fusion-gather-scattered", "::mlir::func::FuncOp"> {
  let summary = "Gather what is added at positions that are known";
  let description = [{
    The gradient of an interpolation adds rows of updates at positions that are made of positions and numbers. A scatter would be a
    kernel of its own that adds in memory, and one behind the other where there are several. Each row of the result gathers its own
    updates instead, at most 8, in their order; a position of -1 gives 0. Gathers come in front of sums, products and casts of which zeros
    make zeros, and weights are constants. The readers of such a value compute it in their kernels. Results have at most 4096 rows, and at
    most four for each row of updates. Where a row gets no update, what it is added to must not be -0, as a sum from +0 on is not.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.iota dim = 0 : tensor<4xi64>
    %1 = graph.binary div %0, %c2 : tensor<4xi64>
    %2 = graph.scatter add %zeros[%1], %u dim = 0 : (tensor<3x64xf32>, tensor<4xi64>, tensor<4x64xf32>) -> tensor<3x64xf32>
    // becomes
    %0 = graph.constant dense<[0, 2, -1]> : tensor<3xi64>
    %1 = graph.gather %u[%0] dim = 0 : (tensor<4x64xf32>, tensor<3xi64>) -> tensor<3x64xf32>
    %2 = graph.constant dense<[1, 3, -1]> : tensor<3xi64>
    %3 = graph.gather %u[%2] dim = 0 : (tensor<4x64xf32>, tensor<3xi64>) -> tensor<3x64xf32>
    %4 = graph.binary add %zeros, %1 : tensor<3x64xf32>
    %5 = graph.binary add %4, %3 : tensor<3x64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def FoldTablesPass : Pass<"zyx-fusion-fold-tables", "::mlir::func::FuncOp"> {
  let summary = "Compute positions that gathers read, and weights that go with them";
  let description = [{
    An interpolation gathers at positions that are made of positions of its results by four integer ops or more, and multiplies by
    weights that are made of the same. An element of a kernel would compute all of them again, and a kernel may do so for few
    ops only. Values of at most 4096 elements that are made of positions and numbers become constants.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.iota dim = 0 : tensor<4xi64>
    %1 = graph.binary mul %0, %c7 : tensor<4xi64>
    %2 = graph.binary sub %1, %c3 : tensor<4xi64>
    %3 = graph.binary max %2, %c0 : tensor<4xi64>
    %4 = graph.binary div %3, %c14 : tensor<4xi64>
    %5 = graph.gather %x[%4] dim = 0 : (tensor<2x64xf32>, tensor<4xi64>) -> tensor<4x64xf32>
    // becomes
    %4 = graph.constant dense<[0, 0, 0, 1]> : tensor<4xi64>
    %5 = graph.gather %x[%4] dim = 0 : (tensor<2x64xf32>, tensor<4xi64>) -> tensor<4x64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def ScatterOneHotsPass : Pass<"zyx-fusion-scatter-one-hots", "::mlir::func::FuncOp"> {
  let summary = "Add up updates of places that a sort gives row by row";
  let description = [{
    The gradient of a sort of rows, or of their first elements, adds updates to zeros at the row's number times its length and the
    place. Every workgroup of a scatter would look at all updates. But each is in a row of its own: a result chooses
    among those of its row, at most 4096 pairs of both in a row. No place comes twice, so that nothing is added up in another order.

    The same holds for at most 8 updates of each row that are written into a constant, at positions along one dimension that are known
    to be inside or that a condition bounds. The last one at a place counts: there is a select for each update, in their order.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.sort indices %x dim = 1 : tensor<8192x16xf32> -> tensor<8192x16xi64>
    %1 = graph.iota dim = 0 : tensor<8192x16xi64>
    %2 = graph.binary mul %1, %c16 : tensor<8192x16xi64>
    %3 = graph.binary add %0, %2 : tensor<8192x16xi64>
    %4 = graph.reshape %3 : tensor<8192x16xi64> -> tensor<131072xi64>
    %5 = graph.scatter add %zeros[%4], %u dim = 0 : (tensor<131072xf32>, tensor<131072xi64>, tensor<131072xf32>) -> tensor<131072xf32>
    // becomes
    %1 = graph.binary eq %places, %columns : tensor<8192x16x16xi64> -> tensor<8192x16x16xi1>
    %2 = graph.select %1, %updates, %zero : tensor<8192x16x16xf32>
    %3 = graph.reduce add %2 dims = [2] : tensor<8192x16x16xf32> -> tensor<8192x16xf32>
    %5 = graph.reshape %3 : tensor<8192x16xf32> -> tensor<131072xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def LeaveOutPaddingPass : Pass<"zyx-fusion-leave-out-padding", "::mlir::func::FuncOp"> {
  let summary = "Cut contractions over padded windows into pieces that multiply few zeros";
  let description = [{
    A dilation may be nearly as large as an image: then most elements of a window are padding for most positions. Of a
    convolution the pieces are ranges of positions, of a filter's gradient elements of the window. Where ranges of
    positions would leave vectors mostly empty, the pieces of a convolution are places of the window along its outermost
    dimension, and their results are added up, unless these are of 16 bits and would be rounded more than once. It is cut
    where that saves more products than the pieces cost. Zeros of padding are no longer multiplied, and so do not become
    NaN beside an infinite factor.

    Where programs are threads of subgroups (`#kernel.target` of the module), nothing changes: tiles there have more positions
    than pieces would.

    ```mlir
    %0 = graph.pad %x, %zero low = [0, 6] high = [0, 6] interior = [0, 0] : tensor<96x7xf32> -> tensor<96x19xf32>
    %1 = graph.window %0 dims = [1] size = [3] stride = [1] dilation = [6] : tensor<96x19xf32> -> tensor<96x7x3xf32>
    %y = graph.reduce add %products dims = [2, 3] : tensor<128x7x96x3xf32> -> tensor<128x7xf32>
    // becomes
    %a = graph.reduce add %ofFirst dims = [2, 3] : tensor<128x1x96x2xf32> -> tensor<128x1xf32>
    %b = graph.reduce add %ofMiddle dims = [2, 3] : tensor<128x5x96x1xf32> -> tensor<128x5xf32>
    %c = graph.reduce add %ofLast dims = [2, 3] : tensor<128x1x96x2xf32> -> tensor<128x1xf32>
    %y = graph.concat %a, %b, %c dim = 1
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SumTapsPass : Pass<"zyx-fusion-sum-taps", "::mlir::func::FuncOp"> {
  let summary = "Multiply images as they lie with few filters, and add up what comes of each element of the window";
  let description = [{
    A convolution packs windows: each element of the image as often as windows have it. Few filters do not pay for that, as in
    the gradient of a network's first images, which have three channels. There the filters of each element of the window are rows of
    their own, which multiply the image, and each result adds up what comes to its place. It is done for 4 to 16 elements
    of windows that are one step apart, where an estimate says that it takes clearly less. Sums of 16 bits stay: each tap
    would be rounded.

    Where programs are threads of subgroups (`#kernel.target` of the module), nothing changes.

    ```mlir
    %0 = graph.window %x dims = [1] size = [4] stride = [1] dilation = [1] : tensor<64x9xf32> -> tensor<64x6x4xf32>
    %y = graph.reduce add %products dims = [1, 3] : tensor<3x64x6x4xf32> -> tensor<3x6xf32>
    // becomes
    %z = graph.reduce add %ofImage dims = [1] : tensor<3x64x9x4xf32> -> tensor<3x9x4xf32>
    %first = graph.pad %z, %zero low = [0, 0, 0] high = [0, -3, -3] interior = [0, 0, 0] : tensor<3x9x4xf32> -> tensor<3x6x1xf32>
    %second = graph.pad %z, %zero low = [0, -1, -1] high = [0, -2, -2] interior = [0, 0, 0] : tensor<3x9x4xf32> -> tensor<3x6x1xf32>
    // and so on; %y is their sum
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def DecomposeMovementPass : Pass<"zyx-fusion-decompose-movement", "::mlir::func::FuncOp"> {
  let summary = "Write concats, pads and transfers with what a load can do";
  let description = [{
    Afterwards a pad is a view: it puts nothing between elements, its fill is a constant, the same as
    that of the pads below it, and its elements lie in memory. A load of it reads memory or the fill.

    - A pad between elements is one of a new dimension of extent 1 behind each element.
    - A pad with another fill, one that is computed or one beside a constant, is a select by the
      place: of the pad with zeros, and the fill.
    - A concat is the same: selects, by the place, of the parts padded to its extents. For a GPU a part that is a
      concat, too, and nothing else, is no value of its own.
    - A transfer is its operand: a program is for one device, and the doors of the compiler refuse one that
      names another.

    ```mlir
    %0 = graph.concat %a, %b dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    // becomes
    %zero = graph.constant dense<0.0> : tensor<f32>
    %0 = graph.pad %a, %zero low = [0] high = [3] interior = [0] : tensor<2xf32> -> tensor<5xf32>
    %1 = graph.pad %b, %zero low = [2] high = [0] interior = [0] : tensor<3xf32> -> tensor<5xf32>
    %i = graph.iota dim = 0 : tensor<5xi32>
    %end = graph.constant dense<2> : tensor<5xi32>
    %isFirst = graph.binary lt %i, %end : tensor<5xi32>
    %2 = graph.select %isFirst, %0, %1 : tensor<5xf32>
    ```

    No value changes. The whole test is test/Fusion/decompose-movement.mlir.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def EraseUnusedPass : Pass<"zyx-fusion-erase-unused", "::mlir::func::FuncOp"> {
  let summary = "Erase graph ops that nobody reads";
  let description = [{
    Other passes of this room ask by how many a value is read: what an earlier one has left unread must not count.

    ```mlir
    %0 = graph.unary exp %x : tensor<4xf32>
    return %x : tensor<4xf32>
    // becomes
    return %x : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def GatherOneHotsPass : Pass<"zyx-fusion-gather-one-hots", "::mlir::func::FuncOp"> {
  let summary = "Make gathers of products with one-hot rows";
  let description = [{
    A factor of such a product is one where an index equals the place along the contraction, and zero elsewhere. Each
    result is one element, or NaN where another element of its column is not finite: zero times that is NaN. So columns
    are looked through once, for what is not finite.

    Where a batch of tables is summed up, and the index is outside of all but a few of them whatever the data is, as of an
    element that is routed to two of sixteen experts, machines whose programs are threads of subgroups gather from these few.

    ```mlir
    %isOne = graph.binary eq %ids, %places : tensor<20x12xi64>
    %rows = graph.cast %isOne : tensor<20x12xi1> -> tensor<20x12xf32>
    // the product of %rows and %table : tensor<12x72xf32> becomes
    %0 = graph.gather %table[%ids] dim = 0 : (tensor<12x72xf32>, tensor<20xi64>) -> tensor<20x72xf32>
    %1 = graph.select %isLost, %nan, %0 : tensor<20x72xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def CountOneHotsPass : Pass<"zyx-fusion-count-one-hots", "::mlir::func::FuncOp"> {
  let summary = "Make scatters of sums that count how many indices name each place";
  let description = [{
    As a sum of comparisons each index is compared with all places. Where that takes longer than the launches of a
    scatter, ones are added up at the indices: in f32, which has each number up to 2^24. More indices stay a sum, and so
    do those of a batch, whose places are apart.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %isOne = graph.binary eq %ids, %places : tensor<65536x256xi64>
    %numbers = graph.cast %isOne : tensor<65536x256xi1> -> tensor<65536x256xi64>
    %load = graph.reduce add %numbers dims = [0] : tensor<65536x256xi64> -> tensor<256xi64>
    // becomes
    %0 = graph.scatter add %zeros[%ids], %ones dim = 0 : (tensor<256xf32>, tensor<65536xi64>, tensor<65536xf32>) -> tensor<256xf32>
    %load = graph.cast %0 : tensor<256xf32> -> tensor<256xi64>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def AddOneHotsPass : Pass<"zyx-fusion-add-one-hots", "::mlir::func::FuncOp"> {
  let summary = "Make scatters of products that sum up rows by one-hot factors";
  let description = [{
    The gradient of a product with one-hot rows adds each update to one row. As a product it is multiplied with all of them.
    Where the record of the machine says that this takes longer than to move the updates, it becomes a scatter. A row is NaN in a
    column where an update of another row is not finite: zero times that is NaN. So updates are looked through once, for the
    least and the last row of what is not finite.

    Where the rows have a batch, and an update has rows in few elements of it whatever the data is, only these are added.
    Rows of the first update that is not finite are the only ones that may have all of them.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %isOne = graph.binary eq %ids, %places : tensor<4096x256xi64>
    %rows = graph.cast %isOne : tensor<4096x256xi1> -> tensor<4096x256xf32>
    // the sum of the products of %rows and %updates : tensor<4096x512xf32> along 4096 becomes
    %0 = graph.scatter add %zeros[%ids], %updates dim = 0 : (tensor<256x512xf32>, tensor<4096xi64>, tensor<4096x512xf32>) -> tensor<256x512xf32>
    %1 = graph.select %isLost, %nan, %0 : tensor<256x512xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def GatherFirstPass : Pass<"zyx-fusion-gather-first", "::mlir::func::FuncOp"> {
  let summary = "Gather in front of element-wise ops";
  let description = [{
    Where few elements are gathered of what is computed element by element and read by nobody else, that is gathered
    which it is computed from. A log-softmax of which one element of each row is taken is so not stored.

    ```mlir
    %0 = graph.unary exp %x : tensor<8000xf32>
    %1 = graph.gather %0[%i] dim = 0 : (tensor<8000xf32>, tensor<8xi64>) -> tensor<8xf32>
    // becomes
    %0 = graph.gather %x[%i] dim = 0 : (tensor<8000xf32>, tensor<8xi64>) -> tensor<8xf32>
    %1 = graph.unary exp %0 : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def KeepHeadSumsPass : Pass<"zyx-fusion-keep-head-sums", "::mlir::func::FuncOp"> {
  let summary = "Keep sums over heads apart from sums of each head";
  let description = [{
    Gradients of keys that heads share are sums over heads of what is summed up of weights and 16-bit factors. Each
    head's weights are computed again from its own scores, in one kernel with its sums: so `zyx.heads` keeps
    `-zyx-fusion-merge-reductions` from making one sum of the two.

    ```mlir
    %0 = graph.reduce add %products dims = [2]
    %1 = graph.reduce add %0 dims = [1]
    // becomes
    %0 = graph.reduce add %products dims = [2]
    %1 = graph.reduce add %0 dims = [1] {zyx.heads}
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def MergeReductionsPass : Pass<"zyx-fusion-merge-reductions", "::mlir::func::FuncOp"> {
  let summary = "Make one reduction of two of a kind";
  let description = [{
    A reduction of nothing but another one of its kind combines in one go, unless the inner one rounds its results to 16
    bits. `-zyx-fusion-normalize-views` does so as well; before it this serves the passes that split reductions anew.

    ```mlir
    %0 = graph.reduce add %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
    %1 = graph.reduce add %0 dims = [0] : tensor<4xf32> -> tensor<f32>
    // becomes
    %1 = graph.reduce add %x dims = [0, 1] : tensor<4x8xf32> -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def DistributeSumsPass : Pass<"zyx-fusion-distribute-sums", "::mlir::func::FuncOp"> {
  let summary = "Multiply a sum by what all of its terms are multiplied by";
  let description = [{
    The gradient of a norm adds up terms with factors that are sums over the same elements. Such a sum would be another
    pass over the elements, behind those sums, and would compute its terms again. The factors that all terms share come
    after the sum instead, so that one pass adds up all: at most four sums of f32 or f64, and only if
    none of them waits for as many other sums as the whole did. Terms that all are the same are multiplied with their
    number, and a sum that there is already is taken again.

    On a machine whose programs are threads of subgroups this is for sums that are not along the last dimensions: a
    workgroup keeps rows and has all of their sums. There factors of factors come after the sum, too.

    ```mlir
    %s = graph.expand %r : tensor<4x1xf32> -> tensor<4x1024xf32>
    %0 = graph.binary mul %x, %s : tensor<4x1024xf32>
    %1 = graph.binary add %0, %y : tensor<4x1024xf32>
    %2 = graph.reduce add %1 dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
    // becomes, where %r is made of a sum of the same elements
    %0 = graph.reduce add %x dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
    %1 = graph.reshape %r : tensor<4x1xf32> -> tensor<4xf32>
    %2 = graph.binary mul %0, %1 : tensor<4xf32>
    %3 = graph.reduce add %y dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
    %4 = graph.binary add %2, %3 : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SplitGroupSumsPass : Pass<"zyx-fusion-split-group-sums", "::mlir::func::FuncOp"> {
  let summary = "Split sums over positions and few channels that come last";
  let description = [{
    Norms of groups of channels reduce positions and few neighbours in memory, where channels come last. Positions are
    combined first, and then neighbours, once for each of them; what is computed of the result for them is stored for
    each of them, too. So all channels are one dimension of what reads them, and vectors run along it.

    For machines whose programs have vectors. Where they are threads of subgroups (`#kernel.target` of the module),
    neighbours that fill no sector of memory are split where much of what is read would be for nothing.

    ```mlir
    %0 = graph.reduce add %x dims = [2, 3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16xf32>
    // becomes
    %parts = graph.reduce add %x dims = [3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16x6xf32>
    %0 = graph.reduce add %parts dims = [2] : tensor<2x16x6xf32> -> tensor<2x16xf32>
    // and, for what reads the sum of a group at each of its channels
    %each = graph.reduce add %repeated dims = [2] : tensor<2x96x6xf32> -> tensor<2x96xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SinkJoinedReshapesPass : Pass<"zyx-fusion-sink-joined-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Permute results before their dimensions are joined";
  let description = [{
    Where a reshape joins dimensions of what is computed, and a permute of it is returned, the permute comes first. It is
    noted (`zyx.stored`) that the kernel writes its result in that order.

    Where programs are threads of subgroups (`#kernel.target` of the module), only if the last dimension of the permute is the one along
    which memory is read: neighbouring threads then read and write side by side.

    ```mlir
    %1 = graph.reshape %0 : tensor<2x16x6x56x56xf32> -> tensor<2x96x56x56xf32>
    %2 = graph.permute %1 order = [0, 2, 3, 1] : tensor<2x96x56x56xf32> -> tensor<2x56x56x96xf32>
    // becomes
    %1 = graph.permute %0 order = [0, 3, 4, 1, 2] {zyx.stored} : tensor<2x16x6x56x56xf32> -> tensor<2x56x56x16x6xf32>
    %2 = graph.reshape %1 : tensor<2x56x56x16x6xf32> -> tensor<2x56x56x96xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def StoreTablesPass : Pass<"zyx-fusion-store-tables", "::mlir::func::FuncOp"> {
  let summary = "Note numbers along one dimension that are computed once";
  let description = [{
    On a processor numbers that are made of no input, by four ops or more, and differ along one dimension alone, are noted (`zyx.table`) where
    something larger reads them: places and weights of an interpolation. `-zyx-fusion-form-groups` stores them, rather
    than that each reader computes them again, and their kernel runs when a program is loaded.

    ```mlir
    %0 = graph.iota dim = 0 : tensor<28xi64>
    %1 = graph.binary mul %0, %c14 : tensor<28xi64>
    %2 = graph.binary sub %1, %c7 : tensor<28xi64>
    %3 = graph.binary max %2, %c0 : tensor<28xi64>
    %4 = graph.binary div %3, %c28 : tensor<28xi64>
    %5 = graph.gather %x[%4] dim = 0 : (tensor<14x64xf32>, tensor<28xi64>) -> tensor<28x64xf32>
    // becomes
    %4 = graph.binary div %3, %c28 {zyx.table} : tensor<28xi64>
    ```
  }];
}

def OrderGatheredPass : Pass<"zyx-fusion-order-gathered", "::mlir::func::FuncOp"> {
  let summary = "Store what is gathered from in the order of what it is made of";
  let description = [{
    A value that only gathers read is stored. On a processor, if it is computed element by element, or gathered itself, from what is permuted,
    it is computed before the permute, so that what is contiguous in memory stays so: channels of images that come last, of which
    positions are gathered.

    ```mlir
    %1 = graph.permute %x order = [0, 3, 1, 2] : tensor<2x14x14x64xf32> -> tensor<2x64x14x14xf32>
    %2 = graph.gather %1[%i] dim = 2 : (tensor<2x64x14x14xf32>, tensor<28xi64>) -> tensor<2x64x28x14xf32>
    %3 = graph.gather %2[%i] dim = 3 : (tensor<2x64x28x14xf32>, tensor<28xi64>) -> tensor<2x64x28x28xf32>
    // becomes
    %1 = graph.gather %x[%i] dim = 1 : (tensor<2x14x14x64xf32>, tensor<28xi64>) -> tensor<2x28x14x64xf32>
    %2 = graph.permute %1 order = [0, 3, 1, 2] : tensor<2x28x14x64xf32> -> tensor<2x64x28x14xf32>
    %3 = graph.gather %2[%i] dim = 3 : (tensor<2x64x28x14xf32>, tensor<28xi64>) -> tensor<2x64x28x28xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def JoinGathersPass : Pass<"zyx-fusion-join-gathers", "::mlir::func::FuncOp"> {
  let summary = "Gather rows and columns at once";
  let description = [{
    On a processor, what is gathered along one dimension, and then perhaps computed element by element, and gathered along the next one is not
    stored in between, if places are known and what is contiguous in memory is not gathered: both dimensions are one, in which a
    gather picks. At most 8 ops are computed again for each place. All gathers whose places are known to exist are noted
    (`zyx.inside`): their kernels bound such places without a test.

    ```mlir
    %1 = graph.gather %x[%i] dim = 1 : (tensor<2x14x14x64xf32>, tensor<28xi64>) -> tensor<2x28x14x64xf32>
    %2 = graph.gather %1[%j] dim = 2 : (tensor<2x28x14x64xf32>, tensor<28xi64>) -> tensor<2x28x28x64xf32>
    // becomes
    %1 = graph.reshape %x : tensor<2x14x14x64xf32> -> tensor<2x196x64xf32>
    %2 = graph.gather %1[%ij] dim = 1 {zyx.inside} : (tensor<2x196x64xf32>, tensor<28x28xi64>) -> tensor<2x28x28x64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def PartRowsPass : Pass<"zyx-fusion-part-rows", "::mlir::func::FuncOp"> {
  let summary = "Part rows that are summed up both along and across";
  let description = [{
    Gradients of norms sum up along rows and along columns. Rows get a dimension of parts in all that both kinds of sums
    are made of, so that one kernel has a part of the rows, the sums along them, and its share of the columns' sums.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.reduce add %x dims = [1] : tensor<8192x2048xf32> -> tensor<8192xf32>
    %1 = graph.reduce add %x dims = [0] : tensor<8192x2048xf32> -> tensor<2048xf32>
    // becomes
    %parts = graph.reshape %x : tensor<8192x2048xf32> -> tensor<256x32x2048xf32>
    %0 = graph.reduce add %parts dims = [2] : tensor<256x32x2048xf32> -> tensor<256x32xf32>
    %1 = graph.reduce add %parts dims = [0, 1] {zyx.parts = array<i64: 0>} : tensor<256x32x2048xf32> -> tensor<2048xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def PartContractionsPass : Pass<"zyx-fusion-part-contractions", "::mlir::func::FuncOp"> {
  let summary = "Give long contractions of few results a dimension of parts";
  let description = [{
    Few results are few tiles, which fill no card. The factors get the dimension here, in front of the normal form of
    views; `-zyx-fusion-split-contractions` makes two sums of it behind.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.reduce add %products dims = [2] : tensor<64x64x65536xf32> -> tensor<64x64xf32>
    // becomes a sum of products of reshaped factors
    %0 = graph.reduce add %products dims = [0, 3] : tensor<32x64x64x2048xf32> -> tensor<64x64xf32>
    ```

    Parts stand where the sum's dimension was. If that one is the only one, and behind all dimensions of the result, parts come
    first, as here: elsewhere each element of a part would be a store of its own.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def PartReductionsPass : Pass<"zyx-fusion-part-reductions", "::mlir::func::FuncOp"> {
  let summary = "Give long reductions of few results a dimension of parts";
  let description = [{
    A kernel of one program has one core. The operand gets the dimension here, where it has none, in front of the normal
    form of views; `-zyx-fusion-split-reductions` splits behind it. Sums of f16 and bf16 are cast in the end, not between
    the two.

    On a machine whose programs are threads of subgroups, a thread computes some neighbouring results or, along rows, a
    part of one. Results are few there where they are fewer than the threads that keep the machine busy. Along rows up to
    four times as many parts are made as this takes, if more of the machine is busy in the last wave of workgroups; short
    rows of images are not cut. Sums of an
    attention stay as they are where it has enough programs, each with the workgroups of a cluster. Parts must
    save more than their launches: one, or two where as many elements are computed of a sum as it has, as in a norm.

    ```mlir
    %0 = graph.reduce add %x dims = [0] : tensor<1048576xf32> -> tensor<f32>
    // becomes
    %parts = graph.reshape %x : tensor<1048576xf32> -> tensor<256x4096xf32>
    %0 = graph.reduce add %parts dims = [0, 1] : tensor<256x4096xf32> -> tensor<f32>
    ```
  }];
  let options = [Option<"turn", "turn", "bool", "false",
    "Whether parts are for the order in which contractions read, as -zyx-cost-lay-out-results may store it">];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def NormalizeViewsPass : Pass<"zyx-fusion-normalize-views", "::mlir::func::FuncOp"> {
  let summary = "Move views to where they cost nothing";
  let description = [{
    - A reshape that splits or merges dimensions of an element-wise result moves up to the inputs of
      the element-wise ops, if they are few and end in inputs and constants: there it is folded into
      the loads.
    - An expand below an element-wise op moves behind it, so that the op computes each element once.
      The factors of a matrix product come out as expands of what is computed. So does an expand below
      a pad, window or flip of other dimensions, or a slice of the same; between them may be a reshape
      that keeps what is repeated as a dimension.
    - Other reshapes of computed values move down, behind element-wise ops whose other operands are
      made of inputs: these ops can share the kernel of that value then.
    - A reduction of a reduction of the same kind becomes one, unless the inner one rounds to 16 bits.
    - A reduction that reads each of many numbers once, which are unpacked from fewer bytes in dimensions of their own and
      seen through a reshape, gets these dimensions (test/Fusion/fuse-unpacking.mlir).
    - A view of a splat becomes a splat, a reshape of a reshape one reshape, and a view that changes
      nothing disappears.

    ```mlir
    %0 = graph.cast %x : tensor<4x6xui8> -> tensor<4x6xf32>
    %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
    // becomes
    %0 = graph.reshape %x : tensor<4x6xui8> -> tensor<24xui8>
    %1 = graph.cast %0 : tensor<24xui8> -> tensor<24xf32>
    ```

    No value changes. The whole test is test/Fusion/normalize-views.mlir.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def RecomputeProductsPass : Pass<"zyx-fusion-recompute-products", "::mlir::func::FuncOp"> {
  let summary = "Compute what products of products are made of again for each of them";
  let description = [{
    Where several products read what is computed element by element of other products, as the gradients of a retention read its
    scores, each gets a copy of its own, so that `-zyx-fusion-form-groups` can make
    [one kernel](fusion.md#products-of-what-a-product-is-computed-of) of it and nothing is stored for them. What has been rounded to
    16 bits stays stored if others read it, too. A factor of f16 that is multiplied with what has more digits
    becomes a sum of two factors of bf16, because tensor cores multiply those digits in parts of that type.

    ```mlir
    %dq = graph.reduce add %scoresTimesKeys dims = [2]
    %dk = graph.reduce add %scoresTimesQueries dims = [1]
    // become
    %dq = graph.reduce add %scoresTimesKeys dims = [2]
    %dk = graph.reduce add %copiesTimesQueries dims = [1]
    ```

    It is done on machines with tensor cores for tiles, where the rows of a product keep all of them busy.
    The whole test is test/Fusion/recompute-products.mlir.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SumSmallProductsPass : Pass<"zyx-fusion-sum-small-products", "::mlir::func::FuncOp"> {
  let summary = "Add up small products of matrices like other sums";
  let description = [{
    A kernel of tensor cores takes some 4 us to begin and to end, whatever it multiplies. Of at most 2^19 multiplications threads take
    less, and what they add up can be one kernel with what reads it, and share a launch with others. `zyx.sum` notes such
    a sum; it is no contraction then. No factor is a window, or made of positions alone. Attentions, their gradients and chains of
    products are left alone, and so are loops.

    ```mlir
    %p = graph.binary mul %rows, %columns : tensor<16x48x192xf32>
    %0 = graph.reduce add %p dims = [1] : tensor<16x48x192xf32> -> tensor<16x192xf32>
    // becomes
    %0 = graph.reduce add %p dims = [1] {zyx.sum} : tensor<16x48x192xf32> -> tensor<16x192xf32>
    ```

    It is done on machines with tensor cores for tiles. The whole test is test/Fusion/sum-small-products.mlir.
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def RecomputeWeightsPass : Pass<"zyx-fusion-recompute-weights", "::mlir::func::FuncOp"> {
  let summary = "Compute the weights of attentions again for gradients";
  let description = [{
    Nobody but the attention itself has the weights then: P = exp(x - L), where L, the logarithm of the sum of
    exponentials, is one number for each query. With sinks, as -zyx-fusion-separate-sinks leaves them, the sum is that of
    all, and the gradients of sinks are made of the sum along the keys of P times its gradient. An attention is left as
    it is, with a remark, where some reader of its weights is none that this knows, or where factors have more than
    `bits`. `zyx.recomputed` notes which ops are one kernel, for `-zyx-fusion-form-groups`.

    ```mlir
    %dv = graph.reduce add %weightsTimesSeed dims = [0]
    // becomes
    %s = graph.reduce add %queriesTimesKeys dims = [2] {zyx.recomputed = array<i64: 0, 0, 0>}
    %d = graph.binary sub %s, %logSum
    %p = graph.unary exp %d
    %t = graph.binary mul %p, %seed
    %dv = graph.reduce add %t dims = [0] {zyx.recomputed = array<i64: 0, 1, 0>}
    ```
  }];
  let options = [Option<"bits", "bits", "int64_t", "16", "Bits of the widest factors that tensor cores multiply">];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SeparateSinksPass : Pass<"zyx-fusion-separate-sinks", "::mlir::func::FuncOp"> {
  let summary = "Sum scores that have no values apart from those of keys, in an attention";
  let description = [{
    A softmax over scores of keys and others (a sink for each head), of which a slice keeps the weights of the keys, becomes
    an attention over the keys and one factor for each row. With m the largest score of the keys and s their sum, n
    the largest of all scores and t the sum of the others relative to n, the factor is `e^(m - n) / (s e^(m - n) + t)`. It
    comes behind the sum over the values, as -zyx-fusion-divide-afterwards does it. A row whose keys are all minus
    infinity gives zeros; its values have no effect, also where they are infinite or no number, with which the composition
    gives no number.

    Everything that has scores of keys and others in one dimension falls into parts first, gradients too: what is computed
    element by element, reductions, slices of one part, and pads of one. Where anything else reads such a value nothing
    changes. Where weights have other readers than the attention, their exponentials stay relative to n; the pass runs
    again behind -zyx-fusion-recompute-weights, which removes such readers.

    ```mlir
    %c = graph.concat %x, %sink dim = 1 : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x65xf32>
    // softmax along the rows of %c
    %w = graph.pad %p, %zero low = [0, 0] high = [0, -1] interior = [0, 0]
    // becomes
    %e = graph.unary exp %distance : tensor<64x64xf32>
    %f = graph.binary div %shrink, %sum : tensor<64x1xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def PadMasksPass : Pass<"zyx-fusion-pad-masks", "::mlir::func::FuncOp"> {
  let summary = "Copy inputs that attentions read beside scores to rows that begin on whole vectors";
  let description = [{
    Threads of tensor cores have two neighbours of the scores. Of an input of 16-bit elements that is added to these, and whose rows
    have an odd number of elements, they would read each by itself. A group of its own copies such an input to rows of a
    multiple of 16 bytes, if four scores or more read each element. What groups store has such rows by
    -zyx-schedule-pad-rows.

    ```mlir
    %y = graph.group(%q, %k, %v, %bias) // attention of 2049 keys, %bias is tensor<2049x2049xbf16>
    // becomes
    %rows = graph.group(%bias) // graph.pad to tensor<2049x2056xbf16>
    %y = graph.group(%q, %k, %v, %rows)
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def JoinHeadsPass : Pass<"zyx-fusion-join-heads", "::mlir::func::FuncOp"> {
  let summary = "Make few queries of heads that share keys the rows of one head";
  let description = [{
    A tile of tensor cores has 64 rows of one head. Of 16 queries most of them would not exist, and each of the heads that
    share keys would read these for itself. The queries of all heads that share keys become queries of one head: the dimensions
    of heads and queries, which lie side by side, are split elsewhere. What is the same for all heads, as a mask of positions, is
    computed for each share, unless that would read more than 4096 elements again and again. Attentions of 2 to 32 queries with
    factors of 16 bits are meant, on machines with such tiles.

    ```mlir
    // 32 heads of keys that 8 heads share, 16 queries
    %y = graph.reduce add %t dims = [3] : tensor<1x256x16x4096x80xf32> -> tensor<1x256x16x80xf32>
    // becomes
    %0 = graph.reduce add %u dims = [3] : tensor<1x32x128x4096x80xf32> -> tensor<1x32x128x80xf32>
    %y = graph.reshape %0 : tensor<1x32x128x80xf32> -> tensor<1x256x16x80xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def PartAttentionPass : Pass<"zyx-fusion-part-attention", "::mlir::func::FuncOp"> {
  let summary = "Give the keys of an attention of few queries parts, which other workgroups of a GPU have";
  let description = [{
    Where few workgroups would read all keys, the dimension of the keys becomes two: parts, and the keys of a part. The last
    part is filled up with keys whose scores are minus infinity. Each part has a largest score m, sums s of its exponentials and
    sums o of its weighted values. With M the largest m, the sums of all are those of `s e^(m - M)` and of `o e^(m - M)`. A part
    whose keys are all hidden counts as zero. Parts have whole blocks of keys, and as many workgroups as the machine has room for
    at once. The attention stays whole if that is not estimated to be shorter by two launches.

    ```mlir
    // softmax of %x, 8192 keys, and %v
    %y = graph.reduce add %t dims = [1] : tensor<8x8192x64xf32> -> tensor<8x64xf32>
    // becomes
    %m = graph.reduce max %xp dims = [2] : tensor<8x32x256xf32> -> tensor<8x32xf32>
    %o = graph.reduce add %tp dims = [2] : tensor<8x32x256x64xf32> -> tensor<8x32x64xf32>
    %y = graph.reduce add %shrunk dims = [1] : tensor<8x32x64xf32> -> tensor<8x64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def DivideAfterwardsPass : Pass<"zyx-fusion-divide-afterwards", "::mlir::func::FuncOp"> {
  let summary = "Divide what an attention sums up instead of its weights";
  let description = [{
    Where nobody else reads the weights, `(P / s) V` becomes `((P * 2^-n) V) / (s * 2^-n)`. The power of two, not above
    one over the number of keys, keeps a sum from overflowing that did not before; weights of 16 bits that are no bf16
    are not scaled.

    ```mlir
    %w = graph.binary div %p, %s
    %t = graph.binary mul %w, %v
    %y = graph.reduce add %t dims = [1]
    // becomes
    %t = graph.binary mul %p, %v
    %u = graph.reduce add %t dims = [1]
    %y = graph.binary div %u, %s
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SplitReductionsPass : Pass<"zyx-fusion-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split reductions that have a dimension of parts in two";
  let description = [{
    The first one has results for many programs, the second one combines them. See `-zyx-fusion-part-reductions`.

    On a processor windows that overlap are combined along their first dimension, and the results along the others, where
    that is two thirds of what they combine at once, or less: rows of a 7x7 window are added up once for all windows that
    have them.

    ```mlir
    %0 = graph.reduce add %x dims = [0, 1] : tensor<256x4096xf32> -> tensor<f32>
    // becomes
    %0 = graph.reduce add %x dims = [1] : tensor<256x4096xf32> -> tensor<256xf32>
    %1 = graph.reduce add %0 dims = [0] : tensor<256xf32> -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SplitContractionsPass : Pass<"zyx-fusion-split-contractions", "::mlir::func::FuncOp"> {
  let summary = "Split contractions that have a dimension of parts in two";
  let description = [{
    The first sum is of each part, the second one of all parts in their order. See `-zyx-fusion-part-contractions`.

    Machines whose programs are threads of subgroups (`#kernel.target` of the module) are meant; on others nothing changes.

    ```mlir
    %0 = graph.reduce add %products dims = [2, 3] : tensor<64x64x32x2048xf32> -> tensor<64x64xf32>
    // becomes
    %0 = graph.reduce add %products dims = [3] : tensor<64x64x32x2048xf32> -> tensor<64x64x32xf32>
    %1 = graph.reduce add %0 dims = [2] : tensor<64x64x32xf32> -> tensor<64x64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def NarrowIndicesPass : Pass<"zyx-fusion-narrow-indices", "::mlir::func::FuncOp"> {
  let summary = "Compare and cast numbers that iotas count in 32 bits";
  let description = [{
    In a kernel of f32, vectors of 32 bits have as many elements as the rest, and those of 64 bits half of them. Numbers
    are narrowed that are known to fit. Other numbers that may equal such ones are narrowed where each is repeated along
    them, as the target of a cross-entropy is.

    ```mlir
    %i = graph.iota dim = 0 : tensor<8xi64>
    %0 = graph.binary lt %i, %five : tensor<8xi64>
    // becomes
    %i = graph.iota dim = 0 : tensor<8xi32>
    %0 = graph.binary lt %i, %narrowFive : tensor<8xi32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def SeparateIotasPass : Pass<"zyx-fusion-separate-iotas", "::mlir::func::FuncOp"> {
  let summary = "Give each reader of an iota one of its own";
  let description = [{
    Rows and keys of an attention may be counted by one iota, and be different axes. So is what few cheap ops make of an
    iota, if it differs along one dimension at most.

    ```mlir
    %i = graph.iota dim = 0 : tensor<8xi32>
    %0 = graph.binary add %a, %i : tensor<8xi32>
    %1 = graph.binary mul %b, %i : tensor<8xi32>
    // becomes
    %i = graph.iota dim = 0 : tensor<8xi32>
    %j = graph.iota dim = 0 : tensor<8xi32>
    %0 = graph.binary add %a, %i : tensor<8xi32>
    %1 = graph.binary mul %b, %j : tensor<8xi32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def ExpandRandomBitsPass : Pass<"zyx-fusion-expand-random-bits", "::mlir::func::FuncOp"> {
  let summary = "Compute random bits by element-wise ops";
  let description = [{
    Philox4x32-10 of the element's index, with ops on u64. It comes behind the normal form of views, which would move what
    the seed alone decides in front of its expand.

    ```mlir
    %0 = graph.random_bits %seed : tensor<ui64> -> tensor<4xui32>
    // becomes
    %i = graph.iota dim = 0 : tensor<4xui64>
    %counter = graph.binary shr %i, %two : tensor<4xui64>
    // ten rounds of products and exclusive ors
    %0 = graph.cast %word : tensor<4xui64> -> tensor<4xui32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def StoreIotasPass : Pass<"zyx-fusion-store-iotas", "::mlir::func::FuncOp"> {
  let summary = "Store iotas that no kernel can count itself";
  let description = [{
    Those are seen through a reshape that splits or merges what they count along, or read by an op that is a kernel of
    its own. They are stored by an op that does not change them.

    ```mlir
    %i = graph.iota dim = 0 : tensor<6xi32>
    %0 = graph.sort values %i dim = 0 : tensor<6xi32>
    // becomes
    %i = graph.iota dim = 0 : tensor<6xi32>
    %stored = graph.unary abs %i : tensor<6xi32>
    %0 = graph.sort values %stored dim = 0 : tensor<6xi32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def NoteFirstElementsPass : Pass<"zyx-fusion-note-first-elements", "::mlir::func::FuncOp"> {
  let summary = "Note how many elements of a sort are read";
  let description = [{
    Top-k is a sort and a slice: `zyx.first` says how many of the first elements are read; the others may be anything.
    Without `note` all elements are given.

    ```mlir
    %0 = graph.sort values %x dim = 0 : tensor<1000xf32>
    %1 = graph.pad %0, %zero low = [0] high = [-995] interior = [0] : tensor<1000xf32> -> tensor<5xf32>
    // becomes
    %0 = graph.sort values %x dim = 0 {zyx.first = 5} : tensor<1000xf32>
    %1 = graph.pad %0, %zero low = [0] high = [-995] interior = [0] : tensor<1000xf32> -> tensor<5xf32>
    ```
  }];
  let options = [Option<"note", "note", "bool", "true", "Whether it is noted; without it, notes are removed">];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def FormGroupsPass : Pass<"zyx-fusion-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Put every computing op into a graph.group, one per kernel";
  let description = [{
    A greedy former. It joins producers and consumers as long as the group stays one kernel: one set
    of row axes for all reductions and results, views of computed values that only move axes, one
    contraction at most and no other reduction beside it, but for attentions and for what
    `-zyx-fusion-recompute-weights` has noted. On machines whose groups of subgroups multiply out of shared memory,
    one kernel has both sums of a part of rows (`-zyx-fusion-part-rows`).
    Cheap producers are cloned into several groups, reductions never. docs/fusion.md says exactly what holds inside a group;
    `-zyx-fusion-verify-groups` checks it. What comes before is `-zyx-fuse`, whose last pass this is.

    ```mlir
    %0 = graph.unary exp %x : tensor<4xf32>
    %1 = graph.binary add %0, %y : tensor<4xf32>
    // becomes
    %1 = graph.group(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
      %2 = graph.unary exp %a : tensor<4xf32>
      %3 = graph.binary add %2, %b : tensor<4xf32>
      graph.yield %3 : tensor<4xf32>
    }
    ```

    Choices are remarks of the category `zyx-fusion`: passed for each group, missed for each pair
    of groups that stay apart, with the reason.

    The body of a loop is grouped by itself. A loop is in no group, and what it reads and yields is
    stored.

    Without `join` each op is a kernel of its own, but for producers of a reduce that are larger than
    all that they are made of: nobody has room to store those.
  }];
  let options = [Option<"join", "join", "bool", "true", "Whether ops share kernels where they can">];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def RecomputeResultsPass : Pass<"zyx-fusion-recompute-results", "::mlir::func::FuncOp"> {
  let summary = "Let groups compute again what takes longer to store and to read";
  let description = [{
    A result of a group that follows element by element, by at most 24 ops, from what is in memory anyway is not
    stored: the groups that read it compute it. What it follows from may be inputs of the group, its other results, and
    what is 16 times smaller, such as sums of rows, which becomes a result. That happens where fewer bytes are written
    and read in all, and where every reader stays a kernel of its kind; factors of contractions are read as they were.
    Bits that a contraction reads behind its sums are no results even where more bytes are read instead, up to one for
    16 multiplications: threads of tensor cores read no bits, and others would multiply.

    Before that, two results and more of one type that follow from one value of this type, which is made of sums, give way
    to this value, if fewer bytes are written and read: what the group reads for these results alone counts, too.

    Gradients read what the forward half has computed: with this pass a curve's derivative is computed from what the
    curve was computed from.

    ```mlir
    %0:2 = graph.group(%a = %x : tensor<64xbf16>) -> (tensor<64xbf16>, tensor<64xf32>) {
      %1 = graph.cast %a : tensor<64xbf16> -> tensor<64xf32>
      %2 = graph.unary exp %1 : tensor<64xf32>
      %3 = graph.cast %2 : tensor<64xf32> -> tensor<64xbf16>
      graph.yield %3, %2 : tensor<64xbf16>, tensor<64xf32>
    }
    // becomes a group of one result; who read the other one has:
      %1 = graph.cast %a : tensor<64xbf16> -> tensor<64xf32>
      %2 = graph.unary exp %1 : tensor<64xf32>
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def JoinSumsPass : Pass<"zyx-fusion-join-sums", "::mlir::func::FuncOp"> {
  let summary = "Reduce in one group what several groups reduce of the same elements";
  let description = [{
    On a GPU groups with reductions over elements of one shape and along the same dimensions become one if they read the
    same large input, or the same inputs at all, and neither follows from the other. One of them may have larger results,
    if the other one reads no large input beside those of that one. The gradients of a norm need sums
    of the same gradients, once by themselves and once times what was normalised: these are read once, and a launch does
    what several did.

    The ops of both must be one kernel: something that both compute of the input, such as a cast, makes them one iteration
    space. Where nothing does, both read the input times one. There are at most 8 reductions in a group, and no more buffers than a kernel of the machine may have.

    ```mlir
    %0 = graph.group(%a = %dy : tensor<64x32xbf16>) -> tensor<32xf32> {
      %1 = graph.cast %a : tensor<64x32xbf16> -> tensor<64x32xf32>
      %2 = graph.reduce add %1 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
      graph.yield %2 : tensor<32xf32>
    }
    %3 = graph.group(%a = %dy : tensor<64x32xbf16>) -> tensor<32xf32> {
      %1 = graph.cast %a : tensor<64x32xbf16> -> tensor<64x32xf32>
      %2 = graph.binary mul %1, %1 : tensor<64x32xf32>
      %4 = graph.reduce add %2 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
      graph.yield %4 : tensor<32xf32>
    }
    // becomes
    %0:2 = graph.group(%a = %dy : tensor<64x32xbf16>) -> (tensor<32xf32>, tensor<32xf32>) {
      %1 = graph.cast %a : tensor<64x32xbf16> -> tensor<64x32xf32>
      %2 = graph.reduce add %1 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
      %3 = graph.binary mul %1, %1 : tensor<64x32xf32>
      %4 = graph.reduce add %3 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
      graph.yield %2, %4 : tensor<32xf32>, tensor<32xf32>
    }
    ```
  }];
  let dependentDialects = ["::zyx::graph::ir::GraphDialect"];
}

def VerifyGroupsPass : Pass<"zyx-fusion-verify-groups", "::mlir::func::FuncOp"> {
  let summary = "Check what the lowering of groups relies on";
  let description = [{
    Fails where an op computes outside of a group, or where a group has no iteration space as
    docs/fusion.md defines it.
  }];
}

#endif // ZYX_FUSION_PASSES_TD
