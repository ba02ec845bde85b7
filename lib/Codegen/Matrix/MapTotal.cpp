//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sums over batches of what is computed of products. A workgroup has a tile of rows and columns, whose sums stay in
// registers of its groups, and one thread has the factors of one batch after the other copied. What all batches read
// alike, as a bias, is read once for a tile.
//===----------------------------------------------------------------------===//
#include "ChainMapper.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace zyx::kernel;

int64_t ChainMapper::numWalked() {
  int64_t count = 1;
  for (Axis axis : chain.total->walked)
    count *= axes.extent(axis);
  return count;
}

int64_t ChainMapper::numTotals() { return tilesDown * blocks * (heads / numWalked()); }

Value ChainMapper::totalRounds() {
  return divide(add(sub(index(numTotals()), group), sub(numGroups, index(1))), numGroups);
}

std::pair<ChainMapper::TileCoordinates, Value> ChainMapper::totalOf(Value round) {
  TileCoordinates place;
  Value number = add(arith::MulIOp::create(b, loc, round, numGroups), group);
  // Tiles of the same batches are neighbours: they read the same factors.
  Value across = rest(number, index(blocks));
  number = divide(number, blocks);
  place.row = multiply(rest(number, index(tilesDown)), step.getRows());
  number = divide(number, tilesDown);
  for (Axis axis : llvm::reverse(batches)) {
    if (llvm::is_contained(chain.total->walked, axis))
      continue;
    place.batches[axis] = rest(number, index(axes.extent(axis)));
    number = divide(number, axes.extent(axis));
  }
  return {place, multiply(across, step.getColumns())};
}

void ChainMapper::enterBatch(TileCoordinates &place, Value number) {
  for (Axis axis : llvm::reverse(chain.total->walked)) {
    place.batches[axis] = rest(number, index(axes.extent(axis)));
    number = divide(number, axes.extent(axis));
  }
}

void ChainMapper::emitTotalProducer() {
  int64_t elements = 0;
  for (const SharedOperand &kept : own)
    elements += step.getRows() * kept.columns;
  for (const SharedOperand &kept : ring)
    elements += step.getColumns() * kept.columns;
  loop(index(0), totalRounds(), index(1), {index(0), bit(true)}, [&](Value round, ValueRange carried) -> Carried {
    auto [place, firstColumn] = totalOf(round);
    return loop(index(0), index(numWalked()), index(1), {carried[0], carried[1]},
                [&, place = place, firstColumn = firstColumn](Value number, ValueRange at) -> Carried {
                  TileCoordinates here = place;
                  enterBatch(here, number);
                  PipelineState pipe{at[0], at[1]};
                  WaitOp::create(b, loc, empty, pipe.stage, pipe.parity);
                  ExpectOp::create(b, loc, full, pipe.stage, elements * 2);
                  for (const SharedOperand &kept : own)
                    AsyncLoadOp::create(b, loc, kept.view, indicesOf(*kept.operand, here, here.row),
                                        part(kept.memory, {pipe.stage}, {step.getRows(), kept.columns}), full,
                                        pipe.stage);
                  for (const SharedOperand &kept : ring)
                    AsyncLoadOp::create(b, loc, kept.view, indicesOf(*kept.operand, here, firstColumn),
                                        slotOf(*kept.operand, pipe.stage), full, pipe.stage);
                  PipelineState after = next(pipe);
                  return {after.stage, after.parity};
                });
  });
}

/// Vectors of a batch along rows, which threads read while they have the batch before: sums of products begin with
/// them, and would wait for memory in each batch. Those along columns are many registers.
SmallVector<Value> ChainMapper::readAhead() {
  SmallVector<Value> reads;
  for (Value read : chain.total->ofBatch)
    if (!rests.contains(read) && !axes.contains(read, streamedAxis))
      reads.push_back(read);
  return reads;
}

ChainMapper::Carried ChainMapper::readBatch(const TileCoordinates &place, Value firstColumn) {
  BlockState block({{rowAxis, streamedAxis, step.getColumns()}, place, firstColumn}, /*masked=*/true);
  Carried values;
  for (Value read : readAhead())
    values.push_back(evaluate(read, block));
  return values;
}

Value ChainMapper::takeBatch(PipelineState pipe, Value sum, const TileCoordinates &place, Value firstColumn,
                             const llvm::DenseMap<Value, Value> &known, Value instance) {
  BlockState block({{rowAxis, streamedAxis, step.getColumns()}, place, firstColumn, known}, /*masked=*/true);
  // On their way before the factors are waited for.
  for (Value read : chain.total->ofBatch)
    if (!rests.contains(read))
      evaluate(read, block);
  WaitOp::create(b, loc, full, pipe.stage, pipe.parity);
  startInner(block, pipe.stage, [&](size_t i) {
    return part(own[i].memory, {pipe.stage, multiply(instance, groupRows)}, {groupRows, usedOf(chain.inner[i])});
  });
  await(block, block.started.size() - 1);
  ArriveOp::create(b, loc, empty, pipe.stage);
  if (auto product = chain.total->term.getDefiningOp<arith::MulFOp>())
    return math::FmaOp::create(b, loc, evaluate(product.getLhs(), block), evaluate(product.getRhs(), block), sum);
  return arith::AddFOp::create(b, loc, sum, evaluate(chain.total->term, block));
}

void ChainMapper::emitTotalConsumer(Value instance) {
  loop(index(0), totalRounds(), index(1), {index(0), bit(false)}, [&](Value round, ValueRange carried) -> Carried {
    auto [place, firstColumn] = totalOf(round);
    place.row = add(place.row, multiply(instance, groupRows));
    BlockState ofTile({{rowAxis, streamedAxis, step.getColumns()}, place, firstColumn}, /*masked=*/true);
    for (Value read : chain.total->ofTile)
      evaluate(read, ofTile);
    TileCoordinates first = place;
    enterBatch(first, index(0));
    Carried start = {carried[0], carried[1], number(tile(step.getColumns()), 0)};
    start.append(readBatch(first, firstColumn));
    Carried last = loop(index(0), index(numWalked()), index(1), start,
                        [&, place = place, firstColumn = firstColumn](Value batch, ValueRange at) -> Carried {
                          TileCoordinates here = place, following = place;
                          enterBatch(here, batch);
                          // Behind the last one the last one again.
                          enterBatch(following, arith::MinUIOp::create(b, loc, add(batch, 1), index(numWalked() - 1)));
                          Carried ahead = readBatch(following, firstColumn);
                          llvm::DenseMap<Value, Value> known = ofTile.site.known;
                          for (auto [read, value] : llvm::zip_equal(readAhead(), at.drop_front(3)))
                            known[read] = value;
                          PipelineState pipe{at[0], at[1]};
                          Value sum = takeBatch(pipe, at[2], here, firstColumn, known, instance);
                          PipelineState after = next(pipe);
                          Carried result = {after.stage, after.parity, sum};
                          result.append(ahead);
                          return result;
                        });
    BlockState block({{rowAxis, streamedAxis, step.getColumns()}, place, firstColumn}, /*masked=*/true);
    block.site.known[chain.total->sum.getResult()] = last[2];
    write(chain.total->store, evaluate(chain.total->store.getValue(), block), block.site);
    return {last[0], last[1]};
  });
}
