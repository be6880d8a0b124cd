/* SPDX-License-Identifier: MIT */
/* Surfaces that a full driver describes to the host, made to see that it can. */
#include "screens/surface.h"
#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/run.h"
#include "host/task.h"
#include "port/running/display.h"
#include "util/array.h"
#include "util/explain.h"
#include "verify/refusal.h"

struct request {
    struct dxgk_machine *machine;
    unsigned adapter, source;
    struct vidmm_standard_surface wanted;
    struct surface_answer answer;
    NTSTATUS status;
    char reason[400];
};

static void try(void *arg)
{
    struct request *request = arg;
    const struct port_adapter *port = host_display_adapter(request->machine, request->adapter);
    struct scanouts *scanouts = port ? port_display_scanouts(port) : NULL;
    struct refusal refusal;
    const char *reason;

    refusal_begin(&refusal);
    refusal.call = "a surface for the host";
    request->status = scanouts ? surface_try(scanouts, request->source, &request->wanted,
                                             &request->answer)
                               : STATUS_NOT_SUPPORTED;
    reason = refusal_reason(request->status);
    util_explain(request->reason, sizeof(request->reason), "%s",
                 reason      ? reason
                 : !scanouts ? "the adapter has no full driver that shows something"
                             : "the driver does not make it as it must be");
    refusal_drop(&refusal);
}

static struct vidmm_standard_surface wanted(const struct dxgk_surface *surface)
{
    static const D3DKMDT_GDISURFACETYPE types[] = {
        [DXGK_SURFACE_GDI_TEXTURE] = D3DKMDT_GDISURFACE_TEXTURE,
        [DXGK_SURFACE_GDI_STAGING_CPU_VISIBLE] = D3DKMDT_GDISURFACE_STAGING_CPUVISIBLE,
        [DXGK_SURFACE_GDI_STAGING] = D3DKMDT_GDISURFACE_STAGING,
        [DXGK_SURFACE_GDI_LOOKUP_TABLE] = D3DKMDT_GDISURFACE_LOOKUPTABLE,
        [DXGK_SURFACE_GDI_EXISTING_SYSTEM_MEMORY] = D3DKMDT_GDISURFACE_EXISTINGSYSMEM};
    struct vidmm_standard_surface result = {.type = D3DKMDT_STANDARDALLOCATION_GDISURFACE,
                                            .width = surface->width,
                                            .height = surface->height,
                                            .format = D3DDDIFMT_A8R8G8B8};

    if (surface->kind == DXGK_SURFACE_SHADOW)
        result.type = D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE;
    else if (surface->kind == DXGK_SURFACE_STAGING)
        result.type = D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE;
    else if ((unsigned)surface->kind < ARRAY_COUNT(types))
        result.gdi = types[surface->kind];
    return result;
}

DXGK_API enum dxgk_result dxgk_client_try_surface(unsigned adapter, unsigned source,
                                                  struct dxgk_surface *surface, char *error,
                                                  size_t error_bytes)
{
    struct request request = {.machine = host_run_client_machine(),
                              .adapter = adapter,
                              .source = source,
                              .wanted = wanted(surface)};
    enum dxgk_result result;

    if (!host_display_modes(request.machine, adapter, source, error, error_bytes))
        return DXGK_ERROR;
    result = host_task_run("surface", try, &request);
    surface->pitch = request.answer.pitch;
    surface->bytes = request.answer.bytes;
    return host_display_result(result, request.status, "no such surface", request.reason, error,
                               error_bytes);
}
