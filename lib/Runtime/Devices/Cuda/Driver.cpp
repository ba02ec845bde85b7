//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "zyx/Base/Config.h"
#include "zyx/Base/ProcessMutex.h"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

namespace {

/// What is known of a family's driver: its oldest version, as it counts them.
struct Library {
  const char *variable, *file, *owner, *family, *oldest;
  int oldestVersion, major, minor;
};
/// PTX of ours is that of CUDA 11.8, which has pools that follow streams; the properties of cards that we read are
/// those of HIP 6.0.
constexpr Library libraries[] = {
    {"CUDA_DRIVER", "libcuda.so.1", "NVIDIA's", "CUDA", "11.8", 11080, 1000, 10},
    {"HIP_DRIVER", "libamdhip64.so", "AMD's", "HIP", "6.0", 60000000, 10000000, 100000},
};

} // namespace

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

namespace {

/// A function of the driver, and where its address stands in Driver. One that a family has not has no name there.
struct Symbol {
  const char *names[2];
  size_t offset;
  bool isRequired = true;
};
#define ZYX_SHARED_SYMBOL(member, symbol, hip, parameters) {{#symbol, #hip}, offsetof(Driver, member)},
#define ZYX_SYMBOL(member, symbol, parameters) {{#symbol, nullptr}, offsetof(Driver, member)},
#define ZYX_NEWER_SYMBOL(member, symbol, parameters) {{#symbol, nullptr}, offsetof(Driver, member), false},
#define ZYX_HIP_SYMBOL(member, symbol, parameters) {{nullptr, #symbol}, offsetof(Driver, member)},
constexpr Symbol symbols[] = {ZYX_DRIVER_FUNCTIONS(ZYX_SHARED_SYMBOL) ZYX_CUDA_FUNCTIONS(ZYX_SYMBOL)
                                  ZYX_CUDA_NEWER_FUNCTIONS(ZYX_NEWER_SYMBOL) ZYX_HIP_FUNCTIONS(ZYX_HIP_SYMBOL)};
#undef ZYX_SHARED_SYMBOL
#undef ZYX_SYMBOL
#undef ZYX_NEWER_SYMBOL
#undef ZYX_HIP_SYMBOL

} // namespace

static Result<std::unique_ptr<Driver>> openLibrary(const std::string &path, Family family) {
  const Library &known = libraries[static_cast<size_t>(family)];
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::notFound(std::string(known.owner) + " driver cannot be opened: " + ::dlerror());
  auto driver = std::make_unique<Driver>();
  const auto place = [&](const Symbol &symbol) { return reinterpret_cast<std::byte *>(driver.get()) + symbol.offset; };
  const auto nameOf = [&](const Symbol &symbol) { return symbol.names[static_cast<size_t>(family)]; };
  for (const Symbol &symbol : symbols) {
    void *const found = nameOf(symbol) ? ::dlsym(library, nameOf(symbol)) : nullptr;
    std::memcpy(place(symbol), &found, sizeof(found));
  }
  int version = 0;
  if (driver->driverVersion && driver->driverVersion(&version) == 0 && version < known.oldestVersion)
    return Status::unsupported(
        "the driver '" + path + "' is of " + known.family + " " + std::to_string(version / known.major) + "." +
        std::to_string(version % known.major / known.minor) + ", and " + known.oldest + " is needed");
  for (const Symbol &symbol : symbols) {
    void *found = nullptr;
    std::memcpy(&found, place(symbol), sizeof(found));
    if (symbol.isRequired && nameOf(symbol) && !found)
      return Status::unsupported("the driver '" + path + "' lacks the function " + nameOf(symbol));
  }
  ZYX_RETURN_IF_ERROR(driver->check(driver->init(0), "begin with the driver '" + path + "'"));
  return driver;
}

Result<const Driver *> Driver::open(Family family) {
  const Library &known = libraries[static_cast<size_t>(family)];
  const char *named = zyxVariable(known.variable);
  const std::string path = named ? named : known.file;
  // Never closed, by family and path: tests bring drivers of their own.
  static constinit ProcessMutex mutex;
  using Opened = std::map<std::string, std::unique_ptr<Driver>>;
  static std::array<Opened, 2> &opened = *new std::array<Opened, 2>;
  const ProcessMutex::Guard lock(mutex);
  ZYX_RETURN_IF_ERROR(lock.check());
  std::unique_ptr<Driver> &driver = opened[static_cast<size_t>(family)][path];
  if (!driver) {
    ZYX_ASSIGN_OR_RETURN(driver, openLibrary(path, family));
  }
  return driver.get();
}
