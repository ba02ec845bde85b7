// RUN: not zyx-opt %s -zyx-kernel-attach-target=target=c -zyx-convert-kernel-to-nvvm 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not zyx-opt %s -zyx-kernel-attach-target=target=sm_1 -zyx-convert-kernel-to-nvvm 2>&1 | FileCheck %s --check-prefix=NAME

// KIND: error: target 'c' does not run NVVM
// NAME: error: no target is named 'sm_1'
module {}
