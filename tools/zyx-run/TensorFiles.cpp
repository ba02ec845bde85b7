//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFiles.h"

#include "Common/CommandLine.h"

#include "zyx/IO/Npy.h"
#include "zyx/IO/Safetensors.h"

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
    return Status::invalidArgument(
        "--input=" + std::string(text) +
        ": is not NAME=FILE, NAME=FILE:TENSOR, or one of them with [BEGIN:END]");
  spec.name = text.substr(0, equals);
  std::string_view rest = text.substr(equals + 1);
  size_t bracket = rest.back() == ']' ? rest.rfind('[') : std::string_view::npos;
  if (bracket != std::string_view::npos) {
    std::string_view range = rest.substr(bracket + 1, rest.size() - bracket - 2);
    size_t colon = range.find(':');
    auto begin = parseNumber(range.substr(0, colon));
    auto end =
        colon == std::string_view::npos ? std::nullopt : parseNumber(range.substr(colon + 1));
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

static Result<HostTensor> readSafetensor(const InputSpec &spec) {
  ZYX_ASSIGN_OR_RETURN(io::SafetensorsFile file, io::SafetensorsFile::open(spec.file));
  if (!spec.tensor.empty())
    return file.read(spec.tensor);
  if (file.tensors().size() == 1)
    return file.read(file.tensors().front().name);
  if (file.find(spec.name))
    return file.read(spec.name);
  std::string names;
  for (const auto &entry : file.tensors())
    names += (names.empty() ? "" : ", ") + entry.name;
  return Status::invalidArgument(spec.file + ": name one of its tensors as FILE:TENSOR: " + names);
}

static Result<HostTensor> readTensor(const InputSpec &spec) {
  if (spec.file.ends_with(safetensorsSuffix))
    return readSafetensor(spec);
  if (spec.file.ends_with(".npy"))
    return io::readNpy(spec.file);
  return Status::invalidArgument(spec.file + ": is neither .npy nor .safetensors");
}

Result<HostTensor> run::sliceRows(HostTensor tensor, int64_t begin, int64_t end) {
  Shape &shape = tensor.type.shape;
  if (shape.empty() || end > shape.front())
    return Status::invalidArgument("has no rows " + std::to_string(begin) + " to " +
                                   std::to_string(end) + ": it is " + toString(tensor.type));
  size_t row = shape.front() == 0 ? 0 : tensor.data.size() / shape.front();
  tensor.data =
      std::vector<std::byte>(tensor.data.begin() + begin * row, tensor.data.begin() + end * row);
  shape.front() = end - begin;
  return tensor;
}

Result<HostTensor> run::readInput(const InputSpec &spec, const artifact::Argument &input) {
  std::string what = spec.file + (spec.tensor.empty() ? "" : ":" + spec.tensor);
  ZYX_ASSIGN_OR_RETURN(HostTensor tensor, readTensor(spec));
  if (spec.rows) {
    Result<HostTensor> rows = sliceRows(std::move(tensor), spec.rows->first, spec.rows->second);
    if (!rows.isOk())
      return Status::invalidArgument("input '" + input.name + "': " + what + " " +
                                     rows.status().message());
    tensor = std::move(*rows);
  }
  // The session finds the values of symbols, and refuses extents that have none.
  if (!input.type.isSymbolic() && tensor.type != input.type)
    return Status::invalidArgument("input '" + input.name + "' is " + toString(input.type) +
                                   ", and " + what + " gives " + toString(tensor.type));
  return tensor;
}
