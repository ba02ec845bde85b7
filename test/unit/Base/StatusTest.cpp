//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

using namespace zyx;

TEST(StatusTest, SuccessIsEmpty) {
  const Status ok;
  EXPECT_TRUE(ok.isOk());
  EXPECT_TRUE(bool(ok));
  EXPECT_EQ(ok.code(), ErrorCode::Ok);
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(ok.toString(), "ok");
  EXPECT_TRUE(ok.cause().isOk());
  EXPECT_TRUE(ok.withDevice("host").withWhere("x").withCause(Status::internal("y")).isOk());
  EXPECT_TRUE(Status(ErrorCode::Ok, "ignored").isOk());
}

TEST(StatusTest, CarriesItsFacts) {
  const Status failure =
      Status::outOfMemory("pool host holds 1 of 2 bytes").withDevice("host", 12).withWhere("kernel softmax");
  EXPECT_EQ(failure.code(), ErrorCode::OutOfMemory);
  EXPECT_EQ(failure.device(), "host");
  EXPECT_EQ(failure.backendCode(), 12);
  EXPECT_EQ(failure.where(), "kernel softmax");
  EXPECT_EQ(failure.toString(), "out of memory: pool host holds 1 of 2 bytes (device host, backend "
                                "code 12, in kernel softmax)");
}

TEST(StatusTest, CausesChain) {
  const Status root = Status::ioError("no such file");
  const Status middle = Status::notFound("no weights").withCause(root);
  const Status top = Status::aborted("not run").withCause(middle);
  EXPECT_EQ(top.cause().message(), "no weights");
  EXPECT_EQ(top.cause().cause().message(), "no such file");
  EXPECT_TRUE(top.cause().cause().cause().isOk());
  EXPECT_EQ(top.toString(), "aborted: not run; caused by: not found: no weights; caused by: I/O error: no such "
                            "file");
  // One more cause goes to the end of the chain, and the original is unchanged.
  const Status longer = top.withCause(Status::internal("disk"));
  EXPECT_EQ(longer.cause().cause().cause().message(), "disk");
  EXPECT_TRUE(top.cause().cause().cause().isOk());
  EXPECT_TRUE(top.withCause(Status()).cause().cause().cause().isOk());
}

TEST(StatusTest, EveryCodeHasAName) {
  EXPECT_EQ(toString(ErrorCode::Ok), "ok");
  EXPECT_EQ(toString(ErrorCode::InvalidArgument), "invalid argument");
  EXPECT_EQ(toString(ErrorCode::Unsupported), "unsupported");
  EXPECT_EQ(toString(ErrorCode::NotFound), "not found");
  EXPECT_EQ(toString(ErrorCode::OutOfMemory), "out of memory");
  EXPECT_EQ(toString(ErrorCode::DeviceLost), "device lost");
  EXPECT_EQ(toString(ErrorCode::CompileFailed), "compile failed");
  EXPECT_EQ(toString(ErrorCode::DataCorruption), "data corruption");
  EXPECT_EQ(toString(ErrorCode::IoError), "I/O error");
  EXPECT_EQ(toString(ErrorCode::Timeout), "timeout");
  EXPECT_EQ(toString(ErrorCode::Cancelled), "cancelled");
  EXPECT_EQ(toString(ErrorCode::Aborted), "aborted");
  EXPECT_EQ(toString(ErrorCode::Internal), "internal error");
  EXPECT_EQ(toString(static_cast<ErrorCode>(99)), "unknown error");
}

static Result<int> half(int x) {
  if (x % 2)
    return Status::invalidArgument("odd");
  return x / 2;
}
static Result<int> quarter(int x) {
  ZYX_ASSIGN_OR_RETURN(const int h, half(x));
  return half(h);
}
static Status check(int x) {
  ZYX_RETURN_IF_ERROR(quarter(x).status());
  return Status::ok();
}

TEST(StatusTest, ResultsPropagate) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().message(), "odd");
  EXPECT_TRUE(check(4).isOk());
  EXPECT_FALSE(check(2).isOk());
}

TEST(StatusTest, ResultsMove) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  ASSERT_TRUE(result.isOk());
  const std::unique_ptr<int> owned = *std::move(result);
  EXPECT_EQ(*owned, 3);
  const Result<std::string> text = "converted";
  EXPECT_EQ(text->size(), 9u);
}
