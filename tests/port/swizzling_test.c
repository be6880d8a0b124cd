/* SPDX-License-Identifier: MIT */
/* Swizzling ranges: locks that see memory of a WDDM 1.x adapter in another order than the GPU. */
#include "bus/memory.h"
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define HALF               (8u << 20)
#define RANGE              (1u << 20) /* of the second half of the BAR for each range */
#define BYTES              65536u
#define UNAVAILABLE        STATUS_GRAPHICS_UNSWIZZLING_APERTURE_UNAVAILABLE
#define UNSUPPORTED        STATUS_GRAPHICS_UNSWIZZLING_APERTURE_UNSUPPORTED

static struct portions_gpu gpu;

struct range_call {
    bool acquire;
    uint64_t order;
    HANDLE allocation;
    UINT private_data, range, segment;
    SIZE_T size;
};

static struct driver {
    UINT ranges;
    struct range_call call[64];
    unsigned calls, inside, most_inside;
    NTSTATUS answer[8]; /* of the next acquisitions */
    unsigned answers;
    SIZE_T size;      /* set by the driver, if not 0 */
    LONGLONG address; /* the same */
    uint64_t delay_ns;
    UINT set, preferred, capture; /* of the next allocation */
    HANDLE handle[16];
    unsigned created, moved_out;
} driver;

/* ---- the driver ---- */

static struct range_call *note(struct probe_call *call, bool acquire)
{
    struct range_call *c = &driver.call[driver.calls++];

    CHECK(driver.calls <= 64);
    memset(c, 0, sizeof(*c));
    c->acquire = acquire;
    c->order = call->order;
    CHECK_RULE("ALLOC-133", call->irql == PASSIVE_LEVEL);
    if (++driver.inside > driver.most_inside)
        driver.most_inside = driver.inside;
    if (driver.delay_ns)
        probe_sleep(driver.delay_ns);
    driver.inside--;
    return c;
}

static void acquire(struct probe *p, struct probe_call *call)
{
    DXGKARG_ACQUIRESWIZZLINGRANGE *args = (void *)(uintptr_t)call->arg[1];
    struct range_call *c = note(call, true);

    c->allocation = args->hAllocation;
    c->private_data = args->PrivateDriverData;
    c->range = args->RangeId;
    c->segment = args->SegmentId;
    c->size = args->RangeSize;
    CHECK_RULE("ALLOC-130", args->RangeId < driver.ranges);
    args->CPUTranslatedAddress.QuadPart = driver.address
                                              ? driver.address
                                              : p->segment[0].CpuTranslatedAddress.QuadPart + HALF +
                                                    (LONGLONG)args->RangeId * RANGE;
    if (driver.size)
        args->RangeSize = driver.size;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (driver.answers) {
        call->result = (uint32_t)driver.answer[0];
        memmove(driver.answer, driver.answer + 1, 7 * sizeof(driver.answer[0]));
        driver.answers--;
    }
}

static void release(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RELEASESWIZZLINGRANGE *args = (const void *)(uintptr_t)call->arg[1];
    struct range_call *c = note(call, false);

    (void)p;
    c->allocation = args->hAllocation;
    c->private_data = args->PrivateDriverData;
    c->range = args->RangeId;
}

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = driver.set;
    info->PreferredSegment.Value = driver.preferred ? driver.preferred : 1;
    info->Flags.Value = 0;
    info->Flags.CpuVisible = 1;
    info->Flags.Capture = driver.capture & 1;
    driver.handle[driver.created++ % 16] = info->hAllocation;
}

static void note_out(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    driver.moved_out += op->Operation == DXGK_OPERATION_TRANSFER &&
                        op->Transfer.Source.SegmentId == 1;
}

static void prepare(struct probe *p)
{
    p->segment[0].Size = p->segment[0].CommitLimit = HALF;
    p->caps.NumberOfSwizzlingRanges = driver.ranges;
    probe_set_entry(p, PROBE_AcquireSwizzlingRange, true);
    probe_set_entry(p, PROBE_ReleaseSwizzlingRange, true);
    p->before[PROBE_AcquireSwizzlingRange] = acquire;
    p->before[PROBE_ReleaseSwizzlingRange] = release;
    p->before[PROBE_BuildPagingBuffer] = note_out;
    p->after[PROBE_CreateAllocation] = describe;
}

static struct probe *started(UINT ranges)
{
    memset(&driver, 0, sizeof(driver));
    driver.ranges = ranges;
    driver.set = 3;
    portions_prepare = prepare;
    return portions_begin(false, false);
}

static void run(UINT ranges, void (*body)(struct probe *p))
{
    struct probe *p = started(ranges);

    portions_end(p, probe_client_run(p, body));
}

/* ---- the client ---- */

static D3DKMT_LOCK args;

static NTSTATUS lock_with(unsigned index, UINT private_data, D3DDDICB_LOCKFLAGS flags)
{
    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = gpu.allocation[index];
    args.PrivateDriverData = private_data;
    args.Flags = flags;
    return D3DKMTLock(&args);
}

static uint8_t *lock(unsigned index, UINT private_data)
{
    CHECK(IS(lock_with(index, private_data, (D3DDDICB_LOCKFLAGS){.AcquireAperture = 1}),
             STATUS_SUCCESS));
    return args.pData;
}

static void unlock(unsigned index)
{
    CHECK(IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &gpu.allocation[index]}), STATUS_SUCCESS));
}

/* All four in segment 1. */
static void begin(void)
{
    portions_open(&gpu);
    for (unsigned i = 0; i < 4; i++) {
        portions_allocate(&gpu, i, BYTES);
        portions_element(&gpu, i, i, i + 1, 0);
    }
    CHECK(IS(portions_render(&gpu, 64, 4), STATUS_SUCCESS));
    portions_finish(&gpu);
    driver.moved_out = 0;
}

static const struct range_call *last(void)
{
    CHECK(driver.calls > 0);
    return &driver.call[driver.calls - 1];
}

static uint8_t *memory_of(struct probe *p)
{
    return bus_device_memory(p->device[0], 2);
}

/* ---- one range ---- */

static void one_body(struct probe *p)
{
    uint8_t *bytes;
    UINT id;

    begin();
    bytes = lock(1, 5);
    id = last()->range;
    CHECK_RULE("ALLOC-130",
               driver.calls == 1 && last()->acquire && last()->allocation == driver.handle[1] &&
                   last()->private_data == 5 && last()->segment == 1 && last()->size == BYTES);
    bytes[0] = 0xA1;
    bytes[BYTES - 1] = 0xA2;
    CHECK_RULE("ALLOC-130", memory_of(p)[HALF + id * RANGE] == 0xA1 &&
                                memory_of(p)[HALF + id * RANGE + BYTES - 1] == 0xA2);
    CHECK_RULE("ALLOC-130",
               lock(1, 5) == bytes && driver.calls == 1); /* once more at the same time */
    unlock(1);
    unlock(1);
    bytes = lock(1, 5); /* and later */
    CHECK_RULE("ALLOC-130", driver.calls == 1 && bytes[0] == 0xA1);
    unlock(1);
    bytes = lock(1, 6); /* other private data: another range */
    CHECK_RULE("ALLOC-133", driver.calls == 3 && !driver.call[1].acquire &&
                                driver.call[1].allocation == driver.handle[1] &&
                                driver.call[1].private_data == 5 && driver.call[1].range == id);
    CHECK_RULE("ALLOC-130", last()->acquire && last()->private_data == 6);
    unlock(1);
    CHECK(IS(lock_with(1, 6, (D3DDDICB_LOCKFLAGS){.LockEntire = 1}), STATUS_SUCCESS));
    *(uint8_t *)args.pData = 0xB7; /* without AcquireAperture: the memory as it is */
    CHECK_RULE("ALLOC-130", driver.calls == 3 && memory_of(p)[HALF + id * RANGE] != 0xB7);
    unlock(1);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0 && driver.moved_out == 0);
    portions_close(&gpu);
    CHECK_RULE("ALLOC-133", driver.calls == 4 && !last()->acquire &&
                                last()->order < probe_nth(p, PROBE_DestroyAllocation, 0)->order);
}

TEST(a_lock_sees_the_range)
{
    run(2, one_body);
}

static void aperture_body(struct probe *p)
{
    (void)p;
    driver.preferred = 2; /* in the aperture, though it might be in memory */
    begin();
    lock(0, 1);
    unlock(0);
    CHECK_RULE("ALLOC-130", driver.calls == 0);
    portions_close(&gpu);
}

TEST(only_memory_segments_have_ranges)
{
    run(2, aperture_body);
}

/* ---- a wrong answer ---- */

static void wrong_body(struct probe *p)
{
    begin();
    driver.size = 2 * BYTES;
    lock(0, 1);
    CHECK_RULE("ALLOC-130", probe_rule(p, "ALLOC-130") == 1 && driver.moved_out == 0);
    CHECK(IS(lock_with(1, 1, (D3DDDICB_LOCKFLAGS){.AcquireAperture = 1, .UseAlternateVA = 1}),
             STATUS_SUCCESS));
    CHECK_RULE("ALLOC-130", probe_rule(p, "ALLOC-130") == 1);
    driver.size = 0;
    driver.address = p->segment[0].CpuTranslatedAddress.QuadPart + 2 * HALF - BYTES + 4096;
    unlock(0);
    lock(2, 1); /* its last page lies behind the BAR */
    CHECK_RULE("ALLOC-130",
               probe_rule(p, "ALLOC-130") == 2 && driver.moved_out == 1 && !last()->acquire);
    unlock(1);
    unlock(2);
    portions_close(&gpu);
}

TEST(what_the_driver_sets_is_looked_at)
{
    run(3, wrong_body);
}

/* ---- none left ---- */

static void taken_body(struct probe *p)
{
    uint8_t *bytes;

    (void)p;
    begin();
    lock(0, 1);
    lock(1, 1);
    CHECK(driver.calls == 2 && driver.call[0].range != driver.call[1].range);
    unlock(0);
    lock(2, 1); /* the one that nobody looks through */
    CHECK_RULE("ALLOC-133", driver.calls == 4 && !driver.call[2].acquire &&
                                driver.call[2].allocation == driver.handle[0] && last()->acquire &&
                                last()->range == driver.call[0].range);
    bytes = lock(3, 1); /* both are looked through */
    bytes[0] = 1;
    CHECK_RULE("ALLOC-131", driver.calls == 4 && driver.moved_out == 1);
    unlock(3);
    unlock(2);
    unlock(1);
    portions_close(&gpu);
}

TEST(a_range_is_taken_from_another)
{
    run(2, taken_body);
}

static void next_answers(unsigned count, NTSTATUS status)
{
    driver.answers = count;
    for (unsigned i = 0; i < count; i++)
        driver.answer[i] = status;
}

static void unavailable_body(struct probe *p)
{
    begin();
    for (unsigned i = 0; i < 2; i++) {
        lock(i, 1);
        unlock(i);
    }
    next_answers(1, UNAVAILABLE); /* there is a range, but no memory for it, say */
    lock(2, 1);
    CHECK_RULE("ALLOC-131", driver.calls == 5 && driver.call[2].acquire &&
                                !driver.call[3].acquire && driver.call[4].acquire &&
                                driver.call[4].allocation == driver.handle[2]);
    unlock(2);
    next_answers(8, UNAVAILABLE);
    lock(3, 1); /* the other two are released, one by one */
    CHECK_RULE("ALLOC-131", driver.calls == 10 && driver.answers == 5 && driver.moved_out == 1 &&
                                !driver.call[6].acquire && !driver.call[8].acquire);
    unlock(3);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    portions_close(&gpu);
    CHECK_RULE("ALLOC-133", driver.calls == 10);
}

TEST(unavailable_ranges_are_made_available)
{
    run(4, unavailable_body);
}

static void unsupported_body(struct probe *p)
{
    begin();
    lock(0, 1);
    unlock(0);
    next_answers(1, UNSUPPORTED);
    lock(1, 1);
    CHECK_RULE("ALLOC-131", driver.calls == 2 && driver.moved_out == 1);
    unlock(1);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    next_answers(1, STATUS_ACCESS_DENIED);
    lock(2, 1);
    CHECK_RULE("ALLOC-132",
               driver.calls == 3 && driver.moved_out == 2 && probe_rule(p, "ALLOC-132") == 1);
    unlock(2);
    next_answers(1, UNSUPPORTED);
    CHECK_RULE("ALLOC-132",
               IS(lock_with(3, 1, (D3DDDICB_LOCKFLAGS){.AcquireAperture = 1, .DonotEvict = 1}),
                  UNSUPPORTED) &&
                   driver.moved_out == 2);
    next_answers(8, UNAVAILABLE);
    CHECK_RULE("ALLOC-132",
               IS(lock_with(3, 1, (D3DDDICB_LOCKFLAGS){.AcquireAperture = 1, .DonotEvict = 1}),
                  UNAVAILABLE) &&
                   driver.moved_out == 2);
    CHECK_RULE("ALLOC-132", IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &gpu.allocation[3]}),
                               STATUS_INVALID_PARAMETER)); /* it is not locked */
    driver.answers = 0;
    portions_close(&gpu);
}

TEST(unsupported_ranges_are_given_up)
{
    run(4, unsupported_body);
}

static void pinned_body(struct probe *p)
{
    (void)p;
    driver.capture = 1;
    begin();
    next_answers(1, UNSUPPORTED);
    CHECK_RULE("ALLOC-131", IS(lock_with(0, 1, (D3DDDICB_LOCKFLAGS){.AcquireAperture = 1}),
                               STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION) &&
                                driver.moved_out == 0);
    portions_close(&gpu);
}

TEST(what_is_pinned_cannot_move_out)
{
    run(2, pinned_body);
}

static void none_body(struct probe *p)
{
    (void)p;
    begin();
    lock(0, 1);
    CHECK_RULE("ALLOC-131", driver.calls == 0 && driver.moved_out == 1);
    unlock(0);
    portions_close(&gpu);
}

TEST(an_adapter_without_ranges_moves_it_out)
{
    run(0, none_body);
}

/* ---- one lock in another ---- */

static void nested_body(struct probe *p)
{
    const D3DDDICB_LOCKFLAGS stay = {.AcquireAperture = 1, .DonotEvict = 1};
    uint8_t *bytes;
    UINT id;

    begin();
    bytes = lock(1, 5);
    id = last()->range;
    next_answers(1, UNSUPPORTED);
    CHECK_RULE("ALLOC-132", IS(lock_with(1, 6, stay), UNSUPPORTED));
    next_answers(8, UNAVAILABLE);
    CHECK_RULE("ALLOC-132", IS(lock_with(1, 6, stay), UNAVAILABLE));
    driver.answers = 0;
    bytes[1] = 0xC1;
    /* the range of the first lock is as it was */
    CHECK_RULE("ALLOC-133", driver.calls == 3 && driver.call[1].acquire && driver.call[2].acquire &&
                                memory_of(p)[HALF + id * RANGE + 1] == 0xC1);
    driver.address = p->segment[0].CpuTranslatedAddress.QuadPart + 2 * HALF; /* not in the BAR */
    CHECK_RULE("ALLOC-130", IS(lock_with(1, 6, stay), UNSUPPORTED) && driver.calls == 5 &&
                                !last()->acquire && last()->range != id);
    driver.address = 0;
    CHECK_RULE("ALLOC-130", lock(1, 5) == bytes && driver.calls == 5); /* it is known still */
    unlock(1);
    driver.calls = 3;
    /* another one is acquired before the first is released */
    CHECK_RULE("KMT-271", lock(1, 6) == bytes);
    CHECK_RULE("ALLOC-133", driver.calls == 5 && driver.call[3].acquire &&
                                driver.call[3].range != id && !driver.call[4].acquire &&
                                driver.call[4].private_data == 5 && driver.call[4].range == id);
    id = driver.call[3].range;
    bytes[2] = 0xC2;
    CHECK_RULE("ALLOC-130", memory_of(p)[HALF + id * RANGE + 2] == 0xC2);
    unlock(1);
    unlock(1);
    portions_close(&gpu);
    CHECK_RULE("ALLOC-133", driver.calls == 6 && !last()->acquire && last()->private_data == 6);
}

TEST(a_lock_that_fails_takes_nothing_from_another)
{
    run(3, nested_body);
}

/* Each request of the host fails in turn. What the first lock looks at is the memory itself, then a range. */
static void failing_body(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    unsigned failed = 0;

    begin();
    for (unsigned through = 0; through < 2; through++) {
        const D3DDDICB_LOCKFLAGS stay = {.AcquireAperture = 1, .DonotEvict = 1};
        uint64_t at = portions_address(portions.patch_count - 1, 2) -
                      (uint64_t)p->segment[0].BaseAddress.QuadPart;
        NTSTATUS status = STATUS_UNSUCCESSFUL;
        uint8_t *bytes;

        CHECK(IS(
            lock_with(1, 1, (D3DDDICB_LOCKFLAGS){.AcquireAperture = through & 1, .LockEntire = 1}),
            STATUS_SUCCESS));
        bytes = args.pData;
        if (through)
            at = HALF + (uint64_t)last()->range * RANGE;
        for (uint8_t nth = 1; !NT_SUCCESS(status); nth++) {
            CHECK(nth < 32);
            heap->fail_at = heap->requests + nth;
            status = lock_with(1, 2, stay);
            heap->fail_at = 0;
            if (NT_SUCCESS(status))
                break;
            failed++;
            bytes[nth] = nth;
            CHECK_RULE("KMT-271", memory_of(p)[at + nth] == nth);
        }
        unlock(1);
        unlock(1);
    }
    CHECK(failed > 0 && probe_reports(p, VERIFY_ERROR) == 0);
    portions_close(&gpu);
}

TEST(a_view_that_cannot_turn_shows_what_it_did)
{
    run(3, failing_body);
}

/* ---- eviction ---- */

static void leave_locked(struct probe *p)
{
    (void)p;
    begin();
    lock(0, 1)[9] = 9;
}

static void go_on(struct probe *p)
{
    (void)p;
    *(uint8_t *)args.pData = 1; /* the pointer is good */
    unlock(0);
    portions_close(&gpu);
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-133", driver.calls == 2 && !last()->acquire &&
                                last()->allocation == driver.handle[0] &&
                                last()->order < probe_nth(p, PROBE_SetPowerState, 0)->order);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

TEST(an_evicted_allocation_gives_its_range_up)
{
    struct probe *p = started(2);
    struct probe_client *client = probe_client_run(p, leave_locked);

    CHECK(probe_run(p, sleep_and_wake) == SIM_DONE);
    probe_client_go_on(p, client, go_on);
    CHECK_RULE("ALLOC-133", driver.calls == 2);
    portions_end(p, client);
}

/* ---- several clients ---- */

static struct probe_client *other[2];
static unsigned rounds;

static void lock_often(struct probe *p)
{
    struct portions_gpu g;

    (void)p;
    portions_open(&g);
    portions_allocate(&g, 0, BYTES);
    portions_element(&g, 0, 0, 1, 0);
    CHECK(IS(portions_render(&g, 64, 1), STATUS_SUCCESS));
    portions_finish(&g);
    for (UINT i = 0; i < 8; i++) {
        D3DKMT_LOCK own;

        memset(&own, 0, sizeof(own));
        own.hDevice = g.device;
        own.hAllocation = g.allocation[0];
        own.PrivateDriverData = i;
        own.Flags.AcquireAperture = 1;
        CHECK(IS(D3DKMTLock(&own), STATUS_SUCCESS));
        CHECK(IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){g.device, 1, &g.allocation[0]}), STATUS_SUCCESS));
        rounds++;
    }
    portions_close(&g);
}

static void beside_body(struct probe *p)
{
    driver.delay_ns = 2000;
    for (unsigned i = 0; i < 2; i++)
        other[i] = probe_client_start(p, lock_often);
    for (unsigned i = 0; i < 2; i++)
        while (!other[i]->done)
            probe_sleep(1000000);
}

TEST(one_call_about_ranges_at_a_time)
{
    struct probe *p = started(4);
    struct probe_client *client = probe_client_run(p, beside_body);

    for (unsigned i = 0; i < 2; i++)
        probe_client_end(p, other[i]);
    CHECK_RULE("ALLOC-133", rounds == 16 && driver.calls == 32 && driver.most_inside == 1);
    CHECK_RULE("THREAD-023", driver.most_inside == 1);
    portions_end(p, client);
}
