//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Target.h"

#include "TargetStorage.h"

#include "zyx/Target/Info/Fields.h"

using namespace mlir;
using namespace zyx::kernel;
using zyx::Result;
using zyx::Status;
using zyx::target::TargetInfo;

/// Sets a field of a record from an attribute of its type. Names, kinds and tables are a record's alone.
template <typename Field> static bool setField(Field &field, Attribute value) {
  if constexpr (std::is_same_v<Field, bool>) {
    if (auto flag = dyn_cast<BoolAttr>(value))
      return field = flag.getValue(), true;
  } else if constexpr (std::is_integral_v<Field>) {
    if (auto number = dyn_cast<IntegerAttr>(value); number && number.getType().isInteger(64) && number.getInt() >= 0)
      return field = static_cast<Field>(number.getInt()), true;
  } else if constexpr (std::is_floating_point_v<Field>) {
    if (auto number = dyn_cast<FloatAttr>(value))
      return field = number.getValueAsDouble(), true;
  }
  return false;
}

/// The record of that name with these facts.
static Result<TargetInfo> makeRecord(StringRef name, DictionaryAttr facts) {
  ZYX_ASSIGN_OR_RETURN(TargetInfo info, zyx::target::lookUpTarget(name));
  for (NamedAttribute fact : facts ? facts.getValue() : ArrayRef<NamedAttribute>()) {
    const std::string wanted = fact.getName().str();
    bool isKnown = false, isSet = false;
    zyx::target::forEachField(info, [&](const char *group, const char *field, auto &value) {
      if (wanted == std::string(group) + '.' + field)
        isKnown = true, isSet = setField(value, fact.getValue());
    });
    if (!isKnown)
      return Status::notFound("records have no fact '" + wanted + "'");
    if (!isSet) {
      std::string text;
      llvm::raw_string_ostream(text) << fact.getValue();
      return Status::invalidArgument("fact '" + wanted + "' cannot be " + text);
    }
  }
  return info;
}

zyx::kernel::detail::TargetAttrStorage *
zyx::kernel::detail::TargetAttrStorage::construct(AttributeStorageAllocator &allocator, KeyTy &&key) {
  const auto [name, facts] = key;
  Result<TargetInfo> record = makeRecord(name, facts);
  ZYX_ASSERT(record.isOk(), "TargetAttr::verify accepts a record that exists alone");
  return new (allocator.allocate<TargetAttrStorage>())
      TargetAttrStorage(allocator.copyInto(name), facts, std::move(*record));
}

LogicalResult TargetAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                 DictionaryAttr facts) {
  if (Result<TargetInfo> record = makeRecord(name, facts); !record.isOk())
    return emitError() << record.status().message();
  return success();
}

StringRef TargetAttr::getName() const { return getImpl()->name; }
DictionaryAttr TargetAttr::getFacts() const { return getImpl()->facts; }
const TargetInfo &TargetAttr::getInfo() const { return getImpl()->info; }

const TargetInfo *zyx::kernel::findTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(targetAttrName))
      return &target.getInfo();
  return nullptr;
}

const TargetInfo *zyx::kernel::requireTarget(Operation *op) {
  const TargetInfo *target = findTarget(op);
  if (!target)
    op->emitError() << "no module around says what machine it is for: '" << targetAttrName
                    << "' is missing, which -zyx-kernel-attach-target sets";
  return target;
}

void zyx::kernel::copyTarget(ModuleOp from, ModuleOp to) {
  if (Attribute target = from->getAttr(targetAttrName))
    to->setAttr(targetAttrName, target);
  else
    to->removeAttr(targetAttrName);
}
