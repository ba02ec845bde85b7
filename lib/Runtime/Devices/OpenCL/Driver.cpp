//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "../Stream/DriverLibrary.h"

#include <cstdlib>
#include <cstring>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::opencl;

namespace {

#define ZYX_NAME(name, theirs, number) {number, #theirs},
constexpr std::pair<int, const char *> names[] = {ZYX_OPENCL_CODES(ZYX_NAME)};
#undef ZYX_NAME

#define ZYX_SYMBOL(member, symbol, result, parameters) #symbol,
constexpr const char *symbols[] = {ZYX_OPENCL_FUNCTIONS(ZYX_SYMBOL)};
#undef ZYX_SYMBOL

/// Asks one device. Numbers have 32 or 64 bits, low bytes first.
struct Asker {
  const Driver &driver;
  Ordinal ordinal;
  Code code = 0;

  void ask(unsigned what, size_t bytes, void *into) {
    const Code got = driver.deviceInfo(ordinal, what, bytes, into, nullptr);
    code = code == 0 ? got : code;
  }
  uint64_t number(unsigned what) {
    uint64_t value = 0;
    ask(what, sizeof(value), &value);
    return value;
  }
  std::string text(unsigned what) {
    char value[8192] = "";
    ask(what, sizeof(value) - 1, value);
    return value;
  }
};

/// The extension's version stands before its name, among those of all.
Recording recordingOf(const Driver &driver, Platform platform, Ordinal ordinal) {
  char all[256][4 + 64] = {};
  (void)driver.deviceInfo(ordinal, deviceVersions, sizeof(all), all, nullptr);
  Recording recording;
  for (const auto &each : all)
    if (std::string_view(each + 4) == "cl_khr_command_buffer")
      std::memcpy(&recording.version, each, 4);
#define ZYX_FIND(member, symbol, result, parameters)                                                                   \
  recording.member = reinterpret_cast<decltype(recording.member)>(driver.extension(platform, #symbol));                \
  recording.version = recording.member ? recording.version : 0;
  ZYX_OPENCL_RECORDING(ZYX_FIND)
  return recording;
}

/// Why kernels would not compute what they say.
const char *refusalOf(Asker &asker, const std::string &version) {
  if (!asker.number(deviceAvailable) || !asker.number(deviceCompiler) || !asker.number(deviceLittle))
    return "it is not available, has no compiler, or stores the high byte first";
  if (version.starts_with("OpenCL 1.0") || version.starts_with("OpenCL 1.1"))
    return "OpenCL 1.2 is needed";
  constexpr uint64_t needed = floatDenormals | floatSpecials | floatNearest | floatDivides;
  if ((asker.number(deviceFloats) & needed) != needed)
    return "it does not compute f32 as IEEE 754 says: denormals, infinity and NaN, and division rounded once are "
           "needed";
  return "";
}

DeviceFound describe(const Driver &driver, Platform platform, Ordinal ordinal) {
  Asker asker{driver, ordinal};
  DeviceFound found{{}, platform, ordinal};
  DeviceFacts &facts = found.facts;
  const std::string version = asker.text(deviceVersion);
  facts.memoryBytes = asker.number(deviceMemory);
  facts.identity = asker.text(deviceName) + ", " + version + ", driver " + asker.text(deviceDriver) + ", " +
                   std::to_string(facts.memoryBytes >> 20) + " MiB";
  facts.processors = static_cast<unsigned>(asker.number(deviceUnits));
  facts.megahertz = static_cast<unsigned>(asker.number(deviceMegahertz));
  facts.alignment = 16;
  facts.workgroupThreads = static_cast<unsigned>(asker.number(deviceGroupThreads));
  facts.sharedBytes = asker.number(deviceShared);
  found.largestBytes = asker.number(deviceLargest);
  found.isCPU = asker.number(deviceType) == typeCPU;
  found.refusal = refusalOf(asker, version);
  if (asker.code != 0)
    found.refusal = "its facts cannot be read: " + Driver::statusOf(asker.code).message();
  // Before OpenCL 3.0 a device without f64 need not know the question.
  const bool hasDoubles = asker.number(deviceDoubles) != 0;
  facts.dtypes = dtypesWith(/*has8Bits=*/true, /*has16Bits=*/true, hasDoubles);
  const std::string extensions = asker.text(deviceExtensions);
  const bool hasSubgroups = extensions.find("cl_khr_subgroups") != std::string::npos ||
                            extensions.find("cl_intel_subgroups") != std::string::npos;
  // Kernels of the record for processors have no workgroups; those of another one may run there, too.
  found.setTarget(found.isCPU ? "opencl-cpu" : "opencl", hasSubgroups && !found.isCPU);
  found.hasSubgroups = hasSubgroups;
  found.recording = recordingOf(driver, platform, ordinal);
  return found;
}

} // namespace

Status Driver::statusOf(Code code) {
  if (code == 0)
    return Status::ok();
  // A queue is ours and valid, until the driver has given up its context.
  const bool isLost = code == codeDeviceGone || code == codeInvalidQueue;
  return driverFailure(nameOf(code, names), code == codeNoMemoryForObject || code == codeOutOfHostMemory, isLost);
}

Status Driver::statusOfWait(Code code) {
  const Status status = statusOf(code);
  return status.isOk() ? status : Status(ErrorCode::DeviceLost, status.message());
}

Result<const Driver *> Driver::open() {
  // The default of PoCL 3.1, `loopvec`, made endless loops of two reductions over columns. A value that is set stays.
  (void)::setenv("POCL_WORK_GROUP_METHOD", "loops", /*overwrite=*/0);
  return openDriver<Driver>("OPENCL_DRIVER", "libOpenCL.so.1", {"the loader of OpenCL", "OpenCL 1.2"}, symbols);
}

Result<std::vector<DeviceFound>> Driver::find() const {
  std::vector<DeviceFound> found;
  unsigned numPlatforms = 0;
  if (const Code code = platforms(0, nullptr, &numPlatforms); code != 0 && code != codeNoPlatform)
    return Status(statusOf(code).code(), "cannot list the platforms of OpenCL: " + statusOf(code).message());
  std::vector<Platform> all(numPlatforms);
  (void)platforms(numPlatforms, all.data(), nullptr);
  for (Platform platform : all) {
    unsigned numDevices = 0;
    (void)devices(platform, typeAll, 0, nullptr, &numDevices);
    std::vector<Ordinal> ordinals(numDevices);
    (void)devices(platform, typeAll, numDevices, ordinals.data(), nullptr);
    for (Ordinal ordinal : ordinals)
      found.push_back(describe(*this, platform, ordinal));
  }
  if (found.empty())
    return Status::notFound(numPlatforms == 0 ? "no driver of OpenCL is installed (ICD)"
                                              : "no driver of OpenCL has a device");
  return found;
}
