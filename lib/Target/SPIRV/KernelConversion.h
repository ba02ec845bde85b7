//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_SPIRV_KERNELCONVERSION_H
#define ZYX_LIB_TARGET_SPIRV_KERNELCONVERSION_H

#include "Scalars.h"

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Backend/Uniform.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OwningOpRef.h"

#include <set>

namespace zyx::target {

/// All kernels of a module of the lowered form as one module of the spirv dialect: an entry point for
/// each. docs/device-vulkan.md says how one is called. -zyx-kernel-scalarize has left scalars, and views of one
/// dimension.
Result<mlir::OwningOpRef<mlir::spirv::ModuleOp>> convertKernels(mlir::ModuleOp kernels);

/// Threads of a workgroup whose programs are threads.
inline constexpr int64_t threadsOfLocalSize = 64;

/// The walk over one kernel.
class KernelConversion {
public:
  /// `privateBytes` is what a thread may have on its own.
  KernelConversion(mlir::spirv::ModuleOp module, int64_t privateBytes)
      : module(module), b(module.getContext()), loc(module.getLoc()), mostPrivateBytes(privateBytes) {}
  /// `zero` is a constant of the kernel that is an argument of the launch; null where there is none.
  Status convert(kernel::FuncOp func, mlir::Value zero);
  /// What the device must have for the kernels that were converted.
  std::set<mlir::spirv::Capability> capabilities;

private:
  using Values = llvm::SmallVector<mlir::Value, 1>;
  /// Where the elements of a view lie: at an address of a buffer, or in an array of the thread's or the workgroup's.
  struct ViewDescriptor {
    mlir::Value base;
    bool isAddress = true;
    /// Threads of the workgroup read what others wrote there.
    bool isNonPrivate = false;
    mlir::Type element;
  };

  Status convert(mlir::Operation *op);
  Status convert(mlir::Block &block);
  Status convert(kernel::GridOp grid);
  Status convert(mlir::scf::ForOp loop);
  Status convert(mlir::scf::IfOp branch);
  Status convert(mlir::scf::WhileOp loop);
  Status convert(kernel::ViewOp view);
  Status convert(kernel::AllocOp alloc);
  Status convert(kernel::IdOp id);
  Status convert(kernel::BarrierOp barrier);
  Status convert(kernel::LoadOp load);
  Status convert(kernel::StoreOp store);
  Status compute(mlir::Operation *op);

  Result<mlir::Type> typeOf(mlir::Operation *op, mlir::Type type);
  mlir::Type memoryType(mlir::Type element);
  Scalars scalars() { return Scalars(b, loc); }
  Values valuesOf(mlir::ValueRange operands) {
    return llvm::map_to_vector<1>(operands, [&](mlir::Value operand) { return values[operand]; });
  }

  mlir::spirv::GlobalVariableOp global(const llvm::Twine &name, mlir::Type type, mlir::spirv::StorageClass storage,
                                       std::optional<mlir::spirv::BuiltIn> builtIn = std::nullopt);
  /// The number of this workgroup, or of this thread in it.
  mlir::Value builtIn(llvm::StringRef name, mlir::spirv::BuiltIn builtIn);
  /// The argument of this number.
  mlir::Value argument(unsigned number);
  /// Variables of the function, which hold what control flow carries.
  Result<Values> variables(mlir::Operation *op, mlir::TypeRange types);
  void assign(const Values &variables, const Values &all);
  Values read(const Values &variables);
  void bindRead(const Values &variables, mlir::ValueRange ours);
  Status loop(llvm::function_ref<Result<mlir::Value>()> test, llvm::function_ref<Status()> body,
              llvm::function_ref<void()> step);
  Status branch(mlir::Value condition, llvm::function_ref<Status()> then, llvm::function_ref<Status()> otherwise);
  void barrier();

  mlir::Value pointer(const ViewDescriptor &descriptor, mlir::Value at);
  mlir::Value readElement(const ViewDescriptor &descriptor, mlir::Value at);
  void writeElement(const ViewDescriptor &descriptor, mlir::Value at, mlir::Value value);

  mlir::spirv::ModuleOp module;
  mlir::OpBuilder b;
  mlir::Location loc;
  const int64_t mostPrivateBytes;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, ViewDescriptor> descriptors;
  /// What the entry point names.
  llvm::SmallVector<mlir::Attribute> interface;
  llvm::DenseSet<mlir::Value> nonPrivateBuffers;
  Uniform uniform;
  int64_t groupThreads = 1, privateBytes = 0, scratchBytes = 0;
  bool hasShared = false;
  /// The address of the arguments; the first program, the distance to the next one, and where programs end; this
  /// thread's number in its workgroup; the address of its scratch memory.
  mlir::Value arguments, first, stride, programs, thread, scratch;
};

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_SPIRV_KERNELCONVERSION_H
