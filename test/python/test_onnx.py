"""Models of ONNX: files that are whole and broken, inputs of all kinds, and a sample of the suite of the package onnx."""
import os
import pathlib
import random
import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import onnx_suite
import pytest
from onnx import TensorProto, helper, numpy_helper

import zyx

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model_of(nodes, inputs, outputs, weights=None, opset=21, functions=(), domains=()):
    graph = helper.make_graph(
        nodes, "test", [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()])
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions))


def loaded(*args, **kwargs):
    return zyx.onnx.load(model_of(*args, **kwargs).SerializeToString())


def perceptron():
    rng = np.random.default_rng(1)
    weights = {"w": rng.normal(size=(4, 3)).astype(np.float32), "b": np.float32([1, 2, 3])}
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="dense"), helper.make_node("Relu", ["h"], ["y"])]
    return model_of(nodes, [("x", FLOAT, ["n", 4])], [("y", FLOAT, ["n", 3])], weights), weights


def test_load_and_run(tmp_path):
    proto, weights = perceptron()
    onnx.save(proto, tmp_path / "model.onnx")
    x = np.float32([[1, -2, 3, 0.5], [0, 0, 0, 0]])
    expected = np.maximum(x @ weights["w"] + weights["b"], 0)
    for source in (tmp_path / "model.onnx", str(tmp_path / "model.onnx"), proto.SerializeToString()):
        model = zyx.onnx.load(source)
        assert [info.name for info in model.inputs] == ["x"] and model.inputs[0].shape == ("n", 4)
        assert model.outputs[0].type == "float32"
        np.testing.assert_allclose(np.asarray(model(x)), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.asarray(model(x=zyx.asarray(x))), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(model.run({"x": x.tolist()})["y"], expected, rtol=1e-5, atol=1e-6)
        # One program for each shape.
        assert model.captures == 1
        assert model(x[:1]).shape == (1, 3) and model.captures == 2


def test_extents_that_the_model_names():
    """One import runs with every extent, and keeps so many programs at most."""
    from zyx._kept import Kept
    proto, weights = perceptron()
    model = zyx.onnx.load(proto.SerializeToString())
    assert model._programs._most == 64
    model._programs = Kept(3)
    for n in (1, 2, 3, 1, 4, 1, 2):
        x = np.random.default_rng(n).normal(size=(n, 4)).astype(np.float32)
        np.testing.assert_allclose(np.asarray(model(x)), np.maximum(x @ weights["w"] + weights["b"], 0), rtol=1e-5, atol=1e-6)
    # 2 left for 4, and was made again.
    assert model.captures == 5 and len(model._programs) == 3
    with pytest.raises(ValueError, match="has the shape"):
        model(np.zeros((2, 5), np.float32))


def test_as_a_part_of_a_program():
    model = zyx.onnx.load(perceptron()[0].SerializeToString())
    x = zyx.asarray(np.float32([[1, -2, 3, 0.5]]))
    twice = zyx.jit(lambda x: model(x) * 2)
    assert twice(x).tolist() == (model(x) * 2).tolist() == (model(x) + model(x)).tolist()
    slope = zyx.jit(zyx.grad(lambda x: zyx.sum(model(x))))(x)
    assert slope.shape == x.shape and zyx.any(slope != 0).item()
    stepwise = loaded([helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Shape", ["places"], ["y"])], [("x", FLOAT, None)],
                      [("y", INT64, None)])
    with pytest.raises(zyx.UnsupportedError, match="runs step by step"):
        zyx.jit(lambda x: stepwise(x))(x)


def test_inputs_are_checked():
    model = zyx.onnx.load(perceptron()[0].SerializeToString())
    x = np.zeros((2, 4), np.float32)
    for wrong, error, text in (((), TypeError, "input 'x' is missing"), ((x, x), TypeError, "1 inputs, and 2 arguments"),
                               ((x.astype(np.int64),), TypeError, "elements of float32, not int64"),
                               ((x[:, :3],), ValueError, r"shape \['n', 4\], not \[2, 3\]")):
        with pytest.raises(error, match=text):
            model(*wrong)
    with pytest.raises(TypeError, match="there is no input 'z'; there are x"):
        model(x, z=x)


def test_errors_name_the_node():
    model = loaded([helper.make_node("MatMul", ["a", "b"], ["y"], name="product")],
                   [("a", FLOAT, None), ("b", FLOAT, None)], [("y", FLOAT, None)])
    with pytest.raises(zyx.InvalidArgumentError, match=r"node 'product' \(MatMul, opset 21\)"):
        model(np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32))
    nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("ImageDecoder", ["h"], ["y"], name="picture")]
    with pytest.raises(zyx.UnsupportedError, match=r"ops that zyx.onnx has not: ImageDecoder \(node 'picture'\)"):
        loaded(nodes, [("x", FLOAT, [2])], [("y", FLOAT, [2])])
    model = loaded([helper.make_node("Relu", ["nowhere"], ["y"])], [("x", FLOAT, [2])], [("y", FLOAT, [2])])
    with pytest.raises(zyx.onnx.ModelError, match=r"node of 'y' \(Relu, opset 21\): nothing before it makes 'nowhere'"):
        model(np.zeros(2, np.float32))
    with pytest.raises(zyx.UnsupportedError, match="opset 1000 of 'ai.onnx'; the newest one"):
        loaded([helper.make_node("Relu", ["x"], ["y"])], [("x", FLOAT, [2])], [("y", FLOAT, [2])], opset=1000)


def test_cut_files():
    data = perceptron()[0].SerializeToString()
    for end in range(len(data)):
        with pytest.raises(zyx.onnx.ModelError):
            zyx.onnx.load(data[:end])


def test_damaged_files():
    """Each is loaded and run, or refused."""
    data, rng = perceptron()[0].SerializeToString(), random.Random(1)
    outcomes = {True: 0, False: 0}
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            zyx.onnx.load(bytes(damaged))(np.zeros((2, 4), np.float32))
            outcomes[True] += 1
        except (zyx.Error, ValueError, TypeError):
            outcomes[False] += 1
    assert min(outcomes.values()) > 10


def test_messages_in_each_other():
    """A graph in an attribute of a node in a graph, and so on."""
    inner = b""
    for _ in range(200):
        # GraphProto.node, NodeProto.attribute, AttributeProto.g.
        for field in (6, 5, 1):
            size, head = len(inner), bytes([field << 3 | 2])
            while size >= 0x80:
                head, size = head + bytes([size & 0x7F | 0x80]), size >> 7
            inner = head + bytes([size]) + inner
    size, head = len(inner), b"\x3a"
    while size >= 0x80:
        head, size = head + bytes([size & 0x7F | 0x80]), size >> 7
    with pytest.raises(zyx.onnx.ModelError, match="in each other more than"):
        zyx.onnx.load(head + bytes([size]) + inner)


def external(tmp_path, **entries):
    weight = TensorProto(name="w", dims=[2, 3], data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        weight.external_data.add(key=key, value=str(value))
    proto = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", FLOAT, [1, 2])], [("y", FLOAT, [1, 3])])
    proto.graph.initializer.append(weight)
    (tmp_path / "model").mkdir(exist_ok=True)
    path = tmp_path / "model" / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_external_data(tmp_path):
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = external(tmp_path, location="weights.bin", offset=8, length=24)
    (tmp_path / "model" / "weights.bin").write_bytes(bytes(8) + weight.tobytes())
    assert zyx.onnx.load(path)(np.float32([[1, 2]])).tolist() == [[6, 9, 12]]
    (tmp_path / "secret.bin").write_bytes(weight.tobytes())
    (tmp_path / "model" / "link.bin").symlink_to(tmp_path / "secret.bin")
    for location in ("../secret.bin", str(tmp_path / "secret.bin"), "link.bin", ""):
        with pytest.raises(zyx.onnx.ModelError, match="outside of the model's folder|no path in the model's folder"):
            zyx.onnx.load(external(tmp_path, location=location))
    for entries, text in (({"location": "weights.bin", "offset": 16}, "16 bytes, but 6 elements of float32 are 24"),
                          ({"location": "weights.bin", "offset": 16, "length": 24}, "has 32"),
                          ({"location": "weights.bin", "offset": "x"}, "no numbers"),
                          ({"location": "nothing.bin"}, "No such file")):
        with pytest.raises(zyx.onnx.ModelError, match=text):
            zyx.onnx.load(external(tmp_path, **entries))
    with pytest.raises(zyx.onnx.ModelError, match="a model of bytes has no folder"):
        zyx.onnx.load(external(tmp_path, location="weights.bin").read_bytes())


def test_inputs_that_say_what_is_computed():
    """A shape is a part of the program, and another one makes another program."""
    model = loaded([helper.make_node("Reshape", ["x", "shape"], ["y"])], [("x", FLOAT, None), ("shape", INT64, [2])],
                   [("y", FLOAT, None)])
    x = np.arange(6, dtype=np.float32)
    for shape in ((2, 3), (3, -1), (2, 3)):
        assert model(x, np.int64(shape)).tolist() == x.reshape(shape).tolist()
    assert model.specialized_inputs == ("shape",) and model.captures == 2 and not model.is_stepwise
    # What shapes say is no input.
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "first"], ["rows"]),
             helper.make_node("Unsqueeze", ["rows", "axis"], ["column"]),
             helper.make_node("Concat", ["column", "rest"], ["target"], axis=0),
             helper.make_node("Reshape", ["x", "target"], ["y"])]
    weights = {"first": np.int64(0), "axis": np.int64([0]), "rest": np.int64([-1])}
    model = loaded(nodes, [("x", FLOAT, None)], [("y", FLOAT, None)], weights)
    assert model(np.zeros((2, 3, 4), np.float32)).shape == (2, 12)
    assert model.specialized_inputs == () and not model.is_stepwise


def results_of_data(op, *inputs, weights=None, outputs=1, **attributes):
    """A model of one op, its outputs by name, of which data says how large they are."""
    codes = {"float32": FLOAT, "int64": INT64, "bool": TensorProto.BOOL}
    names = [f"x{i}" for i in range(len(inputs))]
    return loaded([helper.make_node(op, names + list(weights or {}), [f"y{i}" for i in range(outputs)], **attributes)],
                  [(name, codes[each], None) for name, each in zip(names, inputs)],
                  [(f"y{i}", INT64 if i or op in ("NonZero", "NonMaxSuppression") else FLOAT, None) for i in range(outputs)], weights)


def test_extents_of_data():
    """One program gives as many elements as there may be and a count, and the door cuts: other counts compile nothing."""
    nodes = [helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Transpose", ["places"], ["t"]),
             helper.make_node("GatherND", ["x", "t"], ["chosen"]), helper.make_node("Add", ["chosen", "one"], ["sum"]),
             helper.make_node("Slice", ["t", "start", "end", "axis"], ["rows"]), helper.make_node("Squeeze", ["rows", "axis"], ["flat"]),
             helper.make_node("Unsqueeze", ["flat", "axis"], ["again"]), helper.make_node("Gather", ["x", "flat"], ["taken"]),
             helper.make_node("Cast", ["sum"], ["y"], to=TensorProto.DOUBLE)]
    weights = {"one": np.float32([1]), "start": np.int64([0]), "end": np.int64([1]), "axis": np.int64([1])}
    model = loaded(nodes, [("x", FLOAT, None)], [("y", TensorProto.DOUBLE, None), ("places", INT64, None), ("again", INT64, None),
                                                 ("taken", FLOAT, None)], weights)
    for seed in range(5):
        x = np.random.default_rng(seed).integers(0, 2 if seed else 1, (4, 3)).astype(np.float32) * 3
        found = [np.asarray(each) for each in model(x)]
        places = np.stack(np.nonzero(x))
        for a, b in zip(found, (x[x != 0] + 1.0, places, places[:1].T, x[places[0]])):
            assert a.shape == b.shape and np.array_equal(a, b)
    assert found[0].dtype == np.float64 and not model.is_stepwise and model.captures == 1
    assert model.run({"x": x})["places"].tolist() == places.tolist()
    # Of no elements and of no dimensions.
    model = results_of_data("NonZero", "float32")
    assert model(np.zeros((0, 3), np.float32)).shape == (2, 0)
    assert model(np.float32(2)).tolist() == [[0]] and model(np.float32(0)).shape == (1, 0)
    # What computes with the count itself runs between programs, as before.
    nodes = [helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Shape", ["places"], ["shape"])]
    model = loaded(nodes, [("x", FLOAT, None)], [("shape", INT64, [2])])
    assert model(np.float32([[0, 3], [4, 5]])).tolist() == [2, 3] and model.is_stepwise
    # An input as long as the bound is no number for each element: of two it would be one of three.
    nodes = [helper.make_node("Compress", ["x", "c"], ["some"]), helper.make_node("Add", ["some", "x"], ["y"])]
    model = loaded(nodes, [("x", FLOAT, None), ("c", TensorProto.BOOL, None)], [("y", FLOAT, None)])
    assert model(np.float32([1, 2, 3]), [False, True, False]).tolist() == [3, 4, 5] and model.is_stepwise
    with pytest.raises((ValueError, zyx.Error)):
        model(np.float32([1, 2, 3]), [False, True, True])


def test_extents_of_data_in_programs():
    """A text has a bound and a count; a function of zyx.jit cannot cut."""
    model = results_of_data("NonZero", "float32")
    text, _ = zyx.onnx.program_text(model, shapes={"x0": (2, 3)})
    assert '(tensor<2x6xi64> {graph.name = "y0"}, tensor<i64> {graph.name = "y0_count"})' in text
    with pytest.raises(zyx.UnsupportedError, match="data says how large an output is"):
        zyx.jit(model)(zyx.ones((2, 3)))
    assert model(zyx.ones((2, 3))).shape == (2, 6)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("is_sorted", [0, 1])
def test_unique(axis, is_sorted):
    model = results_of_data("Unique", "float32", outputs=4, sorted=is_sorted, **({} if axis is None else {"axis": axis}))
    for seed in range(5):
        x = np.random.default_rng(seed).integers(0, 2 + seed % 2, (6, 3) if axis == 0 else (3, 6)).astype(np.float32)
        if seed == 4 and axis is None:
            x[0] = [np.nan, -0.0, 0.0, np.nan, np.inf, -np.inf]
        values, first, inverse, counts = np.unique(x, axis=axis, return_index=True, return_inverse=True, return_counts=True)
        inverse = inverse.reshape(-1)
        if not is_sorted:
            order = np.argsort(first)
            values, first, counts = np.take(values, order, axis or 0), first[order], counts[order]
            inverse = np.argsort(order)[inverse]
        for found, right in zip(model(x), (values, first, inverse, counts)):
            assert found.shape == right.shape and np.array_equal(np.asarray(found), right, equal_nan=True)
    assert model.captures == 1 and not model.is_stepwise
    # So many columns are sorted between programs.
    if axis == 0:
        wide = np.repeat(np.float32([[1], [0], [1]]), 40, 1)
        assert model(wide)[0].tolist() == (wide[:2][::-1] if is_sorted else wide[:2]).tolist() and model.is_stepwise
    else:
        assert [each.shape for each in model(np.zeros((3, 0), np.float32))] in ([(0,)] * 4, [(3, 0), (0,), (0,), (0,)])


@pytest.mark.parametrize("axis", [None, 0, 1, -2])
def test_compress(axis):
    model = results_of_data("Compress", "float32", "bool", **({} if axis is None else {"axis": axis}))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for condition in ([True], [False], [False, True, True], []):
        condition = np.asarray(condition, bool)
        found, right = np.asarray(model(x, condition)), np.compress(condition, x, axis=axis)
        assert found.shape == right.shape and np.array_equal(found, right)
    assert not model.is_stepwise
    with pytest.raises(ValueError, match="the condition has the shape"):
        model(x, np.ones(13, bool))


def suppressed(boxes, scores, most, overlap, threshold, is_centred):
    """Non-maximum suppression, box by box."""
    half, chosen = np.float32(0.5), []
    for image in range(len(scores)):
        a, b, c, d = boxes[image].T
        top, left, bottom, right = ((b - d * half, a - c * half, b + d * half, a + c * half) if is_centred else
                                    (np.minimum(a, c), np.minimum(b, d), np.maximum(a, c), np.maximum(b, d)))
        area = (bottom - top) * (right - left)
        for kind, column in enumerate(scores[image]):
            kept = []
            for i in np.argsort(-column, kind="stable"):
                if len(kept) == most or (threshold is not None and not column[i] > np.float32(threshold)):
                    break
                shared = [max(min(bottom[i], bottom[j]) - max(top[i], top[j]), 0) * max(min(right[i], right[j]) - max(left[i], left[j]), 0)
                          for j in kept]
                if all(each / (area[i] + area[j] - each) <= np.float32(overlap) for each, j in zip(shared, kept)):
                    kept.append(i)
                    chosen.append([image, kind, i])
    return np.asarray(chosen, np.int64).reshape(-1, 3)


@pytest.mark.parametrize("shape, most, threshold, is_centred", [
    ((1, 1, 6), 3, None, 0), ((2, 3, 17), 100, 0.3, 1), ((2, 1, 40), 5, 0.5, 1), ((1, 20, 50), 7, 0.2, 0), ((1, 1, 6), 0, 0.1, 1),
    ((3, 2, 9), 9, 2.0, 0), ((1, 4, 30), 4, 0.0, 1)])
def test_non_max_suppression(shape, most, threshold, is_centred):
    """Scores have ties, of which the first box is chosen."""
    weights = {"most": np.int64([most]), "overlap": np.float32([0.3])}
    if threshold is not None:
        weights["threshold"] = np.float32([threshold])
    model = results_of_data("NonMaxSuppression", "float32", "float32", weights=weights, center_point_box=is_centred)
    for seed in range(3):
        random = np.random.default_rng(seed)
        boxes = random.uniform(0, 1, (shape[0], shape[2], 4)).astype(np.float32)
        scores = random.integers(0, 9, shape).astype(np.float32) / 8
        assert np.asarray(model(boxes, scores)).tolist() == suppressed(boxes, scores, most, 0.3, threshold, is_centred).tolist()
    assert model.captures == 1 and not model.is_stepwise
    if threshold is None:
        scores[:] = -np.inf
        assert np.asarray(model(boxes, scores)).tolist() == suppressed(boxes, scores, most, 0.3, None, is_centred).tolist()


def branches(then_shape=(2,)):
    def graph(name, value, shape):
        constant = helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.full(shape, value, np.float32)))
        return helper.make_graph([constant, helper.make_node("Mul", [name, "x"], [name + "x"])], name, [],
                                 [helper.make_tensor_value_info(name + "x", FLOAT, None)])

    node = helper.make_node("If", ["c"], ["y"], then_branch=graph("a", 2, then_shape), else_branch=graph("b", 3, (2,)))
    return loaded([node], [("x", FLOAT, None), ("c", TensorProto.BOOL, [])], [("y", FLOAT, None)])


def test_branches_by_data():
    """Results of one type are chosen in the program; of two types data decides which program there is."""
    for model, shape, stepwise in ((branches(), (2,), False), (branches((3, 2)), (3, 2), True)):
        x = np.float32([1, 2])
        assert model(x, np.bool_(True)).tolist() == np.broadcast_to(2 * x, shape).tolist()
        assert model(x, np.bool_(False)).tolist() == [3, 6]
        assert model.is_stepwise == stepwise and model.specialized_inputs == ()


def test_loop_until_a_condition():
    """Doubles until the sum is above 100."""
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]), helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
         helper.make_node("Constant", [], ["limit"], value_float=100.0), helper.make_node("Less", ["s", "limit"], ["on"]),
         helper.make_node("Identity", ["w"], ["seen"])],
        "body", [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("v", FLOAT, None)],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("w", FLOAT, None),
         helper.make_tensor_value_info("seen", FLOAT, None)])
    model = loaded([helper.make_node("Loop", ["", "", "x"], ["last", "all"], body=body)], [("x", FLOAT, None)],
                   [("last", FLOAT, None), ("all", FLOAT, None)])
    last, every = model(np.float32([1, 2]))
    assert last.tolist() == [64, 128] and every.shape == (6, 2) and every.tolist()[0] == [2, 4]
    assert model(np.float32([30, 30]))[0].tolist() == [60, 60]


def counting(collects, steps=None, bound=100.0):
    """Doubles until the sum is above a limit, or so many steps are over, and collects what it sees."""
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]), helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
         helper.make_node("Constant", [], ["limit"], value_float=bound), helper.make_node("Less", ["s", "limit"], ["on"]),
         helper.make_node("Cast", ["i"], ["at"], to=FLOAT), helper.make_node("Add", ["w", "at"], ["seen"])],
        "body", [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("v", FLOAT, None)],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("w", FLOAT, None)] +
        [helper.make_tensor_value_info("seen", FLOAT, None)] * collects)
    weights = {} if steps is None else {"steps": np.int64(steps)}
    return loaded([helper.make_node("Loop", ["" if steps is None else "steps", "go", "x"], ["last", "all"][:1 + collects], body=body)],
                  [("x", FLOAT, None), ("go", TensorProto.BOOL, [])], [("last", FLOAT, None), ("all", FLOAT, None)][:1 + collects], weights)


@pytest.mark.parametrize("collects, steps", [(0, None), (0, 3), (1, 3), (1, 40)])
def test_loops_that_a_condition_ends_are_one_program(collects, steps):
    model = counting(collects, steps)
    for first, go in ([1, 2], True), ([30, 30], True), ([0.5, 0.25], True), ([1, 2], False):
        x, seen = np.float32(first), []
        on = go
        while on and (steps is None or len(seen) < steps):
            x = x * 2
            seen.append(x + len(seen))
            on = x.sum() < 100
        found = model(np.float32(first), np.bool_(go))
        last, every = found if collects else (found, None)
        assert last.tolist() == x.tolist()
        if collects:
            assert every.tolist() == [each.tolist() for each in seen] and every.shape == (len(seen), 2)
    assert model.captures == 1 and not model.is_stepwise
    text, _ = zyx.onnx.program_text(model, shapes={"x": (2,)})
    assert re.search(r"graph\.loop\(%\w+ while\)", text) and ("all_count" in text) == bool(collects)


def test_loops_without_an_end():
    body = helper.make_graph(
        [helper.make_node("Neg", ["v"], ["w"]), helper.make_node("Identity", ["c"], ["on"])],
        "body", [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("v", FLOAT, None)],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("w", FLOAT, None)])
    model = loaded([helper.make_node("Loop", ["", "", "x"], ["y"], body=body)], [("x", FLOAT, [2])], [("y", FLOAT, None)])
    with pytest.raises(zyx.onnx.ModelError, match="a loop without an end"):
        model(np.float32([1, 2]))
    for steps, sign in ((-3, 1), (0, 1), (3, -1)):
        model = loaded([helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)], [("x", FLOAT, [2])], [("y", FLOAT, None)],
                       {"n": np.int64(steps)})
        assert model(np.float32([1, 2])).tolist() == [sign, 2 * sign]


def test_loops_of_many_known_trips():
    """A loop of the program, and not so many bodies in it."""
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]), helper.make_node("Mul", ["w", "half"], ["u"]), helper.make_node("Cast", ["i"], ["at"], to=FLOAT),
         helper.make_node("Add", ["u", "at"], ["seen"]), helper.make_node("Identity", ["c"], ["on"])],
        "body", [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("v", FLOAT, None)],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("seen", FLOAT, None),
         helper.make_tensor_value_info("w", FLOAT, None)])
    for steps, loops in ((5, 0), (500, 1)):
        model = loaded([helper.make_node("Loop", ["steps", "", "x"], ["last", "all"], body=body)], [("x", FLOAT, [2])],
                       [("last", FLOAT, None), ("all", FLOAT, None)], {"steps": np.int64(steps), "half": np.float32(0.5)})
        x, every = np.float32([1, -2]), []
        for at in range(steps):
            every.append((x + x).tolist())
            x = x + np.float32(at)
        found = model(np.float32([1, -2]))
        assert found[0].tolist() == x.tolist() and found[1].tolist() == every and not model.is_stepwise
        assert zyx.onnx.program_text(model)[0].count("graph.loop") == loops


def test_branches_that_are_long_are_skipped():
    def graph(name, node):
        return helper.make_graph([node], name, [], [helper.make_tensor_value_info(name, FLOAT, None)])

    node = helper.make_node("If", ["c"], ["y"], then_branch=graph("a", helper.make_node("MatMul", ["w", "h"], ["a"])),
                            else_branch=graph("b", helper.make_node("Mul", ["h", "x"], ["b"])))
    w = np.float32([[1, 2], [3, 4]])
    model = loaded([helper.make_node("Neg", ["x"], ["h"]), node], [("x", FLOAT, [2]), ("c", TensorProto.BOOL, [1])], [("y", FLOAT, None)], {"w": w})
    x = np.float32([1, -3])
    assert model(x, [True]).tolist() == (w @ -x).tolist() and model(x, [False]).tolist() == (-x * x).tolist()
    assert model.captures == 1 and not model.is_stepwise
    assert zyx.onnx.program_text(model)[0].count("graph.loop") == 2
    slope = zyx.jit(zyx.grad(lambda x, c: zyx.sum(model(x, c))))
    assert slope(zyx.asarray(x), zyx.asarray([True])).tolist() == [-4, -6] and slope(zyx.asarray(x), zyx.asarray([False])).tolist() == [-2, 6]


def test_functions_of_the_model():
    function = helper.make_function("mine", "Scaled", ["a"], ["b"], [
        helper.make_node("Constant", [], ["k"], name="k"), helper.make_node("Mul", ["a", "k"], ["b"])],
        [helper.make_opsetid("", 21)], ["factor"])
    attribute = helper.make_attribute("value_float", 1.0)
    attribute.ref_attr_name = "factor"
    attribute.ClearField("f")
    function.node[0].attribute.append(attribute)
    nodes = [helper.make_node("Scaled", ["x"], ["h"], domain="mine", factor=3.0),
             helper.make_node("Scaled", ["h"], ["y"], domain="mine", factor=0.5)]
    model = loaded(nodes, [("x", FLOAT, None)], [("y", FLOAT, None)], functions=[function], domains=["mine"])
    assert model(np.float32([1, 2])).tolist() == [1.5, 3]
    # A function that calls itself ends.
    function.node.append(helper.make_node("Scaled", ["b"], ["c"], domain="mine", factor=1.0))
    model = loaded(nodes, [("x", FLOAT, None)], [("y", FLOAT, None)], functions=[function], domains=["mine"])
    with pytest.raises(zyx.onnx.ModelError, match="in each other more than"):
        model(np.float32([1, 2]))


def _message(number, *parts):
    """A field of a message, in bytes; a file that is behind it stays a hole."""
    size, head = sum(part if isinstance(part, int) else len(part) for part in parts), bytearray()
    for value in (number << 3 | 2, size):
        while value > 0x7F:
            head.append(value & 0x7F | 0x80)
            value >>= 7
        head.append(value)
    return [bytes(head), *parts]


@pytest.mark.skipif("ZYX_TEST_LARGE" not in os.environ, reason="ZYX_TEST_LARGE=1 has files of 3 GB, which need 8 GB of memory")
@pytest.mark.parametrize("is_external", [False, True])
def test_files_of_3_gb(tmp_path, is_external):
    """Models over the 2 GB that protocol buffers have elsewhere: a weight in the file, and in one beside it."""
    rows, width = 3 * 2**18, 1024
    proto = model_of([helper.make_node("Gather", ["w", "i"], ["y"])], [("i", INT64, ["n"])], [("y", FLOAT, ["n", width])])
    weight = TensorProto(name="w", data_type=FLOAT, dims=[rows, width])
    if is_external:
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="w.bin")
        proto.graph.initializer.append(weight)
        onnx.save(proto, tmp_path / "m.onnx")
        data, begin = tmp_path / "w.bin", 0
        data.write_bytes(b"")
    else:
        # The graph with the weight's bytes behind its other fields, by hand: 9 is the field of the bytes, 5 that of weights, 7 the graph.
        size = 4 * rows * width
        graph = proto.graph.SerializeToString()
        proto.ClearField("graph")
        tensor = [weight.SerializeToString(), *_message(9, size)]
        parts = _message(7, graph, *_message(5, *tensor))
        data, begin = tmp_path / "m.onnx", 0
        with open(data, "wb") as file:
            file.write(proto.SerializeToString())
            for part in parts:
                if isinstance(part, int):
                    begin = file.tell()
                    file.seek(part, 1)
                else:
                    file.write(part)
    with open(data, "r+b") as file:
        file.truncate(begin + 4 * rows * width)
        file.seek(begin + 4 * width * (rows - 1))
        file.write(np.arange(width, dtype=np.float32).tobytes())
    assert data.stat().st_size >= 3 * 2**30
    model = zyx.onnx.load(tmp_path / "m.onnx")
    found = np.asarray(model(np.int64([rows - 1, 0, rows - 2, rows - 1])))
    assert np.array_equal(found[0], np.arange(width)) and np.array_equal(found[3], found[0]) and not found[1:3].any()
    # Cut, it is refused before anything is read.
    del model, found
    with open(data, "r+b") as file:
        file.truncate(begin + 4 * rows * width - 1)
    with pytest.raises(zyx.onnx.ModelError, match="is cut|are 3221225472"):
        zyx.onnx.load(tmp_path / "m.onnx")


@pytest.mark.parametrize("op, gates", [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_long_sequences(op, gates, monkeypatch):
    """A loop of the program computes what steps that are written out do, and these what the package onnx does."""
    from zyx.onnx import _network
    rng = np.random.default_rng(1)
    steps, batch, inputs, hidden = 12, 2, 3, 4
    feeds = {"x": (steps, batch, inputs), "w": (1, gates * hidden, inputs), "r": (1, gates * hidden, hidden),
             "b": (1, 2 * gates * hidden)}
    feeds = {name: rng.normal(size=shape).astype(np.float32) for name, shape in feeds.items()}
    names = ["y", "last", "cell"][:3 if op == "LSTM" else 2]

    def results(direction, lengths):
        own = {name: array if name == "x" or direction != "bidirectional" else np.concatenate([array, -array])
               for name, array in feeds.items()}
        node = helper.make_node(op, [*own, "lengths" if lengths is not None else ""], names, hidden_size=hidden,
                                direction=direction)
        if lengths is not None:
            own["lengths"] = lengths
        proto = model_of([node], [(name, helper.np_dtype_to_tensor_dtype(array.dtype), None) for name, array in own.items()],
                         [(name, FLOAT, None) for name in names])
        return proto, own, zyx.onnx.load(proto.SerializeToString()).run(own)

    for direction in ("forward", "reverse", "bidirectional"):
        for lengths in (None, np.int32([12, 5])):
            proto, own, looped = results(direction, lengths)
            with monkeypatch.context() as patch:
                patch.setattr(_network, "MOST_WRITTEN", 100)
                written = results(direction, lengths)[2]
            for name in names:
                np.testing.assert_allclose(looped[name], written[name], rtol=1e-5, atol=1e-6)
            if lengths is not None:
                assert not looped["y"][5:, :, 1].any() and looped["y"][:5, :, 1].any()
            elif direction == "forward" and op != "LSTM":
                expected = onnx.reference.ReferenceEvaluator(proto).run(None, own)
                for name, right in zip(names, expected):
                    np.testing.assert_allclose(looped[name], right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["INT4", "UINT4", "INT2", "FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ", "FLOAT4E2M1", "FLOAT8E4M3FN",
                                  "FLOAT8E5M2", "FLOAT8E8M0"])
def test_small_types(name):
    """Weights, inputs and results of a type that zyx, or NumPy, has not: as ml_dtypes casts them."""
    code = getattr(TensorProto, name)
    dtype = helper.tensor_dtype_to_np_dtype(code)
    values = np.float32([4, 1, 2, 0.5, 1.5, 4, 1, 2])
    small = values.astype(dtype)
    weights = {"w": small}
    nodes = [helper.make_node("Cast", ["x"], ["narrow"], to=code), helper.make_node("Cast", ["narrow"], ["y"], to=FLOAT),
             helper.make_node("Cast", ["w"], ["z"], to=FLOAT), helper.make_node("Cast", ["s"], ["t"], to=FLOAT)]
    model = loaded(nodes, [("x", FLOAT, [8]), ("s", code, [8])],
                   [("narrow", code, [8]), ("y", FLOAT, [8]), ("z", FLOAT, [8]), ("t", FLOAT, [8])], weights, opset=25)
    found = model.run({"x": values, "s": small})
    assert found["narrow"].dtype == dtype
    for key in ("narrow", "y", "z", "t"):
        np.testing.assert_array_equal(found[key].astype(np.float32), small.astype(np.float32))


@pytest.mark.parametrize("name", ["FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ", "FLOAT4E2M1", "FLOAT8E4M3FN", "FLOAT8E5M2"])
def test_rounding_to_small_floats(name):
    """Each number between two neighbours goes to the nearer one, ties to the even one, as ml_dtypes has it."""
    code = getattr(TensorProto, name)
    dtype = helper.tensor_dtype_to_np_dtype(code)
    every = np.arange(2**(4 if name == "FLOAT4E2M1" else 8), dtype=np.uint8).astype(np.uint8).view(
        dtype).astype(np.float32)
    every = np.unique(every[np.isfinite(every)])
    between = np.concatenate([every, (every[1:] + every[:-1]) / 2, np.nextafter((every[1:] + every[:-1]) / 2, np.float32(9e9))])
    model = loaded([helper.make_node("Cast", ["x"], ["y"], to=code)], [("x", FLOAT, None)], [("y", code, None)], opset=25)
    found = model.run({"x": between})["y"].astype(np.float32)
    np.testing.assert_array_equal(found, between.astype(dtype).astype(np.float32))


def test_resize_to_corners():
    """What PyTorch writes before version 19 means its corners: an extent that a scale cuts counts as a whole number."""
    x, cases = np.float32([[[[0, 1, 2, 3, 10]]]]), []
    for opset in (11, 13, 18):
        node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear", coordinate_transformation_mode="align_corners")
        model = loaded([node], [("x", FLOAT, None)], [("y", FLOAT, None)], {"scales": np.float32([1, 1, 1, 1.7])}, opset=opset)
        cases.append(np.asarray(model(x)))
    expected = np.interp(np.arange(8) * (4 / 7), np.arange(5), x[0, 0, 0])
    for found in cases:
        np.testing.assert_allclose(found[0, 0, 0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset, mode", [(16, "bicubic"), (20, "cubic")])
def test_cubic_grids_at_borders(opset, mode):
    """Elements beyond a border are those on it; a coordinate beyond it is not moved there before it is weighed."""
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], mode=mode, padding_mode="border", align_corners=1)
    model = loaded([node], [("x", FLOAT, None), ("grid", FLOAT, None)], [("y", FLOAT, None)], opset=opset)
    x = np.float32([1, 5, 2, 8])
    # Half an element behind the last one: between 8 and 8, with 2 and 8 around them.
    found = np.asarray(model(x.reshape(1, 1, 1, 4), np.float32([[[[1 + 1 / 3, 0]]]])))
    near, far = 0.59375, -0.09375
    np.testing.assert_allclose(found.item(), far * 2 + near * 8 + near * 8 + far * 8, rtol=1e-5)


def test_texts():
    nodes = [helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action="UPPER", stopwords=["b"])]
    model = loaded(nodes, [("x", TensorProto.STRING, [3])], [("y", TensorProto.STRING, None)])
    assert model(["a", "b", "c"]) == ["A", "C"]
    assert model.run({"x": np.array(["a", "b", "c"], dtype=object)})["y"].tolist() == ["A", "C"]


def test_sample_of_the_suite():
    """Every 16th case of 2,033; utils/scores.py onnx runs all."""
    count = refused = 0
    for place, case in enumerate(onnx_suite.cases()):
        if place % 16 == 0:
            result, why, _ = onnx_suite.run(case, onnx_suite.zyx_runtime)
            assert result in ("right", "rounded") or "UnsupportedError" in why, f"{case[1]}: {result}: {why}"
            count, refused = count + 1, refused + (result == "refused")
    assert count > 120 and refused <= 3


def test_example(tmp_path):
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "digits-onnx.py"),
                           str(ROOT / "examples" / "digits.safetensors"), f"--out={tmp_path}"],
                          check=True, capture_output=True, text=True)
    assert done.stdout == "767 of 797 correct\n"


def test_docs(tmp_path, monkeypatch):
    """The blocks of docs/onnx.md are one program, and its list of ops is the registry."""
    text = (ROOT / "docs" / "onnx.md").read_text()
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "docs"}
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    for block in blocks:
        exec(compile(block, "docs/onnx.md", "exec"), names)
    listed = re.search(r"^## Ops\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE).group(1)
    assert set(re.findall(r"`(\w+)`", listed)) == {name for _, name in zyx.onnx.ops()}


def test_functions_that_stand_for_very_many_nodes():
    """Each calls the one before twice: a file of some KB, and 2^40 nodes."""
    functions = [helper.make_function("mine", "F0", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 21)])]
    for at in range(1, 40):
        functions.append(helper.make_function("mine", f"F{at}", ["a"], ["b"], [
            helper.make_node(f"F{at - 1}", ["a"], ["c"], domain="mine"), helper.make_node(f"F{at - 1}", ["c"], ["b"], domain="mine")],
            [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)]))
    x, y = [("x", FLOAT, None)], [("y", FLOAT, None)]
    with pytest.raises(zyx.UnsupportedError, match="a model of [0-9]{13} nodes"):
        loaded([helper.make_node("F39", ["x"], ["y"], domain="mine")], x, y, functions=functions, domains=["mine"])
    model = loaded([helper.make_node("F5", ["x"], ["y"], domain="mine")], x, y, functions=functions, domains=["mine"])
    assert model(np.float32([1, 2])).tolist() == [1, 2]
    # A function that is called by another one behind 70 others.
    chain = [helper.make_function("mine", f"F{at}", ["a"], ["b"], [helper.make_node(f"F{at + 1}" if at < 70 else "Neg", ["a"], ["b"], domain="mine" if at < 70 else "")],
                                  [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)]) for at in range(71)]
    with pytest.raises(zyx.onnx.ModelError, match="more than 64 deep"):
        loaded([helper.make_node("F0", ["x"], ["y"], domain="mine")], x, y, functions=chain, domains=["mine"])


def test_loops_that_stand_for_very_many_nodes(monkeypatch):
    """Loops in each other are walked through as often as they have trips."""
    def body(inner):
        nodes = inner or [helper.make_node("Concat", ["c", "c"], ["d"], axis=0)]
        return helper.make_graph([helper.make_node("Identity", ["go"], ["still"])] + nodes, "body", [
            helper.make_tensor_value_info("at", INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("c", FLOAT, None)],
            [helper.make_tensor_value_info("still", TensorProto.BOOL, []), helper.make_tensor_value_info("d", FLOAT, None)])

    inner = None
    for _ in range(3):
        inner = [helper.make_node("Loop", ["trips", "", "c"], ["d"], body=body(inner), name="repeated")]
    inner[0].input[2], inner[0].output[0] = "x", "y"
    model = loaded(inner, [("x", FLOAT, None)], [("y", FLOAT, None)], {"trips": np.array(2, dtype=np.int64)})
    monkeypatch.setattr(zyx.onnx._model, "MOST_NODES", 20)
    with pytest.raises(zyx.UnsupportedError, match="'repeated' .Loop, opset 21.: a program of more than 20 nodes|a program of more than 20 nodes"):
        model(np.float32([1]))
    monkeypatch.undo()
    assert model(np.float32([1])).shape == (256,)


def test_sizes_without_bound():
    """A number in a file is no reason to write as many into lists."""
    for scale, error in ((1e30, zyx.UnsupportedError), (float("inf"), zyx.onnx.ModelError), (float("nan"), zyx.onnx.ModelError)):
        model = loaded([helper.make_node("Resize", ["x", "", "scales"], ["y"], name="huge")], [("x", FLOAT, [1, 4])], [("y", FLOAT, None)],
                       {"scales": np.float32([1, scale])})
        with pytest.raises(error, match="'huge' .Resize"):
            model(np.ones((1, 4), np.float32))


def test_patterns_take_as_long_as_their_texts():
    """A whole match of a text, as Python's `re` has it, but in a time that no pattern multiplies."""
    pattern_of = zyx.onnx._patterns.Pattern
    for pattern in (r"(){4000000000}", r"(a+)+$", r"(a|a)*b", r"(a|aa)+$", r"a*a*a*a*a*a*b", r"(?:(?:a{0,9}){0,9}){0,9}b", r"(\w+\s?)*!"):
        assert not pattern_of(pattern).matches("a" * 40 + "c")
    rng = random.Random(3)
    patterns = [r"a*b", r"(a|b)*c?", r"[^a-c]+", r"a{2,3}", r"(?i)AB?c", r"^a.b$", r"(?s)a.b", r"\ba\b.*", r"(?m)a$\n^b", r"", r"a||b", r"(ab){2}", r"(a|b)+?c",
                r"[\w.-]+@[a-z]+\.(com|org)", r"\d{3}-\d{4}", r"[]a]*", r"a\Bb", r"(?P<x>a)(?:b)*", r"(?i:a)b", r"[^\W\d]*", r"\Aa\Z", r"(a?){3}", r"((a|b)*|c){2}", r".", r"((){3}){4}a"]
    letters = "abcABC \n.-@]1é"
    texts = ["".join(rng.choice(letters) for _ in range(rng.randrange(6))) for _ in range(400)] + ["x.y@site.com", "555-1234", "a\nb", "aab", "abab"]
    for pattern in patterns:
        made, meant = pattern_of(pattern), re.compile(pattern, re.ASCII)
        assert [text for text in texts if made.matches(text)] == [text for text in texts if meant.fullmatch(text)], pattern

    # As RE2 has it, and not Python.
    assert not pattern_of(r"\d").matches("\u0663") and pattern_of(r"\D").matches("\u0663") and not pattern_of(r"a$\n").matches("a\n")
    assert not pattern_of(r"\s").matches("\v") and pattern_of(r"[^\s]").matches("\v")

    def model_of_pattern(pattern):
        return loaded([helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern, name="match")], [("x", TensorProto.STRING, None)],
                      [("y", TensorProto.BOOL, None)])

    assert model_of_pattern(r"(a+)+$")(["a" * 40 + "!", "a" * 40]).tolist() == [False, True]
    for pattern, what in ((r"(a)\1", "groupref"), (r"a(?=b)", "assert"), (r"((a{99}){99}){99}", "more than 20000 places"),
                          (r"((){4000000000}){4000000000}", "more than 20000 places"), (r"[[:alpha:]]+", "a class of a name")):
        with pytest.raises(zyx.UnsupportedError, match=f"'match' .RegexFullMatch, opset 21.: a pattern (with|of) {what}"):
            model_of_pattern(pattern)(["a"])
    with pytest.raises(zyx.onnx.ModelError, match="'match' .RegexFullMatch, opset 21.: the pattern"):
        model_of_pattern("(")(["a"])


def test_pipes_are_no_files(tmp_path):
    """Nobody writes into them, so that a reader would wait for ever."""
    (tmp_path / "model").mkdir()
    os.mkfifo(tmp_path / "model" / "pipe")
    with pytest.raises(zyx.onnx.ModelError, match="'pipe': is no file"):
        zyx.onnx.load(external(tmp_path, location="pipe"))
    with pytest.raises(zyx.onnx.ModelError, match="pipe: is no file"):
        zyx.onnx.load(tmp_path / "model" / "pipe")
    with pytest.raises(zyx.onnx.ModelError, match="'.': is no file"):
        zyx.onnx.load(external(tmp_path, location="."))


def test_nodes_that_cannot_be_meant_are_named():
    """Whatever is wrong with attributes and inputs, the error is ModelError with the node, in words about it."""
    x, i = np.ones((1, 4, 2, 2), np.float32), np.int64([0])
    for op, attributes, inputs, what in (
            ("DepthToSpace", {"blocksize": 0}, ["x"], "is 0, by which something is divided"),
            ("Range", {}, ["s", "s", "s"], "step|divided"),
            ("Add", {}, ["x"], "it has 1 inputs, and the op takes 2 at least"),
            ("Max", {}, [], "it has 0 inputs, and the op takes 1 at least"),
            ("Tanh", {}, ["x", "x"], "it has 2 inputs, and the op takes 1 at most"),
            ("Gelu", {}, ["x", "x"], "it has 2 inputs, and the op takes 1 at most"),
            ("Softmax", {"axis": "x"}, ["x"], "the attribute 'axis' is a text, where an integer is meant"),
            ("Softmax", {"axis": [1]}, ["x"], "the attribute 'axis' is a list, where an integer is meant"),
            ("Elu", {"alpha": "x"}, ["x"], "the attribute 'alpha' is a text, where a number is meant"),
            ("Gelu", {"approximate": 1}, ["x"], "the attribute 'approximate' is an integer, where a text is meant"),
            ("Transpose", {"perm": 3}, ["x"], "an input or attribute|perm"),
            ("Add", {}, ["x", ""], "an input or attribute that it needs is not there"),
            ("Cast", {"to": 99}, ["x"], "type 99"),
            ("MaxPool", {"kernel_shape": [2, 2], "auto_pad": "NEVER"}, ["x"], "NEVER"),
            ("MaxPool", {"kernel_shape": [2, 2], "strides": [0, 1]}, ["x"], "divided|stride")):
        model = loaded([helper.make_node(op, inputs, ["y"], name="wrong", **attributes)], [("x", FLOAT, None)], [("y", FLOAT, None)],
                       {"i": i, "s": np.array(0, np.int64)})
        with pytest.raises((zyx.onnx.ModelError, zyx.Error), match=rf"^model: node 'wrong' \({op}, opset 21\): .*({what})") as raised:
            zyx.eval(model(x))
        assert not re.search(r"locals|NoneType|incompatible|positional", str(raised.value))
    # A function of the model with more inputs than it takes; numbers as the other kind of number; an output that nobody makes.
    function = helper.make_function("mine", "F", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 21)])
    model = loaded([helper.make_node("F", ["x", "x"], ["y"], domain="mine", name="wrong")], [("x", FLOAT, None)], [("y", FLOAT, None)],
                   functions=[function], domains=["mine"])
    with pytest.raises(zyx.onnx.ModelError, match="'wrong' .F, opset 1.: it has 2 inputs, and the function takes 1 at most"):
        model(x)
    model = loaded([helper.make_node("Elu", ["x"], ["y"], alpha=2)], [("x", FLOAT, None)], [("y", FLOAT, None)])
    assert model(np.float32([3])).tolist() == [3]
    model = loaded([helper.make_node("Neg", ["x"], ["z"])], [("x", FLOAT, None)], [("y", FLOAT, None)])
    with pytest.raises(zyx.onnx.ModelError, match="model: outputs of the graph: nothing before it makes 'y'"):
        model(x)
