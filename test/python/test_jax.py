"""zyx.jax: functions of JAX, modules of StableHLO, what is refused, and the page of docs, beside JAX on the CPU.

JAX is a large download, which check.sh does not make: without it these tests are skipped. jax_suite.py has the table of calls.
"""
import os
import pathlib
import re

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", reason="JAX is not installed, and zyx.jax.jit compiles its functions")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

import jax_suite  # noqa: E402
import zyx  # noqa: E402
import zyx.jax  # noqa: E402
from zyx import importer  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def same(function, *arguments, tolerance=1e-5, **named):
    expected, found = jax.jit(function, **named)(*arguments), zyx.jax.jit(function, **named)(*arguments)
    assert jax.tree.structure(expected) == jax.tree.structure(found)
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(found)):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(np.asarray(b, np.float64), np.asarray(a, np.float64), rtol=tolerance, atol=tolerance)
    return found


def numbers(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def test_docs(tmp_path, monkeypatch):
    """The blocks of docs/jax.md are one program."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "docs"}
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "jax.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 5
    for block in found:
        exec(compile(block, "docs/jax.md", "exec"), names)


def test_trees_and_programs():
    step = zyx.jax.jit(lambda tree, x: {"sum": tree["a"] + x, "pair": (tree["b"][0] * 2, None)})
    tree = {"a": numbers(3), "b": [numbers(2, 2)]}
    found = step(tree, 1.0)
    np.testing.assert_allclose(found["sum"], tree["a"] + 1.0)
    assert found["pair"][1] is None and isinstance(found["sum"], jax.Array)
    step(tree, 2.0)
    assert step.captures == 1
    step(tree, 2)
    step({"a": numbers(4), "b": [numbers(2, 2)]}, 2.0)
    assert step.captures == 3


@pytest.mark.parametrize("named", [{"static_argnums": 1}, {"static_argnames": "power"}, {"static_argnums": (1,), "static_argnames": ("power",)}])
def test_static_arguments(named):
    def raised(x, power):
        return x * 2 if power == 1 else x**power

    step, x = zyx.jax.jit(raised, **named), numbers(3)
    for power in (1, 3, 1):
        np.testing.assert_allclose(step(x, power), raised(x, power), rtol=1e-5)
    np.testing.assert_allclose(step(x, power=3), x**3, rtol=1e-5)
    assert step.captures in (2, 3)


def test_equal_static_values_of_other_types():
    scale = zyx.jax.jit(lambda x, by: x * by, static_argnums=1)
    x = jnp.array([1, 2, 3])
    for by in (2, 2.0, True, 1):
        made = scale(x, by)
        assert made.dtype == (x * by).dtype and made.tolist() == (x * by).tolist()
    assert scale.captures == 4


def test_numbers_that_do_not_fit():
    more = zyx.jax.jit(lambda n: n + 1)
    assert more(1) == 2
    with pytest.raises(OverflowError):
        more(2**40)


def test_no_copies():
    """An argument is read where it is, and a result is zyx's memory."""
    from zyx.jax._jit import to_array, to_jax
    from zyx.jax._lower import parse
    from zyx.jax._program import Program
    for dtype in (jnp.float32, jnp.int32, jnp.bfloat16):
        x = jnp.zeros((16, 16), dtype)
        type = Program(parse(jax.jit(lambda x: x).lower(x).as_text())).inputs[0]
        array = to_array(x, type)
        if dtype is not jnp.bfloat16:
            assert np.asarray(array).ctypes.data == x.unsafe_buffer_pointer()
        back = to_jax(array, type)
        assert back.dtype == x.dtype and bool(jnp.all(back == x))


def test_arguments_of_other_libraries():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    step = zyx.jax.jit(lambda a: a * 2)
    for given in (x, x.T, x[:, ::2], zyx.asarray(x)):
        np.testing.assert_array_equal(step(given), np.asarray(given) * 2)


def test_results_share_no_memory():
    x = jnp.arange(4.0)
    step = zyx.jax.jit(lambda x: (x, x * 1, x + 1))
    first = step(x)
    second = step(x + 1)
    for a, b in zip(first, (x, x, x + 1)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(second[2], x + 2)
    own = np.ones(64, np.float32)
    results = step(own)
    own[0] = 5
    for a, b in zip(results, (1, 1, 2)):
        assert a[0] == b


def test_keys_and_constants():
    """Keys are arrays of JAX's own dtype; a large array that the function reads is a part of the program."""
    table = numbers(64, 64)
    same(lambda x: x @ table, numbers(2, 64), tolerance=1e-4)
    split = zyx.jax.jit(lambda key: (jax.random.split(key), jax.random.normal(key, (3,))))
    keys, drawn = split(jax.random.key(3))
    assert keys.dtype == jax.random.key(3).dtype and bool(jnp.all(keys == jax.random.split(jax.random.key(3))))
    np.testing.assert_allclose(drawn, jax.random.normal(jax.random.key(3), (3,)), rtol=1e-5)


def test_wide_types():
    """With jax_enable_x64 elements have 64 bits."""
    with jax.enable_x64(True):
        x, i = jnp.asarray(np.random.default_rng(0).normal(size=(4, 4))), jnp.arange(5) - 2**40
        assert x.dtype == jnp.float64 and i.dtype == jnp.int64
        same(lambda x: (jnp.tanh(x) @ x, jnp.sort(x), jnp.argmax(x, 1), jnp.fft.fft(x).real, jnp.linalg.inv(x)), x, tolerance=1e-9)
        same(lambda i: (i * i, i // 3, jnp.sort(-i), i.astype(jnp.uint64), i.astype(jnp.float32), jnp.cumsum(i)), i)


def test_gradients():
    def block(weights, x):
        for w in weights:
            x = jax.nn.gelu(x @ w) + x
        return jnp.mean(jax.nn.log_softmax(x)**2)

    same(jax.value_and_grad(block), [numbers(8, 8, seed=i) for i in range(3)], numbers(4, 8), tolerance=1e-4)
    same(jax.hessian(lambda x: jnp.sum(jnp.sin(x)**3)), numbers(4))


def test_transformations_stand_inside():
    with pytest.raises(TypeError, match="has to be inside"):
        jax.grad(lambda x: jnp.sum(zyx.jax.jit(jnp.sin)(x)))(numbers(3))
    inner = zyx.jax.jit(lambda x: x * 3)
    np.testing.assert_allclose(zyx.jax.jit(lambda x: inner(x) + 1)(jnp.ones(2)), [4, 4])


def test_loops():
    """Counted ones are one program; those that data ends are read, also within each other."""
    x = numbers(4, 3)
    same(lambda x: lax.scan(lambda c, y: (c * 0.5 + y, jnp.sin(c)), x[0], x), x)
    same(lambda x: lax.fori_loop(3, 11, lambda i, c: c * 1.1 + i, x), x)
    same(lambda x: lax.while_loop(lambda c: (c[0] < 10) & (c[0] != 7), lambda c: (c[0] + 2, c[1] * 1.5), (1, x)), x)
    same(lambda x: lax.while_loop(lambda c: jnp.sum(jnp.abs(c)) < 100, lambda c: c * 2, x) + 1, x)
    same(lambda x, n: lax.fori_loop(0, n, lambda i, c: lax.while_loop(lambda d: jnp.max(d) < 3.0 * (i + 1), lambda d: d + 1, c), x), x, 3)
    same(lambda x: lax.while_loop(lambda c: c[0] > 0, lambda c: (c[0] - 1, c[1]), (0, x)), x)
    # A bound that is carried, and grows.
    same(lambda x: lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 3, c[1] + 1, c[2] + 1), (0, 9, x)), x)
    # One that changes in a later trip alone.
    same(lambda x: lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, jnp.where(c[0] == 3, 12, c[1]), c[2] + 1), (0, 9, x)), x)
    assert zyx.jax.jit(lambda x: lax.while_loop(lambda c: c < 0, lambda c: c + 1, x))(jnp.float32(-2.5)) == 0.5


def test_branches():
    for at in (-1, 0, 1, 2, 7):
        same(lambda i, x: lax.switch(i, [lambda x: x, lambda x: x * 2, lambda x: -x], x), at, numbers(3))
    same(lambda x: lax.cond(x[0] > 0, lambda x: (x, x * 2), lambda x: (x - 1, x), x), numbers(3))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0])
def test_orders_of_floats(value):
    x = jnp.asarray([2.0, value, -1.0, value, 0.0, 2.0, -0.0], jnp.float32)
    same(lambda x: (jnp.sort(x), jnp.argsort(x), jnp.argsort(x, descending=True), jnp.max(x), jnp.min(x), jnp.argmax(x), jnp.argmin(x),
                    lax.cummax(x), jnp.sign(x), lax.top_k(x, 3), lax.sort((x, jnp.arange(7)), num_keys=1)), x)
    same(lambda x: (jnp.argmax(x), jnp.argmin(-x)), jnp.full(3, -jnp.inf))


def test_integers_at_their_ends():
    x = jnp.asarray([-2**31, 2**31 - 1, 0, -1, 7, -7], jnp.int32)
    y = jnp.asarray([-1, 0, 0, 2, -3, 40], jnp.int32)
    same(lambda x, y: (x + y, x * y, lax.div(x, y), lax.rem(x, y), lax.shift_left(x, y), lax.shift_right_logical(x, y),
                       lax.shift_right_arithmetic(x, y), lax.clz(x), lax.population_count(x), -x, jnp.abs(x), x // y), x, y)
    z = jnp.asarray([np.nan, np.inf, -np.inf, 3e9, -3e9, -1.5, 255.7], jnp.float32)
    same(lambda z: (z.astype(jnp.int32), z[5:].astype(jnp.int8), z != 0), z)


def test_updates_of_whole_arrays():
    """A scatter without an axis writes the array as a whole."""
    same(lambda x: x.at[...].set(x * 2), numbers(3, 4))
    same(lambda x: jax.scipy.signal.detrend(x), numbers(3, 4), tolerance=1e-4)


def test_comparators_of_other_kinds():
    """An order that no key has is made by exchanges."""
    x = jnp.asarray(np.random.default_rng(0).permutation(11).astype(np.int32))
    text = jax.jit(lambda x: lax.sort(x)).lower(x).as_text()
    text = re.sub(r"stablehlo\.compare LT, %arg(\d), %arg(\d), SIGNED : \(tensor<i32>, tensor<i32>\) -> tensor<i1>\n\s*stablehlo\.return %\d+",
                  lambda m: "stablehlo.constant dense<7> : tensor<i32>\n %91 = stablehlo.remainder %arg{0}, %90 : tensor<i32>\n %92 = stablehlo.remainder %arg{1}, %90 : tensor<i32>\n"
                  "%93 = stablehlo.multiply %91, %92 : tensor<i32>\n %94 = stablehlo.subtract %91, %92 : tensor<i32>\n %95 = stablehlo.add %94, %93 : tensor<i32>\n"
                  "%96 = stablehlo.compare LT, %95, %93, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n stablehlo.return %96".format(*m.groups()), text)
    text = re.sub(r"%\d+ = stablehlo.constant dense<7>", "%90 = stablehlo.constant dense<7>", text)
    assert "%96" in text
    found = zyx.jax.load(text.encode())(zyx.asarray(np.asarray(x))).tolist()
    assert found == sorted(x.tolist(), key=lambda each: each % 7)


def test_files(tmp_path):
    """Text and portable artifacts, loaded and imported, give what JAX has."""
    from jax import export
    table = np.random.default_rng(0).normal(size=(40, 40)).astype(np.float32)

    def function(x, y):
        return jnp.argmax(x @ table, 1), jax.nn.softmax(x + y)

    x, y = numbers(4, 40), numbers(40)
    expected = function(x, y)
    exported = export.export(jax.jit(function))(x, y)
    for data in (exported.mlir_module_serialized, exported.mlir_module().encode()):
        path = tmp_path / "model.stablehlo"
        path.write_bytes(data)
        program = zyx.jax.load(path)
        found = program(zyx.asarray(np.asarray(x)), zyx.asarray(np.asarray(y)))
        assert found[0].tolist() == expected[0].tolist()
        np.testing.assert_allclose(np.asarray(found[1]), expected[1], rtol=1e-5)
        assert importer.main([str(path), "-o", str(tmp_path / "model.mlir")]) == 0
        text = (tmp_path / "model.mlir").read_text()
        assert "graph." in text and "tensor<4x40xf32>" in text
        assert [list(each.shape) for each in zyx.load(str(tmp_path / "model.safetensors")).values()] == [[40, 40]]
        assert importer.main([str(path), "--weights=constants", "-o", str(tmp_path / "other.mlir")]) == 1
    assert importer.main([str(path), "--bind=n=3"]) == 1


def test_complex_constants():
    for table in ([2 + 1j], np.arange(5) * 1j - 2, [float("nan") + 1j, complex(1, float("-inf")), -0.0j], np.zeros((0, 2)),
                  np.random.default_rng(0).normal(size=(70, 2)) @ [1, 1j], np.full((9, 9), 1.5 - 2j)):
        table = jnp.asarray(np.asarray(table), jnp.complex64)
        found = zyx.jax.jit(lambda x: table + x)(jnp.float32(0.5))
        assert np.array_equal(np.asarray(found), np.asarray(table + jnp.float32(0.5)), equal_nan=True) and found.dtype == jnp.complex64
    found = zyx.jax.jit(lambda z: z * 2 + 1j)(jnp.asarray([1 + 2j, 3]))
    assert found.tolist() == [2 + 5j, 6 + 1j]


SMALL = ["int4", "uint4", "int2", "uint2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz", "float8_e4m3", "float8_e3m4", "float4_e2m1fn",
         "float8_e8m0fnu"]


def same_numbers(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    a, b = np.asarray(found).astype(np.float64), np.asarray(expected).astype(np.float64)
    # Zeros have their signs.
    assert np.all((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize("name", [name for name in SMALL if hasattr(jnp, name)])
def test_small_elements(name):
    """They are cast as JAX casts them, moved and compared; products and sums of them are of wider ones."""
    dtype, random = getattr(jnp, name), np.random.default_rng(1)
    bits = random.integers(0, 2**32, 2000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([bits, (random.normal(size=2000) * 10.0 ** random.uniform(-3, 4, 2000)).astype(np.float32), np.float32(
        [0, -0.0, np.nan, np.inf, -np.inf, 7, 8, -8, -9, 15, 16, 3, 4, -2, -3, 1.5, -1.5, 448, 464, 240, 248, 6, 7, 0.25, 0.75])])
    for each in (x, jnp.asarray(x, jnp.bfloat16), np.arange(-300, 300, dtype=np.int32), np.arange(256, dtype=np.uint8), np.asarray([True, False])):
        same_numbers(zyx.jax.jit(lambda v: v.astype(dtype))(each), jax.jit(lambda v: v.astype(dtype))(each))
    small = jnp.asarray(np.float32([0, 1, -1, 2, -2, 3, 1, 0.5, 6, 7, 4, -3])).astype(dtype)
    for to in (jnp.float32, jnp.bfloat16, jnp.int32, jnp.bool_, jnp.float8_e4m3fn):
        # XLA's own cast of float4_e2m1fn to integers gives the least one of a negative number. Of NaN it gives 0.
        expected = np.where(np.isnan(np.asarray(small)), 0 if to == jnp.int32 else 1, np.asarray(small).astype(np.float32)).astype(to) if to in (jnp.int32, jnp.bool_) else jax.jit(lambda v: v.astype(to))(small)
        same_numbers(zyx.jax.jit(lambda v: v.astype(to))(small), expected)
    held, own = np.asarray(small), np.asarray(small).astype(np.float32)
    table = np.tile(held, 20)
    found = zyx.jax.jit(lambda v: (v.reshape(3, 4).T, jnp.concatenate([v, v[::-1]]), jnp.where(v > v[0], v, v[1]), v[jnp.asarray([1, 5])],
                                   jnp.pad(v, 1), jnp.asarray(table), jnp.asarray(held[:3]), jnp.full(300, held[5]), v == v[2]))(small)
    right = (held.reshape(3, 4).T, np.concatenate([held, held[::-1]]), np.where(own > own[0], held, held[1]), held[[1, 5]],
             np.concatenate([held[:1], held, held[:1]]), table, held[:3], np.full(300, held[5]), own == own[2])
    for a, b in zip(found, right):
        same_numbers(a, b)
    wide = jnp.float32 if "float" in name else jnp.int32
    found = zyx.jax.jit(lambda v, w: lax.dot_general(v, w, (((1,), (1,)), ((), ())), preferred_element_type=wide))(
        small.reshape(3, 4), small.reshape(3, 4))
    assert np.array_equal(np.asarray(found), own.reshape(3, 4) @ own.reshape(3, 4).T, equal_nan=True) and found.dtype == wide
    for refused, text in ((lambda v: v + v, "stablehlo.add .*of elements of"), (lambda v: v.at[0].add(v[1]), "stablehlo.scatter"),
                          (lambda v: lax.bitcast_convert_type(v.reshape(6, 2), jnp.uint8) if "4" in name and "int" in name else
                           lax.reduce(v, v[0], lax.max, (0,)), "stablehlo.(bitcast_convert|reduce)")):
        with pytest.raises(zyx.jax.Refused, match=text):
            zyx.jax.jit(refused)(small)


def test_small_elements_in_files():
    """They are elements of a wider dtype there."""
    program = zyx.jax.load(b"func.func @main(%x: tensor<?xi4>) -> tensor<?xf32> {\n%y = stablehlo.convert %x : (tensor<?xi4>) -> tensor<?xf32>\n"
                           b"return %y : tensor<?xf32>\n}")
    assert repr(program).endswith("(i4[?]) -> (f32[?])>")
    assert program(zyx.asarray([1, -8, 7], dtype=zyx.int8)).tolist() == [1, -8, 7]
    with pytest.raises(TypeError, match="int32"):
        program(zyx.asarray([1], dtype=zyx.int32))


def test_open_extents(tmp_path):
    """A module of symbolic shapes is read once, and has a program for each set of extents."""
    from jax import export
    rows, columns = export.symbolic_shape("rows, columns")

    def function(w, x, z):
        total = jax.random.uniform(jax.random.PRNGKey(0), x.shape) + jnp.arange(x.shape[0])[:, None]
        carried, _ = lax.scan(lambda carry, row: (carry + row, None), jnp.zeros(x.shape[1]), x)
        return (jnp.tanh(x @ w) / x.shape[0] + total.sum(), jnp.concatenate([x, x[:1]]).reshape(-1), jnp.sort(x, 0)[::-1], carried,
                jnp.pad(x, ((0, 1), (2, 0))), x[: x.shape[0] // 2], z * 2)

    exported = export.export(jax.jit(function))(
        jax.ShapeDtypeStruct((columns, 2), jnp.float32), jax.ShapeDtypeStruct((rows, columns), jnp.float32),
        jax.ShapeDtypeStruct((rows,), jnp.complex64))
    path = tmp_path / "open.stablehlo"
    path.write_bytes(exported.mlir_module_serialized)
    program = zyx.jax.load(path)
    assert repr(program) == ("<zyx.jax program open.stablehlo: (f32[?, 2], f32[?, ?], complex<f32>[?]) -> (f32[?, 2], f32[?], f32[?, ?], "
                             "f32[?], f32[?, ?], f32[?, ?], complex<f32>[?])>")
    for m, n in ((1, 3), (5, 3), (4, 2), (5, 3)):
        w, x, z = numbers(n, 2), numbers(m, n, seed=1), lax.complex(numbers(m), numbers(m, seed=2))
        parts = np.asarray(z).view(np.float32).reshape(m, 2)
        found = program(*(zyx.asarray(np.asarray(each)) for each in (w, x)), zyx.asarray(parts))
        for a, b in zip(function(w, x, z), found):
            a = np.asarray(a).view(np.float32).reshape(a.shape + (2,)) if a.dtype == jnp.complex64 else np.asarray(a)
            assert a.shape == b.shape and np.asarray(b).dtype == a.dtype
            np.testing.assert_allclose(np.asarray(b), a, rtol=1e-5, atol=1e-5)
    assert program.captures == 3
    for shapes, text in (([(3, 2), (0, 3), (0, 2)], "slice size 1 greater than dimension size 0"),
                         ([(3, 2), (4, 2), (4, 2)], r"open.stablehlo: arguments of the shapes \[3, 2\], \[4, 2\], \[4\]: "),
                         ([(3, 3), (4, 3), (4, 2)], r"argument 0 has the shape \[3, 3\], and the module says f32\[\?, 2\]"),
                         ([(3, 2), (4,), (4, 2)], r"argument 1 has the shape \[4\]")):
        with pytest.raises(ValueError, match=text):
            program(*map(zyx.zeros, shapes))
    with pytest.raises(TypeError, match="takes 3 arrays, not 1"):
        program(zyx.zeros((3, 2)))
    with pytest.raises(TypeError, match="argument 0 has the type int32"):
        program(zyx.zeros((3, 2), dtype=zyx.int32), zyx.zeros((4, 3)), zyx.zeros((4, 2)))
    twice = export.export(jax.jit(lambda x: x * 2))(jax.ShapeDtypeStruct((rows, rows), jnp.float32))
    twice = zyx.jax.load(twice.mlir_module_serialized)
    assert twice(zyx.ones((2, 2))).tolist() == [[2, 2], [2, 2]]
    for shape, text in (((0, 0), "Expected value >= 1 for dimension variable 'rows'"), ((2, 3), "requires compatible types")):
        with pytest.raises(ValueError, match=text):
            twice(zyx.ones(shape))
    # A text is of one set of shapes, which the importer is told.
    shapes = ["--shape=in0=3,2", "--shape=in1=4,3", "--shape=in2=4"]
    assert importer.main([str(path), "-o", str(tmp_path / "open.mlir"), *shapes]) == 0
    assert "tensor<4x3xf32>" in (tmp_path / "open.mlir").read_text()
    for wrong in (shapes[:2], shapes + ["--shape=x=1"], [*shapes[:2], "--shape=in2=5"]):
        assert importer.main([str(path), "-o", str(tmp_path / "wrong.mlir"), *wrong]) == 1


def test_bounded_extents():
    kind = "tensor<?x3xf32, #stablehlo.bounds<8, ?>>"
    program = zyx.jax.load(f"func.func @f(%x: {kind}, %y: {kind}) -> {kind} {{\n%z = stablehlo.add %x, %y : {kind}\nreturn %z : {kind}\n}}".encode())
    assert repr(program) == "<zyx.jax program module: (f32[?<=8, 3], f32[?<=8, 3]) -> (f32[?<=8, 3])>"
    for n in (0, 1, 8):
        assert program(zyx.ones((n, 3)), zyx.ones((n, 3))).tolist() == [[2.0] * 3] * n
    with pytest.raises(ValueError, match="argument 0 has the extent 9 in dimension 0, whose bound is 8"):
        program(zyx.ones((9, 3)), zyx.ones((9, 3)))
    with pytest.raises(ValueError, match=r"shapes \[4, 3\], \[5, 3\]: 'stablehlo.add' op requires the same shape"):
        program(zyx.ones((4, 3)), zyx.ones((5, 3)))


def test_extents_that_data_decides_are_refused():
    program = zyx.jax.load(b"func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {\n"
                           b"%y = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>\nreturn %y : tensor<?xf32>\n}")
    with pytest.raises(zyx.jax.Refused, match="open"):
        program(zyx.ones(3), zyx.asarray([3], dtype=zyx.int32))


def test_kept_programs_are_bounded():
    program = zyx.jax.load(b"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
                           b"%y = stablehlo.add %x, %x : tensor<?xf32>\nreturn %y : tensor<?xf32>\n}")
    first = program.at([(1,)])
    for n in range(2, 65):
        program.at([(n,)])
    assert program.at([(1,)]) is first and program.captures == 64
    # The one that nobody asked for the longest leaves.
    program.at([(65,)])
    assert program.at([(1,)]) is first and program.captures == 65 and program.at([(2,)]) and program.captures == 66
    double = zyx.jax.jit(lambda x, n: x * n, static_argnums=1)
    for n in range(70):
        assert float(double(jnp.float32(2), n)) == 2 * n
    assert double.captures == 64


def resource_module(digits, type="tensor<2x2xf32>"):
    return f"""module {{
  func.func public @main(%x: {type}) -> {type} {{
    %c = stablehlo.constant dense_resource<weights> : {type}
    %y = stablehlo.add %x, %c : {type}
    return %y : {type}
  }}
}}
{{-#
  dialect_resources: {{
    builtin: {{
      weights: "0x{digits}"
    }}
  }}
#-}}
"""


def test_constants_behind_the_text(tmp_path):
    path = tmp_path / "model.stablehlo"
    numbers = np.asarray([[1.5, -2.0], [0.25, 1e3]], np.float32)
    path.write_text(resource_module("04000000" + numbers.tobytes().hex()))
    program = zyx.jax.load(path)
    assert program(zyx.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist() == (numbers + np.asarray([[1, 2], [3, 4]], np.float32)).tolist()
    # More elements than are known while the module is read.
    numbers = np.arange(9000, dtype=np.int64)
    path.write_text(resource_module("08000000" + numbers.tobytes().hex(), "tensor<9000xi64>"))
    assert zyx.jax.load(path)(zyx.asarray(numbers)).tolist() == (2 * numbers).tolist()
    path.write_text(resource_module("04000000" + "00" * 15))
    with pytest.raises(zyx.jax.Refused, match="resource 'weights' of 15 bytes"):
        zyx.jax.load(path)(zyx.zeros((2, 2)))
    path.write_text(resource_module("04000000").replace("weights:", "other:"))
    with pytest.raises((zyx.jax.Refused, ValueError), match="weights"):
        zyx.jax.load(path)(zyx.zeros((2, 2)))


@pytest.mark.parametrize("data", [b"", b"module {", b"ML\xefR\x00\x01", b"\x00\xff\xfe", b"ML\xefR\rStableHLO_v1.0.0\x00", b"module {\n}"])
def test_damaged_files(data, tmp_path):
    path = tmp_path / "bad.stablehlo"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="bad.stablehlo"):
        zyx.jax.load(path)
    assert importer.main([str(path)]) == 1


def test_cut_artifacts(tmp_path):
    from jax import export
    data = export.export(jax.jit(jnp.sin))(numbers(3)).mlir_module_serialized
    for end in range(0, len(data), max(len(data) // 12, 1)):
        with pytest.raises(ValueError):
            zyx.jax.load(data[:end])


def test_arguments_that_do_not_fit():
    program = zyx.jax.load(jax.jit(lambda x: x + 1).lower(numbers(3)).as_text().encode())
    for given in ((), (zyx.zeros(4),), (zyx.zeros(3, dtype=zyx.int32),)):
        with pytest.raises(TypeError):
            program(*given)
    assert program(zyx.zeros(3)).tolist() == [1, 1, 1]


def test_refusals_name_the_line():
    def spectrum(x):
        return jnp.linalg.eigvals(x)

    with pytest.raises(zyx.jax.Refused, match=r"stablehlo\.custom_call .*lapack_sgeev_ffi"):
        zyx.jax.jit(spectrum)(numbers(3, 3))
    with pytest.raises(zyx.jax.Refused, match="rng_bit_generator"):
        zyx.jax.jit(lambda key: lax.rng_bit_generator(key, (3,)))(jnp.zeros(4, jnp.uint32))
    with pytest.raises(zyx.jax.Refused, match="open"):
        zyx.jax.load(b"func.func public @main(%a: tensor<3xf32>) -> tensor<?xf32> { %b = stablehlo.custom_call @f(%a) "
                     b": (tensor<3xf32>) -> tensor<?xf32> return %b : tensor<?xf32> }")


def test_loops_that_data_ends_are_one_program():
    f = jax.jit(lambda x: lax.while_loop(lambda c: jnp.sum(c) < 9, lambda c: c + 1, x))
    program = zyx.jax.load(f.lower(numbers(3)).as_text().encode())
    assert program(zyx.zeros(3)).tolist() == [3, 3, 3]
    assert zyx.jit(program)(zyx.zeros(3)).tolist() == [3, 3, 3]
    text, _ = zyx.jax.program_text(program)
    assert re.search(r"graph\.loop\(%\w+ while\)", text)
    # Complex numbers, and values that are known at the beginning.
    spiral = lambda z: lax.while_loop(lambda c: jnp.abs(c[0]) < c[1], lambda c: (c[0] * (1 + 1j), c[1], c[2] + 1), (z, 50.0, 0))  # noqa: E731
    same(lambda z: [f(spiral(z)[0]) for f in (jnp.real, jnp.imag)] + [spiral(z)[2]], jnp.complex64(1 + 2j))


def test_texts_with_symbols():
    from jax import export
    rows, = export.symbolic_shape("rows")
    f = jax.jit(lambda x, w: jnp.tanh(jnp.concatenate([x, jnp.ones((2, 3))]) @ w))
    program = zyx.jax.load(export.export(f)(jax.ShapeDtypeStruct((rows, 3), jnp.float32), numbers(3, 2)).mlir_module_serialized)
    text, _ = zyx.jax.program_text(program, shapes=[("rows", 3), (3, 2)])
    assert '#graph.extents<"rows", "3">' in text and '"rows + 2", "2"' in text
    assert zyx.jax.program_text(program, shapes=[(5, 3), (3, 2)])[0].count("tensor<5x3xf32>")


def test_branches_that_are_long_are_skipped():
    """What has a product or a loop is computed where it is chosen alone; of others data chooses."""
    w = numbers(3, 3)

    def long(c, x):
        return lax.cond(c, lambda x: (w @ x, jnp.sum(x)), lambda x: (x * 2, x[0]), x)

    def short(c, x):
        return lax.cond(c, lambda x: x + 1, lambda x: x * 2, x)

    def many(i, x):
        return lax.switch(i, [lambda x: x @ x, lambda x: jnp.sort(x, 0), lambda x: -x], x)

    def loops(text):
        return text.count("graph.loop")

    for c in (True, False):
        same(long, c, numbers(3))
        same(short, c, numbers(3))
        # The branch that has no end is not run.
        same(lambda c, x: lax.cond(c, lambda x: x, lambda x: lax.while_loop(lambda y: y == y, lambda y: y + 1, x) if True else x, x), True, 1.5)
    for i in (-1, 0, 1, 2, 7):
        same(many, i, numbers(4, 4))
    same(jax.value_and_grad(lambda x, c: jnp.sum(jnp.sin(lax.cond(c, lambda x: w @ x, lambda x: x * x, x)))), numbers(3), True)
    same(jax.value_and_grad(lambda x, c: jnp.sum(jnp.sin(lax.cond(c, lambda x: w @ x, lambda x: x * x, x)))), numbers(3), False)
    for f, arguments, count in ((long, (True, numbers(3)), 2), (short, (True, numbers(3)), 0), (many, (1, numbers(4, 4)), 3)):
        program = zyx.jax.load(jax.jit(f).lower(*arguments).as_text().encode())
        assert loops(zyx.jax.program_text(program)[0]) == count, f


def test_suite():
    """Some of the table: every ninth call, in all of its dtypes."""
    wrong = []
    for case in jax_suite.CASES[::9]:
        for dtype in case[2]:
            result, why = jax_suite.run(case, dtype)
            if result not in ("right", "skipped"):
                wrong.append(f"{result} {dtype} {case[0]}: {why}")
    assert not wrong, "\n".join(wrong)


def test_approximate_top_k():
    x = numbers(5, 300)
    same(lambda x: lax.approx_max_k(x, 7), x)
    same(lambda x: lax.approx_min_k(x, 3, reduction_dimension=0), x)
    same(lambda x: lax.approx_max_k(x.astype(jnp.bfloat16), 2), jnp.arange(12.0).reshape(3, 4))
    values, places = same(lambda x: lax.approx_max_k(x, 2, aggregate_to_topk=False), x)
    assert np.array_equal(np.take_along_axis(np.asarray(x), np.asarray(places), 1), np.asarray(values))


def test_donated_arguments():
    step = zyx.jax.jit(lambda tree, x, scale: ({"w": tree["w"] + scale * x, "n": tree["n"] + 1}, jnp.sum(x)), donate_argnums=0)
    tree, x = {"w": numbers(4, 3), "n": jnp.int32(0)}, numbers(4, 3, seed=1)
    before, w = np.array(tree["w"]), tree["w"]
    for _ in range(3):
        tree, total = step(tree, x, 2.0)
    np.testing.assert_allclose(np.asarray(tree["w"]), before + 6 * np.asarray(x), rtol=1e-5)
    assert int(tree["n"]) == 3 and step.captures == 1
    assert w.is_deleted() and not x.is_deleted() and not total.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        step({"w": w, "n": jnp.int32(0)}, x, 2.0)
    # By name, and from the end; what comes back as it went in is another array.
    for named in ({"donate_argnames": "b"}, {"donate_argnums": -1}):
        a, b = numbers(3), numbers(3, seed=2)
        kept = np.array(b)
        found = zyx.jax.jit(lambda a, b: (b, a * 2), **named)(a, b)
        assert b.is_deleted() and not a.is_deleted()
        np.testing.assert_array_equal(np.asarray(found[0]), kept)
    # Of which there is no result of its type, that stays.
    with pytest.warns(UserWarning, match="donated buffers were not usable"):
        zyx.jax.jit(lambda a: jnp.sum(a), donate_argnums=(0,))(a)
    assert not a.is_deleted()
    with pytest.raises(ValueError, match="donated"):
        zyx.jax.jit(lambda a, b: a + b, donate_argnums=0)(a, a)
    with pytest.raises(ValueError, match="donate"):
        zyx.jax.jit(lambda a, b: a, static_argnums=0, donate_argnums=0)
