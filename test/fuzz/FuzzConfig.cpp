//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/Base/Config.h"

#include <algorithm>

using namespace zyx;

/// The text of a configuration, and of each variable.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n')) + 1;
  Result<LoadedConfig> file = parseConfig(text, "config.json");
  if (file)
    fuzz::require(file->config.threads <= 65536, "too many threads are accepted");
  else
    // "config.json:LINE: ..."
    fuzz::require(std::strtoul(file.status().message().c_str() + 12, nullptr, 10) - 1 < lines,
                  "a refusal names a line that there is not");
  for (const char *name : {"ZYX_DEVICES", "ZYX_MEMORY_LIMITS", "ZYX_THREADS", "ZYX_CACHE_DIR", "ZYX_CACHE_SIZE",
                           "ZYX_DEVICE", "ZYX_DEBUG", "ZYX_IMPLICIT_COPIES"}) {
    Result<LoadedConfig> variable = loadConfig(std::nullopt, {{name, text}});
    if (variable)
      fuzz::require(variable->config.threads <= 65536, "too many threads are accepted");
  }
  return 0;
}
