//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TileInterpreter.h"

#include "zyx/Dialect/Kernel/IR/MapAlgebra.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace mlir;

namespace zyx::kernel {

double roundTo(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat number(value);
    bool inexact;
    number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return number.convertToDouble();
  }
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  int64_t bits = static_cast<int64_t>(value);
  if (width == 1)
    return bits & 1;
  return width == 64 ? value : static_cast<double>(llvm::SignExtend64(bits, width));
}

static unsigned bytesOf(Type element) { return element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8; }

std::vector<std::byte> encode(const TestBuffer &buffer) {
  unsigned size = bytesOf(buffer.element);
  std::vector<std::byte> bytes(size * buffer.elements.size());
  for (auto [i, value] : llvm::enumerate(buffer.elements)) {
    uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    if (auto floatType = dyn_cast<FloatType>(buffer.element)) {
      APFloat number(value);
      bool inexact;
      number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
      bits = number.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(&bytes[i * size], &bits, size);
  }
  return bytes;
}

std::vector<double> decode(Type element, const std::byte *bytes, size_t count) {
  unsigned size = bytesOf(element);
  std::vector<double> result(count);
  for (size_t i = 0; i != count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes + i * size, size);
    if (auto floatType = dyn_cast<FloatType>(element)) {
      APFloat number(floatType.getFloatSemantics(), APInt(8 * size, bits));
      bool inexact;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
      result[i] = number.convertToDouble();
    } else {
      result[i] =
          element.isInteger(1) ? static_cast<double>(bits) : static_cast<double>(llvm::SignExtend64(bits, 8 * size));
    }
  }
  return result;
}

namespace {

/// Calls `body` with every index below the extents.
void forEach(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    body(index);
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

struct Tile {
  SmallVector<int64_t> shape;
  std::vector<double> elements;

  explicit Tile(ArrayRef<int64_t> shape = {}) : shape(shape), elements(ShapedType::getNumElements(shape)) {}
  double &at(ArrayRef<int64_t> index) {
    int64_t place = 0;
    for (auto [i, extent] : llvm::zip_equal(index, shape))
      place = place * extent + i;
    return elements[place];
  }
};

double combine(Combine kind, Type type, double a, double b) {
  // Read as unsigned, negative numbers are the largest ones.
  auto unsignedLess = [](double x, double y) { return (x < 0) == (y < 0) ? x < y : y < 0; };
  switch (kind) {
  case Combine::Add:
    return roundTo(type, a + b);
  case Combine::Mul:
    return roundTo(type, a * b);
  case Combine::Max:
    return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  case Combine::Min:
    return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  case Combine::UMax:
    return unsignedLess(a, b) ? b : a;
  case Combine::UMin:
    return unsignedLess(a, b) ? a : b;
  case Combine::And:
    return roundTo(type, static_cast<double>(int64_t(a) & int64_t(b)));
  case Combine::Or:
    return roundTo(type, static_cast<double>(int64_t(a) | int64_t(b)));
  }
  return NAN;
}

double identityOf(Combine kind, Type type) {
  bool isFloat = isa<FloatType>(type);
  double limit = isFloat ? INFINITY : std::ldexp(1.0, type.getIntOrFloatBitWidth() - 1);
  switch (kind) {
  case Combine::Mul:
    return 1;
  case Combine::Max:
    return -limit;
  case Combine::Min:
    return isFloat ? limit : limit - 1;
  case Combine::UMin:
  case Combine::And:
    return roundTo(type, -1);
  default:
    return 0;
  }
}

class Interpreter {
public:
  explicit Interpreter(std::vector<TestBuffer> &buffers) : buffers(buffers) {}

  LogicalResult run(FuncOp func) {
    for (Operation &op : func.getBody().front().without_terminator())
      if (failed(visit(&op)))
        return failure();
    return success();
  }

private:
  ArrayRef<int64_t> shapeOf(Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor ? tensor.getShape() : ArrayRef<int64_t>();
  }
  double scalar(Value value) { return tiles[value].elements.front(); }

  /// The element of a view's buffer, or null where there is none.
  double *find(Value view, ArrayRef<int64_t> index) {
    auto op = view.getDefiningOp<ViewOp>();
    for (auto [i, extent] : llvm::zip_equal(index, op.getType().getShape()))
      if (i < 0 || i >= extent)
        return nullptr;
    std::optional<int64_t> place = evaluateMap(op.getMap(), index);
    if (!place)
      return nullptr;
    return &buffers[cast<BlockArgument>(op.getBuffer()).getArgNumber()].elements.at(*place);
  }

  LogicalResult visit(Operation *op) {
    if (isa<ViewOp>(op))
      return success();
    if (auto store = dyn_cast<StoreOp>(op)) {
      forEach(shapeOf(store.getValue()), [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> at;
        for (auto [i, base] : llvm::zip_equal(index, store.getIndices()))
          at.push_back(i + static_cast<int64_t>(scalar(base)));
        if (double *element = find(store.getView(), at))
          *element = tiles[store.getValue()].at(index);
      });
      return success();
    }
    Value result = op->getResult(0);
    Type element = getElementTypeOrSelf(result.getType());
    Tile tile(shapeOf(result));
    auto fill = [&](llvm::function_ref<double(ArrayRef<int64_t>)> value) {
      forEach(tile.shape, [&](ArrayRef<int64_t> index) { tile.at(index) = value(index); });
    };
    auto operand = [&](unsigned i) -> Tile & { return tiles[op->getOperand(i)]; };

    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto number = [](Attribute attr) {
        if (auto f = dyn_cast<FloatAttr>(attr)) {
          APFloat value = f.getValue();
          bool inexact;
          value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
          return value.convertToDouble();
        }
        APInt value = cast<IntegerAttr>(attr).getValue();
        return value.getBitWidth() == 1 ? double(value.getZExtValue()) : double(value.getSExtValue());
      };
      Attribute value = constant.getValue();
      if (auto dense = dyn_cast<DenseElementsAttr>(value))
        value = dense.getSplatValue<Attribute>();
      fill([&](ArrayRef<int64_t>) { return number(value); });
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      double other = load.getOther() ? scalar(load.getOther()) : 0;
      fill([&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> at;
        for (auto [i, base] : llvm::zip_equal(index, load.getIndices()))
          at.push_back(i + static_cast<int64_t>(scalar(base)));
        double *found = find(load.getView(), at);
        return found ? *found : other;
      });
    } else if (auto gather = dyn_cast<GatherOp>(op)) {
      fill([&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> at;
        for (Value tileOfIndices : gather.getIndices())
          at.push_back(static_cast<int64_t>(tiles[tileOfIndices].at(index)));
        double *found = find(gather.getView(), at);
        return found ? *found : 0;
      });
    } else if (isa<SplatOp>(op)) {
      fill([&](ArrayRef<int64_t>) { return scalar(op->getOperand(0)); });
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      double base = iota.getBase() ? scalar(iota.getBase()) : 0;
      fill([&](ArrayRef<int64_t> index) { return roundTo(element, base + double(index[iota.getDim()])); });
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      fill([&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> at;
        for (int64_t dim : broadcast.getDims())
          at.push_back(index[dim]);
        return operand(0).at(at);
      });
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      fill([&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> at(index.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getOrder()))
          at[dim] = index[i];
        return operand(0).at(at);
      });
    } else if (isa<ReshapeOp, ConvertOp>(op)) {
      tile.elements = operand(0).elements;
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      fill([&](ArrayRef<int64_t>) { return identityOf(reduce.getKind(), element); });
      forEach(operand(0).shape, [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> at;
        for (auto [dim, i] : llvm::enumerate(index))
          if (!llvm::is_contained(reduce.getDims(), int64_t(dim)))
            at.push_back(i);
        tile.at(at) = combine(reduce.getKind(), element, tile.at(at), operand(0).at(index));
      });
    } else if (isa<DotOp>(op)) {
      size_t rank = tile.shape.size();
      int64_t depth = operand(0).shape[rank - 1];
      fill([&](ArrayRef<int64_t> index) {
        double sum = operand(2).at(index);
        SmallVector<int64_t> l(index), r(index);
        for (int64_t k = 0; k < depth; ++k) {
          l[rank - 1] = k;
          r[rank - 2] = k;
          sum += operand(0).at(l) * operand(1).at(r);
        }
        return roundTo(element, sum);
      });
    } else {
      std::function<double(ArrayRef<double>)> function = elementwise(op);
      if (!function)
        return op->emitError("is not known to the tests' interpreter");
      fill([&](ArrayRef<int64_t> index) {
        SmallVector<double> arguments;
        for (Value value : op->getOperands())
          arguments.push_back(shapeOf(value).empty() ? scalar(value) : tiles[value].at(index));
        return roundTo(element, function(arguments));
      });
    }
    tiles[result] = std::move(tile);
    return success();
  }

  static std::function<double(ArrayRef<double>)> elementwise(Operation *op) {
    using Arguments = ArrayRef<double>;
    return llvm::TypeSwitch<Operation *, std::function<double(Arguments)>>(op)
        .Case<arith::AddFOp, arith::AddIOp>([](auto) { return [](Arguments a) { return a[0] + a[1]; }; })
        .Case<arith::SubFOp, arith::SubIOp>([](auto) { return [](Arguments a) { return a[0] - a[1]; }; })
        .Case<arith::MulFOp, arith::MulIOp>([](auto) { return [](Arguments a) { return a[0] * a[1]; }; })
        .Case<arith::DivFOp>([](auto) { return [](Arguments a) { return a[0] / a[1]; }; })
        .Case<arith::DivSIOp>([](auto) { return [](Arguments a) { return std::trunc(a[0] / a[1]); }; })
        .Case<arith::RemSIOp>([](auto) { return [](Arguments a) { return std::fmod(a[0], a[1]); }; })
        .Case<arith::NegFOp>([](auto) { return [](Arguments a) { return -a[0]; }; })
        .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return [](Arguments a) { return std::max(a[0], a[1]); }; })
        .Case<arith::SelectOp>([](auto) { return [](Arguments a) { return a[0] != 0 ? a[1] : a[2]; }; })
        .Case<arith::CmpFOp, arith::CmpIOp>([](auto) { return [](Arguments a) { return double(a[0] < a[1]); }; })
        .Case<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp,
              arith::FPToSIOp>([](auto) { return [](Arguments a) { return a[0]; }; })
        .Case<math::ExpOp>([](auto) { return [](Arguments a) { return std::exp(a[0]); }; })
        .Default([](Operation *) { return nullptr; });
  }

  std::vector<TestBuffer> &buffers;
  llvm::MapVector<Value, Tile> tiles;
};

} // namespace

std::vector<TestBuffer> makeBuffers(FuncOp func, unsigned seed) {
  std::vector<TestBuffer> buffers;
  std::vector<int64_t> lengths(func.getNumArguments(), 0);
  func.walk([&](ViewOp view) {
    int64_t &length = lengths[cast<BlockArgument>(view.getBuffer()).getArgNumber()];
    forEach(view.getType().getShape(), [&](ArrayRef<int64_t> index) {
      length = std::max(length, evaluateMap(view.getMap(), index).value_or(-1) + 1);
    });
  });
  std::mt19937 random(seed);
  for (auto [type, length] : llvm::zip_equal(func.getArgumentTypes(), lengths)) {
    TestBuffer buffer{cast<BufferType>(type).getElementType(), std::vector<double>(length)};
    for (double &element : buffer.elements)
      element = buffer.element.isInteger(1) ? random() % 2 : double(int(random() % 5)) - 2;
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

LogicalResult interpret(FuncOp func, std::vector<TestBuffer> &buffers) { return Interpreter(buffers).run(func); }

} // namespace zyx::kernel
