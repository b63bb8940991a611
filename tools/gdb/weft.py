# SPDX-License-Identifier: Apache-2.0
"""Suspended tasks in gdb, of a running program and of a core file.

    weft tasks      every suspended stack: its task, and what it waits for
    weft bt N       the backtrace of one of them; `weft bt` of all

libweft must have its debug information.
"""
import re

import gdb
import gdb.unwinder

RT = "weft::v0::rt::"
ANON = RT + "(anonymous namespace)::"
# Where context.S saves the registers that a callee must keep: offsets from the stack pointer of a
# suspended context, and the size of the whole.
LAYOUTS = {
    "i386:x86-64": ({"r12": 8, "r13": 16, "r14": 24, "r15": 32, "rbx": 40, "rbp": 48, "rip": 56}, 64, "rsp", "rip"),
    "aarch64": (dict([("x%d" % n, 64 + 8 * (n - 19)) for n in range(19, 31)] + [("pc", 152)]), 176, "sp", "pc"),
}
WHY = ["", "its children", "a group", "the end of a task", "the start of a task", "unblock", "a lock", "a branch of a join", "functions"]


def value(text):
    return gdb.parse_and_eval(text)


def variable(name):
    symbol = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    if symbol is None:
        raise gdb.GdbError(name + " is not known: libweft has no debug information, or the program does not use it")
    return symbol.value()


def pointer_to(address, type_name):
    return gdb.Value(address).cast(gdb.lookup_type(type_name).pointer())


def pool_frames():
    """Yields frames that are on stacks of the pool."""
    mappings, count = variable(ANON + "g_mappings"), int(variable(ANON + "g_mapping_count")["_M_i"])
    descriptor = int(variable(ANON + "k_descriptor_bytes"))
    root_type = RT + "stack_root"
    root_bytes = gdb.lookup_type(root_type).sizeof
    for i in range(count):
        low, stride, size = (int(mappings[i][f]) for f in ("low", "stride", "bytes"))
        for end in range(low + stride, low + size + 1, stride):
            stack = pointer_to(end - descriptor, RT + "stack")
            if int(stack["low"]) == 0:
                continue
            root = (int(stack["low"]) + int(stack["bytes"]) - root_bytes) & ~63
            frame = pointer_to(root, root_type)["suspended"]
            if int(frame):
                yield frame


def thread_frames():
    """Yields frames that are on threads' own stacks."""
    runtime = variable(RT + "g_runtime")
    if int(runtime) == 0:
        return
    runtime = runtime.dereference()
    for i in range(int(runtime["used_slots"]["_M_i"])):
        worker = runtime["slots"][i]["_M_b"]["_M_p"]
        if int(worker) and int(worker["suspended"]):
            yield worker["suspended"]


def frames():
    return [f for f in list(thread_frames()) + list(pool_frames()) if int(f["current"])]


def describe(frame):
    task = frame["current"].dereference()
    label = task["label"]
    name = label.string() if int(label) else "task"
    why = int(frame["why"]["what"])
    return "'%s' waits for %s" % (name, WHY[why] if 0 < why < len(WHY) else "something")


class suspended_unwinder(gdb.unwinder.Unwinder):
    """Makes the suspended frame the caller of the innermost frame, while it is armed."""

    def __init__(self):
        super().__init__("weft")
        self.sp = None

    def __call__(self, pending):
        if self.sp is None or pending.level() != 0:
            return None
        registers, size, sp, pc = LAYOUTS[pending.architecture().name()]
        word = gdb.lookup_type("unsigned long")
        info = pending.create_unwind_info(gdb.unwinder.FrameId(gdb.Value(self.sp).cast(word), pending.read_register(pc)))
        for name, offset in registers.items():
            info.add_saved_register(name, gdb.Value(self.sp + offset).cast(word.pointer()).dereference())
        info.add_saved_register(sp, gdb.Value(self.sp + size).cast(word))
        return info


try:
    from gdb.unwinder import FrameId  # gdb 14
except ImportError:
    class FrameId:
        def __init__(self, sp, pc):
            self.sp, self.pc = sp, pc
    gdb.unwinder.FrameId = FrameId

UNWINDER = suspended_unwinder()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)


def backtrace(frame):
    UNWINDER.sp = int(frame["state"]["sp"])
    gdb.invalidate_cached_frames()
    try:
        return gdb.execute("backtrace", to_string=True)
    finally:
        UNWINDER.sp = None
        gdb.invalidate_cached_frames()


FRAME = re.compile(r"^#\d+\s+(?:0x[0-9a-f]+ in )?(.*)")
OF_RUNTIME = (RT, "weft_context_", "(anonymous namespace)::weft_context_", "weft::v0::detail::")


def without_runtime(lines):
    """Returns the frames of a suspended task, from the program's call that waits on: the frames of the switch tell nothing."""
    for n, line in enumerate(lines):
        frame = FRAME.match(line)
        if frame and not frame.group(1).startswith(OF_RUNTIME):
            return lines[n:]
    return lines


class weft_prefix(gdb.Command):
    """Suspended tasks of Weft."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STACK, prefix=True)


class weft_tasks(gdb.Command):
    """Every suspended stack: its task, and what it waits for."""

    def __init__(self):
        super().__init__("weft tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        all_frames = frames()
        for n, frame in enumerate(all_frames):
            print("%d  %s" % (n, describe(frame)))
        if not all_frames:
            print("no task is suspended")


class weft_bt(gdb.Command):
    """weft bt [N]: the backtrace of a suspended task, or of all."""

    def __init__(self):
        super().__init__("weft bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        all_frames = frames()
        chosen = [int(argument)] if argument else range(len(all_frames))
        if gdb.selected_frame().architecture().name() not in LAYOUTS:
            raise gdb.GdbError("backtraces of suspended tasks are known for x86-64 and AArch64 only")
        for n in chosen:
            if not 0 <= n < len(all_frames):
                raise gdb.GdbError("there are %d suspended tasks, from 0" % len(all_frames))
            print("%d  %s" % (n, describe(all_frames[n])))
            lines = backtrace(all_frames[n]).splitlines()[1:]  # the first is the thread's own frame
            print("\n".join("   " + line for line in without_runtime(lines)))


weft_prefix()
weft_tasks()
weft_bt()
