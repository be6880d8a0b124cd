/* SPDX-License-Identifier: MIT */
/* What the host goes on with after it has reported an answer: the part that contradicts is taken back, and no other. */
#include "port/record/adapter_record.h"
#include "port/record/cause.h"
#include "port/support/admission.h"

#include <string.h>

static const char *rule_now;

/* A driver whose breach of the rule is only told. */
static struct probe *told(const char *rule)
{
    struct probe *p = probe_create(NULL);

    rule_now = rule;
    CHECK(verify_set_severity(p->log, rule, VERIFY_WARNING));
    return p;
}

static const struct port_adapter *started(struct probe *p)
{
    NTSTATUS status = probe_start(p);

    if (!NT_SUCCESS(status))
        fail_msg("%s: 0x%08x, %s", rule_now, (unsigned)status, port_cause_text(p->port));
    if (probe_rule(p, rule_now) == 0)
        fail_msg("%s: no report", rule_now);
    return p->adapter[0];
}

#define CAPS(adapter) (&(adapter)->caps.driver)

/* ---- caps ---- */

TEST(scheduling)
{
    struct probe *p = told("CAPS-049");

    p->caps.SchedulingCaps.PreemptionAware = 0;
    p->caps.SchedulingCaps.NoDmaPatching = 1;
    CHECK(!CAPS(started(p))->SchedulingCaps.NoDmaPatching &&
          CAPS(p->adapter[0])->SchedulingCaps.MultiEngineAware);
    probe_destroy(p);
    p = told("CAPS-050");
    p->caps.SchedulingCaps.CancelCommandAware = 1;
    probe_set_entry(p, PROBE_CancelCommand, false);
    CHECK(!CAPS(started(p))->SchedulingCaps.CancelCommandAware);
    probe_destroy(p);
    p = probe_create(NULL);
    p->caps.SchedulingCaps.CancelCommandAware = 1;
    probe_set_entry(p, PROBE_CancelCommand, true);
    CHECK(NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-050") == 0 &&
          CAPS(p->adapter[0])->SchedulingCaps.CancelCommandAware);
    probe_destroy(p);
}

TEST(recovery_and_power)
{
    static const enum probe_ddi engines[] = {PROBE_QueryDependentEngineGroup,
                                             PROBE_QueryEngineStatus, PROBE_ResetEngine};
    static const enum probe_ddi power[] = {PROBE_SetPowerComponentFState,
                                           PROBE_PowerRuntimeControlRequest};
    struct probe *p;

    for (unsigned i = 0; i < 3; i++) {
        p = told("CAPS-036");
        probe_set_entry(p, engines[i], false);
        CHECK(!CAPS(started(p))->SupportPerEngineTDR && probe_rule(p, "CAPS-029") == 0);
        probe_destroy(p);
    }
    for (unsigned i = 0; i < 2; i++) {
        p = told("LIFE-157");
        probe_use_components(p, 1);
        CHECK(verify_set_severity(p->log, "CAPS-107", VERIFY_WARNING));
        probe_set_entry(p, power[i], false);
        CHECK(!CAPS(started(p))->SupportRuntimePowerManagement &&
              p->adapter[0]->components.count == 0);
        probe_destroy(p);
    }
}

TEST(memory)
{
    struct probe *p;

    for (unsigned i = 0; i < 2; i++) {
        p = told("CAPS-058");
        p->caps.MemoryManagementCaps.DedicatedPagingEngine = i == 0;
        p->caps.MemoryManagementCaps.PagingEngineCanSwizzle = i == 1;
        CHECK(!CAPS(started(p))->MemoryManagementCaps.DedicatedPagingEngine &&
              !CAPS(p->adapter[0])->MemoryManagementCaps.PagingEngineCanSwizzle);
        probe_destroy(p);
    }
    p = told("CAPS-025");
    p->caps.InterruptMessageNumber = 1; /* of one */
    CHECK(CAPS(started(p))->InterruptMessageNumber == 0);
    probe_destroy(p);
}

TEST(isolation)
{
    static const enum probe_ddi entry[] = {PROBE_BeginExclusiveAccess, PROBE_EndExclusiveAccess};
    struct probe *p;

    for (unsigned i = 0; i < 2; i++) {
        p = told("LIFE-035");
        probe_set_entry(p, entry[i], false);
        CHECK(!CAPS(started(p))->MemoryManagementCaps.IoMmuSecureModeSupported);
        probe_destroy(p);
    }
    p = told("CAPS-117");
    p->iommu.IommuIsolationSupported = 0;
    p->iommu.DmaRemappingSupported = 0;
    CHECK(!CAPS(started(p))->MemoryManagementCaps.IoMmuSecureModeSupported);
    probe_destroy(p);
}

/* ---- the physical adapter, nodes, page tables ---- */

TEST(models)
{
    struct probe *p = told("CAPS-096");

    p->physical.Flags.IoMmuSupported = 1;
    CHECK(!started(p)->caps.physical.Flags.IoMmuSupported &&
          p->adapter[0]->caps.physical.Flags.GpuMmuSupported && p->adapter[0]->caps.gpu_mmu);
    probe_destroy(p);
    p = told("CAPS-096");
    p->physical.Flags.GpuMmuSupported = 0;
    CHECK(started(p)->caps.physical.Flags.GpuMmuSupported && p->adapter[0]->caps.gpu_mmu);
    probe_destroy(p);
    p = told("CAPS-096");
    p->caps.MemoryManagementCaps.IoMmuSupported = 1;
    for (unsigned i = 0; i < PROBE_MAX_NODES; i++)
        p->node[i].IoMmuSupported = p->node[i].GpuMmuSupported;
    CHECK(started(p)->caps.physical.Flags.IoMmuSupported &&
          !p->adapter[0]->caps.shared_address_space);
    probe_destroy(p);
    for (unsigned nodes = 1; nodes <= 3; nodes += 2) {
        p = told("CAPS-095");
        p->physical.NumExecutionNodes = (WORD)nodes;
        CHECK(started(p)->caps.physical.NumExecutionNodes == 2);
        probe_destroy(p);
    }
}

static void fail_second(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETNODEMETADATA *metadata = (DXGKARG_GETNODEMETADATA *)(uintptr_t)call->arg[2];

    (void)p;
    if ((UINT)call->arg[1] != 1)
        return;
    memset(metadata, 0x5A, sizeof(*metadata));
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

TEST(nodes)
{
    const DXGKARG_GETNODEMETADATA *node;
    const size_t room = sizeof(node->FriendlyName) / sizeof(node->FriendlyName[0]);
    struct probe *p = told("CAPS-100");

    p->node[1].EngineType = DXGK_ENGINE_TYPE_MAX;
    (void)started(p);
    CHECK(port_adapter_node(p->adapter[0], 1)->EngineType == DXGK_ENGINE_TYPE_OTHER &&
          port_adapter_node(p->adapter[0], 2) == NULL &&
          port_adapter_node_virtual(p->adapter[0], 1) &&
          !port_adapter_node_virtual(p->adapter[0], 2));
    probe_destroy(p);
    p = told("CAPS-101");
    p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER;
    for (size_t i = 0; i < room; i++)
        p->node[1].FriendlyName[i] = L'x';
    (void)started(p);
    node = port_adapter_node(p->adapter[0], 1);
    CHECK(node->FriendlyName[room - 1] == 0 && node->FriendlyName[room - 2] == L'x');
    probe_destroy(p);
    p = told("CAPS-097");
    p->after[PROBE_GetNodeMetadata] = fail_second;
    (void)started(p);
    node = port_adapter_node(p->adapter[0], 1);
    CHECK(node->GpuMmuSupported && !node->IoMmuSupported && node->FriendlyName[0] == 0 &&
          (int)node->EngineType == 0 && port_adapter_node_virtual(p->adapter[0], 1));
    probe_destroy(p);
}

TEST(page_tables)
{
    struct probe *p = told("CAPS-086");

    p->mmu.LeafPageTableSizeFor64KPagesInBytes = 4097;
    (void)started(p);
    CHECK(port_adapter_mmu(p->adapter[0])->LeafPageTableSizeFor64KPagesInBytes == 8192);
    probe_destroy(p);
}

/* ---- segments ---- */

TEST(segments)
{
    static const enum probe_ddi entry[] = {PROBE_MapCpuHostAperture, PROBE_UnmapCpuHostAperture};
    struct probe *p;

    for (unsigned i = 0; i < 2; i++) {
        p = told("LIFE-034");
        p->segment[0].Flags.SupportsCpuHostAperture = 1;
        p->segment[0].Flags.SupportsCachedCpuHostAperture = 1;
        probe_set_entry(p, entry[i], false);
        probe_set_entry(p, entry[1 - i], true);
        (void)started(p);
        CHECK(!port_segment(p->adapter[0], 0)->Flags.SupportsCpuHostAperture &&
              !port_segment(p->adapter[0], 0)->Flags.SupportsCachedCpuHostAperture);
        probe_destroy(p);
    }
    p = told("CAPS-077");
    p->paging_bytes = 0;
    CHECK(started(p)->segments.out.PagingBufferSize == 4096);
    probe_destroy(p);
    p = told("CAPS-075");
    p->paging_segment = 1; /* of memory */
    CHECK(started(p)->segments.out.PagingBufferSegmentId == 0);
    probe_destroy(p);
    p = told("CAPS-081");
    probe_make_compute_only(p);
    p->segment[0].Flags.UseBanking = 1;
    CHECK(started(p)->segments.count == 2 && !port_segment(p->adapter[0], 0)->Flags.UseBanking);
    probe_destroy(p);
}
