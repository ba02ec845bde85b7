#!/usr/bin/env python3
"""Packs the wheel of the Python package from a build folder that has the targets _zyx and ZyxCompilerStatic.

  utils/wheel.py build/release [--extension=FILE] [--out=FOLDER]

Writes build/wheels/zyx-VERSION-cpXY-cpXY-manylinux_A_B_MACHINE.whl, or into FOLDER, and prints its path. A and B are the
version of the C library that its two libraries ask for. --extension names another extension than that of the build: one of
Python's stable ABI gives a wheel cp312-abi3. utils/wheel.sh builds both, and calls this.
"""
import argparse
import base64
import hashlib
import importlib.metadata
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 55 * 2**20
# What every Linux with this version of the C library has (PEP 600).
PROMISED = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def cache(build, name):
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


def metadata(version, python):
    lines = ["Metadata-Version: 2.1", "Name: zyx", f"Version: {version}",
             "Summary: A tensor compiler and its runtime: lazy arrays, gradients, modules", f"Requires-Python: >={python}",
             "Provides-Extra: numpy", "Requires-Dist: numpy>=1.26; extra == 'numpy'",
             "Requires-Dist: ml_dtypes>=0.4; extra == 'numpy'"]
    return "\n".join(lines) + "\n"


def platform_tag(libraries):
    """The oldest C library that has what the libraries call; ends the program where they need any other library."""
    newest = (2, 17)
    for library in libraries:
        text = subprocess.run(["readelf", "-dVW", library], check=True, capture_output=True, text=True).stdout
        foreign = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)) - PROMISED
        if foreign:
            sys.exit(f"wheel.py: {library.name} needs {' '.join(sorted(foreign))}, which not every machine has")
        newest = max([newest, *((int(a), int(b)) for a, b in re.findall(r"\bGLIBC_(\d+)\.(\d+)", text))])
    return f"manylinux_{newest[0]}_{newest[1]}_{platform.machine()}"


def python_tag(extension):
    if ".abi3." in extension:
        return "cp312-abi3"
    tag = "cp" + re.search(r"cpython-(\d+)", extension)[1]  # _zyx.cpython-311-x86_64-linux-gnu.so
    return f"{tag}-{tag}"


def licences(folder):
    """What the libraries have inside that others wrote: LLVM, MLIR, LLD, zlib, Zstandard, the library of C++, nanobind."""
    folder.mkdir()
    for package in "llvm-22-dev", "libmlir-22-dev", "liblld-22-dev", "zlib1g-dev", "libzstd-dev", "libstdc++6":
        text = pathlib.Path("/usr/share/doc", package, "copyright")
        if text.exists():
            (folder / package).write_bytes(text.read_bytes())
    for text in importlib.metadata.files("nanobind") or []:
        if text.name == "LICENSE":
            (folder / "nanobind").write_bytes(text.locate().read_bytes())


def write(path, stage, record_at):
    """The same files give the same bytes."""
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(at, data, mode=0o644):
            entry = zipfile.ZipInfo(at, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)

        for file in sorted(file for file in stage.rglob("*") if file.is_file()):
            data, at = file.read_bytes(), file.relative_to(stage).as_posix()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{at},sha256={digest},{len(data)}\n")
            add(at, data, 0o755 if file.suffix == ".so" else 0o644)
        record.append(f"{record_at},,\n")
        add(record_at, "".join(record).encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--extension", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "wheels")
    options = parser.parse_args()
    extensions = list(options.build.glob("python/zyx/_zyx.*.so"))
    if len(extensions) != 1:
        sys.exit(f"wheel.py: {options.build}/python/zyx has {len(extensions)} extensions; build the target _zyx first")
    if not (options.build / "wheel" / "libZyxCompiler.so").exists():
        sys.exit(f"wheel.py: {options.build}/wheel has no compiler; build the target ZyxCompilerStatic first")
    version = cache(options.build, "CMAKE_PROJECT_VERSION")
    with tempfile.TemporaryDirectory() as stage:
        subprocess.run([cache(options.build, "CMAKE_COMMAND") or "cmake", "--install", options.build, "--component", "python",
                        "--prefix", stage, "--strip"], check=True, stdout=subprocess.DEVNULL)
        stage = pathlib.Path(stage)
        if options.extension:
            (stage / "zyx" / extensions[0].name).unlink()
            shutil.copy(options.extension, stage / "zyx")
            subprocess.run([cache(options.build, "CMAKE_STRIP") or "strip", stage / "zyx" / options.extension.name], check=True)
        libraries = sorted((stage / "zyx").glob("*.so"))
        python = python_tag((options.extension or extensions[0]).name)
        tag = f"{python}-{platform_tag(libraries)}"
        info = stage / f"zyx-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(metadata(version, "3.12" if "abi3" in tag else "3.11"))
        (info / "entry_points.txt").write_text("[console_scripts]\nzyx-import = zyx.importer:main\n\n"
                                                "[torch_dynamo_backends]\nzyx = zyx.torch:backend\n")
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: utils/wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n")
        (info / "LICENSE").write_bytes((ROOT / "LICENSE").read_bytes())
        licences(info / "licences")
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / f"zyx-{version}-{tag}.whl"
        write(path, stage, f"{info.name}/RECORD")
    if path.stat().st_size > LIMIT:
        sys.exit(f"wheel.py: {path} has {path.stat().st_size / 2**20:.1f} MiB, and may have {LIMIT // 2**20}")
    print(path)


if __name__ == "__main__":
    main()
