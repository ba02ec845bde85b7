//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_DRIVERLIBRARY_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_DRIVERLIBRARY_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace zyx::runtime {

/// What a driver is called in messages, and the oldest that has all functions: "the loader of OpenCL", "OpenCL 1.2".
struct DriverName {
  const char *driver, *oldest;
};

/// Opens a library and finds all functions, once for each path: a table of their addresses, in the order of the names.
/// One with a question mark in front may be missing, and is null then. It stays open until the process ends, as drivers
/// ask for.
Result<const void *> openDriverTable(const std::string &path, const DriverName &name,
                                     std::span<const char *const> functions);
/// The same of the library that a variable of zyx names, or of the usual one; and as a struct of the functions.
Result<const void *> openNamedTable(const char *variable, const char *usual, const DriverName &name,
                                    std::span<const char *const> functions);
template <typename Driver, size_t count>
Result<const Driver *> openDriver(const char *variable, const char *usual, const DriverName &name,
                                  const char *const (&functions)[count]) {
  static_assert(sizeof(Driver) == sizeof(functions));
  const auto table = openNamedTable(variable, usual, name, functions);
  return table ? Result<const Driver *>(static_cast<const Driver *>(*table)) : table.status();
}

/// Whether commands of a device become graphs: `on` or `off` as a variable of zyx says it, else as is usual.
Result<bool> chooseGraphs(std::string_view variable, bool usual);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_DRIVERLIBRARY_H
