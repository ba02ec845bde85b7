//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A loader of OpenCL over the host's memory, for what real drivers do rarely: to lack something, to refuse, to be lost.
// Commands are done when they are handed over. Of kernels it knows one, `k_increment` of 32-bit integers; texts with
// the word "wrong" do not compile. Kernels are executed by PoCL, in the conformance suite.
//===----------------------------------------------------------------------===//
#include "FakeOpenCL.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Code = int32_t;
struct Object {
  std::vector<unsigned char> bytes;
};
struct Program {
  std::string text;
  bool isBuilt = false;
};
/// Memory that was given back last is given out first.
std::vector<std::unique_ptr<Object>> released;
struct Kernel;
/// Those there are: an argument that is memory ends with it, even where other memory has its name later.
std::set<Kernel *> kernels;
using Arguments = std::vector<std::vector<unsigned char>>;
struct List {
  std::vector<std::function<Code()>> commands;
  bool isFinished = false;
};
struct Kernel {
  Kernel() { kernels.insert(this); }
  ~Kernel() { kernels.erase(this); }
  Kernel(const Kernel &) = delete;
  Arguments arguments;
};

FakeOpenCL fake;
int platform, devices[2], context, queue, event;

bool fails(const char *call) { return fake.failIn && std::strcmp(fake.failIn, call) == 0 && --fake.after == 0; }
#define ZYX_MAY_FAIL                                                                                                   \
  if (fails(__func__))                                                                                                 \
  return fake.failWith

Code give(const void *value, size_t bytes, size_t room, void *into, size_t *size) {
  if (size)
    *size = bytes;
  if (into && room < bytes)
    return -30;
  if (into)
    std::memcpy(into, value, bytes);
  return 0;
}
template <typename T> Code giveNumber(T value, size_t room, void *into, size_t *size) {
  return give(&value, sizeof(value), room, into, size);
}
Code giveText(const std::string &text, size_t room, void *into, size_t *size) {
  return give(text.c_str(), text.size() + 1, room, into, size);
}

template <typename T> T *made(T *object, const char *call, int &count, Code *code) {
  *code = fails(call) ? fake.failWith : 0;
  count += *code == 0;
  return *code == 0 ? object : nullptr;
}

/// The same of an object of its own, which a call that fails does not leave behind.
template <typename T> T *made(std::unique_ptr<T> object, const char *call, int &count, Code *code) {
  return made(object.get(), call, count, code) ? object.release() : nullptr;
}

Program *programOf(std::string text, const char *call, Code *code) {
  Program *program = made(std::make_unique<Program>(), call, fake.programs, code);
  if (program)
    program->text = std::move(text);
  return program;
}

} // namespace

extern "C" {

FakeOpenCL *zyxFakeOpenCL() { return &fake; }

Code clGetPlatformIDs(unsigned room, void **into, unsigned *count) {
  ZYX_MAY_FAIL;
  if (fake.platforms == 0)
    return -1001;
  if (room != 0)
    *into = &platform;
  if (count)
    *count = 1;
  return 0;
}
Code clGetDeviceIDs(void *, uint64_t, unsigned room, void **into, unsigned *count) {
  for (unsigned i = 0; i < room; ++i)
    into[i] = &devices[i];
  if (count)
    *count = static_cast<unsigned>(fake.devices);
  return fake.devices == 0 ? -1 : 0;
}
Code clGetDeviceInfo(void *device, unsigned what, size_t room, void *into, size_t *size) {
  ZYX_MAY_FAIL;
  switch (what) {
  case 0x102b:
    return giveText(device == devices ? "Fake" : "Other", room, into, size);
  case 0x102f:
    return giveText(fake.version, room, into, size);
  case 0x1030:
    return giveText(fake.extensions, room, into, size);
  case 0x102d:
    return giveText(fake.driver, room, into, size);
  case 0x1000:
    return giveNumber<uint64_t>(fake.type, room, into, size);
  case 0x1002:
    return giveNumber<uint32_t>(4, room, into, size);
  case 0x100c:
    return giveNumber<uint32_t>(1000, room, into, size);
  case 0x1004:
    return giveNumber<uint64_t>(fake.groupThreads, room, into, size);
  case 0x1010:
    return giveNumber<uint64_t>(fake.largestBytes, room, into, size);
  case 0x101b:
    return giveNumber<uint64_t>(fake.floats, room, into, size);
  case 0x101f:
    return giveNumber<uint64_t>(uint64_t(1) << 30, room, into, size);
  case 0x1023:
    return giveNumber<uint64_t>(fake.sharedBytes, room, into, size);
  case 0x1026:
  case 0x1027:
    return giveNumber<uint32_t>(1, room, into, size);
  case 0x1028:
    return giveNumber<uint32_t>(fake.compiler, room, into, size);
  case 0x1032:
    return giveNumber<uint64_t>(fake.doubles, room, into, size);
  case 0x1060: {
    // A version and a name of 64 characters, for each.
    char all[2][68] = {};
    std::strcpy(all[0] + 4, "cl_khr_fp64");
    std::memcpy(all[1], &fake.recordingVersion, 4);
    std::strcpy(all[1] + 4, "cl_khr_command_buffer");
    return fake.recordingVersion == 0 ? -30 : give(all, sizeof(all), room, into, size);
  }
  default:
    return -30;
  }
}

void *clCreateContext(const intptr_t *, unsigned, void *const *, void *, void *, Code *code) {
  return made(&context, __func__, fake.contexts, code);
}
Code clReleaseContext(void *) { return fake.contexts--, 0; }
void *clCreateCommandQueue(void *, void *, uint64_t, Code *code) { return made(&queue, __func__, fake.queues, code); }
Code clReleaseCommandQueue(void *) { return fake.queues--, 0; }
Code clFlush(void *) {
  ZYX_MAY_FAIL;
  return 0;
}
Code clFinish(void *) {
  ZYX_MAY_FAIL;
  return 0;
}

void *clCreateBuffer(void *, uint64_t, size_t bytes, void *, Code *code) {
  if (released.empty())
    released.push_back(std::make_unique<Object>());
  Object *object = made(released.back().get(), __func__, fake.memories, code);
  if (object) {
    (void)released.back().release();
    released.pop_back();
    object->bytes.assign(bytes, 0);
  }
  return object;
}
Code clReleaseMemObject(void *memory) {
  for (Kernel *kernel : kernels)
    for (std::vector<unsigned char> &argument : kernel->arguments)
      if (argument.size() == sizeof(memory) && std::memcmp(argument.data(), &memory, sizeof(memory)) == 0)
        argument.clear();
  released.emplace_back(static_cast<Object *>(memory));
  return fake.memories--, 0;
}
Code clEnqueueMigrateMemObjects(void *, unsigned, void *const *, uint64_t, unsigned, void *const *, void **) {
  ZYX_MAY_FAIL;
  return 0;
}
static bool isOutside(const Object *object, size_t offset, size_t bytes) {
  return !object || offset + bytes > object->bytes.size();
}
Code clEnqueueWriteBuffer(void *, Object *to, unsigned, size_t offset, size_t bytes, const void *from, unsigned,
                          void *const *, void **) {
  ZYX_MAY_FAIL;
  if (isOutside(to, offset, bytes))
    return -30;
  std::memcpy(to->bytes.data() + offset, from, bytes);
  return 0;
}
Code clEnqueueReadBuffer(void *, Object *from, unsigned, size_t offset, size_t bytes, void *to, unsigned, void *const *,
                         void **) {
  ZYX_MAY_FAIL;
  if (isOutside(from, offset, bytes))
    return -30;
  std::memcpy(to, from->bytes.data() + offset, bytes);
  return 0;
}
Code clEnqueueCopyBuffer(void *, Object *from, Object *to, size_t fromOffset, size_t toOffset, size_t bytes, unsigned,
                         void *const *, void **) {
  ZYX_MAY_FAIL;
  if (isOutside(from, fromOffset, bytes) || isOutside(to, toOffset, bytes))
    return -30;
  std::memcpy(to->bytes.data() + toOffset, from->bytes.data() + fromOffset, bytes);
  return 0;
}
Code clEnqueueFillBuffer(void *, Object *to, const void *pattern, size_t size, size_t offset, size_t bytes, unsigned,
                         void *const *, void **) {
  ZYX_MAY_FAIL;
  if (isOutside(to, offset, bytes) || offset % size != 0 || bytes % size != 0)
    return -30;
  for (size_t done = 0; done < bytes; done += size)
    std::memcpy(to->bytes.data() + offset + done, pattern, size);
  return 0;
}

void *clCreateProgramWithSource(void *, unsigned, const char **texts, const size_t *sizes, Code *code) {
  return programOf(std::string(texts[0], sizes[0]), __func__, code);
}
void *clCreateProgramWithBinary(void *, unsigned, void *const *, const size_t *sizes, const unsigned char **bytes,
                                Code *taken, Code *code) {
  *taken = 0;
  ++fake.binaryBuilds;
  return programOf(std::string(reinterpret_cast<const char *>(bytes[0]), sizes[0]), __func__, code);
}
Code clBuildProgram(Program *program, unsigned, void *const *, const char *, void *, void *) {
  ZYX_MAY_FAIL;
  // Of another process, which has no test to say it.
  if (const char *ends = std::getenv("FAKE_OPENCL_BUILD")) {
    if (std::strcmp(ends, "hangs") == 0)
      ::pause();
    std::fputs("the fake driver's compiler is lost\n", stderr);
    std::raise(SIGSEGV);
  }
  ++fake.builds;
  program->isBuilt = program->text.find("wrong") == std::string::npos;
  return program->isBuilt ? 0 : -11;
}
Code clGetProgramBuildInfo(Program *, void *, unsigned, size_t room, void *into, size_t *size) {
  return giveText("1:1: error: that is wrong", room, into, size);
}
Code clGetProgramInfo(Program *program, unsigned what, size_t room, void *into, size_t *size) {
  if (what == 0x1165)
    return giveNumber<size_t>(program->text.size(), room, into, size);
  std::memcpy(*static_cast<void **>(into), program->text.data(), program->text.size());
  return 0;
}
Code clReleaseProgram(Program *program) {
  delete program;
  return fake.programs--, 0;
}

void *clCreateKernel(Program *program, const char *name, Code *code) {
  if (!program->isBuilt || std::strcmp(name, "k_increment") != 0)
    return *code = -46, nullptr;
  return made(std::make_unique<Kernel>(), __func__, fake.kernels, code);
}
Code clReleaseKernel(Kernel *kernel) {
  delete kernel;
  return fake.kernels--, 0;
}
Code clGetKernelWorkGroupInfo(Kernel *, void *, unsigned what, size_t room, void *into, size_t *size) {
  return giveNumber<uint64_t>(what == 0x11b0 ? fake.groupThreads : 0, room, into, size);
}
Code clSetKernelArg(Kernel *kernel, unsigned index, size_t bytes, const void *value) {
  ZYX_MAY_FAIL;
  ++fake.argumentsSet;
  kernel->arguments.resize(std::max<size_t>(kernel->arguments.size(), index + 1));
  const auto *begin = static_cast<const unsigned char *>(value);
  kernel->arguments[index].assign(begin, begin + bytes);
  return 0;
}
static Code run(const Arguments &arguments, const size_t *all, const size_t *threads) {
  if (*threads > fake.groupThreads || *all % *threads != 0)
    return -54;
  ++fake.launches;
  fake.launchedThreads = std::max<uint64_t>(fake.launchedThreads, *threads);
  fake.launchedAll = std::max<uint64_t>(fake.launchedAll, *all);
  const auto number = [&](size_t index) {
    uint64_t value;
    std::memcpy(&value, arguments[index].data(), sizeof(value));
    return value;
  };
  if (arguments.size() != 7 || std::ranges::any_of(arguments, [](auto &each) { return each.empty(); }))
    return -52;
  const auto *from = reinterpret_cast<const Object *>(number(0));
  auto *to = reinterpret_cast<Object *>(number(2));
  const uint64_t programs = number(6);
  if (isOutside(from, number(1), 4 * programs) || isOutside(to, number(3), 4 * programs))
    return -30;
  for (uint64_t i = 0; i < programs; ++i) {
    int32_t value;
    std::memcpy(&value, from->bytes.data() + number(1) + 4 * i, 4);
    ++value;
    std::memcpy(to->bytes.data() + number(3) + 4 * i, &value, 4);
  }
  return 0;
}
Code clEnqueueNDRangeKernel(void *, Kernel *kernel, unsigned, const size_t *, const size_t *all, const size_t *threads,
                            unsigned, void *const *, void **) {
  ZYX_MAY_FAIL;
  return run(kernel->arguments, all, threads);
}

// Lists of commands. A kernel's arguments are what they are when it is put there.
static List *clCreateCommandBufferKHR(unsigned, void *const *, const uint64_t *properties, Code *code) {
  if (properties[0] != 0x1293 || properties[1] != 1 || properties[2] != 0)
    return *code = -30, nullptr;
  return made(std::make_unique<List>(), __func__, fake.lists, code);
}
static Code clFinalizeCommandBufferKHR(List *list) {
  ZYX_MAY_FAIL;
  list->isFinished = true;
  return ++fake.listsFinished, 0;
}
static Code clReleaseCommandBufferKHR(List *list) {
  delete list;
  return --fake.lists, 0;
}
static Code clEnqueueCommandBufferKHR(unsigned, void **, List *list, unsigned, void *const *, void **) {
  ZYX_MAY_FAIL;
  if (!list->isFinished)
    return -59;
  ++fake.listLaunches;
  for (const auto &command : list->commands)
    if (const Code code = command(); code != 0)
      return code;
  return 0;
}
static Code clCommandNDRangeKernelKHR(List *list, void *, const uint64_t *, Kernel *kernel, unsigned, const size_t *,
                                      const size_t *all, const size_t *threads, unsigned, const unsigned *, unsigned *,
                                      void **) {
  ZYX_MAY_FAIL;
  list->commands.push_back(
      [arguments = kernel->arguments, all = *all, threads = *threads] { return run(arguments, &all, &threads); });
  return 0;
}
static Code clCommandCopyBufferKHR(List *list, void *, const uint64_t *, Object *from, Object *to, size_t fromOffset,
                                   size_t toOffset, size_t bytes, unsigned, const unsigned *, unsigned *, void **) {
  ZYX_MAY_FAIL;
  list->commands.push_back(
      [=] { return clEnqueueCopyBuffer(nullptr, from, to, fromOffset, toOffset, bytes, 0, nullptr, nullptr); });
  return 0;
}
static Code clCommandFillBufferKHR(List *list, void *, const uint64_t *, Object *to, const void *pattern, size_t size,
                                   size_t offset, size_t bytes, unsigned, const unsigned *, unsigned *, void **) {
  ZYX_MAY_FAIL;
  const auto *begin = static_cast<const unsigned char *>(pattern);
  list->commands.push_back([=, kept = std::vector(begin, begin + size)] {
    return clEnqueueFillBuffer(nullptr, to, kept.data(), size, offset, bytes, 0, nullptr, nullptr);
  });
  return 0;
}
void *clGetExtensionFunctionAddressForPlatform(void *, const char *name) {
  const auto address = [](auto *function) { return reinterpret_cast<void *>(function); };
  const std::pair<const char *, void *> all[] = {{"clCreateCommandBufferKHR", address(&clCreateCommandBufferKHR)},
                                                 {"clFinalizeCommandBufferKHR", address(&clFinalizeCommandBufferKHR)},
                                                 {"clReleaseCommandBufferKHR", address(&clReleaseCommandBufferKHR)},
                                                 {"clEnqueueCommandBufferKHR", address(&clEnqueueCommandBufferKHR)},
                                                 {"clCommandNDRangeKernelKHR", address(&clCommandNDRangeKernelKHR)},
                                                 {"clCommandCopyBufferKHR", address(&clCommandCopyBufferKHR)},
                                                 {"clCommandFillBufferKHR", address(&clCommandFillBufferKHR)}};
  for (const auto &[known, function] : all)
    if (std::strcmp(known, name) == 0 && !fails(name))
      return function;
  return nullptr;
}

Code clEnqueueMarkerWithWaitList(void *, unsigned, void *const *, void **into) {
  ZYX_MAY_FAIL;
  *into = &event;
  return fake.events++, 0;
}
Code clEnqueueBarrierWithWaitList(void *, unsigned, void *const *, void **) {
  ZYX_MAY_FAIL;
  return 0;
}
Code clWaitForEvents(unsigned, void *const *) {
  ZYX_MAY_FAIL;
  return 0;
}
Code clReleaseEvent(void *) { return fake.events--, 0; }
Code clGetEventProfilingInfo(void *, unsigned, size_t room, void *into, size_t *size) {
  static uint64_t now = 0;
  return giveNumber<uint64_t>(now += 1000, room, into, size);
}

} // extern "C"
