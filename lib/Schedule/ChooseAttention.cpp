//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ChooseTensor.h"

#include "zyx/Dialect/Kernel/Transforms/TensorAttention.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

namespace zyx::schedule {

/// A row of a panel fills what a swizzle exchanges; elements of 16 bits.
static constexpr int64_t panel = 64, elementBytes = 2;
static constexpr int64_t mostStages = 4;

TensorStepAttr chooseAttentionStep(FuncOp func, const Axes &axes, const target::TargetInfo &target) {
  std::string reason;
  std::optional<TensorAttention> found = matchTensorAttention(func, axes, reason);
  if (!found) {
    remark::missed(func.getLoc(), remark::RemarkOpts::name("NoTensorCores").category("zyx-schedule"))
        << func.getName() << " is not multiplied by tensor cores: " << reason;
    return {};
  }
  const int64_t depth = llvm::alignTo(found->depth, panel), width = llvm::alignTo(found->width, panel);
  const int64_t queries = axes.extent(found->queries), all = axes.extent(found->keys);
  // Rows of results, scores and weights of a block are in registers: three groups have fewer of these than two, and a mask
  // takes some.
  const bool isMasked = !found->bounds.empty() || found->readsPlaces;
  const int64_t most = depth <= 64 && width <= 64 && !isMasked ? 192 : 128;
  const int64_t rows = std::min<int64_t>(most, llvm::alignTo(queries, 64));
  int64_t keys = width > 192 && isMasked ? 48 : width <= 128 && depth <= 128 && !found->readsMasks ? 128 : 64;
  // The loop behind the first block would be straight code, of which more is in registers at a time.
  if (keys >= 64 && llvm::divideCeil(all, keys) == 2)
    keys /= 2;
  // Wide results leave from where queries came in.
  const int64_t others = rows * (width > 128 ? std::max(depth, width) : depth + width) * elementBytes;
  const int64_t stage = keys * (depth + width) * elementBytes, barriers = 1024;
  const int64_t stages = std::min(mostStages, (target.sharedBytes - others - barriers) / stage);
  // Heads whose keys and values stay in half of the cache.
  const int64_t headBytes = all * (depth + width) * elementBytes;
  const int64_t group = std::max<int64_t>(1, target.l2Bytes / 2 / headBytes);
  return TensorStepAttr::get(func.getContext(), rows, keys, panel, stages, group, /*split=*/1, /*tf32=*/false);
}

} // namespace zyx::schedule
