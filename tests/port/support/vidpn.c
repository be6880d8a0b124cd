/* SPDX-License-Identifier: MIT */
#include "port/support/vidpn.h"

#define OK(call) CHECK((call) == STATUS_SUCCESS)

static const struct vidpn_case *running;
static unsigned enumerations, commits;

void hands_take(struct hands *h, D3DKMDT_HVIDPN vidpn, const DXGK_VIDPN_INTERFACE *v)
{
    h->vidpn = vidpn;
    h->v = v;
    OK(v->pfnGetTopology(vidpn, &h->topology, &h->t));
    OK(v->pfnAcquireSourceModeSet(vidpn, 0, &h->source, &h->s));
    OK(v->pfnAcquireTargetModeSet(vidpn, DISPLAY_CHILD, &h->target, &h->g));
}

void hands_give_back(struct hands *h)
{
    if (h->source)
        OK(h->v->pfnReleaseSourceModeSet(h->vidpn, h->source));
    if (h->target)
        OK(h->v->pfnReleaseTargetModeSet(h->vidpn, h->target));
}

static void run(struct probe *p, vidpn_body *body, D3DKMDT_HVIDPN vidpn,
                const DXGK_VIDPN_INTERFACE *v)
{
    struct hands h;

    hands_take(&h, vidpn, v);
    body(p, &h);
    hands_give_back(&h);
}

static void in_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                    const DXGK_VIDPN_INTERFACE *v)
{
    if (enumerations++ == 0 && running->in_enum)
        run(p, running->in_enum, args->hConstrainingVidPn, v);
}

static void in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    if (commits++ == 0 && running->in_commit)
        run(p, running->in_commit, args->hFunctionalVidPn, v);
    if (p->user == &commits && running->at_end)
        run(p, running->at_end, args->hFunctionalVidPn, v);
}

void vidpn_run(const struct vidpn_case *c)
{
    const struct probe_options options = {.version = c->version,
                                          .port = {.tell_unpinned = c->tell_unpinned}};
    struct probe *p = display_create(&options);

    running = c;
    enumerations = commits = 0;
    display.before_enum = in_enum;
    display.in_commit = in_commit;
    if (c->prepare)
        c->prepare(p);
    OK(probe_start(p));
    CHECK(enumerations > 0 && commits > 0);
    if (c->after)
        c->after(p);
    p->user = &commits;
    display_end(p);
}

/* ---- sets and modes ---- */

D3DKMDT_HVIDPNSOURCEMODESET vidpn_new_source_set(const struct hands *h, UINT source)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *table;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    OK(h->v->pfnCreateNewSourceModeSet(h->vidpn, source, &set, &table));
    CHECK(table == h->s);
    return set;
}

D3DKMDT_HVIDPNTARGETMODESET vidpn_new_target_set(const struct hands *h, UINT target)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *table;
    D3DKMDT_HVIDPNTARGETMODESET set;

    OK(h->v->pfnCreateNewTargetModeSet(h->vidpn, target, &set, &table));
    CHECK(table == h->g);
    return set;
}

D3DKMDT_VIDPN_SOURCE_MODE *vidpn_source_mode(const struct hands *h, D3DKMDT_HVIDPNSOURCEMODESET set,
                                             UINT width, UINT height)
{
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    UINT id;

    OK(h->s->pfnCreateNewModeInfo(set, &mode));
    id = mode->Id;
    *mode = display_source_mode(width, height);
    mode->Id = id;
    return mode;
}

D3DKMDT_VIDPN_TARGET_MODE *vidpn_target_mode(const struct hands *h, D3DKMDT_HVIDPNTARGETMODESET set,
                                             UINT width, UINT height)
{
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    UINT id;

    OK(h->g->pfnCreateNewModeInfo(set, &mode));
    id = mode->Id;
    *mode = display_target_mode(width, height);
    mode->Id = id;
    return mode;
}

D3DKMDT_HVIDPNSOURCEMODESET vidpn_filled_source_set(const struct hands *h, UINT source, UINT width,
                                                    UINT height)
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, source);

    OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, width, height)));
    return set;
}

NTSTATUS vidpn_try_source(const struct hands *h, const D3DKMDT_VIDPN_SOURCE_MODE *mode)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    D3DKMDT_VIDPN_SOURCE_MODE *fresh;
    NTSTATUS status;
    UINT id;

    OK(h->s->pfnCreateNewModeInfo(set, &fresh));
    id = fresh->Id;
    *fresh = *mode;
    fresh->Id = id;
    status = h->s->pfnAddMode(set, fresh);
    if (status != STATUS_SUCCESS)
        OK(h->s->pfnReleaseModeInfo(set, fresh));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    return status;
}

NTSTATUS vidpn_try_target(const struct hands *h, UINT target, const D3DKMDT_VIDPN_TARGET_MODE *mode)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, target);
    D3DKMDT_VIDPN_TARGET_MODE *fresh;
    NTSTATUS status;
    UINT id;

    OK(h->g->pfnCreateNewModeInfo(set, &fresh));
    id = fresh->Id;
    *fresh = *mode;
    fresh->Id = id;
    status = h->g->pfnAddMode(set, fresh);
    if (status != STATUS_SUCCESS)
        OK(h->g->pfnReleaseModeInfo(set, fresh));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    return status;
}
