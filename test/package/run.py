"""Installs a build into a folder, then configures, builds and runs a project outside of it."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--cmake", required=True)
parser.add_argument("--compiler", required=True, help="of C")
parser.add_argument("--cxx-compiler", required=True)
parser.add_argument("--generator", required=True)
parser.add_argument("--conformance", type=pathlib.Path, help="zyx-conformance, which runs on the plug-in")
parser.add_argument("build", type=pathlib.Path)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)

    def run(*command):
        done = subprocess.run(command, timeout=120, text=True, stdout=subprocess.PIPE)
        assert done.returncode == 0, f"{command}: {done.stdout}"
        return done.stdout

    run(options.cmake, "--install", options.build, "--prefix", folder / "first")
    # Where it was installed must not matter.
    (folder / "first").rename(folder / "moved")
    shutil.copytree(pathlib.Path(__file__).parent, folder / "source")
    # The program that the README shows.
    readme = (pathlib.Path(__file__).parents[2] / "README.md").read_text()
    (folder / "source" / "readme.cpp").write_text(readme.split("```cpp\n")[1].split("```")[0])
    # Every header of these rooms that is installed.
    rooms = ("Artifact", "Runtime", "Session")
    include = folder / "moved" / "include"
    headers = [path.relative_to(include) for room in rooms for path in sorted((include / "zyx" / room).glob("*.h"))]
    assert {path.parent.name for path in headers} == set(rooms), headers
    (folder / "source" / "headers.cpp").write_text("".join(f"#include <{path}>\n" for path in headers))
    run(options.cmake, "-S", folder / "source", "-B", folder / "build", "-G", options.generator,
        f"-DCMAKE_C_COMPILER={options.compiler}", f"-DCMAKE_CXX_COMPILER={options.cxx_compiler}",
        f"-DCMAKE_PREFIX_PATH={folder / 'moved'}")
    run(options.cmake, "--build", folder / "build")
    output = run(folder / "build" / "outside")
    assert output == "2 4 6 8\n", output
    version = re.search(r'ZYX_VERSION_STRING "(.*)"', (include / "zyx" / "Version.h").read_text()).group(1)
    output = run(folder / "build" / "rooms")
    assert output == f"{version}: 2 4 6 8\n", output
    # One of C++ opens the compiler where the package lies, or says that it did not find it.
    output = run(folder / "build" / "tensors", folder / "line.safetensors")
    assert output == "1.00 0.00 3.00 2.00\n", output
    shown = re.findall(r"-?\d+\.\d*", run(folder / "build" / "readme"))
    learned = [float(number) for number in shown]
    assert len(learned) == 3 and all(abs(a - b) < 0.01 for a, b in zip(learned, (2, -1, 1))), shown
    compiler = folder / "moved/lib/libZyxCompiler.so"
    compiler.rename(folder / "elsewhere.so")
    lost = subprocess.run([folder / "build" / "tensors", folder / "line.safetensors"], timeout=120, text=True,
                          stderr=subprocess.PIPE)
    assert lost.returncode != 0 and "the compiler cannot be opened" in lost.stderr and str(compiler) in lost.stderr, lost
    (folder / "elsewhere.so").rename(compiler)
    # A plug-in, which knows the installed header and nothing else.
    plugin = folder / "plugin"
    shutil.copytree(pathlib.Path(__file__).parents[2] / "examples" / "plugin", folder / "plugin-source")
    run(options.cmake, "-S", folder / "plugin-source", "-B", plugin, "-G", options.generator,
        f"-DCMAKE_C_COMPILER={options.compiler}", f"-DCMAKE_PREFIX_PATH={folder / 'moved'}")
    run(options.cmake, "--build", plugin)
    environment = dict(os.environ, ZYX_BACKENDS=str(plugin / "libcounting.so"), COUNTING_REPORT="1")
    example = folder / "moved/share/doc/Zyx/examples/digits-knn.mlir"
    counted = subprocess.run([folder / "moved/bin/zyx-run", example, "--entry=knn", "--random=1", "--print={correct}",
                              "--device=counting"], timeout=120, text=True, env=environment, capture_output=True)
    assert counted.returncode == 0 and counted.stdout.strip().isdigit(), counted
    assert re.search(r"^counting: [1-9]\d* launches$", counted.stderr, re.MULTILINE), counted
    # Cases of every kind of op.
    if options.conformance:
        done = subprocess.run([options.conformance, "--device=counting", "--max-refused=0", "--spread=300"],
                              timeout=600, text=True, env=dict(environment, COUNTING_REPORT=""), capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"[1-9]\d* pass, 0 wrong, 0 refused, 0 crash", done.stdout), done
    # And the programs, from where they lie now.
    program = folder / "moved/bin/zyx-run"
    example = folder / "moved/share/doc/Zyx/examples/digits-knn.mlir"
    output = run(program, example, "--entry=knn", "--random=1", "--print={correct}")
    assert output.strip().isdigit(), output
print("the outside program runs")
