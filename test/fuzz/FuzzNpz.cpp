//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/IO/Npz.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace zyx;

/// An .npz file, of which every array is read: it may be refused, by its checksum at the latest.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  fuzz::require(descriptor >= 0 && write(descriptor, data, size) == static_cast<ssize_t>(size),
                "no memory for the file");
  auto file = io::NpzFile::open("/proc/self/fd/" + std::to_string(descriptor));
  uint64_t packed = 0;
  if (file) {
    for (const io::NpzFile::Entry &entry : file->arrays()) {
      packed += entry.packedSize;
      fuzz::require(entry.size <= entry.packedSize * 1032, "an array is unpacked to too much");
      Result<HostTensor> tensor = file->read(entry.name);
      if (tensor)
        fuzz::require(static_cast<size_t>(*byteSize(tensor->type)) == tensor->data.size(),
                      "the data of an array is not of its type's size");
    }
  }
  fuzz::require(packed <= size, "arrays of an accepted .npz file overlap");
  close(descriptor);
  return 0;
}
