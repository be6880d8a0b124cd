/* SPDX-License-Identifier: MIT */
/*
 * Mode sets: the modes that are possible for a source, for a target, or for a monitor, with at most
 * one pinned (display-modes.md). Modes are kept by value in an array, and found by walking it: sets
 * have tens of modes, and are made anew for each enumeration.
 */
#ifndef DXGK_MODES_MODE_SET_H
#define DXGK_MODES_MODE_SET_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

enum mode_kind { MODE_SOURCE, MODE_TARGET, MODE_MONITOR };

/* A mode of any kind; each begins with its Id. */
union mode {
    UINT id;
    D3DKMDT_VIDPN_SOURCE_MODE source;
    D3DKMDT_VIDPN_TARGET_MODE target;
    D3DKMDT_MONITOR_SOURCE_MODE monitor;
};

struct mode_set {
    enum mode_kind kind;
    UINT owner; /* VidPnSourceId or VidPnTargetId */
    UINT count, capacity;
    UINT next_id;              /* that a mode made by the host gets (VIDPN-068) */
    UINT pinned;               /* index of the pinned mode, from 1 on; 0: none is */
    bool ids_made, ids_chosen; /* ids of the host's and of the driver's making are in it */
    union mode *mode;
};

/* NULL: out of memory. */
struct mode_set *mode_set_create(enum mode_kind kind, UINT owner);
struct mode_set *mode_set_copy(const struct mode_set *set);
void mode_set_destroy(struct mode_set *set);

/* Bytes of a mode of the kind. */
size_t mode_bytes(enum mode_kind kind);
/* The mode with all as it is, at the end. False: out of memory. */
bool mode_set_append(struct mode_set *set, const union mode *mode);
/* NULL: none has the id. */
union mode *mode_set_find(const struct mode_set *set, UINT id);
/* A mode that equals this one in all members but Id and Preference; NULL: there is none. */
union mode *mode_set_same(const struct mode_set *set, const union mode *mode);
/* NULL: none is pinned. */
const union mode *mode_set_pinned(const struct mode_set *set);
void mode_set_pin(struct mode_set *set, const union mode *mode);
/* The same modes in the same order, with the same ids and the same one pinned? */
bool mode_set_equal(const struct mode_set *a, const struct mode_set *b);

bool mode_signal_equal(const D3DKMDT_VIDEO_SIGNAL_INFO *a, const D3DKMDT_VIDEO_SIGNAL_INFO *b);
/* D3DKMDT_MP_* of a target mode, which shares its word with the wire formats from WDDM 2.2 on. */
static inline D3DKMDT_MODE_PREFERENCE mode_preference(const D3DKMDT_VIDPN_TARGET_MODE *mode)
{
    return (D3DKMDT_MODE_PREFERENCE)mode->Preference;
}

#endif
