//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_JIT_H
#define ZYX_TENSOR_JIT_H

#include "zyx/Tensor/Change.h"

namespace zyx {

/// A function of tensors that is called once for each set of argument types, with arguments that have no
/// values; what it builds is compiled, and later calls run that on their arguments without building a
/// graph. Results are leaves. The function should depend on its arguments alone: values of other tensors
/// that it reads are those of the first call, and so are its numbers and branches. Reading the value of
/// what depends on an argument throws. Copies share what was captured; one thread at a time.
class Jit {
public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  explicit Jit(Function function);

  /// Computes the arguments, where they are not, and the results. All are of one context; without
  /// arguments it is the current one.
  std::vector<Tensor> operator()(std::span<const Tensor> arguments, Place where = Place::current()) const;
  std::vector<Tensor> operator()(const std::vector<Tensor> &arguments, Place where = Place::current()) const {
    return (*this)(std::span<const Tensor>(arguments), where);
  }
  /// What the results replace is kept until the run is known to have succeeded.
  std::vector<Tensor> operator()(std::span<const Tensor> arguments, const Change &change,
                                 Place where = Place::current()) const;
  /// How often the function was called: once for each set of argument types and context.
  size_t numCaptures() const;

private:
  std::vector<Tensor> call(std::span<const Tensor> arguments, const Change *change, const Place &where) const;
  struct Contents;
  std::shared_ptr<Contents> contents;
};

} // namespace zyx

#endif // ZYX_TENSOR_JIT_H
