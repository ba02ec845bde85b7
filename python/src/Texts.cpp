//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What help() says of the extension's functions and classes, with examples that test_package.py runs. They are apart
// from what they are about, so that no binding is hidden between lines of text.
//===----------------------------------------------------------------------===//
#include "Python.h"

#include <algorithm>
#include <string_view>

namespace {

struct Text {
  std::string_view name;
  const char *text;
};

const Text texts[] = {
    {"Array",
     R"(An immutable value that is computed when it is read. zyx.asarray() makes one of lists, numbers
and arrays of other libraries. x[i] = v and x += v put another value into this place: arrays that
were made of it before do not change.

    >>> x = zyx.asarray([1.0, 2.0])
    >>> y = x * 2
    >>> x[0] = 7
    >>> x.tolist(), y.tolist()
    ([7.0, 2.0], [2.0, 4.0]))"},
    {"BatchNorm",
     R"(Over the batch, of each channel: [batch, channels, ...]; by running moments after eval().

    >>> zyx.nn.BatchNorm(3)(zyx.zeros((2, 3, 4, 4))).shape
    (2, 3, 4, 4))"},
    {"DType",
     R"(The type of the elements of an array, such as zyx.float32.

    >>> zyx.float32.name, zyx.float32.itemsize, zyx.float32.is_float
    ('float32', 4, True))"},
    {"Dropout",
     R"(In training, 0 for a share of the elements, and the others larger.

    >>> layer = zyx.nn.Dropout(0.5, 1)
    >>> layer.eval()
    >>> layer(zyx.ones(3)).tolist()
    [1.0, 1.0, 1.0])"},
    {"Embedding",
     R"(Rows of `width` by index, integers of any shape; zeros for an index out of range.

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.Embedding(10, 4, rng)(zyx.asarray([[1, 2, 3]])).shape
    (1, 3, 4))"},
    {"Error",
     R"(What zyx refuses, or what failed. The text begins with the file and line of the call.

    >>> issubclass(zyx.InvalidArgumentError, zyx.Error)
    True)"},
    {"GroupNorm",
     R"(Over groups of channels: [batch, channels, ...].

    >>> zyx.nn.GroupNorm(2, 4)(zyx.zeros((1, 4, 3))).shape
    (1, 4, 3))"},
    {"Gru",
     R"([steps, batch, inputs] to [steps, batch, hidden].

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.Gru(3, 5, rng)(zyx.zeros((4, 2, 3))).shape
    (4, 2, 5))"},
    {"InitRng",
     R"(The seed of first values: the same one makes the same layers.

    >>> a, b = (zyx.nn.Linear(2, 2, zyx.nn.InitRng(7)).weight for _ in range(2))
    >>> a.value.tolist() == b.value.tolist()
    True)"},
    {"InvalidArgumentError",
     R"(Shapes, dtypes, devices or numbers that do not fit.

    >>> try:
    ...     zyx.zeros((2, 3)) + zyx.zeros(4)
    ... except zyx.InvalidArgumentError as error:
    ...     'do not broadcast' in str(error)
    True)"},
    {"LayerNorm",
     R"((x - mean) / sqrt(variance + epsilon) weight + bias, over the last dimension.

    >>> zyx.nn.LayerNorm(2, epsilon=0.0)(zyx.asarray([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]])"},
    {"Linear",
     R"(x weight^T + bias: [..., inputs] to [..., outputs].

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.Linear(3, 2, rng)(zyx.ones((5, 3))).shape
    (5, 2))"},
    {"Lstm",
     R"([steps, batch, inputs] to [steps, batch, hidden].

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.Lstm(3, 5, rng)(zyx.zeros((4, 2, 3))).shape
    (4, 2, 5))"},
    {"Mlp",
     R"(Linear, GELU, Linear: [..., width] to the same shape.

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.Mlp(4, 16, rng)(zyx.ones((2, 4))).shape
    (2, 4))"},
    {"MultiheadAttention",
     R"(Attention to itself, or to a memory: [batch, rows, width].

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.MultiheadAttention(8, 2, rng, causal=True)(zyx.ones((1, 3, 8))).shape
    (1, 3, 8))"},
    {"Optimizer",
     R"(Steps of a module's parameters by a rule. After a step that fails all is what it was before.

    >>> model = zyx.nn.Linear(1, 1, zyx.nn.InitRng(1), bias=False)
    >>> model.weight.value = zyx.asarray([[1.0]])
    >>> optimizer = zyx.optim.Optimizer(model, zyx.optim.adamw(0.1))
    >>> optimizer.minimize(zyx.sum(model(zyx.ones((3, 1)))))
    >>> optimizer.steps, model.weight.value.item() < 1
    (1, True))"},
    {"OutOfMemoryError",
     R"(A device has too little memory. Values are what they were.

    >>> issubclass(zyx.OutOfMemoryError, MemoryError)
    True)"},
    {"Parameter",
     R"(A place of a module for a value that optimizers move. In an expression it is its value.

    >>> rng = zyx.nn.InitRng(1)
    >>> layer = zyx.nn.Linear(2, 1, rng, bias=False)
    >>> layer.weight.value = zyx.asarray([[1.0, 2.0]])
    >>> (layer.weight * 2).tolist()
    [[2.0, 4.0]])"},
    {"RmsNorm",
     R"(x / sqrt(mean(x^2) + epsilon) weight, over the last dimension.

    >>> zyx.nn.RmsNorm(2)(zyx.zeros((1, 2))).tolist()
    [[0.0, 0.0]])"},
    {"Rnn",
     R"([steps, batch, inputs] to [steps, batch, hidden].

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.Rnn(3, 5, rng)(zyx.zeros((4, 2, 3))).shape
    (4, 2, 5))"},
    {"Tape",
     R"(While it lives, arrays keep what they were made of even when they are computed, so that a gradient
can be taken of them.

    >>> with zyx.Tape():
    ...     x = zyx.asarray([3.0])
    ...     y = x * x
    ...     y.tolist()
    ...     [g.tolist() for g in zyx.gradient(y, [x])]
    [9.0]
    [[6.0]])"},
    {"TransformerBlock",
     R"(Attention and Mlp, each after a LayerNorm and with a residual: [batch, rows, width].

    >>> rng = zyx.nn.InitRng(1)
    >>> zyx.nn.TransformerBlock(8, 2, rng)(zyx.ones((1, 3, 8))).shape
    (1, 3, 8))"},
    {"UnsupportedError",
     R"(What zyx, or a device, has not.

    >>> issubclass(zyx.UnsupportedError, NotImplementedError)
    True)"},
    {"UpdateRule",
     R"(How a step changes a parameter: what sgd(), adam() and the like return.

    >>> isinstance(zyx.optim.sgd(0.1), zyx.optim.UpdateRule)
    True)"},
    {"adafactor",
     R"(Adam's second moment as rows and columns, for large matrices.

    >>> isinstance(zyx.optim.adafactor(1e-2), zyx.optim.UpdateRule)
    True)"},
    {"adam",
     R"(Adam, whose weight_decay is a part of the gradient. A rate or a beta that is none raises InvalidArgumentError.

    >>> isinstance(zyx.optim.adam(1e-3, beta2=0.99), zyx.optim.UpdateRule)
    True)"},
    {"adamw",
     R"(Adam with decoupled weight decay.

    >>> isinstance(zyx.optim.adamw(1e-3, weight_decay=0.1), zyx.optim.UpdateRule)
    True)"},
    {"add",
     R"(x1 + x2, of integers modulo 2 to the number of bits. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.add(zyx.asarray([1, 2]), 10).tolist()
    [11, 12])"},
    {"atan2",
     R"(The angle from -pi to pi of the point (x2, x1), of floats. The shapes broadcast; a dtype of another kind raises
TypeError.

    >>> zyx.atan2(zyx.asarray([0.0, 1.0]), 1.0).tolist() == [0.0, zyx.atan(zyx.asarray(1.0)).item()]
    True)"},
    {"bitwise_and",
     R"(The bits that both have, of integers or bools. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.bitwise_and(zyx.asarray([6, 7]), 3).tolist()
    [2, 3])"},
    {"bitwise_left_shift",
     R"(Bits moved up by x2, with 0 behind. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.bitwise_left_shift(zyx.asarray([1, 3]), 2).tolist()
    [4, 12])"},
    {"bitwise_or",
     R"(The bits that one of both has, of integers or bools. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.bitwise_or(zyx.asarray([4, 5]), 3).tolist()
    [7, 7])"},
    {"bitwise_right_shift",
     R"(Bits moved down by x2, with the sign in front. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.bitwise_right_shift(zyx.asarray([-8, 8]), 2).tolist()
    [-2, 2])"},
    {"bitwise_xor",
     R"(The bits that one alone has, of integers or bools. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.bitwise_xor(zyx.asarray([6, 7]), 3).tolist()
    [5, 4])"},
    {"copysign",
     R"(The size of x1 with the sign of x2, of floats. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.copysign(zyx.asarray([1.0, 2.0]), zyx.asarray([-0.0, 3.0])).tolist()
    [-1.0, 2.0])"},
    {"cosine_decay",
     R"(From rate down to low in half a cosine, and low from step `total` on.

    >>> zyx.optim.cosine_decay(1.0, 0, 10), zyx.optim.cosine_decay(1.0, 10, 10)
    (1.0, 0.0))"},
    {"counters",
     R"(What the context did so far: runs, compiles, bytes of values.

    >>> sorted(zyx.counters())
    ['compiles', 'hits', 'launches', 'live_nodes', 'peak_bytes', 'runs', 'value_bytes'])"},
    {"default_device",
     R"(The device of new arrays: that of the innermost device_scope, or else of the context.

    >>> with zyx.device_scope('reference'):
    ...     zyx.default_device()
    'reference')"},
    {"device_scope",
     R"(While it lives, new arrays of this thread lie on that device. A name that is none raises zyx.Error.

    >>> with zyx.device_scope('reference'):
    ...     zyx.zeros(3).device
    'reference')"},
    {"divide",
     R"(x1 / x2 of floats. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.divide(zyx.asarray([1.0, 3.0]), 2).tolist()
    [0.5, 1.5])"},
    {"equal",
     R"(Bools: x1 == x2, element by element. The shapes broadcast.

    >>> zyx.equal(zyx.asarray([1, 2, 3]), 2).tolist()
    [False, True, False])"},
    {"exponential_decay",
     R"(rate factor^step.

    >>> zyx.optim.exponential_decay(1.0, 2, 0.5)
    0.25)"},
    {"floor_divide",
     R"(The quotient rounded down; of integers 0 where x2 is 0. The shapes broadcast; a dtype of another kind raises
TypeError.

    >>> zyx.floor_divide(zyx.asarray([-7, 7]), 2).tolist()
    [-4, 3])"},
    {"gelu",
     R"(x times the share of a normal distribution below x, by the error function.

    >>> zyx.nn.gelu(zyx.asarray([0.0, 100.0])).tolist()
    [0.0, 100.0])"},
    {"gelu_tanh",
     R"(gelu() by the hyperbolic tangent, as GPT-2 has it.

    >>> zyx.nn.gelu_tanh(zyx.asarray([0.0, 100.0])).tolist()
    [0.0, 100.0])"},
    {"greater",
     R"(Bools: x1 > x2, element by element. The shapes broadcast.

    >>> zyx.greater(zyx.asarray([1, 2, 3]), 2).tolist()
    [False, False, True])"},
    {"greater_equal",
     R"(Bools: x1 >= x2, element by element. The shapes broadcast.

    >>> zyx.greater_equal(zyx.asarray([1, 2, 3]), 2).tolist()
    [False, True, True])"},
    {"hard_sigmoid",
     R"(x / 6 + 1/2, at least 0 and at most 1.

    >>> zyx.nn.hard_sigmoid(zyx.asarray([-4.0, 0.0, 4.0])).tolist()
    [0.0, 0.5, 1.0])"},
    {"hypot",
     R"(sqrt(x1^2 + x2^2) of floats, without overflow between. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.hypot(zyx.asarray([3.0]), 4.0).tolist()
    [5.0])"},
    {"less",
     R"(Bools: x1 < x2, element by element. The shapes broadcast.

    >>> zyx.less(zyx.asarray([1, 2, 3]), 2).tolist()
    [True, False, False])"},
    {"less_equal",
     R"(Bools: x1 <= x2, element by element. The shapes broadcast.

    >>> zyx.less_equal(zyx.asarray([1, 2, 3]), 2).tolist()
    [True, True, False])"},
    {"linear_warmup",
     R"(From 0 up to rate in so many steps, and rate from then on.

    >>> zyx.optim.linear_warmup(1.0, 50, 10)
    1.0)"},
    {"lion",
     R"(Steps of one size, by the sign of a running mean.

    >>> isinstance(zyx.optim.lion(1e-4), zyx.optim.UpdateRule)
    True)"},
    {"load",
     R"(Arrays by name: of a safetensors file, an index of several, or a folder. With `map` they stay in their file until a
program needs them. Raises zyx.Error where there is no such file, or another one.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, 'x.safetensors')
    ...     zyx.save(path, {'x': zyx.asarray([1.0, 2.0])})
    ...     zyx.load(path)['x'].tolist()
    [1.0, 2.0])"},
    {"logaddexp",
     R"(log(exp(x1) + exp(x2)) of floats, without overflow between. The shapes broadcast; a dtype of another kind raises
TypeError.

    >>> zyx.logaddexp(zyx.asarray([1000.0]), -1000.0).tolist()
    [1000.0])"},
    {"matmul",
     R"(Products of matrices [..., m, k] and [..., k, n]; one dimension is a vector. Dimensions in front broadcast.

    >>> zyx.matmul(zyx.ones((2, 3)), zyx.ones((3, 1))).tolist()
    [[3.0], [3.0]])"},
    {"maximum",
     R"(The larger of two elements; NaN where one is NaN. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.maximum(zyx.asarray([1, 5]), zyx.asarray([4, 2])).tolist()
    [4, 5])"},
    {"minimum",
     R"(The smaller of two elements; NaN where one is NaN. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.minimum(zyx.asarray([1, 5]), zyx.asarray([4, 2])).tolist()
    [1, 2])"},
    {"mish",
     R"(x tanh(log(1 + exp(x))).

    >>> zyx.nn.mish(zyx.asarray([0.0])).tolist()
    [0.0])"},
    {"multiply",
     R"(x1 * x2, of integers modulo 2 to the number of bits. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.multiply(zyx.asarray([[1], [2]]), zyx.asarray([3, 4])).tolist()
    [[3, 4], [6, 8]])"},
    {"nextafter",
     R"(The float behind x1 on the way to x2. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.nextafter(zyx.asarray(1.0), 2.0).item() - 1.0 == 2.0**-23
    True)"},
    {"not_equal",
     R"(Bools: x1 != x2, element by element. The shapes broadcast.

    >>> zyx.not_equal(zyx.asarray([1, 2, 3]), 2).tolist()
    [True, False, True])"},
    {"pow",
     R"(x1 to the power x2; integers to a negative power raise where it is a number. The shapes broadcast; a dtype of
another kind raises TypeError.

    >>> zyx.pow(zyx.asarray([2, 3]), 2).tolist()
    [4, 9])"},
    {"relu",
     R"(max(x, 0).

    >>> zyx.nn.relu(zyx.asarray([-1.0, 2.0])).tolist()
    [0.0, 2.0])"},
    {"remainder",
     R"(x1 - floor(x1 / x2) * x2, with the sign of x2. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.remainder(zyx.asarray([-7, 7]), 4).tolist()
    [1, 3])"},
    {"rmsprop",
     R"(Gradients over the root of a running mean of their squares.

    >>> isinstance(zyx.optim.rmsprop(1e-2, alpha=0.9), zyx.optim.UpdateRule)
    True)"},
    {"save",
     R"(Arrays by name, as a safetensors file. There is none before all of it is written.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, 'x.safetensors')
    ...     zyx.save(path, {'x': zyx.asarray([1, 2])})
    ...     os.path.exists(path)
    True)"},
    {"selu",
     R"(A scaled elu(), which keeps the mean 0 and the variance 1.

    >>> zyx.nn.selu(zyx.asarray([0.0])).tolist()
    [0.0])"},
    {"sgd",
     R"(Steps against the gradient, with momentum where that is not 0.

    >>> model = zyx.nn.Linear(1, 1, zyx.nn.InitRng(1), bias=False)
    >>> model.weight.value = zyx.asarray([[1.0]])
    >>> optimizer = zyx.optim.Optimizer(model, zyx.optim.sgd(0.5))
    >>> optimizer.minimize(zyx.sum(model.weight * 1.0))
    >>> model.weight.value.tolist()
    [[0.5]])"},
    {"sigmoid",
     R"(1 / (1 + exp(-x)).

    >>> zyx.nn.sigmoid(zyx.asarray([0.0])).tolist()
    [0.5])"},
    {"silu",
     R"(x sigmoid(x).

    >>> zyx.nn.silu(zyx.asarray([0.0])).tolist()
    [0.0])"},
    {"step_decay",
     R"(rate factor^floor(step / every).

    >>> zyx.optim.step_decay(1.0, 7, 3, 0.5)
    0.25)"},
    {"subtract",
     R"(x1 - x2, of integers modulo 2 to the number of bits. The shapes broadcast; a dtype of another kind raises TypeError.

    >>> zyx.subtract(zyx.asarray([5, 7]), 2).tolist()
    [3, 5])"},
    {"sync",
     R"(Waits until no run is in flight; raises the first failure since the last time.

    >>> zyx.sync())"},
};

} // namespace

const char *zyx::python::docOf(std::string_view name) {
  const auto *found = std::ranges::find(texts, name, &Text::name);
  return found == std::end(texts) ? "" : found->text;
}
