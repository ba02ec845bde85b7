//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// OpenCL C 1.2 as a table. What it has as C has it is taken from C's.
//===----------------------------------------------------------------------===//
#include "zyx/Target/OpenCL/OpenCL.h"

#include "zyx/Dialect/Kernel/IR/LaunchInfo.h"
#include "zyx/Target/Backend/Backend.h"
#include "zyx/Target/Text/Printer.h"

using namespace zyx;
using namespace zyx::target;

namespace {

constexpr Elements f32 = just(Element::F32);

// f64 is an option of a device: what converts f32 does without.
constexpr OpText ops[] = {
    {"arith.fptosi", f32, "zyx_f32_to_$R($0)"},
    {"arith.fptoui", f32, "zyx_f32_to_u$R($0)"},
    {"arith.bitcast", f32, "as_uint($0)"},
    {"arith.bitcast", just(Element::F64), "as_ulong($0)"},
    {"arith.bitcast", just(Element::I32), "as_float($0)"},
    {"arith.bitcast", just(Element::I64), "as_double($0)"},
    {"arith.maxnumf", floats, "fmax($0, $1)"},
    {"arith.minnumf", floats, "fmin($0, $1)"},
    {"math.fma", floats, "fma($0, $1, $2)"},
    {"math.exp2", floats, "exp2($0)"},
    {"math.sqrt", floats, "sqrt($0)"},
    {"math.absf", floats, "fabs($0)"},
    {"math.floor", floats, "floor($0)"},
    {"math.ceil", floats, "ceil($0)"},
    {"math.trunc", floats, "trunc($0)"},
    {"math.roundeven", floats, "rint($0)"},
    {"math.copysign", floats, "copysign($0, $1)"},
};

/// f32 to an integer of this type; 0 where it has no such number. Both limits are excluded, and are numbers of f32.
#define ZYX_TO_INTEGER(name, type, through, low, high)                                                                 \
  {"zyx_f32_to_" name "(", "static inline " type " zyx_f32_to_" name "(float x) {\n  return x " low " && x < " high    \
                           " ? (" type ")(" through ")x : 0;\n}\n"}

// Each in front of those that use it.
constexpr Helper helpers[] = {
    {"double", "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"},
    ZYX_TO_INTEGER("i8", "uchar", "char", "> -129.0f", "128.0f"),
    ZYX_TO_INTEGER("i16", "ushort", "short", "> -32769.0f", "32768.0f"),
    ZYX_TO_INTEGER("i32", "uint", "int", ">= -0x1p31f", "0x1p31f"),
    ZYX_TO_INTEGER("i64", "ulong", "long", ">= -0x1p63f", "0x1p63f"),
    ZYX_TO_INTEGER("ui8", "uchar", "uchar", "> -1.0f", "0x1p8f"),
    ZYX_TO_INTEGER("ui16", "ushort", "ushort", "> -1.0f", "0x1p16f"),
    ZYX_TO_INTEGER("ui32", "uint", "uint", "> -1.0f", "0x1p32f"),
    ZYX_TO_INTEGER("ui64", "ulong", "ulong", "> -1.0f", "0x1p64f"),
};

/// A buffer is an object of the driver's and an offset in it.
const ThreadLanguage threads = {
    .bufferParameter = "__global uchar *m$n, ulong o$n",
    .scalarParameter = "ulong s$n",
    .groupBegin = R"(__kernel __attribute__((reqd_work_group_size($n, 1, 1)))
void k_$v($p__global uchar *scratch, ulong scratch_begin, ulong programs) {
  const ulong begin = get_group_id(0), stride = get_num_groups(0);)",
    .bufferShared = "__global $T *$v = (__global $T *)(m$n + o$n);",
    .thread = "get_local_id(0)",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
    .barrierOfAll = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .sharedArray = "__local $T $v[$n];",
    .scratchArray = "__global $T *$v = (__global $T *)(scratch + scratch_begin + get_global_id(0) * $s + $e);",
};

/// A kernel is named `k_` and what it is called, so that no function of OpenCL has its name.
const Language openCL = {
    .name = "OpenCL C",
    .values = {"bool", "uchar", "ushort", "uint", "ulong", "ushort", "ushort", "float", "double", "uchar", "uchar"},
    .memory = {"uchar", "uchar", "ushort", "uint", "ulong", "ushort", "ushort", "float", "double", "uchar", "uchar"},
    .signedValues = {nullptr, "char", "short", "int", "long"},
    .index = Element::I64,
    .constant = "const $T $v = $e;",
    .variable = "$T $v = $e;",
    .uninitialised = "$T $v;",
    .assignment = "$v = $e;",
    .privateArray = "$T $v[$n];",
    .ifBegin = "if ($e) {",
    .elseBegin = "} else {",
    .forBegin = "for ($T $v = $a; ($S)$v < ($S)$b; $v += $c) {",
    .foreverBegin = "for (;;) {",
    .breakUnless = "if (!$e) break;",
    .blockEnd = "}",
    .element = "$v[$e]",
    .loadBool = "$e != 0",
    .storeBool = "$e",
    .choice = "$e ? $a : $b",
    .extend = "zyx_$N_to_f32($0)",
    .truncateF32 = "zyx_$N_from_f32($0)",
    .truncateF64 = "zyx_$N_from_f64($0)",
    .oddFromI64 = nullptr,
    .oddFromU64 = nullptr,
    .smallFromI64 = "zyx_$N_from_i64($0)",
    .smallFromU64 = "zyx_$N_from_u64($0)",
    .literalBool = {"false", "true"},
    .literals = {"", "(uchar)$nu", "(ushort)$nu", "$nu", "$nul", "(ushort)$nu", "(ushort)$nu", "$nf", "$n",
                 "(uchar)$nu", "(uchar)$nu"},
    .bitsF32 = "as_float($nu)",
    .bitsF64 = "as_double($nul)",
    .ops = {ops, opsOfC},
    .helpers = {helpers, helpersOfSmallFloats, helpersOfC},
    .head = R"(/* Kernels printed by zyx: OpenCL C 1.2. */
#pragma OPENCL FP_CONTRACT OFF
typedef uchar uint8_t; typedef ushort uint16_t; typedef uint uint32_t; typedef ulong uint64_t;
typedef char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
#define UINT64_C(number) number##ul
)",
    .kernelBegin = R"(__kernel void k_$v($p__global uchar *scratch, ulong scratch_begin, ulong programs) {
  const ulong begin = get_global_id(0), stride = get_global_size(0);)",
    .bufferRead = "__global const $T *restrict $v = (__global const $T *)(m$n + o$n);",
    .bufferWritten = "__global $T *restrict $v = (__global $T *)(m$n + o$n);",
    .scalar = "const $T $v = ($T)s$n;",
    .programs = "for ($T $v = begin; $v < programs; $v += stride) {",
    .oneProgram = "if (begin < programs) {",
    .threads = &threads,
};

class OpenCLBackend final : public Backend {
public:
  std::string_view name() const override { return "OpenCL"; }
  /// Both print C's family of languages, of which the device's is one.
  bool makesCodeFor(const TargetInfo &target) const override {
    return target.kind == TargetKind::C && target.device == "opencl";
  }

  Status supports(kernel::FuncOp kernel, const TargetInfo &target) const override {
    mlir::FailureOr<kernel::LaunchInfo> info = kernel::launchInfoOf(kernel);
    if (failed(info) || kernel.getForm() == kernel::Form::Machine)
      return refuseKernel(kernel, "is in the machine form, which OpenCL C has no text for");
    if (info->cluster > 1)
      return refuseKernel(kernel, "has workgroups in clusters, which OpenCL has not");
    return checkWorkgroup(kernel, *info, target);
  }

  void addLowering(mlir::OpPassManager &passes, const TargetInfo &) const override { addScalarLowering(passes); }

  Result<std::unique_ptr<Emitter>> createEmitter(const TargetInfo &, EmitOptions, size_t) const override {
    return createTextEmitter("opencl-c", openCL);
  }

  Result<std::string> toText(mlir::ModuleOp lowered, const TargetInfo &) const override {
    ZYX_ASSIGN_OR_RETURN(std::string text, printKernels(lowered, openCL));
    return completeText(std::move(text), openCL);
  }
};

} // namespace

Status zyx::target::registerOpenCLBackend(BackendRegistry &registry) {
  return registry.add(std::make_unique<OpenCLBackend>());
}
