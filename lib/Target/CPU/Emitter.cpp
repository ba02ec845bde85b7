//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/CPU/CPU.h"

#include "Backend.h"
#include "Link.h"

#include "zyx/Base/Processors.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>

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

/// One module on its way to an object.
struct Job {
  // In this order: the module is in the context.
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
  llvm::SmallVector<char, 0> object;
  bool isDone = false;
};

} // namespace

struct Emitter::Impl {
  Impl(const TargetInfo &target, const CPUOptions &options, size_t most, Backend::Owned backend)
      : target(target), options(options), maxHelpers(most > 1 ? std::min<size_t>(usableProcessors(), most) - 1 : 0),
        backend(std::move(backend)) {}
  ~Impl() {
    {
      std::lock_guard lock(mutex);
      isStopping = true;
      changed.notify_all();
    }
    for (pthread_t helper : helpers)
      ::pthread_join(helper, nullptr);
  }

  /// The first that nobody has begun; null where there is none.
  Job *next() { return begun == jobs.size() ? nullptr : &jobs[begun++]; }

  static void compile(Job &job, Backend &with, CPUTimes &times) {
    StopWatch watch;
    with.optimise(*job.module);
    times.optimise += watch.lap();
    with.generate(*job.module, llvm::CodeGenFileType::ObjectFile, job.object);
    job.module.reset();
    job.context.reset();
    times.generate += watch.lap();
  }

  void finishJob(Job &job) {
    std::lock_guard lock(mutex);
    job.isDone = true;
    ++done;
    changed.notify_all();
  }

  void help() {
    // The first of its kind was made, so this one is too.
    Result<Backend::Owned> own = Backend::take(target, options.passes);
    if (!own)
      return;
    CPUTimes unseen;
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return isStopping || begun < jobs.size(); });
      if (isStopping)
        return;
      Job *job = next();
      lock.unlock();
      compile(*job, **own, unseen);
      finishJob(*job);
      lock.lock();
    }
  }

  /// A helper for a module more, unless there are enough. Where the system gives no thread, the
  /// caller does the work.
  void startHelper() {
    if (helpers.size() == maxHelpers)
      return;
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    // What a main thread usually has: instruction selection recurses.
    ::pthread_attr_setstacksize(&attributes, size_t(8) << 20);
    pthread_t thread;
    if (::pthread_create(
            &thread, &attributes,
            [](void *self) -> void * {
              static_cast<Impl *>(self)->help();
              return nullptr;
            },
            this) == 0)
      helpers.push_back(thread);
    ::pthread_attr_destroy(&attributes);
  }

  const TargetInfo target;
  const CPUOptions options;
  const size_t maxHelpers;
  /// Of the calling thread.
  Backend::Owned backend;
  CPUTimes times;
  std::vector<pthread_t> helpers;

  std::mutex mutex;
  std::condition_variable changed;
  /// A deque, because jobs stay where they are while others come.
  std::deque<Job> jobs;
  size_t begun = 0, done = 0;
  bool isStopping = false;
};

Emitter::Emitter(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Emitter::~Emitter() = default;

const CPUTimes &Emitter::times() const { return impl->times; }

Result<std::unique_ptr<Emitter>> Emitter::create(const TargetInfo &target, const CPUOptions &options, size_t most) {
  StopWatch watch;
  ZYX_ASSIGN_OR_RETURN(Backend::Owned backend, Backend::take(target, options.passes));
  auto impl = std::make_unique<Impl>(target, options, most, std::move(backend));
  impl->times.translate = watch.lap();
  return std::unique_ptr<Emitter>(new Emitter(std::move(impl)));
}

Status Emitter::add(mlir::ModuleOp llvmModule) {
  StopWatch watch;
  Job job;
  ZYX_ASSIGN_OR_RETURN(job.module, impl->backend->translate(llvmModule, *job.context));
  {
    std::lock_guard lock(impl->mutex);
    impl->jobs.push_back(std::move(job));
    impl->changed.notify_all();
  }
  impl->startHelper();
  impl->times.translate += watch.lap();
  return Status::ok();
}

Result<std::vector<std::byte>> Emitter::finish() {
  const size_t total = impl->jobs.size();
  size_t told = 0;
  StopWatch watch;
  for (bool isOver = false; !isOver;) {
    Job *job = nullptr;
    size_t done = 0;
    {
      std::unique_lock lock(impl->mutex);
      job = impl->next();
      if (!job)
        impl->changed.wait(lock, [&] { return impl->done > told || impl->done == total; });
      done = impl->done;
      isOver = !job && done == total;
    }
    // Waiting for the others is part of it.
    impl->times.generate += watch.lap();
    for (; told < done; ++told)
      if (impl->options.progress)
        impl->options.progress(told + 1, total);
    if (job) {
      Impl::compile(*job, *impl->backend, impl->times);
      impl->finishJob(*job);
      watch.lap();
    }
  }
  std::vector<llvm::StringRef> objects;
  for (const Job &job : impl->jobs) {
    objects.emplace_back(job.object.data(), job.object.size());
    ZYX_RETURN_IF_ERROR(checkUndefinedSymbols(objects.back()));
  }
  Result<std::vector<std::byte>> shared = linkSharedObject(objects);
  impl->times.link = watch.lap();
  return shared;
}
