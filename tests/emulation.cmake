# SPDX-License-Identifier: Apache-2.0
# What a cross build leaves out of its tests, because user-mode emulation (qemu 7.2) cannot do it; all else runs.
#   weft_leave_out(PROGRAM REASON PATTERN...)   cases of a program of GoogleTest
function(weft_leave_out program reason)
  if(CMAKE_CROSSCOMPILING)
    list(JOIN ARGN ":" patterns)
    set_property(GLOBAL APPEND PROPERTY weft_left_out_${program} ${patterns})
  endif()
endfunction()

# Whole folders of programs: what tests/hardening shows (forks with threads, limits, quotas, signals, preloading) is the
# kernel's part, which qemu plays itself.
set(weft_folders_left_out)
if(CMAKE_CROSSCOMPILING)
  set(weft_folders_left_out weft_hardening)
endif()

# The filter that leaves them out; empty where there is nothing to leave out.
function(weft_filter_of program filter)
  get_property(patterns GLOBAL PROPERTY weft_left_out_${program})
  list(JOIN patterns ":" patterns)
  if(patterns)
    set(patterns "--gtest_filter=-${patterns}")
  endif()
  set(${filter} "${patterns}" PARENT_SCOPE)
endfunction()

weft_leave_out(weft_unit_base "qemu adds a line of its own to what a program says before it aborts, and these compare all of it"
  log_death.fatal_says_why_and_aborts log_death.fatal_adds_what_the_context_knows
  log_death.a_context_that_fails_itself_ends_the_program_all_the_same)
weft_leave_out(weft_unit_api "qemu itself aborts when the child of a process with threads starts threads (qemu_plugin_vcpu_init_hook)"
  fork.the_child_of_a_process_that_has_used_weft_can_use_it
  counters.of_a_parent_are_read_by_its_child_and_are_not_its_own modes/managers.the_child_of_a_fork_has_managers_of_its_own/*
  service.works_in_a_forked_child_although_a_worker_polled_at_the_fork
  poll_points.of_the_timer_is_called_in_a_forked_child)
weft_leave_out(weft_unit_tool "the command becomes the program, or starts another reader, by exec, which the kernel does not do for another machine; signals end the emulator"
  counter_tools.run_prints_counters_at_intervals_and_at_the_end reports.run_report_writes_the_page_and_gives_the_status_of_the_program
  counter_tools.tell_that_a_program_has_ended_or_crashed_while_they_watched_it traces.exporters_write_what_their_readers_expect
  traces.run_writes_a_trace_of_the_level_that_is_asked_for reports.a_time_limit_makes_a_program_that_hangs_say_so)
weft_leave_out(weft_unit_tool "a failed exec after vfork is lost: qemu makes a fork of it, and posix_spawn reports success"
  weft_seeds.a_program_that_cannot_be_run_is_reported_once)
weft_leave_out(weft_unit_mem "as for weft_unit_base: they want a program to die without a word"
  fault_chain_death_test.without_a_handler_the_program_ends_by_the_signal_and_weft_says_nothing
  fault_chain_death_test.a_bus_error_ends_the_program_as_a_bus_error
  fault_chain_death_test.a_signal_that_was_sent_ends_the_program_too
  fault_chain_death_test.a_fault_of_an_instruction_cannot_be_ignored
  fault_chain_death_test.handlers_that_call_each_other_come_to_an_end
  fault_chain_death_test.a_handler_for_one_time_is_called_one_time
  fault_chain_death_test.a_fault_inside_the_handler_ends_the_program)
set(weft_no_guards "qemu answers every madvise with success and does nothing: stacks have no guard made by MADV_GUARD_INSTALL")
weft_leave_out(weft_unit_mem "${weft_no_guards}" overflow_death_test.* stack_pool_death_test.a_write_into_the_guard_ends_the_program)
weft_leave_out(weft_conformance "${weft_no_guards}"
  overflow.names_the_label_the_size_and_the_setting overflow.of_a_task_without_label_names_where_it_was_spawned
  overflow.of_a_task_with_a_stack_of_its_own_names_that_size)
weft_leave_out(weft_unit_mem "RLIMIT_AS would bind the emulator itself, so qemu ignores it"
  stack_pool_death_test.no_address_space_gives_null)
