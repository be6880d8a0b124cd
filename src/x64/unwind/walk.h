/* SPDX-License-Identifier: MIT */
/*
 * Walking the frames of a driver outwards, from the place where an exception happened or was
 * raised.
 *
 * What a stack looks like (it grows downwards; addresses fall from left to right):
 *
 *   host | driver ... driver | host routine the driver called  raised, or a bad pointer in a copy
 *   host | driver ... driver X                                 X: hardware fault
 *   host | driver ... driver X (host: dispatcher) | filter or handler ...  exception in a filter
 *
 *   - A walk may begin in a host routine that the driver called; those frames are unwound by their
 *     DWARF information.
 *   - Frames of the driver are unwound by .pdata.
 *   - It ends at the frame of the host that called the driver (X64_BOUNDARY). Exceptions do not go
 *     through frames of the host: it holds locks and has state on its stack that no driver's
 *     handler could release. Windows' own port driver is in the same situation.
 *   - One kind of host frame is crossed: that of the exception dispatcher itself, which called a
 *     filter or handler by x64_call. The walk reports this (X64_CROSSING), and its user continues
 *     from the registers that the crossing names.
 */
#ifndef DXGK_X64_WALK_H
#define DXGK_X64_WALK_H

#include "x64/unwind/unwind_info.h"

/* Record that x64_call leaves on the stack where the exception dispatcher calls a filter or
 * handler. */
struct x64_crossing {
    /* searching: where the exception happened; unwinding: the frame whose handler runs */
    const CONTEXT *origin;
    bool unwinding;
    bool interrupted;         /* origin->Rip has not been executed */
    uint64_t establisher;     /* the frame whose handler runs */
    const ULONG *scope_index; /* unwinding: the next scope of that frame */
};

enum x64_step { X64_FRAME, X64_CROSSING, X64_BOUNDARY, X64_BROKEN };

struct x64_walk {
    CONTEXT context; /* registers in the current frame */
    CONTEXT caller;  /* after X64_FRAME: registers in its caller */
    struct x64_stack stack;
    const struct x64_function_table *table;
    const struct x64_function *entry; /* entry in the table; NULL: a leaf */
    struct x64_unwound_frame frame;
    const struct x64_crossing *crossing;
    /* pc in the outermost of the host frames that the walk began in; 0: there were none */
    uintptr_t host_pc;
    bool in_host; /* frames of the host may come next */
    bool interrupted;
    uint32_t steps;
};

/* Begin, or continue elsewhere, with these registers. */
void x64_walk_begin(struct x64_walk *walk, const CONTEXT *context, bool interrupted);
/* Unwind the frame that `context` is in, and look for a handler of the kind `wanted`. */
enum x64_step x64_walk_look(struct x64_walk *walk, unsigned wanted);
/* After X64_FRAME: go to its caller. */
void x64_walk_next(struct x64_walk *walk);

#endif
