//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A language server for .mlir files with our dialects: diagnostics while one types, definitions,
// uses, hover.
//===----------------------------------------------------------------------===//
#include "Common/LLVMOptions.h"
#include "Filter.h"
#include "zyx/Pipelines/InitAll.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include <csignal>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

using namespace zyx;

namespace {

/// The ends of a pipe, the second one to be written.
struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
};

/// The editor's messages to the server, until one of the two ends.
void serveEditor(lsp::Filter &filter, std::FILE *editor, std::FILE *server, std::FILE *answers, std::mutex &writing) {
  while (std::optional<std::string> message = lsp::readMessage(editor)) {
    const std::optional<lsp::Filter::Forwarded> forwarded = filter.fromEditor(*message);
    if (!forwarded) {
      std::fprintf(stderr, "zyx-lsp-server: error: a message that is no JSON, or nests too deeply\n");
      break;
    }
    if (!forwarded->toEditor.empty()) {
      std::lock_guard lock(writing);
      lsp::writeMessage(answers, forwarded->toEditor);
    }
    if (!forwarded->toServer.empty() && !lsp::writeMessage(server, forwarded->toServer))
      break;
  }
  std::fclose(server);
}

} // namespace

int main(int argc, char **argv) {
  tools::tidyOptions("zyx-lsp-server");
  for (int i = 1; i < argc; ++i) {
    const llvm::StringRef option = llvm::StringRef(argv[i]).ltrim('-');
    if (option.starts_with("lit-test") || option.starts_with("input-style")) {
      std::fprintf(stderr, "zyx-lsp-server: error: '%s': messages have headers here, with their length\n", argv[i]);
      return 2;
    }
    // What prints and ends needs no editor.
    if (option.starts_with("help") || option.starts_with("version")) {
      mlir::DialectRegistry registry;
      return failed(mlir::MlirLspServerMain(argc, argv, registry));
    }
  }
  // An editor that is gone is the end of its stream.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in, out;
  const int editorIn = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3),
            editorOut = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (editorIn < 0 || editorOut < 0 || !in.open() || !out.open() || ::dup2(in.ends[0], STDIN_FILENO) < 0 ||
      ::dup2(out.ends[1], STDOUT_FILENO) < 0) {
    std::perror("zyx-lsp-server: error");
    return 1;
  }
  ::close(in.ends[0]);
  ::close(out.ends[1]);
  std::FILE *editor = ::fdopen(editorIn, "r"), *answers = ::fdopen(editorOut, "w");
  std::FILE *toServer = ::fdopen(in.ends[1], "w"), *fromServer = ::fdopen(out.ends[0], "r");
  lsp::Filter filter;
  std::mutex writing;
  std::thread reader([&] { serveEditor(filter, editor, toServer, answers, writing); });
  std::thread writer([&] {
    while (std::optional<std::string> message = lsp::readMessage(fromServer)) {
      std::lock_guard lock(writing);
      lsp::writeMessage(answers, filter.fromServer(*message));
    }
  });

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  const bool hasFailed = failed(mlir::MlirLspServerMain(argc, argv, registry));
  // The writer ends with the server's stream. The reader may wait for an editor that says no more.
  llvm::outs().flush();
  ::close(STDOUT_FILENO);
  writer.join();
  reader.detach();
  std::fflush(answers);
  std::_Exit(hasFailed);
}
