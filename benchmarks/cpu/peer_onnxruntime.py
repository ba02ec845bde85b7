"""ONNX Runtime, by models of one or a few ops."""
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

from worker import Unsupported, Worker

THREADS = int(sys.argv[1])
TYPES = {numpy.dtype("float32"): TensorProto.FLOAT, numpy.dtype("int8"): TensorProto.INT8}


def node(kind, inputs, output="y", **attributes):
    return helper.make_node(kind, inputs, [output], **attributes)


def initializer(name, array):
    return helper.make_tensor(name, TYPES[array.dtype], array.shape, array.tobytes(), raw=True)


def model(kind, shape, inputs):
    """Nodes, and the arrays that are weights, by name."""
    if kind == "gemm":
        if shape["dtype"] == "i8":
            return [node("MatMulInteger", ["x0", "x1"])], {}
        if shape["dtype"] == "bf16":
            raise Unsupported("bf16")
        if shape["ta"] or shape["tb"]:
            return [node("Gemm", ["x0", "x1"], transA=int(shape["ta"]), transB=int(shape["tb"]))], {}
        return [node("MatMul", ["x0", "x1"])], {}
    if kind == "conv":
        # NCHW is the only layout of the operator.
        return [node("Conv", ["x0", "w"], pads=[shape["pad"]] * 4, strides=[shape["stride"]] * 2,
                     group=shape["groups"])], {"w": inputs[1].transpose(3, 2, 0, 1).copy()}
    if kind == "softmax":
        return [node("Softmax", ["x0"], axis=-1)], {}
    if kind == "layer-norm":
        return [node("LayerNormalization", ["x0", "scale", "shift"], epsilon=1e-5)], \
            {"scale": inputs[1], "shift": inputs[2]}
    if kind == "rms-norm":
        return [node("RMSNormalization", ["x0", "scale"], epsilon=1e-5)], {"scale": inputs[1]}
    if kind == "gelu":
        return [node("Gelu", ["x0"])], {}
    if kind == "attention":
        return [node("Attention", ["x0", "x1", "x2"])], {}
    raise Unsupported(kind)


def prepare(kind, variant, arguments, inputs):
    nodes, weights = model(kind, arguments, inputs)
    if kind == "conv":
        inputs = [inputs[0].transpose(0, 3, 1, 2).copy()]
    elif kind == "attention":
        inputs = [x[None] for x in inputs]
    fed = inputs[:len(inputs) - len(weights)] if kind != "conv" else inputs
    graph = helper.make_graph(
        nodes, "main",
        [helper.make_tensor_value_info(f"x{i}", TYPES[x.dtype], x.shape) for i, x in enumerate(fed)],
        [helper.make_tensor_value_info(
            "y", TensorProto.INT32 if arguments.get("dtype") == "i8" else TensorProto.FLOAT, None)],
        [initializer(name, array) for name, array in weights.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    made.ir_version = min(made.ir_version, 11)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(x) for x in fed]
    for i, value in enumerate(values):
        binding.bind_ortvalue_input(f"x{i}", value)
    first = session.run(None, {f"x{i}": x for i, x in enumerate(fed)})[0]
    result = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros_like(first))
    binding.bind_ortvalue_output("y", result)

    def call(keep=values):
        session.run_with_iobinding(binding)

    def to_array(_):
        y = result.numpy()
        return y.transpose(0, 2, 3, 1) if kind == "conv" else y
    return call, to_array


Worker(onnxruntime.__version__, prepare).serve()
