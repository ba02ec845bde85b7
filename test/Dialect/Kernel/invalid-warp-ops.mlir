// RUN: zyx-opt %s --split-input-file --verify-diagnostics

!slot = !kernel.view<64x32xbf16, shared, #kernel.shared<swizzle = 64>>

kernel.func @deep() {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  // expected-error @below {{a factor has 32 bytes along the contraction, and 16 rows or a multiple of 16 columns}}
  %0 = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x32xbf16, #kernel.frag<mma_a>>
  kernel.return
}

// -----

!slot = !kernel.view<64x32xi8, shared, #kernel.shared<swizzle = 32>>
kernel.func @bytes() {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  // expected-error @below {{transposes elements of 8 bits; those of 16 can be}}
  %0 = kernel.load_matrix %s[%c0, %c0] transposed : !slot -> tensor<16x32xi8, #kernel.frag<mma_a>>
  kernel.return
}

// -----

!slot = !kernel.view<64x32xbf16, shared, #kernel.shared<swizzle = 64>>
kernel.func @elements() {
  %c0 = arith.constant 0 : index
  %s = kernel.alloc : !slot
  // expected-error @below {{reads a factor of a warp's product out of a shared matrix of the same elements, not}}
  %0 = kernel.load_matrix %s[%c0, %c0] : !slot -> tensor<16x16xf16, #kernel.frag<mma_a>>
  kernel.return
}

// -----

func.func @layouts(%a: tensor<16x16xbf16, #kernel.frag<mma_b>>, %b: tensor<16x16xbf16, #kernel.frag<mma_b>>, %c: tensor<16x16xf32, #kernel.frag<mma_acc>>) {
  // expected-error @below {{takes #kernel.frag<mma_a> and #kernel.frag<mma_b>, and adds to #kernel.frag<mma_acc>}}
  %0 = kernel.mma %a, %b acc %c : tensor<16x16xbf16, #kernel.frag<mma_b>>, tensor<16x16xbf16, #kernel.frag<mma_b>> -> tensor<16x16xf32, #kernel.frag<mma_acc>>
  return
}

// -----

func.func @shapes(%a: tensor<16x16xbf16, #kernel.frag<mma_a>>, %b: tensor<16x32xbf16, #kernel.frag<mma_b>>, %c: tensor<16x16xf32, #kernel.frag<mma_acc>>) {
  // expected-error @below {{contracts 'tensor<16x16xbf16, #kernel.frag<mma_a>>' with}}
  %0 = kernel.mma %a, %b acc %c : tensor<16x16xbf16, #kernel.frag<mma_a>>, tensor<16x32xbf16, #kernel.frag<mma_b>> -> tensor<16x16xf32, #kernel.frag<mma_acc>>
  return
}

// -----

!view = !kernel.view<64x32xbf16, global>
kernel.func @fetched(%x: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<bf16, global> -> !view
  // expected-error @below {{has 1 indices for a view of rank 2}}
  %0 = kernel.fetch %v[%c0] : !view -> tensor<64x32xbf16, #kernel.frag<pieces>>
  kernel.return
}

// -----

!view = !kernel.view<64x32xbf16, global>
kernel.func @layout(%x: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<bf16, global> -> !view
  // expected-error @below {{reads a box of}}
  %0 = kernel.fetch %v[%c0, %c0] : !view -> tensor<64x32xbf16, #kernel.frag<mma_a>>
  kernel.return
}

// -----

!view = !kernel.view<64x32xbf16, global>
!slot = !kernel.view<64x32xf16, shared, #kernel.shared<swizzle = 64>>
kernel.func @copied(%x: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<bf16, global> -> !view
  %s = kernel.alloc : !slot
  // expected-error @below {{copies a box of}}
  kernel.copy_async %v[%c0, %c0] to %s : !view, !slot
  kernel.return
}

// -----

// expected-error @below {{4 or 8 warps share a tile, 16 x 16 to 64 x 64 of it each; 4 do not share 256 x 128}}
#step = #kernel.tensor_step<256, 128, 32, stages 4, group 8 warps 4>

// -----

// expected-error @below {{4 or 8 warps share a tile, 16 x 16 to 64 x 64 of it each; 3 do not share 48 x 64}}
#step = #kernel.tensor_step<48, 64, 32, stages 4, group 8 warps 3>

// -----

// expected-error @below {{slices of 16, 32, 64 or 128 elements pass through two stages or more of one workgroup, not of 48 through 4 of 1}}
#step = #kernel.tensor_step<64, 64, 48, stages 4, group 8 warps 4>

// -----

// expected-error @below {{columns of 0 tiles are walked}}
#step = #kernel.tensor_step<64, 64, 32, stages 4, group 0 warps 4>
