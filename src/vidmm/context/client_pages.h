/* SPDX-License-Identifier: MIT */
/*
 * Pages at a constant address of a client, which the host points at other memory while the client
 * uses them: doorbells, and what belongs to them (SUBMIT-122).
 *
 *     its own page    what the client finds at first, and while nothing else is to be found
 *     elsewhere       where a driver's kernel address leads: RAM, or memory of the device
 *
 * PASSIVE_LEVEL but for vidmm_client_pages_own, which may be called up to DISPATCH_LEVEL.
 */
#ifndef DXGK_VIDMM_CLIENT_PAGES_H
#define DXGK_VIDMM_CLIENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "util/address.h"

struct vidmm;

struct vidmm_client_pages {
    uint8_t *client; /* NULL: there are none */
    uint32_t pages;
    struct page_number frame; /* its own page, the same behind each address */
    bool taken;
    volatile uint64_t *kernel; /* the host's address of that */
    bool writable;             /* for the client */
};

/* `pages` addresses; its own page is zeroed. */
NTSTATUS vidmm_client_pages_create(struct vidmm *vidmm, uint32_t pages, bool writable,
                                   struct vidmm_client_pages *out);
/* Show the memory at this kernel address, which begins a page. False: there is no memory of RAM or
 * of the device there, and the pages show what they did or their own page. */
bool vidmm_client_pages_point(struct vidmm *vidmm, struct vidmm_client_pages *pages,
                              const void *address);
/* Does the kernel address lead to registers of the device, of which no page can be shown? */
bool vidmm_client_pages_are_registers(const struct vidmm *vidmm, const void *address);
/* Show its own page again. */
void vidmm_client_pages_own(struct vidmm *vidmm, const struct vidmm_client_pages *pages);
/* Also of what was never created. */
void vidmm_client_pages_destroy(struct vidmm *vidmm, struct vidmm_client_pages *pages);

#endif
