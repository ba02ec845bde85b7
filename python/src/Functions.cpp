//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Functions of tensors one by one, as C++ has them. What the array API standard says beside them, such as defaults,
// is in the package's Python.
//===----------------------------------------------------------------------===//
#include "Python.h"

using namespace zyx;
using namespace zyx::python;

namespace {

struct UnaryRow {
  const char *name;
  Tensor (*function)(const Tensor &x, Place where);
};

const UnaryRow unaryRows[] = {
    // Written by utils/gen-graph-inc.py from UnaryKinds.td, and not by hand:
    {"_cbrt", &zyx::cbrt},
    {"_ceil", &zyx::ceil},
    {"_cos", &zyx::cos},
    {"_erf", &zyx::erf},
    {"_exp", &zyx::exp},
    {"_exp2", &zyx::exp2},
    {"_expm1", &zyx::expm1},
    {"_floor", &zyx::floor},
    {"_log", &zyx::log},
    {"_log2", &zyx::log2},
    {"_reciprocal", &zyx::reciprocal},
    {"_round", &zyx::round},
    {"_rsqrt", &zyx::rsqrt},
    {"_sin", &zyx::sin},
    {"_sqrt", &zyx::sqrt},
    {"_tan", &zyx::tan},
    {"_tanh", &zyx::tanh},
    {"_trunc", &zyx::trunc},
    // Written until here.
    {"_acos", &zyx::acos},
    {"_acosh", &zyx::acosh},
    {"_asin", &zyx::asin},
    {"_asinh", &zyx::asinh},
    {"_atan", &zyx::atan},
    {"_atanh", &zyx::atanh},
    {"_cosh", &zyx::cosh},
    {"_isfinite", &zyx::isFinite},
    {"_isinf", &zyx::isInf},
    {"_isnan", &zyx::isNan},
    {"_log10", &zyx::log10},
    {"_log1p", &zyx::log1p},
    {"_logical_not", &zyx::logicalNot},
    {"_sign", &zyx::sign},
    {"_signbit", &zyx::signBit},
    {"_sinh", &zyx::sinh},
    {"_square", &zyx::square},
    {"_erfinv", &zyx::erfinv},
    {"_relu", &zyx::relu},
    {"_sigmoid", &zyx::sigmoid},
    {"_silu", &zyx::silu},
    {"_gelu", &zyx::gelu},
    {"_gelu_tanh", &zyx::geluTanh},
    {"_mish", &zyx::mish},
    {"_selu", &zyx::selu},
    {"_hard_sigmoid", &zyx::hardSigmoid},
    {"_detach", &zyx::detach},
    {"_cholesky", &zyx::cholesky},
};

Dims dimsOf(std::vector<int64_t> dims) { return Dims(std::move(dims)); }

} // namespace

static void bindReductions(nb::module_ &module) {
  struct Row {
    const char *name;
    Tensor (*function)(const Tensor &, Dims, bool, Place);
  };
  static const Row rows[] = {{"_sum", &zyx::sum}, {"_prod", &zyx::prod},          {"_max", &zyx::max},
                             {"_min", &zyx::min}, {"_mean", &zyx::mean},          {"_any", &zyx::any},
                             {"_all", &zyx::all}, {"_logsumexp", &zyx::logsumexp}};
  for (const Row &row : rows)
    module.def(
        row.name,
        [function = row.function](const Array &x, std::vector<int64_t> dims, bool keepDims) {
          return Array{function(x.value, dimsOf(std::move(dims)), keepDims, here())};
        },
        nb::arg("x"), nb::arg("dims"), nb::arg("keepdims"));
  module.def("_var", [](const Array &x, std::vector<int64_t> dims, bool keepDims, double correction) {
    return Array{x.value.var(dimsOf(std::move(dims)), keepDims, correction, here())};
  });
  module.def("_argmax",
             [](const Array &x, int64_t dim, bool keepDims) { return Array{x.value.argmax(dim, keepDims, here())}; });
  module.def("_argmin",
             [](const Array &x, int64_t dim, bool keepDims) { return Array{x.value.argmin(dim, keepDims, here())}; });
  module.def(
      "_cumsum",
      [](const Array &x, int64_t dim, bool exclusive, bool reverse) {
        return Array{x.value.cumsum(dim, {.exclusive = exclusive, .reverse = reverse}, here())};
      },
      nb::arg("x"), nb::arg("dim"), nb::arg("exclusive") = false, nb::arg("reverse") = false);
  module.def(
      "_cumprod",
      [](const Array &x, int64_t dim, bool exclusive, bool reverse) {
        return Array{x.value.cumprod(dim, {.exclusive = exclusive, .reverse = reverse}, here())};
      },
      nb::arg("x"), nb::arg("dim"), nb::arg("exclusive") = false, nb::arg("reverse") = false);
  module.def("_softmax", [](const Array &x, int64_t dim) { return Array{x.value.softmax(dim, here())}; });
  module.def("_log_softmax", [](const Array &x, int64_t dim) { return Array{x.value.logSoftmax(dim, here())}; });
  module.def("_sort",
             [](const Array &x, int64_t dim, bool descending) { return Array{x.value.sort(dim, descending, here())}; });
  module.def("_argsort", [](const Array &x, int64_t dim, bool descending) {
    return Array{x.value.argsort(dim, descending, here())};
  });
  module.def("_topk", [](const Array &x, int64_t k, int64_t dim, bool largest) {
    const Ranked found = x.value.topk(k, dim, largest, here());
    return std::pair(Array{found.values}, Array{found.indices});
  });
}

static void bindMovement(nb::module_ &module) {
  module.def("_reshape", [](const Array &x, Shape shape) { return Array{x.value.reshape(std::move(shape), here())}; });
  module.def("_expand", [](const Array &x, Shape shape) { return Array{x.value.expand(std::move(shape), here())}; });
  module.def("_permute", [](const Array &x, std::vector<int64_t> order) {
    return Array{x.value.permute(dimsOf(std::move(order)), here())};
  });
  module.def("_flip", [](const Array &x, std::vector<int64_t> dims) {
    return Array{x.value.flip(dimsOf(std::move(dims)), here())};
  });
  module.def("_unsqueeze", [](const Array &x, int64_t dim) { return Array{x.value.unsqueeze(dim, here())}; });
  module.def("_squeeze", [](const Array &x, std::vector<int64_t> dims) {
    return Array{x.value.squeeze(dimsOf(std::move(dims)), here())};
  });
  module.def("_roll", [](const Array &x, std::vector<int64_t> shifts, std::vector<int64_t> dims) {
    return Array{x.value.roll(dimsOf(std::move(shifts)), dimsOf(std::move(dims)), here())};
  });
  module.def("_repeat", [](const Array &x, std::vector<int64_t> counts) {
    return Array{x.value.repeat(dimsOf(std::move(counts)), here())};
  });
  module.def("_repeat_interleave", [](const Array &x, int64_t count, int64_t dim) {
    return Array{x.value.repeatInterleave(count, dim, here())};
  });
  module.def("_concat", [](const std::vector<Array> &parts, int64_t dim) {
    return Array{zyx::concat(tensorsOf(parts), dim, here())};
  });
  module.def("_stack", [](const std::vector<Array> &parts, int64_t dim) {
    return Array{zyx::stack(tensorsOf(parts), dim, here())};
  });
  module.def("_pad", [](const Array &x, std::vector<int64_t> low, std::vector<int64_t> high, double value) {
    return Array{x.value.pad(dimsOf(std::move(low)), dimsOf(std::move(high)), value, here())};
  });
  module.def("_tril", [](const Array &x, int64_t k) { return Array{x.value.tril(k, here())}; });
  module.def("_triu", [](const Array &x, int64_t k) { return Array{x.value.triu(k, here())}; });
}

static void bindSelection(nb::module_ &module) {
  module.def("_where", [](const Array &condition, nb::handle a, nb::handle b) {
    const Place where = here();
    const auto operands = operandsOf(a, b, "where", Kind::Any, where);
    if (!operands)
      throw nb::type_error("where: needs an array and an array or a number");
    return Array{zyx::where(condition.value, operands->a, operands->b)};
  });
  module.def("_take", [](const Array &x, const Array &positions, int64_t dim) {
    return Array{zyx::take(x.value, positions.value, dim, here())};
  });
  module.def("_take_along_axis", [](const Array &x, const Array &positions, int64_t dim) {
    return Array{zyx::takeAlongAxis(x.value, positions.value, dim, here())};
  });
  const auto modeOf = [](const std::string &mode) {
    if (mode == "set")
      return ScatterMode::Set;
    if (mode == "add")
      return ScatterMode::Add;
    if (mode == "min")
      return ScatterMode::Min;
    if (mode == "max")
      return ScatterMode::Max;
    if (mode == "mul")
      return ScatterMode::Mul;
    throw nb::value_error(("a mode is 'set', 'add', 'min', 'max' or 'mul', not '" + mode + "'").c_str());
  };
  module.def("_scatter", [modeOf](const Array &x, const Array &positions, const Array &updates, int64_t dim,
                                  const std::string &mode) {
    return Array{zyx::scatter(x.value, positions.value, updates.value, dim, modeOf(mode), here())};
  });
  module.def("_put_along_axis", [modeOf](const Array &x, const Array &positions, const Array &updates, int64_t dim,
                                         const std::string &mode) {
    return Array{zyx::putAlongAxis(x.value, positions.value, updates.value, dim, modeOf(mode), here())};
  });
  // The sizes of these results are data, which is read now.
  module.def("_nonzero", [](const Array &x) {
    const Place where = here();
    const Tensor value = x.value;
    const Released released;
    return Array{value.nonzero(where).trim(where)};
  });
  module.def("_masked_select", [](const Array &x, const Array &mask) {
    const Place where = here();
    const Tensor value = x.value, chosen = mask.value;
    const Released released;
    return Array{zyx::maskedSelect(value, chosen, where).trim(where)};
  });
  module.def("_unique", [](const Array &x) {
    const Place where = here();
    const Tensor value = x.value;
    const Released released;
    const Unique found = value.unique(where);
    const Tensor values = found.values.trim(where);
    return std::vector<Array>{{values}, {found.inverse}, {zyx::narrow(found.counts, 0, 0, values.shape()[0], where)}};
  });
  module.def("_one_hot", [](const Array &positions, int64_t classes, nb::object dtype) {
    return Array{zyx::oneHot(positions.value, classes, toDType(dtype), here())};
  });
}

static void bindCreation(nb::module_ &module) {
  module.def("_full", [](Shape shape, double value, nb::object dtype) {
    return Array{Tensor::full(std::move(shape), value, toDType(dtype), here())};
  });
  // Integers that no double is.
  module.def("_full_i64", [](Shape shape, int64_t value, nb::object dtype) {
    const Place where = here();
    const Tensor one = Tensor::scalar<int64_t>(value, where).cast(toDType(dtype), where);
    return Array{one.reshape(Shape(shape.size(), 1), where).expand(shape, where)};
  });
  module.def("_full_u64", [](Shape shape, uint64_t value, nb::object dtype) {
    const Place where = here();
    const Tensor one = Tensor::scalar<uint64_t>(value, where).cast(toDType(dtype), where);
    return Array{one.reshape(Shape(shape.size(), 1), where).expand(shape, where)};
  });
  module.def("_arange", [](int64_t start, int64_t stop, int64_t step, nb::object dtype) {
    return Array{Tensor::arange(start, stop, step, toDType(dtype), here())};
  });
  module.def("_eye", [](int64_t rows, int64_t columns, int64_t k, nb::object dtype) {
    const Place where = here();
    const DType type = toDType(dtype);
    const Operand row(Tensor::arange(k, k + rows, 1, DType::I64, where).unsqueeze(1, where), where);
    const Operand column(Tensor::arange(0, columns, 1, DType::I64, where), where);
    return Array{(row == column).cast(type, where)};
  });
  module.def("_linspace", [](double first, double last, int64_t count, nb::object dtype) {
    return Array{zyx::linspace(first, last, count, toDType(dtype), here())};
  });
}

static void bindRandom(nb::module_ &module) {
  module.def("_seed",
             [](uint64_t seed) { return Array{Tensor::from(std::span<const uint64_t>(&seed, 1), {}, here())}; });
  module.def("_random_bits",
             [](const Array &seed, Shape shape) { return Array{randomBits(seed.value, std::move(shape), here())}; });
  module.def("_uniform", [](const Array &seed, Shape shape, double low, double high, nb::object dtype) {
    return Array{uniform(seed.value, std::move(shape), low, high, toDType(dtype), here())};
  });
  module.def("_normal", [](const Array &seed, Shape shape, double mean, double deviation, nb::object dtype) {
    return Array{normal(seed.value, std::move(shape), mean, deviation, toDType(dtype), here())};
  });
  module.def("_randint", [](const Array &seed, Shape shape, int64_t low, int64_t high, nb::object dtype) {
    return Array{randint(seed.value, std::move(shape), low, high, toDType(dtype), here())};
  });
  module.def("_bernoulli", [](const Array &seed, Shape shape, double probability) {
    return Array{bernoulli(seed.value, std::move(shape), probability, here())};
  });
  module.def("_permutation",
             [](const Array &seed, int64_t count) { return Array{permutation(seed.value, count, here())}; });
  module.def("_dropout", [](const Array &seed, const Array &x, double probability) {
    return Array{dropout(seed.value, x.value, probability, here())};
  });
}

static void bindNetworks(nb::module_ &module) {
  const auto reductionOf = [](const std::string &name) {
    if (name == "mean")
      return Reduction::Mean;
    if (name == "sum")
      return Reduction::Sum;
    if (name == "none")
      return Reduction::None;
    throw nb::value_error(("reduction is 'mean', 'sum' or 'none', not '" + name + "'").c_str());
  };
  module.def("_cross_entropy", [reductionOf](const Array &logits, const Array &targets, const std::string &reduction,
                                             int64_t ignoreIndex) {
    return Array{crossEntropy(logits.value, targets.value, {reductionOf(reduction), ignoreIndex}, here())};
  });
  struct Row {
    const char *name;
    Tensor (*function)(const Tensor &, const Tensor &, Reduction, Place);
  };
  static const Row rows[] = {{"_mse_loss", &zyx::mseLoss},
                             {"_l1_loss", &zyx::l1Loss},
                             {"_bce_with_logits", &zyx::bceWithLogits},
                             {"_kl_divergence", &zyx::klDivergence},
                             {"_soft_cross_entropy", &zyx::softCrossEntropy}};
  for (const Row &row : rows)
    module.def(row.name, [function = row.function, reductionOf](const Array &x, const Array &target,
                                                                const std::string &reduction) {
      return Array{function(x.value, target.value, reductionOf(reduction), here())};
    });
  module.def("_huber_loss",
             [reductionOf](const Array &x, const Array &target, double delta, const std::string &reduction) {
               return Array{huberLoss(x.value, target.value, delta, reductionOf(reduction), here())};
             });
  module.def("_layer_norm", [](const Array &x, int64_t dims, double epsilon) {
    return Array{layerNorm(x.value, dims, {}, {}, epsilon, here())};
  });
  module.def("_leaky_relu", [](const Array &x, double slope) { return Array{leakyRelu(x.value, slope, here())}; });
  module.def("_elu", [](const Array &x, double alpha) { return Array{elu(x.value, alpha, here())}; });
  module.def("_softplus", [](const Array &x, double beta) { return Array{softplus(x.value, beta, here())}; });
  module.def("_convolution",
             [](const Array &x, const Array &filters, std::optional<Array> bias, std::vector<int64_t> stride,
                std::vector<int64_t> padding, std::vector<int64_t> dilation, int64_t groups) {
               ConvolutionOptions options;
               options.stride = dimsOf(std::move(stride));
               options.padding = dimsOf(std::move(padding));
               options.dilation = dimsOf(std::move(dilation));
               options.groups = groups;
               return Array{convolution(x.value, filters.value, bias ? bias->value : Tensor(), options, here())};
             });
  module.def("_transposed_convolution", [](const Array &x, const Array &filters, std::vector<int64_t> stride,
                                           std::vector<int64_t> dilation, int64_t groups) {
    TransposedConvolutionOptions options;
    options.stride = dimsOf(std::move(stride));
    options.dilation = dimsOf(std::move(dilation));
    options.groups = groups;
    return Array{transposedConvolution(x.value, filters.value, {}, options, here())};
  });
  module.def("_sliding_windows", [](const Array &x, std::vector<int64_t> window, std::vector<int64_t> stride,
                                    std::vector<int64_t> dilation) {
    return Array{slidingWindows(x.value, dimsOf(std::move(window)), dimsOf(std::move(stride)),
                                dimsOf(std::move(dilation)), here())};
  });
  module.def("_max_pool", [](const Array &x, std::vector<int64_t> window, std::vector<int64_t> stride,
                             std::vector<int64_t> padding) {
    return Array{x.value.maxPool(dimsOf(std::move(window)),
                                 {.stride = dimsOf(std::move(stride)), .padding = dimsOf(std::move(padding))}, here())};
  });
  module.def("_avg_pool", [](const Array &x, std::vector<int64_t> window, std::vector<int64_t> stride,
                             std::vector<int64_t> padding) {
    AverageOptions options;
    options.stride = dimsOf(std::move(stride));
    options.padding = dimsOf(std::move(padding));
    return Array{x.value.avgPool(dimsOf(std::move(window)), options, here())};
  });
  module.def("_triangular_solve", [](const Array &a, const Array &b, bool upper, bool unitDiagonal) {
    return Array{triangularSolve(a.value, b.value, {.upper = upper, .unitDiagonal = unitDiagonal}, here())};
  });
  module.def("_attention", [](const Array &queries, const Array &keys, const Array &values, std::optional<Array> mask,
                              bool causal, std::optional<double> scale) {
    DotProductAttentionOptions options;
    if (mask)
      options.mask = mask->value;
    options.causal = causal;
    options.scale = scale;
    return Array{scaledDotProductAttention(queries.value, keys.value, values.value, options, here())};
  });
}

void zyx::python::bindFunctions(nb::module_ &module) {
  for (const UnaryRow &row : unaryRows)
    module.def(
        row.name, [function = row.function](const Array &x) { return Array{function(x.value, here())}; }, nb::arg("x"),
        // Of those that zyx.nn has as they are.
        docOf(std::string_view(row.name).substr(1)));
  module.def("_cast", [](const Array &x, nb::object dtype) { return Array{x.value.cast(toDType(dtype), here())}; });
  module.def("_bitcast",
             [](const Array &x, nb::object dtype) { return Array{x.value.bitcast(toDType(dtype), here())}; });
  module.def("_to_device", [](const Array &x, const std::string &device) {
    const Place where = here();
    const Tensor value = x.value;
    const Released released;
    return Array{value.to(device, where)};
  });
  // Of integers as C++ has them: towards zero, and with the sign of the dividend.
  module.def("_quotient", [](const Array &a, const Array &b) {
    const Place where = here();
    return Array{Operand(a.value, where) / Operand(b.value, where)};
  });
  module.def("_fmod", [](const Array &a, const Array &b) {
    const Place where = here();
    return Array{Operand(a.value, where) % Operand(b.value, where)};
  });
  module.def("_einsum", [](const std::string &notation, const std::vector<Array> &operands) {
    return Array{einsum(notation, tensorsOf(operands), here())};
  });
  module.def("_realize", [](const std::vector<Array> &arrays) {
    const Place where = here();
    const std::vector<Tensor> tensors = tensorsOf(arrays);
    const Released released;
    realize(tensors, where);
  });
  module.def("_all_close", [](const Array &a, const Array &b, double relative, double absolute, bool equalNan) {
    const Place where = here();
    const Tensor x = a.value, y = b.value;
    const Released released;
    return allClose(x, y, {relative, absolute, equalNan}, where);
  });
  bindReductions(module);
  bindMovement(module);
  bindSelection(module);
  bindCreation(module);
  bindRandom(module);
  bindNetworks(module);
}
