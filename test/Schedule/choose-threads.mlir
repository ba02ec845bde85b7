// RUN: zyx-opt %s -zyx-schedule-choose=target=sm_90a | FileCheck %s
// RUN: zyx-opt %s -zyx-schedule-choose=target=sm_80 | FileCheck %s --check-prefix=ALONE

// A thread transposes a square of vectors in registers. A warp has 8 of them in a row where it writes by 4 where it
// reads.
// CHECK-LABEL: kernel.func @transpose
// CHECK-SAME: [#kernel.grid_step<"j", 64>, #kernel.grid_step<"i", 32>, #kernel.grid_step<"j", 8>, #kernel.grid_step<"i", 8>]
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

// Of a row that is walked again each thread keeps 32 elements, and at most 64. Longer ones are a cluster's, where there are
// clusters, and so are few rows; what is longer still is read again.
// CHECK-LABEL: kernel.func @short({{.*}} attributes {schedule = {{[^}]*}}, threads = 256 : i64}
// CHECK-LABEL: kernel.func @long({{.*}} attributes {schedule = {{[^}]*}}, threads = 512 : i64}
// CHECK-LABEL: kernel.func @longer({{.*}} attributes {cluster = 4 : i64, {{.*}} threads = 512 : i64}
// CHECK-LABEL: kernel.func @longest({{.*}} attributes {cluster = 8 : i64, {{.*}} threads = 512 : i64}
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
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !longer -> tensor<1024x65536xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x65536xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x65536xf32>
  %d = arith.divf %t, %b : tensor<1024x65536xf32>
  kernel.store %d, %ys[%c0, %c0] : tensor<1024x65536xf32>, !longer
  kernel.return
}
#longest = #kernel.map<[#kernel.block<[1024, 262144] strides [262144, 1]>]>
!longest = !kernel.view<1024x262144xf32, global>
kernel.func @longest(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #longest : !f -> !longest
  %ys = kernel.view %y map #longest : !f -> !longest
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !longest -> tensor<1024x262144xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x262144xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x262144xf32>
  %d = arith.divf %t, %b : tensor<1024x262144xf32>
  kernel.store %d, %ys[%c0, %c0] : tensor<1024x262144xf32>, !longest
  kernel.return
}
#beyond = #kernel.map<[#kernel.block<[1024, 1048576] strides [1048576, 1]>]>
!beyond = !kernel.view<1024x1048576xf32, global>
kernel.func @beyond(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #beyond : !f -> !beyond
  %ys = kernel.view %y map #beyond : !f -> !beyond
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !beyond -> tensor<1024x1048576xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x1048576xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x1048576xf32>
  %d = arith.divf %t, %b : tensor<1024x1048576xf32>
  kernel.store %d, %ys[%c0, %c0] : tensor<1024x1048576xf32>, !beyond
  kernel.return
}
#few = #kernel.map<[#kernel.block<[2, 32768] strides [32768, 1]>]>
!few = !kernel.view<2x32768xf32, global>
kernel.func @few(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #few : !f -> !few
  %ys = kernel.view %y map #few : !f -> !few
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !few -> tensor<2x32768xf32>
  %s = kernel.reduce add %t dims [1] : tensor<2x32768xf32> -> tensor<2xf32>
  %b = kernel.broadcast %s dims [0] : tensor<2xf32> -> tensor<2x32768xf32>
  %d = arith.divf %t, %b : tensor<2x32768xf32>
  kernel.store %d, %ys[%c0, %c0] : tensor<2x32768xf32>, !few
  kernel.return
}
#uneven = #kernel.map<[#kernel.block<[1024, 25152] strides [25152, 1]>]>
!uneven = !kernel.view<1024x25152xf32, global>
kernel.func @uneven(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #uneven : !f -> !uneven
  %ys = kernel.view %y map #uneven : !f -> !uneven
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] : !uneven -> tensor<1024x25152xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1024x25152xf32> -> tensor<1024xf32>
  %b = kernel.broadcast %s dims [0] : tensor<1024xf32> -> tensor<1024x25152xf32>
  %d = arith.divf %t, %b : tensor<1024x25152xf32>
  kernel.store %d, %ys[%c0, %c0] : tensor<1024x25152xf32>, !uneven
  kernel.return
}
