//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Gradients and functions that are compiled as one program. Trees of arguments are taken apart in Python.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include "zyx/Tensor/DeviceView.h"

#include <utility>

using namespace zyx;
using namespace zyx::python;

namespace {

/// A tape that Python begins and ends.
struct PythonTape {
  std::unique_ptr<Tape> tape = {};
};

/// Arguments of a Function of which some lie in another library's memory, which each call has anew. With the GIL, which
/// one that runs lets go: another call meanwhile makes its own.
struct Arguments {
  std::vector<Tensor> all;
  /// Where the others' are among them.
  std::vector<size_t> slots;
  std::vector<TensorType> types;
  std::vector<Tensor> places = {};
  bool isBusy = false;
};

/// A Jit for lists of arrays. One thread calls it at a time, and one that waits for its turn has no GIL.
class Function {
public:
  Function(nb::object function, std::vector<size_t> donated)
      : jit(toFunction(std::move(function)), JitOptions{std::move(donated), std::nullopt}) {}

  /// Of a list or a tuple.
  std::vector<Array> operator()(nb::sequence arguments) {
    const Place where = here();
    std::vector<Tensor> tensors, results;
    tensors.reserve(nb::len(arguments));
    for (nb::handle argument : arguments) {
      const Array *array = instanceOf<Array>(argument);
      tensors.push_back(array ? array->value : nb::cast<const Array &>(argument).value);
    }
    {
      const Released released;
      const std::lock_guard lock(mutex);
      results = jit(tensors, where);
    }
    return arraysOf(std::move(results));
  }

  /// Of memory that begins at these addresses, dense and row-major, each its owner's, and of more arrays behind those
  /// of `arguments`. None where an element is not aligned as the device wants it.
  nb::object over(Arguments &arguments, nb::list addresses, nb::list owners, nb::sequence more) {
    // The line that calls is none of the user's.
    const Place where;
    const size_t count = arguments.slots.size();
    if (nb::len(addresses) != count || nb::len(owners) != count)
      throw nb::value_error("over: an address and an owner for each argument");
    std::vector<ForeignMemory> memory;
    memory.reserve(count);
    // One for all of them: what is kept is let go one by one, by the interpreter.
    const std::shared_ptr<const void> owner = keep(owners);
    for (size_t i = 0; i < count; ++i)
      memory.push_back({nb::cast<uint64_t>(addresses[i]), owner});
    std::vector<Tensor> all = arguments.all, results;
    for (nb::handle each : more)
      all.push_back(nb::cast<const Array &>(each).value);
    const bool isOwn = !std::exchange(arguments.isBusy, true);
    std::vector<Tensor> fresh;
    std::vector<Tensor> &places = isOwn ? arguments.places : fresh;
    bool isBound = false;
    {
      // Behind the lock of this one, which the end of it waits for.
      struct End {
        bool &isBusy;
        const bool isOwn;
        ~End() { isBusy = isBusy && !isOwn; }
      } const end{arguments.isBusy, isOwn};
      const Released released;
      if (places.empty())
        for (const TensorType &type : arguments.types)
          places.push_back(openArgument(type, where));
      isBound = bindArguments(places, memory, where);
      if (isBound) {
        struct Bound {
          std::span<const Tensor> places;
          ~Bound() { unbindArguments(places); }
        } const bound{places};
        for (size_t i = 0; i < count; ++i)
          all[arguments.slots[i]] = places[i];
        const std::lock_guard lock(mutex);
        results = jit(all, where);
      }
      all.clear();
      fresh.clear();
    }
    return isBound ? nb::cast(arraysOf(std::move(results))) : nb::none();
  }
  size_t numCaptures() const { return jit.numCaptures(); }

private:
  Jit jit;
  /// Of a function that calls itself the Jit says so.
  std::recursive_mutex mutex;
};

} // namespace

void zyx::python::bindTransforms(nb::module_ &module) {
  nb::class_<PythonTape>(module, "Tape", docOf("Tape"))
      .def(nb::init<>())
      .def(
          "__enter__",
          [](PythonTape &self) {
            self.tape = std::make_unique<Tape>(here());
            return &self;
          },
          nb::rv_policy::reference)
      .def(
          "__exit__",
          [](PythonTape &self, nb::handle, nb::handle, nb::handle) {
            self.tape.reset();
            return false;
          },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());
  nb::class_<Function>(module, "_Function")
      .def(nb::init<nb::object, std::vector<size_t>>(), nb::arg("function"), nb::arg("donated"))
      .def("__call__", [](Function &self, nb::sequence arguments) { return self(arguments); })
      .def("over", &Function::over, nb::arg("arguments"), nb::arg("addresses"), nb::arg("owners"), nb::arg("more"))
      .def_prop_ro("captures", &Function::numCaptures);
  // Arrays, and among them (dtype, shape) of what each call has anew.
  nb::class_<Arguments>(module, "_Arguments").def("__init__", [](Arguments *self, nb::sequence arrays) {
    new (self) Arguments();
    for (nb::handle each : arrays) {
      const Array *array = instanceOf<Array>(each);
      self->all.push_back(array ? array->value : Tensor());
      if (array)
        continue;
      const auto pair = nb::cast<std::pair<nb::object, Shape>>(each);
      self->slots.push_back(self->all.size() - 1);
      self->types.push_back({toDType(pair.first), pair.second});
    }
  });
  module.def("_is_capturing", &Jit::isCapturing);
  // Dtypes and shapes of a list or a tuple in one object that is soon compared; other devices are told apart by Jit.
  // None where something else is among the arrays.
  module.def("_types", [](nb::sequence arrays) -> nb::object {
    std::string key;
    for (nb::handle object : arrays) {
      const Array *array = instanceOf<Array>(object);
      if (!array)
        return nb::none();
      const TensorType &type = array->value.type();
      key += static_cast<char>(type.dtype);
      key += static_cast<char>(type.shape.size());
      key.append(reinterpret_cast<const char *>(type.shape.data()), type.shape.size() * sizeof(int64_t));
    }
    return nb::bytes(key.data(), key.size());
  });
  module.def("_as_source", [](const Array &x) {
    const Place where = here();
    const Tensor value = x.value;
    const Released released;
    return Array{asSource(value, where)};
  });
  module.def("_id", [](const Array &x) { return x.value.id(here()); });
  module.def(
      "_gradient",
      [](const Array &target, const std::vector<Array> &sources, std::optional<Array> seed, bool allowUnused) {
        const Place where = here();
        const std::vector<Tensor> tensors = tensorsOf(sources);
        GradientOptions options;
        if (seed)
          options.seed = seed->value;
        options.allowUnused = allowUnused;
        const Tensor value = target.value;
        return arraysOf(gradient(value, tensors, options, where));
      },
      nb::arg("target"), nb::arg("sources"), nb::arg("seed").none(), nb::arg("allow_unused"));
  module.def(
      "_checkpoint",
      [](nb::object function, const std::vector<Array> &inputs) {
        const std::vector<Tensor> tensors = tensorsOf(inputs);
        return arraysOf(checkpoint(toFunction(std::move(function)), tensors, here()));
      },
      nb::arg("function"), nb::arg("inputs"));
  const auto stepOf = [](nb::object body) -> LoopBody {
    return [function = toFunction(std::move(body))](const Tensor &trip, std::span<const Tensor> carried) {
      std::vector<Tensor> all = {trip};
      all.insert(all.end(), carried.begin(), carried.end());
      return function(all);
    };
  };
  module.def(
      "_loop",
      [stepOf](int64_t trips, const std::vector<Array> &initial, nb::object body) {
        return arraysOf(loop(trips, tensorsOf(initial), stepOf(std::move(body)), here()));
      },
      nb::arg("trips"), nb::arg("initial"), nb::arg("body"));
  // So often as data says.
  module.def(
      "_loop",
      [stepOf](const Array &trips, const std::vector<Array> &initial, nb::object body) {
        const Tensor count = trips.value;
        return arraysOf(loop(count, tensorsOf(initial), stepOf(std::move(body)), here()));
      },
      nb::arg("trips"), nb::arg("initial"), nb::arg("body"));
  module.def(
      "_while_loop",
      [stepOf](const std::vector<Array> &initial, nb::object condition, nb::object body) {
        const auto isLeft = [function = toFunction(std::move(condition))](std::span<const Tensor> carried) {
          return function(carried).at(0);
        };
        return arraysOf(whileLoop(tensorsOf(initial), isLeft, stepOf(std::move(body)), here()));
      },
      nb::arg("initial"), nb::arg("condition"), nb::arg("body"));
  module.def(
      "_cond",
      [](const Array &condition, const std::vector<Array> &operands, nb::object then, nb::object otherwise) {
        const Tensor chooser = condition.value;
        return arraysOf(
            cond(chooser, tensorsOf(operands), toFunction(std::move(then)), toFunction(std::move(otherwise)), here()));
      },
      nb::arg("condition"), nb::arg("operands"), nb::arg("then"), nb::arg("otherwise"));
  module.def(
      "_choose",
      [](const Array &index, const std::vector<Array> &operands, nb::list functions) {
        std::vector<Branch> branches;
        for (nb::handle function : functions)
          branches.push_back(toFunction(nb::borrow(function)));
        const Tensor chooser = index.value;
        return arraysOf(choose(chooser, tensorsOf(operands), branches, here()));
      },
      nb::arg("index"), nb::arg("operands"), nb::arg("branches"));
}
