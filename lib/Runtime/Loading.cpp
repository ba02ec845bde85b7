//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Loading.h"

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

Result<std::shared_ptr<Program>> LoadingDevice::load(Artifact artifact) {
  Status status = artifact.verify();
  if (status.isOk()) {
    Result<std::shared_ptr<Program>> program = loadVerified(std::move(artifact));
    if (program.isOk())
      return program;
    status = program.status();
  }
  return status.withDevice(deviceName);
}

Result<std::shared_ptr<Buffer>> LoadingDevice::placeConstants(Artifact &artifact) const {
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants, Buffer::allocate(memory, artifact.constants.size()));
  ZYX_RETURN_IF_ERROR(constants->write(artifact.constants));
  artifact.constants = {};
  for (artifact::CodeBlob &blob : artifact.code)
    blob.bytes = {};
  return constants;
}
