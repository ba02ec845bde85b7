"""utils/find-duplicate-libs.py sees a static copy of MLIR and a dependency that must not be."""
import shutil
import subprocess
import unittest

from tree import Tree

COPY = "namespace mlir { struct MLIRContext { MLIRContext(int); };\n" \
       "MLIRContext::MLIRContext(int) {} }\nint main() {}\n"
COMPILER = shutil.which("c++") or shutil.which("g++")


class FindDuplicateLibs(unittest.TestCase):
    def check(self, source, *options, link=()):
        with Tree({"a.cpp": source, "bin/note.txt": "no program"}) as tree:
            subprocess.run([COMPILER, "a.cpp", "-o", "bin/program", *link], cwd=tree.root,
                           check=True)
            return tree.run("find-duplicate-libs.py", str(tree.root), *options)

    def test_static_copy(self):
        code, output = self.check(COPY)
        self.assertEqual(code, 1, output)
        self.assertIn("program: holds a static copy of MLIR", output)

    def test_plain_program(self):
        code, output = self.check("int main() {}\n", "--plain", "program")
        self.assertEqual(code, 0, output)
        self.assertIn("1 binaries, 0 violations", output)

    def test_plain_program_that_needs_llvm(self):
        library = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True,
                                 check=False).stdout
        path = next((line.split("=> ")[1] for line in library.splitlines()
                     if "libLLVM.so.22.1 " in line), None)
        if path is None:
            self.skipTest("libLLVM.so.22.1 is not in the linker's cache")
        code, output = self.check("int main() {}\n", "--plain", "program",
                                  link=("-Wl,--no-as-needed", path))
        self.assertEqual(code, 1, output)
        self.assertIn("but must run without LLVM", output)

    def test_missing_program(self):
        code, output = self.check("int main() {}\n", "--plain", "libZyxRuntime.so")
        self.assertEqual(code, 1, output)
        self.assertIn("libZyxRuntime.so: is not built", output)


if __name__ == "__main__":
    unittest.main()
