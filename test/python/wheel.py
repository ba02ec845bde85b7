#!/usr/bin/env python3
"""The wheel that utils/wheel.py packs from a build folder installs into an empty environment without a compiler, and runs there.

  test/python/wheel.py build/release
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import zyx
assert "site-packages" in zyx.__file__, zyx.__file__
x = zyx.asarray([1.0, 2.0])
assert (x * x + 1).tolist() == [2.0, 5.0]
assert zyx.grad(lambda x: zyx.sum(x ** 3))(x).tolist() == [3.0, 12.0]
print(zyx.__version__)
"""


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        packed = subprocess.run([sys.executable, "-B", ROOT / "utils" / "wheel.py", build, f"--out={folder}"], check=True,
                                capture_output=True, text=True).stdout.strip()
        subprocess.run([sys.executable, "-m", "venv", folder / "empty"], check=True)
        python = folder / "empty" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", packed],
                       check=True)
        # Nothing of the build folder or of the user's, and no program that compiles.
        environment = {"PATH": "/nonexistent", "HOME": str(folder), "ZYX_CACHE_DIR": "off", "ZYX_DEVICE": "cpu",
                       "LANG": os.environ.get("LANG", "C")}
        ran = subprocess.run([python, "-c", PROGRAM], cwd=folder, env=environment, check=True, capture_output=True, text=True)
        # The program of the package, in a folder for programs.
        asked = subprocess.run([folder / "empty" / "bin" / "zyx-import", "--help"], cwd=folder, env=environment, check=True,
                               capture_output=True, text=True).stdout
        assert "zyx-import" in asked and "--weights" in asked, asked
        size = pathlib.Path(packed).stat().st_size / 2**20
        print(f"{pathlib.Path(packed).name}: {size:.1f} MiB, version {ran.stdout.strip()}")


if __name__ == "__main__":
    main()
