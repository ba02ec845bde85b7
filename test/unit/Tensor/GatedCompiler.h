//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_TENSOR_GATEDCOMPILER_H
#define ZYX_TEST_UNIT_TENSOR_GATEDCOMPILER_H

extern "C" {
/// From now on compilations wait, until the gate is opened.
void gateClose();
void gateOpen();
/// Until so many compilations wait.
void gateAwait(unsigned count);
/// The next ones that come through fail.
void gateFail(unsigned count);
/// The next ones that come through run out of memory, as an exception.
void gateThrow(unsigned count);
/// That were asked for so far.
unsigned gateCompiles();
}

#endif // ZYX_TEST_UNIT_TENSOR_GATEDCOMPILER_H
