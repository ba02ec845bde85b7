/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/
/* A device that counts its launches. Its memory is the host's, and it runs the code that the compiler makes for "cpu"
 * on the thread that launches. So everything is done when a call returns: streams and events have nothing to order.
 *
 * docs/plugins.md goes through this file. COUNTING_REPORT=1 prints the number of launches when the device is closed. */
#define _GNU_SOURCE
#include <zyx-c/Backend.h>
#include <zyx-c/Runtime.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of a thread's 8 MiB, what a kernel may take. */
static const uint64_t most_stack_bytes = (uint64_t)4 << 20;

struct device {
  atomic_ullong launches;
};
struct kernel {
  zyx_kernel_function function;
  uint32_t num_buffers, num_scalars;
  struct kernel *next;
};
struct module {
  void *library;
  struct kernel *kernels;
};

/* All functions fail by this. */
static zyx_backend_code fail(zyx_backend_error *error, zyx_error_code code, const char *text, const char *more) {
  snprintf(error->text, error->size, "%s%s", text, more);
  return code;
}

static void *at(zyx_backend_memory memory) { return (void *)(uintptr_t)(memory.handle + memory.offset); }

/*===----------------------------------------------------------------------===*\
 * Devices
\*===----------------------------------------------------------------------===*/

static uint32_t device_count(void) { return 1; }

static zyx_backend_code get_facts(uint32_t index, zyx_backend_facts_v1 *facts, zyx_backend_error *error) {
  (void)index, (void)error;
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  facts->target = "cpu";
  facts->identity = "this machine, one thread, counted";
  facts->processors = 1;
  facts->flags = ZYX_BACKEND_RUNS_HOST_CODE;
  facts->memory_bytes = page * (uint64_t)sysconf(_SC_PHYS_PAGES);
  facts->free_bytes = page * (uint64_t)sysconf(_SC_AVPHYS_PAGES);
  return 0;
}

static zyx_backend_code open_device(uint32_t index, void **device, zyx_backend_error *error) {
  (void)index;
  *device = calloc(1, sizeof(struct device));
  return *device ? 0 : fail(error, ZYX_OUT_OF_MEMORY, "no memory for a device", "");
}

static void close_device(void *self) {
  struct device *device = self;
  const char *report = getenv("COUNTING_REPORT");
  if (report && *report)
    fprintf(stderr, "counting: %llu launches\n", (unsigned long long)atomic_load(&device->launches));
  free(device);
}

/*===----------------------------------------------------------------------===*\
 * Memory: handles are addresses
\*===----------------------------------------------------------------------===*/

static zyx_backend_code allocate_host(void *self, uint64_t bytes, void **memory, zyx_backend_error *error) {
  (void)self;
  /* A size of aligned_alloc is a multiple of the alignment. */
  *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *memory ? 0 : fail(error, ZYX_OUT_OF_MEMORY, "the system has no memory", "");
}
static void free_host(void *self, void *memory) {
  (void)self;
  free(memory);
}

static zyx_backend_code allocate(void *self, uint64_t stream, uint64_t bytes, uint64_t *handle,
                                 zyx_backend_error *error) {
  (void)stream;
  void *memory = NULL;
  const zyx_backend_code code = allocate_host(self, bytes, &memory, error);
  *handle = (uint64_t)(uintptr_t)memory;
  return code;
}
static zyx_backend_code free_memory(void *self, uint64_t stream, uint64_t handle, zyx_backend_error *error) {
  (void)self, (void)stream, (void)error;
  free((void *)(uintptr_t)handle);
  return 0;
}

static zyx_backend_code upload(void *self, uint64_t stream, zyx_backend_memory to, const void *from, uint64_t bytes,
                               zyx_backend_error *error) {
  (void)self, (void)stream, (void)error;
  memcpy(at(to), from, bytes);
  return 0;
}
static zyx_backend_code download(void *self, uint64_t stream, void *to, zyx_backend_memory from, uint64_t bytes,
                                 zyx_backend_error *error) {
  (void)self, (void)stream, (void)error;
  memcpy(to, at(from), bytes);
  return 0;
}
static zyx_backend_code copy(void *self, uint64_t stream, zyx_backend_memory to, zyx_backend_memory from,
                             uint64_t bytes, zyx_backend_error *error) {
  return upload(self, stream, to, at(from), bytes, error);
}
static zyx_backend_code fill(void *self, uint64_t stream, zyx_backend_memory to, uint64_t bytes, uint64_t pattern,
                             uint32_t pattern_bytes, zyx_backend_error *error) {
  (void)self, (void)stream, (void)error;
  for (uint64_t done = 0; done < bytes; done += pattern_bytes)
    memcpy((char *)at(to) + done, &pattern, pattern_bytes);
  return 0;
}

/*===----------------------------------------------------------------------===*\
 * Code: shared objects, whose functions are zyx_kernel_function
\*===----------------------------------------------------------------------===*/

static zyx_backend_code load(void *self, const char *format, const void *code, size_t size, uint64_t *module,
                             zyx_backend_error *error) {
  (void)self;
  if (strcmp(format, "elf-so") != 0)
    return fail(error, ZYX_UNSUPPORTED, "code is not of the format elf-so but ", format);
  struct module *made = calloc(1, sizeof(*made));
  char path[] = "/tmp/counting-XXXXXX";
  const int file = mkstemp(path);
  const int written = made && file >= 0 && write(file, code, size) == (ssize_t)size;
  if (file >= 0)
    close(file);
  if (written)
    made->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (file >= 0)
    unlink(path);
  if (!made || !made->library) {
    free(made);
    return fail(error, ZYX_IO_ERROR, "cannot load code: ", written ? dlerror() : "it cannot be written to /tmp");
  }
  *module = (uint64_t)(uintptr_t)made;
  return 0;
}

static void unload(void *self, uint64_t handle) {
  (void)self;
  struct module *module = (struct module *)(uintptr_t)handle;
  for (struct kernel *next, *kernel = module->kernels; kernel; kernel = next) {
    next = kernel->next;
    free(kernel);
  }
  dlclose(module->library);
  free(module);
}

static zyx_backend_code find(void *self, uint64_t handle, const zyx_backend_kernel_v1 *what, uint64_t *kernel,
                             zyx_backend_error *error) {
  (void)self;
  struct module *module = (struct module *)(uintptr_t)handle;
  void *symbol = dlsym(module->library, what->symbol);
  if (!symbol)
    return fail(error, ZYX_NOT_FOUND, "the code has no function ", what->symbol);
  if (what->stack_bytes > most_stack_bytes)
    return fail(error, ZYX_OUT_OF_MEMORY, "the stack has too little room for kernel ", what->name);
  struct kernel *made = calloc(1, sizeof(*made));
  if (!made)
    return fail(error, ZYX_OUT_OF_MEMORY, "no memory for kernel ", what->name);
  memcpy(&made->function, &symbol, sizeof(symbol));
  made->num_buffers = what->num_buffers;
  made->num_scalars = what->num_scalars;
  made->next = module->kernels;
  module->kernels = made;
  *kernel = (uint64_t)(uintptr_t)made;
  return 0;
}

static zyx_backend_code launch(void *self, uint64_t stream, const zyx_backend_launch_v1 *what,
                               zyx_backend_error *error) {
  (void)stream;
  struct device *device = self;
  const struct kernel *kernel = (const struct kernel *)(uintptr_t)what->kernel;
  void *few[32];
  int64_t few_scalars[32];
  void **buffers = kernel->num_buffers <= 32 ? few : malloc(kernel->num_buffers * sizeof(*buffers));
  int64_t *scalars = kernel->num_scalars <= 32 ? few_scalars : malloc(kernel->num_scalars * sizeof(*scalars));
  zyx_backend_code code = 0;
  if (buffers && scalars) {
    for (uint32_t i = 0; i < kernel->num_buffers; ++i)
      buffers[i] = at(what->arguments[i].memory);
    for (uint32_t i = 0; i < kernel->num_scalars; ++i)
      scalars[i] = (int64_t)what->arguments[kernel->num_buffers + i].value;
    const zyx_kernel_args args = {buffers, scalars};
    kernel->function(&args, 0, (int64_t)what->programs);
    atomic_fetch_add(&device->launches, 1);
  } else {
    code = fail(error, ZYX_OUT_OF_MEMORY, "no memory for arguments", "");
  }
  if (buffers != few)
    free(buffers);
  if (scalars != few_scalars)
    free(scalars);
  return code;
}

/*===----------------------------------------------------------------------===*\
 * Order: all is done already
\*===----------------------------------------------------------------------===*/

static zyx_backend_code create_stream(void *self, uint64_t *stream, zyx_backend_error *error) {
  (void)self, (void)error;
  *stream = 0;
  return 0;
}
static void destroy_stream(void *self, uint64_t stream) { (void)self, (void)stream; }
static zyx_backend_code synchronize(void *self, uint64_t stream, zyx_backend_error *error) {
  (void)self, (void)stream, (void)error;
  return 0;
}

/* When an event was recorded. */
static zyx_backend_code create_event(void *self, int is_timed, uint64_t *event, zyx_backend_error *error) {
  (void)self, (void)is_timed;
  struct timespec *made = calloc(1, sizeof(*made));
  *event = (uint64_t)(uintptr_t)made;
  return made ? 0 : fail(error, ZYX_OUT_OF_MEMORY, "no memory for an event", "");
}
static void destroy_event(void *self, uint64_t event) {
  (void)self;
  free((void *)(uintptr_t)event);
}
static zyx_backend_code record(void *self, uint64_t stream, uint64_t event, zyx_backend_error *error) {
  (void)self, (void)stream, (void)error;
  clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(uintptr_t)event);
  return 0;
}
static zyx_backend_code wait_for(void *self, uint64_t stream, uint64_t event, zyx_backend_error *error) {
  (void)self, (void)stream, (void)event, (void)error;
  return 0;
}
static zyx_backend_code elapsed(void *self, uint64_t begin, uint64_t end, uint64_t *nanoseconds,
                                zyx_backend_error *error) {
  (void)self, (void)error;
  const struct timespec *from = (const struct timespec *)(uintptr_t)begin,
                        *to = (const struct timespec *)(uintptr_t)end;
  *nanoseconds = (uint64_t)((to->tv_sec - from->tv_sec) * 1000000000LL + (to->tv_nsec - from->tv_nsec));
  return 0;
}

static const zyx_backend_v1 table = {
    .struct_size = sizeof(zyx_backend_v1),
    .abi_version = ZYX_BACKEND_ABI_VERSION,
    .name = "counting",
    .description = "one thread of this machine, which counts its launches",
    .device_count = device_count,
    .get_facts = get_facts,
    .open = open_device,
    .close = close_device,
    .allocate = allocate,
    .free = free_memory,
    .allocate_host = allocate_host,
    .free_host = free_host,
    .upload = upload,
    .download = download,
    .copy = copy,
    .fill = fill,
    .load = load,
    .unload = unload,
    .find = find,
    .launch = launch,
    .create_stream = create_stream,
    .destroy_stream = destroy_stream,
    .synchronize_stream = synchronize,
    .create_event = create_event,
    .destroy_event = destroy_event,
    .record = record,
    .wait = wait_for,
    .synchronize_event = synchronize,
    .elapsed = elapsed,
};

const zyx_backend_v1 *zyx_backend(void) { return &table; }
