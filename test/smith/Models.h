//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Programs like those that people run, drawn from families (docs/finder.md): the same one for the same seed, index
/// and scale on every machine. Each is made by the public functions of tensors, and written as PyTorch code besides.
#ifndef ZYX_TEST_SMITH_MODELS_H
#define ZYX_TEST_SMITH_MODELS_H

#include "conformance/Builder.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zyx::smith {

/// Published sizes; those with as few rows as a processor computes in about a second; and sizes for the interpreter.
enum class Scale : uint8_t { Full, Host, Small };
/// The inverse of "full", "host", "small".
std::optional<Scale> parseScale(std::string_view name);
std::string_view toString(Scale scale);

/// How the elements of an input are drawn.
struct Values {
  enum class Kind : uint8_t {
    /// Around `a` with a deviation of `b`.
    Normal,
    /// From `a` up to `b`; integers without `b` itself.
    Uniform,
    /// The same, in order along the last dimension, as numbers of documents behind each other are.
    Ascending,
    /// A bool that is true with a probability of `a`, and always where the last index is 0: no row of a mask is empty.
    Mask,
  };
  Kind kind = Kind::Normal;
  double a = 0, b = 1;
};
std::string_view toString(Values::Kind kind);

struct ModelInput {
  std::string name;
  TensorType type;
  Values values;
  /// Whether it keeps its value from run to run.
  bool isWeight = false;
  /// Bytes that have to be read of it: fewer than it has where rows are chosen.
  int64_t bytes = 0;
  /// The output that may lie in its memory, or -1: its caller gives it up.
  int64_t donatedTo = -1;
};

struct ModelProgram {
  std::string family;
  /// Which one of the family.
  std::string variant;
  uint64_t seed = 0, index = 0;
  Scale scale = Scale::Full;
  /// How many times the drawn batch it has (docs/finder.md#what-is-drawn).
  int64_t batches = 1;
  /// Of what is computed with.
  DType dtype = DType::F32;
  /// Of its products, where they are f32 although the program's inputs and results are not: no unit for 16 bits can
  /// multiply computed factors of f32.
  std::optional<DType> products;
  bool hasGradients = false;
  /// What was drawn, by name.
  std::vector<std::pair<std::string, int64_t>> sizes;
  /// Weights come last.
  std::vector<ModelInput> inputs;
  /// Its inputs are `inputs`, in their order.
  graph::Graph graph;
  /// A module of Python whose function `program` takes the inputs in their order, and returns a tuple of the results.
  std::string python;
  /// Operations of products and convolutions, a multiplication and an addition being two, each once.
  double flops = 0;
  /// Bytes that have to be written of each result.
  std::vector<int64_t> written;
  /// Elements of each row that is sorted or ranked; 0 where none is.
  int64_t sorted = 0;
  /// Trips of its longest chain of loops; 1 without loops.
  int64_t trips = 1;
  /// Which share of the elements of a result may be another one than the reference's: of those that depend on which of
  /// two nearly equal numbers is larger.
  double mayDiffer = 0;
};

/// Each has at least 4 % of the programs: of as many consecutive programs as there are families, each is one's.
std::vector<std::string_view> modelFamilies();
/// Program `index` of a seed. Fails where the functions of tensors refuse it, which is a mistake of the family.
Result<ModelProgram> drawModel(uint64_t seed, uint64_t index, Scale scale);
/// Lists of programs of fixed sizes, which have no seed (docs/finder.md).
enum class FixedList : uint8_t { Networks, Workloads };
std::vector<std::string_view> namesOf(FixedList list);
/// Number `index` of a list.
Result<ModelProgram> makeFixed(FixedList list, uint64_t index, Scale scale);
/// The elements of its inputs, for the interpreter and for devices beside it.
std::vector<HostTensor> drawValues(const ModelProgram &program);
/// All but the graph, whose text is a member "text", as one line of JSON.
std::string toJson(const ModelProgram &program);
/// "attention.causal, seed 1, index 7".
std::string nameOf(const ModelProgram &program);

/// With those elements.
conformance::Program toProgram(const ModelProgram &model);
/// How far its results may be from the interpreter's, relative to the largest one of each.
double toleranceOf(const ModelProgram &program);
/// Programs `first` to `first + count - 1`, by their names.
Status addModelCases(std::vector<conformance::Case> &cases, uint64_t seed, uint64_t first, int64_t count, Scale scale);
/// Those of a list, likewise.
Status addFixedCases(std::vector<conformance::Case> &cases, FixedList list, uint64_t first, int64_t count, Scale scale);

} // namespace zyx::smith

#endif // ZYX_TEST_SMITH_MODELS_H
