//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a context holds: the graph of its tensors, their values, and compiled programs.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_STATE_H
#define ZYX_LIB_TENSOR_STATE_H

#include "zyx/Base/Hash.h"
#include "zyx/Graph/Graph.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Runtime/Executor.h"
#include "zyx/Session/Session.h"
#include "zyx/Tensor/Tensor.h"

#include <mutex>
#include <unordered_map>

namespace zyx::detail {

using graph::NodeId;
using graph::Op;

class ProfileLog;

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

/// One per context; shared by its handles, so that it lives as long as any tensor.
class State : public std::enable_shared_from_this<State> {
public:
  static Result<std::shared_ptr<State>> create(ContextOptions options);
  ~State();
  /// That of new tensors on this thread; throws where none can be made.
  static std::shared_ptr<State> current(const Place &where);
  /// That of the innermost ContextScope of this thread, or none.
  static std::shared_ptr<State> &ofScope();

  const ContextOptions options;

  Result<Tensor> add(Op op, std::span<const Tensor> operands, graph::Attributes attributes, TensorType requested,
                     const Place &where);
  /// A leaf with these elements.
  Result<Tensor> addData(TensorType type, std::span<const std::byte> bytes);
  /// A leaf with these elements, which stay where they are while `owner` lives, or are copied.
  Result<Tensor> addBorrowed(TensorType type, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// A leaf with the value of another tensor.
  Result<Tensor> detach(const Tensor &tensor);
  Result<std::vector<Tensor>> gradient(const Tensor &target, std::span<const Tensor> sources, const Tensor &seed,
                                       const Place &where);
  Status realize(std::span<const Tensor> tensors);
  bool isRealized(const Tensor &tensor);
  Result<std::vector<std::byte>> read(const Tensor &tensor);
  ContextCounters counters();
  /// What is behind tensors, and what the compiler makes of it in a phase, in the language of Graphviz.
  Result<std::string> draw(std::span<const Tensor> tensors);
  Result<std::string> drawProgram(std::span<const Tensor> tensors, const std::string &phase);

  /// What jit() keeps of a function for one set of argument types.
  struct Plan {
    /// What is read beside the arguments, which lives as long as the plan.
    std::vector<Tensor> captured;
    Hash128 program;
    /// By input of the program: which argument it is, or the first of `captured` behind them.
    std::vector<size_t> inputs;
    std::vector<TensorType> outputs;
  };
  /// A leaf without a value, for the arguments of a function that is captured.
  Result<Tensor> addPlaceholder(TensorType type);
  Result<Plan> plan(std::span<const Tensor> placeholders, std::span<const Tensor> results);
  Result<std::vector<Tensor>> run(const Plan &plan, std::span<const Tensor> arguments);

  /// The results of a loop: `operands` are the number of trips, where that is data, and what is carried at the
  /// begin; the body makes `results` of the placeholders of its trip and of what is carried.
  Result<std::vector<Tensor>> loop(graph::Attributes attributes, std::span<const Tensor> operands,
                                   std::span<const Tensor> placeholders, std::span<const Tensor> results,
                                   const Place &where);

  void beginProfile(std::shared_ptr<ProfileLog> log);
  void endProfile(const std::shared_ptr<ProfileLog> &log);
  /// Of the device, measured once.
  std::optional<runtime::Peak> peak();
  void beginTape();
  void endTape();
  void release(uint32_t slot);

  static const std::shared_ptr<const Handle> &handleOf(const Tensor &tensor) { return tensor.handle; }

private:
  explicit State(ContextOptions options);

  /// What the graph does not say of a node.
  struct NodeState {
    /// Handles, and live nodes that read it.
    uint32_t uses = 0;
    /// It is live and counted among the uses of its operands.
    bool holdsOperands = false;
    /// It was made of leaves before it had a value, and they were let go.
    bool hasForgotten = false;
    /// No leaf is behind it. The same constants are one node, whoever made them.
    bool isConstant = false;
    /// Its value, where there is one.
    std::shared_ptr<runtime::Buffer> value;
  };
  struct Program {
    /// One of the two: the interpreter needs the graph.
    std::unique_ptr<runtime::Executor> executor;
    graph::Graph interpreted;
    /// Of a run, and of the memory that it keeps besides inputs and outputs.
    uint64_t launches = 0, bytes = 0;
  };
  /// What has to be computed, as a graph of its own.
  struct Capture {
    graph::Graph graph;
    /// Of each input, and of each output.
    std::vector<NodeId> leaves, targets;
  };

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
  Result<Tensor> addLeaf(TensorType type, std::shared_ptr<runtime::Buffer> value);
  void setValue(NodeId node, std::shared_ptr<runtime::Buffer> value);
  /// Nodes of `open` are inputs though they have no value.
  Result<Capture> capture(std::span<const NodeId> targets, std::span<const NodeId> open = {});
  Result<Program *> compile(const graph::Graph &captured, const Hash128 &hash);
  using Buffers = std::vector<std::shared_ptr<runtime::Buffer>>;
  Result<Buffers> allocate(std::span<const TensorType> types);
  Status execute(Program &program, const Buffers &inputs, const Buffers &outputs);
  Status runProfiled(Program &program);
  Status interpret(const Program &program, const Buffers &inputs, const Buffers &outputs);
  Status realizeLocked(std::span<const Tensor> tensors);
  /// Rebuilds the graph where most of its nodes are dead.
  Status compact();

  /// Recursive, because handles that end inside of a call release their nodes.
  std::recursive_mutex mutex;
  graph::Graph graph;
  /// By node.
  std::vector<NodeState> states;
  std::vector<NodeId> slots;
  std::vector<uint32_t> freeSlots;
  uint64_t numLive = 0, numLeaves = 0;
  unsigned tapes = 0;
  /// Realized while a tape lived.
  std::vector<NodeId> taped;

  session::Session session;
  /// None where the interpreter computes.
  std::shared_ptr<runtime::Device> device;
  std::shared_ptr<runtime::MemoryPool> pool;
  /// By the hash of what they compute.
  struct Low {
    size_t operator()(const Hash128 &hash) const { return hash.low; }
  };
  std::unordered_map<Hash128, Program, Low> programs;
  /// All are told of each run.
  std::vector<std::shared_ptr<ProfileLog>> profiles;
  /// Of all that the context does, where ZYX_DEBUG asks for it; printed at the end.
  std::shared_ptr<ProfileLog> timing;
  std::optional<runtime::Peak> measuredPeak;
  ContextCounters counted;
};

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_STATE_H
