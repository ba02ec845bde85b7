//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FitMemory.h"

#include "zyx/Base/Debug.h"
#include "zyx/Dialect/Kernel/IR/CrashNote.h"
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Schedule/Passes.h"
#include "zyx/Schedule/Weights.h"

#include "mlir/IR/Remarks.h"

namespace zyx::schedule {
#define GEN_PASS_DEF_CHOOSESCHEDULEPASS
#include "zyx/Schedule/Passes.h.inc"
} // namespace zyx::schedule

using namespace mlir;
using namespace zyx::kernel;
using zyx::schedule::Choice;
using zyx::target::TargetInfo;

namespace {

/// "axes m 64, n 32, 16 combined": names where they have some.
std::string describe(const Axes &axes) {
  std::string text;
  for (Axis axis = 0; axis < axes.size(); ++axis) {
    text += text.empty() ? "axes " : ", ";
    if (std::optional<StringRef> name = axes.name(axis))
      text += name->str() + " ";
    text += std::to_string(axes.extent(axis)) + (axes.isCombined(axis) ? " combined" : "");
  }
  return text.empty() ? "no axes" : text;
}

/// Choices that were measured, by the keys of their kernels; "*" is any kernel.
llvm::StringMap<StringRef> readMeasured(StringRef text) {
  llvm::StringMap<StringRef> measured;
  for (StringRef line : llvm::split(text, '\n'))
    if (auto [key, choice] = line.split(' '); !choice.empty())
      measured[key] = choice;
  return measured;
}

struct ChooseSchedule : zyx::schedule::impl::ChooseSchedulePassBase<ChooseSchedule> {
  using ChooseSchedulePassBase::ChooseSchedulePassBase;

  /// Of a kernel's choices the one that was measured to be the best, or else the first one.
  std::pair<Choice, bool> takeOne(FuncOp func, ArrayRef<Choice> choices,
                                  const llvm::StringMap<StringRef> &measuredChoices, StringRef key) {
    auto found = measuredChoices.find(key);
    if (found == measuredChoices.end())
      found = measuredChoices.find("*");
    if (found == measuredChoices.end())
      return {choices.front(), false};
    for (const Choice &choice : choices)
      if (choice.toString() == found->second)
        return {choice, true};
    remark::missed(func.getLoc(), remark::RemarkOpts::name("MeasuredChoice").category("zyx-schedule"))
        << func.getName()
        << ": what was measured to be the best is none of its schedules, and is ignored: " << found->second;
    return {choices.front(), false};
  }

  void listChoices(FuncOp func, ArrayRef<Choice> choices, StringRef key) {
    Builder builder(func.getContext());
    SmallVector<Attribute> texts, costs;
    for (const Choice &choice : choices) {
      texts.push_back(builder.getStringAttr(choice.toString()));
      costs.push_back(builder.getF64FloatAttr(std::round(choice.cost)));
    }
    func.setKey(key);
    func.setChoicesAttr(builder.getArrayAttr(texts));
    func.setCostsAttr(builder.getArrayAttr(costs));
  }

  void runOnOperation() override {
    const TargetInfo *record = requireTarget(getOperation());
    if (!record)
      return signalPassFailure();
    const llvm::StringMap<StringRef> measuredChoices = readMeasured(measured.getValue());
    const bool looksAtAll = list != 0 || !measuredChoices.empty();
    const zyx::schedule::Launches launches = zyx::schedule::collectLaunches(getOperation());
    WalkResult result = getOperation()->walk([&](FuncOp func) {
      CrashNote note(func);
      if (func.getSchedule())
        return WalkResult::advance();
      const std::string key = looksAtAll ? zyx::schedule::kernelKey(func, launches.lookup(func.getName())) : "";
      unshareConstants(func);
      FailureOr<Axes> axes = Axes::compute(func);
      if (failed(axes))
        return WalkResult::interrupt();
      SmallVector<bool> isFixed;
      for (unsigned at = 0; at < func.getNumArguments(); ++at)
        isFixed.push_back(zyx::schedule::readWeights(launches.lookup(func.getName()), at));
      const SmallVector<Choice> choices = zyx::schedule::chooseFittingSchedules(
          func, *axes, *record, looksAtAll ? zyx::schedule::mostChoices : 1, isFixed);
      const auto [choice, isMeasured] = takeOne(func, choices, measuredChoices, key);
      choice.applyTo(func);
      if (list != 0)
        listChoices(func, ArrayRef(choices).take_front(list), key);
      ScheduleAttr schedule = choice.schedule;
      ZYX_DEBUG(Schedule, func.getName().str() + " on " + record->name + ": " + describe(*axes) + ": " +
                              llvm::formatv("{0}", schedule).str());
      auto told = remark::passed(func.getLoc(), remark::RemarkOpts::name("ChooseSchedule").category("zyx-schedule"));
      told << func.getName() << ": " << llvm::formatv("{0}", schedule).str();
      if (isMeasured)
        told << ", which was measured to be the best";
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
