"""utils/check-rooms.py refuses what the table forbids, and nothing else."""
import unittest

from tree import ROOT, Tree

ROOMS = (ROOT / "utils" / "rooms.json").read_text()


def check(files):
    with Tree({"utils/rooms.json": ROOMS, **files}) as tree:
        return tree.run("check-rooms.py", "--root", str(tree.root))


class CheckRooms(unittest.TestCase):
    def refuses(self, files, message):
        code, output = check(files)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def accepts(self, files):
        code, output = check(files)
        self.assertEqual(code, 0, output)

    def test_runtime_may_not_see_a_dialect(self):
        self.refuses({"lib/Runtime/Pool.cpp": '#include "zyx/Dialect/Graph/IR/Graph.h"\n'},
                     "lib/Runtime/Pool.cpp: Runtime may not use Dialect/Graph")

    def test_plain_rooms_may_not_see_llvm(self):
        self.refuses({"include/zyx/Graph/Graph.h": '#include "llvm/ADT/SmallVector.h"\n'},
                     "include/zyx/Graph/Graph.h: Graph may not use MLIR")
        self.refuses({"lib/Base/CMakeLists.txt": "add_zyx_mlir_library(ZyxBase A.cpp)\n"},
                     "lib/Base/CMakeLists.txt: Base may not use MLIR")

    def test_links_count(self):
        self.refuses({"lib/Session/CMakeLists.txt": "add_zyx_library(ZyxSession A.cpp LINK ZyxPipelines)",
                      "lib/Pipelines/CMakeLists.txt": "add_zyx_mlir_library(ZyxPipelines A.cpp)"},
                     "lib/Session/CMakeLists.txt: Session may not use Pipelines")
        self.refuses({"lib/IO/CMakeLists.txt": "target_link_libraries(ZyxIO PRIVATE LLVM)"},
                     "lib/IO/CMakeLists.txt: IO may not use MLIR")

    def test_targets_do_not_know_each_other(self):
        self.refuses({"lib/Target/NVVM/Emit.cpp": '#include "zyx/Target/CPU/Emit.h"\n'},
                     "lib/Target/NVVM/Emit.cpp: Target/NVVM may not use Target/CPU")
        self.accepts({"lib/Target/OpenCL/Emit.cpp": '#include "zyx/Target/Text/Printer.h"\n'})

    def test_conversion_reads_groups_not_fusion(self):
        self.refuses({"lib/Conversion/GraphToKernel/A.cpp": '#include "zyx/Fusion/Former.h"\n'},
                     "Conversion/GraphToKernel may not use Fusion")

    def test_vendor_headers_stay_in_devices(self):
        self.refuses({"lib/Runtime/Pool.cpp": "#include <cuda.h>\n"},
                     "lib/Runtime/Pool.cpp: Runtime may not use Vendor")
        self.accepts({"lib/Runtime/Devices/Cuda/Device.cpp": "#include <cuda.h>\n"})

    def test_an_unknown_room_is_refused(self):
        self.refuses({"lib/Misc/A.cpp": "int x;\n"}, "lib/Misc/A.cpp: Misc is no room")

    def test_the_c_surface_includes_nothing_of_zyx(self):
        self.refuses({"include/zyx-c/Runtime.h": '#include "zyx/Base/Status.h"\n'},
                     "include/zyx-c/Runtime.h: C may not use Base")

    def test_allowed_uses(self):
        self.accepts({
            "lib/Dialect/Graph/IR/Ops.cpp":
                '#include "zyx/Graph/Graph.h"\n#include "mlir/IR/Builders.h"\n#include <vector>\n',
            "lib/Dialect/Graph/IR/CMakeLists.txt":
                "add_zyx_mlir_library(ZyxGraphDialect Ops.cpp LINK ZyxGraph)\n",
            "lib/Graph/CMakeLists.txt": "add_zyx_library(ZyxGraph A.cpp)\n"})

    def test_this_tree(self):
        with Tree({}) as tree:
            code, output = tree.run("check-rooms.py")
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
