//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Extent.h"

#include <algorithm>
#include <charconv>

namespace zyx {

/// Bounds on what a text can make of itself: (a + b)^64 has 65 terms, and recursion needs a stack.
static constexpr size_t maxTerms = 64, maxFactors = 16, maxTextSize = 1024;
static constexpr int maxDepth = 32;

std::string toString(const Bindings &bindings) {
  std::string text;
  for (const auto &[name, value] : bindings)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

Result<Bindings> readBindings(const std::vector<std::string> &texts) {
  Bindings bindings;
  for (const std::string &text : texts) {
    const size_t equals = text.find('=');
    int64_t value = -1;
    const char *end = text.data() + text.size();
    if (equals == std::string::npos || !Extent::symbol(text.substr(0, equals)).isOk() ||
        std::from_chars(text.data() + equals + 1, end, value).ptr != end || value < 0)
      return Status::invalidArgument("'" + text + "' gives no symbol a value, as n=4 does");
    if (!bindings.emplace(text.substr(0, equals), value).second)
      return Status::invalidArgument("the symbol " + text.substr(0, equals) + " is given two values");
  }
  return bindings;
}

struct Extent::Quotient {
  Extent numerator;
  int64_t divisor;
};

static bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static Status overflow() { return Status::invalidArgument("an extent has a number that does not fit in 63 bits"); }

Extent::Extent(int64_t constant) {
  if (constant != 0)
    terms[{}] = constant;
}

Result<Extent> Extent::symbol(std::string_view name) {
  const bool isName = !name.empty() && isNameStart(name[0]) && name != "floordiv" &&
                      std::all_of(name.begin(), name.end(), [](char c) { return isNameStart(c) || isDigit(c); });
  if (!isName || name.size() > maxTextSize)
    return Status::invalidArgument("'" + std::string(name.substr(0, 64)) + "' is no name of a symbol");
  Extent result;
  result.terms[{Factor{std::string(name), nullptr}}] = 1;
  return result;
}

Status Extent::addTerm(const Monomial &monomial, int64_t coefficient) {
  if (coefficient == 0)
    return Status::ok();
  const auto [it, inserted] = terms.try_emplace(monomial, 0);
  if (__builtin_add_overflow(it->second, coefficient, &it->second))
    return overflow();
  if (it->second == 0)
    terms.erase(it);
  if (terms.size() > maxTerms)
    return Status::invalidArgument("an extent has more than " + std::to_string(maxTerms) + " terms");
  return Status::ok();
}

Result<Extent> Extent::add(const Extent &a, const Extent &b) {
  Extent result = a;
  for (const auto &[monomial, coefficient] : b.terms)
    ZYX_RETURN_IF_ERROR(result.addTerm(monomial, coefficient));
  return result;
}

Result<Extent> Extent::multiply(const Extent &a, const Extent &b) {
  Extent result;
  for (const auto &[left, leftCoefficient] : a.terms)
    for (const auto &[right, rightCoefficient] : b.terms) {
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(leftCoefficient, rightCoefficient, &coefficient))
        return overflow();
      Monomial monomial = left;
      monomial.insert(monomial.end(), right.begin(), right.end());
      if (monomial.size() > maxFactors)
        return Status::invalidArgument("an extent has a product of more than " + std::to_string(maxFactors) +
                                       " factors");
      std::sort(monomial.begin(), monomial.end());
      ZYX_RETURN_IF_ERROR(result.addTerm(monomial, coefficient));
    }
  return result;
}

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

Result<Extent> Extent::floorDivide(const Extent &a, int64_t divisor) {
  if (divisor <= 0)
    return Status::invalidArgument("an extent is divided by " + std::to_string(divisor) + ", which is not positive");
  // (divisor * whole + rest) floordiv divisor = whole + rest floordiv divisor.
  Extent whole, rest;
  for (const auto &[monomial, coefficient] : a.terms) {
    const int64_t quotient = floorDiv(coefficient, divisor);
    ZYX_RETURN_IF_ERROR(whole.addTerm(monomial, quotient));
    ZYX_RETURN_IF_ERROR(rest.addTerm(monomial, coefficient - quotient * divisor));
  }
  // A rest without symbols lies in [0, divisor).
  if (rest.constant())
    return whole;
  const std::string inner = rest.toString();
  Factor factor;
  factor.text = (rest.terms.size() > 1 || rest.terms.begin()->second != 1 || rest.terms.begin()->first.size() > 1
                     ? "((" + inner + ")"
                     : "(" + inner) +
                " floordiv " + std::to_string(divisor) + ")";
  if (factor.text.size() > maxTextSize)
    return Status::invalidArgument("an extent has more than " + std::to_string(maxTextSize) + " characters");
  factor.quotient = std::make_shared<const Quotient>(Quotient{std::move(rest), divisor});
  ZYX_RETURN_IF_ERROR(whole.addTerm({std::move(factor)}, 1));
  return whole;
}

std::optional<int64_t> Extent::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

void Extent::collectSymbols(std::set<std::string> &symbols) const {
  for (const auto &[monomial, coefficient] : terms)
    for (const Factor &factor : monomial) {
      if (factor.quotient)
        factor.quotient->numerator.collectSymbols(symbols);
      else
        symbols.insert(factor.text);
    }
}

Result<int64_t> Extent::evaluate(const Monomial &monomial, const Bindings &bindings) const {
  int64_t product = 1;
  for (const Factor &factor : monomial) {
    int64_t value = 0;
    if (factor.quotient) {
      ZYX_ASSIGN_OR_RETURN(const int64_t numerator, factor.quotient->numerator.evaluate(bindings));
      value = floorDiv(numerator, factor.quotient->divisor);
    } else {
      const auto found = bindings.find(factor.text);
      if (found == bindings.end())
        return Status::invalidArgument("the symbol " + factor.text + " has no value");
      value = found->second;
    }
    if (__builtin_mul_overflow(product, value, &product))
      return overflow();
  }
  return product;
}

Result<int64_t> Extent::evaluate(const Bindings &bindings) const {
  int64_t sum = 0;
  for (const auto &[monomial, coefficient] : terms) {
    ZYX_ASSIGN_OR_RETURN(int64_t product, evaluate(monomial, bindings));
    if (__builtin_mul_overflow(product, coefficient, &product) || __builtin_add_overflow(sum, product, &sum))
      return overflow();
  }
  return sum;
}

std::optional<std::pair<std::string, int64_t>> Extent::solve(int64_t value, const Bindings &bindings) const {
  std::optional<std::string> unknown;
  int64_t scale = 0, offset = 0;
  for (const auto &[monomial, coefficient] : terms) {
    // The unknown symbol may be one factor of a term whose others are known.
    Monomial known;
    bool hasUnknown = false;
    for (const Factor &factor : monomial) {
      if (factor.quotient || bindings.contains(factor.text)) {
        known.push_back(factor);
        continue;
      }
      if (hasUnknown || (unknown && *unknown != factor.text))
        return std::nullopt;
      hasUnknown = true;
      unknown = factor.text;
    }
    const Result<int64_t> product = evaluate(known, bindings);
    int64_t term = 0;
    int64_t &sum = hasUnknown ? scale : offset;
    if (!product.isOk() || __builtin_mul_overflow(*product, coefficient, &term) ||
        __builtin_add_overflow(sum, term, &sum))
      return std::nullopt;
  }
  int64_t difference = 0;
  if (!unknown || scale == 0 || __builtin_sub_overflow(value, offset, &difference) ||
      (scale == -1 && difference == INT64_MIN) || difference % scale != 0)
    return std::nullopt;
  return std::pair(*unknown, difference / scale);
}

std::string Extent::toString() const {
  std::string text;
  auto append = [&](const Monomial &monomial, int64_t coefficient) {
    const bool isNegative = coefficient < 0;
    const std::string digits = std::to_string(coefficient).substr(isNegative ? 1 : 0);
    text += text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    std::string product = digits == "1" && !monomial.empty() ? "" : digits;
    for (const Factor &factor : monomial)
      product += (product.empty() ? "" : "*") + factor.text;
    text += product;
  };
  for (const auto &[monomial, coefficient] : terms)
    if (!monomial.empty())
      append(monomial, coefficient);
  if (const auto constant = terms.find({}); constant != terms.end())
    append({}, constant->second);
  return text.empty() ? "0" : text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

class ExtentParser {
public:
  explicit ExtentParser(std::string_view text) : text(text) {}

  Result<Extent> parse() {
    ZYX_ASSIGN_OR_RETURN(Extent result, sum(0));
    if (skipSpace(), at != text.size())
      return refuse("operator");
    return result;
  }

private:
  Status refuse(std::string_view wanted) const {
    return Status::invalidArgument("the extent '" + std::string(text) + "' has no " + std::string(wanted) +
                                   " at character " + std::to_string(at));
  }
  void skipSpace() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool consume(std::string_view token) {
    skipSpace();
    if (!text.substr(at).starts_with(token))
      return false;
    at += token.size();
    return true;
  }

  Result<Extent> sum(int depth) {
    ZYX_ASSIGN_OR_RETURN(Extent result, product(depth));
    while (true) {
      const bool minus = consume("-");
      if (!minus && !consume("+"))
        return result;
      ZYX_ASSIGN_OR_RETURN(Extent term, product(depth));
      if (minus) {
        ZYX_ASSIGN_OR_RETURN(term, Extent::multiply(term, Extent(-1)));
      }
      ZYX_ASSIGN_OR_RETURN(result, Extent::add(result, term));
    }
  }

  Result<Extent> product(int depth) {
    ZYX_ASSIGN_OR_RETURN(Extent result, primary(depth));
    while (true) {
      if (consume("*")) {
        ZYX_ASSIGN_OR_RETURN(const Extent factor, primary(depth));
        ZYX_ASSIGN_OR_RETURN(result, Extent::multiply(result, factor));
      } else if (consume("floordiv")) {
        ZYX_ASSIGN_OR_RETURN(const Extent divisor, primary(depth));
        if (!divisor.constant())
          return refuse("integer to divide by");
        ZYX_ASSIGN_OR_RETURN(result, Extent::floorDivide(result, *divisor.constant()));
      } else {
        return result;
      }
    }
  }

  Result<Extent> primary(int depth) {
    if (depth > maxDepth)
      return Status::invalidArgument("an extent is nested deeper than " + std::to_string(maxDepth));
    if (consume("(")) {
      ZYX_ASSIGN_OR_RETURN(Extent result, sum(depth + 1));
      if (!consume(")"))
        return refuse("closing parenthesis");
      return result;
    }
    if (consume("-")) {
      ZYX_ASSIGN_OR_RETURN(const Extent result, primary(depth + 1));
      return Extent::multiply(result, Extent(-1));
    }
    skipSpace();
    const size_t begin = at;
    if (at < text.size() && isDigit(text[at])) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
      if (error != std::errc())
        return overflow();
      at = static_cast<size_t>(end - text.data());
      return Extent(value);
    }
    while (at < text.size() && (isNameStart(text[at]) || isDigit(text[at])))
      ++at;
    if (at == begin)
      return refuse("number, symbol or parenthesis");
    return Extent::symbol(text.substr(begin, at - begin));
  }

  std::string_view text;
  size_t at = 0;
};

Result<Extent> Extent::parse(std::string_view text) {
  if (text.size() > maxTextSize)
    return Status::invalidArgument("an extent has more than " + std::to_string(maxTextSize) + " characters");
  return ExtentParser(text).parse();
}

} // namespace zyx
