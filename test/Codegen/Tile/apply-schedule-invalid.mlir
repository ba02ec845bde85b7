// RUN: zyx-opt %s -zyx-kernel-apply-schedule -split-input-file -verify-diagnostics

// expected-error@+1 {{gives axis "j" to the grid after a loop was made}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.loop_step<"i", 2>, #kernel.grid_step<"j", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{cannot give axis "j" to the grid: elements are combined along it}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"j", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y1 = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %r = kernel.reduce add %t dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  kernel.store %r, %y1[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"j", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y1 = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %u = kernel.load %v[%c0, %c0] axes ["i", "l"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %r = kernel.reduce add %u dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  // expected-error@+1 {{would be done by every program of a grid over "j"}}
  kernel.store %r, %y1[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{has no axis called 'q'}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"q", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{has two axes called 'i'}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "i"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{stages an operand of its dot, but has none or several}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stage_step<1, private>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{stages a tile in private memory, but its threads compute the tile together, and must share it}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {threads = 32 : i64, schedule = #kernel.schedule<[#kernel.stage_step<1, private>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %b = kernel.view %x map <[<[16, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16x4xf32, global>
  %c = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x4xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<16x4xf32, global> -> tensor<16x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %d = kernel.dot %at, %bt, %z : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !kernel.view<8x4xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{stages a tile in shared memory, but a program is one thread, which shares it with nobody}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stage_step<1, shared>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %b = kernel.view %x map <[<[16, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16x4xf32, global>
  %c = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x4xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<16x4xf32, global> -> tensor<16x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %d = kernel.dot %at, %bt, %z : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !kernel.view<8x4xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{stages an operand that is in memory already}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stage_step<1, private>, #kernel.stage_step<1, private>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %b = kernel.view %x map <[<[16, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16x4xf32, global>
  %c = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x4xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<16x4xf32, global> -> tensor<16x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %d = kernel.dot %at, %bt, %z : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !kernel.view<8x4xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.loop_step<"j", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y1 = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  // expected-error@+1 {{also depends on axis "j", so no loop can carry one dot's sum}}
  %r = kernel.reduce add %t dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  kernel.store %r, %y1[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  // expected-error@+1 {{changes more than dimensions of extent 1, so its axes have no names}}
  %q = kernel.reshape %t : tensor<8x16xf32> -> tensor<128xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{walks an axis of a view whose extent is not known}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.loop_step<"i", 3>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y[%c0] map <[<[s0, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<?x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %w[%c0, %c0] in_bounds [false, true] : tensor<8x16xf32>, !kernel.view<?x16xf32, global>
  kernel.return
}

// -----

// The program that begins at 6 would write 8, which belongs to the next one.
// expected-error@+1 {{splits axis "i" again, into pieces that do not divide 8}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 8>, #kernel.grid_step<"i", 3>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  %w = kernel.view %y map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<16xf32, global> -> tensor<16xf32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<16xf32>, !kernel.view<16xf32, global>
  kernel.return
}

// -----

// Sums of columns are ready before the loop over rows, so that splitting columns inside it comes too late.
kernel.func @f(%x: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.loop_step<"i", 2>, #kernel.loop_step<"j", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %u = kernel.view %z map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %s = kernel.load %v[%c0, %c0] axes ["l", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  // expected-error@+1 {{is computed before the loop that axis "j" would be split in}}
  %r = kernel.reduce add %s dims [0] : tensor<8x16xf32> -> tensor<16xf32>
  %t = kernel.load %u[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %b = kernel.broadcast %r dims [1] : tensor<16xf32> -> tensor<8x16xf32>
  %a = arith.addf %t, %b : tensor<8x16xf32>
  kernel.store %a, %w[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.loop_step<"i", 2>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[6] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  %w = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  // expected-error@+1 {{leaves its view elsewhere than another access along the same axis}}
  %t = kernel.load %v[%c0] axes ["i"] : !kernel.view<6xf32, global> -> tensor<8xf32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{walks its dot in blocks, but has none}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.block_step<<4 x 16, rows 4, depth 8>>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %y0 = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.store %t, %y0[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{walks a dot in blocks that is walked so already}}
kernel.func @f(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.block_step<<4 x 16, rows 4, depth 8>>, #kernel.block_step<<4 x 16, rows 4, depth 8>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %b = kernel.view %x map <[<[16, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16x4xf32, global>
  %c = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x4xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<16x4xf32, global> -> tensor<16x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %d = kernel.dot %at, %bt, %z : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !kernel.view<8x4xf32, global>
  kernel.return
}
