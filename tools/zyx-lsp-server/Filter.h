//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What stands between an editor and MLIR's language server, which has no bounds of its own.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_LSP_SERVER_FILTER_H
#define ZYX_TOOLS_LSP_SERVER_FILTER_H

#include "llvm/Support/JSON.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace zyx::lsp {

/// The next message of a stream, without its header; nothing at the end, or where the stream holds none.
std::optional<std::string> readMessage(std::FILE *from);
bool writeMessage(std::FILE *to, const std::string &message);

/// Messages of both directions, each from a thread of its own. A text beyond the limits reaches the server
/// as an empty one, and the editor gets a diagnostic with the reason; bytecode is not read at all.
class Filter {
public:
  struct Forwarded {
    /// For the server, and at once for the editor; empty where there is none.
    std::string toServer, toEditor;
  };
  /// Nothing where the message is none that a server may read.
  std::optional<Forwarded> fromEditor(const std::string &message);
  std::string fromServer(const std::string &message);

private:
  void takeText(llvm::json::Object &message, llvm::json::Object &params, bool isOpened);

  /// The editor's texts by their URI.
  std::map<std::string, std::string> texts;
  /// Why versions of them are refused, which the server tells of later.
  std::mutex mutex;
  std::map<std::string, std::map<int64_t, std::string>> refusals;
};

} // namespace zyx::lsp

#endif // ZYX_TOOLS_LSP_SERVER_FILTER_H
