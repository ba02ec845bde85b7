//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Conversion/PlanToArtifact/PlanToArtifact.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"

#include "zyx/Artifact/Commands.h"
#include "zyx/Base/Assert.h"
#include "zyx/Base/Bytes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace zyx;
using namespace zyx::plan;

namespace {

/// One conversion. Values of the plan are numbered as buffers and commands of the artifact.
class Writer {
public:
  Writer(ModuleOp module, FuncOp func, const target::TargetInfo &target)
      : symbols(module), func(func), target(target) {}

  Status run(std::vector<artifact::CodeBlob> code, FactsByName known) {
    facts = std::move(known);
    auto kernels = llvm::make_filter_range(func->getParentOfType<ModuleOp>().getOps<kernel::FuncOp>(),
                                           [](kernel::FuncOp kernel) { return !kernel.getExternal(); });
    const auto numExternal = llvm::count_if(facts, [](const auto &known) { return known.second.code.has_value(); });
    if (code.size() - static_cast<size_t>(numExternal) != 1)
      for (auto [i, kernel] : llvm::enumerate(kernels))
        blobs[kernel] = i;
    result.entry = func.getName().str();
    result.target = target.device;
    result.cpuFeatures = target.requiredFeatures;
    result.code = std::move(code);
    addArguments();
    ZYX_RETURN_IF_ERROR(addBlock(func.getBody().front()));
    addInitSteps();
    return result.verify();
  }

  artifact::Artifact result;

private:
  Status refuse(Operation *op, const llvm::Twine &reason) {
    return Status::compileFailed("entry '" + func.getName().str() + "': " + op->getName().getStringRef().str() + " " +
                                 reason.str());
  }

  uint64_t sizeOf(Value buffer) { return cast<BufferType>(buffer.getType()).getByteSize(); }

  void addBuffer(Value value, artifact::BufferKind kind, uint64_t position) {
    buffers[value] = result.buffers.size();
    result.buffers.push_back({kind, position, sizeOf(value)});
  }

  void addArguments() {
    for (auto [i, argument] : llvm::enumerate(func.getBody().getArguments())) {
      StringAttr input = func.getInputName(i);
      auto &arguments = input ? result.inputs : result.outputs;
      auto kind = input ? artifact::BufferKind::Input : artifact::BufferKind::Output;
      addBuffer(argument, kind, arguments.size());
      arguments.push_back({(input ? input : func.getOutputName(i)).str(),
                           cast<BufferType>(argument.getType()).getTensorType(), func.isWeight(i)});
    }
  }

  Status addBlock(Block &block) {
    for (Operation &op : block)
      ZYX_RETURN_IF_ERROR(addOp(op));
    return Status::ok();
  }

  Status addLoop(LoopOp op) {
    artifact::Loop loop;
    loop.trips = op.getTrips().value_or(0);
    if (op.getCount()) {
      loop.count = refTo(op.getCount());
      if (cast<BufferType>(op.getCount().getType()).getDtype() == DType::Bool)
        loop.trips = artifact::tripsAreWhile;
    }
    if (op.getIndex())
      loop.index = refTo(op.getIndex());
    const size_t at = result.commands.size();
    ZYX_RETURN_IF_ERROR(addCommand(op, loop));
    std::vector<uint32_t> bodies;
    for (Region &body : op.getBodies()) {
      const size_t begin = result.commands.size();
      ZYX_RETURN_IF_ERROR(addBlock(body.front()));
      bodies.push_back(static_cast<uint32_t>(result.commands.size() - begin));
    }
    auto &made = std::get<artifact::Loop>(result.commands[at].action);
    made.body = static_cast<uint32_t>(result.commands.size() - at - 1);
    if (bodies.size() > 1)
      made.bodies = std::move(bodies);
    return Status::ok();
  }

  Status addOp(Operation &op) {
    return llvm::TypeSwitch<Operation *, Status>(&op)
        .Case([&](ArenaOp arena) {
          (arena.getKept() ? result.keptSize : result.arenaSize) = sizeOf(arena.getResult());
          return Status::ok();
        })
        .Case([&](SliceOp slice) {
          const bool isKept = slice.getArena().getDefiningOp<ArenaOp>().getKept();
          addBuffer(slice.getResult(), isKept ? artifact::BufferKind::Kept : artifact::BufferKind::Arena,
                    slice.getOffset());
          return Status::ok();
        })
        .Case([&](ConstantOp constant) {
          uint64_t offset = llvm::alignTo(result.constants.size(), alignment);
          addBuffer(constant.getResult(), artifact::BufferKind::Constant, offset);
          result.constants.resize(offset);
          for (int8_t byte : constant.getValue())
            result.constants.push_back(static_cast<std::byte>(byte));
          return Status::ok();
        })
        .Case([&](LaunchOp launch) { return addLaunch(launch); })
        .Case([&](CopyOp copy) {
          return addCommand(
              copy, artifact::Copy{refTo(copy.getSource()), refTo(copy.getDestination()), sizeOf(copy.getSource())});
        })
        .Case([&](FillOp fill) {
          DType dtype = cast<BufferType>(fill.getDestination().getType()).getDtype();
          return addCommand(fill, artifact::Fill{refTo(fill.getDestination()), sizeOf(fill.getDestination()),
                                                 static_cast<uint64_t>(fill.getBits()),
                                                 static_cast<uint8_t>(byteSize(dtype))});
        })
        .Case([&](LoopOp loop) { return addLoop(loop); })
        .Case([&](InitOp init) {
          ZYX_RETURN_IF_ERROR(addBlock(init.getBody().front()));
          result.numInitCommands = static_cast<uint32_t>(result.commands.size());
          return Status::ok();
        })
        .Case([&](ReturnOp) { return Status::ok(); })
        .Default([&](Operation *other) { return refuse(other, "is nothing that an artifact can hold"); });
  }

  artifact::BufferRef refTo(Value buffer) { return {buffers.lookup(buffer), 0}; }

  Status addCommand(CommandOpInterface command, decltype(artifact::Command::action) action) {
    artifact::Command made{std::move(action), {}};
    for (OpOperand &event : command.getWaitMutable())
      made.wait.push_back(commands.lookup(event.get()));
    commands[command.getEvent()] = result.commands.size();
    result.commands.push_back(std::move(made));
    return Status::ok();
  }

  Status addLaunch(LaunchOp op) {
    auto kernel = symbols.lookup<kernel::FuncOp>(op.getKernel());
    if (!kernel)
      return refuse(op, "launches '" + op.getKernel() + "', which is no kernel.func");
    artifact::Launch launch;
    for (Value buffer : llvm::concat<Value>(op.getIns(), op.getOuts())) {
      launch.buffers.push_back(refTo(buffer));
      launch.bytes += sizeOf(buffer);
    }
    if (op.getBytes() != 0)
      launch.bytes = op.getBytes();
    launch.scalars.assign(op.getScalars().begin(), op.getScalars().end());
    launch.flops = op.getFlops();
    const KernelFacts &own = factsOf(kernel);
    std::vector<uint64_t> bytes;
    for (Value buffer : llvm::concat<Value>(op.getIns(), op.getOuts()))
      bytes.push_back(sizeOf(buffer));
    launch.kernel = addKernel(kernel, own, launch, op.getOuts().size(), std::move(bytes));
    if (!own.grid)
      return refuse(op, "launches '" + op.getKernel() + "', whose grid is known at run time only");
    launch.grid = *own.grid;
    return addCommand(op, std::move(launch));
  }

  const KernelFacts &factsOf(kernel::FuncOp kernel) {
    auto [known, isNew] = facts.try_emplace(kernel.getName().str());
    if (isNew)
      known->second = plan::factsOf(kernel, target, hashBytes(std::string_view(textWithoutName(kernel))));
    return known->second;
  }

  uint32_t addKernel(kernel::FuncOp kernel, const KernelFacts &own, const artifact::Launch &launch, uint32_t numWritten,
                     std::vector<uint64_t> bufferBytes) {
    // One that touches nothing may be launched for an output here and for an input there, and with buffers of other
    // sizes.
    auto [it, isNew] = kernels.try_emplace({kernel, numWritten, bufferBytes}, result.kernels.size());
    if (!isNew)
      return it->second;
    sources.push_back(kernel);
    artifact::SourceLocation location;
    if (auto place = kernel.getLoc()->findInstanceOf<FileLineColLoc>())
      location = {place.getFilename().str(), place.getLine(), place.getColumn()};
    artifact::Kernel made;
    made.symbol = own.symbol;
    made.name = kernel.getName().str();
    if (kernel::ExternalAttr external = kernel.getExternalAttr())
      made.name += " of custom '" + external.getOp().str() + "'";
    made.code = own.code.value_or(blobs.lookup(kernel));
    made.numBuffers = static_cast<uint32_t>(launch.buffers.size());
    made.numScalars = static_cast<uint32_t>(launch.scalars.size());
    made.location = std::move(location);
    made.numWritten = numWritten;
    made.bufferBytes = std::move(bufferBytes);
    made.stackBytes = own.stackBytes;
    made.groupThreads = own.groupThreads;
    made.clusterGroups = own.clusterGroups;
    made.sharedBytes = own.sharedBytes;
    made.tensorMaps = own.tensorMaps;
    made.waits = own.waits;
    result.kernels.push_back(std::move(made));
    return it->second;
  }

  /// Cuts the init wherever nothing that is made before is used behind, so that each step can be made, and shared,
  /// alone.
  void addInitSteps() {
    const size_t numCommands = result.numInitCommands;
    // The first and the last command that uses each buffer that the init makes.
    std::vector<std::pair<size_t, size_t>> uses(result.buffers.size(), {numCommands, 0});
    std::vector<bool> isCut(numCommands + 1, true);
    for (size_t i = 0; i < numCommands; ++i) {
      if (const auto *loop = std::get_if<artifact::Loop>(&result.commands[i].action))
        std::fill_n(isCut.begin() + i + 1, loop->body, false);
      artifact::forEachRef(result.commands[i], [&](const artifact::BufferRef &ref) {
        auto &[first, last] = uses[ref.buffer];
        first = std::min(first, i);
        last = std::max(last, i);
      });
    }
    for (auto [buffer, use] : llvm::zip(result.buffers, uses))
      if (buffer.kind == artifact::BufferKind::Arena || buffer.kind == artifact::BufferKind::Kept)
        for (size_t i = use.first + 1; i <= use.second; ++i)
          isCut[i] = false;
    // Bytes that are kept lie in the order of the steps.
    auto ofKept = [&](size_t from, size_t to, auto &&visit) {
      for (size_t i = from; i < to; ++i)
        artifact::forEachRef(result.commands[i], [&](const artifact::BufferRef &ref) {
          if (const artifact::Buffer &buffer = result.buffers[ref.buffer]; buffer.kind == artifact::BufferKind::Kept)
            visit(buffer);
        });
    };
    std::vector<uint64_t> ends(numCommands + 1), begins(numCommands + 1, result.keptSize);
    for (size_t i = 0; i < numCommands; ++i) {
      ends[i + 1] = ends[i];
      ofKept(i, i + 1, [&](const artifact::Buffer &buffer) {
        ends[i + 1] = std::max(ends[i + 1], buffer.position + buffer.size);
      });
    }
    for (size_t i = numCommands; i-- != 0;) {
      begins[i] = begins[i + 1];
      ofKept(i, i + 1, [&](const artifact::Buffer &buffer) { begins[i] = std::min(begins[i], buffer.position); });
    }
    uint64_t keptBegin = 0;
    for (size_t from = 0, to; from < numCommands; from = to) {
      to = from + 1;
      while (to < numCommands && (!isCut[to] || ends[to] > begins[to]))
        ++to;
      artifact::InitStep step;
      step.numCommands = static_cast<uint32_t>(to - from);
      const uint64_t keptEnd = to == numCommands ? result.keptSize : begins[to];
      step.keptSize = keptEnd - keptBegin;
      step.identity = identify(from, to, keptBegin);
      result.initSteps.push_back(step);
      keptBegin = keptEnd;
    }
  }

  /// Of the code and arguments of the commands [from, to), whose kept bytes begin there.
  Hash128 identify(size_t from, size_t to, uint64_t keptBegin) {
    ByteWriter of;
    of.string(ZYX_VERSION);
    of.string(result.target);
    of.u64(result.cpuFeatures.size());
    for (const std::string &feature : result.cpuFeatures)
      of.string(feature);
    // By the order of their first uses.
    llvm::DenseMap<uint32_t, uint32_t> numbers;
    auto addRef = [&](const artifact::BufferRef &ref) {
      auto [it, isNew] = numbers.try_emplace(ref.buffer, numbers.size());
      of.u32(it->second);
      of.u64(ref.offset);
      if (!isNew)
        return;
      const artifact::Buffer &buffer = result.buffers[ref.buffer];
      of.u8(static_cast<uint8_t>(buffer.kind));
      of.u64(buffer.size);
      if (buffer.kind == artifact::BufferKind::Kept)
        of.u64(buffer.position - keptBegin);
      if (buffer.kind == artifact::BufferKind::Constant)
        of.blob(std::span(result.constants).subspan(buffer.position, buffer.size));
    };
    for (size_t i = from; i < to; ++i) {
      const auto &action = result.commands[i].action;
      of.u8(static_cast<uint8_t>(action.index()));
      if (const auto *launch = std::get_if<artifact::Launch>(&action)) {
        const Hash128 &kernel = factsOf(sources[launch->kernel]).identity;
        of.u64(kernel.high);
        of.u64(kernel.low);
        of.u32(result.kernels[launch->kernel].numWritten);
        for (int64_t extent : launch->grid)
          of.i64(extent);
        of.u64(launch->scalars.size());
        for (int64_t scalar : launch->scalars)
          of.i64(scalar);
        of.u64(launch->buffers.size());
      } else if (const auto *copy = std::get_if<artifact::Copy>(&action)) {
        of.u64(copy->size);
      } else if (const auto *fill = std::get_if<artifact::Fill>(&action)) {
        of.u64(fill->size);
        of.u64(fill->pattern);
        of.u8(fill->patternSize);
      } else {
        const auto &loop = std::get<artifact::Loop>(action);
        of.u32(loop.body);
        of.u64(loop.bodies.size());
        for (uint32_t body : loop.bodies)
          of.u32(body);
        of.i64(loop.trips);
        of.u8(loop.count.has_value());
        of.u8(loop.index.has_value());
      }
      artifact::forEachRef(result.commands[i], addRef);
    }
    return hashBytes(of.view());
  }

  SymbolTable symbols;
  FuncOp func;
  const target::TargetInfo &target;
  /// Where each kernel has code of its own.
  llvm::DenseMap<Operation *, uint32_t> blobs;
  llvm::DenseMap<Value, uint32_t> buffers, commands;
  /// By what they write, too.
  std::map<std::tuple<Operation *, uint32_t, std::vector<uint64_t>>, uint32_t> kernels;
  FactsByName facts;
  /// What each kernel of the artifact is made of.
  std::vector<kernel::FuncOp> sources;
};

} // namespace

Result<artifact::Artifact> zyx::plan::toArtifact(ModuleOp module, const target::TargetInfo &target,
                                                 std::vector<artifact::CodeBlob> code, FactsByName facts) {
  SmallVector<FuncOp> entries(module.getOps<FuncOp>());
  if (entries.size() != 1)
    return Status::compileFailed("an artifact holds one entry, and the module has " + std::to_string(entries.size()));
  Writer writer(module, entries.front(), target);
  ZYX_RETURN_IF_ERROR(writer.run(std::move(code), std::move(facts)));
  return std::move(writer.result);
}
