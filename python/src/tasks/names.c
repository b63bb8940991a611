/* SPDX-License-Identifier: Apache-2.0
   What tasks are called in messages, counters, traces and reports, and where the program has written what they run. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

enum { k_known_places = 256 }; /* a power of two */

/* Guards the table and the uses of places, where there is no GIL to do it. */
#ifdef WEFT_FREE_THREADED
static pthread_mutex_t g_names_lock = PTHREAD_MUTEX_INITIALIZER;
static void lock_names(void) { pthread_mutex_lock(&g_names_lock); }
static void unlock_names(void) { pthread_mutex_unlock(&g_names_lock); }
void forget_names_in_child(void) { pthread_mutex_init(&g_names_lock, NULL); }
#else
static void lock_names(void) {}
static void unlock_names(void) {}
void forget_names_in_child(void) {}
#endif

struct Place {
  long uses; /* by tasks, and by the table */
  size_t file; /* where that begins in the text */
  char text[]; /* "FUNCTION at FILE:LINE" */
};

/* The places of functions that were spawned lately, by their code. A reference to the code keeps another one from its
   address. */
static struct {
  PyObject *code;
  Place *place;
} g_known[k_known_places];

static PyObject *g_partial_type, *g_code, *g_qualname, *g_co_qualname, *g_name, *g_unnamed;

int start_names(void) {
  if (g_unnamed)
    return 0;
  PyObject *const functools = PyImport_ImportModule("functools");
  g_partial_type = functools ? PyObject_GetAttrString(functools, "partial") : NULL;
  Py_XDECREF(functools);
  g_code = PyUnicode_InternFromString("__code__");
  g_qualname = PyUnicode_InternFromString("__qualname__");
  g_co_qualname = PyUnicode_InternFromString("co_qualname");
  g_name = PyUnicode_InternFromString("__name__");
  g_unnamed = PyUnicode_FromString("task of Python");
  return g_partial_type && g_code && g_qualname && g_co_qualname && g_name && g_unnamed ? 0 : -1;
}

/* Returns an attribute that is a str; null. */
static PyObject *text_of(PyObject *object, PyObject *name) {
  PyObject *text = PyObject_GetAttr(object, name);
  if (!text)
    PyErr_Clear();
  else if (!PyUnicode_Check(text))
    Py_CLEAR(text);
  return text;
}

/* Returns the function that a partial of functools calls; a reference. */
static PyObject *function_of(const Task *t) {
  PyObject *function = t->function, *inner;
  Py_INCREF(function);
  while (PyObject_TypeCheck(function, (PyTypeObject *)g_partial_type) &&
         (inner = PyObject_GetAttrString(function, "func")) != NULL) {
    Py_DECREF(function);
    function = inner;
  }
  PyErr_Clear();
  return function;
}

static void drop_place(Place *place) {
  if (place && --place->uses == 0)
    PyMem_Free(place);
}

static Place *make_place(PyObject *code) {
  PyObject *const file = PyObject_GetAttrString(code, "co_filename");
  PyObject *const function = file ? text_of(code, g_co_qualname) : NULL;
  PyObject *const line = function ? PyObject_GetAttrString(code, "co_firstlineno") : NULL;
  Py_ssize_t length = 0, more = 0;
  const char *const name =
      line && PyUnicode_Check(file) ? PyUnicode_AsUTF8AndSize(file, &length) : NULL;
  const char *const inside = name ? PyUnicode_AsUTF8AndSize(function, &more) : NULL;
  const size_t room = (size_t)length + (size_t)more + 32;
  Place *const place = inside ? PyMem_Malloc(sizeof *place + room) : NULL;
  if (place) {
    place->uses = 1;
    place->file = (size_t)more + 4;
    PyOS_snprintf(place->text, room, "%s at %s:%ld", inside, name, PyLong_AsLong(line));
  }
  PyErr_Clear();
  Py_XDECREF(file);
  Py_XDECREF(function);
  Py_XDECREF(line);
  return place;
}

/* Returns where the function is written, for the caller to drop. What it drops itself may run code of the program, which
   may spawn, and so change the table: so it takes its own place first. */
static Place *take_place(PyObject *function) {
  if (PyCFunction_Check(function))
    return NULL;
  PyObject *const code = PyObject_GetAttr(function, g_code);
  if (!code) {
    PyErr_Clear();
    return NULL;
  }
  const size_t at = ((uintptr_t)code >> 4) * 0x9E3779B97F4A7C15u >> 32 & (k_known_places - 1);
  lock_names();
  const bool is_known = g_known[at].code == code;
  unlock_names();
  Place *const made = is_known ? NULL : make_place(code);
  PyObject *former = code;
  lock_names();
  if (g_known[at].code != code && !is_known) {
    former = g_known[at].code;
    drop_place(g_known[at].place);
    g_known[at].code = code;
    g_known[at].place = made;
  } else {
    drop_place(made);
  }
  Place *const place = g_known[at].code == code ? g_known[at].place : NULL;
  if (place)
    ++place->uses;
  unlock_names();
  Py_XDECREF(former);
  return place;
}

/* The task that was named last, and has its label, its text and its place; null when it is gone. While it has its
   function, no other one can be at that address. Without a GIL there is none: another thread may just end that task. */
static Task *g_last_named;

static void keep_as_last(Task *t) {
#ifdef WEFT_FREE_THREADED
  (void)t;
#else
  g_last_named = t;
#endif
}

/* Gives a task the place, and unless it has one the label, of the task before it, where both have one function. Returns
   whether it is named. */
static bool name_as_before(Task *t) {
  const Task *const like = g_last_named;
  if (!like || like->function != t->function || t->label || like->has_own_label)
    return false;
  t->label = like->label;
  Py_INCREF(t->label);
  t->name = like->name;
  if ((t->place = like->place))
    ++t->place->uses;
  return true;
}

/* Names a task by its function, whose attributes may be code of the program: it may spawn, and hand the GIL on. */
static void name_by_function(Task *t) {
  PyObject *const function = function_of(t);
  if (!t->label && !(t->label = text_of(function, g_qualname)) &&
      !(t->label = text_of(function, g_name)) && !(t->label = PyType_GetName(Py_TYPE(function)))) {
    Py_INCREF(g_unnamed);
    t->label = g_unnamed;
  }
  t->place = take_place(function);
  Py_DECREF(function);
  Py_ssize_t size;
  t->name = PyUnicode_AsUTF8AndSize(t->label, &size);
  if (!t->name)
    t->name = "task of Python"; /* no text in UTF-8 */
  PyErr_Clear();
}

void name_task(Task *t) {
  t->has_own_label = t->label != NULL;
  if (!name_as_before(t))
    name_by_function(t);
  keep_as_last(t);
}

void unname_task(Task *t) {
  if (g_last_named == t)
    g_last_named = NULL;
  Py_CLEAR(t->label);
  lock_names();
  drop_place(t->place);
  unlock_names();
  t->place = NULL;
}

const char *place_of(const Task *t) { return t->place ? t->place->text : ""; }
const char *file_of(const Task *t) { return t->place ? t->place->text + t->place->file : ""; }

const char *order_label_of(void *task) { return ((Task *)task)->name; }

/* Writes the file and the line of a frame, and the function before them where `names` says so. Returns whether they are
   the program's. */
static bool write_line(PyObject *frame, bool names, char *text, size_t size) {
  PyObject *const code = PyObject_GetAttrString(frame, "f_code");
  PyObject *const file = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
  PyObject *const function = file && names ? PyObject_GetAttrString(code, "co_qualname") : NULL;
  PyObject *const line = file ? PyObject_GetAttrString(frame, "f_lineno") : NULL;
  Py_ssize_t length;
  const char *const name =
      file && PyUnicode_Check(file) ? PyUnicode_AsUTF8AndSize(file, &length) : NULL;
  const char *const inside =
      function && PyUnicode_Check(function) ? PyUnicode_AsUTF8AndSize(function, &length) : NULL;
  const bool is_ours = name && strstr(name, "/weftrt/_") != NULL;
  if (name && line && !is_ours)
    PyOS_snprintf(text, size, "%s%s%s:%ld", inside ? inside : "", inside ? " at " : "", name,
                  PyLong_AsLong(line));
  PyErr_Clear();
  Py_XDECREF(code);
  Py_XDECREF(file);
  Py_XDECREF(function);
  Py_XDECREF(line);
  return !is_ours;
}

static void write_caller(bool names, char *text, size_t size) {
  PyObject *frame = (PyObject *)PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame && frame != Py_None && !write_line(frame, names, text, size)) {
    PyObject *const outer = PyObject_GetAttrString(frame, "f_back");
    Py_DECREF(frame);
    frame = outer;
  }
  PyErr_Clear();
  Py_XDECREF(frame);
}

void write_line_of_caller(char *text, size_t size) { write_caller(true, text, size); }

/* Writes the line of the program that the caller is in, which spawns. */
void order_spawn_site_of(void *task, char *text, size_t size) {
  (void)task;
  write_caller(false, text, size);
}
