/* SPDX-License-Identifier: MIT */
/* Habits of published drivers that Windows accepts (tests/drivers/habits.c, compute.c): each starts and works here, with the
 * warnings that it earns and no other, as an ELF object and as a Windows image of each compiler; strict mode refuses for what is
 * only expected. */
#include "../drivers/compute/compute_hw.h"
#include "../examples/blitter/blitter_hw.h"
#include "host/support/machine.h"

#include <unistd.h>

#define COMPUTE "CAPS-013 LIFE-026 LIFE-028"

struct habit {
    unsigned number;
    const char *rules;  /* all that are reported above a note, sorted */
    const char *strict; /* the rule that refuses in strict mode; NULL: none */
};

static const struct habit habits[] = {
    {0, "", NULL},
    {1, "CAPS-029", "CAPS-029"}, /* no SupportPerEngineTDR */
    {2, "CAPS-030", NULL},       /* no FlipOnVSyncMmIo */
    {3, "CAPS-025", "CAPS-025"}, /* a message that was not granted */
    {4, "", NULL},               /* SectionBackedPrimary */
    {5, "SEG-030", "SEG-030"},   /* a size that was never set */
    {6, "SEG-030", "SEG-030"},   /* no whole pages */
    {7, "SEG-046", NULL},        /* coherent video memory */
    {8, "", NULL},               /* no PHYSICALADAPTERCAPS */
    {9, "", "CAPS-074"},         /* its own sizeof for the stride */
    {10, "CAPS-101", NULL},      /* a name for a copy engine */
    {11, "", NULL},              /* QueryChildRelations is not implemented */
    {12, "LIFE-076", NULL},      /* or writes the terminator */
    {13, "", NULL},              /* no AccessedPhysically, no GPU addresses */
    {14, "ALLOC-027", NULL},     /* Alignment 5000 */
    {15, "ALLOC-027", NULL},     /* PhysicalAdapterIndex 1 */
    {16, "ALLOC-041", NULL},     /* evicted to video memory */
    {17, "", NULL},              /* frees the first element alone */
    {18, "", NULL},              /* no DmaBufferSize for the system */
    {20, COMPUTE, "LIFE-026"},   /* compute-only, with what is missing */
    {21, "CAPS-013 CAPS-052 LIFE-026 LIFE-028", "CAPS-052"},
    {22, "CAPS-013 CAPS-027 LIFE-026 LIFE-028", "CAPS-027"},
    {23, "CAPS-013 LIFE-026 LIFE-028 LIFE-030", "LIFE-030"},
};

/* GPU virtual addresses in system memory, whose tables the CPU writes. */
static const struct habit compute_habits[] = {
    {0, "", NULL},
    {1, "ALLOC-027", NULL},                  /* allocations in segment NbSegment + 1 */
    {2, "CAPS-093", "CAPS-093"},             /* tables there */
    {3, "GPUVA-017", "GPUVA-017"},           /* tables of 16 KiB */
    {4, "GPUVA-017 GPUVA-156", "GPUVA-017"}, /* a root of 16 KiB */
    {5, "CAPS-092 GPUVA-156", "CAPS-092"},   /* and of 1 KiB */
    {6, "", NULL},                           /* no DmaBufferSize for the system */
    {7, "", NULL},                           /* PitchAlignment, no PitchAlignedSize */
    {8, "LIFE-030", "LIFE-030"},             /* DxgkDdiNotifyAcpiEvent */
    {9, "ALLOC-027 CAPS-093 GPUVA-017 GPUVA-156 LIFE-030", "LIFE-030"}, /* all but 5 */
};

/* A driver, its device and a program for both. */
struct family {
    const char *service, *device;
    const struct habit *habits;
    size_t count;
    void (*work)(struct client *c);
};

static void write_registry(struct machine *m, const char *service, unsigned number)
{
    char path[] = "/tmp/dxgkhost-habits-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\%s]\n", service);
    fprintf(file, "\"Habit\"=4:%02x000000\n", number);
    CHECK(fclose(file) == 0);
    result = dxgk_machine_load_registry(m->dxgk, path, m->error, sizeof(m->error));
    unlink(path);
    CHECK(result == DXGK_OK);
}

static enum dxgk_result load(struct machine *m, const struct family *f, const char *driver,
                             unsigned number, bool strict)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    config.strict = strict;
    machine_create(m, &config);
    write_registry(m, f->service, number);
    CHECK(dxgk_machine_add_device(m->dxgk, f->device, NULL, 0, m->error, sizeof(m->error)) ==
          DXGK_OK);
    return dxgk_machine_load_driver(m->dxgk, machine_path(driver), m->error, sizeof(m->error));
}

/* Three allocations of no resource, written by the CPU and brought in, which the device leaves behind when it ends. */
static void blitter_work(struct client *c)
{
    D3DKMT_ENUMADAPTERS list = {0};
    D3DKMT_CREATEDEVICE device = {0};

    TRY(c, D3DKMTEnumAdapters(&list) == STATUS_SUCCESS && list.NumAdapters == 1);
    device.hAdapter = list.Adapters[0].hAdapter;
    TRY(c, D3DKMTCreateDevice(&device) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        struct blitter_allocation_data data = {.magic = BLITTER_MAGIC, .bytes = 65536};
        D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                       .PrivateDriverDataSize = sizeof(data)};
        D3DKMT_CREATEALLOCATION create = {
            .hDevice = device.hDevice, .NumAllocations = 1, .pAllocationInfo2 = &info};
        D3DKMT_LOCK2 lock = {.hDevice = device.hDevice};
        D3DKMT_UNLOCK2 unlock = {.hDevice = device.hDevice};

        TRY(c, D3DKMTCreateAllocation2(&create) == STATUS_SUCCESS);
        lock.hAllocation = unlock.hAllocation = info.hAllocation;
        TRY(c, D3DKMTLock2(&lock) == STATUS_SUCCESS);
        memset(lock.pData, (int)i, 65536);
        TRY(c, D3DKMTUnlock2(&unlock) == STATUS_SUCCESS);
    }
    TRY(c,
        D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = device.hDevice}) == STATUS_SUCCESS);
}

/* ---- a client of the compute driver ---- */

#define BUFFERS 4u
#define BYTES   0x202000u /* more than a leaf table covers */

struct compute {
    D3DKMT_HANDLE device, context, queue, queue_fence, fence;
    D3DKMT_HANDLE buffer[BUFFERS];
    D3DGPU_VIRTUAL_ADDRESS va[BUFFERS];
};

static NTSTATUS compute_wait(const struct compute *g, D3DKMT_HANDLE fence, UINT64 value)
{
    return D3DKMTWaitForSynchronizationObjectFromCpu(
        &(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = g->device,
                                                      .ObjectCount = 1,
                                                      .ObjectHandleArray = &fence,
                                                      .FenceValueArray = &value});
}

static void compute_open(struct client *c, struct compute *g)
{
    D3DKMT_ENUMADAPTERS list = {0};
    D3DKMT_CREATEDEVICE device = {0};
    D3DKMT_CREATECONTEXTVIRTUAL context = {.EngineAffinity = 1};
    D3DKMT_CREATEPAGINGQUEUE queue = {0};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {.Info.Type = D3DDDI_MONITORED_FENCE};

    TRY(c, D3DKMTEnumAdapters(&list) == STATUS_SUCCESS && list.NumAdapters == 1);
    device.hAdapter = list.Adapters[0].hAdapter;
    TRY(c, D3DKMTCreateDevice(&device) == STATUS_SUCCESS);
    g->device = context.hDevice = queue.hDevice = fence.hDevice = device.hDevice;
    TRY(c, D3DKMTCreateContextVirtual(&context) == STATUS_SUCCESS);
    TRY(c, D3DKMTCreatePagingQueue(&queue) == STATUS_SUCCESS);
    TRY(c, D3DKMTCreateSynchronizationObject2(&fence) == STATUS_SUCCESS);
    g->context = context.hContext;
    g->queue = queue.hPagingQueue;
    g->queue_fence = queue.hSyncObject;
    g->fence = fence.hSyncObject;
}

static void compute_buffer(struct client *c, struct compute *g, unsigned i)
{
    struct compute_allocation_data data = {.bytes = BYTES};
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                   .PrivateDriverDataSize = sizeof(data)};
    D3DKMT_CREATEALLOCATION create = {
        .hDevice = g->device, .NumAllocations = 1, .pAllocationInfo2 = &info};
    D3DDDI_MAKERESIDENT resident = {.hPagingQueue = g->queue, .NumAllocations = 1};
    D3DDDI_MAPGPUVIRTUALADDRESS map = {
        .hPagingQueue = g->queue, .SizeInPages = BYTES / 4096, .Protection.Write = 1};
    NTSTATUS status;

    TRY(c, D3DKMTCreateAllocation2(&create) == STATUS_SUCCESS);
    g->buffer[i] = map.hAllocation = info.hAllocation;
    resident.AllocationList = &g->buffer[i];
    status = D3DKMTMakeResident(&resident);
    TRY(c, status == STATUS_SUCCESS || status == STATUS_PENDING);
    status = D3DKMTMapGpuVirtualAddress(&map);
    TRY(c, status == STATUS_SUCCESS || status == STATUS_PENDING);
    g->va[i] = map.VirtualAddress;
    TRY(c, compute_wait(g, g->queue_fence, map.PagingFenceValue) == STATUS_SUCCESS);
}

static void *compute_lock(const struct compute *g, unsigned i)
{
    D3DKMT_LOCK2 lock = {.hDevice = g->device, .hAllocation = g->buffer[i]};

    return D3DKMTLock2(&lock) == STATUS_SUCCESS ? lock.pData : NULL;
}

static void compute_unlock(struct client *c, const struct compute *g, unsigned i)
{
    D3DKMT_UNLOCK2 unlock = {g->device, g->buffer[i]};

    TRY(c, D3DKMTUnlock2(&unlock) == STATUS_SUCCESS);
}

/* Buffer 0 holds the commands, 1 becomes 7s, 2 is what the CPU wrote, 3 becomes their sum. */
static void compute_submit(struct client *c, struct compute *g)
{
    const struct compute_command commands[] = {
        {.op = COMPUTE_OP_FILL, .bytes = BYTES, .dst = g->va[1], .value = 7},
        {.op = COMPUTE_OP_COPY, .bytes = BYTES, .dst = g->va[3], .src = g->va[2]},
        {.op = COMPUTE_OP_ADD, .bytes = BYTES, .dst = g->va[3], .src = g->va[1]},
    };
    D3DKMT_SUBMITCOMMAND submit = {.Commands = g->va[0],
                                   .CommandLength = sizeof(commands),
                                   .BroadcastContextCount = 1,
                                   .BroadcastContext[0] = g->context};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU signal = {.hContext = g->context,
                                                        .ObjectCount = 1,
                                                        .ObjectHandleArray = &g->fence,
                                                        .MonitoredFenceValueArray = &(UINT64){1}};
    UINT *words;
    void *at;

    TRY(c, (at = compute_lock(g, 0)) != NULL);
    memcpy(at, commands, sizeof(commands));
    compute_unlock(c, g, 0);
    TRY(c, (words = compute_lock(g, 2)) != NULL);
    for (UINT i = 0; i < BYTES / 4; i++)
        words[i] = i * 3;
    compute_unlock(c, g, 2);
    TRY(c, D3DKMTSubmitCommand(&submit) == STATUS_SUCCESS);
    TRY(c, D3DKMTSignalSynchronizationObjectFromGpu(&signal) == STATUS_SUCCESS);
    TRY(c, compute_wait(g, g->fence, 1) == STATUS_SUCCESS);
}

/* The sum is kept while the buffer is not resident. */
static void compute_check(struct client *c, struct compute *g)
{
    D3DKMT_EVICT evict = {
        .hDevice = g->device, .NumAllocations = 1, .AllocationList = &g->buffer[3]};
    UINT *words;
    UINT wrong = 0;

    TRY(c, D3DKMTEvict(&evict) == STATUS_SUCCESS);
    TRY(c, (words = compute_lock(g, 3)) != NULL);
    for (UINT i = 0; i < BYTES / 4; i++)
        wrong += words[i] != i * 3 + 7;
    TRY(c, wrong == 0);
    compute_unlock(c, g, 3);
}

static void compute_work(struct client *c)
{
    struct compute g = {0};

    compute_open(c, &g);
    for (unsigned i = 0; i < BUFFERS && !c->failed; i++)
        compute_buffer(c, &g, i);
    if (!c->failed)
        compute_submit(c, &g);
    if (!c->failed)
        compute_check(c, &g);
    if (!c->failed)
        TRY(c, D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = g.device}) == STATUS_SUCCESS);
}

/* ---- what is said about a driver ---- */

/* All rules above a note, sorted, each once. */
static void rules_of(const struct machine *m, char *text, size_t bytes)
{
    const char *last = "", *next;
    struct dxgk_violation v;

    for (text[0] = '\0';; last = next) {
        next = NULL;
        for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, &v); i++)
            if (strcmp(v.severity, "note") != 0 && strcmp(v.rule, last) > 0 &&
                (!next || strcmp(v.rule, next) < 0))
                next = v.rule;
        if (!next)
            return;
        snprintf(text + strlen(text), bytes - strlen(text), "%s%s", text[0] ? " " : "", next);
    }
}

static void check_habit(const struct family *f, const char *driver, const struct habit *habit)
{
    struct dxgk_statistics s;
    struct machine m;
    char rules[256];

    if (load(&m, f, driver, habit->number, false) != DXGK_OK)
        fail_msg("%s, habit %u: %s", driver, habit->number, m.error);
    machine_run(&m, f->work);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    rules_of(&m, rules, sizeof(rules));
    dxgk_machine_statistics(m.dxgk, &s);
    if (strcmp(rules, habit->rules) != 0 || s.violations || s.leaks)
        fail_msg("%s, habit %u: \"%s\", not \"%s\", %llu violations, %llu leaks", driver,
                 habit->number, rules, habit->rules, (unsigned long long)s.violations,
                 (unsigned long long)s.leaks);
    dxgk_machine_destroy(m.dxgk);
}

static void check_strict(const struct family *f, const char *driver, const struct habit *habit)
{
    struct dxgk_violation v;
    struct machine m;
    bool refused = false;

    if (load(&m, f, driver, habit->number, true) != DXGK_ERROR)
        fail_msg("%s, habit %u: strict mode did not refuse: %s", driver, habit->number, m.error);
    for (size_t i = 0; dxgk_machine_violation(m.dxgk, i, &v); i++)
        refused |= v.refuses && strcmp(v.rule, habit->strict) == 0;
    if (!refused)
        fail_msg("%s, habit %u: %s did not refuse", driver, habit->number, habit->strict);
    dxgk_machine_destroy(m.dxgk);
}

/* The clause of a rule with several. */
static const char *shown_by(const char *rule)
{
    static const char *const clauses[] = {"CAPS-025/a", "CAPS-092/b", "CAPS-093/d"};

    for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
        if (strncmp(rule, clauses[i], strlen(rule)) == 0)
            return clauses[i];
    return rule;
}

static void check_all(const struct family *f)
{
    static const char *const folders[] = {"", "gcc/", "clang/"};
    char driver[64];

    for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); k++) {
        snprintf(driver, sizeof(driver), "tests/drivers/%s%s.%s", folders[k], f->service,
                 k == 0 ? "so" : "sys");
        if (access(machine_path(driver), R_OK) != 0)
            continue; /* no such compiler here */
        for (size_t i = 0; i < f->count; i++) {
            check_habit(f, driver, &f->habits[i]);
            if (f->habits[i].strict)
                check_strict(f, driver, &f->habits[i]);
        }
    }
    for (size_t i = 0; i < f->count; i++)
        if (f->habits[i].strict)
            check_rule_record(shown_by(f->habits[i].strict), __FILE__, __LINE__, __func__);
}

TEST(habits_start_with_the_right_warnings)
{
    char device[256];
    struct family blitter = {.service = "habits",
                             .device = device,
                             .habits = habits,
                             .count = sizeof(habits) / sizeof(habits[0]),
                             .work = blitter_work};

    snprintf(device, sizeof(device), "%s", machine_path("examples/blitter_device.so"));
    check_all(&blitter);
    check_rule_record("ALLOC-145", __FILE__, __LINE__, __func__);
    check_rule_record("PATCH-036", __FILE__, __LINE__, __func__);
    check_rule_record("RES-032", __FILE__, __LINE__, __func__);
}

TEST(habits_of_compute_drivers_with_gpu_addresses_start)
{
    const struct family compute = {.service = "compute",
                                   .device = "null",
                                   .habits = compute_habits,
                                   .count = sizeof(compute_habits) / sizeof(compute_habits[0]),
                                   .work = compute_work};

    check_all(&compute);
    check_rule_record("ALLOC-027", __FILE__, __LINE__, __func__);
    check_rule_record("GPUVA-156", __FILE__, __LINE__, __func__);
}
