//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/NVVM/NVVM.h"

#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/File.h"
#include "zyx/Base/TempFolder.h"

#include <span>

using namespace zyx;
using namespace zyx::target;

/// Of what the assembler prints.
static constexpr size_t maxMessages = 4000;

Result<std::vector<std::byte>> target::assemble(std::string_view ptx, const TargetInfo &target,
                                                const std::string &assembler) {
  ZYX_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::createInMemory(ptx.size()));
  ZYX_ASSIGN_OR_RETURN(std::string source, folder.write("kernels.ptx", std::as_bytes(std::span(ptx))));
  const std::string cubin = folder.file("kernels.cubin");
  ChildLimits limits;
  limits.environment = {"TMPDIR=" + folder.file("")};
  ZYX_ASSIGN_OR_RETURN(ChildResult ran, runChild({assembler, "-arch=" + target.cpu, "-o", cubin, source}, {}, limits));
  if (ran.timedOut || ran.signal != 0 || ran.exitCode != 0)
    return Status::compileFailed("the assembler '" + assembler +
                                 "' refused the kernels: " + ran.messages.substr(0, maxMessages));
  return readFile(cubin);
}
