//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A kernel is rewritten in place: its ops to those of arith and scf with accesses of the spirv dialect, control flow to
// that of spirv, and arithmetic by MLIR's patterns.
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/IR/BufferUse.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Target/Backend/RefuseOp.h"
#include "zyx/Target/Backend/Uniform.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;
using namespace zyx;
using namespace zyx::kernel;
using namespace zyx::target;
using spirv::Capability;
using spirv::StorageClass;

namespace {

constexpr unsigned byteBits = 8, indexBits = 64;
/// Threads of a workgroup whose programs are threads.
constexpr int64_t threadsOfLocalSize = 64;

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

class KernelConversion {
public:
  /// `privateBytes` is what a thread may have on its own.
  KernelConversion(spirv::ModuleOp module, FuncOp func, int64_t privateBytes)
      : module(module), func(func), b(module.getContext()), loc(func.getLoc()), mostPrivateBytes(privateBytes),
        groupThreads(static_cast<int64_t>(func.getThreads().value_or(1))) {}
  /// `zero` is an argument of the kernel that a launch gives; null where there is none.
  Status convert(Value zero);
  /// What the device must have for it.
  std::set<Capability> capabilities;

private:
  /// Where the elements of a view lie: at an address of a buffer, or in an array of the thread's or the workgroup's.
  struct ViewDescriptor {
    Value base;
    bool isAddress = true;
    /// Threads of the workgroup read what others wrote there.
    bool isNonPrivate = false;
    Type element;
  };

  Status checkTypes();
  Status readArguments(Value zero);
  Status convert(GridOp grid);
  Status convert(ViewOp view);
  Status convert(AllocOp alloc);
  Status convert(LoadOp load);
  Status convert(StoreOp store);
  Status convert(BarrierOp op);
  Status convert(IdOp id);
  Value function(Operation *op);
  Status convertArithmetic();
  void ask(int64_t threads);

  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return b.createOrFold<Op>(loc, operands...);
  }
  Value number(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); }
  Value resize(Value value, Type type, bool isSigned);
  Type memoryType(Type element) {
    return element.isIndex() ? b.getI64Type() : element.isInteger(1) ? b.getI8Type() : element;
  }
  spirv::GlobalVariableOp global(const Twine &name, Type type, StorageClass storage);
  /// The number of this workgroup, or of this thread in it.
  Value builtIn(spirv::BuiltIn builtIn);
  /// The argument of this number.
  Value argument(unsigned number) { return read({.base = arguments, .element = b.getI64Type()}, this->number(number)); }
  void barrier();
  Value pointer(const ViewDescriptor &descriptor, Value at);
  std::pair<spirv::MemoryAccessAttr, IntegerAttr> accessOf(const ViewDescriptor &descriptor);
  Value read(const ViewDescriptor &descriptor, Value at);

  spirv::ModuleOp module;
  FuncOp func;
  spirv::FuncOp made;
  OpBuilder b;
  Location loc;
  const int64_t mostPrivateBytes, groupThreads;
  DenseMap<Value, Value> addresses;
  DenseMap<Value, ViewDescriptor> descriptors;
  DenseSet<Value> nonPrivateBuffers;
  /// Barriers that all threads of a workgroup come to.
  DenseSet<Operation *> reached;
  int64_t privateBytes = 0, scratchBytes = 0;
  /// The address of the arguments; the first program, the distance to the next one, and where programs end; this
  /// thread's number in its workgroup; the address of its scratch memory.
  Value arguments, first, stride, programs, thread, scratch;
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Value KernelConversion::resize(Value value, Type type, bool isSigned) {
  const unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  return from == to  ? value
         : to < from ? make<arith::TruncIOp>(type, value)
         : isSigned  ? make<arith::ExtSIOp>(type, value)
                     : make<arith::ExtUIOp>(type, value);
}

Status KernelConversion::checkTypes() {
  Status status;
  auto check = [&](Operation *op, Type type) {
    const bool isKnown = isa<BufferType, ViewType, Float32Type, Float64Type>(type) || type.isInteger(1) ||
                         type.isInteger(8) || type.isInteger(16) || type.isInteger(32) || type.isInteger(64);
    if (!isKnown && status.isOk())
      status = refuseOp(op, "has the type " + textOf(type) + ", which SPIR-V has no scalars for");
  };
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Type type : op->getResultTypes())
      check(op, type);
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        check(op, type);
  });
  return status;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

spirv::GlobalVariableOp KernelConversion::global(const Twine &name, Type type, StorageClass storage) {
  auto found = module.lookupSymbol<spirv::GlobalVariableOp>(name.str());
  if (found)
    return found;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return spirv::GlobalVariableOp::create(b, loc, spirv::PointerType::get(type, storage), name.str(),
                                         FlatSymbolRefAttr());
}

Value KernelConversion::builtIn(spirv::BuiltIn builtIn) {
  Value all = spirv::getBuiltinVariableValue(made, builtIn, b.getI32Type(), b, "zyx.", "");
  Value x = spirv::CompositeExtractOp::create(b, loc, all, ArrayRef<int32_t>{0});
  return resize(x, b.getI64Type(), false);
}

void KernelConversion::barrier() {
  using spirv::MemorySemantics;
  auto semantics = MemorySemantics::AcquireRelease | MemorySemantics::WorkgroupMemory | MemorySemantics::MakeAvailable |
                   MemorySemantics::MakeVisible;
  if (!nonPrivateBuffers.empty())
    semantics = semantics | MemorySemantics::UniformMemory;
  spirv::ControlBarrierOp::create(b, loc, spirv::Scope::Workgroup, spirv::Scope::Workgroup, semantics);
}

Status KernelConversion::convert(ViewOp view) {
  descriptors[view] = {.base = addresses.at(view.getBuffer()),
                       .isNonPrivate = nonPrivateBuffers.contains(view.getBuffer()),
                       .element = view.getType().getElementType()};
  return {};
}

Status KernelConversion::convert(AllocOp alloc) {
  ViewType type = alloc.getType();
  const bool isShared = type.getSpace() != Space::Private;
  if (isShared && groupThreads == 1)
    return refuseOp(alloc, "asks for shared memory, which one thread does not have");
  ViewDescriptor descriptor{.base = {},
                            .isAddress = !isShared && scratchBytes != 0,
                            .isNonPrivate = isShared,
                            .element = type.getElementType()};
  auto array = spirv::ArrayType::get(memoryType(descriptor.element),
                                     static_cast<unsigned>(std::max<int64_t>(type.getDimSize(0), 1)));
  if (descriptor.isAddress) {
    descriptor.base = make<arith::AddIOp>(scratch, number(privateBytes));
  } else if (isShared) {
    unsigned count = 0;
    std::string name = "zyx.shared";
    while (module.lookupSymbol(name))
      name = "zyx.shared" + std::to_string(count++);
    descriptor.base = spirv::AddressOfOp::create(b, loc, global(name, array, StorageClass::Workgroup));
  } else {
    descriptor.base = spirv::VariableOp::create(b, loc, spirv::PointerType::get(array, StorageClass::Function),
                                                StorageClass::Function, Value());
  }
  if (!isShared)
    privateBytes += bytesOf(alloc);
  descriptors[alloc] = descriptor;
  return {};
}

Value KernelConversion::pointer(const ViewDescriptor &descriptor, Value at) {
  if (!descriptor.isAddress)
    return spirv::AccessChainOp::create(b, loc, descriptor.base, ValueRange{at});
  Type element = memoryType(descriptor.element);
  Value bytes = make<arith::MulIOp>(at, number(element.getIntOrFloatBitWidth() / byteBits));
  return spirv::ConvertUToPtrOp::create(b, loc, spirv::PointerType::get(element, StorageClass::PhysicalStorageBuffer),
                                        make<arith::AddIOp>(descriptor.base, bytes));
}

/// Memory operands: accesses by address say their alignment; memory that other threads of the workgroup read is
/// NonPrivatePointer.
std::pair<spirv::MemoryAccessAttr, IntegerAttr> KernelConversion::accessOf(const ViewDescriptor &descriptor) {
  auto access = descriptor.isAddress ? spirv::MemoryAccess::Aligned : spirv::MemoryAccess::None;
  if (descriptor.isNonPrivate)
    access = access | spirv::MemoryAccess::NonPrivatePointer;
  const unsigned bits = memoryType(descriptor.element).getIntOrFloatBitWidth();
  return {access == spirv::MemoryAccess::None ? spirv::MemoryAccessAttr()
                                              : spirv::MemoryAccessAttr::get(b.getContext(), access),
          descriptor.isAddress ? b.getI32IntegerAttr(static_cast<int32_t>(bits / byteBits)) : IntegerAttr()};
}

/// A bool is a byte.
Value KernelConversion::read(const ViewDescriptor &descriptor, Value at) {
  auto [access, alignment] = accessOf(descriptor);
  Value value = spirv::LoadOp::create(b, loc, pointer(descriptor, at), access, alignment);
  if (!descriptor.element.isInteger(1))
    return value;
  Value none = arith::ConstantIntOp::create(b, loc, 0, byteBits);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, none);
}

/// Reads only where the mask is set.
Status KernelConversion::convert(LoadOp load) {
  const ViewDescriptor &descriptor = descriptors.find(load.getView())->second;
  Value at = load.getIndices().front(), value;
  if (load.getMask()) {
    auto yield = [&](Value value) { scf::YieldOp::create(b, loc, value); };
    auto chosen = scf::IfOp::create(b, loc, load.getResult().getType(), load.getMask(), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(chosen.thenBlock());
    yield(read(descriptor, at));
    b.setInsertionPointToStart(chosen.elseBlock());
    yield(load.getOther() ? load.getOther()
                          : arith::ConstantOp::create(b, loc, b.getZeroAttr(load.getResult().getType())).getResult());
    value = chosen.getResult(0);
  } else {
    value = read(descriptor, at);
  }
  load.getResult().replaceAllUsesWith(value);
  return {};
}

Status KernelConversion::convert(StoreOp store) {
  const ViewDescriptor &descriptor = descriptors.find(store.getView())->second;
  OpBuilder::InsertionGuard guard(b);
  if (store.getMask())
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, store.getMask(), /*withElseRegion=*/false).thenBlock());
  auto [access, alignment] = accessOf(descriptor);
  Value value = store.getValue();
  if (descriptor.element.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  spirv::StoreOp::create(b, loc, pointer(descriptor, store.getIndices().front()), value, access, alignment);
  return {};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Status KernelConversion::convert(GridOp grid) {
  auto loop = scf::ForOp::create(b, loc, first, programs, stride, ValueRange(), nullptr, /*unsignedCmp=*/true);
  Block &from = grid.getBody().front(), *into = loop.getBody();
  from.getArgument(0).replaceAllUsesWith(loop.getInductionVar());
  from.getTerminator()->erase();
  into->getOperations().splice(into->begin(), from.getOperations());
  // The next program writes what some threads may still read.
  b.setInsertionPoint(into->getTerminator());
  if (bytesOf(func, Space::Shared) != 0)
    barrier();
  return {};
}

Status KernelConversion::convert(BarrierOp op) {
  if (op.getScope() != kernel::Scope::Workgroup)
    return refuseOp(op, "has no form in SPIR-V");
  if (groupThreads == 1)
    return {};
  if (!reached.contains(op))
    return refuseOp(op, "is not reached by all threads of the workgroup, or it is not known");
  barrier();
  return {};
}

Status KernelConversion::convert(IdOp id) {
  if (id.getKind() != IdKind::Thread)
    return refuseOp(id, "has no form in SPIR-V");
  id->getResult(0).replaceAllUsesWith(groupThreads == 1 ? number(0) : thread);
  return {};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// A function that drivers compute as exactly as we need; null for others.
Value KernelConversion::function(Operation *op) {
  const ValueRange x = op->getOperands();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::FmaOp) { return spirv::GLFmaOp::create(b, loc, x[0].getType(), x[0], x[1], x[2]).getResult(); })
      .Case([&](math::SqrtOp) { return spirv::GLSqrtOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::FloorOp) { return spirv::GLFloorOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::CeilOp) { return spirv::GLCeilOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::RoundEvenOp) { return spirv::GLRoundEvenOp::create(b, loc, x[0]).getResult(); })
      .Case([&](math::Exp2Op) {
        return x[0].getType().isF32() ? spirv::GLExp2Op::create(b, loc, x[0]).getResult() : Value();
      })
      .Default([](Operation *) { return Value(); });
}

Status KernelConversion::convertArithmetic() {
  IRRewriter rewriter(b);
  (void)runRegionDCE(rewriter, made->getRegions());
  made.walk([&](Operation *op) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
    if (Value value = function(op)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  });
  // By halves: on lavapipe (22.3) a number that OpSConvert widened from 32 bits is never below zero.
  made.walk([&](arith::ExtSIOp op) {
    if (!op.getIn().getType().isInteger(32) || !op.getType().isInteger(64))
      return;
    b.setInsertionPoint(op);
    loc = op.getLoc();
    Value digits = arith::ConstantIntOp::create(b, loc, 31, 32);
    Value sign = arith::ShRSIOp::create(b, loc, op.getIn(), digits);
    Value high = arith::ExtUIOp::create(b, loc, op.getType(), sign),
          low = make<arith::ExtUIOp>(op.getType(), op.getIn());
    high = arith::ShLIOp::create(b, loc, high, number(32));
    op.getResult().replaceAllUsesWith(arith::OrIOp::create(b, loc, low, high));
    op.erase();
  });
  MLIRContext *context = b.getContext();
  auto needed = spirv::VerCapExtAttr::get(
      spirv::Version::V_1_5,
      {Capability::Shader, Capability::Int64, Capability::Int16, Capability::Int8, Capability::Float64}, {}, context);
  SPIRVTypeConverter types(
      spirv::TargetEnvAttr::get(needed, spirv::getDefaultResourceLimits(context), spirv::ClientAPI::Vulkan));
  RewritePatternSet patterns(context);
  arith::populateArithToSPIRVPatterns(types, patterns);
  ConversionTarget target(*context);
  // Some patterns make ops of OpenCL.
  target.addDynamicallyLegalDialect<spirv::SPIRVDialect>(
      [](Operation *op) { return !op->getName().stripDialect().starts_with("CL."); });
  // What is left is refused with its name.
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  (void)applyPartialConversion(made, target, std::move(patterns), config);
  Status status;
  made.walk([&](Operation *op) {
    // No driver may make one op of two such: results would differ from those of other devices.
    if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp>(op))
      op->setAttr("no_contraction", b.getUnitAttr());
    if (!isa<spirv::SPIRVDialect>(op->getDialect()) && status.isOk())
      status = refuseOp(op, (op->getNumOperands() == 0 ? "" : "of " + textOf(op->getOperand(0).getType()) + " ") +
                                "has no form in SPIR-V");
  });
  return status;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The arguments, and which programs are this thread's.
Status KernelConversion::readArguments(Value zero) {
  Block &body = func.getBody().front();
  auto block = spirv::StructType::get(
      {b.getI64Type()}, {0}, {}, {spirv::StructType::StructDecorationInfo(spirv::Decoration::Block, b.getUnitAttr())});
  Value pushed = spirv::AddressOfOp::create(b, loc, global("zyx.arguments", block, StorageClass::PushConstant));
  Value member = spirv::ConstantOp::getZero(b.getI32Type(), loc, b);
  arguments = spirv::LoadOp::create(b, loc, spirv::AccessChainOp::create(b, loc, pushed, ValueRange{member}));
  unsigned buffers = 0, next = llvm::count_if(body.getArgumentTypes(), llvm::IsaPred<BufferType>);
  for (Value each : body.getArguments()) {
    if (each == zero)
      continue;
    if (isa<BufferType>(each.getType())) {
      addresses[each] = argument(buffers++);
      continue;
    }
    if (!each.getType().isInteger())
      return refuseOp(func, "takes a scalar that is no integer; scalars are passed as 64-bit integers");
    each.replaceAllUsesWith(resize(argument(next++), each.getType(), false));
  }
  Value memory = argument(next), end = argument(next + 1);
  stride = argument(next + 2);
  if (zero)
    zero.replaceAllUsesWith(argument(next + 3));
  Value group = builtIn(spirv::BuiltIn::WorkgroupId);
  thread = builtIn(spirv::BuiltIn::LocalInvocationId);
  const int64_t threads = groupThreads == 1 ? threadsOfLocalSize : groupThreads;
  Value program = make<arith::AddIOp>(make<arith::MulIOp>(group, number(threads)), thread);
  scratch = make<arith::AddIOp>(memory, make<arith::MulIOp>(program, number(scratchBytes)));
  first = groupThreads == 1 ? program : group;
  programs = end;
  // A launch has whole workgroups, and scratch memory for as many threads as it asks for.
  if (groupThreads == 1)
    programs = make<arith::SelectOp>(make<arith::CmpIOp>(arith::CmpIPredicate::ult, program, stride), end, number(0));
  return {};
}

/// What the module and the device must have for the kernel, and how it is run.
void KernelConversion::ask(int64_t threads) {
  llvm::SetVector<Attribute> interface;
  made.walk([&](spirv::AddressOfOp op) { interface.insert(op.getVariableAttr()); });
  b.setInsertionPointToEnd(module.getBody());
  spirv::EntryPointOp::create(b, loc, spirv::ExecutionModel::GLCompute, made, interface.getArrayRef());
  spirv::ExecutionModeOp::create(b, loc, made, spirv::ExecutionMode::LocalSize, {static_cast<int32_t>(threads), 1, 1});
  made.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto pointer = dyn_cast<spirv::PointerType>(type);
      const bool isAddress = pointer && pointer.getStorageClass() == StorageClass::PhysicalStorageBuffer;
      Type element = pointer ? pointer.getPointeeType() : type;
      if (auto array = dyn_cast<spirv::ArrayType>(element))
        element = array.getElementType();
      if (element.isInteger(8))
        capabilities.insert(isAddress ? Capability::StorageBuffer8BitAccess : Capability::Int8);
      if (element.isInteger(16))
        capabilities.insert(isAddress ? Capability::StorageBuffer16BitAccess : Capability::Int16);
      if (element.isF64())
        capabilities.insert(Capability::Float64);
    }
  });
  // Drivers may drop signs of zeros, infinities and NaN where nobody forbids it, and convert in another direction.
  for (int32_t width : {32, 64})
    if (width == 32 || capabilities.count(Capability::Float64))
      for (auto mode : {spirv::ExecutionMode::SignedZeroInfNanPreserve, spirv::ExecutionMode::RoundingModeRTE})
        spirv::ExecutionModeOp::create(b, loc, made, mode, width);
  // Not every device keeps denormals: the runtime asks those that do.
  spirv::ExecutionModeOp::create(b, loc, made, spirv::ExecutionMode::DenormPreserve, 32);
}

Status KernelConversion::convert(Value zero) {
  Block &body = func.getBody().front();
  IRRewriter rewriter(b);
  (void)runRegionDCE(rewriter, func->getRegions());
  if (bytesOf(func, Space::Private) > mostPrivateBytes)
    scratchBytes = bytesOf(func, Space::Private);
  SmallVector<Operation *> ops;
  Uniform uniform;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<BarrierOp>(op) && uniform.isReachedByAll(op))
      reached.insert(op);
    if (op != func && isa<KernelDialect>(op->getDialect()) && !isa<kernel::YieldOp, kernel::ReturnOp>(op))
      ops.push_back(op);
  });
  for (Value argument : body.getArguments())
    if (groupThreads != 1 && isa<BufferType>(argument.getType()) && isReadAndWritten(argument))
      nonPrivateBuffers.insert(argument);
  lowerIndices(func, indexBits);
  ZYX_RETURN_IF_ERROR(checkTypes());
  b.setInsertionPointToEnd(module.getBody());
  made = spirv::FuncOp::create(b, loc, func.getName(), b.getFunctionType({}, {}));
  Block *entry = made.addEntryBlock();
  b.setInsertionPointToStart(entry);
  ZYX_RETURN_IF_ERROR(readArguments(zero));
  if (body.getOps<GridOp>().empty()) {
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, first, programs);
    Operation *begin = &body.front();
    b.setInsertionPointToStart(&body);
    Block *into = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false).thenBlock();
    into->getOperations().splice(into->begin(), body.getOperations(), begin->getIterator(),
                                 body.getTerminator()->getIterator());
  }
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
    ZYX_RETURN_IF_ERROR(
        (llvm::TypeSwitch<Operation *, Status>(op)
             .Case<GridOp, ViewOp, AllocOp, LoadOp, StoreOp, BarrierOp, IdOp>([&](auto each) { return convert(each); })
             .Default([](Operation *other) { return refuseOp(other, "has no form in SPIR-V"); })));
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  spellOut(func);
  convertControlFlow(func);

  loc = func.getLoc();
  body.getTerminator()->erase();
  entry->getOperations().splice(entry->end(), body.getOperations());
  b.setInsertionPointToEnd(entry);
  spirv::ReturnOp::create(b, loc);
  ZYX_RETURN_IF_ERROR(convertArithmetic());
  loc = func.getLoc();
  ask(groupThreads == 1 ? threadsOfLocalSize : groupThreads);
  return {};
}

} // namespace

Result<OwningOpRef<spirv::ModuleOp>> zyx::target::convertKernels(ModuleOp kernels) {
  const TargetInfo *machine = findTarget(kernels);
  ZYX_ASSERT(machine, "a module of kernels names its machine");
  kernels.getContext()->loadDialect<spirv::SPIRVDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect>();
  OpBuilder builder(kernels.getContext());
  OwningOpRef<spirv::ModuleOp> made = spirv::ModuleOp::create(
      builder, kernels.getLoc(), spirv::AddressingModel::PhysicalStorageBuffer64, spirv::MemoryModel::Vulkan);
  std::set<Capability> needed = {Capability::Shader,
                                 Capability::Int64,
                                 Capability::PhysicalStorageBufferAddresses,
                                 Capability::VulkanMemoryModel,
                                 Capability::DenormPreserve,
                                 Capability::SignedZeroInfNanPreserve,
                                 Capability::RoundingModeRTE};
  for (FuncOp each : kernels.getOps<FuncOp>()) {
    if (each.getExternal())
      continue;
    CrashNote note(each);
    const OwningOpRef<FuncOp> func = each.clone();
    Value zero = hideZeros(*func);
    if (failed(lowerSmallFloats(*func, {.half = false, .doubles = false, .denormals = false})))
      return refuseOp(*func, "has an op of small floats that is rounded twice");
    keepDenormals(*func);
    KernelConversion conversion(*made, *func, machine->memory.privateBytes);
    ZYX_RETURN_IF_ERROR(conversion.convert(zero));
    needed.insert(conversion.capabilities.begin(), conversion.capabilities.end());
  }
  const std::vector<Capability> all(needed.begin(), needed.end());
  (*made)->setAttr(spirv::ModuleOp::getVCETripleAttrName(),
                   spirv::VerCapExtAttr::get(spirv::Version::V_1_5, all, {}, kernels.getContext()));
  return made;
}
