//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/DriverTrial.h"

/// The child process that loads a program on a device; run by sessions that isolate, and by nobody else.
int main() { return zyx::session::serveDriverTrial(); }
