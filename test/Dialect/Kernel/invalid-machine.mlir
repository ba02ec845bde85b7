// RUN: zyx-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{a swizzle of 128 bytes needs rows of a multiple of it, not of 64}}
func.func private @narrow(!kernel.view<128x32xbf16, shared, #kernel.shared<swizzle = 128>>)

// -----

kernel.func @roles_inside_a_loop(%n: index) attributes {threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{stands at the top of a kernel.func or of its grid}}
    kernel.roles {
    }
  }
  kernel.return
}

// -----

func.func @outside(%t: tensor<64x128xf32, #kernel.frag<wgmma_acc>>) {
  // expected-error @below {{inside 'tensor<64x128xf32, #kernel.frag<wgmma_acc>>' at its offsets}}
  %q = kernel.extract %t[0, 96] : tensor<64x128xf32, #kernel.frag<wgmma_acc>> -> tensor<64x64xf32, #kernel.frag<wgmma_acc>>
  return
}

// -----

func.func @layout_changes(%t: tensor<64x128xf32, #kernel.frag<wgmma_acc>>) {
  // expected-error @below {{has no 'tensor<64x64xf32, #kernel.frag<mma_acc>>' inside}}
  %q = kernel.extract %t[0, 0] : tensor<64x128xf32, #kernel.frag<wgmma_acc>> -> tensor<64x64xf32, #kernel.frag<mma_acc>>
  return
}
