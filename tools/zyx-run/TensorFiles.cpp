//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFiles.h"

#include "Common/CommandLine.h"
#include "Common/Files.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::run;

static constexpr std::string_view safetensorsSuffix = ".safetensors";

static std::optional<int64_t> parseNumber(std::string_view text) {
  int64_t value = 0;
  if (!tools::parseNumber(text, value) || value < 0)
    return std::nullopt;
  return value;
}

Result<InputSpec> run::parseInputSpec(std::string_view text) {
  InputSpec spec;
  size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return Status::invalidArgument("--input=" + std::string(text) +
                                   ": is not NAME=FILE, NAME=FILE:TENSOR, or one of them with [BEGIN:END]");
  spec.name = text.substr(0, equals);
  std::string_view rest = text.substr(equals + 1);
  size_t bracket = rest.back() == ']' ? rest.rfind('[') : std::string_view::npos;
  if (bracket != std::string_view::npos) {
    std::string_view range = rest.substr(bracket + 1, rest.size() - bracket - 2);
    size_t colon = range.find(':');
    auto begin = parseNumber(range.substr(0, colon));
    auto end = colon == std::string_view::npos ? std::nullopt : parseNumber(range.substr(colon + 1));
    if (!begin || !end || *begin > *end)
      return Status::invalidArgument("--input=" + std::string(text) + ": '[" + std::string(range) +
                                     "]' is no range of rows [BEGIN:END]");
    spec.rows = {*begin, *end};
    rest = rest.substr(0, bracket);
  }
  // A path may hold colons; the tensor's name follows the suffix of its file.
  size_t suffix = rest.find(std::string(safetensorsSuffix) + ":");
  if (suffix != std::string_view::npos) {
    spec.tensor = rest.substr(suffix + safetensorsSuffix.size() + 1);
    rest = rest.substr(0, suffix + safetensorsSuffix.size());
  }
  spec.file = rest;
  return spec;
}

/// For messages.
static std::string namesOf(const io::SafetensorsFile &file) {
  std::string names;
  for (const auto &entry : file.tensors())
    names += (names.empty() ? "" : ", ") + entry.name;
  for (const auto &[name, dtype] : file.unsupported())
    names += (names.empty() ? "" : ", ") + name + " (of the unsupported dtype '" + dtype + "')";
  return names.empty() ? "it has none" : names;
}

Result<TensorType> TensorSource::findTensor(const InputSpec &spec) {
  if (npy)
    return npy->type();
  const std::string name = !spec.tensor.empty()                 ? spec.tensor
                           : safetensors->tensors().size() == 1 ? safetensors->tensors().front().name
                                                                : spec.name;
  entry = safetensors->find(name);
  if (entry)
    return entry->type;
  if (const auto other = safetensors->unsupported().find(name); other != safetensors->unsupported().end())
    return Status::unsupported(spec.file + ": tensor '" + name + "' has the unsupported dtype '" + other->second + "'");
  if (!spec.tensor.empty())
    return Status::notFound(spec.file + ": no tensor '" + name + "'; there are " + namesOf(*safetensors));
  return Status::invalidArgument(spec.file + ": name one of its tensors as FILE:TENSOR: " + namesOf(*safetensors));
}

Status TensorSource::check(const InputSpec &spec, TensorType found, const artifact::Argument &input) {
  const std::string what = spec.file + (spec.tensor.empty() ? "" : ":" + spec.tensor);
  if (spec.rows) {
    Shape &shape = found.shape;
    if (shape.empty() || spec.rows->second > shape.front())
      return Status::invalidArgument("input '" + input.name + "': " + what + " has no rows " +
                                     std::to_string(spec.rows->first) + " to " + std::to_string(spec.rows->second) +
                                     ": it is " + toString(found));
    shape.front() = spec.rows->second - spec.rows->first;
  }
  // The session finds the values of symbols, and refuses extents that have none.
  if (!input.type.isSymbolic() && found != input.type)
    return Status::invalidArgument("input '" + input.name + "' is " + toString(input.type) + ", and " + what +
                                   " gives " + toString(found));
  rows = spec.rows;
  tensorType = std::move(found);
  return Status::ok();
}

/// Behind the length of a header that is no longer than any memory, the header.
static bool beginsAsSafetensors(std::span<const std::byte> start) {
  constexpr size_t lengthBytes = 8;
  return start.size() > lengthBytes && start[lengthBytes] == std::byte{'{'} && start[lengthBytes - 1] == std::byte{0};
}
static bool beginsAsNpy(std::span<const std::byte> start) {
  constexpr std::string_view magic = "\x93NUMPY";
  return std::string_view(reinterpret_cast<const char *>(start.data()), start.size()).starts_with(magic);
}
/// The suffix of its name says what a file is, or else what it begins with.
static bool isSafetensors(const std::string &file, std::span<const std::byte> start) {
  return file.ends_with(safetensorsSuffix) || (!file.ends_with(".npy") && beginsAsSafetensors(start));
}
static bool isNpy(const std::string &file, std::span<const std::byte> start) {
  return file.ends_with(".npy") || beginsAsNpy(start);
}

Result<TensorSource> TensorSource::open(const InputSpec &spec, const artifact::Argument &input) {
  TensorSource source;
  const auto limit = [&](std::span<const std::byte> start) -> Result<uint64_t> {
    if (beginsAsSafetensors(start))
      return tools::memoryForStreams();
    if (!beginsAsNpy(start))
      return Status::invalidArgument("is neither .npy nor .safetensors");
    ZYX_ASSIGN_OR_RETURN(const io::NpyStart begun, io::readNpyStart(start));
    ZYX_RETURN_IF_ERROR(source.check(spec, begun.type, input));
    return begun.size;
  };
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, tools::openInput(spec.file, limit));
  std::vector<std::byte> start(std::min<uint64_t>(file.size(), 16));
  ZYX_RETURN_IF_ERROR(file.read(0, start));
  if (isSafetensors(spec.file, start)) {
    ZYX_ASSIGN_OR_RETURN(io::SafetensorsFile opened, io::SafetensorsFile::open(std::move(file)));
    return open(std::make_shared<io::SafetensorsFile>(std::move(opened)), spec, input);
  }
  if (!isNpy(spec.file, start))
    return Status::invalidArgument(spec.file + ": is neither .npy nor .safetensors");
  ZYX_ASSIGN_OR_RETURN(io::NpyFile opened, io::NpyFile::open(std::move(file)));
  source.npy = std::make_shared<io::NpyFile>(std::move(opened));
  ZYX_RETURN_IF_ERROR(source.check(spec, source.npy->type(), input));
  return source;
}

Result<TensorSource> TensorSource::open(std::shared_ptr<const io::SafetensorsFile> file, const InputSpec &spec,
                                        const artifact::Argument &input) {
  TensorSource source;
  source.safetensors = std::move(file);
  ZYX_ASSIGN_OR_RETURN(TensorType found, source.findTensor(spec));
  ZYX_RETURN_IF_ERROR(source.check(spec, std::move(found), input));
  return source;
}

Result<HostTensor> TensorSource::read() const {
  if (npy)
    return rows ? npy->readRows(rows->first, rows->second) : npy->read();
  return rows ? safetensors->readRows(*entry, rows->first, rows->second) : safetensors->read(entry->name);
}

Result<HostTensor> run::readInput(const InputSpec &spec, const artifact::Argument &input) {
  ZYX_ASSIGN_OR_RETURN(const TensorSource source, TensorSource::open(spec, input));
  return source.read();
}
