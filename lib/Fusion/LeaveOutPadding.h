//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_LEAVEOUTPADDING_H
#define ZYX_LIB_FUSION_LEAVEOUTPADDING_H

#include "mlir/IR/Block.h"

namespace zyx::fusion {

/// Cuts contractions over windows of a padded operand into pieces that multiply few zeros of the padding, where that
/// saves more products than the pieces cost. A dilation may be nearly as large as an image: then most elements of a
/// window are padding for most positions. Of a convolution the pieces are ranges of positions, of a filter's gradient
/// elements of the window. Zeros of padding are no longer multiplied, and so do not become NaN beside an infinite
/// factor.
void leaveOutPadding(mlir::Block &block);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_LEAVEOUTPADDING_H
