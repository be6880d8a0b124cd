/* SPDX-License-Identifier: MIT */
/*
 * Bodies that run inside a DDI of a display-only driver that was given a VidPN, with everything of it at
 * hand: its topology, and the mode sets of source 0 and of the first output, which are released after
 * the body.
 *
 *     TEST_WITH(vidpn, topology_is_counted) { CHECK_RULE("...", h->t->pfnGetNumPaths(h->topology, ...)); }
 *     TEST_WITH(vidpn, ..., .prepare = two_sources, .after = is_told)
 */
#ifndef DXGK_TESTS_VIDPN_H
#define DXGK_TESTS_VIDPN_H

#include "port/support/display.h"

struct hands {
    D3DKMDT_HVIDPN vidpn;
    D3DKMDT_HVIDPNTOPOLOGY topology;
    D3DKMDT_HVIDPNSOURCEMODESET source; /* NULL: not to be released */
    D3DKMDT_HVIDPNTARGETMODESET target;
    const DXGK_VIDPN_INTERFACE *v;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *t;
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *s;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *g;
};

typedef void vidpn_body(struct probe *p, struct hands *h);

struct vidpn_case {
    vidpn_body *in_enum;   /* in the first EnumVidPnCofuncModality, before the default */
    vidpn_body *in_commit; /* in the first CommitVidPn */
    vidpn_body *at_end;    /* in the CommitVidPn of the stop, which removes all paths */
    void (*prepare)(struct probe *p);
    void (*after)(struct probe *p); /* the adapter has started */
    UINT version;
    bool tell_unpinned;
};

void vidpn_run(const struct vidpn_case *c);

#define RIG_ARGUMENT_vidpn       struct probe *p, struct hands *h
#define RIG_RUN_vidpn(body, ...) vidpn_run(&(struct vidpn_case){.in_enum = body, ##__VA_ARGS__})

/* Of source 0 and target DISPLAY_CHILD. */
void hands_take(struct hands *h, D3DKMDT_HVIDPN vidpn, const DXGK_VIDPN_INTERFACE *v);
void hands_give_back(struct hands *h);

/* pfnAddMode of this mode to a new set, of which nothing is left. */
NTSTATUS vidpn_try_source(const struct hands *h, const D3DKMDT_VIDPN_SOURCE_MODE *mode);
NTSTATUS vidpn_try_target(const struct hands *h, UINT target, const D3DKMDT_VIDPN_TARGET_MODE *mode);
/* New sets, and a mode for one, filled in but for its Id. */
D3DKMDT_HVIDPNSOURCEMODESET vidpn_new_source_set(const struct hands *h, UINT source);
D3DKMDT_HVIDPNTARGETMODESET vidpn_new_target_set(const struct hands *h, UINT target);
D3DKMDT_VIDPN_SOURCE_MODE *vidpn_source_mode(const struct hands *h, D3DKMDT_HVIDPNSOURCEMODESET set,
                                             UINT width, UINT height);
D3DKMDT_VIDPN_TARGET_MODE *vidpn_target_mode(const struct hands *h, D3DKMDT_HVIDPNTARGETMODESET set,
                                             UINT width, UINT height);
/* A new set with such a mode. */
D3DKMDT_HVIDPNSOURCEMODESET vidpn_filled_source_set(const struct hands *h, UINT source, UINT width,
                                                    UINT height);

#endif
