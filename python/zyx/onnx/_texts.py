# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of strings. No device has strings: Python computes them, and a model with such inputs runs step by step."""
import re

from .. import _functions as F
from .. import _zyx
from ._model import ModelError, Strings, Value, known, op
from ._patterns import Pattern


def _texts(n, value):
    if not isinstance(value, Strings):
        raise ModelError("an input is an array, where the op takes strings")
    return value


def _spread(value, shape):
    """The texts of a shape to which theirs broadcasts."""
    places = F.broadcast_to(_zyx._reshape(_zyx._arange(0, len(value.texts), 1, _zyx.int64), value.shape), shape)
    return [value.texts[place] for place in _flat(places)]


def _flat(array):
    return _zyx._reshape(array, (array.size,)).tolist()


def both(n, a, b, function):
    """A function of two texts each; both broadcast."""
    a, b = _texts(n, a), _texts(n, b)
    shape = F._broadcast_shape([a.shape, b.shape], n.op)
    with _zyx.device_scope("reference"):
        return [function(x, y) for x, y in zip(_spread(a, shape), _spread(b, shape))], shape


def truths(numbers, shape):
    value = known(numbers, _zyx.bool)
    with _zyx.device_scope("reference"):
        return Value(None, value.code, known=_zyx._reshape(value.known, shape))


@op("StringConcat", takes_values=True)
def concatenate(n, a, b):
    return Strings(*both(n, a, b, lambda x, y: x + y))


@op("RegexFullMatch", takes_values=True)
def full_match(n, x):
    x = _texts(n, x)
    try:
        pattern = Pattern(n.need("pattern"))
    except re.error as error:
        raise ModelError(f"the pattern: {error}") from None
    return truths([pattern.matches(text) for text in x.texts], x.shape)


@op("StringSplit", takes_values=True)
def split(n, x):
    x, delimiter, most = _texts(n, x), n.attr("delimiter") or None, n.attr("maxsplit", -1)
    parts = [text.split(delimiter, most) if most is not None else text.split(delimiter) for text in x.texts]
    width = max(map(len, parts), default=0)
    counts = known([len(each) for each in parts], _zyx.int64)
    with _zyx.device_scope("reference"):
        counts = Value(None, counts.code, known=_zyx._reshape(counts.known, x.shape))
    return [Strings([text for each in parts for text in each + [""] * (width - len(each))], x.shape + (width,)), counts]


@op("StringNormalizer", takes_values=True)
def normalize(n, x):
    x = _texts(n, x)
    action, stops, exact = n.attr("case_change_action", "NONE"), n.attr("stopwords") or [], n.attr("is_case_sensitive", 0)
    if len(x.shape) not in (1, 2) or len(x.shape) == 2 and x.shape[0] != 1:
        raise ModelError(f"texts of the shape {list(x.shape)}, where [C] or [1, C] is meant")
    if not exact:
        stops = {word.lower() for word in stops}
    kept = [text for text in x.texts if (text if exact else text.lower()) not in stops]
    if action in ("LOWER", "UPPER"):
        kept = [text.lower() if action == "LOWER" else text.upper() for text in kept]
    elif action != "NONE":
        n.refuse(f"the change of case '{action}'")
    # One empty text is left where none is.
    kept = kept or [""]
    return Strings(kept, x.shape[:-1] + (len(kept),))
