"""utils/check-targets.py refuses kinds of machines outside Target, and nothing else."""
import unittest

from tree import Tree


def check(files):
    with Tree(files) as tree:
        return tree.run("check-targets.py", "--root", str(tree.root))


class CheckTargets(unittest.TestCase):
    def refuses(self, files, message):
        code, output = check(files)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def accepts(self, files):
        code, output = check(files)
        self.assertEqual(code, 0, output)

    def test_a_kind_outside_target_is_refused(self):
        self.refuses({"lib/Schedule/A.cpp": "int x;\nbool y = target.isGpu();\n"}, "lib/Schedule/A.cpp:2: isGpu")
        self.refuses({"lib/Session/A.cpp": "auto k = target::TargetKind::CUDA;\n"}, "lib/Session/A.cpp:1: TargetKind")
        self.refuses({"include/zyx/Dialect/Kernel/Transforms/Passes.td": 'Option<"isGpu", "gpu", "bool">\n'},
                     "Passes.td:1: isGpu")
        self.refuses({"tools/zyx-run/A.cpp": "if (isGpu) {}\n"}, "tools/zyx-run/A.cpp:1: isGpu")
        self.refuses({"lib/Codegen/Tile/A.cpp": "if (machine.isGpu) {}\n"}, "lib/Codegen/Tile/A.cpp:1: isGpu")

    def test_target_knows_its_kinds(self):
        self.accepts({"lib/Target/CPU/A.cpp": "if (target.kind != TargetKind::CPU) {}\n",
                      "include/zyx/Target/Info/TargetInfo.h": "enum class TargetKind { CPU };\n"})

    def test_a_number_of_a_machine_is_refused_where_it_decides(self):
        self.refuses({"lib/Schedule/A.cpp": "constexpr double lanesPerCycle = 128;\n"},
                     "lib/Schedule/A.cpp:1: lanesPerCycle")
        self.refuses({"lib/Cost/A.cpp": "constexpr int64_t rows = 4, registerFile = 65536;\n"},
                     "lib/Cost/A.cpp:1: registerFile")
        self.accepts({"lib/Schedule/A.cpp": "const int64_t residentThreads = target.simt.residentThreads;\n",
                      "lib/Conversion/KernelToNVVM/A.cpp": "constexpr int64_t warpThreads = 32;\n",
                      "lib/Target/Info/TargetInfo.cpp": "costs.lanesPerCycle = 128;\n"})

        self.refuses({"lib/Fusion/A.cpp": "constexpr int64_t threadsPerRow = 256;\n"}, "lib/Fusion/A.cpp:1: threadsPerRow")
        for room, line, name in (
                ("Codegen/Matrix", "constexpr int64_t manyRegisters = 232, few = 40;", "manyRegisters"),
                ("Codegen/Matrix", "constexpr int64_t manyRegisters[] = {240, 160};", "manyRegisters"),
                ("Codegen/Matrix", "static constexpr int64_t copyAlignment = 16;", "copyAlignment"),
                ("Codegen/Matrix", "constexpr int64_t mostExtent = (int64_t(1) << 31) - 1, mostStrideBytes = int64_t(1) << 40;",
                 "mostStrideBytes"),
                ("Codegen/Simt", "static constexpr int64_t warpThreads = 32, blockRows = 16;", "warpThreads"),
                ("Codegen/Tile", "static constexpr int64_t accessBytes = 16;", "accessBytes"),
                ("Codegen/Loops", "    constexpr int64_t lanes = 4;", "lanes"),
                ("Fusion", "constexpr double productsPerLaunch = 1 << 18;", "productsPerLaunch"),
                ("Codegen/Cpu", "  static constexpr int64_t lanes = 16;", "lanes"),
                ("Codegen/Simt", "static constexpr int64_t mostLanes = 8;", "mostLanes"),
                ("Dialect/Kernel/IR", "static constexpr int64_t maxBox = 256;", "maxBox"),
                ("Dialect/Kernel/IR", "static constexpr int64_t strideBytes = 16;", "strideBytes"),
                ("Dialect/Graph/Analysis", "  constexpr double clusterMeeting = 500, latency = 30;", "clusterMeeting"),
                ("Cost", "constexpr double clearlyLess = 0.8;", "clearlyLess"),
                ("Schedule", "constexpr double windowCost = 10, gatherCost = 14;", "gatherCost"),
                ("Schedule", "constexpr double fewWarpsLoss = 1.3;", "fewWarpsLoss"),
                ("Codegen/Matrix", "constexpr int64_t keptCode = 96 << 10;", "keptCode"),
                ("Schedule", "constexpr int64_t instructionBytes = 16;", "instructionBytes"),
                ("Fusion", "constexpr int64_t meetingCycles = 500;", "meetingCycles"),
                ("Schedule", "const double each = real(target.costs.threadProductsPerCycle * (isWide ? 2 : 1));",
                 "threadProductsPerCycle"),
                ("Cost", "rate = 2.5 * target.costs.lanesPerCycle;", "lanesPerCycle"),
                ("Schedule", "constexpr double attentionRate = .6;", "attentionRate")):
            self.refuses({f"lib/{room}/A.cpp": line + "\n"}, f"lib/{room}/A.cpp:1: {name}")
        self.accepts({"include/zyx/Target/Info/Fits.h": "inline constexpr double attentionRate = 0.6;\n",
                      "lib/Fusion/A.cpp": "constexpr int mostOps = 12;\n",
                      "lib/Codegen/Matrix/A.cpp": "constexpr double least = 0x1p-60, most = 0x1p60;\n",
                      "lib/Codegen/Simt/A.h": "int64_t lanes = 1;\n"})

    def test_twice_the_lanes_are_a_rate_where_cycles_are_counted(self):
        self.refuses({"lib/Schedule/EstimateKernel.cpp": "multiply = work.products / (2 * lanes);\n"},
                     "lib/Schedule/EstimateKernel.cpp:1: lanes")
        self.accepts({"lib/Schedule/EstimateKernel.cpp": "multiply = work.products / (lanes * rate);\n",
                      "lib/Schedule/ChooseWindows.cpp": "tiles[axis] = 2 * lanes;\n"})

    def test_a_fact_is_no_fit(self):
        for line, name in (("inline constexpr int64_t keptCode = 96 << 10, instructionBytes = 16;", "instructionBytes"),
                           ("inline constexpr double clusterMeeting = 500, pointCycles = 150;", "clusterMeeting"),
                           ("inline constexpr double sharedLatency = 30;", "sharedLatency"),
                           ("inline constexpr double scatteredBytes = 64;", "scatteredBytes")):
            self.refuses({"include/zyx/Target/Info/Fits.h": line + "\n"}, f"include/zyx/Target/Info/Fits.h:1: {name}")
        self.accepts({"include/zyx/Target/Info/Fits.h": "inline constexpr double copiedBytes = 4, joinCycles = 1;\n"})

    def test_a_fact_is_no_option_where_groups_are_formed(self):
        self.refuses({"include/zyx/Fusion/Passes.td": 'let options = [Option<"threads", "threads", "int64_t", "0", "">];\n'},
                     "include/zyx/Fusion/Passes.td:1: threads")
        self.accepts({"include/zyx/Fusion/Passes.td": 'let options = [Option<"join", "join", "bool", "true", "">];\n',
                      "include/zyx/Schedule/Passes.td": 'Option<"threads", "threads", "int64_t", "1", "">,\n'})

    def test_facts_are_asked_everywhere(self):
        self.accepts({"lib/Schedule/A.cpp": "if (target.hasSubgroups()) {}\n"})


if __name__ == "__main__":
    unittest.main()
