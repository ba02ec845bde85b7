//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "zyx/Base/Config.h"
#include "zyx/Base/ProcessMutex.h"

#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

/// Of the driver, as it counts: CUDA 11.8, whose PTX ours is, and which has pools that follow streams.
static constexpr int oldestVersion = 11080;

bool cuda::isLoss(Code code) {
  return code == codeDeinitialized || code == codeUncorrectable || code == codeUnknown ||
         (code >= codeIllegalAddress && code <= codeLaunchFailed && code != codeOutOfResources);
}

std::string Driver::describe(Code code) const {
  const char *name = nullptr, *text = nullptr;
  if (errorName(code, &name) != 0 || !name)
    return "error " + std::to_string(code);
  if (errorText(code, &text) != 0 || !text)
    return name;
  return std::string(name) + ": " + text;
}

Status Driver::statusOf(Code code) const {
  if (code == 0)
    return Status::ok();
  if (code == codeOutOfMemory)
    return Status::outOfMemory(describe(code));
  return {isLoss(code) ? ErrorCode::DeviceLost : ErrorCode::Internal, describe(code)};
}

Status Driver::check(Code code, const std::string &action) const {
  const Status status = statusOf(code);
  return status.isOk() ? status : Status(status.code(), "cannot " + action + ": " + status.message());
}

/// A function of the driver, and where its address stands in Driver.
struct Symbol {
  const char *name;
  size_t offset;
  bool isRequired;
};
#define ZYX_SYMBOL(member, symbol, parameters) {#symbol, offsetof(Driver, member), true},
#define ZYX_NEWER_SYMBOL(member, symbol, parameters) {#symbol, offsetof(Driver, member), false},
static constexpr Symbol symbols[] = {ZYX_CUDA_FUNCTIONS(ZYX_SYMBOL) ZYX_CUDA_NEWER_FUNCTIONS(ZYX_NEWER_SYMBOL)};
#undef ZYX_SYMBOL
#undef ZYX_NEWER_SYMBOL

static Result<std::unique_ptr<Driver>> openLibrary(const std::string &path) {
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::notFound("NVIDIA's driver cannot be opened: " + std::string(::dlerror()));
  auto driver = std::make_unique<Driver>();
  const auto place = [&](const Symbol &symbol) { return reinterpret_cast<std::byte *>(driver.get()) + symbol.offset; };
  for (const Symbol &symbol : symbols) {
    void *const found = ::dlsym(library, symbol.name);
    std::memcpy(place(symbol), &found, sizeof(found));
  }
  int version = 0;
  if (driver->driverVersion && driver->driverVersion(&version) == 0 && version < oldestVersion)
    return Status::unsupported("the driver '" + path + "' is of CUDA " + std::to_string(version / 1000) + "." +
                               std::to_string(version % 1000 / 10) + ", and 11.8 is needed");
  for (const Symbol &symbol : symbols) {
    void *found = nullptr;
    std::memcpy(&found, place(symbol), sizeof(found));
    if (symbol.isRequired && !found)
      return Status::unsupported("the driver '" + path + "' lacks the function " + symbol.name);
  }
  ZYX_RETURN_IF_ERROR(driver->check(driver->init(0), "begin with the driver '" + path + "'"));
  return driver;
}

Result<const Driver *> Driver::open() {
  const char *named = zyxVariable("CUDA_DRIVER");
  const std::string path = named ? named : "libcuda.so.1";
  // Never closed, by path: tests bring drivers of their own.
  static constinit ProcessMutex mutex;
  static std::map<std::string, std::unique_ptr<Driver>> &opened = *new std::map<std::string, std::unique_ptr<Driver>>;
  const ProcessMutex::Guard lock(mutex);
  ZYX_RETURN_IF_ERROR(lock.check());
  std::unique_ptr<Driver> &driver = opened[path];
  if (!driver) {
    ZYX_ASSIGN_OR_RETURN(driver, openLibrary(path));
  }
  return driver.get();
}
