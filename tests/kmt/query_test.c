/* SPDX-License-Identifier: MIT */
/* Types of D3DKMTQueryAdapterInfo in pairs and groups: sizes of their buffers, and which have the same answer. */
#include "host/support/refgpu_client.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static NTSTATUS ask(const struct gpu *g, unsigned type, void *answer, UINT bytes)
{
    return D3DKMTQueryAdapterInfo(&(D3DKMT_QUERYADAPTERINFO){.hAdapter = g->adapter,
                                                             .Type = (KMTQUERYADAPTERINFOTYPE)type,
                                                             .pPrivateDriverData = answer,
                                                             .PrivateDriverDataSize = bytes});
}

static bool all(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

TEST_WITH(client, each_type_needs_a_buffer_of_its_structure)
{
    static const struct {
        KMTQUERYADAPTERINFOTYPE type;
        UINT bytes;
    } sizes[] = {
        {KMTQAITYPE_GETSEGMENTSIZE, sizeof(D3DKMT_SEGMENTSIZEINFO)},
        {KMTQAITYPE_SETWORKINGSETINFO, sizeof(D3DKMT_WORKINGSETINFO)},
        {KMTQAITYPE_ADAPTERADDRESS, sizeof(D3DKMT_ADAPTERADDRESS)},
        {KMTQAITYPE_PHYSICALADAPTERCOUNT, sizeof(D3DKMT_PHYSICAL_ADAPTER_COUNT)},
        {KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, sizeof(D3DKMT_QUERY_DEVICE_IDS)},
        {KMTQAITYPE_ADAPTERGUID, sizeof(GUID)},
        {KMTQAITYPE_QUERY_ADAPTER_UNIQUE_GUID, sizeof(D3DKMT_QUERY_ADAPTER_UNIQUE_GUID)},
        {KMTQAITYPE_ADAPTERREGISTRYINFO, sizeof(D3DKMT_ADAPTERREGISTRYINFO)},
        {KMTQAITYPE_SERVICENAME, sizeof(L"refgpu")},
        {KMTQAITYPE_DRIVER_DESCRIPTION, sizeof(D3DKMT_DRIVER_DESCRIPTION)},
        {KMTQAITYPE_UMD_DRIVER_VERSION, sizeof(LARGE_INTEGER)},
        {KMTQAITYPE_KMD_DRIVER_VERSION, sizeof(LARGE_INTEGER)},
        {KMTQAITYPE_CHECKDRIVERUPDATESTATUS, sizeof(BOOL)},
        {KMTQAITYPE_BLOCKLIST_KERNEL, sizeof(D3DKMT_BLOCKLIST_INFO)},
        {KMTQAITYPE_BLOCKLIST_RUNTIME, sizeof(D3DKMT_BLOCKLIST_INFO)},
        {KMTQAITYPE_PARAVIRTUALIZATION_RENDER, sizeof(D3DKMT_PARAVIRTUALIZATION)},
        {KMTQAITYPE_DRIVERVERSION, sizeof(UINT)},
        {KMTQAITYPE_WDDM_1_2_CAPS, sizeof(D3DKMT_WDDM_1_2_CAPS)},
        {KMTQAITYPE_WDDM_1_3_CAPS, sizeof(D3DKMT_WDDM_1_3_CAPS)},
        {KMTQAITYPE_WDDM_2_0_CAPS, sizeof(D3DKMT_WDDM_2_0_CAPS)},
        {KMTQAITYPE_WDDM_2_7_CAPS, sizeof(UINT)},
        {KMTQAITYPE_WDDM_2_9_CAPS, sizeof(UINT)},
        {KMTQAITYPE_WDDM_3_0_CAPS, sizeof(UINT)},
        {KMTQAITYPE_WDDM_3_1_CAPS, sizeof(UINT)},
        {KMTQAITYPE_DRIVERCAPS_EXT, sizeof(UINT)},
        {KMTQAITYPE_ADAPTERTYPE, sizeof(D3DKMT_ADAPTERTYPE)},
        {KMTQAITYPE_NODEMETADATA, sizeof(D3DKMT_NODEMETADATA)},
        {KMTQAITYPE_QUERY_GPUMMU_CAPS, sizeof(D3DKMT_QUERY_GPUMMU_CAPS)},
        {KMTQAITYPE_VIRTUALADDRESSINFO, sizeof(D3DKMT_VIRTUALADDRESSINFO)},
        {KMTQAITYPE_CROSSADAPTERRESOURCE_SUPPORT, sizeof(D3DKMT_CROSSADAPTERRESOURCE_SUPPORT)},
        {KMTQAITYPE_TRACKEDWORKLOAD_SUPPORT, sizeof(D3DKMT_TRACKEDWORKLOAD_SUPPORT)},
        {KMTQAITYPE_DIRECTFLIP_SUPPORT, sizeof(BOOL)},
    };
    static const uint8_t constant[16384];
    static uint8_t buffer[16384];
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        memset(buffer, 0, sizeof(buffer));
        memset(buffer + sizes[i].bytes, 0x5A, 64);
        SHOW(c, "KMT-056",
             ask(&g, sizes[i].type, buffer, sizes[i].bytes - 1) == STATUS_INVALID_PARAMETER &&
                 all(buffer, sizes[i].bytes, 0));
        SHOW(c, "KMT-056",
             ask(&g, sizes[i].type, buffer, sizes[i].bytes) == STATUS_SUCCESS &&
                 ask(&g, sizes[i].type, buffer, sizes[i].bytes + 64) == STATUS_SUCCESS &&
                 all(buffer + sizes[i].bytes, 64, 0x5A));
        SHOW(c, "KMT-007",
             ask(&g, sizes[i].type, (void *)(uintptr_t)constant, sizeof(constant)) ==
                     STATUS_INVALID_PARAMETER &&
                 ask(&g, sizes[i].type, (void *)(uintptr_t)0x1000, sizeof(constant)) ==
                     STATUS_INVALID_PARAMETER);
    }
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, types_of_a_render_adapter_answer_like_the_others)
{
    static const KMTQUERYADAPTERINFOTYPE pairs[][2] = {
        {KMTQAITYPE_ADAPTERGUID, KMTQAITYPE_ADAPTERGUID_RENDER},
        {KMTQAITYPE_ADAPTERADDRESS, KMTQAITYPE_ADAPTERADDRESS_RENDER},
        {KMTQAITYPE_ADAPTERREGISTRYINFO, KMTQAITYPE_ADAPTERREGISTRYINFO_RENDER},
        {KMTQAITYPE_CHECKDRIVERUPDATESTATUS, KMTQAITYPE_CHECKDRIVERUPDATESTATUS_RENDER},
        {KMTQAITYPE_DRIVERVERSION, KMTQAITYPE_DRIVERVERSION_RENDER},
        {KMTQAITYPE_ADAPTERTYPE, KMTQAITYPE_ADAPTERTYPE_RENDER},
        {KMTQAITYPE_WDDM_1_2_CAPS, KMTQAITYPE_WDDM_1_2_CAPS_RENDER},
        {KMTQAITYPE_WDDM_1_3_CAPS, KMTQAITYPE_WDDM_1_3_CAPS_RENDER},
        {KMTQAITYPE_DRIVER_DESCRIPTION, KMTQAITYPE_DRIVER_DESCRIPTION_RENDER},
    };
    static uint8_t plain[16384], render[16384];
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    for (unsigned i = 0; i < COUNT(pairs); i++) {
        memset(plain, 0xC3, sizeof(plain));
        memset(render, 0xC3, sizeof(render));
        TRY(c, ask(&g, pairs[i][0], plain, sizeof(plain)) == STATUS_SUCCESS);
        SHOW(c, "KMT-085",
             ask(&g, pairs[i][1], render, sizeof(render)) == STATUS_SUCCESS &&
                 memcmp(plain, render, sizeof(plain)) == 0 && !all(plain, sizeof(plain), 0xC3));
    }
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, what_the_host_has_not_is_empty)
{
    D3DKMT_TRACKEDWORKLOAD_SUPPORT tracked = {.EngineType = DXGK_ENGINE_TYPE_COPY};
    D3DKMT_PARAVIRTUALIZATION paravirtualization = {.SecureContainer = 5};
    D3DKMT_BLOCKLIST_INFO blocked;
    LARGE_INTEGER version;
    UINT extended = 7;
    WCHAR description[4096];
    BOOL decode = 7;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-111",
         ask(&g, KMTQAITYPE_DRIVERCAPS_EXT, &extended, sizeof(extended)) == STATUS_SUCCESS &&
             extended == 0);
    SHOW(c, "KMT-111",
         ask(&g, KMTQAITYPE_PARAVIRTUALIZATION_RENDER, &paravirtualization,
             sizeof(paravirtualization)) == STATUS_SUCCESS &&
             paravirtualization.SecureContainer == FALSE);
    for (unsigned type = KMTQAITYPE_BLOCKLIST_KERNEL; type <= KMTQAITYPE_BLOCKLIST_RUNTIME; type++) {
        memset(&blocked, 0x5A, sizeof(blocked));
        SHOW(c, "KMT-111",
             ask(&g, type, &blocked, sizeof(blocked)) == STATUS_SUCCESS && blocked.Size == 0 &&
                 all((const uint8_t *)&blocked, sizeof(blocked), 0));
    }
    tracked.Support = TRUE;
    SHOW(c, "KMT-111",
         ask(&g, KMTQAITYPE_TRACKEDWORKLOAD_SUPPORT, &tracked, sizeof(tracked)) == STATUS_SUCCESS &&
             tracked.Support == FALSE && tracked.EngineType == DXGK_ENGINE_TYPE_COPY);
    tracked.PhysicalAdapterIndex = 1;
    tracked.Support = 9;
    SHOW(c, "KMT-062",
         ask(&g, KMTQAITYPE_TRACKEDWORKLOAD_SUPPORT, &tracked, sizeof(tracked)) ==
                 STATUS_INVALID_PARAMETER &&
             tracked.Support == 9);
    version.QuadPart = 5;
    SHOW(c, "KMT-106",
         ask(&g, KMTQAITYPE_UMD_DRIVER_VERSION, &version, sizeof(version)) == STATUS_SUCCESS &&
             version.QuadPart == 0);
    version.QuadPart = 5;
    SHOW(c, "KMT-106",
         ask(&g, KMTQAITYPE_KMD_DRIVER_VERSION, &version, sizeof(version)) == STATUS_SUCCESS &&
             version.QuadPart == 0);
    memset(description, 0x5A, sizeof(description));
    TRY(c, ask(&g, KMTQAITYPE_DRIVER_DESCRIPTION, description, sizeof(description)) ==
                   STATUS_SUCCESS &&
               description[0] == 0 && description[1] == 0x5A5A);
    SHOW(c, "KMT-060",
         ask(&g, KMTQAITYPE_QUERY_MULTIPLANEOVERLAY_DECODE_SUPPORT, &decode, sizeof(decode)) ==
                 STATUS_SUCCESS &&
             decode == FALSE);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, types_without_a_number_are_unknown)
{
    uint8_t buffer[64];
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-058", ask(&g, 14, buffer, sizeof(buffer)) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-058",
         ask(&g, KMTQAITYPE_WDDM_3_1_CAPS + 1, buffer, sizeof(buffer)) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-058", ask(&g, KMTQAITYPE_WDDM_3_1_CAPS, buffer, sizeof(buffer)) == STATUS_SUCCESS);
    SHOW(c, "KMT-058", ask(&g, 13, buffer, 0) != STATUS_SUCCESS);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, versions_of_user_mode_drivers_have_an_end)
{
    D3DKMT_UMDFILENAMEINFO file;
    D3DKMT_OPENGLINFO opengl;
    struct dxgk_refusal refusal;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    memset(&file, 0, sizeof(file));
    file.Version = KMTUMDVERSION_DX12;
    SHOW(c, "KMT-066",
         ask(&g, KMTQAITYPE_UMDRIVERNAME, &file, sizeof(file)) == STATUS_OBJECT_NAME_NOT_FOUND &&
             dxgk_client_last_refusal(&refusal) && strstr(refusal.reason, "for version 3"));
    file.Version = (KMTUMDVERSION)(KMTUMDVERSION_DX12 + 1);
    TRY(c, ask(&g, KMTQAITYPE_UMDRIVERNAME, &file, sizeof(file)) == STATUS_INVALID_PARAMETER &&
               dxgk_client_last_refusal(&refusal) &&
               strstr(refusal.reason, "version 4 of user-mode driver is unknown"));
    TRY(c, ask(&g, KMTQAITYPE_UMDRIVERNAME, &file, sizeof(file) - 1) == STATUS_INVALID_PARAMETER);
    TRY(c,
        ask(&g, KMTQAITYPE_UMOPENGLINFO, &opengl, sizeof(opengl) - 1) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}
