"""Each function of the array API standard, for each of its dtypes, beside array-api-strict."""
import pytest

import compare
import standard
import zyx


@pytest.mark.parametrize("case", standard.CASES, ids=lambda case: case.name)
def test_function(case):
    wrong = [text for dtype in case.dtypes for text in compare.run(case, dtype)]
    assert not wrong, "\n".join(wrong[:10])


def test_names_are_those_of_the_standard():
    import array_api_strict as strict
    constants = {"e", "inf", "nan", "newaxis", "pi", "__array_api_version__", "__array_namespace_info__"}
    # Of complex numbers, and of a draft; what array-api-strict has of its own.
    others = {"complex64", "complex128", "fft", "broadcast_shapes", "isin", "ArrayAPIStrictFlags", "Device", "__version__"}
    others |= {name for name in strict.__all__ if name.endswith("_flags")}
    missing = [name for name in strict.__all__ if name not in others and not hasattr(zyx, name)]
    assert not missing
    assert constants <= set(dir(zyx)) | {"newaxis", "__array_api_version__", "__array_namespace_info__"}


def test_a_wrong_result_is_seen():
    """The comparison can fail."""
    import array_api_strict as strict
    import numpy as np
    expected = strict.asarray(np.array([1.0, 2.0], "float32"))
    assert compare.difference(zyx.asarray([1.0, 2.0]), expected, "x") is None
    assert compare.difference(zyx.asarray([1.0, 2.001]), expected, "x")
    assert compare.difference(zyx.asarray([[1.0, 2.0]]), expected, "x")
    assert compare.difference(zyx.asarray([1, 2]), expected, "x")
