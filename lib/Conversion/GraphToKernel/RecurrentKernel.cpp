//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Recurrent loops: a cluster runs all trips of some rows. What a trip multiplies goes to the shared memory of all
// workgroups of the cluster, and the weights stay in registers.
//===----------------------------------------------------------------------===//
#include "LoopEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace zyx::graph::ir;

namespace zyx::lowering {

using Kind = ElementStep::Kind;

namespace {

/// The dots that read one row, with the memory of it in each workgroup of the cluster.
struct SharedRow {
  SmallVector<unsigned> dots;
  int64_t length = 0;
  /// Vectors of each dot's weights, piece by piece.
  SmallVector<Values> weights;
  Values peers;
  Value here;
};

/// Threads of a workgroup: each has a point, and besides a part of the dots of a column in some rows.
class ClusterEmitter {
public:
  ClusterEmitter(const ElementLoop &program, const RecurrentShape &shape, OpBuilder &builder, Location loc)
      : program(program), shape(shape), builder(builder), loc(loc), f32(builder.getF32Type()),
        vector(VectorType::get(RecurrentShape::lanes, f32)) {}

  void openRows(ArrayRef<SmallVector<unsigned>> groups);
  /// Who is who among the threads, of a cluster that begins at that row.
  void number(Value firstRow);
  /// `read` gives the element of a dot's weights that is `k` elements away from the first one of a column.
  void loadWeights(llvm::function_ref<Value(const ElementStep &, Value column, Value k)> read);
  /// All rows are zero, also what fills their last pieces.
  void clear();
  /// Hands the elements of each point to the cluster.
  void publish(const SharedRow &row, ArrayRef<Value> elements, Value trip);
  /// The dots of each point, in the type of each.
  Values multiply(const SharedRow &row, Value trip);

  SmallVector<SharedRow> rows;
  /// Where a thread's point lies, at the end where there is none; and whether it is one.
  Value pointRow, pointColumn, isPoint;

private:
  int64_t rowElements(const SharedRow &row) const { return shape.rows * shape.padded(row.length); }
  Value bufferOf(const SharedRow &row, Value trip) {
    return times(arith::RemUIOp::create(builder, loc, trip, index(2)), rowElements(row));
  }
  void meet(bool inCluster) {
    const bool isCluster = inCluster && shape.cluster > 1;
    kernel::BarrierOp::create(builder, loc, isCluster ? kernel::Scope::Cluster : kernel::Scope::Workgroup,
                              /*async=*/false);
  }
  Value share(int64_t elements) {
    return kernel::AllocOp::create(builder, loc, kernel::ViewType::get({elements}, f32, kernel::Space::Shared));
  }
  Value load(Type type, Value view, Value at) {
    return kernel::LoadOp::create(builder, loc, type, view, at, Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  }
  void store(Value value, Value view, Value at) {
    kernel::StoreOp::create(builder, loc, value, view, at, Value(), DenseBoolArrayAttr());
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value times(Value a, int64_t b) { return builder.createOrFold<arith::MulIOp>(loc, a, index(b)); }
  Value least(Value a, int64_t b) { return builder.createOrFold<arith::MinSIOp>(loc, a, index(b)); }
  Value quotient(Value a, int64_t b) { return builder.createOrFold<arith::DivUIOp>(loc, a, index(b)); }
  Value remainder(Value a, int64_t b) { return builder.createOrFold<arith::RemUIOp>(loc, a, index(b)); }
  Value isLess(Value a, int64_t b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, index(b));
  }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
  Value zero() { return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(f32)); }
  Value widen(Value value) {
    return value.getType() == f32 ? value : arith::ExtFOp::create(builder, loc, f32, value).getResult();
  }
  template <typename Body> void loop(Value begin, int64_t end, int64_t step, Body body) {
    makeLoop(builder, loc, begin, index(end), index(step), {}, [&](Value at, ValueRange) -> Values {
      body(at);
      return {};
    });
  }

  const ElementLoop &program;
  const RecurrentShape &shape;
  OpBuilder &builder;
  Location loc;
  Type f32;
  VectorType vector;
  Value thread, ownRow, firstColumn;
  /// Of the dots: the column, the part of it, and the first row.
  Value dotColumn, part, firstDotRow;
  /// The parts of each sum.
  Value sums;
};

} // namespace

void ClusterEmitter::openRows(ArrayRef<SmallVector<unsigned>> groups) {
  size_t most = 0;
  for (ArrayRef<unsigned> group : groups) {
    SharedRow &row = rows.emplace_back();
    row.dots.assign(group.begin(), group.end());
    row.length = rowLength(program, program.steps[group.front()]);
    row.here = share(2 * rowElements(row));
    most = std::max(most, group.size());
  }
  sums = share(static_cast<int64_t>(most) * shape.rows * shape.columns * shape.parts);
}

void ClusterEmitter::number(Value firstRow) {
  const int64_t columns = program.domain.back(), numRows = program.numPoints() / columns;
  Type type = builder.getIndexType();
  thread = kernel::IdOp::create(builder, loc, type, kernel::IdKind::Thread);
  Value rank =
      shape.cluster > 1 ? kernel::IdOp::create(builder, loc, type, kernel::IdKind::ClusterRank).getResult() : index(0);
  firstColumn = times(rank, shape.columns);
  ownRow = quotient(thread, shape.columns);
  Value inside = remainder(thread, shape.columns);
  Value row = add(firstRow, ownRow), column = add(firstColumn, inside);
  isPoint = both(both(isLess(ownRow, shape.rows), isLess(row, numRows)), isLess(column, columns));
  pointRow = least(row, numRows - 1);
  pointColumn = least(column, columns - 1);
  part = remainder(thread, shape.parts);
  Value rest = quotient(thread, shape.parts);
  dotColumn = remainder(rest, shape.columns);
  Value group = quotient(rest, shape.columns);
  // Threads that are more than dots have parts take no rows.
  firstDotRow =
      arith::SelectOp::create(builder, loc, isLess(group, shape.rowGroups), group, index(shape.rows)).getResult();
  for (SharedRow &shared : rows)
    for (int64_t i = 0; shape.cluster > 1 && i < shape.cluster; ++i) {
      // Not all to the same one at once.
      Value other = remainder(add(rank, index(i)), shape.cluster);
      shared.peers.push_back(kernel::PeerOp::create(builder, loc, shared.here.getType(), shared.here, other));
    }
}

void ClusterEmitter::loadWeights(llvm::function_ref<Value(const ElementStep &, Value, Value)> read) {
  const int64_t columns = program.domain.back();
  Value column = least(add(firstColumn, dotColumn), columns - 1);
  for (SharedRow &row : rows)
    for (unsigned dot : row.dots) {
      Values &weights = row.weights.emplace_back();
      for (int64_t piece = 0; piece < shape.pieces(row.length); ++piece) {
        Values lanes;
        for (int64_t lane = 0; lane < RecurrentShape::lanes; ++lane) {
          Value k = add(times(part, RecurrentShape::lanes), index(piece * shape.parts * RecurrentShape::lanes + lane));
          // What fills the last piece is zero in all rows.
          Value weight = widen(read(program.steps[dot], column, least(k, row.length - 1)));
          if (shape.padded(row.length) != row.length)
            weight = arith::SelectOp::create(builder, loc, isLess(k, row.length), weight, zero());
          lanes.push_back(weight);
        }
        weights.push_back(vector::FromElementsOp::create(builder, loc, vector, lanes));
      }
    }
}

void ClusterEmitter::clear() {
  for (SharedRow &row : rows)
    loop(thread, 2 * rowElements(row), shape.threads, [&](Value at) { store(zero(), row.here, at); });
  meet(/*inCluster=*/true);
}

void ClusterEmitter::publish(const SharedRow &row, ArrayRef<Value> elements, Value trip) {
  Value first = add(add(bufferOf(row, trip), times(ownRow, shape.padded(row.length))), pointColumn);
  scf::IfOp::create(builder, loc, isPoint, [&](OpBuilder &, Location) {
    for (auto [number, element] : llvm::enumerate(elements)) {
      Value at = add(first, index(static_cast<int64_t>(number) * program.domain.back())), wide = widen(element);
      if (row.peers.empty())
        store(wide, row.here, at);
      for (Value peer : row.peers)
        store(wide, peer, at);
    }
    scf::YieldOp::create(builder, loc);
  });
  // Who writes this buffer again has been at the barrier of the other one, to which all come when they have read this.
  meet(/*inCluster=*/true);
}

Values ClusterEmitter::multiply(const SharedRow &row, Value trip) {
  const int64_t pitch = shape.padded(row.length), step = RecurrentShape::lanes * shape.parts;
  auto placeOf = [&](size_t dot, Value dotRow, Value column) {
    Value at = add(index(static_cast<int64_t>(dot) * shape.rows), dotRow);
    return times(add(times(at, shape.columns), column), shape.parts);
  };
  Value buffer = add(bufferOf(row, trip), times(part, RecurrentShape::lanes));
  loop(firstDotRow, shape.rows, shape.rowGroups, [&](Value dotRow) {
    Value first = add(buffer, times(dotRow, pitch));
    Values totals(row.dots.size());
    for (int64_t piece = 0; piece < shape.pieces(row.length); ++piece) {
      Value elements = load(vector, row.here, add(first, index(piece * step)));
      for (auto [total, weights] : llvm::zip_equal(totals, row.weights))
        total = total ? math::FmaOp::create(builder, loc, elements, weights[piece], total).getResult()
                      : arith::MulFOp::create(builder, loc, elements, weights[piece]).getResult();
    }
    for (auto [dot, total] : llvm::enumerate(totals)) {
      Values lanes;
      for (int64_t lane = 0; lane < RecurrentShape::lanes; ++lane)
        lanes.push_back(vector::ExtractOp::create(builder, loc, total, ArrayRef<int64_t>(lane)));
      Value sum = arith::AddFOp::create(builder, loc, arith::AddFOp::create(builder, loc, lanes[0], lanes[1]),
                                        arith::AddFOp::create(builder, loc, lanes[2], lanes[3]));
      store(sum, sums, add(placeOf(dot, dotRow, dotColumn), part));
    }
  });
  meet(/*inCluster=*/false);
  Value lastRow = least(ownRow, shape.rows - 1), column = remainder(thread, shape.columns);
  Values results;
  for (auto [dot, step] : llvm::enumerate(row.dots)) {
    Values parts;
    for (int64_t i = 0; i < shape.parts; ++i)
      parts.push_back(load(f32, sums, add(placeOf(dot, lastRow, column), index(i))));
    while (parts.size() > 1) {
      Values next;
      for (size_t i = 0; i < parts.size(); i += 2)
        next.push_back(arith::AddFOp::create(builder, loc, parts[i], parts[i + 1]));
      parts = std::move(next);
    }
    Type type = toSignless(program.steps[step].type);
    results.push_back(type == f32 ? parts[0] : arith::TruncFOp::create(builder, loc, type, parts[0]).getResult());
  }
  return results;
}

void LoopEmitter::emitClusters(const RecurrentShape &shape) {
  const int64_t columns = program.domain.back(), numRows = program.numPoints() / columns;
  Value firstRow = openGrid({numRows}, {shape.rows})[0];
  ClusterEmitter cluster(program, shape, builder, loc);
  cluster.openRows(groupDots(program));
  cluster.number(firstRow);
  Values at(program.domain.size());
  at.back() = cluster.pointColumn;
  Value rest = cluster.pointRow;
  for (size_t dim = program.domain.size() - 1; dim-- > 0;) {
    at[dim] = dim == 0 ? rest : builder.createOrFold<arith::RemUIOp>(loc, rest, index(program.domain[dim]));
    rest = builder.createOrFold<arith::DivUIOp>(loc, rest, index(program.domain[dim]));
  }
  cluster.loadWeights([&](const ElementStep &dot, Value column, Value k) -> Value {
    Values point(at);
    point.back() = column;
    if (isInLoopKernel(dot.source))
      return read(dot.source, dot.place, point, Value(), Value());
    Value place = add(offset(dot.place, point, Value()), times(k, dot.stride));
    Value from = views.lookup(dot.source);
    return kernel::LoadOp::create(builder, loc, cast<kernel::ViewType>(from.getType()).getElementType(), from, place,
                                  Value(), Value(), ArrayAttr(), DenseBoolArrayAttr());
  });
  cluster.clear();
  Made common(program.steps.size());
  SmallVector<unsigned> loads;
  for (auto [number, step] : llvm::enumerate(program.steps)) {
    if (isFixed[number])
      evaluate(number, common, {}, at, Value(), Value());
    else if (step.kind == Kind::Load)
      loads.push_back(number);
  }
  // What a trip reads is asked for in the trip before.
  auto readFor = [&](Value trip) {
    Made made(program.steps.size());
    return llvm::map_to_vector(loads, [&](unsigned load) -> Value {
      evaluate(load, made, {}, at, trip, Value());
      return made[load];
    });
  };
  auto whereIsPoint = [&](auto body) {
    scf::IfOp::create(builder, loc, cluster.isPoint, [&](OpBuilder &, Location) {
      body();
      scf::YieldOp::create(builder, loc);
    });
  };
  Values carried;
  for (const CarriedElement &element : program.carried)
    carried.push_back(begin(element.position, element.place, at, Value()));
  llvm::append_range(carried, readFor(index(0)));
  const size_t numStates = program.carried.size();
  carried = loop(index(0), index(program.trips), index(1), carried, [&](Value trip, ValueRange now) -> Values {
    Made made = common;
    for (auto [load, value] : llvm::zip_equal(loads, now.drop_front(numStates)))
      made[load] = value;
    Value next = builder.createOrFold<arith::MinSIOp>(loc, add(trip, index(1)), index(program.trips - 1));
    auto loaded = readFor(next);
    const Values states(now.take_front(numStates));
    for (auto [number, step] : llvm::enumerate(program.steps)) {
      if (step.kind != Kind::Dot) {
        evaluate(number, made, states, at, trip, Value());
        continue;
      }
      if (made[number])
        continue;
      const SharedRow &row = *llvm::find_if(cluster.rows, [&](const SharedRow &each) {
        return llvm::is_contained(each.dots, static_cast<unsigned>(number));
      });
      const Values elements = llvm::map_to_vector(step.operands, [&](unsigned operand) { return made[operand]; });
      cluster.publish(row, elements, trip);
      for (auto [dot, result] : llvm::zip_equal(row.dots, cluster.multiply(row, trip)))
        made[dot] = result;
    }
    whereIsPoint([&] { finish(made, at, trip, Value()); });
    Values result;
    for (const CarriedElement &element : program.carried)
      result.push_back(made[element.next]);
    llvm::append_range(result, loaded);
    return result;
  });
  whereIsPoint([&] {
    for (auto [state, element] : llvm::zip(carried, program.carried))
      store(state, outs[element.position], element.place, at, Value(), Value());
    emitRest(at, Value());
  });
}

} // namespace zyx::lowering
