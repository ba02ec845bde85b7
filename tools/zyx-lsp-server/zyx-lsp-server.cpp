//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A language server for .mlir files with our dialects: diagnostics while one types, definitions,
// uses, hover.
//===----------------------------------------------------------------------===//
#include "zyx/Pipelines/InitAll.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  zyx::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
