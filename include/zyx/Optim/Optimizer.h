//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_OPTIM_OPTIMIZER_H
#define ZYX_OPTIM_OPTIMIZER_H

#include "zyx/Tensor/Parameter.h"

#include <functional>

namespace zyx::optim {

/// A tensor of state that a rule has for a parameter, such as a momentum. It is zeros before the first step.
struct StateSlot {
  std::string name;
  Shape shape;
};

/// How a step updates a parameter. Formulas compute in f32, and in f64 for parameters of f64. State has that dtype,
/// too.
struct UpdateRule {
  double learningRate = 0;
  /// The state of a parameter of this shape.
  std::function<std::vector<StateSlot>(const Shape &)> state = [](const Shape &) { return std::vector<StateSlot>{}; };
  /// Values that depend on the learning rate and the step. Steps count from 1. `update` gets them as tensors of rank 0,
  /// so that one program runs for all values.
  std::function<std::vector<double>(double learningRate, int64_t step)> hyperparameters = [](double, int64_t) {
    return std::vector<double>{};
  };
  /// Returns the next value and replaces `state` by the next state. An optimizer refuses a rule that lacks one of these
  /// functions.
  std::function<Tensor(const Tensor &value, const Tensor &gradient, std::span<Tensor> state,
                       std::span<const Tensor> hyperparameters)>
      update = {};
};

// Options that are no number of their range are refused: rates, decays and epsilons are at least 0, betas below 1.

/// g += weightDecay w; b = momentum b + (1 - dampening) g, which is g in the first step;
/// w -= learningRate b, or learningRate (g + momentum b) with Nesterov, which needs momentum and no dampening.
struct SgdOptions {
  double learningRate = 1e-3, momentum = 0, dampening = 0, weightDecay = 0;
  bool nesterov = false;
};
UpdateRule sgd(SgdOptions options = {}, Place where = Place::current());

/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g g;
/// w -= learningRate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon), where `amsgrad` takes the greatest v so
/// far.
struct AdamOptions {
  double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0;
  bool amsgrad = false;
};
/// g += weightDecay w comes first.
UpdateRule adam(AdamOptions options = {}, Place where = Place::current());
/// As Adam, but w -= learningRate weightDecay w comes first.
struct AdamWOptions {
  double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0.01;
  bool amsgrad = false;
};
UpdateRule adamW(AdamWOptions options = {}, Place where = Place::current());

/// g += weightDecay w; v = alpha v + (1 - alpha) g g; u = g / (sqrt(v) + epsilon), where `centered` takes
/// v - a a instead of v, with a = alpha a + (1 - alpha) g; b = momentum b + u; w -= learningRate b.
struct RmspropOptions {
  double learningRate = 1e-2, alpha = 0.99, epsilon = 1e-8, weightDecay = 0, momentum = 0;
  bool centered = false;
};
UpdateRule rmsprop(RmspropOptions options = {}, Place where = Place::current());

/// w -= learningRate (sign(beta1 m + (1 - beta1) g) + weightDecay w); m = beta2 m + (1 - beta2) g.
struct LionOptions {
  double learningRate = 1e-4, beta1 = 0.9, beta2 = 0.99, weightDecay = 0;
};
UpdateRule lion(LionOptions options = {}, Place where = Place::current());

/// Of a matrix, and of each of a stack of matrices, second moments are kept by row and column alone: with share = 1 -
/// t^decay, r = share r + (1 - share) mean of g g along rows, c the same along columns, v = r c / mean of r; else
/// v = share v + (1 - share) g g. With rms(x) the root of the mean of x x over the whole tensor:
/// u = g / sqrt(v), divided by max(1, rms(u) / clip);
/// w -= learningRate weightDecay w, then w -= min(learningRate, 1 / sqrt(t)) max(floor, rms(w before)) u.
/// v is at least epsilon epsilon, and the mean of r at least epsilon.
struct AdafactorOptions {
  double learningRate = 1e-2, decay = -0.8, floor = 1e-3, clip = 1, weightDecay = 0, epsilon = 0x1p-23;
};
UpdateRule adafactor(AdafactorOptions options = {}, Place where = Place::current());

/// Parameters that one rule updates.
struct Group {
  Parameters parameters;
  UpdateRule rule;
};

/// Steps of all groups at once. Of no parameter there may be two, nor of a name.
class Optimizer {
public:
  /// Refuses no parameters at all, as of a module whose children were not declared: there is nothing to train.
  Optimizer(Parameters parameters, UpdateRule rule, Place where = Place::current());
  /// Of a model: its buffers, such as running moments, are computed with each step.
  template <typename Model>
    requires requires(const Model &model) {
      { model.parameters() } -> std::same_as<Parameters>;
      { model.buffers() } -> std::same_as<Parameters>;
    }
  Optimizer(const Model &model, UpdateRule rule, Place where = Place::current())
      : Optimizer(model.parameters(), std::move(rule), where) {
    carried = model.buffers();
  }
  explicit Optimizer(std::vector<Group> groups, Place where = Place::current());

  /// Of all groups, in order.
  const Parameters &parameters() const { return all; }
  /// Steps so far, without those that failed.
  int64_t steps(Place where = Place::current()) const { return progress.get(where).step; }
  /// Of the next steps. Another one is not another program.
  double learningRate(size_t group = 0, Place where = Place::current()) const;
  void setLearningRate(double rate) { learningRates.assign(learningRates.size(), rate); }
  void setLearningRate(size_t group, double rate, Place where = Place::current());

  /// Takes one step by the gradients of parameters(), in their order; a parameter without one stays what it is, with
  /// its state. Parameters, state and the tensors of `alsoCompute` (a loss, say) are computed in one program. After a
  /// failure, in flight too, parameters, state and number of steps are those before the step.
  void step(Tensors gradients, Tensors alsoCompute = {}, Place where = Place::current());
  /// Takes one step down the gradient of a loss, which is computed with it, as is what stands in `alsoCompute`, such as
  /// buffers of a model. Parameters that the loss does not read stay what they are, as in PyTorch; a loss that reads
  /// none of them is refused.
  void minimize(const Tensor &loss, const Parameters &alsoCompute = {}, Place where = Place::current());

  /// All that the next step depends on, but the parameters: "step", "learning_rate.<group>", and
  /// "<parameter>.<what>". Training continues from it bit for bit.
  NamedTensors state(Place where = Place::current()) const;
  /// The same, whatever came of the runs that make it.
  NamedTensors latestState(Place where = Place::current()) const;
  /// Refuses what is missing, superfluous or of another type, and then changes nothing.
  void load(const NamedTensors &state, Place where = Place::current());

private:
  friend class TrainStep;
  struct Slot {
    size_t group;
    std::vector<std::string> names;
    std::vector<Tensor> state;
  };
  struct Progress {
    /// Of each parameter.
    std::vector<Slot> slots;
    int64_t step = 0;
  };
  /// The hyperparameters of each group as tensors, in the dtypes of its state: by group, then by dtype and device.
  using Hyperparameters = std::vector<std::map<std::pair<DType, std::string>, std::vector<Tensor>>>;
  /// Makes them for the step after `progress`.
  Hyperparameters hyperparameters(const Progress &progress, const Place &where) const;
  NamedTensors stateOf(const Progress &progress, const Place &where) const;
  /// Of a loss: none of what it does not read. Throws where that is all.
  std::vector<Tensor> gradients(const Tensor &loss, const Place &where) const;
  size_t expectGroup(size_t group, const Place &where) const;
  size_t numStates() const;
  /// The next values of all parameters, none where there is no gradient; the state in `next` becomes the next one.
  std::vector<Tensor> next(std::span<const Tensor> gradients, const Hyperparameters &hyperparameters,
                           std::vector<Slot> &next, const Place &where) const;
  std::vector<Group> groups;
  Parameters all, carried;
  Versioned<Progress> progress{Progress()};
  std::vector<double> learningRates;
};

/// Gradients of a global norm of at most `most`: all are multiplied by min(1, most / (norm + 1e-6)). Places without a
/// tensor stay so.
struct Clipped {
  std::vector<Tensor> gradients;
  /// Before: the square root of the sum of all squares, f32 (f64 where the gradients are).
  Tensor norm;
};
Clipped clipByGlobalNorm(Tensors gradients, double most, Place where = Place::current());

// Learning rates as functions of the step, which counts from 0.
/// rate factor^floor(step / every).
double stepDecay(double rate, int64_t step, int64_t every, double factor);
/// rate factor^step.
double exponentialDecay(double rate, int64_t step, double factor);
/// From `rate` at step 0 along half a cosine to `low` at step `total`, and `low` from there on.
double cosineDecay(double rate, int64_t step, int64_t total, double low = 0);
/// rate (step + 1) / steps until that is `rate`, and `rate` from there on.
double linearWarmup(double rate, int64_t step, int64_t steps);

} // namespace zyx::optim

#endif // ZYX_OPTIM_OPTIMIZER_H
