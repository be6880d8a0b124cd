/* SPDX-License-Identifier: MIT */
/* IOMMUFlags, secure virtual machines, the window of exclusive access, and when the IOMMU fails. */
#include "bus/dma.h"
#include "nt/cm/registry.h"
#include "port/support/admission.h"
#include "ram/ram.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 1000000ull

enum { CREATED = PORT_IOMMU_DOMAIN, MAPPED = PORT_IOMMU_MAPPINGS, ATTACHED = PORT_IOMMU_ATTACHED };

static enum iommu_mode mode_of(const struct probe *p)
{
    return port_adapter_dma_mode(p->adapter[0]);
}

static UINT isolation_of(const struct probe *p)
{
    return port_adapter_isolation(p->adapter[0]);
}

static struct iommu_device *iommu_of(struct probe *p)
{
    return bus_device_iommu(p->device[0]);
}

static void plain_driver(struct probe *p)
{
    p->iommu.Value = 0;
    p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
}

static void required(struct probe *p)
{
    p->iommu.IommuIsolationRequired = 1;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
}

static struct probe *make(UINT flags)
{
    const struct probe_options options = {.port = {.iommu_present = true, .iommu_flags = flags}};

    return probe_create(&options);
}

static struct probe *start(UINT flags, void (*prepare)(struct probe *p))
{
    struct probe *p = make(flags);

    if (prepare)
        prepare(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

/* ---- the bits ---- */

TEST(bits_need_one_another)
{
    static const struct {
        UINT flags;
        void (*prepare)(struct probe *p);
        UINT isolation;
        const char *rule;
    } cases[] = {
        {0x00, NULL, 0, "IOMMU-034/a"},
        {0x07, NULL, CREATED | MAPPED | ATTACHED, "IOMMU-034/b"},
        {0x01, NULL, CREATED, "IOMMU-034/b"},
        {0x02, NULL, 0, "IOMMU-035/a"},
        {0x03, NULL, CREATED | MAPPED, "IOMMU-035/b"},
        {0x05, NULL, CREATED, "IOMMU-036/a"},
        {0x04, NULL, 0, "IOMMU-036/b"},
        {0x07, plain_driver, 0, "IOMMU-037/a"},
        {0x0F, plain_driver, CREATED | MAPPED | ATTACHED, "IOMMU-037/b"},
        {0x08, plain_driver, 0, "IOMMU-037/c"},
        {0x00, required, CREATED | MAPPED | ATTACHED, "IOMMU-015/a"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe *p = start(cases[i].flags, cases[i].prepare);
        bool isolated = cases[i].isolation & ATTACHED;
        uint32_t word = 0;

        CHECK_RULE(cases[i].rule, isolation_of(p) == cases[i].isolation &&
                                      mode_of(p) == (isolated ? IOMMU_ISOLATION : IOMMU_OFF));
        /* A page that nobody holds: out of reach only if attached. */
        CHECK_RULE(cases[i].rule, probe_device_dma(0, 0x123000, &word, 4, false) == !isolated);
        probe_destroy(p);
    }
}

/* A driver without the cap and without the entries, bypassed. */
static void no_entries(struct probe *p)
{
    plain_driver(p);
    probe_set_entry(p, PROBE_BeginExclusiveAccess, false);
    probe_set_entry(p, PROBE_EndExclusiveAccess, false);
}

/* An older driver can say it in DXGK_DRIVERCAPS only, which is after the start. */
TEST(what_an_older_driver_requires_is_switched_on)
{
    const struct probe_options older = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_7,
                                        .port = {.iommu_present = true}};
    struct probe *p = probe_create(&older);

    p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-015/b", mode_of(p) == IOMMU_ISOLATION &&
                                  isolation_of(p) == (CREATED | MAPPED | ATTACHED) &&
                                  probe_count(p, PROBE_BeginExclusiveAccess) == 1);
    probe_destroy(p);
}

TEST(flags_govern_isolation_only)
{
    const struct probe_options forced = {.port = {.iommu = IOMMU_REMAP}};
    struct probe *p = probe_create(&forced);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-039", mode_of(p) == IOMMU_REMAP &&
                                isolation_of(p) == (CREATED | MAPPED | ATTACHED) &&
                                iommu_of(p)->domain == port_adapter_domain(p->adapter[0]));
    probe_destroy(p);
    p = start(0x0F, no_entries);
    CHECK_RULE("IOMMU-037/b", mode_of(p) == IOMMU_ISOLATION);
    probe_destroy(p);
}

TEST(opt_in_is_needed_for_remapping)
{
    const struct probe_options out = {.port = {.iommu_present = true, .remapping_opt_out = true}};
    const struct probe_options in = {.port = {.iommu_present = true}};
    const ULONG three = 3, two = 2;
    struct probe *p;

    for (unsigned i = 0; i < 4; i++) {
        bool counts = i == 1 || i == 2;

        p = probe_create(i < 2 ? &out : &in);
        p->memory.HighestVisibleAddress.QuadPart = (32ll << 20) - 1;
        if (i == 1 || i == 3)
            CHECK(nt_registry_set(
                "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe\\Parameters",
                "DmaRemappingCompatible", REG_DWORD, i == 1 ? &three : &two, sizeof(ULONG)));
        CHECK_RULE("IOMMU-028", IS(probe_start(p), counts ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED) &&
                                    (probe_rule(p, "IOMMU-028") == 1) == !counts);
        if (counts)
            CHECK_RULE("IOMMU-028", mode_of(p) == IOMMU_REMAP);
        probe_destroy(p);
    }
}

TEST(discrete_adapters_are_told_to_remap)
{
    const struct probe_options newer = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0};
    struct probe *p;

    for (unsigned remaps = 0; remaps < 2; remaps++) {
        p = probe_create(&newer);
        p->caps.WDDMVersion = p->device_wddm = DXGKDDI_WDDMv3_0;
        p->iommu.DmaRemappingSupported = remaps & 1u;
        CHECK_RULE("IOMMU-027", NT_SUCCESS(probe_start(p)) &&
                                    probe_rule(p, "IOMMU-027") == !remaps &&
                                    probe_reports(p, VERIFY_WARNING) == 0);
        probe_destroy(p);
    }
}

/* ---- failures ---- */

static unsigned lines; /* of the machine's log, about it */

static void note_line(void *context, const char *line)
{
    (void)context;
    lines += strstr(line, "isolation failed with STATUS_IO_DEVICE_ERROR") != NULL;
}

TEST(failures_at_startup)
{
    const struct probe_options allowed = {
        .port = {.iommu_present = true, .iommu_flags = 0x17, .log = note_line}};
    const struct probe_options older = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_7,
                                        .port = {.iommu_present = true, .iommu_flags = 0x17}};
    struct probe *p;
    NTSTATUS status;

    p = make(0x07);
    iommu_of(p)->skip_attaches = 1; /* the one that lets it through before the start */
    iommu_of(p)->fail_attaches = 1;
    status = probe_start(p);
    CHECK_RULE("IOMMU-063/a", probe_count(p, PROBE_EndExclusiveAccess) == 1);
    CHECK_RULE("IOMMU-038/a", IS(status, STATUS_IO_DEVICE_ERROR));
    probe_destroy(p);

    p = probe_create(&allowed);
    lines = 0;
    iommu_of(p)->skip_attaches = 1;
    iommu_of(p)->fail_attaches = 1;
    CHECK_RULE("IOMMU-038/b", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_OFF &&
                                  isolation_of(p) == 0 && probe_rule(p, "IOMMU-038") == 1 &&
                                  lines == 1);
    probe_destroy(p);

    p = make(0x17);
    required(p);
    iommu_of(p)->fail_attaches = 1;
    CHECK_RULE("IOMMU-040", IS(probe_start(p), STATUS_IO_DEVICE_ERROR) &&
                                probe_count(p, PROBE_StartDevice) == 0);
    CHECK_RULE("IOMMU-014", probe_count(p, PROBE_StartDevice) == 0);
    probe_destroy(p);

    p = probe_create(&older); /* which says it after the start, and is switched then */
    p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    iommu_of(p)->skip_attaches = 1;
    iommu_of(p)->fail_attaches = 1;
    CHECK_RULE("IOMMU-040",
               IS(probe_start(p), STATUS_IO_DEVICE_ERROR) && probe_count(p, PROBE_StopDevice) == 1);
    probe_destroy(p);

    p = make(0x07);
    iommu_of(p)->skip_attaches = 1;
    iommu_of(p)->fail_attaches = 2; /* not back either */
    CHECK_RULE("IOMMU-049", IS(probe_start(p), STATUS_DEVICE_REMOVED) &&
                                verify_bugcheck_state(p->log)->happened &&
                                verify_bugcheck_state(p->log)->code == 0x1E4 &&
                                verify_bugcheck_state(p->log)->parameter[0] == 0xA);
    probe_destroy(p);
}

static void begin_fails(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_DEVICE_BUSY;
}

TEST(a_failed_begin_switches_nothing)
{
    struct probe *p = make(0x17);

    p->after[PROBE_BeginExclusiveAccess] = begin_fails;
    CHECK_RULE("IOMMU-062/b", NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_OFF &&
                                  probe_count(p, PROBE_EndExclusiveAccess) == 0);
    probe_destroy(p);
}

/* ---- changes of a running adapter ---- */

static void change_modes(struct probe *p)
{
    struct port_adapter *a = p->adapter[0];

    CHECK_RULE("IOMMU-003/b", IS(port_adapter_set_dma_mode(a, IOMMU_REMAP), STATUS_NOT_SUPPORTED) &&
                                  mode_of(p) == IOMMU_OFF);
    CHECK_RULE("IOMMU-003/a", IS(port_adapter_set_dma_mode(a, IOMMU_ISOLATION), STATUS_SUCCESS) &&
                                  mode_of(p) == IOMMU_ISOLATION);
    CHECK_RULE("IOMMU-003/c", IS(port_adapter_set_dma_mode(a, IOMMU_OFF), STATUS_NOT_SUPPORTED));
    CHECK_RULE("IOMMU-005", IS(port_adapter_set_dma_mode(a, IOMMU_OFF), STATUS_NOT_SUPPORTED) &&
                                mode_of(p) == IOMMU_ISOLATION &&
                                iommu_domain_mode(port_adapter_domain(a)) == IOMMU_ISOLATION);
    CHECK_RULE("IOMMU-003/b", IS(port_adapter_set_dma_mode(a, IOMMU_REMAP), STATUS_NOT_SUPPORTED) &&
                                  mode_of(p) == IOMMU_ISOLATION);
    CHECK(probe_count(p, PROBE_BeginExclusiveAccess) == 1);
}

static void secure_vm_body(struct probe *p)
{
    struct port_adapter *a = p->adapter[0];
    const bool waived = p->options.port.iommu_flags & PORT_IOMMU_BYPASS_CAP;
    const char *rule = waived ? "IOMMU-042/c" : "IOMMU-042/a";

    CHECK_RULE(rule, IS(port_adapter_create_secure_vm(a), STATUS_SUCCESS) &&
                         mode_of(p) == IOMMU_ISOLATION);
    CHECK_RULE(rule, IS(port_adapter_create_secure_vm(a), STATUS_SUCCESS) &&
                         probe_count(p, PROBE_BeginExclusiveAccess) == 1);
}

static void secure_vm_refused_body(struct probe *p)
{
    CHECK_RULE("IOMMU-042/b",
               IS(port_adapter_create_secure_vm(p->adapter[0]), STATUS_NOT_SUPPORTED) &&
                   mode_of(p) == IOMMU_OFF);
}

/* AllowFailure is not for these. */
static void secure_vm_failing_body(struct probe *p)
{
    iommu_of(p)->fail_attaches = 1;
    CHECK_RULE("IOMMU-038/c",
               IS(port_adapter_create_secure_vm(p->adapter[0]), STATUS_IO_DEVICE_ERROR) &&
                   mode_of(p) == IOMMU_OFF && probe_rule(p, "IOMMU-038") == 0);
}

static void wait_for_d0(struct probe *p)
{
    struct port_adapter *a = p->adapter[0];

    CHECK(IS(port_adapter_set_power(a, PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-064/c", IS(port_adapter_create_secure_vm(a), STATUS_PENDING) &&
                                  mode_of(p) == IOMMU_OFF &&
                                  probe_count(p, PROBE_BeginExclusiveAccess) == 0);
    CHECK(IS(port_adapter_set_power(a, PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-064/c", mode_of(p) == IOMMU_ISOLATION &&
                                  probe_count(p, PROBE_BeginExclusiveAccess) == 1 &&
                                  probe_nth(p, PROBE_BeginExclusiveAccess, 0)->order >
                                      probe_nth(p, PROBE_SetPowerState, 1)->order);
}

TEST(changes_of_a_running_adapter)
{
    static const struct {
        UINT flags;
        void (*prepare)(struct probe *p);
        void (*body)(struct probe *p);
    } cases[] = {
        {0x00, NULL, change_modes},
        {0x00, NULL, secure_vm_body},
        {0x00, plain_driver, secure_vm_refused_body},
        {0x08, plain_driver, secure_vm_body},
        {0x10, NULL, secure_vm_failing_body},
        {0x00, NULL, wait_for_d0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe *p = start(cases[i].flags, cases[i].prepare);

        CHECK(probe_run(p, cases[i].body) == SIM_DONE);
        CHECK(probe_stop(p) == 0);
        probe_destroy(p);
    }
}

/* ---- the window ---- */

static uint64_t window_end; /* order of the first call after EndExclusiveAccess */
static bool wrote;

/* In the middle of the switch. */
static void act_in_window(struct probe *p)
{
    uint32_t word = 0xABCD;

    (void)p;
    probe_sleep(MS / 2);
    wrote = probe_device_dma(0, 0x200000, &word, sizeof(word), true);
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
}

static void start_actor(struct probe *p, struct probe_call *call)
{
    (void)call;
    iommu_of(p)->change_ns = 5000 * MS;
    sim_thread_release(probe_thread(p, probe_process(p, "actor"), "actor", act_in_window));
}

static void note_end(struct probe *p, struct probe_call *call)
{
    (void)call;
    window_end = p->calls;
    iommu_of(p)->change_ns = 0;
}

static void settle_body(struct probe *p)
{
    (void)p;
    probe_sleep(20 * MS);
}

TEST(the_device_is_quiet_and_unheard_in_the_window)
{
    struct probe *p = make(0x07);

    p->after[PROBE_BeginExclusiveAccess] = start_actor;
    p->after[PROBE_EndExclusiveAccess] = note_end;
    wrote = false;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, settle_body) == SIM_DONE);
    CHECK_RULE("IOMMU-059/a", probe_rule(p, "IOMMU-059") == 1 &&
                                  probe_said(p, "IOMMU-059", "write logical address 0x200000"));
    CHECK_RULE("IOMMU-061/a", probe_count(p, PROBE_InterruptRoutine) > 0);
    for (size_t i = 0; i < probe_count(p, PROBE_InterruptRoutine); i++)
        CHECK_RULE("IOMMU-061/a", probe_nth(p, PROBE_InterruptRoutine, i)->order >= window_end);
    CHECK_RULE("IOMMU-061/b", probe_count(p, PROBE_ResetFromTimeout) == 0 &&
                                  probe_count(p, PROBE_ResetEngine) == 0);
    CHECK_RULE("IOMMU-060", probe_reports(p, VERIFY_WARNING) == 1);
    probe_destroy(p);
}

/* A driver that masks its interrupts for the window. */
static void mask(struct probe *p, struct probe_call *call)
{
    uint32_t enable = call->ddi == PROBE_EndExclusiveAccess;

    WRITE_REGISTER_ULONG(p->state[0].registers + PROBE_REG_ENABLE / 4, enable);
}

TEST(masked_interrupts_are_as_good)
{
    struct probe *p = make(0x07);

    p->before[PROBE_BeginExclusiveAccess] = p->before[PROBE_EndExclusiveAccess] = mask;
    CHECK_RULE("IOMMU-060", NT_SUCCESS(probe_start(p)) && probe_reports(p, VERIFY_WARNING) == 0 &&
                                mode_of(p) == IOMMU_ISOLATION);
    probe_destroy(p);
}

static DXGKARGCB_ALLOCATECONTIGUOUSMEMORY blocks[2];

static void allocate(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args = &blocks[call->ddi == PROBE_EndExclusiveAccess];
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;

    memset(args, 0, sizeof(*args));
    args->NumberOfBytes = 2 * PAGE_SIZE;
    args->HighestAcceptableAddress.QuadPart = -1;
    args->CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    CHECK(NT_SUCCESS(dxgk->DxgkCbAllocateContiguousMemory(dxgk->DeviceHandle, args)));
}

static void give_back(struct probe *p, struct probe_call *call)
{
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;

    (void)call;
    for (unsigned i = 0; i < 2; i++) {
        DXGKARGCB_FREECONTIGUOUSMEMORY args;

        memset(&args, 0, sizeof(args));
        args.hMemoryHandle = blocks[i].hMemoryHandle;
        if (args.hMemoryHandle)
            CHECK(NT_SUCCESS(dxgk->DxgkCbFreeContiguousMemory(dxgk->DeviceHandle, &args)));
    }
}

static uint64_t physical_of(const struct probe *p, const void *pointer)
{
    struct phys_addr physical;

    CHECK(ram_physical(p->ram, pointer, &physical));
    return physical.value;
}

TEST(memory_may_be_asked_for_in_the_window)
{
    struct probe *p = make(0x07);
    uint32_t word = 0x77;

    p->iommu.DmaRemappingSupported = 0;
    p->after[PROBE_BeginExclusiveAccess] = p->after[PROBE_EndExclusiveAccess] = allocate;
    p->before[PROBE_StopDevice] = give_back;
    CHECK(NT_SUCCESS(probe_start(p)));
    for (unsigned i = 0; i < 2; i++)
        CHECK_RULE("IOMMU-065",
                   probe_device_dma(0, physical_of(p, blocks[i].pMemory) + 4096, &word, 4, true) &&
                       *(uint32_t *)((char *)blocks[i].pMemory + 4096) == 0x77);
    CHECK(probe_stop(p) == 0 && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}

/* ---- memory from before the switch, and the way down ---- */

TEST(memory_from_the_start_stays_in_reach)
{
    struct probe *p = make(0x07);
    uint32_t word = 0x99;

    memset(blocks, 0, sizeof(blocks));
    p->after[PROBE_StartDevice] = allocate;
    p->before[PROBE_StopDevice] = give_back;
    CHECK(NT_SUCCESS(probe_start(p)) && mode_of(p) == IOMMU_ISOLATION);
    CHECK_RULE("IOMMU-041/b",
               probe_device_dma(0, physical_of(p, blocks[0].pMemory), &word, 4, true) &&
                   *(uint32_t *)blocks[0].pMemory == 0x99);
    CHECK(probe_stop(p) == 0 && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}

static struct {
    bool attached, mapped, leak_told;
} at_removal;

static void look_at_removal(struct probe *p, struct probe_call *call)
{
    struct page_number page = {physical_of(p, blocks[0].pMemory) / PAGE_SIZE};

    (void)call;
    at_removal.attached = iommu_of(p)->domain != NULL;
    at_removal.mapped = ram_page_iommu_maps(p->ram, page) == 1;
    at_removal.leak_told = probe_rule(p, "PHYS-022") == 1;
}

TEST(teardown_has_an_order)
{
    struct probe *p = make(0x07);
    struct page_number page;

    memset(blocks, 0, sizeof(blocks));
    p->after[PROBE_StartDevice] = allocate; /* and never freed */
    p->before[PROBE_RemoveDevice] = look_at_removal;
    CHECK(NT_SUCCESS(probe_start(p)));
    page.value = physical_of(p, blocks[0].pMemory) / PAGE_SIZE;
    CHECK(probe_stop(p) == 0);
    CHECK_RULE("IOMMU-048/a", at_removal.attached && at_removal.mapped && at_removal.leak_told);
    CHECK_RULE("IOMMU-048/a", !iommu_of(p)->domain && ram_page_iommu_maps(p->ram, page) == 0 &&
                                  ram_page_owner(p->ram, page) == RAM_FREE);
    probe_destroy(p);

    p = make(0x07);
    p->before[PROBE_RemoveDevice] = NULL;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-048/b",
               probe_stop(p) == 0 && !iommu_of(p)->domain && probe_rule(p, "IOMMU-047") == 0);
    probe_destroy(p);
}

static void dma_to_contiguous(struct probe *p)
{
    const PHYSICAL_ADDRESS highest = {.QuadPart = -1};
    uint32_t word = 0x77;
    void *block = MmAllocateContiguousMemory(2 * PAGE_SIZE, highest);
    const uint64_t at = (uint64_t)MmGetPhysicalAddress(block).QuadPart + PAGE_SIZE;

    CHECK_RULE("IOMMU-075/b", probe_device_dma(0, at, &word, 4, true) &&
                                  *(uint32_t *)((char *)block + PAGE_SIZE) == 0x77 &&
                                  probe_rule(p, "IOMMU-075") == 0);
    MmFreeContiguousMemory(block);
    CHECK_RULE("IOMMU-075/a", probe_device_dma(0, at, &word, 4, true) &&
                                  probe_rule(p, "IOMMU-075") == 1); /* no longer */
}

/* Drivers give their device contiguous memory by its physical address, and tell nobody. */
TEST(contiguous_memory_is_the_devices_where_nothing_translates)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, dma_to_contiguous) == SIM_DONE);
    probe_destroy(p);
}

#define TAG   0x50646D61u
#define BLOCK 200u /* inside a page, with a slot that is longer */

static bool dma_is_told(struct probe *p, uint64_t at, size_t bytes)
{
    const uint64_t before = probe_rule(p, "IOMMU-075");
    uint8_t content[BLOCK + 1] = {0};

    CHECK(probe_device_dma(0, at, content, bytes, false));
    return probe_rule(p, "IOMMU-075") == before + 1;
}

static void dma_to_pool(struct probe *p)
{
    void *block = ExAllocatePoolWithTag(NonPagedPoolNx, BLOCK, TAG);
    void *large = ExAllocatePoolWithTag(NonPagedPoolNx, 3 * PAGE_SIZE, TAG);
    void *paged = ExAllocatePoolWithTag(PagedPool, BLOCK, TAG);
    const uint64_t at = (uint64_t)MmGetPhysicalAddress(block).QuadPart;
    const uint64_t high = (uint64_t)MmGetPhysicalAddress(large).QuadPart;
    struct phys_addr hidden;

    CHECK_RULE("IOMMU-075/b", !dma_is_told(p, at, BLOCK) && !dma_is_told(p, at + BLOCK - 1, 1));
    CHECK_RULE("IOMMU-075/a", dma_is_told(p, at, BLOCK + 1) && dma_is_told(p, at + BLOCK, 1));
    CHECK_RULE("IOMMU-075/b", !dma_is_told(p, high + PAGE_SIZE - 8, 16) &&
                                  !dma_is_told(p, high + 3 * PAGE_SIZE - 8, 8) &&
                                  dma_is_told(p, high + 3 * PAGE_SIZE - 8, 9));
    CHECK(ram_physical(p->ram, paged, &hidden));
    CHECK_RULE("IOMMU-075/a", dma_is_told(p, hidden.value, 8));
    ExFreePoolWithTag(paged, TAG);
    ExFreePoolWithTag(large, TAG);
    ExFreePoolWithTag(block, TAG);
    CHECK_RULE("IOMMU-075/a", dma_is_told(p, at, BLOCK) && dma_is_told(p, high, 8));
}

static void dma_to_pages_of_an_mdl(struct probe *p)
{
    const PHYSICAL_ADDRESS low = {.QuadPart = 0}, high = {.QuadPart = -1};
    MDL *mdl = MmAllocatePagesForMdlEx(low, high, low, 2 * PAGE_SIZE, MmCached, 0);
    const uint64_t at = MmGetMdlPfnArray(mdl)[1] * PAGE_SIZE;

    CHECK_RULE("IOMMU-075/b", !dma_is_told(p, at, 16));
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    CHECK_RULE("IOMMU-075/a", dma_is_told(p, at, 16));
}

TEST(memory_that_a_driver_has_is_the_devices_where_nothing_translates)
{
    const struct probe_options special = {.special_pool = true};
    const struct probe_options *const each[] = {NULL, &special};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = probe_create(each[i]);

        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_run(p, dma_to_pool) == SIM_DONE);
        CHECK(probe_run(p, dma_to_pages_of_an_mdl) == SIM_DONE);
        probe_destroy(p);
    }
}

TEST(physical_mode_is_judged)
{
    const struct probe_options lenient = {.port = {.dma_unjudged = true}};
    struct probe *p = probe_create(NULL);
    uint32_t word = 0x4321;

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-075/a",
               probe_device_dma(0, 0x300000, &word, 4, true) && probe_rule(p, "IOMMU-075") == 1 &&
                   *(uint32_t *)ram_direct(p->ram, (struct phys_addr){0x300000}) == 0x4321);
    probe_destroy(p);
    p = probe_create(&lenient);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-075/c", probe_device_dma(0, 0x300000, &word, 4, true) &&
                                  probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}

TEST(statuses_of_the_hardware)
{
    CHECK_RULE("IOMMU-045", IS(port_iommu_status(IOMMU_ATTACHED), STATUS_INVALID_PARAMETER));
    CHECK_RULE("IOMMU-045", IS(port_iommu_status(IOMMU_NOT_ATTACHED), STATUS_INVALID_PARAMETER_1));
    CHECK_RULE("IOMMU-050", IS(port_iommu_status(IOMMU_IN_USE), STATUS_RESOURCE_IN_USE));
    CHECK_RULE("IOMMU-053", IS(port_iommu_status(IOMMU_UNSUPPORTED), STATUS_NOT_SUPPORTED));
}
