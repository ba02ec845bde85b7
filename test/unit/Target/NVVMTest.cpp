//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/NVVM/NVVM.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::target;
using testing::HasSubstr;

namespace {

class NVVMTest : public testing::Test {
protected:
  NVVMTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  }
  /// A kernel whose body is `ops`, with a tensor map and a place in shared memory.
  mlir::OwningOpRef<mlir::ModuleOp> kernel(const std::string &ops) {
    return mlir::parseSourceString<mlir::ModuleOp>(
        "llvm.func @k(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, "
        "nvvm.grid_constant}, %at: !llvm.ptr<3>, %i: i32) attributes {nvvm.kernel} {\n" +
            ops + "\nllvm.return\n}",
        &context);
  }
  mlir::MLIRContext context;
  TargetInfo hopper = *lookUpTarget("sm_90a");
};

const char *copyIn = "nvvm.cp.async.bulk.tensor.shared.cluster.global %at, %map, %at, box[%i] "
                     "{isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr";

TEST_F(NVVMTest, WritesPTXOfTheRecord) {
  auto module = kernel(copyIn);
  Result<std::string> ptx = emitPTX(*module, hopper);
  ASSERT_TRUE(ptx) << ptx.status().toString();
  EXPECT_THAT(*ptx, HasSubstr(".version 8.8"));
  EXPECT_THAT(*ptx, HasSubstr("cp.async.bulk.tensor.1d.shared::cta"));
}

TEST_F(NVVMTest, ModuleStays) {
  auto module = kernel("nvvm.wgmma.fence.aligned");
  mlir::OwningOpRef<mlir::ModuleOp> before = module->clone();
  ASSERT_TRUE(emitPTX(*module, hopper));
  std::string after, expected;
  llvm::raw_string_ostream(after) << *module;
  llvm::raw_string_ostream(expected) << *before;
  EXPECT_EQ(after, expected);
}

// Each of these would end the process inside LLVM.
TEST_F(NVVMTest, RefusesOldPTX) {
  TargetInfo old = hopper;
  old.ptxVersion = 83;
  old.features = {"ptx83"};
  auto module = kernel(copyIn);
  Result<std::string> ptx = emitPTX(*module, old);
  ASSERT_FALSE(ptx);
  EXPECT_THAT(ptx.status().message(), HasSubstr("needs PTX 8.6; target 'sm_90a' has 8.3"));
}

TEST_F(NVVMTest, RefusesOtherMachines) {
  auto module = kernel("nvvm.wgmma.fence.aligned");
  for (const char *cpu : {"sm_80", "sm_90", "sm_100a"}) {
    TargetInfo other = hopper;
    other.cpu = cpu;
    Result<std::string> ptx = emitPTX(*module, other);
    ASSERT_FALSE(ptx);
    EXPECT_THAT(ptx.status().message(), HasSubstr(std::string("needs sm_90a; the target is ") + cpu));
  }
  auto copy = kernel(copyIn);
  TargetInfo ampere = hopper;
  ampere.cpu = "sm_80";
  EXPECT_THAT(emitPTX(*copy, ampere).status().message(), HasSubstr("needs sm_90; the target is sm_80"));
}

TEST_F(NVVMTest, RefusesAssemblyOfOtherMachines) {
  auto module = kernel("llvm.inline_asm has_side_effects \"wgmma.wait_group.sync.aligned 0;\", \"\" : () -> ()");
  TargetInfo blackwell = hopper;
  blackwell.cpu = "sm_100a";
  EXPECT_THAT(emitPTX(*module, blackwell).status().message(), HasSubstr("needs sm_90a"));
}

TEST_F(NVVMTest, RefusesWhatIsNoGPU) {
  auto module = kernel("");
  Result<std::string> ptx = emitPTX(*module, *lookUpTarget("c"));
  ASSERT_FALSE(ptx);
  EXPECT_THAT(ptx.status().message(), HasSubstr("target 'c' runs no PTX"));
}

} // namespace
