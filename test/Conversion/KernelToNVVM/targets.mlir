// RUN: not zyx-opt %s -zyx-convert-kernel-to-nvvm=target=c 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not zyx-opt %s -zyx-convert-kernel-to-nvvm=target=sm_1 2>&1 | FileCheck %s --check-prefix=NAME

// KIND: error: target 'c' does not run NVVM
// NAME: error: no target is named 'sm_1'
module {}
