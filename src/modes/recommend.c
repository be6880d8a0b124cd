/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/recommend.h"
#include "ddi/entries_display.h"
#include "modes/apply.h"
#include "modes/choose.h"
#include "modes/enumerate.h"
#include "modes/modes.h"
#include "modes/scope.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "verify/refusal.h"
#include "verify/verify.h"

/* VIDPN-159, VIDPN-160: into a VidPN that is empty. */
static NTSTATUS ask(struct modes *modes, struct vidpn *vidpn, const struct modes_reason *reason)
{
    const uint64_t refused = modes_allocations_refused();
    DXGKARG_RECOMMENDFUNCTIONALVIDPN args;
    const struct modes_hand *hand;
    struct modes_scope scope;
    NTSTATUS status = STATUS_NO_MEMORY;

    modes_scope_begin(&scope, modes, "DxgkDdiRecommendFunctionalVidPn",
                      MODES_PATHS | MODES_SETS | MODES_PIN | MODES_SUPPORT, vidpn);
    hand = modes_hand_out(&scope, HAND_VIDPN, vidpn);
    if (hand) {
        memset(&args, 0, sizeof(args));
        args.hRecommendedFunctionalVidPn = (D3DKMDT_HVIDPN)hand->handle;
        args.RequestReason = reason->reason;
        args.pPrivateDriverData = reason->bytes ? reason->data : NULL;
        args.PrivateDriverDataSize = reason->bytes;
        status = ddi_recommend_functional_vidpn(modes->ddi, &args);
    }
    modes_scope_end(&scope);
    return modes_allocations_refused() == refused ? status : STATUS_NO_MEMORY;
}

static const char *fault_of(const struct modes *modes, const struct vidpn *vidpn)
{
    if (!vidpn->paths)
        return "has no path";
    if (!vidpn_is_functional(vidpn))
        return "has a path without pinned modes";
    for (UINT i = 0; i < vidpn->paths; i++) {
        const struct modes_target *target = modes_target(modes, vidpn->path[i].VidPnTargetId);

        if (!vidpn_scaling_pinned(&vidpn->path[i]) || !vidpn_rotation_pinned(&vidpn->path[i]))
            return "has a path without scaling or rotation";
        if (!target->forced && (!target->monitor || modes_has_left(target)))
            return "has a path to a target without a monitor"; /* VIDPN-207 */
    }
    return NULL;
}

/* VIDPN-114 */
static void check_scaling(const struct vidpn *vidpn)
{
    for (UINT i = 0; i < vidpn->paths; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t = &vidpn->path[i].ContentTransformation;

        if (t->Scaling == D3DKMDT_VPPS_NOTSPECIFIED &&
            (t->ScalingSupport.AspectRatioCenteredMax || t->ScalingSupport.Custom))
            VIOLATION("VIDPN-114",
                      "a path from source %u leaves its scaling unspecified, of a driver that "
                      "reports AspectRatioCenteredMax or Custom",
                      vidpn->path[i].VidPnSourceId);
    }
}

/* VIDPN-163; STATUS_GRAPHICS_INVALID_VIDPN: it was told. */
static NTSTATUS judge(struct modes *modes, struct vidpn *vidpn)
{
    const char *fault = fault_of(modes, vidpn);
    const NTSTATUS status = fault ? STATUS_GRAPHICS_INVALID_VIDPN
                                  : modes_ask_supported(modes, vidpn);

    check_scaling(vidpn);
    if (!NT_SUCCESS(status) && status != STATUS_NO_MEMORY && !modes->ddi->gone)
        VIOLATION("VIDPN-163", "the VidPN that the driver proposes %s",
                  fault ? fault : "is one that it does not support");
    return status;
}

NTSTATUS modes_recommend(struct modes *modes, const struct modes_reason *reason)
{
    struct vidpn *vidpn;
    NTSTATUS status;

    if (!ddi_has(modes->ddi, DxgkDdiRecommendFunctionalVidPn))
        return refuse(STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN, "VIDPN-159",
                      "DxgkDdiRecommendFunctionalVidPn is NULL");
    vidpn = vidpn_create(modes);
    status = vidpn ? ask(modes, vidpn, reason) : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status)) {
        if (status != STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN &&
            status != STATUS_NO_MEMORY && !modes->ddi->gone)
            WARNING("VIDPN-159", "DxgkDdiRecommendFunctionalVidPn returned %s",
                    nt_status_text(status).text);
        vidpn_destroy(vidpn);
        return status;
    }
    status = judge(modes, vidpn);
    if (NT_SUCCESS(status))
        return modes_commit(modes, vidpn, COMMIT_CHANGE);
    vidpn_destroy(vidpn);
    modes->connections.inherits = false; /* what follows is the host's choice (VIDPN-216) */
    return status == STATUS_NO_MEMORY || modes->ddi->gone ? status
                                                          : modes_apply_all(modes, COMMIT_CHANGE);
}

/* ---- topologies ---- */

/* VIDPN-165: into a VidPN without paths; what the host would do is there to be read. */
static NTSTATUS ask_topology(struct modes *modes, struct vidpn *vidpn, struct vidpn *fallback)
{
    const uint64_t refused = modes_allocations_refused();
    const struct modes_hand *hand, *own;
    struct modes_scope scope, read;
    DXGKARG_RECOMMENDVIDPNTOPOLOGY args;
    NTSTATUS status = STATUS_NO_MEMORY;

    modes_scope_begin(&scope, modes, "DxgkDdiRecommendVidPnTopology", MODES_PATHS, vidpn);
    modes_scope_begin(&read, modes, "DxgkDdiRecommendVidPnTopology", 0, fallback);
    hand = modes_hand_out(&scope, HAND_VIDPN, vidpn);
    own = modes_hand_out(&read, HAND_TOPOLOGY, fallback);
    if (hand && own) {
        memset(&args, 0, sizeof(args));
        args.hVidPn = (D3DKMDT_HVIDPN)hand->handle;
        args.VidPnSourceId = D3DDDI_ID_ALL;
        args.RequestReason = DXGK_RVT_INITIALIZATION_NOLKG;
        args.hFallbackTopology = (D3DKMDT_HVIDPNTOPOLOGY)own->handle;
        status = ddi_recommend_vidpn_topology(modes->ddi, &args);
    }
    modes_scope_end(&read);
    modes_scope_end(&scope);
    return modes_allocations_refused() == refused ? status : STATUS_NO_MEMORY;
}

/* NULL: it can be used. */
static const char *topology_fault(const struct modes *modes, const struct vidpn *vidpn)
{
    if (!vidpn->paths)
        return "has no path";
    for (UINT i = 0; i < vidpn->paths; i++)
        if (!modes_can_light(modes_target(modes, vidpn->path[i].VidPnTargetId)))
            return "has a path to a target without a monitor"; /* VIDPN-207 */
    return NULL;
}

static void judge_refusal(const struct modes *modes, NTSTATUS status)
{
    if (modes->ddi->gone || status == STATUS_NO_MEMORY ||
        status == STATUS_GRAPHICS_NO_RECOMMENDED_VIDPN_TOPOLOGY ||
        status == STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN)
        return;
    if (status == STATUS_GRAPHICS_CANCEL_VIDPN_TOPOLOGY_AUGMENTATION)
        VIOLATION("VIDPN-165",
                  "DxgkDdiRecommendVidPnTopology returned %s, and no topology was to be "
                  "augmented",
                  nt_status_text(status).text);
    else
        WARNING("VIDPN-165", "DxgkDdiRecommendVidPnTopology returned %s",
                nt_status_text(status).text);
}

NTSTATUS modes_recommend_topology(struct modes *modes)
{
    struct vidpn *vidpn, *fallback;
    const char *fault;
    NTSTATUS status = STATUS_NO_MEMORY;

    if (!ddi_has(modes->ddi, DxgkDdiRecommendVidPnTopology))
        return STATUS_SUCCESS;
    vidpn = vidpn_create(modes);
    fallback = modes_own_topology(modes);
    if (vidpn && fallback)
        status = ask_topology(modes, vidpn, fallback);
    vidpn_destroy(fallback);
    if (!NT_SUCCESS(status)) {
        judge_refusal(modes, status);
        vidpn_destroy(vidpn);
        return status == STATUS_NO_MEMORY ? status : STATUS_SUCCESS;
    }
    fault = topology_fault(modes, vidpn);
    if (!fault)
        return modes_apply(modes, vidpn, NULL, COMMIT_CHANGE);
    VIOLATION("VIDPN-165", "the topology that the driver proposes %s", fault);
    vidpn_destroy(vidpn);
    return STATUS_SUCCESS;
}
