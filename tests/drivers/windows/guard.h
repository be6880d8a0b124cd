/* SPDX-License-Identifier: MIT */
/* What guard.c is asked to do, and what it tells. */
#ifndef DXGK_TESTS_GUARD_H
#define DXGK_TESTS_GUARD_H

enum guard_scenario {
    GUARD_PLAIN,        /* an exception passes a frame with a cookie, intact */
    GUARD_PLAIN_BROKEN, /* the same, overrun */
    GUARD_ALIGNED,      /* a frame whose cookie lies in an aligned part */
    GUARD_ALIGNED_BROKEN,
    GUARD_SEH, /* a frame that has a cookie and takes the exception */
    GUARD_SEH_BROKEN,
    GUARD_SEH_FINALLY, /* its termination handler runs when the exception passes */
    GUARD_RETURN,      /* a function of the compiler's with a buffer, which returns */
    GUARD_RETURN_BROKEN,
    GUARD_LOCAL_UNWIND,  /* _local_unwind runs the termination handler on the way */
    GUARD_OWN_HANDLER,   /* a language handler of the driver's own, which calls RtlUnwindEx */
    GUARD_NO_SUCH_FRAME, /* RtlUnwindEx to a frame that is none */
};

#define GUARD_EVENTS 16

struct guard_report {
    unsigned scenario;
    unsigned count;               /* events */
    unsigned event[GUARD_EVENTS]; /* numbers in the order in which they were passed */
    unsigned code;                /* of the exception that was taken */
    unsigned value;
};

#endif
