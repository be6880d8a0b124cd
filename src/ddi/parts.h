/* SPDX-License-Identifier: MIT */
/*
 * What a structure of a DDI points to. The driver gets copies of that, too, in an arena of the
 * call, each between zones of known bytes, and its copy of the structure points to them:
 *
 *      host                                   driver
 *      DXGKARG_CREATEALLOCATION  -- lent -->  copy
 *        pAllocationInfo --> array              | --> [zone| array |zone
 *                              | private          |      | --> zone| private data |zone]
 *
 * Which members those are is in part_table.c, with the direction. When the call returns, the zones
 * are compared (LIFE-191), what may come back is copied to where the host has it, and the pointers
 * in it are the host's own again, whatever the driver left in them (LIFE-192). So no address of the
 * arena gets out, and the host never follows an address that the driver wrote.
 *
 * For entries of the adapter's life and of clients' requests, which copy little, and seldom. What
 * the entries of a submission point to lives longer than a call, and is guarded where it is
 * allocated (guarded.h).
 */
#ifndef DXGK_DDI_PARTS_H
#define DXGK_DDI_PARTS_H

#include "ddi/door.h"
#include "ddi/part.h"

#define DDI_PIECES_OWN 8u

struct ddi_arena;
struct ddi_fenced;

/* A copy in the arena. */
struct ddi_piece {
    const struct ddi_part *part;
    uint8_t *data;
    void *host; /* the original; written to only if it may come back */
    size_t bytes;
    uint32_t before, behind;   /* bytes of the zones beside it */
    int alias;                 /* the piece that this is a second pointer to; -1: itself one */
    int parent;                /* the piece that has the pointer; -1: the structure itself */
    size_t offset;             /* of the pointer in it */
    struct ddi_fenced *fenced; /* instead of a place in the arena; NULL: none */
};

/* A structure that is lent with its parts. */
struct ddi_parts {
    struct ddi_lent structure;
    void *host; /* the structure's original */
    struct ddi_arena *arena;
    struct ddi_piece *piece, own[DDI_PIECES_OWN];
    unsigned count, room;
    bool lent; /* the pieces have their places */
};

/* Lend a copy of the structure and copies of its parts, as `table` (ending with an element that is
 * all zero) says. False: out of memory; nothing is lent then. */
bool ddi_parts_lend(struct ddi_parts *parts, const struct ddi_part *table, const void *structure,
                    size_t bytes, const char *what);
/* Compare the zones while the call is in progress; `routine`: the driver's entry, to be named. */
void ddi_parts_check(struct ddi_parts *parts, uintptr_t routine);
/* End the loan; what may come back does. With `back`, so does the structure, which goes there. */
void ddi_parts_end(struct ddi_parts *parts, void *back);
/* The same for a call that did not begin: nothing comes back. */
NTSTATUS ddi_parts_refuse(struct ddi_parts *parts, NTSTATUS status);

/* Call an entry of the driver that has parts, as the table of entries says otherwise. */
#define CALL_PARTS_AT(adapter, entry_, level, irql, args, back, parts_, ...)                   \
    struct ddi_parts passed;                                                                   \
    struct ddi_call call;                                                                      \
    NTSTATUS status = ddi_parts_lend(&passed, parts_, args, sizeof(*(args)),                   \
                                     ddi_structure_##entry_)                                   \
                          ? ddi_enter_with_at(&call, adapter, DDI_##entry_, level, irql, args) \
                          : STATUS_NO_MEMORY;                                                  \
                                                                                               \
    if (!NT_SUCCESS(status))                                                                   \
        return ddi_parts_refuse(&passed, status);                                              \
    status = (adapter)->table.entry_(__VA_ARGS__, passed.structure.data);                      \
    ddi_returned(&call);                                                                       \
    ddi_parts_check(&passed, (uintptr_t)(adapter)->table.entry_);                              \
    ddi_parts_end(&passed, back);                                                              \
    return ddi_leave_with(&call, status)

#define CALL_PARTS_IN(adapter, entry_, args, parts_, ...)                                         \
    _Static_assert((int)ddi_way_##entry_ == DDI_WAY_IN, "the table says that answers come back"); \
    CALL_PARTS_AT(adapter, entry_, ddi_entry_info(DDI_##entry_)->level,                           \
                  ddi_entry_info(DDI_##entry_)->irql, args, NULL, parts_, __VA_ARGS__)

#define CALL_PARTS_BOTH(adapter, entry_, args, parts_, ...)                            \
    _Static_assert((int)ddi_way_##entry_ == DDI_WAY_BOTH, "the table says otherwise"); \
    CALL_PARTS_AT(adapter, entry_, ddi_entry_info(DDI_##entry_)->level,                \
                  ddi_entry_info(DDI_##entry_)->irql, args, args, parts_, __VA_ARGS__)

#endif
