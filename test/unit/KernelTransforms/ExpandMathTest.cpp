//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Compiles each function's expansion for this machine and compares it with a wider format's value.
// ZYX_ULP_STRIDE=1 visits every f32.
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/Target.h"
#include "zyx/Dialect/Kernel/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

using namespace mlir;

namespace {

/// What the machine that functions are expanded for has.
struct Instructions {
  bool fma = true, rounding = true, exactFma = true, doubles = true;
};
/// As a device of WebGPU.
constexpr Instructions withoutDoubles = {true, true, false, false};

/// A compiled loop `out[i] = op(a[i], b[i])` over vectors of 16.
template <typename T> class Compiled {
public:
  explicit Compiled(const std::string &op, const Instructions &expansion = {}) {
    static bool initialised = [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
      return true;
    }();
    (void)initialised;
    std::string vector = std::is_same_v<T, float> ? "vector<16xf32>" : "vector<16xf64>";
    std::string bytes = std::to_string(16 * sizeof(T));
    std::string text = R"(
      func.func @run(%a: !llvm.ptr, %b: !llvm.ptr, %out: !llvm.ptr, %n: i64) attributes {llvm.emit_c_interface} {
        %c0 = arith.constant 0 : i64
        %step = arith.constant )" +
                       bytes + R"( : i64
        scf.for %i = %c0 to %n step %step : i64 {
          %pa = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %pb = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %po = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %x = llvm.load %pa {alignment = 4 : i64} : !llvm.ptr -> )" +
                       vector + R"(
          %y = llvm.load %pb {alignment = 4 : i64} : !llvm.ptr -> )" +
                       vector + R"(
          %r = )" + op +
                       " : " + vector + R"(
          llvm.store %r, %po {alignment = 4 : i64} : )" +
                       vector + R"(, !llvm.ptr
        }
        return
      })";
    DialectRegistry registry;
    registry.insert<func::FuncDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, LLVM::LLVMDialect,
                    zyx::kernel::KernelDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    // The text has none of its ops; the module gets an attribute of it.
    context->loadDialect<zyx::kernel::KernelDialect>();
    module = parseSourceString<ModuleOp>(text, context.get());
    if (!module)
      return;
    Builder attributes(context.get());
    const NamedAttribute facts[] = {
        attributes.getNamedAttr("arithmetic.hasFma", attributes.getBoolAttr(expansion.fma)),
        attributes.getNamedAttr("arithmetic.isFmaExact", attributes.getBoolAttr(expansion.exactFma)),
        attributes.getNamedAttr("arithmetic.hasDoubles", attributes.getBoolAttr(expansion.doubles)),
        attributes.getNamedAttr("arithmetic.hasRounding", attributes.getBoolAttr(expansion.rounding))};
    module.get()->setAttr(zyx::kernel::targetAttrName,
                          zyx::kernel::TargetAttr::get(context.get(), "aarch64", attributes.getDictionaryAttr(facts)));
    PassManager manager(context.get());
    manager.addPass(zyx::kernel::createExpandMathPass());
    manager.addPass(createSCFToControlFlowPass());
    manager.addPass(createConvertMathToLLVMPass());
    manager.addPass(createArithToLLVMConversionPass());
    manager.addPass(createConvertControlFlowToLLVMPass());
    manager.addPass(createConvertFuncToLLVMPass());
    manager.addPass(createReconcileUnrealizedCastsPass());
    if (failed(manager.run(*module)))
      return;
    auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
    ExecutionEngineOptions options;
    options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
    auto made = ExecutionEngine::create(*module, options, llvm::cantFail(builder.createTargetMachine()));
    if (!made) {
      llvm::errs() << llvm::toString(made.takeError());
      return;
    }
    engine = std::move(*made);
    function = reinterpret_cast<Function>(llvm::cantFail(engine->lookup("_mlir_ciface_run")));
  }

  explicit operator bool() const { return function != nullptr; }

  /// `a` and `b` hold a multiple of 16 numbers.
  std::vector<T> operator()(const std::vector<T> &a, const std::vector<T> &b) {
    std::vector<T> out(a.size());
    function(a.data(), b.data(), out.data(), a.size() * sizeof(T));
    return out;
  }

private:
  using Function = void (*)(const void *, const void *, void *, int64_t);
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
  Function function = nullptr;
};

/// Distance of `got` from the exact value, in units of the exact value's last place; infinite where
/// one is NaN, infinite or a zero of the other sign and the other is not.
template <typename T, typename Wide> double ulps(T got, Wide exact) {
  T rounded = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) && std::isnan(exact) ? 0 : INFINITY;
  if (std::isinf(rounded) && std::isinf(got))
    return std::signbit(rounded) == std::signbit(got) ? 0 : INFINITY;
  if (rounded == 0 && got == 0)
    return std::signbit(rounded) == std::signbit(got) ? 0 : INFINITY;
  if (std::isinf(got) && std::isinf(exact))
    return INFINITY;
  // Overflow to infinity counts as the power of two behind the largest number.
  constexpr int digits = std::numeric_limits<T>::digits;
  int exponent = std::numeric_limits<T>::min_exponent;
  if (exact != 0)
    exponent = std::max<int>(exponent, std::min<int>(std::ilogb(exact) + 1, std::numeric_limits<T>::max_exponent));
  Wide value = std::isinf(got) ? std::copysign(std::scalbn(Wide(1), std::numeric_limits<T>::max_exponent), Wide(got))
                               : Wide(got);
  return static_cast<double>(std::abs(value - exact) / std::scalbn(Wide(1), exponent - digits));
}

template <typename T> struct Worst {
  double error = 0;
  T a = 0, b = 0, got = 0;
  template <typename Wide> void add(T x, T y, T result, Wide exact) {
    double e = ulps(result, exact);
    if (e > error)
      *this = {e, x, y, result};
  }
};

template <typename T> std::ostream &operator<<(std::ostream &os, const Worst<T> &worst) {
  return os << std::defaultfloat << worst.error << " ulp at (" << std::hexfloat << worst.a << ", " << worst.b
            << ") = " << worst.got;
}

uint64_t stride() {
  const char *text = std::getenv("ZYX_ULP_STRIDE");
  return text ? std::strtoull(text, nullptr, 10) : 4099;
}

struct UnaryCase {
  const char *op;
  double (*inDouble)(double);
  long double (*inLongDouble)(long double);
  double bound;
  /// The form for operands that are at most 0; it is tried with those.
  bool nonpositive = false;

  std::string text() const { return std::string("math.") + op + (nonpositive ? " %x {kernel.nonpositive}" : " %x"); }
  template <typename T> T operand(T x) const { return nonpositive ? -std::fabs(x) : x; }
};

double rsqrtDouble(double x) { return 1 / std::sqrt(x); }
long double rsqrtLong(long double x) { return 1 / std::sqrt(x); }

const UnaryCase unaryCases[] = {
    {"exp", std::exp, std::exp, 1.5},       {"exp", std::exp, std::exp, 1.5, true},
    {"exp2", std::exp2, std::exp2, 1.5},    {"expm1", std::expm1, std::expm1, 1.5},
    {"log", std::log, std::log, 1.5},       {"log2", std::log2, std::log2, 1.5},
    {"tanh", std::tanh, std::tanh, 2},      {"erf", std::erf, std::erf, 1.5},
    {"rsqrt", rsqrtDouble, rsqrtLong, 1.5}, {"sin", std::sin, std::sin, 1},
    {"cos", std::cos, std::cos, 1},         {"tan", std::tan, std::tan, 1},
    {"cbrt", std::cbrt, std::cbrt, 1},
};

TEST(ExpandMathFunctions, EachHasACase) {
#define ZYX_KERNEL_FUNCTION(Op, name, ...)                                                                             \
  EXPECT_TRUE(llvm::any_of(unaryCases, [](const UnaryCase &each) { return llvm::StringRef(each.op) == #name; }))       \
      << "unaryCases of " << __FILE__ << " lacks " #name;
#include "zyx/Dialect/Kernel/IR/Functions.inc"
}

/// With the instructions of every processor that has fma, and without.
class ExpandMath : public testing::TestWithParam<std::tuple<UnaryCase, bool>> {
protected:
  const UnaryCase &test = std::get<0>(GetParam());
  const Instructions expansion{std::get<1>(GetParam()), std::get<1>(GetParam())};
};

void checkF32(const UnaryCase &test, const Instructions &expansion, double bound) {
  Compiled<float> compiled(test.text(), expansion);
  ASSERT_TRUE(compiled);
  Worst<float> worst;
  std::vector<float> batch;
  auto flush = [&] {
    batch.resize((batch.size() + 15) / 16 * 16);
    for (float &x : batch)
      x = test.operand(x);
    std::vector<float> out = compiled(batch, batch);
    for (size_t i = 0; i != batch.size(); ++i)
      worst.add(batch[i], 0.0f, out[i], test.inDouble(batch[i]));
    batch.clear();
  };
  for (uint32_t bits : {0u, 0x80000000u, 1u, 0x80000001u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x3f800000u,
                        0x7f7fffffu, 0xff7fffffu, 0x00800000u, 0x80800000u, 0x5c2b3a4du})
    batch.push_back(std::bit_cast<float>(bits));
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += stride()) {
    batch.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    if (batch.size() == 1 << 16)
      flush();
  }
  flush();
  EXPECT_LE(worst.error, bound) << worst;
  std::cout << test.op << " f32: " << worst << std::defaultfloat << '\n';
}

TEST_P(ExpandMath, F32IsWithinItsBound) { checkF32(test, expansion, test.bound); }

/// Where a device has no f64, and its fma is not exact.
TEST_P(ExpandMath, F32IsWithinItsBoundWithoutDoubles) {
  if (expansion.fma)
    checkF32(test, withoutDoubles, 4);
}

TEST_P(ExpandMath, F64IsWithinItsBound) {
  Compiled<double> compiled(test.text(), expansion);
  ASSERT_TRUE(compiled);
  std::mt19937_64 random(7);
  std::vector<double> inputs = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 5e-324, -5e-324, 1e-310,
                                1.7976931348623157e308, -1.7976931348623157e308, 709.78, 709.79, -745.1, -745.2,
                                // As near to a multiple of pi/2 as an f64 comes, and near small ones.
                                0x1.4ae72e6ba22efp+848, 0x1.6ac5b262ca1ffp+849, 1.5707963267948966, 3.141592653589793,
                                6.283185307179586};
  for (int i = 0; i != 100000; ++i) {
    inputs.push_back(std::bit_cast<double>(random()));
    inputs.push_back((double(random()) / 9.3e18 - 1) * 750);
    inputs.push_back((double(random()) / 9.3e18 - 1) * 7);
    inputs.push_back(1 + (double(random()) / 9.3e18 - 1) * 0.5);
  }
  inputs.resize((inputs.size() + 15) / 16 * 16);
  for (double &x : inputs)
    x = test.operand(x);
  std::vector<double> out = compiled(inputs, inputs);
  Worst<double> worst;
  for (size_t i = 0; i != inputs.size(); ++i)
    worst.add(inputs[i], 0.0, out[i], test.inLongDouble(inputs[i]));
  EXPECT_LE(worst.error, 4) << worst;
  std::cout << test.op << " f64: " << worst << std::defaultfloat << '\n';
}

INSTANTIATE_TEST_SUITE_P(Functions, ExpandMath, testing::Combine(testing::ValuesIn(unaryCases), testing::Bool()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).op) +
                                  (std::get<0>(info.param).nonpositive ? "Nonpositive" : "") +
                                  (std::get<1>(info.param) ? "" : "WithoutFma");
                         });

/// Whole numbers, halves, both sides of what is whole anyway, and all kinds of bits.
template <typename T> void checkRounding() {
  constexpr double whole = sizeof(T) == 4 ? 0x1p23 : 0x1p52;
  std::vector<T> inputs = {T(INFINITY), T(-INFINITY), T(NAN), std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::denorm_min()};
  for (double size :
       {0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.5, 1e5 + 0.5, whole - 1, whole - 0.5, whole, whole + 1, 2 * whole + 2})
    inputs.insert(inputs.end(), {T(size), T(-size), std::nextafter(T(size), T(0)), std::nextafter(T(-size), T(0))});
  std::mt19937_64 random(5);
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  while (inputs.size() < 100000 || inputs.size() % 16)
    inputs.push_back(std::bit_cast<T>(Bits(random())));
  const std::pair<const char *, T (*)(T)> ops[] = {
      {"floor", std::floor}, {"ceil", std::ceil}, {"trunc", std::trunc}, {"roundeven", std::nearbyint}};
  for (const auto &[op, function] : ops) {
    Compiled<T> compiled("math." + std::string(op) + " %x", {false, false});
    ASSERT_TRUE(compiled);
    const std::vector<T> out = compiled(inputs, inputs);
    for (size_t i = 0; i != inputs.size(); ++i) {
      const T expected = function(inputs[i]);
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(out[i])
                                       : std::bit_cast<Bits>(out[i]) == std::bit_cast<Bits>(expected))
          << op << " of " << std::hexfloat << inputs[i] << " is " << out[i];
    }
  }
}

TEST(ExpandMathRounding, WithoutInstructionsIsExact) {
  checkRounding<float>();
  checkRounding<double>();
}

/// A product and a sum are not fused where the machine cannot: a contraction may have both.
TEST(ExpandMathFma, BecomesProductAndSumWithoutTheInstruction) {
  Compiled<float> fused("math.fma %x, %y, %y"), apart("math.fma %x, %y, %y", {false, true});
  ASSERT_TRUE(fused);
  ASSERT_TRUE(apart);
  const std::vector<float> a(16, 1 + 0x1p-23f), b(16, 1 + 0x1p-12f);
  const float product = a[0] * b[0];
  EXPECT_EQ(fused(a, b)[0], std::fma(a[0], b[0], b[0]));
  EXPECT_EQ(apart(a, b)[0], product + b[0]);
}

/// Random pairs, pairs near interesting powers, and every pair of special values.
template <typename T> std::pair<std::vector<T>, std::vector<T>> pairs(int count) {
  std::vector<T> a, b;
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       T(-0.0),
                       1,
                       -1,
                       2,
                       -2,
                       3,
                       -3,
                       T(0.5),
                       T(-0.5),
                       T(1.5),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       -Limits::max(),
                       Limits::min(),
                       Limits::denorm_min(),
                       -Limits::denorm_min(),
                       T(1e30),
                       T(1e30) + 1,
                       T(16777215)};
  for (T x : special)
    for (T y : special)
      a.push_back(x), b.push_back(y);
  std::mt19937_64 random(3);
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  auto uniform = [&](T limit) { return T((double(random()) / 9.3e18 - 1)) * limit; };
  for (int i = 0; i != count; ++i) {
    a.push_back(std::bit_cast<T>(Bits(random()))), b.push_back(std::bit_cast<T>(Bits(random())));
    a.push_back(std::abs(uniform(100))), b.push_back(uniform(20));
    a.push_back(1 + uniform(T(0.01))), b.push_back(uniform(10000));
    a.push_back(-std::abs(uniform(10))), b.push_back(std::round(uniform(30)));
  }
  while (a.size() % 16)
    a.push_back(1), b.push_back(1);
  return {a, b};
}

void checkPowF32(const Instructions &expansion, double bound = 1) {
  Compiled<float> compiled("math.powf %x, %y", expansion);
  ASSERT_TRUE(compiled);
  auto [a, b] = pairs<float>(400000);
  std::vector<float> out = compiled(a, b);
  Worst<float> worst;
  for (size_t i = 0; i != a.size(); ++i)
    worst.add(a[i], b[i], out[i], std::pow(double(a[i]), double(b[i])));
  EXPECT_LE(worst.error, bound) << worst;
  std::cout << "pow f32: " << worst << '\n';
}
TEST(ExpandMathBinary, PowF32) { checkPowF32({}); }
TEST(ExpandMathBinary, PowF32WithoutFma) { checkPowF32({false, false}); }
TEST(ExpandMathBinary, PowF32WithoutDoubles) { checkPowF32(withoutDoubles, 1.5); }

void checkPowF64(const Instructions &expansion) {
  Compiled<double> compiled("math.powf %x, %y", expansion);
  ASSERT_TRUE(compiled);
  auto [a, b] = pairs<double>(100000);
  std::vector<double> out = compiled(a, b);
  Worst<double> worst;
  for (size_t i = 0; i != a.size(); ++i)
    worst.add(a[i], b[i], out[i], std::pow((long double)a[i], (long double)b[i]));
  EXPECT_LE(worst.error, 4) << worst;
  std::cout << "pow f64: " << worst << '\n';
}
TEST(ExpandMathBinary, PowF64) { checkPowF64({}); }
TEST(ExpandMathBinary, PowF64WithoutFma) { checkPowF64({false, false}); }

void checkRemainderOfF32IsExact(const Instructions &expansion) {
  Compiled<float> compiled("arith.remf %x, %y", expansion);
  ASSERT_TRUE(compiled);
  auto [a, b] = pairs<float>(400000);
  std::vector<float> out = compiled(a, b);
  Worst<float> worst;
  for (size_t i = 0; i != a.size(); ++i)
    worst.add(a[i], b[i], out[i], double(std::fmod(a[i], b[i])));
  EXPECT_EQ(worst.error, 0) << worst;
}
TEST(ExpandMathBinary, RemainderOfF32IsExact) { checkRemainderOfF32IsExact({}); }
TEST(ExpandMathBinary, RemainderOfF32IsExactWithoutFma) { checkRemainderOfF32IsExact({false, false}); }
TEST(ExpandMathBinary, RemainderOfF32IsExactWithoutDoubles) { checkRemainderOfF32IsExact(withoutDoubles); }

void checkRemainderOfF64IsExact(const Instructions &expansion) {
  Compiled<double> compiled("arith.remf %x, %y", expansion);
  ASSERT_TRUE(compiled);
  auto [a, b] = pairs<double>(100000);
  std::vector<double> out = compiled(a, b);
  Worst<double> worst;
  for (size_t i = 0; i != a.size(); ++i)
    worst.add(a[i], b[i], out[i], static_cast<long double>(std::fmod(a[i], b[i])));
  EXPECT_EQ(worst.error, 0) << worst;
}
TEST(ExpandMathBinary, RemainderOfF64IsExact) { checkRemainderOfF64IsExact({}); }
TEST(ExpandMathBinary, RemainderOfF64IsExactWithoutFma) { checkRemainderOfF64IsExact({false, false}); }

} // namespace
