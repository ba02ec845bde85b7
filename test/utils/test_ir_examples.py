"""utils/ir-examples.py notices stale and missing blocks, writes them, and finds loops in text."""
import contextlib
import importlib.util
import io
import sys
import unittest
import unittest.mock

from tree import ROOT, Tree

spec = importlib.util.spec_from_file_location("ir_examples", ROOT / "utils" / "ir-examples.py")
examples = importlib.util.module_from_spec(spec)
spec.loader.exec_module(examples)


class IrExamples(unittest.TestCase):
    def run_on(self, page, *options):
        """(exit code, output, page afterwards) for a page whose program prints `new`."""
        with Tree({"page.md": page}) as tree, contextlib.redirect_stdout(io.StringIO()) as output, \
                unittest.mock.patch.multiple(examples, ROOT=tree.root, PAGES={"page.md": lambda build: {"kernel": "new\n"}}), \
                unittest.mock.patch.object(sys, "argv", ["ir-examples.py", *options]):
            return examples.main(), output.getvalue(), (tree.root / "page.md").read_text()

    def test_stale_block(self):
        page = "text\n<!-- ir kernel -->\n```mlir\n{}\n```\n<!-- end -->\ntext\n"
        self.assertEqual(self.run_on(page.format("new"))[0], 0)
        code, output, kept = self.run_on(page.format("old"))
        self.assertEqual((code, kept), (1, page.format("old")))
        self.assertIn("page.md: an IR example is stale", output)
        self.assertEqual(self.run_on(page.format("old"), "--update")[::2], (0, page.format("new")))

    def test_missing_block(self):
        code, output, _ = self.run_on("no block\n")
        self.assertEqual(code, 1)
        self.assertIn("page.md: has no block <!-- ir kernel -->", output)

    def test_loop_of_ptx(self):
        ptx = "$L__BB0_1:\n\tbra \t$L__BB0_3;\n$L__BB0_2:\n\tadd.s64 \t%rd1, %rd1, 1;\n\t@%p2 bra \t$L__BB0_2;\n$L__BB0_3:\n\tret;\n"
        self.assertEqual([line.split() for line in examples.loop(ptx).splitlines()],
                         [["$L__BB0_2:"], ["add.s64", "%rd1,", "%rd1,", "1;"], ["@%p2", "bra", "$L__BB0_2;"]])

    def test_innermost_loop(self):
        text = "kernel.grid () {\n  scf.for %i = %a to %b {\n    scf.for %k = %a to %b {\n      math.fma\n    }\n    scf.for %j = %a to %b {\n      x\n    }\n  }\n}\n"
        self.assertEqual(examples.innermost(text, "math.fma"),
                         "kernel.grid () {\n  ...\n  scf.for %i = %a to %b {\n    ...\n    scf.for %k = %a to %b {\n      math.fma\n    }")


if __name__ == "__main__":
    unittest.main()
