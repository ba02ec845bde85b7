//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_INFO_FITS_H
#define ZYX_TARGET_INFO_FITS_H

#include <algorithm>
#include <cstdint>

/// Numbers of estimates that are no facts of a machine: what remains when the facts of a record are put into a model,
/// and measured kernels are compared. One namespace for each model. Whoever changes a number measures its kernels
/// again; what a machine's manual says belongs into its record.
namespace zyx::target::fits {

/// Of what overlaps, such as arithmetic and memory, the shorter part still takes so much of its time.
inline constexpr double notHidden = 0.3;

/// Kernels as a whole (EstimateKernel).
namespace kernels {
/// Of what tensor cores could multiply, attentions reach so much: exponentials pass between their products.
inline constexpr double attentionRate = 0.6;
/// Of the lanes of a core, what the warps of a product reach behind it: two on each of its schedulers.
inline constexpr double epilogueRate = 0.65;
/// So much longer products of a thread take that walks a softmax: its scores and sums are in local memory.
inline constexpr double onlineLoss = 12;
/// Products of f32 that one core of a processor sums up with vectors outside of blocked dots, of what it could.
inline constexpr double plainDotRate = 0.4;
/// What threads that share an attention reach of their lanes' products out of shared memory; registers of such a
/// thread; and instructions for a score and for an element of keys and values beside those that the kernel has.
inline constexpr double sharedAttentionRate = 0.4;
inline constexpr int64_t attentionRegisters = 64;
inline constexpr double scoreOps = 12, keyOps = 4;
/// Bytes that elements are taken to lie apart where a stride is not known.
inline constexpr double unknownApart = 32;
/// Simple instructions for an element that is gathered, and for one of a row whose number is data.
inline constexpr double gatherOps = 60, gatheredRowOps = 3;
/// What is summed up inside of another walk has no vectors, but several elements at a time.
inline constexpr double nestedRate = 0.5;
} // namespace kernels

/// Products that a workgroup multiplies out of shared memory, after its threads have evaluated both factors
/// (ChooseShared).
namespace sharedProducts {
/// Registers of a thread beside its sums, and what it has on the way of a slice; and those for a row or column of a
/// warp's blocks.
inline constexpr int64_t otherRegisters = 56, blockRegisters = 8;
/// No loop of products has more than this part of the rate.
inline constexpr double productLoss = 1.2;
/// Instructions beside those that the factor itself needs, for an element that is read and written to shared memory;
/// for one that is found through several blocks, or by an index.
inline constexpr double elementOps = 4, windowOps = 10, gatherOps = 14;
/// More of them for an element of a window whose place a thread finds by itself, with divisions and tests; and where
/// neighbouring threads do not read neighbours: each touches a sector of its own.
inline constexpr double lonelyWindowOps = 60, stridedOps = 40;
/// More of them for vectors of channels that have fewer bytes together, of a pixel with more of them: neighbouring
/// threads find each in a line of its own. By the simulator's count of passes and sectors of a window of 16 channels,
/// not measured on a card.
inline constexpr double apartOps = 16;
inline constexpr int64_t nearBytes = 64;
/// Rows of tiles that fit are at most so many of those of whole tiles: threads have more sums, and a core fewer
/// threads.
inline constexpr double fittingLoss = 0.9;
/// Elements that are evaluated at once where they lie as in memory, at most.
inline constexpr int64_t mostLanes = 8;
/// Cycles of a product of a thread that is one of few: each waits for itself.
inline constexpr double lonelyProductCycles = 2.5;
/// Of a cycle in which other workgroups have something to do, so much is not waited for.
inline constexpr double waitsHidden = 0.5;
/// Cycles of a tile for each group of threads that has the same sums.
inline constexpr double groupCycles = 100;
/// Steps of the contraction that a thread has on the way where it reads both factors where they lie.
inline constexpr double stepsInFlight = 16;
/// How much longer such threads take where the last rows, or columns, are not there in some programs. On an H200 77
/// rows took 3.7 times of what whole ones are estimated to, and 77 columns 6.5 times.
inline constexpr double edgeRows = 2, edgeColumns = 3;
/// Scores, results and elements read ahead that a thread of an attention has in registers: of more, some are in local
/// memory.
inline constexpr int64_t valuesAhead = 80;
} // namespace sharedProducts

/// Sums of rows by one-hot factors (AddOneHots).
namespace oneHots {
/// What a product whose factor is computed reaches of the rate of matrix instructions: of 256 characters by 2048
/// features it took 25 times as long as to read them.
inline constexpr double computedRate = 1.0 / 16;
/// Bytes that move for an update of 16 bits, which is stored in f32, and for one of f32; and kernels beside those of
/// the product.
inline constexpr double narrowBytes = 14, wideBytes = 12, moreKernels = 3;
/// Cycles of a lane for each place that an index is compared with, where comparisons are counted: 262,144 indices and
/// 256 places took an H200 46 us, and 2,097,152 and 64 places 79 us. Launches that counting by a scatter takes beside.
inline constexpr double compareCycles = 16, countLaunches = 3;
} // namespace oneHots

/// Sums of few results (PartReductions), and products of few, with long sums (LongContractions).
namespace sums {
/// Of its share of memory where all cores read, what a core with one workgroup reads. Not measured, and low: such a
/// workgroup has 256 threads, whose requests on their way are some half of what memory wants of a core.
inline constexpr double aloneRate = 0.5;
/// Launches that a product takes longer than whose parts are worth a second kernel.
inline constexpr double worthLaunches = 2;
/// Of a wave of workgroups that add up parts of rows, what each workgroup takes beside. Not measured.
inline constexpr double shareOfWave = 0.02;
} // namespace sums

/// Products that threads add up like other sums (SumSmallProducts).
namespace smallProducts {
/// Multiplications of one. By the simulator an H200's tensor cores take 4.5 us for some 150,000 or fewer, of which
/// 4 are the way of two slices to them and that of the results; threads take 2.
inline constexpr int64_t mostProducts = int64_t(1) << 19;
} // namespace smallProducts

/// Products by instructions of warps, of slices in a ring (ChooseWarps).
namespace warpProducts {
/// Of a thread beside its sums.
inline constexpr int64_t otherRegisters = 100;
/// Fewer warps than keep the matrix instructions busy take so much longer.
inline constexpr double fewWarpsLoss = 1.3;
/// Reads of shared memory and copies that overlap with the products of a slice still take so much of their time.
inline constexpr double notHiddenInSlice = 0.15;
} // namespace warpProducts

/// Products of groups of warps out of shared memory (ChooseTensor), and registers of their threads (room
/// Codegen/Matrix).
namespace groupProducts {
/// One group of warps alone does not keep the tensor cores busy. Three have fewer registers and stages each: they are
/// for sizes that two fit badly.
inline constexpr double oneGroupLoss = 1.15, threeGroupsLoss = 1.08;
/// Registers that a thread needs which starts copies, by the number of groups that multiply: of products, and of
/// kernels that stream blocks. One group has as many as a thread can have without any being handed over.
inline constexpr int64_t copyingRegisters[] = {0, 0, 40, 32}, streamingRegisters[] = {0, 0, 24, 32};
/// Of a thread of an attention, for scores, weights, results and what is read ahead of a block; the rest is for
/// addresses and what it computes with.
inline constexpr int64_t readAheadRegisters = 160;
/// Those of a thread that transposes slices of f32, and the most that one needs which multiplies them.
inline constexpr int64_t transposingRegisters = 56, transposedRegisters = 200;
/// Terms of a sum from which on two numbers of bf16 are as good as the f32 that they are parts of: they lack 2^-16 of
/// it, and a sum of n terms in f32 may be wrong by n times 2^-24 of what their sizes add up to.
inline constexpr int64_t fewestTermsOfParts = 256;
} // namespace groupProducts

/// Factors that are copied to lie as tensor cores read them (LayOutFactors).
namespace layouts {
/// What a copy into another order reaches of the memory's rate, where it reads what lies side by side, where it turns
/// tiles of a matrix, and where it looks elements up one by one, in few lines of memory at once or in many; and what
/// tensor cores reach of theirs in products that need one: these are small, or filled up with zeros.
inline constexpr double copyRate = 2.0 / 3, transposeRate = 1.0 / 2, nearRate = 1.0 / 4, lookUpRate = 1.0 / 8,
                        tensorRate = 1.0 / 3;
/// So few lines: each takes the first cache a cycle, and memory takes as long for what a subgroup copies.
inline constexpr int64_t nearLines = 8;
/// Bytes that a copy reads and writes of an element.
inline constexpr int64_t copiedBytes = 4;
/// A copy of what tensor cores take anyway must be worth it.
inline constexpr double clearlyLess = 0.9;
} // namespace layouts

/// Ranges of what data shows to the rows of an attention (FindVisible).
namespace visible {
/// Instructions for a pair of a row and a place: comparisons, selects, and both reductions.
inline constexpr double pairOps = 8;
/// The same for a pair of blocks, whose bounds are read; and for an element of a vector whose bounds are found.
inline constexpr double blockOps = 24, elementOps = 8;
} // namespace visible

/// Short rows that lanes of a warp share (ChooseRows): instructions of an element in a walk, and of what two lanes
/// exchange.
namespace shortRows {
inline constexpr int64_t elementOps = 8, exchangeOps = 2;
} // namespace shortRows

/// Loops of elements, whose threads carry what they compute in registers (LoopKernel).
namespace loops {
/// Registers for what a thread has asked for and not read yet, and for what all its trips share.
inline constexpr int64_t readRegisters = 96, sharedRegisters = 48;
} // namespace loops

/// Contractions over windows without the padding that most of their elements are, on processors (LeaveOutPadding).
namespace padding {
/// Products of f32 that a core makes in a cycle for each lane of its vectors, in a blocked dot.
inline constexpr double productsPerLane = 4;
/// Cycles in which an element of a result is put together from its pieces.
inline constexpr double joinCycles = 1;
/// Of the time in which an element of the factor without windows is read, so much is not hidden.
inline constexpr double readShare = 0.5;
/// Estimates are rough: only what is clearly less is taken.
inline constexpr double clearlyLess = 0.9;
} // namespace padding

/// Convolutions with few results, whose taps are multiplied by themselves (SumTaps). For each vector of positions:
namespace taps {
/// Cycles of a product, and in which that of a tap is stored, read again and added.
inline constexpr double productCycles = 0.5, tapCycles = 6;
/// Estimates are rough: only what is clearly less is taken, and what saves more than so many launches.
inline constexpr double clearlyLess = 0.6, launches = 4;
} // namespace taps

/// Launches that become one (JoinLaunches).
namespace launches {
/// Threads of a workgroup, at least, in which programs of one thread share a launch with others: enough for whole
/// sectors of memory, and few enough that short kernels are spread over many multiprocessors.
inline constexpr int64_t pointThreads = 128;
/// Twice as many where these are so many workgroups for each core, or more: an H200 begins one each 1.245 ns, which
/// takes longer than what they do.
inline constexpr int64_t manyGroups = 16;
inline constexpr int64_t jointThreads(int64_t ofParts, int64_t points, int64_t cores) {
  const int64_t ofPoints = points > manyGroups * cores * pointThreads ? 2 * pointThreads : pointThreads;
  return points == 0 ? ofParts : std::max(ofParts, ofPoints);
}
/// Registers of a thread that shares a program, as the assembler gives them: of 60 kernels of small training blocks
/// none had more. Threads that multiply get all that there are.
inline constexpr int64_t threadRegisters = 104;
/// Those of a thread that is a program: beside its elements, each with so many terms of its sum on their way, and at
/// most. Of the same kernels none had more, and few as many.
inline constexpr int64_t pointRegisters = 40, termsOnTheWay = 16, mostPointRegisters = 168;
/// Launches that a kernel may take as long as: what is larger hides a launch by itself, and loses more where another
/// kernel takes its registers or its multiprocessors. One of a joint may be longer, where it loses no room.
inline constexpr double mostLaunches = 2, mostOfLongest = 12;
/// How often workgroups of a kernel may fill the machine whose programs are threads: all of these have few registers.
inline constexpr int64_t mostWaves = 3;
/// Of a launch, what is saved where it is another one's: in a graph the next kernel is ready when one is over.
inline constexpr double savedShare = 0.6;
/// Of what is saved, so much has to be left when the parts take longer together. Estimates are rough.
inline constexpr double leftShare = 0.5;
/// Threads of a workgroup up to which each has the registers that it wants, whoever else is in the kernel: sums of
/// products want all that there are.
inline constexpr int64_t mostThreads = 512, mostProductThreads = 256;
} // namespace launches

/// Recurrent loops whose rows clusters have for all trips (ChooseClusters).
namespace clusters {
/// Registers of a thread beside weights, sums and what is carried: addresses, indices and what ops make in between.
inline constexpr int64_t otherRegisters = 40;
/// Cycles of what a point computes.
inline constexpr double pointCycles = 150;
/// Of the rate of products, what threads reach.
inline constexpr double productRate = 0.6;
/// Clusters do not fill the machine: their workgroups are neighbours.
inline constexpr double filled = 0.875;
/// Kernels of a trip that is no cluster's, and what they reach of the rate of products.
inline constexpr double launches = 2, launchedRate = 0.4;
/// Threads that share a column, at most.
inline constexpr int64_t mostParts = 32;
} // namespace clusters

/// Groups that are cut where their parts take less time, and values that are stored for it (CutGroups, FindPlaces).
namespace cuts {
/// A group that takes at most so many times its least is not looked into, nor one that takes so few seconds more.
inline constexpr double nearLeast = 1.5, fewSeconds = 2e-6;
/// Estimates of parts are as rough as that of the whole: only what is clearly less is taken. Of what stores nothing but
/// weights in another order, once for many runs, little less is enough.
inline constexpr double clearlyLess = 0.8, lessWhereKept = 0.93;
/// What remains of cuts without them where windows are of a copy whose channels come last: where positions are rows of
/// a product, so that windows were transposed, and where they are columns, of which short runs are copied well.
inline constexpr double lessAsRows = 0.9, lessAsColumns = 0.72;
/// How much smaller than a result a value is that each of its elements would compute again.
inline constexpr int64_t smaller = 4;
/// More elements than that, in multiples of what the group reads and writes, nobody stores: they are products inside of
/// contractions. Nor more bytes, because the memory of the machine is not in its record.
inline constexpr int64_t mostGrowth = 64, mostBytes = int64_t(8) << 30;
} // namespace cuts

/// Orders of the dimensions of results in memory (LayOutResults).
namespace orders {
/// Estimates are rough: an order that is hardly better is not taken.
inline constexpr double clearlyLess = 0.97;
} // namespace orders

/// Sums of all elements of a window at once (TapSums).
namespace tapSums {
/// Positions of a row that a thread has at once, as their windows overlap: a vector, or of rows that are pairs at best,
/// as those of 14, as many as divide them, up to a short row.
inline constexpr int64_t mostLanes = 8, mostPairs = 16;
inline int64_t lanes(int64_t extent) {
  int64_t lanes = extent % 4 == 2 ? mostPairs : mostLanes;
  while (extent % lanes != 0)
    lanes = extent % 4 == 2 ? lanes - 2 : lanes / 2;
  return lanes;
}
/// Threads whose sums one of them combines first.
inline constexpr int64_t neighbours = 16;
} // namespace tapSums

/// Dots of processors (ChooseDot, NearForm).
namespace dots {
/// Products of a dot that is not worth cutting for another thread.
inline constexpr double smallestFlops = 1e6;
/// Cycles of a run of a window that is packed: it is found before it is read.
inline constexpr double runCycles = 8;
/// Cycles that an element of a packed factor takes which is copied by itself; those of a run that is found, and of a
/// vector that is copied; and for an element of what is turned. Measured on processors with vectors of 512 bits.
inline constexpr double oneByOne = 4, perRun = 6, perVector = 2, transposed = 1;
} // namespace dots

/// What a kernel reads across the order of its results is transposed by a kernel of its own (TransposeReads).
namespace walkedReads {
/// Elements of the largest tensor where it can pay, and of one that is only summed up, by few workgroups that wait long
/// for what lies far apart; and bytes of a copy.
inline constexpr double fewestElements = 1 << 20, fewestSummed = 1 << 19, mostBytes = 1 << 30;
/// What remains with copies, of the time without. Tensors that are so many times smaller than the largest do not
/// matter.
inline constexpr double clearlyLess = 0.7, mostSmaller = 4;
} // namespace walkedReads

/// Rows that make whole vectors together (ChooseElements). A guess.
namespace wholeLines {
/// A run of them is less than that many times longer or shorter than the one that would be taken without.
inline constexpr double mostApart = 4;
} // namespace wholeLines

/// Rows of a table that a workgroup adds updates to (WorkgroupScatter). Not measured.
namespace scatters {
/// Cycles of an update that a thread walks, twice; and of a round of indices that a workgroup looks at.
inline constexpr int64_t walkCycles = 100, roundCycles = 2000;
/// Fewer rows than threads have turns for are taken where the time is less by that factor.
inline constexpr int64_t clearlyLess = 4;
} // namespace scatters

} // namespace zyx::target::fits

#endif // ZYX_TARGET_INFO_FITS_H
