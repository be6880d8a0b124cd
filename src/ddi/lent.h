/* SPDX-License-Identifier: MIT */
/*
 * Lent buffers: what a driver gets by address for the time of one call. It gets a copy between two
 * zones of known bytes, away from the host's stack and heap, so that a write past either end hits
 * nothing of the host. The zones are compared when the call returns (LIFE-191) and repaired.
 *
 * The ends nearest to the buffer are always compared, `wide` ones up to their far ends. Memory of
 * up to DDI_LENT_SMALL bytes comes from slots that are used again at once, larger memory from pages
 * of its own. Calls that never return (their machine was stopped) keep theirs until the machine is
 * torn down.
 */
#ifndef DXGK_DDI_LENT_H
#define DXGK_DDI_LENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DDI_LENT_SMALL 2048u
#define DDI_LENT_NEAR  64u
/* Bytes of the zone in front, and of a slot with its zones. */
#define DDI_LENT_BEFORE 2048u
#define DDI_LENT_AFTER  4096u
#define DDI_LENT_SLOT   (DDI_LENT_BEFORE + DDI_LENT_SMALL + DDI_LENT_AFTER)

struct ddi_fenced;
struct ddi_state;

struct ddi_lent {
    void *data; /* for the driver */
    /* private */
    uint8_t *block; /* NULL: nothing was lent */
    size_t bytes, whole;
    struct ddi_fenced *fenced; /* of machines with fences */
    const char *what;
};

/*
 * Lend a copy of `bytes` at `from`; `what`, a literal, names it in reports. Nothing (NULL, or no
 * bytes) is passed on as it is. False: out of memory. Any IRQL.
 */
bool ddi_lend(struct ddi_lent *lent, const void *from, size_t bytes, const char *what);
/* Compare the zones while the call is in progress; `routine`: the driver's entry, to be named. */
void ddi_lent_check(struct ddi_lent *lent, bool wide, uintptr_t routine);
/* End the loan; with `back`, after the contents were copied there. */
void ddi_lent_end(struct ddi_lent *lent, void *back);
/* Free what the machine of `state` has left. */
void ddi_lent_finish(struct ddi_state *state);

#endif
