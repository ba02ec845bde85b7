// RUN: zyx-opt %s --split-input-file --verify-diagnostics -zyx-kernel-attach-target=target=sm_75 -zyx-convert-kernel-to-nvvm

!slot = !kernel.view<64x32xbf16, shared, #kernel.shared<swizzle = 64>>
kernel.func @bf16() attributes {form = #kernel.form<machine>, threads = 32 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %a = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x16xbf16, #kernel.frag<mma_a>>
  %b = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x16xbf16, #kernel.frag<mma_b>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #kernel.frag<mma_acc>>
  // expected-error @below {{of 'bf16' is no instruction of sm_75}}
  %0 = kernel.mma %a, %b acc %z : tensor<16x16xbf16, #kernel.frag<mma_a>>, tensor<16x16xbf16, #kernel.frag<mma_b>> -> tensor<16x16xf32, #kernel.frag<mma_acc>>
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared>
kernel.func @plain() attributes {form = #kernel.form<machine>, threads = 32 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  // expected-error @below {{reads shared memory that is not swizzled, which is not lowered}}
  %a = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x16xf16, #kernel.frag<mma_a>>
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
kernel.func @between() attributes {form = #kernel.form<machine>, threads = 32 : i64} {
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  // expected-error @below {{begins at no visible multiple of 8 rows and 16 bytes}}
  %a = kernel.load_matrix %s[%c4, %c0] : !slot -> tensor<16x16xf16, #kernel.frag<mma_a>>
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
kernel.func @group() attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  // expected-error @below {{needs 32 threads, not 128}}
  %a = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x16xf16, #kernel.frag<mma_a>>
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
!view = !kernel.view<64x36xf16, global>
kernel.func @rows(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %v = kernel.view %x map <[<[64, 36] strides [36, 1]>]> : !kernel.buffer<f16, global> -> !view
  // expected-error @below {{copies through a view whose rows do not lie on multiples of 16 bytes}}
  kernel.copy_async %v[%c0, %c0] to %s : !view, !slot
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
!view = !kernel.view<64x32xf16, global>
kernel.func @some(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %v = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f16, global> -> !view
  kernel.roles {
    kernel.role "copy" count 1 threads 32 {
    ^bb0(%i: index):
      // expected-error @below {{is run by some threads of the workgroup only}}
      kernel.copy_async %v[%c0, %c0] to %s : !view, !slot
    }
    kernel.role "other" count 1 threads 32 {
    ^bb0(%i: index):
    }
  }
  kernel.return
}

// -----

!view = !kernel.view<64x24xf16, global>
kernel.func @pieces(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64, 24] strides [24, 1]>]> : !kernel.buffer<f16, global> -> !view
  // expected-error @below {{copies rows of 24 elements, which 128 threads do not share in pieces of 16 bytes}}
  %0 = kernel.fetch %v[%c0, %c0] : !view -> tensor<64x24xf16, #kernel.frag<pieces>>
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
!view = !kernel.view<64x32xf16, global>
kernel.func @some_exist(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %v = kernel.view %x map <[<[64, 32] strides [32, 1] offset 0 valid [0 : 64, 1 : 32]>]> : !kernel.buffer<f16, global> -> !view
  // expected-error @below {{copies through a view that is not one whole block of known shape}}
  kernel.copy_async %v[%c0, %c0] to %s : !view, !slot
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared>
!view = !kernel.view<64x32xf16, global>
kernel.func @to_plain(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %v = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f16, global> -> !view
  // expected-error @below {{copies to shared memory that is not swizzled, which is not lowered}}
  kernel.copy_async %v[%c0, %c0] to %s : !view, !slot
  kernel.return
}

// -----

!view = !kernel.view<64x36xf16, global>
kernel.func @ends(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64, 36] strides [40, 1]>]> : !kernel.buffer<f16, global> -> !view
  // expected-error @below {{reads rows that end inside of 16 bytes}}
  %0 = kernel.fetch %v[%c0, %c0] : !view -> tensor<64x32xf16, #kernel.frag<pieces>>
  kernel.return
}

// -----

!slot = !kernel.view<128x32xf16, shared, #kernel.shared<swizzle = 64>>
!view = !kernel.view<64x32xf16, global>
kernel.func @half(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %v = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f16, global> -> !view
  %0 = kernel.fetch %v[%c0, %c0] : !view -> tensor<64x32xf16, #kernel.frag<pieces>>
  // expected-error @below {{does not fill its view with what threads have fetched}}
  kernel.store %0, %s[%c0, %c0] : tensor<64x32xf16, #kernel.frag<pieces>>, !slot
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
!view = !kernel.view<64x32xf16, global>
kernel.func @factor(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<machine>, threads = 32 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %v = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f16, global> -> !view
  %a = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x16xf16, #kernel.frag<mma_a>>
  // expected-error @below {{whose elements are not side by side}}
  kernel.store %a, %v[%c0, %c0] : tensor<16x16xf16, #kernel.frag<mma_a>>, !view
  kernel.return
}

// -----

!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
!other = !kernel.view<64x32xbf16, shared, #kernel.shared<swizzle = 64>>
kernel.func @mixed() attributes {form = #kernel.form<machine>, threads = 32 : i64} {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  %t = kernel.alloc : !other
  %a = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x16xf16, #kernel.frag<mma_a>>
  %b = kernel.load_matrix %t[%c0, %c0] : !other -> tensor<16x16xbf16, #kernel.frag<mma_b>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #kernel.frag<mma_acc>>
  // expected-error @below {{is not lowered; bf16, f16, and f32 as tf32, into f32 are, and i8 into i32}}
  %0 = kernel.mma %a, %b acc %z : tensor<16x16xf16, #kernel.frag<mma_a>>, tensor<16x16xbf16, #kernel.frag<mma_b>> -> tensor<16x16xf32, #kernel.frag<mma_acc>>
  kernel.return
}
