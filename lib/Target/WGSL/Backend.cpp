//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// WGSL as a table. Its integers have 32 bits, and an index is one: -zyx-kernel-narrow-indices says which indices fit.
// Those of 64 bits are pairs, the lower word first; of fewer, -zyx-convert-kernel-to-words leaves what moves them.
// WGSL lets an implementation take NaN and infinity for absent, so both are told by their bits.
//===----------------------------------------------------------------------===//
#include "zyx/Target/WGSL/WGSL.h"

#include "zyx/Conversion/KernelToWords/KernelToWords.h"
#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Text/Printer.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace zyx;
using namespace zyx::target;

namespace {

constexpr Elements boolean = just(Element::Bool), i32 = just(Element::I32), i64 = just(Element::I64),
                   f32 = just(Element::F32);

// Comparisons of floats are ordered ones and their opposites: naga 29 makes `x != x` a comparison that no NaN passes.
constexpr OpText ops[] = {
    {"arith.addi", i32, "($0 + $1)"},
    {"arith.subi", i32, "($0 - $1)"},
    {"arith.muli", i32, "($0 * $1)"},
    {"arith.divui", i32, "($0 / $1)"},
    {"arith.remui", i32, "($0 % $1)"},
    {"arith.divsi", i32, "$T($a / $b)"},
    {"arith.remsi", i32, "$T($a % $b)"},
    {"arith.floordivsi", i32, "$T(zyx_floordiv($a, $b))"},
    {"arith.ceildivsi", i32, "$T(-zyx_floordiv(-$a, $b))"},
    {"arith.ceildivui", i32, "($0 / $1 + u32($0 % $1 != 0u))"},
    {"arith.andi", wideInts, "($0 & $1)"},
    {"arith.ori", wideInts, "($0 | $1)"},
    {"arith.xori", wideInts, "($0 ^ $1)"},
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
    {"arith.cmpi ult", boolean, "(!$0 && $1)"},
    {"arith.cmpi ule", boolean, "(!$0 || $1)"},
    {"arith.cmpi ugt", boolean, "($0 && !$1)"},
    {"arith.cmpi uge", boolean, "($0 || !$1)"},
    {"arith.select", allElements, "select($2, $1, $0)"},
    {"arith.extui", boolean, "u32($0)"},
    {"arith.extui", narrowInts, "$0"},
    {"arith.extui", i32, "vec2<u32>($0, 0u)"},
    {"arith.extsi", boolean, "(0u - u32($0))"},
    {"arith.extsi", just(Element::I8), "u32(i32($0 << 24u) >> 24u)"},
    {"arith.extsi", just(Element::I16), "u32(i32($0 << 16u) >> 16u)"},
    {"arith.extsi", i32, "vec2<u32>($0, u32($a >> 31u))"},
    {"arith.trunci bool", i32, "(($0 & 1u) != 0u)"},
    {"arith.trunci", i32, "zyx_$R($0)"},
    {"arith.trunci", i64, "$0.x"},
    {"arith.index_cast", i32, "$0"},
    {"arith.index_cast", boolean, "(0u - u32($0))"},
    {"arith.index_castui", i32 | boolean, "$u"},
    {"arith.sitofp", i32, "$s"},
    {"arith.sitofp", boolean, "(-$T($0))"},
    {"arith.uitofp", i32 | boolean, "$u"},
    {"arith.fptosi", f32, "zyx_f32_to_$R($0)"},
    {"arith.fptoui", f32, "zyx_f32_to_u$R($0)"},
    {"arith.bitcast", f32 | i32, "bitcast<$T>($0)"},
    {"arith.addi", i64, "zyx_add64($0, $1)"},
    {"arith.subi", i64, "zyx_sub64($0, $1)"},
    {"arith.muli", i64, "vec2<u32>($0.x * $1.x, zyx_mulhu($0.x, $1.x) + $0.x * $1.y + $0.y * $1.x)"},
    {"arith.divui", i64, "zyx_divide64($0, $1).xy"},
    {"arith.remui", i64, "zyx_divide64($0, $1).zw"},
    {"arith.ceildivui", i64, "zyx_ceildiv64($0, $1)"},
    {"arith.divsi", i64, "zyx_divsi64($0, $1)"},
    {"arith.remsi", i64, "zyx_negate64_if(zyx_divide64(zyx_abs64($0), zyx_abs64($1)).zw, zyx_less64($0))"},
    {"arith.floordivsi", i64, "zyx_rounded64($0, $1, false)"},
    {"arith.ceildivsi", i64, "zyx_rounded64($0, $1, true)"},
    {"arith.shli", i64, "zyx_shl64($0, $1)"},
    {"arith.shrui", i64, "zyx_shr64($0, $1, 0u)"},
    {"arith.shrsi", i64, "zyx_shr64($0, $1, u32(i32($0.y) >> 31u))"},
    {"arith.minsi", i64, "select($1, $0, zyx_lts64($0, $1))"},
    {"arith.maxsi", i64, "select($0, $1, zyx_lts64($0, $1))"},
    {"arith.minui", i64, "select($1, $0, zyx_ltu64($0, $1))"},
    {"arith.maxui", i64, "select($0, $1, zyx_ltu64($0, $1))"},
    {"arith.cmpi eq", i64, "all($0 == $1)"},
    {"arith.cmpi ne", i64, "any($0 != $1)"},
    {"arith.cmpi ult", i64, "zyx_ltu64($0, $1)"},
    {"arith.cmpi ule", i64, "!zyx_ltu64($1, $0)"},
    {"arith.cmpi ugt", i64, "zyx_ltu64($1, $0)"},
    {"arith.cmpi uge", i64, "!zyx_ltu64($0, $1)"},
    {"arith.cmpi slt", i64, "zyx_lts64($0, $1)"},
    {"arith.cmpi sle", i64, "!zyx_lts64($1, $0)"},
    {"arith.cmpi sgt", i64, "zyx_lts64($1, $0)"},
    {"arith.cmpi sge", i64, "!zyx_lts64($0, $1)"},
    {"arith.sitofp", i64, "zyx_i64_to_f32($0)"},
    {"arith.uitofp", i64, "zyx_u64_to_f32($0)"},
    {"arith.negf", f32, "bitcast<f32>(bitcast<u32>($0) ^ 0x80000000u)"},
    {"arith.maximumf", f32, "zyx_maximum($0, $1)"},
    {"arith.minimumf", f32, "zyx_minimum($0, $1)"},
    {"arith.maxnumf", f32, "select(select(zyx_maximum($0, $1), $1, zyx_nan($0)), $0, zyx_nan($1))"},
    {"arith.minnumf", f32, "select(select(zyx_minimum($0, $1), $1, zyx_nan($0)), $0, zyx_nan($1))"},
    {"arith.cmpf ord", f32, "!(zyx_nan($0) || zyx_nan($1))"},
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
    {"zyx_i8(", "fn zyx_i8(x: u32) -> u32 {\n  return x & 0xffu;\n}\n"},
    {"zyx_i16(", "fn zyx_i16(x: u32) -> u32 {\n  return x & 0xffffu;\n}\n"},
    {"zyx_add64(", R"(fn zyx_add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}
)"},
    {"zyx_sub64(", R"(fn zyx_sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}
)"},
    {"zyx_negate64(", R"(fn zyx_negate64(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(0u - a.x, ~a.y + u32(a.x == 0u));
}
)"},
    {"zyx_negate64_if(", R"(fn zyx_negate64_if(a: vec2<u32>, flip: bool) -> vec2<u32> {
  return select(a, zyx_negate64(a), flip);
}
)"},
    {"zyx_less64(", R"(fn zyx_less64(a: vec2<u32>) -> bool {
  return a.y >= 0x80000000u;
}
)"},
    {"zyx_abs64(", R"(fn zyx_abs64(a: vec2<u32>) -> vec2<u32> {
  return zyx_negate64_if(a, zyx_less64(a));
}
)"},
    {"zyx_ltu64(", R"(fn zyx_ltu64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}
)"},
    {"zyx_lts64(", R"(fn zyx_lts64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return i32(a.y) < i32(b.y) || (a.y == b.y && a.x < b.x);
}
)"},
    {"zyx_shl64(", R"(fn zyx_shl64(a: vec2<u32>, n: vec2<u32>) -> vec2<u32> {
  let s = n.x & 31u;
  let near = vec2<u32>(a.x << s, (a.y << s) | ((a.x >> 1u) >> (31u - s)));
  return select(select(near, vec2<u32>(0u, near.x), n.x >= 32u), vec2<u32>(0u, 0u), n.y != 0u || n.x >= 64u);
}
)"},
    {"zyx_shr64(", R"(// What comes in from above is `fill`.
fn zyx_shr64(a: vec2<u32>, n: vec2<u32>, fill: u32) -> vec2<u32> {
  let s = n.x & 31u;
  let near = vec2<u32>((a.x >> s) | ((a.y << 1u) << (31u - s)), (a.y >> s) | ((fill << 1u) << (31u - s)));
  return select(select(near, vec2<u32>(near.y, fill), n.x >= 32u), vec2<u32>(fill, fill), n.y != 0u || n.x >= 64u);
}
)"},
    {"zyx_divide64(", R"(// The quotient and the remainder.
fn zyx_divide64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if ((a.y | b.y) == 0u) {
    return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
  }
  var quotient = a;
  var rest = vec2<u32>(0u, 0u);
  for (var i = 0u; i < 64u; i += 1u) {
    let carry = rest.y >> 31u;
    rest = vec2<u32>((rest.x << 1u) | (quotient.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
    quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
    if (carry != 0u || !zyx_ltu64(rest, b)) {
      rest = zyx_sub64(rest, b);
      quotient.x |= 1u;
    }
  }
  return vec4<u32>(quotient, rest);
}
)"},
    {"zyx_ceildiv64(", R"(fn zyx_ceildiv64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let both = zyx_divide64(a, b);
  return zyx_add64(both.xy, vec2<u32>(u32(any(both.zw != vec2<u32>(0u, 0u))), 0u));
}
)"},
    {"zyx_divsi64(", R"(fn zyx_divsi64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return zyx_negate64_if(zyx_divide64(zyx_abs64(a), zyx_abs64(b)).xy, zyx_less64(a) != zyx_less64(b));
}
)"},
    {"zyx_rounded64(", R"(// A quotient that is rounded down, or up.
fn zyx_rounded64(a: vec2<u32>, b: vec2<u32>, up: bool) -> vec2<u32> {
  let isLess = zyx_less64(a) != zyx_less64(b);
  let both = zyx_divide64(zyx_abs64(a), zyx_abs64(b));
  let isMore = isLess != up && any(both.zw != vec2<u32>(0u, 0u));
  return zyx_negate64_if(zyx_add64(both.xy, vec2<u32>(u32(isMore), 0u)), isLess);
}
)"},
    {"zyx_u64_to_f32(", R"(// The upper 32 bits from the first one on, and whether others follow, are rounded to 24.
fn zyx_u64_to_f32(a: vec2<u32>) -> f32 {
  let zeros = select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
  let moved = zyx_shl64(a, vec2<u32>(zeros & 63u, 0u));
  let word = moved.y | u32(moved.x != 0u);
  let rest = word & 0xffu;
  let kept = (word >> 8u) + u32(rest > 0x80u || (rest == 0x80u && (word & 0x100u) != 0u));
  return bitcast<f32>(select(((189u - zeros) << 23u) + kept, 0u, zeros == 64u));
}
)"},
    {"zyx_i64_to_f32(", R"(fn zyx_i64_to_f32(a: vec2<u32>) -> f32 {
  return bitcast<f32>(bitcast<u32>(zyx_u64_to_f32(zyx_abs64(a))) | (a.y & 0x80000000u));
}
)"},
    {"zyx_whole64(", R"(// The number of a float in front of its point, without its sign.
fn zyx_whole64(x: f32) -> vec2<u32> {
  let exponent = (bitcast<u32>(x) >> 23u) & 0xffu;
  let digits = vec2<u32>((bitcast<u32>(x) & 0x7fffffu) | 0x800000u, 0u);
  return select(zyx_shl64(digits, vec2<u32>(exponent - 150u, 0u)),
                zyx_shr64(digits, vec2<u32>(150u - exponent, 0u), 0u), exponent < 150u);
}
)"},
    {"zyx_f32_to_i64(", R"(fn zyx_f32_to_i64(x: f32) -> vec2<u32> {
  return select(vec2<u32>(0u, 0u), zyx_negate64_if(zyx_whole64(x), x < 0.0f), x >= -0x1p63f && x < 0x1p63f);
}
)"},
    {"zyx_f32_to_ui64(", R"(fn zyx_f32_to_ui64(x: f32) -> vec2<u32> {
  return select(vec2<u32>(0u, 0u), zyx_whole64(x), x > -1.0f && x < 0x1p64f);
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

/// Neighbours that threads write meanwhile: each sets its own bits.
const PackedLanguage packed = {
    .word = "u32",
    .sharedWord = "atomic<u32>",
    .load = "(($v[$e >> $ku] >> (($e & $mu) << $bu)) & $fu)",
    .sharedLoad = "((atomicLoad(&$v[$e >> $ku]) >> (($e & $mu) << $bu)) & $fu)",
    .store = "$v[$e >> $ku] = ($v[$e >> $ku] & ~($fu << (($e & $mu) << $bu))) | ($x << (($e & $mu) << $bu));",
    .sharedStore = "atomicAnd(&$v[$e >> $ku], ~($fu << (($e & $mu) << $bu))); "
                   "atomicOr(&$v[$e >> $ku], $x << (($e & $mu) << $bu));",
};

/// A kernel is named `k_` and what it is called, so that no word of the language is. Memory of one allocation that is
/// read here and written there may only be bound as one that is written.
const Language language = {
    .name = "WGSL",
    .values = {"bool", "u32", "u32", "u32", "vec2<u32>", nullptr, nullptr, "f32"},
    .memory = {"u32", "u32", "u32", "u32", "vec2<u32>", nullptr, nullptr, "f32"},
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
    .loadBool = "($e != 0u)",
    .storeBool = "u32($e)",
    // Both are evaluated: a read outside of a buffer is a number that nobody takes.
    .choice = "select($b, $a, $e)",
    .extend = nullptr,
    .truncateF32 = nullptr,
    .truncateF64 = nullptr,
    .oddFromI64 = nullptr,
    .oddFromU64 = nullptr,
    .literalBool = {"false", "true"},
    .literals = {nullptr, "$nu", "$nu", "$nu", "vec2<u32>($lu, $hu)", nullptr, nullptr, "$nf"},
    .bitsF32 = "zyx_f32($nu)",
    .bitsF64 = nullptr,
    .onlyNormalLiterals = true,
    .opaque = "zyx_opaque($0)",
    .ops = {ops, opsOfAll},
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
    .packed = &packed,
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
    // The vectors of `zyx_args`, whose first two words are taken.
    constexpr int64_t mostScalars = 4 * 16 - 2;
    const int64_t mostBuffers = target.simt.maxBuffers;
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
    passes.addNestedPass<kernel::FuncOp>(kernel::createConvertKernelToWordsPass());
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
