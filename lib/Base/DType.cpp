//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/DType.h"

#include <array>

namespace zyx {

namespace {
enum class Class : uint8_t { Bool, Signed, Unsigned, Float };
struct Facts {
  std::string_view name;
  uint8_t bytes;
  Class kind;
};
} // namespace

static constexpr std::array<Facts, numDTypes> table = {{
    {"bool", 1, Class::Bool},
    {"i8", 1, Class::Signed},
    {"i16", 2, Class::Signed},
    {"i32", 4, Class::Signed},
    {"i64", 8, Class::Signed},
    {"u8", 1, Class::Unsigned},
    {"u16", 2, Class::Unsigned},
    {"u32", 4, Class::Unsigned},
    {"u64", 8, Class::Unsigned},
    {"f16", 2, Class::Float},
    {"bf16", 2, Class::Float},
    {"f32", 4, Class::Float},
    {"f64", 8, Class::Float},
    {"f8e4m3fn", 1, Class::Float},
    {"f8e5m2", 1, Class::Float},
}};

static const Facts &facts(DType dtype) { return table[static_cast<uint8_t>(dtype)]; }

int64_t byteSize(DType dtype) { return facts(dtype).bytes; }
std::string_view toString(DType dtype) { return facts(dtype).name; }

std::optional<DType> parseDType(std::string_view name) {
  for (int i = 0; i < numDTypes; ++i)
    if (table[i].name == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<DType> dtypeFromValue(uint8_t value) {
  if (value >= numDTypes)
    return std::nullopt;
  return static_cast<DType>(value);
}

bool isFloat(DType dtype) { return facts(dtype).kind == Class::Float; }
bool isSignedInteger(DType dtype) { return facts(dtype).kind == Class::Signed; }
bool isUnsignedInteger(DType dtype) { return facts(dtype).kind == Class::Unsigned; }

DType accumulatorType(DType dtype) {
  switch (dtype) {
  case DType::F16:
  case DType::BF16:
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return DType::F32;
  default:
    return dtype;
  }
}

} // namespace zyx
