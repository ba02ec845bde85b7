//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Runner.h"

#include "Evaluate.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <iterator>
#include <poll.h>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace zyx::conformance {

namespace {

/// Cases in one graph, and the devices that it runs on.
struct Batch {
  std::vector<size_t> cases, devices;
};

/// One line per event: "V outcome device index free text ulps", "E" where a batch ends.
std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '\n' ? std::string("\\n") : c == '\t' ? std::string(" ") : std::string(1, c);
  return escaped;
}

std::string unescape(const std::string &text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool newline = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    plain += newline ? '\n' : text[i];
    i += newline;
  }
  return plain;
}

std::string encode(const Verdict &verdict) {
  std::string line = std::string("V\t") + static_cast<char>(verdict.outcome) + "\t" + std::to_string(verdict.device) +
                     "\t" + std::to_string(verdict.index) + "\t" + std::to_string(verdict.numFree) + "\t" +
                     escape(verdict.text) + "\t";
  for (const auto &[function, ulps] : verdict.ulps)
    line += function + " " + std::to_string(ulps) + " ";
  return line + "\n";
}

Verdict decode(const std::string &line) {
  std::istringstream stream(line);
  std::string part;
  std::vector<std::string> parts;
  while (std::getline(stream, part, '\t'))
    parts.push_back(part);
  Verdict verdict;
  if (parts.size() < 6)
    return verdict;
  verdict.outcome = static_cast<Outcome>(parts[1][0]);
  verdict.device = std::stoul(parts[2]);
  verdict.index = std::stoul(parts[3]);
  verdict.numFree = std::stoll(parts[4]);
  verdict.text = unescape(parts[5]);
  if (parts.size() > 6) {
    std::istringstream ulps(parts[6]);
    std::string function;
    int64_t largest = 0;
    while (ulps >> function >> largest)
      verdict.ulps[function] = largest;
  }
  return verdict;
}

void writeAll(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      _exit(3);
    done += static_cast<size_t>(written);
  }
}

struct Child {
  pid_t process = -1;
  int file = -1;
  std::vector<Batch> batches;
  /// The batch that runs or comes next, and which of its devices and cases have a verdict.
  size_t current = 0;
  std::set<std::pair<size_t, size_t>> done;
  std::string buffer;
};

class Parent {
public:
  Parent(const std::vector<Case> &cases, const std::vector<MakeDevice> &devices, const RunOptions &options)
      : cases(cases), devices(devices), options(options) {}

  std::vector<Verdict> run();

private:
  void start();
  [[noreturn]] void runChild(const std::vector<Batch> &batches, int file);
  void receive(Child &child);
  void line(Child &child, const std::string &text);
  void finish(Child &child);

  const std::vector<Case> &cases;
  const std::vector<MakeDevice> &devices;
  const RunOptions &options;
  std::deque<Batch> queue;
  std::vector<Child> children;
  std::vector<Verdict> verdicts;
};

void Parent::runChild(const std::vector<Batch> &batches, int file) {
  std::vector<std::unique_ptr<Device>> opened(devices.size());
  for (const Batch &batch : batches) {
    Expectations shared;
    for (size_t device : batch.devices) {
      alarm(options.seconds);
      if (!opened[device])
        opened[device] = devices[device]();
      const auto send = [&](Verdict verdict) {
        verdict.device = device;
        writeAll(file, encode(verdict));
      };
      runBatch(cases, batch.cases, *opened[device], send, &shared);
    }
    writeAll(file, "E\n");
  }
  _exit(0);
}

/// A child takes a share of the queue: opening a compiler has its price.
void Parent::start() {
  const size_t share = std::max<size_t>(1, std::min<size_t>(8, queue.size() / (2 * options.jobs)));
  Child child;
  while (!queue.empty() && child.batches.size() < share) {
    child.batches.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  int ends[2];
  if (pipe(ends) != 0)
    return;
  child.process = fork();
  if (child.process == 0) {
    close(ends[0]);
    runChild(child.batches, ends[1]);
  }
  close(ends[1]);
  child.file = ends[0];
  children.push_back(std::move(child));
}

void Parent::line(Child &child, const std::string &text) {
  if (text[0] == 'V') {
    verdicts.push_back(decode(text));
    child.done.emplace(verdicts.back().device, verdicts.back().index);
    return;
  }
  ++child.current;
  child.done.clear();
}

static std::string howItEnded(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "takes too long";
  if (WIFSIGNALED(status))
    return std::string("ends with signal ") + strsignal(WTERMSIG(status));
  return "exits with " + std::to_string(WEXITSTATUS(status));
}

/// What a child left undone is queued again; the batch in which it died is taken apart, into its devices and then into
/// halves, until the case is found.
void Parent::finish(Child &child) {
  int status = 0;
  close(child.file);
  waitpid(child.process, &status, 0);
  for (size_t i = child.current; i < child.batches.size(); ++i) {
    Batch &batch = child.batches[i];
    if (i != child.current) {
      queue.push_back(std::move(batch));
      continue;
    }
    for (size_t device : batch.devices) {
      std::vector<size_t> left;
      std::ranges::copy_if(batch.cases, std::back_inserter(left),
                           [&](size_t index) { return !child.done.contains({device, index}); });
      const auto middle = left.begin() + static_cast<ptrdiff_t>(left.size() / 2);
      if (batch.devices.size() > 1 && !left.empty()) {
        queue.push_back({std::move(left), {device}});
      } else if (left.size() == 1) {
        verdicts.push_back({left[0], device, Outcome::Crash, 0, howItEnded(status), {}});
      } else if (!left.empty()) {
        queue.push_back({{left.begin(), middle}, {device}});
        queue.push_back({{middle, left.end()}, {device}});
      }
    }
  }
}

void Parent::receive(Child &child) {
  char bytes[65536];
  const ssize_t count = read(child.file, bytes, sizeof(bytes));
  if (count < 0 && errno == EINTR)
    return;
  if (count <= 0) {
    finish(child);
    child.process = -1;
    return;
  }
  child.buffer.append(bytes, static_cast<size_t>(count));
  size_t end = 0;
  while ((end = child.buffer.find('\n')) != std::string::npos) {
    line(child, child.buffer.substr(0, end));
    child.buffer.erase(0, end + 1);
  }
}

std::vector<Verdict> Parent::run() {
  for (size_t i = 0; i < cases.size(); i += options.batch) {
    Batch batch;
    for (size_t j = i; j < std::min(cases.size(), i + options.batch); ++j)
      batch.cases.push_back(j);
    for (size_t device = 0; device < devices.size(); ++device)
      batch.devices.push_back(device);
    queue.push_back(std::move(batch));
  }
  while (!queue.empty() || !children.empty()) {
    while (!queue.empty() && children.size() < static_cast<size_t>(options.jobs))
      start();
    std::vector<pollfd> files;
    for (const Child &child : children)
      files.push_back({child.file, POLLIN, 0});
    poll(files.data(), files.size(), -1);
    for (size_t i = 0; i < files.size(); ++i)
      if (files[i].revents)
        receive(children[i]);
    std::erase_if(children, [](const Child &child) { return child.process < 0; });
  }
  return std::move(verdicts);
}

} // namespace

std::vector<Verdict> runCases(const std::vector<Case> &cases, const std::vector<MakeDevice> &devices,
                              const RunOptions &options) {
  return Parent(cases, devices, options).run();
}

} // namespace zyx::conformance
