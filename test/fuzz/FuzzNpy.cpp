//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/IO/Npy.h"

using namespace zyx;

/// A .npy file: what is read is written and read again as the same tensor.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<HostTensor> tensor = io::parseNpy(fuzz::bytesOf(data, size), "fuzz.npy");
  if (!tensor)
    return 0;
  Result<int64_t> bytes = byteSize(tensor->type);
  fuzz::require(bytes.isOk() && static_cast<size_t>(*bytes) == tensor->data.size(),
                "the data of a .npy file is not of its type's size");
  Result<std::vector<std::byte>> written = io::encodeNpy(*tensor);
  if (!written)
    return 0;
  Result<HostTensor> again = io::parseNpy(*written, "again.npy");
  fuzz::require(again.isOk() && *again == *tensor, "a .npy file changes when it is written again");
  return 0;
}
