"""Pictures of programs and tables of arrays, and the notebook that shows them."""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

import zyx
from zyx import _picture

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "{http://www.w3.org/2000/svg}"


def boxes_of(drawing):
    """Each box with its corners."""
    for box in [each for each in _all(drawing.root) if each is not drawing.root]:
        x, y = drawing._corner(box)
        yield box, (x, y, x + box.width, y + box.height)


def _all(box):
    yield box
    for each in box.boxes:
        yield from _all(each)


def check(picture):
    """The SVG is XML, and no two boxes of one frame lie on each other, nor outside of it."""
    root = xml.etree.ElementTree.fromstring(picture.svg)
    drawing = _picture._Drawing(picture.dot)
    places = {id(box): place for box, place in boxes_of(drawing)}
    places[id(drawing.root)] = (0, 0, drawing.root.width, drawing.root.height)
    assert places
    for frame in _all(drawing.root):
        outer = places[id(frame)]
        inner = [places[id(box)] for box in frame.boxes]
        for i, (left, top, right, bottom) in enumerate(inner):
            assert outer[0] <= left and outer[1] <= top and right <= outer[2] + 0.1 and bottom <= outer[3] + 0.1
            for other in inner[:i]:
                assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    return [element.text for element in root.iter(NAME + "text")]


def test_stages():
    x = zyx.asarray(np.ones((4, 3), "float32"))
    y = zyx.softmax(zyx.loop(3, x, lambda trip, y: zyx.sin(y) + x) @ zyx.ones((3, 2)), axis=1)
    texts = check(zyx.plot(y))
    assert any("reduce" in text for text in texts), texts
    assert any("test_pictures.py:" in text for text in texts) and not y.is_computed
    texts = check(zyx.plot(y, {"other": y * 2}, stage="groups"))
    assert any(text.startswith("group ") for text in texts) and any("loop" in text for text in texts)
    texts = check(zyx.plot(y, stage="kernels"))
    assert any(text.startswith("launch ") for text in texts)


def test_a_large_program(tmp_path):
    x = zyx.asarray(np.ones((8, 8), "float32"))
    parts = [x]
    for i in range(60):
        parts.append(zyx.sin(parts[-1] @ parts[i // 2]) + parts[i // 3])
    picture = zyx.plot(parts[-1])
    assert len(check(picture)) > 300
    picture.save(tmp_path / "program.svg")
    picture.save(tmp_path / "program.dot")
    assert (tmp_path / "program.svg").read_text() == picture.svg == picture._repr_svg_()
    assert (tmp_path / "program.dot").read_text() == picture.dot
    assert "boxes" in repr(picture)


def test_refusals():
    x = zyx.asarray([1.0])
    computed = x * 2
    zyx.eval(computed)
    with pytest.raises(ValueError, match="stage"):
        zyx.plot(x, stage="ptx")
    with pytest.raises(TypeError, match="no array"):
        zyx.plot([1, 2])
    with pytest.raises(zyx.Error, match="nothing to compute"):
        zyx.plot(computed, stage="groups")
    with pytest.raises(ValueError, match=".png"):
        zyx.plot(x).save("x.png")


def table(x):
    text = x._repr_html_()
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)], text


def test_arrays():
    rows, text = table(zyx.asarray([[1.0, -2.5], [3.0, float("nan")]]))
    assert rows == [["1", "-2.5"], ["3", "nan"]] and f"float32 [2, 2] on {zyx.default_device()}" in text
    rows, _ = table(zyx.arange(100))
    assert rows == [["0", "1", "2", "3", "4", "&#8230;", "95", "96", "97", "98", "99"]]
    rows, _ = table(zyx.reshape(zyx.arange(400), (20, 20)))
    assert len(rows) == 11 and rows[10][10] == "399" and rows[5] == ["&#8230;"] * 11
    for dtype in (zyx.bool, zyx.uint8, zyx.float16, zyx.bfloat16, zyx.float8_e4m3fn, zyx.float64):
        rows, text = table(zyx.astype(zyx.asarray([[1, 0]]), dtype))
        assert rows in ([["1", "0"]], [["True", "False"]]) and dtype.name in text
    for shape in ((), (0, 3), (2, 2, 2)):
        rows, text = table(zyx.zeros(shape))
        assert not rows and "<pre>" in text
    seen = []
    zyx.jit(lambda x: seen.append(x._repr_html_()) or x)(zyx.asarray([1.0]))
    assert "no value yet" in seen[0]


def test_notebook():
    """Run test/python/notebook.py examples/pictures.ipynb --update where the outputs are others."""
    path = ROOT / "examples" / "pictures.ipynb"
    done = subprocess.run([sys.executable, str(ROOT / "test" / "python" / "notebook.py"), str(path)], cwd=ROOT, check=True, capture_output=True, text=True)
    made, kept = json.loads(done.stdout), json.loads(path.read_text())
    assert made["nbformat"] == 4 and len(made["cells"]) == len(kept["cells"])
    pictures = 0
    for cell, other in zip(made["cells"], kept["cells"]):
        assert cell["source"] == other["source"]
        kinds = [sorted(output.get("data", output.get("text"))) for output in cell.get("outputs", [])]
        assert kinds == [sorted(output.get("data", output.get("text"))) for output in other.get("outputs", [])]
        for output in cell.get("outputs", []):
            if "image/svg+xml" in output.get("data", {}):
                pictures += 1
                xml.etree.ElementTree.fromstring("".join(output["data"]["image/svg+xml"]))
    assert pictures == 3
    # What it says, and not only that it says something.
    printed = "".join(line for cell in made["cells"] for output in cell.get("outputs", []) for line in output.get("text", []))
    found = re.search(r"(\d+) of 797 correct", printed)
    assert found and int(found[1]) > 650
