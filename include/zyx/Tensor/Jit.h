//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_JIT_H
#define ZYX_TENSOR_JIT_H

#include "zyx/Tensor/Change.h"

#include <optional>

namespace zyx {

struct JitOptions {
  /// Which arguments a call gives up: the first result of an argument's type that no other one got takes its memory,
  /// and the tensor has no value from then on. Reading it, or a copy of its handle, throws an Error that names the call.
  /// An argument keeps its memory and its value where no result has its type, its memory is borrowed, another argument,
  /// a tensor by detach() or an expression that was not computed reads it, or a program has more than one device.
  std::vector<size_t> givenUp = {};
  /// Copies of the handles of such arguments that the caller has besides: where there are more, somebody else
  /// has one, and the argument keeps its value. Without a number, all copies are given up.
  std::optional<size_t> ownCopies = std::nullopt;
};

/// A function of tensors that is called once for each set of argument types, with arguments that have no
/// values; what it builds is compiled, and later calls run that on their arguments without building a
/// graph. Results are leaves. The function should depend on its arguments alone: values of other tensors
/// that it reads are those of the first call, and so are its numbers and branches. Reading the value of
/// what depends on an argument throws. Copies share what was captured; one thread at a time.
class Jit {
public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  /// A call that is refused, for which there is no memory, or which fails before its run begins, because of what that
  /// waits for, say, gives up nothing. Where the run fails later neither a result nor what it took is left, and reading
  /// either throws.
  explicit Jit(Function function, JitOptions options = {});

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
