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

namespace zyx::runtime {

/// A function of a driver, and where its address stands in a struct of such addresses.
struct DriverSymbol {
  const char *name;
  size_t offset;
};

/// What a driver is called in messages, and the oldest that has all functions: "the loader of OpenCL", "OpenCL 1.2".
struct DriverName {
  const char *driver, *oldest;
};

/// Opens a library and finds all symbols, once for each path: `bytes` of addresses. It stays open until the process
/// ends, as drivers ask for.
Result<const void *> openDriverTable(const std::string &path, const DriverName &name,
                                     std::span<const DriverSymbol> symbols, size_t bytes);

/// The same of the library that a variable of zyx names, or of the usual one; and as a struct of its functions.
Result<const void *> openNamedTable(const char *variable, const char *usual, const DriverName &name,
                                    std::span<const DriverSymbol> symbols, size_t bytes);
template <typename Driver>
Result<const Driver *> openDriver(const char *variable, const char *usual, const DriverName &name,
                                  std::span<const DriverSymbol> symbols) {
  const auto table = openNamedTable(variable, usual, name, symbols, sizeof(Driver));
  return table ? Result<const Driver *>(static_cast<const Driver *>(*table)) : table.status();
}

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_DRIVERLIBRARY_H
