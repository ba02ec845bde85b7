//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/Print.h"

#include "zyx/Base/Float.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>

using namespace zyx;

namespace {

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

double loadFloat(DType dtype, const std::byte *from) {
  switch (dtype) {
  case DType::F16:
    return halfToFloat(load<uint16_t>(from));
  case DType::BF16:
    return bfloat16ToFloat(load<uint16_t>(from));
  case DType::F8E4M3FN:
    return f8E4M3FNToFloat(load<uint8_t>(from));
  case DType::F8E5M2:
    return f8E5M2ToFloat(load<uint8_t>(from));
  case DType::F32:
    return load<float>(from);
  default:
    return load<double>(from);
  }
}

/// `value` rounded to the format in which digits are counted, and back: NumPy has no bf16 and no
/// f8, so these print as the f32 of the same value.
double roundTo(DType dtype, double value) {
  switch (dtype) {
  case DType::F16:
    return halfToFloat(floatToHalf(value));
  case DType::F64:
    return value;
  default:
    return static_cast<float>(value);
  }
}

std::string integerText(DType dtype, const std::byte *from) {
  switch (dtype) {
  case DType::I8:
    return std::to_string(load<int8_t>(from));
  case DType::I16:
    return std::to_string(load<int16_t>(from));
  case DType::I32:
    return std::to_string(load<int32_t>(from));
  case DType::I64:
    return std::to_string(load<int64_t>(from));
  case DType::U8:
    return std::to_string(load<uint8_t>(from));
  case DType::U16:
    return std::to_string(load<uint16_t>(from));
  case DType::U32:
    return std::to_string(load<uint32_t>(from));
  default:
    return std::to_string(load<uint64_t>(from));
  }
}

/// A finite number as decimal digits: 0.d1d2d3... times 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

/// So many digits after the point, which is one in every locale.
std::string digitsOf(double value, std::chars_format format, int precision) {
  char text[400];
  return {text, std::to_chars(text, std::end(text), value, format, precision).ptr};
}

/// The fewest digits that give `value` again when rounded to `dtype`.
Decimal shortest(DType dtype, double value) {
  Decimal decimal;
  decimal.negative = std::signbit(value);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) {
    decimal.digits = "0";
    decimal.exponent = 1;
    return decimal;
  }
  std::string text;
  double read = 0;
  int digits = 0;
  do {
    text = digitsOf(magnitude, std::chars_format::scientific, digits);
    std::from_chars(text.data(), text.data() + text.size(), read);
  } while (roundTo(dtype, read) != magnitude && ++digits < 17);
  const size_t e = text.find('e');
  decimal.digits = text.substr(0, e);
  std::erase(decimal.digits, '.');
  decimal.exponent = std::stoi(text.substr(e + 1)) + 1;
  return decimal;
}

std::string trimZeros(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

/// "-12.5", "3.": at most `precision` digits after the point, no zeros at the end.
std::string positional(DType dtype, double value, int precision) {
  const Decimal decimal = shortest(dtype, value);
  const int numDigits = static_cast<int>(decimal.digits.size());
  if (numDigits - decimal.exponent > precision) {
    const std::string text = digitsOf(value, std::chars_format::fixed, precision);
    return trimZeros(precision ? text : text + ".");
  }
  std::string text = decimal.negative ? "-" : "";
  if (decimal.exponent <= 0)
    return text + "0." + std::string(static_cast<size_t>(-decimal.exponent), '0') + decimal.digits;
  const auto point = static_cast<size_t>(decimal.exponent);
  if (decimal.digits.size() > point)
    return text + decimal.digits.substr(0, point) + "." + decimal.digits.substr(point);
  return text + decimal.digits + std::string(point - decimal.digits.size(), '0') + ".";
}

struct Scientific {
  /// "-1.", the digits after the point, "+05".
  std::string integer, fraction, exponent;
};

Scientific scientific(DType dtype, double value, int precision) {
  const Decimal decimal = shortest(dtype, value);
  const int fraction = std::min(precision, static_cast<int>(decimal.digits.size()) - 1);
  const std::string text = digitsOf(value, std::chars_format::scientific, fraction);
  const size_t e = text.find('e'), point = std::min(text.find('.'), e);
  Scientific result;
  result.integer = text.substr(0, point) + ".";
  if (point != e)
    result.fraction = trimZeros(text.substr(point + 1, e - point - 1));
  result.exponent = text.substr(e + 1);
  return result;
}

/// Formats the elements of one tensor in equal widths. NumPy decides on the notation and the
/// widths from all elements that will be printed, so they are shown to it first.
class FloatFormat {
public:
  FloatFormat(DType dtype, const std::vector<double> &values, int precision) : dtype(dtype), precision(precision) {
    double largest = 0, smallest = HUGE_VAL;
    bool anyNaN = false, anyInf = false, anyNegativeInf = false, anyNonZero = false;
    for (double value : values) {
      anyNaN |= std::isnan(value);
      anyInf |= std::isinf(value);
      anyNegativeInf |= std::isinf(value) && value < 0;
      if (!std::isfinite(value) || value == 0)
        continue;
      anyNonZero = true;
      largest = std::max(largest, std::fabs(value));
      smallest = std::min(smallest, std::fabs(value));
    }
    exponential =
        anyNonZero && (largest >= 1e8 || smallest < roundTo(dtype, 1e-4) || roundTo(dtype, largest / smallest) > 1000);
    for (double value : values)
      if (std::isfinite(value))
        measure(value);
    if (exponential)
      right = fractionDigits + exponentChars + 1;
    if (anyNaN)
      left = std::max(left, 2 - right);
    if (anyInf)
      left = std::max(left, 2 + anyNegativeInf - right);
  }

  std::string operator()(double value) const {
    const auto width = static_cast<size_t>(left + 1 + right);
    if (!std::isfinite(value)) {
      std::string text = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
      return std::string(width - text.size(), ' ') + text;
    }
    if (exponential) {
      Scientific text = scientific(dtype, value, precision);
      text.fraction.resize(static_cast<size_t>(fractionDigits), '0');
      // Three-digit exponents widen all others.
      text.exponent.insert(1, static_cast<size_t>(exponentChars) - text.exponent.size(), '0');
      const size_t integer = text.integer.size() - 1;
      return std::string(static_cast<size_t>(left) - integer, ' ') + text.integer + text.fraction + "e" + text.exponent;
    }
    std::string text = positional(dtype, value, precision);
    text.insert(0, static_cast<size_t>(left) - text.find('.'), ' ');
    text.resize(width, ' ');
    return text;
  }

private:
  void measure(double value) {
    if (exponential) {
      Scientific text = scientific(dtype, value, precision);
      left = std::max(left, static_cast<int>(text.integer.size()) - 1);
      fractionDigits = std::max(fractionDigits, static_cast<int>(text.fraction.size()));
      exponentChars = std::max(exponentChars, static_cast<int>(text.exponent.size()));
      return;
    }
    std::string text = positional(dtype, value, precision);
    const auto point = static_cast<int>(text.find('.'));
    left = std::max(left, point);
    right = std::max(right, static_cast<int>(text.size()) - point - 1);
  }

  DType dtype;
  int precision;
  bool exponential = false;
  /// Characters before the point and after it.
  int left = 0, right = 0;
  int fractionDigits = 0, exponentChars = 0;
};

/// A number alone, as NumPy prints its scalars: all digits, no padding.
std::string scalarText(DType dtype, double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(value);
  if (magnitude == 0 || (magnitude >= roundTo(dtype, 1e-4) && magnitude < 1e16)) {
    std::string text = positional(dtype, value, 400);
    return text.ends_with('.') ? text + "0" : text;
  }
  Scientific text = scientific(dtype, value, 400);
  if (text.fraction.empty())
    text.integer.pop_back();
  return text.integer + text.fraction + "e" + text.exponent;
}

class Printer {
public:
  Printer(const HostTensor &tensor, const io::PrintOptions &options)
      : tensor(tensor), options(options), shape(tensor.type.shape) {}

  std::string print() {
    size_t stride = 1;
    strides.resize(shape.size());
    for (size_t d = shape.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= static_cast<size_t>(shape[d]);
    }
    if (stride == 0)
      return "[]";
    summarise = static_cast<int64_t>(stride) > options.threshold;
    collect(0, 0);
    format();
    if (shape.empty())
      return words[0];
    return rows(0, " ", options.lineWidth);
  }

private:
  bool cuts(size_t dim) const { return summarise && shape[dim] > 2 * options.edgeItems; }
  /// The printed index after `i`.
  int64_t next(size_t dim, int64_t i) const {
    return cuts(dim) && i + 1 == options.edgeItems ? shape[dim] - options.edgeItems : i + 1;
  }

  /// Lists the offsets of the printed elements, in order.
  void collect(size_t dim, size_t offset) {
    if (dim == shape.size())
      offsets.push_back(offset);
    else
      for (int64_t i = 0; i < shape[dim]; i = next(dim, i))
        collect(dim + 1, offset + static_cast<size_t>(i) * strides[dim]);
  }

  void format() {
    const DType dtype = tensor.type.dtype;
    const auto size = static_cast<size_t>(byteSize(dtype));
    if (isFloat(dtype)) {
      std::vector<double> values;
      for (size_t offset : offsets)
        values.push_back(loadFloat(dtype, tensor.data.data() + offset * size));
      if (shape.empty()) {
        words.push_back(scalarText(dtype, values[0]));
        return;
      }
      FloatFormat format(dtype, values, options.precision);
      for (double value : values)
        words.push_back(format(value));
      return;
    }
    size_t width = 0;
    for (size_t offset : offsets) {
      const std::byte *from = tensor.data.data() + offset * size;
      if (dtype == DType::Bool)
        words.push_back(*from == std::byte{0} ? "False" : "True");
      else
        words.push_back(integerText(dtype, from));
      width = std::max(width, words.back().size());
    }
    if (shape.empty())
      return;
    // NumPy pads booleans for "False" even where none is.
    if (dtype == DType::Bool)
      width = 5;
    for (std::string &word : words)
      word.insert(0, width - word.size(), ' ');
  }

  std::string rows(size_t dim, const std::string &indent, int width) {
    return dim + 1 == shape.size() ? lastRow(dim, indent, width) : outerRows(dim, indent, width);
  }

  std::string lastRow(size_t dim, const std::string &indent, int width) {
    std::string done, line = indent;
    const auto limit = static_cast<size_t>(std::max(width - 1, 0));
    auto add = [&](const std::string &word) {
      if (line.size() + word.size() > limit && line.size() > indent.size()) {
        done += trimSpaces(line) + "\n";
        line = indent;
      }
      line += word;
    };
    for (int64_t i = 0; i < shape[dim];) {
      add(words[word++]);
      const int64_t following = next(dim, i);
      if (following != shape[dim])
        line += " ";
      if (following > i + 1 && following != shape[dim]) {
        add("...");
        line += " ";
      }
      i = following;
    }
    return "[" + (done + line).substr(indent.size()) + "]";
  }

  std::string outerRows(size_t dim, const std::string &indent, int width) {
    const std::string between(shape.size() - dim - 1, '\n');
    std::string text;
    for (int64_t i = 0; i < shape[dim];) {
      text += indent + rows(dim + 1, indent + " ", width - 1);
      const int64_t following = next(dim, i);
      if (following != shape[dim])
        text += between;
      if (following > i + 1 && following != shape[dim])
        text += indent + "..." + between;
      i = following;
    }
    return "[" + text.substr(indent.size()) + "]";
  }

  static std::string trimSpaces(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  const HostTensor &tensor;
  const io::PrintOptions &options;
  const Shape &shape;
  std::vector<size_t> strides, offsets;
  bool summarise = false;
  std::vector<std::string> words;
  /// The next of `words` to be printed.
  size_t word = 0;
};

} // namespace

std::string io::toString(const HostTensor &tensor, const PrintOptions &options) {
  return Printer(tensor, options).print();
}
