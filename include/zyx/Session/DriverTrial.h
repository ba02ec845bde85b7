//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Drivers compile what devices load, and some die of it: of modules that are valid, too. A process that must survive
// that has a child load the program first. What the child's driver made is in the cache of code, where there is one.
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_DRIVERTRIAL_H
#define ZYX_SESSION_DRIVERTRIAL_H

#include "zyx/Session/Compiler.h"

#include "zyx/Artifact/Artifact.h"

namespace zyx::session {

/// How a child opens the device.
struct DriverTrial {
  std::string device;
  /// Where code is kept that drivers made, and how much; nowhere without a folder.
  std::optional<std::string> cacheFolder = std::nullopt;
  uint64_t cacheBytes = 0;
};

/// Whether a driver compiles the code of a program when it is loaded.
bool isCompiledByDriver(const artifact::Artifact &artifact);

/// Has a child process load the program. A failure is that the child died or took too long. One that the device refuses
/// the program with is none: whoever loads it is told himself.
Status tryInChild(const artifact::Artifact &artifact, const DriverTrial &trial, const Isolation &isolation);

/// The child, to its end: what its main function returns.
int serveDriverTrial();

} // namespace zyx::session

#endif // ZYX_SESSION_DRIVERTRIAL_H
