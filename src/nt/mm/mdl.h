/* SPDX-License-Identifier: MIT */
/*
 * Memory descriptor lists that the host's services lend to drivers, and what other services ask of
 * MDLs.
 */
#ifndef DXGK_NT_MDL_H
#define DXGK_NT_MDL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "util/address.h"

struct nt_process;

/* An MDL that a service of the host gives a driver, over pages the service holds: the driver may
 * map it and unmap it, and nothing else (PHYS-075). The list is copied. False: out of memory. */
bool nt_mdl_lend(PMDL mdl, const struct page_number *pages, uint32_t count);
/* The service ends it: a mapping left goes. True if that was one into a process (PHYS-076). */
bool nt_mdl_take_back(PMDL mdl);
/* An MDL that nt_mdl_lend knows, given to a routine that would end it: reported. */
bool nt_mdl_is_lent(const void *address, const char *routine);
/* An MDL of the host's (MDL_INTERNAL, as nobody else sets it) that drivers were shown and may have
 * mapped: its memory goes away now. */
void nt_mdl_gone(PMDL mdl);
/* The block at the address is about to be freed; it may be an MDL. `routine`, called at
 * `caller`, is named if a view of its pages is used later. */
void nt_mdl_forget(const void *address, const char *routine, const void *caller);

uint64_t nt_mdl_locked_pages(const struct nt_process *process);

#endif
