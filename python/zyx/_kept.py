# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that jit and the doors keep, one for each set of shapes."""
import collections
import threading

# Of one function or model, for sets of shapes.
MOST_PROGRAMS = 64


class Kept:
    """Values by keys; the one that was not asked for the longest makes room."""

    def __init__(self, most=MOST_PROGRAMS):
        self._most, self._values, self._lock = most, collections.OrderedDict(), threading.RLock()

    def get(self, key):
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                try:
                    self._values.move_to_end(key)
                except KeyError:
                    # A handler of a signal ran here, in this thread, and put another one in its place.
                    pass
            return value

    def put(self, key, value):
        """What left for it, or None."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            return self._values.popitem(last=False)[1] if len(self._values) > self._most else None

    def values(self):
        with self._lock:
            return list(self._values.values())

    def __len__(self):
        return len(self._values)
