//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Checks and times the cubins of the paper kernels (build.sh makes them, run.sh calls this):
//
//   harness FOLDER RESULT.json COMMIT
//
// FOLDER holds gemm.cubin and attention.cubin, with NAME.launch beside each: threads of a workgroup
// and bytes of its shared memory, as zyx-translate prints them. GEMM is compared with cuBLAS on the
// same data in the same process, in turn, round by round; attention with a plain kernel in f32, in
// numbers only. Exits with 1 when a result is wrong.

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

using bf16 = __nv_bfloat16;

#define CHECK_CU(call)                                                                             \
  do {                                                                                             \
    if (CUresult status = (call)) {                                                                \
      const char *text = "unknown";                                                                \
      cuGetErrorString(status, &text);                                                             \
      std::fprintf(stderr, "harness.cu:%d: %s: %s\n", __LINE__, #call, text);                      \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)
#define CHECK_CUDA(call)                                                                           \
  do {                                                                                             \
    if (cudaError_t status = (call)) {                                                             \
      std::fprintf(stderr, "harness.cu:%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)
#define CHECK_BLAS(call)                                                                           \
  do {                                                                                             \
    if (cublasStatus_t status = (call)) {                                                          \
      std::fprintf(stderr, "harness.cu:%d: %s: %d\n", __LINE__, #call, int(status));               \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)

//===----------------------------------------------------------------------===//
// On the device
//===----------------------------------------------------------------------===//

/// Uniform in [-1, 1), the same for the same seed.
__global__ void fillUniform(bf16 *data, size_t count, uint64_t seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
    uint64_t x = (i + seed * 0x9E3779B97F4A7C15ull) + 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    x ^= x >> 31;
    data[i] = __float2bfloat16((int32_t(x & 0xFFFF) - 32768) / 32768.0f);
  }
}

struct Comparison {
  float largest;    // of the expected values
  float difference; // largest of all
  unsigned missing; // values that are not numbers
};

__device__ float toFloat(float x) { return x; }
__device__ float toFloat(bf16 x) { return __bfloat162float(x); }

template <typename Expected>
__global__ void compare(const bf16 *got, const Expected *expected, size_t count, Comparison *result) {
  float largest = 0, difference = 0;
  unsigned missing = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
    float x = toFloat(got[i]), y = toFloat(expected[i]);
    if (isnan(x) || isnan(y)) {
      ++missing;
      continue;
    }
    largest = fmaxf(largest, fabsf(y));
    difference = fmaxf(difference, fabsf(x - y));
  }
  // Non-negative floats are ordered as integers.
  atomicMax(reinterpret_cast<int *>(&result->largest), __float_as_int(largest));
  atomicMax(reinterpret_cast<int *>(&result->difference), __float_as_int(difference));
  atomicAdd(&result->missing, missing);
}

/// Softmax attention of one head, one row a block of 128 threads, sums in f32.
__global__ void plainAttention(const bf16 *q, const bf16 *k, const bf16 *v, float *out, int rows, float scale) {
  extern __shared__ float weights[];
  __shared__ float partial[128];
  int row = blockIdx.x, t = threadIdx.x;
  auto reduce = [&](float mine, bool isMax) {
    partial[t] = mine;
    __syncthreads();
    for (int half = 64; half; half >>= 1) {
      if (t < half)
        partial[t] = isMax ? fmaxf(partial[t], partial[t + half]) : partial[t] + partial[t + half];
      __syncthreads();
    }
    float all = partial[0];
    __syncthreads();
    return all;
  };
  float top = -INFINITY;
  for (int j = t; j < rows; j += 128) {
    float sum = 0;
    for (int d = 0; d < 128; ++d)
      sum += __bfloat162float(q[size_t(row) * 128 + d]) * __bfloat162float(k[size_t(j) * 128 + d]);
    weights[j] = sum * scale;
    top = fmaxf(top, weights[j]);
  }
  top = reduce(top, true);
  float sum = 0;
  for (int j = t; j < rows; j += 128) {
    weights[j] = expf(weights[j] - top);
    sum += weights[j];
  }
  sum = reduce(sum, false);
  float value = 0;
  for (int j = 0; j < rows; ++j)
    value += weights[j] * __bfloat162float(v[size_t(j) * 128 + t]);
  out[size_t(row) * 128 + t] = value / sum;
}

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

template <typename T>
struct Device {
  T *data = nullptr;
  explicit Device(size_t count) { CHECK_CUDA(cudaMalloc(&data, count * sizeof(T))); }
  ~Device() { cudaFree(data); }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
};

/// A kernel of ours and how it is launched.
struct Kernel {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  unsigned threads = 0, shared = 0;

  Kernel(const std::string &folder, const std::string &name) {
    std::string launch = folder + "/" + name + ".launch";
    std::FILE *file = std::fopen(launch.c_str(), "r");
    if (!file || std::fscanf(file, "threads %u shared %u", &threads, &shared) != 2) {
      std::fprintf(stderr, "harness: cannot read %s\n", launch.c_str());
      std::exit(1);
    }
    std::fclose(file);
    CHECK_CU(cuModuleLoad(&module, (folder + "/" + name + ".cubin").c_str()));
    CHECK_CU(cuModuleGetFunction(&function, module, name.c_str()));
    CHECK_CU(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shared)));
  }
  void operator()(unsigned x, unsigned y, void **arguments) const {
    CHECK_CU(cuLaunchKernel(function, x, y, 1, threads, 1, 1, shared, nullptr, arguments, nullptr));
  }
};

/// Row-major bf16 of `shape`, copied in boxes of `box` (outermost first), with a swizzle of 128.
static CUtensorMap tensorMap(void *data, std::vector<uint64_t> shape, std::vector<uint32_t> box) {
  std::vector<cuuint64_t> dims(shape.rbegin(), shape.rend()), strides;
  std::vector<cuuint32_t> extents(box.rbegin(), box.rend()), ones(box.size(), 1);
  cuuint64_t bytes = sizeof(bf16);
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    strides.push_back(bytes *= dims[i]);
  CUtensorMap map;
  CHECK_CU(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, cuuint32_t(dims.size()), data,
                                  dims.data(), strides.data(), extents.data(), ones.data(),
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Milliseconds of one call, as the median of `samples` trains of `train` calls.
static double timeOf(const std::function<void()> &call, int samples, int train) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) {
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));
  }
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    CHECK_CUDA(cudaEventRecord(begin));
    for (int j = 0; j < train; ++j)
      call();
    CHECK_CUDA(cudaEventRecord(end));
    CHECK_CUDA(cudaEventSynchronize(end));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms / train);
  }
  return median(times);
}

template <typename Expected>
static Comparison compareOn(const bf16 *got, const Expected *expected, size_t count) {
  Device<Comparison> result(1);
  CHECK_CUDA(cudaMemset(result.data, 0, sizeof(Comparison)));
  compare<<<512, 256>>>(got, expected, count, result.data);
  Comparison host;
  CHECK_CUDA(cudaMemcpy(&host, result.data, sizeof host, cudaMemcpyDeviceToHost));
  return host;
}

static bool isRight(const Comparison &c) { return c.missing == 0 && c.largest > 0 && c.difference <= c.largest / 128; }

static std::string json; // of all results so far
static bool allRight = true;

static void record(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  json += (json.empty() ? "\n    " : ",\n    ") + std::string(line);
}

/// What a figure is made of: rounds in turn, the median of their medians, and the spread of their
/// ratios. A train of calls hides the cost of a launch; one call at a time shows it.
static constexpr int rounds = 9, samples = 10;

static void gemm(const Kernel &kernel, cublasHandle_t blas, int multiprocessors, int m, int n, int k, bool timed) {
  size_t countC = size_t(m) * n, guard = 4096;
  Device<bf16> a(size_t(m) * k), b(size_t(n) * k), c(countC + guard), expected(countC);
  fillUniform<<<1024, 256>>>(a.data, size_t(m) * k, 1);
  fillUniform<<<1024, 256>>>(b.data, size_t(n) * k, 2);
  // Not a number wherever nothing is written.
  CHECK_CUDA(cudaMemset(c.data, 0xFF, (countC + guard) * sizeof(bf16)));
  auto size = [](int x) { return uint64_t(x); };
  CUtensorMap mapA = tensorMap(a.data, {size(m), size(k)}, {128, 64});
  CUtensorMap mapB = tensorMap(b.data, {size(n), size(k)}, {256, 64});
  CUtensorMap mapC = tensorMap(c.data, {size(m), size(n)}, {64, 64});
  void *arguments[] = {&mapA, &mapB, &mapC, &m, &n, &k};
  auto ours = [&] { kernel(unsigned(multiprocessors), 1, arguments); };
  float one = 1, zero = 0;
  auto theirs = [&] {
    CHECK_BLAS(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, b.data, CUDA_R_16BF, k, a.data,
                            CUDA_R_16BF, k, &zero, expected.data, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT));
  };
  ours();
  theirs();
  CHECK_CUDA(cudaDeviceSynchronize());
  Comparison result = compareOn(c.data, expected.data, countC);
  std::vector<uint16_t> behind(guard);
  CHECK_CUDA(cudaMemcpy(behind.data(), c.data + countC, guard * sizeof(bf16), cudaMemcpyDeviceToHost));
  bool inside = std::all_of(behind.begin(), behind.end(), [](uint16_t x) { return x == 0xFFFF; });
  bool right = isRight(result) && inside;
  allRight &= right;
  const char *verdict = right ? "right" : "WRONG";
  if (!timed) {
    std::printf("gemm %5d x %5d x %5d  difference %-10g %s%s\n", m, n, k, result.difference, verdict,
                inside ? "" : " (wrote behind the end)");
    record("{\"kernel\": \"gemm\", \"m\": %d, \"n\": %d, \"k\": %d, \"difference\": %g, \"right\": %s}", m, n, k,
           result.difference, right ? "true" : "false");
    return;
  }

  // A warm machine, then rounds in turn.
  double once = timeOf(ours, 3, 1);
  int train = std::max(1, int(1.0 / once));
  timeOf(ours, std::max(5, int(300 / once / train)), train);
  timeOf(theirs, std::max(5, int(300 / once / train)), train);
  double flops = 2.0 * m * n * k * 1e-9; // TFLOP/s = flops / ms
  for (int length : {1, train}) {
    std::vector<double> t, u, ratios;
    for (int i = 0; i < rounds; ++i) {
      u.push_back(timeOf(theirs, samples, length));
      t.push_back(timeOf(ours, samples, length));
      ratios.push_back(u.back() / t.back());
    }
    double low = *std::min_element(ratios.begin(), ratios.end()), high = *std::max_element(ratios.begin(), ratios.end());
    std::printf("gemm %5d x %5d x %5d  %5s %3d  zyx %6.1f  cuBLAS %6.1f TFLOP/s  ratio %.3f (%.3f - %.3f)  difference %g %s\n",
                m, n, k, length == 1 ? "one" : "train", length, flops / median(t), flops / median(u), median(ratios),
                low, high, result.difference, verdict);
    record("{\"kernel\": \"gemm\", \"m\": %d, \"n\": %d, \"k\": %d, \"train\": %d, \"zyx_tflops\": %.2f, "
           "\"cublas_tflops\": %.2f, \"ratio\": %.4f, \"ratio_low\": %.4f, \"ratio_high\": %.4f, "
           "\"difference\": %g, \"right\": %s}",
           m, n, k, length, flops / median(t), flops / median(u), median(ratios), low, high, result.difference,
           right ? "true" : "false");
    if (train == 1)
      break;
  }
}

static void attention(const Kernel &kernel, int heads, int rows) {
  size_t count = size_t(heads) * rows * 128;
  Device<bf16> q(count), k(count), v(count), out(count);
  Device<float> expected(size_t(rows) * 128);
  fillUniform<<<1024, 256>>>(q.data, count, 3);
  fillUniform<<<1024, 256>>>(k.data, count, 4);
  fillUniform<<<1024, 256>>>(v.data, count, 5);
  CHECK_CUDA(cudaMemset(out.data, 0xFF, count * sizeof(bf16)));
  std::vector<uint64_t> shape = {uint64_t(heads), uint64_t(rows), 128};
  CUtensorMap maps[4] = {tensorMap(q.data, shape, {1, 128, 64}), tensorMap(k.data, shape, {1, 128, 64}),
                         tensorMap(v.data, shape, {1, 128, 64}), tensorMap(out.data, shape, {1, 64, 64})};
  // Powers of two: the factor log2(e) comes with the scale.
  float plain = 1 / std::sqrt(128.0f), scale = plain * 1.44269504f;
  void *arguments[] = {&maps[0], &maps[1], &maps[2], &maps[3], &heads, &rows, &scale};
  auto ours = [&] { kernel(unsigned(rows / 128), unsigned(heads), arguments); };
  ours();
  CHECK_CUDA(cudaDeviceSynchronize());

  size_t last = size_t(heads - 1) * rows * 128;
  CHECK_CUDA(cudaFuncSetAttribute(plainAttention, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
  plainAttention<<<rows, 128, sizeof(float) * rows>>>(q.data + last, k.data + last, v.data + last, expected.data,
                                                     rows, plain);
  CHECK_CUDA(cudaGetLastError());
  Comparison result = compareOn(out.data + last, expected.data, size_t(rows) * 128);
  bool right = isRight(result);
  allRight &= right;
  double once = timeOf(ours, 3, 1);
  timeOf(ours, std::max(5, int(300 / once)), 1);
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i)
    times.push_back(timeOf(ours, samples, 1));
  double flops = 4.0 * heads * rows * double(rows) * 128 * 1e-9;
  double low = flops / *std::max_element(times.begin(), times.end());
  double high = flops / *std::min_element(times.begin(), times.end());
  std::printf("attention heads %d rows %5d  zyx %6.1f TFLOP/s (%.1f - %.1f)  difference %g of %g %s\n", heads, rows,
              flops / median(times), low, high, result.difference, result.largest, right ? "right" : "WRONG");
  record("{\"kernel\": \"attention\", \"heads\": %d, \"rows\": %d, \"zyx_tflops\": %.2f, \"low\": %.2f, "
         "\"high\": %.2f, \"difference\": %g, \"largest\": %g, \"right\": %s}",
         heads, rows, flops / median(times), low, high, result.difference, result.largest, right ? "true" : "false");
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: harness FOLDER RESULT.json COMMIT\n");
    return 1;
  }
  CHECK_CUDA(cudaFree(nullptr));
  cudaDeviceProp device;
  CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
  int driver = 0, runtime = 0, version = 0;
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  cublasHandle_t blas;
  CHECK_BLAS(cublasCreate(&blas));
  CHECK_BLAS(cublasGetVersion(blas, &version));
  Device<char> workspace(size_t(64) << 20);
  CHECK_BLAS(cublasSetWorkspace(blas, workspace.data, size_t(64) << 20));
  std::printf("%s, %d multiprocessors, driver %d, CUDA %d, cuBLAS %d\n", device.name, device.multiProcessorCount,
              driver, runtime, version);

  Kernel matmul(argv[1], "gemm");
  // Edges in every dimension first; sizes in K and N are multiples of 8, as tensor maps ask for.
  const int edges[][3] = {{8, 8, 8}, {64, 256, 64}, {136, 264, 72}, {1000, 1992, 1016}, {127, 8, 4096}, {4095, 4104, 4088}};
  for (auto &s : edges)
    gemm(matmul, blas, device.multiProcessorCount, s[0], s[1], s[2], /*timed=*/false);
  const int sizes[][3] = {{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}, {4096, 11008, 4096}};
  for (auto &s : sizes)
    gemm(matmul, blas, device.multiProcessorCount, s[0], s[1], s[2], /*timed=*/true);

  Kernel flash(argv[1], "attention");
  for (int rows : {128, 384, 1024, 2048, 4096, 8192, 16384})
    attention(flash, 64, rows);

  char date[32];
  std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::FILE *file = std::fopen(argv[2], "w");
  if (!file) {
    std::fprintf(stderr, "harness: cannot write %s\n", argv[2]);
    return 1;
  }
  std::fprintf(file,
               "{\n  \"machine\": \"%s\", \"multiprocessors\": %d, \"driver\": %d, \"cuda\": %d, \"cublas\": %d,\n"
               "  \"commit\": \"%s\", \"date\": \"%s\", \"rounds\": %d, \"samples\": %d,\n  \"results\": [%s\n  ]\n}\n",
               device.name, device.multiProcessorCount, driver, runtime, version, argv[3], date, rounds, samples,
               json.c_str());
  std::fclose(file);
  std::printf("%s\n", allRight ? "all results are right" : "SOME RESULTS ARE WRONG");
  return allRight ? 0 : 1;
}
