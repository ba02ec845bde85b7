//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/Artifact.h"
#include "zyx/Artifact/File.h"
#include "zyx/Artifact/TensorMapBytes.h"
#include "zyx/Base/Allocate.h"
#include "zyx/Base/Envelope.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::artifact;

namespace {

constexpr Envelope envelope{"\x7fZYXPLAN", formatVersion, Envelope::Checksum::Bits128, oldestFormatVersion};
enum class Tag : uint8_t { Launch = 0, Copy = 1, Fill = 2, Loop = 3 };

// Each type has a `put` and a `get` that name the same fields in the same order. After a failure
// a reader returns zeros and no entries, so `get` checks only what a number can mean. A field that a version adds is
// read of that version and later ones alone; of earlier ones it has its default (docs/artifacts.md).

void put(ByteWriter &to, const Argument &argument) {
  to.string(argument.name);
  to.u8(static_cast<uint8_t>(argument.type.dtype));
  to.u64(argument.type.shape.size());
  for (int64_t extent : argument.type.shape)
    to.i64(extent);
  to.u8(argument.isWeight);
}

Status get(ByteReader &from, Argument &argument) {
  argument.name = from.string("argument name");
  const uint8_t value = from.u8("dtype");
  const std::optional<DType> dtype = dtypeFromValue(value);
  if (!dtype)
    return Status::dataCorruption("dtype " + std::to_string(value) + " is unknown");
  argument.type.dtype = *dtype;
  argument.type.shape.resize(from.count("rank", 8));
  for (int64_t &extent : argument.type.shape)
    extent = from.i64("extent");
  const uint8_t isWeight = from.u8("whether an argument is a weight");
  if (isWeight > 1)
    return Status::dataCorruption("whether an argument is a weight is " + std::to_string(isWeight));
  argument.isWeight = isWeight != 0;
  return Status::ok();
}

void put(ByteWriter &to, const Buffer &buffer) {
  to.u8(static_cast<uint8_t>(buffer.kind));
  to.u64(buffer.position);
  to.u64(buffer.size);
}

Status get(ByteReader &from, Buffer &buffer) {
  const uint8_t kind = from.u8("buffer kind");
  if (kind > static_cast<uint8_t>(BufferKind::Kept))
    return Status::dataCorruption("buffer kind " + std::to_string(kind) + " is unknown");
  buffer = {static_cast<BufferKind>(kind), from.u64("buffer position"), from.u64("buffer size")};
  return Status::ok();
}

void put(ByteWriter &to, const CodeBlob &code) {
  to.string(code.format);
  to.blob(code.bytes);
}

Status get(ByteReader &from, CodeBlob &code) {
  code.format = from.string("code format");
  auto bytes = from.blob("code");
  code.bytes.assign(bytes.begin(), bytes.end());
  return Status::ok();
}

template <typename T> void putNumbers(ByteWriter &to, const std::vector<T> &numbers) {
  to.u64(numbers.size());
  for (T number : numbers) {
    if constexpr (sizeof(T) == 8)
      to.u64(number);
    else
      to.u32(static_cast<uint32_t>(number));
  }
}

template <typename T> void getNumbers(ByteReader &from, std::vector<T> &numbers, const char *what) {
  numbers.resize(from.count(what, sizeof(T)));
  for (T &number : numbers) {
    if constexpr (sizeof(T) == 8)
      number = from.u64(what);
    else
      number = static_cast<T>(from.u32(what));
  }
}

} // namespace

void artifact::put(ByteWriter &to, const TensorMap &map) {
  to.u32(map.buffer);
  to.u64(map.offset);
  to.u32(map.elementBytes);
  putNumbers(to, map.extents);
  putNumbers(to, map.strides);
  putNumbers(to, map.box);
  to.u32(map.swizzle);
  putNumbers(to, map.low);
  putNumbers(to, map.high);
  putNumbers(to, map.steps);
}

void artifact::get(ByteReader &from, TensorMap &map) {
  map.buffer = from.u32("buffer of a tensor map");
  map.offset = from.u64("offset of a tensor map");
  map.elementBytes = from.u32("elements of a tensor map");
  getNumbers(from, map.extents, "extents of a tensor map");
  getNumbers(from, map.strides, "strides of a tensor map");
  getNumbers(from, map.box, "box of a tensor map");
  map.swizzle = from.u32("swizzle of a tensor map");
  getNumbers(from, map.low, "pixels of a tensor map");
  getNumbers(from, map.high, "pixels of a tensor map");
  getNumbers(from, map.steps, "pixels of a tensor map");
}

namespace {

void put(ByteWriter &to, const Kernel &kernel) {
  to.string(kernel.symbol);
  to.u32(kernel.code);
  to.u32(kernel.numBuffers);
  to.u32(kernel.numScalars);
  to.string(kernel.name);
  to.string(kernel.location.file);
  to.u32(kernel.location.line);
  to.u32(kernel.location.column);
  to.u32(kernel.numWritten);
  to.u64(kernel.stackBytes);
  to.u32(kernel.groupThreads);
  to.u32(kernel.sharedBytes);
  to.u32(kernel.clusterGroups);
  to.u64(kernel.tensorMaps.size());
  for (const TensorMap &map : kernel.tensorMaps)
    put(to, map);
  to.u8(kernel.waits);
  putNumbers(to, kernel.bufferBytes);
}

/// Of the versions that first say whether a kernel waits, and what it is given of buffers.
constexpr uint32_t versionOfWaits = 13, versionOfBufferBytes = 14;

Status get(ByteReader &from, Kernel &kernel, uint32_t version) {
  kernel.symbol = from.string("kernel symbol");
  kernel.code = from.u32("kernel code");
  kernel.numBuffers = from.u32("kernel buffers");
  kernel.numScalars = from.u32("kernel scalars");
  kernel.name = from.string("kernel name");
  kernel.location.file = from.string("kernel file");
  kernel.location.line = from.u32("kernel line");
  kernel.location.column = from.u32("kernel column");
  kernel.numWritten = from.u32("kernel writes");
  kernel.stackBytes = from.u64("kernel stack");
  kernel.groupThreads = from.u32("kernel threads");
  kernel.sharedBytes = from.u32("kernel shared memory");
  kernel.clusterGroups = from.u32("kernel clusters");
  kernel.tensorMaps.resize(from.count("tensor maps", leastTensorMapBytes));
  for (TensorMap &map : kernel.tensorMaps)
    get(from, map);
  const uint8_t waits = version >= versionOfWaits ? from.u8("whether a kernel waits") : 0;
  if (waits > 1)
    return Status::dataCorruption("whether a kernel waits is " + std::to_string(waits));
  kernel.waits = waits != 0;
  if (version >= versionOfBufferBytes)
    getNumbers(from, kernel.bufferBytes, "bytes of a kernel's buffers");
  return Status::ok();
}

void put(ByteWriter &to, const BufferRef &ref) {
  to.u32(ref.buffer);
  to.u64(ref.offset);
}

Status get(ByteReader &from, BufferRef &ref) {
  ref = {from.u32("buffer index"), from.u64("buffer offset")};
  return Status::ok();
}

void put(ByteWriter &to, const InitStep &step) {
  to.u32(step.numCommands);
  to.u64(step.keptSize);
  to.u64(step.identity.high);
  to.u64(step.identity.low);
}

Status get(ByteReader &from, InitStep &step) {
  step.numCommands = from.u32("commands of a step");
  step.keptSize = from.u64("kept size of a step");
  step.identity.high = from.u64("identity of a step");
  step.identity.low = from.u64("identity of a step");
  return Status::ok();
}

void put(ByteWriter &to, const Command &command);
Status get(ByteReader &from, Command &command);

template <typename T> void putAll(ByteWriter &to, const std::vector<T> &entries) {
  to.u64(entries.size());
  for (const T &entry : entries)
    put(to, entry);
}

template <typename T> Status getAll(ByteReader &from, std::vector<T> &entries, const char *what, uint64_t minBytes) {
  entries.resize(from.count(what, minBytes));
  for (T &entry : entries)
    ZYX_RETURN_IF_ERROR(get(from, entry));
  return Status::ok();
}

void putAction(ByteWriter &to, const Launch &launch) {
  to.u8(static_cast<uint8_t>(Tag::Launch));
  to.u32(launch.kernel);
  putAll(to, launch.buffers);
  for (int64_t extent : launch.grid)
    to.i64(extent);
  to.u64(launch.scalars.size());
  for (int64_t scalar : launch.scalars)
    to.i64(scalar);
  to.u64(launch.flops);
  to.u64(launch.bytes);
}

void putAction(ByteWriter &to, const Copy &copy) {
  to.u8(static_cast<uint8_t>(Tag::Copy));
  put(to, copy.source);
  put(to, copy.destination);
  to.u64(copy.size);
}

void putAction(ByteWriter &to, const Fill &fill) {
  to.u8(static_cast<uint8_t>(Tag::Fill));
  put(to, fill.destination);
  to.u64(fill.size);
  to.u64(fill.pattern);
  to.u8(fill.patternSize);
}

void put(ByteWriter &to, const std::optional<BufferRef> &ref) {
  to.u8(ref.has_value());
  if (ref)
    put(to, *ref);
}

Status get(ByteReader &from, std::optional<BufferRef> &ref) {
  const uint8_t present = from.u8("a buffer's presence");
  if (present > 1)
    return Status::dataCorruption("a buffer's presence is " + std::to_string(present));
  if (!present)
    return Status::ok();
  return get(from, ref.emplace());
}

void putAction(ByteWriter &to, const Loop &loop) {
  to.u8(static_cast<uint8_t>(Tag::Loop));
  to.u32(loop.body);
  to.u64(loop.bodies.size());
  for (uint32_t body : loop.bodies)
    to.u32(body);
  to.i64(loop.trips);
  put(to, loop.count);
  put(to, loop.index);
}

void put(ByteWriter &to, const Command &command) {
  std::visit([&](const auto &action) { putAction(to, action); }, command.action);
  to.u64(command.wait.size());
  for (uint32_t earlier : command.wait)
    to.u32(earlier);
}

Status getAction(ByteReader &from, Launch &launch) {
  launch.kernel = from.u32("kernel index");
  ZYX_RETURN_IF_ERROR(getAll(from, launch.buffers, "launch buffers", 12));
  for (int64_t &extent : launch.grid)
    extent = from.i64("grid extent");
  launch.scalars.resize(from.count("scalars", 8));
  for (int64_t &scalar : launch.scalars)
    scalar = from.i64("scalar");
  launch.flops = from.u64("flops");
  launch.bytes = from.u64("bytes");
  return Status::ok();
}

Status getAction(ByteReader &from, Copy &copy) {
  ZYX_RETURN_IF_ERROR(get(from, copy.source));
  ZYX_RETURN_IF_ERROR(get(from, copy.destination));
  copy.size = from.u64("copy size");
  return Status::ok();
}

Status getAction(ByteReader &from, Fill &fill) {
  ZYX_RETURN_IF_ERROR(get(from, fill.destination));
  fill.size = from.u64("fill size");
  fill.pattern = from.u64("fill pattern");
  fill.patternSize = from.u8("pattern size");
  return Status::ok();
}

Status getAction(ByteReader &from, Loop &loop) {
  loop.body = from.u32("loop body");
  loop.bodies.resize(from.count("loop bodies", 4));
  for (uint32_t &body : loop.bodies)
    body = from.u32("loop body");
  loop.trips = from.i64("trips");
  ZYX_RETURN_IF_ERROR(get(from, loop.count));
  return get(from, loop.index);
}

Status get(ByteReader &from, Command &command) {
  const uint8_t tag = from.u8("command kind");
  switch (static_cast<Tag>(tag)) {
  case Tag::Launch:
    command.action = Launch();
    break;
  case Tag::Copy:
    command.action = Copy();
    break;
  case Tag::Fill:
    command.action = Fill();
    break;
  case Tag::Loop:
    command.action = Loop();
    break;
  default:
    return Status::dataCorruption("command kind " + std::to_string(tag) + " is unknown");
  }
  ZYX_RETURN_IF_ERROR(std::visit([&](auto &action) { return getAction(from, action); }, command.action));
  command.wait.resize(from.count("wait list", 4));
  for (uint32_t &earlier : command.wait)
    earlier = from.u32("wait");
  return Status::ok();
}

/// Contents begin with the version of their form, which the checksum covers then: one in front of it that is damaged to
/// another one that is read is found. Version 11 had none.
constexpr uint32_t firstWithInnerVersion = 12;

Status getContents(ByteReader &from, uint32_t version, Artifact &artifact) {
  if (version >= firstWithInnerVersion)
    if (const uint32_t inner = from.u32("format version"); from.status().isOk() && inner != version)
      return Status::dataCorruption("the contents have format version " + std::to_string(inner) + ", not " +
                                    std::to_string(version));
  artifact.entry = from.string("entry");
  artifact.target = from.string("target");
  artifact.cpuFeatures.resize(from.count("CPU features", 8));
  for (std::string &feature : artifact.cpuFeatures)
    feature = from.string("CPU feature");
  ZYX_RETURN_IF_ERROR(getAll(from, artifact.inputs, "inputs", 18));
  ZYX_RETURN_IF_ERROR(getAll(from, artifact.outputs, "outputs", 18));
  ZYX_RETURN_IF_ERROR(getAll(from, artifact.buffers, "buffers", 17));
  auto constants = from.blob("constants");
  artifact.constants.assign(constants.begin(), constants.end());
  artifact.arenaSize = from.u64("arena size");
  artifact.keptSize = from.u64("kept size");
  ZYX_RETURN_IF_ERROR(getAll(from, artifact.code, "code blobs", 16));
  artifact.kernels.resize(from.count("kernels", 56));
  for (Kernel &kernel : artifact.kernels)
    ZYX_RETURN_IF_ERROR(get(from, kernel, version));
  ZYX_RETURN_IF_ERROR(getAll(from, artifact.commands, "commands", 23));
  artifact.numInitCommands = from.u32("commands of the init");
  ZYX_RETURN_IF_ERROR(getAll(from, artifact.initSteps, "steps of the init", 28));
  ZYX_RETURN_IF_ERROR(from.status());
  if (from.remaining() != 0)
    return Status::dataCorruption(std::to_string(from.remaining()) + " bytes follow the contents");
  return artifact.verify();
}

Status read(std::span<const std::byte> bytes, Artifact &artifact) {
  const Envelope::Opened opened = envelope.open(bytes);
  if (opened.state == Envelope::State::OtherMark)
    return Status::dataCorruption("not a zyx artifact");
  ZYX_RETURN_IF_ERROR(opened.cut);
  ByteReader from(opened.contents);
  const std::string producer = from.string("version of zyx");
  if (from.status().isOk() && opened.state == Envelope::State::OtherVersion)
    return Status::unsupported("written by zyx " + producer + " in format version " + std::to_string(opened.version) +
                               "; zyx " ZYX_VERSION " reads versions " + std::to_string(oldestFormatVersion) + " to " +
                               std::to_string(formatVersion));
  const std::span<const std::byte> contents = from.blob("contents");
  ZYX_RETURN_IF_ERROR(from.status());
  if (from.remaining() != 0)
    return Status::dataCorruption(std::to_string(from.remaining()) + " bytes follow the artifact");
  if (opened.state == Envelope::State::Damaged)
    return Status::dataCorruption("the checksum does not match: the artifact is corrupt");
  ByteReader contentReader(contents);
  return getContents(contentReader, opened.version, artifact);
}

} // namespace

bool artifact::hasMark(std::span<const std::byte> start) {
  static_assert(markBytes == envelope.mark.size());
  const std::string_view text(reinterpret_cast<const char *>(start.data()), start.size());
  return text.starts_with(envelope.mark);
}

Result<std::vector<std::byte>> artifact::readFile(const ReadOnlyFile &file) {
  constexpr uint64_t startBytes = 4096;
  std::vector<std::byte> start(std::min(file.size(), startBytes));
  ZYX_RETURN_IF_ERROR(file.read(0, start));
  const Envelope::Opened opened = envelope.open(start);
  if (file.size() <= startBytes || opened.state == Envelope::State::OtherMark || opened.state == Envelope::State::Cut ||
      opened.state == Envelope::State::OtherVersion)
    return start;
  ByteReader from(opened.contents);
  from.string("version of zyx");
  const uint64_t length = from.u64("size of the contents");
  const uint64_t rest = file.size() - (start.size() - from.remaining());
  if (!from.status() || length > rest)
    return start;
  if (length < rest)
    return Status::dataCorruption(file.path() + ": " + std::to_string(rest - length) + " bytes follow the artifact");
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, allocateBytes(file.size(), file.path()));
  ZYX_RETURN_IF_ERROR(file.read(0, bytes));
  return bytes;
}

std::vector<std::byte> Artifact::serialize() const {
  ByteWriter contents;
  contents.u32(formatVersion);
  contents.string(entry);
  contents.string(target);
  contents.u64(cpuFeatures.size());
  for (const std::string &feature : cpuFeatures)
    contents.string(feature);
  putAll(contents, inputs);
  putAll(contents, outputs);
  putAll(contents, buffers);
  contents.blob(constants);
  contents.u64(arenaSize);
  contents.u64(keptSize);
  putAll(contents, code);
  putAll(contents, kernels);
  putAll(contents, commands);
  contents.u32(numInitCommands);
  putAll(contents, initSteps);

  ByteWriter checked;
  checked.string(ZYX_VERSION);
  checked.blob(contents.view());
  return envelope.seal(checked.view());
}

Result<Artifact> Artifact::deserialize(std::span<const std::byte> bytes, std::string_view name) {
  Artifact artifact;
  if (Status status = read(bytes, artifact); !status)
    return Status(status.code(), std::string(name) + ": " + status.message());
  return artifact;
}
