// RUN: zyx-opt %s --zyx-plan-assign-arena --verify-diagnostics

kernel.func @k(%a: !kernel.buffer<i8, global>, %b: !kernel.buffer<i8, global>) {
  kernel.return
}

plan.func @f(%y: !plan.buffer<u8[549755813888]> {plan.output = "y"}) {
  %a = plan.alloc : !plan.buffer<u8[549755813888]>
  %b = plan.alloc : !plan.buffer<u8[549755813888]>
  // expected-error@+1 {{temporaries need more than 1099511627776 bytes of memory at once}}
  %c = plan.alloc : !plan.buffer<u8[549755813888]>
  %0 = plan.launch @k outs(%a, %b : !plan.buffer<u8[549755813888]>, !plan.buffer<u8[549755813888]>)
  %1 = plan.launch @k ins(%a : !plan.buffer<u8[549755813888]>) outs(%c : !plan.buffer<u8[549755813888]>)
  %2 = plan.launch @k ins(%c : !plan.buffer<u8[549755813888]>) outs(%b : !plan.buffer<u8[549755813888]>)
  plan.return
}

plan.func @kept(%w: !plan.buffer<u8[549755813888]> {plan.input = "w", plan.weight}) {
  %a = plan.alloc kept : !plan.buffer<u8[549755813888]>
  %b = plan.alloc kept : !plan.buffer<u8[549755813888]>
  // expected-error@+1 {{what is kept needs more than 1099511627776 bytes of memory at once}}
  %c = plan.alloc kept : !plan.buffer<u8[549755813888]>
  plan.init {
    %0 = plan.launch @k ins(%w : !plan.buffer<u8[549755813888]>) outs(%a : !plan.buffer<u8[549755813888]>)
    %1 = plan.launch @k ins(%w : !plan.buffer<u8[549755813888]>) outs(%b : !plan.buffer<u8[549755813888]>)
    %2 = plan.launch @k ins(%w : !plan.buffer<u8[549755813888]>) outs(%c : !plan.buffer<u8[549755813888]>)
  }
  plan.return
}
