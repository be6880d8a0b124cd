/* SPDX-License-Identifier: MIT */
#include "modes/support/scope_rig.h"
#include "modes/vidpn.h"

#define OK(call) CHECK((call) == STATUS_SUCCESS)

static const struct scope_case *running;

void scope_begin(struct scope_rig *rig, struct probe *p, struct modes *modes)
{
    const DXGK_VIDPN_INTERFACE *v;
    const struct modes_hand *hand;

    rig->p = p;
    rig->modes = modes;
    rig->vidpn = vidpn_create(modes);
    CHECK(rig->vidpn);
    modes_scope_begin(&rig->scope, modes, "DxgkDdiRecommendFunctionalVidPn",
                      MODES_PATHS | MODES_SETS | MODES_PIN | MODES_SUPPORT, rig->vidpn);
    hand = modes_hand_out(&rig->scope, HAND_VIDPN, rig->vidpn);
    CHECK(hand);
    v = display_interface(p, (D3DKMDT_HVIDPN)hand->handle);
    CHECK(v);
    hands_take(&rig->hands, (D3DKMDT_HVIDPN)hand->handle, v);
}

void scope_end(struct scope_rig *rig)
{
    hands_give_back(&rig->hands);
    modes_scope_end(&rig->scope);
    vidpn_destroy(rig->vidpn);
}

static struct modes *make_modes(const struct probe *p)
{
    struct modes_target targets[RIG_TARGETS] = {{0}};
    const struct modes described = {.ddi = display_modes(p)->ddi,
                                    .version = running->version ? running->version
                                                                : display_modes(p)->version,
                                    .display_only = !running->full,
                                    .sources = RIG_SOURCES,
                                    .targets = RIG_TARGETS};
    struct modes *modes;

    for (UINT i = 0; i < RIG_TARGETS; i++)
        targets[i].id = DISPLAY_CHILD + i;
    modes = modes_create(&described, targets);
    CHECK(modes);
    return modes;
}

static void run(struct probe *p)
{
    struct scope_rig rig;

    scope_begin(&rig, p, make_modes(p));
    running->body(&rig, &rig.hands);
    scope_end(&rig);
    if (running->after)
        running->after(&rig);
    modes_destroy(rig.modes);
}

void scope_run(const struct scope_case *c)
{
    running = c;
    display_run(NULL, run);
}

D3DKMDT_VIDPN_PRESENT_PATH *scope_path(const struct hands *h, UINT source, UINT target)
{
    D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    *path = vidpn_new_path(source, target, 0);
    return path;
}

NTSTATUS scope_add(const struct hands *h, UINT source, UINT target)
{
    D3DKMDT_VIDPN_PRESENT_PATH *path = scope_path(h, source, target);
    NTSTATUS status = h->t->pfnAddPath(h->topology, path);

    if (status != STATUS_SUCCESS)
        OK(h->t->pfnReleasePathInfo(h->topology, path));
    return status;
}

SIZE_T scope_paths(const struct hands *h)
{
    SIZE_T n = 77777;

    OK(h->t->pfnGetNumPaths(h->topology, &n));
    return n;
}
