//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Coverage.h"
#include "Exhaustive.h"
#include "Folded.h"
#include "Runner.h"
#include "smith/Cases.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>

using namespace zyx;
using namespace zyx::conformance;

namespace {

constexpr const char *help =
    "zyx-conformance: every op of the graph on a device, compared with the interpreter\n"
    "  --device=NAME     what runs the graphs (default: cpu): cpu, c, reference; folded or grouped,\n"
    "                    the interpreter after the compiler's folders, or its groups; corrupted, the\n"
    "                    interpreter with a wrong bit in each output, which must fail\n"
    "  --optimise=HOW    default; none: one op per kernel, no schedules; or schedules: random\n"
    "                    legal ones\n"
    "  --filter=TEXT     only cases whose name holds the text; may be given again\n"
    "  --seeds=FIRST:N   random graphs (default: 1:100)\n"
    "  --batch=N         cases in one graph (default: 48)\n"
    "  --jobs=N          processes (default: 2)\n"
    "  --exhaustive      every unary function on every f32: minutes for each that the filters name\n"
    "  --list            print the names of the cases\n"
    "  --coverage        print the ops, kinds and dtypes that no case is about; fails if there are\n"
    "  --report=FILE     write each verdict, for utils/conformance.py\n"
    "  --verbose         print every refusal, not one for each reason\n"
    "Exits with 1 if an answer is wrong or a case crashes.\n";

struct Settings {
  std::string device = "cpu";
  Optimise optimise = Optimise::Default;
  std::vector<std::string> filters;
  uint64_t firstSeed = 1;
  int64_t numSeeds = 100;
  RunOptions run;
  std::string report;
  bool list = false, coverage = false, exhaustive = false, verbose = false;
};

template <typename T> bool parseNumber(std::string_view text, T &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parseOption(std::string_view option, Settings &settings) {
  const size_t equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : option.substr(equals + 1);
  if (name == "--device")
    settings.device = value;
  else if (name == "--optimise" && parseOptimise(value))
    settings.optimise = *parseOptimise(value);
  else if (name == "--filter")
    settings.filters.emplace_back(value);
  else if (name == "--batch")
    return parseNumber(value, settings.run.batch) && settings.run.batch > 0;
  else if (name == "--jobs")
    return parseNumber(value, settings.run.jobs) && settings.run.jobs > 0;
  else if (option == "--list")
    settings.list = true;
  else if (option == "--exhaustive")
    settings.exhaustive = true;
  else if (option == "--coverage")
    settings.coverage = true;
  else if (name == "--report" && !value.empty())
    settings.report = value;
  else if (option == "--verbose")
    settings.verbose = true;
  else if (const size_t colon = value.find(':');
           name == "--seeds" && colon != std::string_view::npos)
    return parseNumber(value.substr(0, colon), settings.firstSeed) &&
           parseNumber(value.substr(colon + 1), settings.numSeeds);
  else
    return false;
  return true;
}

std::vector<Case> collect(const Settings &settings) {
  std::vector<Case> all, cases;
  addElementwiseCases(all);
  addViewCases(all);
  addReduceCases(all);
  addIndexCases(all);
  addFoldCases(all);
  addBodyCases(all);
  addOrderCases(all);
  addMovementCases(all);
  addCompositionCases(all);
  smith::addRandomCases(all, settings.firstSeed, settings.numSeeds);
  std::set<std::string> names;
  for (Case &one : all) {
    const auto holds = [&](const std::string &filter) {
      return one.name.find(filter) != std::string::npos;
    };
    const bool wanted = settings.filters.empty() ||
                        std::any_of(settings.filters.begin(), settings.filters.end(), holds);
    if (wanted && names.insert(one.name).second)
      cases.push_back(std::move(one));
  }
  return cases;
}

/// Prints what did not pass and counts everything; true if nothing is wrong.
bool report(const Settings &settings, const std::vector<Case> &cases,
            const std::vector<Verdict> &verdicts, double seconds) {
  std::map<Outcome, size_t> counts;
  std::map<std::string, int64_t> ulps;
  std::map<std::string, std::vector<std::string>> refusals;
  int64_t numFree = 0;
  for (const Verdict &verdict : verdicts) {
    const std::string &name = cases[verdict.index].name;
    ++counts[verdict.outcome];
    numFree += verdict.numFree;
    for (const auto &[function, largest] : verdict.ulps)
      ulps[function] = std::max(ulps[function], largest);
    if (verdict.outcome == Outcome::Wrong)
      std::printf("WRONG %s\n%s\n", name.c_str(), verdict.text.c_str());
    if (verdict.outcome == Outcome::Crash)
      std::printf("CRASH %s: %s\n", name.c_str(), verdict.text.c_str());
    if (verdict.outcome == Outcome::Refused)
      refusals[verdict.text].push_back(name);
  }
  for (const auto &[reason, names] : refusals) {
    std::printf("REFUSED %zu: %s\n", names.size(), reason.c_str());
    for (size_t i = 0; i < names.size() && (settings.verbose || i < 3); ++i)
      std::printf("  %s\n", names[i].c_str());
  }
  for (const auto &[function, largest] : ulps)
    std::printf("%-12s at most %lld ULP\n", function.c_str(), static_cast<long long>(largest));
  const bool good =
      counts[Outcome::Wrong] == 0 && counts[Outcome::Crash] == 0 && verdicts.size() == cases.size();
  std::printf("%s, optimise=%s: %zu cases: %zu pass, %zu wrong, %zu refused, %zu crash; "
              "%lld elements left free by their bounds; %.1f s\n",
              settings.device.c_str(), std::string(toString(settings.optimise)).c_str(),
              cases.size(), counts[Outcome::Pass], counts[Outcome::Wrong], counts[Outcome::Refused],
              counts[Outcome::Crash], static_cast<long long>(numFree), seconds);
  return good;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--help")) {
      std::fputs(help, stdout);
      return 0;
    }
    if (!parseOption(argv[i], settings)) {
      std::fprintf(stderr, "zyx-conformance: cannot use '%s'\n%s", argv[i], help);
      return 2;
    }
  }
  const std::vector<Case> cases = collect(settings);
  if (settings.list) {
    for (const Case &one : cases)
      std::printf("%s\n", one.name.c_str());
    return 0;
  }
  if (settings.coverage) {
    const std::string missing = missingCases(cases);
    std::printf("%s%zu cases, %s\n", missing.c_str(), cases.size(),
                missing.empty() ? "every op is covered" : "none of these");
    return missing.empty() ? 0 : 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto make = [&] {
#ifdef ZYX_BUILD_COMPILER
    if (settings.device == "folded" || settings.device == "grouped")
      return openFolded(settings.device == "grouped");
#endif
    return settings.device == "corrupted" ? openCorrupted()
                                          : openDevice(settings.device, settings.optimise);
  };
  if (settings.exhaustive)
    return runExhaustive(make, settings.filters, settings.run.jobs) ? 0 : 1;
  const std::vector<Verdict> verdicts = runCases(cases, make, settings.run);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!settings.report.empty() && !writeReport(settings.report, cases, verdicts)) {
    std::fprintf(stderr, "zyx-conformance: cannot write %s\n", settings.report.c_str());
    return 2;
  }
  return report(settings, cases, verdicts, elapsed.count()) ? 0 : 1;
}
