"""The backend suite of the package onnx, through zyx.onnx or ONNX Runtime.

A case is right where each output has the dtype and the shape of the suite, and elements within its tolerance.
"""
import contextlib
import glob
import io
import os
import pathlib
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader


def cases():
    """(category, name, model as bytes or a path, sets of inputs and outputs as a function, rtol, atol)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        found = loader.load_model_tests(kind="node")
        for kind in ("simple", "pytorch-converted", "pytorch-operator", "real"):
            found += loader.load_model_tests(kind=kind)
    names = {}
    for case in found:
        category = {"pytorch-converted": "pytorch", "pytorch-operator": "pytorch", "real": "light models"}.get(
            case.kind, case.kind)
        # Two folders have cases of one name.
        names[case.name] = names.get(case.name, 0) + 1
        name = case.name if names[case.name] == 1 else f"{case.name}#{names[case.name]}"
        if case.kind == "node":
            yield category, name, case.model.SerializeToString(), lambda case=case: _sets(case), case.rtol, case.atol
        elif case.url and "/light/" in case.url:
            path = pathlib.Path(onnx.__file__).parent / case.url.removeprefix("onnx/")
            yield category, name, str(path), lambda path=path: _light(path), case.rtol, case.atol
        else:
            path = os.path.join(case.model_dir, "model.onnx")
            yield category, name, path, lambda path=path: _stored(path), case.rtol, case.atol


def _plain(value):
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value


def _sets(case):
    return [([_plain(each) for each in inputs], [_plain(each) for each in outputs]) for inputs, outputs in case.data_sets]


def _light(path):
    """The models with one number per weight, of the input that the suite makes for them."""
    model = onnx.load(path)
    weights = {each.name for each in model.graph.initializer}
    inputs = []
    for info in model.graph.input:
        if info.name not in weights:
            shape = [dim.dim_value or 1 for dim in info.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    stem = str(path).removesuffix(".onnx")
    return [(inputs, [_tensor(f"{stem}_output_{i}.pb") for i in range(len(model.graph.output))])]


def _tensor(path):
    return numpy_helper.to_array(onnx.load_tensor(path))


def _stored(path):
    model = onnx.load(path)
    sets = []
    for folder in sorted(glob.glob(os.path.join(os.path.dirname(path), "test_data_set_*"))):
        sides = []
        for what, infos in (("input", model.graph.input), ("output", model.graph.output)):
            side = []
            for i in range(len(glob.glob(os.path.join(folder, f"{what}_*.pb")))):
                data = pathlib.Path(folder, f"{what}_{i}.pb").read_bytes()
                kind = infos[i].type.WhichOneof("value")
                if kind == "sequence_type":
                    side.append(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
                elif kind == "optional_type":
                    side.append(numpy_helper.to_optional(onnx.OptionalProto.FromString(data)))
                else:
                    side.append(numpy_helper.to_array(onnx.TensorProto.FromString(data)))
            sides.append(side)
        sets.append(tuple(sides))
    return sets


def differs(found, expected, rtol, atol):
    """What differs between two outputs, or None."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(expected):
            return f"is no sequence of {len(expected)}"
        return next(filter(None, (differs(a, b, rtol, atol) for a, b in zip(found, expected))), None)
    if expected is None or found is None:
        return None if expected is found else f"is {type(found).__name__}, not {type(expected).__name__}"
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype:
        return f"has dtype {found.dtype}, not {expected.dtype}"
    if found.shape != expected.shape:
        return f"has shape {found.shape}, not {expected.shape}"
    if expected.dtype.kind in "OUST":
        return None if (found == expected).all() else "has other texts"
    wide = np.float64 if expected.dtype.kind not in "iub" else expected.dtype
    if expected.dtype.name == "bfloat16":
        # Two neighbours, as the suite's runner has it.
        rtol = max(rtol, 2**-6)
    try:
        np.testing.assert_allclose(found.astype(wide), expected.astype(wide), rtol=rtol, atol=atol)
    except AssertionError as error:
        return " ".join(str(error).split())
    return None


# Cases whose expected numbers are rounded worse than those of zyx, and what both differ by: the suite expects the noise of
# a transform in 32 bits where the answer is 0, and products whose factors were rounded to f16 before.
ROUNDED = {
    "test_dft_inverse": (1e-3, 1e-6),
    "test_dft_inverse_opset19": (1e-3, 1e-6),
    "test_attention_4d_causal_fp16": (2**-9, 0),
    "test_attention_4d_causal_fp16_expanded": (2**-9, 0),
}


def run(case, runtime):
    """What came of it, why, and the model where it is one of zyx. That is "right", "wrong", "refused", or "rounded": beyond
    the tolerance of the suite, and within that of ROUNDED."""
    _, name, model, sets, rtol, atol = case
    rounded = ""
    try:
        outputs_of, loaded = runtime(model)
        for inputs, expected in sets():
            outputs = outputs_of(inputs)
            if len(outputs) != len(expected):
                return "wrong", f"{len(outputs)} outputs, not {len(expected)}", loaded
            for i, (found, right) in enumerate(zip(outputs, expected)):
                text = differs(found, right, rtol, atol)
                if text is not None and name in ROUNDED and differs(found, right, *ROUNDED[name]) is None:
                    rounded = f"output {i} {text}"
                elif text is not None:
                    return "wrong", f"output {i} {text}", loaded
        return ("rounded" if rounded else "right"), rounded, loaded
    except Exception as error:
        return "refused", f"{type(error).__name__}: {error}", None


def zyx_runtime(model):
    import zyx
    loaded = zyx.onnx.load(model)

    def outputs_of(inputs):
        return list(loaded.run(dict(zip([info.name for info in loaded.inputs], inputs))).values())

    return outputs_of, loaded


def onnxruntime_runtime(model):
    """Its Python passes neither bfloat16 nor smaller floats and integers, which NumPy has not: such inputs are put into the
    model as constants, and such outputs are cast to float32, which holds them, and back."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    proto = onnx.load(model) if isinstance(model, str) else onnx.ModelProto.FromString(model)

    def is_foreign(info):
        code = info.type.tensor_type.elem_type
        return info.type.HasField("tensor_type") and code >= onnx.TensorProto.BFLOAT16

    def outputs_of(inputs):
        own = onnx.ModelProto()
        own.CopyFrom(proto)
        weights = {each.name for each in own.graph.initializer}
        infos = [info for info in own.graph.input if info.name not in weights]
        feeds, dtypes = {}, {}
        for info, array in zip(infos, inputs):
            if is_foreign(info) and array is not None:
                own.graph.initializer.append(numpy_helper.from_array(np.asarray(array), info.name))
                own.graph.input.remove(info)
            else:
                feeds[info.name] = np.asarray(array) if isinstance(array, np.generic) else array
        for info in own.graph.output:
            if is_foreign(info):
                dtypes[info.name] = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
                own.graph.node.append(onnx.helper.make_node("Cast", [info.name], [info.name + "_wide"], to=1))
                info.name += "_wide"
                info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        session = onnxruntime.InferenceSession(own.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found = session.run(None, feeds)
        return [array.astype(dtypes[info.name[:-5]]) if info.name[:-5] in dtypes else array
                for info, array in zip(own.graph.output, found)]

    return outputs_of, None
