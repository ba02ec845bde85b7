# What `cmake --install` adds for find_package(Zyx), and what `cpack` makes: one archive with copies
# of all libraries beside libc. utils/package.sh calls it.
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Zyx)
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
