//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Gguf.h"
#include "../TestFiles.h"

#include <gmock/gmock.h>

using namespace zyx;
using io::GgufFile;
using io::GgufValue;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// The types of metadata, by their numbers.
enum Type : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

template <typename T> std::string raw(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(T));
}
std::string text(const std::string &value) { return raw<uint64_t>(value.size()) + value; }
std::string entry(const std::string &key, Type type, const std::string &value) {
  return text(key) + raw<uint32_t>(type) + value;
}
std::string array(Type type, uint64_t count, const std::string &values) {
  return raw<uint32_t>(type) + raw(count) + values;
}
/// Extents as the file has them, the fastest first.
std::string info(const std::string &name, const std::vector<uint64_t> &extents, uint32_t type, uint64_t offset) {
  std::string bytes = text(name) + raw(static_cast<uint32_t>(extents.size()));
  for (uint64_t extent : extents)
    bytes += raw(extent);
  return bytes + raw(type) + raw(offset);
}

std::string file(const std::vector<std::string> &entries, const std::vector<std::string> &infos,
                 const std::string &data, uint32_t version = 3, size_t alignment = 32) {
  std::string bytes = "GGUF" + raw(version) + raw<uint64_t>(infos.size()) + raw<uint64_t>(entries.size());
  for (const std::string &part : entries)
    bytes += part;
  for (const std::string &part : infos)
    bytes += part;
  if (!infos.empty())
    bytes.append((alignment - bytes.size() % alignment) % alignment, '\0');
  return bytes + data;
}

Result<GgufFile> openBytes(const std::string &bytes) {
  TemporaryPath path("x.gguf");
  writeBytes(path, bytes);
  return GgufFile::open(path);
}

std::string refusal(const std::string &bytes) {
  Result<GgufFile> result = openBytes(bytes);
  EXPECT_FALSE(result.isOk());
  EXPECT_THAT(result.status().message(), HasSubstr("x.gguf: "));
  return result.status().message();
}

const std::vector<std::string> allEntries = {
    entry("a.u8", U8, raw<uint8_t>(200)),
    entry("a.i8", I8, raw<int8_t>(-100)),
    entry("a.u16", U16, raw<uint16_t>(60000)),
    entry("a.i16", I16, raw<int16_t>(-30000)),
    entry("a.u32", U32, raw<uint32_t>(4000000000)),
    entry("a.i32", I32, raw<int32_t>(-2000000000)),
    entry("a.f32", F32, raw(1.5f)),
    entry("a.bool", Bool, raw<uint8_t>(1)),
    entry("a.text", String, text("words")),
    entry("a.u64", U64, raw(UINT64_MAX)),
    entry("a.i64", I64, raw(INT64_MIN)),
    entry("a.f64", F64, raw(0.1)),
    entry("b.u8", Array, array(U8, 2, "\x01\xff")),
    entry("b.i16", Array, array(I16, 2, raw<int16_t>(-1) + raw<int16_t>(2))),
    entry("b.f32", Array, array(F32, 2, raw(0.5f) + raw(-2.0f))),
    entry("b.bool", Array, array(Bool, 3, std::string("\1\0\1", 3))),
    entry("b.text", Array, array(String, 2, text("") + text("b"))),
    entry("b.none", Array, array(F64, 0, "")),
    entry("b.nested", Array, array(Array, 2, array(U32, 1, raw<uint32_t>(7)) + array(String, 0, ""))),
};
const std::vector<std::string> allInfos = {
    info("w", {3, 2}, 0, 0),      info("half", {}, 1, 32),   info("q", {64, 2}, 8, 64),
    info("none", {5, 0}, 30, 64), info("k", {256}, 14, 224),
};
const std::string allData = "aaaabbbbccccddddeeeeffff" + std::string(8, '\0') + "hi" + std::string(30, '\0') +
                            std::string(4 * 34, 'q') + std::string(24, '\0') + std::string(210, 'k');

TEST(GgufTest, ReadsValuesOfEveryType) {
  for (uint32_t version : {2, 3}) {
    auto opened = openBytes(file(allEntries, {}, "", version));
    ASSERT_TRUE(opened.isOk()) << opened.status().toString();
    EXPECT_EQ(opened->version(), version);
    EXPECT_EQ(opened->metadata().size(), allEntries.size());
    EXPECT_TRUE(opened->tensors().empty());
    auto value = [&](const char *key) { return opened->metadata().at(key); };
    EXPECT_EQ(value("a.u8"), GgufValue{uint64_t(200)});
    EXPECT_EQ(value("a.i8"), GgufValue{int64_t(-100)});
    EXPECT_EQ(value("a.u16"), GgufValue{uint64_t(60000)});
    EXPECT_EQ(value("a.i16"), GgufValue{int64_t(-30000)});
    EXPECT_EQ(value("a.u32"), GgufValue{uint64_t(4000000000)});
    EXPECT_EQ(value("a.i32"), GgufValue{int64_t(-2000000000)});
    EXPECT_EQ(value("a.f32"), GgufValue{1.5});
    EXPECT_EQ(value("a.bool"), GgufValue{true});
    EXPECT_EQ(value("a.text"), GgufValue{std::string("words")});
    EXPECT_EQ(value("a.u64"), GgufValue{UINT64_MAX});
    EXPECT_EQ(value("a.i64"), GgufValue{INT64_MIN});
    EXPECT_EQ(value("a.f64"), GgufValue{0.1});
    EXPECT_EQ(value("b.u8"), (GgufValue{std::vector<uint64_t>{1, 255}}));
    EXPECT_EQ(value("b.i16"), (GgufValue{std::vector<int64_t>{-1, 2}}));
    EXPECT_EQ(value("b.f32"), (GgufValue{std::vector<double>{0.5, -2}}));
    EXPECT_EQ(value("b.bool"), (GgufValue{std::vector<bool>{true, false, true}}));
    EXPECT_EQ(value("b.text"), (GgufValue{std::vector<std::string>{"", "b"}}));
    EXPECT_EQ(value("b.none"), GgufValue{std::vector<double>{}});
    EXPECT_EQ(value("b.nested"), (GgufValue{std::vector<GgufValue>{GgufValue{std::vector<uint64_t>{7}},
                                                                   GgufValue{std::vector<std::string>{}}}}));
    EXPECT_EQ(value("a.u8").as<std::string>(), nullptr);
  }
}

TEST(GgufTest, ListsAndReadsTensors) {
  TemporaryPath path("all.gguf");
  writeBytes(path, file(allEntries, allInfos, allData));
  auto opened = GgufFile::open(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  EXPECT_EQ(opened->alignment(), 32u);
  ASSERT_EQ(opened->tensors().size(), 5u);
  const GgufFile::Tensor *w = opened->find("w");
  ASSERT_NE(w, nullptr);
  EXPECT_THAT(w->shape, ElementsAre(2, 3));
  ASSERT_NE(w->dtype(), nullptr);
  EXPECT_EQ(*w->dtype(), DType::F32);
  EXPECT_EQ(w->blocks(), nullptr);
  EXPECT_EQ(w->offset % 32, 0u);
  auto read = opened->read("w");
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  EXPECT_EQ(read->type, (TensorType{DType::F32, {2, 3}}));
  EXPECT_EQ(std::memcmp(read->data.data(), "aaaabbbbccccddddeeeeffff", 24), 0);
  EXPECT_EQ(opened->find("half")->stored, (TensorType{DType::F16, {}}));
  EXPECT_EQ(opened->find("none")->size, 0u);

  const GgufFile::Tensor *q = opened->find("q");
  ASSERT_NE(q->blocks(), nullptr);
  EXPECT_EQ(*q->blocks(), BlockFormat::Q8_0);
  EXPECT_THAT(q->shape, ElementsAre(2, 64));
  EXPECT_EQ(q->stored, (TensorType{DType::U8, {2, 68}}));
  EXPECT_EQ(opened->read("q")->data, std::vector<std::byte>(136, std::byte{'q'}));
  const GgufFile::Tensor *k = opened->find("k");
  EXPECT_EQ(*k->blocks(), BlockFormat::Q6_K);

  auto mapping = opened->map();
  ASSERT_TRUE(mapping.isOk()) << mapping.status().toString();
  const auto bytes = (*mapping)->bytes().subspan(k->offset, k->size);
  EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), opened->read("k")->data);
  EXPECT_THAT(opened->read("v").status().message(), HasSubstr("no tensor 'v'"));

  ASSERT_EQ(::truncate(path.path.c_str(), 64), 0);
  EXPECT_EQ(opened->read("k").status().code(), ErrorCode::IoError);
}

TEST(GgufTest, ReadsWhatPythonWrote) {
  auto opened = GgufFile::open(ZYX_TEST_CORPUS "/gguf/v3.gguf");
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  EXPECT_EQ(opened->alignment(), 16u);
  EXPECT_EQ(opened->metadata().at("general.architecture"), GgufValue{std::string("llama")});
  EXPECT_EQ(opened->metadata().at("a.words"), (GgufValue{std::vector<std::string>{"a", "bc"}}));
  EXPECT_THAT(opened->find("w")->shape, ElementsAre(2, 3));
  EXPECT_EQ(*opened->find("k")->blocks(), BlockFormat::Q4_K);
  EXPECT_EQ(opened->read("q")->data[17], std::byte{17});
}

TEST(GgufTest, KnowsEveryFormat) {
  const std::pair<uint32_t, uint64_t> sizes[] = {{0, 1024}, {1, 512},  {2, 144},   {3, 160},   {6, 176},   {7, 192},
                                                 {8, 272},  {10, 84},  {11, 110},  {12, 144},  {13, 176},  {14, 210},
                                                 {24, 256}, {25, 512}, {26, 1024}, {27, 2048}, {28, 2048}, {30, 512}};
  for (auto [type, size] : sizes) {
    auto opened = openBytes(file({}, {info("x", {256}, type, 0)}, std::string(size, 'x')));
    ASSERT_TRUE(opened.isOk()) << opened.status().toString();
    EXPECT_EQ(opened->tensors()[0].size, size) << type;
    EXPECT_THAT(refusal(file({}, {info("x", {256}, type, 0)}, std::string(size - 1, 'x'))),
                HasSubstr("tensor 'x' has " + std::to_string(size) + " bytes at 0 of " + std::to_string(size - 1) +
                          " bytes of data"));
  }
}

TEST(GgufTest, TakesTheAlignmentOfTheFile) {
  const auto with = [](uint32_t alignment) { return entry("general.alignment", U32, raw(alignment)); };
  auto opened = openBytes(file({with(64)}, {info("x", {1}, 0, 0), info("y", {1}, 0, 64)}, std::string(68, 'x'), 3, 64));
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  EXPECT_EQ(opened->alignment(), 64u);
  EXPECT_EQ(opened->find("y")->offset % 64, 0u);
  EXPECT_THAT(refusal(file({with(64)}, {info("x", {1}, 0, 32)}, std::string(36, 'x'), 3, 64)),
              HasSubstr("tensor 'x' starts at byte 32 of the data, no multiple of 64"));
  for (uint32_t wrong : {0u, 3u, 1u << 31})
    EXPECT_THAT(refusal(file({with(wrong)}, {}, "")), HasSubstr("general.alignment is no power of two"));
  EXPECT_THAT(refusal(file({entry("general.alignment", String, text("32"))}, {}, "")),
              HasSubstr("general.alignment is no power of two"));
}

TEST(GgufTest, ReadsAHeaderThatIsLongerThanTheFirstLook) {
  std::string words;
  for (int i = 0; i < 30000; ++i)
    words += text("word " + std::to_string(i));
  auto opened = openBytes(file({entry("words", Array, array(String, 30000, words))}, {info("x", {1}, 0, 0)}, "data"));
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  EXPECT_EQ(opened->metadata().at("words").as<std::vector<std::string>>()->at(29999), "word 29999");
  EXPECT_EQ(opened->read("x")->data.size(), 4u);
}

TEST(GgufTest, RefusesEveryTruncation) {
  const std::string whole = file(allEntries, allInfos, allData);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(openBytes(whole.substr(0, size)).isOk()) << size;
}

TEST(GgufTest, SurvivesEveryFlippedByteOfTheHeader) {
  const std::string whole = file(allEntries, allInfos, allData);
  for (size_t i = 0; i < whole.size() - allData.size(); ++i)
    for (int mask : {0x01, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
      TemporaryPath path("flip.gguf");
      writeBytes(path, bytes);
      auto opened = GgufFile::open(path);
      if (opened.isOk()) {
        for (const GgufFile::Tensor &tensor : opened->tensors())
          EXPECT_TRUE(opened->read(tensor.name).isOk());
      }
    }
}

TEST(GgufTest, RefusesOtherFiles) {
  EXPECT_THAT(refusal("GGML" + raw<uint32_t>(3)), HasSubstr("not a GGUF file"));
  EXPECT_THAT(refusal(file({}, {}, "", 1)), HasSubstr("has GGUF version 1; 2 and 3 are known"));
  EXPECT_THAT(refusal(file({}, {}, "", 4)), HasSubstr("has GGUF version 4"));
  EXPECT_THAT(refusal(file({}, {}, "", 0x03000000)), HasSubstr("holds big-endian numbers"));
  EXPECT_THAT(refusal("GGUF" + raw<uint32_t>(3) + raw(UINT64_MAX) + raw<uint64_t>(0)),
              HasSubstr("18446744073709551615 entries of tensors cannot fit"));
  // A sparse file is as long as it says.
  TemporaryPath path("long.gguf");
  writeBytes(path, "GGUF" + raw<uint32_t>(3) + raw<uint64_t>(0) + raw<uint64_t>(1) + raw(uint64_t(1) << 29));
  ASSERT_EQ(::truncate(path.path.c_str(), int64_t(1) << 30), 0);
  EXPECT_THAT(GgufFile::open(path).status().message(), HasSubstr("has a header of more than 268435456 bytes"));
}

TEST(GgufTest, RefusesMetadataThatLies) {
  auto one = [](const std::string &bytes) { return refusal(file({bytes}, {}, "")); };
  EXPECT_THAT(one(entry("a", Type(13), raw<uint64_t>(0))), HasSubstr("'a' has the unknown type 13"));
  EXPECT_THAT(one(entry("a", Array, array(Type(99), 1, raw<uint64_t>(0)))),
              HasSubstr("'a' has values of the unknown type 99"));
  EXPECT_THAT(one(entry("a", Bool, "\x02")), HasSubstr("'a' has the bool 2"));
  EXPECT_THAT(one(entry("a", Array, array(Bool, 1, "\x03"))), HasSubstr("'a' has the bool 3"));
  EXPECT_THAT(one(entry("", U8, "x")), HasSubstr("a key of the metadata has 0 bytes"));
  EXPECT_THAT(one(entry(std::string(65536, 'k'), U8, "x")), HasSubstr("a key of the metadata has 65536 bytes"));
  EXPECT_THAT(one(entry("a", Array, array(U64, UINT64_MAX / 8, raw<uint64_t>(0)))),
              HasSubstr("entries of values cannot fit"));
  std::string nested = array(U8, 0, "");
  for (int depth = 1; depth < 8; ++depth)
    nested = array(Array, 1, nested);
  EXPECT_TRUE(openBytes(file({entry("a", Array, nested)}, {}, "")).isOk());
  EXPECT_THAT(one(entry("a", Array, array(Array, 1, nested))),
              HasSubstr("'a' has more than 8 arrays inside of each other"));
  EXPECT_THAT(refusal(file({entry("a", U8, "x"), entry("a", U8, "x")}, {}, "")),
              HasSubstr("the key 'a' is a duplicate"));
}

TEST(GgufTest, RefusesTensorsOfUnknownTypesAlone) {
  const std::string data = std::string(32, 'q') + std::string("\0\0\x80?", 4);
  TemporaryPath path("unknown.gguf");
  writeBytes(path, file({}, {info("unknown", {256}, 22, 0), info("x", {1}, 0, 32)}, data));
  Result<GgufFile> opened = GgufFile::open(path);
  ASSERT_TRUE(opened.isOk()) << opened.status().toString();
  EXPECT_EQ(opened->tensors().size(), 1u);
  EXPECT_EQ(opened->unsupported(), (std::map<std::string, std::string>{{"unknown", "type 22"}}));
  EXPECT_EQ(opened->find("unknown"), nullptr);
  EXPECT_THAT(opened->read("unknown").status().message(), HasSubstr("tensor 'unknown' has the unsupported type 22"));
  Result<HostTensor> x = opened->read("x");
  ASSERT_TRUE(x.isOk()) << x.status().toString();
  EXPECT_EQ(x->data, std::vector<std::byte>({std::byte(0), std::byte(0), std::byte(0x80), std::byte('?')}));
  // Nor does it lie inside of another.
  EXPECT_THAT(refusal(file({}, {info("unknown", {256}, 22, 32), info("x", {16}, 0, 0)}, data + std::string(28, 'q'))),
              HasSubstr("tensors 'x' and 'unknown' overlap"));
}

TEST(GgufTest, RefusesTensorsThatLie) {
  auto one = [](const std::vector<uint64_t> &extents, uint32_t type, uint64_t offset = 0) {
    return refusal(file({}, {info("x", extents, type, offset)}, "1234"));
  };
  // Of a type that is not known, what is known is checked.
  EXPECT_THAT(one({1}, 16, 8), HasSubstr("tensor 'x' starts at byte 8 of the data, no multiple of 32"));
  EXPECT_THAT(one({1}, 16, 32), HasSubstr("tensor 'x' has 0 bytes at 32 of 4 bytes of data"));
  EXPECT_THAT(one({1}, 0, 8), HasSubstr("tensor 'x' starts at byte 8 of the data, no multiple of 32"));
  EXPECT_THAT(one({1}, 0, UINT64_MAX - 31), HasSubstr("tensor 'x' has 4 bytes at 18446744073709551584"));
  EXPECT_THAT(one({33}, 8), HasSubstr("tensor 'x' is refused: rows of [33] are no whole number"));
  EXPECT_THAT(one({uint64_t(1) << 63}, 0), HasSubstr("tensor 'x' has the extent 9223372036854775808"));
  EXPECT_THAT(one({uint64_t(1) << 40, 1 << 20}, 0), HasSubstr("tensor 'x' is refused: "));
  EXPECT_THAT(one(std::vector<uint64_t>(17, 1), 0), HasSubstr("tensor 'x' has 17 dimensions; at most 16"));
  EXPECT_THAT(refusal(file({}, {info("", {1}, 0, 0)}, "1234")), HasSubstr("the name of a tensor has 0 bytes"));
  auto two = [](const std::string &second, uint64_t offset) {
    return refusal(file({}, {info("x", {9}, 0, 0), info(second, {1}, 0, offset)}, std::string(64, 'x')));
  };
  EXPECT_THAT(two("x", 64), HasSubstr("tensor 'x' is a duplicate"));
  EXPECT_THAT(two("y", 32), HasSubstr("tensors 'x' and 'y' overlap"));
}

} // namespace
