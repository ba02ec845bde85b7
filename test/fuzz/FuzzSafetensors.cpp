//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/IO/Safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace zyx;

/// A safetensors file, of which every tensor is read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  fuzz::require(descriptor >= 0 && write(descriptor, data, size) == static_cast<ssize_t>(size),
                "no memory for the file");
  auto file = io::SafetensorsFile::open("/proc/self/fd/" + std::to_string(descriptor));
  if (file) {
    for (const io::SafetensorsFile::Entry &entry : file->tensors()) {
      Result<HostTensor> tensor = file->read(entry.name);
      fuzz::require(tensor.isOk() && tensor->data.size() == entry.size && tensor->type == entry.type,
                    "a tensor of an accepted safetensors file cannot be read");
    }
  }
  close(descriptor);
  return 0;
}
