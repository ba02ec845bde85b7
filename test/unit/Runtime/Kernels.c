//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include <stdint.h>

/* artifact::KernelArgs. */
typedef struct {
  void *const *buffers;
  const int64_t *scalars;
} KernelArgs;

/* buffers[2] = buffers[0] + buffers[1] */
void add(const KernelArgs *args, int64_t begin, int64_t end) {
  const float *a = args->buffers[0], *b = args->buffers[1];
  float *y = args->buffers[2];
  for (int64_t i = begin; i < end; ++i)
    y[i] = a[i] + b[i];
}

/* buffers[2] = a mix of buffers[0] and buffers[1], in integers */
void mix(const KernelArgs *args, int64_t begin, int64_t end) {
  const uint64_t *a = args->buffers[0], *b = args->buffers[1];
  uint64_t *y = args->buffers[2];
  for (int64_t i = begin; i < end; ++i)
    y[i] = a[i] * 0x9e3779b97f4a7c15u + (b[i] ^ b[i] >> 7) + (uint64_t)args->scalars[0];
}

/* buffers[1] = buffers[0] * scalars[0] + scalars[1] */
void scale(const KernelArgs *args, int64_t begin, int64_t end) {
  const float *x = args->buffers[0];
  float *y = args->buffers[1];
  for (int64_t i = begin; i < end; ++i)
    y[i] = x[i] * (float)args->scalars[0] + (float)args->scalars[1];
}

/* buffers[0][i] = the range in which i was computed */
void ranges(const KernelArgs *args, int64_t begin, int64_t end) {
  uint64_t *y = args->buffers[0];
  for (int64_t i = begin; i < end; ++i)
    y[i] = (uint64_t)begin << 32 | (uint64_t)end;
}
