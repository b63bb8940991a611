// SPDX-License-Identifier: Apache-2.0
// Finds the program's library of senders (P2300): the one that is named, stdexec, or the standard library's. Not for users:
// it changes with the version.
#pragma once

#if defined(WEFT_P2300_HEADER)
#include WEFT_P2300_HEADER
#if !defined(WEFT_P2300_NAMESPACE)
#error "WEFT_P2300_HEADER names a header; name its namespace by WEFT_P2300_NAMESPACE"
#endif
#if !defined(WEFT_P2300_TOKENS)
#define WEFT_P2300_TOKENS WEFT_P2300_NAMESPACE
#endif
#define WEFT_HAS_P2300 1
#elif __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#define WEFT_P2300_NAMESPACE STDEXEC // what stdexec calls its namespace
#define WEFT_P2300_TOKENS STDEXEC
#define WEFT_HAS_P2300 1
#else
#include <version>
#if defined(__cpp_lib_senders)
#include <execution>
#include <stop_token>
#define WEFT_P2300_NAMESPACE std::execution
#define WEFT_P2300_TOKENS std
#define WEFT_HAS_P2300 1
#else
#define WEFT_HAS_P2300 0
#endif
#endif

#if WEFT_HAS_P2300 && !defined(WEFT_P2300_TAG)
#if defined(STDEXEC) // has had both names since it has the second one
#define WEFT_P2300_TAG(concept_name) WEFT_P2300_NAMESPACE::concept_name##_t
#else
#define WEFT_P2300_TAG(concept_name) WEFT_P2300_NAMESPACE::concept_name##_tag
#endif
#endif
#if !defined(WEFT_P2300_HAS_COMPLETION_DOMAIN)
#define WEFT_P2300_HAS_COMPLETION_DOMAIN WEFT_HAS_P2300 // a library without it runs bulk in order
#endif
