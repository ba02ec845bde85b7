//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/IO/TraceFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

using namespace zyx;
using testing::HasSubstr;

namespace {

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(TraceFileTest, HasATrackForEachNameAndTwoEndsForEachArrow) {
  Trace trace;
  const size_t first = trace.add({"host", "read", "x", 1000, 500}),
               second = trace.add({"device cpu", "run", "", 2000, 250});
  trace.addDependency(first, second);
  const std::string text = io::encodeTrace(trace);
  EXPECT_EQ(count(text, "\"thread_name\""), 2u);
  EXPECT_EQ(count(text, "\"ph\": \"X\""), 2u);
  EXPECT_THAT(text, HasSubstr("\"dur\": 0.25"));
  EXPECT_EQ(count(text, "\"ph\": \"s\""), 1u);
  EXPECT_EQ(count(text, "\"ph\": \"f\""), 1u);
}

TEST(TraceFileTest, IsWholeWhileOthersAdd) {
  Trace trace;
  std::thread others([&] {
    size_t before = trace.add({"host", "first", "", 1, 1});
    for (uint64_t i = 2; i < 4000; ++i) {
      const size_t next = trace.add({"host", "next", "", i, 1});
      trace.addDependency(before, next);
      before = next;
    }
  });
  for (int i = 0; i < 20; ++i) {
    const std::string text = io::encodeTrace(trace);
    const size_t spans = count(text, "\"ph\": \"X\""), arrows = count(text, "\"ph\": \"s\"");
    EXPECT_TRUE(arrows == 0 || arrows < spans);
    EXPECT_EQ(count(text, "\"ph\": \"f\""), arrows);
  }
  others.join();
}

} // namespace
