// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-schedule-choose | FileCheck %s --check-prefix=ALONE
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.workgroupThreads=128' -zyx-schedule-choose \
// RUN:   | FileCheck %s --check-prefix=LIMIT --implicit-check-not=' threads = {{(129|1[3-9][0-9]|[2-9][0-9][0-9])}}'

// No workgroup has more threads than the record's.
// LIMIT: threads = 128 : i64

// A thread transposes a square of vectors in registers. A warp has 4 of them in a row where it writes by 8 where it
// reads, and a workgroup 16 by 16.
// CHECK-LABEL: kernel.func @transpose
// CHECK-SAME: [#kernel.grid_step<"j", 128>, #kernel.grid_step<"i", 128>, #kernel.grid_step<"j", 64>, #kernel.grid_step<"i", 64>,
// CHECK-SAME: #kernel.grid_step<"j", 32>, #kernel.grid_step<"j", 8>, #kernel.grid_step<"i", 8>]
!b = !kernel.buffer<bf16, global>
!x = !kernel.view<512x256xbf16, global>
kernel.func @transpose(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[512, 256] strides [1, 512]>]> : !b -> !x
  %1 = kernel.load %0[%c0, %c0] axes ["i", "j"] : !x -> tensor<512x256xbf16>
  %2 = arith.negf %1 : tensor<512x256xbf16>
  %3 = kernel.view %y map <[<[512, 256] strides [256, 1]>]> : !b -> !x
  kernel.store %2, %3[%c0, %c0] : tensor<512x256xbf16>, !x
  kernel.return
}

// A copy of windows into another order: neighbouring threads write neighbours.
// CHECK-LABEL: kernel.func @windows
// CHECK-SAME: [#kernel.grid_step<"i", 1>, #kernel.grid_step<"k", 1>, #kernel.grid_step<"j", 8>]
kernel.func @windows(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[32, 480, 3200] strides [1536000, 3200, 1]>, <[32, 96, 5, 3200] strides [1536384, 16004, 1, 5]>,
                            <[32, 96, 16004] strides [1536000, 16000, 1] offset -2 valid [0 : 32, 0 : 96, 2 : 16002]>]> : !b -> !kernel.view<32x480x3200xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["i", "j", "k"] : !kernel.view<32x480x3200xbf16, global> -> tensor<32x480x3200xbf16>
  %2 = kernel.view %y map <[<[32, 480, 3200] strides [1536000, 1, 480]>]> : !b -> !kernel.view<32x480x3200xbf16, global>
  kernel.store %1, %2[%c0, %c0, %c0] : tensor<32x480x3200xbf16>, !kernel.view<32x480x3200xbf16, global>
  kernel.return
}

// Of a row that is walked again each thread keeps 32 elements, and at most 64. Longer ones are a cluster's, where there are
// clusters, and so are few rows; what is longer still is read again. With 32 elements each, a multiprocessor is to have
// room for 1024 threads.
// CHECK-LABEL: kernel.func @short({{.*}} attributes {min_resident_threads = 1024 : i64, {{.*}} threads = 256 : i64}
// CHECK-LABEL: kernel.func @long({{.*}} attributes {min_resident_threads = 1024 : i64, {{.*}} threads = 512 : i64}
// CHECK-LABEL: kernel.func @longer({{.*}} attributes {cluster = 4 : i64, min_resident_threads = 1024 : i64, {{.*}} threads = 512 : i64}
// CHECK-LABEL: kernel.func @longest({{.*}} attributes {cluster = 8 : i64, schedule = {{.*}} threads = 512 : i64}
// CHECK-LABEL: kernel.func @beyond({{.*}} attributes {cluster = 8 : i64, {{.*}} threads = 256 : i64}
// CHECK-LABEL: kernel.func @few({{.*}} attributes {cluster = 8 : i64, {{.*}} threads = 128 : i64}
// CHECK-LABEL: kernel.func @uneven({{.*}} attributes {cluster = 2 : i64, {{.*}} threads = 416 : i64}
// ALONE-LABEL: kernel.func @long({{.*}} threads = 512 : i64}
// ALONE-LABEL: kernel.func @longer({{.*}} attributes {schedule = {{[^}]*}}, threads = 256 : i64}
!f = !kernel.buffer<f32, global>
#short = #kernel.map<[#kernel.block<[1024, 8192] strides [8192, 1]>]>
!short = !kernel.view<1024x8192xf32, global>
kernel.func @short(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #short : !f -> !short
  %ys = kernel.view %y map #short : !f -> !short
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !short -> tensor<1024x8192xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x8192xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x8192xf32>
  %d = arith.divf %t, %b : tensor<1024x8192xf32>
  kernel.store %d, %ys[%c0, %c0] : tensor<1024x8192xf32>, !short
  kernel.return
}
#long = #kernel.map<[#kernel.block<[1024, 16384] strides [16384, 1]>]>
!long = !kernel.view<1024x16384xf32, global>
kernel.func @long(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #long : !f -> !long
  %ys = kernel.view %y map #long : !f -> !long
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !long -> tensor<1024x16384xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x16384xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x16384xf32>
  %d = arith.divf %t, %b : tensor<1024x16384xf32>
  kernel.store %d, %ys[%c0, %c0] : tensor<1024x16384xf32>, !long
  kernel.return
}
#longer = #kernel.map<[#kernel.block<[1024, 65536] strides [65536, 1]>]>
!longer = !kernel.view<1024x65536xf32, global>
kernel.func @longer(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #longer : !f -> !longer
  %ys = kernel.view %y map #longer : !f -> !longer
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !longer -> tensor<1024x65536xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x65536xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x65536xf32>
  %d = arith.divf %t, %b : tensor<1024x65536xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<1024x65536xf32>, !longer
  kernel.return
}
#longest = #kernel.map<[#kernel.block<[1024, 262144] strides [262144, 1]>]>
!longest = !kernel.view<1024x262144xf32, global>
kernel.func @longest(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #longest : !f -> !longest
  %ys = kernel.view %y map #longest : !f -> !longest
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !longest -> tensor<1024x262144xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x262144xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x262144xf32>
  %d = arith.divf %t, %b : tensor<1024x262144xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<1024x262144xf32>, !longest
  kernel.return
}
#beyond = #kernel.map<[#kernel.block<[1024, 1048576] strides [1048576, 1]>]>
!beyond = !kernel.view<1024x1048576xf32, global>
kernel.func @beyond(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #beyond : !f -> !beyond
  %ys = kernel.view %y map #beyond : !f -> !beyond
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !beyond -> tensor<1024x1048576xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x1048576xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x1048576xf32>
  %d = arith.divf %t, %b : tensor<1024x1048576xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<1024x1048576xf32>, !beyond
  kernel.return
}
#few = #kernel.map<[#kernel.block<[2, 32768] strides [32768, 1]>]>
!few = !kernel.view<2x32768xf32, global>
kernel.func @few(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #few : !f -> !few
  %ys = kernel.view %y map #few : !f -> !few
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !few -> tensor<2x32768xf32>
  %s = kernel.reduce add %t dims [1] : tensor<2x32768xf32> -> tensor<2xf32>
  %b = kernel.broadcast %s dims [0] : tensor<2xf32> -> tensor<2x32768xf32>
  %d = arith.divf %t, %b : tensor<2x32768xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<2x32768xf32>, !few
  kernel.return
}
#uneven = #kernel.map<[#kernel.block<[128, 25152] strides [25152, 1]>]>
!uneven = !kernel.view<128x25152xf32, global>
kernel.func @uneven(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #uneven : !f -> !uneven
  %ys = kernel.view %y map #uneven : !f -> !uneven
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !uneven -> tensor<128x25152xf32>
  %s = kernel.reduce add %t dims [1] : tensor<128x25152xf32> -> tensor<128xf32>
  %b = kernel.broadcast %s dims [0] : tensor<128xf32> -> tensor<128x25152xf32>
  %d = arith.divf %t, %b : tensor<128x25152xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<128x25152xf32>, !uneven
  kernel.return
}

// A row of which only a maximum and the exponentials of distances to it leave is walked once, by one workgroup, however
// long it is. A few such rows are shared by more multiprocessors.
// CHECK-LABEL: kernel.func @log_sum_exp
// CHECK-SAME: attributes {min_resident_threads = 1024 : i64, schedule = {{.*}} threads = 256 : i64}
// CHECK-LABEL: kernel.func @few_losses
// CHECK-SAME: attributes {cluster = 8 : i64, {{.*}} threads = 256 : i64}
!line = !kernel.view<1024xf32, global>
#line = #kernel.map<[#kernel.block<[1024] strides [1]>]>
kernel.func @log_sum_exp(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #longer : !f -> !longer
  %ys = kernel.view %y map #line : !f -> !line
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !longer -> tensor<1024x65536xf32>
  %m = kernel.reduce max %t dims [1] : tensor<1024x65536xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %m dims [0] : tensor<1024xf32> -> tensor<1024x65536xf32>
  %d = arith.subf %t, %b : tensor<1024x65536xf32>
  %e = math.exp %d : tensor<1024x65536xf32>
  %s = kernel.reduce add %e dims [1] : tensor<1024x65536xf32> -> tensor<1024xf32>
  kernel.store %s, %ys[%c0] : tensor<1024xf32>, !line
  kernel.return
}
!pair = !kernel.view<2xf32, global>
#pair = #kernel.map<[#kernel.block<[2] strides [1]>]>
kernel.func @few_losses(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #few : !f -> !few
  %ys = kernel.view %y map #pair : !f -> !pair
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !few -> tensor<2x32768xf32>
  %m = kernel.reduce max %t dims [1] : tensor<2x32768xf32> -> tensor<2xf32>
  %b = kernel.broadcast %m dims [0] : tensor<2xf32> -> tensor<2x32768xf32>
  %d = arith.subf %t, %b : tensor<2x32768xf32>
  %e = math.exp %d : tensor<2x32768xf32>
  %s = kernel.reduce add %e dims [1] : tensor<2x32768xf32> -> tensor<2xf32>
  kernel.store %s, %ys[%c0] in_bounds [true] : tensor<2xf32>, !pair
  kernel.return
}

// Rows that come out of the second cache when they are walked again are one workgroup's: two on each multiprocessor. Of two
// inputs there would be too much, and each has half of a thread's registers.
// CHECK-LABEL: kernel.func @near
// CHECK-SAME: attributes {min_resident_threads = 1024 : i64, schedule = {{.*}} threads = 512 : i64}
// CHECK-LABEL: kernel.func @two_of_them
// CHECK-SAME: attributes {cluster = 8 : i64, {{.*}} threads = 416 : i64}
!h = !kernel.buffer<bf16, global>
#near = #kernel.map<[#kernel.block<[1024, 50304] strides [50304, 1]>]>
!near = !kernel.view<1024x50304xbf16, global>
kernel.func @near(%x: !h, %y: !h) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #near : !h -> !near
  %ys = kernel.view %y map #near : !h -> !near
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !near -> tensor<1024x50304xbf16>
  %s = kernel.reduce add %t dims [1] : tensor<1024x50304xbf16> -> tensor<1024xbf16>
  %b = kernel.broadcast %s dims [0] : tensor<1024xbf16> -> tensor<1024x50304xbf16>
  %d = arith.divf %t, %b : tensor<1024x50304xbf16>
  kernel.store %d, %ys[%c0, %c0] : tensor<1024x50304xbf16>, !near
  kernel.return
}
kernel.func @two_of_them(%x: !h, %z: !h, %y: !h) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #near : !h -> !near
  %zs = kernel.view %z map #near : !h -> !near
  %ys = kernel.view %y map #near : !h -> !near
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !near -> tensor<1024x50304xbf16>
  %u = kernel.load %zs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !near -> tensor<1024x50304xbf16>
  %p = arith.mulf %t, %u : tensor<1024x50304xbf16>
  %s = kernel.reduce add %p dims [1] : tensor<1024x50304xbf16> -> tensor<1024xbf16>
  %b = kernel.broadcast %s dims [0] : tensor<1024xbf16> -> tensor<1024x50304xbf16>
  %d = arith.divf %p, %b : tensor<1024x50304xbf16>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<1024x50304xbf16>, !near
  kernel.return
}

// Rows of weights count, which lie side by side along the sum, and not that there are two numbers for each result.
// CHECK-LABEL: kernel.func @scaled_rows
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"n", 1>]>, threads = 64
!half = !kernel.buffer<f16, global>
!i8buf = !kernel.buffer<i8, global>
!f32buf = !kernel.buffer<f32, global>
kernel.func @scaled_rows(%x: !half, %w: !i8buf, %s: !half, %z: !half, %y: !f32buf) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[1024] strides [1]>]> : !half -> !kernel.view<1024xf16, global>
  %1 = kernel.load %0[%c0] axes ["k"] : !kernel.view<1024xf16, global> -> tensor<1024xf16>
  %2 = kernel.view %w map <[<[1024, 4096] strides [1, 1024]>]> : !i8buf -> !kernel.view<1024x4096xi8, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<1024x4096xi8, global> -> tensor<1024x4096xi8>
  %4 = kernel.view %s map <[<[4096] strides [1]>]> : !half -> !kernel.view<4096xf16, global>
  %5 = kernel.load %4[%c0] axes ["n"] : !kernel.view<4096xf16, global> -> tensor<4096xf16>
  %6 = kernel.view %z map <[<[4096] strides [1]>]> : !half -> !kernel.view<4096xf16, global>
  %7 = kernel.load %6[%c0] axes ["n"] : !kernel.view<4096xf16, global> -> tensor<4096xf16>
  %8 = arith.sitofp %3 : tensor<1024x4096xi8> to tensor<1024x4096xf16>
  %9 = kernel.broadcast %7 dims [1] : tensor<4096xf16> -> tensor<1024x4096xf16>
  %10 = arith.subf %8, %9 : tensor<1024x4096xf16>
  %11 = kernel.broadcast %5 dims [1] : tensor<4096xf16> -> tensor<1024x4096xf16>
  %12 = arith.mulf %10, %11 : tensor<1024x4096xf16>
  %13 = kernel.broadcast %1 dims [0] : tensor<1024xf16> -> tensor<1024x4096xf16>
  %14 = arith.mulf %12, %13 : tensor<1024x4096xf16>
  %15 = arith.extf %14 : tensor<1024x4096xf16> to tensor<1024x4096xf32>
  %16 = kernel.reduce add %15 dims [0] : tensor<1024x4096xf32> -> tensor<4096xf32>
  %17 = kernel.view %y map <[<[4096] strides [1]>]> : !f32buf -> !kernel.view<4096xf32, global>
  kernel.store %16, %17[%c0] : tensor<4096xf32>, !kernel.view<4096xf32, global>
  kernel.return
}

// Channels come last in memory, though not among the axes: neighbouring threads have neighbouring channels.
// CHECK-LABEL: kernel.func @channels_last
// CHECK-SAME: #kernel.grid_step<"c", 8>]>}
!bf16buf = !kernel.buffer<bf16, global>
kernel.func @channels_last(%x: !bf16buf, %y: !bf16buf) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[32, 512, 784] strides [401408, 1, 512]>]> : !bf16buf -> !kernel.view<32x512x784xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "c", "p"] : !kernel.view<32x512x784xbf16, global> -> tensor<32x512x784xbf16>
  %2 = arith.addf %1, %1 : tensor<32x512x784xbf16>
  %3 = kernel.view %y map <[<[32, 512, 784] strides [401408, 1, 512]>]> : !bf16buf -> !kernel.view<32x512x784xbf16, global>
  kernel.store %2, %3[%c0, %c0, %c0] : tensor<32x512x784xbf16>, !kernel.view<32x512x784xbf16, global>
  kernel.return
}

// A row that no vector divides is not kept where rows are many: elements that are read one by one by a cluster took longer than to
// read them twice. Few rows, and shorter ones, are kept.
// CHECK-LABEL: kernel.func @odd
// CHECK-NOT: cluster
// CHECK-SAME: threads = 256
kernel.func @odd(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[512, 51865] strides [51865, 1]>]> : !b -> !kernel.view<512x51865xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i", "k"] : !kernel.view<512x51865xbf16, global> -> tensor<512x51865xbf16>
  %2 = arith.extf %1 : tensor<512x51865xbf16> to tensor<512x51865xf32>
  %3 = kernel.reduce add %2 dims [1] : tensor<512x51865xf32> -> tensor<512xf32>
  %4 = kernel.broadcast %3 dims [0] : tensor<512xf32> -> tensor<512x51865xf32>
  %5 = arith.divf %2, %4 : tensor<512x51865xf32>
  %6 = arith.truncf %5 : tensor<512x51865xf32> to tensor<512x51865xbf16>
  %7 = kernel.view %y map <[<[512, 51865] strides [51865, 1]>]> : !b -> !kernel.view<512x51865xbf16, global>
  kernel.store %6, %7[%c0, %c0] : tensor<512x51865xbf16>, !kernel.view<512x51865xbf16, global>
  kernel.return
}
// CHECK-LABEL: kernel.func @odd_few
// CHECK-SAME: cluster = 4 : i64
// CHECK-SAME: threads = 512
// CHECK-LABEL: kernel.func @odd_short
// CHECK-NOT: cluster
// CHECK-SAME: threads = 512
kernel.func @odd_few(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[64, 51865] strides [51865, 1]>]> : !b -> !kernel.view<64x51865xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : !kernel.view<64x51865xbf16, global> -> tensor<64x51865xbf16>
  %2 = arith.extf %1 : tensor<64x51865xbf16> to tensor<64x51865xf32>
  %3 = kernel.reduce add %2 dims [1] : tensor<64x51865xf32> -> tensor<64xf32>
  %4 = kernel.broadcast %3 dims [0] : tensor<64xf32> -> tensor<64x51865xf32>
  %5 = arith.divf %2, %4 : tensor<64x51865xf32>
  %6 = arith.truncf %5 : tensor<64x51865xf32> to tensor<64x51865xbf16>
  %7 = kernel.view %y map <[<[64, 51865] strides [51865, 1]>]> : !b -> !kernel.view<64x51865xbf16, global>
  kernel.store %6, %7[%c0, %c0] in_bounds [true, true] : tensor<64x51865xbf16>, !kernel.view<64x51865xbf16, global>
  kernel.return
}
kernel.func @odd_short(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[8192, 16001] strides [16001, 1]>]> : !b -> !kernel.view<8192x16001xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : !kernel.view<8192x16001xbf16, global> -> tensor<8192x16001xbf16>
  %2 = arith.extf %1 : tensor<8192x16001xbf16> to tensor<8192x16001xf32>
  %3 = kernel.reduce add %2 dims [1] : tensor<8192x16001xf32> -> tensor<8192xf32>
  %4 = kernel.broadcast %3 dims [0] : tensor<8192xf32> -> tensor<8192x16001xf32>
  %5 = arith.divf %2, %4 : tensor<8192x16001xf32>
  %6 = arith.truncf %5 : tensor<8192x16001xf32> to tensor<8192x16001xbf16>
  %7 = kernel.view %y map <[<[8192, 16001] strides [16001, 1]>]> : !b -> !kernel.view<8192x16001xbf16, global>
  kernel.store %6, %7[%c0, %c0] in_bounds [true, true] : tensor<8192x16001xbf16>, !kernel.view<8192x16001xbf16, global>
  kernel.return
}

// Images whose channels come last are copied with their padding, and with rows of pixels: neighbouring threads read neighbouring
// channels, and each writes a vector of a row.
// CHECK-LABEL: kernel.func @channels_first
// CHECK-SAME:  #kernel.grid_step<"n", 1>, #kernel.grid_step<"h", 1>, #kernel.grid_step<"w", 8>, #kernel.grid_step<"g", 1>, #kernel.grid_step<"c", 1>
kernel.func @channels_first(%x: !kernel.buffer<f16, global>, %y: !kernel.buffer<f16, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 32, 6, 30, 32] strides [150528, 6, 1, 5376, 192] offset -5568 valid [0 : 8, 0 : 32, 0 : 6, 1 : 29, 1 : 29]>]>
    : !kernel.buffer<f16, global> -> !kernel.view<8x32x6x30x32xf16, global>
  %w = kernel.view %y map <[<[8, 32, 6, 30, 32] strides [184320, 5760, 960, 32, 1]>]> : !kernel.buffer<f16, global> -> !kernel.view<8x32x6x30x32xf16, global>
  %t = kernel.load %v[%c0, %c0, %c0, %c0, %c0] axes ["n", "g", "c", "h", "w"] : !kernel.view<8x32x6x30x32xf16, global> -> tensor<8x32x6x30x32xf16>
  kernel.store %t, %w[%c0, %c0, %c0, %c0, %c0] : tensor<8x32x6x30x32xf16>, !kernel.view<8x32x6x30x32xf16, global>
  kernel.return
}

// What is read with fills between its elements lies along rows of its own: squares, too, of which a thread has some.
// CHECK-LABEL: kernel.func @between
// CHECK-SAME: #kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 1>, #kernel.grid_step<"i3", 64>, #kernel.grid_step<"i2", 64>, #kernel.grid_step<"i3", 32>, #kernel.grid_step<"i2", 32>, #kernel.grid_step<"i3", 16>, #kernel.grid_step<"i3", 4>, #kernel.grid_step<"i2", 4>
kernel.func @between(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[16, 112, 112, 128] strides [1519616, 112, 1, 11872] offset -112 valid [0 : 16, 1 : 107, 0 : 112, 0 : 128]>, <[2048, 53, 2, 112] strides [5936, 112, 0, 1] valid [0 : 2048, 0 : 53, 0 : 1, 0 : 112]>]>
    : !kernel.buffer<f32, global> -> !kernel.view<16x112x112x128xf32, global>
  %w = kernel.view %y map <[<[16, 112, 112, 128] strides [1605632, 14336, 128, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16x112x112x128xf32, global>
  %t = kernel.load %v[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] : !kernel.view<16x112x112x128xf32, global> -> tensor<16x112x112x128xf32>
  kernel.store %t, %w[%c0, %c0, %c0, %c0] : tensor<16x112x112x128xf32>, !kernel.view<16x112x112x128xf32, global>
  kernel.return
}

// Images of 32 channels, which come last behind it: squares, too.
// CHECK-LABEL: kernel.func @few_channels
// CHECK-SAME: #kernel.grid_step<"d1", 8>, #kernel.grid_step<"d2", 8>
kernel.func @few_channels(%x: !kernel.buffer<f16, global>, %y: !kernel.buffer<f16, global>) {
  %0 = kernel.view %x map <[<[16, 32, 16384] strides [524288, 16384, 1]>]> : <f16, global> -> <16x32x16384xf16, global>
  %1 = kernel.view %y map <[<[16, 32, 16384] strides [524288, 1, 32]>]> : <f16, global> -> <16x32x16384xf16, global>
  %c0 = arith.constant 0 : index
  %2 = kernel.load %0[%c0, %c0, %c0] axes ["d0", "d1", "d2"] : <16x32x16384xf16, global> -> tensor<16x32x16384xf16>
  kernel.store %2, %1[%c0, %c0, %c0] : tensor<16x32x16384xf16>, <16x32x16384xf16, global>
  kernel.return
}

// Rows of 49 elements begin anywhere: the lanes of a warp read one together.
// CHECK-LABEL: kernel.func @odd_rows
// CHECK-SAME: threads = 32
// CHECK-LABEL: kernel.func @even_rows
// CHECK-NOT: threads
// CHECK: kernel.return
kernel.func @odd_rows(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[301056, 49] strides [49, 1]>]> : <f32, global> -> <301056x49xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : <301056x49xf32, global> -> tensor<301056x49xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<301056x49xf32> -> tensor<301056xf32>
  %3 = kernel.view %y map <[<[301056] strides [1]>]> : <f32, global> -> <301056xf32, global>
  kernel.store %2, %3[%c0] in_bounds [true] : tensor<301056xf32>, <301056xf32, global>
  kernel.return
}
kernel.func @even_rows(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[301056, 48] strides [48, 1]>]> : <f32, global> -> <301056x48xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : <301056x48xf32, global> -> tensor<301056x48xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<301056x48xf32> -> tensor<301056xf32>
  %3 = kernel.view %y map <[<[301056] strides [1]>]> : <f32, global> -> <301056xf32, global>
  kernel.store %2, %3[%c0] in_bounds [true] : tensor<301056xf32>, <301056xf32, global>
  kernel.return
}

// A copy of every second element whose channels come last behind it: squares, as where all elements are read.
// CHECK-LABEL: kernel.func @every_second
// CHECK-SAME: #kernel.grid_step<"d1", 8>, #kernel.grid_step<"d3", 8>
kernel.func @every_second(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) {
  %0 = kernel.view %x map <[<[32, 256, 28, 28] strides [802816, 3136, 112, 2]>]> : <bf16, global> -> <32x256x28x28xbf16, global>
  %1 = kernel.view %y map <[<[32, 256, 28, 28] strides [200704, 1, 7168, 256]>]> : <bf16, global> -> <32x256x28x28xbf16, global>
  %c0 = arith.constant 0 : index
  %2 = kernel.load %0[%c0, %c0, %c0, %c0] axes ["d0", "d1", "d2", "d3"] : <32x256x28x28xbf16, global> -> tensor<32x256x28x28xbf16>
  kernel.store %2, %1[%c0, %c0, %c0, %c0] : tensor<32x256x28x28xbf16>, <32x256x28x28xbf16, global>
  kernel.return
}

// Few odd rows have more threads each, and workgroups of a cluster, until the machine is busy.
// CHECK-LABEL: kernel.func @few_odd
// CHECK-SAME: cluster = 4
// CHECK-SAME: threads = 512
// ALONE-LABEL: kernel.func @few_odd
// ALONE-NOT: cluster
// ALONE-SAME: threads = 512
kernel.func @few_odd(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[64, 51865] strides [51865, 1]>]> : <f32, global> -> <64x51865xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : <64x51865xf32, global> -> tensor<64x51865xf32>
  %2 = kernel.reduce max %1 dims [1] : tensor<64x51865xf32> -> tensor<64xf32>
  %3 = kernel.view %y map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  kernel.store %2, %3[%c0] in_bounds [true] : tensor<64xf32>, <64xf32, global>
  kernel.return
}

// So has one row that is read once; a short one has not.
// CHECK-LABEL: kernel.func @one_row
// CHECK-SAME: cluster = 8
// CHECK-SAME: threads = 512
// CHECK-LABEL: kernel.func @short_row
// CHECK-NOT: cluster
// CHECK-SAME: threads = 64
kernel.func @one_row(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[151936] strides [1]>]> : <f32, global> -> <151936xf32, global>
  %1 = kernel.load %0[%c0] axes ["k"] in_bounds [true] : <151936xf32, global> -> tensor<151936xf32>
  %2 = kernel.reduce max %1 dims [0] : tensor<151936xf32> -> tensor<f32>
  %3 = kernel.view %y map <[<[] strides []>]> : <f32, global> -> <f32, global>
  kernel.store %2, %3[] in_bounds [] : tensor<f32>, <f32, global>
  kernel.return
}
kernel.func @short_row(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[512] strides [1]>]> : <f32, global> -> <512xf32, global>
  %1 = kernel.load %0[%c0] axes ["k"] in_bounds [true] : <512xf32, global> -> tensor<512xf32>
  %2 = kernel.reduce max %1 dims [0] : tensor<512xf32> -> tensor<f32>
  %3 = kernel.view %y map <[<[] strides []>]> : <f32, global> -> <f32, global>
  kernel.store %2, %3[] in_bounds [] : tensor<f32>, <f32, global>
  kernel.return
}

// Rows that threads walk three times, one each, would not stay in the first cache: eight lanes of a warp have one, which read
// whole lines. They have rows of 48 elements, too.
// CHECK-LABEL: kernel.func @read_again
// CHECK-SAME: threads = 8
// CHECK-LABEL: kernel.func @stays_near
// CHECK-SAME: threads = 8
// CHECK: kernel.return
kernel.func @read_again(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[65536, 80] strides [80, 1]>]> : <f32, global> -> <65536x80xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : <65536x80xf32, global> -> tensor<65536x80xf32>
  %2 = kernel.reduce max %1 dims [1] : tensor<65536x80xf32> -> tensor<65536xf32>
  %3 = kernel.broadcast %2 dims [0] : tensor<65536xf32> -> tensor<65536x80xf32>
  %4 = arith.subf %1, %3 : tensor<65536x80xf32>
  %5 = kernel.reduce add %4 dims [1] : tensor<65536x80xf32> -> tensor<65536xf32>
  %6 = kernel.broadcast %5 dims [0] : tensor<65536xf32> -> tensor<65536x80xf32>
  %7 = arith.divf %4, %6 : tensor<65536x80xf32>
  %8 = kernel.view %y map <[<[65536, 80] strides [80, 1]>]> : <f32, global> -> <65536x80xf32, global>
  kernel.store %7, %8[%c0, %c0] in_bounds [true, true] : tensor<65536x80xf32>, <65536x80xf32, global>
  kernel.return
}
kernel.func @stays_near(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[65536, 48] strides [48, 1]>]> : <f32, global> -> <65536x48xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : <65536x48xf32, global> -> tensor<65536x48xf32>
  %2 = kernel.reduce max %1 dims [1] : tensor<65536x48xf32> -> tensor<65536xf32>
  %3 = kernel.broadcast %2 dims [0] : tensor<65536xf32> -> tensor<65536x48xf32>
  %4 = arith.subf %1, %3 : tensor<65536x48xf32>
  %5 = kernel.reduce add %4 dims [1] : tensor<65536x48xf32> -> tensor<65536xf32>
  %6 = kernel.broadcast %5 dims [0] : tensor<65536xf32> -> tensor<65536x48xf32>
  %7 = arith.divf %4, %6 : tensor<65536x48xf32>
  %8 = kernel.view %y map <[<[65536, 48] strides [48, 1]>]> : <f32, global> -> <65536x48xf32, global>
  kernel.store %7, %8[%c0, %c0] in_bounds [true, true] : tensor<65536x48xf32>, <65536x48xf32, global>
  kernel.return
}

// A copy of the channels of a group, of which rows of four are padded to vectors: a thread writes a row. Where rows are
// farther apart it writes several elements of one.
// CHECK-LABEL: kernel.func @padded_rows
// CHECK-SAME: [#kernel.grid_step<"d0", 1>, #kernel.grid_step<"d2", 1>]>
// CHECK-LABEL: kernel.func @far_rows
// CHECK-SAME: [#kernel.grid_step<"d0", 1>, #kernel.grid_step<"d1", 1>, #kernel.grid_step<"d2", 8>]
kernel.func @padded_rows(%x: !kernel.buffer<f16, global>, %y: !kernel.buffer<f16, global>) {
  %0 = kernel.view %x map <[<[256, 4, 16384] strides [65536, 16384, 1]>]> : <f16, global> -> <256x4x16384xf16, global>
  %1 = kernel.view %y map <[<[256, 4, 16384] strides [131072, 1, 8]>]> : <f16, global> -> <256x4x16384xf16, global>
  %c0 = arith.constant 0 : index
  %2 = kernel.load %0[%c0, %c0, %c0] axes ["d0", "d1", "d2"] : <256x4x16384xf16, global> -> tensor<256x4x16384xf16>
  kernel.store %2, %1[%c0, %c0, %c0] : tensor<256x4x16384xf16>, <256x4x16384xf16, global>
  kernel.return
}
kernel.func @far_rows(%x: !kernel.buffer<f16, global>, %y: !kernel.buffer<f16, global>) {
  %0 = kernel.view %x map <[<[256, 4, 16384] strides [65536, 16384, 1]>]> : <f16, global> -> <256x4x16384xf16, global>
  %1 = kernel.view %y map <[<[256, 4, 16384] strides [262144, 1, 16]>]> : <f16, global> -> <256x4x16384xf16, global>
  %c0 = arith.constant 0 : index
  %2 = kernel.load %0[%c0, %c0, %c0] axes ["d0", "d1", "d2"] : <256x4x16384xf16, global> -> tensor<256x4x16384xf16>
  kernel.store %2, %1[%c0, %c0, %c0] : tensor<256x4x16384xf16>, <256x4x16384xf16, global>
  kernel.return
}
