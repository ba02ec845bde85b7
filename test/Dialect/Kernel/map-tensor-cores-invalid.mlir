// RUN: zyx-opt %s --split-input-file --verify-diagnostics -zyx-kernel-map-tensor-cores

// expected-error @below {{is not for tensor cores: there is no dot}}
kernel.func @nothing() attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  kernel.return
}

// -----

// expected-error @below {{tiles of tensor cores have 64 or 128 rows and 64, 128, 192 or 256 columns, not 96 x 64}}
#step = #kernel.tensor_step<96, 64, 64, stages 2, group 8>

// -----

// expected-error @below {{tiles of tensor cores have 64 or 128 rows and 64, 128, 192 or 256 columns, not 64 x 320}}
#step = #kernel.tensor_step<64, 320, 64, stages 2, group 8>

// -----

// expected-error @below {{slices of 64 elements pass through two stages or more, not of 32 through 2}}
#step = #kernel.tensor_step<64, 64, 32, stages 2, group 8>

// -----

// expected-error @below {{slices of 64 elements pass through two stages or more, not of 64 through 1}}
#step = #kernel.tensor_step<64, 64, 64, stages 1, group 8>

// -----

// expected-error @below {{schedule holds #kernel.tensor_step<64, 64, 64, stages 2, group 8> and other steps}}
#schedule = #kernel.schedule<[#kernel.swap_step, #kernel.tensor_step<64, 64, 64, stages 2, group 8>]>
