//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Text/Printer.h"

#include <chrono>
#include <span>

using namespace zyx;
using namespace zyx::target;

namespace {

/// One text of all kernels: most of what a driver's compiler takes, it takes for each text. What is kept is a kernel
/// without head and helpers.
class TextEmitter final : public Emitter {
public:
  TextEmitter(std::string format, const Language &language) : format(std::move(format)), language(language) {}
  Status add(mlir::ModuleOp lowered) override {
    const auto begin = std::chrono::steady_clock::now();
    ZYX_ASSIGN_OR_RETURN(std::string text, printKernels(lowered, language));
    texts.push_back({std::move(text), /*isKept=*/false});
    milliseconds += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return Status::ok();
  }
  Status addKept(std::vector<std::byte> code) override {
    texts.push_back({{reinterpret_cast<const char *>(code.data()), code.size()}, /*isKept=*/true});
    return Status::ok();
  }
  std::string_view keptFormat() const override { return format; }
  bool sharesSymbols() const override { return true; }

  Result<std::vector<artifact::CodeBlob>> finish() override {
    std::string all;
    for (const Text &each : texts)
      all += each.kernels;
    const std::string file = completeText(std::move(all), language);
    const auto bytes = std::as_bytes(std::span(file));
    return std::vector<artifact::CodeBlob>{{format, {bytes.begin(), bytes.end()}}};
  }

  std::vector<std::vector<std::byte>> takeKept() override {
    std::vector<std::vector<std::byte>> all;
    for (const Text &each : texts) {
      const auto bytes = std::as_bytes(std::span(each.kernels));
      if (!each.isKept)
        all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
  }

  std::vector<EmitStage> stages() const override { return {{"print", milliseconds, /*isInFinish=*/false}}; }

private:
  const std::string format;
  const Language &language;
  struct Text {
    std::string kernels;
    bool isKept;
  };
  std::vector<Text> texts;
  double milliseconds = 0;
};

} // namespace

std::unique_ptr<Emitter> target::createTextEmitter(std::string format, const Language &language) {
  return std::make_unique<TextEmitter>(std::move(format), language);
}
