"""utils/check-inventory.py finds rows that are missing, doubled, or name what is not there."""
import unittest

from tree import ROOT, Tree

LIST = "# a comment\n2.1 zeros\n2.1 sum_all\n2.1 sum\nbug a thing is wrong\n"
HEADER = "namespace zyx {\nclass Tensor {\n  static Tensor zeros(Shape shape);\n  Tensor sum() const;\n};\n}\n"
SOURCE = ("TEST_P(TensorTest, Makes) {\n  EXPECT_EQ(Tensor::zeros({2}), 0);\n  // sum()\n}\n\n"
          "static int sumOf(Tensor x) { return x.sum(); }\n\n"
          "TEST(Sums, AreRight) {\n  EXPECT_EQ(sumOf(x), 3);\n}\n")
HEAD = "## 2.1 Creation\n\n| Rust | C++ | test | remark |\n|---|---|---|---|\n"
BUGS = "\n## Bugs\n\n| Rust | C++ | test | remark |\n|---|---|---|---|\n"
ZEROS = "| `zeros` | `Tensor::zeros` | `TensorTest.Makes` | |\n"
SUMS = "| `sum{,_all}` | `Tensor::sum` | `Sums.AreRight` | |\n"
BUG = "| a thing is wrong | - | `Sums.AreRight` | |\n"


class CheckInventory(unittest.TestCase):
    def check(self, page):
        with Tree({"test/inventory.txt": LIST, "include/zyx/T.h": HEADER, "test/unit/T/T.cpp": SOURCE,
                   "docs/inventory.md": page}) as tree:
            return tree.run("check-inventory.py", "--root", str(tree.root))

    def refuses(self, page, message):
        code, output = self.check(page)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_a_page_that_is_right(self):
        code, output = self.check(HEAD + ZEROS + SUMS + BUGS + BUG)
        self.assertEqual(code, 0, output)
        self.assertIn("4 names, of which 0", output)
        code, output = self.check(HEAD + "| `zeros` | - | - | nobody needs it |\n" + SUMS + BUGS + BUG)
        self.assertEqual(code, 0, output)
        self.assertIn("4 names, of which 1", output)

    def test_rows_are_missing_or_doubled(self):
        self.refuses(HEAD + SUMS + BUGS + BUG, "'2.1 zeros' has 0 rows")
        self.refuses(HEAD + ZEROS + ZEROS + SUMS + BUGS + BUG, "'2.1 zeros' has 2 rows")
        self.refuses(HEAD + ZEROS + SUMS, "'bug a thing is wrong' has 0 rows")
        # A row of another section is none of this one.
        self.refuses(HEAD.replace("2.1", "2.2") + ZEROS, "'2.2 zeros' is not in test/inventory.txt")

    def test_what_is_not_on_the_list(self):
        self.refuses(HEAD + ZEROS + SUMS + ZEROS.replace("`zeros`", "`ones`") + BUGS + BUG,
                     "'2.1 ones' is not in test/inventory.txt")

    def test_functions_that_are_not_there(self):
        self.refuses(HEAD + ZEROS.replace("Tensor::zeros", "Tensor::zeroes") + SUMS + BUGS + BUG,
                     "docs/inventory.md:5: no header of include/zyx declares Tensor::zeroes")
        self.refuses(HEAD + ZEROS.replace("Tensor::zeros", "Matrix::zeros") + SUMS + BUGS + BUG,
                     "declares Matrix::zeros")

    def test_tests_that_are_not_there_or_do_not_call(self):
        self.refuses(HEAD + ZEROS.replace("Makes", "Creates") + SUMS + BUGS + BUG, "there is no test TensorTest.Creates")
        self.refuses(HEAD + ZEROS + SUMS.replace("Sums.AreRight", "TensorTest.Makes") + BUGS + BUG,
                     "`TensorTest.Makes` does not call Tensor::sum")
        self.refuses(HEAD + ZEROS + SUMS + BUGS + BUG.replace("`Sums.AreRight`", "-"), "and not both")

    def test_absence_has_a_reason(self):
        self.refuses(HEAD + "| `zeros` | - | - | |\n" + SUMS + BUGS + BUG, "`zeros` has no name in C++ and no reason why")
        self.refuses(HEAD + "| `zeros` | `Tensor::zeros` | - | later |\n" + SUMS + BUGS + BUG, "and not both")

    def test_the_page_of_this_tree(self):
        with Tree({}) as tree:
            code, output = tree.run("check-inventory.py", "--root", str(ROOT))
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
