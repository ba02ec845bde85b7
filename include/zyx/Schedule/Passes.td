//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_PASSES_TD
#define ZYX_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseSchedulePass : Pass<"zyx-schedule-choose"> {
  let summary = "Give every kernel of whole tiles a schedule for a machine";
  let description = [{
    Chooses from the target's record alone, so that the same kernel always gets the same schedule:

    - a kernel with a dot gives blocks of rows and columns to the grid, one for each core or a multiple, and
      walks each in tiles whose sums fit the vector registers, along pieces of the contraction of which what
      is read again fits the caches; factors are packed where they are read often enough to pay
      (`block_step`);
    - a kernel with reductions gives each program one row of what is not combined, or some vectors of
      columns where the contiguous axis is not combined;
    - any other kernel gives each program a few thousand elements, contiguous ones first.

    On a GPU, whose programs are threads, they take 16 bytes, a row, or a few rows of a product by 16 bytes of
    columns; kernels with long rows get `threads`, which compute a row together.

    A kernel that has a schedule keeps it. Each choice is a remark.

    The threads of a schedule have room for what they share, as -zyx-kernel-settle-memory will count it. Where none of the
    rules' schedules has, one with fewer threads, smaller tiles or another form is taken, and a remark says so.

    With `measured`, a kernel of one of these keys gets the schedule that stands there, if it is one of those that this
    pass would list. With `list`, each kernel gets the attributes `key`, and `choices` and
    `costs` of so many of its schedules at most, beginning with the one that is taken without measuring
    (docs/tuning.md).
  }];
  let options = [
    Option<"measured", "measured", "std::string", "\"\"",
           "A line for each kernel: its key, or * for all, a space, and the schedule that was measured to be the best">,
    Option<"list", "list", "unsigned", "0", "How many schedules of each kernel to list">];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::mlir::scf::SCFDialect"];
}

def LayOutFactorsPass : Pass<"zyx-schedule-lay-out-factors", "::mlir::ModuleOp"> {
  let summary = "Copy factors into an order that tensor cores' copy engine can fetch";
  let description = [{
    For a kernel with a dot of 16-bit factors which tensor cores would multiply if these lay otherwise: a kernel of its
    own copies one factor, or both, and the dot's kernel reads the copy. A factor is copied as a matrix, with rows along
    the contraction at multiples of 16 bytes; or, where it is made of windows of images, as images with their channels
    next to each other, along which the contraction of both factors is walked then. What is estimated to take least, by
    the target's record, is done, and nothing where threads would take less. Weights are copied in `plan.init`.

    Of a kernel of sums without dots, what its windows are taken of is copied, too, where elements are read often: with its
    padding, and in the order of the results, so that the sums read it without tests.

    Such a kernel may read an operand with a stride along the results, as a depthwise convolution with channels last reads
    its filters. A kernel of its own copies the operand so that it is contiguous there, if the loads saved are estimated to
    take twice the time of the copy. Threads then load vectors.

    What a chain of products reads for each score and lies along its rows, as a bias in the gradients of keys, is copied so that
    it lies along columns, if batches share it and to read it element by element takes longer than the copy.
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::zyx::plan::PlanDialect"];
}

def FindVisiblePass : Pass<"zyx-schedule-find-visible", "::mlir::ModuleOp"> {
  let summary = "Find out which blocks data hides from attentions on tensor cores";
  let description = [{
    An attention, or a chain of products as its gradients are, may hide scores by a condition on data: equal numbers of documents, which keys
    are padding, a mask in memory. A kernel of its own evaluates such conditions once for all heads that share them, and
    writes for each 16 rows the first place that one of them sees and the one behind the last. The attention gets both as an argument (`visible`), and streams only
    blocks between them.

    There are two ways, of which the one is taken that is estimated to take less. A remark says which. *Pair by pair* the condition is evaluated as it is, for each row and each place.
    *By bounds of blocks* other kernels find the least and the largest number of each 16 elements of a vector along rows and of each 16 along places, 32 or 64 of more than 2048, and the condition is evaluated on these:
    whether it may hold of some pair of a block. The places that are found are a superset of those that are seen, in whole blocks.
    That is possible of comparisons of integers, of `and`, `or`, `xor`, and choices of conditions. What is compared may be read along rows or along places, be one number of each batch, be a place,
    or be computed of these by sums, differences, products with constants, maxima, minima and casts that cannot wrap for any data. Equal numbers of two vectors also must have their lowest bits in common: a word has a bit for each
    of these that a block has, so that a block at the border of two documents does not see all whose numbers are between theirs. Masks in memory, and numbers of floating point, are compared pair by pair.

    Finite values at places that are left out have no effect on an attention; an infinity or NaN there has none either, where
    0 * inf in all places would give NaN. On a chain they have none where left factors are zero outside
    of the condition, and what is finite elsewhere is finite there, too. A row that sees nothing has no finite logarithm of
    its sum, and reaches all results of its batch. A second kernel looks for vectors along the streamed axis that are not finite
    (`finite`); in such a batch all blocks are streamed.

    This is done where all these kernels are estimated to take at most `share` of what the attention takes: nobody knows how much
    is hidden. Each is a remark.
  }];
  let options = [Option<"share", "share", "double", "0.25", "The part of the attention's time that finding out may take">,
                 Option<"by", "by", "::zyx::schedule::VisibleWay", "::zyx::schedule::VisibleWay::Least", "How conditions are evaluated", [{::llvm::cl::values(
                   clEnumValN(::zyx::schedule::VisibleWay::Least, "least", "as is estimated to take less"),
                   clEnumValN(::zyx::schedule::VisibleWay::Pairs, "pairs", "for each row and place"),
                   clEnumValN(::zyx::schedule::VisibleWay::Bounds, "bounds", "on bounds of blocks, where that is possible"))}]>];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::zyx::plan::PlanDialect", "::mlir::math::MathDialect"];
}

def PadRowsPass : Pass<"zyx-schedule-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Put rows of temporaries on multiples of 16 bytes";
  let description = [{
    A temporary whose rows are no multiple of 16 bytes gets more elements in each row, up to the next one; of 2 KiB and
    more, up to a multiple of 128 bytes. Where the last dimension has fewer than 64 elements, as many of the last ones are a
    row as have 48 elements and more together: images of 14x14. Nobody reads what is between rows. So threads read and write vectors of it, and
    the copy engine of tensor cores fetches and writes it. This is done where kernels alone read and write the temporary,
    each through views that do not step from one row into the next, and where all launches of such a kernel have rows of
    that kind in its place.
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::zyx::plan::PlanDialect"];
}

def JoinLaunchesPass : Pass<"zyx-schedule-join-launches", "::mlir::ModuleOp"> {
  let summary = "Launch small kernels that do not wait for each other as one";
  let description = [{
    For machines where some threads of a workgroup may meet at a barrier while others do something else. A launch goes to an
    earlier one that it need not wait for, so that one launch of a kernel with `parts` is both. Of those that it may go to, the
    one is chosen beside which most of it is hidden, by the estimates of both; the longest chain of commands gets no
    longer if that can be. Then the launches of one go to later ones, in front of what waits for them, if all of them find room there, so that it is
    saved; what waits for one of them may go further behind for that. A launch with results of
    more than an eighth of the second cache joins the launch in front of it alone, since its results would have memory for longer.

    Kernels of tensor cores and of clusters stay alone, as do those that walk keys, or that have more than 512 threads, beside products 256.
    Parts take at most two launches by the estimate, and fill the machine at most once, threads that are programs three times. The first
    part may take twelve, where the joint has as many threads as it has and the machine as many of its workgroups at once. Each workgroup gets the threads,
    the registers and the shared memory of the part that needs most. Registers are not known yet: products are counted with all that there are, if nothing asks
    for room for more threads. Longest parts come first; with them in this order, each workgroup where one before has left room, the
    joint takes no longer than all parts behind each other, but for a part of the launch that is saved.

    `-zyx-kernel-join-parts` makes the kernel when its parts are lowered. Each joint is a remark.

    ```mlir
    %0 = plan.launch @sum_a ins(%x : !plan.buffer<f32[32x96]>) outs(%a : !plan.buffer<f32[96]>)
    %1 = plan.launch @sum_b ins(%y : !plan.buffer<f32[32x24]>) outs(%b : !plan.buffer<f32[24]>)
    // becomes
    %0 = plan.launch @sum_a_and_sum_b ins(%x, %y : !plan.buffer<f32[32x96]>, !plan.buffer<f32[32x24]>)
           outs(%a, %b : !plan.buffer<f32[96]>, !plan.buffer<f32[24]>)
    ```
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::zyx::plan::PlanDialect"];
}

def FitStackPass : Pass<"zyx-schedule-fit-stack"> {
  let summary = "Give programs no more sums than the stack has room for";
  let description = [{
    For processors. A kernel of which no rule chose the schedule may keep all of its sums, what its loops carry, and staged tiles at once. Where those take more
    than half of the stack that the target's record names, programs have one place each along an axis more, outer ones
    first, until they fit. A kernel of which no axis may be cut that way stays, and is refused when it is lowered.
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::mlir::scf::SCFDialect"];
}

def PackWeightsPass : Pass<"zyx-schedule-pack-weights", "::mlir::ModuleOp"> {
  let summary = "Pack right factors that are weights once for many runs";
  let description = [{
    Where a kernel's `block_step` packs the right factor of its dot, and every launch reads a weight there, or
    what `plan.init` keeps of weights, a kernel of its own copies it into panels, launched in `plan.init`. The
    dot's kernel then looks through these panels (`Panels.h`), and
    `-zyx-kernel-lower-tiles` reads them as they lie. Programs along columns get whole panels, or are
    cut along rows instead where that is more even, and `depth` becomes one that divides the contraction. The factor is a plain matrix, of the type of the sums or one
    that `narrow` multiplies, and its panels take no more than twice its memory. What is kept of
    weights and only packed is kept no more. Each kernel that packs its weights in each run is a remark.
  }];
  let dependentDialects = ["::zyx::kernel::KernelDialect", "::zyx::plan::PlanDialect"];
}

#endif // ZYX_SCHEDULE_PASSES_TD
