//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CommandOrder.h"

using namespace mlir;

namespace plan = zyx::plan;

zyx::schedule::CommandOrder::CommandOrder(ArrayRef<plan::CommandOpInterface> commands)
    : waits(commands.size()), before(commands.size()), behind(commands.size()) {
  struct Use {
    std::optional<unsigned> writer;
    SmallVector<unsigned> readers;
  };
  llvm::DenseMap<Value, Use> uses;
  for (auto [i, each] : llvm::enumerate(commands)) {
    plan::CommandOpInterface command = each;
    for (Value buffer : command.getReadBuffers())
      if (std::optional<unsigned> writer = uses[plan::getStorage(buffer).base].writer)
        waits[i].insert(*writer);
    for (Value buffer : command.getWrittenBuffers()) {
      Use &use = uses[plan::getStorage(buffer).base];
      if (use.writer)
        waits[i].insert(*use.writer);
      waits[i].insert(use.readers.begin(), use.readers.end());
    }
    for (Value buffer : command.getReadBuffers())
      uses[plan::getStorage(buffer).base].readers.push_back(i);
    for (Value buffer : command.getWrittenBuffers())
      uses[plan::getStorage(buffer).base] = Use{static_cast<unsigned>(i), {}};
    for (unsigned wait : waits[i])
      before[i] = std::max(before[i], before[wait] + 1);
    length = std::max(length, before[i] + 1);
  }
  for (size_t i = commands.size(); i-- > 0;)
    for (unsigned wait : waits[i])
      behind[wait] = std::max(behind[wait], behind[i] + 1);
}
