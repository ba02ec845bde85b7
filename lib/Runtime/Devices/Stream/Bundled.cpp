//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Bundled.h"

#include "DriverLibrary.h"
#include "Refusals.h"

#include <climits>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

using namespace zyx;
using namespace zyx::runtime;

/// Where this library lies, or libraries beside the folder of this program.
static std::string ownFolder() {
  Dl_info found;
  link_map *map = nullptr;
  if (::dladdr1(reinterpret_cast<const void *>(&ownFolder), &found, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) &&
      map->l_name[0] == '/')
    return {map->l_name, std::strrchr(map->l_name, '/') + 1};
  char program[PATH_MAX] = "";
  (void)!::readlink("/proc/self/exe", program, sizeof(program) - 1);
  return textOf({std::string_view(program).substr(0, std::string_view(program).rfind('/') + 1), "../lib/"});
}

Result<const BundledDevices *> runtime::findBundled(const char *library) {
  static constexpr const char *function = "zyxBundledDevices";
  std::string path = ownFolder() + library;
  if (::access(path.c_str(), R_OK) != 0)
    path = library;
  ZYX_ASSIGN_OR_RETURN(const void *table,
                       openDriverTable(path, {"a library of zyx", "zyx " ZYX_VERSION}, {&function, 1}));
  const BundledDevices *found = (*static_cast<decltype(&zyxBundledDevices) const *>(table))();
  if (found->version != std::string_view(ZYX_VERSION))
    return Status::unsupported(textOf({path, " is of zyx ", found->version, ", this program of " ZYX_VERSION}));
  return found;
}
