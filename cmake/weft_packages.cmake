# SPDX-License-Identifier: Apache-2.0
# Debian's packages, by CPack: `make packages`. tests/packages/run installs them on a bare system and uses them.
if(NOT WEFT_INSTALL OR NOT WEFT_SHARED OR NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "WEFT_PACKAGES needs the shared library, and CMAKE_INSTALL_PREFIX=/usr; `make packages` sets what is needed")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "Weft")
set(CPACK_PACKAGE_CONTACT "Weft maintainers <maintainers@weft.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "task-parallel runtime")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF) # the packages of debug symbols take them out of the files
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib ${PROJECT_BINARY_DIR}/lib/weft-omp)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(weft_same "(= ${PROJECT_VERSION}-1)")

set(CPACK_COMPONENTS_ALL)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/debian)
string(TIMESTAMP weft_date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, where that is set
file(WRITE ${PROJECT_BINARY_DIR}/debian/changelog
  "weft (${PROJECT_VERSION}-1) unstable; urgency=medium\n\n  * Version ${PROJECT_VERSION}; CHANGELOG.md of the sources has what is new.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${weft_date}\n")
execute_process(COMMAND gzip -9 -n -k -f ${PROJECT_BINARY_DIR}/debian/changelog COMMAND_ERROR_IS_FATAL ANY)

# weft_package(GROUP NAME SECTION DEPENDS TITLE TEXT COMPONENT...): one package of the components.
function(weft_package group name section depends title text)
  string(TOUPPER ${group} upper)
  foreach(component ${ARGN})
    string(TOUPPER ${component} upper_component)
    set(CPACK_COMPONENT_${upper_component}_GROUP ${group} PARENT_SCOPE)
    list(APPEND components ${component})
  endforeach()
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${components} PARENT_SCOPE)
  set(CPACK_COMPONENT_GROUP_${upper}_DESCRIPTION "${title}\n${text}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${title}\n${text}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DEBUGINFO_PACKAGE ON PARENT_SCOPE)
  list(GET ARGN 0 first)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright DESTINATION share/doc/${name} COMPONENT ${first})
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz DESTINATION share/doc/${name} RENAME changelog.Debian.gz COMPONENT ${first})
  if(EXISTS ${PROJECT_SOURCE_DIR}/packaging/debian/${group}.lintian-overrides)
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/${group}.lintian-overrides DESTINATION share/lintian/overrides
      RENAME ${name} COMPONENT ${first})
  endif()
endfunction()

# weft_libraries(GROUP NAME TARGET...): what other packages need to depend on these libraries, and the loader's cache.
function(weft_libraries upper name)
  set(folder ${PROJECT_BINARY_DIR}/debian/${name})
  file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
  set(control ${folder}/triggers)
  set(lines "")
  foreach(target ${ARGN})
    if(TARGET ${target})
      string(APPEND lines "lib${target} ${weft_abi} ${name} (>= ${PROJECT_VERSION})\n")
    endif()
  endforeach()
  if(lines)
    file(WRITE ${folder}/shlibs "${lines}")
    list(APPEND control ${folder}/shlibs)
  endif()
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${control}" PARENT_SCOPE)
endfunction()

weft_package(library libweft${weft_abi} libs ""
  "task-parallel runtime - libraries"
  "Weft runs a program as tasks on all cores of a machine, in the order that the\n tasks' data demands. This package has the libraries of C++ and C programs, and\n of the interfaces ALPI, GLT, LPF, ranks and Rayon."
  runtime layers)
weft_libraries(LIBRARY libweft${weft_abi} weft weft-threads weft-alpi weft-glt weft-net weft-lpf weft-rayon)
weft_package(omp weft-openmp libs "libweft${weft_abi} ${weft_same}"
  "task-parallel runtime - OpenMP of unmodified programs"
  "Weft's OpenMP for programs of GCC and Clang, in a folder of its own: programs\n get it by `weft run`, and no other program is changed. It runs the jobs of\n OpenBLAS as well."
  omp)
weft_libraries(OMP weft-openmp weft-blas)
weft_package(tbb weft-tbb libs "libweft${weft_abi} ${weft_same}"
  "task-parallel runtime - threads for oneTBB"
  "Gives programs of oneTBB Weft's workers in place of TBB's own threads, by\n `weft run`."
  tbb)
if(TARGET weft-net-ucx)
  weft_package(ucx libweft-net-ucx${weft_abi} libs "libweft${weft_abi} ${weft_same}"
    "task-parallel runtime - ranks over UCX"
    "Carries what ranks of several processes and hosts say to each other."
    ucx)
  weft_libraries(UCX libweft-net-ucx${weft_abi})
endif()
weft_package(tool weft-tools utils "libweft${weft_abi} ${weft_same}"
  "task-parallel runtime - command"
  "The command weft runs programs with settings, shows what they do while they\n run, what hung tasks wait for, and makes pages of traces."
  tool manual)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "weft-openmp, weft-tbb")
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "gdb")
set(dev_depends "libweft${weft_abi} ${weft_same}, weft-openmp ${weft_same}, weft-tbb ${weft_same}, libc6-dev")
weft_package(dev libweft-dev libdevel "${dev_depends}"
  "task-parallel runtime - development files"
  "Headers, the static library, files of CMake and of pkg-config."
  Unspecified)
install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-debug --enable-deterministic-archives
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libweft.a\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT Unspecified)
include(CPack)
