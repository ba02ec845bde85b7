//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TextLimits.h"

#include <string>

namespace zyx {
namespace {

bool isIdentifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.' || c == '-';
}

/// A lexical walk: it knows strings, comments and arrows, and nothing of the grammar.
class Scanner {
public:
  Scanner(std::string_view text, const TextLimits &limits) : text(text), limits(limits) {}

  Status run() {
    while (position < text.size()) {
      char c = text[position];
      // Space and comments do not end a row of minus signs.
      if (c != '-' && c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '/')
        minuses = 0;
      switch (c) {
      case '\n':
        ++line;
        break;
      case '"':
        skipString();
        continue;
      case '/':
        if (next() == '/')
          skipComment();
        break;
      case '(':
      case '[':
      case '{':
      case '<':
        if (++depth > limits.nesting)
          return refuse("nests deeper than " + std::to_string(limits.nesting) + " brackets");
        break;
      case '>':
        // Of "->" and ">=" the first was skipped with its minus sign; the second closes nothing.
        if (next() == '=')
          break;
        [[fallthrough]];
      case ')':
      case ']':
      case '}':
        depth -= depth > 0;
        break;
      case '-':
        if (next() == '>')
          ++position;
        else if (++minuses > limits.nesting)
          return refuse("has more than " + std::to_string(limits.nesting) +
                        " minus signs in a row");
        break;
      case '#':
      case '!':
        if (depth == 0 && definesAlias() && ++aliases > limits.aliases)
          return refuse("defines more than " + std::to_string(limits.aliases) + " aliases");
        break;
      default:
        break;
      }
      ++position;
    }
    return Status::ok();
  }

private:
  char next() const { return position + 1 < text.size() ? text[position + 1] : '\0'; }

  Status refuse(const std::string &what) const {
    return Status::invalidArgument("line " + std::to_string(line) + " " + what);
  }

  /// Stops at the end of the line too: an open string is the parser's to refuse.
  void skipString() {
    for (++position; position < text.size() && text[position] != '\n'; ++position) {
      if (text[position] == '\\')
        ++position;
      else if (text[position] == '"') {
        ++position;
        return;
      }
    }
  }

  void skipComment() {
    while (position + 1 < text.size() && text[position + 1] != '\n')
      ++position;
  }

  /// At "#name =" or "!name =". Looks no further than the equals sign.
  bool definesAlias() const {
    size_t at = position + 1;
    while (at < text.size() && isIdentifier(text[at]))
      ++at;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n'))
      ++at;
    return at < text.size() && text[at] == '=';
  }

  std::string_view text;
  const TextLimits &limits;
  size_t position = 0, line = 1;
  int depth = 0, minuses = 0, aliases = 0;
};

} // namespace

Status checkTextLimits(std::string_view text, const TextLimits &limits) {
  if (text.size() > limits.bytes)
    return Status::invalidArgument("the text has " + std::to_string(text.size()) +
                                   " bytes, more than " + std::to_string(limits.bytes));
  if (text.substr(0, 4) == "ML\xefR")
    return Status::invalidArgument("the input is MLIR bytecode; only text is read");
  return Scanner(text, limits).run();
}

} // namespace zyx
