// RUN: zyx-opt %s --verify-diagnostics -zyx-kernel-attach-target=target=x86-64-v3 -zyx-kernel-map-tensor-cores

// A machine without tensor cores has no steps for them.
// expected-error @below {{has a step for tensor cores, which x86-64-v3 does not have}}
kernel.func @nothing() attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  kernel.return
}
