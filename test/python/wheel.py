#!/usr/bin/env python3
"""The wheel that utils/wheel.py packs from a build folder installs into an empty environment without a compiler, and runs there.

  test/python/wheel.py build/release [--wheel=FILE] [--python=PROGRAM] [--keep=FOLDER]

Tests FILE in place of a wheel that it packs, with another Python. With --keep the environment is left in FOLDER, where it also sees the packages of the
Python that runs this, so that the other tests of the package run there.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import time
began = time.process_time()
import zyx
spent = time.process_time() - began

def opened():
    return sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line})

assert "site-packages" in zyx.__file__, zyx.__file__
assert not any("Compiler" in path or "LLVM" in path for path in opened()), opened()
x = zyx.asarray([1.0, 2.0])
assert (x * x + 1).tolist() == [2.0, 5.0]
assert zyx.grad(lambda x: zyx.sum(x ** 3))(x).tolist() == [3.0, 12.0]
compilers = [path for path in opened() if "Compiler" in path]
assert len(compilers) == 1 and "site-packages" in compilers[0], compilers
assert not any("LLVM" in path or "MLIR" in path for path in opened()), opened()
print(zyx.__version__, spent)
"""

# Another LLVM, whose symbols all libraries behind it see, compiles to the same bytes before, between and behind
# compilations of zyx, which give the numbers that they give alone. Its options, targets and type ids are its own.
NEIGHBOUR = """
import ctypes, sys
import zyx

class Neighbour:
    def __init__(self, path):
        self.llvm = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        for name in "LLVMContextCreate", "LLVMCreateTargetMachine", "LLVMGetDefaultTargetTriple", \\
                "LLVMCreateMemoryBufferWithMemoryRangeCopy", "LLVMGetBufferStart":
            getattr(self.llvm, name).restype = ctypes.c_void_p
        self.llvm.LLVMGetBufferSize.restype = ctypes.c_size_t
        for part in "TargetInfo", "Target", "TargetMC", "AsmPrinter":
            getattr(self.llvm, "LLVMInitializeX86" + part)()

    def compile(self):
        llvm, text = self.llvm, b"define float @f(float %x) {\\n  %y = fmul float %x, %x\\n  ret float %y\\n}\\n"
        context, module = ctypes.c_void_p(llvm.LLVMContextCreate()), ctypes.c_void_p()
        buffer = ctypes.c_void_p(llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(text, ctypes.c_size_t(len(text)), b"f"))
        message, target, code = ctypes.c_char_p(), ctypes.c_void_p(), ctypes.c_void_p()
        assert llvm.LLVMParseIRInContext(context, buffer, ctypes.byref(module), ctypes.byref(message)) == 0, message.value
        triple = ctypes.c_char_p(llvm.LLVMGetDefaultTargetTriple())
        assert llvm.LLVMGetTargetFromTriple(triple, ctypes.byref(target), ctypes.byref(message)) == 0, message.value
        machine = ctypes.c_void_p(llvm.LLVMCreateTargetMachine(target, triple, b"", b"", 2, 2, 0))
        assert llvm.LLVMTargetMachineEmitToMemoryBuffer(machine, module, 1, ctypes.byref(message), ctypes.byref(code)) == 0
        made = ctypes.string_at(llvm.LLVMGetBufferStart(code), llvm.LLVMGetBufferSize(code))
        llvm.LLVMDisposeModule(module)
        llvm.LLVMContextDispose(context)
        return made

def numbers(seed):
    x = zyx.reshape(zyx.arange(12.0), (3, 4)) + seed
    return zyx.sum(zyx.softmax(zyx.sin(x) @ x.mT), axis=0).tolist()

first = sys.argv[2] == "first"
neighbour = Neighbour(sys.argv[1]) if first else None
before = neighbour.compile() if first else None
made = [numbers(0)]
neighbour = neighbour or Neighbour(sys.argv[1])
between = neighbour.compile()
made.append(numbers(1))
if "libvulkan.so.1" in sys.argv[3:]:
    # Its driver of the processor, lavapipe, compiles in this process, too.
    with zyx.device_scope("vulkan"):
        made.append(numbers(0))
    made.append(numbers(2))
assert between == neighbour.compile() and before in (None, between) and between[:4] == b"\\x7fELF"
with zyx.device_scope("reference"):
    right = [numbers(0), numbers(1), numbers(0), numbers(2)]
assert all(abs(a - b) < 1e-5 for row, wanted in zip(made, right) for a, b in zip(row, wanted)), (made, right)
"""


def neighbours():
    """The LLVMs of the machine: lavapipe's, and the one whose archives are in the wheel."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    paths = {line.split()[-1] for line in listed.splitlines() if line.strip().startswith("libLLVM")}
    loader = ["libvulkan.so.1"] if "libvulkan.so.1" in listed and list(pathlib.Path("/usr/share/vulkan/icd.d").glob("lvp*")) else []
    return sorted({os.path.realpath(path) for path in paths}), loader


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--wheel", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if not options.wheel:
            subprocess.run(["cmake", "--build", options.build, "--target", "_zyx", "ZyxCompilerStatic"], check=True,
                           stdout=subprocess.DEVNULL)
        packed = options.wheel or pathlib.Path(subprocess.run(
            [sys.executable, "-B", ROOT / "utils" / "wheel.py", options.build, f"--out={folder}"], check=True, stdout=subprocess.PIPE,
            text=True).stdout.strip())
        place = options.keep or folder / "empty"
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([options.python, "-m", "venv", place], check=True)
        python = place / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", packed],
                       check=True)
        # Nothing of the build folder or of the user's, and no program that compiles.
        environment = {"PATH": "/nonexistent", "HOME": str(folder), "ZYX_CACHE_DIR": "off", "ZYX_DEVICE": "cpu",
                       "LANG": os.environ.get("LANG", "C")}

        def run(*command):
            return subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

        version, spent = run(python, "-c", PROGRAM).split()
        # The least of several, as other work may be on the machine.
        spent = min(float(run(python, "-c", PROGRAM).split()[1]) for _ in range(5))
        assert spent < 0.060, f"import zyx takes {spent:.3f} s"
        # The program of the package, in a folder for programs.
        asked = run(place / "bin" / "zyx-import", "--help")
        assert "zyx-import" in asked and "--weights" in asked, asked
        others, loader = neighbours()
        assert others, "no LLVM to put beside: mesa-vulkan-drivers of utils/install.sh has one"
        for path in others:
            for order in "first", "second":
                run(python, "-c", NEIGHBOUR, path, order, *loader)
        print(f"{packed.name}: {packed.stat().st_size / 2**20:.1f} MiB, version {version}, import in {spent * 1e3:.0f} ms, "
              f"beside {', '.join(pathlib.Path(path).name for path in others)}")
        if options.keep:
            packages = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                                      capture_output=True, text=True).stdout.strip()
            (pathlib.Path(packages) / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")


if __name__ == "__main__":
    main()
