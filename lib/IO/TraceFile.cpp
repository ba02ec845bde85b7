//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/TraceFile.h"

#include "nlohmann/json.hpp"

#include <algorithm>

using namespace zyx;
using Json = nlohmann::ordered_json;

std::string io::encodeTrace(const Trace &trace) {
  // The spans of these are there by then, whoever adds more meanwhile.
  const std::vector<std::pair<size_t, size_t>> dependencies = trace.dependencies();
  const std::vector<Span> spans = trace.spans();
  uint64_t start = spans.empty() ? 0 : spans.front().begin;
  std::vector<std::string> tracks;
  for (const Span &span : spans) {
    start = std::min(start, span.begin);
    if (std::find(tracks.begin(), tracks.end(), span.track) == tracks.end())
      tracks.push_back(span.track);
  }
  auto number = [&](const Span &span) {
    return std::find(tracks.begin(), tracks.end(), span.track) - tracks.begin() + 1;
  };
  auto microseconds = [&](uint64_t time) { return static_cast<double>(time - start) / 1e3; };

  Json events = Json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 1}, {"args", {{"name", "zyx"}}}});
  for (size_t i = 0; i < tracks.size(); ++i)
    events.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", i + 1}, {"args", {{"name", tracks[i]}}}});
  for (const Span &span : spans) {
    Json event = {{"ph", "X"},
                  {"name", span.name},
                  {"pid", 1},
                  {"tid", number(span)},
                  {"ts", microseconds(span.begin)},
                  {"dur", static_cast<double>(span.nanoseconds) / 1e3}};
    if (!span.detail.empty())
      event["args"] = {{"of", span.detail}};
    events.push_back(std::move(event));
  }
  size_t id = 0;
  for (auto [from, to] : dependencies) {
    const Span &first = spans[from], &second = spans[to];
    // An arrow begins and ends inside of a slice.
    const uint64_t end = first.begin + first.nanoseconds - (first.nanoseconds != 0);
    events.push_back({{"ph", "s"},
                      {"name", "event"},
                      {"cat", "event"},
                      {"id", ++id},
                      {"pid", 1},
                      {"tid", number(first)},
                      {"ts", microseconds(end)}});
    events.push_back({{"ph", "f"},
                      {"bp", "e"},
                      {"name", "event"},
                      {"cat", "event"},
                      {"id", id},
                      {"pid", 1},
                      {"tid", number(second)},
                      {"ts", microseconds(second.begin)}});
  }
  Json file = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  // Names of kernels and files may hold any byte.
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
