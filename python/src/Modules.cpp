//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Parameters, modules, optimizers and files of tensors. How attributes become children is in the package's Python.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include "zyx/Base/Forked.h"
#include "zyx/NN/Gguf.h"
#include "zyx/Tensor/Files.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>

#include <atomic>
#include <filesystem>
#include <mutex>

using namespace zyx;
using namespace zyx::python;

namespace {

/// A module of the user's declares what C++ declares in constructors.
class OpenModule : public nn::Module {
public:
  static Parameter declareBuffer(nn::Module &module, std::string name, const Tensor &first, Place where) {
    constexpr auto add =
        static_cast<Parameter (nn::Module::*)(std::string, const Tensor &, Place)>(&OpenModule::addBuffer);
    return (module.*add)(std::move(name), first, where);
  }
  static Parameter putParameter(nn::Module &module, std::string name, const Tensor &first, Place where) {
    constexpr auto put = static_cast<Parameter (nn::Module::*)(std::string, const Tensor &, Place)>(&OpenModule::put);
    return (module.*put)(std::move(name), first, where);
  }
  static void putModule(nn::Module &module, std::string name, const nn::Module &child, Place where) {
    constexpr auto put = static_cast<void (nn::Module::*)(std::string, const nn::Module &, Place)>(&OpenModule::put);
    (module.*put)(std::move(name), child, where);
  }
  static void declarePlace(nn::Module &module, std::string name, const Parameter &place, bool isBuffer, Place where) {
    constexpr auto put =
        static_cast<void (nn::Module::*)(std::string, const Parameter &, bool, Place)>(&OpenModule::putPlace);
    (module.*put)(std::move(name), place, isBuffer, where);
  }
  static void forget(nn::Module &module, const std::string &name) {
    constexpr auto remove = static_cast<void (nn::Module::*)(const std::string &)>(&OpenModule::remove);
    (module.*remove)(name);
  }
  static void adopt(nn::Module &module, std::string name, const nn::Module &child, Place where) {
    constexpr auto add =
        static_cast<nn::Module (nn::Module::*)(std::string, nn::Module, Place)>(&OpenModule::add<nn::Module>);
    (module.*add)(std::move(name), child, where);
  }
};

std::map<std::string, Array> arraysByName(const NamedTensors &tensors) {
  std::map<std::string, Array> arrays;
  for (const auto &[name, tensor] : tensors)
    arrays[name] = {tensor};
  return arrays;
}
NamedTensors tensorsByName(const std::map<std::string, Array> &arrays) {
  NamedTensors tensors;
  for (const auto &[name, array] : arrays)
    tensors[name] = array.value;
  return tensors;
}

nn::LoadOptions loadOptions(bool strict, nb::object dtype, bool assign) {
  nn::LoadOptions options;
  options.strict = strict;
  if (!dtype.is_none())
    options.dtype = toDType(dtype);
  options.assign = assign;
  return options;
}
nb::object reportOf(const nn::LoadReport &report) { return nb::make_tuple(report.missing, report.superfluous); }

std::vector<std::pair<std::string, Parameter>> pairsOf(const Parameters &parameters) {
  std::vector<std::pair<std::string, Parameter>> pairs;
  for (const NamedParameter &each : parameters)
    pairs.emplace_back(each.name, each.parameter);
  return pairs;
}

/// What a layer was made with, of which copies are made: its values and the numbers behind them are copied besides, so
/// that any InitRng will do.
void keepArguments(nb::handle self, std::initializer_list<std::pair<const char *, nb::object>> arguments) {
  nb::dict kept;
  for (const auto &[name, value] : arguments)
    kept[name] = value;
  // Not as an attribute of the user's class, which may have its own way to set one.
  if (PyObject_GenericSetAttr(self.ptr(), nb::str("_arguments").ptr(), kept.ptr()) != 0)
    throw nb::python_error();
}

/// A layer that is called with one array.
template <typename Layer>
nb::class_<Layer, nn::Module> bindLayer(nb::module_ &module, const char *name, const char *text) {
  return nb::class_<Layer, nn::Module>(module, name, text)
      .def(
          "__call__",
          [](const Layer &self, const Array &x) {
            const Tensor value = x.value;
            return Array{self(value, here())};
          },
          nb::arg("x"));
}

/// Texts of a file, which need not be UTF-8.
nb::object textOf(const std::string &bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

/// A value of a file's metadata as Python has it.
nb::object toObject(const io::GgufValue &value) {
  return std::visit(
      []<typename T>(const T &it) -> nb::object {
        if constexpr (std::is_same_v<T, std::string>)
          return textOf(it);
        else if constexpr (requires { typename T::value_type; }) {
          nb::list list;
          for (const auto &each : it)
            if constexpr (std::is_same_v<T, std::vector<io::GgufValue>>)
              list.append(toObject(each));
            else if constexpr (std::is_same_v<T, std::vector<std::string>>)
              list.append(textOf(each));
            else
              list.append(nb::cast(static_cast<typename T::value_type>(each)));
          return list;
        } else
          return nb::cast(it);
      },
      value.value);
}

BlockFormat blockFormatOf(const std::string &name) {
  for (int i = 0; i < numBlockFormats; ++i)
    if (toString(static_cast<BlockFormat>(i)) == name)
      return static_cast<BlockFormat>(i);
  throw nb::value_error(("'" + name + "' is no format of blocks").c_str());
}

/// An optimizer of which one thread takes a step at a time. One that waits for its turn has no GIL.
class SharedOptimizer {
public:
  SharedOptimizer(const nn::Module &model, const optim::UpdateRule &rule, const Place &where)
      : optimizer(model, rule, where), rate(optimizer.learningRate()) {}

  template <typename F> auto alone(const Place &where, F &&function) {
    const Released released;
    // Who holds the lock may not be there in a child.
    throwIfError(mark.check(), where);
    const std::lock_guard lock(mutex);
    return function(optimizer);
  }
  /// Without that lock: the function of a loss asks, which another thread may call under a lock of its own.
  double learningRate() const { return rate; }
  void setLearningRate(double next, const Place &where) {
    alone(where, [&](optim::Optimizer &own) {
      own.setLearningRate(next);
      rate = next;
    });
  }
  void load(const NamedTensors &state, const Place &where) {
    alone(where, [&](optim::Optimizer &own) {
      own.load(state, where);
      rate = own.learningRate();
    });
  }

  optim::Optimizer optimizer;

private:
  const ForkMark mark;
  /// What a step calls may take another one, of which the library says what it is.
  std::recursive_mutex mutex;
  std::atomic<double> rate;
};

/// One thread takes a step at a time, and no other one of its optimizer meanwhile.
struct SharedTrainStep {
  SharedOptimizer &optimizer;
  optim::TrainStep step;
};

Dims windowOf(std::vector<int64_t> window) { return Dims(std::move(window)); }

} // namespace

static void bindParameter(nb::module_ &module) {
  nb::class_<Parameter>(module, "Parameter", docOf("Parameter"))
      .def(
          "__init__",
          [](Parameter *self, const Array &first) {
            const Place where = here();
            const Tensor value = first.value;
            const Released released;
            new (self) Parameter(value, where);
          },
          nb::arg("value"))
      .def_prop_rw(
          "value", [](const Parameter &self) { return Array{self.value(here())}; },
          [](const Parameter &self, const Array &next) {
            const Place where = here();
            const Tensor value = next.value;
            const Released released;
            self.set(value, where);
          },
          "The array that is there now. One that is set is computed, and has the type of the one before.")
      .def(
          "set_later", [](const Parameter &self, const Array &next) { self.setLater(next.value, here()); },
          "Sets it without computing it: a step of an optimizer, or who reads it, does.", nb::arg("value"))
      .def_prop_ro(
          "shape",
          [](const Parameter &self) {
            nb::list extents;
            for (const int64_t extent : self.type(here()).shape)
              extents.append(extent);
            return nb::tuple(extents);
          },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype", [](const Parameter &self) { return toPython(self.type(here()).dtype); },
          nb::sig("def dtype(self) -> DType"))
      .def_prop_ro("device", [](const Parameter &self) { return self.device(here()); })
      .def("_is_same", [](const Parameter &self, const Parameter &other) { return self == other; });
  nb::implicitly_convertible<Parameter, Array>();
}

static void bindModule(nb::module_ &module) {
  nb::class_<nn::InitRng>(module, "InitRng", docOf("InitRng")).def(nb::init<uint64_t>(), nb::arg("seed"));
  nb::class_<nn::Module>(module, "_Module", nb::dynamic_attr())
      .def(nb::init<>())
      .def("_add_buffer",
           [](nn::Module &self, std::string name, const Array &first) {
             const Place where = here();
             const Tensor value = first.value;
             const Released released;
             return OpenModule::declareBuffer(self, std::move(name), value, where);
           })
      .def("_put_parameter",
           [](nn::Module &self, std::string name, const Array &first) {
             const Place where = here();
             const Tensor value = first.value;
             const Released released;
             return OpenModule::putParameter(self, std::move(name), value, where);
           })
      .def("_put_module", [](nn::Module &self, std::string name,
                             const nn::Module &child) { OpenModule::putModule(self, std::move(name), child, here()); })
      .def("_put_place",
           [](nn::Module &self, std::string name, const Parameter &place, bool isBuffer) {
             OpenModule::declarePlace(self, std::move(name), place, isBuffer, here());
           })
      .def("_names", &nn::Module::names)
      .def("_generators",
           [](const nn::Module &self) {
             std::map<std::string, std::array<uint64_t, 2>> states;
             for (const auto &[name, generator] : self.generators())
               states[name] = generator->state();
             return states;
           })
      .def("_restore",
           [](nn::Module &self, const std::map<std::string, Array> &values,
              const std::map<std::string, std::array<uint64_t, 2>> &generators) {
             const Place where = here();
             const NamedTensors tensors = tensorsByName(values);
             const Released released;
             const auto find = [&](const auto &all, const std::string &name) {
               const auto found = all.find(name);
               if (found == all.end())
                 throw Error(Status::invalidArgument("module: its pickle has nothing of the name '" + name + "'"),
                             where);
               return found->second;
             };
             for (const Parameters &all : {self.parameters(), self.buffers()})
               for (const NamedParameter &named : all)
                 named.parameter.reset(find(tensors, named.name), where);
             for (const auto &[name, generator] : self.generators())
               generator->restore(find(generators, name));
           })
      .def("_remove", [](nn::Module &self, const std::string &name) { OpenModule::forget(self, name); })
      .def("_adopt", [](nn::Module &self, std::string name,
                        const nn::Module &child) { OpenModule::adopt(self, std::move(name), child, here()); })
      .def(
          "named_parameters", [](const nn::Module &self) { return pairsOf(self.parameters()); },
          "Names and parameters: its own first, then those of its children, by dotted names.")
      .def(
          "named_buffers", [](const nn::Module &self) { return pairsOf(self.buffers()); },
          "Names and values that a module keeps besides, and no optimizer moves.")
      .def(
          "state", [](const nn::Module &self) { return arraysByName(self.state()); },
          "Values of parameters and buffers by their names.")
      .def(
          "load_state",
          [](nn::Module &self, const std::map<std::string, Array> &state, bool strict, nb::object dtype, bool assign) {
            const Place where = here();
            const nn::LoadOptions options = loadOptions(strict, dtype, assign);
            const NamedTensors tensors = tensorsByName(state);
            nn::LoadReport report;
            {
              const Released released;
              report = self.load(tensors, options, where);
            }
            return reportOf(report);
          },
          "Takes values by name, or refuses all that does not fit and changes nothing. Returns the names that are "
          "missing,\n"
          "and those that are superfluous.",
          nb::arg("state"), nb::kw_only(), nb::arg("strict") = true, nb::arg("dtype").none() = nb::none(),
          nb::arg("assign") = false)
      .def(
          "load",
          [](nn::Module &self, const std::filesystem::path &path, bool strict, nb::object dtype) {
            const Place where = here();
            const nn::LoadOptions options = loadOptions(strict, dtype, false);
            nn::LoadReport report;
            {
              const Released released;
              report = self.load(path.string(), options, where);
            }
            return reportOf(report);
          },
          "From a safetensors file, an index of several, or a folder that has either.", nb::arg("path"), nb::kw_only(),
          nb::arg("strict") = true, nb::arg("dtype").none() = nb::none())
      .def(
          "save",
          [](const nn::Module &self, const std::filesystem::path &path) {
            const Place where = here();
            const Released released;
            self.save(path.string(), where);
          },
          "To a safetensors file.", nb::arg("path"))
      .def(
          "to",
          [](nn::Module &self, nb::object dtype) {
            const Place where = here();
            const DType type = toDType(dtype);
            const Released released;
            self.to(type, where);
          },
          "All parameters and buffers of floats become of this dtype.", nb::arg("dtype"))
      .def(
          "train", [](nn::Module &self, bool on) { self.train(on); },
          "Whether this module and all below it are in training, as they begin.", nb::arg("on") = true)
      .def(
          "eval", [](nn::Module &self) { self.eval(); }, "train(False).")
      .def_prop_ro("is_training", [](const nn::Module &self) { return self.isTraining(); });
}

static void bindLayers(nb::module_ &module) {
  using nn::InitRng;
  bindLayer<nn::Linear>(module, "_Linear", docOf("Linear"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Linear> self, int64_t in, int64_t out, InitRng &rng, bool hasBias) {
            new (self.p) nn::Linear(in, out, rng, hasBias, here());
            keepArguments(self.h, {{"inputs", nb::cast(in)},
                                   {"outputs", nb::cast(out)},
                                   {"rng", nb::none()},
                                   {"bias", nb::cast(hasBias)}});
          },
          nb::arg("inputs"), nb::arg("outputs"), nb::arg("rng"), nb::arg("bias") = true)
      .def_ro("weight", &nn::Linear::weight)
      .def_ro("bias", &nn::Linear::bias);
  bindLayer<nn::Embedding>(module, "_Embedding", docOf("Embedding"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Embedding> self, int64_t rows, int64_t width, InitRng &rng) {
            new (self.p) nn::Embedding(rows, width, rng, here());
            keepArguments(self.h, {{"rows", nb::cast(rows)}, {"width", nb::cast(width)}, {"rng", nb::none()}});
          },
          nb::arg("rows"), nb::arg("width"), nb::arg("rng"))
      .def_ro("weight", &nn::Embedding::weight);
  bindLayer<nn::Dropout>(module, "_Dropout", docOf("Dropout"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Dropout> self, double probability, uint64_t seed) {
            new (self.p) nn::Dropout(probability, seed, here());
            keepArguments(self.h, {{"probability", nb::cast(probability)}, {"seed", nb::cast(seed)}});
          },
          nb::arg("probability"), nb::arg("seed"));
  bindLayer<nn::Mlp>(module, "_Mlp", docOf("Mlp"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Mlp> self, int64_t width, int64_t hidden, InitRng &rng) {
            new (self.p) nn::Mlp(width, hidden, rng, here());
            keepArguments(self.h, {{"width", nb::cast(width)}, {"hidden", nb::cast(hidden)}, {"rng", nb::none()}});
          },
          nb::arg("width"), nb::arg("hidden"), nb::arg("rng"));
  bindLayer<nn::LayerNorm>(module, "_LayerNorm", docOf("LayerNorm"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::LayerNorm> self, int64_t width, double epsilon) {
            new (self.p) nn::LayerNorm(width, epsilon, here());
            keepArguments(self.h, {{"width", nb::cast(width)}, {"epsilon", nb::cast(epsilon)}});
          },
          nb::arg("width"), nb::arg("epsilon") = 1e-5)
      .def_ro("weight", &nn::LayerNorm::weight)
      .def_ro("bias", &nn::LayerNorm::bias);
  bindLayer<nn::RmsNorm>(module, "_RmsNorm", docOf("RmsNorm"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::RmsNorm> self, int64_t width, double epsilon) {
            new (self.p) nn::RmsNorm(width, epsilon, here());
            keepArguments(self.h, {{"width", nb::cast(width)}, {"epsilon", nb::cast(epsilon)}});
          },
          nb::arg("width"), nb::arg("epsilon") = 1e-6)
      .def_ro("weight", &nn::RmsNorm::weight);
  bindLayer<nn::GroupNorm>(module, "_GroupNorm", docOf("GroupNorm"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::GroupNorm> self, int64_t groups, int64_t channels, double epsilon) {
            new (self.p) nn::GroupNorm(groups, channels, epsilon, here());
            keepArguments(
                self.h,
                {{"groups", nb::cast(groups)}, {"channels", nb::cast(channels)}, {"epsilon", nb::cast(epsilon)}});
          },
          nb::arg("groups"), nb::arg("channels"), nb::arg("epsilon") = 1e-5)
      .def_ro("weight", &nn::GroupNorm::weight)
      .def_ro("bias", &nn::GroupNorm::bias);
  bindLayer<nn::BatchNorm>(module, "_BatchNorm", docOf("BatchNorm"))
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::BatchNorm> self, int64_t channels, double epsilon, double momentum) {
            new (self.p) nn::BatchNorm(channels, epsilon, momentum, here());
            keepArguments(
                self.h,
                {{"channels", nb::cast(channels)}, {"epsilon", nb::cast(epsilon)}, {"momentum", nb::cast(momentum)}});
          },
          nb::arg("channels"), nb::arg("epsilon") = 1e-5, nb::arg("momentum") = 0.1)
      .def_ro("weight", &nn::BatchNorm::weight)
      .def_ro("bias", &nn::BatchNorm::bias)
      .def_ro("running_mean", &nn::BatchNorm::runningMean)
      .def_ro("running_var", &nn::BatchNorm::runningVar);
  bindLayer<nn::Convolution>(module, "_Convolution", "Along one to three dimensions: [batch, channels, ...].")
      .def(
          "__init__",
          [](nb::pointer_and_handle<nn::Convolution> self, int64_t in, int64_t out, std::vector<int64_t> window,
             InitRng &rng, std::vector<int64_t> stride, std::vector<int64_t> padding, std::vector<int64_t> dilation,
             int64_t groups, bool hasBias) {
            keepArguments(self.h, {{"inputs", nb::cast(in)},
                                   {"outputs", nb::cast(out)},
                                   {"window", nb::cast(window)},
                                   {"rng", nb::none()},
                                   {"stride", nb::cast(stride)},
                                   {"padding", nb::cast(padding)},
                                   {"dilation", nb::cast(dilation)},
                                   {"groups", nb::cast(groups)},
                                   {"bias", nb::cast(hasBias)}});
            ConvolutionOptions options;
            options.stride = windowOf(std::move(stride));
            options.padding = windowOf(std::move(padding));
            options.dilation = windowOf(std::move(dilation));
            options.groups = groups;
            new (self.p) nn::Convolution(in, out, windowOf(std::move(window)), rng, options, hasBias, here());
          },
          nb::arg("inputs"), nb::arg("outputs"), nb::arg("window"), nb::arg("rng"), nb::arg("stride"),
          nb::arg("padding"), nb::arg("dilation"), nb::arg("groups") = 1, nb::arg("bias") = true)
      .def_ro("weight", &nn::Convolution::weight)
      .def_ro("bias", &nn::Convolution::bias);
  const auto bindRecurrent = [&]<typename Layer>(Layer *, const char *name) {
    bindLayer<Layer>(module, name, docOf(name + 1))
        .def(
            "__init__",
            [](nb::pointer_and_handle<Layer> self, int64_t in, int64_t hidden, InitRng &rng) {
              new (self.p) Layer(in, hidden, rng, here());
              keepArguments(self.h, {{"inputs", nb::cast(in)}, {"hidden", nb::cast(hidden)}, {"rng", nb::none()}});
            },
            nb::arg("inputs"), nb::arg("hidden"), nb::arg("rng"));
  };
  bindRecurrent(static_cast<nn::Rnn *>(nullptr), "_Rnn");
  bindRecurrent(static_cast<nn::Gru *>(nullptr), "_Gru");
  bindRecurrent(static_cast<nn::Lstm *>(nullptr), "_Lstm");
  const auto attention = [](int64_t heads, int64_t kvHeads, bool causal, bool hasBias, bool rotary) {
    nn::AttentionOptions options;
    options.heads = heads;
    options.kvHeads = kvHeads;
    options.causal = causal;
    options.hasBias = hasBias;
    options.rotary = rotary;
    return options;
  };
  const auto keepAttention = [](nb::handle self, int64_t width, int64_t heads, int64_t kvHeads, bool causal,
                                bool hasBias, bool rotary) {
    keepArguments(self, {{"width", nb::cast(width)},
                         {"heads", nb::cast(heads)},
                         {"rng", nb::none()},
                         {"kv_heads", nb::cast(kvHeads)},
                         {"causal", nb::cast(causal)},
                         {"bias", nb::cast(hasBias)},
                         {"rotary", nb::cast(rotary)}});
  };
  nb::class_<nn::MultiheadAttention, nn::Module>(module, "_MultiheadAttention", docOf("MultiheadAttention"))
      .def(
          "__init__",
          [attention, keepAttention](nb::pointer_and_handle<nn::MultiheadAttention> self, int64_t width, int64_t heads,
                                     InitRng &rng, int64_t kvHeads, bool causal, bool hasBias, bool rotary) {
            new (self.p) nn::MultiheadAttention(width, attention(heads, kvHeads, causal, hasBias, rotary), rng, here());
            keepAttention(self.h, width, heads, kvHeads, causal, hasBias, rotary);
          },
          nb::arg("width"), nb::arg("heads"), nb::arg("rng"), nb::arg("kv_heads") = 0, nb::arg("causal") = false,
          nb::arg("bias") = true, nb::arg("rotary") = false)
      .def(
          "__call__",
          [](const nn::MultiheadAttention &self, const Array &x, std::optional<Array> memory,
             std::optional<Array> mask) {
            const Tensor value = x.value;
            return Array{self(value, memory ? memory->value : value, mask ? mask->value : Tensor(), here())};
          },
          nb::arg("x"), nb::arg("memory").none() = nb::none(), nb::arg("mask").none() = nb::none());
  nb::class_<nn::TransformerBlock, nn::Module>(module, "_TransformerBlock", docOf("TransformerBlock"))
      .def(
          "__init__",
          [attention, keepAttention](nb::pointer_and_handle<nn::TransformerBlock> self, int64_t width, int64_t heads,
                                     InitRng &rng, int64_t kvHeads, bool causal, bool hasBias, bool rotary) {
            new (self.p) nn::TransformerBlock(width, attention(heads, kvHeads, causal, hasBias, rotary), rng, here());
            keepAttention(self.h, width, heads, kvHeads, causal, hasBias, rotary);
          },
          nb::arg("width"), nb::arg("heads"), nb::arg("rng"), nb::arg("kv_heads") = 0, nb::arg("causal") = false,
          nb::arg("bias") = true, nb::arg("rotary") = false)
      .def(
          "__call__",
          [](const nn::TransformerBlock &self, const Array &x, std::optional<Array> mask) {
            const Tensor value = x.value;
            return Array{self(value, mask ? mask->value : Tensor(), here())};
          },
          nb::arg("x"), nb::arg("mask").none() = nb::none());
}

static void bindFiles(nb::module_ &module) {
  module.def(
      "load",
      [](const std::filesystem::path &path, bool map) {
        const Place where = here();
        NamedTensors tensors;
        {
          const Released released;
          tensors = map ? nn::mapTensors(path.string(), where) : nn::loadTensors(path.string(), where);
        }
        return arraysByName(tensors);
      },
      docOf("load"), nb::arg("path"), nb::kw_only(), nb::arg("map") = false);
  module.def(
      "save",
      [](const std::filesystem::path &path, const std::map<std::string, Array> &arrays) {
        const Place where = here();
        const NamedTensors tensors = tensorsByName(arrays);
        const Released released;
        nn::saveTensors(path.string(), tensors, where);
      },
      docOf("save"), nb::arg("path"), nb::arg("arrays"));
}

static void bindGguf(nb::module_ &module) {
  module.def(
      "_load_gguf",
      [](const std::filesystem::path &path) {
        const Place where = here();
        std::optional<io::GgufFile> file;
        NamedTensors tensors;
        std::map<std::string, Tensor> stored;
        {
          const Released released;
          file.emplace(valueOrThrow(io::GgufFile::open(path.string()), where));
          tensors = nn::mapGguf(*file, where);
          for (const io::GgufFile::Tensor &entry : file->tensors())
            if (entry.blocks())
              stored[entry.name] =
                  fromFile(file->source(), entry.stored, entry.offset, "tensor '" + entry.name + "'", where);
        }
        nb::dict metadata, blocks;
        for (const auto &[key, value] : file->metadata())
          metadata[textOf(key)] = toObject(value);
        for (const io::GgufFile::Tensor &entry : file->tensors())
          if (const BlockFormat *format = entry.blocks())
            blocks[textOf(entry.name)] = nb::make_tuple(wrap(stored.at(entry.name)), std::string(toString(*format)));
        return nb::make_tuple(metadata, arraysByName(tensors), blocks);
      },
      "Metadata, arrays by name, and of those that are quantised the blocks as uint8 with their format.",
      nb::arg("path"));
  module.def(
      "_dequantise",
      [](const Array &blocks, const std::string &format, Shape shape) {
        return Array{dequantise(blocks.value, blockFormatOf(format), std::move(shape), here())};
      },
      nb::arg("blocks"), nb::arg("format"), nb::arg("shape"));
}

static void bindOptimizers(nb::module_ &module) {
  nb::class_<optim::UpdateRule>(module, "UpdateRule", docOf("UpdateRule"));
  module.def(
      "sgd",
      [](double rate, double momentum, double dampening, double decay, bool nesterov) {
        return optim::sgd({rate, momentum, dampening, decay, nesterov}, here());
      },
      docOf("sgd"), nb::arg("learning_rate") = 1e-3, nb::kw_only(), nb::arg("momentum") = 0., nb::arg("dampening") = 0.,
      nb::arg("weight_decay") = 0., nb::arg("nesterov") = false);
  module.def(
      "adam",
      [](double rate, double beta1, double beta2, double epsilon, double decay, bool amsgrad) {
        return optim::adam({rate, beta1, beta2, epsilon, decay, amsgrad}, here());
      },
      docOf("adam"), nb::arg("learning_rate") = 1e-3, nb::kw_only(), nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.999,
      nb::arg("epsilon") = 1e-8, nb::arg("weight_decay") = 0., nb::arg("amsgrad") = false);
  module.def(
      "adamw",
      [](double rate, double beta1, double beta2, double epsilon, double decay, bool amsgrad) {
        return optim::adamW({rate, beta1, beta2, epsilon, decay, amsgrad}, here());
      },
      docOf("adamw"), nb::arg("learning_rate") = 1e-3, nb::kw_only(), nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.999,
      nb::arg("epsilon") = 1e-8, nb::arg("weight_decay") = 0.01, nb::arg("amsgrad") = false);
  module.def(
      "rmsprop",
      [](double rate, double alpha, double epsilon, double decay, double momentum, bool centered) {
        return optim::rmsprop({rate, alpha, epsilon, decay, momentum, centered}, here());
      },
      docOf("rmsprop"), nb::arg("learning_rate") = 1e-2, nb::kw_only(), nb::arg("alpha") = 0.99,
      nb::arg("epsilon") = 1e-8, nb::arg("weight_decay") = 0., nb::arg("momentum") = 0., nb::arg("centered") = false);
  module.def(
      "lion",
      [](double rate, double beta1, double beta2, double decay) {
        return optim::lion({rate, beta1, beta2, decay}, here());
      },
      docOf("lion"), nb::arg("learning_rate") = 1e-4, nb::kw_only(), nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.99,
      nb::arg("weight_decay") = 0.);
  module.def(
      "adafactor",
      [](double rate, double decay, double floor, double clip, double weightDecay) {
        optim::AdafactorOptions options;
        options.learningRate = rate;
        options.decay = decay;
        options.floor = floor;
        options.clip = clip;
        options.weightDecay = weightDecay;
        return optim::adafactor(options, here());
      },
      docOf("adafactor"), nb::arg("learning_rate") = 1e-2, nb::kw_only(), nb::arg("decay") = -0.8,
      nb::arg("floor") = 1e-3, nb::arg("clip") = 1., nb::arg("weight_decay") = 0.);

  nb::class_<SharedOptimizer>(module, "Optimizer", docOf("Optimizer"))
      .def(
          "__init__",
          [](SharedOptimizer *self, const nn::Module &model, const optim::UpdateRule &rule) {
            new (self) SharedOptimizer(model, rule, here());
          },
          nb::arg("model"), nb::arg("rule"))
      .def(
          "minimize",
          [](SharedOptimizer &self, const Array &loss) {
            const Place where = here();
            const Tensor value = loss.value;
            self.alone(where, [&](optim::Optimizer &own) { own.minimize(value, {}, where); });
          },
          "Takes one step down the gradient of a loss, which is computed with it. A loss of values that a step has "
          "replaced\nsince, as another thread's, is refused.",
          nb::arg("loss"))
      .def(
          "step",
          [](SharedOptimizer &self, const std::vector<Array> &gradients) {
            const Place where = here();
            const std::vector<Tensor> tensors = tensorsOf(gradients);
            self.alone(where, [&](optim::Optimizer &own) { own.step(tensors, {}, where); });
          },
          "Takes one step by gradients in the order of the parameters.", nb::arg("gradients"))
      .def_prop_rw(
          "learning_rate", [](const SharedOptimizer &self) { return self.learningRate(); },
          [](SharedOptimizer &self, double rate) { self.setLearningRate(rate, here()); })
      .def_prop_ro("steps", [](const SharedOptimizer &self) { return self.optimizer.steps(here()); })
      .def_prop_ro("parameters", [](const SharedOptimizer &self) { return pairsOf(self.optimizer.parameters()); })
      .def(
          "state",
          [](SharedOptimizer &self) {
            const Place where = here();
            return arraysByName(self.alone(where, [&](optim::Optimizer &own) { return own.state(where); }));
          },
          "All that the next step depends on, but the parameters, by name.")
      .def(
          "load_state",
          [](SharedOptimizer &self, const std::map<std::string, Array> &state) {
            self.load(tensorsByName(state), here());
          },
          nb::arg("state"));
  nb::class_<SharedTrainStep>(
      module, "TrainStep",
      "A step as one program: the function of a batch, a list of arrays, is called once for each set of\n"
      "types. It returns a list whose first array is the loss.")
      .def(
          "__init__",
          [](SharedTrainStep *self, SharedOptimizer &optimizer, nb::object loss, bool donates) {
            optim::TrainStepOptions options;
            options.donates = donates;
            new (self)
                SharedTrainStep{optimizer, {optimizer.optimizer, toFunction(std::move(loss)), std::move(options)}};
          },
          nb::arg("optimizer"), nb::arg("loss"), nb::arg("donate") = false, nb::keep_alive<1, 2>())
      .def("_call", [](SharedTrainStep &self, const std::vector<Array> &batch) {
        const Place where = here();
        const std::vector<Tensor> tensors = tensorsOf(batch);
        return arraysOf(self.optimizer.alone(where, [&](optim::Optimizer &) { return self.step(tensors, where); }));
      });
  module.def(
      "_clip_by_global_norm",
      [](const std::vector<Array> &gradients, double most) {
        const std::vector<Tensor> tensors = tensorsOf(gradients);
        const optim::Clipped clipped = optim::clipByGlobalNorm(tensors, most, here());
        return std::pair(arraysOf(clipped.gradients), Array{clipped.norm});
      },
      nb::arg("gradients"), nb::arg("most"));
  module.def("step_decay", &optim::stepDecay, docOf("step_decay"), nb::arg("rate"), nb::arg("step"), nb::arg("every"),
             nb::arg("factor"));
  module.def("exponential_decay", &optim::exponentialDecay, docOf("exponential_decay"), nb::arg("rate"),
             nb::arg("step"), nb::arg("factor"));
  module.def("cosine_decay", &optim::cosineDecay, docOf("cosine_decay"), nb::arg("rate"), nb::arg("step"),
             nb::arg("total"), nb::arg("low") = 0.);
  module.def("linear_warmup", &optim::linearWarmup, docOf("linear_warmup"), nb::arg("rate"), nb::arg("step"),
             nb::arg("steps"));
}

void zyx::python::bindModules(nb::module_ &module) {
  bindParameter(module);
  bindModule(module);
  bindLayers(module);
  bindFiles(module);
  bindGguf(module);
  bindOptimizers(module);
}
