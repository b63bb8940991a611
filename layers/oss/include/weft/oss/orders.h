/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says at its start whose files order items in both ways: in C and in C++. */
#pragma once

#define WEFT_OSS_TWO_ORDERS                                                                        \
  "weft: some files of this program order the dependences of '#pragma oss' by address and some "   \
  "by bytes, which are not compared with each other; compile all with -foss-regions, or none\n"
