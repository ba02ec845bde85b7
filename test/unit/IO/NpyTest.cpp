//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Npy.h"
#include "../TestFiles.h"
#include "zyx/Base/File.h"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

using namespace zyx;
using testing::HasSubstr;

namespace {

/// A version 1.0 file with this header text and these elements.
std::string npy(const std::string &header, const std::string &elements) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + elements;
}

std::string npyOf(const std::string &descr, const std::string &fortran, const std::string &shape,
                  const std::string &elements) {
  return npy("{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n", elements);
}

std::string refusal(const std::string &bytes) {
  Result<HostTensor> result = io::parseNpy(asBytes(bytes), "a.npy");
  EXPECT_FALSE(result.isOk());
  return result.status().message();
}

TEST(NpyTest, RoundTripsEveryDTypeOfTheFormat) {
  for (DType dtype : {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32,
                      DType::U64, DType::F16, DType::F32, DType::F64})
    for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 0, 4}}) {
      HostTensor tensor{{dtype, shape}, {}};
      tensor.data.resize(static_cast<size_t>(*byteSize(tensor.type)));
      for (size_t i = 0; i < tensor.data.size(); ++i)
        tensor.data[i] = std::byte(dtype == DType::Bool ? i % 2 : i);
      auto bytes = io::encodeNpy(tensor);
      ASSERT_TRUE(bytes.isOk());
      EXPECT_EQ((bytes->size() - tensor.data.size()) % 64, 0u);
      auto back = io::parseNpy(*bytes, "x");
      ASSERT_TRUE(back.isOk()) << back.status().toString();
      EXPECT_EQ(*back, tensor);
    }
}

TEST(NpyTest, WritesWhatNumPyWrites) {
  auto bytes = io::encodeNpy(tensorOf<int32_t>(DType::I32, {1, 2}, {1, 2}));
  std::string text(reinterpret_cast<const char *>(bytes->data()), 128);
  EXPECT_THAT(text, HasSubstr("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), } "));
  EXPECT_EQ(text[127], '\n');
  auto vector = io::encodeNpy(tensorOf<int8_t>(DType::I8, {1}, {1}));
  EXPECT_THAT(std::string(reinterpret_cast<const char *>(vector->data()), 128),
              HasSubstr("{'descr': '|i1', 'fortran_order': False, 'shape': (1,), } "));
}

TEST(NpyTest, ReadsEveryVersion) {
  const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}";
  for (char version : {'\x02', '\x03'}) {
    std::string bytes("\x93NUMPY", 6);
    bytes += {version, 0, static_cast<char>(header.size()), 0, 0, 0};
    bytes += header + std::string("\1\0\2\0", 4);
    auto tensor = io::parseNpy(asBytes(bytes), "x");
    ASSERT_TRUE(tensor.isOk()) << tensor.status().toString();
    EXPECT_EQ(*tensor, tensorOf<int16_t>(DType::I16, {2}, {1, 2}));
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(io::parseNpy(asBytes(bytes.substr(0, size)), "x").isOk()) << size;
  }
}

TEST(NpyTest, TransposesFortranOrder) {
  auto tensor = io::parseNpy(asBytes(npyOf("|u1", "True", "(2, 3)", "\1\4\2\5\3\6")), "x");
  ASSERT_TRUE(tensor.isOk());
  EXPECT_EQ(*tensor, tensorOf<uint8_t>(DType::U8, {2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST(NpyTest, NormalisesBooleans) {
  auto tensor = io::parseNpy(asBytes(npyOf("|b1", "False", "(2,)", std::string("\0\xff", 2))), "x");
  ASSERT_TRUE(tensor.isOk());
  EXPECT_EQ(*tensor, tensorOf<uint8_t>(DType::Bool, {2}, {0, 1}));
}

TEST(NpyTest, RefusesEveryTruncation) {
  TemporaryPath path("cut.npy");
  const std::string whole = npyOf("<f4", "False", "(2, 1)", "12345678");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("a.npy: "));
    writeBytes(path, whole.substr(0, size));
    EXPECT_FALSE(io::readNpy(path).isOk()) << size;
  }
  writeBytes(path, whole);
  EXPECT_TRUE(io::readNpy(path).isOk());
}

TEST(NpyTest, SurvivesEveryFlippedByteOfTheHeader) {
  const std::string whole = npyOf("<f4", "False", "(2, 1)", "12345678");
  for (size_t i = 0; i < whole.size() - 8; ++i)
    for (int mask : {0x01, 0x20, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
      auto tensor = io::parseNpy(asBytes(bytes), "x");
      if (tensor.isOk()) {
        EXPECT_EQ(static_cast<int64_t>(tensor->data.size()), *byteSize(tensor->type));
      }
    }
}

TEST(NpyTest, RefusesWithAReason) {
  EXPECT_EQ(refusal("PK\3\4 and so on"), "a.npy: not a .npy file");
  EXPECT_EQ(refusal("\x93NUMPY"), "a.npy: the header is cut");
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x04\x00\x00\x00", 10)),
              HasSubstr("has .npy format version 4.0; 1.0 to 3.0 are known"));
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12)),
              HasSubstr("the header claims 2147483647 bytes"));
  EXPECT_THAT(refusal(npyOf(">f4", "False", "(1,)", "1234")), HasSubstr("holds big-endian numbers"));
  EXPECT_THAT(refusal(npyOf("<c8", "False", "(1,)", "12345678")),
              HasSubstr("holds elements of unsupported type '<c8'"));
  EXPECT_THAT(refusal(npyOf("|O", "False", "(1,)", "")), HasSubstr("holds elements of unsupported type '|O'"));
  EXPECT_THAT(refusal(npyOf("<f4", "False", "(3,)", "1234")), HasSubstr("holds 4 bytes of elements; f32[3] has 12"));
  EXPECT_THAT(refusal(npyOf("<f4", "False", "(1024, 1024, 1024, 2048)", "")), HasSubstr("f32[1024, 1024, 1024, 2048]"));
  EXPECT_THAT(refusal(npyOf("<f4", "False", "(4294967296, 4294967296, 4294967296)", "")), HasSubstr("63 bits"));
  EXPECT_THAT(refusal(npyOf("|u1", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", "1")), HasSubstr("rank 17"));
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'shape': (1,)}", "1234")),
              HasSubstr("the header lacks 'descr', 'fortran_order' or 'shape'"));
  for (const char *header : {"", "[]", "{'descr'}", "{'descr': '<f4}", "{'x': 1}", "{'shape': (-1,)}",
                             "{'shape': (1;)}", "{'shape': (99999999999999999999,)}", "{'fortran_order': 0}",
                             "{'shape': (), 'shape': ()}", "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"})
    EXPECT_THAT(refusal(npy(header, "1234")), HasSubstr("the header is malformed")) << header;
}

TEST(NpyTest, RefusesToWriteWhatTheFormatLacks) {
  TemporaryPath path("bf16.npy");
  Status status = io::writeNpy(path, tensorOf<uint16_t>(DType::BF16, {1}, {0}));
  EXPECT_EQ(status.code(), ErrorCode::Unsupported);
  EXPECT_THAT(status.message(), HasSubstr(".npy has no type for bf16; cast to f32 in the program"));
  EXPECT_FALSE(readFile(path).isOk());
}

TEST(FileTest, WritesAllOrNothing) {
  TemporaryPath path("all.npy");
  writeBytes(path, "before");
  ASSERT_TRUE(io::writeNpy(path, tensorOf<int8_t>(DType::I8, {2}, {1, 2})).isOk());
  EXPECT_TRUE(io::readNpy(path).isOk());
  EXPECT_THAT(writeFileAtomically("/no/such/folder/x", {}).message(),
              HasSubstr("/no/such/folder/x: cannot write: No such file"));
  EXPECT_THAT(writeFileAtomically(testing::TempDir(), {}).message(), HasSubstr("cannot write: Is a directory"));
  EXPECT_FALSE(writeFileAtomically(testing::TempDir() + std::string(300, 'x'), {}).isOk());
}

TEST(FileTest, ReadsRegularFilesOnly) {
  Status missing = readFile("/no/such/file").status();
  EXPECT_EQ(missing.code(), ErrorCode::NotFound);
  EXPECT_THAT(missing.message(), HasSubstr("/no/such/file: cannot open: No such file"));
  EXPECT_THAT(readFile("/").status().message(), HasSubstr("not a regular file"));
  TemporaryPath pipe("pipe");
  ASSERT_EQ(::mkfifo(pipe.path.c_str(), 0600), 0);
  EXPECT_THAT(readFile(pipe).status().message(), HasSubstr("not a regular file"));
  TemporaryPath path("five");
  writeBytes(path, "12345");
  EXPECT_EQ(readFile(path, 5)->size(), 5u);
  EXPECT_THAT(readFile(path, 4).status().message(), HasSubstr("holds 5 bytes, more than the limit of 4"));
  auto file = ReadOnlyFile::open(path);
  ASSERT_TRUE(file.isOk());
  std::byte three[3];
  EXPECT_TRUE(file->read(2, three).isOk());
  EXPECT_THAT(file->read(3, three).message(), HasSubstr("ends at byte 5, 1 bytes too early"));
  EXPECT_THAT(file->read(UINT64_MAX, three).message(), HasSubstr("cannot read: Invalid argument"));
}

TEST(NpyTest, ReadsTheHeaderAloneAndThenRows) {
  TemporaryPath path("rows.npy");
  const std::string elements("\1\2\3\4\5\6", 6);
  for (const bool isFortran : {false, true}) {
    writeBytes(path, npyOf("|i1", isFortran ? "True" : "False", "(3, 2)", elements));
    Result<io::NpyFile> file = io::NpyFile::open(*ReadOnlyFile::open(path));
    ASSERT_TRUE(file.isOk()) << file.status().toString();
    EXPECT_EQ(toString(file->type()), "i8[3, 2]");
    EXPECT_EQ(*file->read(), *io::readNpy(path));
    const std::vector<int8_t> expected = isFortran ? std::vector<int8_t>{2, 5, 3, 6} : std::vector<int8_t>{3, 4, 5, 6};
    EXPECT_EQ(*file->readRows(1, 3), tensorOf<int8_t>(DType::I8, {2, 2}, expected));
    EXPECT_TRUE(file->readRows(2, 2)->data.empty());
  }
}

TEST(NpyTest, KnowsTheSizeOfAStreamByItsStart) {
  const std::string bytes = npyOf("<f4", "False", "(1000, 1000)", "");
  Result<io::NpyStart> start = io::readNpyStart(asBytes(bytes));
  ASSERT_TRUE(start.isOk()) << start.status().toString();
  EXPECT_EQ(toString(start->type), "f32[1000, 1000]");
  EXPECT_EQ(start->size, bytes.size() + 4'000'000);
  EXPECT_FALSE(io::readNpyStart(asBytes(bytes.substr(0, 20))).isOk());
}

TEST(NpyTest, AFileThatDoesNotFitItsHeaderIsRefusedBeforeItIsRead) {
  TemporaryPath path("sparse.npy");
  writeBytes(path, npyOf("<f4", "False", "(3,)", ""));
  ASSERT_EQ(::truncate(path.path.c_str(), int64_t(100) << 30), 0);
  EXPECT_THAT(io::readNpy(path).status().message(), HasSubstr("bytes of elements; f32[3] has 12"));
}

TEST(NpyTest, RefusesMoreThanThereIsMemoryFor) {
  TemporaryPath path("large.npy");
  const std::string start = npyOf("|i1", "False", "(8, 137438953472)", "");
  writeBytes(path, start);
  ASSERT_EQ(::truncate(path.path.c_str(), static_cast<off_t>(start.size()) + (off_t(1) << 40)), 0);
  const Result<io::NpyFile> file = io::NpyFile::open(*ReadOnlyFile::open(path));
  ASSERT_TRUE(file.isOk()) << file.status().toString();
  for (const Status &status : {file->read().status(), file->readRows(0, 7).status()}) {
    EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
    EXPECT_THAT(status.message(), HasSubstr("large.npy: needs "));
  }
}

} // namespace
