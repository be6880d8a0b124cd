/* SPDX-License-Identifier: MIT */
/*
 * Invariants of the host, checked in every build, since each costs a comparison or two. A failure
 * is a mistake of the host, never of a driver or a client, which are reported by rule: it prints
 * the place and the condition, and aborts the program.
 */
#ifndef DXGK_UTIL_ASSERT_H
#define DXGK_UTIL_ASSERT_H

_Noreturn void util_assert_failed(const char *file, unsigned line, const char *condition);

#define util_assert(condition)                    \
    (__builtin_expect(!!(condition), 1) ? (void)0 \
                                        : util_assert_failed(__FILE_NAME__, __LINE__, #condition))

#endif
