"""Modules, optimizers and files."""
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
