//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_EXECUTABLES_H
#define ZYX_SESSION_EXECUTABLES_H

#include "zyx/Session/GraphDevice.h"
#include "zyx/Session/Session.h"

namespace zyx::runtime {
class Executor;
}

/// The three kinds of executables that Session makes.
namespace zyx::session {

std::unique_ptr<Executable> makeGraphExecutable(const GraphDevice &device, graph::Graph graph);
std::unique_ptr<Executable> makeDeviceExecutable(std::unique_ptr<runtime::Executor> executor);
/// A graph with symbols, made ready by `session` for each set of values that its inputs give them.
std::unique_ptr<Executable> makeSymbolicExecutable(Session &session, graph::Graph graph, std::string device,
                                                   uint64_t readyBytes);

} // namespace zyx::session

#endif // ZYX_SESSION_EXECUTABLES_H
