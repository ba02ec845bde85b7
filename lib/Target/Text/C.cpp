//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Text/C.h"

#include "zyx/Target/Text/Printer.h"

namespace zyx::target {
namespace {

constexpr Elements bits = ints | just(Element::Bool);

// What OpenCL C and WGSL write so, too.
constexpr OpText sharedOps[] = {
    {"arith.addi", just(Element::Bool), "($0 != $1)", just(Element::Bool)},
    {"arith.subi", just(Element::Bool), "($0 != $1)", just(Element::Bool)},
    {"arith.muli", just(Element::Bool), "($0 && $1)"},
    {"arith.andi", just(Element::Bool), "($0 && $1)"},
    {"arith.ori", just(Element::Bool), "($0 || $1)"},
    {"arith.xori", just(Element::Bool), "($0 != $1)", just(Element::Bool)},
    {"arith.cmpi eq", bits, "($0 == $1)", bits},
    {"arith.cmpi ne", bits, "($0 != $1)", bits},
    {"arith.cmpi ult", bits, "($0 < $1)", ints},
    {"arith.cmpi ule", bits, "($0 <= $1)", ints},
    {"arith.cmpi ugt", bits, "($0 > $1)", ints},
    {"arith.cmpi uge", bits, "($0 >= $1)", ints},
    {"arith.cmpi slt", ints, "($a < $b)", ints},
    {"arith.cmpi sle", ints, "($a <= $b)", ints},
    {"arith.cmpi sgt", ints, "($a > $b)", ints},
    {"arith.cmpi sge", ints, "($a >= $b)", ints},
    {"arith.addf", floats, "$0 + $1", floats},
    {"arith.subf", floats, "$0 - $1", floats},
    {"arith.mulf", floats, "$0 * $1", floats},
    {"arith.divf", floats, "$0 / $1", floats},
    {"arith.cmpf oeq", floats, "($0 == $1)", floats},
    {"arith.cmpf ogt", floats, "($0 > $1)", floats},
    {"arith.cmpf oge", floats, "($0 >= $1)", floats},
    {"arith.cmpf olt", floats, "($0 < $1)", floats},
    {"arith.cmpf ole", floats, "($0 <= $1)", floats},
    {"arith.cmpf one", floats, "($0 < $1 || $0 > $1)", floats},
    {"arith.cmpf ueq", floats, "!($0 < $1 || $0 > $1)", floats},
    {"arith.cmpf ugt", floats, "!($0 <= $1)", floats},
    {"arith.cmpf uge", floats, "!($0 < $1)", floats},
    {"arith.cmpf ult", floats, "!($0 >= $1)", floats},
    {"arith.cmpf ule", floats, "!($0 > $1)", floats},
    {"arith.extui", bits, "$u", bits},
    {"arith.sitofp", ints, "$s", ints},
    {"arith.uitofp", bits, "$u", bits},
    {"math.fma", floats, "fma$f($0, $1, $2)", floats},
    {"math.sqrt", floats, "sqrt$f($0)", floats},
    {"math.floor", floats, "floor$f($0)", floats},
    {"math.ceil", floats, "ceil$f($0)", floats},
    {"math.trunc", floats, "trunc$f($0)", floats},
};

// Integers are unsigned, so that they wrap; ops with a sign convert. Narrow ones are promoted to int
// by C, whose product could overflow.
constexpr OpText cOps[] = {
    {"arith.addi", ints, "($T)($0 + $1)", ints},
    {"arith.subi", ints, "($T)($0 - $1)", ints},
    {"arith.muli", narrowInts, "($T)((uint32_t)$0 * $1)"},
    {"arith.muli", wideInts, "$0 * $1", ints},
    {"arith.divui", ints, "($T)($0 / $1)"},
    {"arith.remui", ints, "($T)($0 % $1)"},
    {"arith.divsi", ints, "($T)($a / $b)"},
    {"arith.remsi", ints, "($T)($a % $b)"},
    {"arith.floordivsi", ints, "($T)zyx_floordiv(($S)$0, ($S)$1)"},
    {"arith.ceildivsi", ints, "($T)-zyx_floordiv(-(int64_t)($S)$0, ($S)$1)"},
    {"arith.ceildivui", ints, "($T)($0 / $1 + ($0 % $1 != 0))"},
    // Lanes of bools are 0 or -1. With `&&` of vectors PoCL 3.1 chose the wrong operand behind it.
    {"arith.muli", 0, "($0 & $1)", just(Element::Bool)},
    {"arith.andi", 0, "($0 & $1)", just(Element::Bool)},
    {"arith.ori", 0, "($0 | $1)", just(Element::Bool)},
    {"arith.andi", ints, "($T)($0 & $1)", ints},
    {"arith.ori", ints, "($T)($0 | $1)", ints},
    {"arith.xori", ints, "($T)($0 ^ $1)", ints},
    {"arith.shli", ints, "($T)zyx_shl($0, $1, $W)"},
    {"arith.shrui", ints, "($T)zyx_shru($0, $1, $W)"},
    {"arith.shrsi", ints, "($T)zyx_shrs(($S)$0, $1, $W)"},
    // Compared as unsigned numbers with the sign bit the other way round: GCC 12 vectorises several
    // chains of a signed minimum of unsigned variables with the unsigned minimum at their end.
    {"arith.minsi", ints, "(zyx_order($0, $W) < zyx_order($1, $W) ? $0 : $1)"},
    {"arith.maxsi", ints, "(zyx_order($0, $W) > zyx_order($1, $W) ? $0 : $1)"},
    {"arith.minui", bits, "($0 < $1 ? $0 : $1)"},
    {"arith.maxui", bits, "($0 > $1 ? $0 : $1)"},
    {"arith.mului_extended", narrowInts | just(Element::I32), "($T)((uint64_t)$0 * $1)|($T)((uint64_t)$0 * $1 >> $W)"},
    {"arith.mului_extended", just(Element::I64), "$0 * $1|zyx_mulhu($0, $1)"},
    {"arith.mulsi_extended", narrowInts | just(Element::I32),
     "($T)((uint64_t)($S)$0 * (uint64_t)($S)$1)|($T)((uint64_t)($S)$0 * (uint64_t)($S)$1 >> $W)"},
    {"arith.select", allElements, "($0 ? $1 : $2)", allElements},
    {"arith.extsi", just(Element::Bool), "($T)(0u - $0)"},
    {"arith.extsi", ints, "$s", ints},
    {"arith.trunci bool", ints, "($0 & 1u) != 0"},
    {"arith.trunci", ints, "$u", ints},
    {"arith.sitofp", just(Element::Bool), "(-($T)$0)"},
    {"arith.fptosi", floats, "zyx_$N_to_$R($0)"},
    {"arith.fptoui", floats, "zyx_$N_to_u$R($0)"},
    {"arith.extf", just(Element::F32), "$u", just(Element::F32)},
    {"arith.truncf", just(Element::F64), "$u", just(Element::F64)},
    {"arith.bitcast", just(Element::F32), "zyx_bits_f32($0)"},
    {"arith.bitcast", just(Element::F64), "zyx_bits_f64($0)"},
    {"arith.bitcast", just(Element::I32), "zyx_f32($0)"},
    {"arith.bitcast", just(Element::I64), "zyx_f64($0)"},
    {"arith.bitcast", allElements, "$0"},
    {"arith.negf", floats, "-$0", floats},
    {"arith.maximumf", floats, "zyx_maximum_$N($0, $1)"},
    {"arith.minimumf", floats, "zyx_minimum_$N($0, $1)"},
    {"arith.maxnumf", floats, "fmax$f($0, $1)", floats},
    {"arith.minnumf", floats, "fmin$f($0, $1)", floats},
    {"arith.cmpf ord", floats, "($0 == $0 && $1 == $1)", floats},
    {"arith.cmpf une", floats, "($0 != $1)", floats},
    {"arith.cmpf uno", floats, "($0 != $0 || $1 != $1)", floats},
    {"math.absf", floats, "fabs$f($0)", floats},
    {"math.roundeven", floats, "rint$f($0)", floats},
    {"math.copysign", floats, "copysign$f($0, $1)", floats},
};

/// A float to an integer of this type; 0 where it has no such number. Limits that are excluded are numbers of the
/// float: `most32` is one, since f32 has no -2^31 - 1.
#define ZYX_TO_INTEGER(name, real, type, through, low, high)                                                           \
  {"zyx_" name "(", "static inline " type " zyx_" name "(" real " x) {\n  return x " low " && x < " high " ? (" type   \
                    ")(" through ")x : 0;\n}\n"}
#define ZYX_TO_INTEGERS(name, real, f, most32)                                                                         \
  ZYX_TO_INTEGER(name "_to_i8", real, "uint8_t", "int8_t", "> -129.0" f, "128.0" f),                                   \
      ZYX_TO_INTEGER(name "_to_i16", real, "uint16_t", "int16_t", "> -32769.0" f, "32768.0" f),                        \
      ZYX_TO_INTEGER(name "_to_i32", real, "uint32_t", "int32_t", most32, "0x1p31" f),                                 \
      ZYX_TO_INTEGER(name "_to_i64", real, "uint64_t", "int64_t", ">= -0x1p63" f, "0x1p63" f),                         \
      ZYX_TO_INTEGER(name "_to_ui8", real, "uint8_t", "uint8_t", "> -1.0" f, "0x1p8" f),                               \
      ZYX_TO_INTEGER(name "_to_ui16", real, "uint16_t", "uint16_t", "> -1.0" f, "0x1p16" f),                           \
      ZYX_TO_INTEGER(name "_to_ui32", real, "uint32_t", "uint32_t", "> -1.0" f, "0x1p32" f),                           \
      ZYX_TO_INTEGER(name "_to_ui64", real, "uint64_t", "uint64_t", "> -1.0" f, "0x1p64" f)

// Each in front of those that use it.
constexpr Helper cHelpers[] = {
    {"zyx_order(", R"(static inline uint64_t zyx_order(uint64_t value, int width) {
  return value ^ UINT64_C(1) << (width - 1);
}
)"},
    {"zyx_f32(", R"(static inline float zyx_f32(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
)"},
    {"zyx_bits_f32(", R"(static inline uint32_t zyx_bits_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
)"},
    {"zyx_f64(", R"(static inline double zyx_f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
)"},
    {"zyx_bits_f64(", R"(static inline uint64_t zyx_bits_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
)"},
    {"zyx_floordiv(", R"(static inline int64_t zyx_floordiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
)"},
    {"zyx_shl(", R"(static inline uint64_t zyx_shl(uint64_t x, uint64_t n, unsigned width) {
  return n < width ? x << n : 0;
}
)"},
    {"zyx_shru(", R"(static inline uint64_t zyx_shru(uint64_t x, uint64_t n, unsigned width) {
  return n < width ? x >> n : 0;
}
)"},
    {"zyx_shrs(", R"(static inline int64_t zyx_shrs(int64_t x, uint64_t n, unsigned width) {
  if (n >= width)
    n = width - 1;
  return x < 0 ? ~(~x >> n) : x >> n;
}
)"},
    {"zyx_mulhu(", R"(static inline uint64_t zyx_mulhu(uint64_t a, uint64_t b) {
  const uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu);
  const uint64_t middle = (a >> 32) * (b & 0xffffffffu) + (low >> 32);
  const uint64_t other = (a & 0xffffffffu) * (b >> 32) + (middle & 0xffffffffu);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}
)"},
    ZYX_TO_INTEGERS("f32", "float", "f", ">= -0x1p31f"),
    ZYX_TO_INTEGERS("f64", "double", "", "> -2147483649.0"),
    {"zyx_maximum_f32(", R"(static inline float zyx_maximum_f32(float a, float b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return signbit(a) ? b : a;
  return a > b ? a : b;
}
)"},
    {"zyx_maximum_f64(", R"(static inline double zyx_maximum_f64(double a, double b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return signbit(a) ? b : a;
  return a > b ? a : b;
}
)"},
    {"zyx_minimum_f32(", R"(static inline float zyx_minimum_f32(float a, float b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return signbit(a) ? a : b;
  return a < b ? a : b;
}
)"},
    {"zyx_minimum_f64(", R"(static inline double zyx_minimum_f64(double a, double b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return signbit(a) ? a : b;
  return a < b ? a : b;
}
)"},
    {"zyx_f16_to_f32(", R"(static inline float zyx_f16_to_f32(uint16_t x) {
  /* Behind a float's exponent the number is 2^112 times too small, denormals included. */
  const uint32_t magnitude = (uint32_t)(x & 0x7fff) << 13;
  uint32_t bits = zyx_bits_f32(zyx_f32(magnitude) * 0x1p112f);
  if ((x & 0x7c00) == 0x7c00)
    bits = magnitude | 0x7f800000u;
  return zyx_f32(bits | (uint32_t)(x & 0x8000) << 16);
}
)"},
    {"zyx_bf16_to_f32(", R"(static inline float zyx_bf16_to_f32(uint16_t x) {
  return zyx_f32((uint32_t)x << 16);
}
)"},
    {"zyx_f8e4m3fn_to_f32(", R"(static inline float zyx_f8e4m3fn_to_f32(uint8_t x) {
  const uint32_t magnitude = x & 0x7f;
  uint32_t bits = zyx_bits_f32(zyx_f32(magnitude << 20) * 0x1p120f);
  if (magnitude == 0x7f)
    bits = 0x7fc00000u;
  return zyx_f32(bits | (uint32_t)(x & 0x80) << 24);
}
)"},
    {"zyx_f8e5m2_to_f32(", R"(static inline float zyx_f8e5m2_to_f32(uint8_t x) {
  return zyx_f16_to_f32((uint16_t)(x << 8));
}
)"},
    {"zyx_narrow(", R"(/* Rounds to nearest even, once, to a sign, `exponent` and `mantissa` bits; without infinity the
   largest pattern is NaN. */
static inline uint32_t zyx_narrow(double x, int exponent, int mantissa, bool infinity) {
  const uint64_t bits = zyx_bits_f64(x);
  const uint32_t sign_bit = 1u << (exponent + mantissa);
  const uint32_t sign = bits >> 63 ? sign_bit : 0;
  const uint32_t overflow = infinity ? sign_bit - (1u << mantissa) : sign_bit - 1;
  const int smallest = 2 - (1 << (exponent - 1));
  const int e = (int)(bits >> 52 & 0x7ff) - 1023;
  const uint64_t fraction = bits & 0xfffffffffffffu;
  if (e == 1024)
    return sign | overflow | (fraction && infinity ? 1u << (mantissa - 1) : 0);
  const int shift = 52 - mantissa + (e < smallest ? smallest - e : 0);
  if (shift > 53)
    return sign;
  const uint64_t significand = fraction | (uint64_t)1 << 52;
  const uint64_t rest = significand & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
  uint64_t kept = significand >> shift;
  kept += rest > half || (rest == half && (kept & 1));
  if (e >= smallest)
    kept += (uint64_t)(e - smallest) << mantissa;
  return sign | (kept < overflow ? (uint32_t)kept : overflow);
}
)"},
    {"zyx_drop_digits(", R"(/* From 2^53 on f64 lacks digits: the one before those that are dropped tells of them. */
static inline uint64_t zyx_drop_digits(uint64_t x) {
  return (((x & 0x7ff) + 0x7ff) | x) & ~UINT64_C(0x7ff);
}
)"},
    {"zyx_odd_from_i64(", R"(static inline double zyx_odd_from_i64(uint64_t x) {
  const bool exact = x + (UINT64_C(1) << 53) < UINT64_C(1) << 54;
  return (double)(int64_t)(exact ? x : zyx_drop_digits(x));
}
)"},
    {"zyx_odd_from_u64(", R"(static inline double zyx_odd_from_u64(uint64_t x) {
  return (double)(x < UINT64_C(1) << 53 ? x : zyx_drop_digits(x));
}
)"},
    {"zyx_f16_from_f64(", R"(static inline uint16_t zyx_f16_from_f64(double x) {
  return (uint16_t)zyx_narrow(x, 5, 10, true);
}
)"},
    {"zyx_bf16_from_f64(", R"(static inline uint16_t zyx_bf16_from_f64(double x) {
  return (uint16_t)zyx_narrow(x, 8, 7, true);
}
)"},
    {"zyx_f8e4m3fn_from_f64(", R"(static inline uint8_t zyx_f8e4m3fn_from_f64(double x) {
  return (uint8_t)zyx_narrow(x, 4, 3, false);
}
)"},
    {"zyx_f8e5m2_from_f64(", R"(static inline uint8_t zyx_f8e5m2_from_f64(double x) {
  return (uint8_t)zyx_narrow(x, 5, 2, true);
}
)"},
};

constexpr const char *cReserved[] = {
    "auto",     "break",    "case",   "char",     "const",  "continue", "default", "do",     "double", "else",
    "enum",     "extern",   "float",  "for",      "goto",   "if",       "inline",  "int",    "long",   "main",
    "register", "restrict", "return", "short",    "signed", "sizeof",   "static",  "struct", "switch", "typedef",
    "union",    "unsigned", "void",   "volatile", "while",  "bool",     "true",    "false"};

} // namespace

// "$S" of a narrow type is its own sign; what has no integers has none.
constinit const Language languageOfC = {
    .name = "C",
    .values = {"bool", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint16_t", "uint16_t", "float", "double",
               "uint8_t", "uint8_t"},
    .memory = {"uint8_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint16_t", "uint16_t", "float", "double",
               "uint8_t", "uint8_t"},
    .signedValues = {nullptr, "int8_t", "int16_t", "int32_t", "int64_t"},
    .index = Element::I64,
    .suffixF32 = "f",
    .cast = "($T)$0",
    .constant = "const $T $v = $e;",
    .variable = "$T $v = $e;",
    .uninitialised = "$T $v;",
    .assignment = "$v = $e;",
    .privateArray = "_Alignas(64) $T $v[$n];",
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
    .truncateF32 = "zyx_$N_from_f64($0)",
    .truncateF64 = "zyx_$N_from_f64($0)",
    .oddFromI64 = "zyx_odd_from_i64($0)",
    .oddFromU64 = "zyx_odd_from_u64($0)",
    .literalBool = {"false", "true"},
    .literals = {"", "(uint8_t)$nu", "(uint16_t)$nu", "$nu", "UINT64_C($n)", "(uint16_t)$nu", "(uint16_t)$nu", "$nf",
                 "$n", "(uint8_t)$nu", "(uint8_t)$nu"},
    .bitsF32 = "zyx_f32($nu)",
    .bitsF64 = "zyx_f64($nu)",
    .ops = {cOps, sharedOps},
    .helpers = {cHelpers},
    .head = R"(/* Kernels printed by zyx. Compile without contraction of floating point. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  void *const *buffers;
  const int64_t *scalars;
} zyx_args;
)",
    .kernelBegin = "void $v(const zyx_args *args, int64_t begin, int64_t end) {",
    .bufferRead = "const $T *restrict $v = args->buffers[$n];",
    .bufferWritten = "$T *restrict $v = args->buffers[$n];",
    .scalar = "const $T $v = ($T)args->scalars[$n];",
    .programs = "for ($T $v = ($T)begin; (int64_t)$v < end; ++$v) {",
    .oneProgram = "if (begin < end) {",
    .reserved = cReserved,
};

constinit const llvm::ArrayRef<OpText> opsOfAll = sharedOps;
constinit const llvm::ArrayRef<Helper> helpersOfC = cHelpers;

Result<std::string> printC(mlir::ModuleOp kernels) {
  ZYX_ASSIGN_OR_RETURN(std::string text, printKernels(kernels, languageOfC));
  return completeText(std::move(text), languageOfC);
}

} // namespace zyx::target
