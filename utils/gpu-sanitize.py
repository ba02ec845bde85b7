#!/usr/bin/env python3
"""Runs kernels of all families under NVIDIA's compute-sanitizer.

  utils/gpu-sanitize.py prepare BUILD FOLDER [--target=sm_90a] [--count=160]
      Here: compiles the workloads of benchmarks/gpu.py in small sizes, and as many random graphs of zyx-smith. Needs
      zyx-bench-programs, a target of its own. With ZYX_PTXAS= the driver there assembles, also for a newer card.
  FOLDER/gpu-sanitize.py check FOLDER [--tools=memcheck,racecheck,synccheck,initcheck] [--log=FOLDER]
      There: runs all of them under each tool; exits with 1 where one reports something.
  FOLDER/gpu-sanitize.py run FOLDER [--leave=PREFIX]
      There: runs them, and prints how many kernels that were. PREFIX: of programs that are left out.
  FOLDER/gpu-sanitize.py probe stores|copies
      There: writes 128 bytes by stores of threads, or by the copy engine, and reads them by another kernel.

Nothing is compiled there. Results are not compared: the conformance suite does that.

initcheck may not see what the copy engine writes. Check finds out by the probe: if the stores are clean and the copies
are not, initcheck leaves out the programs of which a kernel reads what the engine wrote for another one. These are
prepared for sm_80 too, which has no such engine, as text that the driver assembles; initcheck runs those as well.
"""
import array, concurrent.futures, ctypes, glob, os, random, re, shutil, subprocess, sys, time

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Their gradients' first kernel reads the attention's results, which the copy engine wrote.
READS_COPIES = "attention-backward"
BY_THREADS = ".sm_80"


# Here.

def sources(bin):
    """Name and text of the families' graphs, in sizes that have edges and take little time."""
    sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
    import gpu
    from gpu_suite import attention, products, rows as memory
    made = {}
    for dtype in ("bf16", "f16"):
        for layout in ("NN", "NT", "TN", "TT"):
            for m, n, k in ((256, 512, 320), (200, 264, 136), (8, 512, 1024), (512, 24, 264)):
                made[f"gemm-{dtype}-{m}x{n}x{k}-{layout}"] = products.gemm(layout, m, n, k, dtype)
    for dtype in ("f32", "f64", "bf16"):
        made[f"gemm-{dtype}-odd"] = products.gemm("NN", 67, 33, 129, dtype)
    made["gemm-out-f32"] = products.gemm("NT", 256, 256, 256, out="f32")
    made["gemm-batches"] = products.gemm("NT", 128, 192, 64, batch=(3,))
    made["gemm-gelu"] = products.gemm("NT", 256, 384, 128, epilogue="gelu")
    for dtype in ("f32", "bf16"):
        for shape in ((64, 1024), (33, 200), (5, 8192), (3, 40000)):
            size = "x".join(map(str, shape))
            for kind in ("softmax", "layer-norm", "rms-norm", "sum-rows", "sum-columns", "sum-all"):
                made[f"{kind}-{dtype}-{size}"] = memory.rowwise(kind, shape, dtype)
            for kind in ("copy", "chain", "transpose"):
                made[f"{kind}-{dtype}-{size}"] = memory.pointwise(kind, shape, dtype)
    made["cast-down"] = memory.pointwise("cast-down", (33, 200), "f32")
    made["cast-up"] = memory.pointwise("cast-up", (33, 200), "bf16")
    for features in (64, 128):
        for rows in (256, 200):
            for causal in (False, True):
                size = f"{rows}x{features}{'-causal' if causal else ''}"
                made[f"attention-{size}"] = attention.attention(2, 4, rows, features, causal)
                made[f"attention-backward-{size}"] = attention.attention_backward(2, 4, rows, features, causal)
    made["attention-grouped"] = attention.attention(1, 4, 256, 64, True, groups=2)
    for window, stride in ((1, 1), (3, 1), (3, 2)):
        made[f"conv-{window}-{stride}"] = products.conv(2, 14, 64, 72, window, stride)
    return {name: gpu.text_of(work, bin) for name, work in made.items()}


def prepare(build, folder, target, count):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    bin = os.path.join(build, "bin")
    compiler, smith = (os.path.join(bin, name) for name in ("zyx-compile", "zyx-smith"))
    texts = sources(bin)

    def compiled(name, target=target, suffix="", environment=os.environ):
        text = texts.get(name)
        if text is None:
            text = subprocess.run([smith, "--print", f"--seed={name.split('-')[1]}"], check=True, capture_output=True,
                                  text=True).stdout
        path = os.path.join(folder, name + suffix)
        with open(path + ".mlir", "w") as file:
            file.write(text)
        done = subprocess.run([compiler, path + ".mlir", f"--target={target}", "-o", path + ".zyxa"], capture_output=True,
                              text=True, env=environment)
        os.remove(path + ".mlir")
        return f"{name}{suffix}: {done.stderr.strip()}" if done.returncode else ""

    def by_threads(name):
        return compiled(name, "sm_80", BY_THREADS, {**os.environ, "ZYX_PTXAS": ""})
    names = [*texts, *(f"seed-{seed}" for seed in range(1, count + 1))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        refused = [text for text in pool.map(compiled, names) if text]
        readers = [name for name in names if name.startswith(READS_COPIES) and target.startswith("sm_90")]
        refused += [text for text in pool.map(by_threads, readers) if text]
    print("\n".join(refused))
    print(f"{len(names) + len(readers) - len(refused)} programs, {len(refused)} refused")
    runtime = os.path.join(folder, "libZyxRuntime.so")
    subprocess.run(["strip", "-o", runtime, os.path.realpath(os.path.join(build, "lib", "libZyxRuntime.so"))], check=True)
    shutil.copy(os.path.abspath(__file__), folder)


# There.

class Info(ctypes.Structure):
    """zyx_executor_info."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("entry", ctypes.c_char_p), ("target", ctypes.c_char_p)] + [
        (name, ctypes.c_size_t) for name in ("inputs", "outputs", "kernels", "launches", "arena", "constants", "pool", "most")]


class Tensor(ctypes.Structure):
    """zyx_tensor_info."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int),
                ("rank", ctypes.c_size_t), ("dims", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def values(tensor, draw):
    """Zeros and ones for integers, which are indices too; small numbers for the others."""
    codes = {11: "f", 12: "d", 2: "h", 3: "i", 4: "q", 6: "H", 7: "I", 8: "Q"}
    code = codes.get(tensor.dtype, "B")
    count = tensor.bytes // array.array(code).itemsize
    if tensor.dtype in (11, 12):
        return array.array(code, [draw.uniform(-2, 2) for _ in range(min(count, 4096))] * (count // 4096 + 1))[:count]
    if tensor.dtype in (9, 10):
        # 1 and 0.5, as f16 or bf16.
        pair = (0x3C00, 0x3800) if tensor.dtype == 9 else (0x3F80, 0x3F00)
        return array.array("H", [draw.choice(pair) for _ in range(tensor.bytes // 2)])
    return array.array(code, [draw.randrange(2) for _ in range(count)])


PROBE = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry stores(.param .u64 to) {
  .reg .u32 %t; .reg .u64 %p, %o;
  ld.param.u64 %p, [to];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.u64 %p, %p, %o;
  st.global.u32 [%p], %t;
  ret;
}
.visible .entry copies(.param .align 64 .b8 to[128]) {
  .reg .u32 %t, %s, %z; .reg .u64 %m; .reg .pred %q;
  .shared .align 128 .b8 tile[128];
  mov.u32 %t, %tid.x;
  mov.u32 %s, tile;
  shl.b32 %z, %t, 2;
  add.u32 %z, %z, %s;
  st.shared.u32 [%z], %t;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %q, %t, 0;
  @%q bra done;
  mov.b64 %m, to;
  cvta.param.u64 %m, %m;
  mov.u32 %z, 0;
  cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%m, {%z}], [%s];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
done:
  ret;
}
.visible .entry reads(.param .u64 from, .param .u64 to) {
  .reg .u32 %t; .reg .u64 %p, %w, %o;
  ld.param.u64 %p, [from];
  ld.param.u64 %w, [to];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.u64 %p, %p, %o;
  add.u64 %w, %w, %o;
  ld.global.u32 %t, [%p];
  st.global.u32 [%w], %t;
  ret;
}
"""


def probe(how):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        code = getattr(cuda, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} returned {code}")

    def launch(name, *arguments):
        function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        pointers = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, pointers, None)
        call("cuCtxSynchronize")
    context, module, data, out = (ctypes.c_void_p() for _ in range(4))
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), PROBE)
    for pointer in (data, out):
        call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(128))
    if how == "stores":
        launch("stores", data)
    else:
        room = ctypes.create_string_buffer(192)
        tensor = (ctypes.c_char * 128).from_buffer(room, -ctypes.addressof(room) % 64)
        # 32 numbers of u32 in one dimension, in one tile, neither interleaved nor swizzled.
        call("cuTensorMapEncodeTiled", tensor, 2, 1, data, (ctypes.c_uint64 * 1)(32), (ctypes.c_uint64 * 1)(0),
             (ctypes.c_uint32 * 1)(32), (ctypes.c_uint32 * 1)(1), 0, 0, 0, 0)
        launch("copies", tensor)
    launch("reads", data, out)
    read = (ctypes.c_uint32 * 32)()
    call("cuMemcpyDtoH_v2", read, out, ctypes.c_size_t(128))
    print("read what was written" if list(read) == list(range(32)) else f"read {list(read)}")


def run(folder, leave):
    lib = ctypes.CDLL(os.path.join(folder, "libZyxRuntime.so"))
    lib.zyx_error_get_message.restype = ctypes.c_char_p

    def call(name, *arguments):
        function = getattr(lib, name)
        function.restype = ctypes.c_void_p
        error = function(*arguments)
        if error:
            raise RuntimeError(lib.zyx_error_get_message(ctypes.c_void_p(error)).decode())
    device = ctypes.c_void_p()
    call("zyx_device_create", b"cuda", None, ctypes.byref(device))
    paths, kernels = sorted(glob.glob(os.path.join(folder, "*.zyxa"))), 0
    if leave:
        paths = [path for path in paths if not os.path.basename(path).startswith(leave) or BY_THREADS + "." in path]
    for path in paths:
        draw, executor, info = random.Random(path), ctypes.c_void_p(), Info(ctypes.sizeof(Info))
        call("zyx_executor_load_file", device, path.encode(), ctypes.byref(executor))
        call("zyx_executor_get_info", executor, ctypes.byref(info))
        kernels += info.kernels
        for i in range(info.inputs):
            tensor = Tensor(ctypes.sizeof(Tensor))
            call("zyx_executor_get_input", executor, ctypes.c_size_t(i), ctypes.byref(tensor))
            data = values(tensor, draw).tobytes()
            call("zyx_executor_set_input", executor, ctypes.c_size_t(i), data, ctypes.c_size_t(len(data)))
        # From the second run on commands are graphs.
        for _ in range(2):
            try:
                call("zyx_executor_run", executor)
            except RuntimeError as failure:
                print(f"{os.path.basename(path)}: {failure}", flush=True)
                raise
        lib.zyx_executor_release(executor)
    lib.zyx_device_release(device)
    print(f"{len(paths)} programs, {kernels} kernels")


def sees_copies(sanitizer):
    """Whether initcheck does, by the probe."""
    def clean(how):
        done = subprocess.run([sanitizer, "--tool", "initcheck", sys.executable, os.path.abspath(__file__), "probe", how],
                              capture_output=True, text=True)
        found = re.findall(r"ERROR SUMMARY: (\d+)", done.stdout)
        print(f"probe, {how}: {done.stdout.count('read what was written')} right, {found} errors", flush=True)
        if "read what was written" not in done.stdout or not found:
            sys.exit(done.stdout + done.stderr)
        return found == ["0"]
    if not clean("stores"):
        sys.exit("initcheck reports what threads stored")
    return clean("copies")


def check(folder, tools, logs):
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    good = True
    for tool in tools:
        begin, words = time.monotonic(), ["run", folder]
        if tool == "initcheck" and not sees_copies(program):
            words.append("--leave=" + READS_COPIES)
            print(f"{tool} does not see what the copy engine writes: {READS_COPIES}* as compiled for sm_80 only")
        done = subprocess.run([program, "--tool", tool, sys.executable, os.path.abspath(__file__), *words],
                              capture_output=True, text=True)
        text = done.stdout + done.stderr
        if logs:
            with open(os.path.join(logs, tool + ".log"), "w") as file:
                file.write(text[:1 << 22])
        ran = re.findall(r"^\d+ programs, \d+ kernels$", text, re.M)
        found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", text)
        clean = bool(ran) and bool(found) and all(re.search(r"SUMMARY: 0 ", line) for line in found)
        good &= clean
        print(f"{tool}: {ran[0] if ran else 'did not end'}; {'; '.join(found) or text.strip()[-300:]}; "
              f"{time.monotonic() - begin:.0f} s", flush=True)
    return 0 if good else 1


def main(arguments):
    options = dict(a[2:].partition("=")[::2] for a in arguments if a.startswith("--"))
    words = [a for a in arguments if not a.startswith("--")]
    if words[:1] == ["prepare"] and len(words) == 3:
        prepare(words[1], words[2], options.get("target", "sm_90a"), int(options.get("count", 160)))
    elif words[:1] == ["run"] and len(words) == 2:
        run(words[1], options.get("leave", ""))
    elif words in (["probe", "stores"], ["probe", "copies"]):
        probe(words[1])
    elif words[:1] == ["check"] and len(words) == 2:
        sys.exit(check(words[1], options.get("tools", ",".join(TOOLS)).split(","), options.get("log")))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
