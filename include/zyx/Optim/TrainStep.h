//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_OPTIM_TRAINSTEP_H
#define ZYX_OPTIM_TRAINSTEP_H

#include "zyx/Optim/Optimizer.h"
#include "zyx/Tensor/Jit.h"

namespace zyx::optim {

struct TrainStepOptions {
  /// Makes other gradients of the gradients, of the same types: clipping, say.
  std::function<std::vector<Tensor>(std::span<const Tensor>)> gradients = {};
  /// What else a step updates and donates with the parameters, such as buffers of a model. Buffers that are not named
  /// here are updated all the same.
  Parameters buffers = {};
  /// Whether each step donates parameters, buffers and the optimizer's state (JitOptions): the next ones take their
  /// memory, so that a step holds them once and not twice. A tensor of a parameter that the program has elsewhere, too,
  /// keeps its value. A step that fails after it began leaves neither old nor new values:
  /// reading them throws, and Module::load and Optimizer::load begin again from a file.
  bool donates = false;
};

/// Steps of an optimizer as a Jit: loss, gradients and update are built once for each set of types of a batch,
/// and later steps run that program without building a graph. Parameters, the optimizer's state, learning rate and
/// number of the step are arguments of it, so that none of them compiles anew.
///
/// Parameters and buffers that the loss reads or sets besides are those of each step, and generators, such as that of a
/// Dropout, make new seeds for each (Jit). Other tensors are those of the first step: a batch comes as an argument.
class TrainStep {
public:
  /// Of a batch: the loss first, behind it what else is to be computed with a step.
  using Loss = std::function<std::vector<Tensor>(std::span<const Tensor> batch)>;

  /// The optimizer outlives its steps.
  TrainStep(Optimizer &optimizer, Loss loss, TrainStepOptions options = {});
  TrainStep(const TrainStep &) = delete;
  TrainStep &operator=(const TrainStep &) = delete;

  /// Takes one step, and returns what the loss returned, of the parameters before it. After a failure nothing has
  /// changed. One in flight shows where anything that the step or a later one made is read, or else in the next call;
  /// then parameters, buffers and optimizer are those of the last step that was good. With `donates` their values are
  /// lost where the run had begun, and they say so when they are read.
  std::vector<Tensor> operator()(Tensors batch, Place where = Place::current()) const;
  /// How often the loss was called.
  size_t numCaptures() const { return step.numCaptures(); }

private:
  std::vector<Tensor> build(std::span<const Tensor> arguments) const;

  Optimizer &optimizer;
  Loss loss;
  TrainStepOptions options;
  Jit step;
};

} // namespace zyx::optim

#endif // ZYX_OPTIM_TRAINSTEP_H
