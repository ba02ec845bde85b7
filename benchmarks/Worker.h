//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BENCHMARKS_WORKER_H
#define ZYX_BENCHMARKS_WORKER_H

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace zyx::bench {

/// Memory of a tensor, aligned to 64 bytes.
class Memory {
public:
  explicit Memory(size_t size) : bytes(size), memory(std::aligned_alloc(64, (size + 63) / 64 * 64), std::free) {}
  void *data() const { return memory.get(); }
  size_t size() const { return bytes; }
  template <typename T> T *as() const { return static_cast<T *>(memory.get()); }

private:
  size_t bytes;
  std::shared_ptr<void> memory;
};

/// What is asked of a contender: `arguments` are the workload's, by kind (see workloads.py).
struct Task {
  std::string kind, variant;
  nlohmann::json arguments;
  /// The path of the program's text; only zyx runs it.
  std::string program;
  std::vector<Memory> inputs;
  Memory output;
};

/// Computes the whole workload and returns when it is done.
using Call = std::function<void()>;

/// Thrown by contenders that have no such workload; the driver leaves them out there.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Contender {
  std::string version;
  std::function<Call(const Task &)> prepare;
};

/// zyx itself; `details` of the last program that was prepared: kernels, compile time.
Contender zyxContender(unsigned threads, nlohmann::json &details);
/// `library` is a path for dlopen, `prefix` stands before its cblas functions.
Contender blasContender(const std::string &library, const std::string &prefix);
Contender onednnContender();
/// Forks of the runtime's pool that do next to nothing.
Contender poolContender(unsigned threads);
/// STREAM's triad with as many bytes of traffic as the task, by plain and by streaming stores.
Contender triadContender(unsigned threads);

} // namespace zyx::bench

#endif // ZYX_BENCHMARKS_WORKER_H
