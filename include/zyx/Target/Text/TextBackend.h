//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_TEXT_TEXTBACKEND_H
#define ZYX_TARGET_TEXT_TEXTBACKEND_H

#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Text/Printer.h"

namespace zyx::target {

/// A backend whose code is text in a language of threads, for the records of one device.
class TextBackend : public Backend {
public:
  /// `language` is what people call it, and `format` what artifacts do.
  TextBackend(const char *backend, const char *device, const char *language, const char *format)
      : backend(backend), device(device), title(language), format(format) {}

  std::string_view name() const override { return backend; }
  bool makesCodeFor(const TargetInfo &target) const override {
    return target.kind == TargetKind::C && target.device == device;
  }
  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    return checkLowered(kernel, target, title);
  }
  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &target, EmitOptions, size_t) const override {
    return createTextEmitter(format, languageOf(target));
  }
  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &target) const override {
    ZYX_ASSIGN_OR_RETURN(std::string text, printKernels(lowered, languageOf(target), /*hasPlaces=*/true));
    return completeText(std::move(text), languageOf(target));
  }

protected:
  virtual const Language &languageOf(const TargetInfo &target) const = 0;

private:
  const char *const backend, *const device, *const title, *const format;
};

} // namespace zyx::target

#endif // ZYX_TARGET_TEXT_TEXTBACKEND_H
