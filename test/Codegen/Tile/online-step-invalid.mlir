// RUN: zyx-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics -zyx-kernel-apply-schedule

// expected-error@+1 {{an online step's tile must be positive, not 0}}
"test.attr"() {a = #kernel.online_step<"n", 0>} : () -> ()

// -----

// expected-error@+1 {{swaps the factors of its dots, but has none}}
kernel.func @no_dot(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.swap_step]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<8xf32, global> -> tensor<8xf32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @no_max(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  // expected-error@+1 {{walks axis "n", but neither takes a maximum nor sums up from zero}}
  %s = kernel.reduce mul %t dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  kernel.store %s, %w[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

// The maxima are those of columns, of which each piece has others.
kernel.func @other_max(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  // expected-error@+1 {{walks axis "n", along which no maximum is taken}}
  %t = kernel.load %v[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %s = kernel.reduce max %t dims [0] : tensor<8x16xf32> -> tensor<16xf32>
  kernel.store %s, %w[%c0] in_bounds [true] : tensor<16xf32>, !kernel.view<16xf32, global>
  kernel.return
}

// -----

kernel.func @no_sum(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  // expected-error@+1 {{walks axis "n", along which nothing is summed up}}
  %t = kernel.load %v[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %w[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

kernel.func @nothing(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  // expected-error@+1 {{walks axis "n", along which nothing is summed up}}
  %t = kernel.load %v[%c0] axes ["n"] in_bounds [true] : !kernel.view<16xf32, global> -> tensor<16xf32>
  kernel.return
}

// -----

kernel.func @narrow_sum(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<8x16xbf16, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<8xbf16, global>
  %t = kernel.load %v[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<8x16xbf16, global> -> tensor<8x16xbf16>
  // expected-error@+1 {{sums up along axis "n" in a type in which pieces would not add up}}
  %s = kernel.reduce add %t dims [1] : tensor<8x16xbf16> -> tensor<8xbf16>
  kernel.store %s, %w[%c0] in_bounds [true] : tensor<8xbf16>, !kernel.view<8xbf16, global>
  kernel.return
}

// -----

// The sum of the squares of the exponentials shrinks by another factor.
kernel.func @squares(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %m = kernel.reduce max %t dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  %b = kernel.broadcast %m dims [0] : tensor<8xf32> -> tensor<8x16xf32>
  %d = arith.subf %t, %b : tensor<8x16xf32>
  %e = math.exp %d : tensor<8x16xf32>
  // expected-error@+1 {{walks axis "n", but neither takes the exponential of a softmax nor is linear in it}}
  %q = arith.mulf %e, %e : tensor<8x16xf32>
  %s = kernel.reduce add %q dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  kernel.store %s, %w[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

// The quotients of a softmax need the whole sum.
kernel.func @softmax(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %m = kernel.reduce max %t dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  %b = kernel.broadcast %m dims [0] : tensor<8xf32> -> tensor<8x16xf32>
  %d = arith.subf %t, %b : tensor<8x16xf32>
  %e = math.exp %d : tensor<8x16xf32>
  %s = kernel.reduce add %e dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  // expected-error@+1 {{needs a sum along axis "n" before that is complete}}
  %sb = kernel.broadcast %s dims [0] : tensor<8xf32> -> tensor<8x16xf32>
  %p = arith.mulf %e, %sb : tensor<8x16xf32>
  %r = kernel.reduce add %p dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @narrow(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<8x16xbf16, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<8xbf16, global>
  %t = kernel.load %v[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<8x16xbf16, global> -> tensor<8x16xbf16>
  %m = kernel.reduce max %t dims [1] : tensor<8x16xbf16> -> tensor<8xbf16>
  %b = kernel.broadcast %m dims [0] : tensor<8xbf16> -> tensor<8x16xbf16>
  %d = arith.subf %t, %b : tensor<8x16xbf16>
  %e = math.exp %d : tensor<8x16xbf16>
  // expected-error@+1 {{sums up along axis "n" in a type that is too narrow to be scaled again}}
  %s = kernel.reduce add %e dims [1] : tensor<8x16xbf16> -> tensor<8xbf16>
  kernel.store %s, %w[%c0] in_bounds [true] : tensor<8xbf16>, !kernel.view<8xbf16, global>
  kernel.return
}

// -----

kernel.func @walked_product(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.loop_step<"k", 4>, #kernel.online_step<"n", 8>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[16, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16x32xf32, global>
  %o = kernel.view %z map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %a = kernel.load %v[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %b = kernel.load %w[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<16x32xf32, global> -> tensor<16x32xf32>
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  // expected-error@+1 {{walks axis "n", along which it combines nothing}}
  %d = kernel.dot %a, %b, %zero : tensor<8x16xf32>, tensor<16x32xf32> -> tensor<8x32xf32>
  %s = kernel.reduce add %d dims [1] : tensor<8x32xf32> -> tensor<8xf32>
  kernel.store %s, %o[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}
