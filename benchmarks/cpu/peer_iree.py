"""IREE, from the StableHLO that JAX writes."""
import sys

import iree.compiler
import iree.compiler.version
import iree.runtime
import jax
import jax.numpy as jnp
import numpy

from jax_functions import find
from worker import Unsupported, Worker

jax.config.update("jax_platforms", "cpu")
DEVICE = iree.runtime.get_device("local-sync" if sys.argv[1] == "1" else "local-task")


def prepare(kind, variant, arguments, inputs):
    # Its Python bindings have no arrays of bf16.
    if arguments.get("dtype") == "bf16":
        raise Unsupported("bf16")
    text = jax.jit(find(kind, arguments)).lower(*inputs).as_text()
    binary = iree.compiler.compile_str(
        text, input_type="stablehlo", target_backends=["llvm-cpu"],
        extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
    config = iree.runtime.Config(device=DEVICE)
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, binary))
    function = context.modules[list(context.modules.keys())[-1]]["main"]
    values = [iree.runtime.asdevicearray(DEVICE, x) for x in inputs]
    return lambda: function(*values), lambda y: y.to_host()


Worker(iree.compiler.version.VERSION, prepare).serve()
