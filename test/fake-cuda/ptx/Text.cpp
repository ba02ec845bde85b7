//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Text.h"

#include <cctype>
#include <cstring>

using namespace zyx::ptx;

namespace {

struct Token {
  /// A word has letters, digits, dots and what names have; everything else is one character.
  std::string text;
  int line;
};

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

std::vector<Token> tokenize(std::string_view text, std::vector<std::string> &lines) {
  std::vector<Token> tokens;
  int line = 1;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i)
    if (i == text.size() || text[i] == '\n') {
      lines.emplace_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n')
      ++line;
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      for (; i < text.size() && text.substr(i, 2) != "*/"; ++i)
        line += text[i] == '\n';
      i += 2;
    } else if (c == '"') {
      const size_t end = std::min(text.find('"', i + 1), text.size());
      tokens.push_back({std::string(text.substr(i, end - i)), line});
      i = end + 1;
    } else if (isWordCharacter(c)) {
      size_t end = i;
      while (end < text.size() && isWordCharacter(text[end]))
        ++end;
      std::string word(text.substr(i, end - i));
      // A colon inside belongs to the word, "L1::no_allocate"; one behind it makes it a label.
      if (word.size() > 1 && word.back() == ':' && word[word.size() - 2] != ':') {
        word.pop_back();
        tokens.push_back({word, line});
        word = ":";
      }
      tokens.push_back({word, line});
      i = end;
    } else {
      tokens.push_back({std::string(1, c), line});
      ++i;
    }
  }
  tokens.push_back({"", line});
  return tokens;
}

std::vector<std::string> splitWords(const std::string &text) {
  std::vector<std::string> words;
  for (size_t begin = text.front() == '.' ? 1 : 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

class Parser {
public:
  explicit Parser(std::string_view text) : tokens(tokenize(text, module.lines)) {}

  ModuleText run() {
    while (!peek().empty())
      parseTop();
    return std::move(module);
  }

private:
  const std::string &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)].text; }
  int line() const { return tokens[at].line; }
  std::string take() {
    if (at + 1 >= tokens.size())
      fail("the text ends too early");
    return tokens[at++].text;
  }
  bool takeIf(const char *text) {
    if (peek() != text)
      return false;
    ++at;
    return true;
  }
  void expect(const char *text) {
    if (!takeIf(text))
      fail("'" + peek() + "' where '" + text + "' is expected");
  }
  [[noreturn]] void fail(const std::string &what) const { throw Fault("line " + std::to_string(line()) + ": " + what); }

  uint64_t takeInteger() {
    const bool isNegative = takeIf("-");
    std::string word = take();
    if (word.empty() || !std::isdigit(static_cast<unsigned char>(word[0])))
      fail("'" + word + "' is no number");
    if (word.back() == 'U')
      word.pop_back();
    char *end = nullptr;
    const uint64_t value = std::strtoull(word.c_str(), &end, 0);
    if (*end)
      fail("'" + word + "' is no integer");
    return isNegative ? -value : value;
  }

  void parseTop() {
    const std::string word = take();
    if (word == ".version" || word == ".address_size") {
      take();
    } else if (word == ".target") {
      module.target = take();
      while (takeIf(","))
        take();
    } else if (word == ".visible" || word == ".weak" || word == ".extern") {
    } else if (word == ".entry") {
      parseKernel();
    } else if (word == ".global" || word == ".shared" || word == ".const") {
      module.variables.push_back(parseVariable(word));
    } else if (word == ".file") {
      while (peek() != ".file" && peek()[0] != '.' && !peek().empty())
        ++at;
    } else {
      fail("'" + word + "' is not known here");
    }
  }

  static unsigned bitsOf(const std::string &type) {
    if (type == "pred")
      return 1;
    if (type == "f16x2" || type == "bf16x2")
      return 32;
    size_t digit = 0;
    while (digit < type.size() && !std::isdigit(static_cast<unsigned char>(type[digit])))
      ++digit;
    return static_cast<unsigned>(std::strtoul(type.c_str() + digit, nullptr, 10));
  }

  /// Behind the word of its space.
  Variable parseVariable(const std::string &space) {
    Variable variable;
    variable.space = space == ".shared"  ? Space::Shared
                     : space == ".local" ? Space::Local
                     : space == ".const" ? Space::Const
                     : space == ".param" ? Space::Param
                                         : Space::Global;
    std::string type;
    while (peek()[0] == '.') {
      const std::string word = take().substr(1);
      if (word == "align")
        variable.alignment = takeInteger();
      else if (word == "ptr" || word == "global" || word == "shared" || word == "const" || word == "local")
        ; // What a pointer points to.
      else
        type = word;
    }
    const uint64_t elementBytes = bitsOf(type) / 8;
    if (elementBytes == 0)
      fail("the type '" + type + "' is not known");
    if (variable.space != Space::Param || variable.alignment == 1)
      variable.alignment = std::max(variable.alignment, elementBytes);
    variable.name = take();
    uint64_t count = 1;
    while (takeIf("[")) {
      count *= peek() == "]" ? 0 : takeInteger();
      expect("]");
    }
    variable.bytes = count * elementBytes;
    if (takeIf("=")) {
      auto add = [&](uint64_t value) {
        for (uint64_t i = 0; i < elementBytes; ++i)
          variable.initial.push_back(static_cast<uint8_t>(value >> 8 * i));
      };
      if (takeIf("{")) {
        while (!takeIf("}")) {
          add(parseNumber().bits);
          takeIf(",");
        }
      } else {
        add(parseNumber().bits);
      }
      variable.initial.resize(variable.bytes);
    }
    if (variable.space != Space::Param)
      expect(";");
    return variable;
  }

  void parseKernel() {
    KernelText kernel;
    kernel.name = take();
    if (takeIf("(")) {
      uint64_t place = 0;
      while (!takeIf(")")) {
        expect(".param");
        Variable parameter = parseVariable(".param");
        const uint64_t size = parameter.bytes, alignment = std::max<uint64_t>(parameter.alignment, 1);
        place = (place + alignment - 1) / alignment * alignment;
        // Where it lies; what it has in memory is `alignment` from now on.
        parameter.alignment = size;
        parameter.bytes = place;
        place += size;
        kernel.parameters.push_back(parameter);
        takeIf(",");
      }
    }
    while (peek() != "{") {
      const std::string word = take();
      if (word == ".maxntid" || word == ".reqntid" || word == ".reqnctapercluster") {
        uint64_t product = takeInteger();
        while (takeIf(","))
          product *= takeInteger();
        (word == ".reqnctapercluster" ? kernel.clusterGroups : kernel.maxThreads) = static_cast<unsigned>(product);
      } else if (word == ".minnctapersm" || word == ".maxnreg" || word == ".maxclusterrank") {
        takeInteger();
      } else if (word != ".explicitcluster") {
        fail("'" + word + "' is not known before a kernel's body");
      }
    }
    expect("{");
    current = &kernel;
    scopes = {{}};
    while (true) {
      if (takeIf("{")) {
        scopes.emplace_back();
      } else if (takeIf("}")) {
        scopes.pop_back();
        if (scopes.empty())
          break;
      } else {
        parseStatement();
      }
    }
    module.kernels.push_back(std::move(kernel));
  }

  void parseRegisters() {
    const std::string type = take();
    const unsigned bits = bitsOf(type.substr(1));
    if (bits == 0)
      fail("the type '" + type + "' is not known");
    do {
      const std::string name = take();
      auto declare = [&](const std::string &each) {
        std::string unique = each;
        // A register of an inner scope is another one.
        if (scopes.size() > 1)
          unique += "@" + std::to_string(++numScoped);
        scopes.back()[each] = unique;
        current->registers[unique] = bits;
      };
      if (takeIf("<")) {
        const uint64_t count = takeInteger();
        expect(">");
        for (uint64_t i = 0; i < count; ++i)
          declare(name + std::to_string(i));
      } else {
        declare(name);
      }
    } while (takeIf(","));
    expect(";");
  }

  void parseStatement() {
    if (peek(1) == ":") {
      const std::string label = take();
      ++at;
      if (!current->labels.emplace(label, static_cast<uint32_t>(current->statements.size())).second)
        fail("the label '" + label + "' stands twice");
      return;
    }
    const std::string &word = peek();
    if (word == ".reg") {
      ++at;
      return parseRegisters();
    }
    if (word == ".local" || word == ".shared") {
      const std::string space = take();
      current->variables.push_back(parseVariable(space));
      return;
    }
    if (word == ".pragma" || word == ".loc") {
      const int here = line();
      while (line() == here && peek() != ";")
        ++at;
      takeIf(";");
      return;
    }
    Statement statement;
    statement.line = line();
    if (takeIf("@")) {
      statement.isGuardNegated = takeIf("!");
      statement.guard = lookUp(take());
    }
    if (peek().empty() || !std::isalpha(static_cast<unsigned char>(peek()[0])))
      fail("'" + peek() + "' is no instruction");
    statement.words = splitWords(take());
    while (!takeIf(";")) {
      statement.operands.push_back(parseOperand());
      // The second of two results.
      if (takeIf("|"))
        continue;
      if (peek() != ";")
        expect(",");
    }
    current->statements.push_back(std::move(statement));
  }

  std::string lookUp(const std::string &name) const {
    for (size_t i = scopes.size(); i-- > 0;)
      if (auto found = scopes[i].find(name); found != scopes[i].end())
        return found->second;
    return name;
  }

  Operand parseNumber() {
    Operand operand;
    const std::string &word = peek();
    const bool isSingle = word.size() == 10 && word[0] == '0' && (word[1] == 'f' || word[1] == 'F');
    const bool isDouble = word.size() == 18 && word[0] == '0' && (word[1] == 'd' || word[1] == 'D');
    if (isSingle || isDouble) {
      operand.kind = isSingle ? Operand::Single : Operand::Double;
      operand.bits = std::strtoull(take().c_str() + 2, nullptr, 16);
    } else {
      operand.kind = Operand::Integer;
      operand.bits = takeInteger();
    }
    return operand;
  }

  Operand parseOperand() {
    Operand operand;
    if (takeIf("[")) {
      operand.kind = Operand::Memory;
      do {
        operand.parts.push_back(parseOperand());
        if (takeIf("+"))
          operand.bits = takeInteger();
      } while (takeIf(","));
      expect("]");
    } else if (takeIf("{")) {
      operand.kind = Operand::Vector;
      while (!takeIf("}")) {
        operand.parts.push_back(parseOperand());
        takeIf(",");
      }
    } else if (takeIf("!")) {
      operand = parseOperand();
      operand.isNegated = true;
    } else if (takeIf("_")) {
      operand.kind = Operand::Sink;
    } else if (peek() == "-" || std::isdigit(static_cast<unsigned char>(peek()[0]))) {
      operand = parseNumber();
    } else {
      std::string name = take();
      if (name.empty() || !isWordCharacter(name[0]))
        fail("'" + name + "' is no operand");
      operand.name = lookUp(name);
      operand.kind = current->registers.contains(operand.name) || name[0] == '%' ? Operand::Register : Operand::Symbol;
      // An address of a variable may be some bytes behind it.
      if (operand.kind == Operand::Symbol && peek() == "+" && peek(1) != "") {
        ++at;
        operand.bits = takeInteger();
      }
    }
    return operand;
  }

  ModuleText module;
  std::vector<Token> tokens;
  size_t at = 0;
  KernelText *current = nullptr;
  std::vector<std::map<std::string, std::string>> scopes;
  unsigned numScoped = 0;
};

} // namespace

ModuleText zyx::ptx::parse(std::string_view text) { return Parser(text).run(); }
