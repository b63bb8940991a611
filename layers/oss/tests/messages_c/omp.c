// SPDX-License-Identifier: Apache-2.0
// What is refused and ignored of OmpSs-1, and of OpenMP beside it.
void f(int n, int *p) {
#pragma omp // error 9: '#pragma omp' names no directive
#pragma omp tsk in(n) // error 13: unknown directive '#pragma omp tsk'; did you mean 'task'?
  ++n;
#pragma omp task weakin(n) // error 18: clause 'weakin' is of OmpSs-2: write '#pragma oss task'
  ++n;
#pragma omp task input(n) // error 18: clause 'input' is not supported: its name is 'in' by now
  ++n;
#pragma omp task output(n) // error 18: clause 'output' is not supported: its name is 'out' by now
  ++n;
#pragma omp task tied // error 18: clause 'tied' is not supported: behind a wait a task may go on on another worker
  ++n;
#pragma omp task untied // warning 18: clause 'untied' is ignored: it is what each task is: behind a wait it goes on on any worker
  ++n;
#pragma omp task mergeable // warning 18: clause 'mergeable' is ignored: it is a permission that Weft does not need
  ++n;
#pragma omp task lable("x") // error 18: unknown clause 'lable' of '#pragma omp task'; did you mean 'label'?
  ++n;
#pragma omp taskwait noflush // warning 22: clause 'noflush' is ignored: it is about data of accelerators, and Weft runs tasks on processors
#pragma omp target device(smp) copy_deps // warning 13: '#pragma omp target' is ignored: it is a note on the task behind it, which runs on a processor; refused with another device than smp, and with implements
#pragma omp task in(*p)
  ++n;
#pragma omp target device(cuda) // error 20: clause 'device' of '#pragma omp target' is not supported: Weft runs tasks on processors, which are device(smp)
#pragma omp target device(smp) implements(f) // error 32: clause 'implements' of '#pragma omp target' is not supported: a task has one implementation
#pragma omp simd // warning 13: '#pragma omp simd' is ignored: it is a hint to the compiler; the loop behind it runs as it is
  for (int i = 0; i < n; ++i)
    ++p[i];
#pragma omp for // error 13: '#pragma omp for' is not supported: write '#pragma oss taskloop' or '#pragma oss task for', and a taskwait
  for (int i = 0; i < n; ++i)
    ++p[i];
#pragma omp taskloop // error 13: '#pragma omp taskloop' is not supported: it waits for its tasks; write '#pragma oss taskloop', and a taskwait
  for (int i = 0; i < n; ++i)
    ++p[i];
#pragma omp taskgroup // error 13: '#pragma omp taskgroup' is not supported: write '#pragma omp taskwait' behind the statement
  ++n;
#pragma omp parallel // error 13: '#pragma omp parallel' is not supported: it is for OpenMP's teams of threads, which OmpSs has not
  ++n;
#pragma omp barrier // error 13: '#pragma omp barrier' is not supported: it is for OpenMP's teams of threads, which OmpSs has not
#pragma omp threadprivate(n) // error 13: '#pragma omp threadprivate' is not supported: a task may go on on another thread behind a wait
#pragma omp task
  return; // error 3: 'return' leaves the statement of '#pragma omp task'
}
