# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that leave the process: artifacts, C sources and text."""
import inspect
import os
import pathlib
import re

from . import _transforms, _zyx

class Program:
    """A program of a file, that `zyx.load_program` read. It runs without the compiler.

    `inputs` and `outputs` are names with shapes and dtypes, `device` is where it runs, and `name` what the function was
    called. A call takes the arrays of the inputs, in their order or by name, on the program's device, and returns the
    output, or a tuple where there are several. One call runs at a time; others wait.
    """

    def __init__(self, path, device):
        self._program = _zyx._Program(os.fspath(path), device)
        self.name, self.device = self._program.name, self._program.device
        self.inputs = {name: (shape, dtype) for name, shape, dtype in self._program.inputs}
        self.outputs = {name: (shape, dtype) for name, shape, dtype in self._program.outputs}

    def __call__(self, /, *arrays, **named):
        if len(arrays) > len(self.inputs):
            raise TypeError(f"{self.name}: has {len(self.inputs)} inputs, and is given {len(arrays)}")
        given = dict(zip(self.inputs, arrays))
        for name, array in named.items():
            if name not in self.inputs or name in given:
                raise TypeError(f"{self.name}: input '{name}' is {'given twice' if name in given else 'none of ' + ', '.join(self.inputs)}")
            given[name] = array
        ordered = []
        for name, (shape, dtype) in self.inputs.items():
            if name not in given:
                raise TypeError(f"{self.name}: input '{name}' is missing")
            array = given[name]
            if not isinstance(array, _zyx.Array):
                raise TypeError(f"{self.name}: input '{name}' is no zyx.Array, but {type(array).__name__}")
            if array.shape != shape or array.dtype is not dtype:
                raise TypeError(f"{self.name}: input '{name}' has the shape {array.shape} and the dtype {array.dtype}, and must "
                                f"have {shape} and {dtype}")
            ordered.append(array)
        results = self._program(ordered)
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self):
        return f"<zyx program {self.name}({', '.join(self.inputs)}) on {self.device}>"


def load_program(path, /, *, device=None):
    """Reads an artifact (.zyxa), which `zyx.compile_to` or `zyx-compile` wrote, for calls.

    `device` is one of the kind that it was compiled for, as "cuda:1", and that kind's first by default. Raises `zyx.Error`
    where the file is no artifact or of another version, and where this machine lacks what its code needs.

        >>> import tempfile
        >>> def twice(x):
        ...     return x + x
        >>> with zyx.device_scope("cpu"), tempfile.TemporaryDirectory() as folder:
        ...     zyx.compile_to(twice, (zyx.zeros(3),), folder + "/twice.zyxa")
        ...     program = zyx.load_program(folder + "/twice.zyxa")
        ...     program, program.inputs, program(zyx.asarray([1.0, 2.0, 4.0])).tolist()
        (<zyx program twice(x) on cpu>, {'x': ((3,), zyx.float32)}, [2.0, 4.0, 8.0])
    """
    return Program(path, device or "")


_FORMS = {".zyxa": "artifact", ".c": "c", ".mlir": "text"}


def export(function, arrays, form, *, entry="main", inputs=(), outputs=(), target="", isa="native"):
    """The bytes of a program of a list of arrays; and of a text the values of inputs behind the arguments, by name."""
    return _zyx._export_program(function, arrays, form, entry, list(inputs), list(outputs), target, isa)


def write(path, data):
    """Whole or not at all, for whoever reads the file meanwhile."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _entry_of(function, form):
    """Its name, with a line behind it where C or its library has that one."""
    name = re.sub(r"\W", "_", getattr(function, "__name__", "") or "", flags=re.ASCII).strip("_")
    if not re.match(r"[a-zA-Z]", name) or name in ("lambda", "main"):
        return "main"
    return name if form != "c" or _zyx._is_name_of_c_function(name) else f"{name}_"


def _paths(structure, name):
    """Of each array in a tree, the name of its argument and the keys that lead to it."""
    if structure is _transforms.LEAF:
        return [name]
    kind, keys, parts = structure
    if kind is _transforms._Static:
        return []
    keys = keys if kind is dict else getattr(kind, "_fields", range(len(parts)))
    return [path for key, part in zip(keys, parts) for path in _paths(part, f"{name}_{key}")]


def _names(function, count):
    """Those of the positional parameters, as far as they have some."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in kinds][:count]
    return names + [f"in{number}" for number in range(len(names), count)]


def _unique(names):
    made = []
    for name in names:
        while name in made:
            name += "_"
        made.append(name)
    return made


def compile_to(function, arguments, path, /, *, target=None, isa="native", entry=None):
    """Compiles a function for arguments of these types and writes the program to a file.

    The end of the path says what is written: ".zyxa" an artifact, which the runtime loads without the compiler, and
    zyx-run runs; ".c" one C11 source that needs libc and libm alone; ".mlir" text for zyx-compile, where values of more than
    4,096 bytes are inputs, which are written beside it as .safetensors. `arguments` is a tuple
    of trees, as of a call; of arrays only shapes, dtypes and devices count. Other things are a part of the program, as in
    zyx.jit, and so are the values of parameters and of arrays that the function reads from elsewhere. An artifact is for
    the device of the arguments, or for `target` ("x86-64-v3" of a processor goes by `isa`). The program's function has
    the name of `function`, or `entry`. A function that sets a parameter or draws from a Generator is refused.

        >>> import tempfile
        >>> def twice(x):
        ...     return x + x
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     zyx.compile_to(twice, (zyx.zeros(3),), folder + "/twice.c")
        ...     "int twice(const float *x, float *out0)" in open(folder + "/twice.c").read()
        True
    """
    path = pathlib.Path(os.fspath(path))
    form = _FORMS.get(path.suffix)
    if form is None:
        raise ValueError(f"compile_to: '{path}' ends in none of {', '.join(_FORMS)}")
    if not isinstance(arguments, tuple):
        raise TypeError(f"compile_to: arguments are a tuple, not {type(arguments).__name__}")
    if form != "artifact" and (target or isa != "native"):
        raise ValueError(f"compile_to: a target is of an artifact, and {path.suffix} is for none")
    leaves, structures, names = [], [], []
    for name, argument in zip(_names(function, len(arguments)), arguments):
        own, structure = _transforms.tree_flatten(argument)
        leaves += own
        structures.append(structure)
        names += _paths(structure, name)

    def flat(arrays):
        rest = iter(arrays)
        return _transforms.tree_flatten(function(*[_transforms._unflatten(structure, rest) for structure in structures]))[0]

    data, values = export(flat, leaves, form, entry=entry or _entry_of(function, form), inputs=_unique(names), target=target or "", isa=isa)
    # The text last: who sees it has the values.
    if values:
        _zyx.save(str(path.with_suffix(".safetensors")), values)
    write(path, data)
