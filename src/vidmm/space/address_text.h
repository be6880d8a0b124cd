/* SPDX-License-Identifier: MIT */
/* What the host knows of one GPU virtual address, as text: for the report of a page fault. */
#ifndef DXGK_VIDMM_ADDRESS_TEXT_H
#define DXGK_VIDMM_ADDRESS_TEXT_H

#include <stdint.h>

struct vidmm_process;

struct vidmm_address_text {
    char owner[576]; /* what is mapped there, or was last, and what took it away */
    char walk[640];  /* the page tables, from the root to where the walk ends; "": none */
};

/* Both are "" for a process without page tables. Only reads, at any level: without the lock, since
 * the records are whole wherever threads are switched (vidsch/scheduler.h). */
void vidmm_address_text(const struct vidmm_process *process, uint64_t address,
                        struct vidmm_address_text *text);

#endif
