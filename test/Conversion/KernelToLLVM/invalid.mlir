// RUN: zyx-opt %s -zyx-convert-kernel-to-llvm --split-input-file --verify-diagnostics

// expected-error @below {{asks for 128 threads in a cluster of 1, where a program is one thread}}
kernel.func @threads() attributes {form = #kernel.form<lowered>, threads = 128} {
  kernel.return
}

// -----

// expected-error @below {{takes a scalar of type 'f32'; scalars are passed as 64-bit integers}}
kernel.func @scalar(%x: f32) attributes {form = #kernel.form<lowered>} {
  kernel.return
}

// -----

#x = #kernel.map<[#kernel.block<[8] strides [1] valid [1 : 8]>]>
!buffer = !kernel.buffer<f32, global>
kernel.func @pad(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  // expected-error @below {{has a map that is not one whole block}}
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xf32, global>
  kernel.return
}

// -----

kernel.func @shared() attributes {form = #kernel.form<lowered>} {
  // expected-error @below {{asks for shared memory, which programs that are one thread do not have}}
  %a = kernel.alloc : !kernel.view<8xf32, shared>
  kernel.return
}

// -----

kernel.func @large() attributes {form = #kernel.form<lowered>} {
  %a = kernel.alloc : !kernel.view<100x1024xf32, private>
  // expected-error @below {{brings the kernel's private memory to 819200 bytes; the stack has room for 524288}}
  %b = kernel.alloc : !kernel.view<100x1024xf32, private>
  kernel.return
}

// -----

kernel.func @barrier() attributes {form = #kernel.form<lowered>} {
  // expected-error @below {{has no meaning for a program that is one thread}}
  kernel.barrier workgroup
  kernel.return
}

// -----

#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<8xf32, global>
kernel.func @chosen(%x: !buffer, %y: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %p = arith.cmpi eq, %n, %c0 : index
  %xs = kernel.view %x map #x : !buffer -> !view
  %ys = kernel.view %y map #x : !buffer -> !view
  %v = arith.select %p, %xs, %ys : !view
  // expected-error @below {{uses a view that comes out of control flow}}
  %f = kernel.load %v[%c0] : !view -> f32
  kernel.return
}

// -----

#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<8xf32, global>
kernel.func @yielded(%x: !buffer, %y: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %p = arith.cmpi eq, %n, %c0 : index
  %xs = kernel.view %x map #x : !buffer -> !view
  // expected-error @below {{makes a view that goes into control flow}}
  %ys = kernel.view %y map #x : !buffer -> !view
  %v = arith.select %p, %xs, %ys : !view
  kernel.return
}

// -----

#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f16, global>
!view = !kernel.view<8xf16, global>
kernel.func @fma(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !view
  %v = kernel.load %xs[%c0] : !view -> f16
  // expected-error @below {{of 'f16' would be rounded twice: it is computed in f32}}
  %w = math.fma %v, %v, %v : f16
  kernel.store %w, %xs[%c0] : f16, !view
  kernel.return
}

// -----

kernel.func @gather_unknown(%x: !kernel.buffer<f32, global>, %n: index) attributes {form = #kernel.form<lowered>} {
  %i = arith.constant dense<0> : vector<4xi32>
  %xs = kernel.view %x[%n] map <[<[s0] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<?xf32, global>
  // expected-error @below {{reads a view whose extents are not known}}
  %y = kernel.gather %xs[%i] : !kernel.view<?xf32, global>, vector<4xi32> -> vector<4xf32>
  kernel.return
}

// -----

kernel.func @strided_panels(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %sums = kernel.alloc : !kernel.view<16x16xf32, private>
  %a = kernel.view %x map <[<[16, 32] strides [32, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<16x32xbf16, global>
  %b = kernel.view %y map <[<[1, 16, 32] strides [1024, 64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<1x16x32xbf16, global>
  // expected-error @below {{reads panels whose rows follow each other in memory}}
  kernel.matrix_multiply %sums, %a[%c0, %c0], %b[%c0, %c0, %c0] depth %c32 : !kernel.view<16x32xbf16, global>, !kernel.view<1x16x32xbf16, global> -> !kernel.view<16x16xf32, private>
  kernel.return
}

// -----

kernel.func @strided_rows(%x: !kernel.buffer<bf16, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %sums = kernel.alloc : !kernel.view<16x16xf32, private>
  %b = kernel.alloc : !kernel.view<1x16x16xi32, private>
  %a = kernel.view %x map <[<[16, 32] strides [1, 16]>]> : !kernel.buffer<bf16, global> -> !kernel.view<16x32xbf16, global>
  // expected-error @below {{reads rows of neighbours, a known number of elements apart}}
  kernel.matrix_multiply %sums, %a[%c0, %c0], %b[%c0, %c0, %c0] depth %c32 : !kernel.view<16x32xbf16, global>, !kernel.view<1x16x16xi32, private> -> !kernel.view<16x16xf32, private>
  kernel.return
}

// -----

// expected-error @below {{is in the tiled form, not in the lowered one}}
kernel.func @tiled(%x: !kernel.buffer<f32, global>) {
  kernel.return
}
