/* SPDX-License-Identifier: MIT */
/* Each cap of a driver in the answer that a client gets, and no other. */
#include "port/support/client.h"

#include "bus/device.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct {
    D3DKMT_WDDM_1_2_CAPS caps12;
    D3DKMT_WDDM_1_3_CAPS caps13;
    D3DKMT_WDDM_2_0_CAPS caps20;
    D3DKMT_ADAPTERTYPE type;
    D3DKMT_QUERY_GPUMMU_CAPS mmu;
    D3DKMT_QUERY_DEVICE_IDS ids;
} answer;

static void ask(D3DKMT_HANDLE adapter, KMTQUERYADAPTERINFOTYPE type, void *to, UINT bytes)
{
    memset(to, 0, bytes);
    CHECK(IS(D3DKMTQueryAdapterInfo(&(D3DKMT_QUERYADAPTERINFO){adapter, type, to, bytes}),
             STATUS_SUCCESS));
}

static void look(struct probe *p)
{
    const struct dxgk_device_description *device = bus_device_description(p->device[0]);
    D3DKMT_ENUMADAPTERS adapters = {0};
    D3DKMT_HANDLE adapter;

    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS));
    adapter = adapters.Adapters[0].hAdapter;
    ask(adapter, KMTQAITYPE_WDDM_1_2_CAPS, &answer.caps12, sizeof(answer.caps12));
    ask(adapter, KMTQAITYPE_WDDM_1_3_CAPS, &answer.caps13, sizeof(answer.caps13));
    ask(adapter, KMTQAITYPE_WDDM_2_0_CAPS, &answer.caps20, sizeof(answer.caps20));
    ask(adapter, KMTQAITYPE_ADAPTERTYPE, &answer.type, sizeof(answer.type));
    ask(adapter, KMTQAITYPE_QUERY_GPUMMU_CAPS, &answer.mmu, sizeof(answer.mmu));
    ask(adapter, KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &answer.ids, sizeof(answer.ids));
    CHECK_RULE("KMT-096", answer.ids.DeviceIds.VendorID == device->vendor &&
                              answer.ids.DeviceIds.DeviceID == device->device &&
                              answer.ids.DeviceIds.SubVendorID == device->subsystem_vendor &&
                              answer.ids.DeviceIds.SubSystemID == device->subsystem &&
                              answer.ids.DeviceIds.RevisionID == device->revision &&
                              answer.ids.DeviceIds.BusType == 5);
}

static void run(struct probe *p)
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, look);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

enum {
    NONE,
    NON_VGA,
    ROTATION,
    ENGINE_TDR,
    COMMAND_BUFFER,
    HIBERNATION,
    ATOMICS,
    SURPRISE,
    READ_ONLY,
    NO_EXECUTE,
    COHERENT,
    DISCRETE,
    INTEGRATED,
    CAPS
};

static void set(struct probe *p, unsigned cap)
{
    p->caps.SupportNonVGA = cap == NON_VGA;
    p->caps.SupportSmoothRotation = cap == ROTATION;
    p->caps.SupportPerEngineTDR = cap == ENGINE_TDR;
    p->caps.PresentationCaps.SupportKernelModeCommandBuffer = cap == COMMAND_BUFFER;
    p->caps.SupportSurpriseRemovalInHibernation = cap == HIBERNATION;
    p->caps.SchedulingCaps.No64BitAtomics = cap == ATOMICS;
    p->caps.SupportSurpriseRemoval = cap == SURPRISE;
    p->mmu.ReadOnlyMemorySupported = cap == READ_ONLY;
    p->mmu.NoExecuteMemorySupported = cap == NO_EXECUTE;
    p->mmu.CacheCoherentMemorySupported = cap == COHERENT;
    p->caps.HybridDiscrete = cap == DISCRETE;
    p->caps.HybridIntegrated = cap == INTEGRATED;
    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
}

TEST(each_cap_is_told_alone)
{
    for (unsigned cap = NONE; cap < CAPS; cap++) {
        struct probe *p = probe_create(NULL);

        set(p, cap);
        run(p);
        CHECK_RULE("KMT-086", answer.caps12.SupportNonVGA == (cap == NON_VGA) &&
                                  answer.caps12.SupportSmoothRotation == (cap == ROTATION) &&
                                  answer.caps12.SupportPerEngineTDR == (cap == ENGINE_TDR));
        CHECK(answer.caps12.SupportKernelModeCommandBuffer == (cap == COMMAND_BUFFER) &&
              answer.caps12.SupportSurpriseRemovalInHibernation == (cap == HIBERNATION));
        CHECK_RULE("KMT-090", answer.caps20.Support64BitAtomics == (cap != ATOMICS) &&
                                  answer.caps20.SupportSurpriseRemoval == (cap == SURPRISE) &&
                                  answer.caps20.GpuMmuSupported && !answer.caps20.IoMmuSupported);
        CHECK_RULE("KMT-098",
                   answer.mmu.Caps.Flags.ReadOnlyMemorySupported == (cap == READ_ONLY) &&
                       answer.mmu.Caps.Flags.NoExecuteMemorySupported == (cap == NO_EXECUTE) &&
                       answer.mmu.Caps.Flags.CacheCoherentMemorySupported == (cap == COHERENT));
        CHECK(answer.type.HybridDiscrete == (cap == DISCRETE) &&
              answer.type.HybridIntegrated == (cap == INTEGRATED) && answer.type.RenderSupported &&
              !answer.type.RuntimePowerManagement);
        CHECK(answer.caps13.IsHybridDiscreteGPU == (cap == DISCRETE) &&
              answer.caps13.IsHybridIntegratedGPU == (cap == INTEGRATED) &&
              !answer.caps13.SupportCrossAdapterResource);
    }
}

TEST(power_management_at_run_time_is_told)
{
    struct probe *p = probe_create(NULL);

    set(p, NONE);
    probe_use_components(p, 1);
    p->caps.SupportRuntimePowerManagement = TRUE;
    run(p);
    CHECK(answer.type.RuntimePowerManagement);
}
