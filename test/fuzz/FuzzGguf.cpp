//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/IO/Gguf.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace zyx;

/// A GGUF file, of which every tensor is read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  fuzz::require(descriptor >= 0 && write(descriptor, data, size) == static_cast<ssize_t>(size),
                "no memory for the file");
  auto file = io::GgufFile::open("/proc/self/fd/" + std::to_string(descriptor));
  uint64_t total = 0;
  if (file) {
    for (const io::GgufFile::Tensor &tensor : file->tensors()) {
      Result<HostTensor> read = file->read(tensor.name);
      fuzz::require(read.isOk() && read->type == tensor.stored &&
                        read->data.size() == static_cast<size_t>(*byteSize(tensor.stored)),
                    "a tensor of an accepted GGUF file cannot be read");
      fuzz::require(tensor.offset % file->alignment() == 0, "a tensor is not aligned");
      if (tensor.blocks())
        fuzz::require(*blockedType(*tensor.blocks(), tensor.shape) == tensor.stored,
                      "the blocks of a tensor are of another type");
      total += tensor.size;
    }
  }
  fuzz::require(total <= size, "tensors of an accepted GGUF file overlap");
  close(descriptor);
  return 0;
}
