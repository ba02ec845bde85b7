//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Graph/Analysis/RecurrentShape.h"

#include "mlir/IR/Builders.h"

using namespace zyx::graph::ir;

using Kind = ElementStep::Kind;

/// Each number of a shape, by its name in the attribute.
static constexpr std::pair<const char *, int64_t RecurrentShape::*> members[] = {
    {"cluster", &RecurrentShape::cluster},      {"rows", &RecurrentShape::rows},
    {"columns", &RecurrentShape::columns},      {"parts", &RecurrentShape::parts},
    {"row_groups", &RecurrentShape::rowGroups}, {"threads", &RecurrentShape::threads}};

int64_t zyx::graph::ir::rowLength(const ElementLoop &loop, const ElementStep &dot) {
  return static_cast<int64_t>(dot.operands.size()) * loop.domain.back();
}

llvm::SmallVector<llvm::SmallVector<unsigned>> zyx::graph::ir::groupDots(const ElementLoop &loop) {
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  for (auto [number, step] : llvm::enumerate(loop.steps)) {
    if (step.kind != Kind::Dot)
      continue;
    auto *group = llvm::find_if(groups, [&, &operands = step.operands](llvm::ArrayRef<unsigned> known) {
      return loop.steps[known.front()].operands == operands;
    });
    if (group == groups.end())
      group = &groups.emplace_back();
    group->push_back(number);
  }
  return groups;
}

bool RecurrentShape::holds(const ElementLoop &loop) const {
  // A mark may be a text's. Below this no product overflows.
  constexpr int64_t most = int64_t(1) << 20;
  const auto isOutside = [&](const auto &member) { return this->*member.second < 1 || this->*member.second > most; };
  return llvm::none_of(members, isOutside) && !loop.domain.empty() && cluster * columns >= loop.domain.back() &&
         rowGroups <= rows && threads >= std::max(rows * columns, parts * columns * rowGroups);
}

mlir::Attribute RecurrentShape::toAttr(mlir::MLIRContext *context) const {
  mlir::Builder builder(context);
  llvm::SmallVector<mlir::NamedAttribute> fields;
  for (auto [name, member] : members)
    fields.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(this->*member)));
  return builder.getDictionaryAttr(fields);
}

std::optional<RecurrentShape> RecurrentShape::of(LoopOp loop) {
  auto fields = loop->getAttrOfType<mlir::DictionaryAttr>(oneKernelAttrName);
  if (!fields || fields.size() != std::size(members))
    return std::nullopt;
  RecurrentShape shape;
  for (auto [name, member] : members) {
    auto value = fields.getAs<mlir::IntegerAttr>(name);
    if (!value || !value.getType().isInteger(64))
      return std::nullopt;
    shape.*member = value.getInt();
  }
  return shape;
}
