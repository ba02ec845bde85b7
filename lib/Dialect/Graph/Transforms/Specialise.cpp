//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Graph/Transforms/Passes.h"

namespace zyx::graph::ir {
#define GEN_PASS_DEF_SPECIALISEPASS
#include "zyx/Dialect/Graph/Transforms/Passes.h.inc"
} // namespace zyx::graph::ir

using namespace mlir;

namespace {

struct Specialise : zyx::graph::ir::impl::SpecialisePassBase<Specialise> {
  using SpecialisePassBase::SpecialisePassBase;
  void runOnOperation() override;
};

} // namespace

/// The type with numbers in the place of symbols; another type is left to the verifier.
static zyx::Result<Type> specialise(Type type, const zyx::Bindings &bindings) {
  zyx::Result<zyx::TensorType> plain = zyx::graph::ir::toPlainType(type);
  if (!plain || !plain->isSymbolic())
    return type;
  ZYX_ASSIGN_OR_RETURN(zyx::TensorType numbers, zyx::specialise(*plain, bindings));
  return Type(zyx::graph::ir::toTensorType(numbers, type.getContext()));
}

void Specialise::runOnOperation() {
  func::FuncOp entry = getOperation();
  zyx::Result<zyx::Bindings> bindings = zyx::readBindings(std::vector<std::string>(values.begin(), values.end()));
  if (!bindings) {
    entry.emitError() << bindings.status().message();
    return signalPassFailure();
  }
  auto change = [&](Value value) {
    zyx::Result<Type> type = specialise(value.getType(), *bindings);
    if (!type)
      return emitError(value.getLoc()) << type.status().message(), failure();
    value.setType(*type);
    return success();
  };
  WalkResult walked = entry.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (failed(change(result)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (failed(change(argument)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return signalPassFailure();
  llvm::SmallVector<Type> results;
  for (Type type : entry.getResultTypes()) {
    zyx::Result<Type> changed = specialise(type, *bindings);
    if (!changed) {
      entry.emitError() << changed.status().message();
      return signalPassFailure();
    }
    results.push_back(*changed);
  }
  llvm::SmallVector<Type> inputs(entry.getArgumentTypes());
  if (!entry.isExternal())
    inputs.assign(entry.getBody().getArgumentTypes().begin(), entry.getBody().getArgumentTypes().end());
  entry.setFunctionType(FunctionType::get(&getContext(), inputs, results));
}
