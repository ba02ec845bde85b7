"""Cells of standard.py, computed by zyx and by array-api-strict."""
import numpy as np
import array_api_strict as strict

import zyx

strict.set_array_api_strict_flags(api_version="2024.12")

# Of a cell's results, beside their size.
DIGITS = {"float32": 2e-6, "float64": 1e-14}


def as_numpy(x):
    return np.asarray(x) if isinstance(x, zyx.Array) else np.asarray(x._array)


def leaves(result):
    if isinstance(result, (list, tuple)):
        return [leaf for each in result for leaf in leaves(each)]
    return [result]


def difference(found, expected, what):
    """Why two results are not the same, or None."""
    if not isinstance(found, zyx.Array):
        return None if found == expected else f"{what}: {found!r}, not {expected!r}"
    if found.dtype.name != str(expected.dtype).split(".")[-1]:
        return f"{what}: {found.dtype!r}, not {expected.dtype}"
    if found.shape != expected.shape:
        return f"{what}: shape {found.shape}, not {expected.shape}"
    a, b = as_numpy(found), as_numpy(expected)
    if found.dtype.is_float:
        bound = DIGITS[found.dtype.name]
        with np.errstate(all="ignore"):
            size = np.max(np.abs(b[np.isfinite(b)]), initial=1)
        if np.allclose(a, b, rtol=8 * bound, atol=bound * size, equal_nan=True):
            return None
    elif np.array_equal(a, b):
        return None
    return f"{what}: {a.tolist()}, not {b.tolist()}"[:400]


def run(case, dtype):
    """What is wrong with a cell: a list of texts. All samples of the cell are computed in one program."""
    wrong, pairs = [], []
    for number, (arrays, function) in enumerate(case.samples(dtype)):
        shapes = [x.shape for x in arrays]
        what = f"{case.name} {dtype} sample {number} {shapes}"
        with np.errstate(all="ignore"):
            expected = function(strict, *[strict.asarray(x.copy()) for x in arrays])
        try:
            found = function(zyx, *[zyx.asarray(x) for x in arrays])
        except Exception as error:
            wrong.append(f"{what}: {type(error).__name__}: {error}")
            continue
        mine, theirs = leaves(found), leaves(expected)
        if len(mine) != len(theirs):
            wrong.append(f"{what}: {len(mine)} results, not {len(theirs)}")
            continue
        pairs += [(f, e, what) for f, e in zip(mine, theirs)]
    try:
        zyx.eval([found for found, _, _ in pairs if isinstance(found, zyx.Array)])
    except Exception as error:
        return wrong + [f"{case.name} {dtype}: {type(error).__name__}: {error}"]
    for found, expected, what in pairs:
        if text := difference(found, expected, what):
            wrong.append(text)
    return wrong
