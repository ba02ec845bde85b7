//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_NN_TRAINING_H
#define ZYX_NN_TRAINING_H

#include "zyx/NN/Module.h"
#include "zyx/Optim/Optimizer.h"

namespace zyx::nn {

/// A model, its optimizer, and all that the next step depends on besides the data. Copies of the model that it was
/// made with are the same model.
class Training {
public:
  /// All parameters go by one rule.
  Training(Module model, optim::UpdateRule rule, Place where = Place::current());
  /// Those of the groups are trained, and no others.
  Training(Module model, std::vector<optim::Group> groups, Place where = Place::current());

  const Module &model() const { return trained; }
  optim::Optimizer &optimizer() { return steps; }

  /// Takes one step down the gradient of a loss. The model's buffers, such as the running moments of a BatchNorm, are
  /// computed in the same program.
  void minimize(const Tensor &loss, Place where = Place::current());
  /// The same by gradients that were changed on the way, in the order of optimizer().parameters().
  void step(Tensors gradients, Tensors alsoCompute = {}, Place where = Place::current());

  /// "model.<parameter or buffer>", "optimizer.<what>" and "generator.<name>". Training
  /// continues from it bit for bit.
  NamedTensors state() const;
  /// Refuses what is missing, superfluous or of another type, and then changes nothing.
  void load(const NamedTensors &state, Place where = Place::current());
  /// As a safetensors file.
  void save(const std::string &path, Place where = Place::current()) const;
  void load(const std::string &path, Place where = Place::current());

private:
  /// And the generators.
  NamedTensors joined(const NamedTensors &model, const NamedTensors &optimizer) const;

  Module trained;
  optim::Optimizer steps;
};

} // namespace zyx::nn

#endif // ZYX_NN_TRAINING_H
