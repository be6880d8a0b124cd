/* SPDX-License-Identifier: MIT */
/* What pool.c and pool_special.c share. */
#ifndef DXGK_NT_POOL_H
#define DXGK_NT_POOL_H

#include "nt/nt_private.h"

/* Contiguous frames: one page cut into slots, or the pages of one large block. */
struct nt_pool_page {
    struct list link; /* with a free slot: in the class's list */
    uint8_t *base;    /* in the direct view, or the view below */
    void *view;       /* of special pool; one page longer than the frames */
    struct page_number first;
    uint64_t pages;
    uint8_t class;
    bool large; /* one block, pages of its own */
    bool executable;
    uint16_t slots, used;
    uint64_t taken[2]; /* bit per slot */
    struct nt_block *block[];
};

struct nt_pool_page *nt_pool_create_page(uint64_t pages, uint16_t slots, bool zero);
/* Code in it can be run from now on, until it is destroyed, or its view is. False: out of memory. */
bool nt_pool_make_executable(struct nt_pool_page *page);
void nt_pool_destroy_page(struct nt_pool_page *page);
/* Its frames belong to no pool page any more. */
void nt_pool_disown_page(const struct nt_pool_page *page);

bool nt_pool_place_special(struct nt_block *block, bool zero);
void nt_pool_retire_special(struct nt_block *block);
void nt_pool_special_finish(struct nt *nt);
/* paged.c: a new block's view is closed; one that goes is open no more. */
bool nt_paged_protect(const struct nt_block *block);
void nt_paged_forget(const struct nt_block *block);
/* In a signal handler: a page of paged pool that an access below DISPATCH_LEVEL wants. False: none is. */
bool nt_paged_open(uintptr_t address);
/* The level was raised. */
void nt_paged_close(void);
struct nt_block *nt_pool_find_retired(const void *address);

#endif
