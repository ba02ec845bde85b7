//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// zyx-bench CONTENDER THREADS [LIBRARY PREFIX]: measures when its standard input says so, one line of
// JSON for each request and each answer. benchmarks/cpu/driver.py gives several such processes their
// turns.
#include "Worker.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>

using namespace zyx::bench;
using nlohmann::json;

namespace {

double seconds(const Call &call, int64_t repeat) {
  auto began = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < repeat; ++i)
    call();
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  return taken.count() / static_cast<double>(repeat);
}

Memory read(const json &tensor) {
  Memory memory(tensor.at("bytes").get<size_t>());
  std::ifstream file(tensor.at("path").get<std::string>(), std::ios::binary);
  if (!file.read(memory.as<char>(), static_cast<std::streamsize>(memory.size())))
    throw std::runtime_error("cannot read " + tensor.at("path").get<std::string>());
  return memory;
}

Contender make(const std::vector<std::string> &arguments, json &details) {
  const unsigned threads = static_cast<unsigned>(std::stoul(arguments.at(1)));
  if (arguments[0] == "zyx")
    return zyxContender(threads, details);
  if (arguments[0] == "blas")
    return blasContender(arguments.at(2), arguments.size() > 3 ? arguments[3] : "");
  if (arguments[0] == "onednn")
    return onednnContender();
  if (arguments[0] == "pool")
    return poolContender(threads);
  if (arguments[0] == "triad")
    return triadContender(threads);
  throw std::runtime_error("no contender " + arguments[0]);
}

class Worker {
public:
  explicit Worker(const std::vector<std::string> &arguments) : contender(make(arguments, details)) {}

  json answer(const json &request) {
    const std::string what = request.at("do");
    if (what == "version")
      return {{"version", contender.version}};
    const std::string name = request.at("name");
    if (what == "prepare")
      return prepare(name, request);
    if (what == "round")
      return measure(prepared.at(name), request.at("seconds"));
    if (what == "release") {
      prepared.erase(name);
      return json::object();
    }
    throw std::runtime_error("no request " + what);
  }

private:
  struct Prepared {
    Task task;
    Call call;
    /// Seconds of a call, the least of those seen.
    double once;
  };

  json prepare(const std::string &name, const json &request) {
    std::vector<Memory> inputs;
    for (const json &input : request.at("inputs"))
      inputs.push_back(read(input));
    Task task{request.at("kind"),      request.value("variant", ""),
              request.at("arguments"), request.value("program", ""),
              std::move(inputs),       Memory(request.at("output").at("bytes").get<size_t>())};
    details = json::object();
    Call call = contender.prepare(task);
    call();
    std::ofstream file(request.at("output").at("path").get<std::string>(), std::ios::binary);
    file.write(task.output.as<char>(), static_cast<std::streamsize>(task.output.size()));
    if (!file.flush())
      throw std::runtime_error("cannot write the output");
    const double once = std::min(seconds(call, 1), seconds(call, 1));
    prepared.insert_or_assign(name, Prepared{std::move(task), std::move(call), once});
    return details;
  }

  /// A sample of about that long. Before it come calls that fill the caches and wake the threads, but
  /// where a call takes so long that it does that itself.
  static json measure(Prepared &what, double sample) {
    if (what.once < 5 * sample)
      seconds(what.call, std::clamp<int64_t>(static_cast<int64_t>(sample / 4 / what.once), 1, 2000));
    const double taken = seconds(what.call, std::clamp<int64_t>(static_cast<int64_t>(sample / what.once), 1, 100000));
    what.once = std::min(what.once, taken);
    return {{"seconds", taken}};
  }

  json details = json::object();
  Contender contender;
  std::map<std::string, Prepared> prepared;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: zyx-bench CONTENDER THREADS [LIBRARY PREFIX]; see benchmarks/cpu.sh\n";
    return 2;
  }
  try {
    Worker worker({argv + 1, argv + argc});
    for (std::string line; std::getline(std::cin, line);) {
      json answer;
      try {
        answer = worker.answer(json::parse(line));
      } catch (const Unsupported &why) {
        answer = {{"unsupported", why.what()}};
      } catch (const std::exception &failure) {
        answer = {{"error", failure.what()}};
      }
      std::cout << answer.dump() << std::endl;
    }
  } catch (const std::exception &failure) {
    std::cout << json{{"error", failure.what()}}.dump() << std::endl;
    return 1;
  }
}
