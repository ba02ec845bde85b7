// RUN: zyx-opt %s -zyx-kernel-verify-form="form=lowered expanded" -split-input-file -verify-diagnostics

kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %f = arith.constant 0.0 : f32
  // expected-error@+1 {{is a function that the lowered form has no more once functions are expanded}}
  %a = math.exp %f : f32
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  // expected-error@+1 {{does not belong to the lowered form}}
  kernel.cluster_arrive
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x16xf32, global>
  // expected-error@+1 {{makes a tile, which the lowered form does not have}}
  %t = kernel.load %v[%c0, %c0] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  // expected-error@+1 {{vectors of the lowered form have one dimension}}
  %a = arith.constant dense<0.0> : vector<4x4xf32>
  kernel.return
}

// -----

kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  // expected-error@+1 {{has a map that is not one whole block, as the lowered form requires}}
  %v = kernel.view %x map <[<[6] strides [1]>, <[2, 3] strides [1, 2]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  kernel.return
}

// -----

// expected-error@+1 {{is in the tiled form, which is not lowered}}
kernel.func @f(%x: !kernel.buffer<f32, global>) {
  kernel.return
}

// -----

// expected-error@+1 {{is in the machine form, which is not lowered}}
kernel.func @f(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>} {
  kernel.return
}
