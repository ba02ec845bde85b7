//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A kernel is rewritten in place: its ops to those of arith and scf with accesses of the spirv dialect, which MLIR's
// patterns convert.
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "zyx/Codegen/Scalar/Scalars.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/PieceEmitter.h"
#include "zyx/Target/Backend/RefuseOp.h"
#include "zyx/Target/Backend/Uniform.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

#include <span>

using namespace mlir;
using namespace zyx;
using namespace zyx::kernel;
using namespace zyx::target;
using spirv::Capability;
using spirv::ExecutionMode;
using spirv::MemoryAccess;
using spirv::StorageClass;

namespace {

constexpr unsigned byteBits = 8, indexBits = 64;
/// Arguments that each device has push constants for.
constexpr unsigned mostPushed = 16;
/// Threads of a workgroup whose programs are threads.
constexpr int64_t threadsOfLocalSize = 64;

class KernelConversion {
public:
  KernelConversion(spirv::ModuleOp module, FuncOp func, bool keepsSpecials, Capabilities &needed)
      : module(module), func(func), keepsSpecials(keepsSpecials), needed(needed), b(module.getContext()),
        loc(func.getLoc()) {}

  /// `zero` is an argument of the kernel that a launch gives; null where there is none. `mostPrivateBytes` is what a
  /// thread may have on its own.
  Status convert(Value zero, int64_t mostPrivateBytes) {
    Block &body = func.getBody().front();
    IRRewriter rewriter(b);
    (void)runRegionDCE(rewriter, func->getRegions());
    ZYX_ASSIGN_OR_RETURN(use, findThreadUse(func, "SPIR-V", mostPrivateBytes));
    func.walk([](AllocOp alloc) {
      const int64_t lanes = arrayLanesOf(alloc);
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        if (accessLanesOf(user) > lanes)
          takeApart(user, lanes);
    });
    lowerIndices(func, indexBits);
    lowerSubgroups(func);
    SmallVector<Operation *> ops;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != func && isa<KernelDialect>(op->getDialect()) && !isa<kernel::YieldOp, kernel::ReturnOp>(op))
        ops.push_back(op);
    });
    b.setInsertionPointToEnd(module.getBody());
    made = spirv::FuncOp::create(b, loc, func.getName(), b.getFunctionType({}, {}));
    Block *entry = made.addEntryBlock();
    b.setInsertionPointToStart(entry);
    readArguments(zero);
    if (body.getOps<GridOp>().empty()) {
      b.setInsertionPoint(body.getTerminator());
      loopOver(body);
    }
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      loc = op->getLoc();
      llvm::TypeSwitch<Operation *>(op).Case<GridOp, ViewOp, AllocOp, LoadOp, StoreOp, BarrierOp, IdOp, SubgroupScanOp>(
          [&](auto each) { convert(each); });
    }
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    spellOut(func);
    expandQuotients(func);
    loc = func.getLoc();
    body.getTerminator()->erase();
    entry->getOperations().splice(entry->end(), body.getOperations());
    b.setInsertionPointToEnd(entry);
    spirv::ReturnOp::create(b, loc);
    ZYX_RETURN_IF_ERROR(convertArithmetic(made, needed));
    makeEntryPoint();
    return {};
  }

private:
  /// Where the elements of a view lie: at an address of a buffer, or in an array of the thread's or the workgroup's.
  struct Place {
    Value base;
    Type element;
    bool isAddress = true;
    /// Threads of the workgroup read what others wrote there.
    bool isNonPrivate = false;
    /// An array has vectors of so many elements.
    int64_t arrayLanes = 1;
  };

  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return b.createOrFold<Op>(loc, operands...);
  }
  Value number(int64_t value, unsigned bits = 64) { return arith::ConstantIntOp::create(b, loc, value, bits); }
  Value resize(Value value, unsigned bits) { return kernel::resize(b, loc, value, b.getIntegerType(bits)); }
  Type memoryType(Type element) {
    return element.isIndex() ? b.getI64Type() : element.isInteger(1) ? b.getI8Type() : element;
  }
  int64_t bytesOfElement(const Place &place) { return memoryType(place.element).getIntOrFloatBitWidth() / byteBits; }
  Value variable(StringRef name, Type type, StorageClass storage) {
    SymbolTable symbols(module);
    OpBuilder begin = OpBuilder::atBlockBegin(module.getBody());
    auto global = spirv::GlobalVariableOp::create(begin, loc, spirv::PointerType::get(type, storage), name, nullptr);
    symbols.insert(global);
    return spirv::AddressOfOp::create(b, loc, global);
  }
  void barrier() {
    using spirv::MemorySemantics;
    auto semantics = MemorySemantics::AcquireRelease | MemorySemantics::WorkgroupMemory |
                     MemorySemantics::MakeAvailable | MemorySemantics::MakeVisible;
    if (!use.readBack.empty())
      semantics = semantics | MemorySemantics::UniformMemory;
    spirv::ControlBarrierOp::create(b, loc, spirv::Scope::Workgroup, spirv::Scope::Workgroup, semantics);
  }

  /// The arguments, and which programs are this thread's.
  void readArguments(Value zero) {
    auto array = spirv::ArrayType::get(b.getI64Type(), mostPushed, indexBits / byteBits);
    auto block = spirv::StructType::get(
        {array}, {0}, {}, {spirv::StructType::StructDecorationInfo(spirv::Decoration::Block, b.getUnitAttr())});
    Value constants = variable("zyx.arguments", block, StorageClass::PushConstant);
    auto pushed = [&](int64_t which) -> Value {
      const Value member[] = {spirv::ConstantOp::getZero(b.getI32Type(), loc, b), number(which, 32)};
      return spirv::LoadOp::create(b, loc, spirv::AccessChainOp::create(b, loc, constants, member));
    };
    // Behind them: scratch memory, the programs, the distance to the next one, and 0.
    llvm::erase(use.arguments, zero);
    const size_t given = use.arguments.size();
    const bool isPushed = given + 4 <= mostPushed;
    const Place memory{isPushed ? Value() : pushed(0), b.getI64Type()};
    auto argument = [&](size_t which) {
      const auto at = static_cast<int64_t>(which);
      return isPushed ? pushed(at) : read(memory, number(at));
    };
    for (auto [which, each] : llvm::enumerate(use.arguments)) {
      if (auto buffer = dyn_cast<BufferType>(each.getType()))
        places[each] = {argument(which), buffer.getElementType(), true, use.readBack.contains(each)};
      else
        each.replaceAllUsesWith(resize(argument(which), each.getType().getIntOrFloatBitWidth()));
    }
    scratch = argument(given);
    programs = argument(given + 1);
    stride = argument(given + 2);
    if (zero)
      zero.replaceAllUsesWith(argument(given + 3));
    first = make<arith::IndexCastUIOp>(b.getI64Type(), gpu::BlockIdOp::create(b, loc, gpu::Dimension::x));
    thread = make<arith::IndexCastUIOp>(b.getI64Type(), gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x));
    Value own = make<arith::AddIOp>(make<arith::MulIOp>(first, number(localSize())), thread);
    scratch = make<arith::AddIOp>(scratch, make<arith::MulIOp>(own, number(use.scratchBytes)));
    if (use.groupThreads != 1)
      return;
    // A launch has whole workgroups, and scratch memory for as many threads as it asks for.
    first = own;
    Value isAskedFor = make<arith::CmpIOp>(arith::CmpIPredicate::ult, own, stride);
    programs = make<arith::SelectOp>(isAskedFor, programs, number(0));
  }
  int64_t localSize() const { return use.groupThreads == 1 ? threadsOfLocalSize : use.groupThreads; }

  /// Does what a block does for each program of this thread.
  Block *loopOver(Block &block) {
    auto loop = scf::ForOp::create(b, loc, first, programs, stride, ValueRange(), nullptr, /*unsignedCmp=*/true);
    Block *into = loop.getBody();
    into->getOperations().splice(into->begin(), block.getOperations(), block.begin(),
                                 loop->getBlock() == &block ? loop->getIterator() : std::prev(block.end()));
    // The next program writes what some threads may still read.
    b.setInsertionPoint(into->getTerminator());
    if (bytesOf(func, Space::Shared) != 0)
      barrier();
    return into;
  }

  /// Lanes of vectors that lie in such an array: of its accesses the shortest, of which longer ones consist.
  static int64_t arrayLanesOf(AllocOp alloc) {
    int64_t least = 1;
    for (Operation *user : alloc->getUsers())
      if (const int64_t lanes = accessLanesOf(user); lanes != 1)
        least = least == 1 ? lanes : std::min(least, lanes);
    return least;
  }

  /// Of one element, or of a vector of them. No array has so many elements that 32 bits do not count them.
  Value pointer(const Place &place, Value at, int64_t lanes) {
    if (place.isAddress) {
      Value bytes = make<arith::MulIOp>(at, number(bytesOfElement(place)));
      return spirv::ConvertUToPtrOp::create(
          b, loc,
          spirv::PointerType::get(lanesType(memoryType(place.element), lanes), StorageClass::PhysicalStorageBuffer),
          make<arith::AddIOp>(place.base, bytes));
    }
    if (lanes == place.arrayLanes)
      return spirv::AccessChainOp::create(b, loc, place.base, vectorPlaceOf(b, loc, at, lanes, b.getI32Type()));
    at = resize(at, 32);
    Value count = number(place.arrayLanes, 32);
    Value vector = make<arith::DivUIOp>(at, count), lane = make<arith::RemUIOp>(at, count);
    return spirv::AccessChainOp::create(b, loc, place.base, ValueRange{vector, lane});
  }

  /// The memory operands of an access: accesses by address say their alignment; memory that other threads of the
  /// workgroup read is NonPrivatePointer.
  std::pair<spirv::MemoryAccessAttr, IntegerAttr> operandsOf(const Place &place, int64_t lanes) {
    const auto kind = (place.isAddress ? MemoryAccess::Aligned : MemoryAccess::None) |
                      (place.isNonPrivate ? MemoryAccess::NonPrivatePointer : MemoryAccess::None);
    return {kind == MemoryAccess::None ? nullptr : spirv::MemoryAccessAttr::get(b.getContext(), kind),
            place.isAddress ? b.getI32IntegerAttr(int32_t(lanes * bytesOfElement(place))) : nullptr};
  }

  /// A bool is a byte.
  Value read(const Place &place, Value at, int64_t lanes = 1) {
    const auto [access, alignment] = operandsOf(place, lanes);
    Value value = spirv::LoadOp::create(b, loc, pointer(place, at, lanes), access, alignment);
    return place.element.isInteger(1)
               ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, number(0, byteBits))
               : value;
  }

  /// Reads only where the mask is set.
  void convert(LoadOp load) {
    const Place &place = places.find(load.getView())->second;
    Value at = load.getIndices().front(), value;
    if (load.getMask()) {
      auto chosen = scf::IfOp::create(
          b, loc, load.getMask(), [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, read(place, at)); },
          [&](OpBuilder &, Location) {
            Value zero = load.getOther();
            scf::YieldOp::create(b, loc, zero ? zero : make<arith::ConstantOp>(b.getZeroAttr(load.getType())));
          });
      value = chosen.getResult(0);
    } else {
      value = read(place, at, lanesOf(load.getType()));
    }
    load.getResult().replaceAllUsesWith(value);
  }

  void convert(StoreOp store) {
    const Place &place = places.find(store.getView())->second;
    if (store.getMask())
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, store.getMask(), /*withElseRegion=*/false).thenBlock());
    Value value = store.getValue();
    const int64_t lanes = lanesOf(value.getType());
    if (place.element.isInteger(1))
      value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
    const auto [access, alignment] = operandsOf(place, lanes);
    spirv::StoreOp::create(b, loc, pointer(place, store.getIndices().front(), lanes), value, access, alignment);
  }

  void convert(ViewOp view) { places[view] = Place(places.at(view.getBuffer())); }

  void convert(AllocOp alloc) {
    ViewType type = alloc.getType();
    const bool isShared = type.getSpace() != Space::Private;
    Place place{{}, type.getElementType(), !isShared && use.scratchBytes != 0, isShared, arrayLanesOf(alloc)};
    auto array = spirv::ArrayType::get(
        lanesType(memoryType(place.element), place.arrayLanes),
        static_cast<unsigned>(std::max<int64_t>(llvm::divideCeil(type.getDimSize(0), place.arrayLanes), 1)));
    if (place.isAddress)
      place.base = make<arith::AddIOp>(scratch, number(privateBytes));
    else if (isShared)
      place.base = variable("zyx.shared", array, StorageClass::Workgroup);
    else
      place.base = spirv::VariableOp::create(b, loc, spirv::PointerType::get(array, StorageClass::Function),
                                             StorageClass::Function, Value());
    if (!isShared)
      privateBytes += bytesOf(alloc);
    places[alloc] = place;
  }

  void convert(GridOp grid) {
    Block &block = grid.getBody().front();
    block.getArgument(0).replaceAllUsesWith(loopOver(block)->getArgument(0));
  }

  void convert(BarrierOp) {
    if (use.groupThreads != 1)
      barrier();
  }

  void convert(IdOp id) { id->getResult(0).replaceAllUsesWith(use.groupThreads == 1 ? number(0) : thread); }

  void convert(SubgroupScanOp scan) {
    const auto as = [&](auto op) -> Value {
      return decltype(op)::create(b, loc, scan.getType(), spirv::Scope::Subgroup, spirv::GroupOperation::InclusiveScan,
                                  scan.getValue(), Value());
    };
    scan.replaceAllUsesWith(isa<FloatType>(scan.getType()) ? as(spirv::GroupNonUniformFAddOp())
                                                           : as(spirv::GroupNonUniformIAddOp()));
  }

  /// How the kernel is run, and what drivers may not do with its floats.
  void makeEntryPoint() {
    llvm::SetVector<Attribute> interface;
    made.walk([&](spirv::AddressOfOp op) { interface.insert(op.getVariableAttr()); });
    b.setInsertionPointToEnd(module.getBody());
    spirv::EntryPointOp::create(b, loc, spirv::ExecutionModel::GLCompute, made, interface.getArrayRef());
    auto mode = [&](ExecutionMode what, ArrayRef<int32_t> values) {
      spirv::ExecutionModeOp::create(b, loc, made, what, values);
    };
    mode(ExecutionMode::LocalSize, {static_cast<int32_t>(localSize()), 1, 1});
    // Drivers may drop signs of zeros, infinities and NaN where nobody forbids it, and convert in another direction.
    for (int32_t width : {32, 64})
      if (width == 32 || needed.count(Capability::Float64)) {
        if (width == 64 || keepsSpecials) {
          mode(ExecutionMode::SignedZeroInfNanPreserve, width);
          needed.insert(Capability::SignedZeroInfNanPreserve);
        }
        mode(ExecutionMode::RoundingModeRTE, width);
      }
    // Not every device keeps denormals: the runtime asks those that do.
    mode(ExecutionMode::DenormPreserve, 32);
  }

  spirv::ModuleOp module;
  FuncOp func;
  const bool keepsSpecials;
  /// What the device must have for all kernels up to this one.
  Capabilities &needed;
  spirv::FuncOp made;
  OpBuilder b;
  Location loc;
  ThreadUse use;
  /// Of buffers and views.
  DenseMap<Value, Place> places;
  int64_t privateBytes = 0;
  /// The first program, the distance to the next one, and where programs end; this thread's number in its workgroup;
  /// the address of its scratch memory.
  Value first, stride, programs, thread, scratch;
};

} // namespace

/// An entry point for each kernel. -zyx-kernel-scalarize has left scalars, and views of one dimension.
static Result<OwningOpRef<spirv::ModuleOp>> convertKernels(ModuleOp kernels) {
  const TargetInfo *machine = findTarget(kernels);
  ZYX_ASSERT(machine, "a module of kernels names its machine");
  MLIRContext *context = kernels.getContext();
  context->loadDialect<spirv::SPIRVDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect, gpu::GPUDialect,
                       vector::VectorDialect>();
  OpBuilder builder(context);
  OwningOpRef<spirv::ModuleOp> made = spirv::ModuleOp::create(
      builder, kernels.getLoc(), spirv::AddressingModel::PhysicalStorageBuffer64, spirv::MemoryModel::Vulkan);
  using enum Capability;
  Capabilities needed = {Shader,         Int64,          PhysicalStorageBufferAddresses, VulkanMemoryModel,
                         DenormPreserve, RoundingModeRTE};
  for (FuncOp each : kernels.getOps<FuncOp>()) {
    if (each.getExternal())
      continue;
    CrashNote note(each);
    const OwningOpRef<FuncOp> func = each.clone();
    const bool keepsSpecials = needsSpecials(*func);
    Value zero = hideConstants(*func);
    if (failed(lowerFloats(*func)))
      return refuseOp(*func, "has an op of small floats that is rounded twice");
    ZYX_RETURN_IF_ERROR(
        KernelConversion(*made, *func, keepsSpecials, needed).convert(zero, machine->memory.privateBytes));
  }
  (*made)->setAttr(spirv::ModuleOp::getVCETripleAttrName(),
                   spirv::VerCapExtAttr::get(spirv::Version::V_1_5, llvm::to_vector(needed), {}, context));
  return made;
}

Result<std::vector<std::byte>> zyx::target::serializeModule(spirv::ModuleOp module) {
  llvm::SmallVector<uint32_t> words;
  if (failed(verify(module)) || failed(spirv::serialize(module, words)))
    return Status::internal("the compiler made a module of SPIR-V that is not valid");
  const auto bytes = std::as_bytes(std::span(words.data(), words.size()));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

namespace {

class SPIRVBackend final : public PieceBackend {
public:
  SPIRVBackend() : PieceBackend("SPIRV", TargetKind::Vulkan, "Vulkan", "spirv") {}

  void addLowering(OpPassManager &passes, const TargetInfo &) const override {
    addScalarLowering(passes, /*lanes=*/1, /*accessLanes=*/4);
    passes.addNestedPass<FuncOp>(createNarrowIndicesPass());
    passes.addPass(createCSEPass());
  }

  Result<PieceEmitter::Compile> translate(ModuleOp lowered, const TargetInfo &) const override {
    ZYX_ASSIGN_OR_RETURN(OwningOpRef<spirv::ModuleOp> module, convertKernels(lowered));
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> code, serializeModule(*module));
    return PieceEmitter::Compile([code = std::move(code)] { return Result<PieceEmitter::Code>(code); });
  }

  Result<std::string> toText(ModuleOp lowered, const TargetInfo &) const override {
    ZYX_ASSIGN_OR_RETURN(OwningOpRef<spirv::ModuleOp> module, convertKernels(lowered));
    std::string text;
    llvm::raw_string_ostream(text) << **module << '\n';
    return text;
  }
};

} // namespace

Status zyx::target::registerSPIRVBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<SPIRVBackend>());
}
