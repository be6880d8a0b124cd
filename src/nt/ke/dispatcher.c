/* SPDX-License-Identifier: MIT */
/*
 * The header of dispatcher objects. For events see event.c, semaphores semaphore.c, mutexes
 * mutex.c, timers timer.c.
 */
#include "nt/ke/dispatcher.h"
#include "nt/base/memory.h"
#include "verify/verify.h"
#include "sim/order.h"

/* The list head of an initialized object points to itself, so zeroed memory and copies of an object
 * are detected. */
void nt_dispatcher_init(DISPATCHER_HEADER *header, enum nt_dispatcher_type type, size_t bytes,
                        LONG state)
{
    header->LockNV = 0;
    header->Type = (UCHAR)type;
    header->Size = (UCHAR)(bytes / sizeof(LONG));
    header->SignalState = state;
    sim_order_forget(header);
    InitializeListHead(&header->WaitListHead);
}

bool nt_dispatcher_check(const void *object, uint32_t types, const char *routine)
{
    const DISPATCHER_HEADER *header = object;

    if (!nt_memory_check(object, "dispatcher object", routine))
        return false;
    if (header->WaitListHead.Flink != &header->WaitListHead) {
        VIOLATION("NT-005", "%s of an object that was never initialised, or was overwritten",
                  routine);
        return false;
    }
    if (header->Type >= 32 || !(types >> header->Type & 1)) {
        VIOLATION("NT-005", "%s of an object of another type (%u)", routine, header->Type);
        return false;
    }
    return true;
}
