/* SPDX-License-Identifier: MIT */
/* Enumerating, opening, closing adapters, and asking them. */
#include "host/support/refgpu_client.h"
#include "kmt/support/driver_calls.h"

static NTSTATUS close_handle(D3DKMT_HANDLE handle)
{
    D3DKMT_CLOSEADAPTER close = {handle};

    return D3DKMTCloseAdapter(&close);
}

/* ---- enumeration ---- */

TEST_WITH(client, enumeration_opens_each_adapter)
{
    D3DKMT_ENUMADAPTERS one;

    memset(&one, 0xFF, sizeof(one));
    SHOW(c, "KMT-033", D3DKMTEnumAdapters(&one) == STATUS_SUCCESS && one.NumAdapters == 1);
    SHOW(c, "KMT-040",
         one.Adapters[0].hAdapter != 0 && one.Adapters[0].NumOfSources == 0 &&
             one.Adapters[0].AdapterLuid.LowPart != 0);
    SHOW(c, "KMT-041", one.Adapters[0].bPrecisePresentRegionsPreferred == FALSE);
    TRY(c, close_handle(one.Adapters[0].hAdapter) == STATUS_SUCCESS);
}

TEST_WITH(client, the_second_enumeration_says_how_much_room_it_needs)
{
    D3DKMT_ENUMADAPTERS2 two;
    D3DKMT_ADAPTERINFO list[16];

    memset(&two, 0, sizeof(two));
    two.NumAdapters = 77;
    SHOW(c, "KMT-035", D3DKMTEnumAdapters2(&two) == STATUS_SUCCESS);
    SHOW(c, "KMT-036", two.NumAdapters == 34);
    two.pAdapters = list;
    two.NumAdapters = 0;
    SHOW(c, "KMT-037", D3DKMTEnumAdapters2(&two) == STATUS_BUFFER_TOO_SMALL);
    SHOW(c, "KMT-038", two.NumAdapters == 0);
    two.NumAdapters = 16;
    SHOW(c, "KMT-037", D3DKMTEnumAdapters2(&two) == STATUS_SUCCESS && two.NumAdapters == 1);
    TRY(c, close_handle(list[0].hAdapter) == STATUS_SUCCESS);
}

TEST_WITH(client, the_third_enumeration_filters)
{
    D3DKMT_ENUMADAPTERS3 three;
    D3DKMT_ADAPTERINFO list[16];

    memset(&three, 0, sizeof(three));
    three.pAdapters = list;
    three.NumAdapters = 16;
    SHOW(c, "KMT-043",
         D3DKMTEnumAdapters3(&three) == STATUS_SUCCESS && three.NumAdapters == 1); /* it can render */
    TRY(c, close_handle(list[0].hAdapter) == STATUS_SUCCESS);
    three.Filter.Reserved = 1;
    three.NumAdapters = 16;
    SHOW(c, "KMT-043", D3DKMTEnumAdapters3(&three) == STATUS_INVALID_PARAMETER);
    three.Filter.Value = 0;
    three.pAdapters = (D3DKMT_ADAPTERINFO *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007", D3DKMTEnumAdapters3(&three) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(client, each_enumeration_gives_a_handle_of_its_own)
{
    D3DKMT_ADAPTERINFO list[16];
    D3DKMT_ENUMADAPTERS one = {0};
    D3DKMT_ENUMADAPTERS2 two = {.NumAdapters = 16, .pAdapters = list};
    D3DKMT_QUERYADAPTERINFO query = {.Type = KMTQAITYPE_DRIVERVERSION};
    UINT version = 0;

    TRY(c, D3DKMTEnumAdapters(&one) == STATUS_SUCCESS);
    TRY(c, D3DKMTEnumAdapters2(&two) == STATUS_SUCCESS);
    SHOW(c, "KMT-039",
         list[0].hAdapter != one.Adapters[0].hAdapter &&
             list[0].AdapterLuid.LowPart == one.Adapters[0].AdapterLuid.LowPart);
    TRY(c, close_handle(list[0].hAdapter) == STATUS_SUCCESS);
    query.hAdapter = one.Adapters[0].hAdapter;
    query.pPrivateDriverData = &version;
    query.PrivateDriverDataSize = sizeof(version);
    SHOW(c, "KMT-039",
         D3DKMTQueryAdapterInfo(&query) == STATUS_SUCCESS); /* the other handle still works */
    TRY(c, close_handle(one.Adapters[0].hAdapter) == STATUS_SUCCESS);
}

TEST_WITH(client, adapters_are_opened_by_luid)
{
    D3DKMT_ENUMADAPTERS all = {0};
    D3DKMT_OPENADAPTERFROMLUID open;
    LUID luid;

    TRY(c, D3DKMTEnumAdapters(&all) == STATUS_SUCCESS && all.NumAdapters == 1);
    luid = all.Adapters[0].AdapterLuid;
    TRY(c, close_handle(all.Adapters[0].hAdapter) == STATUS_SUCCESS);
    memset(&open, 0, sizeof(open));
    SHOW(c, "KMT-045",
         D3DKMTOpenAdapterFromLuid(&open) == STATUS_INVALID_PARAMETER && open.hAdapter == 0);
    open.AdapterLuid = luid;
    SHOW(c, "KMT-045", D3DKMTOpenAdapterFromLuid(&open) == STATUS_SUCCESS && open.hAdapter != 0);
    SHOW(c, "KMT-050", close_handle(open.hAdapter) == STATUS_SUCCESS);
    SHOW(c, "KMT-050", close_handle(open.hAdapter) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(client, a_device_keeps_the_adapter_open)
{
    struct gpu g;
    D3DKMT_CREATEDEVICE create;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-051", gpu_wait_idle(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-051", gpu_create_copy_context(&g) == STATUS_SUCCESS);
    memset(&create, 0, sizeof(create));
    create.hAdapter = g.adapter;
    TRY(c, D3DKMTCreateDevice(&create) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_destroy_device(&g) == STATUS_SUCCESS);
}

/* DxgkDdiCreateProcess and DestroyProcess, told by the count of DDI calls. */
static void only_queries(struct client *c)
{
    struct gpu g;
    D3DKMT_SEGMENTSIZEINFO sizes;
    D3DKMT_QUERYADAPTERINFO query;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    memset(&query, 0, sizeof(query));
    query.hAdapter = g.adapter;
    query.Type = KMTQAITYPE_GETSEGMENTSIZE;
    query.pPrivateDriverData = &sizes;
    query.PrivateDriverDataSize = sizeof(sizes);
    TRY(c, D3DKMTQueryAdapterInfo(&query) == STATUS_SUCCESS);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST(opening_alone_creates_no_process)
{
    CHECK_RULE("KMT-052", driver_calls_of(only_queries) == 0);
}

/* ---- queries ---- */

static NTSTATUS ask(const struct gpu *g, KMTQUERYADAPTERINFOTYPE type, void *answer, UINT bytes)
{
    D3DKMT_QUERYADAPTERINFO query;

    memset(&query, 0, sizeof(query));
    query.hAdapter = g->adapter;
    query.Type = type;
    query.pPrivateDriverData = answer;
    query.PrivateDriverDataSize = bytes;
    return D3DKMTQueryAdapterInfo(&query);
}

TEST_WITH(client, query_buffers_are_checked)
{
    struct {
        D3DKMT_SEGMENTSIZEINFO sizes;
        uint8_t rest[64];
    } large;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-056",
         ask(&g, KMTQAITYPE_GETSEGMENTSIZE, NULL, sizeof(large)) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-056",
         ask(&g, KMTQAITYPE_GETSEGMENTSIZE, &large, sizeof(large.sizes) - 1) ==
             STATUS_INVALID_PARAMETER);
    memset(&large, 0x5A, sizeof(large));
    SHOW(c, "KMT-056",
         ask(&g, KMTQAITYPE_GETSEGMENTSIZE, &large, sizeof(large)) == STATUS_SUCCESS &&
             large.rest[0] == 0x5A);
    SHOW(c, "KMT-069", large.sizes.DedicatedVideoMemorySize > 0);
    SHOW(c, "KMT-058",
         ask(&g, (KMTQUERYADAPTERINFOTYPE)999, &large, sizeof(large)) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-058",
         ask(&g, (KMTQUERYADAPTERINFOTYPE)-1, &large, sizeof(large)) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
    TRY(c, ask(&g, KMTQAITYPE_GETSEGMENTSIZE, &large, sizeof(large)) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(client, what_a_display_would_answer)
{
    static const KMTQUERYADAPTERINFOTYPE unsupported[] = {
        KMTQAITYPE_FLIPQUEUEINFO,
        KMTQAITYPE_CURRENTDISPLAYMODE,
        KMTQAITYPE_MODELIST,
        KMTQAITYPE_OUTPUTDUPLCONTEXTSCOUNT,
        KMTQAITYPE_CPDRIVERNAME,
        KMTQAITYPE_DLIST_DRIVER_NAME,
        KMTQAITYPE_XBOX,
        KMTQAITYPE_MIRACASTCOMPANIONDRIVERNAME,
        KMTQAITYPE_QUERY_MIRACAST_DRIVER_TYPE,
        KMTQAITYPE_QUERY_HW_PROTECTION_TEARDOWN_COUNT,
        KMTQAITYPE_GET_DEVICE_VIDPN_OWNERSHIP_INFO,
        KMTQAITYPE_SCANOUT_CAPS,
        KMTQAITYPE_DISPLAY_CAPS,
        KMTQAITYPE_DISPLAY_UMDRIVERNAME,
        KMTQAITYPE_HYBRID_DLIST_DLL_SUPPORT,
    };
    static const KMTQUERYADAPTERINFOTYPE no[] = {
        KMTQAITYPE_DIRECTFLIP_SUPPORT,
        KMTQAITYPE_INDEPENDENTFLIP_SUPPORT,
        KMTQAITYPE_INDEPENDENTFLIP_SECONDARY_SUPPORT,
        KMTQAITYPE_MULTIPLANEOVERLAY_SUPPORT,
        KMTQAITYPE_MULTIPLANEOVERLAY_HUD_SUPPORT,
        KMTQAITYPE_MULTIPLANEOVERLAY_SECONDARY_SUPPORT,
        KMTQAITYPE_MULTIPLANEOVERLAY_STRETCH_SUPPORT,
        KMTQAITYPE_PANELFITTER_SUPPORT,
        KMTQAITYPE_MPO3DDI_SUPPORT,
        KMTQAITYPE_MPOKERNELCAPS_SUPPORT,
        KMTQAITYPE_HWDRM_SUPPORT,
        KMTQAITYPE_QUERY_ISBADDRIVERFORHWPROTECTIONDISABLED,
    };
    uint8_t buffer[8192];
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    for (unsigned i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++)
        SHOW(c, "KMT-059", ask(&g, unsupported[i], buffer, sizeof(buffer)) == STATUS_NOT_SUPPORTED);
    for (unsigned i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        BOOL answer = 77;

        SHOW(c, "KMT-060",
             ask(&g, no[i], &answer, sizeof(answer)) == STATUS_SUCCESS && answer == FALSE);
    }
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* ---- who the adapter is ---- */

TEST_WITH(client, the_adapter_says_that_it_renders_only)
{
    D3DKMT_ADAPTERTYPE type, type_render;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    TRY(c, ask(&g, KMTQAITYPE_ADAPTERTYPE, &type, sizeof(type)) == STATUS_SUCCESS);
    SHOW(c, "KMT-083", type.RenderSupported && !type.DisplaySupported && !type.PostDevice);
    SHOW(c, "KMT-084",
         !type.ComputeOnly && !type.Prototype && !type.Paravirtualized && !type.SoftwareDevice &&
             !type.IndirectDisplayDevice);
    SHOW(c, "KMT-085",
         ask(&g, KMTQAITYPE_ADAPTERTYPE_RENDER, &type_render, sizeof(type_render)) ==
                 STATUS_SUCCESS &&
             type_render.Value == type.Value);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_adapter_names_its_driver)
{
    D3DKMT_ADAPTERREGISTRYINFO texts;
    WCHAR service[64];
    BOOL update = 5;
    UINT version = 0;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    TRY(c, ask(&g, KMTQAITYPE_DRIVERVERSION, &version, sizeof(version)) == STATUS_SUCCESS);
    SHOW(c, "KMT-081", version >= 2000 && version <= 3100 && version % 100 == 0);
    SHOW(c, "KMT-077",
         ask(&g, KMTQAITYPE_ADAPTERREGISTRYINFO, &texts, sizeof(texts)) == STATUS_SUCCESS &&
             texts.DacType[259] == 0);
    SHOW(c, "KMT-079",
         ask(&g, KMTQAITYPE_CHECKDRIVERUPDATESTATUS, &update, sizeof(update)) == STATUS_SUCCESS &&
             update == FALSE);
    SHOW(c, "KMT-109",
         ask(&g, KMTQAITYPE_SERVICENAME, service, sizeof(service)) == STATUS_SUCCESS &&
             memcmp(service, L"refgpu", sizeof(L"refgpu")) == 0);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, user_mode_drivers_have_no_file)
{
    D3DKMT_UMDFILENAMEINFO file;
    D3DKMT_OPENGLINFO opengl;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    file.Version = KMTUMDVERSION_DX11;
    SHOW(c, "KMT-066",
         ask(&g, KMTQAITYPE_UMDRIVERNAME, &file, sizeof(file)) == STATUS_OBJECT_NAME_NOT_FOUND);
    file.Version = (KMTUMDVERSION)77;
    SHOW(c, "KMT-066",
         ask(&g, KMTQAITYPE_UMDRIVERNAME, &file, sizeof(file)) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-068",
         ask(&g, KMTQAITYPE_UMOPENGLINFO, &opengl, sizeof(opengl)) == STATUS_OBJECT_NAME_NOT_FOUND);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_adapter_is_one_physical_device_at_an_address)
{
    D3DKMT_PHYSICAL_ADAPTER_COUNT count;
    D3DKMT_QUERY_DEVICE_IDS ids;
    D3DKMT_ADAPTERADDRESS address;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-095",
         ask(&g, KMTQAITYPE_PHYSICALADAPTERCOUNT, &count, sizeof(count)) == STATUS_SUCCESS &&
             count.Count == 1);
    memset(&ids, 0, sizeof(ids));
    SHOW(c, "KMT-096",
         ask(&g, KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &ids, sizeof(ids)) == STATUS_SUCCESS &&
             ids.DeviceIds.VendorID != 0);
    ids.PhysicalAdapterIndex = 1;
    SHOW(c, "KMT-062",
         ask(&g, KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &ids, sizeof(ids)) ==
             STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-074",
         ask(&g, KMTQAITYPE_ADAPTERADDRESS, &address, sizeof(address)) == STATUS_SUCCESS &&
             address.FunctionNumber == 0);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_adapter_has_a_guid)
{
    D3DKMT_QUERY_ADAPTER_UNIQUE_GUID text;
    GUID guid;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    TRY(c,
        ask(&g, KMTQAITYPE_ADAPTERGUID, &guid, sizeof(guid)) == STATUS_SUCCESS && guid.Data1 != 0);
    TRY(c, ask(&g, KMTQAITYPE_QUERY_ADAPTER_UNIQUE_GUID, &text, sizeof(text)) == STATUS_SUCCESS);
    SHOW(c, "KMT-073",
         text.AdapterUniqueGUID[0] == L'{' && text.AdapterUniqueGUID[37] == L'}' &&
             text.AdapterUniqueGUID[38] == 0);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_working_set_is_not_limited)
{
    D3DKMT_WORKINGSETINFO working_set;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-078",
         ask(&g, KMTQAITYPE_SETWORKINGSETINFO, &working_set, sizeof(working_set)) == STATUS_SUCCESS &&
             working_set.Flags.UseDefault == 1 && working_set.MaximumWorkingSetPercentile == 100);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* ---- what the adapter can do ---- */

TEST_WITH(client, caps_of_wddm_1_offer_no_display)
{
    D3DKMT_WDDM_1_2_CAPS caps12;
    D3DKMT_WDDM_1_3_CAPS caps13;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-087",
         ask(&g, KMTQAITYPE_WDDM_1_2_CAPS, &caps12, sizeof(caps12)) == STATUS_SUCCESS &&
             !caps12.SupportHWVSync && !caps12.SupportGammaRamp && !caps12.SupportCCD);
    SHOW(c, "KMT-086", caps12.SupportPerEngineTDR);
    SHOW(c, "KMT-089",
         ask(&g, KMTQAITYPE_WDDM_1_3_CAPS, &caps13, sizeof(caps13)) == STATUS_SUCCESS &&
             !caps13.SupportMiracast && !caps13.SupportVirtualModes);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, caps_of_wddm_2_and_3_offer_what_the_host_has)
{
    D3DKMT_WDDM_2_0_CAPS caps20;
    D3DKMT_WDDM_2_7_CAPS caps27;
    D3DKMT_WDDM_3_0_CAPS caps30;
    D3DKMT_WDDM_3_1_CAPS caps31;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-090",
         ask(&g, KMTQAITYPE_WDDM_2_0_CAPS, &caps20, sizeof(caps20)) == STATUS_SUCCESS &&
             caps20.GpuMmuSupported && !caps20.IoMmuSupported && !caps20.FlipOverwriteSupported);
    SHOW(c, "KMT-091",
         ask(&g, KMTQAITYPE_WDDM_2_7_CAPS, &caps27, sizeof(caps27)) == STATUS_SUCCESS &&
             !caps27.HwSchEnabled);
    SHOW(c, "KMT-092",
         ask(&g, KMTQAITYPE_WDDM_3_0_CAPS, &caps30, sizeof(caps30)) == STATUS_SUCCESS &&
             caps30.Value == 0);
    SHOW(c, "KMT-093",
         ask(&g, KMTQAITYPE_WDDM_3_1_CAPS, &caps31, sizeof(caps31)) == STATUS_SUCCESS &&
             !caps31.NativeGpuFenceSupported);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, the_adapter_has_gpu_virtual_addresses)
{
    D3DKMT_VIRTUALADDRESSINFO va;
    D3DKMT_QUERY_GPUMMU_CAPS mmu;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-080",
         ask(&g, KMTQAITYPE_VIRTUALADDRESSINFO, &va, sizeof(va)) == STATUS_SUCCESS &&
             va.VirtualAddressFlags.VirtualAddressSupported);
    memset(&mmu, 0, sizeof(mmu));
    SHOW(c, "KMT-098",
         ask(&g, KMTQAITYPE_QUERY_GPUMMU_CAPS, &mmu, sizeof(mmu)) == STATUS_SUCCESS &&
             mmu.Caps.VirtualAddressBitCount == 48);
    mmu.PhysicalAdapterIndex = 3;
    SHOW(c, "KMT-062",
         ask(&g, KMTQAITYPE_QUERY_GPUMMU_CAPS, &mmu, sizeof(mmu)) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, each_node_says_what_engine_it_is)
{
    D3DKMT_NODEMETADATA node;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    memset(&node, 0, sizeof(node));
    node.NodeOrdinalAndAdapterIndex = REFGPU_NODE_COPY;
    SHOW(c, "KMT-094",
         ask(&g, KMTQAITYPE_NODEMETADATA, &node, sizeof(node)) == STATUS_SUCCESS &&
             node.NodeData.EngineType == DXGK_ENGINE_TYPE_COPY && node.NodeData.GpuMmuSupported);
    node.NodeOrdinalAndAdapterIndex = REFGPU_NODES;
    SHOW(c, "KMT-094",
         ask(&g, KMTQAITYPE_NODEMETADATA, &node, sizeof(node)) == STATUS_INVALID_PARAMETER);
    node.NodeOrdinalAndAdapterIndex = 1u << 16;
    SHOW(c, "KMT-062",
         ask(&g, KMTQAITYPE_NODEMETADATA, &node, sizeof(node)) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, nothing_is_shared_across_adapters)
{
    D3DKMT_CROSSADAPTERRESOURCE_SUPPORT cross;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-110",
         ask(&g, KMTQAITYPE_CROSSADAPTERRESOURCE_SUPPORT, &cross, sizeof(cross)) == STATUS_SUCCESS &&
             cross.SupportTier == D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER_NONE);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* The driver is asked each time, sees a copy, and answers into the client's buffer. */
static void private_query(struct client *c)
{
    struct refgpu_adapter_info info;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    memset(&info, 0, sizeof(info));
    SHOW(c, "KMT-064",
         ask(&g, KMTQAITYPE_UMDRIVERPRIVATE, &info, sizeof(info)) == STATUS_SUCCESS &&
             info.magic == REFGPU_UMD_MAGIC);
    TRY(c, info.nodes == REFGPU_NODES && info.vram_bytes > 0);
    SHOW(c, "CAPS-016", ask(&g, KMTQAITYPE_UMDRIVERPRIVATE, &info, 0) == STATUS_INVALID_PARAMETER);
    TRY(c, ask(&g, KMTQAITYPE_UMDRIVERPRIVATE, &info, sizeof(info)) == STATUS_SUCCESS);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST(the_driver_answers_private_queries)
{
    /* no cache, and none for a size of 0 */
    CHECK_RULE("KMT-064", driver_calls_of(private_query) == 2);
}
