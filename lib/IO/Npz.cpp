//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Npz.h"

#include "Detail.h"
#include "zyx/Base/Allocate.h"
#include "zyx/Base/Bytes.h"
#include "zyx/IO/Npy.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

using namespace zyx;
using namespace zyx::io;

namespace {

constexpr uint32_t localMagic = 0x04034b50, directoryMagic = 0x02014b50, endMagic = 0x06054b50;
constexpr uint64_t localSize = 30, directorySize = 46, endSize = 22;
/// Of zip64: the end of the directory, and where that is.
constexpr uint32_t largeEndMagic = 0x06064b50, locatorMagic = 0x07064b50;
constexpr uint64_t largeEndSize = 56, locatorSize = 20;
/// The extra field of an entry that holds what is too large for the others.
constexpr uint16_t largeField = 1;
constexpr uint64_t maxCommentSize = 65535;
/// Fields of this value are kept by zip64's records.
constexpr uint32_t zip64Mark = 0xffffffff;
constexpr uint16_t isEncrypted = 1, isStreamed = 1 << 3, isUtf8 = 1 << 11;
constexpr uint16_t storedMethod = 0, deflatedMethod = 8;
/// What a bit of a deflated stream becomes at most, times eight.
constexpr uint64_t maxDeflateRatio = 1032;
constexpr std::string_view suffix = ".npy";
/// 1980-01-01, the first day that there is.
constexpr uint16_t firstDay = 1 << 5 | 1;

class Fields {
public:
  explicit Fields(std::span<const std::byte> bytes) : bytes(bytes) {}
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(size_t at) const { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(size_t at) const { return number(at, 8); }

private:
  uint64_t number(size_t at, int size) const {
    uint64_t value = 0;
    for (int i = size; i-- > 0;)
      value = value << 8 | std::to_integer<uint64_t>(bytes[at + static_cast<size_t>(i)]);
    return value;
  }
  std::span<const std::byte> bytes;
};

Status corrupt(std::string why) { return Status::dataCorruption(std::move(why)); }

/// Why a name is none of an array: it is never a path on this machine, but whoever unpacks the
/// archive takes it for one.
const char *refuseName(std::string_view name) {
  if (name.empty())
    return "is empty";
  for (char c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == '\\')
      return "has a control character or a backslash";
  for (std::string_view rest = name;;) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..")
      return "is no path below a folder";
    if (slash == rest.npos)
      return nullptr;
    rest.remove_prefix(slash + 1);
  }
}

/// Where the directory lies, and how many entries it has.
struct Directory {
  uint64_t offset = 0, size = 0, count = 0;
};

/// The directory of an archive whose last record begins at `end` and says that others hold the numbers.
Result<Directory> findLargeDirectory(const ReadOnlyFile &file, uint64_t end) {
  std::byte locator[locatorSize], record[largeEndSize];
  if (end < locatorSize + largeEndSize)
    return corrupt("the zip64 end of the directory is missing");
  ZYX_RETURN_IF_ERROR(file.read(end - locatorSize, locator));
  const Fields place(locator);
  const uint64_t at = place.u64(8);
  if (place.u32(0) != locatorMagic || at > end - locatorSize - largeEndSize)
    return corrupt("the zip64 end of the directory is missing");
  ZYX_RETURN_IF_ERROR(file.read(at, record));
  const Fields fields(record);
  // Its size counts from behind itself.
  if (fields.u32(0) != largeEndMagic || fields.u64(4) != end - locatorSize - at - 12)
    return corrupt("the zip64 end of the directory is malformed");
  const Directory directory{fields.u64(48), fields.u64(40), fields.u64(32)};
  if (place.u32(4) != 0 || place.u32(16) != 1 || fields.u32(16) != 0 || fields.u32(20) != 0 ||
      fields.u64(24) != directory.count)
    return Status::unsupported("is a part of an archive of several files");
  if (directory.offset > at || directory.size != at - directory.offset)
    return corrupt("the directory of " + std::to_string(directory.size) + " bytes at " +
                   std::to_string(directory.offset) + " does not end at byte " + std::to_string(at));
  return directory;
}

Result<Directory> findDirectory(const ReadOnlyFile &file) {
  std::vector<std::byte> tail(std::min(file.size(), endSize + maxCommentSize));
  const uint64_t tailOffset = file.size() - tail.size();
  ZYX_RETURN_IF_ERROR(file.read(tailOffset, tail));
  const Fields fields(tail);
  // The last record whose comment ends with the file.
  for (size_t at = tail.size() < endSize ? 0 : tail.size() - endSize + 1; at-- > 0;) {
    if (fields.u32(at) != endMagic || at + endSize + fields.u16(at + 20) != tail.size())
      continue;
    const uint32_t count = fields.u16(at + 10), size = fields.u32(at + 12), offset = fields.u32(at + 16);
    if (count == 0xffff || size == zip64Mark || offset == zip64Mark)
      return findLargeDirectory(file, tailOffset + at);
    if (fields.u16(at + 4) != 0 || fields.u16(at + 6) != 0 || fields.u16(at + 8) != count)
      return Status::unsupported("is a part of an archive of several files");
    if (uint64_t(offset) + size != tailOffset + at)
      return corrupt("the directory of " + std::to_string(size) + " bytes at " + std::to_string(offset) +
                     " does not end at byte " + std::to_string(tailOffset + at));
    return Directory{offset, size, count};
  }
  return corrupt("no .npz file, or its end is cut: no end of a zip archive's directory");
}

struct DirectoryEntry {
  NpzFile::Entry entry;
  uint64_t localOffset = 0;
  uint16_t method = 0;
  /// Whether its sizes may be repeated behind it.
  bool hasDescriptor = false;
  std::string fileName;
};

/// Takes the numbers that are marked from the extra fields of an entry, which hold those and no others, in this order.
bool takeLarge(std::span<const std::byte> extra, std::initializer_list<uint64_t *> numbers) {
  std::span<const std::byte> large;
  while (extra.size() >= 4) {
    const Fields fields(extra);
    const size_t size = fields.u16(2);
    if (size > extra.size() - 4)
      return false;
    if (fields.u16(0) == largeField)
      large = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
  }
  for (uint64_t *number : numbers) {
    if (*number != zip64Mark)
      continue;
    if (large.size() < 8)
      return false;
    *number = Fields(large).u64(0);
    large = large.subspan(8);
  }
  return true;
}

/// Reads the entry at the start of `bytes`, and moves `bytes` behind it.
Result<DirectoryEntry> readEntry(std::span<const std::byte> &bytes, const NpzLimits &limits) {
  const Fields fields(bytes);
  if (bytes.size() < directorySize || fields.u32(0) != directoryMagic)
    return corrupt("the directory is malformed");
  const uint64_t nameSize = fields.u16(28);
  const uint64_t size = directorySize + nameSize + fields.u16(30) + fields.u16(32);
  if (bytes.size() < size)
    return corrupt("the directory is cut");
  DirectoryEntry result;
  result.fileName.assign(reinterpret_cast<const char *>(bytes.data() + directorySize), nameSize);
  const std::span<const std::byte> extra = bytes.subspan(directorySize + nameSize, fields.u16(30));
  bytes = bytes.subspan(size);

  const std::string what = "array '" + result.fileName + "' ";
  if (!result.fileName.ends_with(suffix))
    return Status::unsupported("'" + result.fileName + "' is no .npy file");
  NpzFile::Entry &entry = result.entry;
  entry.name = result.fileName.substr(0, result.fileName.size() - suffix.size());
  if (const char *why = refuseName(entry.name))
    return corrupt("the name '" + entry.name + "' " + why);
  entry.checksum = fields.u32(16);
  entry.packedSize = fields.u32(20);
  entry.size = fields.u32(24);
  result.localOffset = fields.u32(42);
  result.method = fields.u16(10);
  if (!takeLarge(extra, {&entry.size, &entry.packedSize, &result.localOffset}))
    return corrupt(what + "lacks its zip64 sizes");
  result.hasDescriptor = fields.u16(8) & isStreamed;
  if (fields.u16(8) & isEncrypted)
    return Status::unsupported(what + "is encrypted");
  if (result.method != storedMethod && result.method != deflatedMethod)
    return Status::unsupported(what + "has the compression " + std::to_string(result.method) +
                               "; 0 (stored) and 8 (deflated) are known");
  entry.isDeflated = result.method == deflatedMethod;
  const std::string sizes =
      std::to_string(entry.size) + " bytes from " + std::to_string(entry.packedSize) + " in the file";
  if (entry.isDeflated ? entry.size / maxDeflateRatio > entry.packedSize : entry.size != entry.packedSize)
    return corrupt(what + "claims " + sizes);
  if (entry.size > limits.bytes && entry.size / std::max<uint64_t>(limits.ratio, 1) > entry.packedSize)
    return Status::unsupported(what + "would be unpacked to " + sizes + ", beyond the limits of " +
                               std::to_string(limits.bytes) + " bytes and " + std::to_string(limits.ratio) +
                               " times as much");
  return result;
}

/// Checks what stands in front of the packed bytes, and finds these.
Status locate(const ReadOnlyFile &file, DirectoryEntry &found, uint64_t directoryOffset) {
  const std::string what = "array '" + found.entry.name + "' ";
  const uint64_t headerSize = localSize + found.fileName.size();
  if (found.localOffset > directoryOffset || headerSize > directoryOffset - found.localOffset)
    return corrupt(what + "starts behind the arrays, at byte " + std::to_string(found.localOffset));
  std::vector<std::byte> header(headerSize);
  ZYX_RETURN_IF_ERROR(file.read(found.localOffset, header));
  const Fields fields(header);
  // The sizes may stand behind the array instead, or in a zip64 field, as NumPy writes them.
  if (fields.u32(0) != localMagic || fields.u16(8) != found.method || fields.u16(26) != found.fileName.size() ||
      std::memcmp(header.data() + localSize, found.fileName.data(), found.fileName.size()) != 0)
    return corrupt(what + "is another one at its place than in the directory");
  found.entry.offset = found.localOffset + headerSize + fields.u16(28);
  if (found.entry.offset > directoryOffset || found.entry.packedSize > directoryOffset - found.entry.offset)
    return corrupt(what + "has " + std::to_string(found.entry.packedSize) + " bytes at " +
                   std::to_string(found.entry.offset) + ", behind the end of the arrays");
  return Status::ok();
}

Result<std::vector<NpzFile::Entry>> readEntries(const ReadOnlyFile &file, const NpzLimits &limits) {
  ZYX_ASSIGN_OR_RETURN(const Directory directory, findDirectory(file));
  std::vector<std::byte> bytes(directory.size);
  ZYX_RETURN_IF_ERROR(file.read(directory.offset, bytes));
  std::span<const std::byte> rest = bytes;
  std::vector<DirectoryEntry> found;
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < directory.count; ++i) {
    ZYX_ASSIGN_OR_RETURN(DirectoryEntry entry, readEntry(rest, limits));
    if (!names.insert(entry.entry.name).second)
      return corrupt("array '" + entry.entry.name + "' is a duplicate");
    ZYX_RETURN_IF_ERROR(locate(file, entry, directory.offset));
    found.push_back(std::move(entry));
  }
  if (!rest.empty())
    return corrupt("the directory has " + std::to_string(rest.size()) + " bytes behind its entries");

  std::vector<const DirectoryEntry *> order;
  for (const DirectoryEntry &entry : found)
    order.push_back(&entry);
  std::ranges::sort(order, {}, &DirectoryEntry::localOffset);
  // Each begins where the one before it ends, the first one with the file and the directory last.
  uint64_t end = 0;
  bool hasDescriptor = false;
  for (size_t i = 0; i <= order.size(); ++i) {
    const uint64_t next = i < order.size() ? order[i]->localOffset : directory.offset;
    if (next < end)
      return corrupt("arrays '" + order[i - 1]->entry.name + "' and '" + order[i]->entry.name + "' overlap");
    const uint64_t gap = next - end;
    // A checksum and two sizes of 4 or 8 bytes, with or without a signature.
    if (gap != 0 && !(hasDescriptor && (gap == 12 || gap == 16 || gap == 20 || gap == 24)))
      return corrupt("the " + std::to_string(gap) + " bytes at " + std::to_string(end) + " belong to no array");
    if (i < order.size()) {
      end = order[i]->entry.offset + order[i]->entry.packedSize;
      hasDescriptor = order[i]->hasDescriptor;
    }
  }
  std::vector<NpzFile::Entry> entries;
  for (DirectoryEntry &entry : found)
    entries.push_back(std::move(entry.entry));
  return entries;
}

Bytef *asBytes(std::byte *bytes) { return reinterpret_cast<Bytef *>(bytes); }
/// zlib does not write to its input, but is declared to.
Bytef *asBytes(const std::byte *bytes) { return asBytes(const_cast<std::byte *>(bytes)); }

/// Fills `into`, whose size is that of all that `packed` holds.
bool inflateAll(std::span<const std::byte> packed, std::span<std::byte> into) {
  z_stream stream = {};
  // A negative window says that there is no header of zlib's own.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  std::byte nowhere{};
  stream.next_in = asBytes(packed.data());
  stream.next_out = asBytes(into.empty() ? &nowhere : into.data());
  // zlib counts in 32 bits.
  constexpr size_t piece = size_t(1) << 30;
  size_t unread = packed.size(), unfilled = into.size();
  auto give = [](size_t &left, uInt &available) {
    const auto more = static_cast<uInt>(std::min(left, piece - available));
    available += more;
    left -= more;
  };
  int code = Z_OK;
  while (code == Z_OK) {
    give(unread, stream.avail_in);
    give(unfilled, stream.avail_out);
    code = inflate(&stream, unread == 0 && unfilled == 0 ? Z_FINISH : Z_NO_FLUSH);
  }
  const bool isDone =
      code == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0 && unread == 0 && unfilled == 0;
  inflateEnd(&stream);
  return isDone;
}

/// Nothing where it does not become smaller, or where there is no memory to try.
std::vector<std::byte> deflateAll(std::span<const std::byte> bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::vector<std::byte> packed(bytes.size());
  stream.next_in = asBytes(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = asBytes(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(code == Z_STREAM_END && stream.avail_out != 0 ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

uint32_t checksumOf(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, asBytes(bytes.data()), bytes.size()));
}

/// Headers of the archive, little-endian.
class HeaderWriter {
public:
  HeaderWriter &u16(uint32_t value) {
    out.u8(static_cast<uint8_t>(value));
    out.u8(static_cast<uint8_t>(value >> 8));
    return *this;
  }
  HeaderWriter &u32(uint64_t value) {
    out.u32(static_cast<uint32_t>(value));
    return *this;
  }
  HeaderWriter &text(std::string_view value) {
    for (char c : value)
      out.u8(static_cast<uint8_t>(c));
    return *this;
  }
  size_t size() const { return out.view().size(); }
  std::span<const std::byte> view() const { return out.view(); }

private:
  ByteWriter out;
};

/// What both headers of an array have in the middle.
void writeFacts(HeaderWriter &to, const NpzFile::Entry &entry) {
  // Version 2.0 knows deflate.
  to.u16(20).u16(isUtf8).u16(entry.isDeflated ? deflatedMethod : storedMethod);
  to.u16(0).u16(firstDay).u32(entry.checksum).u32(entry.packedSize).u32(entry.size);
  to.u16(static_cast<uint32_t>(entry.name.size() + suffix.size())).u16(0);
}

Status writeArrays(AtomicFile &file, const std::vector<std::pair<std::string, HostTensor>> &arrays,
                   NpzCompression compression) {
  if (arrays.size() >= 0xffff)
    return Status::unsupported(std::to_string(arrays.size()) + " arrays need zip64");
  HeaderWriter directory;
  std::unordered_set<std::string_view> names;
  uint64_t offset = 0;
  for (const auto &[name, tensor] : arrays) {
    if (const char *why = refuseName(name))
      return Status::invalidArgument("the name '" + name + "' " + why);
    if (!names.insert(name).second)
      return Status::invalidArgument("array '" + name + "' is a duplicate");
    Result<std::vector<std::byte>> bytes = encodeNpy(tensor);
    if (!bytes)
      return Status(bytes.status().code(), "array '" + name + "': " + bytes.status().message());
    NpzFile::Entry entry;
    entry.name = name;
    entry.size = bytes->size();
    entry.checksum = checksumOf(*bytes);
    const std::string tooLarge = "array '" + name + "' of " + zyx::toString(tensor.type) + " needs zip64";
    if (name.size() > 0xffff - suffix.size() || entry.size >= zip64Mark)
      return Status::unsupported(tooLarge);
    if (compression == NpzCompression::Deflated) {
      std::vector<std::byte> packed = deflateAll(*bytes);
      if (!packed.empty()) {
        entry.isDeflated = true;
        *bytes = std::move(packed);
      }
    }
    entry.packedSize = bytes->size();

    HeaderWriter local;
    local.u32(localMagic);
    writeFacts(local, entry);
    local.text(name).text(suffix);
    directory.u32(directoryMagic).u16(20);
    writeFacts(directory, entry);
    // No comment, the first part, binary, no attributes.
    directory.u16(0).u16(0).u16(0).u32(0).u32(offset).text(name).text(suffix);
    offset += local.size() + bytes->size();
    if (offset + directory.size() + endSize >= zip64Mark)
      return Status::unsupported(tooLarge);
    ZYX_RETURN_IF_ERROR(file.write(local.view()));
    ZYX_RETURN_IF_ERROR(file.write(*bytes));
  }
  ZYX_RETURN_IF_ERROR(file.write(directory.view()));
  HeaderWriter end;
  const auto count = static_cast<uint32_t>(arrays.size());
  end.u32(endMagic).u16(0).u16(0).u16(count).u16(count).u32(directory.size()).u32(offset).u16(0);
  return file.write(end.view());
}

} // namespace

Result<NpzFile> NpzFile::open(const std::string &path, const NpzLimits &limits) {
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, ReadOnlyFile::open(path));
  Result<std::vector<Entry>> entries = readEntries(file, limits);
  if (!entries)
    return named(path, entries.status());
  return NpzFile(std::move(file), std::move(*entries));
}

const NpzFile::Entry *NpzFile::find(std::string_view name) const {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : &*found;
}

Result<HostTensor> NpzFile::read(std::string_view name) const {
  const std::string what = file.path() + ": array '" + std::string(name) + "'";
  const Entry *entry = find(name);
  if (!entry)
    return Status::notFound(file.path() + ": no array '" + std::string(name) + "'");
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, allocateBytes(entry->packedSize, what));
  ZYX_RETURN_IF_ERROR(file.read(entry->offset, bytes));
  if (entry->isDeflated) {
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> unpacked, allocateBytes(entry->size, what));
    if (!inflateAll(bytes, unpacked))
      return corrupt(what + " is no deflated stream of " + std::to_string(entry->size) + " bytes");
    bytes = std::move(unpacked);
  }
  if (checksumOf(bytes) != entry->checksum)
    return corrupt(what + " has another checksum than the directory says");
  return parseNpy(std::move(bytes), what);
}

Status io::writeNpz(const std::string &path, const std::vector<std::pair<std::string, HostTensor>> &arrays,
                    NpzCompression compression) {
  ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  if (Status status = writeArrays(file, arrays, compression); !status)
    return named(path, status);
  return file.commit();
}
