//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Cost/CostModel.h"

#include "zyx/Dialect/Graph/IR/PlainTypes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace zyx::cost;
using namespace zyx::graph::ir;
using zyx::schedule::Estimate;

CostModel::CostModel(func::FuncOp entry, const zyx::target::TargetInfo &target)
    : target(target), machine(Workgroups::of(target)), runsOnce(entry) {}

SmallVector<const void *> zyx::cost::keyOf(GroupOp group) {
  SmallVector<const void *> key;
  llvm::DenseMap<Value, size_t> numbers;
  auto number = [&](Value value) { numbers.try_emplace(value, numbers.size()); };
  for (Value argument : group.getBlock().getArguments()) {
    number(argument);
    key.push_back(argument.getType().getAsOpaquePointer());
  }
  for (Operation &op : group.getBlock()) {
    key.push_back(op.getName().getAsOpaquePointer());
    key.push_back(op.getPropertiesAsAttribute().getAsOpaquePointer());
    for (Value operand : op.getOperands())
      key.push_back(reinterpret_cast<const void *>(numbers.lookup(operand)));
    for (Value result : op.getResults()) {
      key.push_back(result.getType().getAsOpaquePointer());
      number(result);
    }
  }
  return key;
}

std::optional<Estimate> CostModel::weigh(GroupOp group) {
  // Of a weight what is packed is packed once.
  SmallVector<bool> isFixed;
  SmallVector<const void *> key = keyOf(group);
  for (Value input : group.getInputs()) {
    isFixed.push_back(runsOnce.isFixed(input));
    key.push_back(reinterpret_cast<const void *>(static_cast<uintptr_t>(isFixed.back())));
  }
  auto [place, isNew] = known.try_emplace(std::move(key));
  if (isNew)
    place->second = lower(group, isFixed);
  return place->second;
}

std::optional<Estimate> CostModel::lower(GroupOp group, ArrayRef<bool> isFixed) {
  // No results are stored that are larger than any memory.
  for (Type type : group.getResultTypes())
    if (!zyx::byteSize(*toPlainType(type)).isOk())
      return std::nullopt;
  // Why it is no kernel nobody asks; what other threads say of other functions goes on.
  ScopedDiagnosticHandler quiet(group.getContext(), [thread = llvm::get_threadid()](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Error && llvm::get_threadid() == thread);
  });
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(group.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(scratch->getBody());
  FailureOr<zyx::ConvertedGroup> made = zyx::convertGroup(group, "trial", builder, machine);
  if (failed(made))
    return std::nullopt;
  made->kernel.setTrial(true);
  return zyx::schedule::estimateKernel(made->kernel, target, isFixed);
}
