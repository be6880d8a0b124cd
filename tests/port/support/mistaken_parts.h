/* SPDX-License-Identifier: MIT */
/* What the files of mistaken.h have in common. */
#ifndef DXGK_TESTS_MISTAKEN_PARTS_H
#define DXGK_TESTS_MISTAKEN_PARTS_H

#include "port/support/display.h"
#include "port/support/mistaken.h"

struct mistaken {
    struct mistaken_run run;
    D3DKMDT_HVIDPN kept; /* of the last enumeration */
    const DXGK_VIDPN_INTERFACE *table;
    const char *refused;
};
extern struct mistaken mistaken;

bool mistaken_is(enum mistake mistake);

/* mistaken_frames.c: the display-only driver. */
struct probe *mistaken_frames_create(const struct probe_options *options);
void mistaken_frames_live(struct probe *p);
/* What it is told, of either driver. */
void mistaken_committed(const struct display_commit *commit);
void mistaken_visible(bool visible);

/* mistaken_full.c: the full driver. */
struct probe *mistaken_full_create(const struct probe_options *options);
void mistaken_full_live(struct probe *p);

#endif
