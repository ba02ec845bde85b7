//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TextLimits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace zyx {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isIdentifier(char c) { return isLetter(c) || isDigit(c) || c == '$' || c == '.'; }
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// A number as it is written, without its sign.
struct Number {
  std::string_view text;
  size_t line = 1;
};

/// The value of an integer, decimal or hexadecimal; the largest of uint64_t where it is larger.
uint64_t integerOf(std::string_view digits) {
  int base = 10;
  if (digits.starts_with("0x")) {
    base = 16;
    digits.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc() ? value : std::numeric_limits<uint64_t>::max();
}

double floatOf(std::string_view digits) { return std::strtod(std::string(digits).c_str(), nullptr); }

/// From where on numbers of a float type round to infinity, or to NaN where it has none: half a step above the
/// largest one. NaN for a name that is none of our types.
double overflowOf(std::string_view type) {
  struct Row {
    std::string_view name;
    double overflow;
  };
  constexpr std::array<Row, 6> rows = {{{"f16", 65504.0 + 16},
                                        {"bf16", 0x1.FFp127},
                                        {"f32", 0x1.FFFFFFp127},
                                        {"f64", std::numeric_limits<double>::infinity()},
                                        {"f8E4M3FN", 448.0 + 16},
                                        {"f8E5M2", 57344.0 + 4096}}};
  for (const Row &row : rows)
    if (type == row.name)
      return row.overflow;
  return std::numeric_limits<double>::quiet_NaN();
}

/// The width of a type "i8" and the like, 0 where it is none.
unsigned signlessWidth(std::string_view type) {
  unsigned width = 0;
  if (type.size() < 2 || type.front() != 'i')
    return 0;
  const auto [end, error] = std::from_chars(type.data() + 1, type.data() + type.size(), width);
  return error == std::errc() && end == type.data() + type.size() ? width : 0;
}

/// A lexical walk: it knows strings, comments, numbers and arrows, and little of the grammar.
class Scanner {
public:
  Scanner(std::string_view text, const TextLimits &limits) : text(text), limits(limits) {}

  Status run();

private:
  char at(size_t place) const { return place < text.size() ? text[place] : '\0'; }
  char next() const { return at(position + 1); }

  Status refuse(const std::string &what, size_t where) const {
    return Status::invalidArgument("line " + std::to_string(where) + " " + what);
  }
  Status refuse(const std::string &what) const { return refuse(what, line); }

  Status step();
  Status open();
  Status countOperator();
  Status takeMinus();
  Status takeNumber();
  Status takeWord();
  Status takeSigil();
  Status endDense();
  Status checkInteger(const Number &number) const;
  void skipDigits();
  Status takeString();
  void skipString();
  void skipComment();
  size_t skipSpace(size_t place) const;
  bool definesAlias() const;
  std::string_view readWord(size_t place) const;
  std::string_view readElement(size_t place) const;
  std::string_view elementOf(size_t place);

  std::string_view text;
  const TextLimits &limits;
  size_t position = 0, line = 1;
  int depth = 0, minuses = 0, aliases = 0, operators = 0, rank = 0;
  /// Behind an extent, where an 'x' goes on with the type; and behind a minus sign.
  bool isExtent = false, isNegative = false;
  bool isInResources = false;
  /// The elements of a `dense<...>`: how deep they lie (0: there are none), and the largest of each sort. An
  /// integer with a minus sign is none of them: the parser refuses those that do not fit.
  int denseDepth = 0;
  uint64_t largestInteger = 0;
  double largestFloat = 0;
  Number integerPlace, floatPlace;
  /// Element types of aliases that dense elements have had.
  std::unordered_map<std::string_view, std::string_view> elements;
};

} // namespace

Status Scanner::run() {
  while (position < text.size()) {
    const char c = text[position];
    if (c == '\n')
      ++line;
    if (isSpace(c)) {
      ++position;
      continue;
    }
    if (c == '/' && next() == '/') {
      skipComment();
      continue;
    }
    isNegative = minuses != 0;
    if (c != '-')
      minuses = 0;
    ZYX_RETURN_IF_ERROR(step());
  }
  return Status::ok();
}

/// One token, at the first character of which the walk stands.
Status Scanner::step() {
  const char c = text[position];
  // An extent is behind the bracket of its type or the 'x' of the one before.
  const bool wasExtent = std::exchange(isExtent, false);
  if (wasExtent && c == 'x') {
    if (++rank > limits.rank)
      return refuse("has a type of more than " + std::to_string(limits.rank) + " extents");
    ++position;
    return Status::ok();
  }
  if (isDigit(c))
    return takeNumber();
  if (c == '?' || c == ']')
    isExtent = true;
  else if (c != '[')
    rank = 0;
  if (isLetter(c))
    return takeWord();
  switch (c) {
  case '"':
    return takeString();
  case '#':
  case '!':
  case '%':
  case '^':
  case '@':
    return takeSigil();
  case '(':
  case '[':
  case '{':
  case '<':
    return open();
  case '>':
    // The second of ">=" closes nothing.
    if (next() != '=')
      break;
    ++position;
    return Status::ok();
  case '-':
    return takeMinus();
  case '+':
  case '*':
    ++position;
    return countOperator();
  case ',':
  case '=':
    operators = 0;
    break;
  default:
    break;
  }
  const bool endsDense = c == '>' && denseDepth != 0 && depth == denseDepth;
  if (c == ')' || c == ']' || c == '}' || c == '>')
    depth -= depth > 0;
  ++position;
  return endsDense ? endDense() : Status::ok();
}

Status Scanner::open() {
  if (text[position] == '<')
    operators = 0;
  // The section of resources, behind which is nothing else.
  isInResources |= text.substr(position, 3) == "{-#";
  ++position;
  if (++depth > limits.nesting)
    return refuse("nests deeper than " + std::to_string(limits.nesting) + " brackets");
  return Status::ok();
}

Status Scanner::countOperator() {
  if (++operators > limits.operators)
    return refuse("has an expression of more than " + std::to_string(limits.operators) + " operators");
  return Status::ok();
}

Status Scanner::takeMinus() {
  ++position;
  if (at(position) == '>') {
    ++position;
    return Status::ok();
  }
  if (++minuses > limits.nesting)
    return refuse("has more than " + std::to_string(limits.nesting) + " minus signs in a row");
  return countOperator();
}

Status Scanner::takeNumber() {
  bool isFloat = false;
  const size_t begin = position;
  // As in the lexer, "0x" is a number where a digit follows; of a type it is an extent.
  if (text[position] == '0' && next() == 'x' && isHexDigit(at(position + 2)) && rank == 0) {
    for (position += 2; isHexDigit(at(position));)
      ++position;
    // "0x8x": two extents.
    if (at(position) == 'x')
      position = begin + 1;
  } else {
    skipDigits();
    if (at(position) == '.') {
      isFloat = true;
      ++position;
      skipDigits();
      size_t exponent = position + 1;
      exponent += at(exponent) == '+' || at(exponent) == '-';
      if ((at(position) == 'e' || at(position) == 'E') && isDigit(at(exponent))) {
        position = exponent;
        skipDigits();
      }
    }
  }
  const Number number{text.substr(begin, position - begin), line};
  const size_t most = isFloat ? limits.floatLength : limits.integerLength;
  if (number.text.size() > most)
    return refuse("has a number of " + std::to_string(number.text.size()) + " characters, more than " +
                  std::to_string(most));
  isExtent = !isFloat;
  if (denseDepth != 0) {
    if (isFloat && floatOf(number.text) > largestFloat) {
      largestFloat = floatOf(number.text);
      floatPlace = number;
    } else if (!isFloat && !isNegative && integerOf(number.text) > largestInteger) {
      largestInteger = integerOf(number.text);
      integerPlace = number;
    }
    return Status::ok();
  }
  const bool isExtentOfType = at(position) == 'x';
  return isFloat || isNegative || isExtentOfType ? Status::ok() : checkInteger(number);
}

void Scanner::skipDigits() {
  while (isDigit(at(position)))
    ++position;
}

/// Of an integer alone: the parser gives it 64 bits where no type stands behind it, and their sign to what does
/// not fit in 63.
Status Scanner::checkInteger(const Number &number) const {
  if (integerOf(number.text) <= uint64_t(std::numeric_limits<int64_t>::max()))
    return Status::ok();
  if (const size_t colon = skipSpace(position); at(colon) == ':') {
    const std::string_view type = readWord(skipSpace(colon + 1));
    if (type.starts_with("ui") || type.starts_with("si") || type == "index" || signlessWidth(type) > 64 ||
        !std::isnan(overflowOf(type)))
      return Status::ok();
  }
  return refuse("has the number " + std::string(number.text) + ", which does not fit in the signed type i64",
                number.line);
}

Status Scanner::takeWord() {
  const std::string_view word = readWord(position);
  position += word.size();
  if (word == "floordiv" || word == "ceildiv" || word == "mod")
    return countOperator();
  if (word == "dense" && denseDepth == 0) {
    if (const size_t bracket = skipSpace(position); at(bracket) == '<') {
      denseDepth = depth + 1;
      largestInteger = 0;
      largestFloat = 0;
    }
  }
  return Status::ok();
}

/// A name with its sign: what it holds is no number.
Status Scanner::takeSigil() {
  const char sign = text[position];
  if ((sign == '#' || sign == '!') && depth == 0 && definesAlias() && ++aliases > limits.aliases)
    return refuse("defines more than " + std::to_string(limits.aliases) + " aliases");
  for (++position; isIdentifier(at(position)) || (at(position) == '-' && at(position + 1) != '>');)
    ++position;
  return Status::ok();
}

/// Behind the bracket that ends dense elements: their type says how large they may be.
Status Scanner::endDense() {
  denseDepth = 0;
  const size_t colon = skipSpace(position);
  // No type holds less than this.
  if (at(colon) != ':' || (largestInteger < 128 && largestFloat < 448))
    return Status::ok();
  const std::string_view element = elementOf(skipSpace(colon + 1));
  if (largestFloat >= overflowOf(element))
    return refuse("has the number " + std::string(floatPlace.text.substr(0, 40)) + ", which does not fit in " +
                      std::string(element),
                  floatPlace.line);
  const unsigned width = signlessWidth(element);
  if (width >= 2 && width <= 64 && largestInteger > std::numeric_limits<uint64_t>::max() >> (65 - width))
    return refuse("has the number " + std::string(integerPlace.text) + ", which does not fit in the signed type " +
                      std::string(element),
                  integerPlace.line);
  return Status::ok();
}

std::string_view Scanner::readWord(size_t place) const {
  size_t end = place;
  while (isIdentifier(at(end)))
    ++end;
  return text.substr(place, end - place);
}

/// The element type of "tensor<4x8xi8, ...>"; empty where there is none.
std::string_view Scanner::readElement(size_t place) const {
  constexpr std::string_view tensor = "tensor";
  if (text.substr(place, tensor.size()) != tensor)
    return {};
  place = skipSpace(place + tensor.size());
  if (at(place) != '<')
    return {};
  // Extents, until a word that no extent begins.
  for (++place; place < text.size();) {
    place = skipSpace(place);
    if (isDigit(at(place)) || at(place) == '?' || at(place) == 'x' || at(place) == '*') {
      ++place;
      continue;
    }
    break;
  }
  return readWord(place);
}

/// The same of a type that may be an alias, whose definition may stand anywhere before or behind.
std::string_view Scanner::elementOf(size_t place) {
  for (int links = 0; at(place) == '!' && links < limits.nesting; ++links) {
    size_t end = place + 1;
    while (isIdentifier(at(end)) || at(end) == '-')
      ++end;
    const std::string_view name = text.substr(place, end - place);
    if (const auto known = elements.find(name); known != elements.end())
      return known->second;
    size_t found = text.find(name);
    const auto isDefinition = [&] {
      const size_t equals = skipSpace(found + name.size());
      return at(equals) == '=' && at(equals + 1) != '=';
    };
    while (found != std::string_view::npos && !isDefinition())
      found = text.find(name, found + 1);
    if (found == std::string_view::npos)
      return elements[name] = {};
    const size_t type = skipSpace(skipSpace(found + name.size()) + 1);
    if (at(type) != '!')
      return elements[name] = readElement(type);
    place = type;
  }
  return readElement(place);
}

size_t Scanner::skipSpace(size_t place) const {
  while (place < text.size() && (isSpace(text[place]) || (text[place] == '/' && at(place + 1) == '/'))) {
    if (text[place] == '/')
      while (place < text.size() && text[place] != '\n')
        ++place;
    else
      ++place;
  }
  return place;
}

/// A resource begins with the bytes to which its elements are aligned, as a little-endian number of 32 bits. The parser
/// allocates so, and ends the process where it cannot.
Status Scanner::takeString() {
  const size_t begin = position + 1;
  skipString();
  std::string_view digits = text.substr(begin).substr(0, position - begin);
  // What are no digits is the parser's to refuse.
  if (!isInResources || !digits.starts_with("0x") || digits.size() < 10 ||
      !std::ranges::all_of(digits.substr(2, 8), isHexDigit))
    return Status::ok();
  uint64_t alignment = 0;
  for (size_t byte = 4; byte-- != 0;)
    alignment = alignment << 8 | integerOf("0x" + std::string(digits.substr(2 + 2 * byte, 2)));
  if (alignment > limits.alignment)
    return refuse("has a resource that is aligned to " + std::to_string(alignment) + " bytes, more than " +
                  std::to_string(limits.alignment));
  return Status::ok();
}

/// Stops at the end of the line too: an open string is the parser's to refuse.
void Scanner::skipString() {
  for (++position; position < text.size() && text[position] != '\n'; ++position) {
    if (text[position] == '\\') {
      ++position;
    } else if (text[position] == '"') {
      ++position;
      return;
    }
  }
}

void Scanner::skipComment() {
  while (position < text.size() && text[position] != '\n')
    ++position;
}

/// At "#name =" or "!name =". Looks no further than the equals sign.
bool Scanner::definesAlias() const {
  size_t place = position + 1;
  while (isIdentifier(at(place)) || at(place) == '-')
    ++place;
  return at(skipSpace(place)) == '=';
}

Status checkTextLimits(std::string_view text, const TextLimits &limits) {
  if (text.size() > limits.bytes)
    return Status::invalidArgument("the text has " + std::to_string(text.size()) + " bytes, more than " +
                                   std::to_string(limits.bytes));
  if (text.substr(0, 4) == "ML\xefR")
    return Status::invalidArgument("the input is MLIR bytecode; only text is read");
  // The parser takes a zero byte for space.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return Status::invalidArgument("line " + std::to_string(1 + std::ranges::count(text.substr(0, zero), '\n')) +
                                   " has a zero byte");
  return Scanner(text, limits).run();
}

} // namespace zyx
