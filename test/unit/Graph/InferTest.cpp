//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/UnaryKind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::graph;
using testing::HasSubstr;

namespace {

constexpr DType allDTypes[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,      DType::I64,
                               DType::U8,   DType::U16, DType::U32, DType::U64,      DType::F16,
                               DType::BF16, DType::F32, DType::F64, DType::F8E4M3FN, DType::F8E5M2};

Attributes kindOf(auto kind, std::vector<int64_t> dims = {}) {
  Attributes attributes;
  attributes.kind = static_cast<uint8_t>(kind);
  attributes.dims = std::move(dims);
  return attributes;
}
Attributes dimsOf(std::vector<int64_t> dims) { return kindOf(0, std::move(dims)); }

Result<TensorType> infer(Op op, const Attributes &attributes, std::vector<TensorType> operands,
                         const TensorType &requested = {}) {
  return inferType(op, attributes, operands, requested);
}

/// The text of the refusal; fails where there is none.
std::string refusal(const Result<TensorType> &result) {
  EXPECT_FALSE(result.isOk()) << "accepted as " << (result.isOk() ? toString(*result) : "");
  EXPECT_EQ(result.status().code(), ErrorCode::InvalidArgument);
  return result.status().message();
}

std::string accepted(const Result<TensorType> &result) {
  return result.isOk() ? toString(*result) : "refused: " + result.status().message();
}

/// The dtypes that an op accepts for all its operands, as "f16 f32 ...".
std::string acceptedDTypes(Op op, const Attributes &attributes) {
  std::string text;
  for (DType dtype : allDTypes) {
    const TensorType type{dtype, {2, 3}};
    if (infer(op, attributes, std::vector<TensorType>(arity(op), type), type).isOk())
      text += (text.empty() ? "" : " ") + std::string(toString(dtype));
  }
  return text;
}

const std::string integers = "i8 i16 i32 i64 u8 u16 u32 u64";
const std::string floats = "f16 bf16 f32 f64";
const std::string numbers = integers + " " + floats;
const TensorType f23{DType::F32, {2, 3}};
const TensorType b23{DType::Bool, {2, 3}};

} // namespace

TEST(InferTest, Names) {
  EXPECT_EQ(toString(Op::Parameter), "parameter");
  EXPECT_EQ(toString(UnaryKind::Not), "not");
  EXPECT_EQ(toString(UnaryKind::Rsqrt), "rsqrt");
  EXPECT_EQ(toString(BinaryKind::And), "and");
  EXPECT_EQ(toString(ReduceKind::Or), "or");
  EXPECT_EQ(toString(ScatterKind::Set), "set");
  EXPECT_EQ(toString(SortKind::Indices), "indices");
  EXPECT_EQ(arity(Op::Iota), 0);
  EXPECT_EQ(arity(Op::Select), 3);
  EXPECT_EQ(toString(static_cast<Op>(200)), "unknown op");
  EXPECT_EQ(toString(static_cast<UnaryKind>(200)), "unknown unary");
  EXPECT_EQ(toString(static_cast<BinaryKind>(200)), "unknown binary");
  EXPECT_EQ(toString(static_cast<ReduceKind>(200)), "unknown reduce");
  EXPECT_EQ(toString(static_cast<ScatterKind>(200)), "unknown scatter");
  EXPECT_EQ(toString(static_cast<SortKind>(200)), "unknown sort");
}

TEST(InferTest, DTypesOfUnary) {
  for (UnaryKind kind : {UnaryKind::Exp, UnaryKind::Expm1, UnaryKind::Recip, UnaryKind::Erf, UnaryKind::Floor,
                         UnaryKind::Round, UnaryKind::Sqrt})
    EXPECT_EQ(acceptedDTypes(Op::Unary, kindOf(kind)), floats);
  EXPECT_EQ(acceptedDTypes(Op::Unary, kindOf(UnaryKind::Neg)), numbers);
  EXPECT_EQ(acceptedDTypes(Op::Unary, kindOf(UnaryKind::Abs)), numbers);
  EXPECT_EQ(acceptedDTypes(Op::Unary, kindOf(UnaryKind::Not)), "bool " + integers);
  EXPECT_EQ(refusal(infer(Op::Unary, kindOf(UnaryKind::Exp), {{DType::I32, {2}}})), "exp needs a float, not i32[2]");
  EXPECT_EQ(refusal(infer(Op::Unary, kindOf(UnaryKind::Neg), {b23})), "neg needs a number, not bool[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Unary, kindOf(UnaryKind::Not), {f23})), "not needs bool or an integer, not f32[2, 3]");
  EXPECT_THAT(refusal(infer(Op::Unary, kindOf(UnaryKind::Exp), {{DType::F8E5M2, {2}}})),
              HasSubstr("not f8e5m2[2]: 8-bit floats are storage only, cast them first"));
}

TEST(InferTest, DTypesOfBinary) {
  for (BinaryKind kind :
       {BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul, BinaryKind::Div, BinaryKind::Rem, BinaryKind::Pow})
    EXPECT_EQ(acceptedDTypes(Op::Binary, kindOf(kind)), numbers);
  for (BinaryKind kind : {BinaryKind::Max, BinaryKind::Min, BinaryKind::Lt, BinaryKind::Le, BinaryKind::Gt,
                          BinaryKind::Ge, BinaryKind::Eq, BinaryKind::Ne})
    EXPECT_EQ(acceptedDTypes(Op::Binary, kindOf(kind)), "bool " + numbers);
  for (BinaryKind kind : {BinaryKind::And, BinaryKind::Or, BinaryKind::Xor})
    EXPECT_EQ(acceptedDTypes(Op::Binary, kindOf(kind)), "bool " + integers);
  for (BinaryKind kind : {BinaryKind::Shl, BinaryKind::Shr})
    EXPECT_EQ(acceptedDTypes(Op::Binary, kindOf(kind)), integers);
  EXPECT_EQ(accepted(infer(Op::Binary, kindOf(BinaryKind::Le), {f23, f23})), "bool[2, 3]");
  EXPECT_EQ(accepted(infer(Op::Binary, kindOf(BinaryKind::Mul), {f23, f23})), "f32[2, 3]");

  EXPECT_EQ(refusal(infer(Op::Binary, kindOf(BinaryKind::Add), {f23, {DType::F32, {3, 2}}})),
            "add of f32[2, 3] and f32[3, 2]: both must have the same dtype and shape");
  EXPECT_THAT(refusal(infer(Op::Binary, kindOf(BinaryKind::Add), {f23, {DType::F16, {2, 3}}})),
              HasSubstr("both must have the same dtype and shape"));
  EXPECT_EQ(refusal(infer(Op::Binary, kindOf(BinaryKind::Rem), {b23, b23})), "rem needs numbers, not bool[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Binary, kindOf(BinaryKind::Xor), {f23, f23})),
            "xor needs bools or integers, not f32[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Binary, kindOf(BinaryKind::Shl), {b23, b23})), "shl needs integers, not bool[2, 3]");
  const TensorType f8{DType::F8E4M3FN, {2}};
  EXPECT_THAT(refusal(infer(Op::Binary, kindOf(BinaryKind::Max), {f8, f8})),
              HasSubstr("max needs numbers or bools, not f8e4m3fn[2]: 8-bit floats"));
  EXPECT_THAT(refusal(infer(Op::Binary, kindOf(BinaryKind::Eq), {f8, f8})), HasSubstr("eq needs numbers or bools"));
}

TEST(InferTest, DTypesOfReduce) {
  for (ReduceKind kind : {ReduceKind::Add, ReduceKind::Mul})
    EXPECT_EQ(acceptedDTypes(Op::Reduce, kindOf(kind, {0})), numbers);
  for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min})
    EXPECT_EQ(acceptedDTypes(Op::Reduce, kindOf(kind, {0})), "bool " + numbers);
  for (ReduceKind kind : {ReduceKind::And, ReduceKind::Or})
    EXPECT_EQ(acceptedDTypes(Op::Reduce, kindOf(kind, {0})), "bool " + integers);
  EXPECT_EQ(refusal(infer(Op::Reduce, kindOf(ReduceKind::Mul, {0}), {b23})),
            "reduce mul needs a number, not bool[2, 3]");
  EXPECT_THAT(refusal(infer(Op::Reduce, kindOf(ReduceKind::Max, {0}), {{DType::F8E5M2, {2}}})),
              HasSubstr("reduce max needs a number or bool, not f8e5m2[2]"));
  EXPECT_EQ(refusal(infer(Op::Reduce, kindOf(ReduceKind::And, {0}), {f23})),
            "reduce and needs bool or an integer, not f32[2, 3]");
}

TEST(InferTest, ShapesOfReduce) {
  const TensorType x{DType::F32, {2, 3, 4}};
  const auto add = [&](std::vector<int64_t> dims, TensorType type) {
    return infer(Op::Reduce, kindOf(ReduceKind::Add, std::move(dims)), {std::move(type)});
  };
  EXPECT_EQ(accepted(add({1}, x)), "f32[2, 4]");
  EXPECT_EQ(accepted(add({0, 2}, x)), "f32[3]");
  EXPECT_EQ(accepted(add({0, 1, 2}, x)), "f32[]");
  EXPECT_EQ(accepted(add({0}, {DType::F32, {0, 5}})), "f32[5]");
  EXPECT_EQ(refusal(add({}, x)), "reduce add of f32[2, 3, 4] lists no dimension");
  for (std::vector<int64_t> dims : {std::vector<int64_t>{3}, {-1}, {1, 0}, {1, 1}, {0, 1, 2, 3}, {0, 5}})
    EXPECT_THAT(refusal(add(dims, x)), HasSubstr("which are not increasing dimensions of it"));
  EXPECT_EQ(refusal(infer(Op::Reduce, kindOf(ReduceKind::Max, {1}), {{DType::F32, {2, 0}}})),
            "reduce max of f32[2, 0] over [1] is empty, and max has no identity");
  EXPECT_THAT(refusal(infer(Op::Reduce, kindOf(ReduceKind::Min, {0}), {{DType::Bool, {0}}})),
              HasSubstr("min has no identity"));
  // A zero extent that stays is no empty reduction.
  EXPECT_EQ(accepted(infer(Op::Reduce, kindOf(ReduceKind::Max, {1}), {{DType::F32, {0, 3}}})), "f32[0]");
}

TEST(InferTest, Reshape) {
  EXPECT_EQ(accepted(infer(Op::Reshape, {}, {f23}, {DType::F32, {6, 1}})), "f32[6, 1]");
  EXPECT_EQ(accepted(infer(Op::Reshape, {}, {{DType::F32, {1, 1}}}, {DType::F32, {}})), "f32[]");
  EXPECT_EQ(accepted(infer(Op::Reshape, {}, {{DType::F32, {0, 4}}}, {DType::F32, {7, 0}})), "f32[7, 0]");
  EXPECT_EQ(refusal(infer(Op::Reshape, {}, {f23}, {DType::F32, {4}})),
            "reshape of f32[2, 3] to f32[4] changes the number of elements from 6 to 4");
  EXPECT_EQ(refusal(infer(Op::Reshape, {}, {f23}, {DType::I32, {6}})),
            "reshape of f32[2, 3] to i32[6] changes the dtype");
  EXPECT_EQ(refusal(infer(Op::Reshape, {}, {f23}, {DType::F32, {-2, -3}})),
            "reshape: shape [-2, -3] has the negative extent -2");
}

TEST(InferTest, Expand) {
  EXPECT_EQ(accepted(infer(Op::Expand, {}, {{DType::F32, {2, 1}}}, {DType::F32, {2, 5}})), "f32[2, 5]");
  EXPECT_EQ(accepted(infer(Op::Expand, {}, {{DType::F32, {1}}}, {DType::F32, {0}})), "f32[0]");
  EXPECT_EQ(refusal(infer(Op::Expand, {}, {f23}, {DType::F32, {4, 2, 3}})),
            "expand of f32[2, 3] to f32[4, 2, 3] changes the rank: reshape first");
  EXPECT_EQ(refusal(infer(Op::Expand, {}, {f23}, {DType::F32, {2, 6}})),
            "expand of f32[2, 3] to f32[2, 6] changes dimension 1, whose extent is not 1");
  EXPECT_THAT(refusal(infer(Op::Expand, {}, {f23}, {DType::F16, {2, 3}})),
              HasSubstr("expand of f32[2, 3] to f16[2, 3] changes the dtype"));
}

TEST(InferTest, Permute) {
  const TensorType x{DType::I8, {2, 3, 4}};
  EXPECT_EQ(accepted(infer(Op::Permute, dimsOf({2, 0, 1}), {x})), "i8[4, 2, 3]");
  EXPECT_EQ(accepted(infer(Op::Permute, dimsOf({}), {{DType::I8, {}}})), "i8[]");
  for (std::vector<int64_t> dims : {std::vector<int64_t>{0, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, -1}, {0, 1, 2, 2}, {}})
    EXPECT_THAT(refusal(infer(Op::Permute, dimsOf(dims), {x})), HasSubstr("which is no permutation of its dimensions"));
}

TEST(InferTest, CastTakesEveryPair) {
  for (DType from : allDTypes)
    for (DType to : allDTypes)
      EXPECT_TRUE(infer(Op::Cast, {}, {{from, {2}}}, {to, {2}}).isOk());
  EXPECT_EQ(refusal(infer(Op::Cast, {}, {f23}, {DType::I32, {6}})), "cast of f32[2, 3] to i32[6] changes the shape");
}

TEST(InferTest, Select) {
  EXPECT_EQ(accepted(infer(Op::Select, {}, {b23, f23, f23})), "f32[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Select, {}, {f23, f23, f23})), "select by f32[2, 3]: the condition must be bool");
  EXPECT_EQ(refusal(infer(Op::Select, {}, {b23, f23, b23})),
            "select between f32[2, 3] and bool[2, 3]: both must have the same dtype and shape");
  EXPECT_EQ(refusal(infer(Op::Select, {}, {{DType::Bool, {1, 3}}, f23, f23})),
            "select by bool[1, 3] between f32[2, 3]s: the condition must have their shape");
}

TEST(InferTest, Iota) {
  const auto iota = [](DType dtype, int64_t extent) { return infer(Op::Iota, dimsOf({0}), {}, {dtype, {extent, 2}}); };
  EXPECT_EQ(accepted(iota(DType::I8, 128)), "i8[128, 2]");
  EXPECT_EQ(refusal(iota(DType::I8, 129)), "iota of i8[129, 2] along dimension 0 reaches 128, but "
                                           "i8 counts exactly to 127 only");
  EXPECT_TRUE(iota(DType::U8, 256).isOk());
  EXPECT_FALSE(iota(DType::U8, 257).isOk());
  EXPECT_TRUE(iota(DType::F16, 2049).isOk());
  EXPECT_FALSE(iota(DType::F16, 2050).isOk());
  EXPECT_TRUE(iota(DType::BF16, 257).isOk());
  EXPECT_FALSE(iota(DType::BF16, 258).isOk());
  EXPECT_TRUE(iota(DType::F32, (1 << 24) + 1).isOk());
  EXPECT_FALSE(iota(DType::F32, (1 << 24) + 2).isOk());
  EXPECT_FALSE(iota(DType::F64, (int64_t(1) << 53) + 2).isOk());
  EXPECT_TRUE(iota(DType::U64, int64_t(1) << 40).isOk());
  EXPECT_TRUE(iota(DType::I64, int64_t(1) << 40).isOk());
  EXPECT_TRUE(iota(DType::I8, 0).isOk());
  EXPECT_EQ(refusal(iota(DType::Bool, 2)), "iota needs a number, not bool[2, 2]");
  EXPECT_THAT(refusal(iota(DType::F8E5M2, 2)), HasSubstr("storage only"));
  for (std::vector<int64_t> dims : {std::vector<int64_t>{2}, {-1}, {}, {0, 1}})
    EXPECT_THAT(refusal(infer(Op::Iota, dimsOf(dims), {}, f23)), HasSubstr("which is not one of its dimensions"));
}

TEST(InferTest, Gather) {
  const TensorType indices{DType::U16, {5, 7}};
  EXPECT_EQ(accepted(infer(Op::Gather, dimsOf({0}), {f23, indices})), "f32[5, 7, 3]");
  EXPECT_EQ(accepted(infer(Op::Gather, dimsOf({1}), {f23, {DType::I64, {}}})), "f32[2]");
  EXPECT_EQ(refusal(infer(Op::Gather, dimsOf({0}), {f23, b23})),
            "gather from f32[2, 3] by bool[2, 3]: the indices must be integers");
  EXPECT_EQ(refusal(infer(Op::Gather, dimsOf({2}), {f23, indices})),
            "gather from f32[2, 3] along [2], which is not one of its dimensions");
  EXPECT_FALSE(infer(Op::Gather, dimsOf({}), {f23, indices}).isOk());
  EXPECT_FALSE(infer(Op::Gather, dimsOf({0}), {{DType::F32, {}}, indices}).isOk());
  EXPECT_EQ(refusal(infer(Op::Gather, dimsOf({0}), {{DType::F32, Shape(10, 1)}, {DType::I8, Shape(8, 1)}})),
            "gather gives f32[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] of rank 17, more "
            "than the largest rank, 16");
}

TEST(InferTest, Scan) {
  for (ReduceKind kind : {ReduceKind::Add, ReduceKind::Mul})
    EXPECT_EQ(acceptedDTypes(Op::Scan, kindOf(kind, {0})), numbers);
  for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min})
    EXPECT_EQ(acceptedDTypes(Op::Scan, kindOf(kind, {0})), "bool " + numbers);
  for (ReduceKind kind : {ReduceKind::And, ReduceKind::Or})
    EXPECT_EQ(acceptedDTypes(Op::Scan, kindOf(kind, {0})), "bool " + integers);
  Attributes both = kindOf(ReduceKind::Max, {1});
  both.exclusive = both.reverse = true;
  EXPECT_EQ(accepted(infer(Op::Scan, both, {f23})), "f32[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Scan, kindOf(ReduceKind::Add, {2}), {f23})),
            "scan add of f32[2, 3] along [2], which is not one of its dimensions");
  EXPECT_EQ(refusal(infer(Op::Scan, kindOf(ReduceKind::Mul, {0}), {b23})),
            "scan mul of bool[2, 3]: the elements must be numbers");
  EXPECT_EQ(refusal(infer(Op::Scan, kindOf(ReduceKind::Max, {0}), {{DType::F8E5M2, {2}}})),
            "scan max of f8e5m2[2]: 8-bit floats are storage only, cast them first");
  EXPECT_EQ(refusal(infer(Op::Scan, kindOf(ReduceKind::Or, {0}), {f23})),
            "scan or of f32[2, 3]: the elements must be bools or integers");
  both.kind = static_cast<uint8_t>(ReduceKind::Add);
  EXPECT_EQ(refusal(infer(Op::Reduce, both, {f23})), "reduce takes no direction");
}

TEST(InferTest, Sort) {
  EXPECT_EQ(acceptedDTypes(Op::Sort, kindOf(SortKind::Values, {0})), "bool " + numbers);
  EXPECT_EQ(accepted(infer(Op::Sort, kindOf(SortKind::Values, {1}), {f23})), "f32[2, 3]");
  EXPECT_EQ(accepted(infer(Op::Sort, kindOf(SortKind::Indices, {0}), {b23})), "i64[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Sort, dimsOf({}), {f23})),
            "sort of f32[2, 3] along [], which is not one of its dimensions");
  EXPECT_EQ(refusal(infer(Op::Sort, dimsOf({0}), {{DType::F8E4M3FN, {2}}})),
            "sort of f8e4m3fn[2]: 8-bit floats are storage only, cast them first");
  EXPECT_EQ(refusal(infer(Op::Sort, kindOf(2, {0}), {f23})), "sort has the unknown kind 2");
  Attributes exclusive = dimsOf({0});
  exclusive.exclusive = true;
  EXPECT_EQ(refusal(infer(Op::Sort, exclusive, {f23})), "sort takes no direction");
}

TEST(InferTest, Scatter) {
  const TensorType indices{DType::I64, {5}};
  const auto into = [&](ScatterKind kind, DType dtype) {
    return infer(Op::Scatter, kindOf(kind, {0}), {{dtype, {2, 3}}, indices, {dtype, {5, 3}}});
  };
  for (DType dtype : allDTypes)
    EXPECT_TRUE(into(ScatterKind::Set, dtype).isOk());
  EXPECT_EQ(accepted(into(ScatterKind::Max, DType::Bool)), "bool[2, 3]");
  EXPECT_EQ(refusal(into(ScatterKind::Add, DType::Bool)), "scatter add into bool[2, 3]: the elements must be numbers");
  EXPECT_EQ(refusal(into(ScatterKind::Min, DType::F8E5M2)),
            "scatter min into f8e5m2[2, 3]: the elements must be numbers or bools");
  EXPECT_EQ(refusal(infer(Op::Scatter, kindOf(ScatterKind::Set, {1}), {f23, indices, f23})),
            "scatter set into f32[2, 3] along dimension 1 by i64[5] takes updates of f32[2, 5], "
            "not f32[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Scatter, kindOf(ScatterKind::Set, {0}), {f23, f23, f23})),
            "scatter set into f32[2, 3] by f32[2, 3]: the indices must be integers");
  EXPECT_EQ(refusal(infer(Op::Scatter, kindOf(ScatterKind::Set, {7}), {f23, indices, f23})),
            "scatter set into f32[2, 3] along [7], which is not one of its dimensions");
}

TEST(InferTest, RandomBits) {
  const TensorType seed{DType::U64, {}};
  EXPECT_EQ(accepted(infer(Op::RandomBits, {}, {seed}, {DType::U32, {2, 3}})), "u32[2, 3]");
  EXPECT_EQ(refusal(infer(Op::RandomBits, {}, {f23}, {DType::U32, {2, 3}})),
            "random_bits of the seed f32[2, 3], which must be u64[]");
  EXPECT_EQ(refusal(infer(Op::RandomBits, {}, {seed}, f23)), "random_bits gives f32[2, 3], but bits are u32");
}

TEST(InferTest, Constant) {
  Attributes dense;
  dense.value.resize(24);
  EXPECT_EQ(accepted(infer(Op::Constant, dense, {}, f23)), "f32[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Constant, dense, {}, {DType::F32, {5}})),
            "constant of f32[5] holds 24 bytes instead of 20");
  dense.value.resize(4096);
  EXPECT_TRUE(infer(Op::Constant, dense, {}, {DType::U8, {4096}}).isOk());
  dense.value.resize(4097);
  EXPECT_EQ(refusal(infer(Op::Constant, dense, {}, {DType::U8, {4097}})),
            "constant of u8[4097] holds 4097 bytes, more than 4096: make it a parameter");
  Attributes splat;
  splat.splat = true;
  splat.value.resize(4);
  EXPECT_TRUE(infer(Op::Constant, splat, {}, {DType::F32, {1 << 20}}).isOk());
  EXPECT_EQ(refusal(infer(Op::Constant, splat, {}, {DType::F64, {2}})),
            "constant of f64[2] holds 4 bytes, one element has 8");
  Attributes bools;
  bools.value = {std::byte(0), std::byte(2)};
  EXPECT_EQ(refusal(infer(Op::Constant, bools, {}, {DType::Bool, {2}})),
            "constant of bool[2] holds a byte that is neither 0 nor 1");
  EXPECT_THAT(refusal(infer(Op::Constant, splat, {}, {DType::F32, {int64_t(1) << 40}})),
              HasSubstr("constant: the tensor f32[1099511627776] has 4398046511104 bytes"));
}

TEST(InferTest, Parameter) {
  Attributes named;
  named.name = "x";
  EXPECT_EQ(accepted(infer(Op::Parameter, named, {}, f23)), "f32[2, 3]");
  EXPECT_EQ(refusal(infer(Op::Parameter, {}, {}, f23)), "parameter of f32[2, 3] has no name");
  EXPECT_THAT(refusal(infer(Op::Parameter, named, {}, {DType::F64, {int64_t(1) << 40}})),
              HasSubstr("parameter x: the tensor f64[1099511627776] has 8796093022208 bytes"));
}

TEST(InferTest, ViewsMayExceedMemory) {
  // The product of an 8192^3 matmul is 2 TiB, and never exists.
  const TensorType huge{DType::F32, {8192, 8192, 8192}};
  EXPECT_TRUE(infer(Op::Expand, {}, {{DType::F32, {8192, 1, 8192}}}, huge).isOk());
  EXPECT_TRUE(infer(Op::Binary, kindOf(BinaryKind::Mul), {huge, huge}).isOk());
  const int64_t big = int64_t(1) << 31;
  EXPECT_THAT(refusal(infer(Op::Expand, {}, {{DType::F32, {1, 1}}}, {DType::F32, {big, big}})),
              HasSubstr("whose bytes do not fit in 63 bits"));
  EXPECT_THAT(refusal(infer(Op::Expand, {}, {{DType::F32, {1, 1}}}, {DType::F32, {big, big * 2}})),
              HasSubstr("expand: shape [2147483648, 4294967296] has more elements than fit in 63 bits"));
  EXPECT_THAT(refusal(infer(Op::Unary, kindOf(UnaryKind::Exp), {{DType::F32, {-1}}})), HasSubstr("negative extent"));
}

TEST(InferTest, MalformedNodes) {
  EXPECT_EQ(refusal(infer(static_cast<Op>(99), {}, {})), "there is no op number 99");
  EXPECT_EQ(refusal(infer(Op::Binary, {}, {f23})), "binary takes 2 operands, not 1");
  EXPECT_EQ(refusal(infer(Op::Unary, kindOf(77), {f23})), "unary has the unknown kind 77");
  EXPECT_EQ(refusal(infer(Op::Binary, kindOf(19), {f23, f23})), "binary has the unknown kind 19");
  EXPECT_EQ(refusal(infer(Op::Reduce, kindOf(6, {0}), {f23})), "reduce has the unknown kind 6");
  EXPECT_EQ(refusal(infer(Op::Cast, kindOf(1), {f23}, f23)), "cast takes no kind");
  EXPECT_EQ(refusal(infer(Op::Reshape, dimsOf({0}), {f23}, f23)), "reshape takes no dimensions");
  Attributes value;
  value.value.resize(1);
  EXPECT_EQ(refusal(infer(Op::Select, value, {b23, f23, f23})), "select takes no value");
  Attributes name;
  name.name = "x";
  EXPECT_EQ(refusal(infer(Op::Iota, name, {}, f23)), "iota takes no name");
}
