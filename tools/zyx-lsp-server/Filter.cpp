//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Filter.h"

#include "zyx/Base/TextLimits.h"

#include "llvm/Support/LSP/Protocol.h"

#include <charconv>
#include <cstring>

using namespace zyx::lsp;
namespace json = llvm::json;

/// A whole text, and as many escapes.
static constexpr size_t maxMessage = size_t(256) << 20;
/// The parser of messages recurses into brackets.
static constexpr int maxNesting = 256;

std::optional<std::string> zyx::lsp::readMessage(std::FILE *from) {
  size_t length = 0;
  char line[1024];
  while (std::fgets(line, sizeof(line), from)) {
    const llvm::StringRef header = llvm::StringRef(line).trim();
    if (header.empty()) {
      if (length == 0)
        continue;
      std::string message(length, '\0');
      if (std::fread(message.data(), 1, length, from) != length)
        return std::nullopt;
      return message;
    }
    auto [name, value] = header.split(':');
    if (name.equals_insensitive("Content-Length") && (value.trim().getAsInteger(10, length) || length > maxMessage))
      return std::nullopt;
  }
  return std::nullopt;
}

bool zyx::lsp::writeMessage(std::FILE *to, const std::string &message) {
  return std::fprintf(to, "Content-Length: %zu\r\n\r\n", message.size()) > 0 &&
         std::fwrite(message.data(), 1, message.size(), to) == message.size() && std::fflush(to) == 0;
}

static bool isShallow(llvm::StringRef message) {
  int depth = 0;
  bool isText = false;
  for (size_t i = 0; i < message.size(); ++i) {
    const char c = message[i];
    if (isText) {
      i += c == '\\';
      isText = c != '"';
    } else if (c == '"') {
      isText = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxNesting)
        return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

static std::string toText(json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// An editor and the server may spell one URI in two ways.
static std::string decode(llvm::StringRef uri) {
  std::string decoded;
  for (size_t i = 0; i < uri.size(); ++i) {
    unsigned code = 0;
    if (uri[i] == '%' && i + 2 < uri.size() && !uri.substr(i + 1, 2).getAsInteger(16, code)) {
      decoded += static_cast<char>(code);
      i += 2;
    } else {
      decoded += uri[i];
    }
  }
  return decoded;
}

/// Keeps the text of an open file, and leaves the whole of it, or nothing where it is refused, in the message.
void Filter::takeText(json::Object &message, json::Object &params, bool isOpened) {
  json::Object *document = params.getObject("textDocument");
  std::optional<llvm::StringRef> uri = document ? document->getString("uri") : std::nullopt;
  if (!uri)
    return;
  const std::string name = decode(*uri);
  std::string &text = texts[name];
  if (isOpened) {
    text = document->getString("text").value_or("").str();
  } else {
    std::vector<llvm::lsp::TextDocumentContentChangeEvent> changes;
    json::Path::Root root("contentChanges");
    const json::Value *given = params.get("contentChanges");
    // A change of what is not there leaves the text as it is, here as in the server.
    std::string changed = text;
    if (given && json::fromJSON(*given, changes, root) &&
        succeeded(llvm::lsp::TextDocumentContentChangeEvent::applyTo(changes, changed)))
      text = std::move(changed);
  }
  const Status status = checkTextLimits(text);
  if (!status.isOk()) {
    std::lock_guard lock(mutex);
    refusals[name][document->getInteger("version").value_or(0)] = status.message();
  }
  const std::string passed = status.isOk() ? text : std::string();
  if (isOpened)
    (*document)["text"] = passed;
  else
    params["contentChanges"] = json::Array{json::Object{{"text", passed}}};
}

std::optional<Filter::Forwarded> Filter::fromEditor(const std::string &message) {
  if (!isShallow(message))
    return std::nullopt;
  llvm::Expected<json::Value> parsed = json::parse(message);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  json::Object *object = parsed->getAsObject();
  std::optional<llvm::StringRef> method = object ? object->getString("method") : std::nullopt;
  json::Object *params = object ? object->getObject("params") : nullptr;
  if (!method)
    return Forwarded{message, ""};
  if (method->starts_with("mlir/")) {
    json::Value id = object->get("id") ? *object->get("id") : json::Value(nullptr);
    return Forwarded{
        "", toText(json::Object{{"jsonrpc", "2.0"},
                                {"id", std::move(id)},
                                {"error", json::Object{{"code", -32601}, {"message", "MLIR bytecode is not read"}}}})};
  }
  const bool isOpened = *method == "textDocument/didOpen";
  if (params && *method == "textDocument/didClose") {
    if (const json::Object *document = params->getObject("textDocument"))
      if (std::optional<llvm::StringRef> uri = document->getString("uri"))
        texts.erase(decode(*uri)); // what is refused of it, the server still answers
    return Forwarded{message, ""};
  }
  if (!params || !(isOpened || *method == "textDocument/didChange"))
    return Forwarded{message, ""};
  takeText(*object, *params, isOpened);
  return Forwarded{toText(std::move(*parsed)), ""};
}

/// The number of "line 12 nests deeper ...", from 0; the first line where the reason names none.
static int64_t lineOf(llvm::StringRef reason) {
  int64_t line = 1;
  if (reason.consume_front("line "))
    (void)reason.consumeInteger(10, line);
  return line - 1;
}

std::string Filter::fromServer(const std::string &message) {
  llvm::Expected<json::Value> parsed = json::parse(message);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return message;
  }
  json::Object *object = parsed->getAsObject();
  if (!object)
    return message;
  if (json::Object *result = object->getObject("result"))
    if (json::Object *info = result->getObject("serverInfo")) {
      *info = json::Object{{"name", "zyx-lsp-server"}, {"version", ZYX_VERSION}};
      return toText(std::move(*parsed));
    }
  json::Object *params = object->getObject("params");
  if (!params || object->getString("method") != llvm::StringRef("textDocument/publishDiagnostics"))
    return message;
  std::lock_guard lock(mutex);
  const auto versions = refusals.find(decode(params->getString("uri").value_or("")));
  if (versions == refusals.end())
    return message;
  const int64_t version = params->getInteger("version").value_or(0);
  versions->second.erase(versions->second.begin(), versions->second.lower_bound(version));
  const auto refused = versions->second.find(version);
  if (refused == versions->second.end())
    return message;
  const int64_t line = lineOf(refused->second);
  (*params)["diagnostics"] =
      json::Array{json::Object{{"range", json::Object{{"start", json::Object{{"line", line}, {"character", 0}}},
                                                      {"end", json::Object{{"line", line}, {"character", 1}}}}},
                               {"severity", 1},
                               {"source", "zyx"},
                               {"message", refused->second}}};
  return toText(std::move(*parsed));
}
