// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

int main(int argc, char **argv) { return app::main_program(argc, argv); }
