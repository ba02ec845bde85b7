//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Target/ROCDL/CodeObject.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::target;
using testing::HasSubstr;

namespace {

class ROCDLTest : public testing::Test {
protected:
  ROCDLTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
  }
  Result<std::vector<std::byte>> link(const std::string &ops, const TargetInfo &target) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "llvm.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {rocdl.kernel} {\n" + ops + "\nllvm.return\n}", &context);
    CodeObjectCompilation compilation;
    ZYX_RETURN_IF_ERROR(compilation.translate(*module));
    return compilation.link(target);
  }
  mlir::MLIRContext context;
};

TEST_F(ROCDLTest, LinksCodeObjectsOfEachRecord) {
  for (const char *name : {"gfx942", "gfx1100", "gfx1201"}) {
    const TargetInfo target = *lookUpTarget(name);
    Result<std::vector<std::byte>> linked = link("llvm.store %i, %p : i32, !llvm.ptr<1>", target);
    ASSERT_TRUE(linked) << linked.status().toString();
    const llvm::StringRef text(reinterpret_cast<const char *>(linked->data()), linked->size());
    EXPECT_TRUE(text.starts_with("\x7f"
                                 "ELF"))
        << name;
    EXPECT_TRUE(text.contains("k.kd")) << name;
    EXPECT_EQ(checkMetadata(text, target).message(), "");
  }
}

TEST_F(ROCDLTest, RefusesScratchMemory) {
  const char *ops = R"(
    %n = llvm.mlir.constant(1024 : i64) : i64
    %a = llvm.alloca %n x i32 : (i64) -> !llvm.ptr<5>
    %g = llvm.getelementptr %a[%i] : (!llvm.ptr<5>, i32) -> !llvm.ptr<5>, i32
    llvm.store volatile %i, %g : i32, !llvm.ptr<5>
    %v = llvm.load volatile %g : !llvm.ptr<5> -> i32
    llvm.store %v, %p : i32, !llvm.ptr<1>)";
  Result<std::vector<std::byte>> linked = link(ops, *lookUpTarget("gfx942"));
  ASSERT_FALSE(linked);
  EXPECT_THAT(linked.status().message(), HasSubstr("kernel 'k' does not fit the registers of a thread of 'gfx942'"));
  EXPECT_THAT(linked.status().message(), HasSubstr("bytes of scratch memory, which kernels may not have"));
}

TEST_F(ROCDLTest, WavesAreTheRecords) {
  TargetInfo target = *lookUpTarget("gfx1100");
  Result<std::vector<std::byte>> linked = link("llvm.store %i, %p : i32, !llvm.ptr<1>", target);
  ASSERT_TRUE(linked) << linked.status().toString();
  target.simt.subgroupSize = 64;
  EXPECT_EQ(checkMetadata({reinterpret_cast<const char *>(linked->data()), linked->size()}, target).message(),
            "kernel 'k' has waves of 32 threads; those of 'gfx1100' have 64");
}

TEST_F(ROCDLTest, BrokenObjectsAreErrors) {
  const TargetInfo target = *lookUpTarget("gfx942");
  EXPECT_THAT(checkMetadata("not an object", target).message(), HasSubstr("cannot read the generated object: "));
  std::string empty("\x7f"
                    "ELF\2\1\1",
                    7);
  empty.resize(64);
  EXPECT_EQ(checkMetadata(empty, target).message(), "cannot read the generated object: it has no metadata");
}

TEST_F(ROCDLTest, UntranslatableModulesAreErrors) {
  context.allowUnregisteredDialects();
  EXPECT_EQ(link("\"other.op\"() : () -> ()", *lookUpTarget("gfx942")).status().message(),
            "the kernels hold what has no translation to LLVM IR");
}

} // namespace
