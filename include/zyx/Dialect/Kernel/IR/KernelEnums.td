//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_KERNELENUMS_TD
#define ZYX_DIALECT_KERNEL_IR_KERNELENUMS_TD

include "mlir/IR/EnumAttr.td"
include "zyx/Dialect/Kernel/IR/KernelDialect.td"

class Kernel_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::zyx::kernel";
}
def Kernel_Space : Kernel_Enum<"Space", "where memory lies", [
  I32EnumAttrCase<"Global", 0, "global">,
  I32EnumAttrCase<"Shared", 1, "shared">,
  I32EnumAttrCase<"Private", 2, "private">]>;

def Kernel_Form : Kernel_Enum<"Form", "in which of the three forms a kernel is written", [
  I32EnumAttrCase<"Tiled", 0, "tiled">,
  I32EnumAttrCase<"Machine", 1, "machine">,
  I32EnumAttrCase<"Lowered", 2, "lowered">]> {
  let genSpecializedAttr = 0;
}

def Kernel_Combine : Kernel_Enum<"Combine", "how a reduction or scan combines two elements", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Mul", 1, "mul">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"UMax", 4, "umax">,
  I32EnumAttrCase<"UMin", 5, "umin">,
  I32EnumAttrCase<"And", 6, "and">,
  I32EnumAttrCase<"Or", 7, "or">]>;

def Kernel_FragKind : Kernel_Enum<"FragKind", "which instruction a fragment feeds or comes from", [
  I32EnumAttrCase<"WgmmaAcc", 0, "wgmma_acc">,
  I32EnumAttrCase<"WgmmaA", 1, "wgmma_a">,
  I32EnumAttrCase<"MmaAcc", 2, "mma_acc">,
  I32EnumAttrCase<"MmaA", 3, "mma_a">,
  I32EnumAttrCase<"MmaB", 4, "mma_b">,
  I32EnumAttrCase<"Block", 5, "block">,
  I32EnumAttrCase<"Pieces", 6, "pieces">]>;

def Kernel_Scope : Kernel_Enum<"Scope", "which threads meet", [
  I32EnumAttrCase<"Workgroup", 0, "workgroup">,
  I32EnumAttrCase<"Role", 1, "role">,
  I32EnumAttrCase<"Cluster", 2, "cluster">]>;

def Kernel_IdKind : Kernel_Enum<"IdKind", "a number of the running thread or its group", [
  I32EnumAttrCase<"Thread", 0, "thread">,
  I32EnumAttrCase<"Workgroup", 1, "workgroup">,
  I32EnumAttrCase<"NumWorkgroups", 2, "num_workgroups">,
  I32EnumAttrCase<"ClusterRank", 3, "cluster_rank">,
  I32EnumAttrCase<"Lane", 4, "lane">,
  I32EnumAttrCase<"Subgroup", 5, "subgroup">,
  I32EnumAttrCase<"NumSubgroups", 6, "num_subgroups">]>;

def Kernel_Language : Kernel_Enum<"Language", "what the text of an external kernel is written in", [
  I32EnumAttrCase<"C", 0, "c">,
  I32EnumAttrCase<"PTX", 1, "ptx">]>;

#endif // ZYX_DIALECT_KERNEL_IR_KERNELENUMS_TD
