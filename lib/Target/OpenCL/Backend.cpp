//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// OpenCL C 1.2 as a table. What it has as C has it is taken from C's.
//===----------------------------------------------------------------------===//
#include "zyx/Target/Text/TextBackend.h"

using namespace zyx;
using namespace zyx::target;

namespace {

// A shift of vectors takes the low bits of its distance alone.
constexpr OpText ops[] = {
    {"arith.bitcast", floats | wideInts, "as_$T($0)", allElements},
    {"arith.shli", 0, "($0 << $1) & as_$T($1 < ($T)$W)", ints},
    {"arith.shrui", 0, "($0 >> $1) & as_$T($1 < ($T)$W)", ints},
    {"arith.shrsi", 0, "as_$T($a >> as_$S(min($1, ($T)($W - 1))))", ints},
    {"arith.minsi", 0, "as_$T(min($a, $b))", ints},
    {"arith.maxsi", 0, "as_$T(max($a, $b))", ints},
    {"arith.minui", 0, "min($0, $1)", ints},
    {"arith.maxui", 0, "max($0, $1)", ints},
    {"arith.mului_extended", 0, "$0 * $1|mul_hi($0, $1)", ints},
    // Of equal numbers those of zeros differ, in their signs.
    {"arith.maximumf", 0, "($0 == $1 ? as_$F(as_$I($0) & as_$I($1)) : $0 > $1 || $0 != $0 ? $0 : $1)", floats},
    {"arith.minimumf", 0, "($0 == $1 ? as_$F(as_$I($0) | as_$I($1)) : $0 < $1 || $0 != $0 ? $0 : $1)", floats},
    {"math.exp2", floats, "exp2($0)", floats},
    {"kernel.subgroup_reduce add", just(Element::F32) | just(Element::F64) | just(Element::I32),
     "sub_group_reduce_add($0)"},
    {"kernel.subgroup_reduce umax", just(Element::I32), "sub_group_reduce_max($0)"},
    {"kernel.subgroup_scan", just(Element::F32) | just(Element::F64) | just(Element::I32),
     "sub_group_scan_inclusive_add($0)"},
};

// f64 and subgroups are options of a device. Each converts f16 from memory and to it, exactly.
constexpr Helper helpers[] = {
    {"double", "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"},
    // Intel's extension has the same functions, and need not be enabled.
    {"sub_group", "#ifdef cl_khr_subgroups\n#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n#endif\n"},
    {"zyx_f16_to_f32(", "static inline float zyx_f16_to_f32(ushort x) { return vload_half(0, (const half *)&x); }\n"},
    {"zyx_f16_from_f32(", R"(static inline ushort zyx_f16_from_f32(float x) {
  ushort nearest;
  vstore_half_rte(x, 0, (half *)&nearest);
  return nearest;
}
)"}};

/// A buffer is an object of the driver's and an offset in it.
const ThreadLanguage threads = {
    .bufferParameter = "__global uchar *m$n, ulong o$n",
    .scalarParameter = "ulong s$n",
    .groupBegin = R"(__kernel __attribute__((reqd_work_group_size($n, 1, 1)))
void k_$v($p__global uchar *scratch, ulong scratch_begin, ulong programs) {
  const ulong begin = get_group_id(0), stride = get_num_groups(0);)",
    .bufferShared = "__global $T *$v = (__global $T *)(m$n + o$n);",
    .thread = "get_local_id(0)",
    .lane = "get_sub_group_local_id()",
    .subgroup = "get_sub_group_id()",
    .subgroups = "get_num_sub_groups()",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
    .barrierOfAll = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .sharedArray = "__local $T $v[$n] __attribute__((aligned(16)));",
    .scratchArray = "__global $T *$v = (__global $T *)(scratch + scratch_begin + get_global_id(0) * $s + $e);",
};

constexpr VectorLanguage vectors = {
    .type = "$T$n",
    .bools = "int",
    .lane = "$v.s$n",
    .laneOfBools = "($e != 0)",
    .make = "($T)($e)",
    .makeBool = "-(int)($e)",
    .load = "vload$n(0, $v + $e)",
    .store = "vstore$n($x, 0, $v + $e);",
    .loadBools = "convert_$T($e != (uchar)0)",
    .storeBools = "convert_uchar$n($e & 1)",
    .convert = "convert_$T($0)",
    .reinterpret = "as_$T($0)",
    .number = "convert_$T($0 & 1)",
    .extend = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, "as_float$n(convert_uint$n($0) << 16)"},
    .truncateF32 = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, "zyx_bf16_from_f32_v$n($0)"},
};

/// Cards have vectors in accesses, which are aligned.
constexpr VectorLanguage accesses = [](VectorLanguage made) {
  made.load = "*(__$q const $T *)($v + $e)";
  made.store = "*(__$q $T *)($v + $e) = $x;";
  return made;
}(vectors);

/// C, but for its types, its memory, and what a kernel has. It is named `k_` and what it is called, so that no function
/// of OpenCL has its name. On processors a program is a work item, alone in its group; each has its part of them.
Language makeLanguage(bool isOfProcessors) {
  Language made = languageOfC;
  made.name = "OpenCL C";
  made.values = {"bool", "uchar", "ushort", "uint", "ulong", "ushort", "ushort", "float", "double", "uchar", "uchar"};
  made.memory = made.values;
  made.memory[0] = "uchar";
  made.signedValues = {nullptr, "char", "short", "int", "long"};
  made.suffixF32 = "";
  made.privateArray = "$T $v[$n];";
  made.truncateF32 = "zyx_$N_from_f32($0)";
  made.smallFromI64 = "zyx_$N_from_i64($0)";
  made.smallFromU64 = "zyx_$N_from_u64($0)";
  made.bitsF32 = "as_float($nu)";
  made.bitsF64 = "as_double($nul)";
  made.ops = {ops, languageOfC.ops[0], opsOfAll};
  made.helpers = {helpers, helpersOfSmallFloats, languageOfC.helpers[0]};
  made.head = R"(/* Kernels printed by zyx: OpenCL C 1.2. */
#pragma OPENCL FP_CONTRACT OFF
typedef uchar uint8_t; typedef ushort uint16_t; typedef uint uint32_t; typedef ulong uint64_t;
typedef char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
#define UINT64_C(number) number##ul
)";
  made.kernelBegin = isOfProcessors
                         ? R"(__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_$v($p__global uchar *scratch, ulong scratch_begin, ulong programs) {
  const ulong begin = get_global_id(0) * programs / get_global_size(0), stride = 1;
  programs = (get_global_id(0) + 1) * programs / get_global_size(0);)"
                         : R"(__kernel void k_$v($p__global uchar *scratch, ulong scratch_begin, ulong programs) {
  const ulong begin = get_global_id(0), stride = get_global_size(0);)";
  made.bufferRead = "__global const $T *restrict $v = (__global const $T *)(m$n + o$n);";
  made.bufferWritten = "__global $T *restrict $v = (__global $T *)(m$n + o$n);";
  made.scalar = "const $T $v = ($T)s$n;";
  made.programs = "for ($T $v = begin; $v < programs; $v += stride) {";
  made.oneProgram = "if (begin < programs) {";
  made.reserved = {};
  made.threads = &threads;
  made.vectors = isOfProcessors ? &vectors : &accesses;
  return made;
}
const Language languages[] = {makeLanguage(false), makeLanguage(true)};

class OpenCLBackend final : public TextBackend {
public:
  OpenCLBackend() : TextBackend("OpenCL", "opencl", "OpenCL C", "opencl-c") {}

  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    if (target.hasVectors())
      return checkOneThread(kernel, "a processor").status();
    return TextBackend::supports(kernel, target);
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &target) const override {
    if (target.hasVectors())
      return addScalarLowering(passes, /*lanes=*/16);
    addScalarLowering(passes, /*lanes=*/1, /*accessLanes=*/16);
  }

  const Language &languageOf(const TargetInfo &target) const override { return languages[target.hasVectors()]; }
};

} // namespace

Status zyx::target::registerOpenCLBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<OpenCLBackend>());
}
