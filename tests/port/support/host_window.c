/* SPDX-License-Identifier: MIT */
/* The driver of the tests of host apertures, and the memory behind its window. */
#include "bus/memory.h"
#include "port/support/host_window.h"

#include <stdlib.h>
#include <string.h>

#define HALF (8u << 20)

struct host_window host_window;

uint8_t *host_window_cpu(const struct probe *p)
{
    return (uint8_t *)bus_device_memory(p->device[0], 2) + HALF;
}

/* The window has its own bytes here: they follow those of the memory while it is mapped. */
static void show(struct probe *p, UINT32 window, bool map)
{
    uint8_t *cpu = host_window_cpu(p) + (size_t)window * host_window.page_bytes;
    uint8_t *memory = host_window.memory + host_window.behind[window] * host_window.page_bytes;

    host_window.mapped[window] = map;
    if (map)
        memcpy(cpu, memory, host_window.page_bytes);
    else
        memcpy(memory, cpu, host_window.page_bytes);
}

unsigned host_window_mapped(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < WINDOW_PAGES; i++)
        count += host_window.mapped[i];
    return count;
}

static struct host_window_call *begin(struct probe_call *call, bool map, UINT64 count,
                                      const UINT32 *window, UINT segment, UINT adapter)
{
    struct host_window_call *note;

    CHECK(host_window.calls < WINDOW_CALLS && count <= WINDOW_LIST);
    note = &host_window.call[host_window.calls++];
    memset(note, 0, sizeof(*note));
    note->order = call->order;
    note->map = map;
    note->count = count;
    CHECK_RULE("ALLOC-135", segment == 3 && adapter == 0 && count > 0);
    for (UINT64 i = 0; i < count; i++) {
        CHECK_RULE("ALLOC-135", window[i] < host_window.pages);
        note->window[i] = window[i];
    }
    CHECK_RULE("ALLOC-138", call->irql == PASSIVE_LEVEL);
    if (++host_window.inside > host_window.most_inside)
        host_window.most_inside = host_window.inside;
    if (host_window.delay_ns)
        probe_sleep(host_window.delay_ns);
    return note;
}

static bool failing(struct probe_call *call, struct host_window_call *note, unsigned *count)
{
    host_window.inside--;
    note->failed = *count > 0;
    if (note->failed) {
        --*count;
        call->answered = true;
        call->result = (uint32_t)STATUS_UNSUCCESSFUL;
    }
    return note->failed;
}

static void map(struct probe *p, struct probe_call *call)
{
    const DXGKARG_MAPCPUHOSTAPERTURE *args = (const void *)(uintptr_t)call->arg[1];
    struct host_window_call *note = begin(call, true, args->NumberOfPages,
                                          args->pCpuHostAperturePages, args->SegmentId,
                                          args->PhysicalAdapterIndex);

    note->allocation = args->hAllocation;
    for (UINT64 i = 0; i < note->count; i++) {
        note->page[i] = args->pMemorySegmentPages[i];
        CHECK_RULE("ALLOC-136", note->page[i] < host_window.bytes / host_window.page_bytes);
    }
    if (failing(call, note, &host_window.fail_map_count))
        return;
    for (UINT64 i = 0; i < note->count; i++) {
        CHECK_RULE("ALLOC-137", !host_window.mapped[note->window[i]]);
        host_window.behind[note->window[i]] = note->page[i];
        show(p, note->window[i], true);
    }
}

static void unmap(struct probe *p, struct probe_call *call)
{
    const DXGKARG_UNMAPCPUHOSTAPERTURE *args = (const void *)(uintptr_t)call->arg[1];
    struct host_window_call *note = begin(call, false, args->NumberOfPages,
                                          args->pCpuHostAperturePages, args->SegmentId,
                                          args->PhysicalAdapterIndex);

    if (failing(call, note, &host_window.fail_unmap_count))
        return;
    for (UINT64 i = 0; i < note->count; i++) {
        CHECK_RULE("ALLOC-137", host_window.mapped[note->window[i]]);
        show(p, note->window[i], false);
    }
}

/* Where the BAR is, the driver learns at the start. */
static void place(struct probe *p, struct probe_call *call)
{
    (void)call;
    p->segment[2].CpuHostAperture.PhysicalAddress =
        (UINT64)p->segment[0].CpuTranslatedAddress.QuadPart + HALF;
}

struct probe *host_window_create(const struct probe_options *options, UINT64 bytes, UINT32 pages,
                                 bool large, bool tables)
{
    struct probe *p = probe_create(options);

    memset(&host_window, 0, sizeof(host_window));
    host_window.bytes = bytes;
    host_window.pages = pages;
    host_window.page_bytes = large ? 65536 : 4096;
    host_window.memory = calloc(1, bytes);
    CHECK(host_window.memory && pages <= WINDOW_PAGES);
    probe_set_entry(p, PROBE_MapCpuHostAperture, true);
    probe_set_entry(p, PROBE_UnmapCpuHostAperture, true);
    p->before[PROBE_MapCpuHostAperture] = map;
    p->before[PROBE_UnmapCpuHostAperture] = unmap;
    p->after[PROBE_StartDevice] = place;
    p->segments = 3;
    p->segment[0].Size = p->segment[0].CommitLimit = HALF;
    memset(&p->segment[2], 0, sizeof(p->segment[2]));
    p->segment[2].BaseAddress.QuadPart = 1ll << 36;
    p->segment[2].Size = p->segment[2].CommitLimit = bytes;
    p->segment[2].Flags.SupportsCpuHostAperture = 1;
    p->segment[2].Flags.Use64KBPages = large;
    p->segment[2].Flags.LocalBudgetGroup = 1;
    p->segment[2].CpuHostAperture.SizeInPages = pages;
    for (unsigned i = 0; tables && i < 8; i++)
        p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 3;
    return p;
}

void host_window_end(struct probe *p)
{
    probe_destroy(p);
    free(host_window.memory);
    host_window.memory = NULL;
}
