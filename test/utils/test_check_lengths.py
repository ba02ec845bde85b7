"""utils/check-lengths.py refuses a long file of lib/ without a stated reason, and a reason without a long file."""
import importlib.util
import pathlib
import unittest

from tree import ROOT, Tree

SPEC = importlib.util.spec_from_file_location("check_lengths", ROOT / "utils" / "check-lengths.py")
SCRIPT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SCRIPT)


class CheckLengths(unittest.TestCase):
    def test_a_long_file_is_refused(self):
        with Tree({"lib/A/Long.cpp": "int x;\n" * 601, "lib/A/Short.cpp": "int x;\n" * 600}) as tree:
            code, output = tree.run("check-lengths.py", "--root", str(tree.root))
        self.assertEqual(code, 1, output)
        self.assertIn("lib/A/Long.cpp: 601 lines, more than 600", output)
        self.assertNotIn("Short.cpp", output)

    def test_a_reason_lets_it_pass(self):
        with Tree({"lib/A/Long.cpp": "int x;\n" * 601}) as tree:
            self.assertEqual(SCRIPT.check(tree.root, {"lib/A/Long.cpp": "one class"}), ([], 1))

    def test_a_reason_goes_with_its_file(self):
        with Tree({"lib/A/Short.cpp": "int x;\n"}) as tree:
            errors, _ = SCRIPT.check(tree.root, {"lib/A/Short.cpp": "one class"})
        self.assertEqual(len(errors), 1)
        self.assertIn("lib/A/Short.cpp: at most 600 lines", errors[0])

    def test_other_folders_and_kinds_are_not_counted(self):
        with Tree({"tools/A.cpp": "int x;\n" * 700, "lib/A/table.txt": "x\n" * 700}) as tree:
            self.assertEqual(SCRIPT.check(tree.root, {}), ([], 0))

    def test_this_tree_passes(self):
        self.assertEqual(SCRIPT.check(pathlib.Path(ROOT), SCRIPT.REASONS)[0], [])


if __name__ == "__main__":
    unittest.main()
