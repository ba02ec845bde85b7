//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/Artifact/Artifact.h"

using namespace zyx;

/// Magic of 8 bytes and the version of 4 stand before the checksum.
static constexpr size_t checksumOffset = 12;

static void readArtifact(std::span<const std::byte> bytes) {
  Result<artifact::Artifact> artifact = artifact::Artifact::deserialize(bytes);
  if (!artifact)
    return;
  fuzz::require(artifact->verify().isOk(), "an artifact is accepted that does not verify");
  Result<artifact::Artifact> again = artifact::Artifact::deserialize(artifact->serialize());
  fuzz::require(again.isOk() && *again == *artifact, "an artifact changes when it is written again");
}

/// An artifact, as it is and with a right checksum.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  readArtifact(fuzz::bytesOf(data, size));
  readArtifact(fuzz::withHash128(fuzz::bytesOf(data, size), checksumOffset));
  return 0;
}
