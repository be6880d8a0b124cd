/* SPDX-License-Identifier: MIT */
/*
 * The reference miniport with things of its own around it that threads, DPCs and service routines
 * share. The value Race of the service key chooses a mistake in their order, one line each; without
 * it, or with 0, all is in order.
 */
#ifndef RACES_RACES_H
#define RACES_RACES_H

#include "driver.h"

enum race {
    SOUND,
    UNLOCKED_SUBMIT,    /* a submission changes what the ISR changes, not synchronized with it */
    DPC_WITHOUT_LOCK,   /* the DPC does not take the lock that submissions take */
    WRONG_LOCK,         /* the DPC takes another one */
    ONE_SIDED,          /* interlocked in submissions, plain in the DPC */
    RAISED_LEVEL,       /* DISPATCH_LEVEL for a lock */
    POLLED_FLAG,        /* a thread sets a plain flag, and a DDI polls it */
    CHECKED_TWICE,      /* the first check of what is made when it is needed takes no lock */
    OPEN_LIST,          /* a list walked outside its lock */
    WORK_AT_TEARDOWN,   /* StopDevice frees what a work item uses, and waits for no one */
    TIMER_AND_THREAD,   /* what a timer's DPC counts is read at PASSIVE_LEVEL without its lock */
    SHARED_FOR_WRITING, /* a lock of readers and writers held shared, for a write */
    UNJOINED_THREAD,    /* a thread's result is read before it has ended */
    RACES
};

struct item {
    LIST_ENTRY link;
    ULONG value;
};

struct shared {
    KSPIN_LOCK lock, other_lock, tick_lock;
    EX_SPIN_LOCK readers;
    ULONG in_flight;       /* the ISR and submissions: the interrupt's lock */
    ULONG retired;         /* DPC and submissions: lock */
    volatile LONG packets; /* interlocked */
    ULONG *made;           /* by the first who needs it: other_lock */
    LIST_ENTRY items;      /* lock */
    ULONG sum, generation; /* lock; readers */
    KTIMER timer;
    KDPC timer_dpc;
    ULONG ticks; /* tick_lock */
    WORK_QUEUE_ITEM work;
    volatile LONG work_is_queued;
    KEVENT work_done;
    ULONG *work_data; /* the work item, while it is queued */
    PVOID thread;
    KEVENT thread_ready;
    ULONG ready, result; /* of the thread */
};

extern enum race race;
extern struct shared *shared;
extern DRIVER_INITIALIZATION_DATA reference;
extern DXGKRNL_INTERFACE dxgk;

/* races_submit.c: what a submission, the ISR and the DPC do */
void races_submit(void);
void races_interrupt(void);
void races_dpc(void);
void races_items(void);
void races_use_made(void); /* and the thread */

/* races_passive.c: what runs at PASSIVE_LEVEL, and timers */
NTSTATUS races_start(void);
void races_device(void); /* from CreateDevice */
void races_stop(void);

#endif
