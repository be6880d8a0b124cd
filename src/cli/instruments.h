/* SPDX-License-Identifier: MIT */
/* Tools that watch a driver from inside the process: AddressSanitizer, valgrind
 * (docs/debugging.md). */
#ifndef DXGK_CLI_INSTRUMENTS_H
#define DXGK_CLI_INSTRUMENTS_H

#include <stdbool.h>

/* A driver that was built with AddressSanitizer as a shared library needs its runtime before all
 * other libraries: starts this program again with it (LD_PRELOAD), unless it is there; and without
 * leaks of the host, unless ASAN_OPTIONS says something. False, after an error message: no machine
 * runs under valgrind. */
bool cli_instruments_ready(const char *driver);

#endif
