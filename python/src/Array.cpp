//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// zyx.Array: operators, indexing, and reading single elements.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include "zyx/Base/Float.h"

#include <bit>

using namespace zyx;
using namespace zyx::python;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Tensor zyx::python::tensorOf(nb::handle object, const Place &where) {
  if (const Array *array = instanceOf<Array>(object))
    return array->value;
  if (const Parameter *parameter = instanceOf<Parameter>(object))
    return parameter->value(where);
  return {};
}

namespace {
/// Of a number of Python.
enum class Number { None, Bool, Integer, Fraction };
} // namespace

static Number numberOf(nb::handle object) {
  if (PyBool_Check(object.ptr()))
    return Number::Bool;
  if (PyLong_Check(object.ptr()))
    return Number::Integer;
  if (PyFloat_Check(object.ptr()))
    return Number::Fraction;
  return Number::None;
}

static Operand operandOf(nb::handle object, Number number, const Place &where) {
  if (number == Number::Bool)
    return {static_cast<int64_t>(object.ptr() == Py_True), where};
  if (number == Number::Fraction)
    return {PyFloat_AsDouble(object.ptr()), where};
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0)
    return {static_cast<int64_t>(value), where};
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(object.ptr());
    if (!PyErr_Occurred())
      return {static_cast<uint64_t>(large), where};
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_OverflowError, "zyx: the integer has more than 64 bits");
  throw nb::python_error();
}

static std::string pythonName(DType dtype) { return nb::cast<std::string>(toPython(dtype).attr("name")); }

/// Throws where a function has no meaning for a dtype.
static void expectKind(DType dtype, const char *function, Kind kind) {
  const bool fits = kind == Kind::Any || (kind == Kind::Numbers && dtype != DType::Bool) ||
                    (kind == Kind::Floats && isFloat(dtype)) || (kind == Kind::Integers && !isFloat(dtype));
  if (fits)
    return;
  const char *needed = kind == Kind::Floats    ? "floats"
                       : kind == Kind::Numbers ? "numbers, not bools"
                                               : "integers or bools";
  throw nb::type_error((std::string(function) + ": needs arrays of " + needed + "; this one is of " +
                        pythonName(dtype) + "; zyx.astype() says what is meant")
                           .c_str());
}

/// Throws where a number is of another kind than an array.
static void expectNumber(Number number, DType dtype, const char *function) {
  const bool fits = number == Number::Bool      ? dtype == DType::Bool
                    : number == Number::Integer ? dtype != DType::Bool
                                                : isFloat(dtype);
  if (fits)
    return;
  const char *what = number == Number::Bool ? "a bool" : number == Number::Integer ? "an int" : "a float";
  throw nb::type_error((std::string(function) + ": " + what + " of Python is not of the kind of an array of " +
                        pythonName(dtype) + "; zyx.astype() says what is meant")
                           .c_str());
}

std::optional<Operands> zyx::python::operandsOf(nb::handle a, nb::handle b, const char *function, Kind kind,
                                                const Place &where) {
  const Tensor x = tensorOf(a, where), y = tensorOf(b, where);
  for (const Tensor &tensor : {x, y})
    if (tensor.isDefined())
      expectKind(tensor.dtype(), function, kind);
  if (x.isDefined() && y.isDefined())
    return Operands{{x, where}, {y, where}};
  if (!x.isDefined() && !y.isDefined())
    return std::nullopt;
  const nb::handle other = x.isDefined() ? b : a;
  const Number number = numberOf(other);
  if (number == Number::None)
    return std::nullopt;
  expectNumber(number, (x.isDefined() ? x : y).dtype(), function);
  if (x.isDefined())
    return Operands{{x, where}, operandOf(other, number, where)};
  return Operands{operandOf(other, number, where), {y, where}};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {

using BinaryFunction = Tensor (*)(Operand, Operand);
struct BinaryRow {
  /// Of the namespace; the operator's and that of operands in the other order, or none.
  const char *name, *dunder, *reflected;
  BinaryFunction function;
  Kind kind;
};

Tensor less(Operand a, Operand b) { return a < b; }
Tensor lessEqual(Operand a, Operand b) { return a <= b; }
Tensor greater(Operand a, Operand b) { return a > b; }
Tensor greaterEqual(Operand a, Operand b) { return a >= b; }
Tensor equal(Operand a, Operand b) { return a == b; }
Tensor notEqual(Operand a, Operand b) { return a != b; }

/// A product has the dtype that its operands have together, as the standard says: integers wrap.
Tensor product(Operand a, Operand b) {
  const Place where = a.where;
  const Tensor found = zyx::matmul(a, b);
  if (isFloat(found.dtype()))
    return found;
  const Tensor none = Tensor::zeros({}, DType::Bool, where);
  return found.cast(zyx::where(none, {Tensor::zeros({}, a.tensor.dtype(), where), where},
                               {Tensor::zeros({}, b.tensor.dtype(), where), where})
                        .dtype(),
                    where);
}

const BinaryRow binaryRows[] = {
    {"add", "__add__", "__radd__", [](Operand a, Operand b) { return a + b; }, Kind::Numbers},
    {"subtract", "__sub__", "__rsub__", [](Operand a, Operand b) { return a - b; }, Kind::Numbers},
    {"multiply", "__mul__", "__rmul__", [](Operand a, Operand b) { return a * b; }, Kind::Numbers},
    {"divide", "__truediv__", "__rtruediv__", [](Operand a, Operand b) { return a / b; }, Kind::Floats},
    {"floor_divide", "__floordiv__", "__rfloordiv__", &zyx::floorDivide, Kind::Numbers},
    {"remainder", "__mod__", "__rmod__", &zyx::floorRemainder, Kind::Numbers},
    {"pow", "__pow__", "__rpow__", &zyx::pow, Kind::Numbers},
    {"matmul", "__matmul__", "__rmatmul__", &product, Kind::Numbers},
    {"bitwise_and", "__and__", "__rand__", [](Operand a, Operand b) { return a & b; }, Kind::Integers},
    {"bitwise_or", "__or__", "__ror__", [](Operand a, Operand b) { return a | b; }, Kind::Integers},
    {"bitwise_xor", "__xor__", "__rxor__", [](Operand a, Operand b) { return a ^ b; }, Kind::Integers},
    {"bitwise_left_shift", "__lshift__", "__rlshift__", [](Operand a, Operand b) { return a << b; }, Kind::Integers},
    {"bitwise_right_shift", "__rshift__", "__rrshift__", [](Operand a, Operand b) { return a >> b; }, Kind::Integers},
    {"less", "__lt__", nullptr, &less, Kind::Any},
    {"less_equal", "__le__", nullptr, &lessEqual, Kind::Any},
    {"greater", "__gt__", nullptr, &greater, Kind::Any},
    {"greater_equal", "__ge__", nullptr, &greaterEqual, Kind::Any},
    {"equal", "__eq__", nullptr, &equal, Kind::Any},
    {"not_equal", "__ne__", nullptr, &notEqual, Kind::Any},
    {"maximum", nullptr, nullptr, &zyx::maximum, Kind::Numbers},
    {"minimum", nullptr, nullptr, &zyx::minimum, Kind::Numbers},
    {"atan2", nullptr, nullptr, &zyx::atan2, Kind::Floats},
    {"hypot", nullptr, nullptr, &zyx::hypot, Kind::Floats},
    {"logaddexp", nullptr, nullptr, &zyx::logAddExp, Kind::Floats},
    {"copysign", nullptr, nullptr, &zyx::copySign, Kind::Floats},
    {"nextafter", nullptr, nullptr, &zyx::nextAfter, Kind::Floats},
};

/// Of bools an order is not defined by the graph: false is 0.
Operands comparable(Operands operands, const Place &where) {
  for (Operand *operand : {&operands.a, &operands.b})
    if (!operand->isNumber && operand->tensor.dtype() == DType::Bool)
      operand->tensor = operand->tensor.cast(DType::U8, where);
  return operands;
}

Tensor call(const BinaryRow &row, const Operands &operands, const Place &where) {
  const bool isOrder =
      row.function == &less || row.function == &lessEqual || row.function == &greater || row.function == &greaterEqual;
  const Operands given = isOrder ? comparable(operands, where) : operands;
  return row.function(given.a, given.b);
}

nb::object applied(const BinaryRow &row, nb::handle a, nb::handle b) {
  const Place where = here();
  const auto operands = operandsOf(a, b, row.name, row.kind, where);
  if (!operands)
    return nb::borrow(Py_NotImplemented);
  return wrap(call(row, *operands, where));
}

/// Signatures are read when the stubs are made, and kept.
const char *kept(std::string text) { return (new std::string(std::move(text)))->c_str(); }

} // namespace

static void bindOperators(nb::module_ &module, nb::class_<Array> &array) {
  for (const BinaryRow &row : binaryRows) {
    const BinaryRow *const entry = &row;
    if (row.dunder)
      array.def(
          row.dunder, [entry](nb::handle self, nb::handle other) { return applied(*entry, self, other); },
          nb::arg("other").none(),
          nb::sig(kept(std::string("def ") + row.dunder + "(self, other: object, /) -> Array")));
    if (row.reflected)
      array.def(
          row.reflected, [entry](nb::handle self, nb::handle other) { return applied(*entry, other, self); },
          nb::arg("other").none(),
          nb::sig(kept(std::string("def ") + row.reflected + "(self, other: object, /) -> Array")));
    module.def(
        row.name,
        [entry](nb::handle a, nb::handle b) {
          const Place where = here();
          const auto operands = operandsOf(a, b, entry->name, entry->kind, where);
          if (!operands)
            throw nb::type_error((std::string(entry->name) +
                                  ": needs two arrays, or an array and a number of Python; zyx.asarray() makes one")
                                     .c_str());
          return Array{call(*entry, *operands, where)};
        },
        nb::arg("x1").none(), nb::arg("x2").none(),
        nb::sig(kept(std::string("def ") + row.name +
                     "(x1: Array | bool | int | float, x2: Array | bool | int | float, /) -> Array")),
        docOf(row.name));
  }
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

static nb::object itemOf(Tensor x) {
  const Place where = here();
  if (x.numel() != 1)
    throw nb::value_error(("item: an array of shape " + toString(x.shape()) + " has not one element").c_str());
  std::vector<std::byte> bytes;
  const DType dtype = x.dtype();
  {
    const Released released;
    bytes = x.bytes(where);
  }
  const auto read = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  };
  switch (dtype) {
  case DType::Bool:
    return nb::bool_(bytes[0] != std::byte{0});
  case DType::I8:
    return nb::int_(read(int8_t()));
  case DType::I16:
    return nb::int_(read(int16_t()));
  case DType::I32:
    return nb::int_(read(int32_t()));
  case DType::I64:
    return nb::int_(read(int64_t()));
  case DType::U8:
    return nb::int_(read(uint8_t()));
  case DType::U16:
    return nb::int_(read(uint16_t()));
  case DType::U32:
    return nb::int_(read(uint32_t()));
  case DType::U64:
    return nb::int_(read(uint64_t()));
  case DType::F32:
    return nb::float_(read(float()));
  case DType::F64:
    return nb::float_(read(double()));
  case DType::F16:
    return nb::float_(halfToFloat(read(uint16_t())));
  case DType::BF16:
    return nb::float_(bfloat16ToFloat(read(uint16_t())));
  case DType::F8E4M3FN:
    return nb::float_(f8E4M3FNToFloat(read(uint8_t())));
  case DType::F8E5M2:
    return nb::float_(f8E5M2ToFloat(read(uint8_t())));
  }
  throw nb::type_error("item: the array has no known dtype");
}

static nb::object scalarOf(const Array &self, const char *function) {
  if (self.value.numel() != 1)
    throw nb::type_error((std::string(function) + ": an array of shape " + toString(self.value.shape()) +
                          " is not one number" +
                          (std::string_view(function) == "bool" ? "; zyx.any() and zyx.all() make one bool" : ""))
                             .c_str());
  return itemOf(self.value);
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

static std::optional<int64_t> boundOf(nb::handle bound) {
  if (bound.is_none())
    return std::nullopt;
  const Py_ssize_t value = PyNumber_AsSsize_t(bound.ptr(), nullptr);
  if (value == -1 && PyErr_Occurred())
    throw nb::python_error();
  return value;
}

[[noreturn]] static void refuseIndex(const std::string &reason) { throw nb::index_error(("index: " + reason).c_str()); }

/// By integers, slices, newaxis and an ellipsis. None where an array is among them.
static std::optional<Tensor> indexed(const Tensor &x, nb::handle key, const Place &where) {
  std::vector<nb::handle> parts;
  if (nb::isinstance<nb::tuple>(key))
    for (nb::handle part : nb::borrow<nb::tuple>(key))
      parts.push_back(part);
  else
    parts.push_back(key);
  int64_t numDims = 0;
  bool hasEllipsis = false;
  for (const nb::handle part : parts) {
    if (nb::isinstance<Array>(part))
      return std::nullopt;
    if (part.is(nb::handle(Py_Ellipsis))) {
      if (hasEllipsis)
        refuseIndex("has two ellipses");
      hasEllipsis = true;
    } else if (!part.is_none()) {
      ++numDims;
    }
  }
  if (numDims > x.rank())
    refuseIndex("an array of " + std::to_string(x.rank()) + " dimensions has " + std::to_string(numDims) + " indices");
  if (!hasEllipsis)
    parts.push_back(nb::handle(Py_Ellipsis));
  std::vector<Slice> slices;
  // What is left: dimensions of the sliced tensor, or -1 for a new one.
  std::vector<int64_t> left;
  bool isReshaped = false;
  for (const nb::handle part : parts) {
    const auto dim = static_cast<int64_t>(slices.size());
    if (part.is_none()) {
      left.push_back(-1);
      isReshaped = true;
    } else if (part.is(nb::handle(Py_Ellipsis))) {
      for (int64_t i = 0; i < x.rank() - numDims; ++i) {
        left.push_back(static_cast<int64_t>(slices.size()));
        slices.push_back({});
      }
    } else if (PySlice_Check(part.ptr())) {
#ifdef Py_LIMITED_API
      const nb::object start = part.attr("start"), stop = part.attr("stop"), width = part.attr("step");
#else
      const auto *slice = reinterpret_cast<PySliceObject *>(part.ptr());
      const nb::handle start = slice->start, stop = slice->stop, width = slice->step;
#endif
      const int64_t step = boundOf(width).value_or(1);
      if (step == 0)
        refuseIndex("the step of a slice is 0");
      left.push_back(dim);
      slices.push_back({boundOf(start), boundOf(stop), step});
    } else if (PyIndex_Check(part.ptr()) && !PyBool_Check(part.ptr())) {
      const int64_t extent = x.shape()[dim], given = *boundOf(part);
      const int64_t position = given < 0 ? given + extent : given;
      if (position < 0 || position >= extent)
        refuseIndex("position " + std::to_string(given) + " is outside of dimension " + std::to_string(dim) +
                    ", which has " + std::to_string(extent) + " elements");
      slices.push_back({position, position + 1, 1});
      isReshaped = true;
    } else {
      refuseIndex(nb::cast<std::string>(nb::repr(part)) +
                  " is no integer, slice, ellipsis, zyx.newaxis or array of integers");
    }
  }
  const Tensor sliced = x.rank() == 0 ? x : x.slice(slices, where);
  if (!isReshaped)
    return sliced;
  Shape shape;
  for (const int64_t dim : left)
    shape.push_back(dim < 0 ? 1 : sliced.shape()[dim]);
  return sliced.reshape(shape, where);
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

static nb::tuple tupleOf(const Shape &shape) {
  nb::list extents;
  for (const int64_t extent : shape)
    extents.append(extent);
  return nb::tuple(extents);
}

void zyx::python::bindArray(nb::module_ &module) {
  nb::class_<Array> array(module, "Array", nb::type_slots(bufferSlots()), docOf("Array"));
  array
      .def(
          "__init__", [](Array *self, const Parameter &parameter) { new (self) Array{parameter.value(here())}; },
          "The value of a parameter; other things are made arrays by zyx.asarray().", nb::arg("parameter"))
      .def_prop_ro(
          "dtype", [](const Array &self) { return toPython(self.value.dtype()); }, nb::sig("def dtype(self) -> DType"))
      .def_prop_ro(
          "shape", [](const Array &self) { return tupleOf(self.value.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("ndim", [](const Array &self) { return self.value.rank(); })
      .def_prop_ro("size", [](const Array &self) { return self.value.numel(); })
      .def_prop_ro("nbytes", [](const Array &self) { return self.value.numel() * byteSize(self.value.dtype()); })
      .def_prop_ro(
          "device", [](const Array &self) { return self.value.device(); },
          "The device on which it is, or will be, computed.")
      .def_prop_ro(
          "mT",
          [](const Array &self) {
            if (self.value.rank() < 2)
              throw nb::value_error("mT: the array has fewer than two dimensions");
            return Array{self.value.transpose(-2, -1, here())};
          },
          "Matrices in the last two dimensions, transposed.")
      .def_prop_ro(
          "T",
          [](const Array &self) {
            if (self.value.rank() != 2)
              throw nb::value_error("T: the array has not two dimensions; mT transposes the last two");
            return Array{self.value.transpose(0, 1, here())};
          },
          "A matrix, transposed.")
      .def_prop_ro(
          "is_computed", [](const Array &self) { return self.value.isRealized(); },
          "Whether it has its value, or a run in flight makes it.")
      .def(
          "item", [](const Array &self) { return itemOf(self.value); }, "The only element, as a number of Python.",
          nb::sig("def item(self) -> bool | int | float"))
      .def("__bool__", [](const Array &self) { return nb::bool_(scalarOf(self, "bool")); })
      .def("__int__", [](const Array &self) { return nb::int_(scalarOf(self, "int")); })
      .def("__float__", [](const Array &self) { return nb::float_(scalarOf(self, "float")); })
      .def(
          "__complex__",
          [](const Array &self) {
            PyObject *made = PyComplex_FromDoubles(PyFloat_AsDouble(scalarOf(self, "complex").ptr()), 0);
            return nb::steal(made);
          },
          nb::sig("def __complex__(self) -> complex"))
      .def(
          "__index__",
          [](const Array &self) {
            if (!isInteger(self.value.dtype()) || self.value.rank() != 0)
              throw nb::type_error("index: only an array of an integer dtype without dimensions is an index");
            return nb::int_(itemOf(self.value));
          },
          nb::sig("def __index__(self) -> int"))
      .def("__len__",
           [](const Array &self) {
             if (self.value.rank() == 0)
               throw nb::type_error("len: the array has no dimensions");
             return self.value.shape()[0];
           })
      .def("__neg__",
           [](const Array &self) {
             expectKind(self.value.dtype(), "negative", Kind::Numbers);
             return Array{self.value.neg(here())};
           })
      .def("__pos__",
           [](const Array &self) {
             expectKind(self.value.dtype(), "positive", Kind::Numbers);
             return self;
           })
      .def("__abs__",
           [](const Array &self) {
             expectKind(self.value.dtype(), "abs", Kind::Numbers);
             return Array{isUnsignedInteger(self.value.dtype()) ? self.value : self.value.abs(here())};
           })
      .def("__invert__",
           [](const Array &self) {
             expectKind(self.value.dtype(), "bitwise_invert", Kind::Integers);
             return Array{~Operand(self.value, here())};
           })
      .def(
          "__getitem__",
          [](const Array &self, nb::handle key) {
            const Place where = here();
            if (const auto found = indexed(self.value, key, where))
              return wrap(*found);
            return nb::module_::import_("zyx._indexing").attr("get")(nb::cast(self), key);
          },
          nb::arg("key").none(), nb::sig("def __getitem__(self, key: object, /) -> Array"))
      .def(
          "__setitem__",
          [](nb::handle self, nb::handle key, nb::handle value) {
            const nb::object next = nb::module_::import_("zyx._indexing").attr("set")(self, key, value);
            nb::cast<Array &>(self).value = nb::cast<const Array &>(next).value;
          },
          nb::arg("key").none(), nb::arg("value").none(),
          nb::sig("def __setitem__(self, key: object, value: object, /) -> None"))
      // What it holds does not change.
      .def("__copy__", [](const Array &self) { return self; })
      .def(
          "__deepcopy__", [](const Array &self, nb::handle) { return self; }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: object, /) -> Array"))
      .def("_text", [](const Array &self) {
        const Place where = here();
        const Tensor value = self.value;
        const Released released;
        return toString(value, {}, where);
      });
  bindOperators(module, array);
  // Comparisons give arrays, so that arrays are no keys.
  array.attr("__hash__") = nb::none();
}
