"""utils/count-target.py counts what is there for one family of machines, and refuses more."""
import unittest
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "utils" / "count-target.py"


def run(*arguments):
    done = subprocess.run([sys.executable, "-B", str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class CountTarget(unittest.TestCase):
    def test_each_is_within_its_limit(self):
        for target, most in (("cuda", 500), ("hip", 700), ("opencl", 800), ("vulkan", 1300), ("webgpu", 900)):
            code, output = run(target)
            self.assertEqual(code, 0, output)
            self.assertIn(f"lines for {target}, at most {most}", output)

    def test_each_row_counts(self):
        for target in ("cuda", "hip", "opencl", "vulkan", "webgpu"):
            _, output = run(target)
            rows = [line.split() for line in output.splitlines()]
            self.assertEqual(sum(int(row[0]) for row in rows[:-1]), int(rows[-1][0]), output)
            self.assertTrue(all(int(row[0]) > 0 for row in rows), output)

    def test_more_than_the_limit_is_refused(self):
        code, output = run("hip", "--most=100")
        self.assertEqual(code, 1, output)

    def test_an_unknown_target_is_refused(self):
        code, output = run("riscv")
        self.assertEqual(code, 2, output)


if __name__ == "__main__":
    unittest.main()
