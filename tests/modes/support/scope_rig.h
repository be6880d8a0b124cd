/* SPDX-License-Identifier: MIT */
/*
 * A VidPN in the hands of a DDI that may change all of it, as DxgkDdiRecommendFunctionalVidPn may, which
 * the host does not call yet: a scope of an adapter with 3 sources and 300 outputs, DISPLAY_CHILD and
 * those after it. The VidPN is new, and `h` has everything of it at hand. Functions are called as a
 * driver calls them, on a thread of a started adapter.
 */
#ifndef DXGK_TESTS_SCOPE_RIG_H
#define DXGK_TESTS_SCOPE_RIG_H

#include "modes/scope.h"
#include "port/support/vidpn.h"

#define RIG_SOURCES 3u
#define RIG_TARGETS 300u

struct scope_rig {
    struct probe *p;
    struct modes *modes;
    struct modes_scope scope;
    struct vidpn *vidpn;
    struct hands hands;
};

struct scope_case {
    void (*body)(struct scope_rig *rig, struct hands *h);
    void (*after)(struct scope_rig *rig); /* the DDI has returned */
    UINT version;                         /* 0: WDDM 2.9 */
    bool full;                            /* the driver is not display-only */
};

void scope_run(const struct scope_case *c);

#define RIG_ARGUMENT_scope        struct scope_rig *rig, struct hands *h
#define RIG_RUN_scope(body_, ...) scope_run(&(struct scope_case){.body = body_, ##__VA_ARGS__})

/* Another scope of the same adapter, with a new VidPN of its own. */
void scope_begin(struct scope_rig *rig, struct probe *p, struct modes *modes);
/* It ends: what is left is told. */
void scope_end(struct scope_rig *rig);

/* A new structure of this path, filled in as the host does, with no ordinal. */
D3DKMDT_VIDPN_PRESENT_PATH *scope_path(const struct hands *h, UINT source, UINT target);
/* Add it. */
NTSTATUS scope_add(const struct hands *h, UINT source, UINT target);
SIZE_T scope_paths(const struct hands *h);

#endif
