//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Profile.h"

#include "ProfileLog.h"
#include "State.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/File.h"
#include "zyx/IO/TraceFile.h"

#include <algorithm>
#include <cstdio>

using namespace zyx;
using namespace zyx::detail;

//===----------------------------------------------------------------------===//
// What is told
//===----------------------------------------------------------------------===//

size_t ProfileLog::numberOf(uint64_t program) {
  return programs.try_emplace(program, programs.size() + 1).first->second;
}

KernelTime &ProfileLog::entry(size_t program, size_t command, const std::string &name, const std::string &device) {
  KernelTime &entry = entries[{program, command}];
  if (entry.name.empty())
    entry.name = std::to_string(program) + ":" + name;
  entry.device = device;
  return entry;
}

void ProfileLog::add(uint64_t program, const std::string &device, uint64_t begin, const artifact::Artifact &artifact,
                     std::span<const runtime::CommandTime> times) {
  std::lock_guard lock(mutex);
  const size_t number = numberOf(program);
  for (size_t i = 0; i < times.size(); ++i) {
    KernelTime &kernel = entry(number, i, times[i].name, device);
    if (const auto *launch = std::get_if<artifact::Launch>(&artifact.commands[i].action)) {
      const artifact::SourceLocation &location = artifact.kernels[launch->kernel].location;
      if (!location.file.empty())
        kernel.place = location.file.substr(location.file.rfind('/') + 1) + ":" + std::to_string(location.line);
    }
    // An init that need not run.
    if (i < artifact.numInitCommands && times[i].nanoseconds == 0)
      continue;
    ++kernel.runs;
    kernel.nanoseconds += times[i].nanoseconds;
    kernel.flops += times[i].flops;
    kernel.bytes += times[i].bytes;
    if (tracesRuns)
      trace.add({"device " + artifact.target, kernel.name, kernel.place, begin, times[i].nanoseconds});
    begin += times[i].nanoseconds;
  }
}

void ProfileLog::addEvaluation(uint64_t program, const std::string &device, uint64_t begin) {
  const uint64_t nanoseconds = Trace::now() - begin;
  std::lock_guard lock(mutex);
  KernelTime &evaluation = entry(numberOf(program), 0, "evaluate", device);
  ++evaluation.runs;
  evaluation.nanoseconds += nanoseconds;
  if (tracesRuns)
    trace.add({"device reference", evaluation.name, "", begin, nanoseconds});
}

std::vector<KernelTime> ProfileLog::kernels(const PeakOf &peakOf) const {
  std::vector<KernelTime> all;
  {
    std::lock_guard lock(mutex);
    for (const auto &[key, kernel] : entries)
      all.push_back(kernel);
  }
  std::map<std::string, std::optional<runtime::Peak>> peaks;
  for (const KernelTime &kernel : all)
    if (!peaks.contains(kernel.device))
      peaks[kernel.device] = peakOf(kernel.device);
  for (KernelTime &kernel : all)
    if (const std::optional<runtime::Peak> &peak = peaks[kernel.device]; peak && kernel.nanoseconds != 0)
      kernel.ofPeak =
          std::max(static_cast<double>(kernel.flops) / peak->flops, static_cast<double>(kernel.bytes) / peak->bytes) /
          (static_cast<double>(kernel.nanoseconds) * 1e-9);
  std::ranges::sort(all, std::ranges::greater(), &KernelTime::nanoseconds);
  return all;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// "12.3", or "-" for what is not known.
std::string number(double value, const char *format = "%.1f") {
  if (value == 0)
    return "-";
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

} // namespace

std::string detail::formatProfile(std::span<const KernelTime> kernels) {
  KernelTime sum;
  sum.name = "all";
  // Of those whose device has a peak.
  uint64_t compared = 0;
  for (const KernelTime &kernel : kernels) {
    sum.nanoseconds += kernel.nanoseconds;
    sum.flops += kernel.flops;
    sum.bytes += kernel.bytes;
    sum.ofPeak += kernel.ofPeak * static_cast<double>(kernel.nanoseconds);
    compared += kernel.ofPeak != 0 ? kernel.nanoseconds : 0;
  }
  if (compared != 0)
    sum.ofPeak /= static_cast<double>(compared);
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "place", "runs", "ms", "share", "GFLOP/s", "GB/s", "of peak"}};
  auto add = [&](const KernelTime &kernel) {
    const double time = static_cast<double>(kernel.nanoseconds);
    const double perTime = time == 0 ? 0 : 1 / time;
    rows.push_back({kernel.name, kernel.place, kernel.runs ? std::to_string(kernel.runs) : "",
                    number(time * 1e-6, "%.3f"), number(100 * time / static_cast<double>(sum.nanoseconds), "%.0f%%"),
                    number(static_cast<double>(kernel.flops) * perTime),
                    number(static_cast<double>(kernel.bytes) * perTime), number(100 * kernel.ofPeak, "%.0f%%")});
  };
  for (const KernelTime &kernel : kernels)
    add(kernel);
  add(sum);
  std::vector<size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      // Texts to the left, numbers to the right.
      text += (i == 0 ? "" : "  ") + (i < 2 ? row[i] + blanks : blanks + row[i]);
    }
    text += '\n';
  }
  return text;
}

void detail::printProfile(const ProfileLog &log, const PeakOf &peakOf) {
  const std::vector<KernelTime> kernels = log.kernels(peakOf);
  if (kernels.empty())
    return;
  const std::string table = formatProfile(kernels);
  for (size_t begin = 0, end; begin < table.size(); begin = end + 1) {
    end = table.find('\n', begin);
    printDebug(DebugTopic::Timing, std::string_view(table).substr(begin, end - begin));
  }
}

//===----------------------------------------------------------------------===//
// Profile
//===----------------------------------------------------------------------===//

Profile::Profile(Context context) : state(context.state), log(std::make_shared<ProfileLog>()) {
  state->beginProfile(log);
}
Profile::~Profile() { state->endProfile(log); }

std::vector<KernelTime> Profile::kernels() const {
  throwIfError(state->checkProcess(), Place());
  return log->kernels([this](const std::string &device) { return state->peakOf(device); });
}
std::string Profile::table() const { return formatProfile(kernels()); }
std::string Profile::trace() const {
  throwIfError(state->checkProcess(), Place());
  return io::encodeTrace(log->trace);
}

void Profile::saveTrace(const std::string &path, Place where) const {
  const std::string text = trace();
  throwIfError(writeFileAtomically(path, std::as_bytes(std::span(text))), where);
}
