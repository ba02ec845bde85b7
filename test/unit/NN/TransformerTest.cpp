//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Stacks of blocks, and caches of keys and values beside attention to all rows at once.
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"

using namespace zyx;
using namespace zyx::test;
using nn::KVCache;
using testing::HasSubstr;

namespace {

class TransformerTest : public DeviceTest {
protected:
  nn::InitRng rng{5};
};

void expectSame(const Tensor &found, const Tensor &expected, const std::string &what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  const std::vector<float> a = floats(found), b = floats(expected);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-5) << what << ", element " << i;
}

Tensor number(int64_t value) { return Tensor::from(std::vector{value}, {}); }
/// Rows of [batch, rows, width].
Tensor rowsOf(const Tensor &x, int64_t from, int64_t to) { return x.slice({{}, {from, to}}); }

} // namespace

TEST_P(TransformerTest, ACacheIsAttentionToAllRows) {
  for (const nn::AttentionOptions &options :
       {nn::AttentionOptions{.heads = 2, .causal = true},
        {.heads = 4, .kvHeads = 2, .causal = true, .rotary = true},
        {.heads = 4, .kvHeads = 1, .causal = true, .hasBias = false, .rotary = true}}) {
    const nn::MultiheadAttention module(8, options, rng);
    const Tensor x = rng.uniform({2, 6, 8}, -1, 1), all = module(x);
    // The position is data: rows one by one are one program.
    const Jit step([&](std::span<const Tensor> a) {
      const auto [output, cache] = module.forwardCached(a[0], {a[1], a[2]}, a[3]);
      return std::vector{output, cache.keys, cache.values};
    });
    KVCache cache = module.cache({2}, 7);
    EXPECT_EQ(cache.keys.shape(), (Shape{2, options.kvHeads == 0 ? 2 : options.kvHeads, 7, 8 / options.heads}));
    for (const auto &[from, to] : std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 4}, {4, 5}, {5, 6}}) {
      const std::vector<Tensor> found = step({rowsOf(x, from, to), cache.keys, cache.values, number(from)});
      cache = {found[1], found[2]};
      expectSame(found[0], rowsOf(all, from, to), "rows from " + std::to_string(from));
    }
    EXPECT_EQ(step.numCaptures(), 2u);
    // There is room for one row more, and not for three; nor in front of the first one.
    auto isLost = [&](int64_t from, int64_t rows) {
      return std::isnan(floats(step({rowsOf(x, 0, rows), cache.keys, cache.values, number(from)})[0])[0]);
    };
    EXPECT_FALSE(isLost(6, 1));
    EXPECT_TRUE(isLost(7, 1));
    EXPECT_TRUE(isLost(-1, 1));
    EXPECT_TRUE(isLost(5, 3));
    EXPECT_EQ(step.numCaptures(), 2u);
  }
}

TEST_P(TransformerTest, WithoutCausalityRowsSeeAllThatAreThere) {
  const nn::MultiheadAttention module(8, {.heads = 2, .rotary = true}, rng);
  const Tensor x = rng.uniform({1, 5, 8}, -1, 1);
  const auto [first, cache] = module.forwardCached(rowsOf(x, 0, 3), module.cache({1}, 9), number(0));
  expectSame(first, module(rowsOf(x, 0, 3)), "the first rows");
  expectSame(module.forwardCached(rowsOf(x, 3, 5), cache, number(3)).output, rowsOf(module(x), 3, 5), "the others");
}

TEST_P(TransformerTest, AMemoryIsRememberedOnce) {
  const nn::MultiheadAttention module(8, {.heads = 4, .kvHeads = 2}, rng);
  const Tensor x = rng.uniform({2, 3, 8}, -1, 1), memory = rng.uniform({2, 4, 8}, -1, 1);
  const Tensor mask = Tensor::arange(0, 4) < 3;
  expectSame(module.forwardKV(x, module.precomputeKV(memory)), module(x, memory), "all");
  expectSame(module.forwardKV(x, module.precomputeKV(memory), mask), module(x, rowsOf(memory, 0, 3)), "masked");
  const nn::MultiheadAttention turns(8, {.heads = 2, .rotary = true}, rng);
  expectSame(turns.forwardKV(rowsOf(x, 1, 3), turns.precomputeKV(memory), {}, number(1)),
             rowsOf(turns(x, memory), 1, 3), "turned");
}

TEST_P(TransformerTest, ADecoderBlockIsItsParts) {
  const nn::TransformerDecoderBlock block(8, {.heads = 2, .causal = true, .rotary = true}, rng);
  std::vector<std::string> names;
  for (const NamedParameter &named : block.parameters())
    names.push_back(named.name);
  EXPECT_EQ(names.size(), 26u);
  EXPECT_EQ(names[10], "cross_norm.weight");
  EXPECT_EQ(names[12], "cross.query.weight");
  const Tensor x = rng.uniform({1, 3, 8}, -1, 1), memory = rng.uniform({1, 4, 8}, -1, 1);
  const Tensor rows = block.crossNorm(x + block.attention(block.attentionNorm(x)));
  const Tensor y = x + block.attention(block.attentionNorm(x)) + [&] {
    // Attention of two heads by the formula, to all of the memory.
    auto part = [](const Tensor &all, int64_t head) { return all.slice({{}, {}, {4 * head, 4 * head + 4}}); };
    std::vector<Tensor> heads;
    for (int64_t head : {0, 1})
      heads.push_back(matmul(
          (matmul(part(block.cross.query(rows), head), part(block.cross.key(memory), head).transpose()) / 2).softmax(),
          part(block.cross.value(memory), head)));
    return block.cross.output(concat(heads, -1));
  }();
  expectSame(block(x, memory), y + block.mlp(block.mlpNorm(y)), "the block");
}

TEST_P(TransformerTest, StacksGoOnWithCaches) {
  const nn::AttentionOptions options{.heads = 4, .kvHeads = 2, .causal = true, .rotary = true};
  const nn::TransformerEncoder encoder(2, 8, {.heads = 2}, rng), writer(2, 8, options, rng);
  const nn::TransformerDecoder decoder(2, 8, options, rng);
  EXPECT_EQ(encoder.parameters().front().name, "0.attention_norm.weight");
  EXPECT_EQ(decoder.parameters().back().name, "norm.bias");
  const Tensor source = rng.uniform({2, 4, 8}, -1, 1), x = rng.uniform({2, 5, 8}, -1, 1);
  const Tensor seen = Tensor::arange(0, 4) < 3;
  expectSame(rowsOf(encoder(source, seen), 0, 3), encoder(rowsOf(source, 0, 3)), "a mask");

  const Tensor memory = encoder(source), all = decoder(x, memory, seen), written = writer(x);
  std::vector<KVCache> caches = decoder.caches({2}, 5), own = writer.caches({2}, 5);
  const std::vector<KVCache> memoryKV = decoder.precomputeKV(memory);
  for (int64_t row = 0; row < 5; ++row) {
    const nn::CachedStackOutput next =
        decoder.forwardCached(rowsOf(x, row, row + 1), caches, memoryKV, number(row), seen);
    expectSame(next.output, rowsOf(all, row, row + 1), "row " + std::to_string(row) + " of the decoder");
    const nn::CachedStackOutput more = writer.forwardCached(rowsOf(x, row, row + 1), own, number(row));
    expectSame(more.output, rowsOf(written, row, row + 1), "row " + std::to_string(row) + " of the encoder");
    caches = next.caches, own = more.caches;
  }
  EXPECT_THAT(refusal([&] { writer.forwardCached(x, {}, number(0)); }),
              HasSubstr("TransformerEncoder: caches of 0 blocks for 2"));
  EXPECT_THAT(refusal([&] { decoder.forwardCached(x, {}, memoryKV, number(0)); }),
              HasSubstr("TransformerDecoder: caches of 0 blocks for 2"));
  EXPECT_THAT(refusal([&] { decoder.forwardCached(x, caches, {}, number(0)); }),
              HasSubstr("TransformerDecoder: memories of 0 blocks for 2"));
  EXPECT_THAT(refusal([&] { writer.forwardCached(x, own, Tensor::from({0.f})); }),
              HasSubstr("attention: rows begin at f32[1], which is no integer of rank 0"));
  EXPECT_THAT(refusal([&] { writer.forwardCached(x, own, Tensor()); }),
              HasSubstr("attention: rows begin at no tensor, which is no integer of rank 0"));
}

INSTANTIATE_TEST_SUITE_P(Devices, TransformerTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
