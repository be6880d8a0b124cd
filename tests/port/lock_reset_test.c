/* SPDX-License-Identifier: MIT */
/* What a client has locked in video memory, while the adapter is reset and afterwards. */
#include "bus/memory.h"
#include "nt/base/current.h"
#include "port/support/paged.h"
#include "sim/thread.h"

#include <string.h>
#include <unistd.h>

#define IS(call, wanted) ((NTSTATUS)(call) == (NTSTATUS)(wanted))
#define MS               1000000ull
#define BYTES            (3 * PAGED_PAGE)

static struct probe_gpu gpu;
static volatile uint64_t *view; /* what is locked */
static volatile enum { QUIET, RESETTING, RESET } stage;
static volatile unsigned touched; /* while the adapter was reset */
static volatile uint64_t seen, late_seen;
static off_t place, late_place; /* of the first word, in video memory */
static D3DKMT_HANDLE late;      /* is locked while the adapter is reset */

static const uint64_t OLD = 0x1122334455667788ull, NEW = 0x99AABBCCDDEEFF00ull,
                      LATE = 0x0123456789ABCDEFull;

static int memory_file(const struct probe *p)
{
    return bus_device_memory_file(p->device[0], 2);
}

static uint64_t word_in_memory(const struct probe *p, off_t at)
{
    uint64_t word = 0;

    CHECK(pread(memory_file(p), &word, sizeof(word), at) == (ssize_t)sizeof(word));
    return word;
}

static off_t find_in_memory(const struct probe *p, uint64_t wanted)
{
    for (off_t at = 0; at < (off_t)(16 * PAGED_MIB); at += (off_t)PAGED_PAGE)
        if (word_in_memory(p, at) == wanted)
            return at;
    fail_msg("it is not in video memory");
    return 0;
}

/* The driver takes its time, and finds what was there. */
static void reset_slowly(struct probe *p, struct probe_call *call)
{
    const PULONG registers = p->state[0].registers;

    (void)call;
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    for (unsigned i = 0; i < PROBE_WORKING_NODES; i++)
        p->state[0].reported[i] = p->state[0].submitted[i];
    stage = RESETTING;
    probe_sleep(10 * MS);
    CHECK_RULE("KMT-276", touched > 0 && word_in_memory(p, place) == OLD);
    CHECK_RULE("TDR-048/a", touched > 0 && word_in_memory(p, place) == OLD &&
                                word_in_memory(p, place + (off_t)BYTES - 8) == OLD);
    CHECK_RULE("TDR-048/a", late_seen == 0 && word_in_memory(p, late_place) == LATE);
    stage = RESET;
}

static void touch(struct probe *p)
{
    volatile uint64_t *late_view;

    (void)p;
    while (stage == QUIET)
        probe_sleep(MS / 10);
    late_view = paged_lock(&gpu, late);
    CHECK(late_view && stage == RESETTING);
    late_seen = *late_view;
    *late_view = NEW;
    while (stage == RESETTING) {
        seen = view[0];
        view[0] = NEW;
        view[BYTES / 8 - 1] = NEW;
        touched++;
        probe_sleep(MS);
    }
}

static D3DKMT_HANDLE lock_one(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    volatile uint64_t *shown;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BYTES, &allocation)));
    view = paged_lock(&gpu, allocation);
    CHECK(view != NULL);
    view[0] = view[BYTES / 8 - 1] = OLD;
    place = find_in_memory(p, OLD);
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BYTES, &late)));
    shown = paged_lock(&gpu, late);
    CHECK(shown != NULL);
    *shown = LATE;
    late_place = find_in_memory(p, LATE);
    CHECK(NT_SUCCESS(paged_unlock(&gpu, late)));
    return allocation;
}

static void lock_over_reset(struct probe *p)
{
    D3DKMT_HANDLE allocation = lock_one(p), again;
    struct sim_thread *beside = probe_thread(p, nt_process_current(), "touches", touch);
    uint64_t sum = 0;

    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    CHECK(stage == RESET);
    CHECK_RULE("TDR-048/a", seen != OLD);
    for (unsigned i = 1; i < BYTES / 8 - 1; i++)
        sum += view[i];
    CHECK_RULE("KMT-275/a", sum == 0);
    view[0] = 5;
    CHECK_RULE("KMT-275/a", view[0] == 5 && word_in_memory(p, place) == OLD);
    CHECK_RULE("KMT-275/a", paged_lock(&gpu, allocation) == NULL); /* the device is lost */
    while (!sim_thread_ended(beside))
        probe_sleep(MS);
    sim_thread_release(beside);
    { /* a device that is made now has memory of its own */
        struct probe_gpu old = gpu;
        volatile uint64_t *fresh;

        CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
        CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BYTES, &again)));
        fresh = paged_lock(&gpu, again);
        CHECK(fresh && fresh != view);
        fresh[0] = NEW;
        CHECK_RULE("KMT-275/a", view[0] == 5 && word_in_memory(p, find_in_memory(p, NEW)) == NEW);
        CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
        gpu = old;
    }
    CHECK_RULE("KMT-275/a", NT_SUCCESS(paged_unlock(&gpu, allocation)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(what_is_locked_is_not_reached_during_a_reset)
{
    struct probe *p = probe_create(NULL);
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags;
    struct probe_client *client;

    stage = QUIET;
    touched = 0;
    seen = late_seen = OLD;
    paged_watch(p);
    flags.Value = 0;
    flags.CpuVisible = 1;
    paged.segments = 1;
    paged.flags = flags.Value;
    p->before[PROBE_ResetFromTimeout] = reset_slowly;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, lock_over_reset);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
