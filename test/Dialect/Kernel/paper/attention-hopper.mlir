// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-verify-form=form=machine | FileCheck %s

// Attention forward, bf16: O = softmax(scale * Q x K transposed) x V for every head, with 128
// features and `rows` a multiple of 128 (a copy past the last row would bring zeros, which a softmax
// counts). `scale` includes log2(e), so that powers of two are taken.
//
// A workgroup has 128 rows of one head. One warp group copies K and V in blocks of 128 rows into
// rings of two stages; two others have 64 rows of Q each. The product of Q with the next block of K
// runs while the softmax of the block before is multiplied with V.

#swizzled = #kernel.shared<swizzle = 128>
#acc = #kernel.frag<wgmma_acc>
#a = #kernel.frag<wgmma_a>
#row = #kernel.slice<dim = 1, #acc>
#heads = #kernel.map<[#kernel.block<[s0, s1, 128] strides [s1 * 128, 128, 1]>]>
!buffer = !kernel.buffer<bf16, global>
!heads = !kernel.view<?x?x128xbf16, global>
!block = !kernel.view<128x128xbf16, shared, #swizzled>
!half = !kernel.view<64x128xbf16, shared, #swizzled>
!ring = !kernel.view<2x128x128xbf16, shared, #swizzled>
!one = !kernel.barriers<1>
!two = !kernel.barriers<2>
!tile = tensor<64x128xf32, #acc>
!rounded = tensor<64x128xbf16, #acc>
!factor = tensor<64x128xbf16, #a>
!column = tensor<64xf32, #row>

// CHECK-LABEL: kernel.func @attention
kernel.func @attention(%q: !buffer, %k: !buffer, %v: !buffer, %o: !buffer, %heads: index, %rows: index, %scale: f32)
    attributes {form = #kernel.form<machine>, threads = 384 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %true = arith.constant true
  %false = arith.constant false
  %q_all = kernel.view %q[%heads, %rows] map #heads : !buffer -> !heads
  %k_all = kernel.view %k[%heads, %rows] map #heads : !buffer -> !heads
  %v_all = kernel.view %v[%heads, %rows] map #heads : !buffer -> !heads
  %o_all = kernel.view %o[%heads, %rows] map #heads : !buffer -> !heads

  kernel.grid (%head, %first) in [%heads, %rows] step [1, 128] {
    %q_block = kernel.alloc : !block
    %k_ring = kernel.alloc : !ring
    %v_ring = kernel.alloc : !ring
    %q_full = kernel.barriers arrivals 1 : !one
    %k_full = kernel.barriers arrivals 1 : !two
    %k_empty = kernel.barriers arrivals 2 : !two
    %v_full = kernel.barriers arrivals 1 : !two
    %v_empty = kernel.barriers arrivals 2 : !two
    kernel.barrier workgroup

    // CHECK: kernel.role "producer"
    // CHECK: kernel.role "consumer"
    kernel.roles {
      kernel.role "producer" count 1 threads 128 registers 24 single {
      ^bb0(%instance: index):
        kernel.expect %q_full[%c0] bytes 32768 : !one
        kernel.async_load %q_all[%head, %first, %c0] to %q_block signal %q_full[%c0] : !heads, !block, !one
        %end:2 = scf.for %j = %c0 to %rows step %c128
            iter_args(%stage = %c0, %parity = %true) -> (index, i1) {
          %to_k = kernel.subview %k_ring[%stage, %c0, %c0] : !ring -> !block
          %to_v = kernel.subview %v_ring[%stage, %c0, %c0] : !ring -> !block
          kernel.wait %k_empty[%stage] parity %parity : !two
          kernel.expect %k_full[%stage] bytes 32768 : !two
          kernel.async_load %k_all[%head, %j, %c0] to %to_k signal %k_full[%stage] : !heads, !block, !two
          kernel.wait %v_empty[%stage] parity %parity : !two
          kernel.expect %v_full[%stage] bytes 32768 : !two
          kernel.async_load %v_all[%head, %j, %c0] to %to_v signal %v_full[%stage] : !heads, !block, !two
          %next = arith.subi %c1, %stage : index
          %wraps = arith.cmpi eq, %stage, %c1 : index
          %flipped = arith.xori %parity, %wraps : i1
          scf.yield %next, %flipped : index, i1
        }
      }

      kernel.role "consumer" count 2 threads 128 registers 240 {
      ^bb0(%instance: index):
        %half_row = arith.muli %instance, %c64 : index
        %my_q = kernel.subview %q_block[%half_row, %c0] : !block -> !half
        %scales = kernel.splat %scale : f32 -> !tile
        %scale_column = kernel.splat %scale : f32 -> !column
        %zero = arith.constant dense<0.0> : !tile

        // The first block has no maximum before it.
        %first_k = kernel.subview %k_ring[%c0, %c0, %c0] : !ring -> !block
        kernel.wait %q_full[%c0] parity %false : !one
        kernel.wait %k_full[%c0] parity %false : !two
        kernel.mma_fence
        %started_0 = kernel.mma_async %my_q, %first_k transposed : !half, !block -> !tile
        kernel.mma_commit
        %scores_0 = kernel.mma_wait pending 0 %started_0 : !tile -> !tile
        kernel.arrive %k_empty[%c0] : !two
        %max_0 = kernel.reduce max %scores_0 dims [1] : !tile -> !column
        %shift_0 = arith.mulf %max_0, %scale_column : !column
        %down_0 = arith.negf %shift_0 : !column
        %downs_0 = kernel.broadcast %down_0 dims [0] : !column -> !tile
        %power_0 = math.fma %scores_0, %scales, %downs_0 : !tile
        %weights_0 = math.exp2 %power_0 fastmath<afn> : !tile
        %total_0 = kernel.reduce add %weights_0 dims [1] : !tile -> !column
        %rounded_0 = arith.truncf %weights_0 : !tile to !rounded
        %factor_0 = kernel.convert %rounded_0 : !rounded -> !factor

        %loop:8 = scf.for %j = %c128 to %rows step %c128
            iter_args(%k_stage = %c1, %k_parity = %false, %v_stage = %c0, %v_parity = %false,
                      %out = %zero, %max = %max_0, %sum = %total_0, %factor = %factor_0)
            -> (index, i1, index, i1, !tile, !column, !column, !factor) {
          %from_k = kernel.subview %k_ring[%k_stage, %c0, %c0] : !ring -> !block
          %from_v = kernel.subview %v_ring[%v_stage, %c0, %c0] : !ring -> !block
          kernel.wait %k_full[%k_stage] parity %k_parity : !two
          kernel.mma_fence
          %started_1 = kernel.mma_async %my_q, %from_k transposed : !half, !block -> !tile
          kernel.mma_commit
          kernel.wait %v_full[%v_stage] parity %v_parity : !two
          kernel.mma_fence
          %out_started = kernel.mma_async %factor, %from_v acc %out : !tile : !factor, !block -> !tile
          kernel.mma_commit
          %scores_1 = kernel.mma_wait pending 1 %started_1 : !tile -> !tile
          kernel.arrive %k_empty[%k_stage] : !two
          %here = kernel.reduce max %scores_1 dims [1] : !tile -> !column
          %max_1 = arith.maximumf %max, %here : !column
          %change = arith.subf %max, %max_1 : !column
          %scaled = arith.mulf %change, %scale_column : !column
          %shrink = math.exp2 %scaled fastmath<afn> : !column
          %shift_1 = arith.mulf %max_1, %scale_column : !column
          %down_1 = arith.negf %shift_1 : !column
          %downs_1 = kernel.broadcast %down_1 dims [0] : !column -> !tile
          %power_1 = math.fma %scores_1, %scales, %downs_1 : !tile
          %weights_1 = math.exp2 %power_1 fastmath<afn> : !tile
          %total_1 = kernel.reduce add %weights_1 dims [1] : !tile -> !column
          %rounded_1 = arith.truncf %weights_1 : !tile to !rounded
          %factor_1 = kernel.convert %rounded_1 : !rounded -> !factor
          %sum_next = math.fma %sum, %shrink, %total_1 : !column
          %out_done = kernel.mma_wait pending 0 %out_started : !tile -> !tile
          kernel.arrive %v_empty[%v_stage] : !two
          %shrinks = kernel.broadcast %shrink dims [0] : !column -> !tile
          %out_next = arith.mulf %out_done, %shrinks : !tile
          %k_next = arith.subi %c1, %k_stage : index
          %k_wraps = arith.cmpi eq, %k_stage, %c1 : index
          %k_flipped = arith.xori %k_parity, %k_wraps : i1
          %v_next = arith.subi %c1, %v_stage : index
          %v_wraps = arith.cmpi eq, %v_stage, %c1 : index
          %v_flipped = arith.xori %v_parity, %v_wraps : i1
          scf.yield %k_next, %k_flipped, %v_next, %v_flipped, %out_next, %max_1, %sum_next, %factor_1
              : index, i1, index, i1, !tile, !column, !column, !factor
        }

        %last_v = kernel.subview %v_ring[%loop#2, %c0, %c0] : !ring -> !block
        kernel.wait %v_full[%loop#2] parity %loop#3 : !two
        kernel.mma_fence
        %last = kernel.mma_async %loop#7, %last_v acc %loop#4 : !tile : !factor, !block -> !tile
        kernel.mma_commit
        %all = kernel.mma_wait pending 0 %last : !tile -> !tile

        // This instance's rows of Q are not read again; the result takes their place.
        %ones = arith.constant dense<1.0> : !column
        %share = arith.divf %ones, %loop#6 : !column
        %shares = kernel.broadcast %share dims [0] : !column -> !tile
        %result = arith.mulf %all, %shares : !tile
        %result_rounded = arith.truncf %result : !tile to !rounded
        kernel.barrier role
        kernel.store %result_rounded, %my_q[%c0, %c0] : !rounded, !half
        kernel.barrier role async
        %row_out = arith.addi %first, %half_row : index
        kernel.elect {
          kernel.async_store %my_q to %o_all[%head, %row_out, %c0] : !half, !heads
          kernel.async_wait pending 0
        }
      }
    }
  }
  kernel.return
}
