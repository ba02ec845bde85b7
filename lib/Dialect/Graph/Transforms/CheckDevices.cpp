//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Graph/Transforms/Passes.h"
#include "zyx/Graph/Devices.h"

namespace zyx::graph::ir {
#define GEN_PASS_DEF_CHECKDEVICESPASS
#include "zyx/Dialect/Graph/Transforms/Passes.h.inc"
} // namespace zyx::graph::ir

using namespace mlir;
using namespace zyx::graph::ir;

namespace {

struct CheckDevices : zyx::graph::ir::impl::CheckDevicesPassBase<CheckDevices> {
  using CheckDevicesPassBase::CheckDevicesPassBase;
  void runOnOperation() override {
    getOperation().walk([&](TransferOp transfer) {
      if (zyx::graph::isSameDevice(transfer.getDevice(), device))
        return;
      transfer.emitOpError() << "to '" << transfer.getDevice() << "' in a program for '" << device
                             << "': a program has one device";
      signalPassFailure();
    });
  }
};

} // namespace
