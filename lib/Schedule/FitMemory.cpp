//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FitMemory.h"

#include "ChooseRules.h"

#include "zyx/Codegen/Loops/SettledMemory.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace zyx::kernel;
using namespace zyx::schedule;
using zyx::Status;
using zyx::target::TargetInfo;

namespace {

class Fitter {
public:
  Fitter(FuncOp func, const Axes &axes, const TargetInfo &target, ArrayRef<bool> isFixed)
      : func(func), axes(axes), target(target), isFixed(isFixed) {}

  SmallVector<Choice> run(unsigned most) {
    SmallVector<Choice> first = choose(Forms(), most);
    std::string reason;
    SmallVector<Choice> fitting = onlyFitting(first, &reason);
    if (!fitting.empty())
      return fitting;
    for (const Forms &forms : {Forms(), Forms{.rowGroups = false}, Forms{.rowGroups = false, .columnSums = false},
                               Forms{.rowGroups = false, .columnSums = false, .sharing = false}}) {
      SmallVector<Choice> others = choose(forms, std::max(most, mostChoices));
      fitting = onlyFitting(others);
      if (fitting.empty())
        fitting = smaller(others.front());
      if (!fitting.empty())
        break;
    }
    // -zyx-kernel-settle-memory gives a program one thread then, and says so.
    if (fitting.empty())
      return choose(Forms(), most);
    remark::missed(func.getLoc(), remark::RemarkOpts::name("FitMemory").category("zyx-schedule"))
        << (reason + ": it gets another schedule");
    fitting.truncate(std::min<size_t>(most, fitting.size()));
    return fitting;
  }

private:
  SmallVector<Choice> choose(const Forms &forms, unsigned most) {
    func.setRowGroups(false);
    func.removeMinResidentThreadsAttr();
    return chooseSchedules(func, axes, target, most, isFixed, forms);
  }

  Status check(const Choice &choice) {
    if (choice.threads <= 1 && choice.cluster <= 1)
      return Status::ok();
    OwningOpRef<ModuleOp> scratch(ModuleOp::create(func.getLoc()));
    FuncOp copy = func.clone();
    scratch->push_back(copy);
    choice.applyTo(copy);
    return checkSettledMemory(copy, target);
  }

  SmallVector<Choice> onlyFitting(ArrayRef<Choice> choices, std::string *reason = nullptr) {
    SmallVector<Choice> fitting;
    for (const Choice &choice : choices) {
      const Status checked = check(choice);
      if (checked.isOk())
        fitting.push_back(choice);
      else if (reason && reason->empty())
        *reason = checked.message();
    }
    return fitting;
  }

  /// The same steps for one workgroup, for fewer threads and with smaller tiles, the nearest ones first.
  SmallVector<Choice> smaller(const Choice &choice) {
    constexpr int mostHalvings = 8;
    for (int halvings = 0; halvings <= mostHalvings; ++halvings)
      for (int ofThreads = 0; ofThreads <= halvings; ++ofThreads) {
        Choice other = choice;
        other.cluster = 0;
        other.threads = choice.threads >> ofThreads;
        if (other.threads < target.simt.subgroupSize || other.threads % target.simt.subgroupSize != 0)
          break;
        for (int i = ofThreads; i < halvings; ++i)
          other.schedule = withHalfTile(other.schedule);
        if (other.schedule && check(other).isOk())
          return {other};
      }
    return {};
  }

  /// With half of the largest tile that the grid has along an axis; null where no tile has a half.
  ScheduleAttr withHalfTile(ScheduleAttr schedule) {
    if (!schedule)
      return {};
    SmallVector<Attribute> steps(schedule.getSteps());
    Attribute *largest = nullptr;
    for (Attribute &step : steps)
      if (auto grid = dyn_cast<GridStepAttr>(step);
          grid && (!largest || grid.getTile() > cast<GridStepAttr>(*largest).getTile()))
        largest = &step;
    if (!largest || cast<GridStepAttr>(*largest).getTile() < 2)
      return {};
    auto grid = cast<GridStepAttr>(*largest);
    *largest = GridStepAttr::get(func.getContext(), grid.getAxis(), grid.getTile() / 2);
    return ScheduleAttr::get(func.getContext(), steps);
  }

  FuncOp func;
  const Axes &axes;
  const TargetInfo &target;
  ArrayRef<bool> isFixed;
};

} // namespace

SmallVector<Choice> zyx::schedule::chooseFittingSchedules(FuncOp func, const Axes &axes, const TargetInfo &target,
                                                          unsigned most, ArrayRef<bool> isFixed) {
  return Fitter(func, axes, target, isFixed).run(most);
}
