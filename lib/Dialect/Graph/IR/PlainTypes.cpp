//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/IR/PlainTypes.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::optional<zyx::DType> zyx::graph::ir::toDType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    if (integer.isSigned())
      return std::nullopt;
    switch (integer.getWidth()) {
    case 1:
      return isUnsigned ? std::nullopt : std::optional(DType::Bool);
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    case 64:
      return isUnsigned ? DType::U64 : DType::I64;
    default:
      return std::nullopt;
    }
  }
  if (isa<Float16Type>(type))
    return DType::F16;
  if (isa<BFloat16Type>(type))
    return DType::BF16;
  if (isa<Float32Type>(type))
    return DType::F32;
  if (isa<Float64Type>(type))
    return DType::F64;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  return std::nullopt;
}

Type zyx::graph::ir::toElementType(DType dtype, MLIRContext *context) {
  auto integer = [&](unsigned width, bool isUnsigned = false) -> Type {
    return IntegerType::get(context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (dtype) {
  case DType::Bool:
    return integer(1);
  case DType::I8:
    return integer(8);
  case DType::I16:
    return integer(16);
  case DType::I32:
    return integer(32);
  case DType::I64:
    return integer(64);
  case DType::U8:
    return integer(8, true);
  case DType::U16:
    return integer(16, true);
  case DType::U32:
    return integer(32, true);
  case DType::U64:
    return integer(64, true);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  }
  return {};
}

zyx::Result<zyx::TensorType> zyx::graph::ir::toPlainType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return Status::invalidArgument(toText(type) + " is not a ranked tensor");
  std::optional<DType> dtype = toDType(tensor.getElementType());
  if (!dtype)
    return Status::invalidArgument(
        toText(type) +
        " has an element type that the graph has not; it has i1, i8 to i64, ui8 to ui64, f16, bf16, f32, "
        "f64, f8E4M3FN and f8E5M2");
  if (auto texts = dyn_cast_or_null<ExtentsAttr>(tensor.getEncoding())) {
    std::vector<Extent> extents;
    for (StringAttr text : texts.getTexts())
      extents.push_back(*Extent::parse({text.data(), text.size()}));
    return symbolicType(*dtype, std::move(extents));
  }
  if (tensor.getEncoding())
    return Status::unsupported(toText(type) + " has an encoding that is not #graph.extents");
  if (!tensor.hasStaticShape())
    return Status::unsupported(toText(type) + " has an extent without a name: write #graph.extents");
  return zyx::TensorType{*dtype, Shape(tensor.getShape().begin(), tensor.getShape().end())};
}

RankedTensorType zyx::graph::ir::toTensorType(const zyx::TensorType &type, MLIRContext *context) {
  llvm::SmallVector<StringAttr> texts;
  for (const Extent &extent : type.extents)
    texts.push_back(StringAttr::get(context, extent.toString()));
  Attribute encoding = type.isSymbolic() ? ExtentsAttr::get(context, texts) : Attribute();
  return RankedTensorType::get(type.shape, toElementType(type.dtype, context), encoding);
}

LogicalResult zyx::graph::ir::requireNumbers(Operation *entry) {
  auto isSymbolic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  WalkResult walked = entry->walk([&](Operation *op) {
    auto refuse = [&](Type type) {
      op->emitError() << type << " has an extent that is not known yet: give its symbols values "
                      << "with -zyx-graph-specialise";
      return WalkResult::interrupt();
    };
    for (Type type : op->getResultTypes())
      if (isSymbolic(type))
        return refuse(type);
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (isSymbolic(type))
          return refuse(type);
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
