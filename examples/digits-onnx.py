#!/usr/bin/env python3
"""Handwritten digits by an ONNX model: the nearest of 1000 images, as examples/digits-knn.mlir finds it.

  examples/digits-onnx.py examples/digits.safetensors [--out=FOLDER]

Writes the model by the package onnx, whose weights are the images that are known, loads it by zyx.onnx, and says how many of
the other images are recognised.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import zyx


def model_of(images, labels):
    """argmin of |x - y|^2 = |x|^2 - 2 x.y + |y|^2, of which |x|^2 changes nothing."""
    weights = {
        "twice": -2 * images.T,
        "squares": (images * images).sum(axis=1),
        "labels": labels,
    }
    nodes = [
        helper.make_node("Gemm", ["x", "twice", "squares"], ["distances"]),
        helper.make_node("ArgMin", ["distances"], ["nearest"], axis=1, keepdims=0),
        helper.make_node("Gather", ["labels", "nearest"], ["digits"]),
    ]
    graph = helper.make_graph(
        nodes, "nearest", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", images.shape[1]])],
        [helper.make_tensor_value_info("digits", TensorProto.INT64, ["n"])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("digits")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    digits = zyx.load(options.digits)
    images = np.asarray(digits["images"]).reshape(-1, 64).astype(np.float32)
    labels = np.asarray(digits["labels"]).astype(np.int64)

    path = options.out / "digits.onnx"
    onnx.save(model_of(images[:1000], labels[:1000]), path)
    model = zyx.onnx.load(path)
    found = model(images[1000:])
    right = zyx.sum(zyx.astype(found == zyx.asarray(labels[1000:]), zyx.int64)).item()
    print(f"{right} of {found.size} correct")


if __name__ == "__main__":
    main()
