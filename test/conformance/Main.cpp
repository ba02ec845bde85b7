//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Coverage.h"
#include "Exhaustive.h"
#include "Folded.h"
#include "Runner.h"

#include "Common/Tool.h"
#include "lib/Pipelines/DrawnSchedules.h"
#include "smith/Cases.h"
#ifdef ZYX_BUILD_COMPILER
#include "smith/WriteProgram.h"
#endif
#include "zyx/Base/File.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

using namespace zyx;
using namespace zyx::conformance;

namespace {

constexpr const char *help =
    "zyx-conformance: every op of the graph on a device, compared with the interpreter\n"
    "  --device=NAME     what runs the graphs (default: cpu): cpu, c, cuda, reference; folded or grouped,\n"
    "                    the interpreter after the compiler's folders, or its groups; corrupted, the\n"
    "                    interpreter with a wrong bit in each output, which must fail. NAME/HOW has an\n"
    "                    --optimise of its own; may be given again: the interpreter's answers are shared\n"
    "  --if-present      where the device is not there, say so and exit with 0\n"
    "  --target=NAME     the record to compile for, of one that the device runs (default: the device's\n"
    "                    own); sm_80 on a newer card, with ZYX_PTXAS= for text that its driver assembles\n"
    "  --compile-only    compile for --target and run nothing: no card is needed\n"
    "  --code=FOLDER     with --compile-only: write each piece of code there, as HASH.FORMAT\n"
    "  --dump=FOLDER     write each case there as NAME.mlir, and run nothing\n"
    "  --isa=NAME        the instruction set of code for cpu: native (default), x86-64, x86-64-v3, ...\n"
    "  --emulator=WORDS  run code for cpu by this command, and test/emulated behind it\n"
    "  --optimise=HOW    default; none: one op per kernel, no schedules; or schedules: random\n"
    "                    legal ones\n"
    "  --no-weights      no input is a weight; otherwise every second one is\n"
    "  --filter=TEXT     only cases whose name holds the text; may be given again\n"
    "  --spread=N        at most N of the cases: of each op and kind as many as of the others, of\n"
    "                    different dtypes and variants\n"
    "  --seeds=FIRST:N   random graphs (default: 1:100)\n"
    "  --max-refused=N   fail where more cases are refused\n"
    "  --batch=N         cases in one graph (default: 48)\n"
    "  --jobs=N          processes (default: one for each processor it may use)\n"
    "  --seconds=N       for one graph on one device; what takes longer is a crash (default: 120)\n"
    "  --exhaustive      every unary function on every f32: minutes for each that the filters name\n"
    "  --list            print the names of the cases\n"
    "  --coverage        print the ops, kinds and dtypes that no case is about; fails if there are\n"
    "  --report=FILE     write each verdict, for utils/conformance.py; of one device\n"
    "  --reports=FOLDER  write those of each device to FOLDER/NAME.tsv or FOLDER/NAME-HOW.tsv\n"
    "  --verbose         print every refusal, not one for each reason\n"
    "  -h, --help        print this text\n"
    "  --version         print zyx's version\n"
    "Exits with 1 if an answer is wrong, a case crashes or too many are refused, with 2 if a filter\n"
    "names no case or the device is not there.\n";

/// What runs the graphs, and how it compiles where that is not as for the others.
struct Column {
  std::string device;
  std::optional<Optimise> optimise;
  /// "cpu-none".
  std::string name() const { return device + (optimise ? "-" + std::string(toString(*optimise)) : ""); }
};

struct Settings {
  std::vector<Column> columns;
  std::string isa = "native", target;
  /// The words of a command; empty runs code here.
  std::vector<std::string> emulator;
  Optimise optimise = Optimise::Default;
  std::vector<std::string> filters;
  uint64_t firstSeed = 1;
  int64_t numSeeds = 100;
  RunOptions run;
  std::string report, reports, dump, code;
  /// 0 for all cases.
  size_t spread = 0;
  bool compileOnly = false;
  bool list = false, coverage = false, exhaustive = false, verbose = false, hasWeights = true, ifPresent = false;
  size_t maxRefused = SIZE_MAX;
};

Status parseSeeds(std::string_view given, Settings &settings) {
  const size_t colon = given.find(':');
  if (colon == given.npos || !tools::parseNumber(given.substr(0, colon), settings.firstSeed) ||
      !tools::parseNumber(given.substr(colon + 1), settings.numSeeds))
    return tools::badValue("--seeds", given, "FIRST:N");
  return Status::ok();
}

Status parseDevice(std::string_view given, Settings &settings) {
  const size_t slash = given.find('/');
  Column column{std::string(given.substr(0, slash)), std::nullopt};
  if (slash != given.npos && !(column.optimise = parseOptimise(given.substr(slash + 1))))
    return tools::badValue("--device", given, "NAME or NAME/HOW");
  settings.columns.push_back(std::move(column));
  return Status::ok();
}

std::vector<tools::Option> optionsOf(Settings &settings, bool &hasNoWeights) {
  return {
      tools::value("--device", [&](std::string_view given) { return parseDevice(given, settings); }),
      tools::text("--target", settings.target),
      tools::text("--isa", settings.isa),
      tools::value("--emulator",
                   [&](std::string_view given) {
                     std::istringstream words{std::string(given)};
                     settings.emulator.assign(std::istream_iterator<std::string>(words), {});
                     return Status::ok();
                   }),
      tools::value("--optimise",
                   [&](std::string_view given) {
                     const std::optional<Optimise> way = parseOptimise(given);
                     if (!way)
                       return tools::badValue("--optimise", given, "way: default, none or schedules");
                     settings.optimise = *way;
                     return Status::ok();
                   }),
      tools::flag("--no-weights", hasNoWeights),
      tools::texts("--filter", settings.filters),
      tools::value("--seeds", [&](std::string_view given) { return parseSeeds(given, settings); }),
      tools::number("--max-refused", settings.maxRefused, "number of cases"),
      tools::number("--batch", settings.run.batch, "number of cases", decltype(settings.run.batch)(1)),
      tools::number("--jobs", settings.run.jobs, "number of processes", decltype(settings.run.jobs)(1)),
      tools::number("--seconds", settings.run.seconds, "number of seconds", decltype(settings.run.seconds)(1)),
      tools::flag("--compile-only", settings.compileOnly),
      tools::text("--dump", settings.dump),
      tools::text("--code", settings.code),
      tools::number("--spread", settings.spread, "number of cases", size_t(1)),
      tools::flag("--exhaustive", settings.exhaustive),
      tools::flag("--list", settings.list),
      tools::flag("--coverage", settings.coverage),
      tools::text("--report", settings.report),
      tools::text("--reports", settings.reports),
      tools::flag("--verbose", settings.verbose),
      tools::flag("--if-present", settings.ifPresent),
  };
}

auto isPartOf(const std::string &name) {
  return [&name](const std::string &filter) { return name.find(filter) != std::string::npos; };
}

bool runsOnCards(const Settings &settings) {
  return std::ranges::all_of(settings.columns, [](const Column &column) { return column.device.starts_with("cuda"); });
}

std::vector<Case> collect(const Settings &settings) {
  std::vector<Case> all, cases;
  addElementwiseCases(all);
  addViewCases(all);
  addReduceCases(all);
  addIndexCases(all);
  addFoldCases(all);
  addBodyCases(all);
  addRecurrentCases(all);
  addOrderCases(all);
  addMovementCases(all);
  addConvolutionCases(all);
  addProductCases(all);
  addAttentionCases(all);
  addMaskCases(all);
  addCompositionCases(all);
  smith::addRandomCases(all, settings.firstSeed, settings.numSeeds);
  std::set<std::string> names;
  for (Case &one : all) {
    const bool wanted = (settings.filters.empty() || std::ranges::any_of(settings.filters, isPartOf(one.name))) &&
                        (!one.isLarge || settings.compileOnly || runsOnCards(settings));
    if (wanted && names.insert(one.name).second)
      cases.push_back(std::move(one));
  }
  return cases;
}

/// "reduce.add" of "reduce.add.bf16.rows".
std::string groupOf(const std::string &name) {
  const size_t first = name.find('.');
  return name.substr(0, first == std::string::npos ? first : name.find('.', first + 1));
}

/// Keeps `count` cases in their order, in turns of the groups; those of a group are far from each other.
void spread(std::vector<Case> &cases, size_t count) {
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < cases.size(); ++i)
    groups[groupOf(cases[i].name)].push_back(i);
  std::set<size_t> taken;
  for (size_t turn = 0; taken.size() < std::min(count, cases.size()); ++turn) {
    size_t group = 0;
    for (const auto &[name, members] : groups) {
      // Groups with the same dtypes in the same order begin at different ones.
      const size_t step = members.size() / 2 + 1;
      size_t place = (group++ + turn * step) % members.size();
      while (turn < members.size() && taken.contains(members[place]))
        place = (place + 1) % members.size();
      if (turn < members.size() && taken.size() < count)
        taken.insert(members[place]);
    }
  }
  std::vector<Case> kept;
  for (size_t i : taken)
    kept.push_back(std::move(cases[i]));
  cases = std::move(kept);
}

#ifdef ZYX_BUILD_COMPILER
/// Each case as a file.
Status dump(const std::vector<Case> &cases, const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status::invalidArgument("cannot make " + folder + ": " + error.message());
  for (const Case &one : cases) {
    Program program;
    Builder builder(program, one.name);
    const std::vector<NodeId> outputs = one.build(builder);
    for (size_t i = 0; i < outputs.size(); ++i)
      program.graph.outputs.push_back({std::to_string(i), outputs[i]});
    const std::string text = smith::toText(withWeights(program).graph);
    ZYX_RETURN_IF_ERROR(writeFileAtomically(folder + "/" + one.name + ".mlir", std::as_bytes(std::span(text))));
  }
  return Status::ok();
}
#endif

/// A filter that no case holds: its author believes to test what is not tested.
const std::string *findIdleFilter(const Settings &settings, const std::vector<Case> &cases) {
  for (const std::string &filter : settings.filters)
    if (std::ranges::none_of(cases, [&](const Case &one) { return isPartOf(one.name)(filter); }))
      return &filter;
  return nullptr;
}

/// Whether the suite runs graphs by the device of that name, and not in place of it.
bool isOpened(const Settings &settings, const std::string &device) {
  return !settings.compileOnly && settings.emulator.empty() && device != "folded" && device != "grouped" &&
         device != "corrupted";
}

std::unique_ptr<Device> open(const Settings &settings, const Column &column) {
  CompileDrawn compileDrawn = nullptr;
#ifdef ZYX_BUILD_COMPILER
  compileDrawn = test::compileDrawn;
  if (column.device == "folded" || column.device == "grouped")
    return openFolded(column.device == "grouped");
#endif
  const Optimise optimise = column.optimise.value_or(settings.optimise);
  if (settings.compileOnly)
    return openCompiler(settings.target, optimise, settings.hasWeights, compileDrawn, settings.code);
  if (!settings.emulator.empty())
    return openEmulated(settings.isa, settings.emulator, settings.hasWeights);
  if (column.device == "corrupted")
    return openCorrupted();
  return openDevice(column.device, optimise, settings.isa, settings.hasWeights, settings.target, compileDrawn);
}

/// Prints what did not pass on one device and counts everything; true if nothing is wrong.
bool report(const Settings &settings, const Column &column, const std::vector<Case> &cases,
            const std::vector<Verdict> &verdicts) {
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
  const bool good = counts[Outcome::Wrong] == 0 && counts[Outcome::Crash] == 0 &&
                    counts[Outcome::Refused] <= settings.maxRefused && verdicts.size() == cases.size();
  const std::string isa = (settings.isa == "native" ? "" : ", isa=" + settings.isa) +
                          (settings.target.empty() ? "" : ", target=" + settings.target);
  std::printf("%s%s, optimise=%s: %zu cases: %zu pass, %zu wrong, %zu refused, %zu crash; "
              "%lld elements left free by their bounds\n",
              settings.compileOnly ? "compiled only" : column.device.c_str(), isa.c_str(),
              std::string(toString(column.optimise.value_or(settings.optimise))).c_str(), cases.size(),
              counts[Outcome::Pass], counts[Outcome::Wrong], counts[Outcome::Refused], counts[Outcome::Crash],
              static_cast<long long>(numFree));
  return good;
}

} // namespace

static int runConformance(int argc, char **argv) {
  Settings settings;
  bool hasNoWeights = false;
  if (const auto code = tools::parseOrAnswer("zyx-conformance", help, argc, argv, optionsOf(settings, hasNoWeights)))
    return *code;
  settings.hasWeights = !hasNoWeights;
  if (settings.columns.empty())
    settings.columns.push_back({"cpu", std::nullopt});
  if (!settings.report.empty() && settings.columns.size() > 1) {
    std::fprintf(stderr, "zyx-conformance: --report is of one device; --reports=FOLDER is of several\n");
    return 2;
  }
  std::vector<Case> cases = collect(settings);
  if (const std::string *filter = findIdleFilter(settings, cases)) {
    std::fprintf(stderr, "zyx-conformance: --filter=%s: no case has that in its name\n", filter->c_str());
    return 2;
  }
  if (settings.spread != 0)
    spread(cases, settings.spread);
  if (!settings.dump.empty()) {
#ifdef ZYX_BUILD_COMPILER
    const Status written = dump(cases, settings.dump);
#else
    const Status written = Status::unsupported("--dump needs a build with the compiler");
#endif
    if (!written.isOk())
      std::fprintf(stderr, "zyx-conformance: %s\n", written.toString().c_str());
    return written.isOk() ? 0 : 1;
  }
  // What is compiled and not run has nothing else to fail by.
  if (settings.compileOnly && settings.maxRefused == SIZE_MAX)
    settings.maxRefused = 0;
  if (settings.compileOnly && settings.target.empty()) {
    std::fprintf(stderr, "zyx-conformance: --compile-only needs a --target\n");
    return 2;
  }
  if (!settings.code.empty()) {
    std::error_code failed;
    if (settings.compileOnly)
      std::filesystem::create_directories(settings.code, failed);
    if (!settings.compileOnly || failed) {
      std::fprintf(stderr, "zyx-conformance: --code=%s: %s\n", settings.code.c_str(),
                   settings.compileOnly ? failed.message().c_str() : "it is for --compile-only");
      return 2;
    }
  }
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
  // Of a device that is not there every case would be refused, and nothing be wrong.
  std::vector<MakeDevice> devices;
  for (const Column &column : settings.columns) {
    devices.emplace_back([&] { return open(settings, column); });
    if (!isOpened(settings, column.device))
      continue;
    if (const Status found = findDevice(column.device); !found.isOk()) {
      std::fprintf(settings.ifPresent ? stdout : stderr, "%s%s\n",
                   settings.ifPresent ? "skipped: " : "zyx-conformance: ", found.message().c_str());
      return settings.ifPresent ? 0 : 2;
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  if (settings.exhaustive) {
    bool good = true;
    for (const MakeDevice &make : devices)
      good &= runExhaustive(make, settings.filters, settings.run.jobs);
    return good ? 0 : 1;
  }
  std::vector<std::vector<Verdict>> verdicts(devices.size());
  for (Verdict &verdict : runCases(cases, devices, settings.run))
    verdicts[verdict.device].push_back(std::move(verdict));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  bool good = true;
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string file =
        settings.reports.empty() ? settings.report : settings.reports + "/" + settings.columns[i].name() + ".tsv";
    if (!file.empty() && !writeReport(file, cases, verdicts[i])) {
      std::fprintf(stderr, "zyx-conformance: cannot write %s\n", file.c_str());
      return 2;
    }
    good &= report(settings, settings.columns[i], cases, verdicts[i]);
  }
  std::printf("%.1f s\n", elapsed.count());
  return good ? 0 : 1;
}

int main(int argc, char **argv) {
  return tools::runMain("zyx-conformance", [&] { return runConformance(argc, argv); });
}
