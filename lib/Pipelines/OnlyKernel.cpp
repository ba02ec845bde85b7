//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "OnlyKernel.h"

#include "zyx/Schedule/Choices.h"
#include "zyx/Schedule/Weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace zyx;

/// Of a kernel, in front of everything else.
static void createPlan(ModuleOp module, plan::LaunchOp launch, ArrayRef<plan::LaunchOp> launches) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto add = [&](Value buffer, StringRef kind, std::string name, bool isWeight) {
    SmallVector<NamedAttribute> own = {builder.getNamedAttr(kind, builder.getStringAttr(name))};
    if (isWeight)
      own.push_back(builder.getNamedAttr(plan::FuncOp::weightAttr, builder.getUnitAttr()));
    types.push_back(buffer.getType());
    attributes.push_back(builder.getDictionaryAttr(own));
  };
  for (auto [i, buffer] : llvm::enumerate(launch.getIns()))
    add(buffer, plan::FuncOp::inputAttr, "in" + std::to_string(i), schedule::readWeights(launches, i));
  for (auto [i, buffer] : llvm::enumerate(launch.getOuts()))
    add(buffer, plan::FuncOp::outputAttr, "out" + std::to_string(i), false);
  const Location loc = launch.getLoc();
  auto made = plan::FuncOp::create(builder, loc, launch.getKernel(), builder.getFunctionType(types, {}), attributes);
  // The kernel has the name.
  made.setSymName((launch.getKernel() + "_alone").str());
  Block &body = made.getBody().front();
  builder.setInsertionPointToEnd(&body);
  ValueRange arguments = body.getArguments();
  const size_t numIns = launch.getIns().size();
  plan::LaunchOp::create(builder, loc, plan::EventType::get(module.getContext()), launch.getKernelAttr(),
                         arguments.take_front(numIns), arguments.drop_front(numIns), launch.getScalarsAttr(),
                         launch.getFlopsAttr(), ValueRange());
  plan::ReturnOp::create(builder, loc);
}

Status pipelines::keepOnlyKernel(ModuleOp module, StringRef key) {
  const schedule::Launches launches = schedule::collectLaunches(module);
  for (auto func : module.getOps<kernel::FuncOp>()) {
    const SmallVector<plan::LaunchOp> own = launches.lookup(func.getName());
    if (own.empty() || func.getSchedule() || schedule::kernelKey(func, own) != key)
      continue;
    SmallVector<plan::FuncOp> entries(module.getOps<plan::FuncOp>());
    createPlan(module, own.front(), own);
    for (plan::FuncOp entry : entries)
      entry.erase();
    for (auto other : llvm::make_early_inc_range(module.getOps<kernel::FuncOp>()))
      if (other != func)
        other.erase();
    return Status::ok();
  }
  return Status::notFound("no kernel of the program has the key " + key.str());
}
