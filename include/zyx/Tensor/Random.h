//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Random numbers as functions of a seed: a tensor, u64 of rank 0, so that another draw is not another
/// program. The same seed gives the same bits on every device; a Jit takes seeds as arguments.
#ifndef ZYX_TENSOR_RANDOM_H
#define ZYX_TENSOR_RANDOM_H

#include "zyx/Tensor/Tensor.h"

#include <array>

namespace zyx {

/// Makes seeds: one for each draw. Not thread-safe. A copy goes on by itself.
class Generator {
public:
  explicit Generator(uint64_t seed) : numbers(std::make_shared<Numbers>(Numbers{seed})) {}
  Generator(const Generator &other) : numbers(std::make_shared<Numbers>(*other.numbers)) {}
  Generator &operator=(const Generator &other) {
    *numbers = *other.numbers;
    return *this;
  }
  /// A leaf that differs from those before it, in the current context. In a function that a Jit captures, each call has
  /// a new one, in the order in which the function draws them: the same seeds as without a Jit. Refused in bodies of
  /// loops, which would have the same seed in each trip.
  Tensor next(Place where = Place::current());

  /// What the next seed depends on: the seed of this one, and how many it made.
  std::array<uint64_t, 2> state() const { return {numbers->seed, numbers->count}; }
  void restore(std::array<uint64_t, 2> state) { *numbers = {state[0], state[1]}; }

  /// Shared with what was captured and draws from it.
  struct Numbers {
    uint64_t seed = 0, count = 0;
    /// The next one.
    uint64_t draw();
  };

private:
  std::shared_ptr<Numbers> numbers;
};

/// Bits of Philox4x32-10, u32.
Tensor randomBits(const Tensor &seed, Shape shape, Place where = Place::current());
/// low + (high - low) * u, where u in [0, 1) is one of the 2^24 multiples of 2^-24 (f64: 53, f16: 11, bf16:
/// 8 digits). `high` comes by rounding only.
Tensor uniform(const Tensor &seed, Shape shape, double low = 0, double high = 1, DType dtype = DType::F32,
               Place where = Place::current());
/// By Box and Muller; f16 and bf16 are rounded f32. No f32 is farther from the mean than 5.8 deviations (f64: 8.6).
Tensor normal(const Tensor &seed, Shape shape, double mean = 0, double deviation = 1, DType dtype = DType::F32,
              Place where = Place::current());
/// Integers of [low, high), which is not empty; of n of them, none is likelier than another by more than n / 2^64.
Tensor randint(const Tensor &seed, Shape shape, int64_t low, int64_t high, DType dtype = DType::I64,
               Place where = Place::current());
/// Bools, of which a share of `probability` is true.
Tensor bernoulli(const Tensor &seed, Shape shape, double probability, Place where = Place::current());
/// 0 to count - 1 in random order, i64.
Tensor permutation(const Tensor &seed, int64_t count, Place where = Place::current());
/// `count` positions along the last dimension, i64, each drawn with a probability proportional to its weight;
/// weights are floats, negative ones count as 0. Without replacement no position comes twice, and those without
/// weight come last. With it, where no weight is positive, all are 0.
Tensor multinomial(const Tensor &seed, const Tensor &weights, int64_t count, bool replacement = false,
                   Place where = Place::current());
// First values of weights [out, in, window...], with as many inputs and outputs as these and the window say.
/// Uniform within sqrt(6 / ((1 + a^2) inputs)): He et al., 2015, for leaky relu of slope a.
Tensor kaimingUniform(const Tensor &seed, Shape shape, double a = 0, DType dtype = DType::F32,
                      Place where = Place::current());
/// Uniform within sqrt(6 / (inputs + outputs)): Glorot and Bengio, 2010.
Tensor glorotUniform(const Tensor &seed, Shape shape, DType dtype = DType::F32, Place where = Place::current());

/// x / (1 - probability), and 0 for a share of `probability` of the elements; x of floats.
Tensor dropout(const Tensor &seed, const Tensor &x, double probability = 0.5, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_RANDOM_H
