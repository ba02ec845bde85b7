//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/DiskPool.h"
#include "../TestFiles.h"
#include "TestArtifact.h"
#include "TestKernels.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/IO/Safetensors.h"
#include "zyx/Runtime/Executor.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

using namespace zyx;
using namespace zyx::runtime;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string readAll(const Buffer &buffer) {
  std::string text(buffer.size(), '\0');
  Status status = buffer.read(std::as_writable_bytes(std::span(text)));
  EXPECT_TRUE(status.isOk()) << status.toString();
  return text;
}

TEST(DiskPoolTest, KeepsBytesInFilesWithoutNames) {
  auto folder = TempFolder::create();
  auto pool = DiskPool::create(folder->file(""), 100);
  ASSERT_TRUE(pool.isOk()) << pool.status().toString();
  auto a = Buffer::allocate(*pool, 8);
  ASSERT_TRUE(a.isOk()) << a.status().toString();
  EXPECT_TRUE(std::filesystem::is_empty(folder->file("")));
  EXPECT_TRUE((*a)->write(bytesOf("01234567")).isOk());
  EXPECT_EQ(readAll(**a), "01234567");
  EXPECT_EQ((*pool)->usage().inUse, 8u);
  EXPECT_EQ(Buffer::allocate(*pool, 93).status().message(), "pool disk holds 8 of 100 bytes and cannot give 93 more");
  auto rest = Buffer::allocate(*pool, 92), empty = Buffer::allocate(*pool, 0);
  ASSERT_TRUE(rest.isOk() && empty.isOk());
  EXPECT_EQ(readAll(**rest), std::string(92, '\0'));
  EXPECT_TRUE((*empty)->write({}).isOk());
  a->reset();
  rest->reset();
  EXPECT_EQ((*pool)->usage().inUse, 0u);
  EXPECT_EQ((*pool)->usage().highWater, 100u);
}

TEST(DiskPoolTest, CopiesBetweenPools) {
  // More than what is staged at once.
  std::string text(5 << 19, '\0');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i * 7 + (i >> 9));
  auto disk = *DiskPool::create(), otherDisk = *DiskPool::create();
  auto host = createHostPool();
  auto from = *Buffer::allocate(host, text.size()), first = *Buffer::allocate(disk, text.size()),
       second = *Buffer::allocate(otherDisk, text.size()), back = *Buffer::allocate(host, text.size());
  ASSERT_TRUE(from->write(bytesOf(text)).isOk());
  EXPECT_TRUE(first->copyFrom(*from).isOk());
  EXPECT_TRUE(second->copyFrom(*first).isOk());
  EXPECT_TRUE(back->copyFrom(*second).isOk());
  EXPECT_TRUE(readAll(*back) == text);
  std::string borrowed(text.size(), '\0');
  EXPECT_TRUE(Buffer::borrow(borrowed.data(), borrowed.size())->copyFrom(*second).isOk());
  EXPECT_TRUE(borrowed == text);
  EXPECT_TRUE(first->copyFrom(*Buffer::borrow(const_cast<char *>(text.data()), text.size())).isOk());
  EXPECT_FALSE(first->copyFrom(**Buffer::allocate(host, 3)).isOk());
}

TEST(DiskPoolTest, MapsRangesOfFilesUnread) {
  TemporaryPath path("weights");
  writeBytes(path, "0123456789");
  auto disk = *DiskPool::create("", 4);
  auto middle = mapFile(disk, path, 2, 6);
  ASSERT_TRUE(middle.isOk()) << middle.status().toString();
  EXPECT_EQ(disk->bytesRead(), 0u);
  EXPECT_EQ(disk->usage().inUse, 0u);
  auto device = *createDevice("cpu", {.threads = 1});
  auto weights = *Buffer::allocate(device->pool(), 6);
  EXPECT_TRUE(weights->copyFrom(**middle).isOk());
  EXPECT_EQ(readAll(*weights), "234567");
  EXPECT_EQ(disk->bytesRead(), 6u);
  EXPECT_EQ((*middle)->write(bytesOf("abcdef")).message(), std::string(path) + ": is only read, not written");
  EXPECT_EQ(readAll(**middle), "234567");

  EXPECT_EQ(mapFile(disk, path, 4, 7).status().message(), std::string(path) + ": has 10 bytes, not 7 from byte 4");
  EXPECT_FALSE(mapFile(disk, path, 11, 0).isOk());
  EXPECT_FALSE(mapFile(disk, path, 1, UINT64_MAX).isOk());
  EXPECT_EQ(mapFile(disk, std::string(path) + "-absent", 0, 1).status().code(), ErrorCode::NotFound);
  // A file that is cut under the buffer is an error, and no signal.
  writeBytes(path, "0123");
  std::string text(6, '\0');
  EXPECT_THAT((*middle)->read(std::as_writable_bytes(std::span(text))).message(), HasSubstr("ends at byte 4"));
}

TEST(DiskPoolTest, TakesTensorsOfSafetensorsFiles) {
  const std::string header = R"({"a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},)"
                             R"("x": {"dtype": "F32", "shape": [4], "data_offsets": [3, 19]}})";
  std::string content;
  for (int shift = 0; shift < 64; shift += 8)
    content += static_cast<char>(header.size() >> shift);
  const float x[] = {1, 2, 3, 4};
  content += header + "abc" + std::string(reinterpret_cast<const char *>(x), sizeof(x));
  TemporaryPath path("model.safetensors");
  writeBytes(path, content);

  auto opened = io::SafetensorsFile::open(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  const auto *entry = opened->find("x");
  ASSERT_NE(entry, nullptr);
  auto disk = *DiskPool::create();
  auto lazy = mapFile(disk, path, entry->offset, entry->size);
  ASSERT_TRUE(lazy.isOk());
  EXPECT_EQ(disk->bytesRead(), 0u);

  auto device = *createDevice("cpu", {.threads = 1});
  auto created = Executor::create(device, sampleArtifact(testKernels()));
  ASSERT_TRUE(created.isOk()) << created.status().toString();
  auto executor = std::move(*created);
  // A kernel cannot reach it there.
  EXPECT_EQ(executor->bindInput(0, *lazy).message(), "input 'x' lies in memory that device 'cpu' does not reach");
  auto input = *Buffer::allocate(device->pool(), entry->size);
  ASSERT_TRUE(input->copyFrom(**lazy).isOk());
  EXPECT_EQ(disk->bytesRead(), entry->size);
  ASSERT_TRUE(executor->bindInput(0, input).isOk());
  ASSERT_TRUE(executor->run().isOk());
  float y[4];
  ASSERT_TRUE(executor->readOutput(0, std::as_writable_bytes(std::span(y))).isOk());
  EXPECT_THAT(y, ElementsAre(13, 25, 37, 49));
}

TEST(DiskPoolTest, ChecksItsAllocations) {
  auto pool = *DiskPool::create(), other = *DiskPool::create();
  auto a = pool->allocate(8);
  std::byte bytes[9] = {};
  EXPECT_EQ(pool->copyIn(*a, 0, bytes).message(), "a copy of 9 bytes at byte 0 leaves an allocation of 8");
  EXPECT_FALSE(pool->copyOut(*a, 1, std::span(bytes).first(8)).isOk());
  EXPECT_EQ(pool->address(*a, 0, 1).status().message(), "pool disk is not host memory");
  EXPECT_TRUE(pool->deallocate(*a).isOk());
  EXPECT_EQ(pool->deallocate(*a).message(), "pool disk has no such allocation");
  EXPECT_EQ(pool->copyOut(*a, 0, {}).message(), "pool disk has no such allocation");
  EXPECT_EQ(pool->usage().inUse, 0u);
  EXPECT_FALSE(pool->allocate(UINT64_MAX).isOk());
}

TEST(DiskPoolTest, ReportsWhatTheSystemRefuses) {
  EXPECT_THAT(DiskPool::create("/nowhere").status().message(),
              HasSubstr("pool disk cannot use the folder /nowhere: No such file or directory"));
  auto pool = *DiskPool::create();
  auto a = *Buffer::allocate(pool, 4);
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit lower = before;
  lower.rlim_cur = 2;
  ::setrlimit(RLIMIT_FSIZE, &lower);
  EXPECT_THAT(Buffer::allocate(pool, 4).status().message(), HasSubstr("cannot give 4 more: File too large"));
  auto tail = Allocation{a->handle(), 4};
  EXPECT_THAT(pool->copyIn(tail, 2, bytesOf("ab")).message(),
              HasSubstr("cannot write a file of pool disk: File too large"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  ::getrlimit(RLIMIT_NOFILE, &before);
  lower = before;
  lower.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &lower);
  EXPECT_THAT(pool->allocate(4).status().message(), HasSubstr("cannot make a file in "));
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(pool->usage().inUse, 4u);
}

} // namespace
