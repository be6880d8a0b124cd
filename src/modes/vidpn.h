/* SPDX-License-Identifier: MIT */
/*
 * A VidPN: a topology, which is a set of paths from sources to targets, and a mode set for each
 * source and each target (display-modes.md). Paths are kept by value, in the order in which drivers
 * walk them (VIDPN-050). A driver never has the active one, only copies.
 */
#ifndef DXGK_MODES_VIDPN_H
#define DXGK_MODES_VIDPN_H

#include <stdbool.h>

#include "modes/mode_set.h"

struct modes;
struct modes_target;

struct vidpn {
    const struct modes *modes;
    UINT paths, capacity;
    D3DKMDT_VIDPN_PRESENT_PATH *path;
    struct mode_set **source; /* of each source of the adapter */
    struct mode_set **target; /* of each target, in the order of struct modes */
};

/* With no path, and empty sets (VIDPN-005). NULL: out of memory. */
struct vidpn *vidpn_create(const struct modes *modes);
struct vidpn *vidpn_copy(const struct vidpn *vidpn);
void vidpn_destroy(struct vidpn *vidpn);

/* Of a source or target id; NULL: the adapter has none such. */
struct mode_set **vidpn_source_set(const struct vidpn *vidpn, UINT source);
struct mode_set **vidpn_target_set(const struct vidpn *vidpn, UINT target);

/* NULL: there is no such path. */
D3DKMDT_VIDPN_PRESENT_PATH *vidpn_path(const struct vidpn *vidpn, UINT source, UINT target);
D3DKMDT_VIDPN_PRESENT_PATH *vidpn_path_to(const struct vidpn *vidpn, UINT target);
/* The n-th from this source, from 0 on, in the order of the walk; NULL: there are fewer. */
D3DKMDT_VIDPN_PRESENT_PATH *vidpn_path_from(const struct vidpn *vidpn, UINT source, UINT n);
UINT vidpn_paths_from(const struct vidpn *vidpn, UINT source);
/* Add a path in its place. False: out of memory. */
bool vidpn_add(struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path);
/* Remove it; sets of a source or target that leaves the topology become empty (VIDPN-061). */
void vidpn_remove(struct vidpn *vidpn, D3DKMDT_VIDPN_PRESENT_PATH *path);
/* The lowest ordinal that no path has; 0: none of 1 to 255 is free (VIDPN-059). */
UINT vidpn_free_ordinal(const struct vidpn *vidpn);
bool vidpn_has_ordinal(const struct vidpn *vidpn, UINT ordinal);

/* A path as the host makes it, with nothing pinned (VIDPN-108 to VIDPN-110). */
D3DKMDT_VIDPN_PRESENT_PATH vidpn_new_path(UINT source, UINT target, UINT ordinal);
/* VIDPN-002 */
bool vidpn_is_functional(const struct vidpn *vidpn);
bool vidpn_scaling_pinned(const D3DKMDT_VIDPN_PRESENT_PATH *path);
bool vidpn_rotation_pinned(const D3DKMDT_VIDPN_PRESENT_PATH *path);
/* Topology, contents of paths and pinned modes of what this source shows, or of all, are equal
 * (VIDPN-158). */
bool vidpn_source_equal(const struct vidpn *a, const struct vidpn *b, UINT source);

/* The same of one path; false, too, if one has no path to this target. */
bool vidpn_path_equal(const struct vidpn *a, const struct vidpn *b, UINT target);

/* A dynamic target has come: a set for it in the place that it has got. False: out of memory. */
bool vidpn_admit(struct vidpn *vidpn, const struct modes_target *target);

#endif
