//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Schedule/Choices.h"

#include "zyx/Base/Hash.h"
#include "zyx/Schedule/Weights.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace zyx;
using namespace zyx::schedule;

std::string Choice::toString() const {
  std::string text = llvm::formatv("{0}", Attribute(schedule)).str();
  if (threads)
    text += " threads " + std::to_string(threads);
  if (cluster)
    text += " cluster " + std::to_string(cluster);
  return text;
}

void Choice::applyTo(kernel::FuncOp func) const {
  func.setScheduleAttr(schedule);
  if (threads)
    func.setThreads(threads);
  if (cluster)
    func.setCluster(cluster);
  if (residentThreads)
    func.setMinResidentThreads(residentThreads);
}

Launches schedule::collectLaunches(Operation *root) {
  Launches launches;
  root->walk([&](plan::LaunchOp launch) { launches[launch.getKernel()].push_back(launch); });
  return launches;
}

std::string schedule::kernelKey(kernel::FuncOp func, ArrayRef<plan::LaunchOp> launches) {
  OwningOpRef<kernel::FuncOp> nameless = func.clone();
  nameless->setSymName("kernel");
  std::string text;
  llvm::raw_string_ostream stream(text);
  nameless->print(stream, OpPrintingFlags().useLocalScope());
  for (unsigned at = 0; at < func.getNumArguments(); ++at)
    stream << (readWeights(launches, at) ? " weight" : " -");
  return hashBytes(std::string_view(text)).toHex();
}
