//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/Artifact.h"
#include "zyx/Artifact/Commands.h"

#include <algorithm>
#include <set>
#include <string_view>

using namespace zyx;
using namespace zyx::artifact;

namespace {

std::string number(uint64_t value) { return std::to_string(value); }

Status bad(const std::string &where, const std::string &why) { return Status::dataCorruption(where + " " + why); }

class Verifier {
public:
  explicit Verifier(const Artifact &artifact) : artifact(artifact) {}

  Status run() {
    ZYX_RETURN_IF_ERROR(arguments("input", artifact.inputs));
    ZYX_RETURN_IF_ERROR(arguments("output", artifact.outputs));
    for (const Argument &argument : artifact.outputs)
      if (argument.isWeight)
        return bad("output '" + argument.name + "'", "is a weight");
    ZYX_RETURN_IF_ERROR(initSteps());
    for (size_t i = 0; i < artifact.buffers.size(); ++i)
      ZYX_RETURN_IF_ERROR(buffer("buffer " + number(i), artifact.buffers[i]));
    for (size_t i = 0; i < artifact.kernels.size(); ++i) {
      const std::string where = "kernel " + number(i);
      if (artifact.kernels[i].code >= artifact.code.size())
        return bad(where,
                   "names code blob " + number(artifact.kernels[i].code) + " of " + number(artifact.code.size()));
      const std::string &symbol = artifact.kernels[i].symbol;
      if (artifact.kernels[i].numWritten > artifact.kernels[i].numBuffers)
        return bad(where, "writes " + number(artifact.kernels[i].numWritten) + " of " +
                              number(artifact.kernels[i].numBuffers) + " buffers");
      if (const size_t known = artifact.kernels[i].bufferBytes.size();
          known != 0 && known != artifact.kernels[i].numBuffers)
        return bad(where, "says how many bytes it is given of " + number(known) + " of " +
                              number(artifact.kernels[i].numBuffers) + " buffers");
      if (symbol.empty() || symbol.find('\0') != symbol.npos)
        return bad(where, "has no valid symbol");
      for (const TensorMap &map : artifact.kernels[i].tensorMaps) {
        const size_t rank = map.extents.size();
        const bool isSize = map.elementBytes == 1 || map.elementBytes == 2 || map.elementBytes == 4;
        const bool isSwizzle = map.swizzle == 32 || map.swizzle == 64 || map.swizzle == 128;
        if (map.buffer >= artifact.kernels[i].numBuffers)
          return bad(where, "has a tensor map of buffer " + number(map.buffer) + " of " +
                                number(artifact.kernels[i].numBuffers));
        const size_t positions = map.low.size();
        const bool isForm = positions == 0 ? map.box.size() == rank : map.box.size() == 2 && positions + 2 == rank;
        if (rank == 0 || rank > maxTensorMapRank || map.strides.size() + 1 != rank || !isForm ||
            map.high.size() != positions || map.steps.size() != positions || !isSize || !isSwizzle)
          return bad(where, "has a tensor map of an unknown form");
      }
    }
    return commands();
  }

private:
  static Status arguments(const std::string &kind, const std::vector<Argument> &arguments) {
    std::set<std::string_view> names;
    for (const Argument &argument : arguments) {
      const std::string where = kind + " '" + argument.name + "'";
      if (!names.insert(argument.name).second)
        return bad(where, "exists twice");
      if (Result<int64_t> size = byteSize(argument.type); !size)
        return bad(where, "is refused: " + size.status().message());
    }
    return Status::ok();
  }

  static Status argumentBuffer(const std::string &where, const Buffer &buffer, const std::vector<Argument> &arguments) {
    if (buffer.position >= arguments.size())
      return bad(where, "names argument " + number(buffer.position) + " of " + number(arguments.size()));
    const auto size = static_cast<uint64_t>(*byteSize(arguments[buffer.position].type));
    if (buffer.size != size)
      return bad(where, "has " + number(buffer.size) + " bytes, and its argument " + number(size));
    return Status::ok();
  }

  static Status rangeBuffer(const std::string &where, const Buffer &buffer, uint64_t size) {
    if (buffer.position % alignment != 0)
      return bad(where, "starts at the unaligned byte " + number(buffer.position));
    if (buffer.position > size || buffer.size > size - buffer.position)
      return bad(where, "spans " + number(buffer.size) + " bytes from byte " + number(buffer.position) + " of " +
                            number(size));
    return Status::ok();
  }

  /// Which say where each command and each kept byte belongs.
  Status initSteps() {
    if (artifact.numInitCommands > artifact.commands.size())
      return bad("the init",
                 "has " + number(artifact.numInitCommands) + " of " + number(artifact.commands.size()) + " commands");
    if (artifact.initSteps.empty())
      return Status::ok();
    uint64_t commands = 0, bytes = 0;
    for (size_t i = 0; i < artifact.initSteps.size(); ++i) {
      const InitStep &step = artifact.initSteps[i];
      const std::string where = "step " + number(i) + " of the init";
      if (step.numCommands == 0)
        return bad(where, "has no command");
      if (step.keptSize > artifact.keptSize - bytes)
        return bad(where, "keeps " + number(step.keptSize) + " of the " + number(artifact.keptSize - bytes) +
                              " bytes behind the steps before");
      commands += step.numCommands;
      bytes += step.keptSize;
      if (bytes % alignment != 0 && bytes != artifact.keptSize)
        return bad(where, "ends its kept bytes at the unaligned byte " + number(bytes));
      ends.push_back({commands, bytes});
    }
    if (commands != artifact.numInitCommands || bytes != artifact.keptSize)
      return bad("the steps of the init", "have " + number(commands) + " of " + number(artifact.numInitCommands) +
                                              " commands and " + number(bytes) + " of " + number(artifact.keptSize) +
                                              " kept bytes");
    return Status::ok();
  }

  /// A part of what is kept is one step's.
  Status keptBuffer(const std::string &where, const Buffer &buffer) const {
    ZYX_RETURN_IF_ERROR(rangeBuffer(where, buffer, artifact.keptSize));
    const auto step = std::ranges::upper_bound(ends, buffer.position, {}, &std::pair<uint64_t, uint64_t>::second);
    if (step != ends.end() && buffer.size > step->second - buffer.position)
      return bad(where, "is kept by two steps of the init");
    return Status::ok();
  }

  Status buffer(const std::string &where, const Buffer &buffer) const {
    switch (buffer.kind) {
    case BufferKind::Input:
      return argumentBuffer(where, buffer, artifact.inputs);
    case BufferKind::Output:
      return argumentBuffer(where, buffer, artifact.outputs);
    case BufferKind::Arena:
      return rangeBuffer(where, buffer, artifact.arenaSize);
    case BufferKind::Kept:
      return keptBuffer(where, buffer);
    case BufferKind::Constant:
      break;
    }
    return rangeBuffer(where, buffer, artifact.constants.size());
  }

  /// `ref` names at least `size` bytes, which are read or written.
  Status range(const std::string &where, const BufferRef &ref, uint64_t size) const {
    if (ref.buffer >= artifact.buffers.size())
      return bad(where, "names buffer " + number(ref.buffer) + " of " + number(artifact.buffers.size()));
    const uint64_t available = artifact.buffers[ref.buffer].size;
    if (ref.offset > available || size > available - ref.offset)
      return bad(where, "uses " + number(size) + " bytes from byte " + number(ref.offset) + " of buffer " +
                            number(ref.buffer) + ", which has " + number(available));
    const Buffer &buffer = artifact.buffers[ref.buffer];
    if (isInit && !ends.empty() && buffer.kind == BufferKind::Kept && buffer.size != 0 &&
        (buffer.position < firstByte || buffer.position >= ends[step].second))
      return bad(where, "is of step " + number(step) + " of the init, and uses buffer " + number(ref.buffer) +
                            ", which another step keeps");
    if (isInit && (buffer.kind == BufferKind::Output ||
                   (buffer.kind == BufferKind::Input && !artifact.inputs[buffer.position].isWeight)))
      return bad(where, "is of the init, and uses buffer " + number(ref.buffer) + ", which is no weight and not kept");
    return Status::ok();
  }

  Status readable(const std::string &where, const BufferRef &ref, uint64_t size) const {
    ZYX_RETURN_IF_ERROR(range(where, ref, size));
    const BufferKind kind = artifact.buffers[ref.buffer].kind;
    // Else the step's identity would say too little.
    if (isInit && !ends.empty() && (kind == BufferKind::Arena || kind == BufferKind::Kept) &&
        !made.contains(ref.buffer))
      return bad(where, "is of step " + number(step) + " of the init, and reads buffer " + number(ref.buffer) +
                            ", which no command of the step has written before");
    return Status::ok();
  }

  Status writable(const std::string &where, const BufferRef &ref, uint64_t size) {
    ZYX_RETURN_IF_ERROR(range(where, ref, size));
    const BufferKind kind = artifact.buffers[ref.buffer].kind;
    if (isInit)
      made.insert(ref.buffer);
    if (kind == BufferKind::Input || kind == BufferKind::Constant)
      return bad(where, "writes buffer " + number(ref.buffer) + ", which is only read");
    if (kind == BufferKind::Kept && !isInit)
      return bad(where, "writes buffer " + number(ref.buffer) + ", which only the init writes");
    return Status::ok();
  }

  Status check(const std::string &where, const Launch &launch) {
    if (launch.kernel >= artifact.kernels.size())
      return bad(where, "names kernel " + number(launch.kernel) + " of " + number(artifact.kernels.size()));
    const Kernel &kernel = artifact.kernels[launch.kernel];
    if (launch.buffers.size() != kernel.numBuffers || launch.scalars.size() != kernel.numScalars)
      return bad(where, "passes " + number(launch.buffers.size()) + " buffers and " + number(launch.scalars.size()) +
                            " scalars to kernel '" + kernel.name + "', which takes " + number(kernel.numBuffers) +
                            " and " + number(kernel.numScalars));
    const size_t numRead = kernel.numBuffers - kernel.numWritten;
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      const uint64_t bytes = kernel.bufferBytes.empty() ? 0 : kernel.bufferBytes[i];
      ZYX_RETURN_IF_ERROR(i < numRead ? readable(where, launch.buffers[i], bytes)
                                      : writable(where, launch.buffers[i], bytes));
    }
    if (!numElements(Shape(launch.grid.begin(), launch.grid.end())))
      return bad(where, "has an impossible grid");
    return Status::ok();
  }

  Status check(const std::string &where, const Copy &copy) {
    ZYX_RETURN_IF_ERROR(readable(where, copy.source, copy.size));
    return writable(where, copy.destination, copy.size);
  }

  Status check(const std::string &where, const Fill &fill) {
    const unsigned size = fill.patternSize;
    if ((size != 1 && size != 2 && size != 4 && size != 8) || fill.size % size != 0)
      return bad(where, "fills " + number(fill.size) + " bytes with a pattern of " + number(size));
    return writable(where, fill.destination, fill.size);
  }

  Status check(const std::string &where, const Loop &loop) {
    if (loop.trips < 0 && !(loop.isWhile() && loop.count))
      return bad(where, "runs its body " + std::to_string(loop.trips) + " times");
    if (loop.bodies.size() > maxLoopBodies)
      return bad(where, "has " + number(loop.bodies.size()) + " bodies; " + number(maxLoopBodies) + " are the most");
    uint64_t size = 0;
    for (uint32_t body : loop.bodies)
      size += body;
    if (!loop.bodies.empty() && size != loop.body)
      return bad(where, "has " + number(loop.body) + " commands, and its bodies " + number(size));
    if (loop.count)
      ZYX_RETURN_IF_ERROR(readable(where, *loop.count, loop.countSize()));
    if (loop.index)
      ZYX_RETURN_IF_ERROR(writable(where, *loop.index, sizeof(int64_t)));
    return Status::ok();
  }

  /// Walks the commands with the loops around each.
  Status commands() {
    const size_t none = artifact.commands.size();
    /// The loops that are open: where their bodies end, and which of these command i stands in.
    struct Open {
      std::vector<size_t> ends;
      size_t body = 0;
      size_t scope = 0;
    };
    std::vector<Open> open;
    /// Of each command a number of the body that it stands in.
    std::vector<size_t> scopes;
    size_t numScopes = 0;
    for (size_t i = 0; i < artifact.commands.size(); ++i) {
      while (!open.empty() && open.back().ends[open.back().body] == i) {
        open.back().scope = ++numScopes;
        if (++open.back().body == open.back().ends.size())
          open.pop_back();
      }
      const std::string where = "command " + number(i);
      const Command &command = artifact.commands[i];
      isInit = i < artifact.numInitCommands;
      if (i == artifact.numInitCommands && !open.empty())
        return bad(where, "is in a loop of which a part is of the init");
      if (isInit && !ends.empty() && i == ends[step].first) {
        if (!open.empty())
          return bad(where, "is in a loop of which a part is of another step of the init");
        firstByte = ends[step++].second;
        made.clear();
      }
      scopes.push_back(open.empty() ? 0 : open.back().scope);
      for (uint32_t earlier : command.wait) {
        if (earlier >= i)
          return bad(where, "waits for command " + number(earlier) + ", which is not earlier");
        if (earlier < artifact.numInitCommands && !isInit)
          return bad(where, "waits for command " + number(earlier) + ", which is of the init");
        if (scopes[earlier] != scopes[i])
          return bad(where, "waits for command " + number(earlier) + ", which is in another loop or body");
      }
      ZYX_RETURN_IF_ERROR(std::visit([&](const auto &action) { return check(where, action); }, command.action));
      const auto *loop = std::get_if<Loop>(&command.action);
      if (!loop)
        continue;
      const size_t end = open.empty() ? none : open.back().ends[open.back().body];
      if (loop->body > end - i - 1)
        return bad(where,
                   "loops over " + number(loop->body) + " of the " + number(end - i - 1) + " commands behind it");
      if (open.size() == maxLoopDepth)
        return bad(where, "is a loop inside of " + number(maxLoopDepth) + " others");
      open.push_back({endsOfBodies(*loop, i), 0, ++numScopes});
    }
    return Status::ok();
  }

  const Artifact &artifact;
  /// Whether the command that is checked is of the init.
  bool isInit = false;
  /// Behind the steps of the init: their commands and kept bytes, those before included.
  std::vector<std::pair<uint64_t, uint64_t>> ends;
  /// Of the command that is checked: its step, where the kept bytes of that begin, and what the step wrote before.
  size_t step = 0;
  uint64_t firstByte = 0;
  std::set<uint32_t> made;
};

} // namespace

Status Artifact::verify() const { return Verifier(*this).run(); }
