//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_FUSEUNPACKING_H
#define ZYX_LIB_FUSION_FUSEUNPACKING_H

#include "mlir/IR/Block.h"

namespace zyx::fusion {

/// Lets reductions compute what unpacks their operands: numbers that are made of fewer bytes than they have, in
/// dimensions of their own (blocks, say), and seen through a reshape. Where a reduction reads each of them once, as the
/// product of a matrix and a vector does, its reduced dimensions become those of the unpacked ones, so that no reshape
/// lies between and both are one kernel, which reads the packed bytes. One that reads them again and again, as a
/// product with many rows, would unpack them each time, and stays as it is.
void fuseUnpacking(mlir::Block &block);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_FUSEUNPACKING_H
