//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx-run/Options.h"

#include <string>

using namespace zyx;

/// The command line of zyx-run, an argument per line.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<std::string> lines = {"zyx-run", ""};
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '\n')
      lines.emplace_back();
    else if (data[i] != 0)
      lines.back() += static_cast<char>(data[i]);
  }
  std::vector<char *> arguments;
  for (std::string &line : lines)
    arguments.push_back(line.data());
  Result<run::Options> options = run::parseOptions(static_cast<int>(arguments.size()), arguments.data());
  if (options)
    for (const run::InputSpec &input : options->inputs)
      fuzz::require(!input.name.empty() && (!input.rows || input.rows->first <= input.rows->second),
                    "an input is accepted without a name or with rows that end before they begin");
  return 0;
}
