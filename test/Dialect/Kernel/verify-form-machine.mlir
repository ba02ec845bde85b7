// RUN: zyx-opt %s -zyx-kernel-verify-form=form=machine -split-input-file -verify-diagnostics

kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>} {
  %f = arith.constant 0.0 : f32
  // expected-error@+1 {{does not belong to the machine form}}
  %a = vector.broadcast %f : f32 to vector<4xf32>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  // expected-error-re@+1 {{makes the tile {{.*}} without a layout, which the machine form requires}}
  %t = kernel.load %v[%c0, %c0] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.return
}
