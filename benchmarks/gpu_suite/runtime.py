"""zyx, through the C surface of its runtime."""
import ctypes, os


class Runtime:
    """zyx's C surface."""

    def __init__(self, folder):
        self.lib = ctypes.CDLL(os.path.join(folder, "libZyxRuntime.so"))
        self.lib.zyx_error_get_message.restype = ctypes.c_char_p
        for function in ("zyx_device_create", "zyx_executor_load_file", "zyx_executor_find_input",
                         "zyx_executor_set_input", "zyx_executor_run", "zyx_executor_read_output", "zyx_executor_measure"):
            getattr(self.lib, function).restype = ctypes.c_void_p
        self.device = ctypes.c_void_p()
        self.call("zyx_device_create", b"cuda", None, ctypes.byref(self.device))

    def call(self, name, *arguments):
        error = getattr(self.lib, name)(*arguments)
        if error:
            raise RuntimeError(self.lib.zyx_error_get_message(ctypes.c_void_p(error)).decode())

    def load(self, path):
        executor = ctypes.c_void_p()
        self.call("zyx_executor_load_file", self.device, path.encode(), ctypes.byref(executor))
        return executor

    def find(self, executor, name):
        index = ctypes.c_size_t()
        self.call("zyx_executor_find_input", executor, name.encode(), ctypes.byref(index))
        return index.value

    def set(self, executor, index, array):
        self.call("zyx_executor_set_input", executor, ctypes.c_size_t(index), ctypes.c_void_p(array.data_ptr()),
                  ctypes.c_size_t(array.numel() * array.element_size()))

    def read(self, executor, index, array):
        self.call("zyx_executor_read_output", executor, ctypes.c_size_t(index), ctypes.c_void_p(array.data_ptr()),
                  ctypes.c_size_t(array.numel() * array.element_size()))

    def run(self, executor):
        self.call("zyx_executor_run", executor)

    def measure(self, executor, runs=1):
        """Microseconds of the device, and of the host that hands the runs over."""
        took = (ctypes.c_uint64 * 3)(ctypes.sizeof(ctypes.c_uint64) * 3)
        self.call("zyx_executor_measure", executor, ctypes.c_uint32(runs), took)
        return took[1] / 1e3, took[2] / 1e3

    def release(self, executor):
        self.lib.zyx_executor_release(executor)
