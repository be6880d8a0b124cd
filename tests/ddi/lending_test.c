/* SPDX-License-Identifier: MIT */
/* Memory for what is lent: many buffers at once, large ones, and none left over where a call is refused or memory is short. */
#include "ddi/support/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ddi/lent.h"
#include "ddi/state.h"
#include "sim/machine.h"

#define DOOR port_adapter_ddi(p->adapter[0])
#define MANY 70u /* more than two chunks of slots have */

/* ---- slots ---- */

static void fill(uint8_t *bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(seed * 31 + i);
}

TEST_WITH(probe, many_buffers_are_lent_at_once)
{
    static struct ddi_lent lent[MANY];
    static uint8_t own[MANY][DDI_LENT_SMALL];
    struct ddi_lent_chunk *chunks = NULL;
    uint64_t reports = probe_rule(p, "LIFE-191");

    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            fill(own[i], sizeof(own[i]), i + round);
            CHECK(ddi_lend(&lent[i], own[i], i % 2 ? sizeof(own[i]) : i + 1, "a buffer"));
            CHECK(lent[i].data != own[i]);
        }
        for (unsigned i = 0; i < MANY; i++) {
            const size_t bytes = i % 2 ? sizeof(own[i]) : i + 1;

            CHECK(memcmp(lent[i].data, own[i], bytes) == 0);
            ddi_lent_check(&lent[i], true, 0);
            memset(lent[i].data, 0xEE, bytes);
        }
        CHECK(probe_rule(p, "LIFE-191") == reports);
        for (unsigned i = 0; i < MANY; i++) { /* not in the order in which they were taken */
            unsigned k = i * 13 % MANY;

            ddi_lent_end(&lent[k], k % 3 ? own[k] : NULL);
            CHECK(own[k][0] == (k % 3 ? 0xEE : (uint8_t)((k + round) * 31)));
            CHECK(!lent[k].block);
        }
        if (round == 0)
            chunks = ddi_state()->lent;
        CHECK(ddi_state()->lent == chunks); /* the same slots are taken again */
    }
}

/* ---- large ---- */

static long wild;
static size_t large_bytes;

static void write_wild(struct probe *p, struct probe_call *call)
{
    uint8_t *at = (uint8_t *)(uintptr_t)call->arg[1] + wild;

    (void)p;
    call->answered = true;
    CHECK(call->arg[2] == large_bytes);
    *at = (uint8_t) ~*at;
}

/* The reports of a driver that changes the byte there; what was lent is returned. */
static uint64_t wrong(struct probe *p, uint8_t *own, long offset)
{
    uint64_t before = probe_rule(p, "LIFE-191");

    wild = offset;
    p->before[PROBE_QueryChildRelations] = write_wild;
    (void)ddi_query_child_relations(DOOR, (DXGK_CHILD_DESCRIPTOR *)(void *)own, (ULONG)large_bytes);
    p->before[PROBE_QueryChildRelations] = NULL;
    return probe_rule(p, "LIFE-191") - before;
}

static void lend_large(struct probe *p)
{
    static const size_t sizes[] = {DDI_LENT_SMALL - 8, DDI_LENT_SMALL, DDI_LENT_SMALL + 8,
                                   8192 - 2048, 100000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const long bytes = (long)(large_bytes = sizes[i]);
        uint8_t *own = calloc(1, large_bytes);

        CHECK_RULE("LIFE-191", wrong(p, own, -1) == 1);
        CHECK_RULE("LIFE-191", wrong(p, own, -(long)DDI_LENT_BEFORE) == 1);
        CHECK_RULE("LIFE-191", wrong(p, own, bytes) == 1);
        CHECK_RULE("LIFE-191", wrong(p, own, bytes + (long)DDI_LENT_AFTER - 1) == 1);
        CHECK_RULE("LIFE-191", wrong(p, own, 0) == 0 && own[0] == 0xFF);
        CHECK_RULE("LIFE-191", wrong(p, own, bytes - 1) == 0 && own[bytes - 1] == 0xFF);
        free(own);
    }
}

TEST(large_buffers_have_zones)
{
    struct probe *p = probe_started(NULL);

    catalogue_provide(p);
    CHECK(probe_run(p, lend_large) == SIM_DONE);
    probe_destroy(p);
}

/* ---- short of memory ---- */

static void query_large(struct probe *p)
{
    uint8_t *own = calloc(1, DDI_LENT_SMALL + 1);
    size_t calls = probe_count(p, PROBE_QueryChildRelations);

    wild = 0;
    large_bytes = DDI_LENT_SMALL + 1;
    p->before[PROBE_QueryChildRelations] = write_wild;
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(ddi_query_child_relations(DOOR, (DXGK_CHILD_DESCRIPTOR *)(void *)own,
                                    (ULONG)large_bytes) == STATUS_NO_MEMORY);
    p->sim->heap.fail_at = 0;
    CHECK(probe_count(p, PROBE_QueryChildRelations) == calls && own[0] == 0);
    (void)ddi_query_child_relations(DOOR, (DXGK_CHILD_DESCRIPTOR *)(void *)own, (ULONG)large_bytes);
    CHECK(probe_count(p, PROBE_QueryChildRelations) == calls + 1 && own[0] == 0xFF);
    free(own);
}

TEST(a_large_buffer_may_be_more_than_there_is)
{
    struct probe *p = probe_started(NULL);

    catalogue_provide(p);
    CHECK(probe_run(p, query_large) == SIM_DONE);
    probe_destroy(p);
}

static void answer_last(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *last = &args->pAllocationInfo[args->NumAllocations - 1];

    (void)p;
    call->answered = true;
    ((uint8_t *)last->pPrivateDriverData)[0] = 7;
}

/* Each request of a call with more pieces than have room in its record fails once. */
static void create_many(struct probe *p)
{
    enum { COUNT = 40, EACH = 4096 };
    DXGK_ALLOCATIONINFO *info = calloc(COUNT, sizeof(*info));
    uint8_t *data = calloc(COUNT, EACH);
    DXGKARG_CREATEALLOCATION args = {.NumAllocations = COUNT, .pAllocationInfo = info};
    struct ddi_lent_chunk *chunks;
    NTSTATUS status = STATUS_NO_MEMORY;
    unsigned failed = 0;

    for (unsigned i = 0; i < COUNT; i++) {
        info[i].pPrivateDriverData = data + EACH * i;
        info[i].PrivateDriverDataSize = EACH;
    }
    p->before[PROBE_CreateAllocation] = answer_last;
    (void)ddi_create_allocation(DOOR, &args); /* what is kept for further calls is there now */
    data[(COUNT - 1) * EACH] = 0;
    chunks = ddi_state()->lent;
    while (status == STATUS_NO_MEMORY) {
        size_t calls = probe_count(p, PROBE_CreateAllocation);
        uint64_t blocks = p->sim->heap.live_blocks;

        p->sim->heap.fail_at = p->sim->heap.requests + failed + 1;
        status = ddi_create_allocation(DOOR, &args);
        p->sim->heap.fail_at = 0;
        failed += status == STATUS_NO_MEMORY;
        CHECK(probe_count(p, PROBE_CreateAllocation) - calls == (status != STATUS_NO_MEMORY));
        CHECK(p->sim->heap.live_blocks == blocks && ddi_state()->lent == chunks);
        for (unsigned k = 0; k < COUNT; k++)
            CHECK(info[k].pPrivateDriverData == data + EACH * k);
        CHECK(data[(COUNT - 1) * EACH] == (status == STATUS_NO_MEMORY ? 0 : 7));
    }
    CHECK(NT_SUCCESS(status) && failed >= 3);
    free(info);
    free(data);
}

TEST(pieces_that_do_not_fit_are_refused)
{
    struct probe *p = probe_started(NULL);

    CHECK(probe_run(p, create_many) == SIM_DONE);
    probe_destroy(p);
}

/* ---- refused calls ---- */

static size_t calls_of_all(const struct probe *p)
{
    size_t count = 0;

    for (int ddi = 0; ddi < PROBE_DDI_COUNT; ddi++)
        count += probe_count(p, (enum probe_ddi)ddi);
    return count;
}

static void answer(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
}

/* Often enough for slots to run out if any was kept. */
static void call_when_gone(struct probe *p)
{
    struct ddi_lent_chunk *chunks;
    DXGKARG_GETROOTPAGETABLESIZE size = {.NumberOfPte = 5};
    DXGKARG_CREATEDEVICE create = {.hDevice = (HANDLE)(uintptr_t)3};
    size_t calls;

    for (size_t i = 0; i < catalogue_count; i++) {
        p->before[catalogue[i].ddi] = answer;
        if (catalogue[i].ddi != PROBE_InterruptRoutine && catalogue[i].ddi != PROBE_DpcRoutine)
            catalogue[i].call(DOOR);
    }
    chunks = ddi_state()->lent;
    calls = calls_of_all(p);
    DOOR->gone = true;
    for (unsigned round = 0; round < 40; round++)
        for (size_t i = 0; i < catalogue_count; i++)
            catalogue[i].call(DOOR);
    CHECK_RULE("LIFE-151/b", calls_of_all(p) == calls);
    CHECK(ddi_state()->lent == chunks);
    CHECK(ddi_create_device(DOOR, &create) == STATUS_DEVICE_REMOVED &&
          create.hDevice == (HANDLE)(uintptr_t)3);
    CHECK(ddi_get_root_page_table_size(DOOR, &size) == 0 && size.NumberOfPte == 5);
    CHECK(!ddi_interrupt_routine(DOOR, 0));
    CHECK(ddi_reset_from_timeout(DOOR) == STATUS_DEVICE_REMOVED);
    DOOR->gone = false;
    for (size_t i = 0; i < catalogue_count; i++)
        p->before[catalogue[i].ddi] = NULL;
}

TEST(nothing_is_kept_of_calls_that_are_refused)
{
    struct probe *p = probe_started(NULL);

    catalogue_provide(p);
    CHECK(probe_run(p, call_when_gone) == SIM_DONE);
    probe_destroy(p);
}

/* ---- fences ---- */

static const volatile uint8_t *far_below;

static void read_far_below(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ESCAPE *args = (const void *)(uintptr_t)call->arg[1];

    p->before[PROBE_Escape] = NULL;
    call->answered = true;
    far_below = (const uint8_t *)args->pPrivateDriverData - 4096;
    (void)*far_below;
}

static void escape_below(struct probe *p)
{
    uint8_t data[64] = {0};
    DXGKARG_ESCAPE args = {.pPrivateDriverData = data, .PrivateDriverDataSize = sizeof(data)};

    p->before[PROBE_Escape] = read_far_below;
    (void)ddi_escape(DOOR, &args);
}

TEST(a_read_far_below_what_is_lent_is_named)
{
    struct probe *p = probe_started(&(struct probe_options){.special_pool = true});

    catalogue_provide(p);
    CHECK_RULE("LIFE-191", probe_run(p, escape_below) == SIM_STOPPED &&
                               probe_said(p, "LIFE-191",
                                          "read from memory 4096 bytes before the start of the "
                                          "private data of DXGKARG_ESCAPE of 64 bytes"));
    probe_destroy(p);
}
