/* SPDX-License-Identifier: MIT */
/*
 * Memory descriptor lists (MDLs) that host services lend to drivers, and queries about MDLs by
 * other services.
 */
#ifndef DXGK_NT_MDL_H
#define DXGK_NT_MDL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "util/address.h"

struct nt_process;

/* Lend a driver an MDL over pages that a host service holds: the driver may map and unmap it, and
 * nothing else (PHYS-075). The list is copied. False: out of memory. */
bool nt_mdl_lend(PMDL mdl, const struct page_number *pages, uint32_t count);
/* The service ends the loan: a mapping that is left is removed. True if that was one into a process
 * (PHYS-076). */
bool nt_mdl_take_back(PMDL mdl);
/* If the MDL is on loan, report `routine`, which would end it. */
bool nt_mdl_is_lent(const void *address, const char *routine);
/* The memory of a host MDL goes away, which drivers were shown and may have mapped (MDL_INTERNAL,
 * which nothing else sets). */
void nt_mdl_gone(PMDL mdl);
/* The block at the address, which may be an MDL, is about to be freed. `routine`, called at
 * `caller`, is named if a view of its pages is used later. */
void nt_mdl_forget(const void *address, const char *routine, const void *caller);

uint64_t nt_mdl_locked_pages(const struct nt_process *process);

#endif
