/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a space that went away last, with what took them away: for the report of a page
 * fault. A ring of fixed size; noting one is a few stores. Lock held.
 */
#ifndef DXGK_VIDMM_VA_HISTORY_H
#define DXGK_VIDMM_VA_HISTORY_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#define VA_HISTORY 64u /* kept */

struct va_piece;
struct vidmm_allocation;
struct vidmm_space;

enum mapping_end {
    MAPPING_FREED,     /* its range was freed */
    MAPPING_REPLACED,  /* other pages, or none, were mapped there */
    MAPPING_DESTROYED, /* its allocation was destroyed */
    MAPPING_CLOSED,    /* the last open of its allocation in the process was closed */
};

struct va_past {
    uint64_t first, pages; /* of the space */
    uint64_t number;       /* of the allocation */
    D3DKMT_HANDLE handle;  /* a client's; 0: its last open is gone */
    uint64_t bytes;        /* of the allocation */
    uint64_t time;         /* virtual ns */
    enum mapping_end end;
    const char *call; /* D3DKMT* or DxgkCb* that took it away; NULL: a job did */
};

/* For people: "its range was freed". */
const char *va_history_end_text(enum mapping_end end);

/* A ring: element n is at n % VA_HISTORY. */
struct va_history {
    uint64_t count; /* ever */
    struct va_past last[VA_HISTORY];
};

/* Pages [first, first + pages) of the piece are no longer mapped by it. */
void va_history_note(const struct va_piece *piece, uint64_t first, uint64_t pages,
                     enum mapping_end end);
/* The youngest that covered the page; NULL: none of those that are kept. */
const struct va_past *va_history_find(const struct va_history *history, uint64_t page);

/* A handle of the allocation in the process of the space; 0: none. */
D3DKMT_HANDLE va_history_handle(const struct vidmm_space *space,
                                const struct vidmm_allocation *allocation);

#endif
