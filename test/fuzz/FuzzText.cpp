//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/Base/TextLimits.h"
#include "zyx/Dialect/Graph/IR/GraphDialect.h"
#include "zyx/Dialect/Graph/Transport.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Plan/IR/PlanDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

using namespace zyx;

/// LLVM's headers poison memory of their allocators, which its library, built without the
/// sanitizer, then hands out; and the library's contexts are not freed by the fuzzer's end.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0"; }

/// MLIR text with the dialects of this project, by the way of the compiler's parser: bounded, parsed,
/// verified, and its entries exported as graphs.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A copy, because the lexer looks at the byte behind the text and wants a zero there.
  std::string text(reinterpret_cast<const char *>(data), size);
  if (!checkTextLimits(text))
    return 0;
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry made;
    made.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
    made.insert<graph::ir::GraphDialect, kernel::KernelDialect, plan::PlanDialect>();
    return made;
  }();
  // A context each, as in the compiler: attributes are never freed before their context.
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "fuzz.mlir");
  if (!module)
    return 0;
  std::string printed;
  llvm::raw_string_ostream(printed) << *module;
  for (mlir::func::FuncOp entry : module->getOps<mlir::func::FuncOp>()) {
    Result<graph::Graph> graph = graph::ir::exportGraph(entry);
    if (!graph)
      continue;
    Result<graph::Graph> again = graph::Graph::deserialize(graph->serialize());
    fuzz::require(again.isOk() && again->canonicalHash() == graph->canonicalHash(),
                  "an exported graph changes when it is written and read");
  }
  return 0;
}
