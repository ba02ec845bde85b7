//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Worker.h"

#include <dnnl.hpp>

#include <unordered_map>

namespace zyx::bench {
namespace {

using nlohmann::json;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;
using Arguments = std::unordered_map<int, dnnl::memory>;

dnnl::engine &engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::memory::desc matrix(int64_t rows, int64_t columns) { return {{rows, columns}, Type::f32, Tag::ab}; }

/// oneDNN takes pointers to const data as pointers to data; a primitive does not write its sources.
dnnl::memory bind(const dnnl::memory::desc &type, const Memory &data) { return {type, engine(), data.data()}; }

/// Memory of oneDNN's own in the layout that a primitive wants, filled once: as weights are.
dnnl::memory reorder(dnnl::memory from, const dnnl::memory::desc &wanted) {
  if (from.get_desc() == wanted)
    return from;
  dnnl::memory to(wanted, engine());
  dnnl::stream stream(engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return to;
}

Call execute(const dnnl::primitive &primitive, Arguments arguments) {
  dnnl::stream stream(engine());
  return [primitive, arguments = std::move(arguments), stream]() mutable {
    primitive.execute(stream, arguments);
    stream.wait();
  };
}

Call gemm(const Task &task) {
  const json &shape = task.arguments;
  const int64_t m = shape.at("m"), n = shape.at("n"), k = shape.at("k"), batch = shape.at("batch");
  const bool ta = shape.at("ta"), tb = shape.at("tb");
  const std::string dtype = shape.at("dtype");
  if (task.variant == "sgemm") {
    if (dtype != "f32" || batch != 1)
      throw Unsupported("sgemm is one product of f32");
    const float *a = task.inputs[0].as<float>(), *b = task.inputs[1].as<float>();
    float *c = task.output.as<float>();
    return [=] { dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, ta ? m : k, b, tb ? k : n, 0, c, n); };
  }
  Type in = dtype == "f32" ? Type::f32 : dtype == "bf16" ? Type::bf16 : Type::s8;
  Type out = dtype == "i8" ? Type::s32 : in;
  dnnl::memory::desc a({batch, m, k}, in, ta ? Tag::acb : Tag::abc);
  dnnl::memory::desc b({batch, k, n}, in, tb ? Tag::acb : Tag::abc);
  dnnl::memory::desc c({batch, m, n}, out, Tag::abc);
  dnnl::matmul::primitive_desc description({a, b, c}, engine());
  return execute(dnnl::matmul(description), {{DNNL_ARG_SRC, bind(a, task.inputs[0])},
                                             {DNNL_ARG_WEIGHTS, bind(b, task.inputs[1])},
                                             {DNNL_ARG_DST, bind(c, task.output)}});
}

/// NHWC, filters as [height, width, channels per group, outputs], reordered once.
Call convolution(const Task &task) {
  const json &shape = task.arguments;
  const int64_t n = shape.at("n"), h = shape.at("h"), w = shape.at("w"), c = shape.at("c"), kh = shape.at("kh"),
                kw = shape.at("kw"), o = shape.at("o"), stride = shape.at("stride"), pad = shape.at("pad"),
                groups = shape.at("groups");
  const int64_t oh = (h + 2 * pad - kh) / stride + 1, ow = (w + 2 * pad - kw) / stride + 1;
  dnnl::memory::desc source({n, c, h, w}, Type::f32, Tag::nhwc), any, given;
  dnnl::memory::desc destination({n, o, oh, ow}, Type::f32, Tag::nhwc);
  if (groups == 1) {
    any = {{o, c, kh, kw}, Type::f32, Tag::any};
    given = {{o, c, kh, kw}, Type::f32, Tag::hwio};
  } else {
    // In memory [kh, kw, c / groups, groups * outputs per group].
    const int64_t each = o / groups, in = c / groups;
    any = {{groups, each, in, kh, kw}, Type::f32, Tag::any};
    given = {{groups, each, in, kh, kw}, Type::f32, Dims{each, 1, o, kw * in * o, in * o}};
  }
  dnnl::convolution_forward::primitive_desc description({dnnl::prop_kind::forward_inference,
                                                         dnnl::algorithm::convolution_direct,
                                                         source,
                                                         any,
                                                         destination,
                                                         {stride, stride},
                                                         {pad, pad},
                                                         {pad, pad}},
                                                        engine());
  return execute(dnnl::convolution_forward(description),
                 {{DNNL_ARG_SRC, bind(source, task.inputs[0])},
                  {DNNL_ARG_WEIGHTS, reorder(bind(given, task.inputs[1]), description.weights_desc())},
                  {DNNL_ARG_DST, bind(destination, task.output)}});
}

Call softmax(const Task &task) {
  dnnl::memory::desc type = matrix(task.arguments.at("rows"), task.arguments.at("columns"));
  dnnl::softmax_forward::primitive_desc description({dnnl::prop_kind::forward_inference, type, /*axis=*/1}, engine());
  return execute(dnnl::softmax_forward(description),
                 {{DNNL_ARG_SRC, bind(type, task.inputs[0])}, {DNNL_ARG_DST, bind(type, task.output)}});
}

Call layerNorm(const Task &task) {
  const int64_t columns = task.arguments.at("columns");
  dnnl::memory::desc type = matrix(task.arguments.at("rows"), columns);
  dnnl::layer_normalization_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, type, 1e-5f, dnnl::normalization_flags::use_scale_shift}, engine());
  // One tensor of the scales and then the shifts.
  dnnl::memory scaleShift(description.weights_desc(), engine());
  float *to = static_cast<float *>(scaleShift.get_data_handle());
  for (int part = 0; part < 2; ++part)
    std::copy_n(task.inputs[1 + part].as<float>(), columns, to + part * columns);
  return execute(dnnl::layer_normalization_forward(description), {{DNNL_ARG_SRC, bind(type, task.inputs[0])},
                                                                  {DNNL_ARG_DST, bind(type, task.output)},
                                                                  {DNNL_ARG_SCALE_SHIFT, scaleShift}});
}

Call gelu(const Task &task) {
  dnnl::memory::desc type = matrix(task.arguments.at("rows"), task.arguments.at("columns"));
  dnnl::eltwise_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_gelu_erf, type, 0, 0}, engine());
  return execute(dnnl::eltwise_forward(description),
                 {{DNNL_ARG_SRC, bind(type, task.inputs[0])}, {DNNL_ARG_DST, bind(type, task.output)}});
}

/// The ten ops of the chain as one addition with operations after it.
Call chain(const Task &task) {
  using dnnl::algorithm;
  dnnl::memory::desc type = matrix(task.arguments.at("rows"), task.arguments.at("columns"));
  // At most one linear operation: 2.6 computes a second one with the constants of the first.
  dnnl::post_ops after;
  after.append_eltwise(1.0f, algorithm::eltwise_abs, 0.0f, 0.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_linear, 0.5f, 1.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_sqrt, 0.0f, 0.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_exp, 0.0f, 0.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_clip, 3.0f, 8.0f);
  after.append_eltwise(1.0f, algorithm::eltwise_square, 0.0f, 0.0f);
  after.append_binary(algorithm::binary_mul, type);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  dnnl::binary::primitive_desc description({algorithm::binary_add, type, type, type}, attributes, engine());
  return execute(dnnl::binary(description),
                 {{DNNL_ARG_SRC_0, bind(type, task.inputs[0])},
                  {DNNL_ARG_SRC_1, bind(type, task.inputs[1])},
                  {DNNL_ARG_DST, bind(type, task.output)},
                  {DNNL_ARG_ATTR_MULTIPLE_POST_OP(6) | DNNL_ARG_SRC_1, bind(type, task.inputs[1])}});
}

} // namespace

Contender onednnContender() {
  static const std::unordered_map<std::string, Call (*)(const Task &)> kinds = {
      {"gemm", gemm}, {"conv", convolution}, {"softmax", softmax}, {"layer-norm", layerNorm},
      {"gelu", gelu}, {"chain", chain}};
  const dnnl_version_t *version = dnnl_version();
  return {std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch),
          [](const Task &task) -> Call {
            auto kind = kinds.find(task.kind);
            if (kind == kinds.end() || (kind->first != "gemm" && !task.variant.empty()))
              throw Unsupported("no primitive");
            return kind->second(task);
          }};
}

} // namespace zyx::bench
