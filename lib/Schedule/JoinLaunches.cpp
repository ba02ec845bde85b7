//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Small kernels that do not wait for each other are one launch: a card begins a kernel when the one before is over,
// which takes longer than what many a kernel of a small model does.
//===----------------------------------------------------------------------===//
#include "CommandOrder.h"

#include "zyx/Codegen/Loops/SettledMemory.h"
#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Schedule/Estimate.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Target/Info/Fits.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace zyx::schedule {
#define GEN_PASS_DEF_JOINLAUNCHESPASS
#include "zyx/Schedule/Passes.h.inc"
} // namespace zyx::schedule

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::CommandOrder;
using zyx::target::TargetInfo;
namespace plan = zyx::plan;
namespace fits = zyx::target::fits::launches;

namespace {

/// Kernels and buffers of a launch.
constexpr size_t mostParts = 8, mostBuffers = 64;

/// What is known of a kernel before it is lowered.
struct KernelFacts {
  int64_t threads = 1;
  int64_t programs = 1;
  bool multiplies = false;
  /// Of a thread, at most, and of a workgroup.
  int64_t registers = 0, sharedBytes = 0;
  /// Threads that a core has room for, where somebody asks the assembler for that; else 0.
  int64_t minResidentThreads = 0;
  /// Estimated, without the launch.
  double cycles = 0;

  int64_t groups(int64_t ofThreads) const { return threads == 1 ? llvm::divideCeil(programs, ofThreads) : programs; }
};

/// Workgroups of several kernels, of which each gets what the one that needs most of it needs.
struct Room {
  int64_t threads = 1, points = 0;
  int64_t registers = 0, sharedBytes = 0;
  bool multiplies = false;

  void add(const KernelFacts &facts, const TargetInfo &machine) {
    points += facts.threads == 1 ? facts.programs : 0;
    threads = fits::jointThreads(std::max(threads, facts.threads), points, machine.cores);
    registers = std::max(registers, facts.registers);
    sharedBytes = std::max(sharedBytes, facts.sharedBytes);
    multiplies |= facts.multiplies;
  }
  /// That the machine has at once.
  int64_t residents(const TargetInfo &machine) const {
    const zyx::target::SimtFacts &simt = machine.simt;
    const int64_t each = std::min({simt.residentThreads / threads, simt.residentWorkgroups,
                                   simt.registers / (std::min(registers, simt.threadRegisters) * threads),
                                   sharedBytes == 0 ? simt.residentWorkgroups : simt.sharedBytes / sharedBytes});
    return machine.cores * std::max<int64_t>(each, 1);
  }
};

/// Commands of a block that may run at the same time.
struct Slot {
  SmallVector<unsigned> commands;
  /// The same as launches; none where it is another command, or one that others may not join.
  SmallVector<plan::LaunchOp> launches;
  /// What the longest takes, in cycles, and all of them as one launch.
  double longest = 0, together = 0;
  /// How many slots follow each other up to this one, at least.
  unsigned level = 0;
};

class LaunchJoiner {
public:
  LaunchJoiner(ModuleOp module, const TargetInfo &machine) : module(module), machine(machine), symbols(module) {}
  void run(Block &block);

private:
  struct Places;
  void takeOut(Places &places, unsigned own);
  bool moveBehind(Places &places, unsigned own, unsigned depth);
  bool vacate(Places &places, size_t at);
  const std::optional<KernelFacts> &factsOf(StringRef kernel);
  std::optional<KernelFacts> findFacts(FuncOp func) const;
  double leastOf(plan::LaunchOp launch);
  double aloneCycles(plan::LaunchOp launch);
  bool isShort(plan::LaunchOp launch);
  bool mayJoin(plan::LaunchOp launch);
  void sortByLength(MutableArrayRef<plan::LaunchOp> launches);
  std::optional<double> togetherWith(const Slot &slot, plan::LaunchOp launch);
  double estimate(ArrayRef<plan::LaunchOp> launches, const Room &room);
  bool isSmall(ValueRange buffers) const;
  plan::LaunchOp join(MutableArrayRef<plan::LaunchOp> launches);
  FuncOp makeKernel(MutableArrayRef<plan::LaunchOp> launches, ArrayRef<SmallVector<int64_t>> arguments,
                    ArrayRef<Type> types);

  ModuleOp module;
  const TargetInfo &machine;
  SymbolTable symbols;
  llvm::StringMap<std::optional<KernelFacts>> known;
  /// Kernels that were made, by their parts and the arguments of these.
  llvm::StringMap<FuncOp> made;
};

struct JoinLaunches : zyx::schedule::impl::JoinLaunchesPassBase<JoinLaunches> {
  void runOnOperation() override {
    const TargetInfo *machine = requireTarget(getOperation());
    if (!machine)
      return signalPassFailure();
    if (!machine->simt.hasCountedBarriers)
      return markAllAnalysesPreserved();
    SmallVector<Block *> blocks;
    for (plan::FuncOp plan : getOperation().getOps<plan::FuncOp>()) {
      blocks.push_back(&plan.getBody().front());
      plan.walk([&](plan::LoopOp loop) {
        for (Region &body : loop.getBodies())
          blocks.push_back(&body.front());
      });
    }
    LaunchJoiner joiner(getOperation(), *machine);
    for (Block *block : blocks)
      joiner.run(*block);
  }
};

} // namespace

/// Of a thread that is a program: it has sums of all that it stores.
static int64_t registersOfPoint(FuncOp func, const Axes &axes, const llvm::SmallDenseMap<Axis, int64_t> &tiles) {
  int64_t elements = 1, terms = 1;
  func.walk([&](StoreOp store) {
    int64_t own = 1;
    for (Axis axis : axes.of(store.getValue())) {
      auto tile = tiles.find(axis);
      own *= tile == tiles.end() ? axes.extent(axis) : std::min(tile->second, axes.extent(axis));
    }
    elements = std::max(elements, std::min(own, fits::mostPointRegisters));
  });
  func.walk([&](ReduceOp reduce) {
    int64_t own = 1;
    for (int64_t dim : reduce.getDims())
      own *= axes.extent(axes.of(reduce.getInput(), dim));
    terms = std::max(terms, std::min(own, fits::termsOnTheWay));
  });
  return std::min(fits::pointRegisters + elements * terms, fits::mostPointRegisters);
}

std::optional<KernelFacts> LaunchJoiner::findFacts(FuncOp func) const {
  if (!func || func.getForm() != Form::Tiled || func.getExternal() || func.getCluster().value_or(1) > 1 ||
      !func.getSchedule())
    return std::nullopt;
  KernelFacts facts;
  facts.threads = static_cast<int64_t>(func.getThreads().value_or(1));
  if (facts.threads > fits::mostThreads || (facts.threads > 1 && facts.threads % machine.simt.subgroupSize != 0))
    return std::nullopt;
  ScopedDiagnosticHandler quiet(func.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<Axes> axes = Axes::compute(func);
  if (failed(axes))
    return std::nullopt;
  llvm::SmallDenseMap<Axis, int64_t> tiles;
  for (Attribute step : func.getScheduleAttr().getSteps()) {
    // Warps of such kernels have parts of their own.
    if (isa<TensorStepAttr, OnlineStepAttr>(step))
      return std::nullopt;
    if (auto grid = dyn_cast<GridStepAttr>(step)) {
      FailureOr<Axis> axis = axes->find(grid.getAxis(), func);
      if (failed(axis))
        return std::nullopt;
      tiles[*axis] = grid.getTile();
    }
  }
  for (auto [axis, tile] : tiles)
    facts.programs *= llvm::divideCeil(axes->extent(axis), tile);
  int64_t products = 0;
  func.walk([&](DotOp) { ++products; });
  // An attention.
  if (products > 1)
    return std::nullopt;
  facts.multiplies = products == 1;
  facts.minResidentThreads = static_cast<int64_t>(func.getMinResidentThreads().value_or(0));
  facts.registers = facts.minResidentThreads > 0 ? machine.simt.registers / facts.minResidentThreads
                    : facts.multiplies           ? machine.simt.threadRegisters
                    : facts.threads == 1         ? registersOfPoint(func, *axes, tiles)
                                                 : fits::threadRegisters;
  const FailureOr<int64_t> sharedBytes = countSharedBytes(func, machine);
  const std::optional<zyx::schedule::Estimate> estimate = zyx::schedule::estimateScheduled(func, machine);
  if (failed(sharedBytes) || !estimate)
    return std::nullopt;
  facts.sharedBytes = *sharedBytes;
  facts.cycles = std::max(0.0, estimate->seconds * static_cast<double>(machine.costs.megahertz) * 1e6 -
                                   static_cast<double>(machine.costs.launchCycles));
  return facts;
}

const std::optional<KernelFacts> &LaunchJoiner::factsOf(StringRef kernel) {
  auto [it, isNew] = known.try_emplace(kernel);
  if (isNew)
    it->second = findFacts(symbols.lookup<FuncOp>(kernel));
  return it->second;
}

static int64_t bytesOf(Value buffer) {
  auto type = cast<plan::BufferType>(buffer.getType());
  return static_cast<int64_t>(*zyx::byteSize(type.getTensorType()));
}

/// By memory, or by arithmetic: what kernels take even beside each other.
double LaunchJoiner::leastOf(plan::LaunchOp launch) {
  double bytes = 0;
  for (Value buffer : llvm::concat<Value>(launch.getIns(), launch.getOuts()))
    bytes += static_cast<double>(bytesOf(buffer));
  const auto cores = static_cast<double>(machine.cores);
  const double moved = bytes / (cores * static_cast<double>(machine.costs.memoryBytesPerCycle));
  const KernelFacts &facts = *factsOf(launch.getKernel());
  // What multiplies may have other units than lanes.
  if (facts.multiplies)
    return std::min(moved, facts.cycles);
  return std::max(moved,
                  static_cast<double>(launch.getFlops()) / (cores * static_cast<double>(machine.costs.lanesPerCycle)));
}

double LaunchJoiner::aloneCycles(plan::LaunchOp launch) {
  return std::max(factsOf(launch.getKernel())->cycles, leastOf(launch));
}

bool LaunchJoiner::isShort(plan::LaunchOp launch) {
  return aloneCycles(launch) <= fits::mostLaunches * static_cast<double>(machine.costs.launchCycles);
}

/// Whether a launch is one of those that may be parts: of a kernel that leaves room for another one, and not too long.
bool LaunchJoiner::mayJoin(plan::LaunchOp launch) {
  if (launch.getUpdates() || !launch.getScalars().empty() || !factsOf(launch.getKernel()))
    return false;
  const KernelFacts &facts = *factsOf(launch.getKernel());
  Room own;
  own.add(facts, machine);
  return aloneCycles(launch) <= fits::mostOfLongest * static_cast<double>(machine.costs.launchCycles) &&
         facts.groups(own.threads) <=
             (facts.threads == 1 && !facts.multiplies ? fits::mostWaves : 1) * own.residents(machine);
}

/// Whether buffers may have memory for longer, where a launch comes earlier than what it makes is read, or later than
/// what it reads is made.
bool LaunchJoiner::isSmall(ValueRange buffers) const {
  int64_t bytes = 0;
  for (Value buffer : buffers)
    bytes += bytesOf(buffer);
  return bytes <= machine.memory.l2Bytes / 8;
}

/// What launches take as one, the first ones first: each workgroup begins when another one leaves it room, and takes as
/// long as where its kernel is alone. What memory and lanes take is no less beside each other.
double LaunchJoiner::estimate(ArrayRef<plan::LaunchOp> launches, const Room &room) {
  // When so many places are free.
  std::map<double, int64_t> places = {{0, room.residents(machine)}};
  double end = 0, least = 0;
  for (plan::LaunchOp launch : launches) {
    const KernelFacts &facts = *factsOf(launch.getKernel());
    least += leastOf(launch);
    Room own;
    own.add(facts, machine);
    const double each =
        facts.cycles / static_cast<double>(llvm::divideCeil(facts.groups(own.threads), own.residents(machine)));
    for (int64_t left = facts.groups(room.threads); left > 0;) {
      auto first = places.begin();
      const auto [time, count] = *first;
      const int64_t taken = std::min(count, left);
      left -= taken;
      first->second -= taken;
      if (first->second == 0)
        places.erase(first);
      places[time + each] += taken;
      end = std::max(end, time + each);
    }
  }
  return std::max(end, least);
}

/// Short ones fill up what long ones leave free; what is long and begins late ends late.
void LaunchJoiner::sortByLength(MutableArrayRef<plan::LaunchOp> launches) {
  llvm::stable_sort(launches, [&](plan::LaunchOp a, plan::LaunchOp b) { return aloneCycles(a) > aloneCycles(b); });
}

/// What a slot takes with one launch more, longest parts first. None where that is not clearly less than the slot and
/// the launch behind each other.
std::optional<double> LaunchJoiner::togetherWith(const Slot &slot, plan::LaunchOp launch) {
  if (slot.launches.empty() || slot.launches.size() == mostParts)
    return std::nullopt;
  SmallVector<plan::LaunchOp> all(slot.launches);
  all.push_back(launch);
  Room room;
  llvm::SmallSetVector<Value, 16> buffers;
  bool asksForAll = true, asksForSome = false;
  for (plan::LaunchOp each : all) {
    const KernelFacts &facts = *factsOf(each.getKernel());
    room.add(facts, machine);
    asksForAll &= facts.minResidentThreads > 0;
    asksForSome |= facts.minResidentThreads > 0;
    buffers.insert(each.getIns().begin(), each.getIns().end());
    buffers.insert(each.getOuts().begin(), each.getOuts().end());
  }
  // The assembler is asked for room only where all parts are.
  if (asksForSome && !asksForAll)
    room.registers = std::max(room.registers, fits::threadRegisters);
  if (room.multiplies && !asksForAll)
    room.registers = machine.simt.threadRegisters;
  if (room.multiplies && room.threads > fits::mostProductThreads)
    return std::nullopt;
  const auto limit = static_cast<size_t>(machine.simt.maxBuffers);
  if (buffers.size() > (limit == 0 ? mostBuffers : std::min(limit, mostBuffers)))
    return std::nullopt;
  sortByLength(all);
  // Only the longest may be long, and what it has by itself it keeps.
  if (llvm::any_of(ArrayRef(all).drop_front(), [&](plan::LaunchOp each) { return !isShort(each); }))
    return std::nullopt;
  if (!isShort(all.front())) {
    Room ofLongest;
    ofLongest.add(*factsOf(all.front().getKernel()), machine);
    if (room.threads != ofLongest.threads || room.residents(machine) != ofLongest.residents(machine))
      return std::nullopt;
  }
  const double own = estimate(all, room), alone = aloneCycles(launch);
  const double saved = fits::savedShare * static_cast<double>(machine.costs.launchCycles);
  if (own - slot.together - alone > (1 - fits::leftShare) * saved)
    return std::nullopt;
  return own;
}

FuncOp LaunchJoiner::makeKernel(MutableArrayRef<plan::LaunchOp> launches, ArrayRef<SmallVector<int64_t>> arguments,
                                ArrayRef<Type> types) {
  std::string key, name;
  for (auto [launch, own] : llvm::zip_equal(launches, arguments)) {
    key += launch.getKernel().str() + " ";
    for (int64_t argument : own)
      key += std::to_string(argument) + ",";
    name += (name.empty() ? "" : "_and_") + launch.getKernel().str();
  }
  FuncOp &kernel = made[key];
  if (kernel)
    return kernel;
  OpBuilder builder(module.getContext());
  SmallVector<Location> places;
  SmallVector<Attribute> parts, numbers;
  for (auto [launch, own] : llvm::zip_equal(launches, arguments)) {
    auto part = symbols.lookup<FuncOp>(launch.getKernel());
    places.push_back(part.getLoc());
    parts.push_back(launch.getKernelAttr());
    numbers.push_back(builder.getDenseI64ArrayAttr(own));
  }
  kernel = FuncOp::create(builder, builder.getFusedLoc(places), name, builder.getFunctionType(types, {}));
  kernel.setForm(Form::Lowered);
  kernel.setPartsAttr(builder.getArrayAttr(parts));
  kernel.setPartArgumentsAttr(builder.getArrayAttr(numbers));
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  ReturnOp::create(builder, kernel.getLoc());
  symbols.insert(kernel);
  return kernel;
}

/// One launch in place of several, which it is put behind.
plan::LaunchOp LaunchJoiner::join(MutableArrayRef<plan::LaunchOp> launches) {
  llvm::SmallSetVector<Value, 16> ins, outs;
  int64_t flops = 0, bytes = 0;
  for (plan::LaunchOp launch : launches) {
    ins.insert(launch.getIns().begin(), launch.getIns().end());
    outs.insert(launch.getOuts().begin(), launch.getOuts().end());
    flops += launch.getFlops();
    bytes += launch.getBytes();
  }
  // Where one says how much it touches, the sum has to.
  if (bytes != 0)
    for (plan::LaunchOp launch : launches)
      if (launch.getBytes() == 0)
        for (Value buffer : llvm::concat<Value>(launch.getIns(), launch.getOuts()))
          bytes += bytesOf(buffer);
  SmallVector<Value> all(ins.begin(), ins.end());
  llvm::append_range(all, outs);
  SmallVector<Type> types(all.size());
  SmallVector<SmallVector<int64_t>> arguments;
  for (plan::LaunchOp launch : launches) {
    SmallVector<int64_t> &own = arguments.emplace_back();
    for (Value buffer : launch.getIns())
      own.push_back(llvm::find(ins, buffer) - ins.begin());
    for (Value buffer : launch.getOuts())
      own.push_back(static_cast<int64_t>(ins.size()) + (llvm::find(outs, buffer) - outs.begin()));
    for (auto [type, number] : llvm::zip_equal(symbols.lookup<FuncOp>(launch.getKernel()).getArgumentTypes(), own))
      types[number] = type;
  }
  FuncOp kernel = makeKernel(launches, arguments, types);
  OpBuilder builder(launches.back());
  auto made =
      plan::LaunchOp::create(builder, kernel.getLoc(), plan::EventType::get(module.getContext()),
                             FlatSymbolRefAttr::get(kernel.getSymNameAttr()), ins.getArrayRef(), outs.getArrayRef(),
                             builder.getDenseI64ArrayAttr({}), builder.getI64IntegerAttr(flops), ValueRange());
  if (bytes != 0)
    made.setBytes(bytes);
  remark::passed(kernel.getLoc(), remark::RemarkOpts::name("JoinLaunches").category("zyx-schedule"))
      << (std::to_string(launches.size()) + " kernels are one launch: " + kernel.getName().str());
  for (plan::LaunchOp launch : launches)
    launch.erase();
  return made;
}

/// Which slot each command is in.
struct LaunchJoiner::Places {
  ArrayRef<plan::CommandOpInterface> commands;
  const CommandOrder *order;
  SmallVector<Slot> slots;
  SmallVector<size_t> slotOf;

  /// The first slot with a command that waits for one.
  size_t endOf(unsigned own) const {
    size_t end = slots.size();
    for (size_t later = own + 1; later < commands.size(); ++later)
      if (order->waits[later].contains(own))
        end = std::min(end, slotOf[later]);
    return end;
  }
  plan::LaunchOp launchOf(unsigned own) const {
    plan::CommandOpInterface command = commands[own];
    return cast<plan::LaunchOp>(command.getOperation());
  }
};

/// Takes a launch out of its slot.
void LaunchJoiner::takeOut(Places &places, unsigned own) {
  Slot &slot = places.slots[places.slotOf[own]];
  slot.commands.erase(llvm::find(slot.commands, own));
  slot.launches.erase(llvm::find(slot.launches, places.launchOf(own)));
  slot.longest = slot.together = 0;
  Room room;
  for (plan::LaunchOp launch : slot.launches) {
    slot.longest = std::max(slot.longest, aloneCycles(launch));
    room.add(*factsOf(launch.getKernel()), machine);
  }
  SmallVector<plan::LaunchOp> left(slot.launches);
  sortByLength(left);
  if (left.size() == 1)
    slot.together = slot.longest;
  else if (!left.empty())
    slot.together = estimate(left, room);
}

/// Moves a launch into a later slot, in front of all that waits for it: the one beside which most of it is hidden. What
/// waits for it may move for that, too, and what waits for that, so many times.
bool LaunchJoiner::moveBehind(Places &places, unsigned own, unsigned depth) {
  plan::LaunchOp launch = places.launchOf(own);
  if (!isSmall(launch.getIns()))
    return false;
  const size_t at = places.slotOf[own], end = places.endOf(own);
  const double alone = aloneCycles(launch);
  size_t chosen = at;
  double best = -1, together = 0;
  for (size_t other = at + 1; other < end; ++other) {
    const double hidden = std::min(places.slots[other].longest, alone);
    if (hidden <= best)
      continue;
    if (std::optional<double> with = togetherWith(places.slots[other], launch)) {
      best = hidden;
      chosen = other;
      together = *with;
    }
  }
  if (chosen == at && depth > 0 && end < places.slots.size() && places.slots[end].launches.size() > 1) {
    Places trial = places;
    const SmallVector<unsigned> members(trial.slots[end].commands);
    for (unsigned reader : members)
      if (trial.order->waits[reader].contains(own) && !moveBehind(trial, reader, depth - 1))
        return false;
    if (std::optional<double> with = togetherWith(trial.slots[end], launch)) {
      places = std::move(trial);
      chosen = end;
      together = *with;
    }
  }
  if (chosen == at)
    return false;
  takeOut(places, own);
  Slot &slot = places.slots[chosen];
  slot.commands.push_back(own);
  slot.launches.push_back(launch);
  slot.longest = std::max(slot.longest, alone);
  slot.together = together;
  places.slotOf[own] = chosen;
  return true;
}

/// Moves all launches of a slot into later ones, so that it is empty.
bool LaunchJoiner::vacate(Places &places, size_t at) {
  /// How many launches that wait for each other may move at once.
  constexpr unsigned depth = 2;
  const SmallVector<unsigned> members(places.slots[at].commands);
  return !places.slots[at].launches.empty() &&
         llvm::all_of(members, [&](unsigned own) { return moveBehind(places, own, depth); });
}

/// Walks the commands in their order. Each goes into a slot behind all that it waits for: into one that there is, if it
/// may run beside what is there, or into a new one at the end. Then slots are emptied whose launches all find room in
/// slots further behind, in front of what waits for them.
void LaunchJoiner::run(Block &block) {
  const SmallVector<plan::CommandOpInterface> commands(block.getOps<plan::CommandOpInterface>());
  // Somebody has ordered these before.
  if (llvm::any_of(commands, [](plan::CommandOpInterface command) { return !command.getWaitMutable().empty(); }))
    return;
  const CommandOrder order(commands);
  SmallVector<Slot> slots;
  SmallVector<size_t> slotOf;
  auto canJoin = [&](plan::CommandOpInterface command) {
    auto launch = dyn_cast<plan::LaunchOp>(command.getOperation());
    return launch && mayJoin(launch) ? launch : plan::LaunchOp();
  };
  for (auto [i, command] : llvm::enumerate(commands)) {
    plan::LaunchOp launch = canJoin(command);
    size_t first = 0;
    unsigned level = 0;
    for (unsigned wait : order.waits[i]) {
      first = std::max(first, slotOf[wait] + 1);
      level = std::max(level, slots[slotOf[wait]].level + 1);
    }
    size_t chosen = slots.size();
    const double alone = launch ? aloneCycles(launch) : 0;
    double together = alone;
    if (launch) {
      const bool mayMove = isSmall(launch.getOuts());
      // Where what waits for it would make the longest chain longer, only if there is nothing else. What takes longest
      // beside it hides most of it. Of equal ones the last, which moves it least.
      std::pair<bool, double> best = {false, -1};
      for (size_t at = slots.size(); at-- > first;) {
        if (!mayMove && at + 1 != slots.size())
          break;
        const std::pair<bool, double> own = {std::max(slots[at].level, level) + order.behind[i] < order.length,
                                             std::min(slots[at].longest, alone)};
        if (own <= best)
          continue;
        if (std::optional<double> with = togetherWith(slots[at], launch)) {
          best = own;
          chosen = at;
          together = *with;
        }
      }
    }
    if (chosen == slots.size())
      slots.emplace_back();
    Slot &slot = slots[chosen];
    slot.commands.push_back(i);
    slot.level = std::max(slot.level, level);
    slotOf.push_back(chosen);
    if (launch) {
      slot.launches.push_back(launch);
      slot.longest = std::max(slot.longest, alone);
      slot.together = together;
    }
  }
  Places places{commands, &order, std::move(slots), std::move(slotOf)};
  for (size_t at = places.slots.size(); at-- > 0;) {
    Places trial = places;
    if (vacate(trial, at))
      places = std::move(trial);
  }
  slots = std::move(places.slots);
  if (llvm::none_of(slots, [](const Slot &slot) { return slot.launches.size() > 1; }))
    return;
  for (Slot &slot : slots) {
    if (slot.commands.empty())
      continue;
    Operation *command = commands[slot.commands.front()];
    if (slot.launches.size() > 1) {
      sortByLength(slot.launches);
      command = join(slot.launches);
    }
    command->moveBefore(block.getTerminator());
  }
}
