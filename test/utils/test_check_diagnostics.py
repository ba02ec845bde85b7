"""utils/check-diagnostics.py finds the texts that no test knows."""
import unittest

from tree import Tree


def check(source, test, name="test/invalid.mlir"):
    with Tree({"lib/A.cpp": source, name: test}) as tree:
        return tree.run("check-diagnostics.py", "--root", str(tree.root))


class CheckDiagnostics(unittest.TestCase):
    def misses(self, source, test, message):
        code, output = check(source, test)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def finds(self, source, test, count, **options):
        code, output = check(source, test, **options)
        self.assertEqual(code, 0, output)
        self.assertIn(f"{count} texts, 0 without", output)

    def test_streamed_text(self):
        source = 'return emitOpError("reduces dimension ")\n    << dim << " of a rank " << rank;\n'
        self.misses(source, "", "lib/A.cpp:1: no test has: reduces dimension")
        self.finds(source, "// expected-error {{reduces dimension 7 of a rank 2}}", 1)

    def test_the_longest_literal_counts(self):
        source = 'emitError(loc, "expects ") << n << " operands of the same kind";\n'
        self.misses(source, "expects 3", "operands of the same kind")

    def test_joined_and_escaped_literals(self):
        source = 'return Status::notFound("there is no tensor \\"" + name +\n    "\\" in this file");\n'
        self.finds(source, 'EXPECT_EQ(s, "there is no tensor \\"x\\" in this file");', 1,
                   name="test/a.cpp")
        source = 'return Status::ioError("cannot be read: "\n    "the file ends early");\n'
        self.misses(source, "the file ends early", "cannot be read: the file ends early")

    def test_placeholders_are_cut(self):
        self.finds('error(format("{0} bytes are too many", n));\n', "8 bytes are too many", 1)
        self.finds('error("%zu bytes are too many", n);\n', "8 bytes are too many", 1)

    def test_error_codes(self):
        self.misses("case ErrorCode::OutOfMemory: return \"out of memory\";\n", "",
                    "no test has: out of memory")

    def test_a_definition_is_no_call(self):
        source = 'Status refuse(int op) {\n  return make(op);\n}\nbool same = is(op, "a text of its own");\n'
        self.finds(source, "", 0)
        self.misses('Status refuse(int op) {\n  return Status::internal("a real text");\n}\n', "",
                    "lib/A.cpp:2: no test has: a real text")

    def test_comments_and_match_failures_are_no_diagnostics(self):
        self.finds('// emitError("not a real text")\n'
                   'return rewriter.notifyMatchFailure(op, "axis is not innermost");\n'
                   'static_assert(sizeof(x) == 8, "must be eight bytes");\n'
                   'if (failed(parse("some.pipeline.text"))) return;\n', "", 0)


if __name__ == "__main__":
    unittest.main()
