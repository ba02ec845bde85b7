//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_SYMBOLS_H
#define ZYX_TEST_CONFORMANCE_SYMBOLS_H

#include "zyx/Artifact/Artifact.h"

#include <span>
#include <string>
#include <vector>

namespace zyx::conformance {

/// The names that an ELF64 shared object of this machine's byte order takes from elsewhere, read from
/// its table of dynamic symbols.
Result<std::vector<std::string>> undefinedSymbols(std::span<const std::byte> sharedObject);

/// An internal error that names them where code for "cpu" takes more from elsewhere than memcpy,
/// memmove and memset: a function of libm above all. Other targets' code is not looked at.
Status checkSymbols(const artifact::Artifact &artifact);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_SYMBOLS_H
