//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels that find out what data hides from an attention: pair by pair (FindVisible.cpp), or by bounds of blocks
// (VisibleBounds.cpp).
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_VISIBLEKERNEL_H
#define ZYX_LIB_SCHEDULE_VISIBLEKERNEL_H

#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <optional>
#include <string>

namespace zyx::schedule {

/// What is seen where a condition holds, or where it does not.
struct Condition {
  mlir::Value tile;
  bool isSeen;
};

/// What is known of an attention, or of a chain.
struct Streamed {
  kernel::Axis rows = 0, places = 0;
  llvm::SmallVector<kernel::Axis> batches;
  llvm::SmallVector<Condition> conditions;
  /// Of a chain: vectors along the places that must be finite.
  llvm::SmallVector<mlir::Value> vectors;
  /// Products of a row and a place.
  int64_t products = 0;
};

/// All that a tile is computed of, with itself.
llvm::SetVector<mlir::Value> sliceOf(mlir::Value tile);

/// Makes a kernel of a part of what another one reads and computes. Dimensions of its tiles are numbered.
class VisibleKernel {
public:
  VisibleKernel(kernel::FuncOp func, const kernel::Axes &axes, const Streamed &streamed)
      : func(func), axes(axes), streamed(streamed), b(func.getContext()), loc(func.getLoc()) {}

  kernel::FuncOp getMade() { return made; }
  /// Of each batch the numbers of parts, and those of the other axes; what is combined is behind them.
  int64_t countKept() const;
  /// How far apart the numbers of an axis are among those that are kept; 0 where it has none.
  int64_t strideOf(kernel::Axis axis) const;
  /// Elements of all dimensions.
  double countPairs() const;

protected:
  struct Dim {
    kernel::Axis axis;
    int64_t extent;
    std::string name;
    /// How many places of the axis each number stands for; those of a part follow it as a dimension of their own,
    /// `isInner`.
    int64_t step = 1;
    bool isInner = false;
  };
  /// A tile of some of the dimensions, in their order; none where it could not be made.
  struct Tile {
    llvm::SmallVector<unsigned> dims;
    mlir::Value value;
    explicit operator bool() const { return value != mlir::Value(); }
  };

  void take(kernel::Axis axis, int64_t extent, std::string name, int64_t step = 1, bool isInner = false) {
    dims.push_back({axis, extent, std::move(name), step, isInner});
  }
  /// The batches on which one of the tiles depends.
  void takeBatches(llvm::function_ref<bool(kernel::Axis)> isNeeded);
  /// A kernel without ops behind another one, whose last argument is what it writes.
  void begin(mlir::SymbolTable &symbols, kernel::FuncOp after, llvm::StringRef suffix,
             llvm::ArrayRef<mlir::BlockArgument> sources, mlir::Type written);

  mlir::RankedTensorType typeOf(llvm::ArrayRef<unsigned> own, mlir::Type element) const;
  mlir::Value constant(llvm::ArrayRef<unsigned> own, mlir::Attribute number, mlir::Type element);
  mlir::Value integer(llvm::ArrayRef<unsigned> own, int64_t number, mlir::Type element) {
    return constant(own, b.getIntegerAttr(element, number), element);
  }
  mlir::Value spread(const Tile &tile, llvm::ArrayRef<unsigned> onto);
  static llvm::SmallVector<unsigned> join(llvm::ArrayRef<unsigned> a, llvm::ArrayRef<unsigned> b);
  /// An op of two tiles.
  template <typename Op, typename... Further> Tile combine(const Tile &x, const Tile &y, Further... further) {
    llvm::SmallVector<unsigned> all = join(x.dims, y.dims);
    return {all, Op::create(b, loc, further..., spread(x, all), spread(y, all))};
  }
  mlir::Value iota(unsigned dim, mlir::Type element);
  /// The places of what is in a part: so many for each part, and those in it.
  Tile placesIn(unsigned part, mlir::Type element);
  /// Reads elements of a buffer by those of the dimensions that have a stride.
  Tile read(mlir::Value buffer, mlir::Type element, const kernel::AxisStrides &strides);
  /// Writes a tile of what is kept, `apart` from each other.
  void store(mlir::Value tile, int64_t offset, int64_t apart = 1);
  unsigned numKept() const { return kept; }
  /// Writes the least of `first` and the largest of `behind` where something is seen, along the dimensions behind those
  /// that are kept.
  void storeRange(const Tile &isSeen, const Tile &first, const Tile &behind);

  kernel::FuncOp func;
  const kernel::Axes &axes;
  const Streamed &streamed;
  mlir::OpBuilder b;
  mlir::Location loc;
  llvm::SmallVector<Dim> dims;
  unsigned kept = 0;
  kernel::FuncOp made;
  mlir::Value zero;
};

/// The buffer that a load reads; none where it is no argument of the kernel.
mlir::BlockArgument bufferOf(kernel::LoadOp load);

/// Evaluates conditions on the bounds of blocks of 16 rows and 16 to 64 places: what may be seen is a superset of what
/// is. A kernel before finds the bounds of each vector that a condition reads.
class BoundsBuilder : public VisibleKernel {
public:
  BoundsBuilder(kernel::FuncOp func, const kernel::Axes &axes, const Streamed &streamed);

  /// Whether all conditions are such.
  bool isPossible();
  /// Elements that bounds are found of.
  double countElements();
  /// The kernels, behind another one.
  void emit(mlir::SymbolTable &symbols, kernel::FuncOp after);

  /// What a kernel of bounds reads, and where it writes. What is found of a part of rows lies side by side: a group of
  /// threads has one part. Of places all least numbers come first, then all largest ones, then bits: neighbours in such
  /// a group have neighbours.
  struct Table {
    static constexpr int64_t numPlanes = 3, rowNumbers = 4;
    mlir::BlockArgument source;
    mlir::Type element;
    kernel::AxisStrides strides;
    kernel::Axis along;
    /// In the order of unsigned integers, with the first bit turned.
    bool isUnsigned;
    bool isOfRows;
    /// Which numbers there are has bits of its own.
    bool hasBits = false;
    /// Elements of a part.
    int64_t size = 0;
    int64_t parts = 0;
    mlir::Type written;
    kernel::FuncOp kernel;
    int64_t count() const { return (isOfRows ? rowNumbers : hasBits ? numPlanes : numPlanes - 1) * parts; }
  };
  /// An argument of the kernel: one of the other kernel's, or what another one has found.
  struct Input {
    mlir::BlockArgument source;
    unsigned table = 0;
  };
  llvm::ArrayRef<Table> getTables() const { return tables; }
  llvm::ArrayRef<Input> getInputs() const { return inputs; }

private:
  struct Range {
    int64_t low, high;
    bool operator==(const Range &) const = default;
  };
  /// A vector that a condition reads: along rows, along places, or along neither.
  struct Leaf {
    kernel::LoadOp load;
    kernel::AxisStrides strides;
    std::optional<kernel::Axis> along;
  };
  enum class Plane { Low, High, Bits };

  std::optional<Leaf> leafOf(mlir::Value value) const;
  std::optional<Range> rangeOf(mlir::Value value) const;
  std::optional<Range> findRange(mlir::Value value) const;
  bool isOfKind(mlir::Value condition) const;
  bool isComparable(mlir::arith::CmpIOp compare) const;
  bool isTurnable(mlir::Value value) const;
  bool comparesTurned(mlir::arith::CmpIOp compare) const;

  Tile canBe(mlir::Value condition, bool what);
  Tile findWhether(mlir::Value condition, bool what);
  Tile canHold(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y, bool isTurned);
  Tile end(mlir::Value value, bool isHigh);
  Tile findEnd(mlir::Value value, bool isHigh);
  /// Of a value with its first bit turned, as unsigned integers are compared.
  Tile turnedEnd(mlir::Value value, bool isHigh);
  Tile leafEnd(Leaf leaf, bool isHigh, bool isTurned);
  Tile readTable(Leaf leaf, Plane plane, bool isTurned);
  Tile sum(Tile tile, int64_t other, const Range &range);
  Tile number(int64_t value);
  mlir::Type typeFor(const Range &range);
  Tile widened(const Tile &tile, mlir::Type type);
  void match(Tile &x, Tile &y);
  Tile compare(mlir::arith::CmpIPredicate predicate, Tile x, Tile y);
  Tile either(const Tile &x, const Tile &y);
  Tile both(const Tile &x, const Tile &y);
  mlir::Value argumentOf(const Input &input, mlir::Type type);
  unsigned tableOf(Leaf leaf, bool isTurned);

  /// So many places have bounds together.
  int64_t partPlaces;
  bool hasRows = false;
  llvm::SmallVector<Table> tables;
  llvm::SmallVector<Input> inputs;
  mutable llvm::DenseMap<mlir::Value, std::optional<Range>> ranges;
  mutable llvm::DenseMap<mlir::Value, bool> kinds;
  /// Ends of numbers, low or high, and whether conditions may be so.
  std::map<std::pair<const void *, bool>, Tile> knownEnds, knownConditions;
};

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_VISIBLEKERNEL_H
