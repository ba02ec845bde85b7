//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_EXTERNALKERNEL_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_EXTERNALKERNEL_H

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"

namespace zyx::lowering {

/// The kernel of the user's own that is all of a group, if it is one.
graph::ir::ExternalOp findExternal(graph::ir::GroupOp group);

/// That kernel: of the kernel dialect's text what is in it, of other languages one without a body that holds the text.
/// Fails with an error at the op where the text is no kernel for it.
mlir::FailureOr<ConvertedGroup> convertExternalGroup(graph::ir::GroupOp group, graph::ir::ExternalOp op,
                                                     llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_EXTERNALKERNEL_H
