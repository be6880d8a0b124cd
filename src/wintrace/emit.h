/* SPDX-License-Identifier: MIT */
/*
 * Events of Microsoft-Windows-DxgKrnl that this host writes of its own runs: the names, numbers and
 * fields are Windows', as of Windows 10 1803 (build 17134), so that tools for Windows' traces read
 * them. Any room above may emit them; without a sink that costs a load and a branch.
 *
 *     if (wintrace_on())
 *         wintrace_emit(WINTRACE_EVICT_ALLOCATION, allocation);
 *
 * The values are those of the fields in their order (events.tsv): an array takes as many as the
 * field of its length says, a string its characters and a zero. Those of pointers are handles made
 * here, which are the same in every run of a seed; values must not depend on host addresses.
 */
#ifndef DXGK_WINTRACE_EMIT_H
#define DXGK_WINTRACE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wintrace_sink;

extern _Thread_local struct wintrace_sink *wintrace_current;

#define WINTRACE_KIND(id, version) ((uint32_t)(id) << 8 | (version))

/* Number and version of each event that is emitted. */
enum wintrace_emitted {
    WINTRACE_UPDATE_CONTEXT_STATUS = WINTRACE_KIND(20, 0),
    WINTRACE_ATTEMPT_PREEMPTION = WINTRACE_KIND(22, 0),
    WINTRACE_SELECT_CONTEXT = WINTRACE_KIND(23, 0),
    WINTRACE_ADAPTER_START = WINTRACE_KIND(24, 0),
    WINTRACE_ADAPTER_STOP = WINTRACE_KIND(25, 0),
    WINTRACE_ADAPTER_LISTED = WINTRACE_KIND(26, 0),
    WINTRACE_DEVICE_START = WINTRACE_KIND(27, 1),
    WINTRACE_DEVICE_STOP = WINTRACE_KIND(28, 1),
    WINTRACE_DEVICE_LISTED = WINTRACE_KIND(29, 1),
    WINTRACE_CONTEXT_START = WINTRACE_KIND(30, 0),
    WINTRACE_CONTEXT_STOP = WINTRACE_KIND(31, 0),
    WINTRACE_CONTEXT_LISTED = WINTRACE_KIND(32, 0),
    WINTRACE_ALLOCATION_START = WINTRACE_KIND(33, 3),
    WINTRACE_ALLOCATION_STOP = WINTRACE_KIND(34, 3),
    WINTRACE_ALLOCATION_LISTED = WINTRACE_KIND(35, 3),
    WINTRACE_OPEN_START = WINTRACE_KIND(36, 1),
    WINTRACE_OPEN_STOP = WINTRACE_KIND(37, 1),
    WINTRACE_OPEN_LISTED = WINTRACE_KIND(38, 1),
    WINTRACE_MEMORY_TRANSFER = WINTRACE_KIND(50, 0),
    WINTRACE_APERTURE_MAPPING = WINTRACE_KIND(51, 0),
    WINTRACE_APERTURE_UNMAPPING = WINTRACE_KIND(52, 0),
    WINTRACE_TRANSFER = WINTRACE_KIND(53, 0),
    WINTRACE_FILL = WINTRACE_KIND(54, 0),
    WINTRACE_DISCARD = WINTRACE_KIND(55, 0),
    WINTRACE_MAP_APERTURE = WINTRACE_KIND(58, 0),
    WINTRACE_UNMAP_APERTURE = WINTRACE_KIND(59, 0),
    WINTRACE_PAGE_IN = WINTRACE_KIND(73, 0),
    WINTRACE_EVICT = WINTRACE_KIND(74, 0),
    WINTRACE_SEGMENT = WINTRACE_KIND(78, 1),
    WINTRACE_UPDATE_CONTEXT_RUNNING_TIME = WINTRACE_KIND(113, 0),
    WINTRACE_DMA_START = WINTRACE_KIND(175, 1),
    WINTRACE_DMA_STOP = WINTRACE_KIND(176, 0),
    WINTRACE_DMA_REPORTED = WINTRACE_KIND(177, 1),
    WINTRACE_QUEUE_START = WINTRACE_KIND(178, 1),
    WINTRACE_QUEUE_TAKEN = WINTRACE_KIND(179, 0),
    WINTRACE_QUEUE_STOP = WINTRACE_KIND(180, 1),
    WINTRACE_UNWAIT = WINTRACE_KIND(238, 0),
    WINTRACE_QUEUE_WAIT = WINTRACE_KIND(244, 1),
    WINTRACE_QUEUE_SIGNAL = WINTRACE_KIND(245, 2),
    WINTRACE_NODE_METADATA = WINTRACE_KIND(250, 0),
    WINTRACE_VIRTUAL_TRANSFER = WINTRACE_KIND(306, 1),
    WINTRACE_VIRTUAL_FILL = WINTRACE_KIND(307, 1),
    WINTRACE_INIT_CONTEXT_RESOURCE = WINTRACE_KIND(308, 0),
    WINTRACE_UPDATE_PAGE_TABLE = WINTRACE_KIND(309, 0),
    WINTRACE_FLUSH_TLB = WINTRACE_KIND(310, 0),
    WINTRACE_UPDATE_CONTEXT_ALLOCATION = WINTRACE_KIND(311, 0),
    WINTRACE_NOTIFY_RESIDENCY = WINTRACE_KIND(312, 0),
    WINTRACE_SIGNAL_MONITORED_FENCE = WINTRACE_KIND(434, 0),
    WINTRACE_SYSMEM_COMMIT = WINTRACE_KIND(313, 0),
    WINTRACE_SYSMEM_UNCOMMIT = WINTRACE_KIND(314, 0),
    WINTRACE_LISTED = WINTRACE_KIND(320, 0),
    WINTRACE_PAGING_QUEUED_FOR_DEVICE = WINTRACE_KIND(322, 1),
    WINTRACE_PAGING_QUEUED = WINTRACE_KIND(323, 1),
    WINTRACE_PAGING_TAKEN = WINTRACE_KIND(324, 0),
    WINTRACE_PAGING_DONE = WINTRACE_KIND(325, 0),
    WINTRACE_MAKE_RESIDENT_START = WINTRACE_KIND(338, 0),
    WINTRACE_MAKE_RESIDENT_STOP = WINTRACE_KIND(339, 0),
};

/* What a handle in an event names. */
enum wintrace_object {
    WINTRACE_ADAPTER = 1,
    WINTRACE_DEVICE,
    WINTRACE_CONTEXT,
    WINTRACE_NODE_CONTEXT, /* the host's own of a node, which submits its preemption requests */
    WINTRACE_DMA_BUFFER,
    WINTRACE_PAGING_BUFFER,
    WINTRACE_PACKET,
    WINTRACE_SYNC,
    WINTRACE_PROCESS,
    WINTRACE_ALLOCATION,
    WINTRACE_OPEN, /* an allocation as a device has it */
    WINTRACE_PAGING_QUEUE,
    WINTRACE_PAGING_JOB,
    WINTRACE_DEVICE_OBJECT,
};

static inline bool wintrace_on(void)
{
    return wintrace_current != NULL;
}

/* A handle, which looks like a kernel address of Windows: of the object with that number (below
 * 2^32; 0 gives 0) of that kind on the adapter (below 2^8). */
static inline uint64_t wintrace_handle(enum wintrace_object object, uint64_t adapter,
                                       uint64_t number)
{
    return number ? UINT64_C(0xFFFF) << 48 | (uint64_t)object << 44 | (adapter & 0xFF) << 36 |
                        (number & UINT32_MAX) << 4
                  : 0;
}

/* Record an event of the current machine, at the time of its clock. Nothing happens without a sink.
 * The number of values must be that of the fields. */
void wintrace_record(enum wintrace_emitted kind, const uint64_t *value, size_t values);
#define wintrace_emit(kind, ...)                             \
    wintrace_record((kind), (const uint64_t[]){__VA_ARGS__}, \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

#endif
