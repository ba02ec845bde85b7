//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GPUInstructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace zyx::kernel;

namespace {

/// Behind the conversions of small floats, which have no bits in a register of two.
void lowerWarpProducts(LLVM::LLVMFuncOp func) {
  func.walk([](WarpMultiplyOp multiply) {
    OpBuilder builder(multiply);
    Location loc = multiply.getLoc();
    const bool isHalf = multiply.getElement().isF16();
    const NVVM::MMATypes kind = isHalf ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    auto unpack = [&](Value vector) {
      SmallVector<Value> registers;
      for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i)
        registers.push_back(vector::ExtractOp::create(builder, loc, vector, i));
      return registers;
    };
    auto asFactor = [&](Value vector) {
      SmallVector<Value> registers = unpack(vector);
      for (Value &each : registers)
        if (isHalf)
          each = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, multiply.getElement()), each);
      return registers;
    };
    const SmallVector<Value> left = asFactor(multiply.getLhs()), right = asFactor(multiply.getRhs()),
                             sums = unpack(multiply.getAcc());
    auto four = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
    Value made = NVVM::MmaOp::create(builder, loc, four, left, right, sums, ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
                                     std::nullopt, std::array{kind, kind},
                                     std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    SmallVector<Value> all;
    for (int64_t i = 0; i < 4; ++i)
      all.push_back(LLVM::ExtractValueOp::create(builder, loc, made, i));
    multiply.replaceAllUsesWith(
        vector::FromElementsOp::create(builder, loc, cast<VectorType>(multiply.getType()), all).getResult());
    multiply.erase();
  });
}

/// Whole vectors of small elements are chosen as words: an instruction chooses 32 bits, and of less two are taken apart
/// and put together again.
void selectWords(LLVM::LLVMFuncOp func) {
  constexpr int64_t wordBits = 32;
  func.walk([&](arith::SelectOp select) {
    auto type = dyn_cast<VectorType>(select.getType());
    if (!type || isa<VectorType>(select.getCondition().getType()) || type.getRank() != 1 ||
        !type.getElementType().isIntOrFloat())
      return;
    const int64_t width = type.getElementTypeBitWidth(), bits = width * type.getNumElements();
    if ((width != 8 && width != 16) || bits % wordBits != 0)
      return;
    OpBuilder builder(select);
    Location loc = select.getLoc();
    auto words = VectorType::get(bits / wordBits, builder.getI32Type());
    Value yes = vector::BitCastOp::create(builder, loc, words, select.getTrueValue()),
          no = vector::BitCastOp::create(builder, loc, words, select.getFalseValue());
    Value chosen = arith::SelectOp::create(builder, loc, select.getCondition(), yes, no);
    select.replaceAllUsesWith(vector::BitCastOp::create(builder, loc, type, chosen).getResult());
    select.erase();
  });
}

/// NVVM, for NVIDIA's GPUs.
class NVVMInstructions final : public GPUInstructions {
public:
  Value id(OpBuilder &builder, Location loc, IdKind kind) const override {
    Type i32 = builder.getI32Type();
    return kind == IdKind::Thread ? NVVM::ThreadIdXOp::create(builder, loc, i32).getResult()
                                  : NVVM::BlockInClusterIdXOp::create(builder, loc, i32).getResult();
  }

  void barrier(OpBuilder &builder, Location loc, Scope scope, BarrierMemory,
               std::optional<int64_t> threads) const override {
    if (scope == Scope::Cluster) {
      NVVM::ClusterArriveOp::create(builder, loc, builder.getUnitAttr());
      NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
    } else if (threads) {
      auto constant = [&](int64_t value) -> Value {
        return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
      };
      // Not the one of all threads, at which the others may wait already.
      NVVM::BarrierOp::create(builder, loc, Type(), /*barrierId=*/constant(1), constant(*threads),
                              NVVM::BarrierReductionAttr(), Value());
    } else {
      NVVM::Barrier0Op::create(builder, loc);
    }
  }

  Value shuffle(OpBuilder &builder, Location loc, Value value, int64_t distance) const override {
    auto constant = [&](int64_t number) -> Value {
      return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(number)));
    };
    constexpr int64_t all = -1, lastLane = 31;
    return NVVM::ShflOp::create(builder, loc, builder.getI32Type(), constant(all), value, constant(distance),
                                constant(lastLane), NVVM::ShflKind::bfly, UnitAttr());
  }

  Value peer(OpBuilder &builder, Location loc, Value address, Value group) const override {
    return NVVM::MapaOp::create(builder, loc, address.getType(), address, group);
  }

  SmallVector<Value> readMatrix(OpBuilder &builder, Location loc, Value address, bool transposed) const override {
    auto shared = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace());
    Value from = LLVM::AddrSpaceCastOp::create(builder, loc, shared, address);
    auto words = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, builder.getI32Type()));
    auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
    Value loaded =
        NVVM::LdMatrixOp::create(builder, loc, words, from, 4, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                 shape, NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> each;
    for (int64_t word = 0; word < 4; ++word)
      each.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, word));
    return each;
  }

  /// LLVM has no word for it. That nobody writes there is known: a kernel reads no buffer that it writes.
  Value loadPastFirstCache(OpBuilder &builder, Location loc, Value address, VectorType type) const override {
    Type i32 = builder.getI32Type();
    auto global =
        LLVM::LLVMPointerType::get(builder.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
    Value from = LLVM::AddrSpaceCastOp::create(builder, loc, global, address);
    auto words = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, i32));
    Value read = LLVM::InlineAsmOp::create(
                     builder, loc, TypeRange(words), ValueRange(from),
                     "ld.global.nc.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l",
                     /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                     LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
                     .getResult(0);
    SmallVector<Value> all;
    for (int64_t word = 0; word < 4; ++word)
      all.push_back(LLVM::ExtractValueOp::create(builder, loc, read, word));
    Value vector = vector::FromElementsOp::create(builder, loc, VectorType::get(4, i32), all);
    return vector::BitCastOp::create(builder, loc, type, vector);
  }

  unsigned globalSpace() const override { return static_cast<unsigned>(NVVM::NVVMMemorySpace::Global); }
  PairIntrinsics pairs() const override {
    return {"llvm.nvvm.fma.rn.", "llvm.nvvm.fmax.nan.", "llvm.nvvm.fmin.nan.", "f16x2", "bf16x2"};
  }

  unsigned sharedSpace() const override { return static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared); }

  Value groupSize(OpBuilder &builder, Location loc) const override {
    return NVVM::BlockDimXOp::create(builder, loc, builder.getI32Type());
  }

  Value numGroups(OpBuilder &builder, Location loc) const override {
    return NVVM::GridDimXOp::create(builder, loc, builder.getI32Type());
  }

  Value group(OpBuilder &builder, Location loc) const override {
    return NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  }

  void markKernel(LLVM::LLVMFuncOp func, Launch launch) const override {
    Builder builder(func.getContext());
    func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    func->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), builder.getDenseI32ArrayAttr({launch.threads}));
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(launch.minWorkgroups));
    // A workgroup finds its part of a kernel in a few comparisons; a table would be in memory.
    SmallVector<Attribute> passed(func.getPassthroughAttr().getValue());
    passed.push_back(builder.getStrArrayAttr({"no-jump-tables", "true"}));
    func.setPassthroughAttr(builder.getArrayAttr(passed));
    if (launch.cluster > 1)
      func->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), builder.getDenseI32ArrayAttr({launch.cluster, 1, 1}));
  }

  void lowerArithmetic(LLVM::LLVMFuncOp func) const override {
    lowerPowers(func, "llvm.nvvm.ex2.approx.ftz.f");
    lowerWarpProducts(func);
    selectWords(func);
  }
};

} // namespace

const GPUInstructions &zyx::kernel::nvvmInstructions() {
  static const NVVMInstructions instructions;
  return instructions;
}
