//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TARGET_CPU_LINK_H
#define ZYX_LIB_TARGET_CPU_LINK_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace zyx::target {

/// Refuses an object that needs a function other than memcpy, memmove and memset.
Status checkUndefinedSymbols(llvm::StringRef object);

/// Links relocatable objects into a shared object, with the linker inside this process.
Result<std::vector<std::byte>> linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects);

} // namespace zyx::target

#endif // ZYX_LIB_TARGET_CPU_LINK_H
