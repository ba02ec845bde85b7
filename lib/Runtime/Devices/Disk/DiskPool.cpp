//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/DiskPool.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <unordered_map>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// Between files and pools that are not host memory.
constexpr uint64_t stagingBytes = uint64_t(1) << 20;

/// A file without a name.
class OwnFile {
public:
  explicit OwnFile(int descriptor) : descriptor(descriptor) {}
  OwnFile(const OwnFile &) = delete;
  OwnFile &operator=(const OwnFile &) = delete;
  ~OwnFile() { ::close(descriptor); }

  Status read(uint64_t offset, std::span<std::byte> into) const { return transfer(::pread, "read", offset, into); }
  Status write(uint64_t offset, std::span<const std::byte> from) const {
    return transfer(::pwrite, "write", offset, from);
  }

private:
  template <typename Call, typename Bytes>
  Status transfer(Call call, const char *what, uint64_t offset, Bytes bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = call(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0)
        return Status::ioError("cannot " + std::string(what) +
                               " a file of pool disk: " + (done < 0 ? std::strerror(errno) : "it ended"));
      bytes = bytes.subspan(static_cast<size_t>(done));
      offset += static_cast<uint64_t>(done);
    }
    return Status::ok();
  }
  int descriptor;
};

/// One allocation. Shared, so that a copy goes on while another thread frees it.
struct Piece {
  /// One of both.
  std::optional<OwnFile> own;
  std::shared_ptr<const ReadOnlyFile> mapped;
  /// What is in the mapped file, for messages; "" is the file itself.
  std::string what;
  /// Where it begins in the mapped file.
  uint64_t begin = 0, size = 0;
};

class FilePool : public DiskPool {
public:
  FilePool(std::string folder, uint64_t limit) : folder(std::move(folder)) { counts.limit = limit; }

  PoolUsage usage() const override {
    std::lock_guard lock(mutex);
    return counts;
  }
  bool isHostMemory() const override { return false; }
  uint64_t bytesRead() const override { return readSoFar; }

  Result<Allocation> allocate(uint64_t size) override;
  Result<Allocation> map(std::shared_ptr<const ReadOnlyFile> file, uint64_t offset, uint64_t size,
                         std::string what) override;
  Status deallocate(const Allocation &allocation) override;
  Status copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) override;
  Status copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) override;
  Status copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to, uint64_t size) override;
  Result<std::byte *> address(const Allocation &, uint64_t, uint64_t) override {
    return Status::unsupported("pool disk is not host memory");
  }

private:
  Allocation add(std::shared_ptr<Piece> piece);
  Result<std::shared_ptr<Piece>> find(const Allocation &allocation, uint64_t offset, uint64_t size) const;
  Status read(const Piece &piece, uint64_t offset, std::span<std::byte> to);

  std::string folder;
  mutable std::mutex mutex;
  PoolUsage counts;
  /// Handles are numbers that are not used again.
  uint64_t nextHandle = 1;
  std::unordered_map<uint64_t, std::shared_ptr<Piece>> live;
  std::atomic<uint64_t> readSoFar = 0;
};

Allocation FilePool::add(std::shared_ptr<Piece> piece) {
  const Allocation allocation{nextHandle++, piece->size};
  live.emplace(allocation.handle, std::move(piece));
  return allocation;
}

Result<Allocation> FilePool::allocate(uint64_t size) {
  std::lock_guard lock(mutex);
  auto outOfMemory = [&](const std::string &why) {
    return Status::outOfMemory("pool disk holds " + std::to_string(counts.inUse) + " of " +
                               std::to_string(counts.limit) + " bytes and cannot give " + std::to_string(size) +
                               " more" + why);
  };
  if (size > counts.limit - counts.inUse)
    return outOfMemory("");
  // Before the file, whose descriptor nobody else would close where memory ends.
  auto piece = std::make_shared<Piece>();
  piece->size = size;
  std::string path = folder + "/zyx-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0)
    return Status::ioError("cannot make a file in " + folder + ": " + std::strerror(errno));
  piece->own.emplace(descriptor);
  ::unlink(path.c_str());
  // Reserved now, so that a disk that fills up later fails no write.
  if (size > static_cast<uint64_t>(INT64_MAX))
    return outOfMemory("");
  if (const int error = size ? ::posix_fallocate(descriptor, 0, static_cast<off_t>(size)) : 0)
    return outOfMemory(": " + std::string(std::strerror(error)));
  const Allocation allocation = add(std::move(piece));
  counts.inUse += size;
  counts.highWater = std::max(counts.highWater, counts.inUse);
  return allocation;
}

static std::string prefixOf(const std::string &what) { return what.empty() ? "" : what + ": "; }

Result<Allocation> FilePool::map(std::shared_ptr<const ReadOnlyFile> file, uint64_t offset, uint64_t size,
                                 std::string what) {
  if (offset > file->size() || size > file->size() - offset)
    return Status::invalidArgument(prefixOf(what) + file->path() + ": has " + std::to_string(file->size()) +
                                   " bytes, not " + std::to_string(size) + " from byte " + std::to_string(offset));
  auto piece = std::make_shared<Piece>();
  piece->mapped = std::move(file);
  piece->what = std::move(what);
  piece->begin = offset;
  piece->size = size;
  std::lock_guard lock(mutex);
  return add(std::move(piece));
}

Status FilePool::deallocate(const Allocation &allocation) {
  std::lock_guard lock(mutex);
  auto found = live.find(allocation.handle);
  if (found == live.end())
    return Status::invalidArgument("pool disk has no such allocation");
  if (found->second->own)
    counts.inUse -= found->second->size;
  live.erase(found);
  return Status::ok();
}

Result<std::shared_ptr<Piece>> FilePool::find(const Allocation &allocation, uint64_t offset, uint64_t size) const {
  std::lock_guard lock(mutex);
  auto found = live.find(allocation.handle);
  if (found == live.end())
    return Status::invalidArgument("pool disk has no such allocation");
  const uint64_t available = found->second->size;
  if (offset > available || size > available - offset)
    return Status::invalidArgument("a copy of " + std::to_string(size) + " bytes at byte " + std::to_string(offset) +
                                   " leaves an allocation of " + std::to_string(available));
  return found->second;
}

Status FilePool::read(const Piece &piece, uint64_t offset, std::span<std::byte> to) {
  readSoFar += to.size();
  if (piece.own)
    return piece.own->read(offset, to);
  Status status = piece.mapped->read(piece.begin + offset, to);
  return status.isOk() || piece.what.empty() ? status : Status(status.code(), prefixOf(piece.what) + status.message());
}

Status FilePool::copyIn(const Allocation &to, uint64_t offset, std::span<const std::byte> from) {
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Piece> piece, find(to, offset, from.size()));
  if (piece->mapped)
    return Status::invalidArgument(piece->mapped->path() + ": is only read, not written");
  return piece->own->write(offset, from);
}

Status FilePool::copyOut(const Allocation &from, uint64_t offset, std::span<std::byte> to) {
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Piece> piece, find(from, offset, to.size()));
  return read(*piece, offset, to);
}

Status FilePool::copyTo(const Allocation &from, MemoryPool &pool, const Allocation &to, uint64_t size) {
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Piece> piece, find(from, 0, size));
  if (pool.isHostMemory()) {
    ZYX_ASSIGN_OR_RETURN(std::byte * address, pool.address(to, 0, size));
    return read(*piece, 0, {address, size});
  }
  std::vector<std::byte> staging(std::min(size, stagingBytes));
  for (uint64_t done = 0; done < size; done += staging.size()) {
    staging.resize(std::min(size - done, stagingBytes));
    ZYX_RETURN_IF_ERROR(read(*piece, done, staging));
    ZYX_RETURN_IF_ERROR(pool.copyIn(to, done, staging));
  }
  return Status::ok();
}

} // namespace

Result<std::shared_ptr<DiskPool>> DiskPool::create(const std::string &folder, uint64_t limit) {
  std::string place = folder;
  if (const char *parent = std::getenv("TMPDIR"); place.empty())
    place = parent && *parent ? parent : "/tmp";
  if (::access(place.c_str(), W_OK | X_OK) != 0)
    return Status::ioError("pool disk cannot use the folder " + place + ": " + std::strerror(errno));
  return std::shared_ptr<DiskPool>(std::make_shared<FilePool>(std::move(place), limit ? limit : UINT64_MAX));
}

Result<std::shared_ptr<Buffer>> runtime::mapFile(std::shared_ptr<DiskPool> pool, const std::string &path,
                                                 uint64_t offset, uint64_t size) {
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, ReadOnlyFile::open(path));
  return mapFile(std::move(pool), std::make_shared<const ReadOnlyFile>(std::move(file)), offset, size, "");
}

Result<std::shared_ptr<Buffer>> runtime::mapFile(std::shared_ptr<DiskPool> pool,
                                                 std::shared_ptr<const ReadOnlyFile> file, uint64_t offset,
                                                 uint64_t size, std::string what) {
  ZYX_ASSIGN_OR_RETURN(Allocation allocation, pool->map(std::move(file), offset, size, std::move(what)));
  try {
    return Buffer::adopt(pool, allocation);
  } catch (...) {
    [[maybe_unused]] Status status = pool->deallocate(allocation);
    throw;
  }
}
