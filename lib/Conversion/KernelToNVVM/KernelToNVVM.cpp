//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Lowering.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Conversion/KernelToNVVM/Passes.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Plan/IR/PlanDialect.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_CONVERTKERNELTONVVMPASS
#include "zyx/Conversion/KernelToNVVM/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

static constexpr StringRef sharedName = "zyx_shared";
/// Named barriers of a workgroup; number 0 is the workgroup's own.
static constexpr int64_t namedBarriers = 16;

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value Lowering::constant(Type type, int64_t value) {
  return LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
}

SmallVector<Value> Lowering::values(ValueRange old) {
  return llvm::map_to_vector(old, [&](Value v) { return value(v); });
}

Block *Lowering::createBlock(TypeRange arguments) {
  OpBuilder::InsertionGuard guard(b);
  return b.createBlock(&func.getBody(), func.getBody().end(), arguments, SmallVector<Location>(arguments.size(), loc));
}

void Lowering::startBlock(Block *block) {
  block->moveBefore(&func.getBody(), func.getBody().end());
  b.setInsertionPointToStart(block);
}

/// Rows of a tile that the threads of a warp or of four hold: two each, in pairs of columns. 0 for other layouts.
static int64_t rowsOf(FragKind kind) {
  return kind == FragKind::WgmmaAcc || kind == FragKind::WgmmaA ? 64 : kind == FragKind::MmaAcc ? 16 : 0;
}

Type Lowering::convert(Type type) {
  if (type.isIndex())
    return i32;
  if (type.isSignlessIntOrFloat())
    return type;
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return {};
  Type element = tile.getElementType();
  int64_t count = 0;
  const bool is32Bit = element.isF32() || element.isInteger(32) || element.isInteger(1);
  if (auto frag = dyn_cast_or_null<FragAttr>(tile.getEncoding()); frag && frag.getKind() == FragKind::Block) {
    if (!is32Bit || (tile.getShape() != ArrayRef<int64_t>{64, 128} && tile.getShape() != ArrayRef<int64_t>{32, 128}))
      return {};
    count = tile.getDimSize(0);
  } else if (frag && (frag.getKind() == FragKind::MmaA || frag.getKind() == FragKind::MmaB)) {
    // Registers of 32 bits, whatever is in them.
    const int64_t bits = tile.getNumElements() * element.getIntOrFloatBitWidth();
    return LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(bits / (32 * 32), i32));
  } else if (frag && frag.getKind() == FragKind::Pieces) {
    const int64_t pieces = tile.getNumElements() * element.getIntOrFloatBitWidth() / 128;
    const int64_t each = llvm::divideCeil(pieces, kernel.getThreads().value_or(1));
    return LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(each, VectorType::get(4, i32)));
  } else if (frag) {
    const int64_t rows = rowsOf(frag.getKind());
    if (rows == 0 || tile.getRank() != 2 || tile.getDimSize(0) != rows || tile.getDimSize(1) % 8 != 0)
      return {};
    count = tile.getDimSize(1) / 2;
  } else if (auto slice = dyn_cast_or_null<SliceAttr>(tile.getEncoding())) {
    auto frag = dyn_cast<FragAttr>(slice.getParent());
    const bool isBlock = frag && frag.getKind() == FragKind::Block;
    if (!frag || (!isBlock && !isAccumulator(frag.getKind())) || tile.getRank() != 1)
      return {};
    bool isRows = slice.getDim() == 1;
    if (isBlock) {
      const int64_t extent = tile.getDimSize(0);
      if (!is32Bit || (isRows ? extent != 64 && extent != 32 : extent != 128))
        return {};
      return LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(isRows ? extent / 8 : 8, element));
    }
    if (isRows ? tile.getDimSize(0) != rowsOf(frag.getKind()) : tile.getDimSize(0) % 8 != 0)
      return {};
    count = isRows ? 2 : tile.getDimSize(0) / 4;
  }
  if (count == 0)
    return {};
  if (element.isBF16() || element.isF16()) {
    element = VectorType::get(2, element);
    count /= 2;
  } else if (!element.isF32() && !element.isInteger(32) && !element.isInteger(64) && !element.isInteger(1)) {
    return {};
  }
  return LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, element));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Tensor maps and places in shared memory, which the function's type and attributes need.
LogicalResult Lowering::collect() {
  places = placeShared(kernel);
  WalkResult result = kernel.walk<WalkOrder::PreOrder>(
      [&](AllocOp alloc) -> WalkResult { return place(alloc, places.offsets.at(alloc)); });
  if (result.wasInterrupted())
    return failure();
  FailureOr<LaunchInfo> made = launchInfoOf(kernel);
  if (failed(made))
    return failure();
  launch = std::move(*made);
  if (launch.sharedBytes > target.simt.sharedBytes)
    return kernel.emitError() << "needs " << launch.sharedBytes << " bytes of shared memory; " << target.name << " has "
                              << target.simt.sharedBytes;
  return success();
}

LogicalResult Lowering::run() {
  int64_t count = kernel.getThreads().value_or(1);
  const int64_t cluster = kernel.getCluster().value_or(1);
  if (cluster > target.simt.clusterSize)
    return kernel.emitError() << "a cluster has at most " << target.simt.clusterSize << " workgroups, not " << cluster;
  if (count > target.simt.workgroupThreads)
    return kernel.emitError() << "a workgroup has at most " << target.simt.workgroupThreads << " threads, not "
                              << count;
  if (failed(collect()))
    return failure();

  MLIRContext *context = b.getContext();
  SmallVector<Type> types;
  SmallVector<Attribute> argAttrs;
  auto dictionary = [&](std::initializer_list<std::pair<StringRef, Attribute>> entries) {
    return b.getDictionaryAttr(
        llvm::map_to_vector(entries, [&](auto &entry) { return b.getNamedAttr(entry.first, entry.second); }));
  };
  for (const LaunchParameter &parameter : launch.parameters)
    switch (parameter.kind) {
    case LaunchParameter::Kind::TensorMap:
      types.push_back(LLVM::LLVMPointerType::get(context));
      argAttrs.push_back(dictionary({{"llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128))},
                                     {"llvm.align", b.getI64IntegerAttr(64)},
                                     {NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr()}}));
      break;
    case LaunchParameter::Kind::Address:
      types.push_back(globalPointer);
      argAttrs.push_back(
          dictionary({{LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr()},
                      {LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(gpuBufferAlignment)}}));
      break;
    case LaunchParameter::Kind::Scalar:
      types.push_back(convert(kernel.getBody().getArgument(parameter.number).getType()));
      argAttrs.push_back(dictionary({}));
    }

  auto module = kernel->getParentOfType<ModuleOp>();
  b.setInsertionPoint(kernel);
  if (!module.lookupSymbol(sharedName)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                           LLVM::Linkage::External, sharedName, Attribute(), /*alignment=*/1024,
                           /*addrSpace=*/3);
  }
  func = LLVM::LLVMFuncOp::create(b, loc, kernel.getSymName(),
                                  LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  // Pairs of 16-bit elements are vectors for which there are instructions.
  func.setPassthroughAttr(b.getArrayAttr(b.getStringAttr(keepsVectorsName)));
  func->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), b.getDenseI32ArrayAttr({static_cast<int32_t>(count), 1, 1}));
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  if (cluster > 1)
    func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                  b.getDenseI32ArrayAttr({static_cast<int32_t>(cluster), 1, 1}));
  // A plan that launches the kernel stays valid when code has taken its place.
  func->setAttr(plan::PlanDialect::argumentsAttr, b.getI64IntegerAttr(kernel.getNumArguments()));
  func.setArgAttrsAttr(b.getArrayAttr(argAttrs));

  Block *entry = func.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  for (auto [i, parameter] : llvm::enumerate(launch.parameters))
    if (parameter.kind != LaunchParameter::Kind::TensorMap)
      map.map(kernel.getBody().getArgument(parameter.number), entry->getArgument(i));
  sharedBase = LLVM::AddressOfOp::create(b, loc, sharedPointer, sharedName);
  if (count > 1) {
    threads.count = count;
    threads.thread = workgroupThread = NVVM::ThreadIdXOp::create(b, loc, i32);
    threads.isFirst = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, threads.thread, constant(0));
  }
  // The copy engine reads a map before its first copy.
  if (!launch.tensorMaps.empty())
    (void)onFirst([&] {
      for (size_t i = 0; i < launch.tensorMaps.size(); ++i)
        NVVM::PrefetchOp::create(b, loc, NVVM::PrefetchCacheLevelAttr(), NVVM::CacheEvictionPriorityAttr(),
                                 func.getArgument(i), Value(), /*tensormap=*/true, /*uniform=*/false,
                                 /*in_param_space=*/false);
      return success();
    });
  if (failed(lowerBlock(kernel.getBody().front()))) {
    func.erase();
    return failure();
  }
  LLVM::ReturnOp::create(b, loc, ValueRange());
  return success();
}

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    loc = op.getLoc();
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult Lowering::lowerOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<GridOp, IdOp, BarrierOp, RolesOp, ElectOp, scf::ForOp, scf::IfOp, SubviewOp, BarriersOp, ExpectOp, ArriveOp,
            WaitOp, AsyncLoadOp, AsyncStoreOp, StoreSharedOp, AsyncWaitOp, SplatOp, IotaOp, ExtractOp, ConvertOp,
            ReduceOp, AnyOp, BroadcastOp, LoadOp, StoreOp, MmaAsyncOp, MmaWaitOp, ClusterSendOp, ClusterReceiveOp,
            OuterProductsOp, TransposeSharedOp, CopyAsyncOp, FetchOp, LoadMatrixOp, MmaOp>(
          [&](auto each) { return lower(each); })
      .Case([&](ClusterArriveOp each) -> LogicalResult {
        if (threads.barrier || threads.isSingle())
          return each.emitOpError("is run by some threads only");
        NVVM::ClusterArriveOp::create(b, loc, b.getUnitAttr());
        return success();
      })
      .Case([&](ClusterWaitOp) {
        NVVM::ClusterWaitOp::create(b, loc, UnitAttr());
        return success();
      })
      // Views say how copies find elements; their tensor maps are parameters already.
      .Case([&](ViewOp) { return success(); })
      .Case([&](AllocOp each) {
        map.map(each.getResult(), advance(sharedBase, memory.at(each).offset));
        return success();
      })
      .Case([&](MmaFenceOp) {
        NVVM::WgmmaFenceAlignedOp::create(b, loc);
        return success();
      })
      .Case([&](CopyCommitOp) {
        NVVM::CpAsyncCommitGroupOp::create(b, loc);
        return success();
      })
      .Case([&](CopyWaitOp each) {
        NVVM::CpAsyncWaitGroupOp::create(b, loc, each.getPending());
        return success();
      })
      .Case([&](MmaCommitOp) {
        NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
        return success();
      })
      .Case([&](arith::ConstantOp each) { return lowerConstant(each); })
      .Case<arith::TruncFOp, arith::ExtFOp>([&](auto each) { return lowerConversion(each); })
      .Default([&](Operation *each) -> LogicalResult {
        if (isa<arith::ArithDialect, math::MathDialect>(each->getDialect()))
          return lowerElementwise(each);
        return each->emitOpError("has no lowering to NVVM");
      });
}

//===----------------------------------------------------------------------===//
// Threads and workgroups
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lowerIf(Value condition, llvm::function_ref<LogicalResult()> body) {
  Block *then = createBlock(), *after = createBlock();
  LLVM::CondBrOp::create(b, loc, condition, then, after);
  startBlock(then);
  if (failed(body()))
    return failure();
  LLVM::BrOp::create(b, loc, ValueRange(), after);
  startBlock(after);
  return success();
}

LogicalResult Lowering::onFirst(llvm::function_ref<LogicalResult()> body) {
  return threads.isSingle() ? body() : lowerIf(threads.isFirst, body);
}

LogicalResult Lowering::lower(GridOp op) {
  size_t rank = op.getSteps().size();
  if (rank > 3)
    return op.emitOpError() << "has " << rank << " dimensions; a grid of CUDA has at most three";
  for (auto [i, dimension] : llvm::enumerate(launch.grid)) {
    if (!dimension.extent && !dimension.argument)
      return op.emitOpError("has an extent that is no argument of the kernel");
    Value id;
    switch (rank - 1 - i) {
    case 0:
      id = NVVM::BlockIdXOp::create(b, loc, i32);
      break;
    case 1:
      id = NVVM::BlockIdYOp::create(b, loc, i32);
      break;
    default:
      id = NVVM::BlockIdZOp::create(b, loc, i32);
    }
    map.map(op.getIndices()[i], LLVM::MulOp::create(b, loc, id, constant(dimension.step)).getResult());
  }
  return lowerBlock(op.getBody().front());
}

LogicalResult Lowering::lower(IdOp op) {
  const bool hasClusters = kernel.getCluster().value_or(1) > 1;
  Value id;
  switch (op.getKind()) {
  case IdKind::Thread:
    id = threads.isSingle() ? constant(0) : threads.thread;
    break;
  case IdKind::Workgroup:
    id = hasClusters ? NVVM::ClusterIdXOp::create(b, loc, i32).getResult()
                     : NVVM::BlockIdXOp::create(b, loc, i32).getResult();
    break;
  case IdKind::NumWorkgroups:
    id = hasClusters ? NVVM::ClusterDimXOp::create(b, loc, i32).getResult()
                     : NVVM::GridDimXOp::create(b, loc, i32).getResult();
    break;
  case IdKind::ClusterRank:
    id = hasClusters ? NVVM::ClusterId::create(b, loc, i32).getResult() : constant(0);
    break;
  }
  map.map(op.getResult(), id);
  return success();
}

LogicalResult Lowering::lower(BarrierOp op) {
  if (threads.isSingle() && kernel.getThreads().value_or(1) > 1)
    return op.emitOpError("is met by one thread only");
  if (op.getThreads())
    return op.emitOpError("of some threads of a workgroup stands in a kernel of the machine form");
  if (op.getAsync())
    NVVM::FenceProxyOp::create(b, loc, NVVM::ProxyKind::async_shared,
                               NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
  switch (op.getScope()) {
  case Scope::Workgroup:
    if (threads.barrier && !runOnAll(op))
      return op.emitOpError("of the workgroup inside a role waits for threads that run other code");
    NVVM::Barrier0Op::create(b, loc);
    return success();
  case Scope::Role:
    if (!threads.barrier)
      return op.emitOpError("of a role stands outside of roles");
    NVVM::BarrierOp::create(b, loc, Type(), threads.barrier, constant(threads.count), NVVM::BarrierReductionAttr(),
                            Value());
    return success();
  case Scope::Cluster:
    return op.emitOpError("of clusters is not lowered to NVVM");
  }
  llvm_unreachable("all scopes are handled");
}

LogicalResult Lowering::lower(ElectOp op) {
  return onFirst([&] {
    Threads all = threads;
    threads.thread = threads.isFirst = nullptr;
    LogicalResult result = lowerBlock(op.getBody().front());
    threads = all;
    return result;
  });
}

LogicalResult Lowering::lower(RolesOp op) {
  Threads workgroup = threads;
  int64_t total = 0, barrier = 1;
  for (RoleOp role : op.getBody().getOps<RoleOp>()) {
    total += role.getCount() * role.getThreads();
    barrier += role.getCount();
    if (role.getThreads() % 32 != 0)
      return role.emitOpError() << "has instances of " << role.getThreads() << " threads, no whole warps";
  }
  if (total != workgroup.count)
    return op.emitOpError() << "have " << total << " threads together, the kernel " << workgroup.count;
  if (barrier > namedBarriers)
    return op.emitOpError() << "have " << barrier - 1 << " instances; there are barriers for " << namedBarriers - 1;
  if (!isa<ReturnOp, YieldOp>(op->getNextNode()))
    return op.emitOpError("are followed by code, which is not lowered to NVVM");

  // What a thread has without asking: all of them share the registers, which setmaxnreg moves between warps.
  int64_t registers = target.simt.registers / total / 8 * 8;
  Block *after = createBlock();
  int64_t start = 0;
  barrier = 1;
  for (RoleOp role : op.getBody().getOps<RoleOp>()) {
    loc = role.getLoc();
    int64_t count = role.getCount(), size = role.getThreads();
    Block *next = nullptr;
    if (start + count * size < total) {
      Block *body = createBlock();
      next = createBlock();
      Value here =
          LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, workgroup.thread, constant(start + count * size));
      LLVM::CondBrOp::create(b, loc, here, body, next);
      startBlock(body);
    }
    if (std::optional<int64_t> wanted = role.getRegisters())
      NVVM::SetMaxRegisterOp::create(b, loc, *wanted,
                                     *wanted < registers ? NVVM::SetMaxRegisterAction::decrease
                                                         : NVVM::SetMaxRegisterAction::increase);
    Value inRole =
        start == 0 ? workgroup.thread : LLVM::SubOp::create(b, loc, workgroup.thread, constant(start)).getResult();
    // From the first lane, so that the assembler knows that it is the same for a warp, and what follows from it.
    Value instance = count == 1 ? constant(0)
                                : NVVM::ShflOp::create(b, loc, i32, constant(-1),
                                                       LLVM::UDivOp::create(b, loc, inRole, constant(size)),
                                                       constant(0), constant(31), NVVM::ShflKind::idx, UnitAttr())
                                      .getResult();
    threads.thread = count == 1 ? inRole : LLVM::URemOp::create(b, loc, inRole, constant(size)).getResult();
    threads.isFirst = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, threads.thread, constant(0));
    threads.count = size;
    threads.barrier = LLVM::AddOp::create(b, loc, instance, constant(barrier));
    map.map(role.getBody().getArgument(0), instance);
    auto body = [&] { return lowerBlock(role.getBody().front()); };
    if (role.getSingle()) {
      if (failed(onFirst([&] {
            threads.thread = threads.isFirst = nullptr;
            return body();
          })))
        return failure();
    } else if (failed(body())) {
      return failure();
    }
    LLVM::BrOp::create(b, loc, ValueRange(), after);
    if (next)
      startBlock(next);
    start += count * size;
    barrier += count;
  }
  threads = workgroup;
  startBlock(after);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lower(scf::ForOp op) {
  SmallVector<Type> types = {convert(op.getInductionVar().getType())};
  for (Type type : op.getResultTypes()) {
    types.push_back(convert(type));
    if (!types.back())
      return op.emitOpError() << "carries " << type << ", which no thread can hold";
  }
  SmallVector<Value> entering = {value(op.getLowerBound())};
  llvm::append_range(entering, values(op.getInitArgs()));
  Value end = value(op.getUpperBound()), step = value(op.getStep());
  Block *header = createBlock(types), *body = createBlock(), *after = createBlock();
  LLVM::BrOp::create(b, loc, entering, header);
  startBlock(header);
  Value index = header->getArgument(0);
  Value goesOn = LLVM::ICmpOp::create(b, loc, op.getUnsignedCmp() ? LLVM::ICmpPredicate::ult : LLVM::ICmpPredicate::slt,
                                      index, end);
  LLVM::CondBrOp::create(b, loc, goesOn, body, after);

  startBlock(body);
  map.map(op.getBody()->getArguments(), header->getArguments());
  if (failed(lowerBlock(*op.getBody())))
    return failure();
  loc = op.getLoc();
  SmallVector<Value> again = {LLVM::AddOp::create(b, loc, index, step)};
  llvm::append_range(again, values(op.getBody()->getTerminator()->getOperands()));
  LLVM::BrOp::create(b, loc, again, header);
  startBlock(after);
  map.map(op.getResults(), header->getArguments().drop_front());
  return success();
}

LogicalResult Lowering::lower(scf::IfOp op) {
  if (op.getNumResults() == 0 && op.getElseRegion().empty())
    return lowerIf(value(op.getCondition()), [&] { return lowerBlock(op.getThenRegion().front()); });
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    types.push_back(convert(type));
    if (!types.back())
      return op.emitOpError() << "gives " << type << ", which no thread can hold";
  }
  Block *then = createBlock(), *otherwise = createBlock(), *after = createBlock(types);
  LLVM::CondBrOp::create(b, loc, value(op.getCondition()), then, otherwise);
  for (auto [block, region] : {std::pair(then, &op.getThenRegion()), {otherwise, &op.getElseRegion()}}) {
    startBlock(block);
    if (failed(lowerBlock(region->front())))
      return failure();
    LLVM::BrOp::create(b, loc, values(region->front().getTerminator()->getOperands()), after);
  }
  startBlock(after);
  map.map(op.getResults(), after->getArguments());
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertKernelToNVVM : zyx::kernel::impl::ConvertKernelToNVVMPassBase<ConvertKernelToNVVM> {
  using ConvertKernelToNVVMPassBase::ConvertKernelToNVVMPassBase;

  void runOnOperation() override {
    const zyx::target::TargetInfo *record = requireTarget(getOperation());
    if (!record)
      return signalPassFailure();
    if (record->ptxVersion == 0) {
      getOperation().emitError() << "target '" << record->name << "' does not run NVVM";
      return signalPassFailure();
    }
    for (FuncOp kernel : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      if (kernel.getForm() != Form::Machine)
        continue;
      if (failed(Lowering(kernel, *record).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
