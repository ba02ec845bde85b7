# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures for notebooks: programs as SVG, and arrays as tables. No other package is needed."""
import html
import itertools
import re

from . import _transforms, _zyx

# Of a letter in the font, and of the space around boxes.
LETTER, LINE, GAP, PAD = 6.1, 12.0, 22.0, 7.0
NODE = re.compile(r'^ *(n\d+) \[label="((?:[^"\\]|\\.)*)"(.*)\]$')
EDGE = re.compile(r'^ *(n\d+) -> (n\d+)(?: \[(.*)\])?$')
LABEL = re.compile(r'label="((?:[^"\\]|\\.)*)"')
FILLS = ("#f3f6e8", "#f6efe6", "#e9f3f1", "#f3ecf5")


def _lines(label):
    return [re.sub(r"\\(.)", r"\1", line) for line in re.split(r"(?<!\\)\\n", label)]


class _Box:
    """An op, or a frame with boxes in it. Places are those of the corner, in the frame around it."""

    def __init__(self, lines, style=""):
        self.lines, self.style, self.boxes = lines, style, []
        self.x = self.y = self.width = self.height = 0.0


class _Drawing:
    """What a text in the language of Graphviz says, as the compiler and plotDot() write it."""

    def __init__(self, dot):
        self.root, self.nodes, self.edges = _Box([]), {}, []
        frames = [self.root]
        for line in dot.splitlines():
            text = line.strip()
            if text.startswith("subgraph "):
                frames.append(_Box([]))
                frames[-2].boxes.append(frames[-1])
            elif text == "}" and len(frames) > 1:
                frames.pop()
            elif node := NODE.match(line):
                box = self.nodes[node[1]] = _Box(_lines(node[2]), node[3])
                frames[-1].boxes.append(box)
            elif edge := EDGE.match(line):
                label = LABEL.search(edge[3] or "")
                self.edges.append((edge[1], edge[2], _lines(label[1])[0] if label else "", "dashed" in (edge[3] or "")))
            elif text.startswith("label=") and len(frames) > 1:
                frames[-1].lines = _lines(LABEL.match(text)[1])
        # Labels of edges need room.
        self.gap = 2 * GAP if any(label for *_, label, _ in self.edges if len(label) > 2) else GAP
        self._owners = {}
        self._own(self.root, ())
        self._place(self.root)

    def _own(self, frame, around):
        for box in frame.boxes:
            self._owners[id(box)] = (*around, box)
            self._own(box, (*around, box))

    def _ranks(self, frame):
        """Of the boxes in a frame, how many lie above each, by the edges between them."""
        depth = len(self._owners.get(id(frame), ()))
        mine = {id(box) for box in frame.boxes}
        before = {id(box): set() for box in frame.boxes}
        for source, target, _, _ in self.edges:
            ends = [self._owners[id(self.nodes[name])] for name in (source, target)]
            if all(len(end) > depth and id(end[depth]) in mine for end in ends) and ends[0][depth] is not ends[1][depth]:
                before[id(ends[1][depth])].add(id(ends[0][depth]))
        ranks, work = {}, list(reversed(frame.boxes))
        open_boxes = set()
        while work:
            box = work[-1]
            if id(box) in ranks:
                work.pop()
                continue
            open_boxes.add(id(box))
            missing = [other for other in frame.boxes
                       if id(other) in before[id(box)] and id(other) not in ranks and id(other) not in open_boxes]
            if missing:
                work += missing
                continue
            work.pop()
            ranks[id(box)] = 1 + max((ranks[other] for other in before[id(box)] if other in ranks), default=-1)
        return ranks, before

    def _place(self, frame):
        for box in frame.boxes:
            if box.boxes:
                self._place(box)
            else:
                box.width = LETTER * max(map(len, box.lines), default=0) + 2 * PAD
                box.height = LINE * len(box.lines) + PAD
        if not frame.boxes:
            return
        ranks, before = self._ranks(frame)
        rows = [list(row) for _, row in itertools.groupby(sorted(frame.boxes, key=lambda box: ranks[id(box)]),
                                                          key=lambda box: ranks[id(box)])]
        centers, width = {}, max(sum(box.width + self.gap for box in row) - self.gap for row in rows)
        title = LINE + 2 if frame.lines else 0.0
        y = PAD + title
        for row in rows:
            # Below what they read.
            def wish(box):
                above = [centers[other] for other in before[id(box)] if other in centers]
                return sum(above) / len(above) if above else width / 2

            row.sort(key=wish)
            x, used = 0.0, sum(box.width + self.gap for box in row) - self.gap
            for box in row:
                box.x = min(max(x, wish(box) - box.width / 2), width - used)
                x, used = box.x + box.width + self.gap, used - box.width - self.gap
                centers[id(box)] = box.x + box.width / 2
            tallest = max(box.height for box in row)
            for box in row:
                box.x += PAD
                box.y = y + (tallest - box.height) / 2
            y += tallest + self.gap
        frame.width = max(width, LETTER * max(map(len, frame.lines), default=0)) + 2 * PAD
        frame.height = y - self.gap + PAD

    def _corner(self, box):
        around = self._owners[id(box)]
        return sum(each.x for each in around), sum(each.y for each in around)

    def svg(self):
        root = self.root
        width, height = max(root.width, 1), max(root.height, 1)
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
                 f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="10">',
                 f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>']

        def frames(box, depth):
            for each in box.boxes:
                if each.boxes:
                    x, y = self._corner(each)
                    parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{each.width:.1f}" height="{each.height:.1f}" rx="6" '
                                 f'fill="{FILLS[depth % len(FILLS)]}" stroke="#999"/>')
                    parts.append(f'<text x="{x + PAD:.1f}" y="{y + LINE:.1f}" fill="#555">'
                                 f'{html.escape(" ".join(each.lines))}</text>')
                    frames(each, depth + 1)

        frames(root, 0)
        for source, target, label, is_dashed in self.edges:
            (x0, y0), (x1, y1) = self._corner(self.nodes[source]), self._corner(self.nodes[target])
            x0, x1 = x0 + self.nodes[source].width / 2, x1 + self.nodes[target].width / 2
            y0 += self.nodes[source].height
            bend = max(abs(y1 - y0) / 2, 8)
            dashes = ' stroke-dasharray="4 3"' if is_dashed else ""
            parts.append(f'<path d="M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}" '
                         f'fill="none" stroke="#666"{dashes}/>')
            parts.append(f'<path d="M{x1:.1f} {y1:.1f}l-3 -6h6z" fill="#666"/>')
            if label:
                parts.append(f'<text x="{(x0 + x1) / 2 + 3:.1f}" y="{(y0 + y1) / 2:.1f}" font-size="9" fill="#555" '
                             f'stroke="white" stroke-width="3" paint-order="stroke">'
                             f'{html.escape(label)}</text>')
        for box in self.nodes.values():
            x, y = self._corner(box)
            fill = re.search(r'fillcolor="(#\w+)"', box.style)
            is_result = "peripheries=2" in box.style
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
                         f'rx="{10 if "ellipse" in box.style else 2}" fill="{fill[1] if fill else "white"}" stroke="#333" '
                         f'stroke-width="{2 if is_result else 1}"/>')
            for number, line in enumerate(box.lines):
                weight = ' font-weight="bold"' if number == 0 else ""
                parts.append(f'<text x="{x + box.width / 2:.1f}" y="{y + LINE * (number + 1) - 1:.1f}" '
                             f'text-anchor="middle"{weight}>{html.escape(line)}</text>')
        parts.append("</svg>")
        return "\n".join(parts)


class Picture:
    """A drawing of a program, which notebooks show. `svg` and `dot` are its texts."""

    def __init__(self, dot):
        self.dot = dot
        self._svg = None

    @property
    def svg(self):
        """The drawing as SVG, which browsers show."""
        if self._svg is None:
            self._svg = _Drawing(self.dot).svg()
        return self._svg

    def save(self, path):
        """Writes the drawing: SVG where the path ends in .svg, the language of Graphviz where in .dot or .gv."""
        path = str(path)
        if not path.endswith((".svg", ".dot", ".gv")):
            raise ValueError(f"save: '{path}' ends in none of .svg, .dot and .gv")
        with open(path, "w") as file:
            file.write(self.svg if path.endswith(".svg") else self.dot)

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        count = sum(NODE.match(line) is not None for line in self.dot.splitlines())
        return f"<zyx picture of {count} boxes; .svg and .dot are its texts>"


def plot(*trees, stage="tensors"):
    """A picture of what arrays are made of; nothing is computed.

    With stage "tensors" it has each op with its type and the line of its call, and values that are there. "groups" has the
    simplified ops, with a frame around those that become one kernel; "kernels" launches and copies, with the memory
    between them. These two need the compiler, and arrays that are not computed.

        >>> x = zyx.asarray([1.0, 2.0])
        >>> picture = zyx.plot(zyx.exp(x) + 1)
        >>> picture.svg.startswith("<svg") and ">exp</text>" in picture.svg
        True
    """
    if stage not in ("tensors", "groups", "kernels"):
        raise ValueError(f"plot: the stage is 'tensors', 'groups' or 'kernels', not {stage!r}")
    leaves = [leaf for tree in trees for leaf in _transforms.tree_flatten(tree)[0]]
    if not leaves:
        raise TypeError("plot: there is no array in the arguments")
    return Picture(_zyx._plot(leaves, stage))


# Rows, and columns, of a table; of more, the first and the last half are shown.
MOST_SHOWN = 10


def _shown(extent):
    if extent <= MOST_SHOWN:
        return list(range(extent))
    half = MOST_SHOWN // 2
    return [*range(half), None, *range(extent - half, extent)]


def _number(value):
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def array_html(x):
    """An array as a table, where it has one or two dimensions; it is computed, as for repr()."""
    head = f"{x.dtype.name} {list(x.shape)}"
    if not x.is_computed and _zyx._is_capturing():
        return f"<div><code>{head}, no value yet</code></div>"
    head += f" on {html.escape(x.device)}"
    if x.ndim not in (1, 2) or x.size == 0:
        return f"<div><code>{head}</code><pre>{html.escape(str(x))}</pre></div>"
    if x.dtype.name in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
        x = _zyx._cast(x, _zyx.float32)
    view = memoryview(x)
    rows, columns = [0] if x.ndim == 1 else _shown(x.shape[0]), _shown(x.shape[-1])

    def cell(row, column):
        if row is None or column is None:
            return "&#8230;"
        return html.escape(_number(view[column] if x.ndim == 1 else view[row, column]))

    lines = ["<tr>" + "".join(f'<td style="text-align:right">{cell(row, column)}</td>' for column in columns) + "</tr>"
             for row in rows]
    return f"<div><code>{head}</code><table>{''.join(lines)}</table></div>"
