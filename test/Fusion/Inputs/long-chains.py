"""Prints the attention of recompute-weights.mlir, whose weights are multiplied with what a chain of additions makes, too.

  long-chains.py COUNT PROGRAM
"""
import sys

count, path = int(sys.argv[1]), sys.argv[2]
type = "tensor<2x3x20x20xf32>"
text = open(path).read()
begin = text.index("\nfunc.func @full(") + 1
head, tail = text[begin:text.index("\n}\n", begin) + 3].split("\n  return ", 1)
head = head.replace(") -> (", f', %x: {type} {{graph.name = "x"}}) -> ({type} {{graph.name = "w"}}, ', 1)
lines = [f"  %x0 = graph.binary add %x, %x : {type}"]
lines += [f"  %x{i} = graph.binary add %x{i - 1}, %x : {type}" for i in range(1, count)]
lines.append(f"  %w = graph.binary mul %21, %x{count - 1} : {type}")
print("\n".join([head, *lines, "  return %w, " + tail.replace(" : ", f" : {type}, ", 1)]))
