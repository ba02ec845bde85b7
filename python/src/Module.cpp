//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The extension: dtypes, exceptions, contexts, and places of programs.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include "zyx/Base/Config.h"
#include "zyx/Version.h"

#include <array>
#include <bit>
#include <mutex>
#include <unordered_map>

using namespace zyx;
using namespace zyx::python;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

/// What a std::source_location points to, as libstdc++ and libc++ have it.
struct Location {
  const char *file;
  const char *function;
  unsigned line, column;
};
static_assert(sizeof(Place) == sizeof(const Location *));

/// Whether it is so in this library: of a place that the compiler made.
bool isLocation() {
  const Place place = Place::current();
  const auto *location = std::bit_cast<const Location *>(place);
  return location && location->file == place.file_name() && location->line == place.line() &&
         location->function == place.function_name();
}

std::string &packageFolder() {
  static std::string folder;
  return folder;
}

#ifdef Py_LIMITED_API
/// Attributes, where the stable ABI has no functions; null with an exception where there is none.
PyObject *fileOf(PyFrameObject *frame) {
  PyCodeObject *code = PyFrame_GetCode(frame);
  PyObject *name = PyObject_GetAttrString(reinterpret_cast<PyObject *>(code), "co_filename");
  Py_DECREF(code);
  return name;
}

PyFrameObject *callerOf(PyFrameObject *frame) {
  PyObject *outer = PyObject_GetAttrString(reinterpret_cast<PyObject *>(frame), "f_back");
  if (!outer)
    PyErr_Clear();
  if (outer != Py_None)
    return reinterpret_cast<PyFrameObject *>(outer);
  Py_DECREF(outer);
  return nullptr;
}
#else
PyObject *fileOf(PyFrameObject *frame) {
  PyCodeObject *code = PyFrame_GetCode(frame);
  PyObject *name = code->co_filename;
  Py_INCREF(name);
  Py_DECREF(code);
  return name;
}

PyFrameObject *callerOf(PyFrameObject *frame) { return PyFrame_GetBack(frame); }
#endif

/// Places live as long as the process: a tensor, or an error, may name any of them.
const Location *locationOf(std::string_view file, unsigned line) {
  struct Files {
    std::string name;
    std::unordered_map<unsigned, Location> lines;
  };
  static auto *files = new std::unordered_map<std::string_view, std::unique_ptr<Files>>;
  auto found = files->find(file);
  if (found == files->end()) {
    auto made = std::make_unique<Files>(Files{std::string(file), {}});
    const std::string_view key = made->name;
    found = files->emplace(key, std::move(made)).first;
  }
  return &found->second->lines.try_emplace(line, Location{found->second->name.c_str(), "", line, 0}).first->second;
}

} // namespace

void zyx::python::setPackageFolder(std::string folder) { packageFolder() = std::move(folder); }

Place zyx::python::here() {
  static const bool isKnown = isLocation();
  if (!isKnown)
    return Place();
  PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyObject *const named = fileOf(frame);
    Py_ssize_t size = 0;
    const char *name = named ? PyUnicode_AsUTF8AndSize(named, &size) : nullptr;
    if (!name)
      PyErr_Clear();
    const std::string_view file = name ? std::string_view(name, size) : "";
    const std::string &own = packageFolder();
    if (own.empty() || !file.starts_with(own)) {
      const Location *location = locationOf(file, PyFrame_GetLineNumber(frame));
      Py_XDECREF(named);
      Py_DECREF(frame);
      return std::bit_cast<Place>(location);
    }
    Py_XDECREF(named);
    PyFrameObject *outer = callerOf(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  return Place();
}

//===----------------------------------------------------------------------===//
// Dtypes
//===----------------------------------------------------------------------===//

namespace {

struct Name {
  DType dtype;
  const char *python;
};
constexpr std::array<Name, numDTypes> names = {{{DType::Bool, "bool"},
                                                {DType::I8, "int8"},
                                                {DType::I16, "int16"},
                                                {DType::I32, "int32"},
                                                {DType::I64, "int64"},
                                                {DType::U8, "uint8"},
                                                {DType::U16, "uint16"},
                                                {DType::U32, "uint32"},
                                                {DType::U64, "uint64"},
                                                {DType::F16, "float16"},
                                                {DType::BF16, "bfloat16"},
                                                {DType::F32, "float32"},
                                                {DType::F64, "float64"},
                                                {DType::F8E4M3FN, "float8_e4m3fn"},
                                                {DType::F8E5M2, "float8_e5m2"}}};

const char *nameOf(DType dtype) { return names[static_cast<size_t>(dtype)].python; }

/// One object for each, for ever.
std::array<PyObject *, numDTypes> &dtypeObjects() {
  static std::array<PyObject *, numDTypes> objects = {};
  return objects;
}

} // namespace

nb::object zyx::python::toPython(DType dtype) { return nb::borrow(dtypeObjects()[static_cast<size_t>(dtype)]); }

DType zyx::python::toDType(nb::handle object) {
  if (const auto *own = instanceOf<DTypeObject>(object))
    return own->dtype;
  if (nb::isinstance<nb::str>(object)) {
    const auto text = nb::cast<std::string>(object);
    for (const Name &name : names)
      if (text == name.python)
        return name.dtype;
    if (const auto dtype = parseDType(text))
      return *dtype;
    throw nb::type_error(("zyx has no dtype '" + text + "'").c_str());
  }
  throw nb::type_error(
      ("a dtype of zyx is needed, such as zyx.float32, not " + nb::cast<std::string>(nb::repr(object))).c_str());
}

static void bindDTypes(nb::module_ &module) {
  nb::class_<DTypeObject>(module, "DType", docOf("DType"))
      .def("__repr__", [](const DTypeObject &self) { return "zyx." + std::string(nameOf(self.dtype)); })
      .def_prop_ro("name", [](const DTypeObject &self) { return nameOf(self.dtype); })
      .def_prop_ro(
          "itemsize", [](const DTypeObject &self) { return byteSize(self.dtype); }, "Bytes of an element.")
      .def_prop_ro("is_float", [](const DTypeObject &self) { return isFloat(self.dtype); })
      .def_prop_ro("is_signed", [](const DTypeObject &self) { return isSignedInteger(self.dtype); })
      .def_prop_ro("is_unsigned", [](const DTypeObject &self) { return isUnsignedInteger(self.dtype); });
  for (const Name &name : names) {
    nb::object object = nb::cast(DTypeObject{name.dtype});
    module.attr(name.dtype == DType::Bool ? "bool" : name.python) = object;
    dtypeObjects()[static_cast<size_t>(name.dtype)] = object.release().ptr();
  }
  module.def("_dtype", [](nb::handle object) { return toPython(toDType(object)); });
}

//===----------------------------------------------------------------------===//
// Exceptions
//===----------------------------------------------------------------------===//

/// Classes that are kept for ever, as exceptions may come at any time.
namespace {
PyObject *errorClass, *argumentClass, *unsupportedClass, *memoryClass;
}

bool zyx::python::setException(const Error &error) {
  if (raiseInterruption(error.code()))
    return true;
  PyObject *type = error.code() == ErrorCode::InvalidArgument ? argumentClass
                   : error.code() == ErrorCode::Unsupported   ? unsupportedClass
                   : error.code() == ErrorCode::OutOfMemory   ? memoryClass
                                                              : errorClass;
  PyErr_SetString(type, error.what());
  return false;
}

static PyObject *addException(nb::module_ &module, const char *name, nb::handle bases, const char *text) {
  PyObject *made = PyErr_NewExceptionWithDoc((std::string("zyx.") + name).c_str(), text, bases.ptr(), nullptr);
  if (!made)
    throw nb::python_error();
  module.attr(name) = nb::borrow(made);
  return made;
}

static void bindExceptions(nb::module_ &module) {
  errorClass = addException(module, "Error", nb::handle(PyExc_Exception), docOf("Error"));
  const auto both = [](PyObject *other) { return nb::make_tuple(nb::handle(errorClass), nb::handle(other)); };
  argumentClass = addException(module, "InvalidArgumentError", both(PyExc_ValueError), docOf("InvalidArgumentError"));
  unsupportedClass =
      addException(module, "UnsupportedError", both(PyExc_NotImplementedError), docOf("UnsupportedError"));
  memoryClass = addException(module, "OutOfMemoryError", both(PyExc_MemoryError), docOf("OutOfMemoryError"));
  nb::register_exception_translator([](const std::exception_ptr &pointer, void *) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error &error) {
      setException(error);
    }
  });
}

//===----------------------------------------------------------------------===//
// Objects that other threads let go
//===----------------------------------------------------------------------===//

namespace {

struct Leftovers {
  std::mutex mutex;
  std::vector<PyObject *> objects;
};
Leftovers &leftovers() {
  static auto *all = new Leftovers;
  return *all;
}

/// With the GIL.
int letGo(void *) {
  std::vector<PyObject *> objects;
  {
    const std::lock_guard lock(leftovers().mutex);
    objects.swap(leftovers().objects);
  }
  for (PyObject *object : objects)
    Py_DECREF(object);
  return 0;
}

} // namespace

std::shared_ptr<const void> zyx::python::keep(nb::object object) {
  // What was left where no call could be scheduled.
  letGo(nullptr);
  return std::shared_ptr<const void>(object.release().ptr(), [](const void *kept) {
    // At the end of the process the objects of the interpreter are gone.
    if (!Py_IsInitialized())
      return;
    {
      const std::lock_guard lock(leftovers().mutex);
      leftovers().objects.push_back(static_cast<PyObject *>(const_cast<void *>(kept)));
    }
    Py_AddPendingCall(&letGo, nullptr);
  });
}

Jit::Function zyx::python::toFunction(nb::object function) {
  return [kept = keep(std::move(function))](std::span<const Tensor> arguments) {
    const nb::gil_scoped_acquire acquired;
    nb::list list;
    for (const Tensor &argument : arguments)
      list.append(wrap(argument));
    const nb::handle callee(static_cast<PyObject *>(const_cast<void *>(kept.get())));
    return tensorsOf(nb::cast<std::vector<Array>>(callee(list)));
  };
}

std::vector<Tensor> zyx::python::tensorsOf(const std::vector<Array> &arrays) {
  std::vector<Tensor> tensors;
  for (const Array &array : arrays)
    tensors.push_back(array.value);
  return tensors;
}
std::vector<Array> zyx::python::arraysOf(std::vector<Tensor> tensors) {
  std::vector<Array> arrays;
  for (Tensor &tensor : tensors)
    arrays.push_back({std::move(tensor)});
  return arrays;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

namespace {
/// A scope that Python enters and leaves, more than once and in several threads where it likes to.
struct PythonDeviceScope {
  explicit PythonDeviceScope(std::string device) : device(std::move(device)) {}
  PythonDeviceScope(const PythonDeviceScope &) = delete;
  PythonDeviceScope &operator=(const PythonDeviceScope &) = delete;
  std::string device;
  std::vector<std::unique_ptr<DeviceScope>> scopes = {};

  /// Leaves that of this thread which was entered last.
  void leave() {
    for (auto scope = scopes.end(); scope != scopes.begin();)
      if ((*--scope)->isOfThisThread()) {
        scopes.erase(scope);
        return;
      }
    throw Error(Status::invalidArgument(
                    "device_scope: the scope of '" + device + "' " +
                    (scopes.empty() ? "was not entered" : "was entered in another thread, which has to leave it")),
                here());
  }
};
} // namespace

static void bindContext(nb::module_ &module) {
  nb::class_<PythonDeviceScope>(module, "device_scope", docOf("device_scope"))
      .def(nb::init<std::string>(), nb::arg("device"))
      .def("__enter__",
           [](PythonDeviceScope &self) {
             const Place where = here();
             std::unique_ptr<DeviceScope> scope;
             {
               const Released released;
               scope = std::make_unique<DeviceScope>(self.device, Context::current(where), where);
             }
             self.scopes.push_back(std::move(scope));
           })
      .def(
          "__exit__",
          [](PythonDeviceScope &self, nb::handle, nb::handle, nb::handle) {
            self.leave();
            return false;
          },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());
  module.def(
      "sync",
      [] {
        const Place where = here();
        const Released released;
        Context::current(where).sync(where);
      },
      docOf("sync"));
  module.def(
      "counters",
      [] {
        const ContextCounters counters = Context::current(here()).counters();
        nb::dict all;
        all["runs"] = counters.runs;
        all["hits"] = counters.hits;
        all["compiles"] = counters.compiles;
        all["launches"] = counters.launches;
        all["live_nodes"] = counters.liveNodes;
        all["value_bytes"] = counters.valueBytes;
        all["peak_bytes"] = counters.peakBytes;
        return all;
      },
      docOf("counters"));
  module.def(
      "default_device",
      [] {
        const Place where = here();
        return Context::current(where).device(where);
      },
      docOf("default_device"));
}

NB_MODULE(_zyx, module) {
  module.attr("__version__") = ZYX_VERSION_STRING;
  // Arrays of the user's live in functions of modules that the interpreter does not clear at its end.
  nb::set_leak_warnings(false);
  module.def("_set_package_folder", &setPackageFolder);
  bindDTypes(module);
  bindExceptions(module);
  bindArray(module);
  bindArtifacts(module);
  bindMemory(module);
  bindFunctions(module);
  bindTransforms(module);
  bindModules(module);
  bindContext(module);
  bindPrograms(module);
}
