//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_SMITH_MODELS_SKETCH_H
#define ZYX_TEST_SMITH_MODELS_SKETCH_H

#include "smith/Models.h"

#include "zyx/zyx.h"

#include <initializer_list>
#include <map>
#include <span>

namespace zyx::smith {

using conformance::Random;

/// What a family draws a program with: tensors, and beside each statement the one of PyTorch.
class Sketch {
public:
  Sketch(ModelProgram &program, Context context);

  //===--------------------------------------------------------------------===//
  // What is drawn
  //===--------------------------------------------------------------------===//

  using Choices = std::initializer_list<int64_t>;
  /// One of the choices of its scale, which the program tells by this name.
  int64_t pick(const char *name, Choices full, Choices host, Choices small);
  /// The same for a batch, of which the program may have several.
  int64_t batch(const char *name, Choices full, Choices host, Choices small);
  /// The same for what does not grow with the batch: a processor has the published ones.
  int64_t width(const char *name, Choices full, Choices small) { return pick(name, full, full, small); }
  /// Of `count`, from 0.
  int64_t below(int64_t count) { return random.below(count); }
  bool chance(double probability) { return random.chance(probability); }
  /// One of several ways to write it, which the program tells; the others are as likely.
  size_t variant(std::initializer_list<const char *> names);
  /// Notes a size that follows from others, or replaces one that was drawn.
  void note(const char *name, int64_t value);
  /// A size that was drawn, or `most` where it is larger.
  int64_t atMost(const char *name, int64_t value, int64_t most);
  struct Tokens {
    int64_t batch, rows;
  };
  /// Texts or images as rows of features; in several batches, where the program has these and `grows`.
  Tokens tokens(bool grows = true);

  DType dtype() const { return program.dtype; }
  bool isSmall() const { return program.scale == Scale::Small; }
  Scale scale() const { return program.scale; }
  /// Whether gradients are taken, with this probability; `finish` takes them.
  bool drawGradients(double probability);

  //===--------------------------------------------------------------------===//
  // Inputs
  //===--------------------------------------------------------------------===//

  /// What comes anew with each run; of the program's dtype. Gradients are taken of it, where they are.
  Tensor x(const char *name, const Shape &shape, Values values = {});
  /// Parameters: what is summed up over `fanIn` of them keeps its size.
  Tensor weight(const char *name, const Shape &shape, int64_t fanIn);
  Tensor weight(const char *name, const Shape &shape, Values values);
  /// Of another dtype; without gradients.
  Tensor data(const char *name, TensorType type, Values values);
  /// A parameter of another dtype, without gradients.
  Tensor constant(const char *name, TensorType type, Values values);
  /// Says that only so many bytes of the input are read.
  void touches(const char *name, int64_t bytes);

  //===--------------------------------------------------------------------===//
  // The program
  //===--------------------------------------------------------------------===//

  /// A line of the Python function, of texts, integers, doubles and shapes.
  template <typename... Parts> void say(const Parts &...parts) {
    body += "    ";
    (append(parts), ...);
    body += "\n";
  }
  /// Multiplications and additions.
  void count(double flops) { program.flops += flops; }
  void countProduct(int64_t rows, int64_t columns, int64_t sums, double times = 1) {
    count(2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(sums) * times);
  }
  /// The results, by the names of Python's variables. With gradients there is one.
  void result(const char *name, const Tensor &value) { results.emplace_back(name, value); }
  ModelProgram &about() { return program; }

  /// Says that the input of this name is given up, and that the result of this name is it with so many elements
  /// written.
  void updatesInPlace(const char *name, int64_t elements);
  /// The results are a loss and, of each weight, its next value and the next moments of AdamW, which are inputs.
  void trainByAdamW() { program.hasGradients = hasUpdate = true; }

  /// Makes the graph and the Python module.
  Status finish();

  /// x W^T + b, as nn::Linear, with both parameters.
  Tensor linear(const Tensor &x, const char *from, const char *to, const std::string &name, int64_t out,
                bool hasBias = true);

private:
  struct Input {
    ModelInput about;
    Tensor tensor;
    bool hasGradient = false;
  };
  int64_t choose(Choices full, Choices host, Choices small);
  Tensor add(const char *name, TensorType type, Values values, bool isWeight, bool hasGradient);
  std::vector<Tensor> updated(std::span<const Tensor> weights, std::span<const Tensor> gradients,
                              std::vector<std::string> &means, std::vector<std::string> &squares);
  Result<graph::Graph> captureNumbered(std::span<const Tensor> all);
  Result<std::vector<size_t>> placesOf(std::span<const Tensor> all, size_t numOutputs);
  Result<graph::Graph> capture(std::span<const Tensor> all);
  void append(std::string_view text) { body += text; }
  void append(int64_t number) { body += std::to_string(number); }
  void append(double number);
  void append(const Shape &shape);

  ModelProgram &program;
  Context context;
  Random random;
  std::vector<Input> inputs;
  std::vector<std::pair<std::string, Tensor>> results;
  std::string body;
  bool hasUpdate = false;
  /// Bytes of results that are written in place, by name.
  std::map<std::string, int64_t> written;
};

/// "(2, 3)".
std::string pythonTuple(const Shape &shape);

struct Family {
  const char *name;
  void (*draw)(Sketch &sketch);
};
std::span<const Family> rowFamilies();
std::span<const Family> attentionFamilies();
std::span<const Family> imageFamilies();
std::span<const Family> sequenceFamilies();
/// Fixed ones.
std::span<const Family> networks();
std::span<const Family> workloads();

} // namespace zyx::smith

#endif // ZYX_TEST_SMITH_MODELS_SKETCH_H
