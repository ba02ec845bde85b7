//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Code as no kernel may be: it calls libm. The prototypes are its own, so that no header inlines them.
float expf(float x);
double sin(double x);
void *memcpy(void *to, const void *from, unsigned long size);

__attribute__((visibility("default"))) double call(float x, double y, void *to, unsigned long size) {
  memcpy(to, &y, size);
  return expf(x) + sin(y);
}
