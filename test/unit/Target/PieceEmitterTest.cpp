//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Backend/PieceEmitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

using namespace zyx;
using namespace zyx::target;
using testing::ElementsAre;

namespace {

class PieceEmitterTest : public testing::Test {
protected:
  static PieceEmitter::Code bytesOf(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  static std::string textOf(const PieceEmitter::Code &code) {
    return {reinterpret_cast<const char *>(code.data()), code.size()};
  }

  /// The code of a module is its name. That of "wrong" cannot be made, and "foreign" not be translated.
  static Result<PieceEmitter::Compile> translate(mlir::ModuleOp module) {
    const std::string name = module.getName()->str();
    if (name == "foreign")
      return Status::compileFailed("no translation");
    return PieceEmitter::Compile([name]() -> Result<PieceEmitter::Code> {
      if (name == "wrong")
        return Status::compileFailed("no code");
      return bytesOf(name);
    });
  }

  Status add(PieceEmitter &emitter, llvm::StringRef name) {
    // Gone when the code is made.
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context), name);
    return emitter.add(*module);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(PieceEmitterTest, PiecesAreInTheModulesOrder) {
  std::vector<size_t> told;
  EmitOptions options;
  options.progress = [&](std::string_view stage, size_t done, size_t total) {
    EXPECT_EQ(stage, "generate");
    EXPECT_EQ(total, 2u);
    told.push_back(done);
  };
  PieceEmitter emitter("piece", translate, options, 3);
  ASSERT_TRUE(add(emitter, "a").isOk());
  ASSERT_TRUE(emitter.addKept(bytesOf("kept")).isOk());
  ASSERT_TRUE(add(emitter, "b").isOk());
  const Result<std::vector<artifact::CodeBlob>> code = emitter.finish();
  ASSERT_TRUE(code) << code.status().toString();
  std::vector<std::string> texts;
  for (const artifact::CodeBlob &piece : *code) {
    EXPECT_EQ(piece.format, "piece");
    texts.push_back(textOf(piece.bytes));
  }
  EXPECT_THAT(texts, ElementsAre("a", "kept", "b"));
  EXPECT_THAT(told, ElementsAre(1, 2));
  // What came as it is is kept already.
  const std::vector<PieceEmitter::Code> kept = emitter.takeKept();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(textOf(kept[0]), "a");
  EXPECT_EQ(textOf(kept[1]), "b");
}

TEST_F(PieceEmitterTest, ReportsWhatCannotBeMade) {
  PieceEmitter emitter("piece", translate, {}, 3);
  EXPECT_EQ(add(emitter, "foreign").message(), "no translation");
  PieceEmitter other("piece", translate, {}, 2);
  ASSERT_TRUE(add(other, "a").isOk());
  ASSERT_TRUE(add(other, "wrong").isOk());
  EXPECT_EQ(other.finish().status().message(), "no code");
}

} // namespace
