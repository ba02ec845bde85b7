/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/

/* run_artifact FILE.zyxa FOLDER [--device=NAME]: runs a compiled program by libZyxRuntime alone, on the
 * device that it was compiled for: "cpu" unless another is named. Each input is read from FOLDER/NAME.npy;
 * of each output the first elements are printed. */

#include "zyx-c/Runtime.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends the program where something failed. */
static void check(zyx_error *error) {
  if (!error)
    return;
  fprintf(stderr, "run_artifact: error: %s\n", zyx_error_get_message(error));
  zyx_error_release(error);
  exit(1);
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "run_artifact: error: %s: %s\n", what, why);
  exit(1);
}

/* What the header of a .npy file says of elements of this type. */
static const char *descr_of(zyx_dtype dtype) {
  switch (dtype) {
  case ZYX_BOOL:
    return "'descr': '|b1'";
  case ZYX_I8:
    return "'descr': '|i1'";
  case ZYX_I16:
    return "'descr': '<i2'";
  case ZYX_I32:
    return "'descr': '<i4'";
  case ZYX_I64:
    return "'descr': '<i8'";
  case ZYX_U8:
    return "'descr': '|u1'";
  case ZYX_U16:
    return "'descr': '<u2'";
  case ZYX_U32:
    return "'descr': '<u4'";
  case ZYX_U64:
    return "'descr': '<u8'";
  case ZYX_F16:
    return "'descr': '<f2'";
  case ZYX_F32:
    return "'descr': '<f4'";
  case ZYX_F64:
    return "'descr': '<f8'";
  default:
    return "no .npy file has them";
  }
}

/* The elements of a .npy file of version 1: what follows its header. Fails where they are of another
 * type than the input's, lie in another order, or are not `size` bytes. The caller frees the result. */
static void *read_npy(const char *path, zyx_dtype dtype, size_t size) {
  unsigned char start[10];
  char header[65536];
  FILE *file = fopen(path, "rb");
  if (!file)
    fail(path, "cannot be opened");
  if (fread(start, 1, sizeof(start), file) != sizeof(start) || memcmp(start, "\x93NUMPY\x01", 7) != 0)
    fail(path, "is no .npy file of version 1");
  const size_t length = start[8] + 256u * start[9];
  if (fread(header, 1, length, file) != length)
    fail(path, "is cut");
  header[length] = '\0';
  if (!strstr(header, descr_of(dtype)))
    fail(path, "has elements of another type than the input");
  if (!strstr(header, "'fortran_order': False"))
    fail(path, "has its elements column by column");
  char *data = malloc(size + 1);
  if (!data)
    fail(path, "needs more memory than there is");
  if (fread(data, 1, size + 1, file) != size)
    fail(path, "has another size than the input");
  fclose(file);
  return data;
}

static void print_output(const zyx_executor *executor, size_t index) {
  zyx_tensor_info info = {.struct_size = sizeof(info)};
  check(zyx_executor_get_output(executor, index, &info));
  void *data = malloc(info.bytes + 1);
  if (!data)
    fail(info.name, "needs more memory than there is");
  check(zyx_executor_read_output(executor, index, data, info.bytes));
  printf("%s:", info.name);
  for (size_t i = 0; i < 8; ++i) {
    if (info.dtype == ZYX_I64 && (i + 1) * sizeof(int64_t) <= info.bytes)
      printf(" %" PRId64, ((const int64_t *)data)[i]);
    if (info.dtype == ZYX_F32 && (i + 1) * sizeof(float) <= info.bytes)
      printf(" %g", ((const float *)data)[i]);
  }
  printf(" (%zu bytes)\n", info.bytes);
  free(data);
}

/* What is printed is in a buffer until now: a full disk is only found here. */
static void close_output(void) {
  const int failed_before = ferror(stdout);
  if (fclose(stdout) != 0 || failed_before)
    fail("the standard output", "cannot be written");
}

int main(int argc, char **argv) {
  const char *usage = "run_artifact FILE.zyxa FOLDER [--device=NAME]", *name = "cpu";
  /* A file that is opened must not get the number of a closed standard output. */
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0)
      return 1;
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    printf("usage: %s\n", usage);
    close_output();
    return 0;
  }
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    printf("run_artifact (zyx) %s\n", zyx_version());
    close_output();
    return 0;
  }
  if (argc == 4 && strncmp(argv[3], "--device=", 9) == 0)
    name = argv[3] + 9;
  else if (argc != 3)
    fail("usage", usage);
  zyx_device *device;
  zyx_executor *executor;
  zyx_executor_info info = {.struct_size = sizeof(info)};
  check(zyx_device_create(name, NULL, &device));
  check(zyx_executor_load_file(device, argv[1], &executor));
  check(zyx_executor_get_info(executor, &info));
  for (size_t i = 0; i < info.num_inputs; ++i) {
    zyx_tensor_info input = {.struct_size = sizeof(input)};
    check(zyx_executor_get_input(executor, i, &input));
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/%s.npy", argv[2], input.name) >= (int)sizeof(path))
      fail(input.name, "has too long a path");
    void *data = read_npy(path, input.dtype, input.bytes);
    check(zyx_executor_set_input(executor, i, data, input.bytes));
    free(data);
  }
  check(zyx_executor_run(executor));
  printf("%s: %zu kernels\n", info.entry, info.num_kernels);
  for (size_t i = 0; i < info.num_outputs; ++i)
    print_output(executor, i);
  zyx_executor_release(executor);
  zyx_device_release(device);
  close_output();
  return 0;
}
