/* SPDX-License-Identifier: MIT */
/* What the driver "faults" does, and where: values of its service key. */
#ifndef DXGK_TESTS_FAULTS_H
#define DXGK_TESTS_FAULTS_H

enum fault_place {
    PLACE_ENTRY = 1, /* DriverEntry */
    PLACE_SYSTEM,    /* DxgkDdiCreateDevice, on a thread of the system's */
    PLACE_CLIENT,    /* and on a client's */
    PLACE_ISR,
    PLACE_DPC,  /* DxgkDdiDpcRoutine */
    PLACE_KDPC, /* a DPC of its own */
    PLACE_THREAD,
    PLACE_END
};

enum fault_act {
    ACT_OVERRUN_64 = 1, /* bytes written above the frame of a function, which then returns */
    ACT_OVERRUN_1K,
    ACT_OVERRUN_1200,
    ACT_OVERRUN_4K,
    ACT_OVERRUN_ZERO, /* of zeros */
    ACT_OVERRUN_ALL,  /* to the end of the stack and on */
    ACT_RECURSION,
    ACT_STACK_LOW,
    ACT_STACK_NON_CANONICAL,
    ACT_STACK_ELSEWHERE,
    ACT_FRAME_LOW,
    ACT_FRAME_NON_CANONICAL,
    ACT_NULL,
    ACT_NON_CANONICAL,
    ACT_ZW_BAD_POINTER,
    ACT_PRINT_BAD_POINTER,
    ACT_COPY_BAD_POINTER,
    ACT_EVENT_BAD_POINTER,
    ACT_DIRECTION,
    ACT_ALIGNMENT,
    ACT_MXCSR,
    ACT_X87,
    ACT_INT3,
    ACT_INT_2D,
    ACT_INT_29,
    ACT_CALLERS_FRAME, /* what lies just above the frame of the entry */
};

#endif
