//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the parts of the extension share: places of Python programs, dtypes, operands, and objects of Python that
// threads without the GIL let go.
//===----------------------------------------------------------------------===//
#ifndef ZYX_PYTHON_PYTHON_H
#define ZYX_PYTHON_PYTHON_H

#include "zyx/zyx.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

namespace nb = nanobind;

namespace zyx::python {

/// What Python calls zyx.Array: a place for a tensor, so that x[i] = v puts another one there. Another thread, or a
/// handler of a signal, does so while the GIL is free, or while a function of Python is called: what reads on then has
/// a copy of the tensor.
struct Array {
  Tensor value;
};

/// The line of the user's program: of the innermost function that is none of the package's.
Place here();
/// Files under this folder are the package's.
void setPackageFolder(std::string folder);

/// A class of dtypes, as objects that are compared by identity.
struct DTypeObject {
  DType dtype;
};
nb::object toPython(DType dtype);
/// Of an object of the package, or a name such as "float32" or "f32".
DType toDType(nb::handle object);

/// What help() says of a function or a class of the extension; "" of what it says nothing.
const char *docOf(std::string_view name);

/// What a function of two arrays takes.
enum class Kind { Any, Numbers, Floats, Integers };
/// Two operands of which one is an array at least, as tensors and numbers. Without a value one is neither. Throws
/// TypeError where a number is of another kind than the array: a fraction and integers, say.
struct Operands {
  Operand a, b;
};
std::optional<Operands> operandsOf(nb::handle a, nb::handle b, const char *function, Kind kind, const Place &where);
/// Of an array, or a parameter, whose value it is. Else no tensor.
Tensor tensorOf(nb::handle object, const Place &where);

/// What an object of a class of the extension holds, or none of another object. Throws TypeError where __new__ was
/// called and __init__ was not: there is no T in its memory.
template <typename T> const T *instanceOf(nb::handle object) {
  // Calls look at all of their arguments, so that the class is looked up once.
  static const PyObject *type = nb::type<T>().ptr();
  if (reinterpret_cast<const PyObject *>(Py_TYPE(object.ptr())) != type && !nb::isinstance<T>(object))
    return nullptr;
  if (!nb::inst_ready(object))
    throw nb::type_error("zyx: an object has no value: its __init__ was not called");
  return nb::inst_ptr<T>(object);
}

inline nb::object wrap(Tensor tensor) { return nb::cast(Array{std::move(tensor)}); }
std::vector<Tensor> tensorsOf(const std::vector<Array> &arrays);
std::vector<Array> arraysOf(std::vector<Tensor> tensors);

/// An object that is let go by the main thread, whoever is its last owner: a thread that holds the lock of a context
/// must not wait for the GIL.
std::shared_ptr<const void> keep(nb::object object);
/// A function of Python as one of C++. It takes the GIL; its exceptions pass.
Jit::Function toFunction(nb::object function);

/// Of the class Array: the buffer protocol.
const PyType_Slot *bufferSlots();

void bindArray(nb::module_ &module);
void bindArtifacts(nb::module_ &module);
void bindFunctions(nb::module_ &module);
void bindMemory(nb::module_ &module);
void bindTransforms(nb::module_ &module);
void bindModules(nb::module_ &module);
void bindPrograms(nb::module_ &module);

/// Where a handler of a signal has ended a compilation or a run of this thread, which failed with this code: its
/// exception is raised again. What depends on work that was ended is Aborted.
bool raiseInterruption(ErrorCode code);
/// Sets the exception of an error, and returns whether it is that of such a handler.
bool setException(const Error &error);

/// Stops this thread for ever if the process ends and this is not the main thread. At its end the interpreter exits
/// each thread that asks for the GIL, and such an exit cannot unwind frames of C++.
void stayAtEnd();

/// While it lives, other threads of Python run: for calls that compile, run or wait.
class Released {
public:
  ~Released() { stayAtEnd(); }

private:
  nb::gil_scoped_release released;
};

} // namespace zyx::python

#endif // ZYX_PYTHON_PYTHON_H
