// RUN: zyx-translate --kernel-to-target --target=gfx942 %s | FileCheck %s
// RUN: zyx-translate --kernel-to-target --target=sm_80 %s | FileCheck %s --check-prefix=PTX
// RUN: not zyx-translate --kernel-to-target --target=gfx9999 %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
// CHECK: double:
// CHECK: global_load_dwordx4
// CHECK: .wavefront_size: 64
// PTX: .entry double(
// UNKNOWN: error: no target is named 'gfx9999'; there are {{.*}}gfx942, gfx1100, gfx1201
#x = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<1000xf32, global>
kernel.func @double(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i) in [1000] step [4] {
    %v = kernel.load %xs[%i] : !x -> vector<4xf32>
    %d = arith.addf %v, %v : vector<4xf32>
    kernel.store %d, %ys[%i] : vector<4xf32>, !x
  }
  kernel.return
}
