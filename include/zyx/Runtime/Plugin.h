//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Devices of shared libraries: docs/plugins.md.
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_PLUGIN_H
#define ZYX_RUNTIME_PLUGIN_H

#include "zyx/Base/Status.h"

#include <span>
#include <string>

struct zyx_backend_v1;

namespace zyx::runtime {

/// Loads the shared library of that path, as dlopen takes it, and gives the name of its devices, which createDevice and
/// listDevices know from then on. It is never unloaded. A path that is loaded already is not loaded again.
///
/// Those that the variable ZYX_BACKENDS names, with commas between them, are loaded when devices are first asked for.
Result<std::string> loadBackend(const std::string &path);

/// Loads all of them. Why one is refused is said by listDevices, as an absent device, and by createDevice where it
/// knows no device of a name.
void loadBackends(std::span<const std::string> paths);

/// As loadBackend, of a table that is in the program already, and stays there.
Result<std::string> registerBackend(const zyx_backend_v1 &table);

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_PLUGIN_H
