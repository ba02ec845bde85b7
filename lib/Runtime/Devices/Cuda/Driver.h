//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What we use of NVIDIA's driver, and of AMD's: the library is opened at run time, and its functions are declared here,
// so that no header and no library of CUDA or HIP is needed to build. Numbers and structs are the same in both.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_DRIVER_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_DRIVER_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <cstdint>

namespace zyx::runtime::cuda {

/// 0 is success.
using Code = int;
using Ordinal = int;
using Address = uint64_t;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using MemoryPoolHandle = struct MemoryPoolTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;
using Node = struct NodeTag *;

/// Codes by their meaning to us; the numbers are the driver's.
inline constexpr Code codeOutOfMemory = 2;
/// The process ends, and the driver is gone already.
inline constexpr Code codeDeinitialized = 4;
inline constexpr Code codeUncorrectable = 214;
/// From here on, and up to the last, kernels have failed in a way that the context does not survive, but
/// for those of the list in `isLoss`.
inline constexpr Code codeIllegalAddress = 700, codeOutOfResources = 701, codeLaunchFailed = 719;
inline constexpr Code codeUnknown = 999;

/// True for codes after which nothing on the device works any more.
bool isLoss(Code code);

/// Attributes of devices, streams, events, modules and functions, by the driver's numbers.
inline constexpr int attributeGroupThreads = 1, attributeWarp = 10, attributeKilohertz = 13, attributeProcessors = 16,
                     attributeMajor = 75, attributeMinor = 76, attributeGroupBytes = 97;
inline constexpr unsigned streamNonBlocking = 1, eventDefault = 0, eventNoTiming = 2, hostPortable = 1, hostMapped = 2,
                          waitForEqual = 1;
inline constexpr int jitErrorLog = 5, jitErrorLogSize = 6;
inline constexpr int poolReleaseThreshold = 4;
inline constexpr int functionOwnSharedBytes = 1, functionSharedBytes = 8;
/// Who may use the memory of a pool, laid out as the driver reads it: a device by its number.
inline constexpr int placeOfDevice = 1, accessReadWrite = 3;
struct PoolAccess {
  int placeKind = placeOfDevice;
  Ordinal device = 0;
  int access = accessReadWrite;
};
/// Of a pool that is made, laid out as the driver reads it: plain memory of a device, which no other process imports.
inline constexpr int memoryPinned = 1;
struct PoolProperties {
  int kind = memoryPinned, handles = 0;
  int placeKind = placeOfDevice;
  Ordinal device = 0;
  void *security = nullptr;
  unsigned char reserved[64] = {};
};
/// What copies move, by its size: nothing is computed with it. Elements outside are zero.
inline constexpr int tensorMapBytes = 0, tensorMapShorts = 1, tensorMapWords = 2;
inline constexpr int tensorMapNotInterleaved = 0, tensorMapFillsZero = 0, tensorMapFetches256Bytes = 3;

/// What the copy engine knows of a buffer, as the driver writes it.
struct alignas(64) TensorMap {
  uint64_t words[16];
};

/// Commands of a graph, laid out as the driver reads them: its structs, those of kernels in their first version.
struct KernelNode {
  Function function = nullptr;
  unsigned groups[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  void **parameters = nullptr, **extra = nullptr;
};
inline constexpr int memoryOfDevice = 2;
/// One end of a copy; of a box whose rows are one behind the other.
struct CopyEnd {
  size_t x = 0, y = 0, z = 0, level = 0;
  int memory = memoryOfDevice;
  void *host = nullptr;
  Address address = 0;
  void *array = nullptr, *reserved = nullptr;
  size_t pitch = 0, rows = 1;
};
struct CopyNode {
  CopyEnd from, to;
  size_t width = 0, height = 1, depth = 1;
};
struct FillNode {
  Address address = 0;
  size_t pitch = 0;
  unsigned value = 0, elementBytes = 4;
  /// In elements.
  size_t width = 0, height = 1;
};
/// Between two kernels: the second one begins when all workgroups of the first have said so, and waits by itself.
struct EdgeData {
  unsigned char from = 1, to = 0, type = 1, reserved[5] = {};
};

/// X(member, CUDA's symbol, HIP's symbol, parameters): every function returns a Code. HIP's do the same.
#define ZYX_DRIVER_FUNCTIONS(X)                                                                                        \
  X(init, cuInit, hipInit, (unsigned))                                                                                 \
  X(driverVersion, cuDriverGetVersion, hipDriverGetVersion, (int *))                                                   \
  X(errorName, cuGetErrorName, hipDrvGetErrorName, (Code, const char **))                                              \
  X(errorText, cuGetErrorString, hipDrvGetErrorString, (Code, const char **))                                          \
  X(deviceCount, cuDeviceGetCount, hipGetDeviceCount, (int *))                                                         \
  X(deviceGet, cuDeviceGet, hipDeviceGet, (Ordinal *, int))                                                            \
  X(deviceName, cuDeviceGetName, hipDeviceGetName, (char *, int, Ordinal))                                             \
  X(deviceMemory, cuDeviceTotalMem_v2, hipDeviceTotalMem, (size_t *, Ordinal))                                         \
  X(memoryInfo, cuMemGetInfo_v2, hipMemGetInfo, (size_t *, size_t *))                                                  \
  X(poolCreate, cuMemPoolCreate, hipMemPoolCreate, (MemoryPoolHandle *, const PoolProperties *))                       \
  X(poolDestroy, cuMemPoolDestroy, hipMemPoolDestroy, (MemoryPoolHandle))                                              \
  X(poolSet, cuMemPoolSetAttribute, hipMemPoolSetAttribute, (MemoryPoolHandle, int, void *))                           \
  X(poolTrim, cuMemPoolTrimTo, hipMemPoolTrimTo, (MemoryPoolHandle, size_t))                                           \
  X(poolAccess, cuMemPoolSetAccess, hipMemPoolSetAccess, (MemoryPoolHandle, const PoolAccess *, size_t))               \
  X(deviceReaches, cuDeviceCanAccessPeer, hipDeviceCanAccessPeer, (int *, Ordinal, Ordinal))                           \
  X(contextRetain, cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain, (Context *, Ordinal))                          \
  X(contextRelease, cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, (Ordinal))                               \
  X(contextPush, cuCtxPushCurrent_v2, hipCtxPushCurrent, (Context))                                                    \
  X(contextPop, cuCtxPopCurrent_v2, hipCtxPopCurrent, (Context *))                                                     \
  X(streamCreate, cuStreamCreate, hipStreamCreateWithFlags, (Stream *, unsigned))                                      \
  X(streamDestroy, cuStreamDestroy_v2, hipStreamDestroy, (Stream))                                                     \
  X(streamSynchronize, cuStreamSynchronize, hipStreamSynchronize, (Stream))                                            \
  X(streamWait, cuStreamWaitEvent, hipStreamWaitEvent, (Stream, Event, unsigned))                                      \
  X(eventCreate, cuEventCreate, hipEventCreateWithFlags, (Event *, unsigned))                                          \
  X(eventDestroy, cuEventDestroy_v2, hipEventDestroy, (Event))                                                         \
  X(eventRecord, cuEventRecord, hipEventRecord, (Event, Stream))                                                       \
  X(eventSynchronize, cuEventSynchronize, hipEventSynchronize, (Event))                                                \
  X(eventElapsed, cuEventElapsedTime, hipEventElapsedTime, (float *, Event, Event))                                    \
  X(allocate, cuMemAllocFromPoolAsync, hipMallocFromPoolAsync, (Address *, size_t, MemoryPoolHandle, Stream))          \
  X(deallocate, cuMemFreeAsync, hipFreeAsync, (Address, Stream))                                                       \
  X(allocateHost, cuMemHostAlloc, hipHostMalloc, (void **, size_t, unsigned))                                          \
  X(deallocateHost, cuMemFreeHost, hipHostFree, (void *))                                                              \
  X(copyIn, cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync, (Address, const void *, size_t, Stream))                         \
  X(copyOut, cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync, (void *, Address, size_t, Stream))                              \
  X(copy, cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync, (Address, Address, size_t, Stream))                                \
  X(fill8, cuMemsetD8Async, hipMemsetD8Async, (Address, unsigned char, size_t, Stream))                                \
  X(fill16, cuMemsetD16Async, hipMemsetD16Async, (Address, unsigned short, size_t, Stream))                            \
  X(fill32, cuMemsetD32Async, hipMemsetD32Async, (Address, unsigned, size_t, Stream))                                  \
  X(moduleLoad, cuModuleLoadDataEx, hipModuleLoadDataEx, (Module *, const void *, unsigned, int *, void **))           \
  X(moduleUnload, cuModuleUnload, hipModuleUnload, (Module))                                                           \
  X(moduleFunction, cuModuleGetFunction, hipModuleGetFunction, (Function *, Module, const char *))                     \
  X(launch, cuLaunchKernel, hipModuleLaunchKernel,                                                                     \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void **, void **))

/// X(member, symbol, parameters): what is CUDA's alone, null in a driver of HIP. HIP has most of them with other
/// parameters: what a backend does without is told there.
#define ZYX_CUDA_FUNCTIONS(X)                                                                                          \
  X(deviceAttribute, cuDeviceGetAttribute, (int *, int, Ordinal))                                                      \
  X(copyPeer, cuMemcpyPeerAsync, (Address, Context, Address, Context, size_t, Stream))                                 \
  X(fillRows32, cuMemsetD2D32Async, (Address, size_t, unsigned, size_t, size_t, Stream))                               \
  X(functionSet, cuFuncSetAttribute, (Function, int, int))                                                             \
  X(functionGet, cuFuncGetAttribute, (int *, int, Function))                                                           \
  X(residentGroups, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, Function, int, size_t))                       \
  X(streamWaitValue, cuStreamWaitValue32_v2, (Stream, Address, uint32_t, unsigned))                                    \
  X(graphCreate, cuGraphCreate, (Graph *, unsigned))                                                                   \
  X(graphDestroy, cuGraphDestroy, (Graph))                                                                             \
  X(graphAddKernel, cuGraphAddKernelNode, (Node *, Graph, const Node *, size_t, const KernelNode *))                   \
  X(graphAddCopy, cuGraphAddMemcpyNode, (Node *, Graph, const Node *, size_t, const CopyNode *, Context))              \
  X(graphAddFill, cuGraphAddMemsetNode, (Node *, Graph, const Node *, size_t, const FillNode *, Context))              \
  X(graphInstantiate, cuGraphInstantiateWithFlags, (GraphExec *, Graph, unsigned long long))                           \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec))                                                                 \
  X(graphSetKernel, cuGraphExecKernelNodeSetParams, (GraphExec, Node, const KernelNode *))                             \
  X(graphSetCopy, cuGraphExecMemcpyNodeSetParams, (GraphExec, Node, const CopyNode *, Context))                        \
  X(graphSetFill, cuGraphExecMemsetNodeSetParams, (GraphExec, Node, const FillNode *, Context))                        \
  X(graphLaunch, cuGraphLaunch, (GraphExec, Stream))

/// What is HIP's alone.
#define ZYX_HIP_FUNCTIONS(X) X(properties, hipGetDevicePropertiesR0600, (void *, int))

/// Of CUDA 12, dependencies that have data of 12.3: null in an older driver.
#define ZYX_CUDA_NEWER_FUNCTIONS(X)                                                                                    \
  X(graphAddDependencies, cuGraphAddDependencies_v2, (Graph, const Node *, const Node *, const EdgeData *, size_t))    \
  X(tensorMapEncode, cuTensorMapEncodeTiled,                                                                           \
    (TensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int,  \
     int, int, int))                                                                                                   \
  X(tensorMapEncodePixels, cuTensorMapEncodeIm2col,                                                                    \
    (TensorMap *, int, unsigned, void *, const uint64_t *, const uint64_t *, const int *, const int *, unsigned,       \
     unsigned, const unsigned *, int, int, int, int))

/// Whose driver it is.
enum class Family : uint8_t { CUDA, HIP };

/// The driver's functions.
struct Driver {
#define ZYX_SHARED_MEMBER(member, symbol, hip, parameters) Code(*member) parameters = nullptr;
#define ZYX_MEMBER(member, symbol, parameters) Code(*member) parameters = nullptr;
  ZYX_DRIVER_FUNCTIONS(ZYX_SHARED_MEMBER)
  ZYX_CUDA_FUNCTIONS(ZYX_MEMBER)
  ZYX_CUDA_NEWER_FUNCTIONS(ZYX_MEMBER)
  ZYX_HIP_FUNCTIONS(ZYX_MEMBER)
#undef ZYX_SHARED_MEMBER
#undef ZYX_MEMBER

  /// Opens the library that ZYX_CUDA_DRIVER or ZYX_HIP_DRIVER names, or the system's, and begins with it. It stays
  /// open until the process ends, as the driver asks for. Fails where there is none, where it is too old, and where it
  /// refuses, as without a device or permission.
  static Result<const Driver *> open(Family family);

  /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  std::string describe(Code code) const;
  /// Success, or what the driver says.
  Status statusOf(Code code) const;
  /// Success, or "cannot ACTION: what the driver says".
  Status check(Code code, const std::string &action) const;
};

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_DRIVER_H
