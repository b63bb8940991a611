# SPDX-License-Identifier: Apache-2.0
# What a task does must not depend on who orders it: the cases of the public interface run under every policy with 1, 2
# and 8 workers, and under every system of dependencies; each pair of two values comes up.
set(weft_policies stealing delegated local-fifo central)
set(weft_deps_systems wait-free locks regions)
set(index 0)
foreach(policy IN LISTS weft_policies)
  foreach(workers 1 2 8)
    math(EXPR system "(${index} / 3 + ${index}) % 3")
    list(GET weft_deps_systems ${system} deps)
    foreach(program weft_unit_api weft_conformance)
      if(TARGET ${program})
        set(name ${program}_${policy}_${workers})
        weft_add_test(${name} unit 600 ${program} --gtest_filter=-every_setting.*) # those choose their own
        set_tests_properties(${name} PROPERTIES ENVIRONMENT
          "${weft_test_environment};WEFT_SCHED_POLICY=${policy};WEFT_WORKERS=${workers};WEFT_DEPS_SYSTEM=${deps}")
      endif()
    endforeach()
    math(EXPR index "${index} + 1")
  endforeach()
endforeach()
