//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Pipelines/InitAll.h"

#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::pipelines;
using testing::HasSubstr;

namespace {

/// An op whose text is not what it is parsed from.
struct LiarOp : mlir::Op<LiarOp, mlir::OpTrait::ZeroOperands, mlir::OpTrait::ZeroResults> {
  using Op::Op;
  static llvm::StringRef getOperationName() { return "test.liar"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static mlir::ParseResult parse(mlir::OpAsmParser &parser, mlir::OperationState &) {
    return parser.parseKeyword("truth");
  }
  void print(mlir::OpAsmPrinter &printer) { printer << " lie"; }
};

struct TestDialect : mlir::Dialect {
  explicit TestDialect(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context, mlir::TypeID::get<TestDialect>()) {
    addOperations<LiarOp>();
  }
  static llvm::StringRef getDialectNamespace() { return "test"; }
};

mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, const char *text) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<TestDialect>();
  context.appendDialectRegistry(registry);
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context, "test.mlir");
}

} // namespace

TEST(PipelinesTest, PhasesHaveNames) {
  for (Phase phase : allPhases)
    EXPECT_EQ(parsePhase(toString(phase)), phase);
  EXPECT_EQ(parsePhase("lunch"), std::nullopt);
}

TEST(PipelinesTest, FindsTextThatDoesNotRoundtrip) {
  mlir::MLIRContext context;
  auto module = parse(context, "test.liar truth");
  ASSERT_TRUE(module);
  Options options;
  std::vector<Stage> stages;
  EXPECT_TRUE(runPhases(*module, options, Phase::Graph, stages).isOk());
  options.verifyRoundtrip = true;
  EXPECT_THAT(runPhases(*module, options, Phase::Graph, stages).message(),
              HasSubstr("the text of phase 'graph' does not round-trip"));
}

TEST(PipelinesTest, FailuresNameThePhaseAndThePlace) {
  mlir::MLIRContext context;
  auto module = parse(context, "func.func @f() -> tensor<4xf32> {\n"
                               "  %0 = arith.constant dense<1.0> : tensor<4xf32>\n"
                               "  %1 = arith.addf %0, %0 : tensor<4xf32>\n"
                               "  %2 = math.exp %1 : tensor<4xf32>\n"
                               "  return %2 : tensor<4xf32>\n}");
  ASSERT_TRUE(module);
  Options options;
  options.target = *target::lookUpTarget("cpu");
  std::vector<Stage> stages;
  Status status = runPhases(*module, options, Phase::Target, stages);
  EXPECT_EQ(status.code(), ErrorCode::CompileFailed);
  EXPECT_THAT(status.message(), HasSubstr("phase '"));
  EXPECT_THAT(status.message(), HasSubstr("test.mlir:"));
}
