# SPDX-License-Identifier: Apache-2.0
"""The suite's programs with ThreadSanitizer, and which of them are excluded.

GCC compiles the programs, and Clang 19 links them, as it has linked the layer, because a process has one runtime of the sanitizer. The programs export all of its
symbols: otherwise they would call the C++ library's own functions where the sanitizer intercepts them."""
import os
import re
import subprocess

LINKERS = {"c": "clang-19", "c++": "clang++-19", "fortran": "clang-19"}
LIBRARIES = {"c": [], "c++": [], "fortran": ["-lgfortran", "-lquadmath"]}
# The Fortran library takes its own locks in two orders, in one thread, so the sanitizer does not
# check lock orders.
PAIR = "TSAN_OPTIONS=halt_on_error=1 die_after_fork=0 report_thread_leaks=0 allocator_may_return_null=1 detect_deadlocks=0"

# Why a report says nothing about the layer. A name is that of a test or, without a folder, of the
# tests of all languages.
BY_ITSELF = "race by themselves"
OF_COMPILER = "race in what GCC makes of them"
OF_STOCK = "fail on GCC's own runtime, too"
APART = {
    "a.2.1.c": BY_ITSELF,
    "a.18.1.c": BY_ITSELF,
    "a.19.1.c": BY_ITSELF,
    "a.18.1.f90": BY_ITSELF,
    "a.19.1.f90": BY_ITSELF,
    "atomic-3.c": BY_ITSELF, # all write the number of threads to one variable
    "omp-loop03.c": BY_ITSELF, # all write one variable
    "pr35130.c": BY_ITSELF, # inner teams write one variable
    "omp-parallel-if.c": BY_ITSELF, # the same
    "sort-1.c": BY_ITSELF, # looks at the size of a stack that others change
    "declare_target-5.c": BY_ITSELF, # the variable of an inner loop is shared
    "declare_target-5.f90": BY_ITSELF, # the same
    "loop-3.C": BY_ITSELF, # all write one variable
    "parallel-1.C": BY_ITSELF, # the same
    "dummy-procs-1.f90": BY_ITSELF, # the same
    "depend-1.f90": BY_ITSELF, # each thread writes what a task of one of them writes
    "reduction-6.C": BY_ITSELF, # each thread's initializer writes the original variable
    "reduction-8.C": BY_ITSELF, # the same
    "reduction-10.C": BY_ITSELF, # the same
    "reduction-12.C": BY_ITSELF, # the same
    "taskloop-reduction-4.c": BY_ITSELF, # each thread reduces into one variable
    "for-2.c": OF_COMPILER, # each thread writes the variable of a loop that runs no iteration
    "for-5.c": OF_COMPILER, # the same
    "for-8.c": OF_COMPILER, # the same
    "for-11.c": OF_COMPILER, # the same
    "doacross1.f90": OF_COMPILER, # the same
    "doacross2.f90": OF_COMPILER, # the same
    "doacross3.f90": OF_COMPILER, # the same
    "allocate-1.f90": OF_COMPILER, # each thread writes back what its tasks share
    "task-reduction-11.C": OF_COMPILER, # the same
    "task-reduction-13.C": OF_COMPILER, # the same
    "task-reduction-17.C": OF_COMPILER, # the same
    "task-reduction-19.C": OF_COMPILER, # the same
    "target-allocatable-1-1.f90": OF_STOCK,
    "target-allocatable-1-2.f90": OF_STOCK,
    "target-enter-data-2.F90": OF_STOCK,
}


def reason(name):
    """Returns why a test is excluded; empty: it is not."""
    return APART.get(name) or APART.get(os.path.basename(name)) or ""


def build(command, sources, lang, program, work):
    """Builds a program. Returns the compilers' output, which is empty when they built it. `command` compiles the sources in the folder `work`; build() adds options."""
    objects = [os.path.join(work, os.path.basename(s) + ".o") for s in sources] # two may differ in their last letters only
    for file, made in zip(sources, objects):
        done = subprocess.run([*command, "-fsanitize=thread", "-g1", "-foffload=disable", "-fno-lto", "-c", file, "-o", made], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            break
    else:
        done = subprocess.run([LINKERS[lang], "-fsanitize=thread", "-rdynamic", *objects, "-o", program, *(o for o in command if o.startswith("-l")), "-lgomp",
                               *LIBRARIES[lang], "-lm"], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return (done.stdout.decode(errors="replace")[-300:] or "no words") if done.returncode else ""


def report(output):
    """Returns the last line of a report in what a program wrote, or None."""
    if "WARNING: ThreadSanitizer" not in output:
        return None
    last = re.search(r"SUMMARY: ThreadSanitizer: (.*)", output)
    return "reported: " + (last[1] if last else "")
