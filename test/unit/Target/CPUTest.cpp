//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SharedObject.h"

#include "zyx/Target/Backend/Link.h"
#include "zyx/Target/CPU/CPU.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <thread>

using namespace zyx;
using namespace zyx::target;

namespace {

class CPU : public testing::Test {
protected:
  CPU() { context.loadDialect<mlir::LLVM::LLVMDialect>(); }
  mlir::ModuleOp parse(const char *text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    return *module;
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TargetInfo host = *lookUpTarget("cpu");
};

constexpr const char *add = R"(
llvm.func @add(%a: i64, %b: i64) -> i64 {
  %c = llvm.add %a, %b : i64
  llvm.return %c : i64
})";

} // namespace

TEST_F(CPU, SharedObjectLoadsAndRuns) {
  for (CPUPasses passes : {CPUPasses::None, CPUPasses::Short, CPUPasses::O2}) {
    CPUTimes times;
    auto bytes = emitSharedObject(parse(add), host, {passes}, &times);
    ASSERT_TRUE(bytes) << bytes.status().toString();
    SharedObject object(*bytes);
    auto *function = object.find<int64_t (*)(int64_t, int64_t)>("add");
    ASSERT_TRUE(function) << object.error();
    EXPECT_EQ(function(40, 2), 42);
    EXPECT_GT(times.translate, 0);
    EXPECT_GT(times.generate, 0);
    EXPECT_GT(times.link, 0);
  }
}

TEST_F(CPU, ScalarLibmIsRefusedByName) {
  Status failure = emitSharedObject(parse(R"(
    llvm.func @f(%x: f32) -> f32 {
      %y = llvm.intr.exp(%x) : (f32) -> f32
      llvm.return %y : f32
    })"),
                                    host)
                       .status();
  EXPECT_EQ(failure.code(), ErrorCode::CompileFailed);
  EXPECT_EQ(failure.message(), "kernels may not call library functions, but the processor has no "
                               "instruction for what became a call of expf");
}

TEST_F(CPU, MemoryFunctionsMayStayUndefined) {
  auto bytes = emitSharedObject(parse(R"(
    llvm.func @copy(%to: !llvm.ptr, %from: !llvm.ptr, %size: i64) {
      "llvm.intr.memcpy"(%to, %from, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      llvm.return
    })"),
                                host);
  ASSERT_TRUE(bytes) << bytes.status().toString();
  SharedObject object(*bytes);
  auto *copy = object.find<void (*)(void *, const void *, int64_t)>("copy");
  ASSERT_TRUE(copy) << object.error();
  int from = 7, to = 0;
  copy(&to, &from, sizeof to);
  EXPECT_EQ(to, 7);
}

TEST_F(CPU, OtherTargetsAreRefused) {
  EXPECT_EQ(emitSharedObject(parse(add), *lookUpTarget("c")).status().message(), "target 'c' is not a CPU");
  TargetInfo odd = host;
  odd.cpu = "z80";
  EXPECT_EQ(emitSharedObject(parse(add), odd).status().message(), "LLVM knows no processor 'z80'");
  odd.triple = "pdp11-unknown-none";
  std::string message = emitSharedObject(parse(add), odd).status().message();
  EXPECT_EQ(message.find("this LLVM makes no code for 'pdp11-unknown-none': "), 0u) << message;
}

TEST_F(CPU, UntranslatableModuleIsAnError) {
  context.allowUnregisteredDialects();
  Status failure = emitSharedObject(parse("\"other.op\"() : () -> ()"), host).status();
  EXPECT_EQ(failure.message(), "the kernels cannot be translated to LLVM IR");
}

TEST(Link, BrokenObjectsAreErrors) {
  Status failure = linkSharedObject(llvm::StringRef("not an object")).status();
  EXPECT_EQ(failure.code(), ErrorCode::CompileFailed);
  EXPECT_EQ(failure.message().find("cannot link the kernels: "), 0u) << failure.message();
  EXPECT_NE(checkUndefinedSymbols("not an object").message().find("cannot read the generated object: "),
            std::string::npos);
}

TEST_F(CPU, LinksAtOnceFromThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      mlir::MLIRContext own(mlir::MLIRContext::Threading::DISABLED);
      own.loadDialect<mlir::LLVM::LLVMDialect>();
      auto parsed = mlir::parseSourceString<mlir::ModuleOp>(add, &own);
      for (int repeat = 0; repeat < 3; ++repeat)
        EXPECT_TRUE(emitSharedObject(*parsed, host));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(CPU, TextForms) {
  auto ir = emitLLVMIR(parse(add), host);
  ASSERT_TRUE(ir) << ir.status().toString();
  EXPECT_NE(ir->find("define i64 @add(i64"), std::string::npos) << *ir;
  auto assembly = emitAssembly(parse(add), host);
  ASSERT_TRUE(assembly) << assembly.status().toString();
  EXPECT_NE(assembly->find("add:"), std::string::npos) << *assembly;
}
