# SPDX-License-Identifier: Apache-2.0
"""Conan 2: `conan create packaging/conan -s compiler.cppstd=20` packages the tree around this file."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Weft(ConanFile):
    name = "weft"
    description = "A task-parallel runtime: data-flow tasks on lightweight threads"
    license = "Apache-2.0"
    topics = ("parallel", "tasks", "openmp", "runtime")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._tree(), "include/weft/version.hpp"))
        self.version = re.search(r'WEFT_VERSION_STRING "([0-9.]+)"', text)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "abi/*", "cmake/*", "common/*", "include/*", "layers/*", "src/*"):
            copy(self, pattern, self._tree(), self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Weft needs Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["WEFT_SHARED"] = bool(self.options.shared)
        toolchain.variables["WEFT_INSTALL"] = True
        for part in ("ALPI", "BENCH", "EXAMPLES", "GLT", "LPF", "MPI", "NET", "OMP", "OSS", "POOLS", "PYTHON", "RAYON", "TBB", "TESTS", "TOOLS"):
            toolchain.variables["WEFT_" + part] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "weft")
        self.cpp_info.set_property("cmake_target_name", "weft::weft")
        self.cpp_info.set_property("pkg_config_name", "weft")
        self.cpp_info.libs = ["weft"]
        self.cpp_info.cxxflags = ["-fstack-clash-protection"]
        self.cpp_info.system_libs = ["pthread"] if self.options.shared else ["pthread", "m"]
