// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-verify-form=form=machine | FileCheck %s

// C[M, N] = A[M, K] x B[N, K] transposed, bf16 with sums in f32, M, N and K known at launch only.
//
// A persistent kernel: as many workgroups as the machine holds, each walks the tiles of 128 x 256
// with that stride. One warp group copies slices of 64 along K into a ring of four stages, two
// others multiply them, 64 rows each. Tiles are taken in columns of eight rows, so that workgroups
// that run together share slices of A and B in the cache. K's last slice, and rows and columns
// outside of the matrices, are zero when read and dropped when written.

#swizzled = #kernel.shared<swizzle = 128>
#acc = #kernel.frag<wgmma_acc>
#matrix = #kernel.map<[#kernel.block<[s0, s1] strides [s1, 1]>]>
!buffer = !kernel.buffer<bf16, global>
!matrix = !kernel.view<?x?xbf16, global>
!ring_a = !kernel.view<4x128x64xbf16, shared, #swizzled>
!ring_b = !kernel.view<4x256x64xbf16, shared, #swizzled>
!out = !kernel.view<2x2x64x64xbf16, shared, #swizzled>
!slot_64 = !kernel.view<64x64xbf16, shared, #swizzled>
!slot_128 = !kernel.view<128x64xbf16, shared, #swizzled>
!slot_256 = !kernel.view<256x64xbf16, shared, #swizzled>
!sums = tensor<64x256xf32, #acc>
!quarter = tensor<64x64xf32, #acc>
!rounded = tensor<64x64xbf16, #acc>

// CHECK-LABEL: kernel.func @gemm
kernel.func @gemm(%a: !buffer, %b: !buffer, %c: !buffer, %m: index, %n: index, %k: index)
    attributes {form = #kernel.form<machine>, threads = 384 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %c256 = arith.constant 256 : index
  %true = arith.constant true
  %false = arith.constant false

  %a_all = kernel.view %a[%m, %k] map #matrix : !buffer -> !matrix
  %b_all = kernel.view %b[%n, %k] map #matrix : !buffer -> !matrix
  %c_all = kernel.view %c[%m, %n] map #matrix : !buffer -> !matrix

  %ring_a = kernel.alloc : !ring_a
  %ring_b = kernel.alloc : !ring_b
  %out = kernel.alloc : !out
  %full = kernel.barriers arrivals 1 : !kernel.barriers<4>
  %empty = kernel.barriers arrivals 2 : !kernel.barriers<4>
  kernel.barrier workgroup

  %first = kernel.id workgroup
  %stride = kernel.id num_workgroups
  %tiles_m = arith.ceildivui %m, %c128 : index
  %tiles_n = arith.ceildivui %n, %c256 : index
  %tiles = arith.muli %tiles_m, %tiles_n : index
  %column = arith.muli %tiles_n, %c8 : index

  // CHECK: kernel.role "producer" count 1 threads 128 registers 40 single
  // CHECK: kernel.role "consumer" count 2 threads 128 registers 232
  kernel.roles {
    kernel.role "producer" count 1 threads 128 registers 40 single {
    ^bb0(%instance: index):
      %end:2 = scf.for %t = %first to %tiles step %stride
          iter_args(%stage0 = %c0, %parity0 = %true) -> (index, i1) {
        %group = arith.divui %t, %column : index
        %top = arith.muli %group, %c8 : index
        %below = arith.subi %tiles_m, %top : index
        %height = arith.minui %below, %c8 : index
        %in_group = arith.remui %t, %column : index
        %down = arith.remui %in_group, %height : index
        %right = arith.divui %in_group, %height : index
        %tile_m = arith.addi %top, %down : index
        %row = arith.muli %tile_m, %c128 : index
        %col = arith.muli %right, %c256 : index
        %slices:2 = scf.for %kk = %c0 to %k step %c64
            iter_args(%stage = %stage0, %parity = %parity0) -> (index, i1) {
          %to_a = kernel.subview %ring_a[%stage, %c0, %c0] : !ring_a -> !slot_128
          %to_b = kernel.subview %ring_b[%stage, %c0, %c0] : !ring_b -> !slot_256
          kernel.wait %empty[%stage] parity %parity : !kernel.barriers<4>
          kernel.expect %full[%stage] bytes 49152 : !kernel.barriers<4>
          kernel.async_load %a_all[%row, %kk] to %to_a signal %full[%stage] : !matrix, !slot_128, !kernel.barriers<4>
          kernel.async_load %b_all[%col, %kk] to %to_b signal %full[%stage] : !matrix, !slot_256, !kernel.barriers<4>
          %up = arith.addi %stage, %c1 : index
          %wraps = arith.cmpi eq, %up, %c4 : index
          %next = arith.select %wraps, %c0, %up : index
          %flipped = arith.xori %parity, %wraps : i1
          scf.yield %next, %flipped : index, i1
        }
        scf.yield %slices#0, %slices#1 : index, i1
      }
    }

    kernel.role "consumer" count 2 threads 128 registers 232 {
    ^bb0(%instance: index):
      %half = arith.muli %instance, %c64 : index
      %zero = arith.constant dense<0.0> : !sums
      %out_0 = kernel.subview %out[%instance, %c0, %c0, %c0] : !out -> !slot_64
      %out_1 = kernel.subview %out[%instance, %c1, %c0, %c0] : !out -> !slot_64
      %end:2 = scf.for %t = %first to %tiles step %stride
          iter_args(%stage0 = %c0, %parity0 = %false) -> (index, i1) {
        %group = arith.divui %t, %column : index
        %top = arith.muli %group, %c8 : index
        %below = arith.subi %tiles_m, %top : index
        %height = arith.minui %below, %c8 : index
        %in_group = arith.remui %t, %column : index
        %down = arith.remui %in_group, %height : index
        %right = arith.divui %in_group, %height : index
        %tile_m = arith.addi %top, %down : index
        %row = arith.muli %tile_m, %c128 : index
        %col = arith.muli %right, %c256 : index
        // One group of contractions stays in flight; the stage before it is given back.
        %slices:4 = scf.for %kk = %c0 to %k step %c64
            iter_args(%stage = %stage0, %parity = %parity0, %previous = %c0, %acc = %zero)
            -> (index, i1, index, !sums) {
          %from_a = kernel.subview %ring_a[%stage, %half, %c0] : !ring_a -> !slot_64
          %from_b = kernel.subview %ring_b[%stage, %c0, %c0] : !ring_b -> !slot_256
          kernel.wait %full[%stage] parity %parity : !kernel.barriers<4>
          kernel.mma_fence
          %started = kernel.mma_async %from_a, %from_b transposed acc %acc : !sums : !slot_64, !slot_256 -> !sums
          kernel.mma_commit
          %sums = kernel.mma_wait pending 1 %started : !sums -> !sums
          %not_first = arith.cmpi ne, %kk, %c0 : index
          scf.if %not_first {
            kernel.arrive %empty[%previous] : !kernel.barriers<4>
          }
          %up = arith.addi %stage, %c1 : index
          %wraps = arith.cmpi eq, %up, %c4 : index
          %next = arith.select %wraps, %c0, %up : index
          %flipped = arith.xori %parity, %wraps : i1
          scf.yield %next, %flipped, %stage, %sums : index, i1, index, !sums
        }
        %done = kernel.mma_wait pending 0 %slices#3 : !sums -> !sums
        kernel.arrive %empty[%slices#2] : !kernel.barriers<4>

        // Four quarters of 64 columns leave through two boxes of shared memory in turn.
        %row_out = arith.addi %row, %half : index
        %quarter_0 = kernel.extract %done[0, 0] : !sums -> !quarter
        %rounded_0 = arith.truncf %quarter_0 : !quarter to !rounded
        %col_0 = arith.addi %col, %c0 : index
        kernel.elect {
          kernel.async_wait pending 1 read
        }
        kernel.barrier role
        kernel.store %rounded_0, %out_0[%c0, %c0] : !rounded, !slot_64
        kernel.barrier role async
        kernel.elect {
          kernel.async_store %out_0 to %c_all[%row_out, %col_0] : !slot_64, !matrix
        }
        %quarter_1 = kernel.extract %done[0, 64] : !sums -> !quarter
        %rounded_1 = arith.truncf %quarter_1 : !quarter to !rounded
        %col_1 = arith.addi %col, %c64 : index
        kernel.elect {
          kernel.async_wait pending 1 read
        }
        kernel.barrier role
        kernel.store %rounded_1, %out_1[%c0, %c0] : !rounded, !slot_64
        kernel.barrier role async
        kernel.elect {
          kernel.async_store %out_1 to %c_all[%row_out, %col_1] : !slot_64, !matrix
        }
        %quarter_2 = kernel.extract %done[0, 128] : !sums -> !quarter
        %rounded_2 = arith.truncf %quarter_2 : !quarter to !rounded
        %col_2 = arith.addi %col, %c128 : index
        kernel.elect {
          kernel.async_wait pending 1 read
        }
        kernel.barrier role
        kernel.store %rounded_2, %out_0[%c0, %c0] : !rounded, !slot_64
        kernel.barrier role async
        kernel.elect {
          kernel.async_store %out_0 to %c_all[%row_out, %col_2] : !slot_64, !matrix
        }
        %quarter_3 = kernel.extract %done[0, 192] : !sums -> !quarter
        %rounded_3 = arith.truncf %quarter_3 : !quarter to !rounded
        %col_3 = arith.addi %col, %c192 : index
        kernel.elect {
          kernel.async_wait pending 1 read
        }
        kernel.barrier role
        kernel.store %rounded_3, %out_1[%c0, %c0] : !rounded, !slot_64
        kernel.barrier role async
        kernel.elect {
          kernel.async_store %out_1 to %c_all[%row_out, %col_3] : !slot_64, !matrix
        }
        scf.yield %slices#0, %slices#1 : index, i1
      }
      kernel.elect {
        kernel.async_wait pending 0
      }
    }
  }
  kernel.return
}
