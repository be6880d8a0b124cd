/* SPDX-License-Identifier: MIT */
/* Ranges of the device that drivers map for the CPU. */
#include "bus/window.h"
#include "port/support/memory_calls.h"

static const struct probe_options isolated = {.port = {.iommu = IOMMU_ISOLATION}};

/* ---- device ranges for the CPU ---- */

static NTSTATUS map_bar(struct probe *p, uint64_t offset, ULONG length, MEMORY_CACHING_TYPE cache,
                        PVOID *mapped)
{
    PHYSICAL_ADDRESS at = probe_bar(p, 0);

    at.QuadPart += (LONGLONG)offset;
    return DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, at, length, FALSE, FALSE, cache, mapped);
}

static PVOID registers;

static void read_registers(struct probe *p)
{
    (void)p;
    CHECK_RULE("PHYS-030", READ_REGISTER_ULONG(registers) == PROBE_ID);
}

static void mappings_body(struct probe *p)
{
    PVOID first, second;

    CHECK_RULE("PHYS-026", IS(map_bar(p, 0, 4096, MmNonCached, &registers), STATUS_SUCCESS) &&
                               READ_REGISTER_ULONG(registers) == PROBE_ID);
    WRITE_REGISTER_ULONG((PULONG)((char *)registers + PROBE_REG_SCRATCH), 0xABCD);
    CHECK_RULE("PHYS-028", IS(map_bar(p, 0, 0, MmNonCached, &first), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-028", IS(map_bar(p, 0, 1, MmNonCached, &first), STATUS_SUCCESS) &&
                               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, first), STATUS_SUCCESS));
    CHECK_RULE("PHYS-029",
               IS(map_bar(p, PROBE_REG_SCRATCH, 4, MmNonCached, &first), STATUS_SUCCESS) &&
                   ((uintptr_t)first & 0xFFF) == PROBE_REG_SCRATCH &&
                   READ_REGISTER_ULONG(first) == 0xABCD);
    probe_run_in(p, probe_process(p, "client"), read_registers);
    CHECK_RULE("PHYS-038/a", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, (char *)registers + 4),
                                STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "LIFE-100") == 1 &&
                                 READ_REGISTER_ULONG(registers) == PROBE_ID);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, first), STATUS_SUCCESS));
    CHECK_RULE("PHYS-038/b",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, first), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "LIFE-100") == 2);
    CHECK_RULE("PHYS-035/a",
               IS(map_bar(p, 8, 16, MmWriteCombined, &first), STATUS_CONFLICTING_ADDRESSES) &&
                   probe_rule(p, "LIFE-098") == 1);
    CHECK_RULE("PHYS-035/b", IS(map_bar(p, 0, 4096, MmNonCached, &second), STATUS_SUCCESS) &&
                                 second != registers);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, registers), STATUS_SUCCESS));
    CHECK_RULE("PHYS-035/b", READ_REGISTER_ULONG(second) == PROBE_ID);
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, second), STATUS_SUCCESS));
    CHECK_RULE("PHYS-036/a", IS(map_bar(p, 0, 4096, MmNonCached, NULL), STATUS_INVALID_PARAMETER));
}

static void cache_types_body(struct probe *p)
{
    static const MEMORY_CACHING_TYPE types[] = {
        MmNonCached,          MmCached,     MmWriteCombined,    MmHardwareCoherentCached,
        MmNonCachedUnordered, MmUSWCCached, MmMaximumCacheType, (MEMORY_CACHING_TYPE)77};

    for (unsigned i = 0; i < 8; i++) {
        PVOID mapped = &mapped;
        /* The driver has mapped the registers, so not those. */
        NTSTATUS status = DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 1), 16, FALSE, FALSE,
                                               types[i], &mapped);

        CHECK_RULE(i < 3 ? "PHYS-034/a" : "PHYS-034/b",
                   IS(status, i < 3 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
        if (i < 3)
            CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped), STATUS_SUCCESS));
    }
}

static void map_levels_body(struct probe *p)
{
    PVOID mapped = NULL;
    KIRQL before;

    for (KIRQL level = PASSIVE_LEVEL; level <= DISPATCH_LEVEL; level++) {
        uint64_t reports = probe_rule(p, "THREAD-047");
        NTSTATUS status, undone;

        KeRaiseIrql(level, &before);
        status = map_bar(p, 0x800, 16, MmNonCached, &mapped);
        undone = DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped);
        KeLowerIrql(before);
        CHECK_RULE(
            level == DISPATCH_LEVEL ? "PHYS-037/b" : "PHYS-037/a",
            IS(status, level < DISPATCH_LEVEL ? STATUS_SUCCESS : STATUS_INVALID_DEVICE_REQUEST) &&
                IS(undone, level < DISPATCH_LEVEL ? STATUS_SUCCESS : STATUS_INVALID_DEVICE_REQUEST) &&
                probe_rule(p, "THREAD-047") == reports + (level > PASSIVE_LEVEL ? 2 : 0));
    }
}

TEST(device_ranges_are_mapped_for_the_cpu)
{
    struct probe *p;

    probe_end(probe_started(NULL), mappings_body);
    probe_end(probe_started(NULL), map_levels_body);
    probe_end(probe_started(NULL), cache_types_body);
    p = probe_started(&isolated); /* mapped in StartDevice, switched after it */
    CHECK_RULE("PHYS-042",
               iommu_domain_mode(port_adapter_domain(p->adapter[0])) == IOMMU_ISOLATION &&
                   probe_nth(p, PROBE_BeginExclusiveAccess, 0)->order >
                       probe_nth(p, PROBE_StartDevice, 0)->order &&
                   READ_REGISTER_ULONG(A->registers) == PROBE_ID);
    probe_destroy(p);
}

static PULONG left_mapping;

static void fail_start(struct probe *p, struct probe_call *call)
{
    left_mapping = A->registers;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

static void forget_mapping(struct probe *p, struct probe_call *call)
{
    (void)call;
    left_mapping = A->registers;
    A->registers = NULL;
}

static ULONG read_when_removed;
static uint64_t told_when_removed;

/* A driver that resets its device at last does so through the mapping that it never ended. */
static void use_left_mapping(struct probe *p, struct probe_call *call)
{
    (void)call;
    told_when_removed = probe_rule(p, "LIFE-101");
    read_when_removed = READ_REGISTER_ULONG(left_mapping);
}

TEST(mappings_left_behind_are_removed)
{
    struct probe *p = probe_started(NULL);

    p->before[PROBE_StopDevice] = forget_mapping;
    p->before[PROBE_RemoveDevice] = use_left_mapping;
    (void)probe_stop(p);
    CHECK_RULE("PHYS-041/a", probe_rule(p, "LIFE-101") == 1 && bus_mappings(p->bus) == 0);
    CHECK_RULE("LIFE-101/c", told_when_removed == 1 && read_when_removed == PROBE_ID &&
                                 probe_rule(p, "NT-139") == 0);
    probe_destroy(p);
    p = probe_create(NULL);
    p->after[PROBE_StartDevice] = fail_start;
    p->before[PROBE_RemoveDevice] = use_left_mapping;
    read_when_removed = 0;
    CHECK(!NT_SUCCESS(probe_start(p)));
    CHECK_RULE("PHYS-041/b", probe_rule(p, "LIFE-101") == 1 && bus_mappings(p->bus) == 0);
    CHECK_RULE("LIFE-101/c", told_when_removed == 1 && read_when_removed == PROBE_ID);
    CHECK_RULE("LIFE-101/c", probe_reports(p, VERIFY_ERROR) == 0); /* nobody saw Windows mind it */
    probe_destroy(p);
}

/* A mapping that outlives a stop is told once, and outlives the restart, too. */
TEST(a_mapping_left_behind_outlives_a_restart)
{
    struct probe *p = probe_started(NULL);

    p->before[PROBE_StopDevice] = forget_mapping;
    CHECK(probe_run(p, probe_restart) == SIM_DONE);
    p->before[PROBE_StopDevice] = NULL;
    CHECK_RULE("LIFE-101/c",
               probe_rule(p, "LIFE-101") == 1 && READ_REGISTER_ULONG(left_mapping) == PROBE_ID);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-101/d", probe_rule(p, "LIFE-101") == 1 && bus_mappings(p->bus) == 0);
    probe_destroy(p);
}

static PVOID client_mapping;

static void map_for_client(struct probe *p)
{
    CHECK(NT_SUCCESS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 1), 4096, FALSE, TRUE,
                                          MmWriteCombined, &client_mapping)));
    *(volatile char *)client_mapping = 1;
}

TEST_WITH(probe, an_ending_process_loses_its_mappings)
{
    struct nt_process *process = probe_process(p, "client");
    size_t before = bus_mappings(p->bus);

    probe_run_in(p, process, map_for_client);
    CHECK_RULE("PHYS-039", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, client_mapping),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "LIFE-100") == 1 && bus_mappings(p->bus) == before + 1);
    port_process_ended(p->port, process);
    CHECK_RULE("PHYS-040/a", probe_rule(p, "PHYS-040") == 1 && bus_mappings(p->bus) == before);
    CHECK_RULE("PHYS-040/b", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, client_mapping),
                                STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "LIFE-100") == 2);
}

/* ---- ranges that are not its own ---- */

static NTSTATUS map_at(struct probe *p, uint64_t at, ULONG length, PVOID *mapped)
{
    return DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, (PHYSICAL_ADDRESS){.QuadPart = (LONGLONG)at},
                                length, FALSE, FALSE, MmWriteCombined, mapped);
}

static void foreign_ranges_body(struct probe *p)
{
    uint64_t bar = (uint64_t)probe_bar(p, 1).QuadPart, bytes = 16u << 20;
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *peer =
        p->state[1].device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;
    const struct {
        uint64_t at;
        ULONG length;
        const char *clause; /* NULL: inside */
    } ranges[] = {
        {bar + bytes - 1, 1, NULL},
        {bar + bytes - 1, 2, "PHYS-027/a"},
        {bar + bytes, 1, "PHYS-027/a"},
        {bar, 16u << 20, NULL},
        {bar, (16u << 20) + 1, "PHYS-027/a"},
        {bar - 1, 2, "PHYS-027/a"},
        {UINT64_MAX - 4095, 8192, "PHYS-027/b"},
        {0x1000, 4096, "PHYS-027/c"},
        {(uint64_t)peer[1].u.Memory.Start.QuadPart, 4096, "PHYS-027/d"},
    };
    PVOID mapped, alien;

    for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        uint64_t before = probe_rule(p, "PHYS-027") + probe_rule(p, "LIFE-098");
        NTSTATUS status = map_at(p, ranges[i].at, ranges[i].length, &mapped);

        if (!ranges[i].clause) {
            CHECK_RULE("PHYS-027/a", IS(status, STATUS_SUCCESS));
            CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped), STATUS_SUCCESS));
            continue;
        }
        CHECK_RULE(ranges[i].clause,
                   IS(status, STATUS_INVALID_PARAMETER) && mapped == NULL &&
                       probe_rule(p, "PHYS-027") + probe_rule(p, "LIFE-098") == before + 1);
    }
    CHECK(IS(p->state[1].dxgk.DxgkCbMapMemory(p->state[1].dxgk.DeviceHandle, peer[1].u.Memory.Start,
                                              4096, FALSE, FALSE, MmWriteCombined, &alien),
             STATUS_SUCCESS));
    CHECK_RULE("PHYS-038/c",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, alien), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "LIFE-100") == 1);
    ((volatile char *)alien)[0] = 1;
    CHECK(IS(p->state[1].dxgk.DxgkCbUnmapMemory(p->state[1].dxgk.DeviceHandle, alien),
             STATUS_SUCCESS));
}

TEST(ranges_of_others)
{
    const struct probe_options two = {.adapters = 2};

    probe_end(probe_started(&two), foreign_ranges_body);
}
