"""benchmarks/cliffs.py: rooflines, verdicts, and what becomes of shards."""
import contextlib
import importlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest

from tree import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
cliffs = importlib.import_module("cliffs")
records = importlib.import_module("cliffs_suite.records")
rooflines = importlib.import_module("cliffs_suite.rooflines")
exported = importlib.import_module("cliffs_suite.exported")
peers = importlib.import_module("cliffs_suite.peers")

RATES = {"copy": 1e12, "flops": {"f32": 1e13, "bf16": 1e14}}


def program(**changes):
    return {"dtype": "bf16", "flops": 0.0, "sorted": 0, "trips": 1, "may_differ": 0,
            "inputs": [{"dtype": "bf16", "shape": [1000, 1000], "bytes": 2000000}],
            "outputs": [{"dtype": "f32", "shape": [1000], "bytes": 4000}], **changes}


def kernel(**changes):
    return {"name": "k", "ns": 1000000, "flops": 0, "bytes": 0, "passes": 1, **changes}


class Drawn:
    """As much of a tensor of PyTorch as the inputs of a program need."""
    def __init__(self, values):
        self.values = values

    def to(self, dtype):
        return self

    def sort(self, dim):
        assert dim == -1
        return types.SimpleNamespace(values=Drawn([sorted(row) for row in self.values]))


class Inputs(unittest.TestCase):
    def test_documents_ascend(self):
        generator = types.SimpleNamespace(manual_seed=lambda seed: seed)
        torch = types.SimpleNamespace(
            Generator=lambda device: generator, randint=lambda low, high, shape, **_: Drawn([[2, 0, 1], [0, 3, 0]]),
            **{name: types.SimpleNamespace(is_floating_point=False) for name in (
                "bool", "int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")})
        inputs = [{"values": [kind, 0, 4], "shape": [2, 3], "dtype": "i64"} for kind in ("uniform", "ascending")]
        made = peers.draw(torch, {"seed": 1, "index": 2, "inputs": inputs}, "cpu")
        self.assertEqual([each.values for each in made], [[[2, 0, 1], [0, 3, 0]], [[0, 1, 2], [0, 0, 3]]])


class Rooflines(unittest.TestCase):
    def test_bytes_of_a_program(self):
        self.assertEqual(rooflines.program_bytes(program()), 2004000)
        chosen = program()
        chosen["inputs"][0]["bytes"] = 500
        self.assertEqual(rooflines.program_bytes(chosen), 4500)

    def test_whichever_is_longest(self):
        self.assertAlmostEqual(rooflines.program_roofline(program(), RATES), 3e-6)
        slow = {**RATES, "copy": 1e9}
        self.assertAlmostEqual(rooflines.program_roofline(program(), slow), 2.004e-3)
        self.assertAlmostEqual(rooflines.program_roofline(program(flops=1e12), RATES), 1e-2)
        self.assertAlmostEqual(rooflines.program_roofline(program(flops=1e12, dtype="f32"), RATES), 1e-1)
        # Computed factors of f32 in a program of bf16.
        self.assertAlmostEqual(rooflines.program_roofline(program(flops=1e12, products="f32"), RATES), 1e-1)
        self.assertAlmostEqual(rooflines.program_roofline(program(trips=100), RATES), 3e-4)

    def test_a_dtype_without_a_unit_of_its_own(self):
        self.assertAlmostEqual(rooflines.program_roofline(program(flops=1e12, dtype="f16"), RATES), 1e-1)

    def test_sorts(self):
        slow = {**RATES, "copy": 1e9}
        self.assertAlmostEqual(rooflines.program_roofline(program(sorted=2 ** 16), slow), 4 * 2.004e-3)
        self.assertEqual(rooflines.sort_passes(2), 1)
        self.assertEqual(rooflines.sort_passes(1), 1)
        one = kernel(bytes=10 ** 6, name="main_sort")
        self.assertAlmostEqual(rooflines.kernel_roofline(one, program(sorted=2 ** 16), slow), 4e-3)
        self.assertAlmostEqual(rooflines.kernel_roofline(kernel(bytes=10 ** 6), program(sorted=2 ** 16), slow), 1e-3)
        # Memory that it needs for itself does not count.
        own = kernel(bytes=10 ** 8, name="main_4_sort")
        self.assertAlmostEqual(rooflines.kernel_roofline(own, program(sorted=2 ** 16), slow), 4 * 2.004e-3)
        # A sort of several kernels has its passes once.
        self.assertAlmostEqual(rooflines.kernel_roofline(own, program(sorted=2 ** 16), slow, 2), 2 * 2.004e-3)
        self.assertAlmostEqual(rooflines.kernel_roofline(own, program(sorted=2 ** 16), slow, 9), 2.004e-3)
        both = [{**own, "ns": 1e9}, {**own, "ns": 1e9, "name": "main_5_sort"}, kernel(bytes=10 ** 6, ns=1e9)]
        large = rooflines.judge(program(sorted=2 ** 16), both, 1.0, slow)["large"]
        self.assertEqual(sorted(round(each["roofline"], 6) for each in large), [1e-3, 2 * 2.004e-3, 2 * 2.004e-3])

    def test_what_is_computed_twice_has_no_more_time(self):
        twice = kernel(flops=10 ** 12)
        self.assertAlmostEqual(rooflines.kernel_roofline(twice, program(flops=1e11), RATES), 1e-3)
        self.assertAlmostEqual(rooflines.kernel_roofline(twice, program(), RATES), 3e-6)

    def test_passes(self):
        self.assertAlmostEqual(rooflines.kernel_roofline(kernel(passes=50), program(), RATES), 150e-6)
        self.assertIsNone(rooflines.kernel_roofline(kernel(passes=0), program(), RATES))

    def test_trips_inside_of_a_kernel(self):
        one = kernel(name="main_1_recurrent")
        self.assertAlmostEqual(rooflines.kernel_roofline(one, program(trips=100), RATES), 40e-6)
        self.assertAlmostEqual(rooflines.kernel_roofline(one, program(trips=2), RATES), 3e-6)
        self.assertAlmostEqual(rooflines.kernel_roofline(kernel(), program(trips=100), RATES), 3e-6)

    def test_judge(self):
        kernels = [kernel(name="far", ns=300000), kernel(name="near", ns=30000, bytes=10 ** 7), kernel(ns=6000),
                   kernel(ns=15000), kernel(ns=2000000, passes=200), kernel(ns=0), kernel(passes=0)]
        judged = rooflines.judge(program(), kernels, 3e-3, RATES)
        self.assertEqual([each["name"] for each in judged["large"]], ["far", "near"])
        self.assertAlmostEqual(judged["large"][0]["ratio"], 100)
        self.assertAlmostEqual(judged["large"][1]["ratio"], 3)
        # 2 launches and a loop of 200 small ones.
        self.assertEqual(judged["small"]["launches"], 202)
        self.assertAlmostEqual(judged["small"]["ratio"], 2021e-6 / (202 * 3e-6 + 606e-6))
        self.assertAlmostEqual(judged["ratio"], 1000)

    def test_wrong(self):
        fine = {"all": 1e-3, "each": 1e-2, "far": 0.0, "differing": 0.0, "broken": False}
        self.assertFalse(rooflines.is_wrong(program(), fine))
        self.assertTrue(rooflines.is_wrong(program(dtype="f32"), fine))
        self.assertFalse(rooflines.is_wrong(program(dtype="f32"), fine, {**fine, "each": 3e-3}))
        self.assertTrue(rooflines.is_wrong(program(), {**fine, "each": 0.5}))
        self.assertTrue(rooflines.is_wrong(program(), {**fine, "all": float("nan")}))
        self.assertTrue(rooflines.is_wrong(program(), {**fine, "broken": True}))
        self.assertTrue(rooflines.is_wrong(program(), {**fine, "differing": 0.01}))
        chosen = program(may_differ=0.01)
        self.assertFalse(rooflines.is_wrong(chosen, {**fine, "differing": 0.01, "each": 9, "far": 0.005}))
        self.assertTrue(rooflines.is_wrong(chosen, {**fine, "far": 0.02}))
        # What PyTorch chooses otherwise is excused, and no more; where nothing may differ, nothing is.
        self.assertTrue(rooflines.is_wrong(chosen, {**fine, "differing": 0.02}))
        self.assertFalse(rooflines.is_wrong(chosen, {**fine, "differing": 0.02}, {**fine, "differing": 0.2}))
        self.assertTrue(rooflines.is_wrong(chosen, {**fine, "differing": 0.3}, {**fine, "differing": 0.2}))
        self.assertTrue(rooflines.is_wrong(program(), {**fine, "differing": 0.01}, {**fine, "differing": 0.2}))

    def test_worse_of_two_errors(self):
        fine = {"all": 1e-3, "each": 1e-2, "far": 0.0, "differing": 0.0, "broken": False}
        self.assertEqual(rooflines.worse_of(fine, {**fine, "each": 0.5, "all": 1e-4}), {**fine, "each": 0.5})
        self.assertEqual(rooflines.worse_of(fine, {**fine, "each": 9, "broken": True}), fine)
        self.assertEqual(rooflines.worse_of({**fine, "each": 9, "broken": True}, fine), fine)


def row(index, **changes):
    return {"index": index, "family": "norm", "variant": "layer", "dtype": "f32", "gradients": False, "sizes": [["rows", 7]],
            "seconds": 2e-3, "peers": {"eager": {"seconds": 4e-3}, "compile": {"seconds": 1e-3}, "graphs": {"failed": "no"}},
            "judged": {"ratio": 20.0, "roofline": 1e-4, "small": {"ratio": 1.0, "seconds": 0, "roofline": 0, "launches": 0},
                       "large": [{"name": "main_0", "seconds": 1e-3, "roofline": 1e-4, "ratio": 10.0, "passes": 1}]}, **changes}


def record(*rows, **head):
    return {"head": {"commit": "abc", "seed": 1, "scale": "host", "device": "cpu", "threads": 1, "shard": [1, 2],
                     "rates": RATES, **head}, "programs": list(rows)}


class Records(unittest.TestCase):
    def test_merge(self):
        one = records.merge([record(row(2), row(0)), record(row(1), row(2, family="scan"), shard=[2, 2])])
        self.assertEqual([each["index"] for each in one["programs"]], [0, 1, 2])
        self.assertEqual(one["programs"][2]["family"], "scan")
        self.assertNotIn("shard", one["head"])

    def test_shards_of_others_do_not_merge(self):
        for key in ("commit", "seed", "scale", "device", "threads"):
            with self.assertRaisesRegex(records.Mismatch, key):
                records.merge([record(row(0)), record(row(1), **{key: "other"})])
        self.assertEqual(len(records.merge([record(row(0)), record(row(1), commit="docs")], any_commit=True)["programs"]), 2)
        with self.assertRaises(records.Mismatch):
            records.merge([])

    def test_summary(self):
        figures = records.summary(record(row(0), row(1, seconds=5e-4), row(2, seconds=None, refused="why"),
                                         row(3, wrong=True, family="scan")))
        self.assertEqual(figures["programs"], 4)
        self.assertEqual(figures["timed"], 3)
        self.assertEqual(figures["over_1_ms"], 2)
        self.assertEqual((figures["failures"], figures["wrong"]), (2, 1))
        self.assertEqual(figures["least_family"], 0.25)
        self.assertEqual((figures["kernels"], figures["within_5"], figures["within_15"]), (3, 0, 3))
        self.assertEqual(figures["programs_over_15"], 3)
        self.assertAlmostEqual(figures["peer_mean"], (0.5 * 2 * 0.5) ** (1 / 3))
        self.assertAlmostEqual(figures["peer_worst"], 0.5)

    def test_table_names_what_is_far(self):
        text = records.table(record(row(0), row(1, seconds=None, refused="why")))
        self.assertIn("norm.layer f32 rows=7: refused: why", text)
        self.assertIn("10.0      1.000 ms  main_0 of    0 norm.layer f32 rows=7", text)
        self.assertIn("0.500      2.000 ms  compile", text)

    def test_nothing_measured(self):
        self.assertIn("peer_mean         -", records.table(record()))


class Peers(unittest.TestCase):
    def test_weights_are_no_inputs(self):
        inputs = [{"weight": False}, {"weight": True}, {"weight": False}]
        self.assertEqual(exported.split({"inputs": inputs}), ([0, 2], [1]))

    def test_no_gradients(self):
        with self.assertRaisesRegex(exported.Refused, "no gradients"):
            exported.export(None, {"gradients": True}, None, [])

    def test_clock(self):
        clock = peers.Clock(None, "cpu")
        self.assertGreater(clock(lambda: sum(range(1000))), 0)

    def test_where_there_are_which(self):
        self.assertIn("onnxruntime", peers.HOST_PEERS)
        self.assertNotIn("onnxruntime", peers.CARD_PEERS)


class CommandLine(unittest.TestCase):
    def run_tool(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cliffs.main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def test_merge_and_table(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [str(pathlib.Path(folder) / name) for name in ("a.json", "b.json", "all.json")]
            for path, made in zip(paths, (record(row(0)), record(row(1), shard=[2, 2]))):
                pathlib.Path(path).write_text(json.dumps(made))
            self.assertEqual(self.run_tool("merge", *paths[:2], f"--results={paths[2]}")[0], 0)
            self.assertEqual(len(records.read(paths[2])["programs"]), 2)
            code, out, _ = self.run_tool("table", paths[2], "--worst=1")
            self.assertEqual(code, 0)
            self.assertEqual(out.count("main_0"), 1)

    def test_mistakes(self):
        for arguments, said in ((["run"], "either --build or --prefix"), (["run", "--nosuch"], "no option --nosuch"),
                                (["run", "--build=x", "--shard=3/2", "--seed=1"], "no I/N"),
                                (["run", "--build=x", "--peers=jax", "--seed=1"], "no peer 'jax'")):
            code, _, err = self.run_tool(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(said, err)
        self.assertEqual(self.run_tool()[0], 2)

    def test_seed_and_shards(self):
        self.assertEqual(cliffs.seed_of("0000000affff"), 10)
        self.assertEqual(cliffs.shard_of("2/3"), (2, 3))
        self.assertEqual(cliffs.numbers_of("7,3,"), [7, 3])
        for text in ("3-7", "x", "1,,-2"):
            with self.assertRaises(cliffs.Usage):
                cliffs.numbers_of(text)


if __name__ == "__main__":
    unittest.main()
