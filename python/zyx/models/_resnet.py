# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet."""
from .. import _zyx, nn
from ._bert import Group
from ._decoder import ACTIVATIONS, RNG
from ._folder import count_of, expect_shape


class Unit(nn.Module):
    """A convolution and its norm, and an activation or none."""

    def __init__(self, inputs, outputs, window, stride, activation):
        super().__init__()
        object.__setattr__(self, "_activation", activation)
        self.convolution = nn.Convolution(inputs, outputs, (window, window), RNG, stride=(stride, stride),
                                          padding=(window // 2, window // 2), bias=False)
        self.normalization = nn.BatchNorm(outputs)

    def __call__(self, x):
        x = self.normalization(self.convolution(x))
        return x if self._activation is None else self._activation(x)


class Layer(nn.Module):
    def __init__(self, inputs, outputs, stride, kind, activation, strides_first):
        super().__init__()
        object.__setattr__(self, "_activation", activation)
        if kind == "bottleneck":
            narrow = outputs // 4
            first, second = (stride, 1) if strides_first else (1, stride)
            # Units within a layer have ReLU, whatever the configuration says of the layer.
            units = [Unit(inputs, narrow, 1, first, nn.relu), Unit(narrow, narrow, 3, second, nn.relu),
                     Unit(narrow, outputs, 1, 1, None)]
        else:
            units = [Unit(inputs, outputs, 3, stride, nn.relu), Unit(outputs, outputs, 3, 1, None)]
        object.__setattr__(self, "_is_widened", inputs != outputs or stride != 1)
        if self._is_widened:
            self.shortcut = Unit(inputs, outputs, 1, stride, None)
        self.layer = nn.Sequential(*units)

    def __call__(self, x):
        return self._activation(self.layer(x) + (self.shortcut(x) if self._is_widened else x))


class ResNet(nn.Module):
    """Images [batch, channels, height, width] to features and their averages, or logits of classes."""

    def __init__(self, config, tensors, has_head):
        super().__init__()
        channels, first = config.integer("num_channels", 3), config.integer("embedding_size", 64)
        widths = config.list("hidden_sizes", int, None, [256, 512, 1024, 2048])
        depths = config.list("depths", int, len(widths), [3, 4, 6, 3])
        kind = config.choice("layer_type", {"basic": "basic", "bottleneck": "bottleneck"}, "bottleneck")
        activation = config.choice("hidden_act", ACTIVATIONS, "relu")
        if not widths or min(widths) < 4 or min(depths) < 1:
            raise config.wrong(f"'hidden_sizes' is {widths}, and 'depths' {depths}")
        expect_shape(config, tensors, "resnet.embedder.embedder.convolution.weight", (first, channels, 7, 7),
                     "'embedding_size' and 'num_channels'")
        for at, depth in enumerate(depths):
            if count_of(tensors, rf"resnet\.encoder\.stages\.{at}\.layers") != depth:
                raise config.wrong(f"'depths' is {depths}, and the files have another number of layers in stage {at}")
        inputs, stages = first, []
        for at, (width, depth) in enumerate(zip(widths, depths)):
            norm = f"resnet.encoder.stages.{at}.layers.0.layer.{2 if kind == 'bottleneck' else 1}.normalization.weight"
            expect_shape(config, tensors, norm, (width,), "'hidden_sizes' and 'layer_type'")
            stride = 2 if at > 0 or config.flag("downsample_in_first_stage", False) else 1
            layers = [Layer(inputs if i == 0 else width, width, stride if i == 0 else 1, kind, activation,
                            i == 0 and config.flag("downsample_in_bottleneck", False)) for i in range(depth)]
            stages.append(Group(layers=nn.Sequential(*layers)))
            inputs = width
        for name, value in (("config", config), ("_channels", channels), ("_has_head", has_head)):
            object.__setattr__(self, name, value)
        self.resnet = Group(embedder=Group(embedder=Unit(channels, first, 7, 2, activation)), encoder=Group(stages=stages))
        if has_head:
            labels = len(config.inner("id2label").values) or config.integer("num_labels", 2)
            self.classifier = Group(**{"1": nn.Linear(inputs, labels, RNG)})

    @property
    def surplus(self):
        return None if self._has_head else r"classifier\."

    def __call__(self, images):
        if images.ndim != 4 or images.shape[1] != self._channels:
            raise _zyx.InvalidArgumentError(f"images have the shape [batch, {self._channels}, height, width], and not "
                                            f"{images.shape}")
        unit = self.resnet.embedder.embedder
        x = nn.max_pool(unit(_zyx._cast(images, unit.convolution.weight.dtype)), (3, 3), stride=(2, 2), padding=(1, 1))
        for stage in self.resnet.encoder.stages:
            x = stage.layers(x)
        pooled = _zyx._mean(x, [2, 3], False)
        return getattr(self.classifier, "1")(pooled) if self._has_head else (x, pooled)
