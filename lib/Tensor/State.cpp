//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "State.h"
#include "ConstantArguments.h"
#include "ProfileLog.h"
#include "RecompileLog.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/ProcessMutex.h"
#include "zyx/Graph/Dequantise.h"
#include "zyx/Graph/Gradient.h"
#include "zyx/Runtime/MemoryPool.h"
#include "zyx/Session/GraphDevice.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_set>

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;

//===----------------------------------------------------------------------===//
// Contexts and handles
//===----------------------------------------------------------------------===//

State::State(ContextOptions options, Config config)
    : options(std::move(options)), config(std::move(config)), session(session::SessionOptions::from(this->config)),
      constants(std::make_unique<ConstantArguments>()), recompiles(std::make_unique<RecompileLog>()) {
  if (isDebugged(DebugTopic::Timing))
    profiles.push_back(timing = std::make_shared<ProfileLog>(/*tracesRuns=*/false));
}

State::~State() {
  if (timing && !mutex.isForked())
    printProfile(*timing, [this](const std::string &device) { return peakOf(device); });
}

/// Each text once, however many contexts there are.
static void warn(const std::vector<std::string> &warnings) {
  static constinit ProcessMutex mutex;
  static std::set<std::string> told;
  const ProcessMutex::Guard lock(mutex);
  for (const std::string &warning : warnings)
    if (!lock || told.insert(warning).second)
      std::fprintf(stderr, "zyx: warning: %s\n", warning.c_str());
}

static Result<Config> configFor(const ContextOptions &options) {
  ZYX_ASSIGN_OR_RETURN(LoadedConfig loaded, loadConfig());
  warn(loaded.warnings);
  Config &config = loaded.config;
  // Other threads may read the environment now.
  enableDebugTopics(config.debug);
  if (options.device)
    config.device = options.device;
  if (options.threads)
    config.threads = *options.threads;
  if (options.cacheFolder)
    config.cacheDir = options.cacheFolder;
  if (options.implicitCopies)
    config.implicitCopies = *options.implicitCopies;
  if (options.tune)
    config.tune = *options.tune;
  if (options.programCacheSize)
    config.programCacheSize = *options.programCacheSize;
  if (options.recompileNotice)
    config.recompileNotice = *options.recompileNotice;
  for (const auto &[name, bytes] : options.memoryLimits) {
    // What is said of a kind is said of all its devices.
    std::erase_if(config.memoryLimits, [&](const auto &limit) { return limit.first.starts_with(name + ":"); });
    config.memoryLimits[name] = bytes;
  }
  return std::move(config);
}

Result<std::shared_ptr<State>> State::create(ContextOptions options) {
  ZYX_ASSIGN_OR_RETURN(Config config, configFor(options));
  std::shared_ptr<State> state(new State(std::move(options), std::move(config)));
  // Who brings devices says which one it is that is not "cpu".
  const bool isOwn = !state->config.device && !state->options.devices.empty();
  ZYX_RETURN_IF_ERROR(state->openDevice(isOwn ? "cpu" : session::Session::defaultDevice(state->config)).status());
  return state;
}

const std::shared_ptr<DeviceScopes> &DeviceScopes::ofThisThread() {
  thread_local const auto scopes = std::make_shared<DeviceScopes>();
  return scopes;
}

uint64_t DeviceScopes::begin(std::shared_ptr<State> state, uint16_t device) {
  const std::lock_guard lock(mutex);
  entries.push_back({++latest, std::move(state), device});
  count = entries.size();
  return latest;
}

void DeviceScopes::end(uint64_t number) {
  // The last owner of a context ends it, which must not happen under this lock.
  std::shared_ptr<State> state;
  const std::lock_guard lock(mutex);
  const auto entry = std::ranges::find(entries, number, &Entry::number);
  state = std::move(entry->state);
  entries.erase(entry);
  count = entries.size();
}

std::optional<uint16_t> DeviceScopes::deviceOf(const State &state) const {
  if (count == 0)
    return std::nullopt;
  const std::lock_guard lock(mutex);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->state.get() == &state)
      return entry->device;
  return std::nullopt;
}

std::shared_ptr<State> &State::ofScope() {
  thread_local std::shared_ptr<State> state;
  return state;
}

std::shared_ptr<State> State::current(const Place &where) {
  if (ofScope())
    return ofScope();
  static constinit ProcessMutex making;
  static std::shared_ptr<State> ofProcess;
  const ProcessMutex::Guard lock(making);
  throwIfError(lock.check(), where);
  if (!ofProcess)
    ofProcess = valueOrThrow(create({}), where);
  return ofProcess;
}

Handle::~Handle() { state->release(slot); }

Status State::checkMine(std::span<const Tensor> tensors) const {
  for (const Tensor &tensor : tensors) {
    if (!tensor.isDefined())
      return Status::invalidArgument("there is no tensor in this place");
    if (handleOf(tensor)->state.get() != this)
      return Status::invalidArgument("tensors of two contexts meet; values go from one to the other by bytes()");
  }
  return Status::ok();
}

Tensor State::makeTensor(NodeId node) {
  retain(node);
  uint32_t slot = static_cast<uint32_t>(slots.size());
  if (freeSlots.empty()) {
    slots.push_back(node);
  } else {
    slot = freeSlots.back();
    freeSlots.pop_back();
    slots[slot] = node;
  }
  return Tensor(std::make_shared<const Handle>(shared_from_this(), slot, graph.node(node).type));
}

void State::release(uint32_t slot) {
  // Its memory goes with the process.
  if (mutex.isForked())
    return;
  std::lock_guard lock(mutex);
  drop(slots[slot]);
  freeSlots.push_back(slot);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Result<uint16_t> State::openDevice(const std::string &name) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  return openDeviceLocked(name);
}

/// "cuda" of "cuda:1".
static std::string kindOf(const std::string &device) { return device.substr(0, device.find(':')); }

Result<uint16_t> State::openDeviceLocked(const std::string &given) {
  const std::string name = runtime::canonicalDeviceName(given);
  const auto found = std::find_if(homes.begin(), homes.end(), [&](const Home &home) { return home.name == name; });
  if (found != homes.end())
    return static_cast<uint16_t>(found - homes.begin());
  ZYX_RETURN_IF_ERROR(session.checkEnabled(name));
  Home home{name, kindOf(name), nullptr, nullptr};
  const auto own = std::ranges::find_if(
      options.devices, [&](const auto &each) { return runtime::canonicalDeviceName(each.first) == name; });
  if (own != options.devices.end()) {
    home.device = own->second;
    // A device of another kind, as one that computes nothing, takes what is compiled for the one in whose place it is.
    if (home.device && kindOf(home.device->name()) == home.target)
      home.target = home.device->target();
  } else if (session::findGraphDevice(name)) {
    home.pool = runtime::createHostPool(config.memoryLimit(name));
  } else {
    ZYX_ASSIGN_OR_RETURN(home.device, session.device(name));
    // Of a card its own architecture.
    home.target = home.device->target();
  }
  if (home.device) {
    home.pool = home.device->pool();
    home.arena = std::make_shared<runtime::Arena>(home.pool);
    home.shortArena = std::make_shared<runtime::Arena>(home.pool);
  }
  homes.push_back(std::move(home));
  hasOneDevice = homes.size() == 1;
  return static_cast<uint16_t>(homes.size() - 1);
}

uint16_t State::currentDevice() const { return DeviceScopes::ofThisThread()->deviceOf(*this).value_or(0); }

std::string State::currentDeviceName() {
  std::lock_guard lock(mutex);
  return homes[currentDevice()].name;
}

std::string State::deviceOf(const Tensor &tensor) {
  std::lock_guard lock(mutex);
  const NodeState &state = states[nodeOf(tensor)];
  const uint16_t device = state.device != anywhere ? state.device : state.value ? state.at : currentDevice();
  return homes[device].name;
}

Result<NodeId> State::addTransfer(NodeId node, uint16_t device, const Place &where) {
  graph::Attributes attributes;
  attributes.name = homes[device].name;
  ZYX_ASSIGN_OR_RETURN(const NodeId moved, graph.add(Op::Transfer, {{node}}, std::move(attributes), {},
                                                     {where.file_name(), where.line(), where.column()}));
  growStates();
  return moved;
}

Result<Tensor> State::transfer(const Tensor &tensor, const std::string &name, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  ZYX_ASSIGN_OR_RETURN(const uint16_t device, openDeviceLocked(name));
  const NodeId node = nodeOf(tensor);
  if (states[node].device == device)
    return tensor;
  ZYX_ASSIGN_OR_RETURN(const NodeId moved, addTransfer(node, device, where));
  return makeTensor(moved);
}

Status State::bringTogether(std::span<Tensor> operands, std::string_view function, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  if (hasOneDevice)
    return Status::ok();
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(operands));
  std::vector<NodeId> nodes;
  for (const Tensor &operand : operands)
    nodes.push_back(nodeOf(operand));
  ZYX_RETURN_IF_ERROR(bringTogetherLocked(nodes, function, where));
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i] != nodeOf(operands[i]))
      operands[i] = makeTensor(nodes[i]);
  return Status::ok();
}

Status State::bringTogetherLocked(std::span<NodeId> nodes, std::string_view function, const Place &where) {
  const NodeId *first = nullptr;
  for (NodeId &node : nodes) {
    if (states[node].device == anywhere)
      continue;
    if (!first)
      first = &node;
    const uint16_t here = states[*first].device, there = states[node].device;
    if (here == there)
      continue;
    if (!config.implicitCopies)
      return Status::invalidArgument(std::string(function) +
                                     ": operands lie on two devices: " + zyx::toString(graph.node(*first).type) +
                                     " on '" + homes[here].name + "' and " + zyx::toString(graph.node(node).type) +
                                     " on '" + homes[there].name + "'; to() moves one of them");
    ZYX_ASSIGN_OR_RETURN(node, addTransfer(node, here, where));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

std::vector<bool> State::heldNodes() const {
  std::vector<bool> isFree(slots.size()), isHeld(graph.size());
  for (uint32_t slot : freeSlots)
    isFree[slot] = true;
  for (size_t slot = 0; slot < slots.size(); ++slot)
    if (!isFree[slot])
      isHeld[slots[slot]] = true;
  return isHeld;
}

bool State::isLoadView(Op op) {
  switch (op) {
  case Op::Reshape:
  case Op::Expand:
  case Op::Permute:
  case Op::Flip:
  case Op::Pad:
  case Op::Window:
  case Op::Cast:
    return true;
  default:
    return false;
  }
}

void State::growStates() {
  for (NodeId id = static_cast<NodeId>(states.size()); id < graph.size(); ++id) {
    const graph::Node &node = graph.node(id);
    NodeState &state = states.emplace_back();
    state.isConstant =
        node.op != Op::Parameter && std::all_of(node.operands.begin(), node.operands.end(),
                                                [&](NodeId operand) { return states[operand].isConstant; });
    if (node.op == Op::Transfer) {
      const auto home =
          std::find_if(homes.begin(), homes.end(), [&](const Home &each) { return each.name == node.attributes.name; });
      state.device = static_cast<uint16_t>(home - homes.begin());
      continue;
    }
    for (NodeId operand : node.operands)
      if (state.device == anywhere)
        state.device = states[operand].device;
  }
}

void State::retain(NodeId first) {
  std::vector<NodeId> work = {first};
  while (!work.empty()) {
    const NodeId node = work.back();
    work.pop_back();
    NodeState &state = states[node];
    if (state.uses++ != 0)
      continue;
    ++numLive;
    state.holdsOperands = true;
    state.hasForgotten = false;
    state.failure = state.undone = nullptr;
    const auto &operands = graph.node(node).operands;
    work.insert(work.end(), operands.begin(), operands.end());
  }
}

void State::drop(NodeId first) {
  std::vector<NodeId> work = {first};
  while (!work.empty()) {
    const NodeId node = work.back();
    work.pop_back();
    NodeState &state = states[node];
    if (--state.uses != 0)
      continue;
    --numLive;
    if (state.value)
      setValue(node, nullptr);
    state.derivation = nullptr;
    if (!std::exchange(state.holdsOperands, false))
      continue;
    const auto &operands = graph.node(node).operands;
    work.insert(work.end(), operands.begin(), operands.end());
  }
}

void State::dropOperands(NodeId node) {
  states[node].isCut = false;
  if (!std::exchange(states[node].holdsOperands, false))
    return;
  states[node].hasForgotten = !states[node].isConstant;
  for (NodeId operand : graph.node(node).operands)
    drop(operand);
}

void State::remember(NodeId node) {
  NodeState &state = states[node];
  // In flight it holds them still.
  state.isCut = false;
  if (state.uses == 0 || state.holdsOperands || graph.node(node).op == Op::Parameter)
    return;
  state.holdsOperands = true;
  state.hasForgotten = false;
  for (NodeId operand : graph.node(node).operands)
    retain(operand);
  if (tapes != 0)
    taped.push_back(node);
}

void State::setValue(NodeId node, std::shared_ptr<Buffer> value, uint16_t at) {
  NodeState &state = states[node];
  if (state.value && state.at != onDisk)
    counted.valueBytes -= state.value->size();
  if (value && at != onDisk)
    counted.valueBytes += value->size();
  state.at = at;
  state.value = std::move(value);
  state.isSpilled = false;
  state.failure = nullptr;
  touch(node);
}

Result<Tensor> State::add(Op op, std::span<const Tensor> operands, graph::Attributes attributes, TensorType requested,
                          const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(operands));
  std::vector<NodeId> nodes;
  nodes.reserve(operands.size());
  for (const Tensor &operand : operands)
    nodes.push_back(nodeOf(operand));
  if (!hasOneDevice)
    ZYX_RETURN_IF_ERROR(bringTogetherLocked(nodes, toString(op), where));
  ZYX_ASSIGN_OR_RETURN(const NodeId node, graph.add(op, nodes, std::move(attributes), std::move(requested),
                                                    {where.file_name(), where.line(), where.column()}));
  growStates();
  remember(node);
  return makeTensor(node);
}

Result<Tensor> State::addData(TensorType type, std::span<const std::byte> bytes, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
  if (static_cast<uint64_t>(size) != bytes.size())
    return Status::invalidArgument("a tensor of type " + zyx::toString(type) + " has " + std::to_string(size) +
                                   " bytes, not " + std::to_string(bytes.size()));
  // Other bytes than 0 and 1 are undefined to kernels.
  if (type.dtype == DType::Bool)
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] > std::byte{1})
        return Status::invalidArgument("element " + std::to_string(i) + " of bools is the byte " +
                                       std::to_string(std::to_integer<int>(bytes[i])) + ", not 0 or 1");
  std::shared_ptr<Buffer> value;
  uint16_t device = 0;
  {
    std::lock_guard lock(mutex);
    device = currentDevice();
    ZYX_ASSIGN_OR_RETURN(value, allocateForHost(bytes.size(), device));
  }
  ZYX_RETURN_IF_ERROR(value->write(bytes));
  std::lock_guard lock(mutex);
  return addLeaf(std::move(type), std::move(value), device, where);
}

Result<Tensor> State::addBorrowed(TensorType type, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                  const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
  uint16_t device = 0;
  bool isHostMemory = false;
  {
    std::lock_guard lock(mutex);
    device = currentDevice();
    isHostMemory = homes[device].pool->isHostMemory();
  }
  const bool isAligned = reinterpret_cast<uintptr_t>(bytes.data()) % static_cast<size_t>(byteSize(type.dtype)) == 0;
  // Bools are looked at one by one, once.
  if (static_cast<uint64_t>(size) != bytes.size() || type.dtype == DType::Bool || !isAligned || !isHostMemory)
    return addData(std::move(type), bytes, where);
  struct Kept {
    std::shared_ptr<const void> owner;
    std::shared_ptr<Buffer> buffer;
  };
  // Values are never written: the runtime's buffers do not tell that.
  auto kept = std::make_shared<Kept>(
      Kept{std::move(owner), Buffer::borrow(const_cast<std::byte *>(bytes.data()), bytes.size())});
  std::lock_guard lock(mutex);
  return addLeaf(std::move(type), std::shared_ptr<Buffer>(kept, kept->buffer.get()), device, where);
}

Result<Tensor> State::addFile(const std::string &path, uint64_t offset, TensorType type, const Place &where) {
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, ReadOnlyFile::open(path));
  return addFile(std::make_shared<const ReadOnlyFile>(std::move(file)), offset, std::move(type), "", where);
}

Result<Tensor> State::addFile(std::shared_ptr<const ReadOnlyFile> file, uint64_t offset, TensorType type,
                              std::string what, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
  std::shared_ptr<runtime::DiskPool> pool;
  {
    std::lock_guard lock(mutex);
    if (!disk) {
      ZYX_ASSIGN_OR_RETURN(disk, runtime::DiskPool::create());
    }
    pool = disk;
  }
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> value,
                       runtime::mapFile(pool, std::move(file), offset, static_cast<uint64_t>(size), std::move(what)));
  if (type.dtype == DType::Bool) {
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    ZYX_RETURN_IF_ERROR(value->read(bytes));
    return addData(std::move(type), bytes, where);
  }
  std::lock_guard lock(mutex);
  return addLeaf(std::move(type), std::move(value), currentDevice(), where, onDisk);
}

Result<Tensor> State::dequantise(const Tensor &blocks, BlockFormat format, const Shape &shape, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine({&blocks, 1}));
  // Its nodes are those of a graph of its own, so that all of them get the caller's location.
  graph::Graph own;
  ZYX_ASSIGN_OR_RETURN(const NodeId parameter, own.parameter("blocks", blocks.type()));
  ZYX_ASSIGN_OR_RETURN(const NodeId result, graph::dequantise(own, parameter, format, shape));
  std::vector<NodeId> numbers(own.size());
  for (NodeId id = 0; id < own.size(); ++id) {
    const graph::Node &node = own.node(id);
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(numbers[operand]);
    if (id == parameter) {
      numbers[id] = nodeOf(blocks);
      continue;
    }
    const Result<NodeId> added =
        graph.add(node.op, operands, node.attributes, node.type, {where.file_name(), where.line(), where.column()});
    // Of those that are there already, whatever becomes of the others.
    growStates();
    ZYX_ASSIGN_OR_RETURN(numbers[id], added);
  }
  remember(numbers[result]);
  return makeTensor(numbers[result]);
}

Result<Tensor> State::addLeaf(TensorType type, std::shared_ptr<Buffer> value, uint16_t device, const Place &where,
                              std::optional<uint16_t> at) {
  graph::Attributes attributes;
  attributes.name = "leaf" + std::to_string(numLeaves++);
  ZYX_ASSIGN_OR_RETURN(const NodeId node, graph.add(Op::Parameter, {}, std::move(attributes), std::move(type),
                                                    {where.file_name(), where.line(), where.column()}));
  growStates();
  states[node].device = device;
  Tensor tensor = makeTensor(node);
  setValue(node, std::move(value), at.value_or(device));
  return tensor;
}

Result<Tensor> State::addPlaceholder(TensorType type, const Tensor &like, bool isPlaced) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  uint16_t device = like.isDefined() ? states[nodeOf(like)].device : anywhere;
  if (device == anywhere && isPlaced)
    device = like.isDefined() && states[nodeOf(like)].value ? states[nodeOf(like)].at : currentDevice();
  graph::Attributes attributes;
  attributes.name = "argument" + std::to_string(numLeaves++);
  ZYX_ASSIGN_OR_RETURN(const NodeId node, graph.add(Op::Parameter, {}, std::move(attributes), std::move(type)));
  growStates();
  states[node].device = device;
  return makeTensor(node);
}

Result<Tensor> State::detach(const Tensor &tensor, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::unique_lock lock(mutex);
  ZYX_RETURN_IF_ERROR(realizeLocked({&tensor, 1}, where, lock));
  // What is handed over may have failed already.
  ZYX_RETURN_IF_ERROR(takeFailure(nodeOf(tensor)));
  const NodeState state = states[nodeOf(tensor)];
  ZYX_ASSIGN_OR_RETURN(
      Tensor leaf, addLeaf(tensor.type(), state.value, state.at == onDisk ? state.device : state.at, where, state.at));
  // What is in flight may fail for both.
  for (Flight &flight : flights)
    if (std::ranges::any_of(flight.targets, [&](const auto &target) { return target.second.lock() == state.value; }))
      flight.targets.emplace_back(nodeOf(leaf), state.value);
  return leaf;
}

Status State::compact() {
  constexpr uint64_t enough = 1024;
  if (graph.size() < enough || graph.size() < 2 * numLive)
    return Status::ok();
  graph::Graph fresh;
  std::vector<NodeState> freshStates;
  constexpr NodeId none = UINT32_MAX;
  std::vector<NodeId> moved(graph.size(), none);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (states[id].uses == 0)
      continue;
    const graph::Node &node = graph.node(id);
    Op op = node.op;
    graph::Attributes attributes = node.attributes;
    std::vector<NodeId> operands;
    if (states[id].holdsOperands) {
      for (NodeId operand : node.operands)
        operands.push_back(moved[operand]);
    } else if (op != Op::Parameter) {
      // Only its value is left of it.
      op = Op::Parameter;
      attributes = {};
      attributes.name = "leaf" + std::to_string(numLeaves++);
    }
    ZYX_ASSIGN_OR_RETURN(moved[id], fresh.add(op, operands, std::move(attributes), node.type, graph.location(id)));
    freshStates.push_back(std::move(states[id]));
  }
  std::vector<uint32_t> isFree(slots.size(), 0);
  for (uint32_t slot : freeSlots)
    isFree[slot] = 1;
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    if (!isFree[slot])
      slots[slot] = moved[slots[slot]];
  // Two steps: a predicate that changes what it looks at may be called in any order.
  const auto move = [&](auto &list, auto &&nodeIn) {
    for (auto &each : list)
      nodeIn(each) = moved[nodeIn(each)];
    std::erase_if(list, [&](auto &each) { return nodeIn(each) == none; });
  };
  const auto itself = [](NodeId &id) -> NodeId & { return id; };
  const auto first = [](auto &value) -> NodeId & { return value.first; };
  move(taped, itself);
  for (Flight &flight : flights) {
    move(flight.targets, first);
    move(flight.moved, first);
    move(flight.taken, first);
    move(flight.replacements, itself);
  }
  std::erase_if(derivations, [](const auto &of) { return of.expired(); });
  for (const auto &weak : derivations)
    move(weak.lock()->nodes, itself);
  graph = std::move(fresh);
  states = std::move(freshStates);
  ++compactions;
  return Status::ok();
}

uint64_t State::idOf(const Tensor &tensor) {
  std::lock_guard lock(mutex);
  return nodeOf(tensor);
}

bool State::isRealized(const Tensor &tensor) {
  std::lock_guard lock(mutex);
  settle();
  return states[nodeOf(tensor)].value != nullptr;
}

ContextCounters State::counters() {
  std::lock_guard lock(mutex);
  settle();
  counted.liveNodes = numLive;
  counted.nodes = graph.size();
  counted.programBytes = counted.peakBytes = counted.codeBytes = counted.programs = 0;
  runtime::KeptBytes kept;
  forEachProgram([&](const Program &program) {
    counted.programs += program.executor || program.isInterpreted;
    counted.codeBytes += program.codeBytes;
    if (!program.executor)
      return;
    counted.programBytes += program.executor->bytesHeld();
    kept.add(*program.executor);
  });
  counted.programBytes += kept.total();
  for (const Home &home : homes) {
    counted.peakBytes += home.pool->usage().highWater;
    for (const auto &arena : {home.arena, home.shortArena})
      counted.programBytes += arena ? arena->size() : 0;
  }
  return counted;
}

void State::beginProfile(std::shared_ptr<ProfileLog> log) {
  std::lock_guard lock(mutex);
  profiles.push_back(std::move(log));
}

void State::endProfile(const std::shared_ptr<ProfileLog> &log) {
  if (mutex.isForked())
    return;
  std::lock_guard lock(mutex);
  std::erase(profiles, log);
}

std::optional<runtime::Peak> State::peakOf(const std::string &device) {
  std::lock_guard lock(mutex);
  for (Home &home : homes) {
    if (home.name != device || !home.device)
      continue;
    if (!home.peak)
      home.peak = home.device->measurePeak();
    return home.peak;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tapes and gradients
//===----------------------------------------------------------------------===//

void State::beginTape() {
  std::lock_guard lock(mutex);
  ++tapes;
}

void State::endTape() {
  if (mutex.isForked())
    return;
  std::lock_guard lock(mutex);
  if (--tapes != 0)
    return;
  for (NodeId node : taped)
    if (states[node].uses != 0 && states[node].value)
      dropOperands(node);
  taped.clear();
  // Those in flight are as good as realized.
  for (const Flight &flight : flights)
    for (const auto &[node, value] : flight.targets)
      states[node].isCut |=
          graph.node(node).op != Op::Parameter && states[node].value && states[node].value == value.lock();
}
