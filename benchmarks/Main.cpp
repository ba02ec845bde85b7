//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// zyx-bench PROGRAMS ROUNDS: compiles the programs of a folder, measures them beside peers on one
// thread and prints every sample as JSON. run.sh calls it, report.py makes the table.
#include "Measure.h"
#include "Peers.h"
#include "Program.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

using namespace zyx::bench;

namespace {

using Floats = std::vector<float>;

Floats random(size_t count, float low, float high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  Floats values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}

const int64_t rows = 256, columns = 1024;

std::vector<double> softmax(const Floats &x) {
  std::vector<double> y(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    const float *in = x.data() + r * columns;
    double largest = in[0], sum = 0;
    for (int64_t c = 0; c < columns; ++c)
      largest = std::fmax(largest, in[c]);
    for (int64_t c = 0; c < columns; ++c)
      sum += std::exp(in[c] - largest);
    for (int64_t c = 0; c < columns; ++c)
      y[r * columns + c] = std::exp(in[c] - largest) / sum;
  }
  return y;
}

std::vector<double> layerNorm(const Floats &x, const Floats &gamma, const Floats &beta) {
  std::vector<double> y(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    const float *in = x.data() + r * columns;
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < columns; ++c)
      mean += in[c] / double(columns);
    for (int64_t c = 0; c < columns; ++c)
      variance += (in[c] - mean) * (in[c] - mean) / double(columns);
    double scale = 1 / std::sqrt(variance + 1e-5);
    for (int64_t c = 0; c < columns; ++c)
      y[r * columns + c] = (in[c] - mean) * scale * gamma[c] + beta[c];
  }
  return y;
}

double chain(double x, double y) {
  double t = std::exp(std::sqrt(std::fabs(x + y) * 0.5 + 1));
  t = std::fmin(std::fmax(t, 3), 8);
  return t * t * y;
}

std::vector<double> product(int n, const Floats &a, const Floats &b) {
  std::vector<double> c(size_t(n) * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        c[size_t(i) * n + j] += double(a[size_t(i) * n + k]) * b[size_t(k) * n + j];
  return c;
}

std::string readText(const std::string &path) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s: cannot read\n", path.c_str());
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Writes one JSON object, entry by entry.
class Report {
public:
  Report(std::string programs, int rounds) : programs(std::move(programs)), rounds(rounds) {
    std::printf("{\"rounds\": %d, \"peers\": {", rounds);
    const char *separator = "";
    for (const auto &[name, version] : peerVersions()) {
      std::printf("%s\"%s\": \"%s\"", separator, name.c_str(), version.c_str());
      separator = ", ";
    }
    std::printf("},\n \"workloads\": [");
  }
  ~Report() { std::printf("\n]}\n"); }

  /// Compiles the program of the workload's name and measures it beside the workload's contenders.
  void add(Workload workload, const std::vector<Floats *> &inputs) {
    std::string path = programs + "/" + workload.name + ".mlir";
    add(std::move(workload), inputs, readText(path));
  }

  void add(Workload workload, const std::vector<Floats *> &inputs, const std::string &text) {
    std::fprintf(stderr, "%s\n", workload.name.c_str());
    Compiled compiled = compile(text, workload.name, /*repeat=*/9);
    Program program(compiled, inputs, workload.expected.size());
    workload.contenders.insert(workload.contenders.begin(),
                               {"zyx", [&] { program.run(); }, program.output()});
    std::printf("%s\n  {\"name\": \"%s\", \"amount\": %.9g, \"unit\": \"%s\", \"kernels\": %zu,\n"
                "   \"compile_seconds\": ",
                first ? "" : ",", workload.name.c_str(), workload.amount, workload.unit.c_str(),
                compiled.kernels);
    first = false;
    print(compiled.seconds);
    std::printf(",\n   \"timings\": [");
    const char *separator = "";
    for (const Timing &timing : measure(workload, rounds)) {
      std::printf("%s\n    {\"name\": \"%s\", \"error\": %.3g, \"seconds\": ", separator,
                  timing.name.c_str(), timing.error);
      print(timing.seconds);
      std::printf("}");
      separator = ",";
    }
    std::printf("]}");
  }

private:
  static void print(const std::vector<double> &values) {
    const char *separator = "[";
    for (double value : values) {
      std::printf("%s%.9g", separator, value);
      separator = ", ";
    }
    std::printf("]");
  }

  std::string programs;
  int rounds;
  bool first = true;
};

void rowOps(Report &report) {
  Floats x = random(rows * columns, -4, 4, 1), z(rows * columns);
  const double bytes = 4e-9 * double(x.size());
  report.add({"softmax",
              2 * bytes,
              "GB",
              softmax(x),
              1e-3,
              1e-5,
              {{"oneDNN", onednnSoftmax(rows, columns, x.data(), z.data()), z.data()}}},
             {&x});

  Floats gamma = random(columns, 0, 1, 2), beta = random(columns, 0, 1, 3);
  Floats scaleShift = gamma;
  scaleShift.insert(scaleShift.end(), beta.begin(), beta.end());
  report.add({"layer-norm",
              2 * bytes,
              "GB",
              layerNorm(x, gamma, beta),
              1e-3,
              1e-3,
              {{"oneDNN", onednnLayerNorm(rows, columns, x.data(), scaleShift.data(), z.data()),
                z.data()}}},
             {&x, &gamma, &beta});

  Floats y = random(rows * columns, -4, 4, 4);
  std::vector<double> expected(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    expected[i] = chain(x[i], y[i]);
  report.add({"chain",
              3 * bytes,
              "GB",
              expected,
              1e-3,
              1e-5,
              {{"oneDNN", onednnChain(rows, columns, x.data(), y.data(), z.data()), z.data()}}},
             {&x, &y});
}

void add(Report &report) {
  const int64_t n = 1024;
  Floats x = random(n * n, -4, 4, 5), y = random(n * n, -4, 4, 6), z(n * n);
  std::vector<double> expected(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    expected[i] = double(x[i]) + y[i];
  report.add({"add",
              12e-9 * double(n * n),
              "GB",
              expected,
              1e-3,
              1e-5,
              {{"oneDNN", onednnAdd(n, n, x.data(), y.data(), z.data()), z.data()}}},
             {&x, &y});
}

void sgemm(Report &report, int n) {
  Floats a = random(size_t(n) * n, -1, 1, 7), b = random(size_t(n) * n, -1, 1, 8);
  Floats c(size_t(n) * n), d(size_t(n) * n);
  // The terms of an element add up to about n / 3 in magnitude whatever their sum is.
  report.add({"sgemm-" + std::to_string(n),
              2e-9 * n * n * n,
              "GFLOP",
              product(n, a, b),
              n / 3.0,
              1e-6,
              {{"OpenBLAS", openblasSgemm(n, a.data(), b.data(), c.data()), c.data()},
               {"oneDNN", onednnSgemm(n, a.data(), b.data(), d.data()), d.data()}}},
             {&a, &b});
}

/// `count` kernels of 16 elements, each reading what the one before it wrote: maxima along rows and
/// columns in turn cannot be one kernel, because each needs all of the one before.
void launches(Report &report, int count) {
  const int n = 4;
  Floats x = random(n * n, -4, 4, 9);
  std::vector<double> expected(x.begin(), x.end());
  std::string text = "func.func @main(%x0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n";
  for (int k = 0; k < count; ++k) {
    const bool alongRows = k % 2 == 0;
    const std::string kept = alongRows ? "tensor<4x1xf32>" : "tensor<1x4xf32>";
    const std::string i = std::to_string(k), next = std::to_string(k + 1);
    text += "  %r" + i + " = graph.reduce max %x" + i + " dims = [" + (alongRows ? "1" : "0") +
            "] : tensor<4x4xf32> -> tensor<4xf32>\n  %s" + i + " = graph.reshape %r" + i +
            " : tensor<4xf32> -> " + kept + "\n  %e" + i + " = graph.expand %s" + i + " : " + kept +
            " -> tensor<4x4xf32>\n  %x" + next + " = graph.binary sub %x" + i + ", %e" + i +
            " : tensor<4x4xf32>\n";
    const int row = alongRows ? n : 1, element = alongRows ? 1 : n;
    for (int r = 0; r < n; ++r) {
      double largest = expected[r * row];
      for (int e = 1; e < n; ++e)
        largest = std::fmax(largest, expected[r * row + e * element]);
      for (int e = 0; e < n; ++e)
        expected[r * row + e * element] -= largest;
    }
  }
  text += "  return %x" + std::to_string(count) + " : tensor<4x4xf32>\n}\n";
  report.add({"launch-" + std::to_string(count), 0, "", expected, 1, 1e-5, {}}, {&x}, text);
}

} // namespace

int main(int argc, char **argv) {
  int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (rounds <= 0) {
    std::fprintf(stderr, "usage: zyx-bench PROGRAMS ROUNDS; see benchmarks/run.sh\n");
    return 2;
  }
  Report report(argv[1], rounds);
  rowOps(report);
  add(report);
  sgemm(report, 512);
  sgemm(report, 1024);
  launches(report, 1);
  launches(report, 33);
}
