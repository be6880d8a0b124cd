/* SPDX-License-Identifier: MIT */
/*
 * The scene of tests of portions: a WDDM 1.x client with a few allocations, whose patch-location lists the driver copies, and
 * what the driver was told about the portions of its DMA buffers. A portion is named by its place in the order in which the
 * driver saw all of them, from 0.
 */
#ifndef DXGK_TESTS_VIDSCH_SCENE_H
#define DXGK_TESTS_VIDSCH_SCENE_H

#include "render_client.h"

#define SCENE_V13  .version = DXGKDDI_INTERFACE_VERSION_WDDM1_3 /* an option of a TEST */
#define SCENE_MANY 4u

/* A client with four allocations, elements 1 to 4 of its list; element 0 is none. */
struct scene {
    struct client client;
    struct vidmm_open *open[SCENE_MANY];
};

struct scene scene_make(struct fixture *f);
/* Waits for its work first. Also ends the scenes beside it. */
void scene_end(struct fixture *f, struct scene *s);
/* Another context of the device, with the same allocations. */
struct scene scene_beside(struct scene *s, UINT node);

/* Element `i` of the client's patch-location list, which the driver copies. */
void scene_element(struct scene *s, UINT i, UINT slot, UINT allocation, UINT split, UINT patch);
/* A in slot 1, B and C in slot 2, which do not fit beside each other and A: cut at 32. */
void scene_bind_over_the_split(struct scene *s, struct fixture *f);
NTSTATUS scene_render(struct scene *s, UINT bytes, UINT elements);

/* What Patch and SubmitCommand were told of portion `n`. */
const DXGKARG_PATCH *scene_patched(const struct fixture *f, uint32_t n);
const DXGKARG_SUBMITCOMMAND *scene_sent(const struct fixture *f, uint32_t n);
bool scene_window_is(const struct fixture *f, uint32_t n, UINT start, UINT end);
bool scene_elements_are(const struct fixture *f, uint32_t n, UINT first, UINT count);
bool scene_is_of(const struct fixture *f, uint32_t n, const struct scene *s);

/* The driver answers the preemption request `id` of node 0; `completed` is its last completed fence. */
void scene_answer_preemption(struct fixture *f, UINT id, UINT completed);

#endif
