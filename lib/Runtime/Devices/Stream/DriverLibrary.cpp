//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DriverLibrary.h"

#include "zyx/Base/Config.h"
#include "zyx/Base/ProcessMutex.h"

#include <cstring>
#include <dlfcn.h>
#include <map>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

Result<const void *> runtime::openDriverTable(const std::string &path, const DriverName &name,
                                              std::span<const char *const> functions) {
  // Never closed: tests bring drivers of their own.
  static constinit ProcessMutex mutex;
  static std::map<std::string, std::vector<void *>> &opened = *new std::map<std::string, std::vector<void *>>;
  const ProcessMutex::Guard lock(mutex);
  ZYX_RETURN_IF_ERROR(lock.check());
  if (const auto found = opened.find(path); found != opened.end())
    return static_cast<const void *>(found->second.data());
  void *const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::notFound(std::string(name.driver) + " cannot be opened: " + ::dlerror());
  std::vector<void *> table;
  for (const char *function : functions) {
    const bool isOptional = *function == '?';
    table.push_back(::dlsym(library, function + isOptional));
    if (!table.back() && !isOptional)
      return Status::unsupported(std::string(name.driver) + " '" + path + "' lacks the function " + function + ": " +
                                 name.oldest + " is needed");
  }
  return static_cast<const void *>(opened.emplace(path, std::move(table)).first->second.data());
}

Result<const void *> runtime::openNamedTable(const char *variable, const char *usual, const DriverName &name,
                                             std::span<const char *const> functions) {
  const char *const named = zyxVariable(variable);
  return openDriverTable(named && *named ? named : usual, name, functions);
}

Result<bool> runtime::chooseGraphs(std::string_view variable, bool usual) {
  const char *const named = zyxVariable(std::string(variable).c_str());
  const std::string_view word = named ? named : usual ? "on" : "off";
  if (word != "on" && word != "off")
    return Status::invalidArgument("ZYX_" + std::string(variable) + " is '" + std::string(word) +
                                   "'; it may be on or off");
  return word == "on";
}
