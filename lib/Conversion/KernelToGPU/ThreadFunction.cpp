//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ThreadFunction.h"

#include "zyx/Conversion/KernelToGPU/Passes.h"
#include "zyx/Dialect/Kernel/IR/BufferUse.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

using namespace mlir;
using namespace zyx::kernel;

/// Threads of a workgroup whose programs are threads, so that the assembler knows how many registers each may have.
constexpr int32_t threadsPerGroup = 256;
/// Workgroups that every multiprocessor can have.
constexpr int64_t mostResidents = 16;

/// What a launch gives each workgroup of a GPU.
static Value sharedMemory(OpBuilder &builder, ModuleOp module, Location loc, unsigned space) {
  constexpr StringRef name = "zyx_shared";
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0), /*isConstant=*/false,
                           LLVM::Linkage::External, name, Attribute(), /*alignment=*/64, space);
  }
  return LLVM::AddressOfOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), space), name);
}

FailureOr<ThreadFunction> zyx::kernel::lowerThreadFunction(FuncOp func, const GPUInstructions &gpu,
                                                           const target::TargetInfo &machine) {
  Location loc = func.getLoc();
  const int64_t groupThreads = func.getThreads().value_or(1), cluster = func.getCluster().value_or(1);
  if (failed(checkFunction(func, machine.simt.workgroupThreads, groupThreads > 1 ? machine.simt.clusterSize : 1)))
    return failure();
  OpBuilder builder(func);
  MLIRContext *context = func.getContext();
  const int64_t stackBytes = bytesOf(func, Space::Private);
  auto global = LLVM::LLVMPointerType::get(context, gpu.globalSpace());
  auto generic = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  SmallVector<Type> types;
  for (Type type : func.getArgumentTypes())
    types.push_back(isa<BufferType>(type) ? Type(global) : i64);
  types.append({global, i64});

  std::string name = func.getName().str();
  ModuleOp module = func->getParentOfType<ModuleOp>();
  LLVM::LLVMFuncOp made =
      createFunction(builder, loc, freshName(module, name + ".threads"), types, LLVM::Linkage::External);
  keepArgumentCount(func, made);
  // Else the assembler spills to have more workgroups at once.
  const auto minThreads = static_cast<int64_t>(func.getMinResidentThreads().value_or(0));
  const int64_t room = groupThreads > 1 ? minThreads / groupThreads : 1;
  gpu.markKernel(made,
                 {groupThreads > 1 ? static_cast<int32_t>(groupThreads) : threadsPerGroup,
                  static_cast<int32_t>(std::clamp<int64_t>(room, 1, mostResidents)), static_cast<int32_t>(cluster)});
  Block *start = made.addEntryBlock(builder);
  builder.setInsertionPointToStart(start);
  SmallVector<Value> arguments;
  bool readsBack = false;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    Value argument = start->getArgument(i);
    if (isa<BufferType>(type)) {
      // Else LLVM takes it that nobody writes there at a barrier, which is not told where it is.
      const bool isReadBack = groupThreads > 1 && isReadAndWritten(func.getBody().getArgument(i));
      readsBack |= isReadBack;
      if (!isReadBack)
        made.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
      made.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(gpuBufferAlignment));
      argument = LLVM::AddrSpaceCastOp::create(builder, loc, generic, argument);
    } else if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() < 64) {
      argument = LLVM::TruncOp::create(builder, loc, type, argument);
    }
    arguments.push_back(argument);
  }
  // Each of these numbers has 32 bits; the number of a thread may have more.
  auto wide = [&](Value value) -> Value { return LLVM::ZExtOp::create(builder, loc, i64, value); };
  Value size = wide(gpu.groupSize(builder, loc));
  Value group = wide(gpu.group(builder, loc));
  Value groups = wide(gpu.numGroups(builder, loc));
  Value thread = LLVM::AddOp::create(builder, loc, LLVM::MulOp::create(builder, loc, group, size),
                                     wide(gpu.id(builder, loc, IdKind::Thread)));
  Value threads = LLVM::MulOp::create(builder, loc, groups, size);
  Value own = LLVM::MulOp::create(builder, loc, thread,
                                  LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(stackBytes)));
  Value scratch = LLVM::AddrSpaceCastOp::create(builder, loc, generic, start->getArgument(types.size() - 2));
  scratch = LLVM::GEPOp::create(builder, loc, generic, builder.getI8Type(), scratch, ArrayRef<LLVM::GEPArg>{own});
  Value shared;
  if (groupThreads > 1)
    shared =
        LLVM::AddrSpaceCastOp::create(builder, loc, generic, sharedMemory(builder, module, loc, gpu.sharedSpace()));
  Value programs = start->getArgument(types.size() - 1);
  if (cluster > 1) {
    // Launched are as many workgroups as all clusters have. Nobody writes to one that has not begun.
    auto clusters = [&](Value count) -> Value {
      return LLVM::UDivOp::create(builder, loc, count,
                                  LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(cluster)));
    };
    group = clusters(group), groups = clusters(groups);
    gpu.barrier(builder, loc, Scope::Cluster, BarrierMemory::All);
  }
  if (groupThreads > 1)
    moveCode(func, arguments, made, group, programs, groups);
  else
    moveCode(func, arguments, made, thread, programs, threads);
  func.erase();
  made.setSymName(name);
  return ThreadFunction{made, scratch, shared, cluster > 1, readsBack};
}
