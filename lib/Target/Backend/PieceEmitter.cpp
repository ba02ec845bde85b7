//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/PieceEmitter.h"

#include <chrono>

using namespace zyx;
using namespace zyx::target;

PieceEmitter::PieceEmitter(std::string format, Translate translate, EmitOptions options, size_t most)
    : format(std::move(format)), translate(std::move(translate)), options(std::move(options)), pool(most) {}

Status PieceEmitter::add(mlir::ModuleOp lowered) {
  Job &job = jobs.emplace_back();
  ZYX_ASSIGN_OR_RETURN(job.compile, translate(lowered));
  pool.add([&job](WorkerPool::Runner) {
    Result<Code> made = job.compile();
    if (made)
      job.code = std::move(*made);
    else
      job.status = made.status();
    // With what it owns: a program's modules are not all there at once.
    job.compile = nullptr;
  });
  return Status::ok();
}

Result<std::vector<artifact::CodeBlob>> PieceEmitter::finish() {
  const auto begin = std::chrono::steady_clock::now();
  const auto tell = [this](size_t done, size_t total) {
    if (options.progress)
      options.progress("generate", done, total);
  };
  if (!pool.finish(tell, options.isCancelled))
    return cancelled();
  milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::vector<artifact::CodeBlob> code;
  for (const Job &job : jobs) {
    ZYX_RETURN_IF_ERROR(job.status);
    code.push_back({format, job.code});
  }
  return code;
}

Status PieceEmitter::addKept(Code code) {
  Job &job = jobs.emplace_back();
  job.code = std::move(code);
  job.isKept = true;
  return Status::ok();
}

std::vector<PieceEmitter::Code> PieceEmitter::takeKept() {
  std::vector<Code> codes;
  for (Job &job : jobs)
    if (!job.isKept)
      codes.push_back(std::move(job.code));
  return codes;
}
