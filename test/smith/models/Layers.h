//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Layers that several families have, as tensors and as PyTorch code.
#ifndef ZYX_TEST_SMITH_MODELS_LAYERS_H
#define ZYX_TEST_SMITH_MODELS_LAYERS_H

#include "smith/models/Sketch.h"

namespace zyx::smith {

inline constexpr Values nearOne{Values::Kind::Normal, 1, 0.1}, nearZero{Values::Kind::Normal, 0, 0.1};

//===----------------------------------------------------------------------===//
// Transformers
//===----------------------------------------------------------------------===//

/// Heads of queries, keys and values; `width` is that of one head.
struct Heads {
  int64_t batch, heads, groups, queries, keys, width;
};
/// Both products, where this share of the scores is visible.
void countAttention(Sketch &s, const Heads &h, double visible = 1);
/// Each group once for each of its heads, as nn::MultiheadAttention does.
Tensor repeated(const Tensor &x, int64_t share);
const char *groupOption(const Heads &h);
/// The rotation of halves, as nn::rotary writes it; rows begin at the Python variable `start`, where there is one.
void sayRotary(Sketch &s, const char *name, int64_t rows, int64_t width, double base, const char *start = nullptr);

/// A block: norm, attention, norm and products, with both residuals.
struct TransformerLayer {
  /// Llama: RMS norms, rotary positions, a gate, no biases. Gpt2: causal. Bert: norms behind the residuals, a mask.
  /// Vit.
  enum class Kind : uint8_t { Llama, Gpt2, Bert, Vit } kind = Kind::Gpt2;
  Heads heads{};
  int64_t hidden = 0;
  /// In front of the names of its weights.
  std::string prefix = {};
  /// Of Bert, bool [batch, 1, 1, keys]; PyTorch's name of it is "mask".
  Tensor mask = {};
};
/// Of x [batch, rows, heads x width], in Python's variable "x".
Tensor transformerLayer(Sketch &s, Tensor x, const TransformerLayer &layer);
/// As that of Llama, of one row for each text, behind the rows of a cache: keys and values [batch, groups, room, width]
/// are written at position `start`. PyTorch's names are "x", "keys", "values" and "start".
struct Decoded {
  Tensor x, keys, values;
};
Decoded decodeLayer(Sketch &s, const Tensor &x, const Tensor &keys, const Tensor &values, const Tensor &start,
                    const TransformerLayer &layer);

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// A convolution with its filters and, perhaps, a bias. Filters may be a view of what has channels last, too.
Tensor convolved(Sketch &s, const Tensor &x, const char *from, const char *to, const std::string &name, int64_t outputs,
                 const Shape &window, const ConvolutionOptions &options, bool hasBias = true,
                 bool channelsLast = false);
/// [batch, channels, positions...]; perhaps as a view of what has channels last.
Tensor layout(Sketch &s, const char *name, const Shape &shape, bool channelsLast);
/// Normalised by the batch, as in training, or by moments that are there.
Tensor batchNormed(Sketch &s, const Tensor &x, const char *name, const std::string &prefix, bool isTraining);
/// Of a UNet: twice norm, activation and convolution, with a vector of so many features for each image between.
Tensor residualOfUNet(Sketch &s, const Tensor &x, int64_t outputs, int64_t features);

} // namespace zyx::smith

#endif // ZYX_TEST_SMITH_MODELS_LAYERS_H
