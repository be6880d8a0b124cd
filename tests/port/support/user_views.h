/* SPDX-License-Identifier: MIT */
/*
 * A view in user mode that the driver of the first adapter makes in one of the ways there are, and two client processes of
 * which one has it. A test sets user_view_way, then user_view.a and .b by probe_process, and goes through functions that each
 * run on a thread of one of them: probe_run_in(p, user_view.a, user_view_make).
 */
#ifndef DXGK_TESTS_PORT_USER_VIEWS_H
#define DXGK_TESTS_PORT_USER_VIEWS_H

#include "port/support/memory_calls.h"

#define USER_VIEW_BYTES (2u * 4096u)

extern struct user_view_scene {
    struct nt_process *a, *b;
    volatile char *view;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object;
    DXGKARGCB_MAP_PHYSICAL_MEMORY mapped;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages;
    bool reached; /* a function that ran in a process did so to its end, or to where it says */
} user_view;

/* The ways: a physical memory object, memory of a BAR, the pages of an MDL. */
extern const struct user_view_kind {
    void (*map)(struct probe *p), (*unmap)(struct probe *p);
    const char *rule, *what;
} user_view_ways[3];

extern const struct user_view_kind *user_view_way;

PHYSICAL_ADDRESS user_view_bar(const struct probe *p, unsigned index);
void user_view_map_object(struct probe *p);
void user_view_unmap_object(struct probe *p);
void user_view_map_registers(struct probe *p);
void user_view_unmap_device(struct probe *p); /* registers, or memory of a BAR */

/* Whether the current process can read the view. */
bool user_view_is_there(void);
bool user_view_is_valid(void); /* what MmIsAddressValid says of it */
void user_view_make(
    struct probe *p); /* by user_view_way; the last byte of its first page becomes 0x5A */
void user_view_look_from_a(struct probe *p);
void user_view_look_from_b(struct probe *p);
void user_view_unmap_from_a(struct probe *p);

#endif
