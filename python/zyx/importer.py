# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""zyx-import: models of ONNX and modules of StableHLO as text of graph ops, for programs of C++ and the tools."""
import argparse
import pathlib
import re
import sys


def _pair(text):
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is no NAME=VALUE")
    return name, value


def _number(text):
    return int(text) if text.strip().lstrip("+-").isdigit() else float(text)


def _numbers(text, kind):
    try:
        return [kind(each) for each in text.split(",") if each.strip()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers") from None


def _extent(text):
    """A number, or the name of a symbol."""
    text = text.strip()
    if not re.fullmatch(r"[0-9]+|[A-Za-z_][A-Za-z0-9_]*", text) or text == "floordiv":
        raise argparse.ArgumentTypeError(f"'{text}' is no extent")
    return int(text) if text.isdigit() else text


def _shape(text):
    name, value = _pair(text)
    return name, [_extent(each) for each in value.split(",") if each.strip()]


def _bound(text):
    name, value = _pair(text)
    return name, _extent(value)


def _value(text):
    name, value = _pair(text)
    # "5" is a number, "5," a list of one.
    numbers = _numbers(value, _number)
    return name, numbers if "," in value or len(numbers) != 1 else numbers[0]


def _parser():
    parser = argparse.ArgumentParser(
        prog="zyx-import", description="Reads a model of ONNX, or a module of StableHLO, and writes it as text of graph ops, "
        "which zyx-compile and zyx-run take. A text is of one set of shapes, or has symbols for some extents. docs/onnx.md and docs/jax.md of zyx say what is "
        "refused.")
    parser.add_argument("model", help="a file that ends in .onnx, or in .stablehlo: text or a portable artifact")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write, '-' for the standard output; by default "
                        "beside the model with the suffix .mlir")
    parser.add_argument("--weights", choices=("constants", "inputs"), default="inputs",
                        help="weights of more than 4,096 bytes are inputs (default), and are written beside the text with "
                        "the suffix .safetensors; 'constants' refuses such a model, so that the text is all there is")
    parser.add_argument("--bind", metavar="EXTENT=NUMBER", type=_bound, action="append", default=[],
                        help="the value of an extent that the model names, 'batch' say, or a name, which is a symbol of the text; "
                        "once for each")
    parser.add_argument("--shape", metavar="INPUT=N,N,...", type=_shape, action="append", default=[],
                        help="the shape of an input, where a name is a symbol of the text; once for each")
    parser.add_argument("--value", metavar="INPUT=N,N,...", type=_value, action="append", default=[],
                        help="the value of an input that says what is computed, a shape or axes, which then is no input; "
                        "'5' is a number, '5,' a list of one")
    parser.add_argument("--entry", metavar="NAME", default="main", help="the name of the function (default: main)")
    return parser


def run(options):
    """Writes what the options say. Raises what is wrong with the model or the files."""
    import zyx
    from zyx import _export
    source = pathlib.Path(options.model)
    if source.suffix not in (".onnx", ".stablehlo"):
        raise ValueError(f"{source}: no format is known by this name; models of ONNX end in .onnx, modules of StableHLO in .stablehlo")
    output = options.output or str(source.with_suffix(".mlir"))
    # Nothing is computed that a program could compute, so no device is needed.
    if source.suffix == ".onnx":
        from zyx import onnx
        model = onnx.load(source, device="reference")
        text, weights = onnx.program_text(model, shapes=dict(options.shape), bind=dict(options.bind),
                                          values=dict(options.value), weights=options.weights, entry=options.entry)
    else:
        if options.bind or options.value:
            raise ValueError(f"{source}: --bind and --value are for models of ONNX")
        try:
            from zyx import jax
        except ImportError as error:
            raise ValueError(f"{source}: modules of StableHLO are read by the package jaxlib: {error}") from None
        text, weights = jax.program_text(jax.load(source), shapes=dict(options.shape), weights=options.weights, entry=options.entry)
    text = f"// {source.name}, by zyx-import {zyx.__version__}.\n{text.rstrip()}\n"
    if output == "-":
        if weights:
            raise ValueError(f"{source}: weights are written beside the text, so that --output names a file")
        sys.stdout.write(text)
        return
    # The text last: who sees it has the weights.
    if weights:
        zyx.save(str(pathlib.Path(output).with_suffix(".safetensors")), weights)
    _export.write(pathlib.Path(output), text.encode())


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        run(options)
    except KeyboardInterrupt:
        return 130
    except (ValueError, TypeError, OSError, NotImplementedError, MemoryError, RuntimeError) as error:
        print(f"zyx-import: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        from . import Error
        if not isinstance(error, Error):
            raise
        print(f"zyx-import: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
