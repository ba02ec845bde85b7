// RUN: not zyx-opt %s -zyx-kernel-verify-form=form=raw 2>&1 | FileCheck %s
// CHECK: there is no form 'raw'; tiled, machine and lowered exist
module {}
