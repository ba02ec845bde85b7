"""Graphs of one function, as text."""


class Text:
    """One function, built op by op."""

    def __init__(self):
        self.lines, self.args, self.count = [], [], 0

    @staticmethod
    def type(shape, dtype):
        return "tensor<" + "".join(f"{d}x" for d in shape) + dtype + ">"

    def input(self, shape, dtype):
        value = (f"%arg{len(self.args)}", tuple(shape), dtype)
        self.args.append(value)
        return value

    def op(self, text, shape, dtype):
        self.count += 1
        name = f"%{self.count}"
        self.lines.append(f"  {name} = graph.{text}")
        return name, tuple(shape), dtype

    def t(self, v):
        return self.type(v[1], v[2])

    def reshape(self, v, shape):
        return self.op(f"reshape {v[0]} : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def expand(self, v, shape):
        return self.op(f"expand {v[0]} : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def permute(self, v, order):
        shape = [v[1][i] for i in order]
        return self.op(f"permute {v[0]} order = {list(order)} : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def cast(self, v, dtype):
        return v if v[2] == dtype else self.op(f"cast {v[0]} : {self.t(v)} -> {self.type(v[1], dtype)}", v[1], dtype)

    def unary(self, kind, v):
        return self.op(f"unary {kind} {v[0]} : {self.t(v)}", v[1], v[2])

    def binary(self, kind, a, b):
        return self.op(f"binary {kind} {a[0]}, {b[0]} : {self.t(a)}", a[1], a[2])

    def number(self, value, shape, dtype):
        return self.op(f"constant dense<{value:e}> : {self.type(shape, dtype)}", shape, dtype)

    def reduce(self, kind, v, dim):
        shape = v[1][:dim] + v[1][dim + 1:]
        return self.op(f"reduce {kind} {v[0]} dims = [{dim}] : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def rows(self, v, shape):
        """A value per row, along the rows."""
        return self.expand(self.reshape(v, v[1] + (1,)), shape)

    def scaled(self, v, factor):
        return self.binary("mul", v, self.number(factor, v[1], v[2]))

    def function(self, result):
        args = ", ".join(f"{v[0]}: {self.t(v)}" for v in self.args)
        return "\n".join([f"func.func @main({args}) -> {self.t(result)} {{", *self.lines,
                          f"  return {result[0]} : {self.t(result)}", "}"]) + "\n"


def product(t, a, b):
    """[..., m, k] by [..., n, k], summed in f32; of i8 in i32."""
    sums = "i32" if a[2] == "i8" else "f32"
    *batch, m, k = a[1]
    n = b[1][-2]
    shape = (*batch, m, n, k)
    left = t.expand(t.reshape(a, (*batch, m, 1, k)), shape)
    right = t.expand(t.reshape(b, (*batch, 1, n, k)), shape)
    return t.reduce("add", t.binary("mul", t.cast(left, sums), t.cast(right, sums)), len(shape) - 1)
