# SPDX-License-Identifier: Apache-2.0
# An overlay port; not tested. The archive is that of `make dist`, beside this file or in the folder of downloads.
set(archive "weft-${VERSION}.tar.gz")
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${CMAKE_CURRENT_LIST_DIR}/${archive}")
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" shared)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS
  -DWEFT_SHARED=${shared} -DWEFT_INSTALL=ON -DWEFT_ALPI=OFF -DWEFT_BENCH=OFF -DWEFT_EXAMPLES=OFF -DWEFT_GLT=OFF -DWEFT_LPF=OFF
  -DWEFT_MPI=OFF -DWEFT_NET=OFF -DWEFT_OMP=OFF -DWEFT_OSS=OFF -DWEFT_POOLS=OFF -DWEFT_PYTHON=OFF -DWEFT_RAYON=OFF -DWEFT_TBB=OFF
  -DWEFT_TESTS=OFF -DWEFT_TOOLS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/weft)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
