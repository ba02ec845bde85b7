//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Counts what emitters of this room and of Codegen/Tile allocate, by the same functions that give them shapes and
// types. Where it depends on how a nest is emitted, the most that it can be is counted.
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Simt/SharedMemory.h"

#include "zyx/Codegen/Simt/AcrossThreads.h"
#include "zyx/Codegen/Simt/RowReductionEmitter.h"
#include "zyx/Codegen/Simt/TapSums.h"
#include "zyx/Codegen/Simt/ThreadGroups.h"
#include "zyx/Codegen/Tile/SharedDotShape.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx::kernel;

namespace {

class Counter {
public:
  Counter(FuncOp func, const Axes &axes, const zyx::target::TargetInfo &machine)
      : func(func), axes(axes), machine(machine), builder(func.getContext()), context(func, builder, axes, machine) {}

  FailureOr<SharedMemory> run() {
    func.walk([&](scf::ForOp loop) { findTaken(loop); });
    WalkResult result = func.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<AllocOp>(op))
        add(alloc.getType());
      else if (auto dot = dyn_cast<DotOp>(op))
        return WalkResult(addDot(dot));
      else if (auto reduce = dyn_cast<ReduceOp>(op))
        return WalkResult(addReduce(reduce));
      else if (isTileRoot(op) && !isa<StoreOp>(op))
        keep(op->getResult(0));
      return WalkResult::advance();
    });
    return result.wasInterrupted() ? FailureOr<SharedMemory>(failure()) : found;
  }

private:
  void add(ViewType type) { found.bytes += type.getSpace() == Space::Shared ? allocatedBytes(type) : 0; }

  /// What a loop carries takes the place of what it began with.
  void findTaken(scf::ForOp loop) {
    for (auto [carried, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands()))
      if (isTile(carried)) {
        Value sum = yielded.getDefiningOp<DotOp>() ? yielded : findOwnSum(carried, yielded);
        if (sum)
          taken.insert(sum);
      }
  }

  void keep(Value tile) {
    const ViewType type = context.memoryTypeOf(tile);
    if (taken.contains(tile) || type.getSpace() != Space::Shared)
      return;
    add(type);
    found.hasTiles = true;
  }

  LogicalResult addDot(DotOp dot) {
    FailureOr<std::optional<SharedDotShape>> shape = SharedDotShape::of(dot, func, axes, machine);
    if (failed(shape))
      return failure();
    if (!*shape) {
      found.refused = dot;
      return success();
    }
    found.bytes += (*shape)->sharedBytes();
    std::optional<SmallVector<StoreOp>> stores = context.findStores(dot);
    if (!stores || stores->empty())
      keep(dot.getResult());
    return success();
  }

  FailureOr<bool> isWhole(Axis axis) {
    auto [known, isNew] = wholes.try_emplace(axis, false);
    if (!isNew)
      return known->second;
    FailureOr<AxisEnd> end = findEnd(func, axes, axis);
    if (failed(end))
      return failure();
    return wholes[axis] = end->isWhole();
  }
  FailureOr<bool> isOne(Axis axis) { return axes.extent(axis) == 1 ? isWhole(axis) : FailureOr<bool>(false); }

  LogicalResult addReduce(ReduceOp reduce) {
    llvm::SmallDenseSet<Axis> combined;
    for (int64_t dim : reduce.getDims())
      combined.insert(axes.of(reduce.getInput(), dim));
    // Each thread has what there is one of.
    bool isSingle = true;
    for (Value tile : {reduce.getResult(), reduce.getInput()})
      for (Axis axis : axes.of(tile)) {
        FailureOr<bool> one = isOne(axis);
        if (failed(one))
          return failure();
        isSingle &= *one || (tile == reduce.getInput() && combined.contains(axis));
      }
    if (!isSingle)
      keep(reduce.getResult());
    if (llvm::any_of(combined, [&](Axis axis) { return axes.extent(axis) != 1; }))
      addExchange(reduce);
    if (func.getRowGroups() && context.threads > 1 && context.cluster == 1) {
      FailureOr<int64_t> taps = bytesOfTaps(reduce);
      if (failed(taps))
        return failure();
      found.bytes += std::max(bytesOfGroups(reduce, combined), *taps);
    }
    return success();
  }

  /// The memory in which threads combine what each has belongs to all reductions of a program with the same type.
  void addExchange(ReduceOp reduce) {
    if (areOneSubgroup(context))
      return;
    const Type element = getElementTypeOrSelf(reduce.getType());
    auto addFor = [&](Type type) {
      if (!exchanged.insert({reduce->getParentOfType<GridOp>(), type}).second)
        return;
      const ExchangeMemory memory = ExchangeMemory::of(type, context.threads / context.cluster);
      add(memory.parts);
      add(memory.sums);
    };
    addFor(element);
    if (comparesBits(reduce, machine))
      addFor(builder.getIntegerType(element.getIntOrFloatBitWidth()));
    if (context.cluster > 1)
      add(clusterExchangeMemory(element, context.cluster));
  }

  int64_t bytesOfGroups(ReduceOp reduce, const llvm::SmallDenseSet<Axis> &combined) {
    TileContext::ProducerSlice slice = context.sliceOf(reduce.getOperation());
    int64_t steps = 1, most = 0;
    for (Axis axis : combined)
      steps = std::max(steps, axes.extent(axis));
    for (Axis axis : axes.of(reduce.getInput()))
      if (!combined.contains(axis))
        most = std::max(most, ThreadGroups::mostElements(axes.extent(axis), context.mostLanesFor(slice, axis), steps,
                                                         context.threads));
    return allocatedBytes(most * llvm::divideCeil(getElementTypeOrSelf(reduce.getType()).getIntOrFloatBitWidth(), 8));
  }

  /// Where threads add up all elements of a window at once.
  FailureOr<int64_t> bytesOfTaps(ReduceOp reduce) {
    Operation *root = reduce;
    Nest nest(context, root);
    nest.addAxes();
    for (Axis axis : nest.domain) {
      FailureOr<bool> whole = isWhole(axis);
      if (failed(whole))
        return failure();
      nest.extents[axis] = {*whole ? std::optional(axes.extent(axis)) : std::nullopt};
    }
    nest.oneHot = isOneHotSum(context, root);
    // Threads copy nothing to have it near.
    nest.vectorAxis = nest.findVectorAxis([](LoadOp, Axis) { return false; });
    if (!TapSums::apply(nest))
      return 0;
    int64_t taps = 1;
    for (Axis axis : axes.of(reduce.getResult()))
      taps *= axes.extent(axis);
    return TapSums::sharedBytes(getElementTypeOrSelf(reduce.getType()), taps, context.threads);
  }

  FuncOp func;
  const Axes &axes;
  const zyx::target::TargetInfo &machine;
  /// Nothing is emitted.
  OpBuilder builder;
  TileContext context;
  SharedMemory found;
  /// Results that lie where a loop's other tiles do.
  llvm::DenseSet<Value> taken;
  llvm::DenseMap<Axis, bool> wholes;
  llvm::DenseSet<std::pair<Operation *, Type>> exchanged;
};

} // namespace

FailureOr<SharedMemory> SharedMemory::of(FuncOp func, const Axes &axes, const zyx::target::TargetInfo &machine) {
  return Counter(func, axes, machine).run();
}
