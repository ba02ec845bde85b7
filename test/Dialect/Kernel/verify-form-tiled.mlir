// RUN: zyx-opt %s -zyx-kernel-verify-form=form=tiled -split-input-file -verify-diagnostics

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  // expected-error@+1 {{does not belong to the tiled form}}
  %a = kernel.alloc : !kernel.view<4xf32, private>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  // expected-error@+1 {{makes a vector, which the tiled form does not have}}
  %t = kernel.load %v[%c0, %c0] : !kernel.view<8x16xf32, global> -> vector<16xf32>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  // expected-error@+1 {{which belongs to the machine form}}
  %c = kernel.convert %t : tensor<8x16xf32> -> tensor<8x16xf32, #kernel.frag<mma_acc>>
  kernel.return
}
