//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Npz.h"
#include "../TestFiles.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <dirent.h>

using namespace zyx;
using io::NpzCompression;
using io::NpzFile;
using io::writeNpz;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

using Arrays = std::vector<std::pair<std::string, HostTensor>>;

Arrays sample() {
  return {{"a", tensorOf<float>(DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6})},
          {"layer/zeros", tensorOf<int32_t>(DType::I32, {64}, std::vector<int32_t>(64))},
          {"none", tensorOf<uint8_t>(DType::Bool, {0, 2}, {})},
          {"scalar", tensorOf<int64_t>(DType::I64, {}, {-1})}};
}

void expectSample(const NpzFile &file, const Arrays &expected) {
  ASSERT_EQ(file.arrays().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(file.arrays()[i].name, expected[i].first);
    auto read = file.read(expected[i].first);
    ASSERT_TRUE(read.isOk()) << read.status().toString();
    EXPECT_EQ(*read, expected[i].second);
  }
}

std::string written(const Arrays &arrays, NpzCompression compression = NpzCompression::Stored) {
  TemporaryPath path("x.npz");
  Status status = writeNpz(path, arrays, compression);
  EXPECT_TRUE(status.isOk()) << status.toString();
  return readBytes(path);
}

/// What opening says, or else what reading the first array that cannot be read says.
Status outcome(const std::string &bytes, const io::NpzLimits &limits = {}) {
  TemporaryPath path("x.npz");
  writeBytes(path, bytes);
  auto file = NpzFile::open(path, limits);
  if (!file)
    return file.status();
  for (const NpzFile::Entry &entry : file->arrays())
    if (auto read = file->read(entry.name); !read)
      return read.status();
  return Status::ok();
}

std::string refusal(const std::string &bytes) {
  Status status = outcome(bytes);
  EXPECT_FALSE(status.isOk());
  EXPECT_THAT(status.message(), HasSubstr("x.npz: "));
  return status.message();
}

/// `bytes` with other ones at the place behind the `nth` record that starts with `magic`.
std::string patched(std::string bytes, const std::string &magic, int nth, size_t at, const std::string &with) {
  size_t record = bytes.find(magic);
  while (nth-- > 0)
    record = bytes.find(magic, record + 1);
  return bytes.replace(record + at, with.size(), with);
}
const std::string local = "PK\x03\x04", directory = "PK\x01\x02", ending = "PK\x05\x06";

std::string corpus(const std::string &name) { return ZYX_TEST_CORPUS "/npz/" + name; }

TEST(NpzTest, ReadsWhatItWrites) {
  for (NpzCompression compression : {NpzCompression::Stored, NpzCompression::Deflated}) {
    TemporaryPath path("again.npz");
    ASSERT_TRUE(writeNpz(path, sample(), compression).isOk());
    auto file = NpzFile::open(path);
    ASSERT_TRUE(file.isOk()) << file.status().toString();
    expectSample(*file, sample());
    // The zeros become smaller, the others do not.
    const bool isDeflated = compression == NpzCompression::Deflated;
    EXPECT_EQ(file->find("layer/zeros")->isDeflated, isDeflated);
    EXPECT_EQ(readBytes(path), written(sample(), compression));
    EXPECT_THAT(file->read("b").status().message(), HasSubstr("no array 'b'"));
  }
  EXPECT_TRUE(outcome(written({})).isOk());
}

TEST(NpzTest, ReadsWhatPythonWrites) {
  auto file = NpzFile::open(corpus("python.npz"));
  ASSERT_TRUE(file.isOk()) << file.status().toString();
  const Arrays arrays = sample();
  expectSample(*file, {arrays[0], arrays[1]});
  EXPECT_FALSE(file->arrays()[0].isDeflated);
  EXPECT_TRUE(file->arrays()[1].isDeflated);
  auto piped = NpzFile::open(corpus("piped.npz"));
  ASSERT_TRUE(piped.isOk()) << piped.status().toString();
  expectSample(*piped, {{"piped", arrays[1].second}});
  EXPECT_THAT(NpzFile::open(corpus("lzma.npz")).status().message(),
              HasSubstr("array 'a.npy' has the compression 14; 0 (stored) and 8 (deflated) are known"));
}

TEST(NpzTest, PythonReadsWhatItWrites) {
  for (NpzCompression compression : {NpzCompression::Stored, NpzCompression::Deflated}) {
    TemporaryPath path("python.npz");
    ASSERT_TRUE(writeNpz(path, sample(), compression).isOk());
    const std::string command = "python3 -c 'import sys, zipfile\n"
                                "f = zipfile.ZipFile(sys.argv[1])\n"
                                "assert f.testzip() is None\n"
                                "assert f.namelist() == [n + \".npy\" for n in (\"a\", "
                                "\"layer/zeros\", \"none\", \"scalar\")]\n"
                                "assert f.read(\"layer/zeros.npy\").endswith(bytes(256))' " +
                                path.path;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
}

TEST(NpzTest, RefusesEveryTruncation) {
  for (NpzCompression compression : {NpzCompression::Stored, NpzCompression::Deflated}) {
    const std::string whole = written(sample(), compression);
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(outcome(whole.substr(0, size)).isOk()) << size;
    EXPECT_FALSE(outcome(whole + "x").isOk());
    EXPECT_FALSE(outcome("x" + whole).isOk());
  }
  EXPECT_THAT(refusal("PK"), HasSubstr("no .npz file, or its end is cut: no end of a zip archive's directory"));
}

/// `bytes` with others put in at a place, and every offset of the directory as if they had always been there.
std::string grown(std::string bytes, size_t at, const std::string &more) {
  const auto move = [&](size_t field) {
    uint32_t offset = 0;
    std::memcpy(&offset, bytes.data() + field, 4);
    offset += offset >= at ? static_cast<uint32_t>(more.size()) : 0;
    std::memcpy(bytes.data() + field, &offset, 4);
  };
  for (size_t entry = bytes.find(directory); entry != bytes.npos; entry = bytes.find(directory, entry + 1))
    move(entry + 42);
  move(bytes.rfind(ending) + 16);
  return bytes.insert(at, more);
}

TEST(NpzTest, RefusesWhatBelongsToNoArray) {
  const std::string whole = written(sample());
  EXPECT_TRUE(outcome(grown(whole, 0, "")).isOk());
  EXPECT_THAT(refusal(grown(whole, 0, "#!/bin/sh\n")), HasSubstr("the 10 bytes at 0 belong to no array"));
  const size_t second = whole.find(local, 1), last = whole.find(directory);
  EXPECT_THAT(refusal(grown(whole, second, "xyz")),
              HasSubstr("the 3 bytes at " + std::to_string(second) + " belong to no array"));
  // Of the size of what may stand behind a streamed array, but none is.
  EXPECT_THAT(refusal(grown(whole, last, std::string(16, 'x'))),
              HasSubstr("the 16 bytes at " + std::to_string(last) + " belong to no array"));
  EXPECT_THAT(refusal(grown(written({}), 0, "x")), HasSubstr("the 1 bytes at 0 belong to no array"));
}

TEST(NpzTest, NoticesOrSurvivesEveryFlippedByte) {
  const std::string whole = written(sample(), NpzCompression::Deflated);
  const Arrays arrays = sample();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
    TemporaryPath path("flip.npz");
    writeBytes(path, bytes);
    auto file = NpzFile::open(path);
    if (!file)
      continue;
    // Every array that can be read is the one that was written.
    for (const auto &[name, tensor] : arrays)
      if (auto read = file->read(name); read.isOk())
        EXPECT_EQ(*read, tensor) << i;
  }
}

TEST(NpzTest, RefusesNames) {
  auto name = [](const std::string &wanted) {
    // The one that is written has the same length.
    const std::string bytes = written({{std::string(wanted.size(), 'n'), sample()[3].second}});
    return refusal(patched(patched(bytes, local, 0, 30, wanted), directory, 0, 46, wanted));
  };
  EXPECT_THAT(name("/etc/x"), HasSubstr("the name '/etc/x' is no path below a folder"));
  for (const char *path : {"../x", "a/../x", "./x", "a//x", "..", "a/./b"})
    EXPECT_THAT(name(path), HasSubstr("is no path below a folder"));
  for (const char *path : {"C:\\x", "a\nb"})
    EXPECT_THAT(name(path), HasSubstr("has a control character or a backslash"));
  const std::string two = written({{"a", sample()[3].second}, {"b", sample()[3].second}});
  EXPECT_THAT(refusal(patched(two, directory, 1, 46, "a")), HasSubstr("array 'a' is a duplicate"));
  EXPECT_THAT(refusal(patched(two, directory, 1, 46, "c")),
              HasSubstr("array 'c' is another one at its place than in the directory"));
  EXPECT_THAT(refusal(patched(two, directory, 1, 47, ".txt")), HasSubstr("'b.txt' is no .npy file"));
  // A name of four bytes less.
  EXPECT_THAT(refusal(patched(patched(two, directory, 0, 28, "\x04"), directory, 0, 46, ".npy")),
              HasSubstr("the name '' is empty"));
}

TEST(NpzTest, RefusesSizesThatLie) {
  const std::string stored = written(sample()), deflated = written(sample(), NpzCompression::Deflated);
  EXPECT_THAT(refusal(patched(stored, directory, 0, 24, "\x99")),
              HasSubstr("array 'a.npy' claims 153 bytes from 152 in the file"));
  EXPECT_THAT(refusal(patched(deflated, directory, 1, 24, std::string("\0\0\0\x7f", 4))),
              HasSubstr("array 'layer/zeros.npy' claims 2130706432 bytes from"));
  EXPECT_THAT(refusal(patched(deflated, directory, 1, 24, "\x81")),
              HasSubstr("array 'layer/zeros' is no deflated stream of 385 bytes"));
  EXPECT_THAT(refusal(patched(deflated, directory, 1, 24, "\x7f")), HasSubstr("is no deflated stream"));
  EXPECT_THAT(refusal(patched(stored, directory, 0, 16, "\x01\x02")),
              HasSubstr("array 'a' has another checksum than the directory says"));
  EXPECT_THAT(refusal(patched(stored, directory, 1, 42, std::string("\0\0\0\x70", 4))),
              HasSubstr("array 'layer/zeros' starts behind the arrays, at byte 1879048192"));
  EXPECT_THAT(refusal(patched(stored, local, 3, 28, "\xff")), HasSubstr("behind the end of the arrays"));
  EXPECT_THAT(refusal(patched(stored, local, 0, 28, std::string("\x40", 1))),
              HasSubstr("arrays 'a' and 'layer/zeros' overlap"));
  EXPECT_THAT(refusal(patched(stored, ending, 0, 8, std::string("\3\0\3\0", 4))),
              HasSubstr("bytes behind its entries"));
  EXPECT_THAT(refusal(patched(stored, ending, 0, 8, std::string("\5\0\5\0", 4))),
              HasSubstr("the directory is malformed"));
  EXPECT_THAT(refusal(patched(stored, directory, 3, 32, "\xff")), HasSubstr("the directory is cut"));
  EXPECT_THAT(refusal(patched(stored, ending, 0, 16, "\xff")), HasSubstr("does not end at byte"));
}

TEST(NpzTest, RefusesBombs) {
  const Arrays zeros = {{"zeros", tensorOf<uint8_t>(DType::U8, {1 << 20}, std::vector<uint8_t>(1 << 20))}};
  const std::string bytes = written(zeros, NpzCompression::Deflated);
  EXPECT_LT(bytes.size(), 4096u);
  EXPECT_TRUE(outcome(bytes).isOk());
  EXPECT_TRUE(outcome(bytes, {.bytes = 1 << 19, .ratio = 1032}).isOk());
  EXPECT_THAT(outcome(bytes, {.bytes = 1 << 19, .ratio = 100}).message(),
              AllOf(HasSubstr("would be unpacked to 1048704 bytes from "),
                    HasSubstr("beyond the limits of 524288 bytes and 100 times as much")));
}

/// Little-endian.
static std::string number(uint64_t value, int size) {
  std::string text;
  for (int i = 0; i < size; ++i)
    text += static_cast<char>(value >> 8 * i);
  return text;
}

/// As NumPy writes arrays of 4 GiB and more, but small: the sizes and the place of each array stand in extra fields,
/// and the end of the directory in a record of its own.
static std::string asZip64(const std::string &bytes, uint64_t moreInRecord = 0) {
  const size_t begin = bytes.find(directory), end = bytes.find(ending);
  std::string large = bytes.substr(0, begin);
  uint64_t count = 0;
  for (size_t at = begin; at < end; ++count) {
    auto u16 = [&](size_t field) {
      return static_cast<uint8_t>(bytes[at + field]) + 256u * static_cast<uint8_t>(bytes[at + field + 1]);
    };
    const size_t size = 46 + u16(28);
    std::string entry = bytes.substr(at, size);
    const std::string sizes = bytes.substr(at + 24, 4) + number(0, 4) + bytes.substr(at + 20, 4) + number(0, 4) +
                              bytes.substr(at + 42, 4) + number(0, 4);
    for (size_t field : {20, 24, 42})
      entry.replace(field, 4, number(0xffffffff, 4));
    entry.replace(30, 2, number(4 + 3 + 4 + sizes.size(), 2));
    // Behind a field that nobody knows.
    large += entry + number(0x7777, 2) + number(3, 2) + "abc" + number(1, 2) + number(sizes.size(), 2) + sizes;
    at += size + u16(30);
  }
  const size_t record = large.size();
  large += "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) + number(count, 8) +
           number(count, 8) + number(record - begin, 8) + number(begin + moreInRecord, 8);
  large += "PK\6\7" + number(0, 4) + number(record, 8) + number(1, 4);
  return large + "PK\5\6" + number(0, 4) + number(0xffff, 2) + number(0xffff, 2) + number(0xffffffff, 4) +
         number(0xffffffff, 4) + number(0, 2);
}

TEST(NpzTest, ReadsZip64) {
  for (NpzCompression compression : {NpzCompression::Stored, NpzCompression::Deflated}) {
    TemporaryPath path("large.npz");
    writeBytes(path, asZip64(written(sample(), compression)));
    Result<NpzFile> file = NpzFile::open(path);
    ASSERT_TRUE(file.isOk()) << file.status().toString();
    expectSample(*file, sample());
  }
  const std::string bytes = asZip64(written(sample()));
  // What lies is refused: no end of the directory, another one, sizes beyond the file or beyond all numbers.
  EXPECT_THAT(refusal(patched(bytes, "PK\6\7", 0, 0, "QQ")), HasSubstr("the zip64 end of the directory is missing"));
  EXPECT_THAT(refusal(patched(bytes, "PK\6\7", 0, 8, number(UINT64_MAX, 8))),
              HasSubstr("the zip64 end of the directory is missing"));
  EXPECT_THAT(refusal(patched(bytes, "PK\6\6", 0, 4, number(43, 8))),
              HasSubstr("the zip64 end of the directory is malformed"));
  EXPECT_THAT(refusal(patched(bytes, "PK\6\6", 0, 16, number(1, 4))),
              HasSubstr("is a part of an archive of several files"));
  EXPECT_THAT(refusal(asZip64(written(sample()), 1)), HasSubstr("does not end at byte"));
  EXPECT_THAT(refusal(asZip64(written(sample()), UINT64_MAX / 2)), HasSubstr("does not end at byte"));
  const size_t sizes = bytes.find(std::string("\1\0\x18\0", 4));
  ASSERT_NE(sizes, std::string::npos);
  for (size_t field : {0, 8, 16})
    for (uint64_t value : {UINT64_MAX, uint64_t(1) << 63, uint64_t(1) << 32})
      EXPECT_FALSE(outcome(std::string(bytes).replace(sizes + 4 + field, 8, number(value, 8))).isOk())
          << field << " " << value;
  for (size_t field : {8, 16})
    EXPECT_THAT(refusal(std::string(bytes).replace(sizes + 2, 2, number(field, 2))),
                HasSubstr("array 'a.npy' lacks its zip64 sizes"));
  for (size_t cut = 0; cut < bytes.size(); cut += 7)
    EXPECT_FALSE(outcome(bytes.substr(0, cut)).isOk()) << cut;
}

TEST(NpzTest, RefusesOtherArchives) {
  const std::string bytes = written(sample());
  EXPECT_THAT(refusal(patched(bytes, directory, 0, 8, "\x01")), HasSubstr("array 'a.npy' is encrypted"));
  for (size_t at : {20, 24, 42})
    EXPECT_THAT(refusal(patched(bytes, directory, 0, at, "\xff\xff\xff\xff")),
                HasSubstr("array 'a.npy' lacks its zip64 sizes"));
  EXPECT_THAT(refusal(patched(bytes, ending, 0, 16, "\xff\xff\xff\xff")),
              HasSubstr("the zip64 end of the directory is missing"));
  EXPECT_THAT(refusal(patched(bytes, ending, 0, 4, "\x01")), HasSubstr("is a part of an archive of several files"));
  // A comment at the end is no matter.
  EXPECT_TRUE(outcome(patched(bytes, ending, 0, 20, "\x02") + "hi").isOk());
  // What is inside is read as every .npy file.
  EXPECT_THAT(outcome(patched(bytes, local, 0, 35, "X")).message(), HasSubstr("another checksum"));
}

TEST(NpzTest, RefusesToWrite) {
  TemporaryPath path("refused.npz");
  writeBytes(path, "before");
  auto refused = [&](const Arrays &arrays) {
    Status status = writeNpz(path, arrays);
    EXPECT_FALSE(status.isOk());
    EXPECT_THAT(status.message(), HasSubstr("refused.npz: "));
    EXPECT_EQ(readBytes(path), "before");
    return status.message();
  };
  const HostTensor x = sample()[3].second;
  EXPECT_THAT(refused({{"x", x}, {"x", x}}), HasSubstr("array 'x' is a duplicate"));
  EXPECT_THAT(refused({{"x", x}, {"../x", x}}), HasSubstr("the name '../x' is no path below a folder"));
  EXPECT_THAT(refused({{"", x}}), HasSubstr("the name '' is empty"));
  EXPECT_THAT(refused({{"x", tensorOf<uint16_t>(DType::BF16, {1}, {0})}}),
              HasSubstr("array 'x': .npy has no type for bf16"));
  EXPECT_THAT(refused({{"x", HostTensor{{DType::F32, {2}}, std::vector<std::byte>(4)}}}),
              HasSubstr("array 'x': has 4 bytes instead of the 8 of f32[2]"));
  EXPECT_THAT(refused({{std::string(70000, 'x'), x}}), HasSubstr("needs zip64"));
  EXPECT_THAT(refused(Arrays(65535, {"x", x})), HasSubstr("65535 arrays need zip64"));
  EXPECT_THAT(writeNpz("/no/such/folder/x.npz", {}).message(), HasSubstr("cannot write"));
  // Nothing half-written is left beside.
  DIR *folder = opendir(testing::TempDir().c_str());
  while (dirent *entry = readdir(folder))
    EXPECT_THAT(std::string(entry->d_name),
                testing::Not(StartsWith(path.path.substr(testing::TempDir().size()) + ".tmp.")));
  closedir(folder);
}

} // namespace
