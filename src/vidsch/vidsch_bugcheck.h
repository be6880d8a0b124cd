/* SPDX-License-Identifier: MIT */
/* First parameters of the bug checks that the scheduler causes, as Windows documents them. */
#ifndef DXGK_VIDSCH_BUGCHECK_H
#define DXGK_VIDSCH_BUGCHECK_H

/* Of VIDEO_SCHEDULER_INTERNAL_ERROR. */
enum vidsch_scheduler_error {
    SCHEDULER_INVALID_FENCE = 0x1,
    SCHEDULER_SUBMIT_FAILED = 0x2, /* SubmitCommand, SubmitCommandVirtual, PreemptCommand */
    SCHEDULER_PATCH_FAILED = 0x3,
    SCHEDULER_PAGING_FAULTED = 0x5,
    SCHEDULER_UNEXPECTED_VSYNC = 0x7,
    SCHEDULER_BAD_DEPENDENT_MASK = 0x8,
    SCHEDULER_CANCEL_FAILED = 0x9,
    SCHEDULER_BAD_ABORTED_FENCE = 0xA,
    SCHEDULER_FATAL_PAGE_FAULT = 0xC,
    SCHEDULER_BAD_PAGE_FAULT_FLAGS = 0xD,
    SCHEDULER_BAD_SUSPEND_FENCE = 0x11,
};

/* Of VIDEO_MEMORY_MANAGEMENT_INTERNAL. */
enum vidsch_memory_error {
    MEMORY_DMA_BUFFER_OVERFLOW = 0x12,
    MEMORY_PRIVATE_DATA_OVERFLOW = 0x13,
    MEMORY_BINDING_LEAK = 0x27,
};

#endif
