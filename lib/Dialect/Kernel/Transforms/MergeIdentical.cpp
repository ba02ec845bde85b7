//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_MERGEIDENTICALPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Equal for kernels that compute the same: operands come in as types, the rest is compared.
llvm::hash_code hashOf(FuncOp func) {
  llvm::hash_code hash = hash_value(func.getFunctionType());
  func.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->hashProperties(), op->getDiscardableAttrDictionary(),
                              op->getResultTypes());
  });
  return hash;
}

/// All attributes but the names are equal, whichever a kernel has.
bool haveSameAttributes(FuncOp a, FuncOp b) {
  auto others = [](FuncOp func) {
    NamedAttrList all(func->getAttrDictionary());
    all.erase(func.getSymNameAttrName());
    return all.getDictionary(func.getContext());
  };
  return others(a) == others(b);
}

bool areIdentical(FuncOp a, FuncOp b) {
  return haveSameAttributes(a, b) && OperationEquivalence::isRegionEquivalentTo(
                                         &a.getBody(), &b.getBody(), OperationEquivalence::Flags::IgnoreLocations);
}

struct MergeIdenticalPass : public zyx::kernel::impl::MergeIdenticalPassBase<MergeIdenticalPass> {
  void runOnOperation() override {
    llvm::DenseMap<size_t, SmallVector<FuncOp, 1>> kept;
    llvm::DenseMap<StringAttr, FlatSymbolRefAttr> merged;
    for (FuncOp func : llvm::make_early_inc_range(getOperation().getOps<FuncOp>())) {
      SmallVector<FuncOp, 1> &alike = kept[hashOf(func)];
      auto *found = llvm::find_if(alike, [&](FuncOp other) { return areIdentical(other, func); });
      if (found == alike.end()) {
        alike.push_back(func);
        continue;
      }
      merged[func.getSymNameAttr()] = FlatSymbolRefAttr::get(found->getSymNameAttr());
      func.erase();
    }
    if (merged.empty())
      return markAllAnalysesPreserved();
    // Once over everything: each kernel's uses by themselves would be a walk each.
    AttrTypeReplacer names;
    names.addReplacement([&](FlatSymbolRefAttr name) -> std::optional<Attribute> {
      if (auto found = merged.find(name.getAttr()); found != merged.end())
        return found->second;
      return std::nullopt;
    });
    for (Operation &op : getOperation().getOps())
      if (!isa<FuncOp>(op))
        names.recursivelyReplaceElementsIn(&op);
  }
};

} // namespace
