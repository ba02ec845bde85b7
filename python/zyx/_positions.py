# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that are named by their positions, as those of `static_argnums`."""
import inspect
import operator


def parameters_of(function):
    """The names of the positional parameters, and whether more may follow; no names where the signature is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None, True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return ([each.name for each in parameters if each.kind in kinds],
            any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters))


def positions_of(what, function, numbers):
    """Each position from the front. A negative one counts from the last positional parameter. ValueError where there is none."""
    numbers = () if numbers is None else tuple(numbers) if hasattr(numbers, "__iter__") else (numbers,)
    made = []
    names, has_more = parameters_of(function) if numbers else (None, True)
    for number in map(operator.index, numbers):
        if number < 0 and has_more:
            raise ValueError(f"{what}: {number} counts from the end, which the signature of {function!r} does not say")
        count = len(names or ())
        if not has_more and not -count <= number < count:
            raise ValueError(f"{what}: there is no argument {number} among {count} of {function!r}")
        made.append(number + count if number < 0 else number)
    return tuple(made)
