"""Installs a build into a folder, then configures, builds and runs a project outside of it."""
import argparse
import pathlib
import shutil
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--cmake", required=True)
parser.add_argument("--compiler", required=True, help="of C")
parser.add_argument("--generator", required=True)
parser.add_argument("build", type=pathlib.Path)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    run = lambda *command: subprocess.run(command, check=True, timeout=120, text=True,
                                          stdout=subprocess.PIPE).stdout
    run(options.cmake, "--install", options.build, "--prefix", folder / "first")
    # Where it was installed must not matter.
    (folder / "first").rename(folder / "moved")
    shutil.copytree(pathlib.Path(__file__).parent, folder / "source")
    run(options.cmake, "-S", folder / "source", "-B", folder / "build", "-G", options.generator,
        f"-DCMAKE_C_COMPILER={options.compiler}", f"-DCMAKE_PREFIX_PATH={folder / 'moved'}")
    run(options.cmake, "--build", folder / "build")
    output = run(folder / "build" / "outside")
    assert output == "2 4 6 8\n", output
    # And the programs, from where they lie now.
    program = folder / "moved/bin/zyx-run"
    example = folder / "moved/share/doc/Zyx/examples/digits-knn.mlir"
    output = run(program, example, "--entry=knn", "--random=1", "--print={correct}")
    assert output.strip().isdigit(), output
print("the outside program runs")
