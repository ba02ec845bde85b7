//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelRun.h"

#include "zyx/Base/Float.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace zyx;
using namespace zyx::target;

namespace {

/// Every test here runs in each of these ways.
class Elementwise : public testing::TestWithParam<Way> {
protected:
  void SetUp() override {
    if (!canRun(GetParam()))
      GTEST_SKIP() << "this machine does not run " << GetParam().target;
  }

  /// Runs `code` over the inputs, all of n elements, with n a multiple of 16.
  template <typename R>
  std::vector<R> apply(const std::vector<std::string> &types, const std::string &output, const std::string &code,
                       std::vector<void *> inputs, int64_t n) {
    std::vector<R> result(n);
    auto kernels = CompiledKernels::compile(elementwise(types, output, code, n, GetParam().lanes), GetParam());
    EXPECT_TRUE(kernels) << kernels.status().toString();
    if (!kernels)
      return result;
    inputs.push_back(result.data());
    kernels->run("k", inputs, 0, n / GetParam().lanes);
    return result;
  }
};

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
/// NaNs are equal, whatever their payload.
testing::AssertionResult same(float a, float b) {
  if (bits(a) == bits(b) || (std::isnan(a) && std::isnan(b)))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << a << " (" << bits(a) << ") is not " << b << " (" << bits(b) << ")";
}

std::vector<float> interesting() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  std::vector<float> values = {0.f,     -0.f,    1.f,      -1.f,    0.5f,    -0.5f,   1.5f,    2.5f,
                               -2.5f,   3.5f,    inf,      -inf,    nan,     1e-40f,  -1e-45f, 3e38f,
                               65504.f, 65520.f, 65519.9f, 6.1e-5f, 5.9e-8f, 2.9e-8f, 448.f,   464.f,
                               465.f,   57344.f, 61440.f,  0.1f,    1e10f,   -1e10f,  7.f,     -7.f};
  std::mt19937 random(1);
  while (values.size() < 512)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return values;
}

} // namespace

TEST_P(Elementwise, Arithmetic) {
  std::vector<float> a = interesting(), b = a;
  std::rotate(b.begin(), b.begin() + 77, b.end());
  auto r = apply<float>({"f32", "f32"}, "f32", R"(
    %c = arith.constant #(3.0) : $f32
    %s = arith.addf %a, %b : $f32
    %p = arith.mulf %s, %c : $f32
    %r = arith.divf %p, %b : $f32)",
                        {a.data(), b.data()}, a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    volatile float s = a[i] + b[i], p = s * 3.f;
    EXPECT_TRUE(same(r[i], p / b[i])) << a[i] << ", " << b[i];
  }
}

TEST_P(Elementwise, ExactMath) {
  std::vector<float> a = interesting(), b = a;
  std::rotate(b.begin(), b.begin() + 77, b.end());
  struct Case {
    const char *code;
    float (*expected)(float, float);
  };
  const Case cases[] = {
      {"%r = math.fma %a, %b, %b : $f32", [](float x, float y) { return std::fma(x, y, y); }},
      {"%r = math.sqrt %a : $f32", [](float x, float) { return std::sqrt(x); }},
      {"%r = math.absf %a : $f32", [](float x, float) { return std::fabs(x); }},
      {"%r = math.floor %a : $f32", [](float x, float) { return std::floor(x); }},
      {"%r = math.ceil %a : $f32", [](float x, float) { return std::ceil(x); }},
      {"%r = math.trunc %a : $f32", [](float x, float) { return std::trunc(x); }},
      {"%r = math.roundeven %a : $f32", [](float x, float) { return std::nearbyint(x); }},
      {"%r = math.copysign %a, %b : $f32", [](float x, float y) { return std::copysign(x, y); }},
      {"%r = arith.negf %a : $f32", [](float x, float) { return -x; }},
      {"%r = arith.maximumf %a, %b : $f32",
       [](float x, float y) {
         return std::isnan(x) || std::isnan(y) ? NAN : x == y ? (std::signbit(x) ? y : x) : x > y ? x : y;
       }},
      {"%r = arith.minimumf %a, %b : $f32",
       [](float x, float y) {
         return std::isnan(x) || std::isnan(y) ? NAN : x == y ? (std::signbit(x) ? x : y) : x < y ? x : y;
       }},
  };
  for (const Case &each : cases) {
    auto r = apply<float>({"f32", "f32"}, "f32", each.code, {a.data(), b.data()}, a.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_TRUE(same(r[i], each.expected(a[i], b[i]))) << each.code << " of " << a[i] << ", " << b[i];
  }
}

TEST_P(Elementwise, ComparisonsAndBooleans) {
  std::vector<float> a = interesting(), b = a;
  std::rotate(b.begin(), b.begin() + 1, b.end());
  for (size_t i = 0; i < b.size(); i += 3)
    b[i] = a[i];
  std::vector<uint8_t> m(a.size());
  for (size_t i = 0; i < m.size(); ++i)
    m[i] = i % 5 == 0;
  auto less = apply<uint8_t>({"f32", "f32", "i1"}, "i1", R"(
    %l = arith.cmpf olt, %a, %b : $f32
    %r = arith.xori %l, %c : $i1)",
                             {a.data(), b.data(), m.data()}, a.size());
  auto chosen = apply<float>({"f32", "f32", "i1"}, "f32", "%r = arith.select %c, %a, %b : $i1, $f32",
                             {a.data(), b.data(), m.data()}, a.size());
  auto unordered =
      apply<uint8_t>({"f32", "f32"}, "i1", "%r = arith.cmpf une, %a, %b : $f32", {a.data(), b.data()}, a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(less[i], (a[i] < b[i]) != m[i]) << a[i] << ", " << b[i];
    EXPECT_EQ(unordered[i], !(a[i] == b[i])) << a[i] << ", " << b[i];
    EXPECT_TRUE(same(chosen[i], m[i] ? a[i] : b[i]));
  }
  auto ordering = [&](const char *predicate, auto expected) {
    auto r = apply<uint8_t>({"f32", "f32"}, "i1", std::string("%r = arith.cmpf ") + predicate + ", %a, %b : $f32",
                            {a.data(), b.data()}, a.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(r[i], expected(a[i], b[i])) << predicate << ' ' << a[i] << ", " << b[i];
  };
  ordering("oge", [](float x, float y) { return x >= y; });
  ordering("one", [](float x, float y) { return x < y || x > y; });
  ordering("ueq", [](float x, float y) { return !(x < y || x > y); });
  ordering("ult", [](float x, float y) { return !(x >= y); });
  ordering("uno", [](float x, float y) { return std::isnan(x) || std::isnan(y); });
  ordering("ord", [](float x, float y) { return !std::isnan(x) && !std::isnan(y); });
}

TEST_P(Elementwise, IntegersWrap) {
  std::vector<int32_t> a, b;
  std::mt19937 random(2);
  for (int i = 0; i < 256; ++i) {
    a.push_back(i == 0 ? INT32_MIN : i == 1 ? INT32_MAX : static_cast<int32_t>(random()));
    b.push_back(i % 4 == 0 ? static_cast<int32_t>(random() % 33) : static_cast<int32_t>(random() | 1));
    if (b.back() == 0)
      b.back() = 1;
    if (i == 0)
      b.back() = 2;
  }
  auto check = [&](const char *code, auto expected) {
    auto r = apply<int32_t>({"i32", "i32"}, "i32", code, {a.data(), b.data()}, a.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(r[i], static_cast<int32_t>(expected(a[i], b[i]))) << code << " of " << a[i] << ", " << b[i];
  };
  using U = uint32_t;
  check("%r = arith.addi %a, %b : $i32", [](U x, U y) { return x + y; });
  check("%r = arith.subi %a, %b : $i32", [](U x, U y) { return x - y; });
  check("%r = arith.muli %a, %b : $i32", [](U x, U y) { return x * y; });
  check("%r = arith.divsi %a, %b : $i32", [](int32_t x, int32_t y) { return x / y; });
  check("%r = arith.remsi %a, %b : $i32", [](int32_t x, int32_t y) { return x % y; });
  check("%r = arith.divui %a, %b : $i32", [](U x, U y) { return x / y; });
  check("%r = arith.remui %a, %b : $i32", [](U x, U y) { return x % y; });
  check("%r = arith.minsi %a, %b : $i32", [](int32_t x, int32_t y) { return std::min(x, y); });
  check("%r = arith.maxui %a, %b : $i32", [](U x, U y) { return std::max(x, y); });
  check("%r = arith.floordivsi %a, %b : $i32",
        [](int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); });
  check("%low, %r = arith.mului_extended %a, %b : $i32", [](U x, U y) { return uint64_t(x) * y >> 32; });
  check(R"(%c = arith.constant #(31) : $i32
    %d = arith.andi %b, %c : $i32
    %e = arith.shrsi %a, %d : $i32
    %f = arith.shrui %a, %d : $i32
    %g = arith.shli %e, %d : $i32
    %r = arith.xori %g, %f : $i32)",
        [](int32_t x, int32_t y) {
          return (static_cast<U>(x >> (y & 31)) << (y & 31)) ^ (static_cast<U>(x) >> (y & 31));
        });
  check(R"(%c = arith.trunci %a : $i32 to $i8
    %d = arith.extsi %c : $i8 to $i32
    %e = arith.trunci %b : $i32 to $i16
    %f = arith.extui %e : $i16 to $i32
    %r = arith.addi %d, %f : $i32)",
        [](U x, U y) { return static_cast<int8_t>(x) + static_cast<uint16_t>(y); });
  check(R"(%c = arith.cmpi slt, %a, %b : $i32
    %d = arith.cmpi ult, %a, %b : $i32
    %e = arith.extui %c : $i1 to $i32
    %f = arith.extsi %d : $i1 to $i32
    %r = arith.subi %e, %f : $i32)",
        [](int32_t x, int32_t y) { return (x < y) + (U(x) < U(y)); });
}

TEST_P(Elementwise, NarrowAndWideIntegers) {
  std::vector<int8_t> a;
  std::vector<int64_t> b;
  std::mt19937_64 random(3);
  for (int i = 0; i < 256; ++i) {
    a.push_back(static_cast<int8_t>(i));
    b.push_back(i < 2 ? INT64_MIN + i : static_cast<int64_t>(random()));
  }
  auto narrow = apply<int8_t>({"i8", "i8"}, "i8", R"(%s = arith.muli %a, %b : $i8
    %r = arith.addi %s, %a : $i8)",
                              {a.data(), a.data()}, 256);
  auto wide = apply<int64_t>({"i64", "i64"}, "i64", R"(%c = arith.constant #(0x123456789abcdef) : $i64
    %p = arith.muli %a, %c : $i64
    %low, %high = arith.mului_extended %p, %b : $i64
    %r = arith.addi %low, %high : $i64)",
                             {b.data(), b.data()}, 256);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(narrow[i], static_cast<int8_t>(a[i] * a[i] + a[i]));
    uint64_t p = uint64_t(b[i]) * 0x123456789abcdef;
    unsigned __int128 product = static_cast<unsigned __int128>(p) * uint64_t(b[i]);
    EXPECT_EQ(uint64_t(wide[i]), static_cast<uint64_t>(product) + static_cast<uint64_t>(product >> 64));
  }
}

TEST_P(Elementwise, NumberConversions) {
  std::vector<float> a = interesting();
  for (float &x : a)
    if (!(std::fabs(x) < 2e9f))
      x = 12.75f;
  std::vector<int32_t> b(a.size());
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<int32_t>(bits(a[i]) * 2654435761u);
  auto toInt = apply<int32_t>({"f32"}, "i32", "%r = arith.fptosi %a : $f32 to $i32", {a.data()}, a.size());
  auto toFloat = apply<float>({"i32"}, "f32", "%r = arith.sitofp %a : $i32 to $f32", {b.data()}, b.size());
  auto unsignedToFloat = apply<float>({"i32"}, "f32", "%r = arith.uitofp %a : $i32 to $f32", {b.data()}, b.size());
  auto viaDouble = apply<float>({"f32"}, "f32", R"(%c = arith.constant #(0.1) : $f64
    %d = arith.extf %a : $f32 to $f64
    %e = arith.mulf %d, %c : $f64
    %r = arith.truncf %e : $f64 to $f32)",
                                {a.data()}, a.size());
  auto cast = apply<uint32_t>({"f32"}, "i32", "%r = arith.bitcast %a : $f32 to $i32", {a.data()}, a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(toInt[i], static_cast<int32_t>(a[i]));
    EXPECT_EQ(toFloat[i], static_cast<float>(b[i]));
    EXPECT_EQ(unsignedToFloat[i], static_cast<float>(static_cast<uint32_t>(b[i])));
    EXPECT_EQ(viaDouble[i], static_cast<float>(a[i] * 0.1));
    EXPECT_EQ(cast[i], bits(a[i]));
  }
}

namespace {
struct Small {
  const char *type;
  uint16_t (*encode)(double);
  double (*decode)(uint16_t);
};
const Small half{"f16", floatToHalf, halfToFloat};
const Small bfloat{"bf16", floatToBFloat16, bfloat16ToFloat};
const Small e4m3{"f8E4M3FN", [](double x) -> uint16_t { return floatToF8E4M3FN(x); },
                 [](uint16_t x) { return f8E4M3FNToFloat(static_cast<uint8_t>(x)); }};
const Small e5m2{"f8E5M2", [](double x) -> uint16_t { return floatToF8E5M2(x); },
                 [](uint16_t x) { return f8E5M2ToFloat(static_cast<uint8_t>(x)); }};

/// A 64-bit integer rounded once to bf16, by its digits.
uint16_t toBFloat16(bool isNegative, uint64_t size) {
  const uint16_t sign = isNegative ? 0x8000 : 0;
  const int width = 64 - std::countl_zero(size);
  if (width <= 8) // exact
    return static_cast<uint16_t>(sign | floatToBFloat16(static_cast<double>(size)));
  const int dropped = width - 8;
  const uint64_t half = uint64_t(1) << (dropped - 1), rest = size & (2 * half - 1);
  uint64_t kept = size >> dropped;
  kept += rest > half || (rest == half && (kept & 1));
  const double rounded = std::ldexp(static_cast<double>(kept), dropped);
  return static_cast<uint16_t>(sign | floatToBFloat16(rounded));
}

/// Integers that lie at and beside the ties between two bf16, of every size.
std::vector<uint64_t> besideTies() {
  std::vector<uint64_t> values = {0, 1, ~uint64_t(0), uint64_t(1) << 63};
  for (int shift = 0; shift <= 55; ++shift)
    for (uint64_t kept : {128, 129, 254, 255})
      for (uint64_t beside : {-1, 0, 1}) {
        const uint64_t tie = (2 * kept + 1) << shift;
        values.insert(values.end(), {tie + beside, -(tie + beside)});
      }
  while (values.size() % 16 != 0)
    values.push_back(3);
  return values;
}

/// Values around every rounding boundary of a small format.
std::vector<double> boundaries(const Small &format, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    double x = format.decode(static_cast<uint16_t>(i)), y = format.decode(static_cast<uint16_t>(i + 1));
    double middle = x / 2 + y / 2;
    for (double v : {x, middle, std::nextafter(middle, 0.), std::nextafter(middle, 1e300)})
      values.push_back(v);
  }
  while (values.size() % 16)
    values.push_back(0);
  return values;
}
bool isNan(const Small &format, uint16_t bits) { return std::isnan(format.decode(bits)); }
} // namespace

TEST_P(Elementwise, SmallFloatsWiden) {
  for (const Small *format : {&half, &bfloat}) {
    std::vector<uint16_t> all(65536);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<uint16_t>(i);
    auto r = apply<float>({format->type}, "f32", std::string("%r = arith.extf %a : $") + format->type + " to $f32",
                          {all.data()}, all.size());
    int wrong = 0;
    for (size_t i = 0; i < all.size(); ++i)
      wrong += !same(r[i], static_cast<float>(format->decode(all[i])));
    EXPECT_EQ(wrong, 0) << format->type;
  }
  for (const Small *format : {&e4m3, &e5m2}) {
    std::vector<uint8_t> all(256);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<uint8_t>(i);
    auto r = apply<float>({format->type}, "f32", std::string("%r = arith.extf %a : $") + format->type + " to $f32",
                          {all.data()}, all.size());
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(same(r[i], static_cast<float>(format->decode(all[i])))) << format->type << ' ' << i;
  }
}

TEST_P(Elementwise, RoundingToSmallFloatsIsOnce) {
  struct Case {
    const Small *format;
    int count;
  };
  for (auto [format, count] : {Case{&half, 0x7c00}, Case{&bfloat, 0x7f80}, Case{&e4m3, 0x7e}, Case{&e5m2, 0x7c}}) {
    std::vector<double> wide = boundaries(*format, count);
    std::vector<double> signs = wide;
    for (double &x : signs)
      x = -x;
    wide.insert(wide.end(), signs.begin(), signs.end());
    for (double x : {1e30, 1e-30, 1e300, -1e300, 1e-300, double(INFINITY), -double(INFINITY), double(NAN)})
      wide.insert(wide.end(), 2, x);
    std::vector<float> narrow(wide.begin(), wide.end());
    bool byte = format == &e4m3 || format == &e5m2;
    std::string to = std::string(" to $") + format->type;
    auto check = [&](auto results64, auto results32) {
      int wrong64 = 0, wrong32 = 0;
      for (size_t i = 0; i < wide.size(); ++i) {
        uint16_t e64 = format->encode(wide[i]), e32 = format->encode(narrow[i]);
        bool fine64 = results64[i] == e64 || (isNan(*format, e64) && isNan(*format, results64[i]));
        bool fine32 = results32[i] == e32 || (isNan(*format, e32) && isNan(*format, results32[i]));
        if (!fine64 && wrong64++ < 5)
          ADD_FAILURE() << format->type << " of f64 " << wide[i] << ": " << +results64[i] << ", not " << e64;
        if (!fine32 && wrong32++ < 5)
          ADD_FAILURE() << format->type << " of f32 " << narrow[i] << ": " << +results32[i] << ", not " << e32;
      }
    };
    std::string from64 = "%r = arith.truncf %a : $f64" + to, from32 = "%r = arith.truncf %a : $f32" + to;
    int64_t n = wide.size();
    if (byte)
      check(apply<uint8_t>({"f64"}, format->type, from64, {wide.data()}, n),
            apply<uint8_t>({"f32"}, format->type, from32, {narrow.data()}, n));
    else
      check(apply<uint16_t>({"f64"}, format->type, from64, {wide.data()}, n),
            apply<uint16_t>({"f32"}, format->type, from32, {narrow.data()}, n));
  }
}

TEST_P(Elementwise, SmallFloatArithmeticRoundsEveryOp) {
  std::mt19937 random(4);
  for (const Small *format : {&half, &bfloat}) {
    std::vector<uint16_t> a(4096), b(4096);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<uint16_t>(random()), b[i] = static_cast<uint16_t>(random());
    std::string code = R"(
      %c = arith.constant #(1.5) : $T
      %s = arith.addf %a, %b : $T
      %p = arith.mulf %s, %c : $T
      %q = arith.divf %p, %b : $T
      %d = arith.subf %q, %a : $T
      %m = arith.maximumf %d, %c : $T
      %less = arith.cmpf olt, %a, %b : $T
      %r = arith.select %less, %m, %d : $i1, $T)";
    for (size_t at; (at = code.find("$T")) != std::string::npos;)
      code.replace(at, 2, std::string("$") + format->type);
    auto r = apply<uint16_t>({format->type, format->type}, format->type, code, {a.data(), b.data()}, a.size());
    auto round = [&](double x) { return format->decode(format->encode(x)); };
    int wrong = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      double x = format->decode(a[i]), y = format->decode(b[i]);
      double s = round(x + y), p = round(s * 1.5), q = round(p / y), d = round(q - x);
      double m = std::isnan(d) ? d : std::max(d, 1.5);
      uint16_t expected = format->encode(x < y ? m : d);
      wrong += r[i] != expected && !(isNan(*format, r[i]) && isNan(*format, expected));
    }
    EXPECT_EQ(wrong, 0) << format->type;
  }
}

// f64 has not the digits of these integers, and would round them a first time.
TEST_P(Elementwise, IntegersToSmallFloatsAreRoundedOnce) {
  std::vector<uint64_t> a = besideTies();
  auto fromSigned = apply<uint16_t>({"i64"}, "bf16", "%r = arith.sitofp %a : $i64 to $bf16", {a.data()}, a.size());
  auto fromUnsigned = apply<uint16_t>({"i64"}, "bf16", "%r = arith.uitofp %a : $i64 to $bf16", {a.data()}, a.size());
  auto toHalf = apply<uint16_t>({"i64"}, "f16", "%r = arith.sitofp %a : $i64 to $f16", {a.data()}, a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const bool isNegative = a[i] >> 63;
    EXPECT_EQ(fromSigned[i], toBFloat16(isNegative, isNegative ? -a[i] : a[i])) << a[i];
    EXPECT_EQ(fromUnsigned[i], toBFloat16(false, a[i])) << a[i];
    // Infinite long before f64 rounds.
    EXPECT_EQ(toHalf[i], floatToHalf(static_cast<double>(static_cast<int64_t>(a[i])))) << a[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Elementwise,
                         testing::Values(Way{"cpu", 16}, Way{"cpu", 1}, Way{"x86-64-v3", 8}, Way{"c", 1}),
                         [](const auto &info) {
                           std::string name = info.param.target;
                           std::erase(name, '-');
                           return name + "by" + std::to_string(info.param.lanes);
                         });
