/* SPDX-License-Identifier: MIT */
/*
 * A full driver whose DxgkDdiPresent writes commands that its GPU carries out: all allocations are in an aperture, whose pages
 * the test reaches, so a copy can be seen in memory and on the screen.
 *
 *     struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3);
 *     copies_run(p, body);                   start, body on a client thread, end
 *
 * In the body: copies_begin; copies_surface; copies_present; copies_pixel; copies_end.
 */
#ifndef DXGK_TESTS_COPIES_H
#define DXGK_TESTS_COPIES_H

#include "port/support/client.h"
#include "port/support/full_display.h"

#define COPIES_MOST 64u

/* What DxgkDdiPresent was called with. */
struct copies_call {
    DXGKARG_PRESENT args;
    DXGK_ALLOCATIONLIST list[3];
    DXGK_PRESENTALLOCATIONINFO info[3]; /* of a context of GPU virtual addresses */
    RECT rect[16];
    HANDLE context;
    UINT irql;
    uint64_t order;
    uint8_t private_data[32];
    const struct nt_process *process;
};
struct copies_patch {
    DXGKARG_PATCH args;
    DXGK_ALLOCATIONLIST list[3];
    D3DDDI_PATCHLOCATIONLIST location[8];
};

extern struct copies_record {
    UINT presents, patches, submits;
    struct copies_call present[COPIES_MOST];
    struct copies_patch patch[COPIES_MOST]; /* of presents alone */
    DXGKARG_SUBMITCOMMAND submit[COPIES_MOST];
    UINT virtual_submits;
    DXGKARG_SUBMITCOMMANDVIRTUAL virtual_submit[COPIES_MOST];
    UINT done; /* commands that the GPU has carried out */
} copies_seen;

/* How the driver answers; zeroed by copies_create. */
extern struct copies_answers {
    NTSTATUS status;    /* of the next present, if it is an error */
    UINT rects;         /* so many in a buffer; 0: as many as fit */
    UINT slot;          /* SlotId of the destination */
    bool unlisted;      /* no patch locations */
    bool only_source;   /* none of the destination */
    UINT private_bytes; /* of the DMA buffer's private data, by which its pointer advances */
    bool stuck;         /* no progress */
    bool no_pixels;     /* the GPU only counts commands */
    bool element_zero;  /* names the empty element */
    UINT width, height; /* DescribeAllocation; 0: 1024 x 768 */
    D3DDDIFORMAT format;
    UINT attribute;
    NTSTATUS describe_status;
    UINT describes;
    HANDLE described;
} copies;

struct copies_client {
    D3DKMT_HANDLE adapter, device, context;
    D3DKMT_CREATECONTEXT answer;
    struct probe_gpu gpu; /* with GPU virtual addresses */
};

struct probe *copies_create(UINT version);
/* With GPU virtual addresses; clients begin with copies_begin_virtual. */
struct probe *copies_create_virtual(void);
void copies_begin_virtual(struct copies_client *c);
void copies_run(struct probe *p, void (*body)(struct probe *p));
void copies_begin(struct copies_client *c);
void copies_end(const struct copies_client *c);
/* A surface of 32 bits a pixel, each `color`. */
D3DKMT_HANDLE copies_surface(const struct copies_client *c, UINT width, UINT height, UINT color);
NTSTATUS copies_create_primary(const struct copies_client *c, UINT source, D3DKMT_HANDLE *handle);
UINT *copies_lock(const struct copies_client *c, D3DKMT_HANDLE surface);
void copies_unlock(const struct copies_client *c, D3DKMT_HANDLE surface);
NTSTATUS copies_own(const struct copies_client *c, UINT source);
/* Blt of the surface, or a fill (0), to the desktop; to be changed by the test before it is passed. */
D3DKMT_PRESENT copies_args(const struct copies_client *c, D3DKMT_HANDLE surface);
/* D3DKMTPresent, and until the GPU is done. */
NTSTATUS copies_present(const struct copies_client *c, D3DKMT_PRESENT *args);
void copies_wait(const struct copies_client *c);
/* What the screen shows there. */
UINT copies_pixel(const struct probe *p, UINT x, UINT y);
const struct copies_call *copies_last(void);

#endif
