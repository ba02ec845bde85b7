//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Npy.h"

#include "Detail.h"
#include "zyx/Base/Allocate.h"
#include "zyx/Base/File.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

using namespace zyx;
using namespace zyx::io;

namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// Far beyond what 16 dimensions need.
constexpr uint32_t maxHeaderBytes = 64 * 1024;

struct Descr {
  std::string_view name;
  DType dtype;
};
constexpr Descr descrs[] = {
    {"|b1", DType::Bool}, {"|i1", DType::I8},  {"<i2", DType::I16}, {"<i4", DType::I32},
    {"<i8", DType::I64},  {"|u1", DType::U8},  {"<u2", DType::U16}, {"<u4", DType::U32},
    {"<u8", DType::U64},  {"<f2", DType::F16}, {"<f4", DType::F32}, {"<f8", DType::F64},
};

/// Reads the Python dictionary of a header: 'descr', 'fortran_order' and 'shape', each once, in
/// any order.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Status parse() {
    ZYX_RETURN_IF_ERROR(expect('{'));
    while (!accept('}')) {
      ZYX_ASSIGN_OR_RETURN(std::string_view key, string());
      ZYX_RETURN_IF_ERROR(expect(':'));
      ZYX_RETURN_IF_ERROR(value(key));
      if (!accept(',')) {
        ZYX_RETURN_IF_ERROR(expect('}'));
        break;
      }
    }
    skipSpace();
    if (!text.empty())
      return malformed();
    if (!dtype || !fortran || !shape)
      return Status::dataCorruption("the header lacks 'descr', 'fortran_order' or 'shape'");
    return Status::ok();
  }

  std::optional<DType> dtype;
  std::optional<bool> fortran;
  std::optional<Shape> shape;

private:
  static Status malformed() { return Status::dataCorruption("the header is malformed"); }

  void skipSpace() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n'))
      text.remove_prefix(1);
  }
  bool accept(char c) {
    skipSpace();
    if (text.empty() || text[0] != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  Status expect(char c) { return accept(c) ? Status::ok() : malformed(); }
  bool acceptWord(std::string_view word) {
    skipSpace();
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(word.size());
    return true;
  }

  Result<std::string_view> string() {
    skipSpace();
    char quote = text.empty() ? '\0' : text[0];
    size_t end = quote == '\'' || quote == '"' ? text.find(quote, 1) : text.npos;
    if (end == text.npos)
      return malformed();
    std::string_view result = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return result;
  }

  Status value(std::string_view key) {
    if (key == "descr" && !dtype)
      return descr();
    if (key == "fortran_order" && !fortran) {
      if (acceptWord("True"))
        fortran = true;
      else if (acceptWord("False"))
        fortran = false;
      return fortran ? Status::ok() : malformed();
    }
    if (key == "shape" && !shape)
      return tuple();
    return malformed();
  }

  Status descr() {
    ZYX_ASSIGN_OR_RETURN(std::string_view name, string());
    for (const Descr &known : descrs)
      // Byte order means nothing for one byte, so '<' and '=' are as good as '|'.
      if (name.size() == 3 && name.substr(1) == known.name.substr(1) &&
          (name[0] == '<' || name[0] == '=' || name[0] == '|'))
        dtype = known.dtype;
    if (dtype)
      return Status::ok();
    if (name.starts_with('>'))
      return Status::unsupported("holds big-endian numbers");
    return Status::unsupported("holds elements of unsupported type '" + std::string(name) + "'");
  }

  Status tuple() {
    ZYX_RETURN_IF_ERROR(expect('('));
    shape.emplace();
    while (!accept(')')) {
      skipSpace();
      int64_t extent = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
      if (error != std::errc() || extent < 0)
        return malformed();
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      shape->push_back(extent);
      if (!accept(',')) {
        ZYX_RETURN_IF_ERROR(expect(')'));
        break;
      }
    }
    return Status::ok();
  }

  std::string_view text;
};

/// `source` is column-major of `shape`; the result is row-major.
std::vector<std::byte> fromFortranOrder(std::span<const std::byte> source, const Shape &shape, size_t elementSize) {
  std::vector<std::byte> result(source.size());
  std::vector<size_t> strides(shape.size());
  size_t stride = elementSize;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(shape[d]);
  }
  std::vector<int64_t> index(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += elementSize) {
    std::memcpy(result.data() + to, source.data() + from, elementSize);
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d])
        break;
      from -= strides[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return result;
}

/// What precedes the elements.
struct Header {
  TensorType type;
  bool fortran = false;
  /// Of the elements.
  uint64_t offset = 0, size = 0;
};

/// `start` is all of a file, or at least maxHeaderBytes of it.
Result<Header> parseStart(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char *>(start.data()), start.size());
  if (!text.starts_with(magic))
    return Status::dataCorruption("not a .npy file");
  if (text.size() < 10)
    return Status::dataCorruption("the header is cut");
  auto byteAt = [&](size_t i) { return std::to_integer<uint32_t>(start[i]); };
  const uint32_t major = byteAt(6);
  if (major < 1 || major > 3 || byteAt(7) != 0)
    return Status::unsupported("has .npy format version " + std::to_string(major) + "." + std::to_string(byteAt(7)) +
                               "; 1.0 to 3.0 are known");
  const size_t prefix = major == 1 ? 10 : 12;
  if (text.size() < prefix)
    return Status::dataCorruption("the header is cut");
  uint32_t length = byteAt(8) | byteAt(9) << 8;
  if (major > 1)
    length |= byteAt(10) << 16 | byteAt(11) << 24;
  if (length > maxHeaderBytes - prefix)
    return Status::dataCorruption("the header claims " + std::to_string(length) + " bytes");
  if (text.size() - prefix < length)
    return Status::dataCorruption("the header is cut");

  HeaderParser parser(text.substr(prefix, length));
  ZYX_RETURN_IF_ERROR(parser.parse());
  Header header;
  header.type = {*parser.dtype, *parser.shape};
  header.fortran = *parser.fortran;
  header.offset = prefix + length;
  ZYX_ASSIGN_OR_RETURN(int64_t size, byteSize(header.type));
  header.size = static_cast<uint64_t>(size);
  return header;
}

/// The same of a file of `fileSize` bytes.
Result<Header> parseHeader(std::span<const std::byte> start, uint64_t fileSize) {
  ZYX_ASSIGN_OR_RETURN(Header header, parseStart(start));
  if (fileSize - header.offset != header.size)
    return Status::dataCorruption("holds " + std::to_string(fileSize - header.offset) + " bytes of elements; " +
                                  zyx::toString(header.type) + " has " + std::to_string(header.size));
  return header;
}

HostTensor assemble(const Header &header, std::vector<std::byte> elements) {
  if (header.fortran)
    elements = fromFortranOrder(elements, header.type.shape, static_cast<size_t>(byteSize(header.type.dtype)));
  HostTensor tensor{header.type, std::move(elements)};
  normalizeBools(tensor);
  return tensor;
}

} // namespace

Result<HostTensor> io::parseNpy(std::span<const std::byte> bytes, const std::string &name) {
  return parseNpy(std::vector<std::byte>(bytes.begin(), bytes.end()), name);
}

Result<HostTensor> io::parseNpy(std::vector<std::byte> &&bytes, const std::string &name) {
  Result<Header> header = parseHeader(bytes, bytes.size());
  if (!header)
    return named(name, header.status());
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(header->offset));
  return assemble(*header, std::move(bytes));
}

Result<HostTensor> io::readNpy(const std::string &path) {
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile opened, ReadOnlyFile::open(path));
  ZYX_ASSIGN_OR_RETURN(const NpyFile file, NpyFile::open(std::move(opened)));
  return file.read();
}

Result<NpyFile> NpyFile::open(ReadOnlyFile file) {
  std::vector<std::byte> start(std::min<uint64_t>(file.size(), maxHeaderBytes));
  ZYX_RETURN_IF_ERROR(file.read(0, start));
  Result<Header> header = parseHeader(start, file.size());
  if (!header)
    return named(file.path(), header.status());
  return NpyFile(std::move(file), std::move(header->type), header->offset, header->fortran);
}

Result<HostTensor> NpyFile::read() const {
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> elements, allocateBytes(file.size() - offset, file.path()));
  ZYX_RETURN_IF_ERROR(file.read(offset, elements));
  return assemble({tensorType, isFortran, offset, elements.size()}, std::move(elements));
}

Result<HostTensor> NpyFile::readRows(int64_t begin, int64_t end) const {
  const size_t rows = static_cast<size_t>(tensorType.shape.front());
  const size_t row = rows == 0 ? 0 : (file.size() - offset) / rows;
  const size_t first = row * static_cast<size_t>(begin), size = row * static_cast<size_t>(end - begin);
  TensorType type = tensorType;
  type.shape.front() = end - begin;
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> elements, allocateBytes(size, file.path()));
  if (!isFortran) {
    ZYX_RETURN_IF_ERROR(file.read(offset + first, elements));
    return assemble({type, false, offset, size}, std::move(elements));
  }
  // Rows are spread over the whole file.
  ZYX_ASSIGN_OR_RETURN(const HostTensor whole, read());
  std::copy_n(whole.data.begin() + static_cast<ptrdiff_t>(first), size, elements.begin());
  return HostTensor{type, std::move(elements)};
}

Result<NpyStart> io::readNpyStart(std::span<const std::byte> start) {
  ZYX_ASSIGN_OR_RETURN(Header header, parseStart(start));
  return NpyStart{std::move(header.type), header.offset + header.size};
}

Result<std::string> io::npyHeader(const TensorType &type) {
  const auto *descr =
      std::find_if(std::begin(descrs), std::end(descrs), [&](const Descr &known) { return known.dtype == type.dtype; });
  if (descr == std::end(descrs))
    return Status::unsupported(".npy has no type for " + std::string(zyx::toString(type.dtype)) +
                               "; cast to f32 in the program");
  std::string header = "{'descr': '" + std::string(descr->name) + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : type.shape)
    header += std::to_string(extent) + (type.shape.size() == 1 ? "," : ", ");
  if (type.shape.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  // The elements start at a multiple of 64 bytes, after a newline.
  constexpr size_t prefix = 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';

  std::string start(magic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return start + header;
}

/// The same for a tensor that has the bytes of its type.
static Result<std::string> headerOf(const HostTensor &tensor) {
  ZYX_ASSIGN_OR_RETURN(std::string header, npyHeader(tensor.type));
  ZYX_RETURN_IF_ERROR(checkSize(tensor.type, tensor.data.size()));
  return header;
}

Result<std::vector<std::byte>> io::encodeNpy(const HostTensor &tensor) {
  ZYX_ASSIGN_OR_RETURN(const std::string start, headerOf(tensor));
  std::vector<std::byte> bytes(start.size() + tensor.data.size());
  std::memcpy(bytes.data(), start.data(), start.size());
  std::copy(tensor.data.begin(), tensor.data.end(), bytes.begin() + static_cast<ptrdiff_t>(start.size()));
  return bytes;
}

Status io::writeNpy(const std::string &path, const HostTensor &tensor) {
  const Result<std::string> start = headerOf(tensor);
  if (!start)
    return named(path, start.status());
  ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  ZYX_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(*start))));
  ZYX_RETURN_IF_ERROR(file.write(tensor.data));
  return file.commit();
}
