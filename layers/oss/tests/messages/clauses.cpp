// SPDX-License-Identifier: Apache-2.0
// Clauses: unknown ones, those of other directives, repeated, without what they need, in conflict.
struct s {
  int a;
};
void f(int n, int *p, s *q) {
#pragma oss task lable("x") // error 18: unknown clause 'lable' of '#pragma oss task'; did you mean 'label'?
  ++n;
#pragma oss task inuot(n) // error 18: unknown clause 'inuot' of '#pragma oss task'; did you mean 'inout'?
  ++n;
#pragma oss task inout(n) untied // error 27: clause 'untied' does not belong to '#pragma oss task'
  ++n;
#pragma oss task grainsize(4) // error 18: clause 'grainsize' does not belong to '#pragma oss task'
  ++n;
#pragma oss taskwait priority(1) // error 22: clause 'priority' does not belong to '#pragma oss taskwait'
#pragma oss taskyield in(n) // error 23: '#pragma oss taskyield' has no clauses: 'in'
#pragma oss task if(n) if(0) // error 24: clause 'if' appears twice in '#pragma oss task'
  ++n;
#pragma oss task label("a") label("b") // error 29: clause 'label' appears twice in '#pragma oss task'
  ++n;
#pragma oss task default(none) default(none) // error 32: clause 'default' appears twice in '#pragma oss task'
  ;
#pragma oss task default(private) // error 26: clause 'default' must be default(shared), default(firstprivate) or default(none)
  ++n;
#pragma oss task wait wait // error 23: clause 'wait' appears twice in '#pragma oss task'
  ++n;
#pragma oss task wait(1) // error 18: clause 'wait' takes no argument
  ++n;
#pragma oss task priority // error 18: clause 'priority' needs an argument: priority(...)
  ++n;
#pragma oss task in() // error 18: clause 'in' is empty
  ++n;
#pragma oss task in(n,) // error 21: clause 'in' has an empty item
  ++n;
#pragma oss task in(n // error 20: the bracket of clause 'in' is not closed
  ++n;
#pragma oss task shared(n) firstprivate(n) // error 41: variable 'n' is both shared and firstprivate
  ++n;
#pragma oss task private(n, n) // error 29: variable 'n' is named twice in clause 'private'
  ++n;
#pragma oss task shared(q->a) // error 25: clause 'shared' takes names of variables
  ++n;
#pragma oss task inout(n) firstprivate(n) // error 40: variable 'n' is firstprivate and an item of a dependence, which must be shared
  ++n;
#pragma oss task in(*p) private(p) // error 33: variable 'p' is private and an item of a dependence, which must be shared
  ++n;
#pragma oss task device(cuda) // error 18: clause 'device' is not supported: it names an accelerator, and Weft runs tasks on processors, which are device(smp)
  ++n;
#pragma oss task device(smp)
  ++n;
#pragma oss taskwait noflush // warning 22: clause 'noflush' is ignored: it is about data of accelerators, and Weft runs tasks on processors
#pragma oss task ndrange(1, n, 1) // error 18: clause 'ndrange' is not supported: it launches a kernel on an accelerator, and Weft runs tasks on processors
  ++n;
#pragma oss task grid(1, n) // error 18: clause 'grid' is not supported: it launches a kernel on an accelerator, and Weft runs tasks on processors
  ++n;
#pragma oss task shmem(n) // error 18: clause 'shmem' is not supported: it is memory of an accelerator, and Weft runs tasks on processors
  ++n;
#pragma oss task verified(n) // warning 18: clause 'verified' is ignored: it is a note to a checker
  ++n;
#pragma oss task onready // error 18: clause 'onready' needs an argument: onready(...)
  ++n;
#pragma oss taskloop chunksize(4) // error 22: clause 'chunksize' does not belong to '#pragma oss taskloop'
  for (int i = 0; i < n; ++i)
    ;
#pragma oss task node(0) // warning 18: clause 'node' is ignored: it is the name of a node of a cluster, and the program runs on one
  ++n;
#pragma oss task depend(n) // error 18: clause 'depend' needs a kind: depend(inout: x)
  ++n;
#pragma oss task depend(sink : n) // error 25: unknown kind of clause 'depend'; it must be in, out, inout, mutexinoutset or inoutset, with or without weak
  ++n;
#pragma oss task depend(in, out : n) // error 29: clause 'depend' has two kinds
  ++n;
#pragma oss task depend(weak : n) // error 18: clause 'depend' needs a kind: depend(weak, inout: x)
  ++n;
}
