//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_BASE_CONFIGFILE_H
#define ZYX_LIB_BASE_CONFIGFILE_H

#include "zyx/Base/Status.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace zyx {

struct ConfigField;

/// A value of the file as it is written there: nothing (null), a bool, a whole number, another
/// number, a text, or names of an object or texts of a list with such values; those of an object may be lists.
struct ConfigValue {
  struct Nothing {};
  struct Fraction {};
  struct List {
    std::vector<ConfigValue> values;
  };
  struct Table {
    std::vector<ConfigField> values;
  };
  std::variant<Nothing, bool, uint64_t, Fraction, std::string, List, Table> value;

  template <typename T> const T *as() const { return std::get_if<T>(&value); }
};

/// One of an object.
struct ConfigField {
  std::string first;
  ConfigValue second;
};

struct ConfigEntry {
  std::string key;
  /// Counted from 1.
  size_t line = 0;
  ConfigValue value;
};

/// The keys of the file in their order. Refuses what is no JSON object, keys that stand twice, and
/// objects in a list or an object of a key, and lists in a list; messages begin with the line.
Result<std::vector<ConfigEntry>> readConfigFile(std::string_view text);

} // namespace zyx

#endif // ZYX_LIB_BASE_CONFIGFILE_H
