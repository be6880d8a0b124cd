/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_log.h"
#include "ddi/entries_hw.h"
#include "nt/base/status_name.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidmm/space/paging_process.h"
#include "vidsch/context.h"
#include "vidsch/dma_memory.h"
#include "vidsch/dma_view.h"
#include "vidsch/kick.h"
#include "vidsch/node.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"

#include <string.h>

#define UNINITIALISED 0xCD /* what the entries contain that the GPU gets */

static const uint64_t pages_of[VIDSCH_HW_LOGS] = {1, 8};

static DXGK_SCHEDULING_LOG_BUFFER *buffer_of(const struct vidsch_hw_log *log)
{
    return (DXGK_SCHEDULING_LOG_BUFFER *)(void *)log->view.data;
}

/* Entries that were ever written: the header is read in one piece. A GPU may step from the last
 * entry to the first one before or after it writes. */
static uint64_t written(const struct vidsch_hw_log *log)
{
    const volatile DXGK_SCHEDULING_LOG_HEADER *header = &buffer_of(log)->Header;
    const uint64_t both = header->AtomicWraparoundAndEntryIndex.QuadPart;

    return (both >> 32) * log->entries + (uint32_t)both;
}

static uint64_t sum(const struct vidsch_hw_log *log)
{
    const uint64_t *word = (const uint64_t *)(const void *)log->view.data;
    uint64_t value = 0;

    for (uint64_t i = 0; i < log->view.pages << PAGE_BITS >> 3; i++)
        value = (value ^ word[i]) * 0x100000001B3u;
    return value;
}

/* ---- reading ---- */

static const char *const state_name[] = {"GPU: idle", "GPU: running", "GPU: ready",
                                         "GPU: ready, standby"};

/* hKmdContext: the driver's handle or the host's; the page does not say whose it is. */
static const struct vidsch_hw_context *find(const struct vidsch_node *node, HANDLE handle)
{
    LIST_FOR(link, &node->hw.contexts) {
        const struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

        if (hw->context->mm.driver_handle == handle || hw->context->mm.host_handle == handle)
            return hw;
    }
    return NULL;
}

static void take(const struct vidsch_node *node, const DXGK_SCHEDULING_LOG_ENTRY *entry)
{
    const unsigned state = (unsigned)entry->ContextStateChange.newContextState;
    const struct vidsch_hw_context *hw;

    if (entry->OperationType != DXGK_SCHEDULING_LOG_OPERATION_CONTEXT_STATE_CHANGE) {
        VIOLATION("SUBMIT-086", "scheduling log of node %u: an entry has OperationType %u",
                  node->ordinal, (unsigned)entry->OperationType);
        return;
    }
    if (state > DXGK_SCHEDULING_LOG_CONTEXT_STATE_READY_STANDBY) {
        VIOLATION("SUBMIT-086", "scheduling log of node %u: an entry has newContextState %u",
                  node->ordinal, state);
        return;
    }
    hw = find(node, entry->ContextStateChange.hKmdContext);
    if (!hw)
        WARNING(
            "SUBMIT-086", "scheduling log of node %u: an entry names the context %s", node->ordinal,
            ddi_handle_describe(&node->vidsch->ddi->handles, entry->ContextStateChange.hKmdContext)
                .text);
    else
        trace_instant(hw->context->track, state_name[state], "GPU time", entry->GpuTimeStamp, NULL,
                      0);
    node->vidsch->statistics.log_entries++;
}

static void overrun(struct vidsch_node *node, struct vidsch_hw_log *log, uint64_t end)
{
    WARNING("SUBMIT-087",
            "scheduling log of node %u: %llu entries were written since it was read, it has room "
            "for %u; all but the newest are lost",
            node->ordinal, (unsigned long long)(end - log->read), log->entries);
    log->read = end - 1;
    if (node->hw.log_turn + 1 < VIDSCH_HW_LOGS) {
        node->hw.log_full = true;
        vidsch_kick_node(node);
    }
}

static void read_log(struct vidsch_node *node, struct vidsch_hw_log *log)
{
    const uint64_t end = written(log);

    if (end < log->read) {
        VIOLATION("SUBMIT-087",
                  "scheduling log of node %u: WraparoundCount and FirstFreeEntryIndex say that %llu "
                  "entries were written, it was %llu before",
                  node->ordinal, (unsigned long long)end, (unsigned long long)log->read);
        log->read = end;
    }
    if (end - log->read > log->entries)
        overrun(node, log, end);
    for (; log->read < end; log->read++) {
        const DXGK_SCHEDULING_LOG_ENTRY entry = buffer_of(log)->Entries[log->read % log->entries];

        take(node, &entry);
    }
}

static void check_old(struct vidsch_node *node)
{
    struct vidsch_hw_log *old = node->hw.log_turn ? &node->hw.log[node->hw.log_turn - 1] : NULL;

    if (!old || sum(old) == old->left_as)
        return;
    VIOLATION("SUBMIT-121",
              "the previous scheduling log of node %u was written to after "
              "DxgkDdiSetSchedulingLogBuffer had returned",
              node->ordinal);
    old->left_as = sum(old);
}

void vidsch_hw_log_read(struct vidsch_node *node)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (!node->hw.logs)
        return;
    check_old(node);
    read_log(node, &node->hw.log[node->hw.log_turn]);
}

/* ---- the driver gets one ---- */

static bool give(struct vidsch_node *node, struct vidsch_hw_log *log)
{
    DXGKARG_SETSCHEDULINGLOGBUFFER args = {.NodeOrdinal = node->ordinal,
                                           .NumberOfEntries = log->entries,
                                           .LogBufferCpuVa = buffer_of(log),
                                           .LogBufferGpuVa = log->va.value,
                                           .InterruptEntry = log->entries / 2};
    NTSTATUS status;

    memset(log->view.data, UNINITIALISED, log->view.pages << PAGE_BITS);
    buffer_of(log)->Header = (DXGK_SCHEDULING_LOG_HEADER){.NumberOfEntries = log->entries};
    status = ddi_set_scheduling_log_buffer(node->vidsch->ddi, &args);
    if (NT_SUCCESS(status))
        return true;
    if (ddi_driver_failed(node->vidsch->ddi, status))
        VIOLATION("SUBMIT-121", "DxgkDdiSetSchedulingLogBuffer of node %u answered %s",
                  node->ordinal, nt_status_text(status).text);
    return false;
}

void vidsch_hw_log_swap(struct vidsch_node *node)
{
    struct vidsch_hw_log *old = &node->hw.log[node->hw.log_turn];

    vidsch_assert_worker(node->vidsch);
    node->hw.log_full = false;
    if (!give(node, old + 1))
        return;
    read_log(node, old);
    old->left_as = sum(old);
    node->hw.log_full = false;
    node->hw.log_turn++;
    vidsch_hw_log_read(node);
}

/* ---- memory ---- */

static bool make(struct vidsch_node *node, struct vidsch_hw_log *log, uint64_t pages)
{
    struct vidsch *vidsch = node->vidsch;
    struct logical_page logical[8];

    if (!vidsch_dma_memory_take(vidsch, pages, 1, &log->first, &log->first_logical))
        return false;
    if (!vidsch_dma_view_create(vidsch, &log->view, log->first, pages, "the scheduling log")) {
        vidsch_dma_memory_give(vidsch, log->first, pages, 1, log->first_logical);
        log->view.pages = 0;
        return false;
    }
    for (uint64_t i = 0; i < pages; i++)
        logical[i].value = log->first_logical.value + i;
    log->entries = (uint32_t)(((pages << PAGE_BITS) - sizeof(DXGK_SCHEDULING_LOG_HEADER)) /
                              sizeof(DXGK_SCHEDULING_LOG_ENTRY));
    return NT_SUCCESS(vidmm_map_paging_buffer(vidsch->vidmm, logical, pages, &log->va));
}

static void check_ends(const struct vidsch_node *node)
{
    for (unsigned i = 0; node->hw.logs && i < VIDSCH_HW_LOGS; i++)
        if (!vidsch_dma_view_intact(&node->hw.log[i].view))
            VIOLATION("SUBMIT-121",
                      "memory beside the scheduling log of node %u, of %u entries, was written to",
                      node->ordinal, node->hw.log[i].entries);
}

static void discard(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;

    for (unsigned i = 0; i < VIDSCH_HW_LOGS; i++) {
        struct vidsch_hw_log *log = &node->hw.log[i];
        const uint64_t pages = log->view.pages;

        if (!pages)
            continue;
        vidsch_dma_view_destroy(vidsch, &log->view);
        vidsch_dma_memory_give(vidsch, log->first, pages, 1, log->first_logical);
        *log = (struct vidsch_hw_log){0};
    }
    node->hw.logs = false;
}

void vidsch_hw_logs_begin(struct vidsch *vidsch)
{
    sim_assert_passive();
    for (uint32_t n = 0; n < vidsch->config.nodes; n++) {
        struct vidsch_node *node = &vidsch->node[n];
        bool good = node->hw.on && ddi_has(vidsch->ddi, DxgkDdiSetSchedulingLogBuffer);

        for (unsigned i = 0; i < VIDSCH_HW_LOGS && good; i++)
            good = make(node, &node->hw.log[i], pages_of[i]);
        node->hw.logs = good && give(node, &node->hw.log[0]);
        if (!node->hw.logs)
            discard(node);
    }
}

void vidsch_hw_logs_end(struct vidsch *vidsch)
{
    for (uint32_t n = 0; n < vidsch->config.nodes; n++) {
        vidsch_hw_log_read(&vidsch->node[n]);
        check_ends(&vidsch->node[n]);
        discard(&vidsch->node[n]);
    }
}
