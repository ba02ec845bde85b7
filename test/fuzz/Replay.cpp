//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Feeds every file of the folders that are named, each in memory of its own size, so that a
/// sanitizer sees a read behind the end.
int main(int argc, char **argv) {
  size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    // Formats of ours have examples that are written by the build, others have files.
    if (!std::filesystem::exists(argv[i]))
      continue;
    for (const auto &entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::string text((std::istreambuf_iterator<char>(file)), {});
      std::vector<uint8_t> bytes(text.begin(), text.end());
      bytes.shrink_to_fit();
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++count;
    }
  }
  std::printf("%zu inputs\n", count);
  return count == 0;
}
