//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_EXTENT_H
#define ZYX_BASE_EXTENT_H

#include "zyx/Base/Status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zyx {

/// Values of symbols, by name.
using Bindings = std::map<std::string, int64_t>;
/// "m = 2, n = 3".
std::string toString(const Bindings &bindings);
/// Reads texts like "n=4"; refuses another form, a value that is negative, and a name given twice.
Result<Bindings> readBindings(const std::vector<std::string> &texts);

/// The extent of a dimension as an expression of symbols: sums and products of integers, symbols
/// and quotients rounded down, as "2*n + 1" or "n*((m - 3) floordiv 2)". Kept as a polynomial in
/// one order, so that extents which are equal as polynomials are equal objects and print the same.
class Extent {
public:
  Extent(int64_t constant = 0);
  /// Refuses what is no name: letters, digits and _, no digit first, and not "floordiv".
  static Result<Extent> symbol(std::string_view name);
  /// Reads `toString`'s text, in any order and spelling: + - * floordiv, integers, symbols and
  /// parentheses; floordiv binds as * does, and divides by a positive integer.
  static Result<Extent> parse(std::string_view text);

  /// Each refuses results with too many terms or coefficients that do not fit in 63 bits.
  static Result<Extent> add(const Extent &a, const Extent &b);
  static Result<Extent> multiply(const Extent &a, const Extent &b);
  /// The largest integer not above a / divisor; refuses a divisor that is not positive.
  static Result<Extent> floorDivide(const Extent &a, int64_t divisor);

  /// The value where no symbol is in it.
  std::optional<int64_t> constant() const;
  void collectSymbols(std::set<std::string> &symbols) const;
  /// Refuses a symbol without a value, and a value that does not fit in 63 bits.
  Result<int64_t> evaluate(const Bindings &bindings) const;
  /// The value of the one symbol that has none in `bindings`, if the expression is
  /// scale * symbol + offset in it, at which this extent is `value`; none where there is no such
  /// symbol or no such integer.
  std::optional<std::pair<std::string, int64_t>> solve(int64_t value, const Bindings &bindings) const;

  std::string toString() const;
  bool operator==(const Extent &other) const { return terms == other.terms; }

private:
  struct Quotient;
  /// A symbol, or a quotient; `text` is the name or the quotient's one spelling.
  struct Factor {
    std::string text;
    std::shared_ptr<const Quotient> quotient;
    bool operator==(const Factor &other) const { return text == other.text; }
    bool operator<(const Factor &other) const { return text < other.text; }
  };
  /// Factors in order; none in the constant term.
  using Monomial = std::vector<Factor>;

  Status addTerm(const Monomial &monomial, int64_t coefficient);
  Result<int64_t> evaluate(const Monomial &monomial, const Bindings &bindings) const;

  /// No coefficient is 0.
  std::map<Monomial, int64_t> terms;

  friend class ExtentParser;
};

} // namespace zyx

#endif // ZYX_BASE_EXTENT_H
