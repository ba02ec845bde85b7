//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_NEARCOPIER_H
#define ZYX_CODEGEN_CPU_NEARCOPIER_H

#include "zyx/Codegen/Tile/NearForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace zyx::kernel {

/// Emits the copy of the array of one load.
class NearCopier {
public:
  NearCopier(mlir::OpBuilder &builder, mlir::Location loc, const NearForm &form, int64_t lanes, mlir::Type element)
      : builder(builder), loc(loc), form(form), lanes(lanes), element(element) {}

  /// Where the array is in the buffer that `row` shows, by dimension; how many of its elements there are; and what
  /// stands for those that do not exist.
  mlir::Value row, fill;
  llvm::SmallVector<mlir::Value> bases, counts;
  /// Where it comes to, and the type of its elements there.
  mlir::Value memory;
  mlir::Type kept;
  /// Where the array begins in the buffer, beside the form's offset; null for 0.
  mlir::Value origin;
  /// Of what only a maximum or minimum reads: the one whose order of bits the copy has.
  std::optional<Combine> ordered;
  llvm::SmallVector<int64_t> strides;

  void copy();

private:
  mlir::Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return builder.createOrFold<mlir::arith::AddIOp>(loc, a, b); }
  mlir::Value multiply(mlir::Value a, int64_t b) { return builder.createOrFold<mlir::arith::MulIOp>(loc, a, index(b)); }
  mlir::VectorType vectorOf(mlir::Type type) { return mlir::VectorType::get(lanes, type); }
  void store(mlir::Value value, mlir::Value place);
  void loop(mlir::Value end, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  /// How far a position lies behind the first one that exists; negative ones are large when read as unsigned.
  mlir::Value distance(const NearForm::Dim &dim, mlir::Value position) {
    return add(position, index(dim.offset - dim.low));
  }
  void walk(size_t d, mlir::Value source, mlir::Value place, mlir::Value exists);
  /// Calls `body` with the place of each row that is copied along with one, and how far it lies behind that in the
  /// buffer.
  void forBeside(mlir::Value place, llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  void copyRow(mlir::Value source, mlir::Value place, mlir::Value exists);
  void copyExisting(mlir::Value source, mlir::Value place);
  /// What lies apart along the rows of the copy, from the first position that exists to the last one.
  void copyApart(mlir::Value source, mlir::Value place);
  void copyOneByOne(mlir::Value source, mlir::Value place, mlir::Value first, mlir::Value end);
  /// The same in squares that are transposed in registers, of rows beside each other.
  void copySquares(mlir::Value source, mlir::Value place, mlir::Value first, mlir::Value end, int64_t side);
  mlir::Value maskOf(const NearForm::Dim &dim, mlir::Value position);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const NearForm &form;
  const int64_t lanes;
  mlir::Type element;
  /// The dimension whose neighbours lie side by side in the buffer, where those of rows do not, as channels that come
  /// last: its rows are copied together, so that each line of memory is read once.
  std::optional<size_t> beside;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_NEARCOPIER_H
