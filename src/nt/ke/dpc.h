/* SPDX-License-Identifier: MIT */
/*
 * Deferred procedure calls (DPCs) of drivers, for the timers that queue them.
 */
#ifndef DXGK_NT_DPC_H
#define DXGK_NT_DPC_H

#include <stdbool.h>

#include <ntddk.h>

struct nt_image;

/* `anywhere`: on a processor that the seed chooses, as the clock ticks on all of them, unless the
 * DPC has a target. False: it is already queued. */
bool nt_dpc_insert(PKDPC object, PVOID argument1, PVOID argument2, struct nt_image *image,
                   const void *caller, bool anywhere);

/* Before a routine of the driver is called that runs as a DPC: one that has run too often within a
 * while stops the machine (NT-195). `object`: by which it is known, a KDPC or an EX_TIMER. */
void nt_dpc_count_run(const void *object, const void *routine);

#endif
