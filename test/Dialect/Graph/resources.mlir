// RUN: zyx-opt %s | FileCheck %s
// RUN: zyx-opt %s | zyx-opt | FileCheck %s
// RUN: zyx-opt %s --mlir-print-op-generic | zyx-opt | FileCheck %s
// RUN: zyx-opt %s --zyx-test-graph-transport | FileCheck %s --check-prefix=ELEMENTS
// RUN: zyx-compile %s --target=cpu -o %t.zyxa && zyx-run %t.zyxa --random=1 --print | FileCheck %s --check-prefix=GIVES

// A resource is a constant as any other: of every width, of bools and of floats that NumPy has not.
// CHECK-LABEL: func.func @main
// ELEMENTS-LABEL: func.func @main
func.func @main() -> (tensor<4xf32>, tensor<3xi1>, tensor<2x1xi64>, tensor<f8E4M3FN>, tensor<2xbf16>, tensor<0xi32>) {
  // CHECK: graph.constant dense_resource<table> : tensor<4xf32>
  // ELEMENTS: graph.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
  // GIVES: [1. 2. 3. 4.]
  %0 = graph.constant dense_resource<table> : tensor<4xf32>
  // CHECK: graph.constant dense_resource<flags> : tensor<3xi1>
  // ELEMENTS: graph.constant dense<[true, false, true]> : tensor<3xi1>
  // GIVES: [ True False  True]
  %1 = graph.constant dense_resource<flags> : tensor<3xi1>
  // ELEMENTS: graph.constant dense<{{\[}}[-1], [256]]> : tensor<2x1xi64>
  // GIVES: {{\[}}[ -1]
  // GIVES-NEXT: [256]]
  %2 = graph.constant dense_resource<wide> : tensor<2x1xi64>
  // ELEMENTS: graph.constant dense<1.500000e+00> : tensor<f8E4M3FN>
  // GIVES: 1.5
  %3 = graph.constant dense_resource<"of a byte"> : tensor<f8E4M3FN>
  // ELEMENTS: graph.constant dense<1.000000e+00> : tensor<2xbf16>
  // GIVES: [1. 1.]
  %4 = graph.constant dense_resource<ones> : tensor<2xbf16>
  // ELEMENTS: graph.constant dense<> : tensor<0xi32>
  %5 = graph.constant dense_resource<none> : tensor<0xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<3xi1>, tensor<2x1xi64>, tensor<f8E4M3FN>, tensor<2xbf16>, tensor<0xi32>
}

// CHECK: dialect_resources
// CHECK: builtin
// CHECK-DAG: table: "0x040000000000803F000000400000404000008040"
// CHECK-DAG: flags: "0x01000000010001"
{-#
  dialect_resources: {
    builtin: {
      table: "0x040000000000803F000000400000404000008040",
      flags: "0x01000000010001",
      wide: "0x08000000FFFFFFFFFFFFFFFF0001000000000000",
      "of a byte": "0x010000003C",
      ones: "0x02000000803F803F",
      none: "0x04000000"
    }
  }
#-}
