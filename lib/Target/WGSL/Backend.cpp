//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// WGSL as a table. Its integers have 32 bits, and an index is one: -zyx-kernel-narrow-indices says which indices fit.
// WGSL lets an implementation take NaN and infinity for absent, so both are told by their bits.
//===----------------------------------------------------------------------===//
#include "zyx/Target/WGSL/WGSL.h"

#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Text/Printer.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace zyx;
using namespace zyx::target;

namespace {

constexpr Elements boolean = just(Element::Bool), i32 = just(Element::I32), f32 = just(Element::F32);

// Comparisons of floats are ordered ones and their opposites: naga 29 makes `x != x` a comparison that no NaN passes.
constexpr OpText ops[] = {
    {"arith.addi", i32, "($0 + $1)"},
    {"arith.addi", boolean, "($0 != $1)"},
    {"arith.subi", i32, "($0 - $1)"},
    {"arith.subi", boolean, "($0 != $1)"},
    {"arith.muli", i32, "($0 * $1)"},
    {"arith.muli", boolean, "($0 && $1)"},
    {"arith.divui", i32, "($0 / $1)"},
    {"arith.remui", i32, "($0 % $1)"},
    {"arith.divsi", i32, "$T($a / $b)"},
    {"arith.remsi", i32, "$T($a % $b)"},
    {"arith.floordivsi", i32, "$T(zyx_floordiv($a, $b))"},
    {"arith.ceildivsi", i32, "$T(-zyx_floordiv(-$a, $b))"},
    {"arith.ceildivui", i32, "($0 / $1 + u32($0 % $1 != 0u))"},
    {"arith.andi", boolean, "($0 && $1)"},
    {"arith.ori", boolean, "($0 || $1)"},
    {"arith.xori", boolean, "($0 != $1)"},
    {"arith.andi", i32, "($0 & $1)"},
    {"arith.ori", i32, "($0 | $1)"},
    {"arith.xori", i32, "($0 ^ $1)"},
    {"arith.shli", i32, "select(0u, $0 << ($1 & 31u), $1 < 32u)"},
    {"arith.shrui", i32, "select(0u, $0 >> ($1 & 31u), $1 < 32u)"},
    {"arith.shrsi", i32, "$T($a >> min($1, 31u))"},
    {"arith.minsi", i32, "$T(min($a, $b))"},
    {"arith.maxsi", i32, "$T(max($a, $b))"},
    {"arith.minui", i32, "min($0, $1)"},
    {"arith.maxui", i32, "max($0, $1)"},
    {"arith.minui", boolean, "($0 && $1)"},
    {"arith.maxui", boolean, "($0 || $1)"},
    {"arith.mului_extended", i32, "$0 * $1|zyx_mulhu($0, $1)"},
    {"arith.mulsi_extended", i32, "$0 * $1|zyx_mulhs($0, $1)"},
    {"arith.cmpi eq", i32 | boolean, "($0 == $1)"},
    {"arith.cmpi ne", i32 | boolean, "($0 != $1)"},
    {"arith.cmpi ult", i32, "($0 < $1)"},
    {"arith.cmpi ule", i32, "($0 <= $1)"},
    {"arith.cmpi ugt", i32, "($0 > $1)"},
    {"arith.cmpi uge", i32, "($0 >= $1)"},
    {"arith.cmpi ult", boolean, "(!$0 && $1)"},
    {"arith.cmpi ule", boolean, "(!$0 || $1)"},
    {"arith.cmpi ugt", boolean, "($0 && !$1)"},
    {"arith.cmpi uge", boolean, "($0 || !$1)"},
    {"arith.cmpi slt", i32, "($a < $b)"},
    {"arith.cmpi sle", i32, "($a <= $b)"},
    {"arith.cmpi sgt", i32, "($a > $b)"},
    {"arith.cmpi sge", i32, "($a >= $b)"},
    {"arith.select", allElements, "select($2, $1, $0)"},
    {"arith.extui", i32 | boolean, "$u"},
    {"arith.extsi", boolean, "(0u - u32($0))"},
    {"arith.extsi", i32, "$s"},
    {"arith.trunci bool", i32, "(($0 & 1u) != 0u)"},
    {"arith.trunci", i32, "$u"},
    {"arith.index_cast", i32, "$0"},
    {"arith.index_cast", boolean, "(0u - u32($0))"},
    {"arith.index_castui", i32 | boolean, "$u"},
    {"arith.sitofp", i32, "$s"},
    {"arith.sitofp", boolean, "(-$T($0))"},
    {"arith.uitofp", i32 | boolean, "$u"},
    {"arith.fptosi", f32, "zyx_f32_to_$R($0)"},
    {"arith.fptoui", f32, "zyx_f32_to_u$R($0)"},
    {"arith.bitcast", f32 | i32, "bitcast<$T>($0)"},
    {"arith.addf", f32, "($0 + $1)"},
    {"arith.subf", f32, "($0 - $1)"},
    {"arith.mulf", f32, "($0 * $1)"},
    {"arith.divf", f32, "($0 / $1)"},
    {"arith.negf", f32, "bitcast<f32>(bitcast<u32>($0) ^ 0x80000000u)"},
    {"arith.maximumf", f32, "zyx_maximum($0, $1)"},
    {"arith.minimumf", f32, "zyx_minimum($0, $1)"},
    {"arith.maxnumf", f32, "select(select(zyx_maximum($0, $1), $1, zyx_nan($0)), $0, zyx_nan($1))"},
    {"arith.minnumf", f32, "select(select(zyx_minimum($0, $1), $1, zyx_nan($0)), $0, zyx_nan($1))"},
    {"arith.cmpf oeq", f32, "($0 == $1)"},
    {"arith.cmpf ogt", f32, "($0 > $1)"},
    {"arith.cmpf oge", f32, "($0 >= $1)"},
    {"arith.cmpf olt", f32, "($0 < $1)"},
    {"arith.cmpf ole", f32, "($0 <= $1)"},
    {"arith.cmpf one", f32, "($0 < $1 || $0 > $1)"},
    {"arith.cmpf ord", f32, "!(zyx_nan($0) || zyx_nan($1))"},
    {"arith.cmpf ueq", f32, "!($0 < $1 || $0 > $1)"},
    {"arith.cmpf ugt", f32, "!($0 <= $1)"},
    {"arith.cmpf uge", f32, "!($0 < $1)"},
    {"arith.cmpf ult", f32, "!($0 >= $1)"},
    {"arith.cmpf ule", f32, "!($0 > $1)"},
    {"arith.cmpf une", f32, "!($0 == $1)"},
    {"arith.cmpf uno", f32, "(zyx_nan($0) || zyx_nan($1))"},
    {"math.fma", f32, "fma($0, $1, $2)"},
    {"math.sqrt", f32, "sqrt($0)"},
    {"math.absf", f32, "bitcast<f32>(bitcast<u32>($0) & 0x7fffffffu)"},
    {"math.floor", f32, "floor($0)"},
    {"math.ceil", f32, "ceil($0)"},
    {"math.trunc", f32, "trunc($0)"},
    {"math.roundeven", f32, "round($0)"},
    {"math.exp2", f32, "exp2($0)"},
    {"math.copysign", f32, "bitcast<f32>((bitcast<u32>($0) & 0x7fffffffu) | (bitcast<u32>($1) & 0x80000000u))"},
};

// Each in front of those that use it.
constexpr Helper helpers[] = {
    {"zyx_f32(", R"(// Not a constant: of those, a zero would be folded, and infinity and NaN are errors.
fn zyx_f32(bits: u32) -> f32 {
  return bitcast<f32>(bits ^ zyx_args[0].y);
}
)"},
    {"zyx_opaque(", R"(// WGSL lets a driver regroup sums and contract products; Mesa takes (x + y) - y for x.
fn zyx_opaque(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ zyx_args[0].y);
}
)"},
    {"zyx_nan(", R"(fn zyx_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
)"},
    {"zyx_floordiv(", R"(fn zyx_floordiv(a: i32, b: i32) -> i32 {
  return a / b - select(0, 1, a % b != 0 && (a < 0) != (b < 0));
}
)"},
    {"zyx_mulhu(", R"(fn zyx_mulhu(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}
)"},
    {"zyx_mulhs(", R"(fn zyx_mulhs(a: u32, b: u32) -> u32 {
  return zyx_mulhu(a, b) - select(0u, b, i32(a) < 0) - select(0u, a, i32(b) < 0);
}
)"},
    {"zyx_f32_to_i32(", R"(fn zyx_f32_to_i32(x: f32) -> u32 {
  return select(0u, u32(i32(x)), x >= -0x1p31f && x < 0x1p31f);
}
)"},
    {"zyx_f32_to_ui32(", R"(fn zyx_f32_to_ui32(x: f32) -> u32 {
  return select(0u, u32(x), x > -1.0f && x < 0x1p32f);
}
)"},
    // Of equal numbers those of zeros differ, in their signs.
    {"zyx_maximum(", R"(fn zyx_maximum(a: f32, b: f32) -> f32 {
  let larger = select(select(b, a, a > b), bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)), a == b);
  return select(select(larger, b, zyx_nan(b)), a, zyx_nan(a));
}
)"},
    {"zyx_minimum(", R"(fn zyx_minimum(a: f32, b: f32) -> f32 {
  let smaller = select(select(b, a, a < b), bitcast<f32>(bitcast<u32>(a) | bitcast<u32>(b)), a == b);
  return select(select(smaller, b, zyx_nan(b)), a, zyx_nan(a));
}
)"},
};

/// Buffers and what a workgroup shares are declared outside of a kernel, and buffers are bound in their order.
const ThreadLanguage threads = {
    .bufferParameter = nullptr,
    .scalarParameter = nullptr,
    .groupBegin = R"(@compute @workgroup_size($n)
fn k_$v(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let begin = group.x;
  let stride = groups.x;)",
    .bufferShared = "@group(0) @binding($n) var<storage, read_write> $v: array<$T>;",
    .thread = "thread",
    .barrier = "workgroupBarrier();",
    .barrierOfAll = "workgroupBarrier();\n  storageBarrier();",
    .sharedArray = "var<workgroup> $v: array<$T, $n>;",
    .scratchArray = nullptr,
    .isDeclaredOutside = true,
};

/// A kernel is named `k_` and what it is called, so that no word of the language is. Memory of one allocation that is
/// read here and written there may only be bound as one that is written.
const Language language = {
    .name = "WGSL",
    .values = {"bool", nullptr, nullptr, "u32", nullptr, nullptr, nullptr, "f32"},
    .memory = {nullptr, nullptr, nullptr, "u32", nullptr, nullptr, nullptr, "f32"},
    .signedValues = {nullptr, nullptr, nullptr, "i32"},
    .index = Element::I32,
    .suffixF32 = "",
    .cast = "$T($0)",
    .constant = "let $v: $T = $e;",
    .variable = "var $v: $T = $e;",
    .uninitialised = "var $v: $T;",
    .assignment = "$v = $e;",
    .privateArray = "var $v: array<$T, $n>;",
    .ifBegin = "if ($e) {",
    .elseBegin = "} else {",
    .forBegin = "for (var $v: $T = $a; $S($v) < $S($b); $v += $c) {",
    .foreverBegin = "loop {",
    .breakUnless = "if (!$e) { break; }",
    .blockEnd = "}",
    .element = "$v[$e]",
    .loadBool = nullptr,
    .storeBool = nullptr,
    // Both are evaluated: a read outside of a buffer is a number that nobody takes.
    .choice = "select($b, $a, $e)",
    .extend = nullptr,
    .truncateF32 = nullptr,
    .truncateF64 = nullptr,
    .oddFromI64 = nullptr,
    .oddFromU64 = nullptr,
    .literalBool = {"false", "true"},
    .literals = {nullptr, nullptr, nullptr, "$nu", nullptr, nullptr, nullptr, "$nf"},
    .bitsF32 = "zyx_f32($nu)",
    .bitsF64 = nullptr,
    .onlyNormalLiterals = true,
    .opaque = "zyx_opaque($0)",
    .ops = {ops},
    .helpers = {helpers},
    .head = R"(// Kernels printed by zyx: [0].x is the number of programs, [0].y is 0, and behind them are scalars.
@group(1) @binding(0) var<uniform> zyx_args: array<vec4<u32>, 16>;
)",
    .kernelBegin = R"(@compute @workgroup_size(64)
fn k_$v(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let begin = group.x * 64u + thread;
  let stride = groups.x * 64u;)",
    .bufferRead = "@group(0) @binding($n) var<storage, read_write> $v: array<$T>;",
    .bufferWritten = "@group(0) @binding($n) var<storage, read_write> $v: array<$T>;",
    .scalar = "let $v: $T = zyx_args[($n + 2) / 4][($n + 2) % 4];",
    .programs = "for (var $v: $T = begin; $v < zyx_args[0].x; $v += stride) {",
    .oneProgram = "if (begin < zyx_args[0].x) {",
    .reserved = {},
    .threads = &threads,
};

class WGSLBackend final : public Backend {
public:
  std::string_view name() const override { return "WGSL"; }
  bool makesCodeFor(const TargetInfo &target) const override {
    return target.kind == TargetKind::C && target.device == "webgpu";
  }

  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    mlir::FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(kernel);
    if (failed(info) || kernel.getForm() == kernel::Form::Machine)
      return refuseKernel(kernel, "is in the machine form, which WGSL has no text for");
    // What every device has: buffers of a stage, and vectors of `zyx_args`, whose first two words are taken.
    constexpr int64_t mostBuffers = 8, mostScalars = 4 * 16 - 2;
    const int64_t buffers = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<kernel::BufferType>);
    const int64_t scalars = static_cast<int64_t>(kernel.getArgumentTypes().size()) - buffers;
    if (buffers > mostBuffers)
      return refuseKernel(kernel, "has " + std::to_string(buffers) + " buffers; WebGPU promises " +
                                      std::to_string(mostBuffers));
    if (scalars > mostScalars)
      return refuseKernel(kernel, "has " + std::to_string(scalars) + " scalars; there is room for " +
                                      std::to_string(mostScalars));
    return checkWorkgroup(kernel, *info, target);
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &) const override {
    addScalarLowering(passes);
    passes.addNestedPass<kernel::FuncOp>(kernel::createNarrowIndicesPass({/*onlyNarrow=*/true}));
    passes.addPass(mlir::createCSEPass());
  }

  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &, EmitOptions, size_t) const override {
    return createTextEmitter("wgsl", language);
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &) const override {
    ZYX_ASSIGN_OR_RETURN(std::string text, printKernels(lowered, language));
    return completeText(std::move(text), language);
  }
};

} // namespace

Status zyx::target::registerWGSLBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<WGSLBackend>());
}
