//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// WGSL as a table. Its integers have 32 bits, and an index is one: -zyx-kernel-narrow-indices says which indices fit.
// Those of 64 bits are pairs, the lower word first, and those of fewer lie in words. WGSL lets an implementation take
// NaN and infinity for absent, so both are told by their bits.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/Transforms/Passes.h"
#include "zyx/Target/Text/TextBackend.h"

#include "mlir/Pass/PassManager.h"

using namespace zyx;
using namespace zyx::target;

namespace {

constexpr Elements boolean = just(Element::Bool), i32 = just(Element::I32), i64 = just(Element::I64),
                   words = narrowInts | i32, f32 = just(Element::F32);

constexpr OpText ops[] = {
    {"arith.addi", words, "($0 + $1)"},
    {"arith.subi", words, "($0 - $1)"},
    {"arith.muli", words, "($0 * $1)"},
    {"arith.divui", words, "($0 / $1)"},
    {"arith.remui", words, "($0 % $1)"},
    {"arith.divsi", words, "$T($a / $b)"},
    {"arith.andi", ints, "($0 & $1)"},
    {"arith.ori", ints, "($0 | $1)"},
    {"arith.xori", ints, "($0 ^ $1)"},
    {"arith.shli", words, "select(0u, $0 << ($1 & 31u), $1 < 32u)"},
    {"arith.shrui", words, "select(0u, $0 >> ($1 & 31u), $1 < 32u)"},
    {"arith.shrsi", words, "$T($a >> min($1, 31u))"},
    {"arith.minsi", i32, "$T(min($a, $b))"},
    {"arith.maxsi", i32, "$T(max($a, $b))"},
    {"arith.minui", i32, "min($0, $1)"},
    {"arith.maxui", i32, "max($0, $1)"},
    {"arith.mului_extended", narrowInts, "$0 * $1|($0 * $1) >> $Wu"},
    {"arith.mulsi_extended", narrowInts, "u32($a * $b)|u32(($a * $b) >> $Wu)"},
    {"arith.mului_extended", i32, "$0 * $1|zyx_mulhu($0, $1)"},
    {"arith.mulsi_extended", i32, "$0 * $1|zyx_mulhu($0, $1) - select(0u, $1, $a < 0) - select(0u, $0, $b < 0)"},
    {"arith.select", allElements, "select($2, $1, $0)"},
    {"arith.extui i64", boolean | words, "vec2<u32>(u32($0), 0u)"},
    {"arith.extsi", boolean, "$T(0u - u32($0))"},
    {"arith.extsi i64", words, "vec2<u32>(u32($a), u32($a >> 31u))"},
    {"arith.extsi", words, "u32($a)"},
    {"arith.trunci bool", words, "(($0 & 1u) != 0u)"},
    {"arith.trunci bool", i64, "(($0.x & 1u) != 0u)"},
    {"arith.trunci", words, "$0"},
    {"arith.trunci", i64, "$0.x"},
    {"arith.fptosi i64", f32, "zyx_negate64_if(zyx_f32_to_ui64($0), bitcast<u32>($0))"},
    {"arith.fptoui i64", f32, "zyx_f32_to_ui64($0)"},
    {"arith.fptosi", f32, "u32(i32($0))"},
    {"arith.fptoui", f32, "u32($0)"},
    {"arith.bitcast", f32 | i32, "bitcast<$T>($0)"},
    {"arith.addi", i64, "zyx_add64($0, $1)"},
    {"arith.subi", i64, "zyx_sub64($0, $1)"},
    {"arith.muli", i64, "vec2<u32>($0.x * $1.x, zyx_mulhu($0.x, $1.x) + $0.x * $1.y + $0.y * $1.x)"},
    {"arith.divui", i64, "zyx_divide64($0, $1).xy"},
    {"arith.remui", i64, "zyx_divide64($0, $1).zw"},
    {"arith.divsi", i64,
     "zyx_negate64_if(zyx_divide64(zyx_negate64_if($0, $0.y), zyx_negate64_if($1, $1.y)).xy, $0.y ^ $1.y)"},
    {"arith.shli", i64, "zyx_shl64($0, $1)"},
    {"arith.shrui", i64, "zyx_shr64($0, $1, 0u)"},
    {"arith.shrsi", i64, "zyx_shr64($0, $1, u32(i32($0.y) >> 31u))"},
    {"arith.cmpi eq", i64, "all($0 == $1)"},
    {"arith.cmpi ne", i64, "any($0 != $1)"},
    {"arith.cmpi slt", i64, "zyx_lts64($0, $1)"},
    {"arith.cmpi sle", i64, "!zyx_lts64($1, $0)"},
    {"arith.cmpi sgt", i64, "zyx_lts64($1, $0)"},
    {"arith.cmpi sge", i64, "!zyx_lts64($0, $1)"},
    {"arith.cmpi ult", i64, "zyx_ltu64($0, $1)"},
    {"arith.cmpi ule", i64, "!zyx_ltu64($1, $0)"},
    {"arith.cmpi ugt", i64, "zyx_ltu64($1, $0)"},
    {"arith.cmpi uge", i64, "!zyx_ltu64($0, $1)"},
    {"arith.sitofp", i64,
     "bitcast<f32>(bitcast<u32>(zyx_u64_to_f32(zyx_negate64_if($0, $0.y))) | ($0.y & 0x80000000u))"},
    {"arith.uitofp", i64, "zyx_u64_to_f32($0)"},
    {"math.roundeven", f32, "round($0)"},
    {"kernel.subgroup_reduce add", f32 | i32, "subgroupAdd($0)"},
    {"kernel.subgroup_reduce umax", i32, "subgroupMax($0)"},
    {"math.exp2", f32, "exp2($0)"},
};

// Each in front of those that use it.
constexpr Helper helpers[] = {
    {"zyx_f32(",
     R"(// By bits that a driver does not know: constants it would fold, of which zeros lose their signs and infinity is none.
// It might regroup sums and contract products, too; Mesa takes (x + y) - y for x.
fn zyx_f32(bits: u32) -> f32 {
  return bitcast<f32>(bits ^ zyx_args[0].y);
}
)"},
    {"zyx_mulhu(", R"(fn zyx_mulhu(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}
)"},
    {"zyx_add64(", R"(fn zyx_add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}
)"},
    {"zyx_sub64(", R"(fn zyx_sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}
)"},
    {"zyx_negate64_if(", R"(// Where the highest bit of a number is set.
fn zyx_negate64_if(a: vec2<u32>, high: u32) -> vec2<u32> {
  return select(a, zyx_sub64(vec2<u32>(0u, 0u), a), high >= 0x80000000u);
}
)"},
    {"zyx_ltu64(", R"(fn zyx_ltu64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}
)"},
    {"zyx_lts64(", R"(fn zyx_lts64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return zyx_ltu64(a ^ vec2<u32>(0u, 0x80000000u), b ^ vec2<u32>(0u, 0x80000000u));
}
)"},
    {"zyx_shl64(", R"(fn zyx_shl64(a: vec2<u32>, n: vec2<u32>) -> vec2<u32> {
  let s = n.x & 31u;
  let near = vec2<u32>(a.x << s, (a.y << s) | ((a.x >> 1u) >> (31u - s)));
  return select(near, vec2<u32>(0u, near.x), n.x >= 32u);
}
)"},
    {"zyx_shr64(", R"(// What comes in from above is `fill`.
fn zyx_shr64(a: vec2<u32>, n: vec2<u32>, fill: u32) -> vec2<u32> {
  let s = n.x & 31u;
  let near = vec2<u32>((a.x >> s) | ((a.y << 1u) << (31u - s)), (a.y >> s) | ((fill << 1u) << (31u - s)));
  return select(near, vec2<u32>(near.y, fill), n.x >= 32u);
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
    // Of numbers that there are.
    {"zyx_f32_to_ui64(", R"(fn zyx_f32_to_ui64(x: f32) -> vec2<u32> {
  let exponent = (bitcast<u32>(x) >> 23u) & 0xffu;
  let digits = vec2<u32>((bitcast<u32>(x) & 0x7fffffu) | 0x800000u, 0u);
  let small = vec2<u32>(digits.x >> min(150u - exponent, 31u), 0u);
  return select(zyx_shl64(digits, vec2<u32>(exponent - 150u, 0u)), small, exponent < 150u);
}
)"},
};

/// Buffers and what a workgroup shares are declared outside of a kernel, and buffers are bound in their order.
const ThreadLanguage threads = {
    .groupBegin = R"(@compute @workgroup_size($n)
fn k_$v(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32$g) {
  let begin = group.x;
  let stride = groups.x;)",
    .subgroupParameters = R"(, @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) subgroups: u32)",
    .bufferShared = "@group(0) @binding($n) var<storage, read_write> $v: array<$T>;",
    .barrier = "workgroupBarrier();",
    .barrierOfAll = "workgroupBarrier();\n  storageBarrier();",
    .sharedArray = "var<workgroup> $v: array<$T, $n>;",
    .isDeclaredOutside = true,
    // The words of `zyx_args` but for the first two.
    .mostScalars = 4 * 8 - 2,
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
    .low = "extractBits($0, 0u, $Wu)",
    .withSign = "extractBits(i32($0), 0u, $Wu)",
};

constexpr VectorLanguage vectors = {
    .type = "vec$n<$T>",
    .lane = "$v[$n]",
    .make = "$T($e)",
    .load = "$v[$e]",
    .store = "$v[$e] = $x;",
    .isOfMemory = true,
};

/// A kernel is named `k_` and what it is called, so that no word of the language is. Memory of one allocation that is
/// read here and written there may only be bound as one that is written.
const Language language = [] {
  Language made = languageOfC;
  made.name = "WGSL";
  made.values = {"bool", "u32", "u32", "u32", "vec2<u32>", nullptr, nullptr, "f32"};
  made.memory = made.values;
  made.memory[0] = "u32";
  made.signedValues = {nullptr, nullptr, nullptr, "i32"};
  made.index = Element::I32;
  made.suffixF32 = "";
  made.cast = "$T($0)";
  made.constant = "let $v: $T = $e;";
  made.variable = "var $v: $T = $e;";
  made.uninitialised = "var $v: $T;";
  made.privateArray = "var $v: array<$T, $n>;";
  made.forBegin = "for (var $v: $T = $a; $S($v) < $S($b); $v += $c) {";
  made.foreverBegin = "loop {";
  made.breakUnless = "if (!$e) { break; }";
  made.loadBool = "($e != 0u)";
  made.storeBool = "u32($e)";
  // Both are evaluated: a read outside of a buffer is a number that nobody takes.
  made.choice = "select($b, $a, $e)";
  made.literals = {nullptr, "$nu", "$nu", "$nu", "vec2<u32>($lu, $hu)", nullptr, nullptr, "$nf"};
  made.onlyNormalLiterals = true;
  made.isSpelledOut = true;
  made.opaque = "zyx_f32(bitcast<u32>($0))";
  made.ops = {ops, opsOfAll};
  made.helpers = {helpers};
  made.head = R"(// Kernels printed by zyx: [0].x is the number of programs, [0].y is 0, and behind them are scalars.
var<immediate> zyx_args: array<vec4<u32>, 8>;
)";
  made.kernelBegin = R"(@compute @workgroup_size(64)
fn k_$v(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let begin = group.x * 64u + thread;
  let stride = groups.x * 64u;)";
  made.bufferRead = made.bufferWritten = threads.bufferShared;
  made.scalar = "let $v: $T = zyx_args[($n + 2) / 4][($n + 2) % 4];";
  made.programs = "for (var $v: $T = begin; $v < zyx_args[0].x; $v += stride) {";
  made.oneProgram = "if (begin < zyx_args[0].x) {";
  made.reserved = {};
  made.threads = &threads;
  made.vectors = &vectors;
  made.packed = &packed;
  return made;
}();

class WGSLBackend final : public TextBackend {
public:
  WGSLBackend() : TextBackend("WGSL", "webgpu", "WGSL", "wgsl") {}

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &) const override {
    addScalarLowering(passes, /*lanes=*/1, /*accessLanes=*/4);
    passes.addNestedPass<kernel::FuncOp>(kernel::createNarrowIndicesPass({/*onlyNarrow=*/true}));
  }

  const Language &languageOf(const TargetInfo &) const override { return language; }
};

} // namespace

Status zyx::target::registerWGSLBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<WGSLBackend>());
}
