/* SPDX-License-Identifier: Apache-2.0
   The module weftrt._tasks: its types and functions. What users call is in weftrt/_spawn.py. */
#include "run.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { k_most_frees = 50 }; /* tasks that are freed on top of each other */

PyTypeObject *g_task_type, *g_group_type, *g_root_type, *g_keeper_type;
static PyObject *g_await; /* what `await task` calls */
static PyObject *g_cancelled_error; /* concurrent.futures.CancelledError */
static PyObject *g_enter, *g_leave; /* the coroutine functions at the beginning and the end of `async with group()` */
static PyObject *g_get_group, *g_set_group; /* of the context variable that holds the group of a block */

/* ---- Task ---- */

static int task_traverse(PyObject *self, visitproc visit, void *arg) {
  Task *const t = (Task *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(t->function);
  Py_VISIT(t->arguments);
  Py_VISIT(t->keywords);
  Py_VISIT(t->result);
  Py_VISIT(t->error);
  Py_VISIT(t->holder);
  return 0;
}

static int task_clear(PyObject *self) {
  Task *const t = (Task *)self;
  Py_CLEAR(t->result);
  Py_CLEAR(t->error);
  return 0;
}

static void free_task(Task *t) {
  PyObject *const self = (PyObject *)t;
  PyTypeObject *const type = Py_TYPE(self);
  for (int i = 0; i != t->buffer_count; ++i)
    drop_buffer(&t->buffers[i]);
  PyMem_Free(t->buffers);
  if (t->scope)
    destroy_scope(t->scope, t->generation);
  free(t->scope);
  Py_CLEAR(t->function);
  Py_CLEAR(t->arguments);
  Py_CLEAR(t->keywords);
  unname_task(t);
  Py_CLEAR(t->holder);
  task_clear(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/* A result may be the last reference to another task, and so on: frees on top of each other are few. */
static void task_dealloc(PyObject *self) {
  Local *const my = local();
  Task *t = (Task *)self;
  PyObject_GC_UnTrack(self);
  if (my->frees == k_most_frees) {
    t->next = my->unfreed;
    my->unfreed = t;
    return;
  }
  ++my->frees;
  free_task(t);
  while (my->frees == 1 && my->unfreed) {
    t = my->unfreed;
    my->unfreed = t->next;
    free_task(t);
  }
  --my->frees;
}

/* Returns the result of a body that has ended, or null with its exception. */
static PyObject *outcome_of(Task *t) {
  if (t->result) {
    Py_INCREF(t->result);
    return t->result;
  }
  if (t->error) {
    t->retrieved = true;
    Py_INCREF((PyObject *)Py_TYPE(t->error));
    Py_INCREF(t->error);
    PyErr_Restore((PyObject *)Py_TYPE(t->error), t->error, PyException_GetTraceback(t->error));
    return NULL;
  }
  PyErr_SetNone(g_cancelled_error);
  return NULL;
}

/* Waits as long as an optional argument says. Returns whether the body has ended, or raises. */
static bool wait_as_asked(Task *t, PyObject *args, PyObject *keywords) {
  static char *names[] = {"timeout", NULL};
  PyObject *timeout = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names, &timeout))
    return false;
  double seconds = -1;
  if (timeout != Py_None) {
    seconds = PyFloat_AsDouble(timeout);
    if (seconds == -1.0 && PyErr_Occurred())
      return false;
    if (!(seconds > 0))
      seconds = 0;
    if (seconds > 1e9)
      seconds = 1e9;
  }
  const int over = wait_for_task(t, seconds);
  if (over == 0)
    PyErr_SetString(PyExc_TimeoutError, "the task has not ended in time");
  return over == 1;
}

static PyObject *task_result(PyObject *self, PyObject *args, PyObject *keywords) {
  return wait_as_asked((Task *)self, args, keywords) ? outcome_of((Task *)self) : NULL;
}

static PyObject *task_exception(PyObject *self, PyObject *args, PyObject *keywords) {
  Task *const t = (Task *)self;
  if (!wait_as_asked(t, args, keywords))
    return NULL;
  if (!t->result && !t->error)
    return outcome_of(t);
  PyObject *const error = t->error ? t->error : Py_None;
  t->retrieved = true;
  Py_INCREF(error);
  return error;
}

static PyObject *task_done(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  return PyBool_FromLong(state_of((Task *)self) == k_over);
}

static PyObject *task_cancelled(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  return PyBool_FromLong(((Task *)self)->cancelled);
}

static PyObject *task_cancel(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  return PyBool_FromLong(cancel_task((Task *)self));
}

static Callback *make_callback(PyObject *function) {
  Callback *const callback = PyMem_Malloc(sizeof *callback);
  if (!callback) {
    PyErr_NoMemory();
    return NULL;
  }
  *callback = (Callback){function, NULL};
  Py_INCREF(function);
  return callback;
}

static PyObject *task_add_done_callback(PyObject *self, PyObject *function) {
  Callback *const callback = make_callback(function);
  if (!callback)
    return NULL;
  const int added = add_callback((Task *)self, callback);
  if (added > 0)
    Py_RETURN_NONE;
  PyMem_Free(callback);
  if (added < 0) {
    Py_DECREF(function);
    return NULL;
  }
  PyObject *const called = PyObject_CallFunctionObjArgs(function, self, NULL);
  if (!called)
    PyErr_WriteUnraisable(function);
  Py_XDECREF(called);
  Py_DECREF(function);
  Py_RETURN_NONE;
}

static PyObject *task_await(PyObject *self) {
  return PyObject_CallFunctionObjArgs(g_await, self, NULL);
}

static PyObject *task_label(PyObject *self, void *Py_UNUSED(nothing)) {
  PyObject *const label = ((Task *)self)->label;
  Py_INCREF(label);
  return label;
}

static PyObject *task_repr(PyObject *self) {
  Task *const t = (Task *)self;
  static const char *const states[] = {"waits for its data", "ready", "runs", "done"};
  const task_state now = state_of(t);
  const char *const state = now != k_over ? states[now]
                            : t->error    ? "failed"
                            : t->result   ? "done"
                                          : "cancelled";
  return PyUnicode_FromFormat("<weftrt.Task %R: %s>", t->label, state);
}

static PyMethodDef g_task_methods[] = {
    {"result", (PyCFunction)(void (*)(void))task_result, METH_VARARGS | METH_KEYWORDS,
     "result(timeout=None)\n--\n\nWaits for the body, and returns its result or raises its exception."},
    {"exception", (PyCFunction)(void (*)(void))task_exception, METH_VARARGS | METH_KEYWORDS,
     "exception(timeout=None)\n--\n\nWaits for the body, and returns its exception; None if it has returned."},
    {"done", task_done, METH_NOARGS,
     "done()\n--\n\nReturns whether the body has ended, or never runs."},
    {"cancel", task_cancel, METH_NOARGS,
     "cancel()\n--\n\nKeeps the body from beginning. Returns False where it has begun."},
    {"cancelled", task_cancelled, METH_NOARGS,
     "cancelled()\n--\n\nReturns whether cancel() has kept the body from beginning."},
    {"add_done_callback", task_add_done_callback, METH_O,
     "add_done_callback(function)\n--\n\nCalls function(task) when the body has ended, on the thread that has run it; at once if it has."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef g_task_values[] = {
    {"label", task_label, NULL, "the name in messages: label= of spawn(), else the name of the function", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot g_task_slots[] = {
    {Py_tp_doc, "A call that a thread of the runtime makes: what spawn() returns."},
    {Py_tp_dealloc, task_dealloc},
    {Py_tp_traverse, task_traverse},
    {Py_tp_clear, task_clear},
    {Py_tp_methods, g_task_methods},
    {Py_tp_getset, g_task_values},
    {Py_tp_repr, task_repr},
    {Py_am_await, task_await},
    {0, NULL}};
static PyType_Spec g_task_spec = {
    "weftrt.Task", sizeof(Task), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, g_task_slots};

/* ---- spawn ---- */

static const struct {
  const char *name;
  order_mode mode;
} k_modes[] = {{"reads", ORDER_READS},
               {"writes", ORDER_WRITES},
               {"updates", ORDER_UPDATES},
               {"concurrent", ORDER_CONCURRENT},
               {"commutative", ORDER_COMMUTATIVE}};
enum { k_mode_count = sizeof k_modes / sizeof *k_modes };

typedef struct Inputs {
  RegionList regions;
  Py_buffer *buffers;
  int count, room;
} Inputs;

static int add_buffer(Inputs *inputs, PyObject *data, int mode) {
  const char *const name = k_modes[mode].name;
  if (inputs->count == inputs->room) {
    const int room = inputs->room ? 2 * inputs->room : 4;
    Py_buffer *const more = PyMem_Realloc(inputs->buffers, (size_t)room * sizeof *more);
    if (!more) {
      PyErr_NoMemory();
      return -1;
    }
    inputs->buffers = more;
    inputs->room = room;
  }
  if (!PyObject_CheckBuffer(data)) {
    PyObject *const type = PyType_GetName(Py_TYPE(data));
    PyErr_Format(
        PyExc_TypeError,
        "spawn(): %s= takes NumPy arrays and other objects with a buffer, or tuples of them, not '%U'",
        name, type);
    Py_XDECREF(type);
    return -1;
  }
  Py_buffer *const view = &inputs->buffers[inputs->count];
  const bool only_reads = k_modes[mode].mode == ORDER_READS;
  if (take_buffer(data, view, only_reads ? PyBUF_STRIDED_RO : PyBUF_STRIDED) < 0) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_Format(type, "spawn(): %s=: %S%s", name, value,
                 only_reads ? "" : "; what a task only reads belongs into reads=");
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
  }
  ++inputs->count;
  return add_regions(&inputs->regions, view, k_modes[mode].mode);
}

static int add_data(Inputs *inputs, PyObject *data, int mode) {
  if (data == Py_None)
    return 0;
  if (!PyTuple_Check(data) && !PyList_Check(data))
    return add_buffer(inputs, data, mode);
  PyObject *const all = PySequence_Tuple(data); /* another thread may change a list */
  if (!all)
    return -1;
  int added = 0;
  const Py_ssize_t size = PyTuple_Size(all);
  for (Py_ssize_t i = 0; i != size && added == 0; ++i)
    added = add_buffer(inputs, PyTuple_GetItem(all, i), mode);
  Py_DECREF(all);
  return added;
}

static void drop_inputs(Inputs *inputs) {
  for (int i = 0; i != inputs->count; ++i)
    drop_buffer(&inputs->buffers[i]);
  PyMem_Free(inputs->buffers);
  PyMem_Free(inputs->regions.items);
  *inputs = (Inputs){0};
}

/* Takes a keyword that is spawn()'s own. Returns 1 if it is one, 0 if not, -1 with an exception. */
static int take_keyword(Task *t, Inputs *inputs, PyObject *name, PyObject *value) {
  for (int i = 0; i != k_mode_count; ++i)
    if (PyUnicode_CompareWithASCIIString(name, k_modes[i].name) == 0)
      return add_data(inputs, value, i) < 0 ? -1 : 1;
  if (PyUnicode_CompareWithASCIIString(name, "label") == 0) {
    if (value != Py_None && !PyUnicode_Check(value)) {
      PyErr_SetString(PyExc_TypeError, "spawn(): label= takes a str");
      return -1;
    }
    if (value != Py_None) {
      Py_INCREF(value);
      t->label = value;
    }
    return 1;
  }
  if (PyUnicode_CompareWithASCIIString(name, "blocking") == 0) {
    const int is_true = PyObject_IsTrue(value);
    t->blocking = is_true > 0;
    return is_true < 0 ? -1 : 1;
  }
  return 0;
}

static int take_keywords(Task *t, Inputs *inputs, PyObject *const *values, PyObject *names) {
  const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i != count; ++i) {
    PyObject *const name = PyTuple_GetItem(names, i);
    const int taken = take_keyword(t, inputs, name, values[i]);
    if (taken < 0)
      return -1;
    if (taken)
      continue;
    if (!t->keywords && !(t->keywords = PyDict_New()))
      return -1;
    if (PyDict_SetItem(t->keywords, name, values[i]) < 0)
      return -1;
  }
  return 0;
}

static Task *new_task(PyObject *const *args, Py_ssize_t count) {
  Task *const t = PyObject_GC_New(Task, g_task_type);
  if (!t)
    return NULL;
  const size_t head = offsetof(Task, function);
  memset((char *)t + head, 0, sizeof *t - head);
  Py_INCREF(args[0]);
  t->function = args[0];
  t->arguments = PyTuple_New(count - 1);
  if (!t->arguments) {
    Py_DECREF(t);
    return NULL;
  }
  for (Py_ssize_t i = 1; i != count; ++i) {
    Py_INCREF(args[i]);
    PyTuple_SetItem(t->arguments, i - 1, args[i]);
  }
  return t;
}

static PyObject *spawn_task(PyObject *const *args, Py_ssize_t count, PyObject *names, bool apart) {
  if (count < 1 || !PyCallable_Check(args[0])) {
    PyErr_SetString(PyExc_TypeError, "spawn() takes a callable first, then its arguments");
    return NULL;
  }
  Task *const t = new_task(args, count);
  if (!t)
    return NULL;
  Inputs inputs = {0};
  if (take_keywords(t, &inputs, args + count, names) < 0) {
    drop_inputs(&inputs);
    Py_DECREF(t);
    return NULL;
  }
  name_task(t);
  t->buffers = inputs.buffers;
  t->buffer_count = inputs.count;
  PyObject_GC_Track((PyObject *)t);
  const int entered = enter_task(t, &inputs.regions, apart);
  PyMem_Free(inputs.regions.items);
  if (entered < 0) {
    Py_DECREF(t);
    return NULL;
  }
  return (PyObject *)t;
}

static PyObject *spawn(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count,
                       PyObject *names) {
  return spawn_task(args, count, names, false);
}

static PyObject *spawn_apart(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count,
                             PyObject *names) {
  return spawn_task(args, count, names, true);
}

static PyObject *taskwait(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  Scope *const scope = current_scope();
  if (!scope || wait_for_children(scope) < 0)
    return NULL;
  for (Group *group = scope->group; group; group = group->next)
    if (raise_failures(&group->pool, NULL) < 0)
      return NULL;
  if (raise_failures(&scope->own, NULL) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* ---- Group ---- */

static PyObject *group_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"cancel", NULL};
  int cancels = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$p:group", names, &cancels))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Group *const group = (Group *)allocate(type, 0);
  if (group)
    group->cancels = cancels;
  return (PyObject *)group;
}

static void group_dealloc(PyObject *self) {
  Group *const group = (Group *)self;
  PyTypeObject *const type = Py_TYPE(self);
  Scope ended = {.own = group->pool, .holder = self};
  destroy_scope(&ended, group->generation);
  Py_CLEAR(group->enclosing);
  Py_CLEAR(group->holder);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* Makes a group, or None, that of the caller's context. Returns 0, or -1 with an exception. */
static int enter_context(PyObject *group) {
  PyObject *const token = PyObject_CallFunctionObjArgs(g_set_group, group, NULL);
  Py_XDECREF(token);
  return token ? 0 : -1;
}

PyObject *keep_group(void) {
  PyObject *const group = PyObject_CallNoArgs(g_get_group);
  if (!group)
    PyErr_Clear(); /* no memory */
  return group;
}

void return_to_group(PyObject *group) {
  PyObject *const found = PyObject_CallNoArgs(g_get_group);
  if (!found || (found != group && enter_context(group) < 0))
    PyErr_Clear(); /* no memory */
  Py_XDECREF(found);
  Py_DECREF(group);
}

/* Returns the group of the caller's context, which may be closed, or open in another scope; a reference, or null. */
static Group *group_of_context(void) {
  PyObject *const found = PyObject_CallNoArgs(g_get_group);
  if (!found)
    PyErr_Clear(); /* no memory */
  if (found && Py_TYPE(found) == g_group_type)
    return (Group *)found;
  Py_XDECREF(found);
  return NULL;
}

Group *current_group(const Scope *scope) {
  if (!scope->group)
    return NULL;
  Group *const group = group_of_context();
  Py_XDECREF((PyObject *)group); /* an open one has itself */
  return group && group->scope == scope ? group : NULL;
}

static PyObject *group_enter(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  Group *const group = (Group *)self;
  Scope *const scope = current_scope();
  if (!scope)
    return NULL;
  if (group->scope || open_tasks(&group->pool) > 0) {
    PyErr_SetString(PyExc_RuntimeError, "the group is in use; make one for each `with`");
    return NULL;
  }
  Group *const enclosing = current_group(scope);
  if (enter_context(self) < 0)
    return NULL;
  Py_XINCREF((PyObject *)enclosing);
  group->enclosing = enclosing;
  group->scope = scope;
  group->next = scope->group;
  group->generation = g_generation;
  group->pool.cancelled = false;
  Py_XDECREF(group->holder);
  group->holder = scope->holder;
  Py_INCREF(group->holder);
  scope->group = group;
  Py_INCREF(self); /* until the block ends */
  Py_INCREF(self);
  return self;
}

static const char k_ends_elsewhere[] =
    "a group ends in the body or thread in which it began, behind the groups inside of it";

static bool has_open_groups_inside(const Group *group) {
  for (const Group *other = group->scope->group; other; other = other->next)
    if (other->enclosing == group)
      return true;
  return false;
}

/* Takes the group out of its scope and of the context, where others may be open inside of it. */
static void close_group(Group *group, bool has_heir) {
  Group *const enclosing = group->enclosing;
  for (Group *other = group->scope->group; other; other = other->next)
    if (other->enclosing == group) {
      Py_XINCREF((PyObject *)enclosing);
      other->enclosing = enclosing;
      Py_DECREF((PyObject *)group);
    }
  Group **link = &group->scope->group;
  while (*link != group)
    link = &(*link)->next;
  *link = group->next;
  group->scope = NULL;
  group->next = NULL;
  group->enclosing = NULL;
  if (!has_heir)
    Py_CLEAR(group->holder);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  Group *const known = group_of_context();
  if (known == group && enter_context(enclosing ? (PyObject *)enclosing : Py_None) < 0)
    PyErr_Clear(); /* a closed group is as none */
  Py_XDECREF((PyObject *)known);
  Py_XDECREF((PyObject *)enclosing);
  PyErr_Restore(type, value, traceback);
}

/* Hands the tasks of a group whose wait was interrupted to the enclosing group, or to the scope: those that run go on,
   and what waits there waits for them. Returns whether any is open. */
static bool bequeath(Group *group) {
  Group *const enclosing = group->enclosing;
  if (enclosing) {
    PyObject *const holder = group->holder;
    Py_INCREF((PyObject *)enclosing);
    group->holder = (PyObject *)enclosing;
    Py_DECREF(holder);
  }
  return inherit(&group->pool, enclosing ? &enclosing->pool : &group->scope->own);
}

/* Raises for a group that has ended before those inside of it, with what its tasks have raised as notes. */
static void refuse_order(Group *group) {
  PyObject *const error = PyObject_CallFunction(PyExc_RuntimeError, "s", k_ends_elsewhere);
  if (!error)
    return;
  raise_failures(&group->pool, error);
  PyErr_SetObject(PyExc_RuntimeError, error);
  Py_DECREF(error);
}

static PyObject *group_exit(PyObject *self, PyObject *args) {
  Group *const group = (Group *)self;
  PyObject *const raised = PyTuple_Size(args) > 1 ? PyTuple_GetItem(args, 1) : Py_None;
  if (!group->scope || group->scope != current_scope()) {
    PyErr_SetString(PyExc_RuntimeError, k_ends_elsewhere);
    return NULL;
  }
  if (raised && raised != Py_None)
    cancel_pool(&group->pool);
  const int waited = wait_for_pool(&group->pool, ORDER_GROUP);
  bool has_heir = false;
  if (waited < 0) { /* an interrupt: the user does not want the rest */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    cancel_pool(&group->pool);
    raise_failures(&group->pool, value);
    has_heir = bequeath(group);
    PyErr_Restore(type, value, traceback);
  }
  const bool is_innermost = !has_open_groups_inside(group);
  close_group(group, has_heir);
  int failed = -1;
  if (waited == 0 && is_innermost)
    failed = raise_failures(&group->pool, raised == Py_None ? NULL : raised);
  else if (waited == 0)
    refuse_order(group);
  Py_DECREF(self);
  if (failed < 0)
    return NULL;
  Py_RETURN_FALSE;
}

static PyObject *group_async_enter(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  return PyObject_CallFunctionObjArgs(g_enter, self, NULL);
}

static PyObject *group_async_exit(PyObject *self, PyObject *args) {
  PyObject *type, *value, *traceback;
  if (!PyArg_ParseTuple(args, "OOO:__aexit__", &type, &value, &traceback))
    return NULL;
  return PyObject_CallFunctionObjArgs(g_leave, self, type, value, traceback, NULL);
}

static PyObject *group_call_at_end(PyObject *self, PyObject *function) {
  Callback *const callback = make_callback(function);
  if (!callback)
    return NULL;
  if (call_at_end(&((Group *)self)->pool, callback))
    Py_RETURN_TRUE;
  Py_DECREF(function);
  PyMem_Free(callback);
  Py_RETURN_FALSE;
}

/* Ends the block of a coroutine that is closed while it awaits the end: what is open goes to what encloses the group. */
static PyObject *group_give_up(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  Group *const group = (Group *)self;
  cancel_pool(&group->pool);
  if (!group->scope || group->scope != current_scope()) /* another thread collects the coroutine */
    Py_RETURN_NONE;
  close_group(group, bequeath(group));
  Py_DECREF(self);
  Py_RETURN_NONE;
}

static PyObject *group_cancel(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  cancel_pool(&((Group *)self)->pool);
  Py_RETURN_NONE;
}

static PyObject *group_cancelled(PyObject *self, PyObject *Py_UNUSED(nothing)) {
  return PyBool_FromLong(((Group *)self)->pool.cancelled);
}

static PyMethodDef g_group_methods[] = {
    {"__enter__", group_enter, METH_NOARGS, NULL},
    {"__exit__", group_exit, METH_VARARGS, NULL},
    {"__aenter__", group_async_enter, METH_NOARGS, NULL},
    {"__aexit__", group_async_exit, METH_VARARGS, NULL},
    {"_call_at_end", group_call_at_end, METH_O, NULL},
    {"_give_up", group_give_up, METH_NOARGS, NULL},
    {"cancel", group_cancel, METH_NOARGS,
     "cancel()\n--\n\nKeeps tasks of the group that have not begun from running."},
    {"cancelled", group_cancelled, METH_NOARGS,
     "cancelled()\n--\n\nReturns whether the group is cancelled, by cancel() or by a task that has raised."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot g_group_slots[] = {
    {Py_tp_doc,
     "group(*, cancel=True)\n--\n\nA `with` block whose end waits for the tasks that were spawned in it, and raises the first exception.\n"
     "In a coroutine of asyncio the end of an `async with` block awaits them.\n"
     "cancel: the first exception keeps those from running that have not begun."},
    {Py_tp_new, group_new},
    {Py_tp_dealloc, group_dealloc},
    {Py_tp_methods, g_group_methods},
    {0, NULL}};
static PyType_Spec g_group_spec = {"weftrt.group", sizeof(Group), 0, Py_TPFLAGS_DEFAULT,
                                   g_group_slots};

static void root_dealloc(PyObject *self) {
  Root *const root = (Root *)self;
  PyTypeObject *const type = Py_TYPE(self);
  destroy_scope(&root->scope, root->generation);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyType_Slot g_root_slots[] = {{Py_tp_dealloc, root_dealloc}, {0, NULL}};
static PyType_Spec g_root_spec = {"weftrt._tasks.Root", sizeof(Root), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  g_root_slots};

static void keeper_dealloc(PyObject *self) {
  Root *const root = ((Keeper *)self)->root;
  PyTypeObject *const type = Py_TYPE(self);
  leave_root(root);
  Py_DECREF(root);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyType_Slot g_keeper_slots[] = {{Py_tp_dealloc, keeper_dealloc}, {0, NULL}};
static PyType_Spec g_keeper_spec = {"weftrt._tasks.Keeper", sizeof(Keeper), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    g_keeper_slots};

/* ---- the module ---- */

static PyObject *workers(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  return start_tasks() < 0 ? NULL : PyLong_FromLong(task_limit());
}

static PyObject *this_task(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  PyObject *const task = current_task() ? (PyObject *)current_task() : Py_None;
  Py_INCREF(task);
  return task;
}

static PyObject *leave(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  const unsigned long long turn = begin_blocking();
  return turn ? PyLong_FromUnsignedLongLong(turn) : NULL;
}

static PyObject *come_back(PyObject *Py_UNUSED(self), PyObject *turn) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(turn);
  if (PyErr_Occurred())
    return NULL;
  end_blocking(number);
  Py_RETURN_NONE;
}

static PyObject *finish(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  if (finish_tasks() < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *forget(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(nothing)) {
  forget_in_child();
  Py_RETURN_NONE;
}

static PyObject *set_helpers(PyObject *Py_UNUSED(self), PyObject *args) {
  PyObject *start, *await, *error;
  if (!PyArg_ParseTuple(args, "OOO", &start, &await, &error))
    return NULL;
  set_starter(start);
  Py_INCREF(await);
  Py_XDECREF(g_await);
  g_await = await;
  Py_INCREF(error);
  Py_XDECREF(g_cancelled_error);
  g_cancelled_error = error;
  Py_RETURN_NONE;
}

static PyObject *set_group_helpers(PyObject *Py_UNUSED(self), PyObject *args) {
  PyObject *enter, *leave;
  if (!PyArg_ParseTuple(args, "OO", &enter, &leave))
    return NULL;
  Py_INCREF(enter);
  Py_XDECREF(g_enter);
  g_enter = enter;
  Py_INCREF(leave);
  Py_XDECREF(g_leave);
  g_leave = leave;
  Py_RETURN_NONE;
}

/* For tests: the regions of a buffer, as tuples of (first, run, outer count, outer step, inner count, inner step). */
static PyObject *regions(PyObject *Py_UNUSED(self), PyObject *data) {
  Py_buffer view;
  if (take_buffer(data, &view, PyBUF_STRIDED_RO) < 0)
    return NULL;
  RegionList list = {0};
  PyObject *found = add_regions(&list, &view, ORDER_READS) < 0 ? NULL : PyList_New(0);
  drop_buffer(&view);
  for (size_t i = 0; found && i != list.count; ++i) {
    const order_region *const r = &list.items[i];
    PyObject *const one =
        Py_BuildValue("(nnnnnn)", (Py_ssize_t)r->first, (Py_ssize_t)r->run, (Py_ssize_t)r->count[0],
                      (Py_ssize_t)r->step[0], (Py_ssize_t)r->count[1], (Py_ssize_t)r->step[1]);
    if (!one || PyList_Append(found, one) < 0)
      Py_CLEAR(found);
    Py_XDECREF(one);
  }
  PyMem_Free(list.items);
  return found;
}

/* For tests: where the function of a task is written. */
static PyObject *place(PyObject *Py_UNUSED(self), PyObject *task) {
  return PyUnicode_FromString(Py_TYPE(task) == g_task_type ? place_of((Task *)task) : "");
}

static PyMethodDef g_functions[] = {
    {"spawn", (PyCFunction)(void (*)(void))spawn, METH_FASTCALL | METH_KEYWORDS,
     "spawn(function, /, *args, reads=None, writes=None, updates=None, concurrent=None, commutative=None, label=None, blocking=False, **kwargs)\n--\n\n"
     "Lets a thread of the runtime call function(*args, **kwargs), and returns a Task at once.\n\n"
     "reads, writes, updates: NumPy arrays and other buffers, or tuples of them. The call runs after the siblings before it\n"
     "that write bytes which it names, and after those that name bytes which it writes; a view is exactly its elements.\n"
     "concurrent: siblings that name it so may run at the same time. commutative: one at a time, in any order.\n"
     "blocking: the call may block outside of Weft, so another one may run beside it."},
    {"spawn_apart", (PyCFunction)(void (*)(void))spawn_apart, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"taskwait", taskwait, METH_NOARGS,
     "taskwait()\n--\n\nWaits until all tasks that the caller has spawned, and all below them, have ended. Raises the first exception\n"
     "of theirs that was not seen yet, with the others as notes."},
    {"workers", workers, METH_NOARGS, "workers()\n--\n\nReturns how many tasks run at once."},
    {"current_task", this_task, METH_NOARGS,
     "current_task()\n--\n\nReturns the task whose body calls; None outside of tasks."},
    {"leave", leave, METH_NOARGS, NULL},
    {"come_back", come_back, METH_O, NULL},
    {"finish", finish, METH_NOARGS, NULL},
    {"forget", forget, METH_NOARGS, NULL},
    {"set_helpers", set_helpers, METH_VARARGS, NULL},
    {"set_group_helpers", set_group_helpers, METH_VARARGS, NULL},
    {"regions", regions, METH_O, NULL},
    {"place", place, METH_O, NULL},
    {"run_forever", run_forever, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef g_module = {
    PyModuleDef_HEAD_INIT, "weftrt._tasks", NULL, -1, g_functions, NULL, NULL, NULL, NULL};

/* Makes the context variable, so that each coroutine of a loop has the groups of its own blocks. */
static int start_groups(void) {
  PyObject *const library = PyImport_ImportModule("contextvars");
  PyObject *const type = library ? PyObject_GetAttrString(library, "ContextVar") : NULL;
  PyObject *const name = Py_BuildValue("(s)", "weftrt.group"), *const values = Py_BuildValue("{sO}", "default", Py_None);
  PyObject *const variable = type && name && values ? PyObject_Call(type, name, values) : NULL;
  g_get_group = variable ? PyObject_GetAttrString(variable, "get") : NULL;
  g_set_group = variable ? PyObject_GetAttrString(variable, "set") : NULL;
  Py_XDECREF(variable);
  Py_XDECREF(values);
  Py_XDECREF(name);
  Py_XDECREF(type);
  Py_XDECREF(library);
  return g_get_group && g_set_group ? 0 : -1;
}

PyMODINIT_FUNC PyInit__tasks(void) {
  begin_process();
  if (start_names() < 0 || start_groups() < 0 || start_waits() < 0)
    return NULL;
  g_task_type = (PyTypeObject *)PyType_FromSpec(&g_task_spec);
  g_group_type = (PyTypeObject *)PyType_FromSpec(&g_group_spec);
  g_root_type = (PyTypeObject *)PyType_FromSpec(&g_root_spec);
  g_keeper_type = (PyTypeObject *)PyType_FromSpec(&g_keeper_spec);
  if (!g_task_type || !g_group_type || !g_root_type || !g_keeper_type || start_bodies() < 0)
    return NULL;
  PyObject *const module = PyModule_Create(&g_module);
  if (!module || PyModule_AddType(module, g_task_type) < 0 ||
      PyModule_AddType(module, g_group_type) < 0)
    return NULL;
#ifdef WEFT_FREE_THREADED
  PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
  return module;
}
