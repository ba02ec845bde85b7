//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What parameters and generators are to a thread that calls a function of the user to see what it builds.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_CAPTURE_H
#define ZYX_LIB_TENSOR_CAPTURE_H

#include "zyx/Tensor/Parameter.h"
#include "zyx/Tensor/Random.h"

#include <unordered_map>

namespace zyx::detail {

class State;

/// What a parameter holds. Its first value may be made when it is first read.
struct ParameterPlace {
  explicit ParameterPlace(Tensor first);
  ParameterPlace(Initial first, Context context, std::string device);

  /// Makes the first value where that was not done.
  Versioned<Tensor> &versioned();
  TensorType typeNow() const;
  /// Where the first value was not made, where it would be.
  std::string deviceNow() const;
  void set(Tensor next, const PendingUpdate *pending);

  const Context context;

private:
  friend class zyx::Parameter;
  mutable std::mutex mutex;
  TensorType type;
  std::string device;
  /// None where the value is there.
  std::function<Tensor()> make;
  Versioned<Tensor> value;
};

/// While it lives, parameters are something else to its thread; other threads do not see that.
class ParameterScope {
public:
  enum class Kind {
    /// Some parameters hold other tensors (ParameterOverride).
    Replacing,
    /// Each parameter that is read is an argument of the function, and what is set is a result of it.
    Capturing,
    /// Each trip of a loop would set the same one.
    Body,
  };
  struct Entry {
    Parameter parameter;
    /// What it is at the beginning, and now.
    Tensor first, now;
    bool isSet = false;
    /// It is the tensor itself that was there, and no argument: what that is made of takes fewer bytes than its value
    /// would.
    bool isInlined = false;
  };
  /// A seed that a generator makes anew for each call.
  struct Seed {
    std::shared_ptr<Generator::Numbers> generator;
    Tensor placeholder;
  };

  ParameterScope(Kind kind, std::shared_ptr<State> state = nullptr);
  ~ParameterScope();
  ParameterScope(const ParameterScope &) = delete;
  ParameterScope &operator=(const ParameterScope &) = delete;

  /// Of this thread; none where it captures nothing.
  static ParameterScope *innermost();
  /// That of the function of a Jit around what this thread does, or none: there is no body of a loop between.
  static ParameterScope *capturing();
  /// What it is to this thread, or nothing where that is its value.
  static std::optional<Tensor> read(const Parameter &parameter, const Place &where);
  /// Whether it was set for this thread alone.
  static bool set(const Parameter &parameter, const Tensor &next, const Place &where);

  /// Takes no lock.
  static const Context &contextOf(const Parameter &parameter) { return parameter.place->context; }
  void replace(const Parameter &parameter, Tensor by);
  /// A seed without a value, which lies on the current device.
  Tensor addSeed(const Place &where);

  std::vector<Entry> entries;
  std::vector<Seed> seeds;
  std::vector<std::function<bool()>> assumptions;
  /// The handles of tensors that are no arguments.
  std::vector<std::weak_ptr<const void>> inlines;

private:
  Entry *find(const Parameter &parameter);
  /// Of a scope that captures: none where the parameter is of another context.
  Entry *findOrAdd(const Parameter &parameter, const Place &where);

  const Kind kind;
  const std::shared_ptr<State> state;
  ParameterScope *const outer;
  std::unordered_map<const ParameterPlace *, size_t> numbers;
};

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_CAPTURE_H
