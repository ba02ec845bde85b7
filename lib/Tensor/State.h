//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a context holds: the graph of its tensors, their values, and compiled programs.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_STATE_H
#define ZYX_LIB_TENSOR_STATE_H

#include "zyx/Base/BlockFormat.h"
#include "zyx/Base/Config.h"
#include "zyx/Base/Forked.h"
#include "zyx/Base/Hash.h"
#include "zyx/Graph/Graph.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Runtime/DiskPool.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Session/Session.h"
#include "zyx/Tensor/DeviceView.h"
#include "zyx/Tensor/Error.h"
#include "zyx/Tensor/HostView.h"
#include "zyx/Tensor/Jit.h"
#include "zyx/Tensor/PendingUpdate.h"
#include "zyx/Tensor/Tape.h"
#include "zyx/Tensor/Tensor.h"

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace zyx::detail {

using graph::NodeId;
using graph::Op;

class ProfileLog;
class ConstantArguments;
class RecompileLog;

/// What a tensor refers to. The slot says which node of the state's graph it is, which changes when the
/// graph is rebuilt.
struct Handle {
  Handle(std::shared_ptr<State> state, uint32_t slot, TensorType type)
      : state(std::move(state)), slot(slot), type(std::move(type)) {}
  ~Handle();
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;

  const std::shared_ptr<State> state;
  const uint32_t slot;
  const TensorType type;
};

/// "reduce add dims [1]".
std::string describeOp(const graph::Node &node);

/// Of a run in flight, shared by all that it should have made.
struct Failure {
  Status status;
  /// Somebody knows of it.
  bool isTold = false;

  Status tell() {
    isTold = true;
    return status;
  }
};

/// The lock of a context. Recursive, because handles that end inside of a call release their nodes.
class ContextMutex {
public:
  /// In a process that was forked since, who holds it may not be there: throws instead of waiting for ever.
  void lock() {
    throwIfError(check(), Place());
    mutex.lock();
  }
  void unlock() { mutex.unlock(); }
  /// The same for who has a place to tell, or may not throw.
  Status check() const { return mark.check(); }
  bool isForked() const { return mark.isForked(); }

private:
  const ForkMark mark;
  std::recursive_mutex mutex;
};

/// The device scopes of a thread that have begun and not ended. Each is an entry of its own, because coroutines of a
/// thread end theirs in any order, and a garbage collector in any thread.
class DeviceScopes {
public:
  static const std::shared_ptr<DeviceScopes> &ofThisThread();

  /// Returns the entry's number.
  uint64_t begin(std::shared_ptr<State> state, uint16_t device);
  void end(uint64_t number);
  /// By the latest entry of this context, or none.
  std::optional<uint16_t> deviceOf(const State &state) const;

private:
  struct Entry {
    uint64_t number;
    std::shared_ptr<State> state;
    /// The device's number there.
    uint16_t device;
  };
  mutable std::mutex mutex;
  uint64_t latest = 0;
  std::vector<Entry> entries;
  /// Of entries. Most threads have none, and each op asks.
  std::atomic<size_t> count = 0;
};

/// One per context; shared by its handles, so that it lives as long as any tensor.
class State : public std::enable_shared_from_this<State> {
public:
  static Result<std::shared_ptr<State>> create(ContextOptions options);
  ~State();
  /// That of new tensors on this thread; throws where none can be made.
  static std::shared_ptr<State> current(const Place &where);
  /// That of the innermost ContextScope of this thread, or none.
  static std::shared_ptr<State> &ofScope();
  static std::shared_ptr<State> of(const Context &context) { return context.state; }

  const ContextOptions options;
  /// That of the user with these options.
  const Config config;

  Result<Tensor> add(Op op, std::span<const Tensor> operands, graph::Attributes attributes, TensorType requested,
                     const Place &where);
  /// A leaf with these elements.
  Result<Tensor> addData(TensorType type, std::span<const std::byte> bytes, const Place &where);
  /// A leaf with these elements, which stay where they are while `owner` lives, or are copied.
  Result<Tensor> addBorrowed(TensorType type, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const Place &where);
  /// A leaf with the bytes of a file, which stay there until a program reads them.
  Result<Tensor> addFile(const std::string &path, uint64_t offset, TensorType type, const Place &where);
  /// The same of a file that is open; failures to read begin with `what`.
  Result<Tensor> addFile(std::shared_ptr<const ReadOnlyFile> file, uint64_t offset, TensorType type, std::string what,
                         const Place &where);
  /// The f32 elements of quantised blocks.
  Result<Tensor> dequantise(const Tensor &blocks, BlockFormat format, const Shape &shape, const Place &where);
  /// A leaf with the value of another tensor.
  Result<Tensor> detach(const Tensor &tensor, const Place &where);
  Result<std::vector<Tensor>> gradient(const Tensor &target, std::span<const Tensor> sources,
                                       const GradientOptions &options, const Place &where);
  /// What the results of a Jit's call are made of, which the graph does not say: the floats behind its arguments.
  struct Derivation {
    std::vector<NodeId> nodes;
    Place where;
  };
  /// Before the call, of its arguments.
  std::shared_ptr<const Derivation> derivationOf(std::span<const Tensor> arguments, const Place &where);
  void setDerivation(std::span<const Tensor> results, const std::shared_ptr<const Derivation> &derivation);
  /// The number of a device, which is opened where it was not.
  Result<uint16_t> openDevice(const std::string &name);
  std::string deviceOf(const Tensor &tensor);
  /// That of new tensors.
  std::string currentDeviceName();
  bool isOfOneDevice() const { return hasOneDevice; }
  /// "f32[3] of 'sub' from file:line".
  std::string describe(const Tensor &tensor);
  /// Whether it depends on arguments that have no values.
  bool isOpen(const Tensor &tensor);
  /// Whether no leaf is behind it.
  bool isConstant(const Tensor &tensor);
  /// Whether it has no value, and takes fewer bytes as what it is made of, as unpacked weights do.
  bool isMadeOfLess(const Tensor &tensor);
  Result<Tensor> transfer(const Tensor &tensor, const std::string &device, const Place &where);
  /// Operands of a function lie on one device afterwards: where they do not, the others are moved to that
  /// of the first one, or refused.
  Status bringTogether(std::span<Tensor> operands, std::string_view function, const Place &where);

  /// Long programs are handed to the device's queue, and may be in flight at the return.
  Status realize(std::span<const Tensor> tensors, const Place &where, const PendingUpdate *pending = nullptr);
  bool isRealized(const Tensor &tensor);
  uint64_t idOf(const Tensor &tensor);
  Result<std::vector<std::byte>> read(const Tensor &tensor, const Place &where);
  /// The elements where they are.
  Result<HostView> view(const Tensor &tensor, const Place &where);
  /// With a stream that one waits, and without one the host.
  Result<DeviceView> deviceView(const Tensor &tensor, std::optional<void *> stream, const Place &where);
  runtime::DLPackPlace dlpackPlaceOf(const Tensor &tensor);
  /// None where the interpreter is the current device.
  std::shared_ptr<runtime::Device> currentRuntimeDevice();
  Result<Tensor> addDeviceMemory(TensorType type, uint64_t address, std::shared_ptr<const void> owner,
                                 const Place &where);
  Result<bool> bindArguments(std::span<const Tensor> arguments, std::span<ForeignMemory> memory);
  void unbindArguments(std::span<const Tensor> arguments);
  /// Of what is in flight, looks at what is over; then calls a function that may look at a pending update.
  template <typename F> auto look(F &&at) {
    std::lock_guard lock(mutex);
    settle();
    return at();
  }
  void noteReplacement(const PendingUpdate::Contents &pending, const Tensor &next);
  /// Waits for what is in flight; the first failure since the last time.
  Status sync();
  ContextCounters counters();
  /// What is behind tensors, in the language of Graphviz.
  Result<std::string> draw(std::span<const Tensor> tensors);
  /// The program behind tensors after a phase: a drawing, or the text itself.
  Result<std::string> showProgram(std::span<const Tensor> tensors, const std::string &phase, bool isDrawing);
  /// A program outside of this context: of `results` as functions of `arguments`. What else has a value is a constant.
  struct Exporting {
    std::span<const Tensor> arguments, results;
    /// Placeholders of parameters, by their values of now.
    std::vector<std::pair<Tensor, Tensor>> bound = {};
    std::vector<std::string> inputNames, outputNames;
    std::string entry;
  };
  /// Values that are too large for constants are inputs behind the arguments. Where no target is said it becomes that
  /// of the device.
  Result<graph::Graph> exportGraph(const Exporting &wanted, std::vector<std::pair<std::string, Tensor>> &values,
                                   std::string &target);
  Result<std::vector<std::byte>> compileAlone(const graph::Graph &wanted, const session::CompileOptions &how);

  using Buffers = std::vector<std::shared_ptr<runtime::Buffer>>;
  struct Program;
  /// Programs and copies, in order, that make values from others. Values are numbered as they are found.
  struct Schedule {
    /// A program, or a copy of one value to another device.
    struct Step {
      std::shared_ptr<Program> program;
      uint16_t device = 0;
      std::vector<uint32_t> inputs, outputs;
      /// Behind the inputs: constants that are arguments.
      Buffers numbers = {};
      /// Outputs that may lie in the memory of donated inputs.
      std::vector<artifact::Donation> donations;
    };
    struct Value {
      TensorType type;
      uint16_t device = 0;
    };
    std::vector<Step> steps;
    std::vector<Value> values;
    /// Values that are there before: their nodes, and the numbers that they have.
    std::vector<NodeId> leaves;
    std::vector<uint32_t> leafNumbers;
    /// The numbers of what is wanted, in its order.
    std::vector<uint32_t> results;
    /// Moves between devices, and the numbers of what arrives.
    std::vector<std::pair<NodeId, uint32_t>> moved;
  };
  /// What jit() keeps of a function for one set of argument types.
  struct Plan {
    /// What is read beside the arguments, which lives as long as the plan.
    std::vector<Tensor> captured;
    Schedule schedule;
    /// By leaf of the schedule: which argument it is, or the first of `captured` behind them.
    std::vector<size_t> inputs;
    JitOptions options;
  };
  /// A leaf without a value, for the arguments of a function that is captured. It lies where `like` does; nowhere,
  /// as constants do, where there is no such tensor, or that one is made of constants and `isPlaced` is not set.
  Result<Tensor> addPlaceholder(TensorType type, const Tensor &like, bool isPlaced);
  /// The last `numWeights` placeholders are weights: what depends on them alone is computed when they are bound.
  Result<Plan> plan(std::span<const Tensor> placeholders, std::span<const Tensor> results, const JitOptions &options,
                    size_t numWeights = 0);
  Result<std::vector<Tensor>> run(const Plan &plan, std::span<const Tensor> arguments, const Place &where,
                                  const PendingUpdate *pending = nullptr);

  /// The results of a custom op, or of a loop: `operands` of that are the number of trips, where that is data, and what
  /// is carried at the begin; the body makes `results` of the placeholders of its trip and of what is carried.
  Result<std::vector<Tensor>> addBodyOp(Op op, graph::Attributes attributes, std::span<const Tensor> operands,
                                        std::span<const Tensor> placeholders, std::span<const Tensor> results,
                                        const Place &where);

  /// Where a function begins whose results become a checkpoint.
  struct Mark {
    size_t nodes = 0;
    uint64_t compactions = 0;
  };
  Mark mark();
  /// The results as those of one op that computes them from the inputs and what was there at the mark.
  Result<std::vector<Tensor>> checkpoint(const Mark &mark, std::span<const Tensor> inputs,
                                         std::span<const Tensor> results, const Place &where);

  /// Refuses a process that was forked since the context began: what it holds of other locks may be held, too.
  Status checkProcess() const { return mutex.check(); }
  void beginProfile(std::shared_ptr<ProfileLog> log);
  void endProfile(const std::shared_ptr<ProfileLog> &log);
  /// Of an open device, measured once; none where that is not done.
  std::optional<runtime::Peak> peakOf(const std::string &device);
  void beginTape();
  void endTape();
  void release(uint32_t slot);

  static const std::shared_ptr<const Handle> &handleOf(const Tensor &tensor) { return tensor.handle; }

private:
  State(ContextOptions options, Config config);

  /// Where values are.
  struct Home {
    std::string name;
    /// What its programs are compiled for.
    std::string target;
    /// None where the interpreter computes.
    std::shared_ptr<runtime::Device> device;
    std::shared_ptr<runtime::MemoryPool> pool;
    /// Where programs have their temporaries: those of the queue, and short ones, which the calling thread runs and
    /// which should not wait for the others.
    std::shared_ptr<runtime::Arena> arena = nullptr, shortArena = nullptr;
    std::optional<runtime::Peak> peak = std::nullopt;

    bool isOnHost() const { return pool && pool->isHostMemory(); }
  };
  /// The device of nodes that are made of constants alone: they are computed wherever they are needed.
  static constexpr uint16_t anywhere = UINT16_MAX;
  /// Where values are that lie in files.
  static constexpr uint16_t onDisk = UINT16_MAX - 1;

  /// What the graph does not say of a node.
  struct NodeState {
    /// Handles, and live nodes that read it.
    uint32_t uses = 0;
    /// It is live and counted among the uses of its operands.
    bool holdsOperands = false;
    /// It was made of leaves before it had a value, and they were let go.
    bool hasForgotten = false;
    /// Its operands are kept until its value is known to be there, and nobody looks behind it.
    bool isCut = false;
    /// No leaf is behind it. The same constants are one node, whoever made them.
    bool isConstant = false;
    /// Where it is computed, and where its value lies.
    uint16_t device = anywhere, at = anywhere;
    /// Its value has left its device, which was full.
    bool isSpilled = false;
    /// Grows with each use of the value.
    uint64_t lastUse = 0;
    /// Its value, where there is one, or will be when a run in flight is over.
    std::shared_ptr<runtime::Buffer> value;
    /// Why a run in flight gave it no value, until somebody was told.
    std::shared_ptr<Failure> failure;
    /// Why it is no parameter's value any more: the run that made it so has failed.
    std::shared_ptr<Failure> undone;
    /// Of a leaf that a Jit made.
    std::shared_ptr<const Derivation> derivation;
  };
  /// A realization of which runs may be in flight, and the values that come of it.
  struct Flight {
    std::vector<runtime::Point> points = {};
    /// What was asked for, and what was moved to another device on the way.
    std::vector<std::pair<NodeId, std::weak_ptr<runtime::Buffer>>> targets = {}, moved = {};
    /// Arguments of which it took the memory.
    std::vector<std::pair<NodeId, std::shared_ptr<runtime::Buffer>>> taken = {};
    /// The values that the pending update sets.
    std::vector<NodeId> replacements = {};
    Place where = {};
    std::weak_ptr<PendingUpdate::Contents> pending = {};
  };
  class Scheduler;

  /// Of all nodes, whether somebody has a handle.
  std::vector<bool> heldNodes() const;
  /// Whether an op only tells how an operand is read: it fuses into what reads it, where it would be a copy of a value
  /// if it stood outside of what reads stored values, as loops do.
  static bool isLoadView(Op op);
  NodeId nodeOf(const Tensor &tensor) const { return slots[handleOf(tensor)->slot]; }
  Status checkMine(std::span<const Tensor> tensors) const;
  Tensor makeTensor(NodeId node);
  void retain(NodeId node);
  void drop(NodeId node);
  /// Forgets what a node was made of.
  void dropOperands(NodeId node);
  /// Of a node that is made once more while it lives: holds its operands again.
  void remember(NodeId node);
  void growStates();
  /// That of what is made without naming one.
  uint16_t currentDevice() const;
  Result<uint16_t> openDeviceLocked(const std::string &name);
  Result<NodeId> addTransfer(NodeId node, uint16_t device, const Place &where);
  /// Moves operands to the device of the first one that has one, or refuses.
  Status bringTogetherLocked(std::span<NodeId> nodes, std::string_view function, const Place &where);
  Result<Tensor> addLeaf(TensorType type, std::shared_ptr<runtime::Buffer> value, uint16_t device, const Place &where,
                         std::optional<uint16_t> at = std::nullopt);
  void setValue(NodeId node, std::shared_ptr<runtime::Buffer> value, uint16_t at = anywhere);
  /// Copies into a graph what a node is made of, operands before users, each node once. `leafOf` gives the copies of
  /// nodes behind which nobody looks, and nothing for others.
  Status copyInto(graph::Graph &into, std::unordered_map<NodeId, NodeId> &copies, NodeId target,
                  const std::function<Result<std::optional<NodeId>>(NodeId)> &leafOf) const;
  /// What makes a program of a graph for a device.
  using Compile = std::function<Result<std::shared_ptr<Program>>(const graph::Graph &, uint16_t)>;
  /// By the hash of what they compute, and the device.
  struct ProgramKey {
    Hash128 hash;
    uint16_t device = 0;
    bool operator==(const ProgramKey &) const = default;
  };
  struct Low {
    size_t operator()(const ProgramKey &key) const { return key.hash.low ^ key.device; }
  };
  /// The programs of one call. Who lacks one compiles it without the lock, and begins again: meanwhile others may have
  /// changed all but the call's tensors.
  struct Build {
    std::vector<std::pair<ProgramKey, graph::Graph>> missing = {};
    std::unordered_map<ProgramKey, session::Compiled, Low> made = {};
    /// Values that a device needs and that lie in files.
    std::vector<std::pair<NodeId, uint16_t>> files = {};
    /// Values that are there, and must not leave before the call runs.
    Buffers held = {};
    bool isComplete() const { return missing.empty() && files.empty(); }
    uint64_t hits = 0;
  };
  /// With `open`, it is for many runs: these nodes are leaves though they have no value, and others are weights.
  /// Programs are those of `build`, where some may be missing, or what `compiles` gives. Of `open`, `donated` are given
  /// up by each run, and `weights` are weights, too.
  Result<Schedule> schedule(std::span<const NodeId> targets, Build &build,
                            const std::optional<std::span<const NodeId>> &open = std::nullopt,
                            const Compile &compiles = {}, std::span<const NodeId> donated = {},
                            std::span<const NodeId> weights = {});
  /// Of the leaves of a plan, by the number of their values, those whose memory a run takes.
  std::vector<bool> chooseTaken(const Plan &plan, std::span<const Tensor> arguments, const Buffers &values) const;
  /// Climbs a ladder where memory ends: what `take` returns after runs in flight are over, after programs
  /// gave back what they keep between runs, after values have left that may, and at last with what holds the memory.
  template <typename F> auto withMemory(uint16_t device, F &&take) -> decltype(take());
  /// Moves the value that was used least recently out of the device's memory; false where none may leave. After a
  /// failure it is where it was.
  Result<bool> spillOne(uint16_t device);
  Status openSpillPool();
  /// Of a value that is about to be on its device.
  void noteReturn(NodeId node);
  void touch(NodeId node) { states[node].lastUse = ++numUses; }
  void endRead(const runtime::Buffer *value);
  struct Reader;
  Status await(const Reader &reader, const Tensor &tensor);
  void waitForFlights();
  void forEachProgram(const std::function<void(Program &)> &visit);
  void trimPrograms(uint16_t device);
  Status explain(const Status &failure, uint16_t device) const;
  void note(const Program &program, const Buffers &inputs, const Buffers &outputs);
  /// Lets go of those that were used least recently where together they hold too much. Of a plan the next run makes its
  /// programs again.
  void boundPrograms();
  /// A program with weights, or with donated inputs, belongs to the plan that asks for it; others are kept
  /// for all. None where it is missing. Where `numbers` is given, constants that vary become arguments, and these are
  /// theirs.
  Result<std::shared_ptr<Program>> findProgram(const graph::Graph &captured, uint16_t device,
                                               const std::vector<artifact::Donation> &donations, Build &build,
                                               Buffers *numbers);
  /// Has the executor there, or notes what is missing.
  Status load(Program &program, const ProgramKey &key, const graph::Graph &captured, Build &build);
  Result<std::shared_ptr<runtime::Buffer>> numberBuffer(const std::vector<std::byte> &number, uint16_t device);
  /// Compiles what is missing, without the lock.
  Status compileMissing(Build &build, std::unique_lock<ContextMutex> &lock);
  /// Reads the files of values, without the lock.
  Status readFiles(Build &build, std::unique_lock<ContextMutex> &lock);
  Result<std::shared_ptr<runtime::Buffer>> allocate(const TensorType &type, uint16_t device);
  /// For what the host has. A few bytes stay with the host where runs of the device take them with them.
  Result<std::shared_ptr<runtime::Buffer>> allocateForHost(uint64_t size, uint16_t device);
  /// `values` has those of the leaves; gets the others, and `points` the ends of what is in flight. Of leaves that
  /// `isTaken` results take the memory.
  Status run(const Schedule &schedule, Buffers &values, std::vector<runtime::Point> &points,
             const std::vector<bool> &isTaken = {});
  /// The value of another device on this one. Where the devices need no host for it, it is in flight.
  Status copy(const std::shared_ptr<runtime::Buffer> &from, const std::shared_ptr<runtime::Buffer> &to, uint16_t device,
              std::vector<runtime::Point> &points);
  Status execute(Program &program, const Buffers &inputs, const Buffers &outputs, std::vector<runtime::Point> &points);
  Status start(Program &program, const Buffers &inputs, const Buffers &outputs, std::vector<runtime::Point> &points);
  Status runProfiled(Program &program);
  Status interpret(const Program &program, const Buffers &inputs, const Buffers &outputs);
  Status checkIsNew(const PendingUpdate *pending) const;
  /// Lets go of the lock while it compiles.
  Status realizeLocked(std::span<const Tensor> tensors, const Place &where, std::unique_lock<ContextMutex> &lock,
                       const PendingUpdate *pending = nullptr);
  /// Values that are there, or will be after the flight's points.
  void addFlight(Flight flight, const PendingUpdate *pending);
  /// Of runs that are over, values have come, or are reset where the run failed.
  void settle();
  void settle(const Flight &flight);
  /// Arguments that a failed flight took have their values again where it had not begun.
  void recoverDonated(const Flight &flight, const Status &failure);
  /// An argument whose memory a call at this place took.
  void invalidateDonated(NodeId node, const Place &where, const Status &ended);
  /// Forgets a value that did not come.
  void resetValue(NodeId node, const std::shared_ptr<Failure> &failure);
  /// Of a value that did not come; it is told once where the value can be computed again.
  Status takeFailure(NodeId node);
  /// The same of what targets are made of; nobody is told twice of one step.
  Status takeFailuresBehind(std::span<const NodeId> targets);
  /// Refuses a gradient that would go through what is not there any more, and end in values that it was not made of.
  Status checkIsThere(NodeId target, std::span<const Tensor> sources) const;
  /// What a gradient may come to: floats behind the target, up to where the graph forgot.
  std::unordered_set<NodeId> differentiable(NodeId target) const;
  /// Refuses a gradient with respect to what results of a Jit are made of.
  Status checkDerivations(const std::unordered_set<NodeId> &behind, std::span<const NodeId> sources) const;
  /// "f32[3] of 'sub' from file:line", with the op as describeOp() has it.
  std::string describe(NodeId node) const;
  /// Rebuilds the graph where most of its nodes are dead.
  Status compact();

  ContextMutex mutex;
  graph::Graph graph;
  /// By node.
  std::vector<NodeState> states;
  std::vector<NodeId> slots;
  std::vector<uint32_t> freeSlots;
  uint64_t numLive = 0, numLeaves = 0, compactions = 0;
  unsigned tapes = 0;
  /// Those that some node has, for compact().
  std::vector<std::weak_ptr<Derivation>> derivations;
  /// Realized while a tape lived.
  std::vector<NodeId> taped;
  /// In the order of submission.
  std::vector<Flight> flights;
  /// Values of which threads copy the elements, and how many do.
  std::unordered_map<const runtime::Buffer *, size_t> beingRead;
  /// Since the last sync().
  std::shared_ptr<Failure> firstFailure;
  /// Whether any value ever failed to come: else nobody looks for such.
  bool hasFailed = false;

  session::Session session;
  /// By number; the first one is the default.
  std::vector<Home> homes;
  /// Of files, once there is one.
  std::shared_ptr<runtime::DiskPool> disk;
  /// Where values go that leave a full device, once one has.
  std::shared_ptr<runtime::MemoryPool> spillPool;
  uint64_t numUses = 0;
  std::atomic<bool> hasOneDevice = true;
  std::unordered_map<ProgramKey, std::shared_ptr<Program>, Low> programs;
  /// Those of plans, which have weights.
  std::vector<std::weak_ptr<Program>> programsOfPlans;
  /// Calls that ran programs, and programs that were made; whether any was since they were bounded.
  uint64_t numCalls = 0, numPrograms = 0;
  bool hasNewPrograms = false;
  std::unique_ptr<ConstantArguments> constants;
  std::unique_ptr<RecompileLog> recompiles;
  /// Of constants that are arguments, by device and bytes.
  std::map<std::pair<uint16_t, std::vector<std::byte>>, std::shared_ptr<runtime::Buffer>> numberBuffers;
  /// All are told of each run.
  std::vector<std::shared_ptr<ProfileLog>> profiles;
  /// Of all that the context does, where ZYX_DEBUG asks for it; printed at the end.
  std::shared_ptr<ProfileLog> timing;
  ContextCounters counted;
};

/// Compiled, or a graph for the interpreter.
struct State::Program {
  /// None of a plan's where it was let go.
  std::unique_ptr<runtime::Executor> executor;
  /// What the interpreter evaluates, and what a plan's program is made of again.
  graph::Graph source;
  ProgramKey key;
  /// In the order in which the context's were made.
  uint64_t number = 0;
  /// The call that ran it last.
  uint64_t lastUse = 0;
  /// Of its code and constants.
  uint64_t codeBytes = 0;
  /// Of a run, without what comes before the first one.
  uint64_t launches = 0;
  /// What a run has besides inputs, where outputs lie in memory of their own.
  uint64_t runBytes = 0;
  std::vector<artifact::Donation> donations;
  /// The numbers of the last so many inputs, which stay bound, and are bound anew where their values were lost and made
  /// again.
  std::vector<uint64_t> weights;
  uint16_t device = 0;
  bool isInterpreted = false;
  /// It may take longer than handing it to a thread does.
  bool isLong = false;
};

} // namespace zyx::detail

/// Under the mutex of the context.
struct zyx::PendingUpdate::Contents {
  /// None where no run was given to it.
  std::weak_ptr<detail::State> state;
  /// Whether it has its run.
  bool isGiven = false;
  End end = End::Good;
  std::shared_ptr<detail::Failure> failure;
  std::vector<std::shared_ptr<const void>> kept;
};

#endif // ZYX_LIB_TENSOR_STATE_H
