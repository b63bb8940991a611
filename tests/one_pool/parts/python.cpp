// SPDX-License-Identifier: Apache-2.0
// links: one_pool_python
// An interpreter in the program: tasks of weftrt in a group, and calls by `Executor`. Python's
// threads run the bodies, without Python's lock. A caller has a thread made for the call: what runs
// on its own may be a task of Weft's, which the calls of Python below would suspend in the middle.
// What a body runs may wait for further tasks of Python's, so it says that it blocks.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../part.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>

namespace {

constexpr const char *k_functions = R"(
import weftrt
def loop(n, call):
    with weftrt.group(cancel=False):
        for i in range(n):
            weftrt.spawn(call, i, blocking=True)
def tasks(n, call):
    def one(i):
        with weftrt.blocking():
            return call(i)
    with weftrt.Executor() as pool:
        for future in [pool.submit(one, i) for i in range(n)]:
            future.result()
def until(n, call):
    with weftrt.group() as group:
        def one(i):
            if call(i):
                group.cancel()
        for i in range(n):
            weftrt.spawn(one, i, blocking=True)
)";

PyObject *g_functions = nullptr; // the dictionary of the module above

struct call {
  const char *function;
  const int n;
  const one_pool::body &b;
  one_pool::kept_exception kept{};
  bool has_thrown = false; // under the interpreter's lock
};

[[noreturn]] void give_up(const char *what) {
  PyErr_Print();
  std::fprintf(stderr, "one_pool: Python: %s\n", what);
  std::fflush(stderr);
  std::_Exit(1);
}

/// Runs one body. An exception of C++ crosses Python as one of Python's.
PyObject *run_one(PyObject *capsule, PyObject *index) {
  auto *const c = static_cast<call *>(PyCapsule_GetPointer(capsule, nullptr));
  const int i = static_cast<int>(PyLong_AsLong(index));
  bool asks = false, has_ended = false;
  PyThreadState *const state = PyEval_SaveThread();
  c->kept.run([&] {
    asks = c->b(i);
    has_ended = true;
  });
  PyEval_RestoreThread(state);
  if (!has_ended) {
    c->has_thrown = true;
    PyErr_SetString(PyExc_ArithmeticError, "a body has thrown");
    return nullptr;
  }
  return PyBool_FromLong(asks);
}

PyMethodDef g_run_one{"run_one", &run_one, METH_O, nullptr};

/// Calls the function of that name.
void call_python(call &c) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *const capsule = PyCapsule_New(&c, nullptr, nullptr);
  PyObject *const bound = capsule ? PyCFunction_New(&g_run_one, capsule) : nullptr;
  if (!bound)
    give_up("there is no memory for a call");
  PyObject *const answer =
      PyObject_CallFunction(PyDict_GetItemString(g_functions, c.function), "iO", c.n, bound);
  if (!answer && !(c.has_thrown && PyErr_ExceptionMatches(PyExc_ArithmeticError)))
    give_up("a call has failed");
  if (answer && c.has_thrown)
    give_up("the exception of a body is lost");
  PyErr_Clear();
  Py_XDECREF(answer);
  Py_DECREF(bound);
  Py_DECREF(capsule);
  PyGILState_Release(state);
}

void run(const char *function, int n, const one_pool::body &b) {
  call c{function, n, b};
  std::thread([&c] { call_python(c); }).join();
  c.kept.rethrow();
}

/// What an embedded interpreter asks of a program that forks: the caller has Python's lock.
PyGILState_STATE g_at_fork;
void before_fork() {
  g_at_fork = PyGILState_Ensure();
  PyOS_BeforeFork();
}
void after_fork_in_parent() {
  PyOS_AfterFork_Parent();
  PyGILState_Release(g_at_fork);
}
void after_fork_in_child() {
  PyOS_AfterFork_Child();
  PyGILState_Release(g_at_fork);
}

/// Modules of Python find its functions among all libraries. Its threads stay when a plug-in goes.
void keep_python() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void *>(&Py_InitializeEx), &info) == 0 ||
      !dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE)) {
    std::fprintf(stderr, "one_pool: the library of Python cannot be kept: %s\n", dlerror());
    std::exit(1);
  }
}

void begin(int) {
  const bool is_first = !Py_IsInitialized();
  if (is_first) {
    keep_python();
    Py_InitializeEx(0); // signals are the program's
    PyEval_SaveThread();
  }
  const PyGILState_STATE state = PyGILState_Ensure();
  g_functions = PyDict_New();
  PyObject *const path = PySys_GetObject("path"), *const folder = PyUnicode_FromString(ONE_POOL_WEFTRT);
  if (!g_functions || !folder || (is_first && PyList_Insert(path, 0, folder) < 0) ||
      PyDict_SetItemString(g_functions, "__builtins__", PyEval_GetBuiltins()) < 0)
    give_up("there is no memory for a module");
  PyObject *const answer = PyRun_String(k_functions, Py_file_input, g_functions, g_functions);
  if (!answer)
    give_up("there is no weftrt");
  Py_DECREF(answer);
  Py_DECREF(folder);
  PyGILState_Release(state);
  pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
}

/// The interpreter stays: a process has one with tasks. The handlers of fork() go with this library.
void end() {
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_CLEAR(g_functions);
  PyGILState_Release(state);
}

void loop(int n, one_pool::body b) { run("loop", n, b); }
void tasks(int n, one_pool::body b) { run("tasks", n, b); }
void until(int n, one_pool::body b) { run("until", n, b); }

} // namespace

ONE_POOL_PART one_pool_python{"Python", one_pool::place::own_thread, &begin, &end, nullptr, &loop,
                              &tasks,   &until};
