"""Modules, optimizers and files."""
import copy
import os
import pickle

import numpy as np
import pytest

import zyx
from zyx import nn, optim


class Classifier(nn.Module):
    def __init__(self, rng):
        super().__init__()
        self.hidden = nn.Linear(4, 8, rng)
        self.blocks = [nn.Linear(8, 8, rng), nn.Linear(8, 8, rng)]
        self.scale = nn.Parameter(zyx.ones(8))
        self.out = nn.Sequential(nn.LayerNorm(8), nn.relu, nn.Linear(8, 3, rng))

    def __call__(self, x):
        x = nn.relu(self.hidden(x))
        for block in self.blocks:
            x = x + block(x)
        return self.out(x * self.scale)


def batch():
    random = np.random.default_rng(0)
    x = random.normal(size=(64, 4)).astype("float32")
    return zyx.asarray(x), zyx.asarray((x[:, 0] > 0).astype("int64") + (x[:, 1] > 0))


def test_names_and_modes():
    model = Classifier(nn.InitRng(1))
    names = [name for name, _ in model.named_parameters()]
    assert names == ["scale", "hidden.weight", "hidden.bias", "blocks.0.weight", "blocks.0.bias", "blocks.1.weight",
                     "blocks.1.bias", "out.0.weight", "out.0.bias", "out.2.weight", "out.2.bias"]
    assert model.is_training
    model.eval()
    assert not model.is_training
    assert model.hidden.weight.shape == (8, 4)
    model.scale = zyx.full(8, 2.0)
    assert model.scale.value.tolist() == [2.0] * 8
    model.to(zyx.float16)
    assert model.hidden.weight.dtype is zyx.float16
    with pytest.raises(zyx.Error):
        model.scale = zyx.ones(9)


def test_a_module_learns(tmp_path):
    x, labels = batch()
    model = Classifier(nn.InitRng(1))
    optimizer = optim.Optimizer(model, optim.adamw(0.02))
    first = None
    for _ in range(60):
        loss = nn.cross_entropy(model(x), labels)
        optimizer.minimize(loss)
        first = first or loss.item()
    assert loss.item() < first / 4 and optimizer.steps == 60
    path = str(tmp_path / "model.safetensors")
    model.save(path)
    other = Classifier(nn.InitRng(2))
    other.load(path)
    assert other(x).tolist() == model(x).tolist()
    files = zyx.load(path)
    assert files["hidden.weight"].tolist() == model.hidden.weight.value.tolist()
    with pytest.raises(zyx.Error, match="missing"):
        other.load_state({"scale": zyx.ones(8)})
    missing, superfluous = other.load_state({"scale": zyx.ones(8), "more": zyx.ones(1)}, strict=False)
    assert "hidden.weight" in missing and superfluous == ["more"]


def test_steps_are_the_same_by_a_train_step():
    x, labels = batch()
    losses = []
    for kind in ("minimize", "step", "grad"):
        model = Classifier(nn.InitRng(1))
        optimizer = optim.Optimizer(model, optim.sgd(0.1, momentum=0.9))
        step = optim.TrainStep(optimizer, lambda x, labels: nn.cross_entropy(model(x), labels))
        own = []
        for _ in range(5):
            if kind == "step":
                loss = step(x, labels)
            else:
                loss = nn.cross_entropy(model(x), labels)
                if kind == "grad":
                    optimizer.step(zyx.gradient(loss, [p for _, p in optimizer.parameters]))
                else:
                    optimizer.minimize(loss)
            own.append(loss.item())
        losses.append(own)
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
    np.testing.assert_allclose(losses[2], losses[0], rtol=1e-5)


def test_a_jit_reads_parameters():
    x, _ = batch()
    model = Classifier(nn.InitRng(1))
    run = zyx.jit(lambda x: model(x))
    np.testing.assert_allclose(np.asarray(run(x)), np.asarray(model(x)), atol=1e-5)
    model.scale = zyx.zeros(8)
    np.testing.assert_allclose(np.asarray(run(x)), np.asarray(model(x)), atol=1e-5)
    assert run.captures == 1


def test_layers_have_shapes():
    rng = nn.InitRng(3)
    x = zyx.ones((2, 6, 8))
    assert nn.MultiheadAttention(8, 2, rng)(x).shape == (2, 6, 8)
    assert nn.TransformerBlock(8, 2, rng, causal=True)(x).shape == (2, 6, 8)
    for layer in (nn.LayerNorm(8), nn.RmsNorm(8), nn.Mlp(8, 16, rng), nn.Dropout(0.5, 1)):
        assert layer(x).shape == (2, 6, 8)
    for layer in (nn.Rnn(8, 5, rng), nn.Gru(8, 5, rng), nn.Lstm(8, 5, rng)):
        assert layer(x).shape == (2, 6, 5)
    image = zyx.ones((2, 3, 9, 9))
    assert nn.Convolution(3, 4, (3, 3), rng, stride=2, padding=1)(image).shape == (2, 4, 5, 5)
    assert nn.BatchNorm(3)(image).shape == nn.GroupNorm(3, 3)(image).shape == (2, 3, 9, 9)
    assert nn.max_pool(image, (3, 3)).shape == (2, 3, 3, 3)
    assert nn.Embedding(10, 4, rng)(zyx.asarray([1, 2, 3])).shape == (3, 4)
    assert nn.attention(x, x, x, causal=True).shape == (2, 6, 8)


def test_blocks_of_a_unet():
    """Down, through, and up with what was on the way: a few lines, as a network of images has them."""

    class Block(nn.Module):
        def __init__(self, before, after, rng):
            super().__init__()
            self.norm, self.out = nn.GroupNorm(4, before), nn.GroupNorm(4, after)
            self.first = nn.Convolution(before, after, (3, 3), rng, padding=1)
            self.second = nn.Convolution(after, after, (3, 3), rng, padding=1)
            self.skip = nn.Convolution(before, after, (1, 1), rng)

        def __call__(self, x):
            return self.skip(x) + self.second(nn.silu(self.out(self.first(nn.silu(self.norm(x))))))

    class UNet(nn.Module):
        def __init__(self, rng):
            super().__init__()
            self.down, self.through, self.up = Block(8, 16, rng), Block(16, 16, rng), Block(24, 8, rng)

        def __call__(self, x):
            h = self.through(self.down(nn.avg_pool(x, (2, 2), stride=2)))
            return self.up(zyx.concat([zyx.repeat(zyx.repeat(h, 2, axis=2), 2, axis=3), x], axis=1))

    net, x = UNet(nn.InitRng(1)), zyx.random.normal(zyx.random.key(1), (2, 8, 8, 8))
    y = zyx.jit(net)(x)
    assert y.shape == x.shape and zyx.all(zyx.isfinite(y)).item()
    slope = zyx.grad(lambda x: zyx.sum(net(x) ** 2))(x)
    assert slope.shape == x.shape and zyx.any(slope != 0).item()


def test_a_layer_by_numpy():
    layer = nn.Linear(4, 3, nn.InitRng(5))
    x = np.random.default_rng(1).normal(size=(2, 4)).astype("float32")
    expected = x @ np.asarray(layer.weight).T + np.asarray(layer.bias)
    np.testing.assert_allclose(np.asarray(layer(zyx.asarray(x))), expected, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(zyx.asarray(x) @ layer.weight.value.T), x @ np.asarray(layer.weight).T, rtol=1e-5)


def test_rules_and_rates():
    x, labels = batch()
    for rule in (optim.sgd(0.1), optim.adam(), optim.adamw(), optim.rmsprop(), optim.lion(), optim.adafactor()):
        model = Classifier(nn.InitRng(1))
        before = model.hidden.weight.value.tolist()
        optimizer = optim.Optimizer(model, rule)
        optimizer.learning_rate = 0.01
        optimizer.minimize(nn.cross_entropy(model(x), labels))
        assert model.hidden.weight.value.tolist() != before and optimizer.learning_rate == 0.01
        state = optimizer.state()
        optimizer.load_state(state)
    assert optim.cosine_decay(1.0, 0, 10) == 1 and optim.cosine_decay(1.0, 10, 10) == pytest.approx(0)
    gradients, norm = optim.clip_by_global_norm({"a": zyx.asarray([3.0, 4.0])}, 1.0)
    assert norm.item() == 5 and zyx.sum(gradients["a"]**2).item() == pytest.approx(1)
    with pytest.raises(zyx.Error):
        optim.sgd(-1.0)


def test_files(tmp_path):
    path = str(tmp_path / "a.safetensors")
    zyx.save(path, {"a": zyx.asarray([1, 2]), "b": zyx.asarray([[1.5]], dtype=zyx.bfloat16)})
    for found in (zyx.load(path), zyx.load(path, map=True)):
        assert found["a"].tolist() == [1, 2] and found["b"].dtype is zyx.bfloat16 and found["b"].tolist() == [[1.5]]
    with pytest.raises(zyx.Error):
        zyx.load(str(tmp_path / "none.safetensors"))
    (tmp_path / "bad.safetensors").write_bytes(b"\x00" * 5)
    with pytest.raises(zyx.Error):
        zyx.load(str(tmp_path / "bad.safetensors"))


def test_no_module_is_below_itself():
    first, second, third = nn.Module(), nn.Module(), nn.Module()
    with pytest.raises(zyx.Error, match="the child 'me' is the module itself or has it below"):
        first.me = first
    first.below = second
    second.below = [third]
    with pytest.raises(zyx.Error, match="the child 'above' is the module itself or has it below"):
        third.above = first
    assert not hasattr(first, "me") and not hasattr(third, "above")
    # What is shared is no cycle.
    first.again = third
    third.scale = nn.Parameter(zyx.ones(1))
    assert [name for name, _ in first.named_parameters()] == ["below.below.0.scale"]
    first.eval()
    assert not third.is_training


def test_a_parameter_in_an_expression_is_its_value():
    first, other = nn.Parameter(zyx.asarray([[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]])), nn.Parameter(zyx.zeros((2, 3)))
    assert (first == 0).tolist() == (0 == first).tolist() == (first == other).tolist() == [[False, True, False], [True, False, False]]
    assert (first != 0).tolist() == (first != other.value).tolist() == [[True, False, True], [False, True, True]]
    assert first.T.tolist() == first.mT.tolist() == [[1.0, 0.0], [0.0, 3.0], [2.0, 4.0]]
    assert nn.Parameter(zyx.zeros((2, 3, 4))).mT.shape == (2, 4, 3)
    assert (first == None) is False and (first != None) is True  # noqa: E711
    # It is a key as before: by what it is.
    assert {first: 1, other: 2}[first] == 1 and first in {first} and other not in {first}


def test_attributes_are_replaced_and_removed():
    rng = nn.InitRng(1)
    model = Classifier(rng)
    names = [name for name, _ in model.named_parameters()]
    x, _ = batch()
    before = model(x).tolist()
    model.hidden = nn.Linear(4, 8, nn.InitRng(5))
    model.scale = nn.Parameter(zyx.full(8, 2.0))
    model.blocks = [nn.Linear(8, 8, rng)]
    assert [name for name, _ in model.named_parameters()] == [name for name in names if not name.startswith("blocks.1.")]
    assert dict(model.named_parameters())["hidden.weight"]._is_same(model.hidden.weight)
    assert dict(model.named_parameters())["scale"]._is_same(model.scale) and model.scale.value.tolist() == [2.0] * 8
    assert model(x).tolist() != before
    del model.hidden, model.scale
    model.blocks = []
    assert not hasattr(model, "hidden")
    assert [name for name, _ in model.named_parameters()] == ["out.0.weight", "out.0.bias", "out.2.weight", "out.2.bias"]
    with pytest.raises(AttributeError):
        del model.hidden
    # What would lose it without a word.
    for other in (np.ones((4, 8)), 3.0, nn.relu):
        with pytest.raises(TypeError, match="'out' is a module of this one"):
            model.out = other
    # Of another kind.
    model.out = nn.Parameter(zyx.ones(2))
    with pytest.raises(TypeError, match="'out' is a parameter of this one.* no ndarray"):
        model.out = np.ones(2)
    assert [name for name, _ in model.named_parameters()] == ["out"]
    model.out = nn.LayerNorm(3)
    assert [name for name, _ in model.named_parameters()] == ["out.weight", "out.bias"]
    model.out = None
    assert model.named_parameters() == [] and model.out is None
    model.add_buffer("seen", zyx.zeros(1))
    del model.seen
    model.add_buffer("seen", zyx.ones(1))
    assert [name for name, _ in model.named_buffers()] == ["seen"]
    # What is refused leaves what was there.
    with pytest.raises(zyx.Error, match="itself"):
        model.seen = model
    assert [name for name, _ in model.named_buffers()] == ["seen"]


def test_paths_of_pathlib(tmp_path):
    path = tmp_path / "näme.safetensors"
    zyx.save(path, {"a": zyx.asarray([1, 2])})
    assert zyx.load(path)["a"].tolist() == zyx.load(os.fsencode(path), map=True)["a"].tolist() == [1, 2]
    first, other = nn.Linear(2, 3, nn.InitRng(1)), nn.Linear(2, 3, nn.InitRng(2))
    first.save(tmp_path / "model.safetensors")
    other.load(tmp_path / "model.safetensors")
    other.load(tmp_path)
    assert other.weight.value.tolist() == first.weight.value.tolist()
    with pytest.raises(zyx.Error, match="none.safetensors"):
        zyx.load(tmp_path / "none.safetensors")
    for call in (lambda: zyx.load(3), lambda: zyx.save(None, {}), lambda: first.load("a\0b")):
        with pytest.raises(TypeError):
            call()


class Tied(nn.Module):
    """What a copy has to keep: a child under two names, a parameter in a list, a buffer, modes, and attributes of Python."""

    def __init__(self, rng):
        super().__init__()
        self.first = nn.Linear(4, 4, rng, bias=False)
        self.again = self.first
        self.drop = nn.Dropout(0.5, 3)
        self.layers = [nn.LayerNorm(4, 1e-3), nn.Mlp(4, 8, rng)]
        self.tail = nn.Sequential(nn.Linear(4, 4, rng), nn.relu, nn.BatchNorm(4, momentum=0.5))
        self.scale = nn.Parameter(zyx.full(4, 2.0))
        self.add_buffer("seen", zyx.zeros(4))
        self.listed, self.sizes = [self.scale], {"width": 4}

    def __call__(self, x):
        x = self.again(self.first(x) * self.scale)
        for layer in self.layers:
            x = layer(x)
        return self.drop(self.tail(x) + self.seen)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_modules_are_copied_and_pickled(how):
    model = Tied(nn.InitRng(1))
    model.seen = zyx.ones(4)
    model.layers.eval()
    x = zyx.asarray(np.random.default_rng(1).normal(size=(3, 4)).astype("float32"))
    model(x).tolist()
    other = how(model)
    assert type(other) is Tied and other.sizes == {"width": 4} and other.sizes is not model.sizes
    assert [name for name, _ in other.named_parameters()] == [name for name, _ in model.named_parameters()]
    assert [name for name, _ in other.named_buffers()] == [name for name, _ in model.named_buffers()]
    assert {name: value.tolist() for name, value in other.state().items()} == {
        name: value.tolist() for name, value in model.state().items()}
    assert other.is_training and not other.layers.is_training and not other.layers[0].is_training
    # Ties are those of the copy.
    assert other.first is other.again and other.first is not model.first
    assert other.listed[0] is other.scale and not other.scale._is_same(model.scale)
    # As the generator of a Dropout, each goes on by itself, from where it was.
    assert other(x).tolist() == model(x).tolist()
    before = model.state()["first.weight"].tolist()
    optimizer = optim.Optimizer(other, optim.sgd(0.1))
    optimizer.minimize(zyx.sum(other(x)))
    assert other.first.weight.value.tolist() != before == model.first.weight.value.tolist()
    # In half precision, too.
    model.to(zyx.bfloat16)
    assert how(model).first.weight.dtype is zyx.bfloat16


def test_layers_are_copied_and_pickled():
    rng = nn.InitRng(1)
    layers = [(nn.Linear(4, 3, rng), (2, 4)), (nn.Embedding(5, 3, rng), (2,)), (nn.LayerNorm(4, 0.1), (2, 4)),
              (nn.RmsNorm(4, 0.1), (2, 4)), (nn.GroupNorm(2, 4, 0.1), (2, 4, 3)), (nn.BatchNorm(4, 0.1), (2, 4)),
              (nn.Convolution(4, 6, (3, 1), rng, stride=2, padding=(1, 0), groups=2, bias=False), (2, 4, 6, 5)),
              (nn.Rnn(4, 3, rng), (2, 5, 4)), (nn.Gru(4, 3, rng), (2, 5, 4)), (nn.Lstm(4, 3, rng), (2, 5, 4)),
              (nn.Mlp(4, 8, rng), (2, 4)), (nn.MultiheadAttention(4, 2, rng, kv_heads=1, causal=True, rotary=True), (2, 5, 4)),
              (nn.TransformerBlock(4, 2, rng, bias=False), (2, 5, 4))]
    random = np.random.default_rng(1)
    for layer, shape in layers:
        x = random.normal(size=shape).astype("float32") if not isinstance(layer, nn.Embedding) else random.integers(0, 5, shape)
        layer.note = {"a": [1]}
        layer.eval()
        for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            assert type(other) is type(layer) and other.note == {"a": [1]} and other.note is not layer.note
            assert not other.is_training
            assert other(zyx.asarray(x)).tolist() == layer(zyx.asarray(x)).tolist(), type(layer)
            assert not any(a._is_same(b) for (_, a), (_, b) in zip(other.named_parameters(), layer.named_parameters()))

    class Wide(nn.Linear):
        def __init__(self, rng):
            super().__init__(2, 3, rng)
            self.factor = 2.0

        def __call__(self, x):
            return super().__call__(x) * self.factor

    wide = Wide(rng)
    other = copy.deepcopy(wide)
    assert type(other) is Wide and other(zyx.ones((1, 2))).tolist() == wide(zyx.ones((1, 2))).tolist()


def test_parameters_are_copied_and_pickled():
    place = nn.Parameter(zyx.asarray([1.0, 2.0]))
    for other in (copy.deepcopy(place), pickle.loads(pickle.dumps(place))):
        assert other.value.tolist() == [1.0, 2.0] and not other._is_same(place)
    with zyx.device_scope("reference"):
        place = nn.Parameter(zyx.asarray([1.0, 2.0]))
    assert copy.deepcopy(place).device == copy.deepcopy(place.value).device == "reference"
    # A copy of an array is a handle of its own.
    x = zyx.asarray([1.0, 2.0]) + 1
    y = copy.deepcopy(x)
    assert not y.is_computed
    y[0] = 5.0
    assert x.tolist() == [2.0, 3.0] and y.tolist() == [5.0, 3.0]


def test_what_is_not_copied_says_so():
    model = Classifier(nn.InitRng(1))
    with pytest.raises(TypeError, match="copy.deepcopy"):
        copy.copy(model)
    with pytest.raises(ValueError, match="is of format 2"):
        nn._remade(2, nn.LayerNorm, nn.LayerNorm, {})
    with pytest.raises(zyx.Error, match="its pickle has nothing of the name 'bias'"):
        nn.LayerNorm(2)._restore({"weight": zyx.ones(2)}, {})
    for other in (optim.Optimizer(model, optim.sgd()), nn.InitRng(1)):
        with pytest.raises(TypeError, match="pickle"):
            copy.deepcopy(other)


def test_names_and_texts_of_modules():
    """A layer's class is that of zyx.nn, and its text has the shapes of its parameters."""
    rng = zyx.nn.InitRng(1)
    linear = zyx.nn.Linear(2, 3, rng)
    assert repr(linear) == "<zyx.nn.Linear: weight [3, 2], bias [3]>"
    assert zyx.nn.Linear.__name__ == zyx.nn.Linear.__qualname__ == "Linear" and zyx.nn.Linear.__module__ == "zyx.nn"
    assert repr(zyx.nn.Sequential()) == "<zyx.nn.Sequential: no parameters>"
    stack = zyx.nn.Sequential(*(zyx.nn.Linear(2, 2, rng) for _ in range(5)))
    assert repr(stack) == "<zyx.nn.Sequential: " + ", ".join(f"{i}.weight [2, 2], {i}.bias [2]" for i in range(4)) + ", and 2 more>"

    class Half(zyx.nn.Module):
        def __init__(self):
            pass

    # Of one whose base has not begun, and the binding says so.
    with pytest.warns(RuntimeWarning, match="uninitialized"):
        assert "Half object at" in repr(Half())
