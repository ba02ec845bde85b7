# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile .mlir texts: each program that reads one does what it says, or refuses it with a reason.

What is right is run on the cpu, and some of it by the interpreter and as C. What is wrong goes through
zyx-opt too, which has another door to the parser."""
import pathlib
import random
import re

import hostile

# The first number behind those of the table.
UNARY_KINDS = len(re.findall(r"^ZYX_GRAPH_UNARY\(", (pathlib.Path(__file__).resolve().parents[2] /
                                                    "include/zyx/Graph/UnaryKinds.inc").read_text(), re.MULTILINE))

REFUSE, RUN, EITHER = "refuse", "run", "either"


class Texts:
    """All texts by name: what must become of them, and by which programs they are read."""

    def __init__(self):
        self.all = []

    def add(self, name, text, expect=REFUSE, says=None, tools=None, slow=False):
        """`says`: what a refusal says. `tools`: words of "opt", "cpu", "c", "reference", "compile"."""
        if tools is None:
            tools = ["opt", "cpu"] if expect == REFUSE and len(self.all) % 2 else ["cpu"]
            if len(self.all) % 5 == 0 and expect != REFUSE:
                tools = tools + ["reference"]
            if len(self.all) % 10 == 0 and expect != REFUSE:
                tools = tools + ["c"]
        data = text if isinstance(text, bytes) else text.encode()
        self.all.append((name, data, expect, says, tools, slow))


COMMANDS = {
    "opt": ["zyx-opt", "x.mlir"],
    "views": ["zyx-opt", "x.mlir", "--zyx-fusion-normalize-views", "-o", "y.mlir"],
    "translate": ["zyx-translate", "--to-dot", "x.mlir"],
    "compile": ["zyx-compile", "x.mlir", "-o", "x.zyxa"],
    "cpu": ["zyx-run", "x.mlir", "--random=1"],
    "reference": ["zyx-run", "x.mlir", "--random=1", "--device=reference"],
    "c": ["zyx-run", "x.mlir", "--random=1", "--device=c"],
}


def check(text):
    _, data, expect, says, tools, _ = text

    def run(bench):
        (bench.folder / "x.mlir").write_bytes(data)
        # Of several functions, the first.
        functions = re.findall(rb"func\.func @(\w+)", data)
        chosen = [f"--entry={functions[0].decode()}"] if 1 < len(functions) < 100 else []
        for tool in tools:
            # A C compiler that reads a file without end stops where its memory does.
            outcome = bench.run(*COMMANDS[tool], *([] if tool in ("opt", "views", "translate") else chosen),
                                seconds=40 if b"/dev/zero" in data else None)
            wrong = hostile.fault(outcome, expect)
            hostile.require(wrong is None, f"{wrong}: {outcome}")
            hostile.require(hostile.is_said(outcome, says), f"does not say '{says}': {outcome}")
    return run


def entry(body, arguments="%x: tensor<4xf32>", result="tensor<4xf32>", name="@main"):
    """A function whose body ends in %y."""
    return f"func.func {name}({arguments}) -> {result} {{\n  {body}\n  return %y : {result}\n}}\n"


def literals(t):
    def constant(name, value, type_, **how):
        t.add(f"literal.{name}", entry(f"%y = graph.constant dense<{value}> : {type_}", "", type_), **how)

    for width, over in ((8, 128), (8, 200), (16, 32768), (16, 65535), (32, 1 << 31), (32, 3000000000), (64, 1 << 63)):
        constant(f"i{width}.{over}", over, f"tensor<4xi{width}>", says="does not fit in the signed type", tools=["cpu", "opt"])
        constant(f"i{width}.{over}.list", f"[1, {over}]", f"tensor<2xi{width}>", says="does not fit")
        constant(f"i{width}.{over}.negative", -over, f"tensor<4xi{width}>",
                 expect=RUN if over == 1 << (width - 1) else REFUSE)
        constant(f"i{width}.{over}.hex", hex(over), f"tensor<4xi{width}>", says="does not fit")
        constant(f"ui{width}.{over}", over, f"tensor<4xui{width}>", expect=RUN)
        constant(f"ui{width}.wide", 1 << width, f"tensor<4xui{width}>") if over in (128, 32768, 1 << 31, 1 << 63) else None
    constant("ui8.negative", -1, "tensor<4xui8>")
    constant("i64.wide", 1 << 64, "tensor<4xi64>")
    constant("i32.wide", 1 << 200, "tensor<4xi32>")
    constant("i1.two", 2, "tensor<4xi1>")
    constant("i1.text", "maybe", "tensor<4xi1>")
    constant("f32.integer", 1, "tensor<4xf32>")
    constant("f32.nan", "nan", "tensor<4xf32>")
    constant("f32.hex", "0x7FC00000", "tensor<4xf32>", expect=RUN)
    constant("f32.hex.wide", "0x7FC000000000", "tensor<4xf32>")
    constant("f32.infinite", "1.0e39", "tensor<4xf32>", says="does not fit in f32")
    constant("f32.minus.infinite", "-1.0e39", "tensor<4xf32>", says="does not fit in f32")
    constant("f64.infinite", "1.0e999", "tensor<4xf64>", says="does not fit in f64")
    constant("f64.exponent", "1.0e99999999999999999999", "tensor<4xf64>", says="does not fit in f64")
    constant("f64.tiny", "1.0e-99999", "tensor<4xf64>", expect=EITHER)
    constant("f16.infinite", "65520.0", "tensor<4xf16>", says="does not fit in f16")
    constant("bf16.infinite", "3.4e38", "tensor<4xbf16>", says="does not fit in bf16")
    constant("f8.infinite", "500.0", "tensor<4xf8E4M3FN>", says="does not fit in f8E4M3FN")
    for digits in (1098, 1099, 60000, 1000000):
        constant(f"f32.digits.{digits}", "1." + "3" * digits, "tensor<4xf32>", tools=["cpu", "opt"],
                 **({"expect": RUN} if digits < 1099 else {"says": "characters, more than 1100"}))
    for digits in (20, 65, 20000, 40000, 1000000):
        constant(f"i32.digits.{digits}", "3" * digits, "tensor<4xi32>", tools=["cpu", "opt"])
        constant(f"i32.hex.digits.{digits}", "0x" + "f" * digits, "tensor<4xi32>")
        t.add(f"literal.attribute.digits.{digits}", entry("%y = graph.unary neg %x {a.b = " + "7" * digits + "} : tensor<4xf32>"))
    constant("elements.few", "[1.0, 2.0]", "tensor<4xf32>")
    constant("elements.ragged", "[[1.0, 2.0], [3.0]]", "tensor<2x2xf32>")
    constant("elements.none", "[]", "tensor<4xf32>")
    constant("elements.empty", "[]", "tensor<0xf32>", expect=EITHER)
    constant("elements.mixed", "[1.0, 2]", "tensor<2xf32>")
    constant("elements.bytes", '"0x00"', "tensor<4xf32>")
    constant("elements.bytes.odd", '"0x000"', "tensor<4xi8>")
    constant("elements.bytes.none", '"zz"', "tensor<4xi8>")
    constant("elements.many", "[" + ", ".join(f"{i}.0" for i in range(5000)) + "]", "tensor<5000xf32>")
    constant("elements.string", '["a", "b"]', "tensor<2xf32>")
    constant("elements.complex", "(1.0, 2.0)", "tensor<2xf32>", expect=EITHER)
    constant("resource", "x", "tensor<4xf32>")
    t.add("literal.dense_resource", entry("%y = graph.constant dense_resource<blob> : tensor<4xf32>"), says="no elements in the text")
    for name, blob, type, says in (
            ("few", "04000000", "tensor<4xf32>", "has 0 bytes"), ("aligned", "00000080" + "00" * 16, "tensor<4xf32>", "more than 4096"),
            ("aligned.most", "ffffffff" + "00" * 16, "tensor<4xf32>", "more than 4096"), ("odd", "04000000000", "tensor<4xf32>", "hex string blob"),
            ("none", "", "tensor<4xf32>", "hex string blob"), ("bool", "0100000000010203", "tensor<4xi1>", "no bool"),
            ("large", "01000000" + "01" * 4097, "tensor<4097xi8>", "more than 4096: make it a parameter"),
            ("huge", "01000000" + "01" * (1 << 20), f"tensor<{1 << 20}xi8>", "more than 4096: make it a parameter"),
            ("count", "01000000", "tensor<9223372036854775807x16xi8>", "")):
        t.add(f"literal.dense_resource.{name}", entry(f"%y = graph.constant dense_resource<blob> : {type}", "", type) +
              f'\n{{-# dialect_resources: {{ builtin: {{ blob: "0x{blob}" }} }} #-}}\n', **({"says": says} if says else {}))
    t.add("literal.sparse", entry("%y = graph.constant sparse<[[0]], 1.0> : tensor<4xf32>"))
    t.add("literal.alias", "#c = dense<200> : tensor<4xi8>\n" + entry("%y = graph.constant #c", "", "tensor<4xi8>"),
          says="does not fit in the signed type i8")
    t.add("literal.type.alias", "!t = tensor<4xi8>\n" + entry("%y = graph.constant dense<200> : !t", "", "!t"),
          says="does not fit in the signed type i8", tools=["cpu", "opt"])
    t.add("literal.generic", entry('%y = "graph.constant"() <{value = dense<200> : tensor<4xi8>}> : () -> tensor<4xi8>', "", "tensor<4xi8>"),
          says="does not fit in the signed type i8")
    t.add("literal.comment.between", entry("%y = graph.constant dense<200> // of\n : tensor<4 x i8>", "", "tensor<4xi8>"),
          says="does not fit in the signed type i8")
    t.add("literal.pad", entry("%c = graph.constant dense<300> : tensor<i8>\n  %y = graph.pad %x, %c low = [1] high = [0] interior = [0] : tensor<3xi8> -> tensor<4xi8>",
                               "%x: tensor<3xi8>", "tensor<4xi8>"), says="does not fit in the signed type i8")
    for number in (1 << 63, (1 << 64) - 1, 1 << 64, 1 << 300):
        t.add(f"literal.iota.{number}", entry(f"%y = graph.iota dim = {number} : tensor<4xf32>"))
        t.add(f"literal.trips.{number}", entry(f"%y = graph.loop(%i to {number}) carry(%p = %x : tensor<4xf32>) {{\n graph.yield %p : tensor<4xf32> }}"))
        t.add(f"literal.flip.{number}", entry(f"%y = graph.flip %x dims = [{number}] : tensor<4xf32>"))
        t.add(f"literal.generic.iota.{number}", entry(f'%y = "graph.iota"() <{{dim = {number} : i64}}> : () -> tensor<4xf32>'))
        t.add(f"literal.generic.array.{number}", entry(f'%y = "graph.flip"(%x) <{{dims = array<i64: {number}>}}> : (tensor<4xf32>) -> tensor<4xf32>'))


def generic(t):
    unary, binary = "(tensor<4xf32>) -> tensor<4xf32>", "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"
    reduce = "(tensor<4xf32>) -> tensor<f32>"
    ops = {
        "unary": ('"graph.unary"(%x)', unary, "", UNARY_KINDS, "tensor<4xf32>"),
        "binary": ('"graph.binary"(%x, %x)', binary, "", 19, "tensor<4xf32>"),
        "reduce": ('"graph.reduce"(%x)', reduce, "dims = array<i64: 0>", 6, "tensor<f32>"),
        "scan": ('"graph.scan"(%x)', unary, "dim = 0 : i64", 6, "tensor<4xf32>"),
        "sort": ('"graph.sort"(%x)', unary, "dim = 0 : i64", 2, "tensor<4xf32>"),
    }
    for name, (op, types, others, kinds, result) in ops.items():
        comma = ", " if others else ""

        def add(case, attributes, **how):
            t.add(f"generic.{name}.{case}", entry(f"%y = {op} {attributes} : {types}", result=result), **how)

        add("nothing", "", says="requires its property 'kind'", tools=["cpu", "opt"])
        add("others", f"<{{{others}}}>", says="requires its property 'kind'")
        add("braces", f"{{kind = 0 : i32{comma}{others}}}", says="requires its property 'kind'")
        add("right", f"<{{kind = 0 : i32{comma}{others}}}>", expect=RUN)
        add("unknown", f"<{{kind = {kinds} : i32{comma}{others}}}>")
        add("negative", f"<{{kind = -1 : i32{comma}{others}}}>")
        add("wide", f"<{{kind = 4294967296 : i64{comma}{others}}}>", says="an i32")
        add("float", f"<{{kind = 0.0 : f32{comma}{others}}}>")
        add("text", f"<{{kind = \"exp\"{comma}{others}}}>")
        add("more", f"<{{kind = 0 : i32{comma}{others}, sort = 1 : i32}}>", says="has no property 'sort'")
        add("twice", f"<{{kind = 0 : i32{comma}{others}}}> {{kind = 1 : i32}}", says="has no attribute 'kind'")
        add("discardable", f"<{{kind = 0 : i32{comma}{others}}}> {{test.note = 1 : i32}}", expect=RUN)
    for name, body in {
        "unary": "graph.unary exp %x {kind = 3 : i32} : tensor<4xf32>",
        "binary": "graph.binary add %x, %x {kind = 3 : i32} : tensor<4xf32>",
        "scan.dim": "graph.scan add %x dim = 0 {dim = 0 : i64} : tensor<4xf32>",
        "scan.exclusive": "graph.scan add %x dim = 0 exclusive {exclusive} : tensor<4xf32>",
        "scan.misspelt": "graph.scan add %x dim = 0 {exclusiv} : tensor<4xf32>",
        "flip": "graph.flip %x dims = [0] {dims = array<i64: 0>} : tensor<4xf32>",
        "iota": "graph.iota dim = 0 {dim = 1 : i64} : tensor<4xf32>",
        "sort.kind": "graph.sort values %x dim = 0 {kind = 1 : i32} : tensor<4xf32> -> tensor<4xf32>",
        "transfer": 'graph.transfer %x to "cpu" {device = "cpu"} : tensor<4xf32>',
        "constant": "graph.constant {value = dense<1.0> : tensor<4xf32>} dense<2.0> : tensor<4xf32>",
        "loop": "graph.loop(%i to 3) carry(%p = %x : tensor<4xf32>) attributes {trips = 4 : i64} {\n graph.yield %p : tensor<4xf32> }",
        "custom": 'graph.custom "a"(%p = %x : tensor<4xf32>) -> tensor<4xf32> attributes {name = "b"} {\n graph.yield %p : tensor<4xf32> }',
        "two": "graph.unary exp %x {test.a = 1, test.a = 2} : tensor<4xf32>",
    }.items():
        t.add(f"attribute.again.{name}", entry(f"%y = {body}"), tools=["cpu", "opt"])
    for name, body in {
        "no.operands": '"graph.unary"() <{kind = 0 : i32}> : () -> tensor<4xf32>',
        "two.operands": '"graph.unary"(%x, %x) <{kind = 0 : i32}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>',
        "other.result": '"graph.unary"(%x) <{kind = 0 : i32}> : (tensor<4xf32>) -> tensor<5xf32>',
        "no.result": '"graph.unary"(%x) <{kind = 0 : i32}> : (tensor<4xf32>) -> ()',
        "region": '"graph.unary"(%x) <{kind = 0 : i32}> ({^bb0: }) : (tensor<4xf32>) -> tensor<4xf32>',
        "successor": '"graph.unary"(%x)[^bb1] <{kind = 0 : i32}> : (tensor<4xf32>) -> tensor<4xf32>',
        "unknown.op": '"graph.nothing"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
        "unknown.dialect": '"nothing.at.all"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
        "self": '"graph.unary"(%y) <{kind = 0 : i32}> : (tensor<4xf32>) -> tensor<4xf32>',
        "group.empty": '"graph.group"(%x) ({}) : (tensor<4xf32>) -> tensor<4xf32>',
        "group.arguments": '"graph.group"(%x) ({^bb0: "graph.yield"() : () -> () }) : (tensor<4xf32>) -> tensor<4xf32>',
        "loop.empty": '"graph.loop"(%x) <{trips = 1 : i64, operandSegmentSizes = array<i32: 0, 1, 0>}> ({}) : (tensor<4xf32>) -> tensor<4xf32>',
        "loop.segments": '"graph.loop"(%x) <{trips = 1 : i64, operandSegmentSizes = array<i32: 0, 9, -8>}> ({^bb0(%i: tensor<i64>, %p: tensor<4xf32>): "graph.yield"(%p) : (tensor<4xf32>) -> () }) : (tensor<4xf32>) -> tensor<4xf32>',
        "loop.no.segments": '"graph.loop"(%x) <{trips = 1 : i64}> ({^bb0(%i: tensor<i64>, %p: tensor<4xf32>): "graph.yield"(%p) : (tensor<4xf32>) -> () }) : (tensor<4xf32>) -> tensor<4xf32>',
        "constant.none": '"graph.constant"() : () -> tensor<4xf32>',
        "reduce.none": '"graph.reduce"(%x) <{kind = 0 : i32}> : (tensor<4xf32>) -> tensor<4xf32>',
        "parameter.none": '"graph.parameter"() : () -> tensor<4xf32>',
        "permute.none": '"graph.permute"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
    }.items():
        t.add(f"generic.{name}", entry(f"%y = {body}"))


def nesting(t):
    for bracket in "([{<":
        for depth in (257, 30000, 1000000):
            t.add(f"nesting.{bracket}.{depth}", bracket * depth, says="nests deeper than 256 brackets", tools=["cpu", "opt", "translate"][:2 + (depth == 30000)])
    t.add("nesting.mixed", "<[({" * 70, says="nests deeper")
    t.add("nesting.array", entry("%y = graph.unary neg %x {a.b = " + "[" * 200 + "]" * 200 + "} : tensor<4xf32>"), expect=RUN)
    t.add("nesting.tuple", entry("%y = graph.unary neg %x {a.b = " + "tuple<" * 200 + "i32" + ">" * 200 + "} : tensor<4xf32>"), expect=RUN)
    t.add("nesting.tensor", entry("%y = graph.unary neg %x : " + "tensor<" * 200 + "f32" + ">" * 200))
    t.add("nesting.minus", entry("%y = graph.constant dense<" + "-" * 300 + "1.0> : tensor<4xf32>"), says="minus signs in a row")
    t.add("nesting.minus.affine", "#m = affine_map<(d0) -> (" + "-" * 100000 + "d0)>\n" + entry("%y = graph.unary neg %x : tensor<4xf32>"))
    for count in (1025, 60000, 1000000):
        for word in (" + ", " * 2 + ", " floordiv 2 + ", " mod 3 + ", " ceildiv 2 - "):
            t.add(f"nesting.affine.{count}.{word.strip()}", "#m = affine_map<(d0) -> (d0" + (word + "d0") * min(count, 200000) + ")>\n" +
                  entry("%y = graph.unary neg %x {a.b = #m} : tensor<4xf32>"), says="operators" if count < 1000000 else None,
                  slow=count == 1000000)
    t.add("nesting.affine.mod", "#m = affine_map<(d0) -> (d0" + " mod 3" * 500 + ")>\n" + entry("%y = graph.unary neg %x {a.b = #m} : tensor<4xf32>"), expect=RUN)
    t.add("nesting.affine.sum", "#m = affine_map<(d0) -> (d0" + " + d0 floordiv 2" * 400 + ")>\n" + entry("%y = graph.unary neg %x {a.b = #m} : tensor<4xf32>"), expect=EITHER)
    t.add("nesting.affine.parens", "#m = affine_map<(d0) -> (" + "(" * 200 + "d0" + " + d0)" * 200 + ")>\n" + entry("%y = graph.unary neg %x {a.b = #m} : tensor<4xf32>"), expect=RUN)
    t.add("nesting.set", "#s = affine_set<(d0) : (d0" + " + d0" * 60000 + " >= 0)>\n" + entry("%y = graph.unary neg %x : tensor<4xf32>"))
    aliases = lambda n: "#a0 = [1]\n" + "".join(f"#a{i} = [#a{i - 1}]\n" for i in range(1, n))
    t.add("nesting.aliases", aliases(4096) + entry("%y = graph.unary neg %x {a.b = #a4095} : tensor<4xf32>"), expect=RUN)
    t.add("nesting.aliases.many", aliases(5000) + entry("%y = graph.unary neg %x {a.b = #a4999} : tensor<4xf32>"), says="more than 4096 aliases")
    t.add("nesting.aliases.doubled", "#a0 = [1]\n" + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, 24)) + entry("%y = graph.unary neg %x {a.b = #a3} : tensor<4xf32>"), expect=RUN)
    t.add("nesting.alias.itself", "#a = [#a]\n" + entry("%y = graph.unary neg %x {a.b = #a} : tensor<4xf32>"))
    t.add("nesting.type.itself", "!t = tuple<!t>\n" + entry("%y = graph.unary neg %x : tensor<4xf32>"))
    for depth in (1, 8, 40, 120):
        opened = "".join(f'%y{i} = graph.custom "c"(%p{i} = {"%x" if i == 0 else f"%p{i - 1}"} : tensor<4xf32>) -> tensor<4xf32> {{\n' for i in range(depth))
        closed = f"%z = graph.unary neg %p{depth - 1} : tensor<4xf32>\ngraph.yield %z : tensor<4xf32> }}\n"
        for i in range(depth - 1, 0, -1):
            closed += f"graph.yield %y{i} : tensor<4xf32> }}\n"
        t.add(f"nesting.custom.{depth}", entry(opened + closed + "%y = graph.unary neg %y0 : tensor<4xf32>"), expect=RUN if depth < 40 else EITHER)
    for depth in (2, 5):
        opened = "".join(f'%y{i} = graph.loop(%i{i} to 2) carry(%p{i} = {"%x" if i == 0 else f"%p{i - 1}"} : tensor<4xf32>) {{\n' for i in range(depth))
        closed = f"%z = graph.unary neg %p{depth - 1} : tensor<4xf32>\ngraph.yield %z : tensor<4xf32> }}\n"
        for i in range(depth - 1, 0, -1):
            closed += f"graph.yield %y{i} : tensor<4xf32> }}\n"
        t.add(f"nesting.loop.{depth}", entry(opened + closed + "%y = graph.unary neg %y0 : tensor<4xf32>"), expect=RUN)
    t.add("nesting.modules", "module {\n" * 200 + entry("%y = graph.unary neg %x : tensor<4xf32>") + "}\n" * 200, expect=EITHER)
    t.add("nesting.functions", "func.func @a() {\n" * 200 + "return\n}\n" * 200)


def types(t):
    for rank in (16, 17, 64, 65, 30000, 100000):
        shape = "1x" * rank
        t.add(f"type.rank.{rank}", entry(f"%y = graph.unary neg %x : tensor<{shape}f32>", f"%x: tensor<{shape}f32>", f"tensor<{shape}f32>"),
              expect=RUN if rank <= 16 else REFUSE, says=None if rank <= 16 else "rank" if rank <= 64 else "more than 64 extents",
              tools=["cpu", "opt"])
    t.add("type.rank.spaced", entry("%y = graph.unary neg %x : tensor<4xf32>", "%x: tensor<" + "1 x " * 1000 + "f32>"), says="more than 64 extents")
    t.add("type.rank.vector", entry("%y = graph.unary neg %x {a.b = vector<" + "[1]x" * 5000 + "f32>} : tensor<4xf32>"), says="more than 64 extents")
    for name, shape in {"zero": "0", "one": "1", "2^31": "2147483648", "2^40": "1099511627776", "2^62": "4611686018427387904",
                        "2^63": "9223372036854775808", "2^64": "18446744073709551616", "10^40": "1" + "0" * 40,
                        "product": "4294967296x4294967296", "product.zero": "0x4294967296x4294967296x4294967296",
                        "product.wrap": "3037000500x3037000500", "many": "x".join(["256"] * 8), "negative": "-4", "hex": "0x10"}.items():
        t.add(f"type.shape.{name}", entry(f"%y = graph.unary neg %x : tensor<{shape}xf32>", f"%x: tensor<{shape}xf32>", f"tensor<{shape}xf32>"),
              expect=RUN if name in ("zero", "one") else EITHER if name in ("product.zero", "hex") else REFUSE, tools=["cpu"])
        t.add(f"type.iota.{name}", entry(f"%y = graph.iota dim = 0 : tensor<{shape}xi8>", "", f"tensor<{shape}xi8>"), expect=EITHER, tools=["opt"])
    for element in ("i0", "i2", "i7", "i128", "si8", "index", "complex<f32>", "f80", "f128", "f8E4M3", "f8E5M2FNUZ", "tf32", "none",
                    "!kernel.buffer<f32, global>", "!plan.event", "tensor<4xf32>", "vector<4xf32>", "memref<4xf32>", "(i32) -> i32", "tuple<>", "i16777216",
                    "i99999999999"):
        t.add(f"type.element.{element}", entry(f"%y = graph.unary neg %x : tensor<4x{element}>", f"%x: tensor<4x{element}>", f"tensor<4x{element}>"))
    for type_ in ("tensor<*xf32>", "tensor<?xf32>", "memref<4xf32>", "vector<4xf32>", "f32", "i64", "index", "!graph.nothing", "!nothing.at.all<4>",
                  "tensor<4xf32, 1>", "tensor<4xf32, #graph.extents<\"4\">>", "tensor<4xf32, dense<1> : tensor<4xi8>>", "tensor<>", "tensor<x>", "tensor<4x>", "tensor"):
        t.add(f"type.whole.{type_}", entry(f"%y = graph.unary neg %x : {type_}", f"%x: {type_}", type_))
    mixed = {
        "binary": "%y = graph.binary add %x, %z : tensor<4xf32>",
        "select": "%y = graph.select %x, %x, %z : tensor<4xf32>",
        "reshape": "%y = graph.reshape %x : tensor<4xf32> -> tensor<5xf32>",
        "reshape.rank": "%y = graph.reshape %x : tensor<4xf32> -> tensor<2x3xf32>",
        "expand": "%y = graph.expand %x : tensor<4xf32> -> tensor<8xf32>",
        "permute": "%y = graph.permute %x order = [1] : tensor<4xf32> -> tensor<4xf32>",
        "permute.twice": "%y = graph.permute %x order = [0, 0] : tensor<4xf32> -> tensor<4xf32>",
        "reduce": "%y = graph.reduce add %x dims = [1] : tensor<4xf32> -> tensor<4xf32>",
        "reduce.twice": "%y = graph.reduce add %x dims = [0, 0] : tensor<4xf32> -> tensor<f32>",
        "gather": "%y = graph.gather %x[%x] dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        "pad": "%c = graph.constant dense<0.0> : tensor<f32>\n %y = graph.pad %x, %c low = [-1] high = [0] interior = [0] : tensor<4xf32> -> tensor<3xf32>",
        "pad.large": "%c = graph.constant dense<0.0> : tensor<f32>\n %y = graph.pad %x, %c low = [9223372036854775807] high = [9223372036854775807] interior = [0] : tensor<4xf32> -> tensor<4xf32>",
        "pad.interior": "%c = graph.constant dense<0.0> : tensor<f32>\n %y = graph.pad %x, %c low = [0] high = [0] interior = [4611686018427387904] : tensor<4xf32> -> tensor<4xf32>",
        "window": "%y = graph.window %x dims = [0] size = [9] stride = [1] dilation = [1] : tensor<4xf32> -> tensor<1x9xf32>",
        "window.zero": "%y = graph.window %x dims = [0] size = [0] stride = [0] dilation = [0] : tensor<4xf32> -> tensor<1x0xf32>",
        "concat.none": "%y = graph.concat dim = 0 : () -> tensor<4xf32>",
        "bitcast": "%y = graph.bitcast %x : tensor<4xf32> -> tensor<4xf64>",
        "iota": "%y = graph.iota dim = 0 : tensor<300xi8>",
        "random": "%y = graph.random_bits %x : tensor<4xf32> -> tensor<4xui32>",
        "unary.bool": "%b = graph.binary lt %x, %x : tensor<4xf32>\n %y = graph.unary exp %b : tensor<4xi1>",
        "transfer": 'transfer %x to ""', "transfer.other": '%y = graph.transfer %x to "cuda:1" : tensor<4xf32>',
        "transfer.name": '%y = graph.transfer %x to "My GPU" : tensor<4xf32>',
        "transfer.escape": '%y = graph.transfer %x to "cpu\\00" : tensor<4xf32>',
    }
    for name, body in mixed.items():
        t.add(f"op.{name}", entry(body, "%x: tensor<4xf32>, %z: tensor<5xf32>"),
              tools=["cpu", "reference"] if name == "transfer.other" else None,
              says="a program has one device" if name == "transfer.other" else None)
    t.add("op.transfer.same", entry('%y = graph.transfer %x to "cpu:0" : tensor<4xf32>'), expect=RUN, tools=["cpu"])
    t.add("op.transfer.pipeline", entry('%y = graph.transfer %x to "cuda" : tensor<4xf32>'), says="'cuda' in a program for 'cpu'", tools=["compile"])


def symbols(t):
    def symbolic(name, extent, **how):
        type_ = f'tensor<?xf32, #graph.extents<"{extent}">>'
        t.add(f"symbol.{name}", entry(f"%y = graph.unary neg %x : {type_}", f"%x: {type_}", type_), **how)

    for name, extent in {
        "empty": "", "space": " ", "number": "4", "huge": "99999999999999999999", "product": "n*" * 500 + "n", "sum": " + ".join(f"n{i}" for i in range(500)),
        "long": "n" * 100000, "parens": "(" * 30000 + "n" + ")" * 30000, "open": "(n", "minus": "-" * 1000 + "n", "zero": "0*n", "negative": "-n",
        "division": "n floordiv 0", "chain": "n" + " floordiv 2" * 2000, "power": "*".join(["(n + 1)"] * 40), "unicode": "ñ", "quote": 'n\\22', "nul": "n\\00",
        "overflow": "9223372036854775807*n + 9223372036854775807*n", "dot": "n.5", "operator": "n +", "two": "n m",
    }.items():
        symbolic(name, extent, expect=EITHER if name in ("long", "product", "sum", "zero", "negative", "chain") else REFUSE)
    t.add("symbol.count", entry("%y = graph.unary neg %x : tensor<4xf32>", '%x: tensor<?x4xf32, #graph.extents<"n">>'))
    t.add("symbol.none", entry("%y = graph.unary neg %x : tensor<4xf32>", '%x: tensor<4xf32, #graph.extents<>>'))
    t.add("symbol.many", entry("%y = graph.unary neg %x : tensor<4xf32>", '%x: tensor<4xf32, #graph.extents<' + ", ".join(['"n"'] * 100000) + ">>"))
    for order in ("n + m", "m + n"):
        type_ = f'tensor<?xf32, #graph.extents<"{order}">>'
        t.add(f"symbol.order.{order}", entry(f"%y = graph.unary neg %x : {type_}", f"%x: {type_}", type_), expect=RUN, tools=["opt"])


def names(t):
    good = "%y = graph.unary neg %x : tensor<4xf32>"
    for name in ("a\\00b", "\\00", "a\\00"):
        t.add(f"name.nul.{name}", entry(good, name=f'@"{name}"'), says="zero byte", tools=["cpu", "reference", "c"])
        t.add(f"name.nul.argument.{name}", entry(good, f'%x: tensor<4xf32> {{graph.name = "{name}"}}'), says="zero byte", tools=["cpu"])
        t.add(f"name.nul.result.{name}", entry(good, result="tensor<4xf32>").replace("-> tensor<4xf32> {", f'-> (tensor<4xf32> {{graph.name = "{name}"}}) {{', 1), says="zero byte", tools=["cpu"])
        t.add(f"name.nul.parameter.{name}", entry(f'%y = graph.parameter "{name}" : tensor<4xf32>'), says="zero byte")
    for label, name in {"empty": "", "space": "a b", "quote": "a\\22b", "slash": "../../etc/passwd", "newline": "a\\0Ab", "percent": "%s%n", "unicode": "größe",
                        "bytes": "\\FF\\FE", "c": "int x; system", "keyword": "int", "long": "n" * 100000, "longer": "n" * 1000000, "dollar": "$(touch x)",
                        "backslash": "a\\\\", "dot": ".", "dash": "-o"}.items():
        t.add(f"name.function.{label}", entry(good, name=f'@"{name}"'), expect=EITHER, tools=["cpu", "c"] if label != "longer" else ["cpu"])
        t.add(f"name.argument.{label}", entry(good, f'%x: tensor<4xf32> {{graph.name = "{name}"}}'), expect=EITHER)
    t.add("name.value.long", entry(f"%{'a' * 1000000} = graph.unary neg %x : tensor<4xf32>\n  %y = graph.unary neg %x : tensor<4xf32>"), expect=RUN)
    t.add("name.value.digits", entry(f"%{'1' * 100000} = graph.unary neg %x : tensor<4xf32>\n  %y = graph.unary neg %x : tensor<4xf32>"), expect=EITHER)
    t.add("name.twice", entry(good) + entry(good), says="redefinition of symbol")
    t.add("name.argument.twice", entry(good, '%x: tensor<4xf32> {graph.name = "a"}, %z: tensor<4xf32> {graph.name = "a"}'), tools=["cpu"])
    t.add("name.parameter.argument", entry('%y = graph.parameter "arg0" : tensor<4xf32>'), tools=["cpu"])
    t.add("name.parameter.types", entry('%y = graph.parameter "w" : tensor<4xf32>\n  %z = graph.parameter "w" : tensor<5xf32>'), tools=["cpu"])
    t.add("name.unknown.attribute", entry(good, '%x: tensor<4xf32> {graph.nam = "a"}'))
    t.add("name.not.text", entry(good, '%x: tensor<4xf32> {graph.name = 4}'))
    t.add("name.weight.first", entry(good, '%x: tensor<4xf32> {graph.weight}, %z: tensor<4xf32>'), tools=["cpu"])
    t.add("name.op.attribute", entry('%y = graph.unary neg %x {graph.name = "a"} : tensor<4xf32>'))
    t.add("name.entries", "".join(entry(good, name=f"@f{i}") for i in range(2000)), says="choose one of its entries", tools=["cpu"])
    t.add("name.call", entry("%y = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>"), tools=["cpu"])
    t.add("name.private", "func.func private @main(%x: tensor<4xf32>) -> tensor<4xf32>\n", tools=["cpu"])
    t.add("name.none", "module {}\n", tools=["cpu"])


def bytes_and_comments(t):
    good = entry("%y = graph.unary neg %x : tensor<4xf32>")
    t.add("bytes.empty", "", tools=["cpu"])
    t.add("bytes.nul", b"\0" * 4096, says="zero byte", tools=["cpu", "opt"])
    for place in (0, 5, 30, len(good) - 3):
        t.add(f"bytes.nul.{place}", good.encode()[:place] + b"\0" + good.encode()[place:], says="zero byte")
    t.add("bytes.behind", good.encode() + b"\0\0\0", says="zero byte")
    t.add("bytes.bom", b"\xef\xbb\xbf" + good.encode(), expect=EITHER)
    t.add("bytes.utf16", good.encode("utf-16"))
    t.add("bytes.latin", good.replace("main", "größe").encode("latin-1"), expect=EITHER)
    t.add("bytes.crlf", good.replace("\n", "\r\n"), expect=RUN)
    t.add("bytes.cr", good.replace("\n", "\r"), expect=EITHER)
    t.add("bytes.high", bytes(range(128, 256)) * 100)
    t.add("bytes.bytecode", b"ML\xefR" + b"\1" * 100, tools=["cpu", "opt"])
    t.add("bytes.elf", b"\x7fELF" + bytes(1000))
    t.add("bytes.large", " " * (65 << 20), says="more than 67108864", tools=["opt"], slow=True)
    t.add("bytes.cut", good[:len(good) // 2])
    t.add("bytes.string.open", good.replace("@main", '@"main'))
    t.add("comment.long", "// " + "x" * 5000000 + "\n" + good, expect=RUN)
    t.add("comment.brackets", "// " + "([{<" * 100000 + "\n" + good, expect=RUN)
    t.add("comment.many", "//\n" * 200000 + good, expect=RUN)
    t.add("comment.end", good + "// no end", expect=RUN)
    t.add("comment.nul", good.encode() + b"// \0\0\n", says="zero byte")
    t.add("comment.block", "/* " + good + " */")
    t.add("space.much", good.replace(" ", " " * 20000), expect=RUN)
    t.add("space.lines", "\n" * 2000000 + good, expect=RUN)
    body = "%y = graph.unary neg %x : tensor<4xf32> "
    for name, place in {"unknown": "loc(unknown)", "file": 'loc("a.cpp":1:2)', "large": 'loc("a.cpp":99999999999999:2)', "negative": 'loc("a.cpp":-1:2)',
                        "fused": "loc(fused[" + ", ".join(['"a":1:1'] * 20000) + "])", "nested": "loc(" + 'callsite("a" at ' * 200 + '"b"' + ")" * 200 + ")",
                        "deep": "loc(" + 'callsite("a" at ' * 5000 + '"b"' + ")" * 5000 + ")", "itself": "loc(#a)", "long": 'loc("' + "f" * 1000000 + '":1:1)',
                        "nul": 'loc("a\\00b":1:1)', "number": "loc(1)", "open": "loc("}.items():
        t.add(f"location.{name}", entry(body + place), expect=EITHER)
    t.add("location.alias", "#a = loc(#a)\n" + entry(body + "loc(#a)"))
    t.add("resources", good + "{-# dialect_resources: { builtin: { blob: \"0x08000000\" } } #-}\n", expect=EITHER)
    t.add("resources.deep", good + "{-# " + "a: {" * 300 + "}" * 300 + " #-}\n")
    t.add("resources.bad", good + "{-# nothing: { x: { blob: \"0xzz\" } } #-}\n", expect=EITHER)


def size(t):
    chain = lambda n, kinds: entry("%v0 = graph.unary neg %x : tensor<4xf32>\n" + "".join(
        f"  %v{i + 1} = graph.unary {kinds[i % len(kinds)]} %v{i} : tensor<4xf32>\n" for i in range(n)) +
        f"  %y = graph.unary neg %v{n} : tensor<4xf32>")
    t.add("size.chain.1000", chain(1000, ["sqrt", "abs"]), expect=RUN, tools=["cpu"])
    t.add("size.chain.10000", chain(10000, ["sqrt", "abs"]), expect=RUN, tools=["cpu"], slow=True)
    t.add("size.unused", entry("".join(f"%v{i} = graph.unary neg %x : tensor<4xf32>\n" for i in range(10000)) + "%y = graph.unary neg %x : tensor<4xf32>"), expect=RUN, tools=["cpu"])
    for count in (5000, 20000):
        t.add(f"size.concat.{count}", entry("%y = graph.concat " + ", ".join(["%x"] * count) + " dim = 0 : (" + ", ".join(["tensor<4xf32>"] * count) +
                                            f") -> tensor<{4 * count}xf32>", result=f"tensor<{4 * count}xf32>"), says="parts, more than 4096", tools=["cpu"])
    t.add("size.concat.1000", entry("%y = graph.concat " + ", ".join(["%x"] * 1000) + " dim = 0 : (" + ", ".join(["tensor<4xf32>"] * 1000) +
                                    ") -> tensor<4000xf32>", result="tensor<4000xf32>"), expect=RUN, tools=["cpu"], slow=True)
    t.add("size.arguments", entry("%y = graph.unary neg %x0 : tensor<4xf32>", ", ".join(f"%x{i}: tensor<4xf32>" for i in range(5000))), expect=EITHER, tools=["cpu"])
    t.add("size.results", "func.func @main(%x: tensor<4xf32>) -> (" + ", ".join(["tensor<4xf32>"] * 2000) + ") {\n  return " + ", ".join(["%x"] * 2000) + " : " +
          ", ".join(["tensor<4xf32>"] * 2000) + "\n}\n", expect=EITHER, tools=["cpu"])
    t.add("size.array", entry("%y = graph.permute %x order = [" + ", ".join(map(str, range(100000))) + "] : tensor<4xf32> -> tensor<4xf32>"))
    t.add("size.dims", entry("%y = graph.reduce add %x dims = [" + ", ".join(map(str, range(100000))) + "] : tensor<4xf32> -> tensor<4xf32>"))
    t.add("size.attributes", entry("%y = graph.unary neg %x {" + ", ".join(f"a.b{i} = {i}" for i in range(50000)) + "} : tensor<4xf32>"), expect=RUN)
    t.add("size.blocks", "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n" + "".join(f"^b{i}:\n  return %x : tensor<4xf32>\n" for i in range(5000)) + "}\n")


def loops(t):
    def loop(name, head, body, **how):
        t.add(f"loop.{name}", entry(f"%y = graph.loop({head}) carry(%p = %x : tensor<4xf32>) {{\n  {body} }}"), **how)

    keep = "graph.yield %p : tensor<4xf32>"
    loop("none", "%i to 0", keep, expect=RUN)
    loop("negative", "%i to -5", keep, expect=EITHER)
    loop("most", "%i to 9223372036854775807", keep, expect=EITHER, tools=["opt"])
    loop("float", "%i to 1.5", keep)
    loop("tensor", "%i to %x", keep)
    loop("self", "%i to %y", keep)
    loop("yield.none", "%i to 2", "graph.yield")
    loop("yield.type", "%i to 2", "graph.yield %i : tensor<i64>")
    loop("yield.two", "%i to 2", "graph.yield %p, %p : tensor<4xf32>, tensor<4xf32>")
    loop("yield.missing", "%i to 2", "%z = graph.unary neg %p : tensor<4xf32>")
    loop("return", "%i to 2", "return %p : tensor<4xf32>")
    loop("capture", "%i to 2", "%z = graph.binary add %p, %x : tensor<4xf32>\n graph.yield %z : tensor<4xf32>")
    loop("parameter", "%i to 2", '%z = graph.parameter "w" : tensor<4xf32>\n graph.yield %z : tensor<4xf32>')
    loop("index", "%i to 3", "%z = graph.cast %i : tensor<i64> -> tensor<f32>\n %r = graph.reshape %z : tensor<f32> -> tensor<1xf32>\n"
         " %e = graph.expand %r : tensor<1xf32> -> tensor<4xf32>\n %s = graph.binary add %p, %e : tensor<4xf32>\n graph.yield %s : tensor<4xf32>", expect=RUN,
         tools=["cpu", "reference", "c"])
    t.add("loop.carry.none", entry("graph.loop(%i to 2) {\n graph.yield }\n  %y = graph.unary neg %x : tensor<4xf32>"))


def implementations(t):
    """Kernels of the user's own that are none."""
    same = "(tensor<4xf32>) -> tensor<4xf32>"

    # What stands in a text is looked at by those who compile it.
    def own(name, language, lines, types=same, launch="", target="any", tools=("cpu",), **how):
        quoted = ", ".join('"' + line.replace("\\", "\\5C").replace('"', "\\22") + '"' for line in lines)
        t.add(f"implementation.{name}", entry(
            f'%y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations ['
            f'#graph.implementation<{language} "own" for "{target}" : {types} {launch} text [{quoted}]>] {{\n'
            " graph.yield %p : tensor<4xf32> }"), tools=list(tools), **how)

    buffer = "!kernel.buffer<f32, global>"
    head = f"kernel.func @own(%x: {buffer}, %y: {buffer}) {{"

    def kernel(name, *lines, **how):
        own(f"kernel.{name}", "kernel", [head, *lines, "kernel.return", "}"], **how)

    view = f"%v = kernel.view %y map <[<[4] strides [1]>]> : {buffer} -> !kernel.view<4xf32, global>"
    kernel("nothing", expect=RUN)
    kernel("parse", "%z = kernel.load", says="custom 'own'")
    kernel("machine", "kernel.roles {", "}", says="custom 'own'")
    kernel("barrier", "kernel.barrier", expect=EITHER)
    kernel("grids", "kernel.grid (%m) in [4] step [1] {", "}", "kernel.grid (%n) in [4] step [1] {", "}", says="has 2 grids")
    kernel("grid.empty", "kernel.grid (%m) in [0] step [1] {", "}", expect=EITHER)
    kernel("grid.huge", "kernel.grid (%m) in [9223372036854775807] step [1] {", "}", expect=EITHER)
    kernel("grid.dynamic", "%c = arith.constant 3 : index", "kernel.grid (%m) in [%c] step [1] {", "}", expect=EITHER)
    kernel("tile.names", view, "%c0 = arith.constant 0 : index", '%t = kernel.load %v[%c0] axes ["i"] : !kernel.view<4xf32, global> -> tensor<4xf32>',
           '%u = kernel.load %v[%c0] axes ["j"] : !kernel.view<4xf32, global> -> tensor<4xf32>', "%s = arith.addf %t, %u : tensor<4xf32>",
           "kernel.store %s, %v[%c0] : tensor<4xf32>, !kernel.view<4xf32, global>", expect=EITHER)
    kernel("threads", "%t = kernel.id thread", expect=EITHER)
    kernel("alloc", "%a = kernel.alloc : !kernel.view<1000000000xf32, private>", expect=EITHER)
    own("kernel.deep", "kernel", ["(" * 1000], says="is no text that is read")
    own("kernel.two", "kernel", [head, "kernel.return", "}", "kernel.func @more() { kernel.return }"], says="is not in its text")
    own("kernel.func", "kernel", ["func.func @own() { return }"], says="custom 'own'")
    own("kernel.arguments", "kernel", ["kernel.func @own() { kernel.return }"], says="takes 0 arguments, and the op has 2")
    own("kernel.scalar", "kernel", [f"kernel.func @own(%x: {buffer}, %n: index) {{ kernel.return }}"], says="as argument 1, which is")
    own("c.parse", "c", ["int main("], says="of custom 'own' is no function 'own' in C")
    own("c.missing", "c", ["int other;"], says="undefined reference")
    own("c.type", "c", ["float own(const float *x, float *y) { return 0; }"], says="conflicting types")
    own("c.include", "c", ['#include "/dev/zero"'], says="of custom 'own'")
    own("c.error", "c", ["#error " + "x" * 100000], says="of custom 'own'")
    own("c.card", "c", ["x"], launch="shared 4", says="does not take")
    own("ptx", "ptx", [".version 7.0"], says="is ptx text, which target")
    own("ptx.elsewhere", "ptx", ["x"], target="cuda", expect=RUN)
    # What stands around it, by those who only read it too.
    own("entry.quote", "c", ["x"], target="", says="has no target", tools=("opt", "cpu"))
    own("types", "c", ["x"], types="() -> ()", says="has 0 operands, and the op has 1", tools=("opt", "cpu"))
    own("types.none", "c", ["x"], types="(none) -> none", tools=("opt", "cpu"))
    own("groups", "c", ["x"], launch="groups 99999999999999999999", tools=("opt", "cpu"))


# Tokens of a text: names, numbers, and each other character by itself.
TOKEN = re.compile(r'[%@!#^]?[A-Za-z_][\w.$]*|\d+\.\d+(?:e[-+]?\d+)?|\d+|"[^"\n]*"|->|\s+|.')
NUMBERS = ["0", "1", "2", "3", "7", "16", "-1", "63", "4294967296", "9223372036854775807", "18446744073709551615", "1.5"]


def mutate(text, draw):
    """One to three tokens left out, doubled, exchanged or replaced."""
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        at = draw.choice(places)
        how = draw.randrange(6)
        if how == 0:
            tokens[at] = ""
        elif how == 1:
            tokens[at] *= 2
        elif how == 2:
            other = draw.choice(places)
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif tokens[at].isdigit() and how == 3:
            tokens[at] = draw.choice(NUMBERS)
        elif how == 4 and tokens[at] in ("f32", "i64", "i32", "bf16"):
            tokens[at] = draw.choice(["f64", "f16", "i1", "i8", "ui8", "ui64", "f8E5M2", "index"])
        else:
            tokens[at] = tokens[draw.choice(places)]
    return "".join(tokens)


def mutations(t, options):
    folder = hostile.pathlib.Path(__file__).resolve().parents[2]
    sources = sorted([*(folder / "examples").glob("*.mlir"), *(folder / "test/Dialect/Graph").glob("ops.mlir"), folder / "test/Dialect/Graph/loops.mlir"])
    draw = random.Random(options.seed)
    count = 3000 if options.all else 120
    for number in range(count):
        source = draw.choice(sources)
        # Comments would take most of what is changed.
        text = "\n".join(line for line in source.read_text().splitlines() if not line.lstrip().startswith("//"))
        t.add(f"mutation.{number}.{source.stem}", mutate(text, draw), expect=EITHER, tools=["compile"] if number % 4 else ["opt", "translate"])


def kernels(t):
    """Texts of the other dialects, by zyx-opt, which alone reads them."""
    kernel = lambda body: "kernel.func @k(%x: !kernel.buffer<f32, global>) {\n  " + body + "\n  kernel.return\n}\n"
    plan = lambda body: "plan.func @p(%x: !plan.buffer<f32[4]> {plan.input = \"x\"}, %y: !plan.buffer<f32[4]> {plan.output = \"y\"}) {\n  " + body + "\n  plan.return\n}\n"
    tile = "%t = arith.constant dense<1.0> : tensor<8xf32>\n  "
    for name, text in {
        "reduce.kind": kernel(tile + '%r = "kernel.reduce"(%t) <{dims = array<i64: 0>}> : (tensor<8xf32>) -> tensor<f32>'),
        "reduce.twice": kernel(tile + "%r = kernel.reduce add %t dims [0] {kind = 2 : i32} : tensor<8xf32> -> tensor<f32>"),
        "reduce.misspelt": kernel(tile + "%r = kernel.reduce add %t dims [0] {kinds = 2 : i32} : tensor<8xf32> -> tensor<f32>"),
        "reduce.property": kernel(tile + '%r = "kernel.reduce"(%t) <{kind = 0 : i32, dims = array<i64: 0>, more}> : (tensor<8xf32>) -> tensor<f32>'),
        "reduce.unknown": kernel(tile + '%r = "kernel.reduce"(%t) <{kind = 77 : i32, dims = array<i64: 0>}> : (tensor<8xf32>) -> tensor<f32>'),
        "buffer": "kernel.func @k(%x: !kernel.buffer<f32, nowhere>) {\n kernel.return\n}\n",
        "view.rank": kernel("%v = kernel.view %x map <[<[1] strides [1]>" * 60 + "]> : !kernel.buffer<f32, global> -> !kernel.view<1xf32, global>"),
        "fill.bits": plan("%e = plan.fill %y bits 18446744073709551615 : !plan.buffer<f32[4]>"),
        "fill.twice": plan("%e = plan.fill %y bits 1 {bits = 2 : i64} : !plan.buffer<f32[4]>"),
        "slice.offset": plan("%a = plan.arena : !plan.buffer<u8[64]>\n  %s = plan.slice %a[9223372036854775807] : !plan.buffer<u8[64]> -> !plan.buffer<f32[4]>"),
        "shape": plan("%a = plan.alloc : !plan.buffer<f32[4611686018427387904x4]>"),
        "launch": plan("%e = plan.launch @nothing ins(%x : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)"),
        "loop": plan("%e = plan.loop trips 3 {\n  %d = plan.fill %y bits 1 wait(%e) : !plan.buffer<f32[4]>\n }"),
        "constant": plan("%c = plan.constant [300] : !plan.buffer<u8[1]>"),
    }.items():
        t.add(f"kernel.{name}", text, tools=["opt"])


def unpacking(t):
    """Products with unpacked numbers, which are rewritten in other dimensions with all that is computed on the way."""
    text = (hostile.pathlib.Path(__file__).resolve().parents[1] / "Fusion/fuse-unpacking.mlir").read_text()
    product = text[text.index("\nfunc.func @one_row("):]
    product = product[:product.index("}\n") + 2]
    wide = "tensor<1x64x128xf32>"
    last = "%31 = graph.reduce add %30 dims"
    squares = "".join(f"%s{i + 1} = graph.binary mul %s{i}, %s{i} : {wide}\n" for i in range(60))
    t.add("unpacking.squares", product.replace(last, f"%s0 = graph.unary neg %30 : {wide}\n{squares}{last.replace('%30', '%s60')}"),
          expect=RUN, tools=["views"])
    chain = "".join(f"%v{i + 1} = graph.unary sqrt %v{i} : {wide}\n" for i in range(30000))
    beside = f"{chain}%p = graph.binary mul %30, %v30000 : {wide}\n{last.replace('%30', '%p')}"
    t.add("unpacking.chain", product.replace("(%x:", f"(%v0: {wide}, %x:").replace(last, beside), expect=RUN, tools=["views"])


def cases(options):
    t = Texts()
    for add in (literals, generic, nesting, types, symbols, names, bytes_and_comments, size, loops, implementations, kernels, unpacking):
        add(t)
    mutations(t, options)
    return [hostile.Case(text[0], check(text), slow=text[5]) for text in t.all] + [hostile.Case("lsp.bounds", language_server)]


def language_server(bench):
    """What an editor opens is bounded too, and what is refused can be mended there."""
    import json

    def message(method, params, **more):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)

    def opened(name, text):
        return message("textDocument/didOpen", {"textDocument": {"uri": f"file:///{name}.mlir", "languageId": "mlir", "version": 1, "text": text}})

    talk = message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1) + message("initialized", {})
    talk += opened("brackets", "[" * 30000) + opened("digits", "\n" + entry("%y = graph.constant dense<1." + "3" * 60000 + "> : tensor<4xf32>"))
    text = entry("%y = graph.constant dense<200> : tensor<4xi8>", "", "tensor<4xi8>")
    wrong = text.splitlines()[1]
    talk += opened("wraps", text)
    # Mended by a change of one place, then by the whole text.
    change = {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": len(wrong)}},
              "text": wrong.replace("200", "100")}
    talk += message("textDocument/didChange", {"textDocument": {"uri": "file:///wraps.mlir", "version": 2}, "contentChanges": [change]})
    talk += message("mlir/convertFromBytecode", {"uri": "file:///etc/passwd"}, id=2)
    talk += message("shutdown", None, id=3) + message("exit", None)
    outcome = bench.run("zyx-lsp-server", stdin=talk)
    hostile.require(hostile.fault(outcome) is None, f"{hostile.fault(outcome)}: {outcome}")
    said = outcome.stdout.decode()
    for part in ("zyx-lsp-server", "nests deeper than 256 brackets", "characters, more than 1100", "does not fit in the signed type i8",
                 "MLIR bytecode is not read"):
        hostile.require(part in said, f"does not say '{part}': {said}")
    answers = [json.loads(part[part.index("{"):]) for part in said.split("Content-Length")[1:]]
    last = [answer for answer in answers if answer.get("params", {}).get("uri") == "file:///wraps.mlir"][-1]
    hostile.require(not last["params"]["diagnostics"], f"a mended text is still refused: {last}")
    return 4


if __name__ == "__main__":
    hostile.main("texts", cases, least=300)
