//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Common/Tool.h"
#include "conformance/Runner.h"
#include "lib/Pipelines/DrawnSchedules.h"
#include "smith/Cases.h"
#include "smith/Drawer.h"
#include "smith/Models.h"
#include "smith/WriteProgram.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>

using namespace zyx;
using namespace zyx::conformance;

namespace {

constexpr const char *help =
    "zyx-smith: random graphs on devices, compared with the interpreter\n"
    "  --device=NAME    cpu, c, cuda, reference, or corrupted, which must fail; may be given again\n"
    "                   (default: cpu and c)\n"
    "  --isa=NAME       the instruction set of code for cpu: native (default), x86-64, x86-64-v3, ...\n"
    "  --compile-only=TARGET  compile for cpu, sm_80, sm_90a, ... and run nothing: no card is needed, and\n"
    "                   a graph that is refused is a failure; may be given again\n"
    "  --optimise=HOW   default; none: one op per kernel, no schedules; or schedules: random "
    "legal\n"
    "                   ones; may be given again (default: all three)\n"
    "  --seed=N         the first seed (default: 1); a seed is one graph, everywhere and always\n"
    "  --count=N        graphs for each device and way of optimising (default: 300)\n"
    "  --time=SECONDS   begin no more graphs after that (default: no limit)\n"
    "  --jobs=N         processes (default: one for each processor it may use)\n"
    "  --seconds=N      for one program on one device; what takes longer is a crash (default: 120)\n"
    "  --batch=N        graphs compiled as one program (default: 48; always 1 with schedules)\n"
    "  --max-refused=N  fail where more graphs of one device and way are refused\n"
    "  --reduce=FOLDER  cut failing graphs down and write them there, for zyx-run\n"
    "  --print[=HOW]    print the graph of --seed, and run nothing. Of models: graph (default), torch: a\n"
    "                   function of Python, json: both and what is known besides, a line for each\n"
    "  --like=WHAT      what is drawn: anything (default); models: programs like those that people run,\n"
    "                   of which --seed has as many as one likes (docs/finder.md); or networks or\n"
    "                   workloads, of which there are a few, the same for every seed\n"
    "  --index=N        of these: the first program (default: 0)\n"
    "  --scale=NAME     of these: full: published sizes; host: few rows; small (default where they run):\n"
    "                   for the interpreter. Printed ones are full where it is not said\n"
    "  --families       print the families of models, or what --like names of fixed ones, and stop\n"
    "  -h, --help       print this text\n"
    "  --version        print zyx's version\n"
    "Exits with 1 if an answer is wrong, a graph ends the process, or too many or all are refused.\n";

struct Settings {
  std::vector<std::string> devices, targets;
  std::string isa = "native";
  std::vector<Optimise> ways;
  uint64_t seed = 1;
  int64_t count = 300;
  bool hasCount = false;
  double time = 0;
  RunOptions run;
  int64_t maxRefused = INT64_MAX;
  std::string folder;
  /// "graph", "torch" or "json"; empty where programs run.
  std::string print;
  enum class Like : uint8_t { Anything, Models, Networks, Workloads } like = Like::Anything;
  bool families = false;
  uint64_t index = 0;
  std::optional<smith::Scale> scale;

  smith::Scale scaleOr(smith::Scale standard) const { return scale.value_or(standard); }
  /// Whether programs are known by an index.
  bool models() const { return like != Like::Anything; }
  std::optional<smith::FixedList> fixed() const {
    if (like == Like::Networks)
      return smith::FixedList::Networks;
    return like == Like::Workloads ? std::optional(smith::FixedList::Workloads) : std::nullopt;
  }
  std::vector<std::string_view> names() const { return fixed() ? smith::namesOf(*fixed()) : smith::modelFamilies(); }
  Result<smith::ModelProgram> draw(uint64_t number, smith::Scale standard) const {
    return fixed() ? smith::makeFixed(*fixed(), number, scaleOr(standard))
                   : smith::drawModel(seed, number, scaleOr(standard));
  }
};

tools::Option printOption(std::string &to) {
  tools::Option option = tools::value("--print", [&](std::string_view given) {
    to = given.empty() ? "graph" : given;
    return to == "graph" || to == "torch" || to == "json"
               ? Status::ok()
               : tools::badValue("--print", given, "way to print: graph, torch or json");
  });
  option.takes = tools::Option::Takes::MaybeValue;
  return option;
}

tools::Option countOption(Settings &settings) {
  tools::Option option = tools::number<int64_t>("--count", settings.count, "number of graphs", 1);
  option.set = [&settings, set = option.set](std::string_view given) {
    settings.hasCount = true;
    return set(given);
  };
  return option;
}

std::vector<tools::Option> optionsOf(Settings &settings) {
  return {
      tools::texts("--device", settings.devices),
      tools::texts("--compile-only", settings.targets),
      tools::text("--isa", settings.isa),
      tools::value("--optimise",
                   [&](std::string_view given) {
                     const std::optional<Optimise> way = parseOptimise(given);
                     if (!way)
                       return tools::badValue("--optimise", given, "way: default, none or schedules");
                     settings.ways.push_back(*way);
                     return Status::ok();
                   }),
      tools::number("--seed", settings.seed, "seed"),
      countOption(settings),
      tools::number("--time", settings.time, "number of seconds", 0.0),
      tools::number("--jobs", settings.run.jobs, "number of processes", decltype(settings.run.jobs)(1)),
      tools::number("--seconds", settings.run.seconds, "number of seconds", decltype(settings.run.seconds)(1)),
      tools::number("--batch", settings.run.batch, "number of graphs", decltype(settings.run.batch)(1)),
      tools::number("--max-refused", settings.maxRefused, "number of graphs"),
      tools::text("--reduce", settings.folder),
      printOption(settings.print),
      tools::value("--like",
                   [&](std::string_view given) {
                     using enum Settings::Like;
                     constexpr std::pair<std::string_view, Settings::Like> kinds[] = {
                         {"anything", Anything}, {"models", Models}, {"networks", Networks}, {"workloads", Workloads}};
                     const auto *found =
                         std::ranges::find(kinds, given, &std::pair<std::string_view, Settings::Like>::first);
                     if (found == std::end(kinds))
                       return tools::badValue("--like", given,
                                              "kind of program: anything, models, networks or workloads");
                     settings.like = found->second;
                     return Status::ok();
                   }),
      tools::number("--index", settings.index, "number of a program"),
      tools::value("--scale",
                   [&](std::string_view given) {
                     settings.scale = smith::parseScale(given);
                     return settings.scale ? Status::ok()
                                           : tools::badValue("--scale", given, "scale: full, host or small");
                   }),
      tools::flag("--families", settings.families),
  };
}

/// One device and one way of optimising, over all seeds so far.
struct Column {
  /// Of `device` and `target` one is empty: where it is the device, nothing runs.
  std::string device, target, isa;
  Optimise way;
  int64_t numGraphs = 0;
  std::map<Outcome, int64_t> counts;
  std::map<std::string, std::vector<uint64_t>> refusals;
  double seconds = 0;

  std::string name() const {
    return (target.empty() ? device : "compiled for " + target) + (isa == "native" ? "" : ", isa=" + isa) +
           ", optimise=" + std::string(toString(way));
  }
  std::string isaOption() const { return isa == "native" ? "" : " --isa=" + isa; }
  std::string option() const {
    return (target.empty() ? "--device=" + device : "--compile-only=" + target) + isaOption();
  }
  /// Whether the verdict ends in a failure of the whole.
  bool isBad(Outcome outcome) const {
    return outcome == Outcome::Wrong || outcome == Outcome::Crash || (outcome == Outcome::Refused && !target.empty());
  }
  std::function<std::unique_ptr<Device>()> make(uint64_t seed) const {
    return [this, seed] {
      std::unique_ptr<Device> opened =
          !target.empty()         ? openCompiler(target, way, /*hasWeights=*/true, test::compileDrawn)
          : device == "corrupted" ? openCorrupted()
                                  : openDevice(device, way, isa, /*hasWeights=*/true, "", test::compileDrawn);
      opened->setSeed(seed);
      return opened;
    };
  }
};

/// What is drawn for a number: a seed, or an index of a seed.
struct Drawn {
  Program program;
  uint64_t seed = 0;
  /// The options that draw it again, and the name of its file.
  std::string options, file;
  double tolerance = 0;
};
Drawn drawAgain(uint64_t number, const Settings &settings) {
  const std::string text = std::to_string(number);
  if (!settings.models())
    return {smith::drawProgram(number, smith::Profile::mixed()), number, "--seed=" + text, text};
  // It was drawn before.
  const Result<smith::ModelProgram> model = settings.draw(number, smith::Scale::Small);
  const std::string seed = std::to_string(model->seed);
  const std::string like = settings.like == Settings::Like::Models     ? "models"
                           : settings.like == Settings::Like::Networks ? "networks"
                                                                       : "workloads";
  return {smith::toProgram(*model), model->seed + number,
          "--like=" + like + " --scale=" + std::string(toString(model->scale)) + " --seed=" + seed + " --index=" + text,
          like + "-" + seed + "-" + text, smith::toleranceOf(*model)};
}

/// Cuts the graph of a number down, and says where it is.
void reduce(const Column &column, uint64_t number, const Settings &settings) {
  const Drawn drawn = drawAgain(number, settings);
  const auto make = column.make(drawn.seed);
  const auto run = [&](const Program &candidate) {
    return smith::runInChild(candidate, make, settings.run.seconds, drawn.tolerance);
  };
  const smith::Failure failure = run(drawn.program);
  if (!column.isBad(failure.outcome)) {
    std::printf("  %s does not fail alone, so it is not cut down\n",
                settings.models() ? drawn.file.c_str() : ("seed " + drawn.file).c_str());
    return;
  }
  const Program program = smith::reduceProgram(
      drawn.program, [&](const Program &candidate) { return smith::isSameFailure(run(candidate), failure); });
  const std::string path = settings.folder + "/" + column.device + column.target + "-" +
                           std::string(toString(column.way)) + "-" + drawn.file + ".mlir";
  const std::string text = run(program).text;
  const Status written =
      smith::writeProgram(program, path, column.target.empty() ? column.device + column.isaOption() : "",
                          "zyx-smith " + column.option() + " --optimise=" + std::string(toString(column.way)) + " " +
                              drawn.options + " --count=1\n" + text);
  if (!written.isOk())
    std::printf("  %s\n", written.toString().c_str());
  else
    std::printf("  cut down to %zu nodes: %s\n", program.graph.reachable().size(), path.c_str());
}

/// Runs the graphs of some seeds; true if nothing is wrong.
bool run(Column &column, uint64_t firstSeed, int64_t count, const Settings &settings) {
  std::vector<Case> cases;
  if (settings.models()) {
    const smith::Scale scale = settings.scaleOr(smith::Scale::Small);
    const Status status = settings.fixed() ? smith::addFixedCases(cases, *settings.fixed(), firstSeed, count, scale)
                                           : smith::addModelCases(cases, settings.seed, firstSeed, count, scale);
    if (!status.isOk()) {
      std::printf("%s\n", status.toString().c_str());
      return false;
    }
  } else {
    smith::addRandomCases(cases, firstSeed, count);
  }
  RunOptions options = settings.run;
  // The schedule of a seed is drawn for its graph alone.
  if (column.way == Optimise::Schedules)
    options.batch = 1;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Verdict> verdicts = runCases(cases, {column.make(firstSeed)}, options);
  column.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  column.numGraphs += count;
  std::sort(verdicts.begin(), verdicts.end(), [](const Verdict &a, const Verdict &b) { return a.index < b.index; });
  bool good = static_cast<int64_t>(verdicts.size()) == count;
  for (const Verdict &verdict : verdicts) {
    ++column.counts[verdict.outcome];
    if (verdict.outcome == Outcome::Refused)
      column.refusals[verdict.text].push_back(firstSeed + verdict.index);
    if (!column.isBad(verdict.outcome))
      continue;
    good = false;
    const uint64_t seed = firstSeed + verdict.index;
    const char *how = verdict.outcome == Outcome::Wrong     ? "WRONG"
                      : verdict.outcome == Outcome::Refused ? "REFUSED"
                                                            : "CRASH";
    const std::string name = settings.models() ? cases[verdict.index].name : "seed " + std::to_string(seed);
    std::printf("%s %s on %s: %s\n", how, name.c_str(), column.name().c_str(), verdict.text.c_str());
    if (!settings.folder.empty())
      reduce(column, seed, settings);
  }
  std::fflush(stdout);
  return good;
}

void print(const Column &column, const Settings &settings) {
  const auto count = [&](Outcome outcome) {
    const auto found = column.counts.find(outcome);
    return static_cast<long long>(found == column.counts.end() ? 0 : found->second);
  };
  for (const auto &[reason, seeds] : column.refusals)
    std::printf("REFUSED %zu on %s, %s %llu is one: %s\n", seeds.size(), column.name().c_str(),
                settings.models() ? "index" : "seed", static_cast<unsigned long long>(seeds.front()), reason.c_str());
  std::printf("%s: %lld graphs: %lld pass, %lld wrong, %lld refused, %lld crash; %.1f s\n", column.name().c_str(),
              static_cast<long long>(column.numGraphs), count(Outcome::Pass), count(Outcome::Wrong),
              count(Outcome::Refused), count(Outcome::Crash), column.seconds);
}

/// Prints what would run.
int printPrograms(const Settings &settings) {
  if (!settings.models()) {
    if (settings.print != "graph") {
      std::fprintf(stderr, "zyx-smith: error: --print=%s: only models, networks and workloads have that\n",
                   settings.print.c_str());
      return 2;
    }
    tools::print(smith::toText(smith::drawProgram(settings.seed, smith::Profile::mixed()).graph));
    return 0;
  }
  for (int64_t i = 0; i < settings.count; ++i) {
    const Result<smith::ModelProgram> model =
        settings.draw(settings.index + static_cast<uint64_t>(i), smith::Scale::Full);
    if (!model)
      return tools::finish("zyx-smith", model.status());
    tools::print(settings.print == "json"    ? smith::toJson(*model) + "\n"
                 : settings.print == "torch" ? "# " + smith::nameOf(*model) + "\n" + model->python
                                             : "// " + smith::nameOf(*model) + "\n" + smith::toText(model->graph));
  }
  return 0;
}

} // namespace

static int runSmith(int argc, char **argv) {
  Settings settings;
  if (const auto code = tools::parseOrAnswer("zyx-smith", help, argc, argv, optionsOf(settings)))
    return *code;
  if (settings.families) {
    for (std::string_view family : settings.names())
      tools::print(std::string(family) + "\n");
    return 0;
  }
  if (!settings.print.empty()) {
    if (!settings.hasCount)
      settings.count = 1;
    return printPrograms(settings);
  }
  if (!settings.hasCount && settings.fixed())
    settings.count = static_cast<int64_t>(settings.names().size());
  if (settings.devices.empty() && settings.targets.empty())
    settings.devices = {"cpu", "c"};
  if (settings.ways.empty())
    settings.ways = {Optimise::Default, Optimise::None, Optimise::Schedules};
  if (std::error_code error; !settings.folder.empty()) {
    std::filesystem::create_directories(settings.folder, error);
    if (error) {
      std::fprintf(stderr, "zyx-smith: cannot make %s: %s\n", settings.folder.c_str(), error.message().c_str());
      return 2;
    }
  }
  std::vector<Column> columns;
  for (const std::string &device : settings.devices)
    for (Optimise way : settings.ways)
      columns.push_back({device, "", device == "cpu" ? settings.isa : "native", way, 0, {}, {}, 0});
  for (const std::string &target : settings.targets)
    for (Optimise way : settings.ways)
      columns.push_back({"", target, "native", way, 0, {}, {}, 0});

  const auto begin = std::chrono::steady_clock::now();
  const auto late = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    return settings.time > 0 && elapsed.count() > settings.time;
  };
  bool good = true;
  constexpr int64_t chunk = 400;
  for (int64_t done = 0; done < settings.count && !late(); done += chunk)
    for (Column &column : columns)
      if (!late())
        good &= run(column, (settings.models() ? settings.index : settings.seed) + static_cast<uint64_t>(done),
                    std::min(chunk, settings.count - done), settings);
  for (Column &column : columns) {
    print(column, settings);
    good &= column.counts[Outcome::Refused] <= settings.maxRefused;
    /// A device that cannot even be opened refuses everything.
    good &= column.numGraphs == 0 || column.counts[Outcome::Refused] < column.numGraphs;
  }
  return good ? 0 : 1;
}

int main(int argc, char **argv) {
  return tools::runMain("zyx-smith", [&] { return runSmith(argc, argv); });
}
