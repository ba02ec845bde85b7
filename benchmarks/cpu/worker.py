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
        self.version, self.maker = version, prepare
        self.call, self.once = None, 1.0

    def seconds(self, repeat):
        call, began = self.call, time.perf_counter()
        for _ in range(repeat):
            call()
        return (time.perf_counter() - began) / repeat

    def answer(self, request):
        if request["do"] == "version":
            return {"version": self.version}
        if request["do"] == "release":
            self.call = None
            return {}
        if request["do"] == "prepare":
            self.call = None
            self.call, to_array = self.maker(request["kind"], request["variant"],
                                             request["arguments"] | {"program": request["program"]},
                                             [read(tensor) for tensor in request["inputs"]])
            result = numpy.ascontiguousarray(to_array(self.call()))
            result.tofile(request["output"]["path"])
            self.once = min(self.seconds(1), self.seconds(1))
            return {}
        sample = request["seconds"]
        self.seconds(min(max(int(sample / 4 / self.once), 1), 2000))
        taken = self.seconds(min(max(int(sample / self.once), 1), 100000))
        self.once = min(self.once, taken)
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
