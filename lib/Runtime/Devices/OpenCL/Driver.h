//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The functions of OpenCL 1.2 that are called, found in the system's loader at run time: no header and no library of
// OpenCL is needed to build. Names are ours; the numbers are those of the specification.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_OPENCL_DRIVER_H
#define ZYX_LIB_RUNTIME_DEVICES_OPENCL_DRIVER_H

#include "../Stream/Refusals.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zyx::runtime::opencl {

using Code = int32_t;
using Platform = struct PlatformTag *;
using Ordinal = struct DeviceTag *;
using Context = struct ContextTag *;
using CommandQueue = struct CommandQueueTag *;
using Memory = struct MemoryTag *;
using Program = struct ProgramTag *;
using Kernel = struct KernelTag *;
using Event = struct EventTag *;
using CommandBuffer = struct CommandBufferTag *;

/// Codes that we know: X(name, the specification's name, number).
#define ZYX_OPENCL_CODES(X)                                                                                            \
  X(codeDeviceGone, CL_DEVICE_NOT_AVAILABLE, -2)                                                                       \
  X(codeNoMemoryForObject, CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                       \
  X(codeOutOfResources, CL_OUT_OF_RESOURCES, -5)                                                                       \
  X(codeOutOfHostMemory, CL_OUT_OF_HOST_MEMORY, -6)                                                                    \
  X(codeBuildFailed, CL_BUILD_PROGRAM_FAILURE, -11)                                                                    \
  X(codeInvalidQueue, CL_INVALID_COMMAND_QUEUE, -36)                                                                   \
  X(codeNoPlatform, CL_PLATFORM_NOT_FOUND_KHR, -1001)
#define ZYX_CODE(name, theirs, number) inline constexpr Code name = number;
ZYX_OPENCL_CODES(ZYX_CODE)
#undef ZYX_CODE

/// What is asked of devices, programs, kernels and events.
inline constexpr unsigned contextPlatform = 0x1084, deviceType = 0x1000, deviceUnits = 0x1002,
                          deviceGroupThreads = 0x1004, deviceMegahertz = 0x100c, deviceLargest = 0x1010,
                          deviceFloats = 0x101b, deviceMemory = 0x101f, deviceShared = 0x1023, deviceLittle = 0x1026,
                          deviceAvailable = 0x1027, deviceCompiler = 0x1028, deviceName = 0x102b, deviceDriver = 0x102d,
                          deviceVersion = 0x102f, deviceExtensions = 0x1030, deviceDoubles = 0x1032,
                          deviceVersions = 0x1060, programSizes = 0x1165, programBinaries = 0x1166, programLog = 0x1183,
                          kernelGroupThreads = 0x11b0, eventEnd = 0x1283;
inline constexpr uint64_t typeCPU = 2, typeAll = 0xffffffff, queueProfiling = 2, memoryReadWrite = 1,
                          migrateUndefined = 2, recordingFlags = 0x1293, oldestRecording = 9 << 12 | 5;
/// Arithmetic of f32: denormals, infinity and NaN, rounding to nearest, division and roots rounded once.
inline constexpr uint64_t floatDenormals = 1, floatSpecials = 2, floatNearest = 4, floatDivides = 128;

/// X(member, symbol, result, parameters). Commands may wait for events, and make one.
#define ZYX_WAITS unsigned, const Event *, Event *
#define ZYX_OPENCL_FUNCTIONS(X)                                                                                        \
  X(platforms, clGetPlatformIDs, Code, (unsigned, Platform *, unsigned *))                                             \
  X(devices, clGetDeviceIDs, Code, (Platform, uint64_t, unsigned, Ordinal *, unsigned *))                              \
  X(deviceInfo, clGetDeviceInfo, Code, (Ordinal, unsigned, size_t, void *, size_t *))                                  \
  X(contextCreate, clCreateContext, Context, (const intptr_t *, unsigned, const Ordinal *, void *, void *, Code *))    \
  X(contextRelease, clReleaseContext, Code, (Context))                                                                 \
  X(queueCreate, clCreateCommandQueue, CommandQueue, (Context, Ordinal, uint64_t, Code *))                             \
  X(queueRelease, clReleaseCommandQueue, Code, (CommandQueue))                                                         \
  X(flush, clFlush, Code, (CommandQueue))                                                                              \
  X(finish, clFinish, Code, (CommandQueue))                                                                            \
  X(memoryCreate, clCreateBuffer, Memory, (Context, uint64_t, size_t, void *, Code *))                                 \
  X(memoryRelease, clReleaseMemObject, Code, (Memory))                                                                 \
  X(migrate, clEnqueueMigrateMemObjects, Code, (CommandQueue, unsigned, const Memory *, uint64_t, ZYX_WAITS))          \
  X(copyIn, clEnqueueWriteBuffer, Code, (CommandQueue, Memory, unsigned, size_t, size_t, const void *, ZYX_WAITS))     \
  X(copyOut, clEnqueueReadBuffer, Code, (CommandQueue, Memory, unsigned, size_t, size_t, void *, ZYX_WAITS))           \
  X(copy, clEnqueueCopyBuffer, Code, (CommandQueue, Memory, Memory, size_t, size_t, size_t, ZYX_WAITS))                \
  X(fill, clEnqueueFillBuffer, Code, (CommandQueue, Memory, const void *, size_t, size_t, size_t, ZYX_WAITS))          \
  X(programOfText, clCreateProgramWithSource, Program, (Context, unsigned, const char **, const size_t *, Code *))     \
  X(programOfBinary, clCreateProgramWithBinary, Program,                                                               \
    (Context, unsigned, const Ordinal *, const size_t *, const unsigned char **, Code *, Code *))                      \
  X(build, clBuildProgram, Code, (Program, unsigned, const Ordinal *, const char *, void *, void *))                   \
  X(buildInfo, clGetProgramBuildInfo, Code, (Program, Ordinal, unsigned, size_t, void *, size_t *))                    \
  X(programInfo, clGetProgramInfo, Code, (Program, unsigned, size_t, void *, size_t *))                                \
  X(programRelease, clReleaseProgram, Code, (Program))                                                                 \
  X(kernelCreate, clCreateKernel, Kernel, (Program, const char *, Code *))                                             \
  X(kernelRelease, clReleaseKernel, Code, (Kernel))                                                                    \
  X(kernelInfo, clGetKernelWorkGroupInfo, Code, (Kernel, Ordinal, unsigned, size_t, void *, size_t *))                 \
  X(kernelSet, clSetKernelArg, Code, (Kernel, unsigned, size_t, const void *))                                         \
  X(launch, clEnqueueNDRangeKernel, Code,                                                                              \
    (CommandQueue, Kernel, unsigned, const size_t *, const size_t *, const size_t *, ZYX_WAITS))                       \
  X(marker, clEnqueueMarkerWithWaitList, Code, (CommandQueue, ZYX_WAITS))                                              \
  X(barrier, clEnqueueBarrierWithWaitList, Code, (CommandQueue, ZYX_WAITS))                                            \
  X(eventWait, clWaitForEvents, Code, (unsigned, const Event *))                                                       \
  X(eventRelease, clReleaseEvent, Code, (Event))                                                                       \
  X(eventTime, clGetEventProfilingInfo, Code, (Event, unsigned, size_t, void *, size_t *))                             \
  X(extension, clGetExtensionFunctionAddressForPlatform, void *, (Platform, const char *))

/// Those of cl_khr_command_buffer, which a platform gives.
#define ZYX_COMMAND CommandBuffer, CommandQueue, const uint64_t *
#define ZYX_SYNCS unsigned, const unsigned *, unsigned *, void **
#define ZYX_OPENCL_RECORDING(X)                                                                                        \
  X(create, clCreateCommandBufferKHR, CommandBuffer, (unsigned, const CommandQueue *, const uint64_t *, Code *))       \
  X(finish, clFinalizeCommandBufferKHR, Code, (CommandBuffer))                                                         \
  X(release, clReleaseCommandBufferKHR, Code, (CommandBuffer))                                                         \
  X(enqueue, clEnqueueCommandBufferKHR, Code, (unsigned, CommandQueue *, CommandBuffer, ZYX_WAITS))                    \
  X(launch, clCommandNDRangeKernelKHR, Code,                                                                           \
    (ZYX_COMMAND, Kernel, unsigned, const size_t *, const size_t *, const size_t *, ZYX_SYNCS))                        \
  X(copy, clCommandCopyBufferKHR, Code, (ZYX_COMMAND, Memory, Memory, size_t, size_t, size_t, ZYX_SYNCS))              \
  X(fill, clCommandFillBufferKHR, Code, (ZYX_COMMAND, Memory, const void *, size_t, size_t, size_t, ZYX_SYNCS))
#define ZYX_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
struct Recording {
  /// As the specification numbers them; 0 without the extension. Before 0.9.5 copies and fills had other parameters,
  /// and PoCL 3.1, which has 0.9.0, launches kernels with the arguments that they have when a list is handed over.
  uint32_t version = 0;
  ZYX_OPENCL_RECORDING(ZYX_MEMBER)
};

struct DeviceFound : FoundFacts {
  Platform platform = nullptr;
  Ordinal ordinal = nullptr;
  bool isCPU = false;
  Recording recording = {};
};

struct Driver {
  static constexpr const char *driverName = "OpenCL", *deviceName = "opencl", *format = "opencl-c";
  ZYX_OPENCL_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_MEMBER

  /// Opens the library that ZYX_OPENCL_DRIVER names, or the system's loader. It stays open until the process ends.
  static Result<const Driver *> open();
  /// All devices of all platforms, in the loader's order.
  Result<std::vector<DeviceFound>> find() const;

  /// Success, or what a code says. A resource that is short is no loss where commands are handed over.
  static Status statusOf(Code code);
  /// The same behind a wait: no command that is over came to its end by a resource that it lacked.
  static Status statusOfWait(Code code);
};

} // namespace zyx::runtime::opencl

#endif // ZYX_LIB_RUNTIME_DEVICES_OPENCL_DRIVER_H
