//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Settle.h"
#include "StageCarried.h"

#include "zyx/Codegen/Loops/Passes.h"
#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Codegen/Tile/RowReductions.h"
#include "zyx/Codegen/Tile/TileContext.h"
#include "zyx/Codegen/Tile/TileEvaluator.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Info/Budgets.h"
#include "zyx/Target/Info/UnknownTarget.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_STAGEREUSEDPASS
#include "zyx/Codegen/Loops/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Bytes of tiles that a program of one thread keeps for itself, where the machine has caches for them or is not known.
constexpr int64_t mostStagedBytes = 256 << 10;
/// Elements that a thread reads at once, where the machine is not known.
constexpr int64_t usualLanes = 4;

/// Ops whose tile is not evaluated element by element where it is used.
bool endsPhase(Operation *op) { return isa<ReduceOp, DotOp>(op); }

bool isRoot(Operation *op) { return endsPhase(op) || isa<StoreOp>(op); }

bool isExpensive(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         !isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp,
              math::CopySignOp>(op);
}

/// What takes as long as a row of other ops, in vectors, too.
bool isSlow(Operation *op) {
  return isExpensive(op) ||
         isa<math::SqrtOp, arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
}

/// Whether threads that share a tile hold their parts of it in registers from one walk to the next: those of one long
/// dimension. What has several is walked by loops.
bool isHeldInRegisters(RankedTensorType type, int64_t lanes, int64_t threads) {
  return llvm::count_if(type.getShape(), [](int64_t extent) { return extent != 1; }) <= 1 &&
         staysInRegisters(type.getNumElements(), lanes, threads);
}

/// The dimension of which neighbours lie side by side where a row is read. They do so where it is kept, too: who
/// reads vectors of them would write each element alone, all into the same bank, and the next walk would go along
/// another axis, where a workgroup meets at each row.
int64_t lastDim(LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (type.getDimSize(dim) > 1 && strideOf(load.getView(), static_cast<unsigned>(dim)) == 1)
      return dim;
  return type.getRank() - 1;
}

/// The same of what is computed of rows, element by element.
int64_t lastDim(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Operation *def = work.pop_back_val().getDefiningOp();
    if (!def || def->getBlock() != value.getParentBlock())
      continue;
    if (auto load = dyn_cast<LoadOp>(def); load && cast<RankedTensorType>(load.getType()).getShape() == type.getShape())
      return lastDim(load);
    if (isElementwise(def))
      for (Value operand : def->getOperands())
        if (auto tile = dyn_cast<RankedTensorType>(operand.getType());
            tile && tile.getShape() == type.getShape() && seen.insert(operand).second)
          work.push_back(operand);
  }
  return type.getRank() - 1;
}

/// A tile that was put into memory, and what reads it there.
struct StagedTile {
  /// The tile, what others read instead, and the ops from the one to the other.
  Value value, read;
  SmallVector<Operation *> ops;

  /// `last`: the dimension of which neighbours lie side by side in that memory.
  static StagedTile create(Value value, Space space, int64_t last) {
    const Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
    const bool turns = last + 1 < type.getRank();
    if (turns)
      std::rotate(order.begin() + last, order.begin() + last + 1, order.end());
    StagedTile tile{value, value, {}};
    auto add = [&](Operation *op) {
      tile.ops.push_back(op);
      tile.read = op->getResult(0);
    };
    auto turn = [&](ArrayRef<int64_t> by) {
      auto from = cast<RankedTensorType>(tile.read.getType());
      SmallVector<int64_t> shape;
      for (int64_t dim : by)
        shape.push_back(from.getDimSize(dim));
      add(TransposeOp::create(builder, loc, from.clone(shape), tile.read, by));
    };
    if (turns)
      turn(order);
    auto own = cast<RankedTensorType>(tile.read.getType());
    auto memory = MemoryAttr::get(value.getContext(), space);
    add(ConvertOp::create(builder, loc, RankedTensorType::get(own.getShape(), own.getElementType(), memory),
                          tile.read));
    add(ConvertOp::create(builder, loc, own, tile.read));
    if (turns)
      turn(invertPermutationVector(order));
    value.replaceAllUsesExcept(tile.read, tile.ops.front());
    return tile;
  }
  static StagedTile create(Value value, Space space) {
    return create(value, space, cast<RankedTensorType>(value.getType()).getRank() - 1);
  }
  void undo() const {
    Value now = read;
    now.replaceAllUsesWith(value);
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  }
};
/// What is staged together or not at all.
using StagedGroup = SmallVector<StagedTile>;

/// Decides for one block.
class Stager {
public:
  /// `keepsSpread`: a program is one thread with caches, and where it repeats a row, vectors run along that.
  Stager(Block &block, int64_t maxBytes, int64_t threads, int64_t lanes, bool keepsSpread,
         SmallVectorImpl<StagedGroup> &staged)
      : block(block), left(maxBytes), threads(threads), lanes(lanes), staged(staged),
        // Stores behind a dot are lowered with it, in registers.
        keepsSpread(keepsSpread && block.getOps<DotOp>().empty()) {}

  void run() {
    for (Operation &op : block)
      if (isRoot(&op))
        mark(&op);
    llvm::SetVector<Value> chosen;
    for (Operation &op : block)
      if (isElementwise(&op) && isTile(op.getResult(0)) && worthKeeping(op.getResult(0)))
        chosen.insert(op.getResult(0));
    for (Value value : chosen)
      keep(value);
  }

private:
  /// How many reductions stand, one behind the other, before an op can run.
  unsigned phase(Operation *op) {
    if (!op || op->getBlock() != &block)
      return 0;
    if (auto it = phases.find(op); it != phases.end())
      return it->second;
    unsigned result = 0;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        result = std::max(result, phase(def) + (endsPhase(def) ? 1 : 0));
    return phases[op] = result;
  }

  /// Notes at every value that a root evaluates in which phase it does, and how much it walks.
  void mark(Operation *root) {
    SmallVector<Value> work(root->getOperands());
    llvm::DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation *def = value.getDefiningOp();
      if (!isTile(value) || !def || def->getBlock() != &block || !seen.insert(value).second)
        continue;
      // Of a processor's loops those that walk as much are one: others compute it again.
      const int64_t walked = keepsSpread ? cast<RankedTensorType>(domainOf(root).getType()).getNumElements() : 0;
      usedIn[value].insert({phase(root), walked});
      if (!endsPhase(def))
        llvm::append_range(work, def->getOperands());
    }
  }

  bool dependsOn(Value value, bool (&isMeant)(Operation *), llvm::DenseMap<Value, bool> &known) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &block || endsPhase(def))
      return false;
    // Once for each: the ways through a chain of squares double with every one.
    auto [entry, isNew] = known.try_emplace(value, false);
    if (!isNew)
      return entry->second;
    // What threads have one of for a row is not computed for each element.
    const bool isOfEach = threads == 1 || cast<RankedTensorType>(value.getType()).getNumElements() > 1;
    const bool result = (isOfEach && isMeant(def)) || llvm::any_of(def->getOperands(), [&](Value v) {
                          return isTile(v) && dependsOn(v, isMeant, known);
                        });
    return known[value] = result;
  }

  /// Whether each element is slow to compute and read many times, by what repeats it: factors of channels that come
  /// last would be computed again for each position.
  bool isSpread(Value value) {
    constexpr int64_t fewestReads = 16;
    const int64_t elements = cast<RankedTensorType>(value.getType()).getNumElements();
    return keepsSpread && elements > 1 && !value.use_empty() && phase(value.getDefiningOp()) == 0 &&
           llvm::all_of(value.getUsers(),
                        [&](Operation *user) {
                          return isa<BroadcastOp>(user) &&
                                 cast<RankedTensorType>(user->getResult(0).getType()).getNumElements() >=
                                     fewestReads * elements;
                        }) &&
           dependsOn(value, isSlow, slow);
  }

  bool worthKeeping(Value value) {
    if (isSpread(value))
      return true;
    if (usedIn[value].size() < 2 || !dependsOn(value, isExpensive, expensive))
      return false;
    // Where one op alone uses the value, and is itself used in as many phases, keep that op's result. Threads share
    // little memory: they keep what is widened as it was before.
    if (value.hasOneUse()) {
      Operation *user = *value.user_begin();
      if (isElementwise(user) && usedIn[user->getResult(0)].size() == usedIn[value].size() && !widensForThreads(user))
        return false;
    }
    Operation *def = value.getDefiningOp();
    return !def || !widensForThreads(def) || !def->getOperand(0).hasOneUse();
  }

  bool widensForThreads(Operation *op) const {
    return threads > 1 && isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op);
  }

  void keep(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    // Threads keep their parts of a short row in registers, and what there is one of for a row.
    if (isHeldInRegisters(type, lanes, threads) || (threads > 1 && type.getNumElements() == 1))
      return;
    int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    if (bytes > left)
      return;
    left -= bytes;
    staged.emplace_back().push_back(threads > 1 ? StagedTile::create(value, Space::Shared, lastDim(value))
                                                : StagedTile::create(value, Space::Private));
  }

  Block &block;
  int64_t left;
  /// That compute a program together, and elements that one reads at once.
  const int64_t threads, lanes;
  SmallVectorImpl<StagedGroup> &staged;
  const bool keepsSpread;
  llvm::DenseMap<Operation *, unsigned> phases;
  llvm::DenseMap<Value, bool> expensive, slow;
  /// By value: in which phases roots evaluate it, and how many elements these walk.
  llvm::DenseMap<Value, llvm::SetVector<std::pair<unsigned, int64_t>>> usedIn;
};

/// Keeps rows that threads read together and walk more than once, where they are too long for registers.
class RowKeeper {
public:
  RowKeeper(Block &block, const Axes &axes, int64_t most, int64_t threads, int64_t lanes,
            SmallVectorImpl<StagedGroup> &staged)
      : block(block), axes(axes), most(most), threads(threads), lanes(lanes), staged(staged) {}

  /// All that is walked more than once, or nothing: what is read again anyway is near then.
  void run() {
    countWalks();
    int64_t bytes = 0;
    for (auto &[load, walks] : walksOf)
      bytes += walks > 1 ? bytesOf(load) : 0;
    if (bytes > most)
      return;
    StagedGroup rows;
    for (auto &[load, walks] : walksOf)
      if (walks > 1)
        rows.push_back(StagedTile::create(load.getResult(), Space::Shared, lastDim(load)));
    if (!rows.empty())
      staged.push_back(std::move(rows));
  }

private:
  static RankedTensorType typeOf(LoadOp load) { return cast<RankedTensorType>(load.getType()); }
  static int64_t bytesOf(LoadOp load) {
    return typeOf(load).getNumElements() * llvm::divideCeil(typeOf(load).getElementTypeBitWidth(), 8);
  }

  /// Whether a program has a row of its own: others read what all have out of the caches.
  bool isOwnRow(LoadOp load) {
    const bool isOwn = llvm::any_of(load.getIndices(), [](Value index) { return !getConstantIntValue(index); });
    return isOwn && isTile(load.getResult()) && !isHeldInRegisters(typeOf(load), lanes, threads);
  }

  /// Each root is a walk, but for sums that look at one place, and those that are taken along with a maximum.
  /// Reductions that follow each other are one walk, as `TileLowering::joinsPending` takes them: of the same axes,
  /// along the same ones, where none waits for another.
  void countWalks() {
    SmallVector<ReduceOp> before, together;
    llvm::DenseSet<Value> seen;
    for (Operation &op : block) {
      if (!isRoot(&op))
        continue;
      auto reduce = dyn_cast<ReduceOp>(op);
      const bool isOneHotSum = reduce && findOneHotIndex(reduce, axes);
      const bool isAlong = reduce && llvm::any_of(before, [&](ReduceOp max) { return addsExponentials(reduce, max); });
      if (reduce)
        before.push_back(reduce);
      if (isOneHotSum || isAlong)
        continue;
      if (!reduce || !joins(reduce, together)) {
        seen.clear();
        together.clear();
      }
      note(&op, seen);
      if (reduce)
        together.push_back(reduce);
    }
  }

  bool joins(ReduceOp reduce, ArrayRef<ReduceOp> others) {
    auto axesOf = [&](ReduceOp op, bool combined) {
      SmallVector<Axis> found;
      for (auto [dim, axis] : llvm::enumerate(axes.of(op.getInput())))
        if (!combined ? axes.extent(axis) != 1 : llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
          found.push_back(axis);
      llvm::sort(found);
      return found;
    };
    return !others.empty() && llvm::all_of(others, [&](ReduceOp other) {
      return axesOf(reduce, false) == axesOf(other, false) && axesOf(reduce, true) == axesOf(other, true);
    }) && !waitsFor(reduce, others);
  }

  /// Whether what a reduction combines is made of results of others.
  bool waitsFor(ReduceOp reduce, ArrayRef<ReduceOp> others) {
    SmallVector<Value> work{reduce.getInput()};
    llvm::DenseSet<Value> seen;
    while (!work.empty()) {
      Operation *def = work.pop_back_val().getDefiningOp();
      if (!def || def->getBlock() != &block)
        continue;
      if (auto other = dyn_cast<ReduceOp>(def); other && llvm::is_contained(others, other))
        return true;
      for (Value operand : def->getOperands())
        if (seen.insert(operand).second)
          work.push_back(operand);
    }
    return false;
  }

  /// Counts a walk of what a root reads, but for what `seen` says that the same walk has read.
  void note(Operation *root, llvm::DenseSet<Value> &seen) {
    SmallVector<Value> work(root->getOperands());
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation *def = value.getDefiningOp();
      if (!isTile(value) || !def || def->getBlock() != &block || endsPhase(def) || !seen.insert(value).second)
        continue;
      if (auto load = dyn_cast<LoadOp>(def); load && isOwnRow(load))
        ++walksOf[load];
      else
        llvm::append_range(work, def->getOperands());
    }
  }

  Block &block;
  const Axes &axes;
  const int64_t most, threads, lanes;
  SmallVectorImpl<StagedGroup> &staged;
  llvm::MapVector<LoadOp, int64_t> walksOf;
};

LogicalResult keepRows(FuncOp func, int64_t threads, int64_t lanes, int64_t rowBytes,
                       SmallVectorImpl<StagedGroup> &staged) {
  // Factors of a dot come into shared memory by slices.
  if (func.walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return success();
  // One constant may stand for several tiles, whose axes are not the same.
  unshareConstants(func);
  FailureOr<Axes> axes = Axes::compute(func);
  if (failed(axes))
    return failure();
  func.walk([&](Block *block) { RowKeeper(*block, *axes, rowBytes, threads, lanes, staged).run(); });
  return success();
}

/// Whether the threads have room for what is staged, with all else that they share.
FailureOr<bool> fits(FuncOp func, const zyx::target::TargetInfo &machine) {
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
  FuncOp copy = func.clone();
  scratch->push_back(copy);
  unshareConstants(copy);
  stageCarried(copy);
  FailureOr<ThreadsDecision> decision = settle(copy, machine);
  if (failed(decision))
    return failure();
  return decision->program == ThreadsDecision::AsScheduled;
}

struct StageReused : zyx::kernel::impl::StageReusedPassBase<StageReused> {
  using StageReusedPassBase::StageReusedPassBase;

  void runOnOperation() override {
    const zyx::target::TargetInfo *target = findTarget(getOperation());
    WalkResult result = getOperation()->walk([&](FuncOp func) {
      CrashNote note(func);
      return WalkResult(stageReused(func, target));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

/// Of `lanes` those that vectors have of rows that threads share, by where these begin in memory.
static int64_t alignedLanes(FuncOp func, int64_t lanes) {
  auto look = [&](auto access, Value tile) {
    auto view = access.getView().template getDefiningOp<ViewOp>();
    if (auto type = dyn_cast<RankedTensorType>(tile.getType()); type && view)
      for (auto [dim, extent] : llvm::enumerate(type.getShape()))
        if (extent > 1)
          lanes = alignmentOfRows(view.getMap(), dim, lanes);
  };
  func.walk([&](LoadOp load) { look(load, load.getResult()); });
  func.walk([&](StoreOp store) { look(store, store.getValue()); });
  return lanes;
}

LogicalResult zyx::kernel::stageReused(FuncOp func, const target::TargetInfo *target) {
  if (func.getForm() != Form::Tiled)
    return success();
  // An attention that threads share has its blocks in shared memory, and is known by its scores.
  if (ScheduleAttr schedule = func.getScheduleAttr(); schedule && !schedule.getSteps().empty())
    return success();
  const target::TargetInfo machine = target ? *target : target::unknownTarget();
  // A thread of a subgroup has little memory that is near: it rather computes again.
  const int64_t maxBytes = target && target->hasSubgroups() ? target->memory.privateBytes : mostStagedBytes;
  const int64_t rowBytes = target ? target::keptRowBytes(*target) : 0;
  // A cluster has no memory that all its threads share.
  const int64_t cluster = func.getCluster().value_or(1), threads = threadsOfProgram(func);
  int64_t lanes = target ? target->lanes(4) : usualLanes;
  if (target && target->hasSubgroups() && threads > 1 && !func.getRowGroups())
    lanes = alignedLanes(func, lanes);
  const int64_t most = cluster > 1 ? 0 : threads > 1 ? target::sharedTileBytes(machine) : maxBytes;
  const bool hasCaches = target && target->hasVectors() && !target->hasSubgroups() && threads == 1;
  SmallVector<StagedGroup> staged;
  func.walk([&](Block *block) { Stager(*block, most, threads, lanes, hasCaches, staged).run(); });
  if (cluster == 1 && threads > 1 && rowBytes != 0 && failed(keepRows(func, threads, lanes, rowBytes, staged)))
    return failure();
  // What does not find room beside all else is computed or read again.
  while (threads > 1 && target && !staged.empty()) {
    FailureOr<bool> hasRoom = fits(func, machine);
    if (failed(hasRoom))
      return failure();
    if (*hasRoom)
      break;
    const StagedGroup last = staged.pop_back_val();
    for (const StagedTile &tile : llvm::reverse(last))
      tile.undo();
  }
  return success();
}
