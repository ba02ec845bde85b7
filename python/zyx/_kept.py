# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that doors keep, one for each set of shapes."""
import collections
import threading

# Of one function or model, as many as torch.compile keeps.
MOST_PROGRAMS = 64


class Kept:
    """Values by keys; the one that was not asked for the longest makes room."""

    def __init__(self, most=MOST_PROGRAMS):
        self._most, self._values, self._lock = most, collections.OrderedDict(), threading.Lock()

    def get(self, key):
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

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
