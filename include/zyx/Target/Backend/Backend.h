//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_BACKEND_H
#define ZYX_TARGET_BACKEND_BACKEND_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Status.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// One family of machines: how kernels become its code. docs/adding-a-target.md says what a new one needs.
namespace zyx::target {

struct EmitOptions {
  /// Learns of each stage of an emitter when it begins, and how many of all modules have their code; else 0 of 0.
  std::function<void(std::string_view stage, size_t done, size_t total)> progress = nullptr;
  /// Asked between two modules by the thread that calls the emitter; then it fails with ErrorCode::Cancelled.
  std::function<bool()> isCancelled = nullptr;
  /// Of C: whether the code is the text itself, in format "c".
  bool wantsSource = false;
};
/// The failure of a compilation whose caller wants it no more.
inline Status cancelled() { return {ErrorCode::Cancelled, "the compilation was cancelled"}; }

/// Where the time of the thread that calls an emitter went.
struct EmitStage {
  const char *name;
  double milliseconds = 0;
  /// Spent in `finish`, behind the stage before; else in turns with the lowering of modules.
  bool isInFinish = true;
};

/// Makes code of the modules of one program. The code does not depend on the number of threads that make it.
class Emitter {
public:
  virtual ~Emitter() = default;
  /// Takes what it needs of a module that the backend has lowered; the module may go.
  virtual Status add(mlir::ModuleOp lowered) = 0;
  /// The code of all modules: one piece, or one for each in their order. Called once.
  virtual Result<std::vector<artifact::CodeBlob>> finish() = 0;
  /// Complete behind `finish`.
  virtual std::vector<EmitStage> stages() const = 0;

  /// What the code of one module is that can be kept and added to other programs: "elf-o", "cubin". Empty where it
  /// exists only together with the others'.
  virtual std::string_view keptFormat() const { return ""; }
  /// Whether all modules get one piece of code, in which every function needs a name of its own.
  virtual bool sharesSymbols() const { return false; }
  /// In place of `add`: code that `takeKept` gave for an equal module, machine and format.
  virtual Status addKept(std::vector<std::byte> code);
  /// Behind `finish`: what to keep of each module that came by `add`, in their order.
  virtual std::vector<std::vector<std::byte>> takeKept() { return {}; }
};

/// The code of a kernel of the user's own, and the function in it that is launched.
struct ExternalCode {
  artifact::CodeBlob code;
  std::string symbol;
};

/// Lowers kernels and emits code for the machines of some records. Has no state: one serves all threads.
class Backend {
public:
  virtual ~Backend() = default;
  /// Its folder's name in lib/Target, for messages.
  virtual std::string_view name() const = 0;
  /// Whether the machine of the record runs its code.
  virtual bool makesCodeFor(const TargetInfo &target) const = 0;
  /// Why the machine cannot run a kernel of the lowered or the machine form, if so. The reason names the kernel and its
  /// location. What it lets pass, the lowering may still refuse op by op.
  virtual Status supports(kernel::FuncOp kernel, const TargetInfo &target) const = 0;
  /// Appends the passes from the lowered and the machine form to what the emitter takes.
  virtual void addLowering(mlir::OpPassManager &passes, const TargetInfo &target) const = 0;
  /// `most` modules will be added.
  virtual Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &target, EmitOptions options,
                                                         size_t most) const = 0;
  /// Makes code of an external kernel. The refusal of a text, or of a language that the machine does not take, names
  /// the op and its location; without an override there is no such language.
  virtual Result<ExternalCode> emitExternal(kernel::FuncOp kernel, const TargetInfo &target) const;
  /// The code of a lowered module as text: assembly, a program in the target's language, or the module itself.
  virtual Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &target) const = 0;
};

/// A refusal of `supports`: the kernel's location and name before the reason.
Status refuseKernel(kernel::FuncOp kernel, const std::string &reason);
/// The same of an external kernel, behind the custom op that it stands for.
Status refuseExternal(kernel::FuncOp kernel, const std::string &reason);
/// Refuses a kernel whose workgroups are larger than the record's, or that has more buffers.
Status checkWorkgroup(kernel::FuncOp kernel, const kernel::LaunchInfo &info, const TargetInfo &target);
/// The same, and one in the machine form, which `who` does not take.
Status checkLowered(kernel::FuncOp kernel, const TargetInfo &target, const std::string &who);

/// The lowering to languages of scalars, or of vectors with so many lanes at most, where each value is computed once:
/// the emitter takes what is left.
void addScalarLowering(mlir::OpPassManager &passes, unsigned lanes = 1, unsigned accessLanes = 1);

/// Refuses a kernel that needs more than one thread a program, or the machine form. `who` runs a program by one.
Result<kernel::LaunchInfo> checkOneThread(kernel::FuncOp kernel, const std::string &who);

/// The backends that a compiler has. Each is added by name, none by a static initialiser: which ones there are does not
/// depend on what the linker keeps.
class BackendRegistry {
public:
  /// Refuses a second backend of one name.
  Status add(std::unique_ptr<Backend> backend);
  /// The one that makes code for the record.
  Result<const Backend *> find(const TargetInfo &target) const;
  /// In the order in which they came.
  std::vector<std::string_view> names() const;

private:
  std::vector<std::unique_ptr<Backend>> backends;
};

/// Add those whose folders have nothing else for others.
Status registerOpenCLBackend(BackendRegistry &registry);
Status registerSPIRVBackend(BackendRegistry &registry);
Status registerWGSLBackend(BackendRegistry &registry);

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_BACKEND_H
