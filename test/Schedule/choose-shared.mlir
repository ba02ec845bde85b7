// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-schedule-choose | FileCheck %s --check-prefix=OLD
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v3 -zyx-schedule-choose | FileCheck %s --check-prefix=CPU
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.workgroupThreads=128' -zyx-schedule-choose \
// RUN:   | FileCheck %s --check-prefix=LIMIT --implicit-check-not=' threads = {{(129|1[3-9][0-9]|[2-9][0-9][0-9])}}'

// No workgroup has more threads than the record's.
// LIMIT: threads = 128 : i64

!f = !kernel.buffer<f32, global>
!h = !kernel.buffer<f16, global>

// A computed factor keeps a product from tensor cores: workgroups evaluate it into shared memory. Large tiles where there
// are many, and small ones that groups of threads share where there are few.
// CHECK-LABEL: kernel.func @large
// CHECK-SAME:  #kernel.grid_step<"m", 128>, #kernel.grid_step<"n", 128>, #kernel.block_step<<8 x 8, rows 8, depth 16, pack lhs rhs>>]>, threads = 256
// OLD-LABEL:   kernel.func @large
// OLD-SAME:    #kernel.block_step<<8 x 8, rows 8,
// CPU-LABEL:   kernel.func @large
// CPU-NOT:     threads =
kernel.func @large(%x: !f, %w: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[4096, 640] strides [640, 1]>]> : !f -> !kernel.view<4096x640xf32, global>
  %b = kernel.view %w map <[<[640, 2560] strides [2560, 1]>]> : !f -> !kernel.view<640x2560xf32, global>
  %c = kernel.view %y map <[<[4096, 2560] strides [2560, 1]>]> : !f -> !kernel.view<4096x2560xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] : !kernel.view<4096x640xf32, global> -> tensor<4096x640xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] : !kernel.view<640x2560xf32, global> -> tensor<640x2560xf32>
  %nt = arith.mulf %at, %at : tensor<4096x640xf32>
  %z = arith.constant dense<0.0> : tensor<4096x2560xf32>
  %d = kernel.dot %nt, %bt, %z : tensor<4096x640xf32>, tensor<640x2560xf32> -> tensor<4096x2560xf32>
  kernel.store %d, %c[%c0, %c0] : tensor<4096x2560xf32>, !kernel.view<4096x2560xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @few
// CHECK-NOT:   min_resident_threads
// CHECK-SAME:  depth 128, pack lhs rhs>>]>, threads = {{128|256}}
kernel.func @few(%x: !f, %w: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[64, 650] strides [650, 1]>]> : !f -> !kernel.view<64x650xf32, global>
  %b = kernel.view %w map <[<[650, 650] strides [650, 1]>]> : !f -> !kernel.view<650x650xf32, global>
  %c = kernel.view %y map <[<[64, 650] strides [650, 1]>]> : !f -> !kernel.view<64x650xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] : !kernel.view<64x650xf32, global> -> tensor<64x650xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] : !kernel.view<650x650xf32, global> -> tensor<650x650xf32>
  %z = arith.constant dense<0.0> : tensor<64x650xf32>
  %d = kernel.dot %at, %bt, %z : tensor<64x650xf32>, tensor<650x650xf32> -> tensor<64x650xf32>
  kernel.store %d, %c[%c0, %c0] : tensor<64x650xf32>, !kernel.view<64x650xf32, global>
  kernel.return
}

// Two tiles for each multiprocessor, which has both at once: threads have no more registers than that allows.
// CHECK-LABEL: kernel.func @twice
// CHECK-SAME:  {min_resident_threads = 512 : i64, {{.*}}block_step{{.*}} threads = 256
// CPU-LABEL:   kernel.func @twice
// CPU-NOT:     min_resident_threads
kernel.func @twice(%x: !f, %w: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[128, 650] strides [650, 1]>]> : !f -> !kernel.view<128x650xf32, global>
  %b = kernel.view %w map <[<[650, 650] strides [650, 1]>]> : !f -> !kernel.view<650x650xf32, global>
  %c = kernel.view %y map <[<[128, 650] strides [650, 1]>]> : !f -> !kernel.view<128x650xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] : !kernel.view<128x650xf32, global> -> tensor<128x650xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] : !kernel.view<650x650xf32, global> -> tensor<650x650xf32>
  %z = arith.constant dense<0.0> : tensor<128x650xf32>
  %d = kernel.dot %at, %bt, %z : tensor<128x650xf32>, tensor<650x650xf32> -> tensor<128x650xf32>
  kernel.store %d, %c[%c0, %c0] : tensor<128x650xf32>, !kernel.view<128x650xf32, global>
  kernel.return
}

// A contraction of a few steps is not worth a slice.
// CHECK-LABEL: kernel.func @short
// CHECK-NOT:   block_step
kernel.func @short(%x: !f, %w: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[4000, 3] strides [3, 1]>]> : !f -> !kernel.view<4000x3xf32, global>
  %b = kernel.view %w map <[<[3, 500] strides [500, 1]>]> : !f -> !kernel.view<3x500xf32, global>
  %c = kernel.view %y map <[<[4000, 500] strides [500, 1]>]> : !f -> !kernel.view<4000x500xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] : !kernel.view<4000x3xf32, global> -> tensor<4000x3xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] : !kernel.view<3x500xf32, global> -> tensor<3x500xf32>
  %z = arith.constant dense<0.0> : tensor<4000x500xf32>
  %d = kernel.dot %at, %bt, %z : tensor<4000x3xf32>, tensor<3x500xf32> -> tensor<4000x500xf32>
  kernel.store %d, %c[%c0, %c0] : tensor<4000x500xf32>, !kernel.view<4000x500xf32, global>
  kernel.return
}

// A product of a recurrent loop: 130 tiles for 132 multiprocessors. 328 of power-of-two sizes left some of these with three.
// CHECK-LABEL: kernel.func @step
// CHECK-SAME:  #kernel.grid_step<"m", 32>, #kernel.grid_step<"n", 40>
kernel.func @step(%x: !f, %w: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[64, 650] strides [650, 1]>]> : !f -> !kernel.view<64x650xf32, global>
  %b = kernel.view %w map <[<[650, 2600] strides [1, 650]>]> : !f -> !kernel.view<650x2600xf32, global>
  %c = kernel.view %y map <[<[64, 2600] strides [2600, 1]>]> : !f -> !kernel.view<64x2600xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] : !kernel.view<64x650xf32, global> -> tensor<64x650xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] : !kernel.view<650x2600xf32, global> -> tensor<650x2600xf32>
  %z = arith.constant dense<0.0> : tensor<64x2600xf32>
  %d = kernel.dot %at, %bt, %z : tensor<64x650xf32>, tensor<650x2600xf32> -> tensor<64x2600xf32>
  kernel.store %d, %c[%c0, %c0] : tensor<64x2600xf32>, !kernel.view<64x2600xf32, global>
  kernel.return
}

// Eight large tiles of the ring took 33 us on an H200.
// CHECK-LABEL: kernel.func @narrow
// CHECK-NOT:   tensor_step
// CHECK-SAME:  threads =
kernel.func @narrow(%x: !f, %w: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[35, 512] strides [512, 1]>]> : !f -> !kernel.view<35x512xf32, global>
  %b = kernel.view %w map <[<[512, 1024] strides [1, 512]>]> : !f -> !kernel.view<512x1024xf32, global>
  %c = kernel.view %y map <[<[35, 1024] strides [1024, 1]>]> : !f -> !kernel.view<35x1024xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] : !kernel.view<35x512xf32, global> -> tensor<35x512xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] : !kernel.view<512x1024xf32, global> -> tensor<512x1024xf32>
  %z = arith.constant dense<0.0> : tensor<35x1024xf32>
  %d = kernel.dot %at, %bt, %z : tensor<35x512xf32>, tensor<512x1024xf32> -> tensor<35x1024xf32>
  kernel.store %d, %c[%c0, %c0] : tensor<35x1024xf32>, !kernel.view<35x1024xf32, global>
  kernel.return
}
// Factors of 16 bits are multiplied by warps, on Hopper and on Ampere. What computes one of them keeps it from the ring.
// CHECK-LABEL: kernel.func @halves
// CHECK-SAME:  #kernel.block_step<<{{[0-9]+}} x {{[0-9]+}}, rows {{[0-9]+}}, depth {{[0-9]+}}, pack lhs rhs, narrow>>]>, threads =
// OLD-LABEL:   kernel.func @halves
// OLD-SAME:    pack lhs rhs, narrow>>]>, threads =
kernel.func @halves(%x: !h, %w: !h, %y: !h) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[4096, 640] strides [640, 1]>]> : !h -> !kernel.view<4096x640xf16, global>
  %b = kernel.view %w map <[<[640, 2560] strides [2560, 1]>]> : !h -> !kernel.view<640x2560xf16, global>
  %c = kernel.view %y map <[<[4096, 2560] strides [2560, 1]>]> : !h -> !kernel.view<4096x2560xf16, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] : !kernel.view<4096x640xf16, global> -> tensor<4096x640xf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] : !kernel.view<640x2560xf16, global> -> tensor<640x2560xf16>
  %nt = arith.mulf %at, %at : tensor<4096x640xf16>
  %z = arith.constant dense<0.0> : tensor<4096x2560xf32>
  %d = kernel.dot %nt, %bt, %z : tensor<4096x640xf16>, tensor<640x2560xf16> -> tensor<4096x2560xf32>
  %r = arith.truncf %d : tensor<4096x2560xf32> to tensor<4096x2560xf16>
  kernel.store %r, %c[%c0, %c0] : tensor<4096x2560xf16>, !kernel.view<4096x2560xf16, global>
  kernel.return
}

// Rows that are no multiple of a thread's four: threads that read both factors where they lie would ask for each element
// whether it is there, so workgroups share tiles. Of whole rows and columns threads take as long.
// CHECK-LABEL: kernel.func @odd
// CHECK-SAME:  #kernel.block_step<{{.*}}>]>, threads =
kernel.func @odd(%x: !f, %w: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[128, 77, 77] strides [6160, 80, 1]>]> : !f -> !kernel.view<128x77x77xf32, global>
  %0 = kernel.load %a[%c0, %c0, %c0] axes ["b", "m", "k"] : !kernel.view<128x77x77xf32, global> -> tensor<128x77x77xf32>
  %b = kernel.view %w map <[<[128, 77, 64] strides [4928, 64, 1]>]> : !f -> !kernel.view<128x77x64xf32, global>
  %1 = kernel.load %b[%c0, %c0, %c0] axes ["b", "k", "n"] : !kernel.view<128x77x64xf32, global> -> tensor<128x77x64xf32>
  %z = arith.constant dense<0.0> : tensor<128x77x64xf32>
  %2 = kernel.dot %0, %1, %z : tensor<128x77x77xf32>, tensor<128x77x64xf32> -> tensor<128x77x64xf32>
  %c = kernel.view %y map <[<[128, 77, 64] strides [4928, 64, 1]>]> : !f -> !kernel.view<128x77x64xf32, global>
  kernel.store %2, %c[%c0, %c0, %c0] : tensor<128x77x64xf32>, !kernel.view<128x77x64xf32, global>
  kernel.return
}
