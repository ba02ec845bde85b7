// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

!x = !kernel.view<24x20xf32, global>

// What two loads along the rows make is transposed, rather than both of them. Of the squares on the right and below a
// part exists: it is read and written under masks, and nothing is read one by one.
// CHECK-LABEL: kernel.func @sum
// CHECK-NOT: -> f32
// CHECK: kernel.load %{{.*}} -> vector<16xf32>
// CHECK-NEXT: kernel.load %{{.*}} -> vector<16xf32>
// CHECK-NEXT: arith.addf %{{.*}} : vector<16xf32>
// CHECK-NOT: -> f32
// CHECK: vector.shuffle
// CHECK: kernel.store %{{.*}} : vector<16xf32>
// CHECK-NOT: -> f32
// CHECK: kernel.store %{{.*}} mask %{{.*}} : vector<16xf32>
// CHECK-NOT: -> f32
// CHECK: kernel.return
kernel.func @sum(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[24, 20] strides [1, 24]>]> : !kernel.buffer<f32, global> -> !x
  %ys = kernel.view %y map <[<[24, 20] strides [1, 24]>]> : !kernel.buffer<f32, global> -> !x
  %zs = kernel.view %z map <[<[24, 20] strides [20, 1]>]> : !kernel.buffer<f32, global> -> !x
  %a = kernel.load %xs[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !x -> tensor<24x20xf32>
  %b = kernel.load %ys[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !x -> tensor<24x20xf32>
  %s = arith.addf %a, %b : tensor<24x20xf32>
  kernel.store %s, %zs[%c0, %c0] in_bounds [true, true] : tensor<24x20xf32>, !x
  kernel.return
}

// Columns whose number is data lie along the rows, too: neighbours of each are read at once.
// CHECK-LABEL: kernel.func @gathered
// CHECK: %[[AT:.*]] = kernel.load %{{.*}} : <20xi64, global> -> i64
// CHECK: scf.if %{{.*}} -> (vector<16xf32>) {
// CHECK-NEXT: kernel.load {{[^:]*}} : {{.*}} -> vector<16xf32>
// CHECK: vector.shuffle
// CHECK-NOT: kernel.gather
// CHECK: kernel.return
kernel.func @gathered(%x: !kernel.buffer<f32, global>, %i: !kernel.buffer<i64, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[7, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<7x32xf32, global>
  %is = kernel.view %i map <[<[20] strides [1]>]> : !kernel.buffer<i64, global> -> !kernel.view<20xi64, global>
  %zs = kernel.view %z map <[<[32, 20] strides [20, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x20xf32, global>
  %at = kernel.load %is[%c0] axes ["j"] in_bounds [true] : !kernel.view<20xi64, global> -> tensor<20xi64>
  %places = kernel.broadcast %at dims [1] : tensor<20xi64> -> tensor<32x20xi64>
  %count = kernel.iota dim 0 axes ["c"] : tensor<32xi64>
  %channels = kernel.broadcast %count dims [0] : tensor<32xi64> -> tensor<32x20xi64>
  %g = kernel.gather %xs[%places, %channels] : !kernel.view<7x32xf32, global>, tensor<32x20xi64>, tensor<32x20xi64> -> tensor<32x20xf32>
  kernel.store %g, %zs[%c0, %c0] in_bounds [true, true] : tensor<32x20xf32>, !kernel.view<32x20xf32, global>
  kernel.return
}

// Rows of 12 columns follow each other in what is written, and 4 of them are three vectors: a vector goes on in the
// next row, of which nothing needs a mask.
// CHECK-LABEL: kernel.func @gathered_lines
// CHECK-DAG: %[[LENGTH:.*]] = arith.constant 12 : index
// CHECK-DAG: %[[TO:.*]] = kernel.view %{{.*}} map <[<[1536] strides [1]>]>
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to %c48
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = arith.divui %[[COLUMN]], %[[LENGTH]]
// CHECK: %[[OWN:.*]] = arith.remui %[[COLUMN]], %[[LENGTH]]
// CHECK: kernel.load %{{.*}}[%[[ROW]], %[[OWN]]] : <4x12xi64, global> -> i64
// CHECK-COUNT-16: kernel.store %{{[^ ]*}}, %[[TO]][%{{[^]]*}}] : vector<16xf32>
// CHECK: kernel.return
kernel.func @gathered_lines(%x: !kernel.buffer<f32, global>, %i: !kernel.buffer<i64, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[7, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<7x32xf32, global>
  %is = kernel.view %i map <[<[4, 12] strides [12, 1]>]> : !kernel.buffer<i64, global> -> !kernel.view<4x12xi64, global>
  %zs = kernel.view %z map <[<[32, 4, 12] strides [48, 12, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x4x12xf32, global>
  %at = kernel.load %is[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<4x12xi64, global> -> tensor<4x12xi64>
  %places = kernel.broadcast %at dims [1, 2] : tensor<4x12xi64> -> tensor<32x4x12xi64>
  %count = kernel.iota dim 0 axes ["c"] : tensor<32xi64>
  %channels = kernel.broadcast %count dims [0] : tensor<32xi64> -> tensor<32x4x12xi64>
  %g = kernel.gather %xs[%places, %channels] : !kernel.view<7x32xf32, global>, tensor<32x4x12xi64>, tensor<32x4x12xi64> -> tensor<32x4x12xf32>
  kernel.store %g, %zs[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<32x4x12xf32>, !kernel.view<32x4x12xf32, global>
  kernel.return
}

// Of 3 such rows no vectors are whole: each row has its own.
// CHECK-LABEL: kernel.func @gathered_odd_lines
// CHECK-NOT: arith.divui
// CHECK: kernel.return
kernel.func @gathered_odd_lines(%x: !kernel.buffer<f32, global>, %i: !kernel.buffer<i64, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[7, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<7x32xf32, global>
  %is = kernel.view %i map <[<[3, 12] strides [12, 1]>]> : !kernel.buffer<i64, global> -> !kernel.view<3x12xi64, global>
  %zs = kernel.view %z map <[<[32, 3, 12] strides [36, 12, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x3x12xf32, global>
  %at = kernel.load %is[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<3x12xi64, global> -> tensor<3x12xi64>
  %places = kernel.broadcast %at dims [1, 2] : tensor<3x12xi64> -> tensor<32x3x12xi64>
  %count = kernel.iota dim 0 axes ["c"] : tensor<32xi64>
  %channels = kernel.broadcast %count dims [0] : tensor<32xi64> -> tensor<32x3x12xi64>
  %g = kernel.gather %xs[%places, %channels] : !kernel.view<7x32xf32, global>, tensor<32x3x12xi64>, tensor<32x3x12xi64> -> tensor<32x3x12xf32>
  kernel.store %g, %zs[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<32x3x12xf32>, !kernel.view<32x3x12xf32, global>
  kernel.return
}

// Sums of channels that come last lie in memory as they are computed; squares of them are written where channels come
// first.
// CHECK-LABEL: kernel.func @turned_sums
// CHECK: arith.addf %{{.*}} : vector<16xf32>
// CHECK: kernel.store %{{.*}} : vector<16xf32>, <{{.*}}, private>
// CHECK-NOT: -> f32
// CHECK: kernel.load %{{.*}} : <{{.*}}, private> -> vector<16xf32>
// CHECK: vector.shuffle
// CHECK-NOT: -> f32
// CHECK: kernel.store %{{.*}} : vector<16xf32>, <32x28xf32, global>
// CHECK-NOT: -> f32
// CHECK: kernel.return
kernel.func @turned_sums(%x: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[32, 28, 3] strides [1, 32, 32]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x28x3xf32, global>
  %zs = kernel.view %z map <[<[32, 28] strides [28, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x28xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0] axes ["c", "i", "k"] in_bounds [true, true, true] : !kernel.view<32x28x3xf32, global> -> tensor<32x28x3xf32>
  %s = kernel.reduce add %a dims [2] : tensor<32x28x3xf32> -> tensor<32x28xf32>
  kernel.store %s, %zs[%c0, %c0] in_bounds [true, true] : tensor<32x28xf32>, !kernel.view<32x28xf32, global>
  kernel.return
}
