"""The loop of a Python peer: the protocol of benchmarks/Worker.cpp."""
import json
import os
import sys
import time

import numpy

DTYPES = {"f32": numpy.float32, "i8": numpy.int8, "i32": numpy.int32, "i64": numpy.int64,
          "bf16": numpy.uint16}


class Unsupported(Exception):
    pass


def read(tensor):
    """bf16 as its bits."""
    return numpy.fromfile(tensor["path"], DTYPES[tensor["dtype"]]).reshape(tensor["shape"])


class Worker:
    def __init__(self, version, prepare):
        """`prepare(kind, variant, arguments, inputs)` gives a call, which computes all before it
        returns, and a function that makes an array of what the call returned."""
        self.version, self.maker, self.calls, self.once = version, prepare, {}, {}

    @staticmethod
    def seconds(call, repeat):
        began = time.perf_counter()
        for _ in range(repeat):
            call()
        return (time.perf_counter() - began) / repeat

    def answer(self, request):
        if request["do"] == "version":
            return {"version": self.version}
        name = request["name"]
        if request["do"] == "release":
            del self.calls[name]
            return {}
        if request["do"] == "prepare":
            call, to_array = self.maker(request["kind"], request["variant"],
                                        request["arguments"] | {"program": request["program"]},
                                        [read(tensor) for tensor in request["inputs"]])
            result = numpy.ascontiguousarray(to_array(call()))
            result.tofile(request["output"]["path"])
            self.calls[name] = call
            self.once[name] = min(self.seconds(call, 1), self.seconds(call, 1))
            return {}
        sample, call, once = request["seconds"], self.calls[name], self.once[name]
        if once < 5 * sample:
            self.seconds(call, min(max(int(sample / 4 / once), 1), 2000))
        taken = self.seconds(call, min(max(int(sample / once), 1), 100000))
        self.once[name] = min(once, taken)
        return {"seconds": taken}

    def serve(self):
        # Whatever a library prints must not get between the answers.
        answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        for line in sys.stdin:
            try:
                answer = self.answer(json.loads(line))
            except Unsupported as why:
                answer = {"unsupported": str(why)}
            except Exception as failure:  # the driver leaves this workload out, and says so
                answer = {"error": f"{type(failure).__name__}: {str(failure)[:300]}"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
