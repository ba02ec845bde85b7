//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/Uniform.h"

#include "zyx/Dialect/Kernel/IR/BufferUse.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Target/Backend/RefuseOp.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::kernel;
using namespace zyx::target;

bool Uniform::isReachedByAll(Operation *op) {
  for (Operation *around = op->getParentOp(); around && !isa<FuncOp>(around); around = around->getParentOp())
    if (!decides(around))
      return false;
  return true;
}

bool Uniform::decides(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return has(branch.getCondition());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return has(loop.getLowerBound()) && has(loop.getUpperBound()) && has(loop.getStep());
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return has(loop.getConditionOp().getCondition());
  return isa<GridOp>(op);
}

/// A value that depends on itself is what the rest of it is: so an answer that assumed too much is computed again with
/// what was found.
bool Uniform::has(Value value) {
  const auto [at, isNew] = known.try_emplace(value, true);
  if (!isNew)
    return at->second;
  if (compute(value))
    return true;
  // What was taken for uniform because of this value may not be.
  DenseMap<Value, bool> varying;
  for (const auto &[each, isSame] : known)
    if (!isSame)
      varying.try_emplace(each, false);
  known = std::move(varying);
  known[value] = false;
  return false;
}

bool Uniform::compute(Value value) {
  Operation *op = value.getDefiningOp();
  unsigned number = 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    op = argument.getOwner()->getParentOp();
    number = argument.getArgNumber();
    if (isa<FuncOp, GridOp>(op))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (argument == loop.getInductionVar())
        return decides(loop);
      --number;
    } else if (auto repeated = dyn_cast<scf::WhileOp>(op)) {
      if (argument.getOwner() == repeated.getBeforeBody())
        return decides(repeated) && has(repeated.getInits()[number]) &&
               has(repeated.getYieldOp().getOperands()[number]);
      return decides(repeated) && has(repeated.getConditionOp().getArgs()[number]);
    }
  } else {
    number = cast<OpResult>(value).getResultNumber();
  }
  if (auto id = dyn_cast<IdOp>(op))
    return id.getKind() != IdKind::Thread && id.getKind() != IdKind::Lane && id.getKind() != IdKind::Subgroup;
  // Each subgroup has its own.
  if (isa<SubgroupReduceOp, SubgroupScanOp>(op))
    return false;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return decides(branch) && has(branch.thenYield().getOperand(number)) && has(branch.elseYield().getOperand(number));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return decides(loop) && has(loop.getInitArgs()[number]) && has(loop.getYieldedValues()[number]);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return decides(loop) && has(loop.getConditionOp().getArgs()[number]);
  // Each thread has its own.
  if (auto alloc = dyn_cast<AllocOp>(op))
    return alloc.getType().getSpace() != Space::Private;
  return op->getNumRegions() == 0 && hasAll(op->getOperands());
}

static bool isOfSubgroups(IdKind kind) {
  return kind == IdKind::Lane || kind == IdKind::Subgroup || kind == IdKind::NumSubgroups;
}

static Status checkThreads(FuncOp func, const char *language, bool hasThreads) {
  const bool isOneThread = func.getThreads().value_or(1) == 1;
  for (Type type : func.getArgumentTypes())
    if (!isa<BufferType>(type) && !type.isIntOrIndex())
      return refuseOp(func, "takes a scalar that is no integer; scalars are passed as 64-bit integers");
  Uniform uniform;
  Status status;
  func.walk([&](Operation *op) {
    auto alloc = dyn_cast<AllocOp>(op);
    auto barrier = dyn_cast<BarrierOp>(op);
    auto id = dyn_cast<IdOp>(op);
    const bool isOfSubgroup = isa<SubgroupReduceOp, SubgroupScanOp>(op);
    const bool isKnown = barrier        ? hasThreads && barrier.getScope() == Scope::Workgroup && !barrier.getThreads()
                         : isOfSubgroup ? hasThreads
                         : id
                             ? hasThreads && (id.getKind() == IdKind::Thread || isOfSubgroups(id.getKind()))
                             : !isa<KernelDialect>(op->getDialect()) ||
                                   isa<FuncOp, GridOp, ViewOp, AllocOp, LoadOp, StoreOp, kernel::YieldOp, ReturnOp>(op);
    if (!isKnown)
      status = refuseOp(op, Twine("has no form in ") + language);
    else if (alloc && isOneThread && alloc.getType().getSpace() != Space::Private)
      status = refuseOp(alloc, "asks for shared memory, which one thread does not have");
    else if ((barrier || isOfSubgroup) && !isOneThread && !uniform.isReachedByAll(op))
      status = refuseOp(op, "is not reached by all threads of the workgroup, or it is not known");
    return status.isOk() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return status;
}

Result<ThreadUse> zyx::target::findThreadUse(FuncOp func, const char *language, int64_t mostPrivateBytes,
                                             bool hasThreads) {
  ZYX_RETURN_IF_ERROR(checkThreads(func, language, hasThreads));
  ThreadUse use;
  use.groupThreads = static_cast<int64_t>(func.getThreads().value_or(1));
  if (const int64_t bytes = bytesOf(func, Space::Private); hasThreads && bytes > mostPrivateBytes)
    use.scratchBytes = bytes;
  for (bool isBuffer : {true, false})
    for (Value each : func.getBody().getArguments())
      if (isa<BufferType>(each.getType()) == isBuffer)
        use.arguments.push_back(each);
  if (use.groupThreads != 1)
    for (Value each : use.arguments)
      if (isReadAndWritten(each))
        use.readBack.insert(each);
  use.hasSubgroups =
      func.walk([](Operation *op) {
            return isa<SubgroupReduceOp, SubgroupScanOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return use;
}
