/* SPDX-License-Identifier: MIT */
/* Surfaces that a full driver describes beside shared primaries: shadows, staging surfaces, those of GDI. */
#include "port/support/owner.h"
#include "screens/surface.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- the driver ---- */

static struct {
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA args[8];
    union {
        D3DKMDT_SHADOWSURFACEDATA shadow;
        D3DKMDT_STAGINGSURFACEDATA staging;
        D3DKMDT_GDISURFACEDATA gdi;
    } surface[8];
    UINT count, of_type[8], gdi_types;
} seen;
static struct {
    UINT pitch; /* 0: as it should be */
    bool no_pitch, hidden, small;
    NTSTATUS status;
} driver;
static probe_hook *inner;

static UINT *pitch_of(const DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args, UINT *width, UINT *height)
{
    if (args->StandardAllocationType == D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE) {
        *width = args->pCreateShadowSurfaceData->Width;
        *height = args->pCreateShadowSurfaceData->Height;
        seen.surface[seen.count % 8].shadow = *args->pCreateShadowSurfaceData;
        return &args->pCreateShadowSurfaceData->Pitch;
    }
    if (args->StandardAllocationType == D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE) {
        *width = args->pCreateStagingSurfaceData->Width;
        *height = args->pCreateStagingSurfaceData->Height;
        seen.surface[seen.count % 8].staging = *args->pCreateStagingSurfaceData;
        return &args->pCreateStagingSurfaceData->Pitch;
    }
    *width = args->pCreateGdiSurfaceData->Width;
    *height = args->pCreateGdiSurfaceData->Height;
    seen.gdi_types |= 1u << args->pCreateGdiSurfaceData->Type;
    seen.surface[seen.count % 8].gdi = *args->pCreateGdiSurfaceData;
    return &args->pCreateGdiSurfaceData->Pitch;
}

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args =
        (DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *)(uintptr_t)call->arg[1];
    UINT width, height, *pitch;

    seen.of_type[args->StandardAllocationType % 8]++;
    if (args->StandardAllocationType == D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE) {
        inner(p, call);
        return;
    }
    pitch = pitch_of(args, &width, &height);
    seen.args[seen.count++ % 8] = *args;
    call->answered = true;
    call->result = (uint64_t)driver.status;
    if (!args->pAllocationPrivateDriverData) {
        args->AllocationPrivateDriverDataSize = 8;
        return;
    }
    memcpy(args->pAllocationPrivateDriverData,
           &(uint64_t){(uint64_t)(width + 64) * 4 * height - driver.small}, 8);
    if (!driver.no_pitch)
        *pitch = driver.pitch ? driver.pitch : (width + 64) * 4;
}

static void created(struct probe *p, struct probe_call *call)
{
    DXGK_ALLOCATIONINFO *info =
        ((const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1])->pAllocationInfo;

    (void)p;
    if (driver.hidden)
        info->FlagsWddm2.CpuVisible = 0;
}

static struct probe *make(void)
{
    struct probe *p = owner_create(NULL);

    memset(&seen, 0, sizeof(seen));
    memset(&driver, 0, sizeof(driver));
    inner = p->before[PROBE_GetStandardAllocationDriverData];
    p->before[PROBE_GetStandardAllocationDriverData] = describe;
    p->after[PROBE_CreateAllocation] = created;
    return p;
}

static struct surface_answer answer;

static NTSTATUS try(const struct probe *p, D3DKMDT_STANDARDALLOCATION_TYPE type,
                    D3DKMDT_GDISURFACETYPE gdi)
{
    const struct vidmm_standard_surface wanted = {
        .type = type, .gdi = gdi, .width = 640, .height = 480, .format = D3DDDIFMT_A8R8G8B8};

    return surface_try(port_display_scanouts(p->adapter[0]), 0, &wanted, &answer);
}

#define SHADOW  D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE
#define STAGING D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE
#define GDI     D3DKMDT_STANDARDALLOCATION_GDISURFACE

/* ---- what is asked for ---- */

static void asked(struct probe *p)
{
    const size_t destroyed = probe_count(p, PROBE_DestroyAllocation);

    CHECK_RULE("PRES-065", IS(try(p, SHADOW, 0), STATUS_SUCCESS) && seen.count == 2 &&
                               seen.surface[1].shadow.Width == 1024 &&
                               seen.surface[1].shadow.Height == 768 &&
                               seen.surface[1].shadow.Format == full_seen.surface.Format &&
                               seen.surface[1].shadow.Pitch == 0);
    CHECK_RULE("PRES-065", answer.pitch == (1024 + 64) * 4 && answer.bytes == answer.pitch * 768);
    CHECK(probe_count(p, PROBE_DestroyAllocation) == destroyed + 1);
    CHECK_RULE("PRES-066",
               IS(try(p, STAGING, 0), STATUS_SUCCESS) && seen.surface[3].staging.Width == 640 &&
                   seen.surface[3].staging.Height == 480 && answer.pitch == (640 + 64) * 4);
    for (int type = D3DKMDT_GDISURFACE_INVALID; type < 10; type++) {
        const bool used = type >= D3DKMDT_GDISURFACE_TEXTURE &&
                          type <= D3DKMDT_GDISURFACE_EXISTINGSYSMEM;

        CHECK_RULE("PRES-069", IS(try(p, GDI, (D3DKMDT_GDISURFACETYPE)type),
                                  used ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
    }
    CHECK_RULE("PRES-069", seen.gdi_types == 0x3E);
    CHECK_RULE("PRES-056/b",
               IS(try(p, D3DKMDT_STANDARDALLOCATION_VGPU, 0), STATUS_INVALID_PARAMETER) &&
                   seen.of_type[5] == 0);
    CHECK(probe_rule(p, "PRES-067") == 0 && probe_rule(p, "PRES-068") == 0);
}

TEST(surfaces_that_are_asked_for)
{
    struct probe *p = make();

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, asked);
}

/* Flips need none of them. */
static void flips(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(NT_SUCCESS(owner_flip(owner.primary[1])));
    full_engine_await();
    CHECK_RULE("PRES-056/b", seen.of_type[1] == 2 && seen.count == 0);
    owner_end();
}

TEST(flips_need_no_surface)
{
    owner_run(make(), flips);
}

/* ---- what the driver answers ---- */

static void wrong(struct probe *p)
{
    driver.no_pitch = true;
    CHECK_RULE("PRES-067",
               IS(try(p, SHADOW, 0), STATUS_INVALID_PARAMETER) && probe_rule(p, "PRES-067") == 1);
    CHECK_RULE("PRES-067", IS(try(p, GDI, D3DKMDT_GDISURFACE_TEXTURE), STATUS_SUCCESS));
    driver.no_pitch = false;
    driver.pitch = 640 * 4 - 1;
    CHECK_RULE("PRES-067", IS(try(p, STAGING, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-067",
               IS(try(p, GDI, D3DKMDT_GDISURFACE_STAGING_CPUVISIBLE), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-067",
               IS(try(p, GDI, D3DKMDT_GDISURFACE_EXISTINGSYSMEM), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "PRES-067") == 4);
    driver.pitch = 640 * 4;
    CHECK_RULE("PRES-067", IS(try(p, STAGING, 0), STATUS_SUCCESS));
    driver.pitch = 0;
    driver.small = true; /* by one byte */
    CHECK_RULE("PRES-067", IS(try(p, STAGING, 0), STATUS_INVALID_PARAMETER));
    driver.small = false;
    driver.hidden = true;
    CHECK_RULE("PRES-068",
               IS(try(p, SHADOW, 0), STATUS_INVALID_PARAMETER) && probe_rule(p, "PRES-068") == 1);
    CHECK_RULE("PRES-068", IS(try(p, STAGING, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-068",
               IS(try(p, GDI, D3DKMDT_GDISURFACE_EXISTINGSYSMEM), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-068",
               IS(try(p, GDI, D3DKMDT_GDISURFACE_STAGING_CPUVISIBLE), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-068", IS(try(p, GDI, D3DKMDT_GDISURFACE_STAGING), STATUS_SUCCESS) &&
                               probe_rule(p, "PRES-068") == 4);
}

TEST(surfaces_that_are_wrong)
{
    struct probe *p = make();

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, wrong);
}

static void not_there(struct probe *p)
{
    const size_t reports = probe_reports(p, VERIFY_WARNING);

    owner_begin(p);
    driver.status = STATUS_NOT_IMPLEMENTED;
    CHECK_RULE("PRES-070", IS(try(p, GDI, D3DKMDT_GDISURFACE_TEXTURE), STATUS_NOT_IMPLEMENTED));
    driver.status = STATUS_NOT_SUPPORTED;
    CHECK_RULE("PRES-070", IS(try(p, GDI, D3DKMDT_GDISURFACE_TEXTURE), STATUS_NOT_SUPPORTED) &&
                               probe_reports(p, VERIFY_WARNING) == reports);
    driver.status = STATUS_NO_MEMORY;
    CHECK_RULE("PRES-071/b", IS(try(p, STAGING, 0), STATUS_NO_MEMORY));
    owner_show(owner.primary[0]);
    CHECK_RULE("PRES-070", IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    CHECK_RULE("PRES-071/b", IS(owner_flip(owner.primary[2]), STATUS_SUCCESS));
    owner_end();
}

TEST(surfaces_that_the_driver_does_not_have)
{
    owner_run(make(), not_there);
}

/* ---- a display-only driver ---- */

static void display_only(struct probe *p)
{
    CHECK_RULE("PRES-056/a", probe_count(p, PROBE_GetStandardAllocationDriverData) == 0 &&
                                 probe_count(p, PROBE_CommitVidPn) == 1);
}

TEST(a_display_only_driver_is_asked_for_none)
{
    display_run(NULL, display_only);
}
