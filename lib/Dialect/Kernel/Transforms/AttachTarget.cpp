//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/AsmParser/AsmParser.h"

namespace zyx::kernel {
#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "zyx/Dialect/Kernel/Transforms/Passes.h.inc"
} // namespace zyx::kernel

using namespace mlir;
using namespace zyx::kernel;

namespace {

struct AttachTarget : zyx::kernel::impl::AttachTargetPassBase<AttachTarget> {
  using AttachTargetPassBase::AttachTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    NamedAttrList own;
    for (StringRef fact : facts) {
      const auto [name, text] = fact.split('=');
      Attribute value = text.empty() ? Attribute() : parseAttribute(text, &getContext());
      if (!value) {
        module.emitError() << "fact '" << fact << "' has not the form group.field=value";
        return signalPassFailure();
      }
      own.set(name, value);
    }
    auto emitError = [&] { return module.emitError(); };
    auto attribute = TargetAttr::getChecked(emitError, &getContext(), StringRef(target),
                                            own.empty() ? DictionaryAttr() : own.getDictionary(&getContext()));
    if (!attribute)
      return signalPassFailure();
    module->setAttr(targetAttrName, attribute);
  }
};

} // namespace
