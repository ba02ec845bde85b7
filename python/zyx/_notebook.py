# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far a compilation is, in a notebook. In a terminal a line on the standard error says it."""
import html
import time

# Whoever waits for less does not need to be told.
SILENT, INTERVAL = 0.5, 0.1


class Progress:
    """Is called at each stage and each kernel, and with an empty stage at the end."""

    def __init__(self, display=None, make=None):
        self._display, self._make = display, make
        self._handle = self._began = None
        self._latest = 0.0

    def __call__(self, stage, done, total):
        now = time.monotonic()
        if not stage:
            if self._handle is not None:
                self._handle.update(self._make(""))
            self._handle = self._began = None
            return
        if self._began is None:
            self._began = now
        if now - self._began < SILENT or now - self._latest < INTERVAL:
            return
        self._latest = now
        text = f"compiling: {html.escape(stage)}"
        if total:
            text = f'<progress value="{done}" max="{total}"></progress> {text}, {done} of {total} kernels'
        if self._make is None:
            from IPython.display import HTML, display
            self._display, self._make = display, HTML
        if self._handle is None:
            self._handle = self._display(self._make(text), display_id=True)
        else:
            self._handle.update(self._make(text))
