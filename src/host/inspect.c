/* SPDX-License-Identifier: MIT */
/*
 * What a driver is, told without a workload: its file, what it registers, what it answers at the
 * start of an adapter, and what would refuse it. The driver runs as in any machine; the port driver
 * shows what it was told before it forgets it.
 */
#include "host/inspect.h"
#include "host/log.h"
#include "host/driver.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "loader/loader.h"
#include "port/record/answers.h"
#include "util/array.h"
#include "util/explain.h"
#include "util/list.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* ---- bits by name ---- */

struct words {
    char text[800]; /* longer than all names of a kind together */
};

static void add_word(struct words *words, bool set, const char *word)
{
    size_t length = strlen(words->text);

    if (set)
        snprintf(words->text + length, sizeof(words->text) - length, "%s%s", length ? " " : "",
                 word);
}

#define WORD(flags, name) add_word(&words, (flags).name, #name)

/* ---- what it registered ---- */

static void show_entry(const struct dxgk_machine *machine, const char *name, uintptr_t address)
{
    char place[128];

    if (!loader_symbolize(address, place, sizeof(place)))
        snprintf(place, sizeof(place), "outside the image");
    place[strcspn(place, "+")] = '\0';
    host_inspect_say(machine, "  %-42s %s", name, place);
}

/* All members of the table of a display-only driver but the first are entry points. */
#define DISPLAY_ENTRIES (sizeof(KMDDOD_INITIALIZATION_DATA) / sizeof(void *) - 1)

static void show_table(const struct dxgk_machine *machine, const struct port_answers *answers)
{
#define ENTRY(NAME) {#NAME, offsetof(DRIVER_INITIALIZATION_DATA, NAME)},
    static const struct {
        const char *name;
        size_t offset;
    } entry[] = {
#include "ddi/ddi_table.inc"
    };
#undef ENTRY
    const DRIVER_INITIALIZATION_DATA *table = answers->table;
    uintptr_t address;
    unsigned count = 0;

    host_inspect_say(machine, "entry points, interface version 0x%x%s", (unsigned)table->Version,
                     answers->present_display_only ? ", display-only" : "");
    for (size_t i = 0; i < ARRAY_COUNT(entry); i++) {
        memcpy(&address, (const char *)table + entry[i].offset, sizeof(address));
        if (!address)
            continue;
        show_entry(machine, entry[i].name, address);
        count++;
    }
    if (answers->present_display_only) {
        memcpy(&address, &answers->present_display_only, sizeof(address));
        show_entry(machine, "DxgkDdiPresentDisplayOnly", address);
        count++;
    }
    host_inspect_say(machine, "  %u of %zu", count,
                     answers->present_display_only ? DISPLAY_ENTRIES : ARRAY_COUNT(entry));
}

/* ---- what it answered ---- */

static void show_caps(const struct dxgk_machine *machine, const DXGK_DRIVERCAPS *caps)
{
    struct words words = {""};

    host_inspect_say(machine, "capabilities");
    host_inspect_say(machine, "  %-26s %u.%u", "WDDM version", (unsigned)caps->WDDMVersion >> 12,
                     (unsigned)caps->WDDMVersion >> 8 & 0xF);
    host_inspect_say(machine, "  %-26s 0x%" PRIx64, "highest address",
                     (uint64_t)caps->HighestAcceptableAddress.QuadPart);
    host_inspect_say(machine, "  %-26s %u", "allocation list slots", caps->MaxAllocationListSlotId);
    host_inspect_say(machine, "  %-26s %u", "engines",
                     caps->GpuEngineTopology.NbAsymetricProcessingNodes);
    host_inspect_say(machine, "  %-26s graphics %d, compute %d", "preemption granularity",
                     (int)caps->PreemptionCaps.GraphicsPreemptionGranularity,
                     (int)caps->PreemptionCaps.ComputePreemptionGranularity);
    WORD(caps->SchedulingCaps, MultiEngineAware);
    WORD(caps->SchedulingCaps, VSyncPowerSaveAware);
    WORD(caps->SchedulingCaps, PreemptionAware);
    WORD(caps->SchedulingCaps, NoDmaPatching);
    WORD(caps->SchedulingCaps, CancelCommandAware);
    WORD(caps->SchedulingCaps, No64BitAtomics);
    WORD(caps->SchedulingCaps, LowIrqlPreemptCommand);
    WORD(caps->SchedulingCaps, HwQueuePacketCap);
    WORD(caps->SchedulingCaps, NativeGpuFence);
    host_inspect_say(machine, "  %-26s 0x%x %s", "scheduling", (unsigned)caps->SchedulingCaps.Value,
                     words.text);
    words.text[0] = '\0';
    WORD(caps->MemoryManagementCaps, OutOfOrderLock);
    WORD(caps->MemoryManagementCaps, DedicatedPagingEngine);
    WORD(caps->MemoryManagementCaps, PagingEngineCanSwizzle);
    WORD(caps->MemoryManagementCaps, SectionBackedPrimary);
    WORD(caps->MemoryManagementCaps, CrossAdapterResource);
    WORD(caps->MemoryManagementCaps, VirtualAddressingSupported);
    WORD(caps->MemoryManagementCaps, GpuMmuSupported);
    WORD(caps->MemoryManagementCaps, IoMmuSupported);
    WORD(caps->MemoryManagementCaps, ReplicateGdiContent);
    WORD(caps->MemoryManagementCaps, NonCpuVisiblePrimary);
    WORD(caps->MemoryManagementCaps, ParavirtualizationSupported);
    WORD(caps->MemoryManagementCaps, IoMmuSecureModeSupported);
    WORD(caps->MemoryManagementCaps, DisableSelfRefreshVRAMInS3);
    WORD(caps->MemoryManagementCaps, IoMmuSecureModeRequired);
    WORD(caps->MemoryManagementCaps, MapAperture2Supported);
    WORD(caps->MemoryManagementCaps, CrossAdapterResourceTexture);
    WORD(caps->MemoryManagementCaps, CrossAdapterResourceScanout);
    WORD(caps->MemoryManagementCaps, AlwaysPoweredVRAM);
    host_inspect_say(machine, "  %-26s 0x%x %s", "memory",
                     (unsigned)caps->MemoryManagementCaps.Value, words.text);
    words.text[0] = '\0';
    WORD(*caps, SupportPerEngineTDR);
    WORD(*caps, SupportRuntimePowerManagement);
    WORD(*caps, SupportSurpriseRemoval);
    WORD(*caps, SupportNonVGA);
    WORD(*caps, SupportSmoothRotation);
    WORD(*caps, HybridDiscrete);
    WORD(*caps, HybridIntegrated);
    host_inspect_say(machine, "  %-26s %s", "further", words.text[0] ? words.text : "none");
}

static void show_nodes(const struct dxgk_machine *machine, const struct port_answers *answers)
{
    static const char *const types[] = {
        "other",          "3D",   "video decode", "video encode", "video processing",
        "scene assembly", "copy", "overlay",      "crypto"};

    host_inspect_say(machine, "nodes");
    for (UINT i = 0; i < answers->nodes; i++) {
        const DXGKARG_GETNODEMETADATA *node = &answers->node[i].metadata;

        host_inspect_say(machine, "  %u %s, %s addresses", i,
                         (size_t)node->EngineType < ARRAY_COUNT(types) ? types[node->EngineType]
                                                                       : "unknown",
                         answers->node[i].virtual_addressing ? "GPU virtual" : "physical");
    }
}

static void show_segments(const struct dxgk_machine *machine, const struct port_answers *answers)
{
    host_inspect_say(machine, "segments");
    for (UINT i = 0; i < answers->segments; i++) {
        const DXGK_SEGMENTDESCRIPTOR4 *s = answers->segment[i];
        struct words words = {""};

        WORD(s->Flags, Aperture);
        WORD(s->Flags, Agp);
        WORD(s->Flags, CpuVisible);
        WORD(s->Flags, UseBanking);
        WORD(s->Flags, CacheCoherent);
        WORD(s->Flags, PitchAlignment);
        WORD(s->Flags, PopulatedFromSystemMemory);
        WORD(s->Flags, PreservedDuringStandby);
        WORD(s->Flags, PreservedDuringHibernate);
        WORD(s->Flags, PartiallyPreservedDuringHibernate);
        WORD(s->Flags, DirectFlip);
        WORD(s->Flags, Use64KBPages);
        WORD(s->Flags, ReservedSysMem);
        WORD(s->Flags, SupportsCpuHostAperture);
        WORD(s->Flags, SupportsCachedCpuHostAperture);
        WORD(s->Flags, ApplicationTarget);
        WORD(s->Flags, VprSupported);
        WORD(s->Flags, VprPreservedDuringStandby);
        WORD(s->Flags, EncryptedPagingSupported);
        WORD(s->Flags, LocalBudgetGroup);
        WORD(s->Flags, NonLocalBudgetGroup);
        WORD(s->Flags, PopulatedByReservedDDRByFirmware);
        host_inspect_say(machine,
                         "  %u at 0x%" PRIx64 ", %" PRIu64 " KiB, commit limit %" PRIu64
                         " KiB, 0x%x %s",
                         i + 1, (uint64_t)s->BaseAddress.QuadPart, (uint64_t)s->Size >> 10,
                         (uint64_t)s->CommitLimit >> 10, (unsigned)s->Flags.Value, words.text);
    }
    if (answers->segments)
        host_inspect_say(machine, "  paging buffers of %u bytes in segment %u",
                         answers->paging_buffer_bytes, answers->paging_buffer_segment);
}

static void show_mmu(const struct dxgk_machine *machine, const struct port_answers *answers)
{
    static const char *const modes[] = {"CPU_VIRTUAL", "GPU_VIRTUAL", "GPU_PHYSICAL"};
    const DXGK_GPUMMUCAPS *mmu = answers->mmu;
    struct words words = {""};
    UINT levels = mmu->PageTableLevelCount;

    if (!answers->gpu_mmu)
        return;
    WORD(*mmu, ReadOnlyMemorySupported);
    WORD(*mmu, NoExecuteMemorySupported);
    WORD(*mmu, ZeroInPteSupported);
    WORD(*mmu, ExplicitPageTableInvalidation);
    WORD(*mmu, CacheCoherentMemorySupported);
    WORD(*mmu, PageTableUpdateRequireAddressSpaceIdle);
    WORD(*mmu, LargePageSupported);
    WORD(*mmu, DualPteSupported);
    WORD(*mmu, AllowNonAlignedLargePageAddress);
    WORD(*mmu, SysMem64KBPageSupported);
    WORD(*mmu, InvalidTlbEntriesNotCached);
    WORD(*mmu, SysMemLargePageSupported);
    WORD(*mmu, CachedPageTables);
    host_inspect_say(machine, "GPU MMU of %u address bits, %u page-table levels, update mode %s, %s",
                     mmu->VirtualAddressBitCount, levels,
                     (size_t)mmu->PageTableUpdateMode < ARRAY_COUNT(modes)
                         ? modes[mmu->PageTableUpdateMode]
                         : "unknown",
                     words.text);
    for (UINT i = 0; i < levels && i < DXGK_MAX_PAGE_TABLE_LEVEL_COUNT; i++) {
        const DXGK_PAGE_TABLE_LEVEL_DESC *l = &answers->level[i];

        host_inspect_say(machine,
                         "  level %u: %u index bits, %u bytes in segment %u (paging process: %u)",
                         i, l->PageTableIndexBitCount, l->PageTableSizeInBytes,
                         l->PageTableSegmentId, l->PagingProcessPageTableSegmentId);
    }
}

void host_inspect_observe(void *context, const struct port_answers *answers)
{
    const struct dxgk_machine *machine = context;

    if (!machine->inspect.line)
        return;
    if (!answers->caps) {
        show_table(machine, answers);
        return;
    }
    if (answers->caps->WDDMVersion == 0 && answers->nodes == 0 && answers->segments == 0) {
        host_inspect_say(machine, "capabilities: not asked for, the adapter did not come so far");
        return;
    }
    show_caps(machine, answers->caps);
    if (answers->present_display_only)
        return;
    show_nodes(machine, answers);
    show_segments(machine, answers);
    show_mmu(machine, answers);
}

/* ---- all of it ---- */

/* What came up before the refusal, or while the refused start was undone; not again what the line
 * about the refusal says. */
static void show_findings(const struct dxgk_machine *machine, bool undoing, const char *refusal)
{
    static const char *const severity[] = {"note", "warning", "error", "bug check"};
    bool told = !undoing;

    for (size_t i = 0; i < verify_records(machine->log); i++) {
        const struct verify_record *record = verify_record_at(machine->log, i);

        if (record->undoing != undoing || (record->severity < VERIFY_WARNING && !record->refuses))
            continue;
        if (record->refuses && strstr(refusal, record->seen))
            continue;
        if (!told)
            host_inspect_say(machine, "  found while the refused start was undone:");
        told = true;
        host_inspect_say(machine, "  %s%s %s: %s", severity[record->severity],
                         record->refuses ? ", refused," : "", record->rule, record->seen);
    }
}

static void show_verdict(const struct dxgk_machine *machine, enum dxgk_result result,
                         const char *error)
{
    host_inspect_say(machine, "verdict");
    if (result != DXGK_OK)
        host_inspect_say(machine, "  refused: %s", error);
    else if (list_empty(&machine->adapters))
        host_inspect_say(machine, "  loads; no device was there to start an adapter for");
    else
        host_inspect_say(machine, "  starts");
    if (result == DXGK_OK && verify_rule_count(machine->log, "LIFE-005"))
        host_inspect_say(machine,
                         "  refused nevertheless, unless --stub-missing: imports are missing");
    show_findings(machine, false, result == DXGK_OK ? "" : error);
    show_findings(machine, true, "");
}

enum dxgk_result dxgk_machine_inspect(struct dxgk_machine *machine, const char *path,
                                      void (*line)(void *context, const char *line), void *context,
                                      char *error, size_t error_bytes)
{
    char text[4096] = "";
    enum dxgk_result result = DXGK_ERROR;

    if (!host_begin(machine, error, error_bytes))
        return DXGK_ERROR;
    if (machine->sim->stopped || machine->shut_down || !path || !line) {
        util_explain(error, error_bytes,
                     path && line ? "the machine has stopped" : "there is no path, or no hook");
        host_leave(true);
        return DXGK_ERROR;
    }
    machine->inspect.line = line;
    machine->inspect.context = context;
    machine->config.stub_missing = true; /* to come as far as possible */
    if (NT_SUCCESS(loader_describe(path, line, context, text, sizeof(text)))) {
        result = host_driver_load(machine, path, text, sizeof(text));
        if (result == DXGK_OK)
            host_inspect_displays(machine);
        show_verdict(machine, result, text);
    }
    machine->inspect.line = NULL;
    host_leave(true);
    if (result != DXGK_OK)
        util_explain(error, error_bytes, "%s", text);
    return result;
}
