/* SPDX-License-Identifier: MIT */
/* Presents of planes, until they are queued. */
#include <string.h>

#include "screens/planes_record.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "util/alloc.h"
#include "verify/refusal.h"

static void ready(void *context)
{
    struct plane_flip *f = context;

    f->flip.ready = true;
    (void)sim_waitq_wake(&f->flip.scanout->all->work, 1);
}

/* The private data and the metadata lie behind the record. */
static struct plane_flip *new_flip(struct scanout *s, const struct planes_present *present,
                                   UINT index)
{
    const struct plane_setting *setting = &present->plane[index];
    const UINT metadata = index ? 0 : present->metadata_bytes;
    struct plane_flip *f = util_zalloc(1, sizeof(*f) + setting->private_bytes + metadata);
    uint8_t *behind;

    if (!f)
        return NULL;
    behind = (uint8_t *)(f + 1);
    f->flip = (struct flip){.scanout = s,
                            .device = present->device,
                            .context = present->context,
                            .interval = setting->interval,
                            .duration = present->duration,
                            .wait = {.ready = ready, .context = f}};
    list_init(&f->flip.link);
    f->setting = *setting;
    f->composition = present->composition;
    f->duration = present->duration;
    if (setting->private_bytes)
        memcpy(behind, setting->private_data, setting->private_bytes);
    f->setting.private_data = setting->private_bytes ? behind : NULL;
    if (metadata)
        memcpy(behind + setting->private_bytes, present->metadata, metadata);
    f->metadata = metadata ? behind + setting->private_bytes : NULL;
    f->metadata_type = present->metadata_type;
    f->metadata_bytes = metadata;
    return f;
}

static void discard(struct plane_flip **flip, UINT count)
{
    for (UINT i = 0; i < count; i++) {
        flip_release(&flip[i]->flip.primary);
        util_free(flip[i]);
    }
}

static NTSTATUS make(struct scanout *s, const struct planes_present *present,
                     struct plane_flip **flip)
{
    for (UINT i = 0; i < present->count; i++) {
        const struct plane_setting *setting = &present->plane[i];
        struct shown *primary;

        flip[i] = new_flip(s, present, i);
        if (!flip[i]) {
            discard(flip, i);
            return STATUS_NO_MEMORY;
        }
        primary = &flip[i]->flip.primary;
        if (!setting->enabled)
            continue;
        primary->device = present->device;
        primary->allocation = vidmm_scanout_get(present->device, setting->allocation);
        if (primary->allocation && vidmm_scanout_fits(primary->allocation, present->source))
            continue;
        discard(flip, i + 1);
        return refuse(STATUS_INVALID_PARAMETER, "PRES-303",
                      "handle 0x%x of layer %u is no primary of source %u", setting->allocation,
                      setting->layer, present->source);
    }
    return STATUS_SUCCESS;
}

/* PRES-183 */
static NTSTATUS check_answer(struct scanout *s, const struct planes_present *present)
{
    for (UINT i = 0; i < present->count; i++)
        planes_expect(s, &present->plane[i]);
    if (planes_answered(s))
        return STATUS_SUCCESS;
    planes_expect_again(s);
    return refuse(STATUS_INVALID_PARAMETER, "PRES-183",
                  "the driver was not asked whether source %u can show these planes in this mode, "
                  "or has said no",
                  present->source);
}

static void queue(struct scanout *s, struct plane_flip **flip, UINT count)
{
    const uint64_t call = ++s->planes->calls, order = ++s->orders;

    for (UINT i = 0; i < count; i++) {
        flip[i]->call = call;
        flip[i]->flip.order = order;
        list_push_back(&s->planes->waiting, &flip[i]->flip.link);
    }
    for (UINT i = 0; i < count; i++)
        vidmm_scanout_after(flip[i]->flip.device, &flip[i]->flip.wait); /* PRES-137 */
    (void)sim_waitq_wake(&s->all->work, 1);
}

NTSTATUS planes_present(struct scanouts *scanouts, const struct planes_present *present)
{
    struct scanout *s = &scanouts->source[present->source];
    struct plane_flip *flip[PLANES_MOST];
    NTSTATUS status;

    if (present->restart)
        planes_drop_waiting_of(s, present->device);
    status = queued_await_room(scanouts, present->device, present->limit, present->do_not_wait);
    if (NT_SUCCESS(status) && s->owner != present->device)
        status = refuse(STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER, "PRES-303",
                        "the device has lost source %u during the present", present->source);
    if (NT_SUCCESS(status))
        status = queued_check(s, present->device, present->sch);
    if (NT_SUCCESS(status))
        status = make(s, present, flip);
    if (!NT_SUCCESS(status))
        return status;
    status = check_answer(s, present);
    if (NT_SUCCESS(status))
        queue(s, flip, present->count);
    else
        discard(flip, present->count);
    return status;
}
