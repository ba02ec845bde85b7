#!/usr/bin/env python3
"""Packs the wheel of the Python package from a build folder that has it.

  utils/wheel.py build/release [--out=FOLDER]

Writes build/wheels/zyx-VERSION-cpXY-cpXY-linux_MACHINE.whl, or into FOLDER, and prints its path. The compiler in it finds LLVM
where the machine that built it has it (docs/python.md).
"""
import argparse
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def cache(build, name):
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


def metadata(version):
    lines = ["Metadata-Version: 2.1", "Name: zyx", f"Version: {version}",
             "Summary: A tensor compiler and its runtime: lazy arrays, gradients, modules", "Requires-Python: >=3.11",
             "Provides-Extra: numpy", "Requires-Dist: numpy>=1.26; extra == 'numpy'",
             "Requires-Dist: ml_dtypes>=0.4; extra == 'numpy'"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "wheels")
    options = parser.parse_args()
    extensions = list(options.build.glob("python/zyx/_zyx.*.so"))
    if len(extensions) != 1:
        sys.exit(f"wheel.py: {options.build}/python/zyx has {len(extensions)} extensions; build the target _zyx first")
    # _zyx.cpython-311-x86_64-linux-gnu.so
    tag = "cp" + re.search(r"cpython-(\d+)", extensions[0].name)[1]
    version = cache(options.build, "CMAKE_PROJECT_VERSION")
    name = f"zyx-{version}-{tag}-{tag}-linux_{platform.machine()}.whl"
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as stage:
        subprocess.run([cache(options.build, "CMAKE_COMMAND") or "cmake", "--install", options.build, "--component", "python",
                        "--prefix", stage, "--strip"], check=True, stdout=subprocess.DEVNULL)
        stage = pathlib.Path(stage)
        info = stage / f"zyx-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(metadata(version))
        (info / "entry_points.txt").write_text("[console_scripts]\nzyx-import = zyx.importer:main\n\n"
                                                "[torch_dynamo_backends]\nzyx = zyx.torch:backend\n")
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: utils/wheel.py\nRoot-Is-Purelib: false\n"
                                    f"Tag: {tag}-{tag}-linux_{platform.machine()}\n")
        (info / "LICENSE").write_bytes((ROOT / "LICENSE").read_bytes())
        files = sorted(path for path in stage.rglob("*") if path.is_file())
        record = []
        # The same files give the same bytes.
        with zipfile.ZipFile(options.out / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            def add(path, data, mode=0o644):
                entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
                entry.external_attr = mode << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                wheel.writestr(entry, data)

            for path in files:
                data, at = path.read_bytes(), path.relative_to(stage).as_posix()
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{at},sha256={digest},{len(data)}\n")
                add(at, data, 0o755 if path.suffix == ".so" else 0o644)
            record.append(f"{info.name}/RECORD,,\n")
            add(f"{info.name}/RECORD", "".join(record).encode())
    print(options.out / name)


if __name__ == "__main__":
    main()
