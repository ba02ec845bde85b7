//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Bytes.h"
#include "zyx/Graph/UnaryKind.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace zyx;
using namespace zyx::graph;
using testing::HasSubstr;

namespace {

/// "ZYXG", the version and the checksum.
constexpr size_t headerBytes = 16;

const TensorType vector{DType::F32, {4}};

Body negation() {
  Graph body;
  body.inputs = {*body.parameter("x", vector)};
  body.outputs = {{"y", *body.unary(UnaryKind::Neg, body.inputs[0])}};
  return *Body::create(body);
}

Implementation inC(std::string text = "void f(const float *x, float *y) {}") {
  return {.language = Language::C,
          .target = "cpu",
          .entry = "f",
          .text = std::move(text),
          .operands = {vector},
          .results = {vector}};
}

/// A program of one custom op.
Graph program(std::vector<Implementation> implementations) {
  Graph g;
  g.inputs = {*g.parameter("x", vector)};
  g.outputs = {{"y", (*g.custom("own", "", negation(), g.inputs, std::move(implementations)))[0]}};
  return g;
}

std::string refusal(const Implementation &implementation) {
  Graph g;
  return g.custom("own", "", negation(), {{*g.parameter("x", vector)}}, {implementation}).status().message();
}

} // namespace

TEST(ImplementationTest, BytesHoldThem) {
  Implementation ptx = inC("entry");
  ptx.language = Language::PTX;
  ptx.target = "sm_90a";
  ptx.groups = 7;
  ptx.threads = 128;
  ptx.sharedBytes = 1024;
  const Graph g = program({inC(), ptx});
  const Result<Graph> read = Graph::deserialize(g.serialize());
  ASSERT_TRUE(read.isOk()) << read.status().toString();
  EXPECT_EQ(read->node(read->outputs[0].node).attributes.implementations, (std::vector{inC(), ptx}));
  EXPECT_EQ(read->serialize(), g.serialize());
}

TEST(ImplementationTest, AreAPartOfWhatIsComputed) {
  const Hash128 plain = program({}).canonicalHash(), own = program({inC()}).canonicalHash();
  EXPECT_NE(plain, own);
  EXPECT_NE(own, program({inC("void f(const float *x, float *y) { y[0] = 1; }")}).canonicalHash());
  Implementation split = inC();
  split.groups = 2;
  EXPECT_NE(own, program({split}).canonicalHash());
  EXPECT_EQ(own, program({inC()}).canonicalHash());
}

TEST(ImplementationTest, ForgedOnesAreRefused) {
  const Graph g = program({inC()});
  const std::vector<std::byte> whole = g.serialize();
  // Each byte behind the checksum, which is made to hold: what is read is a graph again, and no other is.
  size_t numRead = 0;
  for (size_t i = headerBytes; i < whole.size(); ++i)
    for (int change : {1, 0x80, 0xff}) {
      std::vector<std::byte> bytes = whole;
      bytes[i] ^= static_cast<std::byte>(change);
      ByteWriter writer;
      writer.u64(hash64(std::span(bytes).subspan(headerBytes)));
      std::memcpy(bytes.data() + 8, writer.view().data(), 8);
      const Result<Graph> read = Graph::deserialize(bytes);
      if (read.isOk())
        EXPECT_EQ(read->serialize(), bytes) << i;
      numRead += read.isOk();
    }
  // Names and texts may be others.
  EXPECT_GT(numRead, 0u);
  EXPECT_TRUE(Graph::deserialize(whole).isOk());
}

TEST(ImplementationTest, MustBeForTheOp) {
  EXPECT_EQ(refusal(inC()), "");
  Implementation bad = inC();
  bad.operands[0].shape = {5};
  EXPECT_THAT(refusal(bad),
              HasSubstr("custom own: the implementation for 'cpu' is for f32[5] as operand 0, which is f32[4]"));
  bad = inC();
  bad.results[0].dtype = DType::F64;
  EXPECT_THAT(refusal(bad), HasSubstr("is for f64[4] as result 0, which is f32[4]"));
  bad = inC();
  bad.results.push_back(vector);
  EXPECT_THAT(refusal(bad), HasSubstr("has 2 results, and the op has 1"));
  bad = inC(std::string("a\0b", 3));
  EXPECT_THAT(refusal(bad), HasSubstr("has a text with a zero byte"));
  bad = inC();
  bad.entry = "f();";
  EXPECT_THAT(refusal(bad), HasSubstr("which is no name of a function"));
  bad = inC();
  bad.target = std::string("c\0", 2);
  EXPECT_THAT(refusal(bad), HasSubstr("the target of an implementation has a zero byte"));
  bad = inC();
  bad.language = static_cast<Language>(9);
  EXPECT_THAT(refusal(bad), HasSubstr("an implementation is in an unknown language"));
  Graph g;
  Attributes attributes;
  attributes.implementations = {inC()};
  EXPECT_THAT(g.add(Op::Unary, {{*g.parameter("x", vector)}}, attributes).status().message(),
              HasSubstr("unary takes no implementation"));
}

TEST(ImplementationTest, LanguagesHaveNames) {
  for (Language language : {Language::Kernel, Language::C, Language::PTX})
    EXPECT_EQ(parseLanguage(toString(language)), language);
  EXPECT_FALSE(parseLanguage("cobol"));
}
