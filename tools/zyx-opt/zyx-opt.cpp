//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Common/LLVMOptions.h"
#include "zyx/Base/Config.h"
#include "zyx/Base/TextLimits.h"
#include "zyx/Pipelines/InitAll.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#ifdef ZYX_BUILD_TESTS
namespace zyx::test {
void registerDrawGroupsPasses();
void registerDrawSchedulePass();
void registerTestCompilePipeline();
void registerTestTransportPass();
} // namespace zyx::test
#endif

/// What `--help` begins with: our own among all passes, which are options of these names.
static void listPasses() {
  std::vector<llvm::StringRef> names;
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name.starts_with("zyx-"))
      names.push_back(name);
  llvm::sort(names);
  llvm::outs() << "zyx-opt: runs passes on MLIR text\n"
                  "usage: zyx-opt FILE [-o FILE] --PASS[=OPTIONS]...\n\n"
                  "Passes and pipelines of zyx; docs/pipeline.md says in which order they run:\n";
  for (llvm::StringRef name : names) {
    const mlir::PassRegistryEntry *entry = mlir::PassInfo::lookup(name);
    if (!entry)
      entry = mlir::PassPipelineInfo::lookup(name);
    if (entry)
      llvm::outs() << "  --" << llvm::left_justify(name, 38) << ' ' << entry->getPassDescription() << '\n';
  }
  llvm::outs() << '\n';
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  zyx::tools::tidyOptions("zyx-opt");
  zyx::Result<zyx::LoadedConfig> loaded = zyx::loadConfig();
  if (!loaded) {
    llvm::errs() << "zyx-opt: error: " << loaded.status().message() << '\n';
    return 1;
  }
  for (const std::string &warning : loaded->warnings)
    llvm::errs() << "zyx-opt: warning: " << warning << '\n';
  zyx::publishDebugTopics(loaded->config);
  mlir::DialectRegistry registry;
  zyx::registerAllDialects(registry);
  zyx::registerAllPasses();
#ifdef ZYX_BUILD_TESTS
  zyx::test::registerDrawGroupsPasses();
  zyx::test::registerDrawSchedulePass();
  zyx::test::registerTestCompilePipeline();
  zyx::test::registerTestTransportPass();
#endif
  const std::string header = mlir::registerCLIOptions("zyx: run passes on a file", registry);
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]).ltrim('-') == "help")
      listPasses();
  auto [inputName, outputName] = mlir::parseCLIOptions(argc, argv, header);

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(inputName, &message);
  if (!input) {
    llvm::errs() << "zyx-opt: error: " << message << '\n';
    return 1;
  }
  if (zyx::Status status = zyx::checkTextLimits(input->getBuffer()); !status.isOk()) {
    llvm::errs() << inputName << ": error: " << status.message() << '\n';
    return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> output = mlir::openOutputFile(outputName, &message);
  if (!output) {
    llvm::errs() << "zyx-opt: error: " << message << '\n';
    return 1;
  }
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (failed(mlir::MlirOptMain(output->os(), std::move(input), registry, config)))
    return 1;
  // Only a whole file is kept.
  output->keep();
  return 0;
}
