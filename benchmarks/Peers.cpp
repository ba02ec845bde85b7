//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Peers.h"

#include <cblas.h>
#include <dnnl.hpp>

#include <memory>
#include <unordered_map>

namespace zyx::bench {
namespace {

using Arguments = std::unordered_map<int, dnnl::memory>;

dnnl::engine &engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::memory::desc matrix(int64_t rows, int64_t columns) {
  return {{rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab};
}

/// oneDNN takes pointers to const data as pointers to data; a primitive does not write its sources.
dnnl::memory bind(const dnnl::memory::desc &type, const float *data) {
  return {type, engine(), const_cast<float *>(data)};
}

Call execute(const dnnl::primitive &primitive, Arguments arguments) {
  dnnl::stream stream(engine());
  return [primitive, arguments = std::move(arguments), stream]() mutable {
    primitive.execute(stream, arguments);
    stream.wait();
  };
}

Call onednnBinaryAdd(int64_t rows, int64_t columns, const float *x, const float *y, float *z,
                     const dnnl::post_ops &after, Arguments arguments) {
  dnnl::memory::desc type = matrix(rows, columns);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  dnnl::binary::primitive_desc description({dnnl::algorithm::binary_add, type, type, type},
                                           attributes, engine());
  arguments[DNNL_ARG_SRC_0] = bind(type, x);
  arguments[DNNL_ARG_SRC_1] = bind(type, y);
  arguments[DNNL_ARG_DST] = bind(type, z);
  return execute(dnnl::binary(description), std::move(arguments));
}

} // namespace

std::vector<std::pair<std::string, std::string>> peerVersions() {
  const dnnl_version_t *onednn = dnnl_version();
  return {{"OpenBLAS", std::string(openblas_get_config()) + ", core " + openblas_get_corename()},
          {"oneDNN", std::to_string(onednn->major) + "." + std::to_string(onednn->minor) + "." +
                         std::to_string(onednn->patch)}};
}

Call openblasSgemm(int n, const float *a, const float *b, float *c) {
  return [=] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
  };
}

Call onednnSgemm(int n, const float *a, const float *b, float *c) {
  return [=] { dnnl_sgemm('N', 'N', n, n, n, 1.0f, a, n, b, n, 0.0f, c, n); };
}

Call onednnSoftmax(int64_t rows, int64_t columns, const float *x, float *y) {
  dnnl::memory::desc type = matrix(rows, columns);
  dnnl::softmax_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, type, /*axis=*/1}, engine());
  return execute(dnnl::softmax_forward(description),
                 {{DNNL_ARG_SRC, bind(type, x)}, {DNNL_ARG_DST, bind(type, y)}});
}

Call onednnLayerNorm(int64_t rows, int64_t columns, const float *x, const float *scaleShift,
                     float *y) {
  dnnl::memory::desc type = matrix(rows, columns);
  dnnl::layer_normalization_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, type, 1e-5f, dnnl::normalization_flags::use_scale_shift},
      engine());
  return execute(dnnl::layer_normalization_forward(description),
                 {{DNNL_ARG_SRC, bind(type, x)},
                  {DNNL_ARG_DST, bind(type, y)},
                  {DNNL_ARG_SCALE_SHIFT, bind(description.weights_desc(), scaleShift)}});
}

Call onednnAdd(int64_t rows, int64_t columns, const float *x, const float *y, float *z) {
  return onednnBinaryAdd(rows, columns, x, y, z, {}, {});
}

Call onednnChain(int64_t rows, int64_t columns, const float *x, const float *y, float *z) {
  using dnnl::algorithm;
  // At most one linear operation: 2.6 computes a second one with the constants of the first.
  dnnl::post_ops after;
  after.append_eltwise(1.0f, algorithm::eltwise_abs, 0.0f, 0.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_linear, 0.5f, 1.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_sqrt, 0.0f, 0.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_exp, 0.0f, 0.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_clip, 3.0f, 8.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_square, 0.0f, 0.0f);
  after.append_binary(algorithm::binary_mul, matrix(rows, columns));
  return onednnBinaryAdd(
      rows, columns, x, y, z, after,
      {{DNNL_ARG_ATTR_MULTIPLE_POST_OP(6) | DNNL_ARG_SRC_1, bind(matrix(rows, columns), y)}});
}

} // namespace zyx::bench
