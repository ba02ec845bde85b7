"""How long a card takes for a function of PyTorch: of gpu_suite and of cliffs_suite."""
import time


class CardClock:
    """Seconds: the device's, or a user's who waits for it."""

    def __init__(self, torch):
        self.torch = torch

    def timed(self, function):
        cuda = self.torch.cuda
        # Behind a run of its own, as zyx's: what the caches have is no other contender's. It is held until the host has
        # handed it over.
        function()
        cuda._sleep(500000)
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3

    def waited(self, function):
        self.torch.cuda.synchronize()
        begin = time.perf_counter()
        function()
        self.torch.cuda.synchronize()
        return time.perf_counter() - begin
