"""A program for ONNX Runtime: its PyTorch module, exported by torch.onnx. Names are input0, input1, ... and output0, ...

What the exporter or ONNX Runtime does not take raises, and so does what computes something else; the record says it.
"""
import contextlib, importlib.metadata, io, logging, warnings


class Refused(Exception):
    pass


def version():
    """Of ONNX Runtime, or None where there is none."""
    try:
        return importlib.metadata.version("onnxruntime")
    except importlib.metadata.PackageNotFoundError:
        return None


def split(program):
    """Positions of the inputs that are given anew for each run, and of the weights."""
    given = [i for i, each in enumerate(program["inputs"]) if not each["weight"]]
    weights = [i for i, each in enumerate(program["inputs"]) if each["weight"]]
    return given, weights


def module_of(torch, program, forward, values):
    """Weights are the module's, so that ONNX Runtime may lay them out when it loads them, as zyx does."""
    given, weights = split(program)

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for i in weights:
                self.register_buffer(f"weight{i}", values[i])

        def forward(self, *inputs):
            arguments = dict(zip(given, inputs)) | {i: getattr(self, f"weight{i}") for i in weights}
            return tuple(forward(*(arguments[i] for i in range(len(arguments)))))
    return Module().eval(), [values[i] for i in given], [f"input{i}" for i in given]


@contextlib.contextmanager
def silent():
    """Exporters talk; what they mean to say is in the exception."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def export(torch, program, forward, values):
    """The model's bytes."""
    if program["gradients"]:
        raise Refused("torch.onnx exports no gradients")
    module, given, names = module_of(torch, program, forward, values)
    with silent(), torch.no_grad():
        exported = torch.onnx.export(module, tuple(given), None, dynamo=True, verbose=False, input_names=names,
                                     output_names=[f"output{i}" for i in range(len(program["outputs"]))])
    return exported.model_proto.SerializeToString()


class Session:
    """Runs on PyTorch's memory."""

    def __init__(self, torch, program, model, values, threads, dtypes):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4
        # While others have their turn, its threads are not to take their processors.
        options.add_session_config_entry("session.intra_op.allow_spinning", "1")
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.binding, self.values = self.session.io_binding(), values
        self.outputs = [torch.empty(each["shape"], dtype=dtypes[each["dtype"]]) for each in program["outputs"]]
        # What a program does not use is no input of the model.
        for each in self.session.get_inputs():
            self.bind(self.binding.bind_input, each, values[int(each.name.removeprefix("input"))])
        for each, output in zip(self.session.get_outputs(), self.outputs):
            self.bind(self.binding.bind_output, each, output)

    @staticmethod
    def bind(binder, described, tensor):
        if described.type != TYPES.get(str(tensor.dtype).removeprefix("torch."), ("", 0))[0]:
            raise Refused(f"{described.name} is a {described.type} there, and a {tensor.dtype} here")
        binder(described.name, "cpu", 0, TYPES[str(tensor.dtype).removeprefix("torch.")][1], list(tensor.shape),
               tensor.data_ptr())

    def __call__(self):
        self.session.run_with_iobinding(self.binding)
        return self.outputs


# By PyTorch's names: what ONNX Runtime calls a tensor of it, and ONNX's number of the type.
TYPES = {"float32": ("tensor(float)", 1), "uint8": ("tensor(uint8)", 2), "int8": ("tensor(int8)", 3),
         "int32": ("tensor(int32)", 6), "int64": ("tensor(int64)", 7), "bool": ("tensor(bool)", 9),
         "float16": ("tensor(float16)", 10), "float64": ("tensor(double)", 11), "bfloat16": ("tensor(bfloat16)", 16)}


def function_of(torch, program, forward, values, dtypes):
    values = [value.contiguous() for value in values]
    return Session(torch, program, export(torch, program, forward, values), values, torch.get_num_threads(), dtypes)
