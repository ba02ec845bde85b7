//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What tests of functions of tensors share.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_TENSOR_TENSORFIXTURE_H
#define ZYX_TEST_UNIT_TENSOR_TENSORFIXTURE_H

#include "zyx/zyx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>

namespace zyx::test {

inline std::vector<float> floats(const Tensor &x) { return x.toVector<float>(); }
inline std::vector<int64_t> ints(const Tensor &x) { return x.cast(DType::I64).toVector<int64_t>(); }

inline std::vector<double> wide(const std::vector<float> &x) { return {x.begin(), x.end()}; }

inline void expectNear(const std::vector<float> &values, const std::vector<double> &expected, double tolerance = 2e-6) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

/// What a call throws, as text.
template <typename F> std::string refusal(F &&call) {
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

/// Doubles without pattern or ties, in (-1, 1).
inline Tensor doubles(Shape shape, int seed = 0) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::vector<double> elements(count);
  for (int64_t i = 0; i < count; ++i)
    elements[i] = std::sin(1.7 * static_cast<double>(i) + 0.3 + seed) * 0.9;
  return Tensor::from(elements, std::move(shape));
}

/// Compares the gradients of a function of doubles with central differences, element by element.
inline void expectGradients(const std::function<Tensor(const std::vector<Tensor> &)> &function,
                            const std::vector<Tensor> &inputs, double tolerance = 1e-6) {
  const Tensor value = function(inputs), weights = doubles(value.shape(), 5);
  const std::vector<Tensor> gradients = gradient((value * weights).sum(), inputs);
  const auto loss = [&](const std::vector<Tensor> &at) { return (function(at) * weights).sum().item<double>(); };
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<double> elements = inputs[k].toVector<double>(), found = gradients[k].toVector<double>();
    for (size_t i = 0; i < elements.size(); ++i) {
      const auto moved = [&](double step) {
        std::vector<double> changed = elements;
        changed[i] += step;
        std::vector<Tensor> at = inputs;
        at[k] = Tensor::from(changed, inputs[k].shape());
        return loss(at);
      };
      EXPECT_NEAR(found[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, tolerance) << "input " << k << ", element " << i;
    }
  }
}

/// On the interpreter and on machine code.
class DeviceTest : public testing::TestWithParam<const char *> {
protected:
  static void SetUpTestSuite() {
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    // What is compiled does not depend on what was compiled before.
    setenv("ZYX_CACHE_DIR", "off", 1);
  }
  Context context{{.device = GetParam()}};
  ContextScope scope{context};
};

} // namespace zyx::test

#endif // ZYX_TEST_UNIT_TENSOR_TENSORFIXTURE_H
