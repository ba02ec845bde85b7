# Finds the pinned LLVM and MLIR. Everything links the shared libraries: a static copy of MLIR
# beside them would register every option and TypeID twice.
#
# MLIR finds traits across libraries by the name that the compiler gives a type, and the package was
# built by clang: code by g++ compiles, links, and then finds no terminator in any block.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "the compiler rooms need clang, as the packaged MLIR was built by it; "
    "with another compiler build the runtime alone: -DZYX_BUILD_COMPILER=OFF")
endif()
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(ZYX_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# The headers that nearly every MLIR source reads, compiled once: clang++ on two cores spends most of a build in them.
# Those of the LLVM dialects are larger than all others together, so that sources which read none of them do without.
set(zyx_mlir_headers
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/Dialect.h>
  <mlir/IR/DialectImplementation.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h>)
set(zyx_llvm_headers
  <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/LLVMIR/NVVMDialect.h> <mlir/Dialect/LLVMIR/ROCDLDialect.h>
  <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/Transforms/DialectConversion.h> <mlir/Transforms/GreedyPatternRewriteDriver.h>)
foreach(name IN ITEMS ZyxMLIRPrecompiled ZyxLLVMPrecompiled)
  zyx_precompile(${name} ${zyx_mlir_headers})
  target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${name} PRIVATE ${ZYX_LLVM_DEFINITIONS})
  target_compile_options(${name} PRIVATE -fno-exceptions)
endforeach()
target_precompile_headers(ZyxLLVMPrecompiled PRIVATE ${zyx_llvm_headers})

# TableGen looks for included files in the directory's include path.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
