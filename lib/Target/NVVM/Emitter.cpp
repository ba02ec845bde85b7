//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/File.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Target/Info/Toolchain.h"
#include "zyx/Target/NVVM/NVVM.h"

#include <chrono>
#include <span>

using namespace zyx;
using namespace zyx::target;

/// Of what the assembler prints.
static constexpr size_t maxMessages = 4000;

Result<std::vector<std::byte>> target::assemble(std::string_view ptx, const TargetInfo &target,
                                                const std::string &assembler) {
  ZYX_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::createInMemory(ptx.size()));
  ZYX_ASSIGN_OR_RETURN(std::string source, folder.write("kernels.ptx", std::as_bytes(std::span(ptx))));
  const std::string cubin = folder.file("kernels.cubin");
  ChildLimits limits;
  limits.environment = {"TMPDIR=" + folder.file("")};
  ZYX_ASSIGN_OR_RETURN(ChildResult ran, runChild({assembler, "-arch=" + target.cpu, "-o", cubin, source}, {}, limits));
  if (ran.timedOut || ran.signal != 0 || ran.exitCode != 0)
    return Status::compileFailed("the assembler '" + assembler +
                                 "' refused the kernels: " + ran.messages.substr(0, maxMessages));
  return readFile(cubin);
}

PTXEmitter::PTXEmitter(const TargetInfo &target, EmitOptions options, size_t most)
    : target(target), options(std::move(options)),
      assembler(target.isAssembledByDriver ? "" : findProgram(ptxasProgram)), pool(most) {}

void PTXEmitter::compile(Job &job) const {
  const std::string ptx = job.compilation.generate(target, /*scalarise=*/true);
  if (assembler.empty()) {
    const auto bytes = std::as_bytes(std::span(ptx));
    job.code.assign(bytes.begin(), bytes.end());
    return;
  }
  Result<std::vector<std::byte>> cubin = assemble(ptx, target, assembler);
  if (cubin)
    job.code = std::move(*cubin);
  else
    job.status = cubin.status();
}

Status PTXEmitter::add(mlir::ModuleOp llvmModule) {
  Job &job = jobs.emplace_back();
  ZYX_RETURN_IF_ERROR(job.compilation.translate(llvmModule, target));
  pool.add([this, &job](WorkerPool::Runner) { compile(job); });
  return Status::ok();
}

Result<std::vector<artifact::CodeBlob>> PTXEmitter::finish() {
  const auto begin = std::chrono::steady_clock::now();
  pool.finish([this](size_t done, size_t total) {
    if (options.progress)
      options.progress("generate", done, total);
  });
  milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::vector<artifact::CodeBlob> code;
  for (Job &job : jobs) {
    ZYX_RETURN_IF_ERROR(job.status);
    code.push_back({std::string(keptFormat()), job.code});
  }
  return code;
}

Status PTXEmitter::addKept(std::vector<std::byte> code) {
  Job &job = jobs.emplace_back();
  job.code = std::move(code);
  job.isKept = true;
  return Status::ok();
}

std::vector<std::vector<std::byte>> PTXEmitter::takeKept() {
  std::vector<std::vector<std::byte>> codes;
  for (Job &job : jobs)
    if (!job.isKept)
      codes.push_back(std::move(job.code));
  return codes;
}
