/* SPDX-License-Identifier: MIT */
/*
 * Forced IRQL checking, an option: paged pool that is not there at raised levels (THREAD-005).
 */
#ifndef DXGK_NT_PAGED_H
#define DXGK_NT_PAGED_H

#include <stdbool.h>
#include <stdint.h>

struct nt_block;

/* A new block's view is closed; one that goes is open no more. */
bool nt_paged_protect(const struct nt_block *block);
void nt_paged_forget(const struct nt_block *block);
/* In a signal handler: a page of paged pool that an access below DISPATCH_LEVEL wants. False:
 * none is. */
bool nt_paged_open(uintptr_t address);
/* The level was raised. */
void nt_paged_close(void);
/* An address in paged pool, in a machine where that is not there at raised levels. */
bool nt_paged_fault(const void *address);

#endif
