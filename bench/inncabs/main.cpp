// SPDX-License-Identifier: Apache-2.0
// The programs in the model that the build names.
#include "support/main.hpp"
#include WEFT_MODEL_HEADER

int main(int argc, char **argv) { return inncabs::run<inncabs::WEFT_MODEL>(argc, argv); }
