//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Rows of temporaries on multiples of what is copied at a time.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Schedule/Choices.h"
#include "zyx/Schedule/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::schedule {
#define GEN_PASS_DEF_PADROWSPASS
#include "zyx/Schedule/Passes.h.inc"
} // namespace zyx::schedule

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Longer rows begin on multiples of what memory gives at once, shorter ones on those of what a thread reads.
constexpr int64_t longRow = 2048;
/// Smaller temporaries are not worth it, and of shorter rows there would be much between them.
constexpr int64_t fewestBytes = 1 << 16, shortestRow = 64, shortestImage = 48;

/// The elements of a row, and those from one to the next.
struct Rows {
  int64_t extent, step;
  bool operator==(const Rows &) const = default;
};

class RowPadder {
public:
  RowPadder(ModuleOp module, const zyx::target::TargetInfo &target) : module(module), target(target), symbols(module) {}
  void run();

private:
  void findTemporaries();
  bool isFactor(zyx::plan::AllocOp alloc);
  bool checkKernels();
  void apply();

  ModuleOp module;
  const zyx::target::TargetInfo &target;
  SymbolTable symbols;
  zyx::schedule::Launches launches;
  llvm::MapVector<Value, Rows> padded;
};

struct PadRows : zyx::schedule::impl::PadRowsPassBase<PadRows> {
  void runOnOperation() override {
    const zyx::target::TargetInfo *target = requireTarget(getOperation());
    if (!target || target->simt.laneBytes == 0)
      return target ? void() : signalPassFailure();
    RowPadder(getOperation(), *target).run();
  }
};

} // namespace

/// How many of the last dimensions are a row: short ones, as those of images, are one together. None where even these
/// are too short.
static unsigned countRowDims(ArrayRef<int64_t> shape) {
  if (shape.back() >= shortestRow)
    return 1;
  int64_t extent = shape.back();
  for (unsigned count = 2; count < shape.size(); ++count)
    if (extent *= shape[shape.size() - count]; extent >= shortestImage)
      return count;
  return 0;
}

static int64_t bytesOf(zyx::plan::BufferType type) { return zyx::byteSize(type.getDtype()); }

/// The same elements in memory whose rows are further apart; null where an index would step out of a row into the next
/// one.
static BlockAttr padBlock(BlockAttr block, Rows rows) {
  const unsigned rank = block.getRank();
  std::optional<int64_t> offset = BlockAttr::constant(block.getOffset());
  if (!offset)
    return {};
  SmallVector<int64_t> strides, first;
  int64_t begin = *offset, reach = 0;
  for (unsigned dim = 0; dim < rank; ++dim) {
    std::optional<int64_t> extent = BlockAttr::constant(block.getShape()[dim]),
                           stride = BlockAttr::constant(block.getStrides()[dim]);
    std::optional<int64_t> low = 0, high = extent;
    if (block.hasValid()) {
      low = BlockAttr::constant(block.getValidLow()[dim]);
      high = BlockAttr::constant(block.getValidHigh()[dim]);
    }
    if (!extent || !stride || !low || !high || *stride < 0 || *low >= *high)
      return {};
    // Where there is one element the stride says nothing.
    const int64_t own = *high - *low == 1 ? 0 : *stride % rows.extent;
    strides.push_back(*stride / rows.extent * rows.step + *stride % rows.extent);
    first.push_back(*low);
    begin += *low * *stride;
    reach += (*high - *low - 1) * own;
  }
  if (begin < 0 || begin % rows.extent + reach >= rows.extent)
    return {};
  int64_t moved = begin / rows.extent * rows.step + begin % rows.extent;
  for (auto [low, stride] : llvm::zip(first, strides))
    moved -= low * stride;
  MLIRContext *context = block.getContext();
  auto numbers = llvm::map_to_vector(strides, [&](int64_t value) { return getAffineConstantExpr(value, context); });
  return BlockAttr::get(context, block.getShape(), numbers, getAffineConstantExpr(moved, context), block.getValidLow(),
                        block.getValidHigh());
}

static MapAttr padMap(MapAttr map, Rows rows) {
  BlockAttr last = padBlock(map.getBlocks().back(), rows);
  if (!last)
    return {};
  SmallVector<BlockAttr> blocks(map.getBlocks());
  blocks.back() = last;
  return MapAttr::get(map.getContext(), blocks);
}

/// Whether all that a kernel does with an argument are views that could be others. Code of the user's own knows one
/// order of elements alone.
static bool canPad(BlockArgument argument, Rows rows) {
  if (cast<FuncOp>(argument.getOwner()->getParentOp()).getExternal())
    return false;
  return llvm::all_of(argument.getUsers(), [&](Operation *user) {
    auto view = dyn_cast<ViewOp>(user);
    return view && view.getSymbols().empty() && padMap(view.getMap(), rows);
  });
}

/// Whether a product reads it, whose copy engine fetches whole lines where rows begin on them.
bool RowPadder::isFactor(zyx::plan::AllocOp alloc) {
  return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
    auto launch = dyn_cast<zyx::plan::LaunchOp>(user);
    auto kernel = launch ? symbols.lookup<FuncOp>(launch.getKernel()) : FuncOp();
    return kernel && llvm::is_contained(launch.getIns(), alloc.getResult()) &&
           !kernel.getBody().getOps<DotOp>().empty();
  });
}

/// Temporaries that kernels alone read and write, as a whole.
void RowPadder::findTemporaries() {
  module.walk([&](zyx::plan::AllocOp alloc) {
    auto type = cast<zyx::plan::BufferType>(alloc.getType());
    ArrayRef<int64_t> shape = type.getShape();
    const int64_t bytes = bytesOf(type);
    if (alloc.getKept() || shape.size() < 2 || alloc.use_empty())
      return;
    const unsigned rowDims = countRowDims(shape);
    if (rowDims == 0)
      return;
    const int64_t extent = ShapedType::getNumElements(shape.take_back(rowDims)),
                  elements = ShapedType::getNumElements(shape);
    const int64_t apart = extent * bytes < longRow || (extent * bytes % target.simt.laneBytes == 0 && !isFactor(alloc))
                              ? target.simt.laneBytes
                              : target.memory.lineBytes;
    if (extent * bytes % apart == 0 || elements * bytes < fewestBytes)
      return;
    const bool isPlain = llvm::all_of(alloc->getUsers(), [](Operation *user) {
      auto launch = dyn_cast<zyx::plan::LaunchOp>(user);
      return launch && !launch.getUpdates();
    });
    if (isPlain)
      padded[alloc.getResult()] = {extent, static_cast<int64_t>(llvm::alignTo(extent, apart / bytes))};
  });
}

/// Takes those out that a kernel cannot be given, because of how it reads or because other launches of it do not have
/// such rows; false where there were some, and others may follow.
bool RowPadder::checkKernels() {
  const size_t before = padded.size();
  for (auto func : module.getOps<FuncOp>()) {
    ArrayRef<zyx::plan::LaunchOp> own = launches[func.getName()];
    for (unsigned at = 0; at < func.getNumArguments(); ++at) {
      std::optional<Rows> rows;
      SmallVector<Value> buffers;
      bool isSame = true;
      for (zyx::plan::LaunchOp launch : own) {
        const size_t count = launch.getIns().size();
        if (at >= count + launch.getOuts().size())
          continue;
        Value buffer = at < count ? launch.getIns()[at] : launch.getOuts()[at - count];
        auto found = padded.find(buffer);
        isSame &= found != padded.end() && (!rows || *rows == found->second);
        if (found != padded.end()) {
          rows = found->second;
          buffers.push_back(buffer);
        }
      }
      if (rows && isSame && canPad(func.getArgument(at), *rows))
        continue;
      for (Value buffer : buffers)
        padded.erase(buffer);
    }
  }
  return padded.size() == before;
}

void RowPadder::apply() {
  for (auto func : module.getOps<FuncOp>()) {
    ArrayRef<zyx::plan::LaunchOp> own = launches[func.getName()];
    if (own.empty())
      continue;
    zyx::plan::LaunchOp launch = own.front();
    SmallVector<Value> buffers(launch.getIns());
    llvm::append_range(buffers, launch.getOuts());
    for (auto [at, buffer] : llvm::enumerate(buffers))
      if (auto found = padded.find(buffer); found != padded.end())
        for (Operation *user : func.getArgument(at).getUsers()) {
          auto view = cast<ViewOp>(user);
          view.setMapAttr(padMap(view.getMap(), found->second));
        }
  }
  for (auto &[buffer, rows] : padded) {
    auto type = cast<zyx::plan::BufferType>(buffer.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.truncate(shape.size() - countRowDims(shape));
    shape.push_back(rows.step);
    buffer.setType(
        zyx::plan::BufferType::get(module.getContext(), {type.getDtype(), zyx::Shape(shape.begin(), shape.end())}));
    remark::passed(buffer.getLoc(), remark::RemarkOpts::name("PadRows").category("zyx-schedule"))
        << "rows of a temporary of " << std::to_string(rows.extent) << " elements are " << std::to_string(rows.step)
        << " apart";
  }
}

void RowPadder::run() {
  findTemporaries();
  launches = zyx::schedule::collectLaunches(module);
  while (!padded.empty() && !checkKernels())
    ;
  apply();
}
