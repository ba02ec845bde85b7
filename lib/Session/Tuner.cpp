//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tuner.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Processors.h"
#include "zyx/Base/RandomTensor.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Runtime/ThreadPool.h"
#include "zyx/Session/Agreement.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <optional>

using namespace zyx;
using namespace zyx::session;
using runtime::Buffer;

namespace {

/// A sample is of so many nanoseconds or more, or of so many runs.
constexpr uint64_t sampleNanoseconds = 1'000'000;
constexpr unsigned mostRuns = 100;
/// Samples of each choice; of one that is slower than the best by this factor after the first few, no more; of
/// kernels that take longer than that, no more either.
constexpr unsigned rounds = 11, fewRounds = 3;
constexpr double hopeless = 1.2;
constexpr uint64_t slowNanoseconds = 50'000'000;
/// What is taken without measuring stays where another choice is not better by as much.
constexpr double worthIt = 0.98;
/// Random elements that are repeated to fill an input: a prime, so that no two tiles are alike.
constexpr int64_t randomElements = 1'048'583;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A quarter of the values is below, and a quarter is above.
std::pair<double, double> quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 4], values[values.size() - 1 - values.size() / 4]};
}

std::string microseconds(double nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", nanoseconds / 1e3);
  return text;
}

/// As the tests make them.
Result<std::vector<std::byte>> makeInput(const TensorType &type, uint64_t seed) {
  ZYX_ASSIGN_OR_RETURN(const int64_t count, numElements(type.shape));
  ZYX_ASSIGN_OR_RETURN(HostTensor piece, randomTensor({type.dtype, {std::min(count, randomElements)}}, seed));
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  for (size_t at = 0; at < bytes.size(); at += piece.data.size())
    std::copy_n(piece.data.begin(), std::min(piece.data.size(), bytes.size() - at),
                bytes.begin() + static_cast<ptrdiff_t>(at));
  return bytes;
}

/// Products that an element of the results is the sum of, at most, as far as the launch counts them.
double termsOf(const artifact::Artifact &artifact) {
  double flops = 0, elements = 1;
  for (const artifact::Command &command : artifact.commands)
    if (const auto *launch = std::get_if<artifact::Launch>(&command.action))
      flops = std::max(flops, static_cast<double>(launch->flops));
  for (const artifact::Argument &output : artifact.outputs)
    elements = std::max(elements, static_cast<double>(*numElements(output.type.shape)));
  return std::max(flops / 2 / elements, 1.0);
}

} // namespace

/// A schedule that a kernel may have.
struct Tuner::Candidate {
  std::string text;
  double cost = 0;
  std::optional<Result<Compiled>> compiled;
  std::unique_ptr<runtime::Executor> executor;
  /// Why it is left out; empty where it is not.
  std::string refused;
  /// Nanoseconds of a run, a number for each sample.
  std::vector<double> samples;
  unsigned runs = 1;

  double time() const { return median(samples); }
  /// That it is better than another one is no accident.
  bool beats(const Candidate &other) const {
    return time() < worthIt * other.time() && quartiles(samples).second < quartiles(other.samples).first;
  }
};

struct Tuner::Kernel {
  std::string key, name;
  std::vector<Candidate> candidates;
  /// Of the program that is the kernel alone; all candidates have them in common.
  std::vector<std::shared_ptr<Buffer>> inputs, outputs;
};

/// Side by side, on as many threads as there are processors: each compilation has one kernel.
void Tuner::compileAll(const graph::Graph &graph, std::span<Kernel> kernels) const {
  std::vector<std::pair<const Kernel *, Candidate *>> jobs;
  for (Kernel &kernel : kernels)
    for (Candidate &candidate : kernel.candidates)
      jobs.push_back({&kernel, &candidate});
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      const auto [kernel, candidate] = jobs[i];
      CompileOptions own = options;
      own.onlyKernel = kernel->key;
      own.measured = kernel->key + " " + candidate->text;
      candidate->compiled = compiler.compile(graph, own);
    }
  };
  if (jobs.empty())
    return;
  // Where the system gives no threads, this one does all of it.
  const Result<std::shared_ptr<runtime::ThreadPool>> threads =
      runtime::createThreadPool({.threads = static_cast<unsigned>(std::min<size_t>(usableProcessors(), jobs.size()))});
  if (!threads)
    return work();
  (*threads)->run((*threads)->threads(), [](void *all, unsigned) { (*static_cast<decltype(work) *>(all))(); }, &work);
}

/// Inputs, outputs, and the programs of all candidates that can be loaded.
Status Tuner::prepare(Kernel &kernel) {
  for (Candidate &candidate : kernel.candidates) {
    auto load = [&]() -> Status {
      ZYX_RETURN_IF_ERROR(candidate.compiled->status());
      ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, artifact::Artifact::deserialize((*candidate.compiled)->output));
      ZYX_ASSIGN_OR_RETURN(candidate.executor, runtime::Executor::create(device, std::move(artifact)));
      return Status::ok();
    };
    if (Status loaded = load(); !loaded.isOk())
      candidate.refused = loaded.message();
  }
  const Candidate &first = kernel.candidates.front();
  if (!first.refused.empty())
    return Status::unsupported(first.refused);
  const artifact::Artifact &artifact = first.executor->artifact();
  for (const artifact::Argument &input : artifact.inputs) {
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, makeInput(input.type, kernel.inputs.size() + 1));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, Buffer::allocate(device->pool(), bytes.size()));
    ZYX_RETURN_IF_ERROR(buffer->write(bytes));
    kernel.inputs.push_back(std::move(buffer));
  }
  for (const artifact::Argument &output : artifact.outputs) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer,
                         Buffer::allocate(device->pool(), static_cast<uint64_t>(*byteSize(output.type))));
    kernel.outputs.push_back(std::move(buffer));
  }
  for (Candidate &candidate : kernel.candidates) {
    if (!candidate.refused.empty())
      continue;
    for (size_t i = 0; i < kernel.inputs.size(); ++i)
      ZYX_RETURN_IF_ERROR(candidate.executor->bindInput(i, kernel.inputs[i]));
    for (size_t i = 0; i < kernel.outputs.size(); ++i)
      ZYX_RETURN_IF_ERROR(candidate.executor->bindOutput(i, kernel.outputs[i]));
  }
  return Status::ok();
}

/// Runs each once: all must compute what the first one does.
Status Tuner::check(Kernel &kernel) {
  const artifact::Artifact &artifact = kernel.candidates.front().executor->artifact();
  const double terms = termsOf(artifact);
  std::vector<std::vector<std::byte>> expected;
  for (Candidate &candidate : kernel.candidates) {
    if (!candidate.refused.empty())
      continue;
    const bool isFirst = &candidate == &kernel.candidates.front();
    // What a schedule leaves out must not be there from the one before it.
    std::vector<std::vector<std::byte>> results;
    for (const std::shared_ptr<Buffer> &output : kernel.outputs) {
      results.emplace_back(output->size());
      ZYX_RETURN_IF_ERROR(output->write(results.back()));
    }
    if (Status ran = candidate.executor->run(); !ran.isOk()) {
      if (isFirst)
        return ran;
      candidate.refused = ran.message();
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      ZYX_RETURN_IF_ERROR(kernel.outputs[i]->read(results[i]));
      if (isFirst)
        continue;
      const std::string difference = compareResults(artifact.outputs[i].type, expected[i], results[i], terms);
      if (!difference.empty() && candidate.refused.empty())
        candidate.refused = "computes something else: result " + std::to_string(i) + " " + difference;
    }
    if (isFirst)
      expected = std::move(results);
  }
  return Status::ok();
}

/// In turns, so that what changes meanwhile changes for all.
void Tuner::measure(Kernel &kernel) {
  std::vector<Candidate *> left;
  for (Candidate &candidate : kernel.candidates)
    if (candidate.refused.empty())
      left.push_back(&candidate);
  auto sample = [&](Candidate &candidate) -> double {
    Result<runtime::Measurement> taken = candidate.executor->measure(candidate.runs);
    if (!taken)
      candidate.refused = taken.status().message();
    return taken ? static_cast<double>(taken->deviceNanoseconds) / candidate.runs : 0;
  };
  auto dropRefused = [&] { std::erase_if(left, [](const Candidate *each) { return !each->refused.empty(); }); };
  double longest = 0;
  for (Candidate *candidate : left) {
    const double once = std::max(sample(*candidate), 1.0);
    candidate->runs = static_cast<unsigned>(
        std::clamp(static_cast<double>(sampleNanoseconds) / once, 1.0, static_cast<double>(mostRuns)));
    longest = std::max(longest, once);
  }
  dropRefused();
  const unsigned most = longest > static_cast<double>(slowNanoseconds) ? fewRounds : rounds;
  for (unsigned round = 0; round < most && !left.empty(); ++round) {
    for (size_t i = 0; i < left.size(); ++i) {
      Candidate &candidate = *left[(i + round) % left.size()];
      candidate.samples.push_back(sample(candidate));
    }
    dropRefused();
    if (round + 1 != fewRounds || left.empty())
      continue;
    const double least = (*std::ranges::min_element(left, {}, &Candidate::time))->time();
    // The first one is what all are compared with.
    std::erase_if(left, [&](const Candidate *each) {
      return each != &kernel.candidates.front() && each->time() > hopeless * least;
    });
  }
}

std::optional<MeasuredChoice> Tuner::choose(Kernel &kernel) {
  const Candidate &first = kernel.candidates.front();
  if (!first.refused.empty() || first.samples.empty())
    return std::nullopt;
  const Candidate *best = &first;
  for (const Candidate &candidate : kernel.candidates)
    if (candidate.refused.empty() && !candidate.samples.empty() && candidate.beats(first) &&
        candidate.time() < best->time())
      best = &candidate;
  report(kernel, *best);
  return MeasuredChoice{best->text, static_cast<uint64_t>(best->time()), static_cast<uint64_t>(first.time())};
}

void Tuner::report(const Kernel &kernel, const Candidate &best) {
  const Candidate &first = kernel.candidates.front();
  remarks += kernel.name + ": measured on " + device->name() + ": " + best.text + " takes " +
             microseconds(best.time()) + " us";
  if (&best == &first)
    remarks += ", and is taken without measuring\n";
  else
    remarks += ", " + first.text + " without measuring " + microseconds(first.time()) + " us\n";
  for (const Candidate &candidate : kernel.candidates) {
    remarks += "  " + candidate.text + ": ";
    if (!candidate.refused.empty()) {
      remarks += "left out: " + candidate.refused + "\n";
      continue;
    }
    const auto [low, high] = quartiles(candidate.samples);
    remarks += microseconds(candidate.time()) + " us, " + microseconds(low) + " to " + microseconds(high) + " in " +
               std::to_string(candidate.samples.size()) + " samples";
    if (candidate.cost > 0)
      remarks += "; estimated " + std::to_string(std::llround(candidate.cost)) + " cycles";
    remarks += "\n";
  }
}

Result<MeasuredChoices> Tuner::tune(const graph::Graph &graph, const MeasuredChoices &known) {
  CompileOptions listing = options;
  listing.listChoices = mostChoices;
  ZYX_ASSIGN_OR_RETURN(Compiled listed, compiler.compile(graph, listing));
  std::vector<Kernel> kernels;
  for (KernelChoice &choice : listed.choices) {
    if (known.contains(choice.key))
      continue;
    auto kernel = std::ranges::find(kernels, choice.key, &Kernel::key);
    if (kernel == kernels.end()) {
      kernels.push_back({choice.key, choice.kernel, {}, {}, {}});
      kernel = kernels.end() - 1;
    }
    Candidate &candidate = kernel->candidates.emplace_back();
    candidate.text = std::move(choice.text);
    candidate.cost = choice.cost;
  }
  std::erase_if(kernels, [](const Kernel &kernel) { return kernel.candidates.size() < 2; });
  compileAll(graph, kernels);
  MeasuredChoices chosen;
  for (Kernel &kernel : kernels) {
    Status status = prepare(kernel);
    if (status.isOk())
      status = check(kernel);
    if (status.isOk()) {
      measure(kernel);
      if (std::optional<MeasuredChoice> best = choose(kernel))
        chosen[kernel.key] = std::move(*best);
      else
        status = Status::unsupported(kernel.candidates.front().refused);
    }
    if (!status.isOk()) {
      remarks += kernel.name + ": is not measured: " + status.message() + "\n";
    }
    // The next one needs the memory.
    kernel = Kernel();
  }
  return chosen;
}
