//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_TAPE_H
#define ZYX_TENSOR_TAPE_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// While a tape lives, tensors of its context keep what they were made of even when they are realized,
/// so that they can be differentiated. Tapes may be nested and end in any order: the last one that
/// ends forgets. Gradients of tensors that were not realized need no tape, nor do those of tensors that
/// are made once more after an equal one was realized.
class Tape {
public:
  explicit Tape(Place where = Place::current()) : Tape(Context::current(where)) {}
  explicit Tape(Context context);
  ~Tape();
  Tape(const Tape &) = delete;
  Tape &operator=(const Tape &) = delete;

private:
  std::shared_ptr<detail::State> state;
};

struct GradientOptions {
  /// Weights of the target's elements, of its type; ones without a tensor.
  Tensor seed = {};
  /// A source on which the target does not depend is no error: its gradient is zeros, or none, without `materialize`.
  bool allowUnused = false;
  bool materialize = true;
};

/// The gradient of the sum of `target`'s elements with respect to each source, of its type. Gradients are ordinary
/// tensors. The rules are in docs/gradients.md. Throws where the target is no float, an op has no rule, a source is
/// made of constants alone, the target is none of the sources and has forgotten what it was made of, a float source has
/// no part in the target (GradientOptions::allowUnused), or has one through the result of a Jit, whose inside is not
/// known.
std::vector<Tensor> gradient(const Tensor &target, Tensors sources, Place where = Place::current());
/// The same weighted by `seed`.
std::vector<Tensor> gradient(const Tensor &target, Tensors sources, const Tensor &seed, Place where = Place::current());
std::vector<Tensor> gradient(const Tensor &target, Tensors sources, const GradientOptions &options,
                             Place where = Place::current());

/// The same floats as another node, for a function of whose result a gradient with respect to this argument alone is
/// asked: what was made of `x` elsewhere is no part of it. Gradients go on through it to `x`, unless that is made of
/// constants alone, of which a leaf is made.
Tensor asSource(const Tensor &x, Place where = Place::current());

/// What a function makes of tensors, as a checkpoint: a gradient through it keeps the inputs, and what else the
/// function reads, and computes all that lies between them and the results again. So a step needs less memory and more
/// time; its values are the same, and so are random numbers, which follow from their seeds. A checkpoint may lie in
/// another one. Results that do not depend on the inputs are what the function returned.
std::vector<Tensor> checkpoint(const std::function<std::vector<Tensor>(std::span<const Tensor>)> &function,
                               Tensors inputs, Place where = Place::current());
Tensor checkpoint(const std::function<Tensor(const Tensor &)> &function, const Tensor &input,
                  Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_TAPE_H
