# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of ONNX as programs of zyx. docs/onnx.md has the list of ops, and says what is refused."""
from .. import _zyx
from . import _control, _elementwise, _file, _movement, _network, _other, _quantized, _sampling, _texts
from ._export import program_text
from ._file import ModelError
from ._model import NEWEST, OPS, Model, TensorInfo

__all__ = ["Model", "ModelError", "TensorInfo", "load", "ops", "program_text"]


def load(source, *, device=None):
    """The model of a file, or of bytes.

    `source` is a path or an object with the buffer protocol. Weights are put on `device`, by default that of new arrays.
    Raises ModelError for a file that is cut or no model, and UnsupportedError where a node is of an op that zyx.onnx has
    not. Data outside of the folder of the file is not read. Nothing in a file is run as code.

        >>> from onnx import TensorProto, helper
        >>> x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
        >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
        >>> model = zyx.onnx.load(helper.make_model(graph).SerializeToString())
        >>> model(zyx.asarray([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    with _zyx.device_scope(device or _zyx.default_device()):
        return Model(*_file.read(source), device or _zyx.default_device())


def ops():
    """The ops that are there, as pairs of a domain ("" is ONNX itself) and a name.

        >>> ("", "Relu") in zyx.onnx.ops()
        True
    """
    return sorted(OPS)
