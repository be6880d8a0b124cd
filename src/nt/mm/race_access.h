/* SPDX-License-Identifier: MIT */
/* Accesses of drivers, told to the detector of races; what it finds is reported (THREAD-080). */
#ifndef DXGK_NT_RACE_ACCESS_H
#define DXGK_NT_RACE_ACCESS_H

#include <stdint.h>

/* The current code is about to access these bytes; kind: RACE_*. Only in a machine that detects
 * races. It is no point, and touches nothing of the driver's. */
void nt_race_access(const volatile void *address, uint64_t bytes, unsigned kind, uintptr_t pc);

#endif
