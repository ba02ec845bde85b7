//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The program of docs/coming-from-pytorch.md, word by word; each line that has a value is an expectation.
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"

#include <fstream>
#include <sstream>

#define SAME(expression, ...)                                                                                          \
  EXPECT_EQ((expression).cast(DType::F64).toVector<double>(), (std::vector<double>{__VA_ARGS__}))
#define THROWS(...) EXPECT_NE(test::refusal([&] { __VA_ARGS__; }), "")

using namespace zyx;

TEST(FromPyTorch, Differences) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  setenv("ZYX_CACHE_DIR", "off", 1);
  const ContextScope context(Context({.device = "reference"}));
  //===--- Values
  // torch: x.clone(), then x[0] = 5 and x += 1 change the memory that others look at. Here a tensor never changes:
  Tensor x = Tensor::from({1.f, 2.f, 3.f});
  const Tensor before = x;
  x += 1; // another value for this handle
  SAME(x, 2, 3, 4);
  SAME(before, 1, 2, 3);
  SAME(scatter(x, Tensor::from({0}), Tensor::from({5.f})), 5, 3, 4); // x[0] = 5, as a new value
  // Nothing is computed before it is read: item(), toVector<float>(), std::cout, if, while.
  EXPECT_FALSE((x * 2).isRealized());
  if (x.sum() > 8) // reads one bool
    SAME(x[-1], 4);
  THROWS(if (x > 8){}); // three bools are none: any() or all()

  //===--- Numbers
  const Tensor a = Tensor::from({7, -7});
  SAME(a / 2, 3, -3); // torch: 3.5, -3.5; here integers stay, towards zero
  SAME(a.cast(DType::F32) / 2, 3.5, -3.5);
  SAME(a % 4, 3, -3);          // torch.fmod; its % gives 3, 1
  SAME((a % 4 + 4) % 4, 3, 1); // its %
  THROWS(a + x[Slice{0, 2}]);  // integers and floats meet by cast() alone
  THROWS(a * 0.5);             // so do integers and a fraction
  EXPECT_EQ(Tensor::from({1.f}).dtype(), DType::F32);
  EXPECT_EQ(Tensor::from({1.0}).dtype(), DType::F64); // 1.0 is a double of C++
  EXPECT_EQ(arange(3).dtype(), DType::I64);
  SAME(Tensor::from({3.9f, -3.9f, NAN}).cast(DType::I32), 3, -3, 0);

  //===--- Positions
  SAME(x[0], 2);            // a position of the program: checked, negative from the end
  SAME(x[Slice{-2}], 3, 4); // x[-2:]
  THROWS(x[3]);
  SAME(x[Tensor::from({2, 7, -1})], 4, 0, 0);            // positions that are data: none gives 0, and -1 is none
  SAME(takeAlongAxis(x, Tensor::from({2, 0}), 0), 4, 2); // torch.gather
  SAME(maskedFill(x, x > 2, 0), 2, 0, 0);

  //===--- Names
  const Tensor m = Tensor::from({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(m.size(0), 2);                 // size(0)
  SAME(m.max(1), 2, 4);                    // amax: no positions; those are argmax()
  SAME(m.sum(-1, true), 3, 7);             // keepdim
  SAME(m.transpose(), 1, 3, 2, 4);         // mT; t()
  SAME(concat({m, m}, 0)[3], 3, 4);        // torch.cat
  SAME(Tensor::from({1.f, 3.f}).var(), 2); // correction 1, as in torch; std is stddev()
  SAME(m.cast(DType::I8), 1, 2, 3, 4);     // to(dtype); to("cuda:1") is another device

  //===--- Attention
  // is_causal of torch lets the first query see the first key. Here the last query sees all keys:
  const Tensor q = Tensor::zeros({1, 1}), keys = Tensor::zeros({2, 1}), values = Tensor::from({{2.f}, {4.f}});
  SAME(scaledDotProductAttention(q, keys, values, {.causal = true}), 3); // torch: 2

  //===--- Gradients
  // There is no requires_grad, no backward() and no .grad: gradient() takes what it is asked for.
  const Tensor w = Tensor::from({2.f, 3.f});
  SAME(gradient((w * w).sum(), {w})[0], 4, 6);
  THROWS(gradient(x.sum(), {w})); // as in torch; {.allowUnused = true} gives zeros
  SAME(gradient(((w * w).detach() * w).sum(), {w})[0], 4, 9);
  // What was read has forgotten what it was made of, unless a Tape lives.
  const Tensor read = (w * w).sum();
  read.item<float>();
  THROWS(gradient(read, {w}));

  //===--- Modules
  nn::Linear layer(2, 3, nn::InitRng(1));          // first values follow from a seed; there is no global one
  EXPECT_EQ(layer.weight->shape(), (Shape{3, 2})); // [out, in], as in torch
  layer.bias.set(Tensor::from({0.f, 0.f, 0.f}));   // a Parameter is a place for tensors
  const Tensor old = *layer.bias;                  // the tensor that is there now
  SAME(old, 0, 0, 0);
  optim::Optimizer optimizer(layer, optim::sgd({.learningRate = 1}));
  optimizer.minimize(layer(m).sum()); // zero_grad(), backward() and step() in one
  SAME(*layer.bias, -2, -2, -2);
  SAME(old, 0, 0, 0);
  SAME(crossEntropy(m, Tensor::from({-100, 1})) - crossEntropy(m[Slice{1}], Tensor::from({1})),
       0);                                                                              // -100 does not count
  const Jit jit([&](std::span<const Tensor> in) { return std::vector{layer(in[0])}; }); // torch.compile
  SAME(jit({m})[0] - layer(m), 0, 0, 0, 0, 0, 0);
  layer.eval(); // a Jit follows the mode, and values that were set
  layer.to(DType::BF16);
  EXPECT_EQ(jit({m.cast(DType::BF16)})[0].dtype(), DType::BF16);
  //===--- End
}

TEST(FromPyTorch, PageHasTheProgram) {
  const auto textOf = [](const std::string &file) {
    std::ifstream stream(std::string(ZYX_TEST_SOURCES) + "/" + file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  };
  const std::string source = textOf("test/unit/NN/FromPyTorch.cpp"), page = textOf("docs/coming-from-pytorch.md");
  size_t sections = 0;
  for (size_t at = source.find("  //===--- "); source.substr(at, 14) != "  //===--- End"; ++sections) {
    const size_t begin = source.find('\n', at) + 1, end = source.find("  //===--- ", begin);
    std::istringstream lines(source.substr(begin, end - begin));
    for (std::string line; std::getline(lines, line);)
      if (line.size() > 2)
        EXPECT_THAT(page, testing::HasSubstr("\n" + line.substr(2) + "\n"));
    at = end;
  }
  EXPECT_EQ(sections, 7u);
}
