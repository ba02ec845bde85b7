/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/

/* A compiler of another version: it has every function, and none is called but the first. */
const char *zyx_compiler_version(void) { return "0.0.0"; }
#ifndef EMPTY
void zyx_compiler_parse(void) {}
void zyx_compiler_compile(void) {}
void zyx_compiler_result_release(void) {}
void zyx_compiler_result_code(void) {}
void zyx_compiler_result_message(void) {}
void zyx_compiler_result_num_graphs(void) {}
void zyx_compiler_result_graph(void) {}
void zyx_compiler_result_output(void) {}
void zyx_compiler_result_num_kernels(void) {}
void zyx_compiler_result_num_stages(void) {}
void zyx_compiler_result_stage(void) {}
void zyx_compiler_result_remarks(void) {}
#endif
