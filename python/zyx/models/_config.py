# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What config.json says, by keys that have to be of a type. Whatever is read here was written by strangers."""
import json
import math
import os

from .. import _zyx

InvalidArgumentError, UnsupportedError = _zyx.InvalidArgumentError, _zyx.UnsupportedError

# Configurations of published models have some kilobytes; labels of 20,000 classes a megabyte.
MOST_BYTES = 16 << 20
# An extent beyond this is none of a model's, and products of several stay numbers of 64 bits.
MOST = 1 << 31


def read_json(path):
    """An object of a file of JSON."""
    try:
        size = os.stat(path).st_size
        if size > MOST_BYTES:
            raise InvalidArgumentError(f"{path}: {size} bytes are more than a configuration has")
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise InvalidArgumentError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{path}: is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidArgumentError(f"{path}: is no object of JSON")
    return found


class _Needed:
    pass


NEEDED = _Needed()


class Config:
    """Values by name, each of the type that who asks for it needs. A key that says null is one that is missing."""

    def __init__(self, values, path):
        self.values, self.path = values, path

    def __contains__(self, key):
        return self.values.get(key) is not None

    def wrong(self, text, kind=InvalidArgumentError):
        return kind(f"{self.path}: {text}")

    def _get(self, key, default):
        value = self.values.get(key)
        if value is not None:
            return value, True
        if default is NEEDED:
            raise self.wrong(f"'{key}' is missing")
        return default, False

    def integer(self, key, default=NEEDED, low=1):
        value, is_given = self._get(key, default)
        if is_given and (type(value) is not int or not low <= value < MOST):
            raise self.wrong(f"'{key}' is {value!r}, and no integer from {low} to {MOST}")
        return value

    def number(self, key, default=NEEDED):
        value, is_given = self._get(key, default)
        if not is_given:
            return value
        if type(value) not in (int, float) or abs(value) > 1e300 or not math.isfinite(value):
            raise self.wrong(f"'{key}' is {value!r}, and no finite number")
        return float(value)

    def flag(self, key, default=NEEDED):
        value, is_given = self._get(key, default)
        if is_given and not isinstance(value, bool):
            raise self.wrong(f"'{key}' is {value!r}, and neither true nor false")
        return value

    def text(self, key, default=NEEDED):
        value, is_given = self._get(key, default)
        if is_given and not isinstance(value, str):
            raise self.wrong(f"'{key}' is {value!r}, and no text")
        return value

    def list(self, key, kind, count=None, default=NEEDED):
        value, is_given = self._get(key, default)
        if is_given and (not isinstance(value, list) or not all(type(each) is kind for each in value)):
            raise self.wrong(f"'{key}' is no list of {kind.__name__}")
        if value is not None and count is not None and len(value) != count:
            raise self.wrong(f"'{key}' has {len(value)} elements, not {count}")
        return value

    def inner(self, key):
        """The object of a key; an empty one where there is none."""
        value, _ = self._get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"'{key}' is {value!r}, and no object")
        return Config(value, f"{self.path}: {key}")

    def expect(self, key, wanted):
        """Refuses what would be another model, as no code here is for it."""
        value, _ = self._get(key, wanted)
        if type(value) is not type(wanted) or value != wanted:
            raise self.wrong(f"'{key}' is {value!r}; zyx has models with {wanted!r} alone", UnsupportedError)

    def choice(self, key, choices, default=NEEDED):
        name = self.text(key, default)
        if name not in choices:
            raise self.wrong(f"'{key}' is '{name}'; zyx has {', '.join(sorted(choices))}", UnsupportedError)
        return choices[name]

    def divides(self, whole, parts, what):
        if whole % parts != 0:
            raise self.wrong(f"{whole} {what} do not fall into {parts}")
        return whole // parts
