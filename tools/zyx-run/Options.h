//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_ZYX_RUN_OPTIONS_H
#define ZYX_TOOLS_ZYX_RUN_OPTIONS_H

#include "TensorFiles.h"

#include "Common/Tool.h"

#include <vector>

namespace zyx::run {

/// [NAME=]FILE; without a name it is the only output.
struct OutputSpec {
  std::string name, file;
  /// As the user wrote it.
  std::string text;
};

struct Options : tools::ProgramOptions {
  std::string device, isa;
  std::vector<InputSpec> inputs;
  /// A safetensors file with more of them, by their names; empty for none.
  std::string inputsFile;
  std::vector<OutputSpec> outputs;
  /// A safetensors file for all of them; empty for none.
  std::string outputsFile;
  std::optional<uint64_t> random;
  bool print = false;
  /// Text with {NAME} for outputs; empty prints them all.
  std::string printTemplate;
  int64_t repeat = 1;
  /// Where artifacts are kept; without a value the user's own folder, if any.
  std::optional<std::string> cacheFolder;
  bool noCache = false, isolate = false, list = false, listDevices = false;
};

/// The command line; every argument that it does not understand is refused.
Result<Options> parseOptions(int argc, char **argv);

extern const char *const helpText;

} // namespace zyx::run

#endif // ZYX_TOOLS_ZYX_RUN_OPTIONS_H
