//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_LIB_PIPELINES_DRAWNSCHEDULES_H
#define ZYX_TEST_LIB_PIPELINES_DRAWNSCHEDULES_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Status.h"
#include "zyx/Graph/Graph.h"

#include <string>

namespace zyx::test {

/// Compiles a graph as libZyxCompiler.so does, but with the cuts of groups, the layouts of results and the schedules of
/// kernels that `seed` draws. The compiler itself has no such option: a program that calls this contains the compiler.
Result<artifact::Artifact> compileDrawn(const graph::Graph &graph, const std::string &target, const std::string &isa,
                                        uint64_t seed);

} // namespace zyx::test

#endif // ZYX_TEST_LIB_PIPELINES_DRAWNSCHEDULES_H
