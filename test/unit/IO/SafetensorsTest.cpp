//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Safetensors.h"
#include "../TestFiles.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <sys/mman.h>

using namespace zyx;
using io::SafetensorsFile;
using io::writeSafetensors;
using testing::HasSubstr;

namespace {

std::string file(const std::string &header, const std::string &data) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>(header.size() >> shift);
  return bytes + header + data;
}

Result<SafetensorsFile> openBytes(const std::string &bytes) {
  TemporaryPath path("x.safetensors");
  writeBytes(path, bytes);
  return SafetensorsFile::open(path);
}

std::string refusal(const std::string &header, const std::string &data) {
  Result<SafetensorsFile> result = openBytes(file(header, data));
  EXPECT_FALSE(result.isOk()) << header;
  EXPECT_THAT(result.status().message(), HasSubstr("x.safetensors: "));
  return result.status().message();
}

const std::string twoTensors =
    R"({"__metadata__": {"made": "by hand"},
        "w": {"dtype": "F32", "shape": [2, 1], "data_offsets": [2, 10]},
        "b": {"dtype": "BOOL", "shape": [2], "data_offsets": [0, 2]},
        "none": {"dtype": "BF16", "shape": [0, 9], "data_offsets": [10, 10]}} )";
const std::string twoTensorsData("\1\7aaaabbbb", 10);

TEST(SafetensorsTest, ListsAndReadsByName) {
  auto opened = openBytes(file(twoTensors, twoTensorsData));
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  ASSERT_EQ(opened->tensors().size(), 3u);
  EXPECT_EQ(opened->tensors()[0].name, "b");
  EXPECT_EQ(opened->tensors()[1].name, "w");
  ASSERT_NE(opened->find("w"), nullptr);
  EXPECT_EQ(opened->find("w")->type, (TensorType{DType::F32, {2, 1}}));
  auto w = opened->read("w");
  ASSERT_TRUE(w.isOk());
  EXPECT_EQ(std::memcmp(w->data.data(), "aaaabbbb", 8), 0);
  EXPECT_EQ(*opened->read("b"), tensorOf<uint8_t>(DType::Bool, {2}, {1, 1}));
  EXPECT_TRUE(opened->read("none")->data.empty());
  EXPECT_THAT(opened->read("v").status().message(), HasSubstr("no tensor 'v'"));
}

TEST(SafetensorsTest, ReadsInPlaceAndMaps) {
  TemporaryPath path("mapped.safetensors");
  writeBytes(path, file(twoTensors, twoTensorsData));
  auto mapping = [&] {
    auto opened = SafetensorsFile::open(path);
    EXPECT_TRUE(opened.isOk());
    std::vector<std::byte> w(8);
    EXPECT_TRUE(opened->readInto(*opened->find("w"), w).isOk());
    EXPECT_EQ(std::memcmp(w.data(), "aaaabbbb", 8), 0);
    return std::pair(opened->map(), opened->find("w")->offset);
  }();
  // The mapping outlives the file, and the file's name.
  ::unlink(path.path.c_str());
  ASSERT_TRUE(mapping.first.isOk()) << mapping.first.status().toString();
  const auto bytes = (*mapping.first)->bytes();
  ASSERT_EQ(bytes.size(), file(twoTensors, twoTensorsData).size());
  EXPECT_EQ(std::memcmp(bytes.data() + mapping.second, "aaaabbbb", 8), 0);

  TemporaryPath nothing("empty");
  writeBytes(nothing, "");
  auto empty = *ReadOnlyFile::open(nothing);
  EXPECT_TRUE((*empty.map())->bytes().empty());

  // Longer than addresses reach.
  const int descriptor = ::memfd_create("long", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(descriptor, int64_t(1) << 62), 0);
  auto tooLong = *ReadOnlyFile::open("/proc/self/fd/" + std::to_string(descriptor));
  ::close(descriptor);
  EXPECT_THAT(tooLong.map().status().message(), HasSubstr("cannot map"));
}

TEST(SafetensorsTest, KnowsEveryDType) {
  const std::pair<const char *, DType> all[] = {{"BOOL", DType::Bool},     {"I8", DType::I8},
                                                {"I16", DType::I16},       {"I32", DType::I32},
                                                {"I64", DType::I64},       {"U8", DType::U8},
                                                {"U16", DType::U16},       {"U32", DType::U32},
                                                {"U64", DType::U64},       {"F16", DType::F16},
                                                {"BF16", DType::BF16},     {"F32", DType::F32},
                                                {"F64", DType::F64},       {"F8_E4M3", DType::F8E4M3FN},
                                                {"F8_E5M2", DType::F8E5M2}};
  for (auto [name, dtype] : all) {
    const auto size = static_cast<size_t>(byteSize(dtype));
    auto opened = openBytes(file(R"({"x": {"dtype": ")" + std::string(name) +
                                     R"(", "shape": [], "data_offsets": [0, )" + std::to_string(size) + "]}}",
                                 std::string(size, 'x')));
    ASSERT_TRUE(opened.isOk()) << opened.status().toString();
    EXPECT_EQ(opened->tensors()[0].type, (TensorType{dtype, {}}));
  }
}

TEST(SafetensorsTest, ReadsWhatStandsBesideUnknownDTypes) {
  auto opened = openBytes(file(R"({"x": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]},
      "z": {"dtype": "C64", "shape": [1], "data_offsets": [0, 8]}})",
                               std::string(8, 'z') + std::string("\0\0\x80?", 4)));
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  ASSERT_EQ(opened->tensors().size(), 1u);
  EXPECT_EQ(*opened->read("x"), tensorOf<float>(DType::F32, {1}, {1}));
  EXPECT_EQ(opened->unsupported(), (std::map<std::string, std::string>{{"z", "C64"}}));
  EXPECT_EQ(opened->find("z"), nullptr);
  EXPECT_THAT(opened->read("z").status().message(), HasSubstr("tensor 'z' has the unsupported dtype 'C64'"));
  // The data is covered by all of them.
  EXPECT_THAT(refusal(R"({"z": {"dtype": "C64", "shape": [1], "data_offsets": [0, 8]}})", "123456789"),
              HasSubstr("the data has 1 bytes that belong to no tensor"));
}

TEST(SafetensorsTest, AcceptsAnEmptyFile) {
  auto opened = openBytes(file("{}", ""));
  ASSERT_TRUE(opened.isOk());
  EXPECT_TRUE(opened->tensors().empty());
}

TEST(SafetensorsTest, RefusesEveryTruncation) {
  const std::string whole = file(twoTensors, twoTensorsData);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(openBytes(whole.substr(0, size)).isOk()) << size;
  EXPECT_FALSE(openBytes(whole + "x").isOk());
}

TEST(SafetensorsTest, SurvivesEveryFlippedByteOfTheHeader) {
  const std::string whole = file(twoTensors, twoTensorsData);
  for (size_t i = 0; i < whole.size() - twoTensorsData.size(); ++i)
    for (int mask : {0x01, 0x10, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
      TemporaryPath path("flip.safetensors");
      writeBytes(path, bytes);
      auto opened = SafetensorsFile::open(path);
      if (opened.isOk()) {
        for (const SafetensorsFile::Entry &entry : opened->tensors())
          EXPECT_TRUE(opened->read(entry.name).isOk());
      }
    }
}

TEST(SafetensorsTest, ReportsAFileThatShrinksAfterOpening) {
  TemporaryPath path("shrinks.safetensors");
  writeBytes(path, file(twoTensors, twoTensorsData));
  auto opened = SafetensorsFile::open(path);
  ASSERT_TRUE(opened.isOk());
  ASSERT_EQ(::truncate(path.path.c_str(), 20), 0);
  EXPECT_EQ(opened->read("w").status().code(), ErrorCode::IoError);
}

TEST(SafetensorsTest, RefusesHeadersThatLie) {
  EXPECT_THAT(openBytes("1234567").status().message(), HasSubstr("too short for a safetensors file"));
  EXPECT_THAT(openBytes(std::string("\0\0\0\0\0\0\0\x80", 8)).status().message(),
              HasSubstr("claims 9223372036854775808 bytes; at most 100000000 are accepted"));
  EXPECT_THAT(openBytes(std::string("\x9\0\0\0\0\0\0\0{}", 10)).status().message(),
              HasSubstr("the header claims 9 bytes of 2"));
  auto one = [](const std::string &fields, const std::string &data = "1234") {
    return refusal(R"({"x": {)" + fields + "}}", data);
  };
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [2], "data_offsets": [0, 4])"),
              HasSubstr("tensor 'x' has offsets that do not span the 8 bytes of f32[2]"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [1], "data_offsets": [4, 0])"), HasSubstr("offsets that do not span"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [1], "data_offsets": [0])"), HasSubstr("offsets that do not span"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4])"),
              HasSubstr("the header has not the form of safetensors, at 'x'"));
  EXPECT_THAT(one(R"("dtype": "C64", "shape": [1], "data_offsets": [4, 0])"),
              HasSubstr("tensor 'x' has offsets that do not span elements of 'C64'"));
  EXPECT_THAT(one(R"("dtype": "", "shape": [1], "data_offsets": [0, 4])"), HasSubstr("tensor 'x' has no dtype"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [1], "data_offsets": [4, 8])"),
              HasSubstr("tensor 'x' starts at byte 4 of the data, but 0 is the end of the one before"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [2], "data_offsets": [0, 8])"),
              HasSubstr("tensor 'x' ends at byte 8 of 4 bytes of data"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [1], "data_offsets": [0, 4])", "123456"),
              HasSubstr("the data has 2 bytes that belong to no tensor"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [1])"),
              HasSubstr("lacks one of dtype, shape, data_offsets, or has more"));
  EXPECT_THAT(one(R"("dtype": "F32", "dtype": "F32")"), HasSubstr("has the duplicate field 'dtype'"));
  EXPECT_THAT(one(R"("dtype": "F32", "shape": [9223372036854775808])"),
              HasSubstr("has the extent 9223372036854775808"));
  EXPECT_THAT(one(R"("shape": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])"), HasSubstr("has more than 16 dimensions"));
  EXPECT_THAT(one(R"("dtype": "F64", "shape": [1024, 1024, 1048576], "data_offsets": [0, 8796093022208])"),
              HasSubstr("tensor 'x' is refused: the tensor f64[1024, 1024, 1048576] has 8796093022208 bytes"));
}

TEST(SafetensorsTest, RefusesOverlapsHolesAndDuplicates) {
  auto two = [](const std::string &a, const std::string &second, const std::string &b) {
    const std::string fields = R"(: {"dtype": "U8", "shape": [2], "data_offsets": )";
    return refusal("{\"a\"" + fields + a + "}, \"" + second + "\"" + fields + b + "}}", "1234");
  };
  EXPECT_THAT(two("[0, 2]", "b", "[1, 3]"), HasSubstr("tensor 'b' starts at byte 1"));
  EXPECT_THAT(two("[0, 2]", "b", "[0, 2]"), HasSubstr("tensor 'b' starts at byte 0"));
  EXPECT_THAT(two("[0, 2]", "b", "[3, 5]"), HasSubstr("tensor 'b' starts at byte 3"));
  EXPECT_THAT(two("[0, 2]", "a", "[2, 4]"), HasSubstr("tensor 'a' is a duplicate"));
}

TEST(SafetensorsTest, RefusesOtherJson) {
  for (const char *header :
       {"", "{", "{]", "{\"a\": }", "nonsense", "{} {}", "{\"\xff\": {}}", "{\"x\": {\"shape\": [1e999]}}"})
    EXPECT_THAT(refusal(header, ""), HasSubstr("the header is no JSON at byte")) << header;
  for (const char *header :
       {"[]", "3", "null", "\"x\"", "{\"x\": 3}", "{\"x\": -3}", "{\"x\": 1.5}", "{\"x\": true}", "{\"x\": null}",
        "{\"x\": []}", "{\"x\": {\"dtype\": {}}}", "{\"x\": {\"dtype\": 3}}", "{\"x\": {\"shape\": [[1]]}}",
        "{\"x\": {\"shape\": [-1]}}", "{\"__metadata__\": {\"a\": 1}}", "{\"x\": {\"shape\": \"F32\"}}"})
    EXPECT_THAT(refusal(header, ""), HasSubstr("the header has not the form of safetensors")) << header;
  // Nesting is refused at its first level that the format lacks, whatever follows.
  EXPECT_THAT(refusal("{\"x\": {\"shape\": " + std::string(1'000'000, '['), ""),
              HasSubstr("has not the form of safetensors"));
}

using Tensors = std::vector<std::pair<std::string, HostTensor>>;

TEST(SafetensorsTest, ReadsWhatItWrites) {
  Tensors tensors;
  for (int i = 0; i < numDTypes; ++i) {
    const DType dtype = *dtypeFromValue(static_cast<uint8_t>(i));
    HostTensor tensor{{dtype, {3, i % 3}}, {}};
    for (int64_t byte = *byteSize(tensor.type); byte > 0; --byte)
      tensor.data.push_back(static_cast<std::byte>(dtype == DType::Bool ? byte & 1 : byte * 37));
    tensors.push_back({"layer." + std::string(toString(dtype)), std::move(tensor)});
  }
  tensors.push_back({"scalar \"\\\n\xc3\xa9", tensorOf<float>(DType::F32, {}, {1.5f})});
  const std::map<std::string, std::string> metadata = {{"format", "zyx"}, {"a \"b\"", "\xe2\x82\xac"}};
  TemporaryPath path("written.safetensors"), again("again.safetensors");
  Status status = writeSafetensors(path, tensors, metadata);
  ASSERT_TRUE(status.isOk()) << status.toString();
  auto opened = SafetensorsFile::open(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  EXPECT_EQ(opened->metadata(), metadata);
  ASSERT_EQ(opened->tensors().size(), tensors.size());
  for (const auto &[name, tensor] : tensors) {
    auto read = opened->read(name);
    ASSERT_TRUE(read.isOk()) << read.status().toString();
    EXPECT_EQ(*read, tensor);
    EXPECT_EQ(opened->find(name)->offset % static_cast<uint64_t>(byteSize(tensor.type.dtype)), 0u);
  }
  EXPECT_EQ(opened->tensors()[0].offset % 64, 0u);
  ASSERT_TRUE(writeSafetensors(again, tensors, metadata).isOk());
  EXPECT_EQ(readBytes(again), readBytes(path));
  ASSERT_TRUE(writeSafetensors(again, Tensors()).isOk());
  EXPECT_TRUE(SafetensorsFile::open(again)->tensors().empty());
  EXPECT_TRUE(SafetensorsFile::open(again)->metadata().empty());
}

TEST(SafetensorsTest, WritesTheFormatThatOthersRead) {
  TemporaryPath path("python.safetensors");
  ASSERT_TRUE(writeSafetensors(path,
                               {{"b", tensorOf<uint8_t>(DType::U8, {3}, {1, 2, 3})},
                                {"w", tensorOf<float>(DType::F32, {2, 1}, {1, -2})}},
                               {{"k", "v"}})
                  .isOk());
  const std::string command = "python3 -c 'import json, struct, sys\n"
                              "data = open(sys.argv[1], \"rb\").read()\n"
                              "size = struct.unpack(\"<Q\", data[:8])[0]\n"
                              "header = json.loads(data[8:8 + size])\n"
                              "assert header == {\"__metadata__\": {\"k\": \"v\"},\n"
                              "    \"w\": {\"dtype\": \"F32\", \"shape\": [2, 1], \"data_offsets\": [0, 8]},\n"
                              "    \"b\": {\"dtype\": \"U8\", \"shape\": [3], \"data_offsets\": [8, 11]}}, header\n"
                              "assert data[8 + size:] == struct.pack(\"<2f3B\", 1, -2, 1, 2, 3)' " +
                              path.path;
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(SafetensorsTest, RefusesToWrite) {
  TemporaryPath path("refused.safetensors");
  writeBytes(path, "before");
  const HostTensor x = tensorOf<float>(DType::F32, {1}, {1});
  auto refused = [&](const Tensors &tensors, const std::map<std::string, std::string> &metadata = {}) {
    Status status = writeSafetensors(path, tensors, metadata);
    EXPECT_FALSE(status.isOk());
    EXPECT_THAT(status.message(), HasSubstr("refused.safetensors: "));
    EXPECT_EQ(readBytes(path), "before");
    return status.message();
  };
  EXPECT_THAT(refused({{"x", x}, {"x", x}}), HasSubstr("tensor 'x' is a duplicate, or has the name of the metadata"));
  EXPECT_THAT(refused({{"__metadata__", x}}), HasSubstr("has the name of the metadata"));
  EXPECT_THAT(refused({{"\xff", x}}), HasSubstr("has a name that is not UTF-8"));
  EXPECT_THAT(refused({}, {{"key", "a\xc3"}}), HasSubstr("the metadata 'key' is not UTF-8"));
  EXPECT_THAT(refused({{"x", {x.type, std::vector<std::byte>(5)}}}),
              HasSubstr("tensor 'x' has 5 bytes instead of the 4 of f32[1]"));
  EXPECT_THAT(refused({{"x", {{DType::F32, {-1}}, {}}}}), HasSubstr("tensor 'x' is refused: "));
  EXPECT_THAT(refused({{std::string(100'000'000, 'x'), x}}),
              HasSubstr("the header would have more than 100000000 bytes"));
  EXPECT_THAT(writeSafetensors("/no/such/folder/x", Tensors()).message(), HasSubstr("cannot write"));
}

TEST(SafetensorsTest, RefusesWhatFollowsAZeroByte) {
  const std::string header = R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  EXPECT_THAT(refusal(header + std::string("\0{", 2), "1"), HasSubstr("the header has a zero byte"));
}

TEST(SafetensorsTest, ReadsRows) {
  TemporaryPath path("rows.safetensors");
  ASSERT_TRUE(writeSafetensors(path, Tensors{{"x", tensorOf<int32_t>(DType::I32, {3, 2}, {1, 2, 3, 4, 5, 6})}}).isOk());
  const SafetensorsFile opened = *SafetensorsFile::open(path);
  EXPECT_EQ(*opened.readRows(*opened.find("x"), 1, 3), tensorOf<int32_t>(DType::I32, {2, 2}, {3, 4, 5, 6}));
  EXPECT_TRUE(opened.readRows(*opened.find("x"), 3, 3)->data.empty());
}

TEST(SafetensorsTest, WritesPiecesWhatItWritesAtOnce) {
  TemporaryPath pieces("pieces.safetensors"), whole("whole.safetensors");
  const Tensors tensors = {{"narrow", tensorOf<int8_t>(DType::I8, {3}, {1, 2, 3})},
                           {"wide", tensorOf<double>(DType::F64, {2}, {1, 2})}};
  auto writer = io::SafetensorsWriter::create(
      pieces, {{"narrow", tensors[0].second.type}, {"wide", tensors[1].second.type}}, {{"a", "b"}});
  ASSERT_TRUE(writer.isOk()) << writer.status().toString();
  ASSERT_EQ(writer->order(), (std::vector<size_t>{1, 0}));
  EXPECT_THAT(writer->commit().message(), HasSubstr("19 bytes of the tensors are not written"));
  for (const size_t index : writer->order())
    for (const std::byte &element : tensors[index].second.data)
      ASSERT_TRUE(writer->write({&element, 1}).isOk());
  EXPECT_THAT(writer->write({tensors[0].second.data.data(), 1}).message(),
              HasSubstr("more elements are written than the tensors have"));
  ASSERT_TRUE(writer->commit().isOk());
  ASSERT_TRUE(writeSafetensors(whole, tensors, {{"a", "b"}}).isOk());
  EXPECT_EQ(readBytes(pieces), readBytes(whole));
}

TEST(SafetensorsTest, RefusesMoreThanThereIsMemoryFor) {
  TemporaryPath path("large.safetensors");
  const std::string start =
      file(R"({"w": {"dtype": "I8", "shape": [8, 137438953472], "data_offsets": [0, 1099511627776]}})", "");
  writeBytes(path, start);
  ASSERT_EQ(::truncate(path.path.c_str(), static_cast<off_t>(start.size()) + (off_t(1) << 40)), 0);
  const Result<SafetensorsFile> opened = SafetensorsFile::open(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  for (const Status &status : {opened->read("w").status(), opened->readRows(*opened->find("w"), 0, 7).status()}) {
    EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
    EXPECT_THAT(status.message(), HasSubstr("large.safetensors: tensor 'w': needs "));
  }
}

} // namespace
