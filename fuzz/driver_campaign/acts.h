/* SPDX-License-Identifier: MIT */
/*
 * refgpu with an act: what the values of its service key choose is done at one call of one of its
 * entries, in a thread, a DPC or a work item of its own, or (by the environment, ELF) when its file
 * is loaded or unloaded.
 */
#ifndef DXGK_ACTS_H
#define DXGK_ACTS_H

#include "driver.h" /* of refgpu: the version of the interface */

enum act {
#define ACT(name, format, outcome) ACT_##name,
#include "acts.inc"
#undef ACT
    ACTS
};

/* A call of an entry, as the stub sees it. */
struct acts_call {
    ULONG64 result; /* of the entry, when it has returned */
    ULONG64 slot;   /* of the entry in the table, counted in pointers after the version */
    ULONG64 r9, r8, rdx, rcx;
};

/* Where else than at the call of an entry, as the value Slot. */
enum { ACTS_IN_THREAD = 1000, ACTS_IN_DPC, ACTS_IN_WORK_ITEM };

extern DXGKRNL_INTERFACE acts_interface; /* as it came with StartDevice; zero before */

/* `call` is NULL where no entry was called. What changes the processor or the call takes effect
 * when the entry returns. */
void acts_do(ULONG act, ULONG seed, struct acts_call *call);
/* Writes outside of what the entry was given; FALSE: it is no such act. */
BOOLEAN acts_do_given(ULONG act, const struct acts_call *call);
/* Those of ELF alone; FALSE: it is none. */
BOOLEAN acts_do_process(ULONG act, ULONG seed);
/* What the stub does last for the acts that change registers: 0, 1: direction flag, 2: alignment
 * check, 3: MXCSR, 4: x87 control word, 5: nonvolatile registers. */
extern ULONG acts_on_return;
/* Set by an act that could do nothing in this call: it is for the next one of the entry. */
extern BOOLEAN acts_again;

#endif
