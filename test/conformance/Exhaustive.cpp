//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Exhaustive.h"

#include "Bounds.h"
#include "Compare.h"
#include "zyx/Reference/Reference.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace zyx::conformance {

namespace {

constexpr int64_t chunk = int64_t(1) << 22, numChunks = (int64_t(1) << 32) / chunk;

/// What a process has found; crosses a pipe as it is.
struct Tally {
  int64_t chunks = 0, differ = 0, wrong = 0, ulps = 0;
  uint32_t worst = 0;
  void add(const Tally &other) {
    chunks += other.chunks;
    differ += other.differ;
    wrong += other.wrong;
    if (other.ulps > ulps) {
      ulps = other.ulps;
      worst = other.worst;
    }
  }
};

class Function {
public:
  explicit Function(UnaryKind kind) {
    Builder builder(program, std::string(toString(kind)));
    HostTensor values{{DType::F32, {chunk}}, {}};
    values.data.resize(static_cast<size_t>(chunk) * 4);
    const NodeId y = builder.unary(kind, builder.input(std::move(values)));
    program.graph.outputs.push_back({"y", y});
    Bounds bounds(builder);
    allowed = ulpFunction(builder, bounds, y).empty() ? 0 : allowedUlps(DType::F32);
  }

  Status run(Device &device, int64_t number, Tally &tally);

private:
  Program program;
  int64_t allowed = 0;
};

} // namespace

Status Function::run(Device &device, int64_t number, Tally &tally) {
  auto *bits = reinterpret_cast<uint32_t *>(program.tensors[0].data.data());
  for (int64_t i = 0; i < chunk; ++i)
    bits[i] = static_cast<uint32_t>(number * chunk + i);
  ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> got, device.run(program.graph, program.tensors));
  ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> want, reference::evaluate(program.graph, program.tensors));
  for (int64_t i = 0; i < chunk; ++i) {
    const std::byte *g = got[0].data.data() + i * 4, *w = want[0].data.data() + i * 4;
    if (std::memcmp(g, w, 4) == 0)
      continue;
    // Two NaNs, or zeros of two signs, which only a function that is compared by ULP may mix up.
    const int64_t distance = ulpDistance(DType::F32, g, w);
    float value;
    std::memcpy(&value, g, 4);
    if (value != value && distance == 0)
      continue;
    ++tally.differ;
    tally.wrong += distance == 0 && allowed == 0;
    tally.wrong += distance > allowed;
    if (distance > tally.ulps) {
      tally.ulps = distance;
      tally.worst = bits[i];
    }
  }
  ++tally.chunks;
  return Status::ok();
}

static Tally runShare(UnaryKind kind, Device &device, int64_t first, int64_t step) {
  Function function(kind);
  Tally tally;
  for (int64_t number = first; number < numChunks; number += step)
    if (const Status status = function.run(device, number, tally); !status.isOk()) {
      std::printf("%s\n", status.toString().c_str());
      break;
    }
  return tally;
}

static Tally runFunction(UnaryKind kind, const std::function<std::unique_ptr<Device>()> &make, int jobs) {
  std::fflush(stdout);
  std::vector<std::pair<pid_t, int>> children;
  for (int job = 0; job < jobs; ++job) {
    int ends[2];
    if (pipe(ends) != 0)
      break;
    const pid_t process = fork();
    if (process == 0) {
      const Tally tally = runShare(kind, *make(), job, jobs);
      std::fflush(stdout);
      _exit(write(ends[1], &tally, sizeof(tally)) == sizeof(tally) ? 0 : 3);
    }
    close(ends[1]);
    children.emplace_back(process, ends[0]);
  }
  Tally sum;
  for (const auto &[process, file] : children) {
    Tally tally;
    if (read(file, &tally, sizeof(tally)) == sizeof(tally))
      sum.add(tally);
    close(file);
    waitpid(process, nullptr, 0);
  }
  return sum;
}

bool runExhaustive(const std::function<std::unique_ptr<Device>()> &make, const std::vector<std::string> &filters,
                   int jobs) {
  bool good = true, any = false;
  const auto run = [&](UnaryKind kind, const std::string &name) {
    const auto holds = [&](const std::string &filter) { return name.find(filter) != std::string::npos; };
    const bool wanted = filters.empty() || std::any_of(filters.begin(), filters.end(), holds);
    if (kind == UnaryKind::Not || !wanted)
      return;
    any = true;
    const Tally tally = runFunction(kind, make, jobs);
    const bool whole = tally.chunks == numChunks;
    std::printf("%-16s %" PRId64 " values: %" PRId64 " differ, at most %" PRId64 " ULP (at 0x%08" PRIx32 "), %" PRId64
                " wrong%s\n",
                name.c_str(), tally.chunks * chunk, tally.differ, tally.ulps, tally.worst, tally.wrong,
                whole ? "" : "; NOT all values");
    std::fflush(stdout);
    good &= whole && tally.wrong == 0;
  };
#define ZYX_GRAPH_UNARY(Name, name) run(UnaryKind::Name, "unary." #name ".f32");
#include "zyx/Graph/UnaryKinds.inc"
  if (!any)
    std::fprintf(stderr, "zyx-conformance: no unary function of f32 is named by a filter\n");
  return good && any;
}

} // namespace zyx::conformance
