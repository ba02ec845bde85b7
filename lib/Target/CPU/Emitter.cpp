//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "zyx/Target/Backend/Link.h"

#include <chrono>

using namespace zyx;
using namespace zyx::target;

namespace {

/// Milliseconds since the last call, or since construction.
class StopWatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double ms = std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
    return ms;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

} // namespace

Result<std::unique_ptr<ObjectEmitter>> ObjectEmitter::create(const TargetInfo &target, CPUPasses passes,
                                                             EmitOptions options, size_t most) {
  StopWatch watch;
  ZYX_ASSIGN_OR_RETURN(CodeGenerator::Owned generator, CodeGenerator::take(target, passes));
  std::unique_ptr<ObjectEmitter> emitter(
      new ObjectEmitter(target, passes, std::move(options), most, std::move(generator)));
  emitter->spent.translate = watch.lap();
  return emitter;
}

Status ObjectEmitter::add(mlir::ModuleOp llvmModule) {
  StopWatch watch;
  Job &job = jobs.emplace_back();
  ZYX_ASSIGN_OR_RETURN(job.module, generator->translate(llvmModule, *job.context));
  pool.add([this, &job](WorkerPool::Runner runner) { compile(job, runner); });
  spent.translate += watch.lap();
  return Status::ok();
}

Status ObjectEmitter::addKept(std::vector<std::byte> object) {
  Job &job = jobs.emplace_back();
  const auto *begin = reinterpret_cast<const char *>(object.data());
  job.object.assign(begin, begin + object.size());
  job.isKept = true;
  return Status::ok();
}

std::vector<std::vector<std::byte>> ObjectEmitter::takeKept() {
  std::vector<std::vector<std::byte>> objects;
  for (const Job &job : jobs) {
    const auto *begin = reinterpret_cast<const std::byte *>(job.object.data());
    if (!job.isKept)
      objects.emplace_back(begin, begin + job.object.size());
  }
  return objects;
}

void ObjectEmitter::compile(Job &job, WorkerPool::Runner runner) {
  const bool isCaller = runner == WorkerPool::Runner::Caller;
  CodeGenerator::Owned own;
  if (!isCaller) {
    Result<CodeGenerator::Owned> taken = CodeGenerator::take(target, passes);
    if (!taken) {
      job.status = taken.status();
      return;
    }
    own = std::move(*taken);
  }
  CodeGenerator &with = isCaller ? *generator : *own;
  StopWatch watch;
  with.optimise(*job.module);
  // What workers do meanwhile is nobody's time.
  if (isCaller)
    spent.optimise += watch.lap();
  with.generate(*job.module, llvm::CodeGenFileType::ObjectFile, job.object);
  job.module.reset();
  job.context.reset();
}

Result<std::vector<artifact::CodeBlob>> ObjectEmitter::finish() {
  StopWatch watch;
  const auto tell = [this](size_t done, size_t total) {
    if (options.progress)
      options.progress("generate", done, total);
  };
  if (!pool.finish(tell, options.isCancelled))
    return cancelled();
  // Waiting for the workers is part of it.
  spent.generate = watch.lap() - spent.optimise;
  std::vector<llvm::StringRef> objects;
  for (const Job &job : jobs) {
    ZYX_RETURN_IF_ERROR(job.status);
    objects.emplace_back(job.object.data(), job.object.size());
    ZYX_RETURN_IF_ERROR(checkUndefinedSymbols(objects.back()));
  }
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> shared, linkSharedObject(objects));
  spent.link = watch.lap();
  return std::vector<artifact::CodeBlob>{{"elf-so", std::move(shared)}};
}

std::vector<EmitStage> ObjectEmitter::stages() const {
  return {{"translate", spent.translate, /*isInFinish=*/false},
          {"optimise", spent.optimise},
          {"generate", spent.generate},
          {"link", spent.link}};
}
