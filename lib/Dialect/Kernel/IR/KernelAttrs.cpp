//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TargetStorage.h"

#include "zyx/Dialect/Strict/Lines.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zyx::kernel;

/// The list of a schedule, which may be empty.
static ParseResult parseSteps(AsmParser &parser, SmallVector<Attribute> &steps) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseAttribute(steps.emplace_back()); });
}

static void printSteps(AsmPrinter &printer, ArrayRef<Attribute> steps) {
  printer << '[';
  llvm::interleaveComma(steps, printer);
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "zyx/Dialect/Kernel/IR/KernelTypes.cpp.inc"

void KernelDialect::registerAttributesAndTypes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "zyx/Dialect/Kernel/IR/KernelAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "zyx/Dialect/Kernel/IR/KernelTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Block
//===----------------------------------------------------------------------===//

/// More symbols than a kernel has size arguments; parsing needs an upper bound.
static constexpr unsigned maxSymbols = 64;

namespace {
/// Parses affine expressions over s0, s1, ...
class ExprParser {
public:
  explicit ExprParser(AsmParser &parser) : parser(parser) {
    for (unsigned i = 0; i < maxSymbols; ++i)
      names.push_back("s" + std::to_string(i));
    for (unsigned i = 0; i < maxSymbols; ++i)
      symbols.push_back({names[i], getAffineSymbolExpr(i, parser.getContext())});
  }
  ParseResult parse(AffineExpr &expr) { return parser.parseAffineExpr(symbols, expr); }
  ParseResult parseList(SmallVectorImpl<AffineExpr> &list) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parse(list.emplace_back()); });
  }

private:
  AsmParser &parser;
  SmallVector<std::string> names;
  SmallVector<std::pair<StringRef, AffineExpr>> symbols;
};
} // namespace

Attribute BlockAttr::parse(AsmParser &parser, Type) {
  ExprParser exprs(parser);
  SmallVector<AffineExpr> shape, strides, low, high;
  AffineExpr offset = getAffineConstantExpr(0, parser.getContext());
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || exprs.parseList(shape) || parser.parseKeyword("strides") || exprs.parseList(strides))
    return {};
  if (succeeded(parser.parseOptionalKeyword("offset")) && exprs.parse(offset))
    return {};
  if (succeeded(parser.parseOptionalKeyword("valid")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        return failure(exprs.parse(low.emplace_back()) || parser.parseColon() || exprs.parse(high.emplace_back()));
      }))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BlockAttr>(loc, parser.getContext(), shape, strides, offset, low, high);
}

void BlockAttr::print(AsmPrinter &printer) const {
  auto &os = printer.getStream();
  os << "<[";
  llvm::interleaveComma(getShape(), os);
  os << "] strides [";
  llvm::interleaveComma(getStrides(), os);
  os << "]";
  if (constant(getOffset()) != 0)
    os << " offset " << getOffset();
  if (hasValid()) {
    os << " valid [";
    llvm::interleaveComma(llvm::zip(getValidLow(), getValidHigh()), os,
                          [&](auto pair) { os << std::get<0>(pair) << " : " << std::get<1>(pair); });
    os << "]";
  }
  os << ">";
}

LogicalResult BlockAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<AffineExpr> shape,
                                ArrayRef<AffineExpr> strides, AffineExpr offset, ArrayRef<AffineExpr> low,
                                ArrayRef<AffineExpr> high) {
  if (shape.size() != strides.size())
    return emitError() << "block has " << shape.size() << " extents but " << strides.size() << " strides";
  if (low.size() != high.size() || (!low.empty() && low.size() != shape.size()))
    return emitError() << "block needs one valid interval per dimension";
  for (AffineExpr extent : shape)
    if (auto value = constant(extent); value && *value < 0)
      return emitError() << "block has the negative extent " << *value;
  for (auto [l, h] : llvm::zip(low, high)) {
    auto lv = constant(l), hv = constant(h);
    if (lv && hv && *lv > *hv)
      return emitError() << "block has the empty interval " << *lv << " : " << *hv;
  }
  return success();
}

std::optional<int64_t> BlockAttr::constant(AffineExpr expr) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return value.getValue();
  return std::nullopt;
}

BlockAttr BlockAttr::rowMajor(MLIRContext *context, ArrayRef<int64_t> shape) {
  SmallVector<AffineExpr> extents, strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = getAffineConstantExpr(stride, context);
    stride *= shape[i];
  }
  for (int64_t extent : shape)
    extents.push_back(getAffineConstantExpr(extent, context));
  return get(context, extents, strides, getAffineConstantExpr(0, context), {}, {});
}

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

unsigned MapAttr::getNumSymbols() const {
  unsigned count = 0;
  auto scan = [&](ArrayRef<AffineExpr> exprs) {
    for (AffineExpr expr : exprs)
      expr.walk([&](AffineExpr e) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
          count = std::max(count, symbol.getPosition() + 1);
      });
  };
  for (BlockAttr block : getBlocks()) {
    scan(block.getShape());
    scan(block.getStrides());
    scan(block.getOffset());
    scan(block.getValidLow());
    scan(block.getValidHigh());
  }
  return count;
}

MapAttr MapAttr::identity(MLIRContext *context, ArrayRef<int64_t> shape) {
  return get(context, BlockAttr::rowMajor(context, shape));
}

//===----------------------------------------------------------------------===//
// Layouts and schedules
//===----------------------------------------------------------------------===//

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned swizzle) {
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "swizzle is 0, 32, 64 or 128 bytes, not " << swizzle;
  return success();
}

LogicalResult PixelsAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> low,
                                 ArrayRef<int64_t> high, ArrayRef<int64_t> steps) {
  const size_t positions = low.size();
  if (positions < 1 || positions > 3 || high.size() != positions || steps.size() != positions)
    return emitError() << "pixels have one to three dimensions, not " << positions << ", " << high.size() << " and "
                       << steps.size();
  const int64_t reach = PixelsAttr::reach(positions);
  for (int64_t corner : llvm::concat<const int64_t>(low, high))
    if (corner < -reach || corner >= reach)
      return emitError() << "the corner " << corner << " of pixels is not between " << -reach << " and " << reach - 1;
  for (int64_t step : steps)
    if (step < 1 || step > mostSteps)
      return emitError() << "steps of pixels are 1 to " << mostSteps << ", not " << step;
  return success();
}

LogicalResult GridStepAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr, int64_t tile) {
  if (tile <= 0)
    return emitError() << "a grid step's tile must be positive, not " << tile;
  return success();
}

LogicalResult LoopStepAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr, int64_t tile) {
  if (tile <= 0)
    return emitError() << "a loop step's tile must be positive, not " << tile;
  return success();
}

LogicalResult OnlineStepAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr, int64_t tile) {
  if (tile <= 0)
    return emitError() << "an online step's tile must be positive, not " << tile;
  return success();
}

LogicalResult StageStepAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned operand, Space space) {
  if (operand > 1)
    return emitError() << "a dot has operands 0 and 1, not " << operand;
  if (space == Space::Global)
    return emitError() << "tiles are staged in shared or private memory";
  return success();
}

Attribute BlockingAttr::parse(AsmParser &parser, Type) {
  int64_t rows, columns, rowBlock, depth;
  bool packLhs = false, packRhs = false, alongDepth = false, narrow = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(rows) || parser.parseKeyword("x") || parser.parseInteger(columns))
    return {};
  if (succeeded(parser.parseOptionalKeyword("along"))) {
    if (parser.parseKeyword("depth"))
      return {};
    alongDepth = true;
  }
  if (parser.parseComma() || parser.parseKeyword("rows") || parser.parseInteger(rowBlock) || parser.parseComma() ||
      parser.parseKeyword("depth") || parser.parseInteger(depth))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("pack"))) {
    packLhs = succeeded(parser.parseOptionalKeyword("lhs"));
    packRhs = packLhs ? succeeded(parser.parseOptionalKeyword("rhs")) : true;
    if (!packLhs && parser.parseKeyword("rhs"))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if (more) {
    if (parser.parseKeyword("narrow"))
      return {};
    narrow = true;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BlockingAttr>(loc, parser.getContext(), rows, columns, rowBlock, depth, packLhs, packRhs,
                                         alongDepth, narrow);
}

void BlockingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << " x " << getColumns() << (getAlongDepth() ? " along depth" : "") << ", rows "
          << getRowBlock() << ", depth " << getDepth();
  if (getPackLhs() || getPackRhs())
    printer << ", pack" << (getPackLhs() ? " lhs" : "") << (getPackRhs() ? " rhs" : "");
  printer << (getNarrow() ? ", narrow>" : ">");
}

LogicalResult BlockingAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns,
                                   int64_t rowBlock, int64_t depth, bool packLhs, bool packRhs, bool alongDepth,
                                   bool narrow) {
  if (rows <= 0 || columns <= 0 || rowBlock <= 0 || depth <= 0)
    return emitError() << "blocks of a dot must have a positive size";
  if (rowBlock % rows != 0)
    return emitError() << "blocks of " << rowBlock << " rows are not a multiple of tiles of " << rows;
  if (alongDepth && packRhs)
    return emitError() << "a right factor that is read along the contraction is not packed";
  if (narrow && (alongDepth || rows % 8 != 0 || columns % 8 != 0 || (rows % 16 != 0 && columns % 16 != 0)))
    return emitError() << "tiles of " << rows << " x " << columns
                       << " do not fit a matrix unit, whose blocks have 16 x 16 elements, or 16 x 8";
  return success();
}

TensorStepAttr::WarpPart TensorStepAttr::warpPart(int64_t rows, int64_t columns, int64_t warps) {
  WarpPart best;
  for (int64_t down = 1; down <= warps; down *= 2) {
    const int64_t across = warps / down;
    if (warps % down != 0 || rows % (16 * down) != 0 || columns % (16 * across) != 0)
      continue;
    // Factors are read less often; and of two that are alike, the one with longer rows of results.
    const WarpPart part{down, rows / down, columns / across};
    if (best.down == 0 || part.rows + part.columns <= best.rows + best.columns)
      best = part;
  }
  return best;
}

/// Steps for cards before Hopper.
static LogicalResult verifyWarps(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns,
                                 int64_t depth, int64_t stages, int64_t split, int64_t warps) {
  const auto part = TensorStepAttr::warpPart(rows, columns, warps);
  if ((warps != 4 && warps != 8) || rows <= 0 || columns <= 0 || !part.down || part.rows * part.columns > 64 * 64)
    return emitError() << "4 or 8 warps share a tile, 16 x 16 to 64 x 64 of it each; " << warps << " do not share "
                       << rows << " x " << columns;
  if (!llvm::isPowerOf2_64(depth) || depth < 16 || depth > 128 || stages < 2 || split != 1)
    return emitError()
           << "slices of 16, 32, 64 or 128 elements pass through two stages or more of one workgroup, not of " << depth
           << " through " << stages << " of " << split;
  return success();
}

LogicalResult TensorStepAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns,
                                     int64_t depth, int64_t stages, int64_t group, int64_t split, bool tf32,
                                     int64_t warps) {
  if (group <= 0)
    return emitError() << "columns of " << group << " tiles are walked";
  if (warps != 0)
    return verifyWarps(emitError, rows, columns, depth, stages, split, warps);
  if ((rows != 64 && rows != 128 && rows != 192) || columns <= 0 || columns % 16 != 0 || columns > 256)
    return emitError() << "tiles of tensor cores have 64, 128 or 192 rows and 16, 32 and so on to 256 columns, not "
                       << rows << " x " << columns;
  if (split < 1 || split > 8 || columns % (16 * split) != 0)
    return emitError() << "at most 8 workgroups share a tile, and each finishes 16 columns or a multiple; " << split
                       << " do not share " << columns;
  if ((depth != 32 && depth != 64 && depth != 128) || stages < 2)
    return emitError() << "slices of 32, 64 or 128 elements pass through two stages or more, not of " << depth
                       << " through " << stages;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<Attribute> steps) {
  for (Attribute step : steps)
    if (!isa<GridStepAttr, LoopStepAttr, StageStepAttr, BlockStepAttr, SwapStepAttr, OnlineStepAttr, StreamStepAttr,
             TensorStepAttr>(step))
      return emitError() << "schedule holds " << step << ", which is no step";
    else if (isa<TensorStepAttr>(step) && steps.size() != 1)
      return emitError() << "schedule holds " << step << " and other steps";
  return success();
}

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  StringRef keyword;
  Attribute layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(elementType) || parser.parseComma())
    return {};
  SMLoc keywordLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<Space> space = symbolizeSpace(keyword);
  if (!space) {
    parser.emitError(keywordLoc, "memory is global, shared or private, not ") << keyword;
    return {};
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(loc, parser.getContext(), shape, elementType, *space, layout);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  if (!getShape().empty())
    printer << "x";
  printer << getElementType() << ", " << stringifySpace(getSpace());
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                               Space space, Attribute layout) {
  if (!elementType.isSignlessInteger() && !isa<FloatType>(elementType) && !elementType.isIndex())
    return emitError() << "elements of a view are signless integers or floats, not " << elementType;
  if (layout && space != Space::Shared)
    return emitError() << "only views of shared memory have a layout";
  if (layout && !isa<SharedAttr>(layout))
    return emitError() << "the layout of shared memory is #kernel.shared, not " << layout;
  if (auto shared = dyn_cast_or_null<SharedAttr>(layout); shared && shared.getSwizzle() != 0) {
    int64_t rowBytes = shape.empty() ? 0 : shape.back() * elementType.getIntOrFloatBitWidth() / 8;
    if (rowBytes <= 0 || rowBytes % shared.getSwizzle() != 0)
      return emitError() << "a swizzle of " << shared.getSwizzle() << " bytes needs rows of a multiple of it, not of "
                         << rowBytes;
  }
  return success();
}
