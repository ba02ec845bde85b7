//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_DIALECT_KERNEL_IR_TARGETSTORAGE_H
#define ZYX_LIB_DIALECT_KERNEL_IR_TARGETSTORAGE_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel::detail {

/// Keeps the record beside what names it.
struct TargetAttrStorage : mlir::AttributeStorage {
  using KeyTy = std::tuple<llvm::StringRef, mlir::DictionaryAttr>;

  TargetAttrStorage(llvm::StringRef name, mlir::DictionaryAttr facts, target::TargetInfo info)
      : name(name), facts(facts), info(std::move(info)) {}

  bool operator==(const KeyTy &key) const { return key == getAsKey(); }
  static llvm::hash_code hashKey(const KeyTy &key) { return llvm::hash_combine(std::get<0>(key), std::get<1>(key)); }
  static TargetAttrStorage *construct(mlir::AttributeStorageAllocator &allocator, KeyTy &&key);
  KeyTy getAsKey() const { return {name, facts}; }

  llvm::StringRef name;
  mlir::DictionaryAttr facts;
  target::TargetInfo info;
};

} // namespace zyx::kernel::detail

#endif // ZYX_LIB_DIALECT_KERNEL_IR_TARGETSTORAGE_H
