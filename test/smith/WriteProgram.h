//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_SMITH_WRITEPROGRAM_H
#define ZYX_TEST_SMITH_WRITEPROGRAM_H

#include "smith/Reduce.h"

namespace zyx::smith {

/// The graph as a file of MLIR.
std::string toText(const graph::Graph &graph);
/// The graph of a file's only function.
Result<graph::Graph> fromText(const std::string &text);

/// Writes PATH, a .mlir file, and PATH.INPUT.npy for each of its inputs; inputs of dtypes that .npy
/// lacks become constants where that is allowed. The file begins with `comment`, each line behind
/// "// ", and with the command of zyx-run that replays it on a device; `device` is what
/// follows its option, other options included, and empty where no device shall run it.
Status writeProgram(const Program &program, const std::string &path, const std::string &device,
                    const std::string &comment);

} // namespace zyx::smith

#endif // ZYX_TEST_SMITH_WRITEPROGRAM_H
