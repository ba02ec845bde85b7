# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of programs with symbols: what the texts of several extents have in common.

A program is written for numbers. It is written here for several numbers of each symbol; the texts must be one but for extents of
types, and each of these an expression of the symbols that holds in all of the texts. Whoever reads the text infers every type
again, for the numbers that the symbols have then.
"""
import collections
import itertools
import math
import re

from . import _zyx

# Numbers that each symbol has in turn, while the others have the first of theirs, and then all at once. Odd ones and small ones are
# among them, since what a program does may depend on them; 1 is not, since what is repeated once is not repeated.
NUMBERS = (64, 2, 3, 4, 6, 8, 12, 16, 96, 101, 128, 160)
# Texts that there must be for each symbol: a model may refuse some numbers.
FEWEST = 5
# Further numbers that are asked for at most, where several expressions have the values that are known.
MOST_ASKED = 48

_TYPE = re.compile(r"tensor<((?:\d+x)*)([a-z]\w*)>")
_SPLAT = re.compile(r"^(\s*)(%[\w.]+) = graph\.constant (dense<[^\[\]]*>) : (tensor<\?[^ ]*?(?:, #graph\.extents<[^>]*>)>)$")


def text_of(make, symbols, name):
    """The text of make(numbers), where numbers are by symbol, with symbols in place of the numbers, and the arrays that come with it."""
    order = sorted(symbols)
    first = {symbol: NUMBERS[0] + 16 * at for at, symbol in enumerate(order)}
    points = [first]
    points += [{**first, symbol: number + 16 * at if number > 16 else number} for at, symbol in enumerate(order) for number in NUMBERS[1:]]
    if len(order) > 1:
        points += [{symbol: number + at for at, symbol in enumerate(order)} for number in NUMBERS[1:]]
        # Corners, of which products are found.
        points += [dict(zip(order, corner)) for corner in itertools.product(*[(first[symbol], NUMBERS[1]) for symbol in order])]
    texts, others, refusal, asked = [], None, None, set()

    def add(point):
        nonlocal others, refusal
        try:
            text, found = make(point)
        except (_zyx.UnsupportedError, MemoryError):
            raise
        except (_zyx.Error, ValueError) as error:
            # The model is for other numbers.
            if point is first:
                raise
            refusal = error
            return
        others = found if others is None else others
        if set(found) != set(others) or any(not _is_same(found[key], others[key]) for key in others):
            raise _zyx.UnsupportedError(f"{name}: which weights the program has depends on {_told(order)}")
        texts.append((point, text))

    for point in points:
        add(point)
    for symbol in order:
        seen = {point[symbol] for point, _ in texts}
        if len(seen) < FEWEST:
            raise _zyx.UnsupportedError(f"{name}: the model takes few of the numbers that were tried for '{symbol}': {refusal}")
    while True:
        lines = [text.split("\n") for _, text in texts]
        numbers = [point for point, _ in texts]
        if len({len(each) for each in lines}) != 1:
            raise _zyx.UnsupportedError(f"{name}: which ops the program has depends on {_told(order)}")
        try:
            return "\n".join(_joined(own, numbers, order, name, asked) for own in zip(*lines)), others
        except _Unsure as unsure:
            asked.add((unsure.symbol, unsure.number))
            add({**first, unsure.symbol: unsure.number})


class _Unsure(Exception):
    """Several expressions have the values that are known; at this number of a symbol they differ."""

    def __init__(self, symbol, number):
        super().__init__(symbol, number)
        self.symbol, self.number = symbol, number


def _is_same(a, b):
    return a is b or a.shape == b.shape and a.dtype is b.dtype and _zyx._bytes(a) == _zyx._bytes(b)


def names_in(shapes):
    """The symbols among extents."""
    return {extent for shape in shapes for extent in shape if isinstance(extent, str)}


def put(shape, numbers):
    """A shape with numbers in place of symbols."""
    return tuple(numbers.get(extent, extent) for extent in shape)


def _told(symbols):
    return "the extent " + ", ".join(f"'{symbol}'" for symbol in symbols)


def _joined(lines, points, symbols, name, asked):
    if len(set(lines)) == 1:
        return lines[0]
    between = {_TYPE.sub("\0", line) for line in lines}
    kinds = [_TYPE.findall(line) for line in lines]
    if len(between) != 1 or len({tuple((dims.count("x"), element) for dims, element in each) for each in kinds}) != 1:
        raise _zyx.UnsupportedError(f"{name}: what an op does depends on {_told(symbols)}: {lines[0].strip()}")
    types = []
    for column in zip(*kinds):
        shapes = [[int(extent) for extent in dims.split("x")[:-1]] for dims, _ in column]
        extents = [_expression(values, points, symbols, lines[0], name, asked) for values in zip(*shapes)]
        element = column[0][1]
        if all(isinstance(extent, int) for extent in extents):
            types.append("tensor<" + "".join(f"{extent}x" for extent in extents) + f"{element}>")
        else:
            types.append("tensor<" + "".join(f"{extent if isinstance(extent, int) else '?'}x" for extent in extents) + element +
                         ", #graph.extents<" + ", ".join(f'"{extent}"' for extent in extents) + ">>")
    rest = iter(types)
    line = re.sub("\0", lambda _: next(rest), between.pop())
    return _without_open_constants(line)


def _without_open_constants(line):
    """A constant has numbers for extents: one element, that is expanded."""
    found = _SPLAT.match(line)
    if found is None:
        return line
    indent, value, elements, kind = found.groups()
    dims, element = re.match(r"tensor<((?:[\d?]+x)*)(\w+),", kind).groups()
    ones = f"tensor<{'1x' * dims.count('x')}{element}>"
    return f"{indent}{value}_one = graph.constant {elements} : {ones}\n{indent}{value} = graph.expand {value}_one : {ones} -> {kind}"


def _expression(values, points, symbols, line, name, asked):
    """A number, or the text of an expression of symbols that has these values at these points: a sum of products of symbols, or
    of one symbol such a sum divided and rounded down."""
    if len(set(values)) == 1:
        return values[0]
    seen = [symbol for symbol in symbols if len({(value, point[symbol]) for value, point in zip(values, points)}) > 1]
    found = _sum(values, points, symbols) or next(filter(None, (_quotient(values, points, symbol, asked) for symbol in seen)), None)
    if found is None:
        raise _zyx.UnsupportedError(f"{name}: an extent is no expression of {_told(symbols)}: {line.strip()}")
    return found


def _sum(values, points, symbols):
    at = {tuple(point[symbol] for symbol in symbols): value for value, point in zip(values, points)}
    first = [points[0][symbol] for symbol in symbols]
    second = [_second(points, symbol) for symbol in symbols]
    sets = sorted((tuple(each for each in range(len(symbols)) if bits >> each & 1) for bits in range(1 << len(symbols))), key=len)
    corner = {part: at.get(tuple(second[each] if each in part else first[each] for each in range(len(symbols)))) for part in sets}
    if None in corner.values():
        return None
    factors = {}
    for part in reversed(sets):
        # What changes with all of these symbols, less what larger products have of it.
        change = sum((-1)**(len(part) - len(inner)) * corner[inner] for inner in sets if set(inner) <= set(part))
        scale = math.prod(second[each] - first[each] for each in part)
        factor, rest = divmod(change, scale)
        if rest:
            return None
        factors[part] = factor - sum(factors[more] * math.prod(first[each] for each in more if each not in part)
                                     for more in sets if set(part) < set(more))
    if any(value != sum(factor * math.prod(point[symbols[each]] for each in part) for part, factor in factors.items())
           for value, point in zip(values, points)):
        return None
    text = " + ".join("*".join([*([str(factor)] if factor != 1 else []), *(symbols[each] for each in part)])
                      for part, factor in factors.items() if factor and part)
    constant = factors[()]
    return text + (f" + {constant}" if constant > 0 else f" - {-constant}" if constant else "")


def _second(points, symbol):
    """The other number that the corners have."""
    return next(point[symbol] for point in points if point[symbol] != points[0][symbol])


def _quotient(values, points, symbol, asked):
    """(factor*symbol + rest) floordiv divisor."""
    found = []
    for divisor in range(2, 65):
        low, high = min(zip((point[symbol] for point in points), values)), max(zip((point[symbol] for point in points), values))
        about = round(divisor * (high[1] - low[1]) / max(high[0] - low[0], 1))
        for factor in (about, about - 1, about + 1):
            rests = [divisor * value - factor * point[symbol] for value, point in zip(values, points)]
            if factor > 0:
                found += [(factor, rest, divisor) for rest in range(max(rests), min(rests) + divisor)]
    if not found:
        return None
    known = {point[symbol] for point in points}
    tried = known | {number for each, number in asked if each == symbol}
    # A model that refuses many numbers may be for multiples alone.
    step = math.gcd(*known) if len(tried - known) >= 4 else 1
    most = {number: max(collections.Counter((factor * number + rest) // divisor for factor, rest, divisor in found).values())
            for number in range(17, 400) if number not in tried and number % step == 0}
    best = min(most, key=most.get, default=None)
    if best is not None and most[best] < len(found):
        if len(asked) >= MOST_ASKED:
            return None
        raise _Unsure(symbol, best)
    factor, rest, divisor = found[0]
    inner = symbol if factor == 1 else f"{factor}*{symbol}"
    return f"({inner}{f' + {rest}' if rest > 0 else f' - {-rest}' if rest else ''}) floordiv {divisor}"
