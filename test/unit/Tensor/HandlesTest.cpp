//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What one writes in the first hour: conditions, braces, positions, prints, members.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "../TestFiles.h"

#include <regex>
#include <set>
#include <sstream>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;

using HandlesTest = DeviceTest;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

TEST_P(HandlesTest, ConditionsReadTheValue) {
  Tensor loss = Tensor::from({5.f}, {});
  EXPECT_FALSE(loss < 1);
  EXPECT_TRUE(loss > 1);
  EXPECT_TRUE(!(loss < 1));
  EXPECT_FALSE((loss > 1) && (loss > 10));
  int trips = 0;
  for (; loss > 1; loss = loss / 2)
    ASSERT_LT(++trips, 10);
  EXPECT_EQ(trips, 3);
  EXPECT_TRUE(Tensor::from({1.f}) == Tensor::from({1.f}));
}

TEST_P(HandlesTest, ConditionsOfAnythingElseAreRefused) {
  const Tensor x = Tensor::from({1.f, 2.f});
  EXPECT_THAT(refusal([&] { (void)static_cast<bool>(x == x); }),
              HasSubstr("bool: bool[2] of 'eq' from " + std::string(__FILE__)));
  EXPECT_THAT(refusal([&] { (void)static_cast<bool>(x.sum()); }),
              HasSubstr("is not one bool; any(), all() or item() make one"));
  EXPECT_THAT(refusal([] { (void)static_cast<bool>(Tensor()); }),
              HasSubstr("bool: there is no tensor in this place; isDefined() tells that"));
  EXPECT_FALSE(Tensor().isDefined());
  EXPECT_TRUE(x.isDefined());
}

TEST_P(HandlesTest, ConditionsOfArgumentsAreRefusedByName) {
  const Tensor x = Tensor::from({1.f});
  const Jit branches([](std::span<const Tensor> a) { return std::vector{a[0] > 0 ? a[0] : -a[0]}; });
  EXPECT_THAT(
      refusal([&] { branches({x}); }),
      HasSubstr("depends on the arguments of a function that a Jit or a loop captures, and has no value yet: a branch "
                "would be that of the first call in all others; where() chooses by data"));
  // What does not is read.
  const Jit other([&](std::span<const Tensor> a) { return std::vector{x > 0 ? a[0] : -a[0]}; });
  EXPECT_THAT(floats(other({x})[0]), ElementsAre(1));
}

//===----------------------------------------------------------------------===//
// Braces, positions, assignments
//===----------------------------------------------------------------------===//

TEST_P(HandlesTest, TensorsInBraces) {
  const Tensor a = Tensor::from({1.f, 2.f}), b = Tensor::from({3.f, 4.f});
  EXPECT_THAT(floats(concat({a, b})), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(stack({a, b}, 1).shape(), (Shape{2, 2}));
  realize({a + 1, b});
  EXPECT_THAT(floats(gradient((a * b).sum(), {a, b})[1]), ElementsAre(1, 2));
  if (GetParam() != std::string("reference"))
    EXPECT_THAT(programText({a * b}), HasSubstr("graph.binary mul"));
  EXPECT_THAT(floats(einsum("i,i->", {a, b})), ElementsAre(11));
  EXPECT_THAT(
      floats(loop(2, {a}, [](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] * 2}; })[0]),
      ElementsAre(4, 8));
  EXPECT_THAT(floats(Jit([](std::span<const Tensor> x) { return std::vector{x[0] - x[1]}; })({a, b})[0]),
              ElementsAre(-2, -2));
}

TEST_P(HandlesTest, ElementsInBraces) {
  EXPECT_EQ(Tensor::from({1.f, 2.f}, {2, 1}).shape(), (Shape{2, 1}));
  EXPECT_EQ(Tensor::from({1.f}, {}).rank(), 0);
  EXPECT_EQ(Tensor::from({1.f}).rank(), 1);
  const Tensor matrix = Tensor::from({{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(matrix.type(), (TensorType{DType::I32, {3, 2}}));
  EXPECT_THAT(ints(matrix), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(refusal([] { Tensor::from({{1, 2}, {3}}); }),
              HasSubstr("from: rows of 2 and of 1 elements are no matrix"));
  const Tensor bools = Tensor::from({true, false, true});
  EXPECT_EQ(bools.dtype(), DType::Bool);
  EXPECT_THAT(bools.toVector<bool>(), ElementsAre(true, false, true));
  EXPECT_THAT(Tensor::from(std::vector<bool>{false, true}, {2}).toVector<bool>(), ElementsAre(false, true));
}

TEST_P(HandlesTest, Positions) {
  const Tensor x = Tensor::arange(6).reshape({3, 2});
  EXPECT_THAT(ints(x[0]), ElementsAre(0, 1));
  EXPECT_EQ(x[-1][0].item<int64_t>(), 4);
  EXPECT_THAT(ints(x[Slice{1, 3}]), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(ints(x[Tensor::from({2, 0})]), ElementsAre(4, 5, 0, 1));
  EXPECT_THAT(refusal([&] { x[3]; }), HasSubstr("HandlesTest.cpp"));
  EXPECT_THAT(refusal([&] { x[3]; }), HasSubstr("select: dimension 0 of [3, 2] has no position 3"));
  EXPECT_THAT(refusal([&] { Tensor()[0]; }), HasSubstr("operator[]: there is no tensor in this place"));
}

TEST_P(HandlesTest, OneDimensionNeedsNoBraces) {
  const Tensor x = Tensor::from({{1.f, 2.f}, {3.f, 5.f}});
  EXPECT_THAT(floats(x.mean(-1)), ElementsAre(1.5, 4));
  EXPECT_THAT(floats(x.sum(0)), ElementsAre(4, 7));
  EXPECT_THAT(floats(x.sum(2 - 1)), ElementsAre(3, 8));
  EXPECT_EQ(x.unsqueeze(0).squeeze(0).shape(), (Shape{2, 2}));
  EXPECT_THAT(ints(arange(3)), ElementsAre(0, 1, 2));
  EXPECT_EQ(arange(3, DType::F32).dtype(), DType::F32);
}

TEST_P(HandlesTest, AssignmentsPutAnotherValueIntoTheHandle) {
  Tensor x = Tensor::from({1, 2});
  const Tensor before = x;
  x += 1;
  EXPECT_THAT(ints(x), ElementsAre(2, 3));
  EXPECT_THAT(ints(before), ElementsAre(1, 2));
  x *= x;
  x -= 1;
  x /= 2;
  x <<= 3;
  x |= 1;
  x ^= 2;
  x &= 62;
  x >>= 1;
  x %= 5;
  EXPECT_THAT(ints(x), ElementsAre(((((1 << 3) | 1) ^ 2) & 62) / 2 % 5, ((((4 << 3) | 1) ^ 2) & 62) / 2 % 5));
  x += Tensor::from({int64_t(1)});
  EXPECT_EQ(x.dtype(), DType::I64);
  EXPECT_THAT(refusal([&] { x += Tensor::ones({3}, DType::I64); }), HasSubstr("HandlesTest.cpp"));
}

TEST_P(HandlesTest, TypesOutliveTemporaries) {
  const Tensor x = Tensor::ones({2, 3});
  const Shape &shape = (x + 1).shape();
  const TensorType &type = (x + 2).type();
  const Parameter parameter(x);
  const Shape &ofParameter = parameter->shape();
  int64_t product = 1;
  for (int64_t extent : parameter->shape())
    product *= extent;
  EXPECT_EQ(shape, (Shape{2, 3}));
  EXPECT_EQ(type.shape, shape);
  EXPECT_EQ(ofParameter, shape);
  EXPECT_EQ(product, 6);
}

TEST_P(HandlesTest, Prints) {
  std::ostringstream text;
  text << "loss " << Tensor::from({0.845f}, {}) << ' ' << DType::BF16 << ' ' << TensorType{DType::I8, {2}};
  EXPECT_EQ(text.str(), "loss 0.845 bf16 i8[2]");
  EXPECT_EQ(toString(Tensor::from({0.845f}, {})), "f32[]\n0.845");
  std::ostringstream more;
  more << Tensor::from({1, 2});
  EXPECT_EQ(more.str(), "i32[2]\n[1 2]");
}

//===----------------------------------------------------------------------===//
// Members and functions
//===----------------------------------------------------------------------===//

TEST_P(HandlesTest, FunctionsOfOneTensorAreMembersToo) {
  const Tensor x = Tensor::from({{1.f, -4.f}, {3.f, 2.f}});
  EXPECT_THAT(floats((x - 1).square().sum()), ElementsAre(30));
  EXPECT_THAT(floats(x.clamp(-1, 2)), ElementsAre(1, -1, 2, 2));
  EXPECT_THAT(floats(x.sign()), ElementsAre(1, -1, 1, 1));
  EXPECT_THAT(floats(x.unsqueeze(0).maxPool({2, 2})), ElementsAre(3));
  EXPECT_THAT(floats(x.pow(2)), ElementsAre(1, 16, 9, 4));
  EXPECT_THAT(floats(x.topk(1).values), ElementsAre(1, 3));
  EXPECT_THAT(floats(relu(x)), ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(floats(max(x, 1)), ElementsAre(1, 3));
  EXPECT_THAT(floats(reshape(transpose(x), {4})), ElementsAre(1, 3, -4, 2));
  EXPECT_THAT(floats(sum(exp(log(abs(x))), -1)), testing::Pointwise(testing::FloatEq(), {5.f, 5.f}));
  EXPECT_THAT(floats(x.matmul(Tensor::eye(2))), ElementsAre(1, -4, 3, 2));
}

/// The parameters of a declaration, at its top level.
static std::vector<std::string> parametersOf(const std::string &text) {
  std::vector<std::string> parameters(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '<' || c == '(' || c == '{') - (c == '>' || c == ')' || c == '}');
    if (c == ',' && depth == 0)
      parameters.emplace_back();
    else
      parameters.back() += c;
  }
  return parameters;
}

TEST(Members, EveryFunctionOfOneTensorIsBoth) {
  const std::regex comment("//[^\n]*"),
      declaration("\n *(?:inline )?((?:std::)?[A-Za-z][\\w<>]*) (\\w+)\\(([^;]*?)\\)( const)?(?:;| \\{)");
  const auto declared = [&](const std::string &text, auto &&visit) {
    const std::string code = std::regex_replace(text, comment, "");
    for (std::sregex_iterator match(code.begin(), code.end(), declaration), end; match != end; ++match)
      visit(match->str(1), match->str(2), parametersOf(match->str(3)), match->str(4) == " const");
  };
  const std::string folder = ZYX_SOURCE "/include/zyx/Tensor/";
  const std::string tensor = readBytes(folder + "Tensor.h");
  const size_t begin = tensor.find("class Tensor {"), end = tensor.find("private:", begin);
  std::set<std::string> members, functions;
  declared(tensor.substr(begin, end - begin),
           [&](const std::string &result, const std::string &name, const auto &, bool isConst) {
             // What tells or moves a value, instead of making another one.
             const std::set<std::string> facts = {"to",         "realize",   "type", "shape", "dtype",
                                                  "context",    "size",      "rank", "numel", "device",
                                                  "isRealized", "isDefined", "id",   "bytes", "item"};
             if (isConst && !facts.contains(name) && result != "return")
               members.insert(name);
           });
  for (const std::string header : {"Activations", "Convolution", "Creation", "Factorizations", "Functions", "Indexing",
                                   "Members", "Selection", "Sorting", "Tensor"})
    declared(
        header == "Tensor" ? tensor.substr(tensor.find("};", end)) : readBytes(folder + header + ".h"),
        [&](const std::string &, const std::string &name, const std::vector<std::string> &parameters, bool isConst) {
          const bool isOfOne = std::regex_match(parameters[0], std::regex("\\s*(const Tensor &\\w+|Operand \\w+).*"));
          if (isConst || !isOfOne)
            return;
          functions.insert(name);
          const bool hasMore = std::any_of(parameters.begin() + 1, parameters.end(), [](const std::string &parameter) {
            return std::regex_search(parameter, std::regex("\\bTensors? |\\bTensor &|Operand b|Operand weight"));
          });
          if (!hasMore && parameters[0].find("Operand") == std::string::npos)
            EXPECT_TRUE(members.contains(name) || name == "oneHot")
                << name << " of " << header << ".h is no member of Tensor";
        });
  EXPECT_GT(members.size(), 100u);
  for (const std::string &name : members)
    EXPECT_TRUE(functions.contains(name)) << "Tensor::" << name << " is no function";
}

INSTANTIATE_TEST_SUITE_P(Devices, HandlesTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
