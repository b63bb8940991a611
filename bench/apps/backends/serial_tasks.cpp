// SPDX-License-Identifier: Apache-2.0
// The back end without tasks, for any application, which APP_HEADER and APP_CLASS name.
#include APP_HEADER

void APP_CLASS::run_tasks() { run_serial(); }
