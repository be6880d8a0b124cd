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

#endif
