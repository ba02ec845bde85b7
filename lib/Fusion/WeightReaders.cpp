//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "WeightReaders.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

using namespace mlir;
using namespace zyx::graph::ir;
using zyx::Status;
using zyx::fusion::WeightReaders;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Status WeightReaders::findStarts() {
  llvm::SetVector<Value> inside;
  inside.insert(attention.exp.getResult());
  for (size_t i = 0; i < inside.size(); ++i) {
    Value value = inside[i];
    for (Operation *user : value.getUsers()) {
      if (isa<NodeOpInterface>(user) && user->getNumResults() == 1 && algebra.get(user->getResult(0)))
        inside.insert(user->getResult(0));
      else if (algebra.getRow(value))
        rows[value].push_back(user);
      else if (!algebra.isOfSums(value))
        starts.insert(value);
    }
  }
  for (Value value : starts)
    if (!algebra.hasShapeOfScores(value) || (!algebra.getWeights(value) && !algebra.getScoreGradient(value)))
      return Status::unsupported("what is read is neither a weight nor the gradient of a score");
  return Status::ok();
}

Status WeightReaders::addBehind(Value value, SmallVector<int64_t> dims) {
  auto [known, isNew] = labels.try_emplace(value, dims);
  if (!isNew && known->second != dims)
    return Status::unsupported("it reads one weight at two places");
  behind.insert(value);
  return Status::ok();
}

Status WeightReaders::followView(Value value, Operation *view) {
  auto dims = getOperandDims(view);
  if (!dims)
    return addStored(value, view);
  // By reference it would move when a value is added.
  const SmallVector<int64_t> from = labels.lookup(value);
  SmallVector<int64_t> to;
  for (std::optional<int64_t> dim : *dims)
    to.push_back(dim ? from[*dim] : -1);
  return addBehind(view->getResult(0), to);
}

/// A sum of products of weights with something else, along the keys or the queries; false of others.
bool WeightReaders::addSum(ReduceOp reduce) {
  if (reduce == attention.output)
    return true;
  auto product = reduce.getX().getDefiningOp<BinaryOp>();
  const bool isSum = reduce.getKind() == ReduceKind::Add && reduce.getDims().size() == 1 && product &&
                     product.getKind() == BinaryKind::Mul &&
                     behind.contains(product.getA()) != behind.contains(product.getB());
  const int64_t along = isSum ? labels.lookup(reduce.getX())[reduce.getDims().front()] : -1;
  const bool isOfKeys = along == attention.max.getDims().front();
  if (along < 0 || (!isOfKeys && queries.value_or(along) != along))
    return false;
  if (!isOfKeys)
    queries = along;
  (isOfKeys ? sumsOfKeys : sumsOfQueries).push_back(reduce);
  return true;
}

/// What others read is stored, which has to be one element for each weight.
Status WeightReaders::addStored(Value value, Operation *reader) {
  if (typeOf(value).getNumElements() != typeOf(attention.max.getX()).getNumElements())
    return Status::unsupported("another reduction reads its weights than sums of products along keys or queries");
  stored[value].push_back(reader);
  return Status::ok();
}

Status WeightReaders::follow(Value value, Operation *reader) {
  if (starts.contains(value) && isa<NodeOpInterface>(reader) && algebra.get(reader->getResult(0)))
    return Status::ok();
  if (auto reduce = dyn_cast<ReduceOp>(reader))
    return addSum(reduce) ? Status::ok() : addStored(value, reader);
  if (isView(reader))
    return followView(value, reader);
  if (isElementwise(reader))
    return addBehind(reader->getResult(0), labels.lookup(value));
  return addStored(value, reader);
}

Status WeightReaders::find() {
  if (!algebra.isUsable())
    return Status::unsupported("its product with the values has other dimensions than its weights");
  ZYX_RETURN_IF_ERROR(findStarts());
  for (Value start : starts) {
    SmallVector<int64_t> own;
    for (int64_t dim = 0, rank = typeOf(start).getRank(); dim < rank; ++dim)
      own.push_back(dim);
    ZYX_RETURN_IF_ERROR(addBehind(start, own));
  }
  for (size_t i = 0; i < behind.size(); ++i) {
    const Value value = behind[i];
    llvm::SmallSetVector<Operation *, 4> readers(value.user_begin(), value.user_end());
    for (Operation *reader : readers)
      ZYX_RETURN_IF_ERROR(follow(value, reader));
  }
  if (sumsOfKeys.empty() && sumsOfQueries.empty() && !stored.empty())
    return Status::unsupported("its weights are stored, and nobody sums up products of them");
  return Status::ok();
}
