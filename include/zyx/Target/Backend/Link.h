//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_LINK_H
#define ZYX_TARGET_BACKEND_LINK_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace zyx::target {

/// Refuses an object that needs a function other than memcpy, memmove and memset.
Status checkUndefinedSymbols(llvm::StringRef object);

/// How the objects of a processor are linked.
inline constexpr const char *processorLinkOptions[] = {"--hash-style=gnu", "-z", "noexecstack", "-z", "now"};

/// Links relocatable objects into a shared object, with lld inside this process. Options are lld's.
Result<std::vector<std::byte>> linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects,
                                                llvm::ArrayRef<const char *> options = processorLinkOptions);

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_LINK_H
