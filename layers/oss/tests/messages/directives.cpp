// SPDX-License-Identifier: Apache-2.0
// Directives that the table does not have, and such as are not compiled.
void f(int n) {
#pragma oss // error 9: '#pragma oss' names no directive
#pragma oss tsk inout(n) // error 13: unknown directive '#pragma oss tsk'; did you mean 'task'?
  ++n;
#pragma oss taskwiat // error 13: unknown directive '#pragma oss taskwiat'; did you mean 'taskwait'?
#pragma oss parallel // error 13: unknown directive '#pragma oss parallel'
#pragma oss 12 // error 13: unknown directive '#pragma oss 12'
#pragma oss lint free // warning 13: '#pragma oss lint' is ignored: it is a note to a checker; the statement behind it runs as it is
  ++n;
#pragma oss target device(smp) // warning 13: '#pragma oss target' is ignored: it is a note on the task behind it, which runs on a processor; refused with another device than smp, and with implements
#pragma oss task inout(n)
  ++n;
#pragma oss target device(cuda) // error 20: clause 'device' of '#pragma oss target' is not supported: Weft runs tasks on processors, which are device(smp)
#pragma oss release // error 13: '#pragma oss release' needs a dependence to give up: release out(x)
#pragma oss critical(a b) // error 21: the name of '#pragma oss critical' must be one identifier: critical(name)
  ++n;
}
