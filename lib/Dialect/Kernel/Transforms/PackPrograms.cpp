//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Programs of one subgroup each, several of which a workgroup runs.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <array>
#include <numeric>

namespace zyx::kernel {
#define GEN_PASS_DEF_PACKPROGRAMSPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;
using zyx::target::TargetInfo;

namespace {

/// Programs of a workgroup, in the order in which they are tried: whole workgroups alone. Four subgroups fill a core of
/// every machine before it has all the workgroups that it has room for; of eight it has to begin half as many.
constexpr std::array<int64_t, 7> packedCounts = {8, 4, 6, 7, 5, 3, 2};
/// Shared memory begins at multiples of so many bytes for each program, as it does for one.
constexpr int64_t alignment = 16;

class Packer {
public:
  Packer(FuncOp func, const TargetInfo &machine) : func(func), machine(machine) {}

  /// Packs the kernel's programs where that is possible and saves workgroups.
  void run();

private:
  bool isPossible();
  /// Whether all programs of a workgroup come to a barrier equally often: it is in no branch, and in loops whose trips
  /// are numbers.
  bool isMetByAll(BarrierOp barrier);
  /// Chooses how many programs are packed, along which dimension of the grid.
  bool choose();
  void widen(AllocOp alloc, Value place);

  FuncOp func;
  const TargetInfo &machine;
  GridOp grid;
  unsigned dim = 0;
  int64_t packed = 1;
  SmallVector<AllocOp> allocs;
};

struct PackPrograms : zyx::kernel::impl::PackProgramsPassBase<PackPrograms> {
  void runOnOperation() override {
    const TargetInfo *machine = requireTarget(getOperation());
    if (!machine)
      return signalPassFailure();
    if (machine->hasSubgroups())
      Packer(getOperation(), *machine).run();
  }
};

} // namespace

bool Packer::isMetByAll(BarrierOp barrier) {
  if (barrier.getScope() != Scope::Workgroup || barrier.getAsync())
    return false;
  auto isNumber = [](Value value) { return matchPattern(value, m_Constant()); };
  for (Operation *parent = barrier->getParentOp(); parent != grid.getOperation(); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || !isNumber(loop.getLowerBound()) || !isNumber(loop.getUpperBound()) || !isNumber(loop.getStep()))
      return false;
  }
  return true;
}

bool Packer::isPossible() {
  const auto threads = static_cast<int64_t>(func.getThreads().value_or(1));
  if (func.getForm() != Form::Lowered || func.getExternal() || threads != machine.simt.subgroupSize ||
      func.getCluster().value_or(1) > 1 || func.getPrograms())
    return false;
  SmallVector<GridOp> grids(llvm::to_vector(func.getBody().getOps<GridOp>()));
  if (grids.size() != 1 || llvm::is_contained(grids.front().getStaticExtents(), ShapedType::kDynamic))
    return false;
  grid = grids.front();
  const WalkResult walked = func.walk([&](Operation *op) {
    bool isKnown = true;
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      isKnown = grid->isAncestor(op) && isMetByAll(barrier);
    } else if (auto id = dyn_cast<IdOp>(op)) {
      isKnown = id.getKind() == IdKind::Thread && grid->isAncestor(op);
    } else if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (alloc.getType().getSpace() == Space::Shared) {
        isKnown = grid->isAncestor(op) && llvm::all_of(alloc->getUses(), [&](OpOperand &use) {
                    auto load = dyn_cast<LoadOp>(use.getOwner());
                    auto store = dyn_cast<StoreOp>(use.getOwner());
                    return (load && load.getView() == alloc) || (store && store.getView() == alloc);
                  });
        allocs.push_back(alloc);
      }
    } else {
      isKnown = !isa<KernelDialect>(op->getDialect()) ||
                isa<FuncOp, GridOp, ViewOp, LoadOp, StoreOp, GatherOp, zyx::kernel::YieldOp, ReturnOp>(op);
    }
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !walked.wasInterrupted();
}

bool Packer::choose() {
  int64_t programs = 1;
  SmallVector<int64_t> counts;
  for (auto [extent, step] : llvm::zip_equal(grid.getStaticExtents(), grid.getSteps())) {
    counts.push_back(llvm::divideCeil(extent, step));
    programs *= counts.back();
  }
  const auto rounds = static_cast<int64_t>(llvm::divideCeil(programs, machine.cores));
  for (int64_t count : packedCounts)
    for (auto d = static_cast<unsigned>(counts.size()); d-- > 0;) {
      // Cores that have a workgroup more than others take an eighth more time at most.
      const auto packedRounds = static_cast<int64_t>(llvm::divideCeil(programs / count, machine.cores)) * count;
      if (counts[d] % count != 0 || 8 * packedRounds > 9 * rounds)
        continue;
      int64_t bytes = 0;
      for (AllocOp alloc : allocs)
        bytes += bytesOf(alloc);
      if (bytes * machine.simt.residentThreads > machine.simt.sharedBytes * machine.simt.subgroupSize)
        continue;
      dim = d, packed = count;
      return true;
    }
  return false;
}

/// Each program has the part of its number, and finds its elements there.
void Packer::widen(AllocOp alloc, Value place) {
  const ViewType type = alloc.getType();
  SmallVector<int64_t> shape(type.getShape());
  int64_t row = std::max<int64_t>(type.getElementType().getIntOrFloatBitWidth() / 8, 1);
  for (int64_t extent : ArrayRef(shape).drop_front())
    row *= extent;
  if (!shape.empty() && row != 0)
    shape.front() = llvm::alignTo(shape.front(), alignment / std::gcd(alignment, row));
  shape.insert(shape.begin(), packed);
  OpBuilder builder(alloc);
  auto whole = AllocOp::create(builder, alloc.getLoc(), ViewType::get(shape, type.getElementType(), Space::Shared));
  // Operands move where there are more of them.
  SmallVector<Operation *> users(alloc->getUsers());
  auto widenUse = [&](auto access) {
    SmallVector<Value> own{place};
    llvm::append_range(own, access.getIndices());
    access.getIndicesMutable().assign(own);
    access.getViewMutable().assign(whole);
  };
  for (Operation *user : users)
    if (auto load = dyn_cast<LoadOp>(user))
      widenUse(load);
    else
      widenUse(cast<StoreOp>(user));
  alloc.erase();
}

void Packer::run() {
  if (!isPossible() || !choose())
    return;
  const int64_t threads = machine.simt.subgroupSize, step = grid.getSteps()[dim];
  OpBuilder builder = OpBuilder::atBlockBegin(&grid.getBody().front());
  Location loc = grid.getLoc();
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value thread = IdOp::create(builder, loc, builder.getIndexType(), IdKind::Thread);
  Value place = arith::DivUIOp::create(builder, loc, thread, index(threads));
  Value own = arith::RemUIOp::create(builder, loc, thread, index(threads));
  Value first = grid.getBody().getArgument(dim);
  Value number = arith::AddIOp::create(builder, loc, first, arith::MulIOp::create(builder, loc, place, index(step)));
  first.replaceAllUsesExcept(number, number.getDefiningOp());
  grid.walk([&](IdOp id) {
    if (id.getResult() == thread)
      return;
    id.replaceAllUsesWith(own);
    id.erase();
  });
  for (AllocOp alloc : allocs)
    widen(alloc, place);
  SmallVector<int64_t> steps(grid.getSteps());
  steps[dim] *= packed;
  grid.setSteps(steps);
  func.setThreads(packed * threads);
}
