# The target _zyx, without the libraries of C++ under it. From Python 3.12 on it is of the stable ABI, of which nanobind
# asks for a target. CMake makes it since 3.26; on Linux it is the headers alone.
if(NOT TARGET Python::SABIModule AND UNIX AND NOT APPLE AND Python_VERSION VERSION_GREATER_EQUAL 3.12)
  add_library(Python::SABIModule INTERFACE IMPORTED)
  target_include_directories(Python::SABIModule INTERFACE ${Python_INCLUDE_DIRS})
endif()
set(sources Array Artifacts Functions Memory Module Modules Programs Texts Transforms)
list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/src/)
list(TRANSFORM sources APPEND .cpp)
nanobind_add_module(_zyx NB_STATIC STABLE_ABI NOMINSIZE NB_SUPPRESS_WARNINGS ${sources})
# The wheel has the compiler beside the extension.
set_target_properties(_zyx PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH OFF)
foreach(library IN ITEMS nanobind-static nanobind-static-abi3)
  if(TARGET ${library})
    # Its sources are not ours to keep free of warnings.
    target_compile_options(${library} PRIVATE -w)
  endif()
endforeach()
