# SPDX-License-Identifier: Apache-2.0
"""Spack: not tested. The archive is that of `make dist`; its hash is printed there."""

from spack.package import *


class Weft(CMakePackage):
    """A task-parallel runtime: data-flow tasks on lightweight threads."""

    # spack versions take a file: `spack install weft` finds weft-0.2.0.tar.gz in a mirror or in this folder.
    license("Apache-2.0")
    version("0.2.0")

    variant("shared", default=True, description="the shared library, and the doors that need it")
    variant("tools", default=True, description="the command weft")
    variant("openmp", default=True, description="OpenMP of unmodified programs")
    variant("tbb", default=True, description="threads for oneTBB")
    variant("ucx", default=False, description="ranks of several processes")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("ucx@1.12:", when="+ucx")
    conflicts("platform=darwin")
    conflicts("platform=windows")
    conflicts("%gcc@:10", msg="Weft needs C++20")
    conflicts("+openmp", when="~shared")
    conflicts("+tbb", when="~shared")

    def cmake_args(self):
        made = [self.define("WEFT_" + part, False) for part in ("BENCH", "EXAMPLES", "MPI", "OSS", "PYTHON", "TESTS")]
        return made + [
            self.define_from_variant("WEFT_SHARED", "shared"),
            self.define_from_variant("WEFT_TOOLS", "tools"),
            self.define_from_variant("WEFT_OMP", "openmp"),
            self.define_from_variant("WEFT_TBB", "tbb"),
            self.define_from_variant("WEFT_NET", "ucx"),
        ]
