//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "zyx/Conversion/KernelToLLVM/Steps.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zyx::target {

using namespace zyx::kernel;
using spirv::StorageClass;

//===----------------------------------------------------------------------===//
// Types, globals and variables
//===----------------------------------------------------------------------===//

Result<Type> KernelConversion::typeOf(Operation *op, Type type) {
  if (Type made = scalars().valueType(type))
    return made;
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return refuseOp(op, "has the type " + name + ", which SPIR-V has no scalars for");
}

/// A bool is a byte.
Type KernelConversion::memoryType(Type element) {
  return element.isInteger(1) ? b.getI8Type() : scalars().valueType(element);
}

spirv::GlobalVariableOp KernelConversion::global(const Twine &name, Type type, StorageClass storage,
                                                 std::optional<spirv::BuiltIn> builtIn) {
  const std::string text = name.str();
  auto found = module.lookupSymbol<spirv::GlobalVariableOp>(text);
  if (!found) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    Type pointer = spirv::PointerType::get(type, storage);
    found = builtIn ? spirv::GlobalVariableOp::create(b, loc, pointer, text, *builtIn)
                    : spirv::GlobalVariableOp::create(b, loc, pointer, text, FlatSymbolRefAttr());
  }
  Attribute named = FlatSymbolRefAttr::get(b.getContext(), text);
  if (!llvm::is_contained(interface, named))
    interface.push_back(named);
  return found;
}

Value KernelConversion::builtIn(StringRef name, spirv::BuiltIn builtIn) {
  auto triple = VectorType::get({3}, b.getI32Type());
  Value address = spirv::AddressOfOp::create(b, loc, global(name, triple, StorageClass::Input, builtIn));
  Value all = spirv::LoadOp::create(b, loc, address);
  Value x = spirv::CompositeExtractOp::create(b, loc, all, ArrayRef<int32_t>{0});
  return scalars().resize(x, b.getI64Type(), false);
}

Value KernelConversion::argument(unsigned number) {
  return readElement({.base = arguments, .element = b.getI64Type()}, scalars().index(number));
}

Result<KernelConversion::Values> KernelConversion::variables(Operation *op, TypeRange types) {
  Values all;
  for (Type type : types) {
    ZYX_ASSIGN_OR_RETURN(Type element, typeOf(op, type));
    all.push_back(spirv::VariableOp::create(b, loc, spirv::PointerType::get(element, StorageClass::Function),
                                            StorageClass::Function, Value()));
  }
  return all;
}

void KernelConversion::assign(const Values &variables, const Values &all) {
  for (auto [variable, value] : llvm::zip_equal(variables, all))
    spirv::StoreOp::create(b, loc, variable, value);
}

KernelConversion::Values KernelConversion::read(const Values &variables) {
  Values all;
  for (Value variable : variables)
    all.push_back(spirv::LoadOp::create(b, loc, variable));
  return all;
}

/// What the variables hold now, as values of the kernel.
void KernelConversion::bindRead(const Values &variables, ValueRange ours) {
  for (auto [value, now] : llvm::zip_equal(ours, read(variables)))
    values[value] = now;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// The header is a block of its own: what the test computes may have control flow.
Status KernelConversion::loop(llvm::function_ref<Result<Value>()> test, llvm::function_ref<Status()> body,
                              llvm::function_ref<void()> step) {
  auto made = spirv::LoopOp::create(b, loc, spirv::LoopControl::None);
  Region &region = made.getBody();
  Block *blocks[6];
  for (Block *&each : blocks)
    region.push_back(each = new Block);
  auto [entry, header, tested, inside, next, merge] = blocks;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  spirv::BranchOp::create(b, loc, header);
  b.setInsertionPointToStart(header);
  spirv::BranchOp::create(b, loc, tested);
  b.setInsertionPointToStart(tested);
  ZYX_ASSIGN_OR_RETURN(Value condition, test());
  spirv::BranchConditionalOp::create(b, loc, condition, inside, ValueRange(), merge, ValueRange());
  b.setInsertionPointToStart(inside);
  ZYX_RETURN_IF_ERROR(body());
  spirv::BranchOp::create(b, loc, next);
  b.setInsertionPointToStart(next);
  step();
  spirv::BranchOp::create(b, loc, header);
  b.setInsertionPointToStart(merge);
  spirv::MergeOp::create(b, loc);
  return {};
}

Status KernelConversion::branch(Value condition, llvm::function_ref<Status()> then,
                                llvm::function_ref<Status()> otherwise) {
  auto made = spirv::SelectionOp::create(b, loc, spirv::SelectionControl::None);
  Region &region = made.getBody();
  Block *blocks[4];
  for (Block *&each : blocks)
    region.push_back(each = new Block);
  auto [entry, first, second, merge] = blocks;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  spirv::BranchConditionalOp::create(b, loc, condition, first, ValueRange(), second, ValueRange());
  b.setInsertionPointToStart(first);
  ZYX_RETURN_IF_ERROR(then());
  spirv::BranchOp::create(b, loc, merge);
  b.setInsertionPointToStart(second);
  ZYX_RETURN_IF_ERROR(otherwise());
  spirv::BranchOp::create(b, loc, merge);
  b.setInsertionPointToStart(merge);
  spirv::MergeOp::create(b, loc);
  return {};
}

/// Whether all that a loop counts is from 0 below 2^31.
static bool countsIn32Bits(scf::ForOp op) {
  const std::optional<int64_t> begin = getConstantIntValue(op.getLowerBound()),
                               end = getConstantIntValue(op.getUpperBound()), step = getConstantIntValue(op.getStep());
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  return begin && end && step && *begin >= 0 && *end >= 0 && *step >= 0 && *step <= most && *end <= most - *step;
}

Status KernelConversion::convert(scf::ForOp op) {
  Scalars its = scalars();
  Type own = op.getInductionVar().getType();
  ZYX_ASSIGN_OR_RETURN(Type wide, typeOf(op, own));
  Type type = countsIn32Bits(op) ? b.getI32Type() : wide;
  ZYX_ASSIGN_OR_RETURN(Values carried, variables(op, op.getResultTypes()));
  ZYX_ASSIGN_OR_RETURN(Values counter, variables(op, type));
  auto bound = [&](Value value) { return its.resize(values.at(value), type, false); };
  const Value end = bound(op.getUpperBound()), by = bound(op.getStep());
  assign(carried, valuesOf(op.getInitArgs()));
  assign(counter, {bound(op.getLowerBound())});
  auto test = [&]() -> Result<Value> {
    Value now = read(counter)[0];
    return op.getUnsignedCmp() ? its.make<spirv::ULessThanOp>(now, end) : its.make<spirv::SLessThanOp>(now, end);
  };
  auto body = [&]() -> Status {
    bindRead(carried, op.getRegionIterArgs());
    values[op.getInductionVar()] = its.resize(read(counter)[0], wide, false);
    ZYX_RETURN_IF_ERROR(convert(*op.getBody()));
    assign(carried, valuesOf(op.getYieldedValues()));
    return {};
  };
  auto step = [&] { assign(counter, {its.make<spirv::IAddOp>(read(counter)[0], by)}); };
  ZYX_RETURN_IF_ERROR(loop(test, body, step));
  bindRead(carried, op.getResults());
  return {};
}

Status KernelConversion::convert(scf::IfOp op) {
  ZYX_ASSIGN_OR_RETURN(Values results, variables(op, op.getResultTypes()));
  auto side = [&](Block *block) -> Status {
    if (!block)
      return {};
    ZYX_RETURN_IF_ERROR(convert(*block));
    assign(results, valuesOf(block->getTerminator()->getOperands()));
    return {};
  };
  ZYX_RETURN_IF_ERROR(
      branch(values.at(op.getCondition()), [&] { return side(op.thenBlock()); }, [&] { return side(op.elseBlock()); }));
  bindRead(results, op.getResults());
  return {};
}

Status KernelConversion::convert(scf::WhileOp op) {
  ZYX_ASSIGN_OR_RETURN(Values before, variables(op, op.getInits().getTypes()));
  ZYX_ASSIGN_OR_RETURN(Values after, variables(op, op.getResultTypes()));
  assign(before, valuesOf(op.getInits()));
  auto test = [&]() -> Result<Value> {
    bindRead(before, op.getBeforeArguments());
    ZYX_RETURN_IF_ERROR(convert(*op.getBeforeBody()));
    assign(after, valuesOf(op.getConditionOp().getArgs()));
    return values.at(op.getConditionOp().getCondition());
  };
  auto body = [&]() -> Status {
    bindRead(after, op.getAfterArguments());
    ZYX_RETURN_IF_ERROR(convert(*op.getAfterBody()));
    assign(before, valuesOf(op.getYieldOp().getOperands()));
    return {};
  };
  ZYX_RETURN_IF_ERROR(loop(test, body, [] {}));
  bindRead(after, op.getResults());
  return {};
}

Status KernelConversion::convert(GridOp grid) {
  ZYX_ASSIGN_OR_RETURN(Values counter, variables(grid, b.getI64Type()));
  assign(counter, {first});
  auto test = [&]() -> Result<Value> { return scalars().make<spirv::ULessThanOp>(read(counter)[0], programs); };
  auto body = [&]() -> Status {
    bindRead(counter, grid.getIndices());
    ZYX_RETURN_IF_ERROR(convert(grid.getBody().front()));
    // The next program writes what some threads may still read.
    if (hasShared)
      barrier();
    return {};
  };
  return loop(test, body, [&] { assign(counter, {scalars().add(read(counter)[0], stride)}); });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Status KernelConversion::convert(IdOp id) {
  if (id.getKind() != IdKind::Thread)
    return refuseOp(id, "has no form in SPIR-V");
  values[id] = groupThreads == 1 ? scalars().index(0) : thread;
  return {};
}

void KernelConversion::barrier() {
  using spirv::MemorySemantics;
  auto semantics = MemorySemantics::AcquireRelease | MemorySemantics::WorkgroupMemory | MemorySemantics::MakeAvailable |
                   MemorySemantics::MakeVisible;
  if (!nonPrivateBuffers.empty())
    semantics = semantics | MemorySemantics::UniformMemory;
  spirv::ControlBarrierOp::create(b, loc, spirv::Scope::Workgroup, spirv::Scope::Workgroup, semantics);
}

Status KernelConversion::convert(BarrierOp op) {
  if (op.getScope() != kernel::Scope::Workgroup)
    return refuseOp(op, "has no form in SPIR-V");
  if (groupThreads == 1)
    return {};
  if (!uniform.isReachedByAll(op))
    return refuseOp(op, "is not reached by all threads of the workgroup, or it is not known");
  barrier();
  return {};
}

Status KernelConversion::compute(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    ZYX_ASSIGN_OR_RETURN(values[constant], scalars().constant(op, constant.getValue()));
    return {};
  }
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumResults() != 1)
    return refuseOp(op, "has no form in SPIR-V");
  ZYX_ASSIGN_OR_RETURN(values[op->getResult(0)], scalars().compute(op, valuesOf(op->getOperands())));
  return {};
}

Status KernelConversion::convert(Operation *op) {
  if (isOpTriviallyDead(op) || (op->getNumResults() == 1 && values.contains(op->getResult(0))))
    return {};
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, Status>(op)
      .Case<ViewOp, AllocOp, IdOp, BarrierOp, GridOp, scf::ForOp, scf::IfOp, scf::WhileOp, LoadOp, StoreOp>(
          [&](auto each) { return convert(each); })
      .Default([&](Operation *other) { return compute(other); });
}

Status KernelConversion::convert(Block &block) {
  for (Operation &op : block.without_terminator())
    ZYX_RETURN_IF_ERROR(convert(&op));
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Where a kernel is written or read that finds `buffer` by a view.
static bool isOf(Value view, Value buffer) {
  auto whole = view.getDefiningOp<ViewOp>();
  return whole && whole.getBuffer() == buffer;
}

/// Drivers fold sums and products with a zero that they see as if floats had no -0, infinity and NaN, whatever the
/// module asks for (lavapipe 22.3 does). The result is a zero that comes at run time, of which such zeros are made;
/// null where there are none.
static Value hideZeros(FuncOp func) {
  auto computes = [](OpOperand &use) {
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::FmaOp, scf::ForOp, scf::IfOp,
               scf::WhileOp, scf::YieldOp>(use.getOwner());
  };
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Value zero;
  func.walk([&](arith::ConstantOp op) {
    auto number = dyn_cast<FloatAttr>(op.getValue());
    if (!number || !number.getValue().isZero() || llvm::none_of(op->getUses(), computes))
      return;
    if (!zero)
      zero = arith::ConstantIntOp::create(b, func.getLoc(), 0, 64);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(op);
    const APInt bits = number.getValue().bitcastToAPInt();
    Type integer = b.getIntegerType(bits.getBitWidth());
    Value narrow = bits.getBitWidth() == 64 ? zero : arith::TruncIOp::create(b, op.getLoc(), integer, zero).getResult();
    Value sign = arith::ConstantOp::create(b, op.getLoc(), b.getIntegerAttr(integer, bits));
    Value hidden = arith::OrIOp::create(b, op.getLoc(), narrow, sign);
    hidden = arith::BitcastOp::create(b, op.getLoc(), op.getType(), hidden);
    op.getResult().replaceUsesWithIf(hidden, computes);
  });
  return zero;
}

Status KernelConversion::convert(FuncOp func, Value zero) {
  loc = func.getLoc();
  groupThreads = static_cast<int64_t>(func.getThreads().value_or(1));
  Block &body = func.getBody().front();
  if (bytesOf(func, Space::Private) > mostPrivateBytes)
    scratchBytes = bytesOf(func, Space::Private);
  hasShared = bytesOf(func, Space::Shared) != 0;
  for (Value argument : body.getArguments()) {
    bool isRead = false, isWritten = false;
    func.walk([&](Operation *op) {
      if (auto store = dyn_cast<StoreOp>(op))
        isWritten |= isOf(store.getView(), argument);
      if (auto load = dyn_cast<LoadOp>(op))
        isRead |= isOf(load.getView(), argument);
    });
    if (isRead && isWritten && groupThreads != 1)
      nonPrivateBuffers.insert(argument);
  }
  b.setInsertionPointToEnd(module.getBody());
  auto made = spirv::FuncOp::create(b, loc, func.getName(), b.getFunctionType({}, {}));
  b.setInsertionPointToStart(made.addEntryBlock());

  Scalars its = scalars();
  auto block = spirv::StructType::get(
      {b.getI64Type()}, {0}, {}, {spirv::StructType::StructDecorationInfo(spirv::Decoration::Block, b.getUnitAttr())});
  Value pushed = spirv::AddressOfOp::create(b, loc, global("zyx.arguments", block, StorageClass::PushConstant));
  Value member = spirv::AccessChainOp::create(b, loc, pushed, ValueRange{its.number(b.getI32Type(), 0)});
  arguments = spirv::LoadOp::create(b, loc, member);
  unsigned buffers = 0, scalarsBegin = 0;
  for (Value argument : body.getArguments())
    scalarsBegin += isa<BufferType>(argument.getType());
  unsigned next = scalarsBegin;
  for (Value each : body.getArguments()) {
    if (isa<BufferType>(each.getType())) {
      values[each] = argument(buffers++);
      continue;
    }
    if (!each.getType().isIntOrIndex())
      return refuseOp(func, "takes a scalar that is no integer; scalars are passed as 64-bit integers");
    ZYX_ASSIGN_OR_RETURN(Type type, typeOf(func, each.getType()));
    Value value = argument(next++);
    values[each] =
        type.isInteger(1) ? its.make<spirv::INotEqualOp>(value, its.index(0)) : its.resize(value, type, false);
  }
  Value memory = argument(next), end = argument(next + 1);
  stride = argument(next + 2);
  if (zero)
    values[zero] = argument(next + 3);
  const int64_t threads = groupThreads == 1 ? threadsOfLocalSize : groupThreads;
  Value group = builtIn("zyx.workgroup", spirv::BuiltIn::WorkgroupId);
  thread = builtIn("zyx.thread", spirv::BuiltIn::LocalInvocationId);
  Value number = its.add(its.mul(group, its.index(threads)), thread);
  scratch = its.add(memory, its.mul(number, its.index(scratchBytes)));
  first = groupThreads == 1 ? number : group;
  // A launch has whole workgroups, and scratch memory for as many threads as it asks for.
  programs = groupThreads != 1 ? end : its.select(its.make<spirv::ULessThanOp>(number, stride), end, its.index(0));

  if (!body.getOps<GridOp>().empty()) {
    ZYX_RETURN_IF_ERROR(convert(body));
  } else {
    Value isThere = its.make<spirv::ULessThanOp>(first, programs);
    ZYX_RETURN_IF_ERROR(branch(isThere, [&] { return convert(body); }, [] { return Status(); }));
  }
  spirv::ReturnOp::create(b, loc);
  b.setInsertionPointToEnd(module.getBody());
  spirv::EntryPointOp::create(b, loc, spirv::ExecutionModel::GLCompute, made, interface);
  spirv::ExecutionModeOp::create(b, loc, made, spirv::ExecutionMode::LocalSize, {static_cast<int32_t>(threads), 1, 1});
  made.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto pointer = dyn_cast<spirv::PointerType>(type);
      const bool isAddress = pointer && pointer.getStorageClass() == StorageClass::PhysicalStorageBuffer;
      Type element = pointer ? pointer.getPointeeType() : type;
      if (auto array = dyn_cast<spirv::ArrayType>(element))
        element = array.getElementType();
      if (element.isInteger(8))
        capabilities.insert(isAddress ? spirv::Capability::StorageBuffer8BitAccess : spirv::Capability::Int8);
      if (element.isInteger(16))
        capabilities.insert(isAddress ? spirv::Capability::StorageBuffer16BitAccess : spirv::Capability::Int16);
      if (element.isF64())
        capabilities.insert(spirv::Capability::Float64);
    }
  });
  // Drivers may drop signs of zeros, infinities and NaN where nobody forbids it, and convert in another direction.
  auto ask = [&](spirv::ExecutionMode mode, int32_t width) {
    spirv::ExecutionModeOp::create(b, loc, made, mode, width);
  };
  for (int32_t width : {32, 64})
    if (width == 32 || capabilities.count(spirv::Capability::Float64))
      for (auto mode : {spirv::ExecutionMode::SignedZeroInfNanPreserve, spirv::ExecutionMode::RoundingModeRTE})
        ask(mode, width);
  // Not every device keeps denormals: the runtime asks those that do.
  ask(spirv::ExecutionMode::DenormPreserve, 32);
  return {};
}

Result<OwningOpRef<spirv::ModuleOp>> convertKernels(ModuleOp kernels) {
  const TargetInfo *machine = findTarget(kernels);
  ZYX_ASSERT(machine, "a module of kernels names its machine");
  kernels.getContext()->loadDialect<spirv::SPIRVDialect>();
  OpBuilder builder(kernels.getContext());
  OwningOpRef<spirv::ModuleOp> made = spirv::ModuleOp::create(
      builder, kernels.getLoc(), spirv::AddressingModel::PhysicalStorageBuffer64, spirv::MemoryModel::Vulkan);
  std::set<spirv::Capability> needed = {spirv::Capability::Shader,
                                        spirv::Capability::Int64,
                                        spirv::Capability::PhysicalStorageBufferAddresses,
                                        spirv::Capability::VulkanMemoryModel,
                                        spirv::Capability::DenormPreserve,
                                        spirv::Capability::SignedZeroInfNanPreserve,
                                        spirv::Capability::RoundingModeRTE};
  for (FuncOp func : kernels.getOps<FuncOp>()) {
    if (func.getExternal())
      continue;
    CrashNote note(func);
    Value zero = hideZeros(func);
    if (failed(lowerSmallFloats(func, {.half = false, .doubles = false, .denormals = false})))
      return refuseOp(func, "has an op of small floats that is rounded twice");
    keepDenormals(func);
    KernelConversion conversion(*made, machine->memory.privateBytes);
    ZYX_RETURN_IF_ERROR(conversion.convert(func, zero));
    needed.insert(conversion.capabilities.begin(), conversion.capabilities.end());
  }
  const std::vector<spirv::Capability> all(needed.begin(), needed.end());
  (*made)->setAttr(spirv::ModuleOp::getVCETripleAttrName(),
                   spirv::VerCapExtAttr::get(spirv::Version::V_1_5, all, {}, kernels.getContext()));
  return made;
}

} // namespace zyx::target
