# Run by cpack after everything is installed into CPACK_TEMPORARY_DIRECTORY: adds the libraries that
# programs need and other machines may lack, with their licences, and packs the folder.
find_program(PATCHELF patchelf REQUIRED)
find_program(XZ xz REQUIRED)
find_program(DPKG dpkg-query)
set(root ${CPACK_TEMPORARY_DIRECTORY})
file(GLOB programs ${root}/bin/*)
file(GLOB libraries ${root}/lib/*.so)

# libc and the loader belong to the machine; everything behind them comes along.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs} LIBRARIES ${libraries}
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux" "^libZyx")
if(missing)
  message(FATAL_ERROR "libraries that are not found: ${missing}")
endif()
foreach(library IN LISTS found)
  file(COPY ${library} DESTINATION ${root}/lib FOLLOW_SYMLINK_CHAIN)
endforeach()
# One real file per library, under the name by which it is looked up.
foreach(library IN LISTS found)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${root}/lib/${name} real)
  if(NOT real STREQUAL ${root}/lib/${name})
    file(REMOVE ${root}/lib/${name})
    file(RENAME ${real} ${root}/lib/${name})
  endif()
  execute_process(COMMAND ${PATCHELF} --set-rpath "$ORIGIN" ${root}/lib/${name}
    COMMAND_ERROR_IS_FATAL ANY)
  if(DPKG)
    file(REAL_PATH ${library} origin)
    # Where /lib is a link to /usr/lib, packages may have either name.
    string(REGEX REPLACE "^/usr/lib/" "/lib/" other ${origin})
    execute_process(COMMAND ${DPKG} -S ${origin} ${other} OUTPUT_VARIABLE owner ERROR_QUIET)
    string(REGEX REPLACE "[:,].*" "" owner "${owner}")
    if(owner AND EXISTS /usr/share/doc/${owner}/copyright)
      configure_file(/usr/share/doc/${owner}/copyright ${root}/share/doc/Zyx/licences/${owner} COPYONLY)
    endif()
  endif()
endforeach()
# Symbolic links whose file has moved.
file(GLOB leftovers ${root}/lib/lib*.so*)
foreach(link IN LISTS leftovers)
  if(IS_SYMLINK ${link} AND NOT EXISTS ${link})
    file(REMOVE ${link})
  endif()
endforeach()
# Nothing outside of the archive, apart from libc, is looked for.
foreach(program IN LISTS programs)
  execute_process(COMMAND ${PATCHELF} --set-rpath "$ORIGIN/../lib" ${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(library IN LISTS libraries)
  if(NOT IS_SYMLINK ${library})
    execute_process(COMMAND ${PATCHELF} --set-rpath "$ORIGIN" ${library} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

set(archive ${CPACK_PACKAGE_DIRECTORY}/${CPACK_PACKAGE_FILE_NAME}.tar.xz)
get_filename_component(parent ${root} DIRECTORY)
get_filename_component(folder ${root} NAME)
set(filter --x86)
if(NOT CPACK_PACKAGE_FILE_NAME MATCHES "x86_64$")
  set(filter)
endif()
execute_process(
  COMMAND tar -C ${parent} --sort=name --owner=0 --group=0 --numeric-owner
    --transform "s,^${folder},${CPACK_PACKAGE_FILE_NAME}," -cf - ${folder}
  COMMAND ${XZ} -T1 ${filter} --lzma2=preset=9e,dict=256MiB -c
  OUTPUT_FILE ${archive} COMMAND_ERROR_IS_FATAL ANY)
set(CPACK_EXTERNAL_BUILT_PACKAGES ${archive})
