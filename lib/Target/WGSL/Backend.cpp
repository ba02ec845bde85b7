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
    {"arith.select", allElements, "select($2, $1, $0)"},
    {"arith.extui i64", boolean | words, "vec2<u32>(u32($0), 0u)"},
    {"arith.extsi", boolean, "$T(0u - u32($0))"},
    {"arith.extsi i64", words, "vec2<u32>(u32($a), u32($a >> 31u))"},
    {"arith.extsi", words, "u32($a)"},
    {"arith.trunci bool", words, "(($0 & 1u) != 0u)"},
    {"arith.trunci", words, "$0"},
    {"arith.trunci", i64, "$0.x"},
    {"arith.fptosi", f32, "u32(i32($0))"},
    {"arith.fptoui", f32, "u32($0)"},
    {"arith.bitcast", f32 | i32, "bitcast<$T>($0)"},
    {"arith.shli", i64, "vec2<u32>(0u, $0.x)"},
    {"arith.shrui", i64, "vec2<u32>($0.y, 0u)"},
    {"math.ctlz", i32, "countLeadingZeros($0)"},
    {"math.roundeven", f32, "round($0)"},
    {"kernel.subgroup_reduce add", f32 | i32, "subgroupAdd($0)"},
    {"kernel.subgroup_reduce umax", i32, "subgroupMax($0)"},
    {"kernel.subgroup_scan", f32 | i32, "subgroupInclusiveAdd($0)"},
    {"math.exp2", f32, "exp2($0)"},
};

// Each in front of those that use it.
constexpr Helper helpers[] = {
    {"zyx_uniform", "var<workgroup> zyx_uniform: u32;\n"},
    {"zyx_f32(",
     R"(// By bits that a driver does not know: constants it would fold, of which zeros lose their signs and infinity is none.
// It might regroup sums and contract products, too; Mesa takes (x + y) - y for x.
fn zyx_f32(bits: u32) -> f32 {
  return bitcast<f32>(bits ^ zyx_args.zero);
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
    .uniform = {"if (thread == 0u) { zyx_uniform = $e; }", "let $v: u32 = workgroupUniformLoad(&zyx_uniform);"},
    .sharedArray = "var<workgroup> $v: array<$T, $n>;",
    .isDeclaredOutside = true,
    // WebGPU promises 64 bytes; of 128 a device may have room for 30.
    .mostScalars = 30,
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
  made.isSpelledOut = made.hasWordsAlone = true;
  made.opaque = "zyx_f32(bitcast<u32>($0))";
  made.ops = {ops, opsOfAll};
  made.helpers = {helpers};
  made.head = R"(// Kernels printed by zyx.
struct zyx_Arguments { programs: u32, zero: u32$n }
var<immediate> zyx_args: zyx_Arguments;
)";
  made.headScalar = ", n$n: u32";
  made.scalarUse = "zyx_args.n$n;";
  made.kernelBegin = R"(@compute @workgroup_size(64)
fn k_$v(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let begin = group.x * 64u + thread;
  let stride = groups.x * 64u;)";
  made.bufferRead = made.bufferWritten = threads.bufferShared;
  made.scalar = "let $v: $T = zyx_args.n$n;";
  made.programs = "for (var $v: $T = begin; $v < zyx_args.programs; $v += stride) {";
  made.oneProgram = "if (begin < zyx_args.programs) {";
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
