# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patterns of files that nobody trusts. Python's `re` goes back over a text, as often as a pattern makes it: `(a+)+$` doubles
its time with each letter. Here all places of a pattern at which a match may be go through a text together, as in RE2, whose
patterns ONNX has: the time is the text's length times the pattern's. `re` reads the patterns; what it means otherwise than
RE2 is said anew or refused: classes are of ASCII, `$` is the end alone, and there are no classes by names."""
import re

try:
    from re import _constants, _parser
except ImportError:  # Before Python 3.11.
    import sre_constants as _constants
    import sre_parse as _parser

from .. import _zyx

# Places of a pattern, in which a counted repetition stands as often as it says.
MOST_PLACES = 20_000
CATEGORIES = {_constants.CATEGORY_DIGIT: r"\d", _constants.CATEGORY_NOT_DIGIT: r"\D", _constants.CATEGORY_SPACE: r"\t\n\f\r ",
              _constants.CATEGORY_NOT_SPACE: r"\x00-\x08\x0b\x0e-\x1f!-\U0010ffff", _constants.CATEGORY_WORD: r"\w",
              _constants.CATEGORY_NOT_WORD: r"\W"}
ASSERTIONS = {_constants.AT_BEGINNING: "^", _constants.AT_BEGINNING_STRING: r"\A", _constants.AT_END: r"\Z",
              _constants.AT_END_STRING: r"\Z", _constants.AT_BOUNDARY: r"\b", _constants.AT_NON_BOUNDARY: r"\B"}
# Of the flags of a pattern, those that say what one character is.
FLAGS = re.ASCII | re.DOTALL | re.IGNORECASE | re.MULTILINE


class Pattern:
    """A pattern as a graph of places with edges. An edge takes a character, holds at a position, or is free."""

    def __init__(self, text):
        if re.search(r"\[:\^?[a-z]+:\]", text):
            raise _zyx.UnsupportedError("a pattern with a class of a name, as [:alpha:]")
        tree = _parser.parse(text)
        # For each place its edges: (what has to match, whether that takes a character, where it leads).
        self._edges = [[]]
        self._last = self._sequence(tree, 0, tree.state.flags)

    def _place(self):
        if len(self._edges) >= MOST_PLACES:
            raise _zyx.UnsupportedError(f"a pattern of more than {MOST_PLACES} places, with what its repetitions count")
        self._edges.append([])
        return len(self._edges) - 1

    def _edge(self, at, test, takes=False, to=None):
        to = self._place() if to is None else to
        self._edges[at].append((test, takes, to))
        return to

    def _sequence(self, parts, at, flags):
        for op, argument in parts:
            at = self._part(op, argument, at, flags)
        return at

    def _part(self, op, argument, at, flags):
        """The place behind a part of the tree that begins at one."""
        own = int(flags & FLAGS)
        if op is _constants.AT:
            # Of lines, `$` is the end of each.
            is_line_end = argument is _constants.AT_END and flags & re.MULTILINE
            return self._edge(at, re.compile("$" if is_line_end else ASSERTIONS[argument], own | re.ASCII))
        if op is _constants.BRANCH:
            end = self._place()
            for branch in argument[1]:
                self._edge(self._sequence(branch, self._edge(at, None), flags), None, to=end)
            return end
        if op is _constants.SUBPATTERN:
            _, added, removed, inner = argument
            return self._sequence(inner, at, (flags | added) & ~removed)
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            # Whether more or less is tried first is nothing to a whole match.
            least, most, inner = argument
            for _ in range(least):
                before, at = at, self._sequence(inner, at, flags)
                if at == before:
                    # Groups of nothing, as often as one says.
                    break
            if most is _constants.MAXREPEAT:
                begin = self._edge(at, None)
                self._edge(self._sequence(inner, begin, flags), None, to=begin)
                return self._edge(begin, None)
            end = self._place()
            for _ in range(most - least):
                self._edge(at, None, to=end)
                at = self._sequence(inner, self._edge(at, None), flags)
            return self._edge(at, None, to=end)
        letter = _letter(op, argument)
        if letter is None:
            raise _zyx.UnsupportedError(f"a pattern with {str(op).lower()}, which RE2 has not")
        classes = op is _constants.IN and any(inner is _constants.CATEGORY for inner, _ in argument)
        return self._edge(at, re.compile(letter, own | re.ASCII if classes else own), True)

    def _follow(self, places, text, at):
        """The places, and those to which edges lead that take no character here."""
        reached, left = set(places), list(places)
        while left:
            for test, takes, to in self._edges[left.pop()]:
                if not takes and to not in reached and (test is None or test.match(text, at)):
                    reached.add(to)
                    left.append(to)
        return reached

    def matches(self, text):
        """Whether the whole text is a match."""
        places = self._follow([0], text, 0)
        for at, letter in enumerate(text):
            places = self._follow({to for place in places for test, takes, to in self._edges[place]
                                   if takes and test.fullmatch(letter)}, text, at + 1)
            if not places:
                return False
        return self._last in places


def _letter(op, argument):
    """The pattern of one character, or None where it is none."""
    if op is _constants.LITERAL:
        return re.escape(chr(argument))
    if op is _constants.NOT_LITERAL:
        return f"[^{re.escape(chr(argument))}]"
    if op is _constants.ANY:
        return "."
    if op is not _constants.IN:
        return None
    parts = {_constants.NEGATE: lambda _: "^", _constants.LITERAL: lambda letter: re.escape(chr(letter)),
             _constants.RANGE: lambda ends: "-".join(re.escape(chr(end)) for end in ends), _constants.CATEGORY: CATEGORIES.get}
    return f"[{''.join(parts[op](argument) for op, argument in argument)}]"
