"""Programs that leave the process: text of ONNX models by zyx-import, artifacts and C sources by compile_to()."""
import ctypes
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import threading

import cards
import numpy as np
import onnx
import onnx_suite
import pytest
from onnx import TensorProto, helper, numpy_helper

import zyx
from zyx import importer

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Beside build/release/python/zyx, where ctest does not name them.
TOOLS = pathlib.Path(os.environ.get("TOOLS_OF_BUILD", pathlib.Path(zyx.__file__).parents[2] / "bin"))
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def write_model(path, nodes, inputs, outputs, weights=None):
    graph = helper.make_graph(nodes, "test", [helper.make_tensor_value_info(*each) for each in inputs],
                              [helper.make_tensor_value_info(*each) for each in outputs],
                              [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


def perceptron(path, width=4):
    rng = np.random.default_rng(1)
    weights = {"w": rng.normal(size=(width, 100)).astype(np.float32), "b": rng.normal(size=100).astype(np.float32)}
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="dense"), helper.make_node("Relu", ["h"], ["y"])]
    return write_model(path, nodes, [("x", FLOAT, ["n", width])], [("y", FLOAT, ["n", 100])], weights)


def run_tool(program, inputs, *arguments, folder):
    """The outputs of a program by name, by zyx-run."""
    zyx.save(str(folder / "in.safetensors"), inputs)
    subprocess.run([str(TOOLS / "zyx-run"), str(program), f"--inputs={folder / 'in.safetensors'}",
                    f"--outputs={folder / 'out.safetensors'}", "--no-cache", *arguments],
                   check=True, capture_output=True, text=True)
    return {name: np.array(each) for name, each in zyx.load(str(folder / "out.safetensors")).items()}


def test_import(tmp_path):
    model = perceptron(tmp_path / "model.onnx")
    assert importer.main([str(model), "--bind", "n=3"]) == 0
    text = (tmp_path / "model.mlir").read_text()
    assert text.startswith("// model.onnx, by zyx-import ") and "func.func @main(" in text
    x = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)
    expected = zyx.onnx.load(model).run({"x": x})["y"]
    for device in ("reference", "cpu"):
        found = run_tool(tmp_path / "model.mlir", {"x": zyx.asarray(x)}, f"--device={device}", folder=tmp_path)
        np.testing.assert_allclose(found["y"], expected, rtol=1e-5, atol=1e-6)
    subprocess.run([str(TOOLS / "zyx-compile"), str(tmp_path / "model.mlir")], check=True)
    np.testing.assert_allclose(run_tool(tmp_path / "model.zyxa", {"x": zyx.asarray(x)}, folder=tmp_path)["y"], expected,
                               rtol=1e-5, atol=1e-6)


def test_import_with_weights_as_inputs(tmp_path, capsys):
    model = perceptron(tmp_path / "model.onnx", width=64)
    out = tmp_path / "program.mlir"
    assert importer.main([str(model), "-o", str(out), "--shape", "x=2,64", "--entry=layer"]) == 0
    text = out.read_text()
    assert "func.func @layer(" in text and len(text) < 4000
    weights = zyx.load(str(tmp_path / "program.safetensors"))
    # The bias is small, and a constant.
    assert list(weights) == ["w"]
    x = np.random.default_rng(2).normal(size=(2, 64)).astype(np.float32)
    found = run_tool(out, {"x": zyx.asarray(x), **weights}, "--device=cpu", folder=tmp_path)["y"]
    np.testing.assert_allclose(found, zyx.onnx.load(model).run({"x": x})["y"], rtol=1e-4, atol=1e-4)
    assert importer.main([str(model), "-o", "-", "--shape", "x=2,64"]) == 1
    assert "--output names a file" in capsys.readouterr().err
    assert importer.main([str(model), "--weights=constants", "--shape", "x=2,64"]) == 1
    assert "the weight 'w' has 25600 bytes" in capsys.readouterr().err


def test_import_of_inputs_that_say_what_is_computed(tmp_path, capsys):
    model = write_model(tmp_path / "model.onnx", [helper.make_node("Reshape", ["x", "shape"], ["y"], name="reshaped")],
                        [("x", FLOAT, [6]), ("shape", INT64, [2])], [("y", FLOAT, None)])
    assert importer.main([str(model)]) == 1
    told = capsys.readouterr().err
    assert "model.onnx: node 'reshaped' (Reshape, opset 21)" in told and "'shape'" in told and "--" not in told[:10]
    assert not (tmp_path / "model.mlir").exists()
    assert importer.main([str(model), "--value", "shape=2,-1"]) == 0
    found = run_tool(tmp_path / "model.mlir", {"x": zyx.arange(6, dtype=zyx.float32)}, "--device=reference", folder=tmp_path)
    assert found["y"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_import_with_symbols(tmp_path, capsys):
    """One text for every number of rows; products and quotients of symbols; what depends on a number is refused."""
    model = perceptron(tmp_path / "model.onnx")
    assert importer.main([str(model), "--bind", "n=rows"]) == 0
    text = (tmp_path / "model.mlir").read_text()
    assert '#graph.extents<"rows", "4">' in text and "tensor<64" not in text
    for rows in (1, 3, 300):
        x = np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)
        expected = zyx.onnx.load(model).run({"x": x})["y"]
        found = run_tool(tmp_path / "model.mlir", {"x": zyx.asarray(x)}, "--device=reference", folder=tmp_path)
        np.testing.assert_allclose(found["y"], expected, rtol=1e-5, atol=1e-6)
    subprocess.run([str(TOOLS / "zyx-compile"), str(tmp_path / "model.mlir"), "--bind=rows=7", "-o", str(tmp_path / "m.zyxa")], check=True)
    # Batches of sequences, whose rows are one extent between.
    flat = write_model(tmp_path / "flat.onnx", [
        helper.make_node("Reshape", ["x", "to"], ["f"]), helper.make_node("MatMul", ["f", "w"], ["g"]),
        helper.make_node("Shape", ["x"], ["s"], start=0, end=2), helper.make_node("Concat", ["s", "width"], ["all"], axis=0),
        helper.make_node("Reshape", ["g", "all"], ["q"]), helper.make_node("Transpose", ["q"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "t"], ["scores"]), helper.make_node("Softmax", ["scores"], ["y"])],
        [("x", FLOAT, ["b", "s", 4])], [("y", FLOAT, ["b", "s", "s"])],
        {"to": np.int64([-1, 4]), "w": np.ones((4, 8), np.float32), "width": np.int64([8])})
    assert importer.main([str(flat), "--bind", "b=b", "--shape", "x=b,len,4"]) == 0
    assert '"b*len", "4"' in (tmp_path / "flat.mlir").read_text()
    x = np.random.default_rng(1).normal(size=(3, 5, 4)).astype(np.float32)
    found = run_tool(tmp_path / "flat.mlir", {"x": zyx.asarray(x)}, "--device=reference", folder=tmp_path)
    np.testing.assert_allclose(found["y"], zyx.onnx.load(flat).run({"x": x})["y"], rtol=1e-4, atol=1e-6)
    # Every second element: a quotient.
    steps = write_model(tmp_path / "steps.onnx", [helper.make_node("Slice", ["x", "a", "e", "z", "st"], ["y"])], [("x", FLOAT, ["n"])],
                        [("y", FLOAT, None)], {"a": np.int64([0]), "e": np.int64([10**9]), "z": np.int64([0]), "st": np.int64([2])})
    mean = write_model(tmp_path / "mean.onnx", [helper.make_node("ReduceMean", ["x"], ["y"], name="mean")], [("x", FLOAT, ["n"])],
                       [("y", FLOAT, None)])
    for path in (steps, mean):
        capsys.readouterr()
        status = importer.main([str(path), "--bind", "n=n"])
        if status == 0:
            found = run_tool(path.with_suffix(".mlir"), {"x": zyx.arange(7, dtype=zyx.float32)}, "--device=reference", folder=tmp_path)
            assert found["y"].tolist() == zyx.onnx.load(path).run({"x": np.arange(7, dtype=np.float32)})["y"].tolist()
        else:
            assert "depends on the extent 'n'" in capsys.readouterr().err
    # The divisor is a constant of the text.
    assert not mean.with_suffix(".mlir").exists()
    with pytest.raises(SystemExit):
        importer.main([str(model), "--bind", "n=2x"])


@pytest.mark.parametrize("arguments, told", [
    ([], "the extent 'n' of the input 'x' is open"),
    (["--bind", "m=3"], "no input has an extent 'm'; there are n"),
    (["--shape", "x=3,5"], "the input 'x' has the shape ['n', 4], not [3, 5]"),
    (["--shape", "y=3"], "a shape is given for 'y', which is no input; there are x"),
    (["--bind", "n=3", "-o", "/nonexistent/model.mlir"], "/nonexistent"),
])
def test_import_refuses(tmp_path, capsys, arguments, told):
    model = perceptron(tmp_path / "model.onnx")
    assert importer.main([str(model), *arguments]) == 1
    assert told in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx"]


def test_import_refuses_files(tmp_path, capsys):
    model = perceptron(tmp_path / "model.onnx")
    (tmp_path / "cut.onnx").write_bytes(model.read_bytes()[:-40])
    (tmp_path / "model.txt").write_text("")
    stepwise = write_model(tmp_path / "step.onnx", [
        helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Shape", ["places"], ["y"], name="found")],
                           [("x", FLOAT, [6])], [("y", INT64, [2])])
    unknown = write_model(tmp_path / "unknown.onnx", [helper.make_node("ImageDecoder", ["x"], ["y"], name="picture")],
                          [("x", TensorProto.UINT8, [6])], [("y", TensorProto.UINT8, None)])
    for path, told in ((tmp_path / "none.onnx", "none.onnx"), (tmp_path / "cut.onnx", "cut.onnx: "),
                       (tmp_path / "model.txt", "no format is known"),
                       (stepwise, "step.onnx: node 'found' (Shape, opset 21): data says"),
                       (unknown, "unknown.onnx: ops that zyx.onnx has not: ImageDecoder (node 'picture')")):
        assert importer.main([str(path)]) == 1
        assert told in capsys.readouterr().err
    assert not list(tmp_path.glob("*.mlir"))


def test_import_is_a_program():
    (entry,) = [each for each in importlib.metadata.entry_points(group="console_scripts") if each.name == "zyx-import"]
    assert entry.load() is importer.main
    done = subprocess.run([sys.executable, "-m", "zyx.importer", "--help"], capture_output=True, text=True, check=True)
    assert "--weights" in done.stdout


def test_import_of_a_sample_of_the_suite(tmp_path):
    """Texts of models mean what the models mean."""
    from zyx.onnx import _types
    done = 0
    for case in list(onnx_suite.cases())[5::45]:
        try:
            model = zyx.onnx.load(case[2], device="cpu")
            inputs = case[3]()[0][0]
            if any(info.kind != "tensor" or info.code in _types.NARROW or info.code == _types.STRING for info in model.inputs):
                continue
            arrays = [_types.from_object(each)[0] for each in inputs]
            names = [info.name for info in model.inputs]
            text, weights = zyx.onnx.program_text(model, shapes=dict(zip(names, [array.shape for array in arrays])))
        except (ValueError, NotImplementedError):
            continue
        expected = model(*inputs)
        (tmp_path / "case.mlir").write_text(text)
        found = run_tool(tmp_path / "case.mlir", {**dict(zip(names, arrays)), **weights}, "--device=cpu", folder=tmp_path)
        for info, right in zip(model.outputs, expected if isinstance(expected, tuple) else (expected,)):
            np.testing.assert_allclose(found[info.name].astype(np.float64), np.asarray(right).astype(np.float64), rtol=1e-4,
                                       atol=1e-5, err_msg=case[1])
        done += 1
    assert done >= 20


def compile_c(path):
    library = path.with_suffix(".so")
    subprocess.run(["cc", "-std=c11", "-O2", "-Wall", "-Werror", "-ffp-contract=off", "-fPIC", "-shared", "-o", str(library), str(path), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def call_c(function, inputs, results):
    """A function of C with arrays, and what it writes."""
    made = [np.empty(result.shape, np.asarray(result).dtype) for result in results]
    given = [np.ascontiguousarray(np.asarray(each)) for each in inputs]
    assert function(*[ctypes.c_void_p(each.ctypes.data) for each in given + made]) == 0
    return made


def loop_of(x):
    return zyx.loop(5, (x, zyx.zeros((), dtype=zyx.int64)), lambda trip, c: (zyx.sin(c[0]) + x, c[1] + trip))


def while_of(x):
    return zyx.while_loop((x, zyx.zeros((), dtype=zyx.int64)), lambda c: zyx.sum(c[0] * c[0]) < 1e4, lambda trip, c: (c[0] * 1.5 + 1, trip + 1))


def branches_of(x):
    return zyx.cond(zyx.sum(x) < 1e6, lambda x: x @ x.mT, lambda x: zyx.zeros((5, 5)), x)


RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(5, 7)).astype(np.float32), RNG.normal(size=(7, 3)).astype(np.float32)
I = RNG.integers(-50, 50, size=(4, 6)).astype(np.int32)
PROGRAMS = {
    "product": (lambda a, b: zyx.softmax(a @ b, axis=1), (A, B)),
    "constants": (lambda a: a @ zyx.asarray(B) + zyx.arange(3, dtype=zyx.float32), (A,)),
    "sorted": (lambda a: (zyx.sort(a, axis=1), zyx.argsort(a, axis=0)), (A,)),
    "sums": (lambda a: (zyx.cumulative_sum(a, axis=1), zyx.argmax(a, axis=1), zyx.mean(a)), (A,)),
    "integers": (lambda i: (i // 7, i % 7, zyx.bitwise_xor(i, i << 3), zyx.astype(i, zyx.uint8), i > 3), (I,)),
    "halves": (lambda a: (zyx.astype(a, zyx.float16) * 3, zyx.astype(zyx.astype(a, zyx.bfloat16), zyx.float32)), (A,)),
    "loops": (loop_of, (A,)),
    "ended": (while_of, (A,)),
    "chosen": (branches_of, (A,)),
    "taken": (lambda a, i: zyx.take(a, zyx.abs(i[0]) % 5, axis=0), (A, I)),
    "pictures": (lambda x, w: zyx.nn.max_pool(zyx.reshape(x, (1, 5, 7))[:, :4, :6], (2, 2)) + zyx.sum(w), (A, B)),
    "unused": (lambda a, b: (b, b, zyx.exp(b)), (A, B)),
    "random": (lambda a: a + zyx.random.normal(zyx.random.key(4), a.shape), (A,)),
    "doubles": (lambda a: zyx.tanh(zyx.erf(zyx.astype(a, zyx.float64))), (A,)),
    "nothing": (lambda a: zyx.reshape(a[:0], (0, 7)) * 2, (A,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_c_sources(tmp_path, name):
    function, inputs = PROGRAMS[name]
    path = tmp_path / f"{name}.c"
    zyx.compile_to(function, inputs, path, entry=name)
    with zyx.device_scope("reference"):
        expected = function(*map(zyx.asarray, inputs))
    expected = expected if isinstance(expected, tuple) else (expected,)
    for found, right in zip(call_c(getattr(compile_c(path), name), inputs, expected), expected):
        np.testing.assert_allclose(found.astype(np.float64), np.asarray(right).astype(np.float64), rtol=1e-5, atol=1e-6)


def test_a_c_source_is_called_by_several_threads(tmp_path):
    import concurrent.futures
    function, inputs = PROGRAMS["loops"]
    zyx.compile_to(function, inputs, tmp_path / "loops.c", entry="loops")
    loops, expected = compile_c(tmp_path / "loops.c").loops, function(zyx.asarray(A))
    zyx.eval(expected)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: call_c(loops, (A,), expected)[0], range(200)):
            np.testing.assert_allclose(found, np.asarray(expected[0]), rtol=1e-5)


def test_artifacts(tmp_path):
    weights = {"w": zyx.asarray(B), "b": zyx.ones(3)}

    def layer(weights, x, power):
        return {"y": (x @ weights["w"] + weights["b"])**power}

    path = tmp_path / "layer.zyxa"
    zyx.compile_to(layer, (weights, A, 2), path)
    expected = (A @ B + 1)**2
    found = run_tool(path, {"weights_w": weights["w"], "weights_b": weights["b"], "x": zyx.asarray(A)}, folder=tmp_path)
    np.testing.assert_allclose(found["out0"], expected, rtol=1e-5)
    # The same as text.
    zyx.compile_to(layer, (weights, A, 2), tmp_path / "layer.mlir")
    found = run_tool(tmp_path / "layer.mlir", {"weights_w": weights["w"], "weights_b": weights["b"], "x": zyx.asarray(A)},
                     "--device=reference", folder=tmp_path)
    np.testing.assert_allclose(found["out0"], expected, rtol=1e-5)
    # For a card that is not there.
    zyx.compile_to(layer, (weights, A, 2), tmp_path / "card.zyxa", target="cuda")
    assert b"sm_" in (tmp_path / "card.zyxa").read_bytes()


def test_modules_are_constants(tmp_path):
    model = zyx.nn.Linear(7, 3, zyx.nn.InitRng(1))
    zyx.compile_to(lambda x: model(x), (A,), tmp_path / "linear.c", entry="linear")
    (found,) = call_c(compile_c(tmp_path / "linear.c").linear, (A,), (np.empty((5, 3), np.float32),))
    np.testing.assert_allclose(found, np.asarray(model(zyx.asarray(A))), rtol=1e-5, atol=1e-6)
    jitted = zyx.jit(lambda x: model(x) * 2)
    zyx.compile_to(jitted, (A,), tmp_path / "jitted.c", entry="jitted")
    (twice,) = call_c(compile_c(tmp_path / "jitted.c").jitted, (A,), (np.empty((5, 3), np.float32),))
    np.testing.assert_allclose(twice, 2 * found, rtol=1e-5, atol=1e-6)


def test_large_values(tmp_path):
    """Of more bytes than a constant of a graph has: a part of artifacts and C sources, and beside a text."""
    model = zyx.nn.Sequential(zyx.nn.Linear(64, 128, zyx.nn.InitRng(1)), zyx.nn.relu, zyx.nn.Linear(128, 70, zyx.nn.InitRng(2)))
    x = np.random.default_rng(1).normal(size=(9, 64)).astype(np.float32)
    right = np.asarray(model(zyx.asarray(x)))

    def network(x):
        return model(x)

    zyx.compile_to(network, (x,), tmp_path / "network.c")
    (found,) = call_c(compile_c(tmp_path / "network.c").network, (x,), (right,))
    np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
    zyx.compile_to(network, (x,), tmp_path / "network.zyxa")
    listed = subprocess.run([str(TOOLS / "zyx-run"), str(tmp_path / "network.zyxa"), "--list"], check=True, capture_output=True, text=True).stdout
    assert "x: f32[9, 64]" in listed and "value" not in listed
    for given in (x, 2 * x):
        found = run_tool(tmp_path / "network.zyxa", {"x": zyx.asarray(given)}, "--repeat=3", folder=tmp_path)
        np.testing.assert_allclose(found["out0"], np.asarray(model(zyx.asarray(given))), rtol=1e-4, atol=1e-5)
    zyx.compile_to(network, (x,), tmp_path / "network.mlir")
    values = zyx.load(str(tmp_path / "network.safetensors"))
    assert len(values) == 2
    found = run_tool(tmp_path / "network.mlir", {"x": zyx.asarray(x), **values}, "--device=reference", folder=tmp_path)
    np.testing.assert_allclose(found["out0"], right, rtol=1e-4, atol=1e-5)


def test_compile_to_refuses(tmp_path):
    def f(x):
        return x + 1

    for arguments, kinds, told in (
            ((f, (A,), tmp_path / "f.txt"), ValueError, "ends in none of .zyxa, .c, .mlir"),
            ((f, [A], tmp_path / "f.c"), TypeError, "arguments are a tuple"),
            ((lambda x: [], (A,), tmp_path / "f.c"), zyx.InvalidArgumentError, "returns no tensor"),
            ((lambda x: zyx.astype(x, zyx.int32) if x[0, 0] > 0 else x, (A,), tmp_path / "f.c"), zyx.Error, "captured"),
            ((f, (A,), tmp_path / "none" / "f.c"), FileNotFoundError, "none")):
        with pytest.raises(kinds, match=re.escape(told)):
            zyx.compile_to(*arguments)
    with pytest.raises(zyx.InvalidArgumentError, match="'while' is no name"):
        zyx.compile_to(f, (A,), tmp_path / "f.c", entry="while")
    with pytest.raises(ValueError, match="a target is of an artifact"):
        zyx.compile_to(f, (A,), tmp_path / "f.c", target="cuda")
    with pytest.raises(zyx.Error, match="z80"):
        zyx.compile_to(f, (A,), tmp_path / "f.zyxa", target="z80")
    norm = zyx.nn.BatchNorm(7)
    with pytest.raises(zyx.InvalidArgumentError, match="sets a parameter"):
        zyx.compile_to(lambda x: norm(x), (A,), tmp_path / "f.c")
    norm.eval()
    zyx.compile_to(lambda x: norm(x), (A,), tmp_path / "norm.c")
    assert [path.name for path in tmp_path.iterdir()] == ["norm.c"]


def test_the_example(tmp_path):
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "digits-c.py"), str(ROOT / "examples" / "digits.safetensors"),
                           f"--out={tmp_path}"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+) of 797 correct", done)
    assert found and int(found[1]) >= 700, done


def test_names_of_c(tmp_path):
    """What C or its library has keeps its name there."""
    def log(x):
        return x + 1

    def double(x):
        return x * 2

    for function, name in ((log, "log_"), (double, "double_")):
        zyx.compile_to(function, (A,), tmp_path / f"{name}.c")
        (found,) = call_c(getattr(compile_c(tmp_path / f"{name}.c"), name), (A,), (np.empty_like(A),))
        np.testing.assert_array_equal(found, np.asarray(function(zyx.asarray(A))))
        zyx.compile_to(function, (A,), tmp_path / "names.mlir")
        assert f"@{function.__name__}(" in (tmp_path / "names.mlir").read_text()
    with pytest.raises(ValueError, match="is no name that a function of C may have"):
        zyx.compile_to(log, (A,), tmp_path / "names.c", entry="log")


def test_load_program(tmp_path):
    def layer(weights, x, power):
        return {"y": (x @ weights["w"] + weights["b"])**power, "n": zyx.sum(zyx.astype(x > 0, zyx.int64))}

    weights = {"w": zyx.asarray(B), "b": zyx.ones(3)}
    zyx.compile_to(layer, (weights, A, 2), tmp_path / "layer.zyxa")
    program = zyx.load_program(tmp_path / "layer.zyxa")
    assert program.name == "layer" and program.device == "cpu"
    assert program.inputs == {"weights_b": ((3,), zyx.float32), "weights_w": ((7, 3), zyx.float32), "x": ((5, 7), zyx.float32)}
    assert list(program.outputs.values()) == [((), zyx.int64), ((5, 3), zyx.float32)]
    for scale in (1, -2):
        n, y = program(weights["b"], weights["w"], x=zyx.asarray(scale * A))
        np.testing.assert_allclose(np.asarray(y), (scale * A @ B + 1)**2, rtol=1e-5)
        assert n.item() == (scale * A > 0).sum()
    # A result is an array as any other, and goes on where it is.
    assert y.device == "cpu" and (y + 1).shape == (5, 3)


def test_load_program_on_a_named_device(tmp_path):
    """ "cpu:0" is "cpu", as everywhere: the arrays' device has the same name."""
    zyx.compile_to(lambda x: x + 1, (zyx.zeros(3),), tmp_path / "f.zyxa")
    program = zyx.load_program(tmp_path / "f.zyxa", device="cpu:0")
    assert program.device == "cpu" and program(zyx.zeros(3)).tolist() == [1.0, 1.0, 1.0]


@cards.needs_card
def test_load_program_on_a_named_card(tmp_path):
    program = """
import sys, zyx
with zyx.device_scope("cuda:0"):
    x = zyx.asarray([1.0, 2.0, 3.0])
zyx.compile_to(lambda x: x * 2, (x,), sys.argv[1])
for name in (None, "cuda", "cuda:0"):
    loaded = zyx.load_program(sys.argv[1], device=name)
    assert loaded.device == "cuda" == x.device, loaded.device
    assert loaded(x).tolist() == [2.0, 4.0, 6.0] and loaded(x).device == "cuda"
"""
    cards.run(program, tmp_path / "f.zyxa")


def test_loaded_program_needs_no_compiler(tmp_path):
    zyx.compile_to(lambda x: zyx.sort(x), (zyx.zeros(1000),), tmp_path / "sort.zyxa")
    program = """
import sys, zyx
x = zyx.asarray([float(i * 7919 % 1000) for i in range(1000)])
program = zyx.load_program(sys.argv[1])
assert program(x).tolist() == [float(i) for i in range(1000)]
assert "libZyxCompiler" not in open("/proc/self/maps").read()
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "sort.zyxa")], check=True,
                   env={**os.environ, "ZYX_COMPILER": "/nonexistent"})


def test_loaded_programs_in_threads_and_children(tmp_path):
    """Calls of several threads take turns; a child that was forked is refused, and does not wait."""
    zyx.compile_to(lambda x: zyx.cumulative_sum(x * 2), (zyx.zeros(1000),), tmp_path / "sum.zyxa")
    program, wrong = zyx.load_program(tmp_path / "sum.zyxa"), []

    def call(number):
        for _ in range(20):
            if np.asarray(program(zyx.full((1000,), float(number))))[-1] != 2000 * number:
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    given = zyx.full((1000,), 1.0)
    child = os.fork()
    if child == 0:
        try:
            program(given)
        except zyx.Error as error:
            os._exit(7 if "fork" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_load_program_refuses(tmp_path):
    path = tmp_path / "f.zyxa"
    zyx.compile_to(lambda x, y: x + y, (A, A), path)
    program, x = zyx.load_program(path), zyx.asarray(A)
    for call, kind, told in (
            (lambda: program(x), TypeError, "input 'y' is missing"),
            (lambda: program(x, x, x), TypeError, "has 2 inputs, and is given 3"),
            (lambda: program(x, x=x), TypeError, "'x' is given twice"),
            (lambda: program(x, z=x), TypeError, "'z' is none of x, y"),
            (lambda: program(x, A), TypeError, "'y' is no zyx.Array, but ndarray"),
            (lambda: program(x, x[:2]), TypeError, "has the shape (2, 7)"),
            (lambda: program(x, zyx.astype(x, zyx.int32)), TypeError, "dtype zyx.int32"),
            (lambda: program(x, x.to_device("reference")), zyx.InvalidArgumentError, "argument 1 lies on device 'reference'"),
            (lambda: zyx.load_program(path, device="reference"), zyx.UnsupportedError, "compiled for device 'cpu', not 'reference'"),
            (lambda: zyx.load_program(tmp_path / "none.zyxa"), zyx.Error, "none.zyxa")):
        with pytest.raises(kind, match=re.escape(told)) as caught:
            call()
        if issubclass(kind, zyx.Error):
            assert str(caught.value).startswith(__file__)
    data = path.read_bytes()
    for name, bad in (("cut", data[:100]), ("changed", data[:200] + bytes([data[200] ^ 1]) + data[201:]), ("empty", b"")):
        (tmp_path / f"{name}.zyxa").write_bytes(bad)
        with pytest.raises(zyx.Error, match=f"{name}.zyxa"):
            zyx.load_program(tmp_path / f"{name}.zyxa")
    # For a card that is not there.
    zyx.compile_to(lambda x: x + 1, (A,), tmp_path / "card.zyxa", target="sm_90a")
    with pytest.raises(zyx.Error):
        zyx.load_program(tmp_path / "card.zyxa", device="cuda:77")
