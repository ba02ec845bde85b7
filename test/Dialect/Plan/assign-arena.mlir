// RUN: zyx-opt %s --zyx-plan-assign-arena | FileCheck %s
// RUN: zyx-opt %s --zyx-plan-assign-arena --remarks-filter=zyx-plan -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

kernel.func @k(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) {
  kernel.return
}

// The third temporary takes the bytes of the first; the one that nobody uses is gone.
// REMARK: 3 temporaries of 1344 bytes in an arena of 896
// CHECK-LABEL: plan.func @chain
// CHECK: %[[ARENA:.*]] = plan.arena : !plan.buffer<u8[896]>
// CHECK-NEXT: %[[T:.*]] = plan.slice %[[ARENA]][0] : !plan.buffer<u8[896]> -> !plan.buffer<f32[100]>
// CHECK-NEXT: %[[U:.*]] = plan.slice %[[ARENA]][448] : !plan.buffer<u8[896]> -> !plan.buffer<f32[100]>
// CHECK-NEXT: %[[V:.*]] = plan.slice %[[ARENA]][0] : !plan.buffer<u8[896]> -> !plan.buffer<f32[100]>
// CHECK-NEXT: plan.launch @k ins(%{{.*}}) outs(%[[T]] :
plan.func @chain(%x: !plan.buffer<f32[100]> {plan.input = "x"},
                 %y: !plan.buffer<f32[100]> {plan.output = "y"}) {
  %t = plan.alloc : !plan.buffer<f32[100]>
  %u = plan.alloc : !plan.buffer<f32[100]>
  %v = plan.alloc : !plan.buffer<f32[100]>
  %unused = plan.alloc : !plan.buffer<f32[100]>
  %0 = plan.launch @k ins(%x : !plan.buffer<f32[100]>) outs(%t : !plan.buffer<f32[100]>)
  %1 = plan.launch @k ins(%t : !plan.buffer<f32[100]>) outs(%u : !plan.buffer<f32[100]>)
  %2 = plan.launch @k ins(%u : !plan.buffer<f32[100]>) outs(%v : !plan.buffer<f32[100]>)
  %3 = plan.launch @k ins(%v : !plan.buffer<f32[100]>) outs(%y : !plan.buffer<f32[100]>)
  plan.return
}

// A small temporary goes into the smallest gap that the large ones leave.
// CHECK-LABEL: plan.func @best_fit
// CHECK: plan.arena : !plan.buffer<u8[1536]>
// CHECK: plan.slice %{{.*}}[0] : {{.*}} -> !plan.buffer<f32[256]>
// CHECK: plan.slice %{{.*}}[1024] : {{.*}} -> !plan.buffer<f32[128]>
// CHECK: plan.slice %{{.*}}[0] : {{.*}} -> !plan.buffer<f32[16]>
plan.func @best_fit(%x: !plan.buffer<f32[256]> {plan.input = "x"},
                    %y: !plan.buffer<f32[16]> {plan.output = "y"}) {
  %a = plan.alloc : !plan.buffer<f32[256]>
  %b = plan.alloc : !plan.buffer<f32[128]>
  %c = plan.alloc : !plan.buffer<f32[16]>
  %0 = plan.launch @k ins(%x : !plan.buffer<f32[256]>) outs(%a : !plan.buffer<f32[256]>)
  %1 = plan.launch @k ins(%a : !plan.buffer<f32[256]>) outs(%b : !plan.buffer<f32[128]>)
  %2 = plan.launch @k ins(%b : !plan.buffer<f32[128]>) outs(%c : !plan.buffer<f32[16]>)
  %3 = plan.launch @k ins(%c : !plan.buffer<f32[16]>) outs(%y : !plan.buffer<f32[16]>)
  plan.return
}

// CHECK-LABEL: plan.func @nothing
// CHECK-NOT: plan.arena
plan.func @nothing(%x: !plan.buffer<f32[4]> {plan.input = "x"},
                   %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %0 = plan.launch @k ins(%x : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
  plan.return
}

// What a loop carries keeps its bytes during all of it; the temporaries of a pass share theirs, and
// so does what comes behind the loop.
// CHECK-LABEL: plan.func @loop
// CHECK: %[[ARENA:.*]] = plan.arena : !plan.buffer<u8[192]>
// CHECK: plan.slice %[[ARENA]][0] : {{.*}} -> !plan.buffer<f32[1]>
// CHECK: plan.slice %[[ARENA]][64] : {{.*}} -> !plan.buffer<f32[2]>
// CHECK: plan.loop
// CHECK: plan.slice %[[ARENA]][64] : {{.*}} -> !plan.buffer<f32[3]>
// CHECK: plan.slice %[[ARENA]][128] : {{.*}} -> !plan.buffer<f32[4]>
// CHECK: plan.slice %[[ARENA]][64] : {{.*}} -> !plan.buffer<f32[5]>
plan.func @loop(%x: !plan.buffer<f32[4]> {plan.input = "x"},
                %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %carried = plan.alloc : !plan.buffer<f32[1]>
  %behind = plan.alloc : !plan.buffer<f32[2]>
  %0 = plan.launch @k ins(%x : !plan.buffer<f32[4]>) outs(%carried : !plan.buffer<f32[1]>)
  %1 = plan.loop trips 3 {
    %a = plan.alloc : !plan.buffer<f32[3]>
    %b = plan.alloc : !plan.buffer<f32[4]>
    %c = plan.alloc : !plan.buffer<f32[5]>
    %2 = plan.launch @k ins(%carried : !plan.buffer<f32[1]>) outs(%a : !plan.buffer<f32[3]>)
    %3 = plan.launch @k ins(%a : !plan.buffer<f32[3]>) outs(%b : !plan.buffer<f32[4]>)
    %4 = plan.launch @k ins(%b : !plan.buffer<f32[4]>) outs(%c : !plan.buffer<f32[5]>)
    %5 = plan.launch @k ins(%c : !plan.buffer<f32[5]>) outs(%carried : !plan.buffer<f32[1]>)
  }
  %6 = plan.launch @k ins(%carried : !plan.buffer<f32[1]>) outs(%behind : !plan.buffer<f32[2]>)
  %7 = plan.launch @k ins(%behind : !plan.buffer<f32[2]>) outs(%y : !plan.buffer<f32[4]>)
  plan.return
}

// Of the init what depends on each other stands together, and what is kept lies in that order: w's packing, which was put
// behind v's, can be made without it.
// CHECK-LABEL: plan.func @steps
// CHECK-DAG: %[[KEPT:.*]] = plan.arena kept : !plan.buffer<u8[192]>
// CHECK-DAG: %[[P:.*]] = plan.slice %[[KEPT]][0] : !plan.buffer<u8[192]> -> !plan.buffer<f32[8]>
// CHECK-DAG: %[[V:.*]] = plan.slice %[[KEPT]][64] : !plan.buffer<u8[192]> -> !plan.buffer<f32[32]>
// CHECK: plan.init {
// CHECK: plan.launch @k ins(%arg1 : {{.*}}) outs(%[[T:.*]] : !plan.buffer<f32[16]>)
// CHECK-NEXT: plan.launch @k ins(%[[T]] : {{.*}}) outs(%[[P]] :
// CHECK-NEXT: plan.launch @k ins(%arg2 : {{.*}}) outs(%[[V]] :
// CHECK-NEXT: }
plan.func @steps(%x: !plan.buffer<f32[4]> {plan.input = "x"},
                 %w: !plan.buffer<f32[4]> {plan.input = "w", plan.weight},
                 %v: !plan.buffer<f32[4]> {plan.input = "v", plan.weight},
                 %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %packedV = plan.alloc kept : !plan.buffer<f32[32]>
  %packedW = plan.alloc kept : !plan.buffer<f32[8]>
  plan.init {
    %t = plan.alloc : !plan.buffer<f32[16]>
    %0 = plan.launch @k ins(%w : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[16]>)
    %1 = plan.launch @k ins(%v : !plan.buffer<f32[4]>) outs(%packedV : !plan.buffer<f32[32]>)
    %2 = plan.launch @k ins(%t : !plan.buffer<f32[16]>) outs(%packedW : !plan.buffer<f32[8]>)
  }
  %3 = plan.launch @k ins(%packedV : !plan.buffer<f32[32]>) outs(%y : !plan.buffer<f32[4]>)
  %4 = plan.launch @k ins(%packedW : !plan.buffer<f32[8]>) outs(%y : !plan.buffer<f32[4]>)
  plan.return
}
