/* SPDX-License-Identifier: MIT */
/* The calls in progress on a stack: of DDIs, and of host callbacks that a driver has called. */
#ifndef DXGK_DDI_FRAME_H
#define DXGK_DDI_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddi/entry.h"
#include "sim/machine.h"
#include "trace/trace.h"

struct ddi_adapter;
struct nt_call_guard;
struct nt_process;

/* A call in progress on the current stack: of a DDI, or of a host callback that a driver called.
 * Frames are linked, innermost first. They do not lie on the stack, which the driver may overwrite,
 * but beside it, one after another (sim_stack_records). */
struct ddi_frame {
    const char *name; /* "DxgkDdiPatch", "DxgkCbMapMemory"; first, as in struct sim_frame */
    struct ddi_frame *outer;
    uintptr_t place;                   /* on the stack: below what belongs to the call */
    uint32_t bytes;                    /* of the record that begins with this frame */
    const struct nt_call_guard *guard; /* on the stack of who called the driver; NULL: none */
    struct ddi_adapter *adapter;
    enum ddi_entry entry;       /* DDI_NONE: a callback */
    uintptr_t caller;           /* callbacks: return address in the driver; 0 for a DDI */
    struct nt_process *process; /* the process whose driver_entry mutex this frame holds, or NULL */
    /* a DDI of level 0 or 1, which keeps other threads from being alone */
    bool counted;
    bool alone; /* a DDI of level 2 or 3 */
    trace_track track;
    /* Called when the driver has returned, before the frame is removed; for obligations that end
     * with the DDI (THREAD-062). */
    void (*on_return)(struct ddi_frame *frame);
};

/* The innermost DDI in progress on the current stack, ignoring callbacks; NULL: none. */
struct ddi_frame *ddi_current_ddi(void);

static inline struct ddi_frame *ddi_current_frame(void)
{
    return (struct ddi_frame *)sim_current->frame;
}

_Static_assert(offsetof(struct ddi_frame, name) == offsetof(struct sim_frame, name), "");

/* The frame, and all inside it, end. Its memory keeps what it holds until the next push. */
static inline void ddi_frame_end(const struct ddi_frame *frame)
{
    sim_set_frame(sim_current, (struct sim_frame *)frame->outer);
}

/* Name of the innermost DDI or callback in progress on the current stack: for reports, and for
 * callbacks that are legal only inside some DDI. NULL: none. */
const char *ddi_current_name(void);
struct ddi_adapter *ddi_current_adapter(void);
/* Whether this entry is in progress on the current stack, at any depth. */
bool ddi_inside(enum ddi_entry entry);

/* A new innermost frame, all zero but for `name`, of a record of so many bytes. */
struct ddi_frame *ddi_frame_push(size_t bytes, const char *name);
/* Called around the body of a host callback; `caller` is __builtin_return_address(0). */
struct ddi_frame *ddi_callback_enter(struct ddi_adapter *adapter, const char *name,
                                     uintptr_t caller);
void ddi_callback_leave(struct ddi_frame *frame);

#endif
