//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A schedule changes where and in which order a kernel computes, and never what, so every schedule that is not refused
// must give the same answers. Draws up to six steps from the axes' names and small tiles, tries each on a copy of the
// kernel, and leaves out those that -zyx-kernel-apply-schedule refuses. The same seed draws the same schedules. Where
// programs may be workgroups, some dots are multiplied out of shared memory.
//===----------------------------------------------------------------------===//
#include "DrawSchedule.h"

#include "zyx/Base/Random.h"
#include "zyx/Codegen/Tile/ApplySchedule.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// SplitMix64: the same numbers everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t below(uint64_t n) { return zyx::mixBits(state += zyx::splitMixStep) % n; }

private:
  uint64_t state;
};

/// Draws for one kernel.
class ScheduleDrawer {
public:
  ScheduleDrawer(FuncOp func, uint64_t seed, int64_t mostThreads) : func(func), random(seed), mostThreads(mostThreads) {
    func.walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op))
        note(load.getAxes());
      else if (auto iota = dyn_cast<IotaOp>(op))
        note(iota.getAxes());
      numDots += isa<DotOp>(op);
      if (auto dot = dyn_cast<DotOp>(op))
        isHalf |= getElementTypeOrSelf(dot.getLhs().getType()).getIntOrFloatBitWidth() == 16;
      combines |= isa<ReduceOp>(op);
      hasExp |= isa<math::ExpOp>(op);
    });
  }

  /// Steps that are refused are left out.
  ScheduleAttr draw() {
    SmallVector<Attribute> steps;
    if (mostThreads > 1 && numDots == 1 && !combines && random.below(2) == 0) {
      drawShared(steps);
      return ScheduleAttr::get(func.getContext(), steps);
    }
    for (uint64_t tries = random.below(7); tries > 0 && !names.empty(); --tries) {
      steps.push_back(drawStep());
      if (!checkSchedule(func, steps).isOk())
        steps.pop_back();
    }
    return ScheduleAttr::get(func.getContext(), steps);
  }

private:
  void note(std::optional<ArrayAttr> axes) {
    if (axes)
      for (StringAttr name : axes->getAsRange<StringAttr>())
        names.insert(name);
  }

  /// A workgroup for each tile. Where its threads are too few for that, or nothing can be cut, a program is one thread.
  void drawShared(SmallVector<Attribute> &steps) {
    MLIRContext *context = func.getContext();
    static constexpr int64_t tiles[] = {1, 4, 7, 8, 16, 20, 32, 64}, parts[] = {1, 2, 4, 8},
                             depths[] = {1, 3, 8, 16, 20, 64};
    for (StringAttr axis : names) {
      steps.push_back(GridStepAttr::get(context, axis, tiles[random.below(std::size(tiles))]));
      if (!checkSchedule(func, steps).isOk())
        steps.pop_back();
    }
    int64_t rows = parts[random.below(std::size(parts))], columns = parts[random.below(std::size(parts))];
    const int64_t depth = depths[random.below(std::size(depths))];
    // Where warps multiply the factors, a warp has a part.
    const bool narrow = isHalf && random.below(2) == 0;
    if (narrow) {
      static constexpr int64_t blocks[] = {16, 32, 48}, halves[] = {8, 16, 24, 32};
      rows = blocks[random.below(std::size(blocks))];
      columns = halves[random.below(std::size(halves))];
      if (random.below(2) == 0)
        std::swap(rows, columns);
    }
    steps.push_back(BlockStepAttr::get(context, BlockingAttr::get(context, rows, columns, rows, depth, /*packLhs=*/true,
                                                                  /*packRhs=*/true, /*alongDepth=*/false, narrow)));
    if (checkSchedule(func, steps).isOk())
      func.setThreads(std::min<int64_t>(int64_t(32) << random.below(4), mostThreads));
    else
      steps.pop_back();
  }

  Attribute drawStep() {
    const bool hasDot = numDots != 0;
    MLIRContext *context = func.getContext();
    if (random.below(8) == 0)
      return StreamStepAttr::get(context);
    if (hasDot && random.below(5) == 0)
      return StageStepAttr::get(context, random.below(2), Space::Private);
    if (hasDot && random.below(3) == 0) {
      int64_t rows = 1 + random.below(9), columns = 1 + random.below(40);
      int64_t depth = 1 + random.below(64);
      int64_t rowBlock = rows * (1 + random.below(4));
      bool packLhs = random.below(2), packRhs = random.below(2), alongDepth = random.below(4) == 0;
      bool narrow = !alongDepth && random.below(2);
      if (narrow) {
        rows = 16 << random.below(2);
        columns = 16 << random.below(2);
        rowBlock = rows * (1 + random.below(2));
      }
      return BlockStepAttr::get(context,
                                BlockingAttr::get(context, rows, columns, rowBlock, depth, packLhs && !alongDepth,
                                                  packRhs && !alongDepth, alongDepth, narrow));
    }
    static constexpr int64_t tiles[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32, 64};
    StringAttr axis = names[random.below(names.size())];
    int64_t tile = tiles[random.below(std::size(tiles))];
    if (hasDot && random.below(8) == 0)
      return SwapStepAttr::get(context);
    if (hasExp && random.below(3) == 0)
      return OnlineStepAttr::get(context, axis, tile);
    if (random.below(2))
      return GridStepAttr::get(context, axis, tile);
    return LoopStepAttr::get(context, axis, tile);
  }

  FuncOp func;
  Random random;
  const int64_t mostThreads;
  llvm::SetVector<StringAttr> names;
  unsigned numDots = 0;
  bool combines = false, hasExp = false, isHalf = false;
};

struct DrawSchedulePass : PassWrapper<DrawSchedulePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DrawSchedulePass)
  DrawSchedulePass() = default;
  DrawSchedulePass(const DrawSchedulePass &other) : PassWrapper(other) {}
  DrawSchedulePass(uint64_t from, int64_t most) {
    seed = from;
    threads = most;
  }
  llvm::StringRef getArgument() const final { return "zyx-test-draw-schedule"; }
  llvm::StringRef getDescription() const final { return "Give every kernel of whole tiles a random legal schedule"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<KernelDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    uint64_t number = 0;
    getOperation()->walk([&](FuncOp func) {
      // Kernels of one program draw different ones.
      uint64_t kernelSeed = seed * 1000003 + number++;
      if (!func.getSchedule())
        func.setScheduleAttr(ScheduleDrawer(func, kernelSeed, threads).draw());
    });
  }

  Option<uint64_t> seed{*this, "seed", llvm::cl::desc("What the numbers are drawn from"), llvm::cl::init(1)};
  Option<int64_t> threads{*this, "threads", llvm::cl::desc("Threads that a program has at most"), llvm::cl::init(1)};
};

} // namespace

std::unique_ptr<Pass> zyx::test::createDrawSchedulePass(uint64_t seed, int64_t threads) {
  return std::make_unique<DrawSchedulePass>(seed, threads);
}

namespace zyx::test {
void registerDrawSchedulePass() { PassRegistration<DrawSchedulePass>(); }
} // namespace zyx::test
