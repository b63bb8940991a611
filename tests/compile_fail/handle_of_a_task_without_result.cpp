// expect: conversion from .(weft::v0::)?void.
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f() {
  weft::handle<void> h = weft::spawn([] {}); // it needs weft::tracked
}
