//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Runtime/TestArtifact.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  zyx::artifact::Artifact artifact = sampleArtifact(argv[1]);
  zyx::Status status = artifact.verify();
  if (status.isOk())
    status = zyx::writeFileAtomically(argv[2], artifact.serialize());
  if (!status.isOk())
    std::fprintf(stderr, "%s\n", status.toString().c_str());
  return status.isOk() ? 0 : 1;
}
