//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Safetensors.h"

#include "Detail.h"
#include "zyx/Base/Allocate.h"
#include "zyx/Base/Bytes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

using namespace zyx;
using namespace zyx::io;

namespace {

/// The limit of the format's own implementation.
constexpr uint64_t maxHeaderBytes = 100'000'000;

constexpr std::pair<std::string_view, DType> dtypes[] = {
    {"BOOL", DType::Bool},      {"I8", DType::I8},
    {"I16", DType::I16},        {"I32", DType::I32},
    {"I64", DType::I64},        {"U8", DType::U8},
    {"U16", DType::U16},        {"U32", DType::U32},
    {"U64", DType::U64},        {"F16", DType::F16},
    {"BF16", DType::BF16},      {"F32", DType::F32},
    {"F64", DType::F64},        {"F8_E4M3", DType::F8E4M3FN},
    {"F8_E5M2", DType::F8E5M2},
};

/// A tensor of the header, and its dtype where zyx has none.
struct Placed {
  SafetensorsFile::Entry entry;
  std::string unsupported;
};

/// Receives the header as events: an object of tensors, each an object of "dtype", "shape" and
/// "data_offsets". Nothing is built for JSON that has another form, and the only nesting that is
/// accepted is that of the format, so a hostile header costs no more than its own length.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  Status failure;
  std::vector<Placed> tensors;
  std::map<std::string, std::string> metadata;

  bool start_object(size_t) override {
    if (state == State::Start)
      return to(State::Names);
    if (state != State::Names)
      return unexpected();
    return to(current == "__metadata__" ? State::Metadata : State::Tensor);
  }
  bool end_object() override {
    if (state == State::Names)
      return to(State::End);
    return state == State::Tensor ? finishTensor() : to(State::Names);
  }
  bool key(string_t &name) override {
    field = name;
    if (state == State::Tensor || state == State::Metadata)
      return fields.insert(name).second || fail("has the duplicate field '" + name + "'");
    current = name;
    fields.clear();
    dtype.clear();
    shape.clear();
    offsets.clear();
    return names.insert(name).second || fail("is a duplicate");
  }
  bool string(string_t &value) override {
    if (state == State::Metadata) {
      metadata.emplace(field, value);
      return true;
    }
    if (state != State::Tensor || field != "dtype")
      return unexpected();
    dtype = value;
    return !value.empty() || fail("has no dtype");
  }
  bool start_array(size_t) override {
    if (state == State::Tensor && field == "shape")
      return to(State::Shape);
    if (state == State::Tensor && field == "data_offsets")
      return to(State::Offsets);
    return unexpected();
  }
  bool end_array() override { return to(State::Tensor); }
  bool number_unsigned(number_unsigned_t value) override {
    if (state == State::Offsets && offsets.size() < 2) {
      offsets.push_back(value);
      return true;
    }
    if (state != State::Shape)
      return unexpected();
    if (shape.size() == static_cast<size_t>(maxRank))
      return fail("has more than " + std::to_string(maxRank) + " dimensions");
    if (value > INT64_MAX)
      return fail("has the extent " + std::to_string(value));
    shape.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_integer(number_integer_t) override { return unexpected(); }
  bool number_float(number_float_t, const string_t &) override { return unexpected(); }
  bool null() override { return unexpected(); }
  bool boolean(bool) override { return unexpected(); }
  bool binary(binary_t &) override { return unexpected(); }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) override {
    if (failure.isOk())
      failure = Status::dataCorruption("the header is no JSON at byte " + std::to_string(position));
    return false;
  }

private:
  enum class State { Start, Names, Metadata, Tensor, Shape, Offsets, End };

  bool to(State next) {
    state = next;
    return true;
  }
  bool fail(const std::string &why) {
    failure = Status::dataCorruption("tensor '" + current + "' " + why);
    return false;
  }
  bool unexpected() {
    failure = Status::dataCorruption("the header has not the form of safetensors" +
                                     (current.empty() ? "" : ", at '" + current + "'"));
    return false;
  }

  bool finishTensor() {
    if (fields != std::set<std::string>{"data_offsets", "dtype", "shape"})
      return fail("lacks one of dtype, shape, data_offsets, or has more");
    const bool spans = offsets.size() == 2 && offsets[0] <= offsets[1];
    const uint64_t spanned = spans ? offsets[1] - offsets[0] : 0;
    const auto *known = std::ranges::find(dtypes, dtype, &std::pair<std::string_view, DType>::first);
    if (known == std::end(dtypes)) {
      // Nobody here knows how long its elements are.
      if (!spans)
        return fail("has offsets that do not span elements of '" + dtype + "'");
      tensors.push_back({{current, {}, offsets[0], spanned}, dtype});
      return to(State::Names);
    }
    TensorType type{known->second, shape};
    Result<int64_t> size = byteSize(type);
    if (!size)
      return fail("is refused: " + size.status().message());
    if (!spans || spanned != static_cast<uint64_t>(*size))
      return fail("has offsets that do not span the " + std::to_string(*size) + " bytes of " + zyx::toString(type));
    tensors.push_back({{current, std::move(type), offsets[0], spanned}, ""});
    return to(State::Names);
  }

  State state = State::Start;
  std::string current, field, dtype;
  std::set<std::string> names, fields;
  Shape shape;
  std::vector<uint64_t> offsets;
};

/// Sorts by offset, checks that the tensors cover [0, dataSize) exactly, and moves the offsets to
/// count from the start of the file.
Status place(std::vector<Placed> &tensors, uint64_t dataOffset, uint64_t dataSize) {
  std::ranges::sort(tensors, {}, [](const Placed &tensor) {
    return std::tie(tensor.entry.offset, tensor.entry.size, tensor.entry.name);
  });
  uint64_t end = 0;
  for (Placed &tensor : tensors) {
    SafetensorsFile::Entry &entry = tensor.entry;
    if (entry.offset != end)
      return Status::dataCorruption("tensor '" + entry.name + "' starts at byte " + std::to_string(entry.offset) +
                                    " of the data, but " + std::to_string(end) + " is the end of the one before");
    end = entry.offset + entry.size;
    if (end > dataSize)
      return Status::dataCorruption("tensor '" + entry.name + "' ends at byte " + std::to_string(end) + " of " +
                                    std::to_string(dataSize) + " bytes of data");
    entry.offset += dataOffset;
  }
  if (end != dataSize)
    return Status::dataCorruption("the data has " + std::to_string(dataSize - end) + " bytes that belong to no tensor");
  return Status::ok();
}

struct Header {
  std::vector<SafetensorsFile::Entry> entries;
  std::map<std::string, std::string> unsupported, metadata;
};

Result<Header> readHeader(const ReadOnlyFile &file) {
  std::byte prefix[8];
  if (file.size() < sizeof(prefix))
    return Status::dataCorruption("too short for a safetensors file");
  ZYX_RETURN_IF_ERROR(file.read(0, prefix));
  uint64_t length = 0;
  for (size_t i = sizeof(prefix); i-- > 0;)
    length = length << 8 | std::to_integer<uint64_t>(prefix[i]);
  if (length > maxHeaderBytes)
    return Status::dataCorruption("the header claims " + std::to_string(length) + " bytes; at most " +
                                  std::to_string(maxHeaderBytes) + " are accepted");
  if (length > file.size() - sizeof(prefix))
    return Status::dataCorruption("the header claims " + std::to_string(length) + " bytes of " +
                                  std::to_string(file.size() - sizeof(prefix)));
  std::vector<std::byte> header(length);
  ZYX_RETURN_IF_ERROR(file.read(sizeof(prefix), header));
  const auto *text = reinterpret_cast<const char *>(header.data());
  // The parser takes it for the end, and would not look at what follows.
  if (std::ranges::find(header, std::byte(0)) != header.end())
    return Status::dataCorruption("the header has a zero byte");
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(text, text + length, &reader))
    return reader.failure;
  const uint64_t dataOffset = sizeof(prefix) + length;
  ZYX_RETURN_IF_ERROR(place(reader.tensors, dataOffset, file.size() - dataOffset));
  Header result{{}, {}, std::move(reader.metadata)};
  for (Placed &tensor : reader.tensors) {
    if (tensor.unsupported.empty())
      result.entries.push_back(std::move(tensor.entry));
    else
      result.unsupported.emplace(tensor.entry.name, tensor.unsupported);
  }
  return result;
}

/// A JSON text; nothing where the text is not UTF-8.
std::optional<std::string> quote(const std::string &text) {
  using Json = nlohmann::json;
  std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore);
  // What was ignored is missing when it is read again.
  const Json again = Json::parse(quoted, nullptr, false);
  if (again.is_discarded() || *again.get_ptr<const std::string *>() != text)
    return std::nullopt;
  return quoted;
}

/// The data begins at a multiple of this.
constexpr size_t dataAlignment = 64;

Status checkHeaderSize(size_t size) {
  if (size <= maxHeaderBytes)
    return Status::ok();
  return Status::unsupported("the header would have more than " + std::to_string(maxHeaderBytes) + " bytes");
}

using NamedType = std::pair<std::string, TensorType>;

/// Of tensors in the order of `order`. Sets the bytes of all their elements.
Result<std::string> makeHeader(const std::vector<NamedType> &tensors, const std::vector<size_t> &order,
                               const std::map<std::string, std::string> &metadata, uint64_t &dataSize) {
  std::string header = "{";
  for (const auto &[key, value] : metadata) {
    ZYX_RETURN_IF_ERROR(checkHeaderSize(header.size() + key.size() + value.size()));
    const auto quotedKey = quote(key), quotedValue = quote(value);
    if (!quotedKey || !quotedValue)
      return Status::invalidArgument("the metadata '" + key + "' is not UTF-8");
    header += header.size() == 1 ? "\"__metadata__\":{" : ",";
    header += *quotedKey + ":" + *quotedValue;
  }
  if (!metadata.empty())
    header += "}";
  dataSize = 0;
  std::set<std::string_view> names;
  for (const size_t index : order) {
    const auto &[tensorName, type] = tensors[index];
    const std::string what = "tensor '" + tensorName + "' ";
    ZYX_RETURN_IF_ERROR(checkHeaderSize(header.size() + tensorName.size()));
    const auto name = quote(tensorName);
    if (!name)
      return Status::invalidArgument(what + "has a name that is not UTF-8");
    if (tensorName == "__metadata__" || !names.insert(tensorName).second)
      return Status::invalidArgument(what + "is a duplicate, or has the name of the metadata");
    const Result<int64_t> size = byteSize(type);
    if (!size)
      return Status::invalidArgument(what + "is refused: " + size.status().message());
    const auto *dtype = std::ranges::find(dtypes, type.dtype, &std::pair<std::string_view, DType>::second);
    header += header.size() == 1 ? "" : ",";
    header += *name + ":{\"dtype\":\"" + std::string(dtype->first) + "\",\"shape\":[";
    for (size_t d = 0; d < type.shape.size(); ++d)
      header += (d == 0 ? "" : ",") + std::to_string(type.shape[d]);
    header += "],\"data_offsets\":[" + std::to_string(dataSize) + ",";
    dataSize += static_cast<uint64_t>(*size);
    header += std::to_string(dataSize) + "]}";
  }
  header += "}";
  constexpr size_t prefix = 8;
  header.append((dataAlignment - (prefix + header.size()) % dataAlignment) % dataAlignment, ' ');
  ZYX_RETURN_IF_ERROR(checkHeaderSize(header.size()));
  return header;
}

} // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, ReadOnlyFile::open(path));
  return open(std::move(file));
}

Result<SafetensorsFile> SafetensorsFile::open(ReadOnlyFile file) {
  Result<Header> header = readHeader(file);
  if (!header)
    return named(file.path(), header.status());
  return SafetensorsFile(std::move(file), std::move(header->entries), std::move(header->unsupported),
                         std::move(header->metadata));
}

const SafetensorsFile::Entry *SafetensorsFile::find(std::string_view name) const {
  auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry &entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

Result<HostTensor> SafetensorsFile::read(std::string_view name) const {
  const Entry *entry = find(name);
  if (const auto other = others.find(std::string(name)); other != others.end())
    return Status::unsupported(file->path() + ": tensor '" + other->first + "' has the unsupported dtype '" +
                               other->second + "'");
  if (!entry)
    return Status::notFound(file->path() + ": no tensor '" + std::string(name) + "'");
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> elements,
                       allocateBytes(entry->size, file->path() + ": tensor '" + entry->name + "'"));
  HostTensor tensor{entry->type, std::move(elements)};
  ZYX_RETURN_IF_ERROR(file->read(entry->offset, tensor.data));
  normalizeBools(tensor);
  return tensor;
}

Result<HostTensor> SafetensorsFile::readRows(const Entry &entry, int64_t begin, int64_t end) const {
  const auto rows = static_cast<uint64_t>(entry.type.shape.front());
  const uint64_t row = rows == 0 ? 0 : entry.size / rows;
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> elements, allocateBytes(row * static_cast<uint64_t>(end - begin),
                                                                      file->path() + ": tensor '" + entry.name + "'"));
  HostTensor tensor{entry.type, std::move(elements)};
  tensor.type.shape.front() = end - begin;
  ZYX_RETURN_IF_ERROR(file->read(entry.offset + row * static_cast<uint64_t>(begin), tensor.data));
  normalizeBools(tensor);
  return tensor;
}

Result<SafetensorsWriter> SafetensorsWriter::create(const std::string &path, const std::vector<NamedType> &tensors,
                                                    const std::map<std::string, std::string> &metadata) {
  std::vector<size_t> order;
  for (int64_t width : {8, 4, 2, 1})
    for (size_t i = 0; i < tensors.size(); ++i)
      if (byteSize(tensors[i].second.dtype) == width)
        order.push_back(i);
  uint64_t dataSize = 0;
  Result<std::string> header = makeHeader(tensors, order, metadata, dataSize);
  if (!header)
    return named(path, header.status());
  ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  ByteWriter start;
  start.string(*header);
  ZYX_RETURN_IF_ERROR(file.write(start.view()));
  return SafetensorsWriter(std::move(file), std::move(order), dataSize);
}

Status SafetensorsWriter::write(std::span<const std::byte> elements) {
  if (elements.size() > missing)
    return Status::invalidArgument("more elements are written than the tensors have");
  missing -= elements.size();
  return file.write(elements);
}

Status SafetensorsWriter::commit() {
  if (missing != 0)
    return Status::invalidArgument(std::to_string(missing) + " bytes of the tensors are not written");
  return file.commit();
}

Status io::writeSafetensors(const std::string &path, std::span<const TensorView> tensors,
                            const std::map<std::string, std::string> &metadata) {
  std::vector<NamedType> types;
  for (const TensorView &tensor : tensors) {
    if (const Status status = checkSize(tensor.type, tensor.data.size()); !status)
      return named(path, Status::invalidArgument("tensor '" + tensor.name + "' " + status.message()));
    types.emplace_back(tensor.name, tensor.type);
  }
  ZYX_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(path, types, metadata));
  for (const size_t index : writer.order())
    ZYX_RETURN_IF_ERROR(writer.write(tensors[index].data));
  return writer.commit();
}

//===----------------------------------------------------------------------===//
// Several files
//===----------------------------------------------------------------------===//

static constexpr const char *indexName = "model.safetensors.index.json", *wholeName = "model.safetensors";

/// Which file has each tensor.
static Result<std::map<std::string, std::string>> readIndex(const std::string &path) {
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, ReadOnlyFile::open(path));
  if (file.size() > maxHeaderBytes)
    return Status::unsupported(path + ": an index of " + std::to_string(file.size()) + " bytes; at most " +
                               std::to_string(maxHeaderBytes) + " are accepted");
  std::vector<std::byte> bytes(file.size());
  ZYX_RETURN_IF_ERROR(file.read(0, bytes));
  /// Takes what lies at depth 2 below "weight_map", and no more memory than that.
  struct Reader : nlohmann::json_sax<nlohmann::json> {
    std::map<std::string, std::string> files;
    std::string failure, name;
    int depth = 0;
    bool isInside = false, isFound = false;

    bool refuse(const std::string &text) {
      failure = text;
      return false;
    }
    bool other() { return !isInside || refuse("the file of tensor '" + name + "' is no text"); }
    bool null() override { return other(); }
    bool boolean(bool) override { return other(); }
    bool number_integer(number_integer_t) override { return other(); }
    bool number_unsigned(number_unsigned_t) override { return other(); }
    bool number_float(number_float_t, const string_t &) override { return other(); }
    bool binary(binary_t &) override { return other(); }
    bool string(string_t &text) override {
      if (!isInside)
        return true;
      if (text.empty() || text.find('/') != std::string::npos || text == "." || text == ".." ||
          text.find('\0') != std::string::npos)
        return refuse("tensor '" + name + "' is said to be in '" + text + "', which is no file beside the index");
      return files.emplace(name, text).second || refuse("tensor '" + name + "' is named twice");
    }
    bool start_object(std::size_t) override {
      if (isInside)
        return refuse("the file of tensor '" + name + "' is no text");
      if (++depth == 2 && name == "weight_map") {
        if (isFound)
          return refuse("there are two of \"weight_map\"");
        isInside = isFound = true;
      }
      return depth <= 64 || refuse("it has more than 64 levels");
    }
    bool end_object() override {
      isInside = isInside && depth != 2;
      --depth;
      return true;
    }
    bool start_array(std::size_t) override {
      return other() && (++depth <= 64 || refuse("it has more than 64 levels"));
    }
    bool end_array() override {
      --depth;
      return true;
    }
    bool key(string_t &text) override {
      if (depth <= 2)
        name = text;
      return true;
    }
    bool parse_error(std::size_t at, const std::string &, const nlohmann::detail::exception &) override {
      return refuse("it is no JSON at byte " + std::to_string(at));
    }
  } reader;
  const auto *text = reinterpret_cast<const char *>(bytes.data());
  if (!nlohmann::json::sax_parse(text, text + bytes.size(), &reader))
    return Status::dataCorruption(path + ": " + reader.failure);
  if (!reader.isFound)
    return Status::dataCorruption(path + ": an index has an object \"weight_map\", and this has none");
  return std::move(reader.files);
}

Result<std::vector<SafetensorsFile>> io::openSafetensors(const std::string &path) {
  std::string file = path;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    file = path + "/" + indexName;
    if (!std::filesystem::exists(file, ignored))
      file = path + "/" + wholeName;
  }
  std::vector<SafetensorsFile> files;
  if (!file.ends_with(".json")) {
    ZYX_ASSIGN_OR_RETURN(SafetensorsFile only, SafetensorsFile::open(file));
    files.push_back(std::move(only));
    return files;
  }
  ZYX_ASSIGN_OR_RETURN(const auto index, readIndex(file));
  std::map<std::string, size_t> numbers;
  const std::string folder = std::filesystem::path(file).parent_path().string();
  for (const auto &[name, shard] : index) {
    const auto [known, isNew] = numbers.emplace(shard, files.size());
    if (isNew) {
      ZYX_ASSIGN_OR_RETURN(SafetensorsFile opened,
                           SafetensorsFile::open(folder.empty() ? shard : folder + "/" + shard));
      files.push_back(std::move(opened));
    }
    if (!files[known->second].find(name) && !files[known->second].unsupported().contains(name))
      return Status::dataCorruption(file + ": tensor '" + name + "' is said to be in '" + shard +
                                    "', which has none of the name");
  }
  for (const auto &[shard, number] : numbers)
    for (const SafetensorsFile::Entry &entry : files[number].tensors())
      if (const auto said = index.find(entry.name); said == index.end() || said->second != shard)
        return Status::dataCorruption(file + ": '" + shard + "' has a tensor '" + entry.name + "' that the index " +
                                      (said == index.end() ? "does not name" : "says is in '" + said->second + "'"));
  return files;
}

Status io::writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, HostTensor>> &tensors,
                            const std::map<std::string, std::string> &metadata) {
  std::vector<TensorView> views;
  for (const auto &[name, tensor] : tensors)
    views.push_back({name, tensor.type, tensor.data});
  return writeSafetensors(path, views, metadata);
}
