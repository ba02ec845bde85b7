//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Backend.h"

#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/Config.h"
#include "zyx/Base/File.h"
#include "zyx/Base/Processors.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Target/NVVM/NVVM.h"

#include "llvm/Support/Program.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <pthread.h>
#include <span>

using namespace zyx;
using namespace zyx::target;

/// Of what the assembler prints.
static constexpr size_t maxMessages = 4000;

std::string target::findAssembler() {
  if (const char *named = zyxVariable("PTXAS"))
    return named;
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return "";
}

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

struct PTXEmitter::Impl {
  struct Job {
    PTXCompilation compilation;
    std::vector<std::byte> code;
    Status status;
  };

  explicit Impl(const TargetInfo &target)
      : target(target), assembler(target.isAssembledByDriver ? "" : findAssembler()) {}

  void run(Job &job) {
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

  void work() {
    for (size_t i = next++; i < jobs.size(); i = next++)
      run(jobs[i]);
  }

  const TargetInfo target;
  const std::string assembler;
  std::deque<Job> jobs;
  std::atomic<size_t> next = 0;
};

PTXEmitter::PTXEmitter(const TargetInfo &target) : impl(std::make_unique<Impl>(target)) {}
PTXEmitter::~PTXEmitter() = default;

const char *PTXEmitter::format() const { return impl->assembler.empty() ? "ptx" : "cubin"; }

Status PTXEmitter::add(mlir::ModuleOp llvmModule) {
  return impl->jobs.emplace_back().compilation.translate(llvmModule, impl->target);
}

Result<std::vector<std::vector<std::byte>>> PTXEmitter::finish() {
  const size_t most = std::min<size_t>(usableProcessors(), impl->jobs.size());
  std::vector<pthread_t> helpers;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  // What a main thread usually has: instruction selection recurses.
  ::pthread_attr_setstacksize(&attributes, size_t(8) << 20);
  auto help = [](void *self) -> void * {
    static_cast<Impl *>(self)->work();
    return nullptr;
  };
  // Where the system gives no thread, the caller does the work.
  for (pthread_t helper; helpers.size() + 1 < most && ::pthread_create(&helper, &attributes, help, impl.get()) == 0;)
    helpers.push_back(helper);
  ::pthread_attr_destroy(&attributes);
  impl->work();
  for (pthread_t helper : helpers)
    ::pthread_join(helper, nullptr);
  std::vector<std::vector<std::byte>> code;
  for (Impl::Job &job : impl->jobs) {
    ZYX_RETURN_IF_ERROR(job.status);
    code.push_back(std::move(job.code));
  }
  return code;
}
