//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDEREMITTER_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDEREMITTER_H

#include "Elements.h"
#include "GroupAxes.h"
#include "OrderKernels.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace zyx::lowering {

using Values = llvm::SmallVector<mlir::Value>;

/// A loop that carries values; `body` takes the trip's number and the carried ones, and gives the next ones.
template <typename Body>
Values makeLoop(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value begin, mlir::Value end, mlir::Value step,
                mlir::ValueRange carried, Body body) {
  auto made = mlir::scf::ForOp::create(builder, loc, begin, end, step, carried,
                                       [&](mlir::OpBuilder &, mlir::Location, mlir::Value at, mlir::ValueRange values) {
                                         Values next = body(at, values);
                                         mlir::scf::YieldOp::create(builder, loc, next);
                                       });
  return Values(made.getResults());
}
/// Opens a kernel's grid, and gives its indices; what is built next goes into its body.
Values makeGrid(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> extents,
                llvm::ArrayRef<int64_t> steps);

/// A tensor as [outer, extent, inner], where `extent` is that of one dimension, or of several neighbours.
struct Rows {
  int64_t outer = 1, extent = 1, inner = 1;

  Rows(llvm::ArrayRef<int64_t> shape, int64_t dim, int64_t numDims = 1) {
    for (auto [d, size] : llvm::enumerate(shape)) {
      int64_t at = d;
      (at < dim ? outer : at < dim + numDims ? extent : inner) *= size;
    }
  }
  llvm::SmallVector<int64_t> shape() const { return {outer, extent, inner}; }
};

/// What a load reads: a place in a buffer by the indices of a map, or one value everywhere.
struct Operand {
  kernel::MapAttr map;
  mlir::Value view;
  mlir::TypedAttr splat;
};

/// Two elements, or vectors of them, combined into one.
mlir::Value combineElements(mlir::OpBuilder &builder, mlir::Location loc, kernel::Combine kind, mlir::Value a,
                            mlir::Value b);

/// How a scatter that combines does.
kernel::Combine getCombine(graph::ir::ScatterKind kind, mlir::Type graphElement);
/// Whether nothing but zeros, of floats +0, is added to.
bool addsToZeros(graph::ir::ScatterOp scatter);

/// Builds the kernel of a scan, sort or scatter in the lowered form. Who walks a row is for those that derive to say.
class OrderEmitter {
public:
  OrderEmitter(graph::ir::GroupOp group, mlir::Operation *op, mlir::OpBuilder &builder)
      : op(op), axes(group), builder(builder), loc(op->getLoc()), group(group) {}
  virtual ~OrderEmitter() = default;

  /// With `isUpdate`, what is scattered into is the result's buffer, of which nothing else is written.
  mlir::FailureOr<ConvertedGroup> emit(llvm::StringRef name, bool isUpdate);

protected:
  /// Emits what the op computes, into `out`.
  virtual void emitOp() = 0;
  /// Memory that the op wants beside its result.
  virtual llvm::SmallVector<TensorType> getScratch() { return {}; }
  /// Says by a remark how the rows are walked.
  virtual void explain(llvm::StringRef name) = 0;

  mlir::Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::AddIOp>(loc, a, b); }
  mlir::Value subtract(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::SubIOp>(loc, a, b); }
  mlir::Value multiply(mlir::Value a, int64_t b) { return builder.createOrFold<mlir::arith::MulIOp>(loc, a, index(b)); }
  mlir::Value smaller(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::MinSIOp>(loc, a, b); }
  mlir::Value larger(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::MaxSIOp>(loc, a, b); }
  mlir::Value both(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::AndIOp>(loc, a, b); }
  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return builder.createOrFold<mlir::arith::SelectOp>(loc, condition, a, b);
  }
  mlir::Value isLess(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::slt, a, b);
  }
  mlir::Value toIndex(mlir::Value number) {
    return mlir::arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  }
  /// The place of [o, j, i] in row-major order.
  mlir::Value linear(const Rows &rows, mlir::Value o, mlir::Value j, mlir::Value i) {
    return add(multiply(add(multiply(o, rows.extent), j), rows.inner), i);
  }

  /// The operand with other extents, which are those of `shape`.
  Operand getOperand(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// A scalar, or a vector of elements that lie one behind the other, of which those of a mask exist.
  mlir::Value load(const Operand &operand, llvm::ArrayRef<mlir::Value> at, int64_t lanes = 1, mlir::Value mask = {});
  /// Says that an element is read soon; it need not exist.
  void fetch(const Operand &operand, llvm::ArrayRef<mlir::Value> at);
  mlir::Value placeOf(const Operand &operand, llvm::ArrayRef<mlir::Value> at);
  mlir::Value loadAt(mlir::Value view, mlir::Value at, int64_t lanes = 1, mlir::Value mask = {});
  void store(mlir::Value value, mlir::Value view, mlir::Value at, mlir::Value mask = {});
  mlir::Value combine(kernel::Combine kind, mlir::Value a, mlir::Value b) {
    return combineElements(builder, loc, kind, a, b);
  }
  /// Whether a must stand before b. NaN stands last either way.
  mlir::Value isBefore(mlir::Value a, mlir::Value b, bool isUnsigned, bool descending);
  /// What a scan begins with. From -0 on, the first element of a sum stays what it is.
  mlir::TypedAttr getIdentity(kernel::Combine kind, mlir::Type element, bool exclusive);
  /// The place along a scatter's dimension as i64, which as an unsigned number is outside where the index is: below 0,
  /// or of u64 beyond i64.
  mlir::Value getPlace(graph::ir::ScatterOp scatter, mlir::Value index);
  /// What a scatter makes of the element at `place` of the result, there, or of so many from there on.
  void update(graph::ir::ScatterOp scatter, mlir::Value with, mlir::Value place, int64_t lanes = 1);

  template <typename Body>
  Values loop(mlir::Value begin, mlir::Value end, mlir::Value step, mlir::ValueRange carried, Body body) {
    return makeLoop(builder, loc, begin, end, step, carried, body);
  }
  template <typename Body> void loop(mlir::Value begin, mlir::Value end, mlir::Value step, Body body) {
    loop(begin, end, step, {}, [&](mlir::Value at, mlir::ValueRange) -> Values {
      body(at);
      return {};
    });
  }
  template <typename Body> void when(mlir::Value condition, Body body) {
    mlir::scf::IfOp::create(builder, loc, condition, [&](mlir::OpBuilder &, mlir::Location) {
      body();
      mlir::scf::YieldOp::create(builder, loc);
    });
  }
  Values openGrid(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> steps) {
    return makeGrid(builder, loc, extents, steps);
  }

  static mlir::Type getElement(mlir::Value value) { return toSignless(mlir::getElementTypeOrSelf(value.getType())); }
  static llvm::ArrayRef<int64_t> getShape(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }

  mlir::Operation *op;
  GroupAxes axes;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  kernel::FuncOp made;
  mlir::Value out;
  Values scratch;
  bool isUpdate = false;

private:
  mlir::LogicalResult check();
  mlir::Value viewBuffer(mlir::Value buffer, int64_t numElements);

  graph::ir::GroupOp group;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
};

/// The elements of a scan, or of a scatter that combines, as they are combined: sums and products of 16 bits in f32.
struct ScanTypes {
  kernel::Combine kind;
  mlir::Type stored, carried;

  explicit ScanTypes(graph::ir::ScanOp scan);
  explicit ScanTypes(graph::ir::ScatterOp scatter);
  mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element) const;
  mlir::Value round(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum) const;

private:
  ScanTypes(kernel::Combine kind, mlir::Type graphElement);
};

/// Whether elements of that type of a sort are compared as unsigned numbers.
inline bool sortsUnsigned(graph::ir::SortOp sort) {
  mlir::Type element = mlir::getElementTypeOrSelf(sort.getX().getType());
  return element.isUnsignedInteger() || element.isInteger(1);
}

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDEREMITTER_H
