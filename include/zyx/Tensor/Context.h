//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_CONTEXT_H
#define ZYX_TENSOR_CONTEXT_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

namespace zyx {

struct Config;

namespace runtime {
class Device;
} // namespace runtime

namespace detail {
class DeviceScopes;
class State;
} // namespace detail

/// Where values go that leave the memory of a device which is full: those that were used least recently, and that no
/// call and no run in flight needs. They come back when they are used.
enum class Spill : uint8_t {
  /// Nowhere: what does not fit is refused.
  None,
  /// To memory of the host, besides that of its devices.
  Host,
  /// To files without names.
  Disk
};

/// What is not said here is what the variables of the environment say, or else the user's file
/// (Config; tools.md has the keys).
struct ContextOptions {
  /// Where tensors live and are computed: "cpu", "c", "cuda", "cuda:1", or "reference" (the interpreter). Where nobody
  /// says it: the fastest device that is present and on, or "cpu" in a context with `devices`.
  std::optional<std::string> device = std::nullopt;
  /// Threads of devices of the host; 0 = as many as the process may use processors.
  std::optional<unsigned> threads = std::nullopt;
  /// Bytes of each device's memory, by its name or, without a number behind it, its kind; 0 = all.
  std::map<std::string, uint64_t> memoryLimits = {};
  /// What is done where values together need more than a device's memory.
  Spill spill = Spill::None;
  /// Of Spill::Disk; "" is TMPDIR, or /tmp.
  std::string spillFolder = "";
  /// Bytes that may have left at once; 0 = all of the host's memory, or of the file system.
  uint64_t spillLimit = 0;
  /// The folder in which compiled programs are kept for later processes; "" is none.
  std::optional<std::string> cacheFolder = std::nullopt;
  /// Whether operands on two devices are brought to that of the first one; else they are refused.
  std::optional<bool> implicitCopies = std::nullopt;
  /// Whether compilations measure the schedules that kernels may have, and take the best ones (docs/tuning.md).
  std::optional<bool> tune = std::nullopt;
  /// Bytes that compiled programs hold for later runs: their code and constants, and what they made of weights. Those
  /// that were used last stay.
  std::optional<uint64_t> programCacheSize = std::nullopt;
  /// Whether a line on the standard error says so where programs of one structure are compiled again and again.
  std::optional<bool> recompileNotice = std::nullopt;
  /// Devices of the program's own, by names such as "cpu:1": programs for them are compiled for the kind
  /// before the colon.
  std::map<std::string, std::shared_ptr<runtime::Device>> devices = {};
  /// Whether operands of two dtypes of one kind become the smallest one that holds both (docs/tensors.md,
  /// "Dtypes"); else they are refused.
  bool promote = true;
  /// Whether compilations of more than half a second are shown, where the standard error is a terminal.
  bool progress = true;
};

/// What a context did so far, and what it holds.
struct ContextCounters {
  /// Programs that were run, and of them those that were compiled before in this context.
  uint64_t runs = 0, hits = 0;
  /// Programs that were compiled, or found in the folder of compiled programs; those that are held now, the bytes of
  /// their code and constants, and how many were let go because all together held too much.
  uint64_t compiles = 0, programs = 0, codeBytes = 0, evicted = 0;
  /// Kernels that were launched.
  uint64_t launches = 0;
  /// Nodes that some tensor needs, and nodes of the graph with those that wait to be removed.
  uint64_t liveNodes = 0, nodes = 0;
  /// Bytes of the values of tensors; of what programs hold between runs, the arenas that they share and what they made
  /// of weights; and of the memory of all devices, at the most.
  uint64_t valueBytes = 0, programBytes = 0, peakBytes = 0;
  /// Of the run that had the most: bytes of inputs, outputs, temporaries and what is kept; and the least
  /// with which its commands could have done in their order, where inputs stay, outputs are there from
  /// their first write on, and temporaries from the first to the last use. Outputs in the memory of inputs are no
  /// bytes of their own.
  uint64_t runBytes = 0, leastRunBytes = 0;
  /// Values that have left the memory of a device that was full, and their bytes; and those that came back
  /// (ContextOptions::spill).
  uint64_t spills = 0, spilledBytes = 0, spillReturns = 0;
  /// Donated arguments (JitOptions) whose memory a result took, and those that kept it, because no
  /// result has their type or somebody else needs them.
  uint64_t taken = 0, notTaken = 0;
};

/// What tensors belong to: a graph of which they are nodes, devices, and the programs that were
/// compiled for them. Copies are handles of one context; it ends with the last of them and of its
/// tensors. Calls from several threads are safe, and wait for each other.
class Context {
public:
  /// Throws where there is no such device, or where the configuration is wrong. What is unknown in it is
  /// warned of on the standard error, once.
  explicit Context(ContextOptions options = {}, std::source_location where = std::source_location::current());

  const ContextOptions &options() const;
  /// On which new tensors of this thread lie: that of the DeviceScope of this context that began last, else the
  /// context's own.
  std::string device(std::source_location where = std::source_location::current()) const;
  /// What applies: the user's configuration, with these options.
  const Config &config() const;
  ContextCounters counters() const;
  /// Waits until no run is in flight. Throws the first failure since the last time, of which reading what
  /// should have been computed tells, too.
  void sync(std::source_location where = std::source_location::current()) const;

  /// The context of tensors that are made without naming one: that of the innermost ContextScope of
  /// this thread, else one of the process with default options.
  static Context current(std::source_location where = std::source_location::current());

  /// Whether both are one: copies of a context are that context.
  bool operator==(const Context &) const = default;

private:
  friend class detail::State;
  friend class Tensor;
  friend class Profile;
  friend class Tape;
  friend class ContextScope;
  friend class DeviceScope;
  explicit Context(std::shared_ptr<detail::State> state) : state(std::move(state)) {}
  std::shared_ptr<detail::State> state;
};

/// While it lives, tensors of this thread are made in that context. Scopes end in the opposite order.
class ContextScope {
public:
  explicit ContextScope(Context context);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  std::shared_ptr<detail::State> before;
};

/// While it lives, tensors that this thread makes in the context of elements lie on that device, and what
/// is made of constants alone is computed there. Of several the one that began last says where. They may end in any
/// order, as those of coroutines do, and in any thread.
class DeviceScope {
public:
  /// Throws where there is no such device.
  explicit DeviceScope(const std::string &device, Context context = Context::current(),
                       std::source_location where = std::source_location::current());
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

  /// Whether it began in the thread that asks.
  bool isOfThisThread() const;

private:
  /// Those of the thread in which it began, which may be over.
  std::shared_ptr<detail::DeviceScopes> scopes;
  uint64_t number;
};

} // namespace zyx

#endif // ZYX_TENSOR_CONTEXT_H
