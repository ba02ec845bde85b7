//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelConversion.h"

#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/PieceEmitter.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "mlir/Transforms/Passes.h"

#include <span>

using namespace zyx;
using namespace zyx::target;

Result<std::vector<std::byte>> zyx::target::serializeModule(mlir::spirv::ModuleOp module) {
  llvm::SmallVector<uint32_t> words;
  if (failed(mlir::verify(module)) || failed(mlir::spirv::serialize(module, words)))
    return Status::internal("the compiler made a module of SPIR-V that is not valid");
  const auto bytes = std::as_bytes(std::span(words.data(), words.size()));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

namespace {

class SPIRVBackend final : public PieceBackend {
public:
  SPIRVBackend() : PieceBackend("SPIRV", TargetKind::Vulkan, "Vulkan", "spirv") {}

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &) const override {
    addScalarLowering(passes, /*lanes=*/1, /*accessLanes=*/4);
    passes.addNestedPass<kernel::FuncOp>(kernel::createNarrowIndicesPass());
    passes.addPass(mlir::createCSEPass());
  }

  Result<PieceEmitter::Compile> translate(mlir::ModuleOp lowered, const TargetInfo &) const override {
    ZYX_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::spirv::ModuleOp> module, convertKernels(lowered));
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> code, serializeModule(*module));
    return PieceEmitter::Compile([code = std::move(code)] { return Result<PieceEmitter::Code>(code); });
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &) const override {
    ZYX_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::spirv::ModuleOp> module, convertKernels(lowered));
    std::string text;
    llvm::raw_string_ostream(text) << **module << '\n';
    return text;
  }
};

} // namespace

Status zyx::target::registerSPIRVBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<SPIRVBackend>());
}
