//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ConfigFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

using namespace zyx;

namespace {

/// Walks over the text and counts the lines that the parser has taken.
class LineCounter {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  LineCounter(const char *at, size_t *line) : at(at), line(line) {}
  reference operator*() const { return *at; }
  LineCounter &operator++() {
    *line += *at++ == '\n';
    return *this;
  }
  LineCounter operator++(int) {
    LineCounter before = *this;
    ++*this;
    return before;
  }
  bool operator==(const LineCounter &other) const { return at == other.at; }

private:
  const char *at;
  size_t *line;
};

/// Receives the file as events, so that nothing is built of JSON of another form.
class Reader : public nlohmann::json_sax<nlohmann::json> {
public:
  Reader(std::string_view text, size_t &line) : text(text), line(line) {}
  Status failure;
  std::vector<ConfigEntry> entries;

  bool start_object(size_t) override {
    if (depth++ == 0)
      return true;
    return depth == 2 ? open({ConfigValue::Table()}) : unexpected();
  }
  bool end_object() override { return close(); }
  bool start_array(size_t) override {
    ++depth;
    if (depth == 2)
      return open({ConfigValue::List()});
    auto *table = depth == 3 ? std::get_if<ConfigValue::Table>(&current().value) : nullptr;
    if (!table)
      return unexpected();
    table->values.push_back({field, {ConfigValue::List()}});
    return true;
  }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    if (depth == 2) {
      for (const auto &[known, value] : std::get<ConfigValue::Table>(current().value).values)
        if (known == name)
          return fail("'" + name + "' of key '" + entries.back().key + "' stands there twice");
      field = name;
      return true;
    }
    for (const ConfigEntry &entry : entries)
      if (entry.key == name)
        return fail("key '" + name + "' stands there twice");
    // The quote behind the name was taken, and nothing after it.
    entries.push_back({name, line, {}});
    return true;
  }
  bool null() override { return put({ConfigValue::Nothing()}); }
  bool boolean(bool value) override { return put({value}); }
  bool number_unsigned(number_unsigned_t value) override { return put({uint64_t(value)}); }
  bool number_integer(number_integer_t) override { return put({ConfigValue::Fraction()}); }
  bool number_float(number_float_t, const string_t &) override { return put({ConfigValue::Fraction()}); }
  bool string(string_t &value) override { return put({value}); }
  bool binary(binary_t &) override { return unexpected(); }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) override {
    // The last character that was taken is the one that is wrong.
    const std::string_view before = text.substr(0, position == 0 ? 0 : position - 1);
    line = 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
    return fail("is no JSON from here on");
  }

private:
  ConfigValue &current() { return entries.back().value; }
  bool open(ConfigValue value) {
    entries.back().value = std::move(value);
    return true;
  }
  bool close() {
    --depth;
    return true;
  }
  bool put(ConfigValue value) {
    if (depth == 0)
      return unexpected();
    if (depth == 1) {
      current() = std::move(value);
    } else if (auto *table = std::get_if<ConfigValue::Table>(&current().value)) {
      if (depth == 3)
        std::get<ConfigValue::List>(table->values.back().second.value).values.push_back(std::move(value));
      else
        table->values.push_back({field, std::move(value)});
    } else {
      std::get<ConfigValue::List>(current().value).values.push_back(std::move(value));
    }
    return true;
  }
  bool fail(const std::string &why) {
    if (failure.isOk())
      failure = Status::invalidArgument(std::to_string(line) + ": " + why);
    return false;
  }
  bool unexpected() {
    return fail(entries.empty() ? "is no object of keys"
                                : "key '" + entries.back().key + "' has lists or objects inside of each other");
  }

  std::string_view text;
  size_t &line;
  int depth = 0;
  std::string field;
};

} // namespace

Result<std::vector<ConfigEntry>> zyx::readConfigFile(std::string_view text) {
  // The parser takes it for the end, and would not look at what follows.
  if (const size_t zero = text.find('\0'); zero != text.npos)
    return Status::invalidArgument(std::to_string(1 + std::ranges::count(text.substr(0, zero), '\n')) +
                                   ": is no JSON from here on");
  size_t line = 1;
  Reader reader(text, line);
  const bool isDone =
      nlohmann::json::sax_parse(LineCounter(text.data(), &line), LineCounter(text.data() + text.size(), &line), &reader,
                                nlohmann::json::input_format_t::json, /*strict=*/true, /*ignore_comments=*/true);
  if (!isDone)
    return reader.failure;
  return std::move(reader.entries);
}
