// RUN: zyx-opt %s -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -allow-unregistered-dialect -split-input-file -verify-diagnostics

// expected-error@+1 {{has a schedule that was not applied}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<i32, global>, %y: !kernel.buffer<i32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<i32, global> -> !kernel.view<8x16xi32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<i32, global> -> !kernel.view<8x16xi32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xi32, global> -> tensor<8x16xi32>
  // expected-error@+1 {{cannot be evaluated element by element}}
  %s, %carry = arith.addui_extended %t, %t : tensor<8x16xi32>, tensor<8x16xi1>
  kernel.store %s, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xi32>, !kernel.view<8x16xi32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  // expected-error@+1 {{holds different elements; tiles of constants are passed as buffers}}
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  kernel.store %t, %y0[%c0, %c0] : tensor<2x2xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[6] strides [1]>, <[2, 3] strides [1, 2]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  %t = arith.constant dense<1.0> : tensor<6xf32>
  // expected-error@+1 {{writes through a view that is not one whole block}}
  kernel.store %t, %v[%c0] in_bounds [true] : tensor<6xf32>, !kernel.view<6xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[9, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<9x16xf32, global>
  // expected-error@+1 {{leaves its view elsewhere than another access along the same axis}}
  %t = kernel.load %v[%c8, %c0] in_bounds [false, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %w[%c8, %c0] in_bounds [false, true] : tensor<8x16xf32>, !kernel.view<9x16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y1 = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  // expected-error@+1 {{may leave its view along an axis that is combined, which would combine `other`}}
  %t = kernel.load %v[%c0, %c8] in_bounds [true, false] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %r = kernel.reduce add %t dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  kernel.store %r, %y1[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %w = kernel.view %x[%c0] map <[<[s0, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<?x16xf32, global>
  %t = arith.constant dense<1.0> : tensor<8x16xf32>
  // expected-error@+1 {{may leave a view whose extent is not known}}
  kernel.store %t, %w[%c0, %c0] in_bounds [false, true] : tensor<8x16xf32>, !kernel.view<?x16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %w = kernel.view %x[%c0] map <[<[s0] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<?xf32, global>
  %y1 = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %i = kernel.iota dim 0 : tensor<8xi64>
  // expected-error@+1 {{reads a view whose extents are not known}}
  %r = kernel.gather %w[%i] : !kernel.view<?xf32, global>, tensor<8xi64> -> tensor<8xf32>
  kernel.store %r, %y1[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %z = arith.constant dense<0.0> : tensor<8x16xf32>
  %n = arith.constant 4 : index
  // expected-error@+1 {{makes tiles in a way that no loop over vectors does}}
  %t, %u = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %z, %j = %n) -> (tensor<8x16xf32>, index) {
    %d = arith.addf %s, %s : tensor<8x16xf32>
    %k = arith.addi %j, %i : index
    scf.yield %d, %k : tensor<8x16xf32>, index
  }
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  // expected-error@+1 {{reads a buffer that the kernel writes}}
  %t = kernel.load %v[%c0, %c0] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %v[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 8] strides [8, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x8xf32, global>
  %y0 = kernel.view %y map <[<[8, 8] strides [8, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x8xf32, global>
  // expected-error@+1 {{one axis runs along two dimensions of a tile; load it twice}}
  %t = kernel.load %v[%c0, %c0] in_bounds [true, true] : !kernel.view<8x8xf32, global> -> tensor<8x8xf32>
  %r = kernel.transpose %t order [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %s = arith.addf %t, %r : tensor<8x8xf32>
  kernel.store %s, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x8xf32>, !kernel.view<8x8xf32, global>
  kernel.return
}

// -----

// Six elements are there, zero follows them, and eight are written.
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[6] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  %y0 = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  // expected-error@+1 {{may leave its view where a store along the same axis does not}}
  %t = kernel.load %v[%c0] : !kernel.view<6xf32, global> -> tensor<8xf32>
  kernel.store %t, %y0[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %n: index) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x[%n] map <[<[8] strides [1] valid [0 : s0]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  // expected-error@+1 {{reads through several blocks or a valid interval whose numbers are not known}}
  %t = kernel.load %v[%c0] in_bounds [true] : !kernel.view<8xf32, global> -> tensor<8xf32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

// What a loop carries lies in memory that threads share: they may add to it, each at its own places.
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %v = kernel.view %x map <[<[8, 1024] strides [1024, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x1024xf32, global>
  %w = kernel.view %y map <[<[1, 1024] strides [1024, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x1024xf32, global>
  %one = arith.constant dense<1.0> : tensor<1x1024xf32>
  // expected-error@+1 {{carries a tile that threads do more to than to add to it}}
  %p = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %one) -> (tensor<1x1024xf32>) {
    %t = kernel.load %v[%i, %c0] in_bounds [true, true] : !kernel.view<8x1024xf32, global> -> tensor<1x1024xf32>
    %m = arith.mulf %a, %t : tensor<1x1024xf32>
    scf.yield %m : tensor<1x1024xf32>
  }
  kernel.store %p, %w[%c0, %c0] in_bounds [true, true] : tensor<1x1024xf32>, !kernel.view<1x1024xf32, global>
  kernel.return
}

// -----

!v = !kernel.view<64xf32, global>
kernel.func @apart(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {threads = 32 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0] axes ["j"] in_bounds [true] : !v -> tensor<64xf32>
  // expected-error@+1 {{keeps a tile in private memory, but threads compute it together, and must share it}}
  %k = kernel.convert %t : tensor<64xf32> -> tensor<64xf32, #kernel.memory<private>>
  %r = kernel.convert %k : tensor<64xf32, #kernel.memory<private>> -> tensor<64xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<64xf32>, !v
  kernel.return
}

// -----

!v = !kernel.view<64xf32, global>
kernel.func @alone(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0] axes ["j"] in_bounds [true] : !v -> tensor<64xf32>
  // expected-error@+1 {{keeps a tile in shared memory, but a program is one thread, which shares it with nobody}}
  %k = kernel.convert %t : tensor<64xf32> -> tensor<64xf32, #kernel.memory<shared>>
  %r = kernel.convert %k : tensor<64xf32, #kernel.memory<shared>> -> tensor<64xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<64xf32>, !v
  kernel.return
}
