/* SPDX-License-Identifier: MIT */
/*
 * What a driver has in its hands of VidPNs and monitors: handles of objects, and structures. Both
 * belong to a scope: a DDI that was given a VidPN, with whose return they end (VIDPN-007), or a
 * monitor. Handles are opaque and never given twice in a machine, so one that has ended is told
 * from one that never was. A scope has fewer than ten of each, so both are found by walking it.
 */
#ifndef DXGK_MODES_SCOPE_H
#define DXGK_MODES_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddi/guarded.h"
#include "modes/mode_set.h"
#include "util/list.h"

struct modes;
struct vidpn;

enum hand_kind {
    HAND_VIDPN,
    HAND_TOPOLOGY,
    HAND_SOURCE_SET,
    HAND_TARGET_SET,
    HAND_MONITOR_SET,
    HAND_RANGE_SET,
    HAND_DESCRIPTOR_SET,
};

/* What a DDI may change of its VidPN (VIDPN-014); 0: it reads. */
enum modes_access {
    MODES_PATHS = 1,   /* add and remove */
    MODES_SETS = 2,    /* assign */
    MODES_PIN = 4,     /* and whatever else */
    MODES_SUPPORT = 8, /* what paths support */
    MODES_MONITOR = 16 /* add to the set of a monitor */
};

struct modes_scope {
    struct list link; /* of the machine */
    struct modes *modes;
    const char *ddi; /* name of the DDI, or what the scope is of */
    unsigned access;
    struct vidpn *vidpn;          /* NULL: none */
    const struct mode_set *pivot; /* must stay as it is; NULL: none */
    struct list hands, lent;      /* struct modes_hand, struct modes_lent */
};

/* A handle. */
struct modes_hand {
    struct list link;
    struct modes_scope *scope;
    enum hand_kind kind;
    void *object;      /* struct vidpn, mode_set, ... */
    uintptr_t handle;  /* 0: it has ended, but structures of it may be left */
    unsigned acquired; /* references that the driver has to give back */
    bool made;         /* a mode set that it has created, and assigned to nothing */
    bool owned;        /* a mode set that goes with this: such a one, or one that was replaced */
    const char *by;    /* function that gave it last */
};

/* A structure. */
struct modes_lent {
    struct list link;
    const struct modes_hand *owner; /* set or topology that it is of */
    const char *by;                 /* function that gave it */
    size_t bytes;
    bool made; /* by a create function: the driver fills it in */
    bool live; /* neither released nor added */
    bool released, added;
    UINT key;                  /* of a mode: its Id */
    UINT key2;                 /* of a path: its target, with the source in `key` */
    void *data;                /* for the driver: in `memory` */
    struct ddi_guarded memory; /* LIFE-191 */
    unsigned char original[];
};

/* How many allocations of the machine have failed so far: what a driver does when one of its own
 * calls has failed for that is not to be blamed on it. */
uint64_t modes_allocations_refused(void);

/* The machine ends: free what is kept of it. */
void modes_scopes_finish(void);

/* Begin one for a DDI. `ddi`: a literal. */
void modes_scope_begin(struct modes_scope *scope, struct modes *modes, const char *ddi,
                       unsigned access, struct vidpn *vidpn);
/* Report what the driver still has (VIDPN-015) and what it has written where it must not, and free
 * all. */
void modes_scope_end(struct modes_scope *scope);

/* Free what the driver has given back, but for the last few: for scopes that outlive many calls. */
void modes_scope_purge(struct modes_scope *scope);

/* Give out a handle of the object, the one that it has if it has one. NULL: out of memory. */
struct modes_hand *modes_hand_out(struct modes_scope *scope, enum hand_kind kind, void *object);
/* The handle ends; what it is of stays readable, as structures of it may be left. */
void modes_hand_end(struct modes_hand *hand);
/* The live one of the object; NULL: there is none. */
struct modes_hand *modes_hand_of(const struct modes_scope *scope, enum hand_kind kind,
                                 const void *object);
/* A live structure that the driver has of it; NULL: there is none. */
const struct modes_lent *modes_hand_lends(const struct modes_hand *hand);
/* NULL: it is none of this kind, with the reason refused under `status`; a stale one is told. */
struct modes_hand *modes_hand_find(const void *handle, enum hand_kind kind, NTSTATUS status);
const char *hand_kind_name(enum hand_kind kind);
/* Interface version of the driver that has the handle; of an unknown handle, that of the driver in
 * progress, or the highest number if none is. */
UINT modes_hand_version(const void *handle);
/* Structures of it are not looked for any more; they stay readable. */
void modes_hand_forget(const struct modes_hand *hand);

/* Give out a copy of `bytes` at `content`. NULL: out of memory. */
struct modes_lent *modes_lend(struct modes_hand *owner, const void *content, size_t bytes,
                              const char *by, bool made);
/* The live structure at this address that the driver has of the owner; NULL: there is none. */
struct modes_lent *modes_lent_find(const struct modes_hand *owner, const void *data);
/* The same, whoever the owner is. */
struct modes_lent *modes_lent_anywhere(const struct modes_scope *scope, const void *data);
/* It is given back: report a change of what was for reading (VIDPN-016), and poison it. It is freed
 * with the scope, so that its address does not come back before (VIDPN-017). */
void modes_lent_end(struct modes_lent *lent);
/* It was added: the driver's no more, but a published one reads the Id of a mode after that. */
void modes_lent_taken(struct modes_lent *lent);

#endif
