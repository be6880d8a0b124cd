/* SPDX-License-Identifier: MIT */
/* The mistakes of the driver `submissions`, as the value SubmitFault of its service key. */
#ifndef DXGK_TESTS_SUBMISSIONS_BROKEN_H
#define DXGK_TESTS_SUBMISSIONS_BROKEN_H

#include "driver.h"

enum submit_fault {
    SUBMITS_SOUND,
    /* what it notifies of node 0 */
    SUBMITS_TWICE,         /* each completion, twice */
    SUBMITS_NEVER,         /* the second completion, never */
    SUBMITS_OTHER_NODE,    /* as those of node 1 */
    SUBMITS_NEXT,          /* the fence after the one that was completed */
    SUBMITS_FORMER,        /* the fence before, again */
    SUBMITS_EARLY,         /* as soon as it is submitted */
    SUBMITS_NO_DPC,        /* and queues no DPC */
    SUBMITS_NO_NOTIFY_DPC, /* and does not call DxgkCbNotifyDpc in it */
    SUBMITS_IN_DPC,        /* in the DPC */
    SUBMITS_FAULT_UNKNOWN, /* as the fault of a packet that was never submitted */
    /* how it answers a request for preemption */
    SUBMITS_PREEMPTED_UNKNOWN, /* LastCompletedFenceId was never submitted */
    SUBMITS_PREEMPTED_ALL,     /* it is the last one submitted, which is not done */
    SUBMITS_PREEMPTED_NONE,    /* it is older than what was reported */
    SUBMITS_PREEMPTED_ID,      /* with the id of another request */
    SUBMITS_PREEMPTED_TWICE,
    SUBMITS_PREEMPTED_FIRST, /* and then it completes what it has preempted */
    SUBMITS_PREEMPTED_NEVER,
    /* Render, Patch, SubmitCommand, PreemptCommand */
    SUBMITS_RENDER_PAST,       /* the pointer comes back behind the buffer */
    SUBMITS_RENDER_WRITES,     /* 4 bytes behind the buffer */
    SUBMITS_RENDER_ELEMENT,    /* a location of an allocation behind the list */
    SUBMITS_RENDER_LOCATION,   /* a location behind the commands */
    SUBMITS_RENDER_ALLOCATION, /* an offset behind the allocation */
    SUBMITS_RENDER_LIST,       /* the list of locations ends within an element */
    SUBMITS_RENDER_PRIVATE,    /* the private data comes back behind its block */
    SUBMITS_PATCH_FAILS,
    SUBMITS_WRONG_BYTES,   /* the hardware gets one command less */
    SUBMITS_WRONG_PLACE,   /* or the same number of bytes, one word later */
    SUBMITS_FORMER_BUFFER, /* or the buffer that was submitted before */
    SUBMITS_WRONG_FENCE,   /* the hardware gets the fence after it */
    SUBMITS_SUBMIT_FAILS,
    SUBMITS_WRITES_PRIVATE, /* 4 bytes behind the private data */
    SUBMITS_PREEMPT_FAILS,
    /* resets */
    SUBMITS_ABORTED_UNKNOWN,  /* LastAbortedFenceId was never submitted */
    SUBMITS_ABORTED_OLD,      /* it is older than what was completed */
    SUBMITS_RESET_RUNS,       /* the engine is not reset */
    SUBMITS_RESET_NOTIFIES,   /* after the reset the aborted fence is reported */
    SUBMITS_DEPENDENTS,       /* the engine group lacks the engine */
    SUBMITS_TIMEOUT_RUNS,     /* ResetFromTimeout leaves the engines running */
    SUBMITS_TIMEOUT_NOTIFIES, /* and after it the last fence of node 0 is reported */
    SUBMITS_FENCE_AHEAD,      /* QueryCurrentFence answers what nobody has reported */
    SUBMITS_FAULTS
};

/* The fault that was chosen, and the real callbacks. */
struct submissions {
    unsigned long fault; /* enum submit_fault */
    DXGKRNL_INTERFACE dxgk;
    struct refgpu_adapter *adapter;
};
extern struct submissions submissions;

/* Notify at interrupt level that the fence of the node is completed, and queue the DPC. */
void submissions_complete(struct refgpu_node *node, ULONG fence);
/* Notify that all that was submitted is completed, in answer to the request. */
NTSTATUS submissions_preempt_all(struct refgpu_adapter *adapter,
                                 const DXGKARG_PREEMPTCOMMAND *request);

#endif
