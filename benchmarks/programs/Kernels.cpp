//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs artifacts and says what each kernel takes, for benchmarks/cliffs.py:
//   zyx-bench-kernels DEVICE [THREADS]
// Reads commands, one a line, and answers each with a line of JSON, which has a member "error" where it failed:
//   load FILE [INPUT OUTPUT ...]
//                        an artifact of zyx-compile; what was loaded before is released. Inputs of these numbers are
//                        given up: the outputs lie in their memory
//   input INDEX FILE     the elements of an input, row-major
//   lend input|output INDEX HANDLE OFFSET BYTES
//                        binds memory of another process on the same card: the 64 bytes of cuIpcGetMemHandle in hex,
//                        and where in that allocation it begins
//   release              lets go of the artifact and of what was lent, which the other process may free then
//   run                  runs it
//   output INDEX FILE    writes the elements of an output
//   time COUNT SECONDS   nanoseconds of so many runs, fewer where the time is over; of the device where that has a
//   clock of
//                        its own, and else of the call
//   profile COUNT        of each command the median time of so many runs, what it does, and how often it runs
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/File.h"
#include "zyx/Runtime/Buffer.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Runtime/Executor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace zyx;

namespace {

using Clock = std::chrono::steady_clock;

void check(const Status &status) {
  if (!status.isOk())
    throw std::runtime_error(status.toString());
}
template <typename T> T check(Result<T> result) {
  check(result.status());
  return std::move(*result);
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  return result + "\"";
}

template <typename Numbers> std::string list(const Numbers &numbers) {
  std::string text;
  for (const auto &number : numbers)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return "[" + text + "]";
}

/// How often each command runs; 0 where data says it.
std::vector<uint64_t> passesOf(const artifact::Artifact &artifact) {
  std::vector<uint64_t> passes(artifact.commands.size(), 1);
  for (size_t i = 0; i < passes.size(); ++i)
    if (const auto *loop = std::get_if<artifact::Loop>(&artifact.commands[i].action)) {
      const uint64_t trips = loop->count ? 0 : static_cast<uint64_t>(std::max<int64_t>(loop->trips, 0));
      // Of several bodies each runs in its turn.
      const uint64_t bodies = std::max<size_t>(loop->bodies.size(), 1);
      for (size_t inside = i + 1; inside <= i + loop->body; ++inside)
        passes[inside] *= (trips + bodies - 1) / bodies;
    }
  return passes;
}

/// Allocations of other processes on the first card, each mapped once.
class LentMemory {
public:
  LentMemory() = default;
  LentMemory(const LentMemory &) = delete;
  LentMemory &operator=(const LentMemory &) = delete;
  ~LentMemory() { close(); }

  uint64_t addressOf(const std::string &text) {
    const auto known = addresses.find(text);
    if (known != addresses.end())
      return known->second;
    if (!driver)
      open();
    Handle handle{};
    if (text.size() != 2 * handle.bytes.size())
      throw std::runtime_error("a handle has 64 bytes");
    for (size_t i = 0; i < handle.bytes.size(); ++i)
      if (std::from_chars(&text[2 * i], &text[2 * i] + 2, handle.bytes[i], 16).ptr != &text[2 * i] + 2)
        throw std::runtime_error("a handle is in hex");
    uint64_t address = 0;
    constexpr unsigned lazyPeerAccess = 1;
    check(openHandle(&address, handle, lazyPeerAccess), "cuIpcOpenMemHandle");
    return addresses[text] = address;
  }
  void close() {
    for (const auto &[text, address] : addresses)
      closeHandle(address);
    addresses.clear();
  }

private:
  struct Handle {
    std::array<unsigned char, 64> bytes;
  };
  static void check(int code, const char *call) {
    if (code != 0)
      throw std::runtime_error(std::string(call) + " gives " + std::to_string(code));
  }
  template <typename Function> void find(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(driver, name));
    if (!function)
      throw std::runtime_error(std::string("the driver has no ") + name);
  }
  void open() {
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver)
      throw std::runtime_error("there is no driver of NVIDIA's");
    find(openHandle, "cuIpcOpenMemHandle_v2");
    find(closeHandle, "cuIpcCloseMemHandle");
    // The context in which zyx's device works.
    int (*retain)(void **, int) = nullptr, (*setCurrent)(void *) = nullptr;
    find(retain, "cuDevicePrimaryCtxRetain");
    find(setCurrent, "cuCtxSetCurrent");
    void *context = nullptr;
    check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(setCurrent(context), "cuCtxSetCurrent");
  }

  void *driver = nullptr;
  int (*openHandle)(uint64_t *, Handle, unsigned) = nullptr, (*closeHandle)(uint64_t) = nullptr;
  std::map<std::string, uint64_t> addresses;
};

class Session {
public:
  Session(const std::string &name, unsigned threads)
      : isHost(name == "cpu" || name == "c"), device(check(runtime::createDevice(name, {.threads = threads}))) {}

  std::string answer(std::istringstream words) {
    std::string command, path;
    size_t number = 0;
    words >> command;
    if (command == "load") {
      words >> path;
      release();
      const std::vector<std::byte> bytes = check(readFile(path));
      for (artifact::Donation each; words >> each.input >> each.output;)
        donations.push_back(each);
      executor =
          check(runtime::Executor::create(device, check(artifact::Artifact::deserialize(bytes, path)), donations));
      return "{\"kernels\":" + std::to_string(executor->artifact().kernels.size()) +
             ",\"arena\":" + std::to_string(executor->artifact().arenaSize) + "}";
    }
    if (command == "release") {
      release();
      return "{}";
    }
    if (!executor)
      throw std::runtime_error("nothing is loaded");
    if (command == "input" && words >> number >> path) {
      const std::shared_ptr<const FileMapping> mapping = check(check(ReadOnlyFile::open(path)).map());
      if (std::ranges::find(donations, number, &artifact::Donation::input) == donations.end()) {
        check(executor->setInput(number, mapping->bytes()));
        return "{}";
      }
      const std::shared_ptr<runtime::Buffer> buffer =
          check(runtime::Buffer::allocate(executor->pool(), mapping->bytes().size()));
      check(buffer->write(mapping->bytes()));
      bindInput(number, buffer);
      return "{}";
    }
    std::string handle;
    uint64_t offset = 0, bytes = 0;
    if (command == "lend" && words >> path >> number >> handle >> offset >> bytes) {
      const std::shared_ptr<runtime::Buffer> buffer =
          check(device->borrow(lent.addressOf(handle) + offset, bytes, nullptr));
      if (path == "input")
        bindInput(number, buffer);
      else
        check(executor->bindOutput(number, buffer));
      return "{}";
    }
    if (command == "output" && words >> number >> path) {
      std::vector<std::byte> bytes(check(sizeOfOutput(number)));
      check(executor->readOutput(number, bytes));
      check(writeFileAtomically(path, bytes));
      return "{}";
    }
    if (command == "run") {
      check(executor->run());
      return "{}";
    }
    double seconds = 0;
    if (command == "time" && words >> number >> seconds)
      return time(number, seconds);
    if (command == "profile" && words >> number)
      return profile(number);
    throw std::runtime_error("there is no command like that");
  }

private:
  void release() {
    executor.reset();
    donations.clear();
    lent.close();
  }

  /// An input that is given up is its output, too.
  void bindInput(size_t number, const std::shared_ptr<runtime::Buffer> &buffer) {
    check(executor->bindInput(number, buffer));
    const auto given = std::ranges::find(donations, number, &artifact::Donation::input);
    if (given != donations.end())
      check(executor->bindOutput(given->output, buffer));
  }

  Result<size_t> sizeOfOutput(size_t index) const {
    const auto &outputs = executor->artifact().outputs;
    if (index >= outputs.size())
      return Status::invalidArgument("there are " + std::to_string(outputs.size()) + " outputs");
    return static_cast<size_t>(*byteSize(outputs[index].type));
  }

  std::string time(size_t count, double seconds) {
    std::vector<uint64_t> took;
    const auto begin = Clock::now();
    while (took.size() < count &&
           (took.empty() || std::chrono::duration<double>(Clock::now() - begin).count() < seconds)) {
      if (!isHost) {
        took.push_back(check(executor->measure(1)).deviceNanoseconds);
        continue;
      }
      const auto start = Clock::now();
      check(executor->run());
      took.push_back(static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count()));
    }
    return "{\"ns\":" + list(took) + "}";
  }

  std::string profile(size_t count) {
    std::vector<std::vector<uint64_t>> times;
    std::vector<runtime::CommandTime> last;
    for (size_t i = 0; i < std::max<size_t>(count, 1); ++i) {
      last = check(executor->profile());
      times.resize(last.size());
      for (size_t each = 0; each < last.size(); ++each)
        times[each].push_back(last[each].nanoseconds);
    }
    const artifact::Artifact &artifact = executor->artifact();
    const std::vector<uint64_t> passes = passesOf(artifact);
    std::string text;
    for (size_t i = artifact.numInitCommands; i < last.size(); ++i) {
      std::ranges::sort(times[i]);
      text += (text.empty() ? "" : ",") + ("{\"name\":" + quoted(last[i].name)) +
              ",\"ns\":" + std::to_string(times[i][times[i].size() / 2]) +
              ",\"flops\":" + std::to_string(last[i].flops) + ",\"bytes\":" + std::to_string(last[i].bytes) +
              ",\"passes\":" + std::to_string(passes[i]) + "}";
    }
    return "{\"kernels\":[" + text + "]}";
  }

  const bool isHost;
  const std::shared_ptr<runtime::Device> device;
  /// Outlives the executor that uses it.
  LentMemory lent;
  std::vector<artifact::Donation> donations;
  std::unique_ptr<runtime::Executor> executor;
};

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc < 2 || argc > 3)
      throw std::runtime_error("usage: zyx-bench-kernels DEVICE [THREADS]");
    Session session(argv[1], argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 0);
    for (std::string line; std::getline(std::cin, line);) {
      std::string answer;
      try {
        answer = session.answer(std::istringstream(line));
      } catch (const std::exception &failure) {
        answer = "{\"error\":" + quoted(failure.what()) + "}";
      }
      std::cout << answer << std::endl;
    }
    return 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "zyx-bench-kernels: %s\n", failure.what());
    return 1;
  }
}
