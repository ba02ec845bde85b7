# One function per kind of target, so that a room's CMakeLists.txt is a list of files.

function(zyx_compile_flags target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -ffp-contract=off
    # Without a timestamp inside, ccache can serve precompiled headers.
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  if(ZYX_SANITIZE)
    # Functions of drivers and of other libraries take structs whose names here are ours; libraries of devices have
    # types of their own for the classes of the runtime.
    target_compile_options(${target} PRIVATE -fsanitize=${ZYX_SANITIZE} -fno-omit-frame-pointer
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function,vptr>)
    target_link_options(${target} PUBLIC -fsanitize=${ZYX_SANITIZE})
  endif()
endfunction()

# $<LINK_LIBRARY:as_needed,X>: a shared library that only those programs open which call it, though a
# static library of ours names it.
set(CMAKE_LINK_LIBRARY_USING_as_needed_SUPPORTED TRUE)
set(CMAKE_LINK_LIBRARY_USING_as_needed
  "LINKER:--push-state,--as-needed" "<LINK_ITEM>" "LINKER:--pop-state")

# add_zyx_library(ZyxGraph A.cpp B.cpp LINK ZyxBase): a room without LLVM. Below Tensor nothing throws, but
# allocations do: exceptions are on, so that what a frame holds, its locks above all, is released behind them.
function(add_zyx_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY ZYX_ROOMS ${name})
  zyx_compile_flags(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# zyx_precompile(name header...): headers that other targets take from here.
function(zyx_precompile name)
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  zyx_compile_flags(${name})
endfunction()

# zyx_reuse(target precompiled): of a program.
function(zyx_reuse target precompiled)
  # The precompiled headers are made with -fPIC, and -fPIE would differ from it.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# zyx_use_mlir(target [PRIVATE])
function(zyx_use_mlir target)
  set(scope PUBLIC ${ARGN})
  list(GET scope -1 scope)
  target_include_directories(${target} SYSTEM ${scope} ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${target} ${scope} ${ZYX_LLVM_DEFINITIONS})
  target_link_libraries(${target} ${scope} MLIR LLVM)
  add_dependencies(${target} zyx-tables)
endfunction()

# add_zyx_mlir_library(ZyxKernelDialect A.cpp LINK ...): all tables of TableGen come before its sources. LLVM_DIALECTS:
# its sources read these dialects, of MLIR's.
function(add_zyx_mlir_library name)
  cmake_parse_arguments(ARG "LLVM_DIALECTS" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY ZYX_ROOMS ${name})
  zyx_compile_flags(${name})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  zyx_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_LLVM_DIALECTS)
    target_precompile_headers(${name} REUSE_FROM ZyxLLVMPrecompiled)
  else()
    target_precompile_headers(${name} REUSE_FROM ZyxMLIRPrecompiled)
  endif()
endfunction()

# add_zyx_dialect(Kernel kernel): tables of include/zyx/Dialect/Kernel/IR/KernelOps.td (which
# includes the dialect, types and attributes), as target ZyxKernelIncGen. Enums are those of
# KernelEnums.td where there is one, and of further files: add_zyx_dialect(Graph graph ENUMS UnaryKinds).
function(add_zyx_dialect Name namespace)
  cmake_parse_arguments(ARG "" "" "ENUMS" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${Name}Ops.td)
  mlir_tablegen(${Name}Ops.h.inc -gen-op-decls -dialect=${namespace})
  mlir_tablegen(${Name}Ops.cpp.inc -gen-op-defs -dialect=${namespace})
  mlir_tablegen(${Name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${namespace})
  mlir_tablegen(${Name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${namespace})
  mlir_tablegen(${Name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${namespace})
  mlir_tablegen(${Name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${namespace})
  mlir_tablegen(${Name}Dialect.h.inc -gen-dialect-decls -dialect=${namespace})
  mlir_tablegen(${Name}Dialect.cpp.inc -gen-dialect-defs -dialect=${namespace})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${Name}Enums.td)
    list(APPEND ARG_ENUMS ${Name}Enums)
  endif()
  foreach(stem IN LISTS ARG_ENUMS)
    set(LLVM_TARGET_DEFINITIONS ${stem}.td)
    mlir_tablegen(${stem}.h.inc -gen-enum-decls)
    mlir_tablegen(${stem}.cpp.inc -gen-enum-defs)
  endforeach()
  add_public_tablegen_target(Zyx${Name}IncGen)
  zyx_doc(${Name}Ops.td -gen-dialect-doc -dialect=${namespace} OUT dialect-${namespace}.md)
endfunction()

# add_zyx_passes(ZyxKernelPassesIncGen "ZyxKernel"): tables of Passes.td in this folder.
function(add_zyx_passes target group docname)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=${group})
  add_public_tablegen_target(${target})
  zyx_doc(Passes.td -gen-pass-doc OUT passes-${docname}.md)
endfunction()

# Pages are written to the build folder; utils/check-docs.py compares them with docs/generated.
function(zyx_doc td)
  cmake_parse_arguments(ARG "" "OUT" "" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(stem ${ARG_OUT})
  tablegen(MLIR ${stem} ${ARG_UNPARSED_ARGUMENTS} -DZYX_DOCS "-I${CMAKE_CURRENT_SOURCE_DIR}")
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/docs/${stem}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${stem} ${PROJECT_BINARY_DIR}/docs/${stem}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${stem})
  string(REPLACE "." "-" id ${stem})
  add_custom_target(zyx-doc-${id} DEPENDS ${PROJECT_BINARY_DIR}/docs/${stem})
  set_property(GLOBAL APPEND PROPERTY ZYX_DOC_TARGETS zyx-doc-${id})
endfunction()

function(add_zyx_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  zyx_compile_flags(${name})
  if(ARG_MLIR)
    target_compile_options(${name} PRIVATE -fno-exceptions)
    zyx_use_mlir(${name})
    zyx_reuse(${name} ZyxLLVMPrecompiled)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# add_zyx_bundled(ZyxName A.cpp): a backend of the runtime as a library of its own, with what it uses of the runtime inside. It
# shows `zyxBundledDevices` alone (lib/Runtime/Devices/Stream/Bundled.h).
function(add_zyx_bundled name)
  set(runtime ${PROJECT_SOURCE_DIR}/lib/Runtime)
  add_library(${name} MODULE ${ARGN} ${runtime}/DeviceFacts.cpp ${runtime}/Devices/Stream/DriverLibrary.cpp
    ${runtime}/Devices/Stream/QueueBackend.cpp ${runtime}/Devices/Stream/Refusals.cpp)
  zyx_compile_flags(${name})
  target_compile_definitions(${name} PRIVATE ZYX_VERSION="${PROJECT_VERSION}")
  target_compile_options(${name} PRIVATE -Os -ffunction-sections -fdata-sections)
  target_link_options(${name} PRIVATE LINKER:--gc-sections LINKER:--exclude-libs,ALL)
  # What it lacks of the runtime is told here, and not where it is loaded.
  if(NOT ZYX_SANITIZE)
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_link_libraries(${name} PRIVATE ZyxBase ${CMAKE_DL_LIBS})
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# add_zyx_unittest(BaseTests A.cpp LINK ZyxBase): one GoogleTest program per room.
function(add_zyx_unittest name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  zyx_compile_flags(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/unit)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock)
  if(ARG_MLIR)
    zyx_use_mlir(${name})
    target_compile_options(${name} PRIVATE -fno-exceptions)
    zyx_reuse(${name} ZyxLLVMPrecompiled)
  else()
    zyx_reuse(${name} ZyxTestPrecompiled)
  endif()
  # A test compiles what it runs, and runs it on cpu where it names no device, whatever the user's configuration is.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
                       PROPERTIES ENVIRONMENT "ZYX_CACHE_DIR=off;ZYX_DEVICE=cpu"
                                  ENVIRONMENT_MODIFICATION XDG_CONFIG_HOME=set:/nonexistent)
endfunction()
