"""utils/check-docs.py notices stale pages, dead links and files that are gone."""
import unittest

from tree import Tree


class CheckDocs(unittest.TestCase):
    def check(self, files, *options):
        with Tree(files) as tree:
            return tree.run("check-docs.py", "--root", str(tree.root),
                            *(o.replace("ROOT", str(tree.root)) for o in options))

    def refuses(self, files, message, *options):
        code, output = self.check(files, *options)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_dead_link(self):
        self.refuses({"README.md": "see [layout](docs/layout.md)"},
                     "README.md: the link docs/layout.md leads nowhere")

    def test_dead_anchor(self):
        page = "# A page\n\n## What `x` is, and why\n\n```sh\n# no heading\n```\n[here](#a-page)\n"
        good = {"docs/a.md": page, "README.md": "[why](docs/a.md#what-x-is-and-why)\n"}
        self.assertEqual(self.check(good), (0, "check-docs: 2 pages, 0 errors\n"))
        self.refuses({**good, "README.md": "[why](docs/a.md#why)\n"}, "README.md: the link docs/a.md#why leads to no heading")
        self.refuses({**good, "docs/b.md": "[it](#no-heading)\n"}, "docs/b.md: the link #no-heading leads to no heading")

    def test_missing_file(self):
        self.refuses({"README.md": "run `utils/gone.sh`"}, "utils/gone.sh does not exist")
        self.refuses({"README.md": "```sh\nutils/gone.sh --fast\n```\n"},
                     "utils/gone.sh does not exist")

    def test_good_page(self):
        code, output = self.check({
            "README.md": "[a](docs/a.md) [b](https://example.org) `utils/*.sh` `lib/`\n",
            "docs/a.md": "[top](../README.md)", "utils/x.sh": "", "lib/x.cpp": ""})
        self.assertEqual(code, 0, output)

    def test_generated_pages(self):
        fresh = {"build/docs/dialect-a.md": "new"}
        self.refuses(fresh, "docs/generated/dialect-a.md: missing", "--build=ROOT/build")
        self.refuses({**fresh, "docs/generated/dialect-a.md": "old"}, "dialect-a.md: stale",
                     "--build=ROOT/build")
        self.refuses({**fresh, "docs/generated/dialect-a.md": "new", "docs/generated/b.md": ""},
                     "b.md: nothing writes it", "--build=ROOT/build")
        self.refuses({}, "no generated pages", "--build=ROOT/build")
        code, output = self.check({**fresh, "docs/generated/dialect-a.md": "new"},
                                  "--build=ROOT/build")
        self.assertEqual(code, 0, output)

    def test_pipeline_page(self):
        # A compiler of two phases, of which only cards have the second pass.
        opt = """#!/bin/sh
echo "Pass Manager:" >&2
printf 'builtin.module(\\n  func.func(\\n    first{a=1}\\n  ),\\n' >&2
case $2 in *sm_*) printf '  for-cards,\\n' >&2 ;; esac
case $2 in *stop-after=b*|*stop-after=target*) printf '  last\\n' >&2 ;; esac
echo ")" >&2
"""
        row = "| `{}` | from | to | {} |\n"
        good = row.format("a", "`-first`, `-for-cards` ¹") + row.format("b", "`-last`")
        for page, message in ((row.format("a", "`-first`") + row.format("b", "`-last`"), "phase a runs first, for-cards for sm_75"),
                              (good.replace("`-last`", "`-last`, `-gone`"), "phase b runs -gone for no target"),
                              (row.format("a", "`-for-cards`, `-first`") + row.format("b", "`-last`"), "phase a runs first, for-cards"),
                              (row.format("a", "`-first`, `-for-cards`"), "the table ends before last"),
                              (good, "phase b runs unknown<(anonymous namespace)::Nameless>, last for cpu"),
                              (good, None)):
            nameless = "  unknown<(anonymous namespace)::Nameless>,\\n"
            script = opt.replace("  last", nameless + "  last") if message and "Nameless" in message else opt
            with Tree({"docs/pipeline.md": page, "build/bin/zyx-opt": script, "build/docs/a.md": "", "docs/generated/a.md": ""}) as tree:
                (tree.root / "build/bin/zyx-opt").chmod(0o755)
                code, output = tree.run("check-docs.py", "--root", str(tree.root), "--build", str(tree.root / "build"))
                if message:
                    self.assertEqual(code, 1, output)
                    self.assertIn(message, output)
                else:
                    self.assertEqual(code, 0, output)

    def test_glossary(self):
        page = "| word | usual term |\n|---|---|\n| `ring` | circular buffer |\n| `pack`, `panel` of a dot | GEMM packing |\n"
        tree = {"docs/glossary.md": page, "lib/a.cpp": "// Packs a Ring into panels; pack(panel);\n"}
        self.assertEqual(self.check(tree)[0], 0, self.check(tree)[1])
        self.refuses({**tree, "lib/a.cpp": "// A ring; spackle; panel\n"}, "'pack' is nowhere in the tree any more")

    def test_conformance_page(self):
        inc = {"include/zyx/Graph/GraphOps.inc":
               "ZYX_GRAPH_OP(Unary, unary, 1)\nZYX_GRAPH_OP(Cast, cast, 1, 6)\n"
               "ZYX_GRAPH_UNARY(Exp, exp)\n"}
        section = "## {}\n\n| op | f32 |\n|---|---|\n| `unary exp` | 3 |\n| `cast` | {} |\n"
        page = "".join(section.format(d, "1") for d in ("cpu", "c", "reference"))
        self.refuses(inc, "docs/generated/conformance.md: missing")
        self.refuses({**inc, "docs/generated/conformance.md": page.replace("`cast`", "`cost`")},
                     "reference has no row for cast")
        self.refuses({**inc, "docs/generated/conformance.md": page + "| `old` | 1 |\n"},
                     "reference has a row for old, which is no op")
        for cell in ("no case", "2 wrong", "1 crash, 4"):
            self.refuses({**inc, "docs/generated/conformance.md": page + section.format("cpu", cell)},
                         "cpu, cast: " + cell.split(",")[0].lstrip("12 "))
        code, output = self.check({**inc, "docs/generated/conformance.md": page})
        self.assertEqual(code, 0, output)

    def test_update_makes_them_fresh(self):
        with Tree({"build/docs/a.md": "new", "docs/generated/b.md": "", "docs/generated/conformance.md": "",
                   "utils/x": ""}) as tree:
            options = ("--root", str(tree.root), "--build", str(tree.root / "build"))
            self.assertEqual(tree.run("check-docs.py", "--update", *options)[0], 0)
            self.assertEqual((tree.root / "docs/generated/a.md").read_text(), "new")
            self.assertFalse((tree.root / "docs/generated/b.md").exists())
            self.assertTrue((tree.root / "docs/generated/conformance.md").exists())
            self.assertEqual(tree.run("check-docs.py", *options)[0], 0)


if __name__ == "__main__":
    unittest.main()
