# What `cmake --install` adds for find_package(Zyx), and what `cpack` makes: one archive with copies
# of all libraries beside libc. utils/package.sh calls it.
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Zyx)

# Tensors are for programs of C++: static libraries of an export set of its own, so that programs of C
# need not have what these link.
set(rooms Base TargetInfo Graph Reference IO Artifact Session Tensor Optim NN)
foreach(room IN LISTS rooms)
  set_target_properties(Zyx${room} PROPERTIES EXPORT_NAME ${room})
endforeach()
# Zyx::Runtime is the shared library.
set_target_properties(ZyxRuntime PROPERTIES EXPORT_NAME RuntimeArchive)
list(TRANSFORM rooms PREPEND Zyx OUTPUT_VARIABLE archives)
target_compile_features(ZyxBase INTERFACE cxx_std_20)
# What a program needs that includes zyx/zyx.h. Those below tensors: Zyx::Session compiles and runs, Zyx::RuntimeArchive
# runs, Zyx::Artifact reads and writes what was compiled.
add_library(ZyxTensors INTERFACE)
target_link_libraries(ZyxTensors INTERFACE ZyxNN ZyxOptim ZyxTensor)
set_target_properties(ZyxTensors PROPERTIES EXPORT_NAME Tensors)
install(TARGETS ${archives} ZyxRuntime ZyxTensors EXPORT ZyxTensorsTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ZyxTensorsTargets NAMESPACE Zyx:: DESTINATION ${folder})
# For python/stable.
export(EXPORT ZyxTensorsTargets NAMESPACE Zyx:: FILE ${PROJECT_BINARY_DIR}/cmake/ZyxTensorsBuild.cmake)
foreach(room IN ITEMS Base Graph IO Artifact Runtime Session Tensor Optim NN)
  install(DIRECTORY include/zyx/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zyx
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/Version.h.in ${PROJECT_BINARY_DIR}/include/zyx/Version.h @ONLY)
install(FILES include/zyx/zyx.h ${PROJECT_BINARY_DIR}/include/zyx/Version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zyx)
install(EXPORT ZyxTargets NAMESPACE Zyx:: DESTINATION ${folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ZyxConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/ZyxConfig.cmake INSTALL_DESTINATION ${folder})
# Before 1.0 each minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/ZyxConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/ZyxConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/ZyxConfigVersion.cmake DESTINATION ${folder})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES examples/digits-knn.mlir examples/digits.safetensors examples/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

set(CPACK_PACKAGE_NAME zyx)
set(CPACK_PACKAGE_FILE_NAME zyx-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_VENDOR zyx)
set(CPACK_STRIP_FILES ON)
# CPack's own archives compress a tenth worse than xz with its filter for machine code.
set(CPACK_GENERATOR External)
set(CPACK_EXTERNAL_ENABLE_STAGING ON)
set(CPACK_EXTERNAL_PACKAGE_SCRIPT ${PROJECT_SOURCE_DIR}/cmake/PackArchive.cmake)
include(CPack)
