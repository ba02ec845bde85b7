//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_PIPELINES_DOT_H
#define ZYX_PIPELINES_DOT_H

#include "zyx/Base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace zyx::pipelines {

/// A drawing in the language of Graphviz, one `digraph` per entry. Of graph ops: a box each, with
/// its attributes and type, and a frame around each group. Of a plan: a box per command, a solid
/// edge where it reads what another one wrote, a dashed one where it only waits. Refuses a module
/// without an entry.
Result<std::string> toDot(mlir::ModuleOp module);

} // namespace zyx::pipelines

#endif // ZYX_PIPELINES_DOT_H
