# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts into a prefix. Nothing installed names the source, the build or the prefix: the tree
# may be moved.
# Components: `runtime` is libweft and what it preloads, `layers` the libraries of the other interfaces, `mpi` and `ucx` those
# that need further libraries, `omp` and `tbb` the doors for unmodified programs, `tool` the command with its pages; all
# others are for building programs (`cmake --install BUILD --component runtime`).
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH weft_package_to_data ${CMAKE_INSTALL_FULL_LIBDIR}/cmake/weft ${CMAKE_INSTALL_FULL_DATADIR}/weft)
set(weft_config_find_boost "")
if(weft_arch STREQUAL "generic")
  set(weft_config_find_boost "find_dependency(Boost COMPONENTS context)")
endif()

install(TARGETS weft weft-static weft-pstl EXPORT weftTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT Unspecified
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
if(TARGET weft-locks)
  install(TARGETS weft-locks LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
if(TARGET weft-tool)
  install(TARGETS weft-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
endif()

# An archive without symbolic links, such as a wheel of Python, holds each library under its SONAME.
if(NOT WEFT_LIBRARY_LINKS)
  foreach(library weft weft-threads weft-omp weft-tbb weft-tcm weft-blas)
    if(TARGET ${library})
      get_target_property(soname_version ${library} SOVERSION)
      set_target_properties(${library} PROPERTIES VERSION ${soname_version})
    endif()
  endforeach()
endif()

install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${weft_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in
  ${PROJECT_BINARY_DIR}/weftConfig.cmake INSTALL_DESTINATION ${weft_package_dir}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
  DESTINATION ${weft_package_dir})

# pkg-config: the prefix is found from the place of the file itself.
file(RELATIVE_PATH weft_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" weft_pc_to_prefix "${weft_pc_to_prefix}")
file(RELATIVE_PATH weft_pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH weft_pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(weft_pc_private "-lstdc++ -lm -pthread") # a C compiler links neither of the first two
if(weft_arch STREQUAL "generic")
  string(PREPEND weft_pc_private "-lboost_context ")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(${PROJECT_SOURCE_DIR}/cmake/weft-pstl.pc.in ${PROJECT_BINARY_DIR}/weft-pstl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft-pstl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET weft-alpi)
  configure_file(${PROJECT_SOURCE_DIR}/layers/alpi/weft-alpi.pc.in ${PROJECT_BINARY_DIR}/weft-alpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-alpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
foreach(mpi ${weft_mpis})
  set(weft_mpi_title "${weft_mpi_title_${mpi}}")
  configure_file(${PROJECT_SOURCE_DIR}/layers/mpi/weft-mpi.pc.in ${PROJECT_BINARY_DIR}/weft-mpi-${mpi}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-mpi-${mpi}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
if(TARGET weft-net)
  configure_file(${PROJECT_SOURCE_DIR}/layers/net/weft-net.pc.in ${PROJECT_BINARY_DIR}/weft-net.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-net.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET weft-lpf)
  configure_file(${PROJECT_SOURCE_DIR}/layers/lpf/weft-lpf.pc.in ${PROJECT_BINARY_DIR}/weft-lpf.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-lpf.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET weft-rayon)
  configure_file(${PROJECT_SOURCE_DIR}/layers/rayon/weft-rayon.pc.in ${PROJECT_BINARY_DIR}/weft-rayon.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-rayon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET weft-glt)
  configure_file(${PROJECT_SOURCE_DIR}/layers/glt/weft-glt.pc.in ${PROJECT_BINARY_DIR}/weft-glt.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-glt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
