"""utils/conformance.py reads the reports of zyx-conformance."""
import contextlib
import importlib
import io
import pathlib
import sys
import tempfile
import unittest

from tree import ROOT, Tree

sys.path.insert(0, str(ROOT / "utils"))
conformance = importlib.import_module("conformance")

REPORT = "\n".join([
    "row\tunary exp\tf16 f32 ",
    "row\tcast\tf16 f32 ",
    "row\tflip\t",
    "case\tunary.exp.f32\tP\town\tunary exp/f32;\texp.f32 3;\t",
    "case\tunary.exp.f16\tR\town\tunary exp/f16;\t\tno f16 here",
    "case\tcast.f16.f32\tW\town\tcast/f16;\t\telement 3",
    "case\tsoftmax.f32\tP\tshared\tunary exp/f32;parameter/f32;\texp.f32 1;\t",
    "case\tmatmul.f32\tC\tshared\tcast/f32;\t\tends",
])


class Conformance(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cpu.tsv"
            path.write_text(REPORT)
            self.report = conformance.Report(path)

    def test_counts(self):
        self.assertEqual(self.report.summary(), "2 pass, 1 wrong, 1 refused, 1 crash")
        with Tree({"cpu.tsv": REPORT}) as tree:
            code, output = tree.run("conformance.py", "--counts", str(tree.root / "cpu.tsv"))
        self.assertEqual((code, output),
                         (0, "conformance: cpu: 2 pass, 1 wrong, 1 refused, 1 crash\n"))

    def test_table(self):
        notes = conformance.Notes()
        lines = list(self.report.table(notes))
        row = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
               for line in lines if line}
        f16, f32 = conformance.DTYPES.index("f16"), conformance.DTYPES.index("f32")
        # The composition that passes counts, and the distance is the largest.
        self.assertEqual(row["`unary exp`"][f32], "2 (3 ULP)")
        self.assertEqual(row["`unary exp`"][f16], "1 refused [1]")
        self.assertEqual(row["`unary exp`"][0], "")
        self.assertEqual(row["`cast`"][f16], "1 wrong")
        # A composition that crashes is not the fault of each of its ops, nor a case of them.
        self.assertEqual(row["`cast`"][f32], "no case")
        self.assertEqual(row["`flip`"][0], "no case")
        self.assertEqual(row["matmul"], ["0", "0", "0", "1"])
        self.assertEqual(notes.lines(), ["- [1] no f16 here"])

    def test_devices(self):
        page = "# Words\n\n## Tables\n\n### vulkan\n\nold\n\n| a |\n\n### webgpu\n\nkept\n"
        with Tree({"docs/devices.md": page, "reports/vulkan/one.tsv": REPORT,
                   "reports/vulkan/about.md": "A driver, today.\n"}) as tree:
            written = tree.root / "docs/devices.md"
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self.assertFalse(conformance.write_devices(tree.root / "reports", written))
            written = written.read_text()
        self.assertEqual(output.getvalue(), "vulkan: 2 pass, 1 wrong, 1 refused, 1 crash\n")
        self.assertRegex(written, r"^# Words\n\n## Tables\n\n### vulkan\n\nA driver, today.\n\n2 pass, 1 wrong")
        self.assertIn("Refused because:", written)
        self.assertNotIn("old", written)
        # Who has no reports now keeps what was written of it.
        self.assertRegex(written, r"\n\n### webgpu\n\nkept\n$")

    def test_missing(self):
        self.assertEqual(list(self.report.missing()), ["cast of f32", "flip"])

    def test_rows_of_the_tree(self):
        rows = conformance.expected_rows("".join((ROOT / "include/zyx/Graph" / name).read_text()
                                                 for name in ("GraphOps.inc", "UnaryKinds.inc")))
        self.assertIn("unary exp", rows)
        self.assertIn("gather", rows)
        self.assertNotIn("unary", rows)


if __name__ == "__main__":
    unittest.main()
