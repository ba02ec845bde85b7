//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// From nodes to values: programs are compiled once, and run.
//===----------------------------------------------------------------------===//
#include "ConstantArguments.h"
#include "ProfileLog.h"
#include "RecompileLog.h"
#include "State.h"
#include "WatchedCompilation.h"

#include "zyx/Session/GraphDevice.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;
using zyx::runtime::Point;

static Status statusOf(const Status &status) { return status; }
template <typename T> static Status statusOf(const Result<T> &result) { return result.status(); }

template <typename F> auto State::withMemory(uint16_t device, F &&take) -> decltype(take()) {
  auto taken = take();
  auto isShort = [&] { return statusOf(taken).code() == ErrorCode::OutOfMemory; };
  if (!isShort())
    return taken;
  waitForFlights();
  taken = take();
  if (!isShort())
    return taken;
  trimPrograms(device);
  taken = take();
  if (!isShort())
    return taken;
  Result<bool> spilled = spillOne(device);
  for (; spilled && *spilled; spilled = spillOne(device)) {
    taken = take();
    if (!isShort())
      return taken;
  }
  const Status refusal = explain(statusOf(taken), device);
  return spilled ? refusal : refusal.withCause(spilled.status());
}

/// Whether a run may take longer than a thread takes to wake up for it, several times. Decided by the
/// program alone, so that the same calls do the same each time.
static bool isLong(const artifact::Artifact &artifact) {
  constexpr uint64_t flopsPerNanosecond = 16, bytesPerNanosecond = 8, enoughNanoseconds = 100'000;
  uint64_t nanoseconds = 0;
  for (const artifact::Command &command : artifact.commands) {
    if (const auto *launch = std::get_if<artifact::Launch>(&command.action)) {
      if (launch->flops == 0 && launch->bytes == 0)
        return true;
      nanoseconds += std::max(launch->flops / flopsPerNanosecond, launch->bytes / bytesPerNanosecond);
    } else if (std::holds_alternative<artifact::Loop>(command.action)) {
      return true;
    }
  }
  return nanoseconds > enoughNanoseconds;
}

Result<std::shared_ptr<State::Program>> State::findProgram(const graph::Graph &captured, uint16_t device,
                                                           const std::vector<artifact::Donation> &donations,
                                                           Build &build, Buffers *numbers) {
  const bool isShared = captured.numWeights == 0 && donations.empty();
  const bool isInterpreted = !homes[device].device;
  ProgramKey key{captured.canonicalHash(), device};
  const graph::Graph *wanted = &captured;
  std::optional<ConstantArguments::Split> split;
  if (isShared && !isInterpreted && numbers && !programs.contains(key)) {
    ZYX_ASSIGN_OR_RETURN(split, constants->split(captured, device));
    if (split) {
      wanted = &split->graph;
      key.hash = wanted->canonicalHash();
      for (const std::vector<std::byte> &number : split->numbers) {
        ZYX_ASSIGN_OR_RETURN(numbers->emplace_back(), numberBuffer(number, device));
      }
    }
  }
  if (const auto known = programs.find(key); isShared && known != programs.end()) {
    ++build.hits;
    known->second->lastUse = numCalls;
    return known->second;
  }
  auto program = std::make_shared<Program>();
  program->key = key;
  program->lastUse = numCalls;
  program->device = device;
  program->donations = donations;
  program->isInterpreted = isInterpreted;
  if (isInterpreted || !isShared)
    program->source = *wanted;
  if (isInterpreted) {
    // About what a node takes.
    constexpr uint64_t nodeBytes = 256;
    program->codeBytes = wanted->size() * nodeBytes;
    hasNewPrograms = true;
  } else {
    ZYX_RETURN_IF_ERROR(load(*program, key, *wanted, build));
    if (!program->executor)
      return std::shared_ptr<Program>();
  }
  program->number = ++numPrograms;
  if (isShared)
    return programs.emplace(key, std::move(program)).first->second;
  std::erase_if(programsOfPlans, [](const auto &of) { return of.expired(); });
  programsOfPlans.push_back(program);
  return program;
}

Status State::load(Program &program, const ProgramKey &key, const graph::Graph &captured, Build &build) {
  const auto made = build.made.find(key);
  if (made == build.made.end()) {
    if (std::ranges::none_of(build.missing, [&](const auto &other) { return other.first == key; }))
      build.missing.emplace_back(key, captured);
    return Status::ok();
  }
  const session::Compiled &compiled = made->second;
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, compiled.readArtifact());
  program.launches = 0;
  for (size_t i = artifact.numInitCommands; i < artifact.commands.size(); ++i)
    program.launches += std::holds_alternative<artifact::Launch>(artifact.commands[i].action);
  program.weights.assign(captured.numWeights, 0);
  program.isLong = isLong(artifact);
  const Home &home = homes[key.device];
  ZYX_ASSIGN_OR_RETURN(program.executor, withMemory(key.device, [&] {
                         return runtime::Executor::create(home.device, artifact, program.donations,
                                                          program.isLong ? home.arena : home.shortArena);
                       }));
  program.codeBytes = compiled.output.size();
  const artifact::Artifact &loaded = program.executor->artifact();
  program.runBytes = loaded.arenaSize + loaded.keptSize;
  for (const artifact::Argument &output : loaded.outputs)
    program.runBytes += static_cast<uint64_t>(*byteSize(output.type));
  ++counted.compiles;
  hasNewPrograms = true;
  return Status::ok();
}

Status State::readFiles(Build &build, std::unique_lock<ContextMutex> &lock) {
  // Nodes have other numbers when the lock is taken again.
  std::vector<std::pair<Tensor, uint16_t>> wanted;
  for (const auto &[node, device] : std::exchange(build.files, {}))
    wanted.emplace_back(makeTensor(node), device);
  for (const auto &[tensor, device] : wanted) {
    const std::shared_ptr<Buffer> file = states[nodeOf(tensor)].value;
    if (!file || states[nodeOf(tensor)].at != onDisk)
      continue;
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> value, allocate(tensor.type(), device));
    lock.unlock();
    const Status read = value->copyFrom(*file);
    lock.lock();
    ZYX_RETURN_IF_ERROR(read);
    // Another thread may have read it, too.
    if (states[nodeOf(tensor)].value == file) {
      noteReturn(nodeOf(tensor));
      build.held.push_back(value);
      setValue(nodeOf(tensor), std::move(value), device);
    }
  }
  return Status::ok();
}

Status State::compileMissing(Build &build, std::unique_lock<ContextMutex> &lock) {
  if (build.missing.empty())
    return Status::ok();
  // It may be the last owner where a profile ends meanwhile.
  const std::shared_ptr<ProfileLog> log = profiles.empty() ? nullptr : profiles.back();
  std::vector<std::pair<std::string, std::shared_ptr<runtime::Device>>> machines;
  for (const auto &[key, wanted] : build.missing) {
    machines.emplace_back(homes[key.device].target, homes[key.device].device);
    if (config.recompileNotice)
      recompiles->note(wanted);
  }
  lock.unlock();
  {
    const WatchedCompilation watched(options.progress, log ? &log->trace : nullptr);
    for (size_t i = 0; i < machines.size(); ++i) {
      const auto &[key, wanted] = build.missing[i];
      ZYX_ASSIGN_OR_RETURN(build.made[key], session.compile(wanted, {.target = machines[i].first}, machines[i].second,
                                                            &watched.callbacks()));
    }
  }
  lock.lock();
  build.missing.clear();
  return Status::ok();
}

Result<std::shared_ptr<Buffer>> State::numberBuffer(const std::vector<std::byte> &number, uint16_t device) {
  constexpr size_t most = 256;
  if (const auto known = numberBuffers.find({device, number}); known != numberBuffers.end())
    return known->second;
  if (numberBuffers.size() >= most)
    numberBuffers.clear();
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, allocateForHost(number.size(), device));
  ZYX_RETURN_IF_ERROR(buffer->write(number));
  return numberBuffers[{device, number}] = std::move(buffer);
}

Result<std::shared_ptr<Buffer>> State::allocate(const TensorType &type, uint16_t device) {
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
  return withMemory(device, [&] { return Buffer::allocate(homes[device].pool, static_cast<uint64_t>(size)); });
}

Result<std::shared_ptr<Buffer>> State::allocateForHost(uint64_t size, uint16_t device) {
  const Home &home = homes[device];
  if (size != 0 && home.device && size <= home.device->largestHostInput())
    return Buffer::onHost(size);
  return withMemory(device, [&] { return Buffer::allocate(home.pool, size); });
}

Status State::run(const Schedule &schedule, Buffers &values, std::vector<Point> &points,
                  const std::vector<bool> &isTaken) {
  for (const Schedule::Step &step : schedule.steps) {
    Buffers inputs, outputs;
    for (uint32_t number : step.inputs)
      inputs.push_back(values[number]);
    inputs.insert(inputs.end(), step.numbers.begin(), step.numbers.end());
    for (const auto &[input, output] : step.donations)
      if (!isTaken.empty() && isTaken[step.inputs[input]])
        values[step.outputs[output]] = inputs[input];
    for (uint32_t number : step.outputs) {
      if (!values[number]) {
        ZYX_ASSIGN_OR_RETURN(values[number], allocate(schedule.values[number].type, step.device));
      }
      outputs.push_back(values[number]);
    }
    ZYX_RETURN_IF_ERROR(step.program ? execute(*step.program, inputs, outputs, points)
                                     : copy(inputs[0], outputs[0], step.device, points));
  }
  return Status::ok();
}

Status State::copy(const std::shared_ptr<Buffer> &from, const std::shared_ptr<Buffer> &to, uint16_t device,
                   std::vector<Point> &points) {
  if (!homes[device].device || !to->reaches(*from))
    return to->copyFrom(*from);
  ZYX_ASSIGN_OR_RETURN(Point end, Buffer::copyLater(from, to, homes[device].device->queue()));
  points.push_back(std::move(end));
  return Status::ok();
}

Status State::start(Program &program, const Buffers &inputs, const Buffers &outputs, std::vector<Point> &points) {
  runtime::Executor &executor = *program.executor;
  bool isReady = true;
  const size_t firstWeight = inputs.size() - program.weights.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    isReady &= inputs[i]->isReady();
    if (i >= firstWeight && program.weights[i - firstWeight] == inputs[i]->number())
      continue;
    ZYX_RETURN_IF_ERROR(executor.bindInput(i, inputs[i]));
    if (i >= firstWeight)
      program.weights[i - firstWeight] = inputs[i]->number();
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    ZYX_RETURN_IF_ERROR(executor.bindOutput(i, outputs[i]));
  // A kernel is timed while its thread waits for it.
  if (!profiles.empty())
    return runProfiled(program);
  const Home &home = homes[program.device];
  // Others who know the stream have theirs wait for it, and the host for nothing.
  if (isReady && !program.isLong && home.shortArena->isFree() && !home.device->isShared())
    return executor.run();
  ZYX_ASSIGN_OR_RETURN(Point end, executor.submit());
  points.push_back(std::move(end));
  return Status::ok();
}

Status State::execute(Program &program, const Buffers &inputs, const Buffers &outputs, std::vector<Point> &points) {
  ++counted.runs;
  if (program.isInterpreted) {
    const uint64_t begin = Trace::now();
    const Status status = interpret(program, inputs, outputs);
    for (const auto &log : profiles)
      log->addEvaluation(program.number, homes[program.device].name, begin);
    return status;
  }
  const uint64_t before = program.executor->initLaunches();
  const Status status = withMemory(program.device, [&] { return start(program, inputs, outputs, points); });
  // What was bound belongs to its tensors alone, but for what a plan keeps as long as its program.
  program.executor->release(/*keepWeights=*/true);
  const uint64_t initLaunches = program.executor->initLaunches() - before;
  counted.launches += program.launches + initLaunches;
  // What it keeps from now on has been counted for none.
  hasNewPrograms |= initLaunches != 0;
  note(program, inputs, outputs);
  return status;
}

Status State::runProfiled(Program &program) {
  const uint64_t begin = Trace::now();
  ZYX_ASSIGN_OR_RETURN(const std::vector<runtime::CommandTime> times, program.executor->profile());
  for (const auto &log : profiles)
    log->add(program.number, homes[program.device].name, begin, program.executor->artifact(), times);
  return Status::ok();
}

Status State::interpret(const Program &program, const Buffers &inputs, const Buffers &outputs) {
  std::vector<HostTensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HostTensor value{program.source.node(program.source.inputs[i]).type, std::vector<std::byte>(inputs[i]->size())};
    ZYX_RETURN_IF_ERROR(inputs[i]->read(value.data));
    values.push_back(std::move(value));
  }
  const session::GraphDevice *device = session::findGraphDevice(homes[program.device].name);
  ZYX_ASSIGN_OR_RETURN(const std::vector<HostTensor> results, device->evaluate(program.source, values));
  for (size_t i = 0; i < results.size(); ++i)
    ZYX_RETURN_IF_ERROR(outputs[i]->write(results[i].data));
  return Status::ok();
}

Status State::checkIsNew(const PendingUpdate *pending) const {
  return pending && pending->contents->isGiven
             ? Status::invalidArgument("a pending update belongs to one run, and this one to another")
             : Status::ok();
}

/// Of what gets memory. The compiler refuses a tensor that is too large, too, but names the node that has its elements:
/// a constant, say, that was made elsewhere and is shared.
static Status checkSizes(const graph::Graph &graph, std::span<const NodeId> targets) {
  for (NodeId target : targets)
    if (const Result<int64_t> size = byteSize(graph.node(target).type); !size.isOk())
      return Status::outOfMemory(size.status().message());
  return Status::ok();
}

Status State::realize(std::span<const Tensor> tensors, const Place &where, const PendingUpdate *pending) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::unique_lock lock(mutex);
  return realizeLocked(tensors, where, lock, pending);
}

Status State::realizeLocked(std::span<const Tensor> tensors, const Place &where, std::unique_lock<ContextMutex> &lock,
                            const PendingUpdate *pending) {
  Build build;
  std::vector<NodeId> targets;
  Schedule made;
  do {
    ZYX_RETURN_IF_ERROR(readFiles(build, lock));
    ZYX_RETURN_IF_ERROR(compileMissing(build, lock));
    build.hits = 0;
    ++numCalls;
    ZYX_RETURN_IF_ERROR(checkIsNew(pending));
    ZYX_RETURN_IF_ERROR(checkMine(tensors));
    settle();
    for (const Tensor &tensor : tensors)
      ZYX_RETURN_IF_ERROR(takeFailure(nodeOf(tensor)));
    ZYX_RETURN_IF_ERROR(compact());
    targets.clear();
    for (const Tensor &tensor : tensors)
      if (NodeId node = nodeOf(tensor);
          !states[node].value && std::find(targets.begin(), targets.end(), node) == targets.end())
        targets.push_back(node);
    if (targets.empty())
      return Status::ok();
    ZYX_RETURN_IF_ERROR(checkSizes(graph, targets));
    ZYX_RETURN_IF_ERROR(takeFailuresBehind(targets));
    build.held.clear();
    ZYX_ASSIGN_OR_RETURN(made, schedule(targets, build));
  } while (!build.isComplete());
  counted.hits += build.hits;
  Buffers values(made.values.size());
  for (size_t i = 0; i < made.leaves.size(); ++i) {
    // A run that failed meanwhile.
    ZYX_RETURN_IF_ERROR(takeFailure(made.leaves[i]));
    values[made.leafNumbers[i]] = states[made.leaves[i]].value;
    touch(made.leaves[i]);
  }
  build.held.clear();
  std::vector<Point> points;
  ZYX_RETURN_IF_ERROR(run(made, values, points));
  // Nothing has changed up to here: after a failure every tensor is what it was.
  Flight flight{.points = std::move(points), .where = where};
  for (const auto &[node, number] : made.moved) {
    flight.moved.emplace_back(node, values[number]);
    setValue(node, values[number], made.values[number].device);
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    const uint32_t number = made.results[i];
    flight.targets.emplace_back(targets[i], values[number]);
    setValue(targets[i], std::move(values[number]), made.values[number].device);
    states[targets[i]].isCut = tapes == 0;
  }
  addFlight(std::move(flight), pending);
  boundPrograms();
  return Status::ok();
}

Result<std::vector<std::byte>> State::read(const Tensor &tensor, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::shared_ptr<Buffer> value;
  {
    std::unique_lock lock(mutex);
    ZYX_RETURN_IF_ERROR(realizeLocked({&tensor, 1}, where, lock));
    // What is handed over may have failed already.
    ZYX_RETURN_IF_ERROR(takeFailure(nodeOf(tensor)));
    value = states[nodeOf(tensor)].value;
    ++beingRead[value.get()];
  }
  std::vector<std::byte> bytes(value->size());
  Status status;
  {
    const WatchedRun watched;
    status = value->read(bytes);
  }
  {
    std::lock_guard lock(mutex);
    endRead(value.get());
    settle();
    if (Status told = takeFailure(nodeOf(tensor)); !told.isOk())
      status = told;
  }
  ZYX_RETURN_IF_ERROR(status);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Functions that are captured
//===----------------------------------------------------------------------===//

Result<State::Plan> State::plan(std::span<const Tensor> placeholders, std::span<const Tensor> results,
                                const JitOptions &options, size_t numWeights) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::unique_lock lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(results));
  std::vector<NodeId> open;
  Plan plan;
  plan.options = options;
  Build build;
  do {
    ZYX_RETURN_IF_ERROR(readFiles(build, lock));
    ZYX_RETURN_IF_ERROR(compileMissing(build, lock));
    ++numCalls;
    std::vector<NodeId> targets, donated;
    open.clear();
    for (const Tensor &placeholder : placeholders)
      open.push_back(nodeOf(placeholder));
    for (const Tensor &result : results)
      targets.push_back(nodeOf(result));
    ZYX_RETURN_IF_ERROR(checkSizes(graph, targets));
    for (size_t number : options.donated)
      donated.push_back(open[number]);
    ZYX_ASSIGN_OR_RETURN(plan.schedule, schedule(targets, build, std::span<const NodeId>(open), {}, donated,
                                                 std::span<const NodeId>(open).last(numWeights)));
  } while (!build.isComplete());
  for (NodeId leaf : plan.schedule.leaves) {
    const size_t position = std::find(open.begin(), open.end(), leaf) - open.begin();
    plan.inputs.push_back(position < open.size() ? position : open.size() + plan.captured.size());
    if (position == open.size())
      plan.captured.push_back(makeTensor(leaf));
  }
  boundPrograms();
  return plan;
}

std::vector<bool> State::chooseTaken(const Plan &plan, std::span<const Tensor> arguments, const Buffers &values) const {
  const Schedule &made = plan.schedule;
  std::vector<bool> isTaken(made.values.size());
  std::unordered_map<const Buffer *, size_t> owners, readers;
  for (const NodeState &state : states)
    if (state.value)
      ++owners[state.value.get()];
  for (uint32_t number : made.leafNumbers)
    ++readers[values[number].get()];
  for (const Schedule::Step &step : made.steps)
    for (const artifact::Donation &donation : step.donations) {
      const uint32_t number = step.inputs[donation.input];
      const size_t leaf =
          std::find(made.leafNumbers.begin(), made.leafNumbers.end(), number) - made.leafNumbers.begin();
      const Tensor &tensor = arguments[plan.inputs[leaf]];
      const NodeId node = nodeOf(tensor);
      const Buffer *buffer = values[number].get();
      // A node of another kind can be made once more. Its one use is the one handle, of which there may be copies.
      isTaken[number] = graph.node(node).op == Op::Parameter && states[node].uses == 1 && buffer->ownsMemory() &&
                        owners[buffer] == 1 && readers[buffer] == 1 && !beingRead.contains(buffer) &&
                        (!plan.options.callerHandles ||
                         static_cast<size_t>(handleOf(tensor).use_count()) <= 1 + *plan.options.callerHandles);
    }
  return isTaken;
}

void State::invalidateDonated(NodeId node, const Place &where, const Status &ended) {
  setValue(node, nullptr);
  hasFailed |= !ended.isOk();
  const std::string call = "the tensor was donated to the call at " + std::string(where.file_name()) + ":" +
                           std::to_string(where.line()) + ", ";
  states[node].failure = std::make_shared<Failure>(
      Failure{ended.isOk() ? Status::invalidArgument(call + "and a result of that took its memory")
                           : Status(ended.code(), call + "which failed").withCause(ended)});
}

Result<std::vector<Tensor>> State::run(const Plan &plan, std::span<const Tensor> arguments, const Place &where,
                                       const PendingUpdate *pending) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::unique_lock lock(mutex);
  const Schedule &made = plan.schedule;
  const auto lacksValue = [&](const Tensor &tensor) { return !states[nodeOf(tensor)].value; };
  Build build;
  bool isComplete = false;
  while (!isComplete) {
    ZYX_RETURN_IF_ERROR(readFiles(build, lock));
    ZYX_RETURN_IF_ERROR(compileMissing(build, lock));
    ZYX_RETURN_IF_ERROR(checkIsNew(pending));
    ZYX_RETURN_IF_ERROR(realizeLocked(arguments, where, lock));
    // What the function reads besides had values when it was captured; runs that made them may have failed since.
    if (std::ranges::any_of(plan.captured, lacksValue)) {
      ZYX_RETURN_IF_ERROR(realizeLocked(plan.captured, where, lock));
      // The lock may have been let go.
      if (std::ranges::any_of(arguments, lacksValue))
        continue;
    }
    for (const std::span<const Tensor> tensors : {arguments, std::span<const Tensor>(plan.captured)})
      for (const Tensor &tensor : tensors)
        if (const NodeId node = nodeOf(tensor); states[node].at == onDisk)
          build.files.emplace_back(node, states[node].device);
        else
          build.held.push_back(states[node].value);
    // Programs may have been let go since.
    ++numCalls;
    for (const Schedule::Step &step : made.steps) {
      if (!step.program || step.program->isInterpreted)
        continue;
      step.program->lastUse = numCalls;
      if (!step.program->executor)
        ZYX_RETURN_IF_ERROR(load(*step.program, step.program->key, step.program->source, build));
    }
    isComplete = build.isComplete();
  }
  Buffers values(made.values.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const size_t input = plan.inputs[i];
    const Tensor &tensor = input < arguments.size() ? arguments[input] : plan.captured[input - arguments.size()];
    const NodeId node = nodeOf(tensor);
    ZYX_RETURN_IF_ERROR(takeFailure(node));
    values[made.leafNumbers[i]] = states[node].value;
    touch(node);
  }
  build.held.clear();
  counted.hits +=
      std::count_if(made.steps.begin(), made.steps.end(), [](const Schedule::Step &step) { return step.program; });
  std::vector<Point> points;
  std::vector<bool> isTaken;
  if (!plan.options.donated.empty())
    isTaken = chooseTaken(plan, arguments, values);
  const Status ran = run(made, values, points, isTaken);
  Flight flight{.points = std::move(points), .where = where};
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const uint32_t number = made.leafNumbers[i];
    // What fails before it begins takes nothing.
    if (isTaken.empty() || !isTaken[number] || (!ran.isOk() && values[number]->wait(false).isOk()))
      continue;
    const NodeId node = nodeOf(arguments[plan.inputs[i]]);
    flight.taken.emplace_back(node, values[number]);
    invalidateDonated(node, where, ran);
  }
  ZYX_RETURN_IF_ERROR(ran);
  counted.taken += flight.taken.size();
  counted.notTaken += plan.options.donated.size() - flight.taken.size();
  std::vector<Tensor> results;
  for (uint32_t number : made.results) {
    const Schedule::Value &value = made.values[number];
    ZYX_ASSIGN_OR_RETURN(results.emplace_back(), addLeaf(value.type, values[number], value.device, where));
    flight.targets.emplace_back(nodeOf(results.back()), values[number]);
  }
  addFlight(std::move(flight), pending);
  boundPrograms();
  return results;
}
