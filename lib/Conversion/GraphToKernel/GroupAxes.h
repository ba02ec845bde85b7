//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The iteration space of a group: which dimensions of its values are one axis, along which axes a
// value varies, and what its contractions are.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_GROUPAXES_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_GROUPAXES_H

#include "zyx/Dialect/Graph/Analysis/Views.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Kernel/IR/MapAlgebra.h"
#include "zyx/Dialect/Kernel/IR/Refusal.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallSet.h"

namespace zyx::lowering {

/// Axes of a value or tile, by number.
using AxisList = llvm::SmallVector<unsigned, 4>;

/// A tensor in memory seen through views: `root` is a block argument of the group or a constant.
struct Leaf {
  mlir::Value root;
  kernel::MapAttr map;
  /// What stands where the map has no element; null where it has all.
  mlir::TypedAttr fill;
};

/// A result of the group: `map` finds the elements of `value` in the result's buffer.
struct Output {
  mlir::Value value;
  kernel::MapAttr map;
};

/// reduce add(mul(lhs, rhs)) as a matrix product. An operand varies along the batch axes, its own
/// axis and the contracted one, or is the same along some of the batch axes.
struct ContractionAxes {
  mlir::Value lhs, rhs;
  AxisList batch;
  unsigned m, n, k;
};

/// Axes are numbered outermost first: tiles have their dimensions in this order.
class GroupAxes {
public:
  /// `packedLanes`: elements of a vector of a machine whose cores pack what they multiply; 0 for others. `tapSums`:
  /// sums of a thread for the elements of a window, 0 where the machine makes none so. `copiesWindows`: what windows
  /// are taken of is copied into the order of results.
  explicit GroupAxes(graph::ir::GroupOp group, int64_t packedLanes = 0, int64_t tapSums = 0, bool copiesWindows = false)
      : group(group), packedLanes(packedLanes), tapSums(tapSums), copiesWindows(copiesWindows) {}

  /// Fails where the group is no iteration space: refused at the op, or with the op that needs
  /// a value along two axes at once in `conflict`.
  mlir::LogicalResult analyse(mlir::Operation *&conflict, kernel::Refusal &refusal);

  /// Finds the leaves and splats alone, for a group that is no iteration space.
  void findLeaves();

  struct Axis {
    int64_t extent;
    /// Dimension classes that were collapsed into it, outermost first.
    AxisList parts;
    std::string name;
  };

  unsigned getNumAxes() const { return axes.size(); }
  const Axis &getAxis(unsigned axis) const { return axes[axis]; }
  llvm::ArrayRef<Output> getOutputs() const { return outputs; }
  /// Constants that need a buffer.
  llvm::ArrayRef<graph::ir::ConstantOp> getConstants() const { return constants; }

  /// What is repeated in the whole of `value`, or null.
  mlir::TypedAttr getSplat(mlir::Value value) const { return splats.lookup(value); }
  const Leaf *getLeaf(mlir::Value value) const {
    auto found = leaves.find(value);
    return found == leaves.end() ? nullptr : &found->second;
  }
  bool isNeeded(mlir::Operation *op) const { return needed.contains(op); }
  const ContractionAxes *getContraction(mlir::Operation *op) const {
    auto found = contractions.find(op);
    return found == contractions.end() ? nullptr : &found->second;
  }

  /// Axes along which elements differ, in order.
  AxisList getVarying(mlir::Value value) const;
  /// The same of what a gather reads, without the gathered dimension.
  AxisList getGatherAxes(graph::ir::GatherOp op) const;
  /// Axes of all dimensions, repeated ones too.
  AxisList getAll(mlir::Value value) const;
  /// The axes of some dimensions.
  AxisList getAxesOf(mlir::Value value, llvm::ArrayRef<int64_t> dims) const;

  /// `map`, whose indices are those of `value`, with the dimensions of a tile over `axes`.
  kernel::MapAttr getTileMap(kernel::MapAttr map, mlir::Value value, llvm::ArrayRef<unsigned> axes) const;

  /// The same with dimension `dim` of `value` in front, as it is.
  kernel::MapAttr getGatherMap(kernel::MapAttr map, mlir::Value value, unsigned dim,
                               llvm::ArrayRef<unsigned> axes) const;

private:
  /// A set of dimensions that are one axis, before any are collapsed.
  using Class = unsigned;
  /// Not a key that llvm::DenseMap reserves.
  static constexpr Class unit = ~0u - 2;

  mlir::LogicalResult findNeeded(kernel::Refusal &refusal);
  void unify();
  mlir::Operation *findConflict();
  void findVarying();
  mlir::LogicalResult checkGathers(kernel::Refusal &refusal);
  llvm::SmallSet<Class, 4> getVaryingClasses(mlir::Value value) const { return varying.lookup(value); }
  bool hasClass(mlir::Value value, Class c) const;
  void orderClasses();
  void findContractions();
  int64_t getStoreStride(Class c) const;
  void sortBySteps(llvm::SmallVector<Class> &list, llvm::function_ref<int64_t(Class)> getStep) const;
  mlir::Value getMainLeaf(mlir::Value factor) const;
  struct ClassContraction;
  void orderContracted(ClassContraction &dot) const;
  bool areWindowsCopied(mlir::Value window, Class along) const;
  bool isSummedByTaps(const ClassContraction &dot) const;
  bool isSummedInPlace(const ClassContraction &dot) const;
  bool shouldSwapFactors(const ClassContraction &dot) const;
  void keepLargestRun(llvm::SmallVector<Class> &list, llvm::SmallVector<Class> &batch) const;
  void orderContraction(ClassContraction &dot);
  bool opsAllowMerge(Class outer, Class inner) const;
  bool dotsAllowMerge(llvm::ArrayRef<Class> parts, Class inner) const;
  bool viewAllowsMerge(mlir::Value value, kernel::MapAttr map, bool hasOuter, bool hasInner, Class outer,
                       Class inner) const;
  bool storesAllowMerge(Class outer, Class inner) const;
  bool viewsAllowMerge(Class outer, Class inner) const;
  void collapse();
  void nameAxes();

  unsigned getNode(mlir::Value value, unsigned dim);
  void join(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);
  /// The class of a dimension, or `unit` where its extent is 1.
  Class getClass(mlir::Value value, unsigned dim) const;
  int64_t getClassExtent(Class c) const { return extents.lookup(c); }
  /// How many combinations of indices classes have.
  int64_t countPoints(llvm::ArrayRef<Class> classes) const {
    int64_t points = 1;
    for (Class c : classes)
      points *= getClassExtent(c);
    return points;
  }
  /// The number that `map` adds per step along a class; 0 where `value` does not have it.
  int64_t getStride(mlir::Value value, kernel::MapAttr map, Class c) const;
  /// The same in memory, behind all blocks of a map.
  int64_t getMemoryStride(mlir::Value value, kernel::MapAttr map, Class c) const;
  /// Whether `map` has an element at each index along a class.
  bool isWhole(mlir::Value value, kernel::MapAttr map, Class c) const;
  kernel::MapAttr selectAxes(kernel::MapAttr map, mlir::Value value, llvm::SmallVector<int64_t> dims,
                             llvm::ArrayRef<unsigned> axes) const;
  AxisList toAxes(llvm::ArrayRef<Class> classes) const;

  mutable graph::ir::GroupOp group;
  int64_t packedLanes, tapSums;
  bool copiesWindows;
  llvm::MapVector<mlir::Value, Leaf> leaves;
  llvm::DenseMap<mlir::Value, mlir::TypedAttr> splats;
  llvm::SmallVector<graph::ir::ConstantOp> constants;
  llvm::SmallVector<Output> outputs;
  llvm::DenseSet<mlir::Operation *> needed;

  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> nodes;
  mutable llvm::IntEqClasses classes;
  llvm::DenseMap<Class, int64_t> extents;
  /// Classes in the order of axes.
  llvm::SmallVector<Class> order;
  llvm::DenseMap<mlir::Value, llvm::SmallSet<Class, 4>> varying;
  llvm::DenseMap<mlir::Operation *, ContractionAxes> contractions;

  /// Contractions in classes, until axes are known.
  struct ClassContraction {
    graph::ir::ReduceOp op;
    mlir::Value lhs, rhs;
    llvm::SmallVector<Class> batch, m, n, k;
  };
  std::vector<ClassContraction> found;

  llvm::SmallVector<Axis> axes;
  llvm::DenseMap<Class, unsigned> axisOfClass;
};

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_GROUPAXES_H
