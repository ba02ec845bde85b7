//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_RECORDEDGRAPH_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_RECORDEDGRAPH_H

#include "Backend.h"

#include <vector>

namespace zyx::runtime {

/// A graph of a driver that knows lists of commands alone: a list is recorded when it is launched first, and again
/// where a command changed.
class RecordedGraph : public CommandGraph {
public:
  Result<Node> add(const AnyCommand &command, std::span<const Node>) final {
    commands.push_back(command);
    return commands.size() - 1;
  }
  Status finish() final { return Status::ok(); }
  Status update(Node node, const AnyCommand &command) final {
    commands[node] = command;
    isStale = true;
    return Status::ok();
  }

protected:
  std::vector<AnyCommand> commands;
  /// Whether what is recorded is not what the commands are.
  bool isStale = true;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_RECORDEDGRAPH_H
