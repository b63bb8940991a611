# SPDX-License-Identifier: Apache-2.0
"""Tasks: calls that the threads of the runtime make, ordered by the arrays that they name."""

import atexit
import collections
import concurrent.futures
import contextlib
import functools
import importlib.machinery
import importlib.util
import inspect
import itertools
import os
import sys
import threading
import time
import weakref

from weftrt import _native_files

OLDEST = (3, 11)


def _load():
    """Returns the module of the package that holds the tasks."""
    if sys.version_info < OLDEST:
        raise ImportError(
            "weftrt: tasks need Python 3.11 or later, and this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}; weftrt.install() works with it"
        )
    path = _native_files.TASKS
    if _native_files.IS_FREE_THREADED and not path.exists():
        raise ImportError(
            "weftrt: this build has no tasks for a free-threaded Python "
            f"{sys.version_info[0]}.{sys.version_info[1]}: {path} is missing; weftrt.install() works with it"
        )
    loader = importlib.machinery.ExtensionFileLoader("weftrt._tasks", str(path))
    spec = importlib.util.spec_from_file_location("weftrt._tasks", str(path), loader=loader)
    try:
        module = importlib.util.module_from_spec(spec)
    except ImportError as error:
        raise ImportError(
            f"weftrt: no tasks, because {path} cannot be loaded: {error}; reinstall weft-runtime, "
            "or build Weft with the headers of Python (python3-dev)"
        ) from None
    loader.exec_module(module)
    sys.modules["weftrt._tasks"] = module
    return module


_tasks = _load()
_numbers = itertools.count(1)

Task = _tasks.Task
current_task = _tasks.current_task
group = _tasks.group
spawn = _tasks.spawn
_spawn_apart = _tasks.spawn_apart  # a task of no group, body or thread
taskwait = _tasks.taskwait
workers = _tasks.workers


def _start_runner():
    threading.Thread(
        target=_tasks.run_forever, name=f"weftrt-{next(_numbers)}", daemon=True
    ).start()


def _settle(future, task):
    if future.done():
        return
    if task.cancelled():
        future.cancel()
        return
    error = task.exception()
    if error is None:
        future.set_result(task.result())
    elif isinstance(error, StopIteration):  # a future of asyncio takes none
        future.set_exception(RuntimeError(f"the task raised {error!r}"))
    else:
        future.set_exception(error)


_awaited = {}  # the futures of the coroutines that await a task, with their loops
_awaited_lock = threading.RLock()


def _settle_all(task):
    with _awaited_lock:
        waiting = list(_awaited.pop(task, {}).items())
    for future, loop in waiting:
        with contextlib.suppress(RuntimeError):  # the loop is closed: no coroutine waits
            loop.call_soon_threadsafe(_settle, future, task)


def _settle_at_end(task):
    try:
        task.add_done_callback(_settle_all)
    except BaseException:  # a task of the parent process
        with _awaited_lock:
            _awaited.pop(task, None)
        raise


def _await(task):
    """Yields until the task has ended: what `await task` runs."""
    import asyncio  # waits of programs without it look for no loop

    loop = asyncio.get_running_loop()
    future = loop.create_future()
    with _awaited_lock:
        is_first = task not in _awaited
        waiting = _awaited.setdefault(task, {})
        waiting[future] = loop
    turn = None
    try:
        if is_first:
            _settle_at_end(task)
        if current_task() is not None:  # the loop sleeps in a body, whose place the task may need
            turn = _tasks.leave()
        return (yield from future)
    finally:  # an await may be cancelled
        if turn is not None:
            _tasks.come_back(turn)
        with _awaited_lock:
            waiting.pop(future, None)


def _is_over(loop, future):
    with contextlib.suppress(RuntimeError):  # the loop is closed: no coroutine waits
        loop.call_soon_threadsafe(lambda: future.done() or future.set_result(None))


async def _enter(group):
    return group.__enter__()


async def _leave(group, kind, value, traceback):
    """Ends an `async with` block. A coroutine that is cancelled meanwhile cancels the group, and still awaits the
    bodies that have begun.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    if value is not None:
        group.cancel()
    cancelled = None
    while group._call_at_end(functools.partial(_is_over, loop, future := loop.create_future())):
        turn = None
        try:
            if current_task() is not None:  # the loop sleeps in a body, whose place the tasks may need
                turn = _tasks.leave()
            await future
        except asyncio.CancelledError as error:
            group.cancel()
            cancelled = error
        except BaseException:  # the coroutine is closed
            group._give_up()
            raise
        finally:
            if turn is not None:
                _tasks.come_back(turn)
    if cancelled is None:
        return group.__exit__(kind, value, traceback)
    group.__exit__(type(cancelled), cancelled, traceback)
    raise cancelled from value


def _forget():
    global _awaited_lock, _forks
    _forks += 1
    _awaited_lock = threading.RLock()
    _awaited.clear()
    _tasks.forget()
    for pool in list(_pools):
        pool._forget_parent()


@contextlib.contextmanager
def blocking():
    """A time in which the caller may block outside of Weft, as for a lock or a socket: another
    task may run in its place meanwhile.
    """
    saved = _tasks.leave()
    try:
        yield
    finally:
        _tasks.come_back(saved)


_MODES = ("reads", "writes", "updates", "concurrent", "commutative")


class _Data:
    """Finds the arguments of a function that a task names."""

    def __init__(self, function, modes):
        self._signature = inspect.signature(function)
        self._names = {}
        parameters = list(self._signature.parameters)
        for mode, names in modes.items():
            self._names[mode] = names.split() if isinstance(names, str) else list(names)
            for name in self._names[mode]:
                if name not in parameters:
                    raise TypeError(
                        f"task: {mode}= names '{name}', which is no parameter of "
                        f"{function.__qualname__}{self._signature}"
                    )

    def of(self, arguments, keywords):
        bound = self._signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        return {
            mode: tuple(
                itertools.chain.from_iterable(_buffers_of(bound.arguments[name]) for name in names)
            )
            for mode, names in self._names.items()
        }


def _buffers_of(argument):
    """Returns the buffers of an argument: itself, those of a tuple or a list, or none of None."""
    if argument is None:
        return ()
    return argument if isinstance(argument, (tuple, list)) else (argument,)


def task(function=None, /, *, label=None, blocking=False, **modes):
    """A decorator: a call of the function spawns a task, and returns it.

    reads, writes, updates, concurrent, commutative: names of parameters, "a b" or a list, whose
    arguments the task uses so; see spawn(). label: the name in messages.
    """
    for mode in modes:
        if mode not in _MODES:
            raise TypeError(f"task: '{mode}' is none of {', '.join(_MODES)}, label, blocking")
    if function is None:
        return lambda function: task(function, label=label, blocking=blocking, **modes)
    if inspect.iscoroutinefunction(function):
        raise TypeError(
            "task: an `async def` function belongs to asyncio, where it can await tasks; "
            "decorate a plain one"
        )
    data = _Data(function, {mode: names for mode, names in modes.items() if names is not None})

    @functools.wraps(function)
    def call(*arguments, **keywords):
        return spawn(
            functools.partial(function, **keywords) if keywords else function,
            *arguments,
            label=label or function.__qualname__,
            blocking=blocking,
            **data.of(arguments, keywords),
        )

    return call


class _Future(concurrent.futures.Future):
    """A future whose waits let other tasks run, where a task waits."""

    _task = None

    def _wait(self, timeout):
        """Waits in the task; returns what is left of the time."""
        task = self._task
        if task is None or self.done() or current_task() is None:
            return timeout
        end = None if timeout is None else time.monotonic() + timeout
        with contextlib.suppress(concurrent.futures.CancelledError, TimeoutError):
            task.exception(timeout)  # the future has it, too
        return None if end is None else max(0, end - time.monotonic())

    def _place(self):
        """Returns what gives up the caller's place while it waits for a call that has no task of its own."""
        gives_up = self._task is None and current_task() is not None and not self.done()
        return blocking() if gives_up else contextlib.nullcontext()

    def result(self, timeout=None):
        with self._place():
            return super().result(self._wait(timeout))

    def exception(self, timeout=None):
        with self._place():
            return super().exception(self._wait(timeout))

    def _forget_parent(self):
        """Ends in the child of a fork() with what result() of a parent's task raises."""
        self._condition = threading.Condition()  # another thread may have had the lock
        self._waiters, self._done_callbacks = [], []
        if not self.done():
            self.set_exception(
                RuntimeError("the call was submitted by the parent process, before fork(), and runs there alone")
            )

    def _give_up(self, task):
        """Ends with a task that was cancelled before its body began: with its group."""
        if task.cancelled() and self.cancel():
            self.set_running_or_notify_cancel()


_pools = weakref.WeakSet()  # of the process
_here = threading.local()  # .calls: what the thread runs on top of each other, (pool, future)
_forks = 0  # between this process and the one that has imported this module


def _calls_here():
    return _here.__dict__.setdefault("calls", [])


class Executor(concurrent.futures.ThreadPoolExecutor):
    """A pool of concurrent.futures whose calls are tasks.

    Without `max_workers` they share the threads of all tasks, as many as Weft has workers: for
    calls that compute. With it, so many calls run at once, whatever else runs: for calls that block,
    as those of loop.run_in_executor().
    """

    _blocks = True  # calls take no slot, where there is a number

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        if initializer is not None or initargs:
            raise TypeError("weftrt.Executor shares its threads with others and initializes none")
        number = workers()  # it raises where Weft cannot start
        super().__init__(number if max_workers is None else max_workers, thread_name_prefix)
        self._limit = max_workers
        self._changed = threading.Condition()
        self._waiting = collections.deque()  # (future, function, arguments, keywords)
        self._runs = {}  # tasks that run calls one after the other, and whether they have begun
        self._open = set()  # futures that are not done
        self._is_shut = False
        _pools.add(self)

    def submit(self, fn, /, *args, **kwargs):
        future = _Future()
        run = object()
        try:
            with self._changed:
                if self._is_shut:
                    raise RuntimeError("cannot schedule new futures after shutdown")
                self._open.add(future)
                if self._limit is not None:
                    self._waiting.append((future, fn, args, kwargs))
                    if len(self._runs) == self._limit:
                        return future
                    self._runs[run] = False
            if self._limit is None:
                future.add_done_callback(self._forget)
                future._task = spawn(_run_call, self, future, fn, args, kwargs, label="Executor")
                future._task.add_done_callback(future._give_up)
            else:
                self._start_run(run)
        except BaseException:
            if self._limit is None and future.cancel():
                self._forget(future)
            self._lose_run(run)
            raise
        return future

    def _forget(self, future):
        with self._changed:
            self._open.discard(future)
            if not self._open:
                self._changed.notify_all()

    def _start_run(self, run):
        """Spawns a task for the calls of every submitter, which belongs to no group, body or thread."""
        task = _spawn_apart(self._run_calls, run, label="Executor", blocking=self._blocks)
        task.add_done_callback(lambda task: task.cancelled() and self._lose_run(run))

    def _lose_run(self, run):
        """No task begins this run: without any the calls that wait are cancelled. One that has begun goes
        on: an interrupt may end the spawn() of a task that there is.
        """
        with self._changed:
            if self._runs.get(run, True):
                return
            del self._runs[run]
            lost = [] if self._runs else list(self._waiting)
            if lost:
                self._waiting.clear()
        for call in lost:
            if call[0].cancel():
                call[0].set_running_or_notify_cancel()
            self._forget(call[0])

    def _run_calls(self, run):
        forks = _forks
        with self._changed:
            if run not in self._runs:  # it is lost
                return
            self._runs[run] = True
        while forks == _forks:  # else in a child that the call before has forked
            with self._changed:
                if not self._waiting:
                    del self._runs[run]
                    return
                call = self._waiting.popleft()
            future = call[0]
            with contextlib.suppress(KeyboardInterrupt):  # the future has it
                _run_call(self, *call)
            self._forget(future)
            del call, future

    def _forget_parent(self):
        """In the child of a fork(): of the parent's calls only those go on that have forked it."""
        here = {future for pool, future in _calls_here() if pool is self}
        lost = self._open - here
        self._changed = threading.Condition()  # another thread may have had the lock
        self._waiting.clear()
        self._runs = {}
        self._open = here
        for future in lost:
            future._forget_parent()
        for future in here:
            future._condition = threading.Condition()

    def shutdown(self, wait=True, *, cancel_futures=False):
        with self._changed:
            self._is_shut = True
            open_futures = list(self._open)
        if cancel_futures:
            for future in open_futures:
                future.cancel()
        if wait:
            if any(pool is self for pool, _ in _calls_here()):
                raise RuntimeError("a call cannot wait for the end of its own pool; use shutdown(wait=False)")
            with blocking(), self._changed:
                while self._open:
                    self._changed.wait(0.1)


def _run_call(pool, future, function, arguments, keywords):
    if not future.set_running_or_notify_cancel():
        return
    calls = _calls_here()
    calls.append((pool, future))
    try:
        try:
            result = function(*arguments, **keywords)
        finally:
            calls.pop()
    except BaseException as error:
        future.set_exception(error)
        is_interrupt = isinstance(error, KeyboardInterrupt)
        pool = future = function = arguments = keywords = None  # the traceback has this frame
        if is_interrupt:  # Ctrl-C, in the main thread: it ends what waits there, too
            raise
    else:
        future.set_result(result)


_tasks.set_helpers(_start_runner, _await, concurrent.futures.CancelledError)
_tasks.set_group_helpers(_enter, _leave)
atexit.register(_tasks.finish)
os.register_at_fork(after_in_child=_forget)
