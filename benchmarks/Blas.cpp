//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Any library with the cblas interface of 32-bit integers: OpenBLAS, BLIS.
#include "Worker.h"

#include <dlfcn.h>

namespace zyx::bench {
namespace {

/// The numbers of cblas.h, which every implementation shares.
enum Order { rowMajor = 101 };
enum Transpose { noTranspose = 111, transpose = 112 };

using Sgemm = void (*)(Order, Transpose, Transpose, int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
using Sgemv = void (*)(Order, Transpose, int m, int n, float alpha, const float *a, int lda, const float *x, int incx,
                       float beta, float *y, int incy);

template <typename Function> Function find(void *library, const std::string &name, bool needed = true) {
  void *symbol = dlsym(library, name.c_str());
  if (!symbol && needed)
    throw std::runtime_error(dlerror());
  return reinterpret_cast<Function>(symbol);
}

std::string version(void *library, const std::string &prefix) {
  using Text = const char *(*)();
  if (auto config = find<Text>(library, prefix + "openblas_get_config", false))
    return std::string(config()) + ", core " + find<Text>(library, prefix + "openblas_get_corename")();
  if (auto text = find<Text>(library, "bli_info_get_version_str", false))
    return text();
  return "unknown";
}

} // namespace

Contender blasContender(const std::string &path, const std::string &prefix) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw std::runtime_error(dlerror());
  auto sgemm = find<Sgemm>(library, prefix + "cblas_sgemm");
  auto sgemv = find<Sgemv>(library, prefix + "cblas_sgemv");
  return {version(library, prefix), [=](const Task &task) -> Call {
            const nlohmann::json &shape = task.arguments;
            if (task.kind != "gemm" || shape.at("dtype") != "f32")
              throw Unsupported("only f32 matrix products");
            const int m = shape.at("m"), n = shape.at("n"), k = shape.at("k");
            const int batch = shape.at("batch");
            const bool ta = shape.at("ta"), tb = shape.at("tb");
            const float *a = task.inputs[0].as<float>(), *b = task.inputs[1].as<float>();
            float *c = task.output.as<float>();
            // One row times a matrix: the library's own function for it.
            if (task.variant == "gemv") {
              if (m != 1 || batch != 1 || ta || tb)
                throw Unsupported("no matrix times a vector");
              return [=] { sgemv(rowMajor, transpose, k, n, 1, b, n, a, 1, 0, c, 1); };
            }
            return [=] {
              for (int64_t i = 0; i < batch; ++i)
                sgemm(rowMajor, ta ? transpose : noTranspose, tb ? transpose : noTranspose, m, n, k, 1, a + i * m * k,
                      ta ? m : k, b + i * k * n, tb ? k : n, 0, c + i * m * n, n);
            };
          }};
}

} // namespace zyx::bench
