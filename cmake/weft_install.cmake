# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts into a prefix. Nothing installed names the source, the build or the prefix: the tree
# may be moved.
include(CMakePackageConfigHelpers)

set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
set(weft_config_find_boost "")
if(weft_arch STREQUAL "generic")
  set(weft_config_find_boost "find_dependency(Boost COMPONENTS context)")
endif()

install(TARGETS weft weft-static weft-pstl EXPORT weftTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
if(TARGET weft-stayed)
  install(TARGETS weft-stayed weft-stayed-tbb LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET weft-locks)
  install(TARGETS weft-locks LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET weft-tool)
  install(TARGETS weft-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
if(TARGET weft-rayon)
  configure_file(${PROJECT_SOURCE_DIR}/layers/rayon/weft-rayon.pc.in ${PROJECT_BINARY_DIR}/weft-rayon.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-rayon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET weft-glt)
  configure_file(${PROJECT_SOURCE_DIR}/layers/glt/weft-glt.pc.in ${PROJECT_BINARY_DIR}/weft-glt.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/weft-glt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
