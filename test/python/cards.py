"""A simulated card (docs/simulator.md), for processes of their own: the driver is chosen when the first device is opened."""
import os
import pathlib
import subprocess
import sys

import pytest
import zyx

TOOLS = pathlib.Path(os.environ.get("TOOLS_OF_BUILD", pathlib.Path(zyx.__file__).parents[2] / "bin"))
DRIVER = TOOLS.parent / "test" / "fake-cuda" / "libZyxFakeCuda.so"
# ctest names a build, which has it.
needs_card = pytest.mark.skipif("TOOLS_OF_BUILD" not in os.environ and not DRIVER.exists(),
                                reason=f"there is no {DRIVER}")


def run(program, *arguments):
    """A program in a process in which "cuda" is that card."""
    environment = {**os.environ, "ZYX_CUDA_DRIVER": str(DRIVER), "ZYX_PTXAS": "", "FAKE_CUDA_CAPABILITY": "90"}
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
