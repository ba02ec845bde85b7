//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Strides.h"

using namespace mlir;
using namespace zyx::kernel;

int64_t zyx::schedule::strideThrough(MapAttr map, unsigned dim, int64_t steps) {
  int64_t stride = steps * BlockAttr::constant(map.front().getStrides()[dim]).value_or(0);
  for (BlockAttr block : map.getBlocks().drop_front()) {
    SmallVector<int64_t> rows(block.getRank(), 1);
    for (unsigned d = block.getRank(); d-- > 1;)
      rows[d - 1] = rows[d] * std::max<int64_t>(BlockAttr::constant(block.getShape()[d]).value_or(1), 1);
    int64_t next = 0;
    for (auto [size, step] : llvm::zip_equal(rows, block.getStrides())) {
      next += stride / size * BlockAttr::constant(step).value_or(0);
      stride %= size;
    }
    stride = next;
  }
  return stride;
}
