# SPDX-License-Identifier: Apache-2.0
# The result of a task must not depend on the policy that orders it: the cases of the public
# interface run under every policy with 1, 2 and 8 workers, and under every system of dependencies;
# each pair of two values comes up. Nor may it depend on the thread that applies its dependency
# work.
set(weft_policies stealing delegated local-fifo central)
set(weft_deps_systems wait-free locks regions)
# Regions keep commutative and reducing tasks in the order of their creation, reduce in place: for
# them both are inout (docs/user/regions.md).
string(CONCAT weft_not_of_regions "deps_check.names_objects_of_different_addresses_that_overlap:deps_check.names_objects_of_c_that_say_their_size:" # they are ordered there
  "deps_check.names_a_child_that_does_not_take_turns_below_one_that_has_none:"
  "commutative.a_task_that_is_ready_overtakes_one_that_is_not:"
  "commutative.independent_pairs_run_at_once_whatever_stands_between_them:"
  "reduction.begins_with_the_identity_that_was_given:reduction.children_add_to_the_copies_of_their_parents_reduction:"
  "reduction.an_exception_of_the_operation_is_a_failing_child:reduction.an_operation_*:deferred.stays_so_where_the_operation_*:reduction.tasks_run_at_once:"
  "taskiter.refuses_regions_beside_what_it_reduces_itself:taskiter.branches_of_reducing_tasks_add_to_copies:taskiter.reducing_tasks_run_at_once:taskiter.a_failing_operation_fails_the_loop:taskiter.an_operation_of_a_round_must_not_wait:"
  "reduction.branches_of_a_join_add_up:" # in place, by both at once
  "release.of_a_weak_access_holds_no_child_that_comes_later:" # a released region still orders children that come later
  "nesting.a_reading_child_does_not_hold_back_a_reader_behind_*:nesting.readers_below_readers_*:release.above_a_child_that_reads_*:" # readers wait for readers there
  "region.of_children_stay_inside_of_the_objects_that_their_parent_names:" # they touch more than the parent's first element
  "manager_modes.the_counters_see_*:manager_modes.messages_are_counted_*:manager_modes.managers_are_no_service_*") # nothing is posted
# Sanitizers are slow: there each of the others has one number of workers.
macro(weft_is_left_out turn result)
  math(EXPR ${result} "(${turn} / 3 + ${turn}) % 3")
  if(NOT WEFT_SANITIZE)
    set(${result} 0)
  endif()
endmacro()
set(index 0)
foreach(policy IN LISTS weft_policies)
  foreach(workers 1 2 8)
    weft_is_left_out(${index} left_out)
    if(left_out AND NOT policy STREQUAL "stealing")
      math(EXPR index "${index} + 1")
      continue()
    endif()
    math(EXPR system "(${index} / 3 + ${index}) % 3")
    list(GET weft_deps_systems ${system} deps)
    math(EXPR backlog "${workers} * ${workers} / 4") # everything is posted; little; all but what is more than enough
    foreach(program weft_unit_api weft_conformance)
      if(TARGET ${program})
        set(name ${program}_${policy}_${workers})
        set(filter "-every_setting.*") # those choose their own
        if(deps STREQUAL "regions")
          string(APPEND filter ":${weft_not_of_regions}")
        endif()
        set(label stress) # each policy once in make test, the default one with each number of workers
        if("${policy}_${workers}" MATCHES "^(stealing_.*|delegated_2|local-fifo_8|central_1)$")
          set(label unit)
        endif()
        weft_add_test(${name} ${label} 600 ${program} --gtest_filter=${filter})
        set_tests_properties(${name} PROPERTIES ENVIRONMENT
          "${weft_test_environment};WEFT_SCHED_POLICY=${policy};WEFT_WORKERS=${workers};WEFT_DEPS_SYSTEM=${deps}")
      endif()
    endforeach()
    math(EXPR index "${index} + 1")
  endforeach()
endforeach()
# One ready queue and lock per node, as on a machine of two.
foreach(program weft_unit_api weft_conformance)
  if(TARGET ${program})
    set(label stress)
    if(program STREQUAL "weft_unit_api")
      set(label unit)
    endif()
    weft_add_test(${program}_delegated_two_locks ${label} 600 ${program} --gtest_filter=-every_setting.*)
    set_tests_properties(${program}_delegated_two_locks PROPERTIES ENVIRONMENT
      "${weft_test_environment};WEFT_SCHED_POLICY=delegated;WEFT_SCHED_LOCK_QUEUES=2;WEFT_WORKERS=4")
  endif()
endforeach()
set(index 0)
# A posted task counts as one that waits, and is no immediate successor.
string(CONCAT weft_not_of_managers "counters.tell_tasks_that_waited_for_data_from_those_that_did_not:spawn.an_immediate_successor_*"
  ":wait_in_place.runs_a_task_whose_data_is_free") # posted: its accesses are entered later
# What a manager's thread makes ready comes when it comes, and onready is called by it.
set(weft_not_of_central ":spawn.every_policy_runs_the_higher_priority_first:spawn.onready_sees_its_task_and_what_it_spawns_are_its_children")
set(weft_not_of_hybrid ${weft_not_of_central})
# The mode at that moment says whether the creator knows that its accesses are free.
string(CONCAT weft_not_of_auto ":in_place.a_handle_is_ready_when_the_spawn_returns:in_place.clauses_that_ask_for_more_keep_a_task_apart"
  ":in_place.a_task_whose_data_is_in_use_is_spawned_apart:in_place.the_weak_accesses_of_the_creator_hold_tasks_back")
foreach(mode distributed central hybrid auto)
  foreach(workers 1 2 8)
    weft_is_left_out(${index} left_out)
    if(left_out AND NOT mode STREQUAL "distributed")
      math(EXPR index "${index} + 1")
      continue()
    endif()
    math(EXPR which "${index} % 4")
    math(EXPR system "(${index} + ${index} / 4) % 2")
    list(GET weft_policies ${which} policy)
    list(GET weft_deps_systems ${system} deps)
    math(EXPR backlog "${workers} * ${workers} / 4") # everything is posted; little; all but what is more than enough
    foreach(program weft_unit_api weft_conformance)
      if(TARGET ${program})
        set(name ${program}_managed_${mode}_${workers})
        set(label stress) # each mode once in make test
        if(program STREQUAL "weft_unit_api" AND "${mode}_${workers}" MATCHES "^(distributed_2|central_8|hybrid_1|auto_2)$")
          set(label unit)
        endif()
        weft_add_test(${name} ${label} 600 ${program} --gtest_filter=-every_setting.*:*manager*:${weft_not_of_managers}${weft_not_of_${mode}})
        set_tests_properties(${name} PROPERTIES ENVIRONMENT
          "${weft_test_environment};WEFT_MANAGE_MODE=${mode};WEFT_MANAGE_BACKLOG=${backlog};WEFT_SCHED_POLICY=${policy};WEFT_WORKERS=${workers};WEFT_DEPS_SYSTEM=${deps}")
      endif()
    endforeach()
    math(EXPR index "${index} + 1")
  endforeach()
endforeach()
# What a hang looks like does not depend on it either.
if(TARGET weft_unit_worker)
  foreach(mode distributed central hybrid auto)
    set(label stress)
    if(mode STREQUAL "distributed")
      set(label unit)
    endif()
    weft_add_test(weft_unit_worker_managed_${mode} ${label} 300 weft_unit_worker --gtest_filter=corpus*)
    set_tests_properties(weft_unit_worker_managed_${mode} PROPERTIES ENVIRONMENT "${weft_test_environment};WEFT_MANAGE_MODE=${mode};WEFT_MANAGE_BACKLOG=0")
  endforeach()
endif()
# Nor may a result depend on what a waiter does meanwhile (wait.policy), nor what a hang looks like.
# A waiter that sleeps goes on before the spare that has run its child notes the child's time. The first thread sleeps in its wait, as a worker. What spares run counts for no worker of the first ids.
string(CONCAT weft_not_of_sleep ":counters.exact_time_knows_*:runtime.after_shutdown_the_totals_can_be_read"
  ":async.async_or_deferred_is_deferred_while_no_worker_sleeps")
foreach(run IN ITEMS "suspend stealing 1 direct" "suspend central 8 direct" "suspend stealing 2 distributed" "sleep stealing 2 direct"
        "sleep delegated 1 direct" "sleep local-fifo 8 direct" "sleep stealing 2 distributed" "sleep central 2 central" "sleep stealing 1 hybrid"
        "sleep stealing 8 auto")
  separate_arguments(words UNIX_COMMAND "${run}")
  list(GET words 0 waits)
  list(GET words 1 policy)
  list(GET words 2 workers)
  list(GET words 3 mode)
  set(filter "-every_setting.*${weft_not_of_${waits}}")
  set(backlog)
  if(NOT mode STREQUAL "direct")
    set(backlog ";WEFT_MANAGE_BACKLOG=0")
    string(APPEND filter ":*manager*:${weft_not_of_managers}${weft_not_of_${mode}}")
  endif()
  foreach(program weft_unit_api weft_conformance)
    if(TARGET ${program})
      set(name ${program}_waits_${waits}_${mode}_${workers})
      set(label stress) # one in make test
      if(program STREQUAL "weft_unit_api" AND run STREQUAL "sleep stealing 2 direct")
        set(label unit)
      endif()
      weft_add_test(${name} ${label} 600 ${program} --gtest_filter=${filter})
      set_tests_properties(${name} PROPERTIES ENVIRONMENT
        "${weft_test_environment};WEFT_WAIT_POLICY=${waits};WEFT_SCHED_POLICY=${policy};WEFT_WORKERS=${workers};WEFT_MANAGE_MODE=${mode}${backlog}")
    endif()
  endforeach()
endforeach()
if(TARGET weft_unit_worker)
  foreach(run IN ITEMS "suspend direct" "sleep direct" "sleep distributed" "sleep central")
    separate_arguments(words UNIX_COMMAND "${run}")
    list(GET words 0 waits)
    list(GET words 1 mode)
    set(name weft_unit_worker_waits_${waits}_${mode})
    weft_add_test(${name} stress 300 weft_unit_worker --gtest_filter=corpus*)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "${weft_test_environment};WEFT_WAIT_POLICY=${waits};WEFT_MANAGE_MODE=${mode};WEFT_MANAGE_BACKLOG=0")
  endforeach()
endif()
