// RUN: zyx-opt %s -zyx-kernel-attach-target='target=cuda facts=simt.sharedBytes=1024' -zyx-convert-kernel-to-threads --split-input-file --verify-diagnostics

// expected-error @below {{needs 4096 bytes of shared memory; a workgroup has 1024}}
kernel.func @crowded(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %p = kernel.alloc : !kernel.view<1024xf32, shared>
  kernel.return
}

// -----

// expected-error @below {{asks for 2048 threads in a cluster of 1, where a program is one thread}}
kernel.func @large(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 2048 : i64} {
  kernel.return
}

// -----

// expected-error @below {{asks for 512 threads in a cluster of 16, where a program is one thread}}
kernel.func @wide(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 512 : i64, cluster = 16 : i64} {
  kernel.return
}

// -----

kernel.func @no_cluster(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  // expected-error @below {{has no meaning for a program that is one thread}}
  kernel.barrier cluster
  kernel.return
}

// -----

kernel.func @alone(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  // expected-error @below {{asks for shared memory, which programs that are one thread do not have}}
  %p = kernel.alloc : !kernel.view<8xf32, shared>
  kernel.return
}

// -----

// expected-error @below {{is in the machine form, not in the lowered one}}
kernel.func @machine(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>, threads = 64 : i64} {
  kernel.return
}
