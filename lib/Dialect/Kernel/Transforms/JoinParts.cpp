//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels that one launch runs side by side: each workgroup runs a program of one of them.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_JOINPARTSPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

using zyx::target::TargetInfo;

struct Part {
  FuncOp func;
  /// Its arguments among those of the whole kernel.
  SmallVector<int64_t> arguments;
  /// What stands around its programs; null where it has no grid, and is one program.
  GridOp grid;
  int64_t threads = 1;
  int64_t programs = 1;
  /// Workgroups of the whole kernel that run them.
  int64_t groups = 1;
};

class PartJoiner {
public:
  PartJoiner(FuncOp whole, const SymbolTable &symbols, const TargetInfo &machine)
      : whole(whole), symbols(symbols), machine(machine) {}
  LogicalResult run();

private:
  LogicalResult findPart(StringRef name, ArrayRef<int64_t> arguments);
  void findThreads();
  void addPrograms(OpBuilder &builder, Part &part, IRMapping &mapping, Value group);
  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, whole.getLoc(), value);
  }

  FuncOp whole;
  const SymbolTable &symbols;
  const TargetInfo &machine;
  SmallVector<Part> parts;
  int64_t threads = 1;
};

/// Kernels whose parts are known, from which those parts are erased that nothing launches by themselves.
struct JoinParts : zyx::kernel::impl::JoinPartsPassBase<JoinParts> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<FuncOp> wholes;
    for (FuncOp func : module.getOps<FuncOp>())
      if (func.getParts())
        wholes.push_back(func);
    if (wholes.empty())
      return markAllAnalysesPreserved();
    const TargetInfo *machine = requireTarget(module);
    if (!machine)
      return signalPassFailure();
    SymbolTable symbols(module);
    llvm::SetVector<Operation *> used;
    for (FuncOp whole : wholes) {
      if (!machine->simt.hasCountedBarriers) {
        whole.emitOpError("has parts, whose threads the machine has no barriers for");
        return signalPassFailure();
      }
      for (auto name : whole.getPartsAttr().getAsRange<FlatSymbolRefAttr>())
        if (Operation *part = symbols.lookup(name.getValue()))
          used.insert(part);
      if (failed(PartJoiner(whole, symbols, *machine).run()))
        return signalPassFailure();
    }
    for (Operation *part : used)
      if (SymbolTable::symbolKnownUseEmpty(part, module))
        part->erase();
  }
};

} // namespace

/// Whether an op of a part stands in front of all programs of the whole kernel.
static bool standsInFront(Operation &op) { return op.hasTrait<OpTrait::ConstantLike>() || isa<ViewOp>(op); }

LogicalResult PartJoiner::findPart(StringRef name, ArrayRef<int64_t> arguments) {
  Part part{symbols.lookup<FuncOp>(name), SmallVector<int64_t>(arguments), {}};
  if (part.func.getForm() != Form::Lowered || part.func.getCluster().value_or(1) > 1 || part.func.getPrograms())
    return whole.emitOpError() << "has the part '" << name << "', which is no kernel of the lowered form whose "
                               << "workgroups are alone";
  part.threads = static_cast<int64_t>(part.func.getThreads().value_or(1));
  for (GridOp grid : part.func.getBody().getOps<GridOp>()) {
    part.grid = grid;
    for (auto [extent, step] : llvm::zip_equal(grid.getStaticExtents(), grid.getSteps())) {
      if (ShapedType::isDynamic(extent))
        return whole.emitOpError() << "has the part '" << name << "', whose grid is known at run time only";
      part.programs *= llvm::divideCeil(extent, step);
    }
  }
  // What stands beside a grid would be computed by nobody.
  for (Operation &op : part.func.getBody().front().without_terminator())
    if (part.grid && &op != part.grid && !standsInFront(op))
      return whole.emitOpError() << "has the part '" << name << "', which has a '" << op.getName()
                                 << "' outside of its grid";
  parts.push_back(std::move(part));
  return success();
}

/// The most that a part asks for, or what many programs of one thread want. Those of a part that asks for fewer wait
/// for each other alone, and the others do nothing.
void PartJoiner::findThreads() {
  int64_t points = 0;
  for (const Part &part : parts) {
    threads = std::max(threads, part.threads);
    points += part.threads == 1 ? part.programs : 0;
  }
  threads = zyx::target::fits::launches::jointThreads(threads, points, machine.cores);
  for (Part &part : parts)
    part.groups = part.threads == 1 ? llvm::divideCeil(part.programs, threads) : part.programs;
}

/// What a workgroup does whose number among those of the part is `group`.
void PartJoiner::addPrograms(OpBuilder &builder, Part &part, IRMapping &mapping, Value group) {
  Location loc = part.func.getLoc();
  Value program = group;
  OpBuilder::InsertionGuard guard(builder);
  auto addIf = [&](Value condition) {
    auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  };
  if (part.threads < threads) {
    Value thread = IdOp::create(builder, loc, builder.getIndexType(), IdKind::Thread);
    const bool isPoint = part.threads == 1;
    if (isPoint)
      program = arith::AddIOp::create(builder, loc,
                                      arith::MulIOp::create(builder, loc, group, constant(builder, threads)), thread);
    if (!isPoint || part.programs != part.groups * threads)
      addIf(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, isPoint ? program : thread,
                                  constant(builder, isPoint ? part.programs : part.threads)));
  }
  if (part.grid) {
    // Programs are numbered in row-major order. Numbers of 32 bits are divided in fewer instructions.
    Type narrow = builder.getI32Type(), index = builder.getIndexType();
    Value rest = arith::IndexCastUIOp::create(builder, loc, narrow, program);
    ArrayRef<int64_t> extents = part.grid.getStaticExtents(), steps = part.grid.getSteps();
    int64_t left = part.programs;
    for (size_t dim = extents.size(); dim-- > 0;) {
      const int64_t count = llvm::divideCeil(extents[dim], steps[dim]);
      // A dimension of one step stands at its begin, also in front of the one that all of the rest belongs to.
      if (count == 1) {
        mapping.map(part.grid.getIndices()[dim], constant(builder, 0));
        continue;
      }
      Value position = rest;
      if (left != count) {
        Value divisor = arith::ConstantIntOp::create(builder, loc, narrow, count);
        position = arith::RemUIOp::create(builder, loc, rest, divisor);
        rest = arith::DivUIOp::create(builder, loc, rest, divisor);
      }
      left /= std::max<int64_t>(count, 1);
      position = arith::IndexCastUIOp::create(builder, loc, index, position);
      if (steps[dim] != 1)
        position = arith::MulIOp::create(builder, loc, position, constant(builder, steps[dim]));
      mapping.map(part.grid.getIndices()[dim], position);
    }
  }
  Block &body = part.grid ? part.grid.getBody().front() : part.func.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (!part.grid && standsInFront(op))
      continue;
    Operation *made = builder.clone(op, mapping);
    if (part.threads < threads)
      made->walk([&](BarrierOp barrier) { barrier.setThreads(part.threads); });
  }
}

LogicalResult PartJoiner::run() {
  for (auto [name, arguments] : llvm::zip_equal(whole.getPartsAttr().getAsRange<FlatSymbolRefAttr>(),
                                                whole.getPartArgumentsAttr().getAsRange<DenseI64ArrayAttr>()))
    if (failed(findPart(name.getValue(), arguments.asArrayRef())))
      return failure();
  findThreads();
  Location loc = whole.getLoc();
  OpBuilder builder(whole.getBody().front().getTerminator());
  SmallVector<IRMapping> mappings(parts.size());
  int64_t groups = 0;
  bool shares = false, roomKnown = true;
  int64_t residents = std::numeric_limits<int64_t>::max();
  for (auto [part, mapping] : llvm::zip_equal(parts, mappings)) {
    for (auto [own, number] : llvm::zip_equal(part.func.getArguments(), part.arguments))
      mapping.map(own, whole.getArgument(number));
    for (Operation &op : part.func.getBody().front().without_terminator())
      if (standsInFront(op))
        builder.clone(op, mapping);
    groups += part.groups;
    shares |= bytesOf(part.func, Space::Shared) != 0;
    part.func.walk([&](BarrierOp) { shares = true; });
    roomKnown &= part.func.getMinResidentThreads().has_value();
    residents = std::min(residents, static_cast<int64_t>(part.func.getMinResidentThreads().value_or(residents)));
  }
  auto grid = GridOp::create(builder, loc, ArrayRef<OpFoldResult>{builder.getIndexAttr(groups)}, ArrayRef<int64_t>{1});
  builder.setInsertionPointToStart(&grid.getBody().front());
  // A workgroup may run programs of two parts after each other: the memory that they share is another one's then, and
  // threads that meet alone are others.
  if (shares)
    BarrierOp::create(builder, loc, Scope::Workgroup, /*async=*/false);
  Value group = grid.getIndices().front();
  for (auto [number, each] : llvm::enumerate(llvm::zip_equal(parts, mappings))) {
    auto &[part, mapping] = each;
    if (number + 1 == parts.size()) {
      addPrograms(builder, part, mapping, group);
      break;
    }
    Value count = constant(builder, part.groups);
    Value isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, group, count);
    auto branch = scf::IfOp::create(builder, loc, isOwn, /*withElseRegion=*/true);
    branch->setAttr(alternativesAttrName, builder.getUnitAttr());
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    addPrograms(builder, part, mapping, group);
    builder.setInsertionPoint(branch.elseBlock()->getTerminator());
    group = arith::SubIOp::create(builder, loc, group, count);
  }
  whole.setThreads(threads);
  if (roomKnown)
    whole.setMinResidentThreads(residents);
  whole.removePartsAttr();
  whole.removePartArgumentsAttr();
  return success();
}
