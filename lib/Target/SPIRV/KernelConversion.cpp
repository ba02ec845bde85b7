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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>
#include <set>

using namespace mlir;
using namespace zyx;
using namespace zyx::kernel;
using namespace zyx::target;
using spirv::Capability;
using spirv::StorageClass;

namespace {

Type lanesType(Type element, int64_t lanes) { return lanes == 1 ? element : VectorType::get({lanes}, element); }
constexpr unsigned byteBits = 8, indexBits = 64;
/// Arguments that each device has push constants for.
constexpr unsigned mostPushed = 16;
/// Threads of a workgroup whose programs are threads.
constexpr int64_t threadsOfLocalSize = 64;

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
    /// An array has vectors of so many elements.
    int64_t arrayLanes = 1;
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
  Value argument(unsigned number) {
    return arguments ? read({.base = arguments, .element = b.getI64Type()}, this->number(number)) : pushed(number);
  }
  Value pushed(unsigned number) {
    Value member = spirv::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(number)));
    return spirv::LoadOp::create(b, loc, spirv::AccessChainOp::create(b, loc, pushConstants, ValueRange{member}));
  }
  void barrier();
  /// Lanes of vectors that lie in such an array: of its accesses the shortest.
  static int64_t arrayLanesOf(AllocOp alloc);
  /// A multiple of `by`, divided; by its terms where each is one, so that a driver sees sums behind one base.
  Value quotient(Value of, int64_t by);
  /// Of one element, or of a vector of them.
  Value pointer(const ViewDescriptor &descriptor, Value at, int64_t lanes);
  template <typename F>
  SmallVector<Value> piecesOf(const ViewDescriptor &descriptor, Value at, int64_t lanes, F &&access);
  Value read(const ViewDescriptor &descriptor, Value at, int64_t lanes = 1);

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
  /// The push constants; the address of the arguments where they are too many for those; the first program, the
  /// distance to the next one, and where programs end; this thread's number in its workgroup; the address of its
  /// scratch memory.
  Value pushConstants, arguments, first, stride, programs, thread, scratch;
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
    const Type element = getElementTypeOrSelf(type);
    const bool isKnown = isa<BufferType, ViewType, Float32Type, Float64Type>(element) || element.isInteger(1) ||
                         element.isInteger(8) || element.isInteger(16) || element.isInteger(32) ||
                         element.isInteger(64);
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
                            .element = type.getElementType(),
                            .arrayLanes = arrayLanesOf(alloc)};
  auto array = spirv::ArrayType::get(
      lanesType(memoryType(descriptor.element), descriptor.arrayLanes),
      static_cast<unsigned>(std::max<int64_t>(llvm::divideCeil(type.getDimSize(0), descriptor.arrayLanes), 1)));
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

int64_t KernelConversion::arrayLanesOf(AllocOp alloc) {
  int64_t least = INT64_MAX;
  auto count = [&](Type type) {
    if (const int64_t lanes = lanesOf(type); lanes != 1)
      least = std::min(least, lanes);
  };
  for (Operation *user : alloc->getUsers())
    llvm::TypeSwitch<Operation *>(user).Case([&](LoadOp load) { count(load.getType()); }).Case([&](StoreOp store) {
      count(store.getValue().getType());
    });
  return least == INT64_MAX ? 1 : least;
}

Value KernelConversion::quotient(Value of, int64_t by) {
  auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32).getResult(); };
  auto parts = [&](Value value, auto &&parts) -> Value {
    if (auto wide = value.getDefiningOp<arith::ExtUIOp>(); wide && wide.getIn().getType().isInteger(32))
      value = wide.getIn();
    if (const std::optional<int64_t> constant = getConstantIntValue(value))
      return *constant % by == 0 ? number(*constant / by) : Value();
    if (auto product = value.getDefiningOp<arith::MulIOp>())
      if (Value factor = parts(product.getRhs(), parts))
        return make<arith::MulIOp>(resize(product.getLhs(), b.getI32Type(), false), factor);
    auto sum = value.getDefiningOp<arith::AddIOp>();
    Value first = sum ? parts(sum.getLhs(), parts) : Value(), second = first ? parts(sum.getRhs(), parts) : Value();
    return second ? make<arith::AddIOp>(first, second) : Value();
  };
  Value found = parts(of, parts);
  return found ? found : make<arith::DivUIOp>(resize(of, b.getI32Type(), false), number(by));
}

Value KernelConversion::pointer(const ViewDescriptor &descriptor, Value at, int64_t lanes) {
  Type element = memoryType(descriptor.element);
  if (descriptor.isAddress) {
    Value bytes = make<arith::MulIOp>(at, number(element.getIntOrFloatBitWidth() / byteBits));
    return spirv::ConvertUToPtrOp::create(
        b, loc, spirv::PointerType::get(lanesType(element, lanes), StorageClass::PhysicalStorageBuffer),
        make<arith::AddIOp>(descriptor.base, bytes));
  }
  // No array has so many elements that 32 bits do not count them.
  if (lanes != 1)
    return spirv::AccessChainOp::create(b, loc, descriptor.base, ValueRange{quotient(at, descriptor.arrayLanes)});
  at = resize(at, b.getI32Type(), false);
  if (descriptor.arrayLanes == 1)
    return spirv::AccessChainOp::create(b, loc, descriptor.base, ValueRange{at});
  Value count = arith::ConstantIntOp::create(b, loc, descriptor.arrayLanes, 32);
  Value vector = make<arith::DivUIOp>(at, count), lane = make<arith::RemUIOp>(at, count);
  return spirv::AccessChainOp::create(b, loc, descriptor.base, ValueRange{vector, lane});
}

/// Calls for each vector that an access consists of, with its memory operands: accesses by address say their alignment;
/// memory that other threads of the workgroup read is NonPrivatePointer.
template <typename F>
SmallVector<Value> KernelConversion::piecesOf(const ViewDescriptor &descriptor, Value at, int64_t lanes, F &&access) {
  auto kind = descriptor.isAddress ? spirv::MemoryAccess::Aligned : spirv::MemoryAccess::None;
  if (descriptor.isNonPrivate)
    kind = kind | spirv::MemoryAccess::NonPrivatePointer;
  const spirv::MemoryAccessAttr attribute = kind == spirv::MemoryAccess::None
                                                ? spirv::MemoryAccessAttr()
                                                : spirv::MemoryAccessAttr::get(b.getContext(), kind);
  const int64_t each = descriptor.isAddress ? lanes : std::min(lanes, descriptor.arrayLanes),
                bytes = memoryType(descriptor.element).getIntOrFloatBitWidth() / byteBits;
  SmallVector<Value> pieces;
  for (int64_t lane = 0; lane < lanes; lane += each) {
    Value place = lane == 0 ? at : make<arith::AddIOp>(at, number(lane));
    pieces.push_back(
        access(pointer(descriptor, place, each), attribute,
               descriptor.isAddress ? b.getI32IntegerAttr(static_cast<int32_t>(each * bytes)) : IntegerAttr(), lane));
  }
  return pieces;
}

/// A bool is a byte.
Value KernelConversion::read(const ViewDescriptor &descriptor, Value at, int64_t lanes) {
  SmallVector<Value> pieces = piecesOf(descriptor, at, lanes, [&](Value from, auto access, auto alignment, int64_t) {
    return spirv::LoadOp::create(b, loc, from, access, alignment).getResult();
  });
  if (pieces.size() != 1)
    return spirv::CompositeConstructOp::create(b, loc, VectorType::get({lanes}, memoryType(descriptor.element)),
                                               pieces);
  if (!descriptor.element.isInteger(1))
    return pieces[0];
  Value none = arith::ConstantIntOp::create(b, loc, 0, byteBits);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, pieces[0], none);
}

/// Reads only where the mask is set.
Status KernelConversion::convert(LoadOp load) {
  const ViewDescriptor &descriptor = descriptors.find(load.getView())->second;
  Value at = load.getIndices().front(), value;
  const int64_t lanes = lanesOf(load.getType());
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
    value = read(descriptor, at, lanes);
  }
  load.getResult().replaceAllUsesWith(value);
  return {};
}

Status KernelConversion::convert(StoreOp store) {
  const ViewDescriptor &descriptor = descriptors.find(store.getView())->second;
  OpBuilder::InsertionGuard guard(b);
  if (store.getMask())
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, store.getMask(), /*withElseRegion=*/false).thenBlock());
  Value value = store.getValue();
  const int64_t lanes = lanesOf(value.getType());
  if (descriptor.element.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  piecesOf(descriptor, store.getIndices().front(), lanes, [&](Value to, auto access, auto alignment, int64_t lane) {
    Value piece = value;
    if (const int64_t each = lanesOf(cast<spirv::PointerType>(to.getType()).getPointeeType()); each != lanes) {
      SmallVector<int64_t> lanesOfPiece(each);
      std::iota(lanesOfPiece.begin(), lanesOfPiece.end(), lane);
      piece = vector::ShuffleOp::create(b, loc, value, value, lanesOfPiece);
    }
    spirv::StoreOp::create(b, loc, to, piece, access, alignment);
    return piece;
  });
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
// Kernels
//===----------------------------------------------------------------------===//

/// The arguments, and which programs are this thread's.
Status KernelConversion::readArguments(Value zero) {
  Block &body = func.getBody().front();
  const SmallVector<Type> words(mostPushed, b.getI64Type());
  SmallVector<spirv::StructType::OffsetInfo> offsets;
  for (unsigned i = 0; i < mostPushed; ++i)
    offsets.push_back(i * indexBits / byteBits);
  auto block = spirv::StructType::get(
      words, offsets, {}, {spirv::StructType::StructDecorationInfo(spirv::Decoration::Block, b.getUnitAttr())});
  pushConstants = spirv::AddressOfOp::create(b, loc, global("zyx.arguments", block, StorageClass::PushConstant));
  unsigned buffers = 0, next = llvm::count_if(body.getArgumentTypes(), llvm::IsaPred<BufferType>);
  // Behind them: scratch memory, the programs, the distance to the next one, and 0.
  if (body.getNumArguments() - (zero ? 1 : 0) + 4 > mostPushed)
    arguments = pushed(0);
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
      if (auto vector = dyn_cast<VectorType>(element))
        element = vector.getElementType();
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
  ZYX_RETURN_IF_ERROR(convertArithmetic(made));
  ask(groupThreads == 1 ? threadsOfLocalSize : groupThreads);
  return {};
}

} // namespace

Result<OwningOpRef<spirv::ModuleOp>> zyx::target::convertKernels(ModuleOp kernels) {
  const TargetInfo *machine = findTarget(kernels);
  ZYX_ASSERT(machine, "a module of kernels names its machine");
  kernels.getContext()
      ->loadDialect<spirv::SPIRVDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                    vector::VectorDialect>();
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
