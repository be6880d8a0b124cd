/* SPDX-License-Identifier: MIT */
/*
 * Walking the frames of a driver, from a place where an exception happened or was raised, outwards.
 *
 * What a stack looks like (it grows downwards; addresses fall from left to right):
 *
 *   host | driver ... driver | host routine the driver called  raised, or a bad pointer in a copy
 *   host | driver ... driver X                                 X: hardware fault
 *   host | driver ... driver X (host: dispatcher) | filter or handler ...  exception in a filter
 *
 *   - A walk may begin in a routine of the host that the driver called; those frames are passed by
 *     their DWARF information.
 *   - It goes through frames of the driver by .pdata.
 *   - It ends at the frame of the host that called the driver (X64_BOUNDARY). Exceptions do not go
 *     through frames of the host: it holds locks and has state on its stack that no handler of a
 *     driver could release. Windows' own port driver is in the same situation.
 *   - One kind of host frame is passed: that of the exception machinery itself, which called a
 *     filter or handler by x64_call. The walk says so (X64_CROSSING), and its user goes on from the
 *     registers that the crossing names.
 */
#ifndef DXGK_X64_WALK_H
#define DXGK_X64_WALK_H

#include "x64/unwind/unwind_info.h"

/* Left on the stack by x64_call. */
struct x64_crossing {
    /* searching: where the exception happened; unwinding: the frame whose handler runs */
    const CONTEXT *origin;
    bool unwinding;
    bool interrupted;         /* origin->Rip has not been executed */
    uint64_t establisher;     /* of the frame whose handler runs */
    const ULONG *scope_index; /* unwinding: the next scope of that frame */
};

enum x64_step { X64_FRAME, X64_CROSSING, X64_BOUNDARY, X64_BROKEN };

struct x64_walk {
    CONTEXT context; /* registers in the present frame */
    CONTEXT caller;  /* after X64_FRAME: registers in its caller */
    struct x64_stack stack;
    const struct x64_function_table *table;
    const struct x64_function *entry; /* as it stands in memory; NULL: a leaf */
    struct x64_unwound_frame frame;
    const struct x64_crossing *crossing;
    /* in the outermost frame of host routines passed at the beginning; 0: none was */
    uintptr_t host_pc;
    bool in_host; /* frames of the host may still come first */
    bool interrupted;
    uint32_t steps;
};

/* Begin, or go on elsewhere, at these registers. */
void x64_walk_begin(struct x64_walk *walk, const CONTEXT *context, bool interrupted);
/* Look at the frame that `context` is in, for a handler of the kind `wanted`. */
enum x64_step x64_walk_look(struct x64_walk *walk, unsigned wanted);
/* After X64_FRAME: on to its caller. */
void x64_walk_next(struct x64_walk *walk);

#endif
