/* SPDX-License-Identifier: MIT */
/* Mistakes about VidPNs and children, of either driver; and how a run goes. */
#include "port/support/mistaken.h"
#include "port/support/mistaken_parts.h"

#include <string.h>

struct mistaken mistaken;

bool mistaken_is(enum mistake mistake)
{
    return mistaken.run.mistake == mistake;
}

const char *mistaken_refused(void)
{
    return mistaken.refused;
}

/* ---- VidPNs ---- */

static void leak_set(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    (void)v->pfnAcquireSourceModeSet(vidpn, 0, &set, &modes);
}

static void add_again(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    D3DKMDT_VIDPN_SOURCE_MODE *mode;

    if (v->pfnCreateNewSourceModeSet(vidpn, 0, &set, &modes) != STATUS_SUCCESS)
        return;
    for (UINT i = 0; i < 2 && modes->pfnCreateNewModeInfo(set, &mode) == STATUS_SUCCESS; i++) {
        const UINT id = mode->Id;

        *mode = display.source_mode[0];
        mode->Id = id;
        (void)modes->pfnAddMode(set, mode);
    }
    (void)v->pfnAssignSourceModeSet(vidpn, 0, set);
}

static void pin(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    if (v->pfnAcquireSourceModeSet(vidpn, 0, &set, &modes) != STATUS_SUCCESS)
        return;
    if (modes->pfnAcquireFirstModeInfo(set, &mode) == STATUS_SUCCESS) {
        (void)modes->pfnPinMode(set, mode->Id);
        (void)modes->pfnReleaseModeInfo(set, mode);
    }
    (void)v->pfnReleaseSourceModeSet(vidpn, set);
}

static void change_scaling(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    D3DKMDT_VIDPN_PRESENT_PATH local;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    if (v->pfnGetTopology(vidpn, &handle, &topology) != STATUS_SUCCESS ||
        topology->pfnAcquireFirstPathInfo(handle, &path) != STATUS_SUCCESS)
        return;
    local = *path;
    local.ContentTransformation.ScalingSupport.Stretched ^= 1;
    (void)topology->pfnUpdatePathSupportInfo(handle, &local);
    (void)topology->pfnReleasePathInfo(handle, path);
}

static void remove_path(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    if (v->pfnGetTopology(vidpn, &handle, &topology) == STATUS_SUCCESS)
        (void)topology->pfnRemovePath(handle, 0, DISPLAY_CHILD);
}

static void after_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                       const DXGK_VIDPN_INTERFACE *v)
{
    const D3DKMDT_HVIDPN vidpn = args->hConstrainingVidPn;

    (void)p;
    mistaken.kept = vidpn;
    mistaken.table = v;
    if (probe_refused_rule && strstr(probe_refused_call, "AddMode"))
        mistaken.refused = probe_refused_rule;
    if (mistaken_is(MISTAKE_LEAKS_SET))
        leak_set(v, vidpn);
    if (mistaken_is(MISTAKE_MODE_TWICE))
        add_again(v, vidpn);
    if (mistaken_is(MISTAKE_PINS))
        pin(v, vidpn);
    if (mistaken_is(MISTAKE_CHANGES_PIVOT) && args->EnumPivotType == D3DKMDT_EPT_SCALING)
        change_scaling(v, vidpn);
}

static void use_kept(void)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    (void)mistaken.table->pfnGetTopology(mistaken.kept, &handle, &topology);
}

static void (*commit_default)(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                              const DXGK_VIDPN_INTERFACE *vidpn);

static void in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    if (commit_default)
        commit_default(p, args, v);
    if (mistaken_is(MISTAKE_KEEPS_HANDLE))
        use_kept();
    if (mistaken_is(MISTAKE_CHANGES_COMMIT))
        remove_path(v, args->hFunctionalVidPn);
}

static void after_commit(struct probe *p, struct probe_call *call)
{
    const struct display_commit *last = &display_seen.commit[(display_seen.commits - 1) % 64];

    (void)p;
    if (mistaken_is(MISTAKE_COMMIT_FAILS) && last->paths)
        call->result = (uint64_t)STATUS_UNSUCCESSFUL;
    else if (NT_SUCCESS((NTSTATUS)call->result))
        mistaken_committed(last);
}

static void visibility(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEVISIBILITY *args =
        (const DXGKARG_SETVIDPNSOURCEVISIBILITY *)(uintptr_t)call->arg[1];

    (void)p;
    if (mistaken_is(MISTAKE_NOT_VISIBLE) && args->Visible)
        call->result = (uint64_t)STATUS_UNSUCCESSFUL;
    mistaken_visible(args->Visible);
}

/* ---- children ---- */

static probe_hook *status_default;

static void child_status(struct probe *p, struct probe_call *call)
{
    PDXGK_CHILD_STATUS status = (PDXGK_CHILD_STATUS)(uintptr_t)call->arg[1];

    status_default(p, call);
    if (mistaken_is(MISTAKE_OTHER_CHILD))
        status->ChildUid ^= 1;
    if (mistaken_is(MISTAKE_LOST_STATUS))
        call->result = (uint64_t)STATUS_UNSUCCESSFUL;
}

/* ---- a run ---- */

static void prepare(struct probe *p)
{
    status_default = p->after[PROBE_QueryChildStatus];
    p->after[PROBE_QueryChildStatus] = child_status;
    p->after[PROBE_CommitVidPn] = after_commit;
    p->after[PROBE_SetVidPnSourceVisibility] = visibility;
    commit_default = display.in_commit;
    display.in_commit = in_commit;
    display.after_enum = after_enum;
    if (mistaken_is(MISTAKE_WRONG_FORMAT))
        display.source_mode[1].Format.Graphics.PixelFormat = D3DDDIFMT_R5G6B5;
    if (mistaken_is(MISTAKE_EMPTY_SET))
        display.target_modes = 0;
}

struct probe *mistaken_run(const struct mistaken_run *run)
{
    const bool full = run->full || run->mistake >= MISTAKE_FIRST_FULL;
    const struct probe_options options = {
        .seed = run->seed,
        .strict = run->strict,
        .port = {.present_pitch = run->mistake == MISTAKE_IGNORES_PITCH || run->seed % 2 ? 64 : 0}};
    struct probe *p;

    memset(&mistaken, 0, sizeof(mistaken));
    mistaken.run = *run;
    probe_refused_rule = NULL;
    p = full ? mistaken_full_create(&options) : mistaken_frames_create(&options);
    prepare(p);
    if (full)
        mistaken_full_live(p);
    else
        mistaken_frames_live(p);
    return p;
}
