/* SPDX-License-Identifier: MIT */
/*
 * A full driver with multi-plane overlays by the probe, and a client that presents planes on source
 * 0, beside what flips.h has.
 *
 *     struct probe *p = overlays_create(NULL, 3);
 *     flips_run(p, body);
 *
 *     overlays_begin(p);                                    in the body
 *     overlays_present(2, overlays_of(0), overlays_of(1));      layers 0 and 1, as answered before
 *     flips_end();
 */
#ifndef DXGK_TESTS_OVERLAYS_H
#define DXGK_TESTS_OVERLAYS_H

#include "port/support/flips.h"

#define PLANES      4u
#define PLANE_CALLS 32u

struct plane_seen {
    UINT layer;
    bool enabled;
    uint64_t address, id;
    HANDLE allocation, context;
    UINT flags, line, stretch;
    RECT source, target, clip;
    UINT private_bytes, private_first, dirty;
};
struct overlays_call {
    unsigned form;
    UINT source, count, flags, duration, irql;
    struct plane_seen plane[PLANES];
    bool composition, metadata;
    uint64_t order;
};

/* What the driver was asked and told. */
struct overlays_record {
    UINT calls;
    struct overlays_call call[PLANE_CALLS];
    UINT checks, check_count, check_form;
    UINT check_layer[PLANES], check_source[PLANES];
    HANDLE check_allocation[PLANES];
    UINT check_irql, preset; /* Supported as it came */
    UINT posts;
    DXGKARG_POSTMULTIPLANEOVERLAYPRESENT post;
    UINT post_irql;
    UINT caps, compositions;
    UINT presents;
    DXGKARG_PRESENT present;
    DXGK_PRESENTMULTIPLANEOVERLAYINFO info;
    DXGK_PRESENTMULTIPLANEOVERLAYLIST list[PLANES];
};
extern struct overlays_record overlays_seen;

struct overlays_answers {
    NTSTATUS show_status, check_status, post_status;
    BOOL supported;
    UINT info;
    bool needs_passive;       /* STATUS_RETRY with PrePresentNeeded, once */
    bool wants_post;          /* PostPresentNeeded in notifications */
    bool converts;            /* FlipConvertedToImmediate */
    UINT told_layer;          /* added to each layer that is told */
    DXGK_INTERRUPT_TYPE type; /* of vertical syncs */
};
extern struct overlays_answers overlays;

/* `form`: of the entries, 1 to 3; the version of the driver is WDDM 2.9. */
struct probe *overlays_create(const struct probe_options *options, unsigned form);
void overlays_set_entries(struct probe *p, unsigned form, bool there);
/* flips_begin, the first primary shown, and a display engine that latches planes. */
void overlays_begin(struct probe *p);

struct plane_wish {
    UINT layer;
    bool enabled;
    UINT primary; /* of flips.primary */
    RECT target;
    UINT blend;
    D3DDDI_FLIPINTERVAL_TYPE interval; /* of the third form; of others that of the first plane */
};
/* Whole of primary `layer` on the whole screen, on this layer. */
struct plane_wish overlays_of(UINT layer);
struct plane_wish overlays_without(UINT layer);
NTSTATUS overlays_check(UINT count, const struct plane_wish *wish, BOOL *supported, UINT *info);
NTSTATUS overlays_present(UINT count, const struct plane_wish *wish);
/* By another form of the client's functions than the driver has. */
extern unsigned overlays_client_form;
extern UINT overlays_duration; /* with DurationValid; 0: without */
extern bool overlays_restart;  /* with FlipRestart */
extern bool overlays_extras;   /* private data, dirty rectangles, composition and metadata */
const struct overlays_call *overlays_last(void);

#endif
