/* SPDX-License-Identifier: MIT */
/* How many presents a device may have queued, flips and copies of all sources (PRES-288,
 * PRES-289). */
#include "screens/planes_record.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

#define MOST_QUEUED 64u /* of one device (PRES-289) */

UINT scanouts_queued(const struct scanouts *scanouts, const struct vidmm_device *device)
{
    UINT count = 0;

    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        const struct scanout *s = &scanouts->source[i];

        count += s->moving && s->moving->device == device;
        for (UINT k = 0; k < s->handed_count; k++)
            count += s->handed[k]->device == device;
        LIST_FOR(node, &s->waiting)
            count += CONTAINER(node, struct flip, link)->device == device;
        LIST_FOR(node, &s->copies) {
            const struct copy *copy = CONTAINER(node, struct copy, link);

            count += copy->device == device && !copy->flips;
        }
        count += planes_queued_of(s, device);
    }
    return count;
}

void queued_leave(struct scanouts *scanouts)
{
    if (--scanouts->users == 0 && scanouts->stop)
        (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
}

NTSTATUS queued_check(const struct scanout *s, const struct vidmm_device *device,
                      const struct vidsch_device *sch)
{
    const NTSTATUS status = vidsch_device_check(sch, true);

    if (!NT_SUCCESS(status))
        return status;
    if (s->owner == device && s->owner_type == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE)
        return STATUS_SUCCESS;
    return refuse(STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER, "PRES-281",
                  "the device has lost source %u during the present", s->source);
}

NTSTATUS scanouts_gone(const struct scanouts *scanouts)
{
    return scanouts->removed
               ? refuse(STATUS_DEVICE_REMOVED, "PRES-054", "the device was removed meanwhile")
               : STATUS_DEVICE_REMOVED;
}

/* A thread that waits for room; on its stack. */
struct queued_wait {
    struct list link; /* scanouts->waits */
    const struct vidmm_device *device;
    bool over; /* the device ends */
};

void scanouts_end_waits(struct scanouts *scanouts, const struct vidmm_device *device)
{
    LIST_FOR(node, &scanouts->waits) {
        struct queued_wait *wait = CONTAINER(node, struct queued_wait, link);

        wait->over |= wait->device == device;
    }
    (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
}

/* PRES-288, PRES-289, PRES-310 */
NTSTATUS queued_await_room(struct scanouts *scanouts, const struct vidmm_device *device, UINT limit,
                           bool do_not_wait)
{
    struct queued_wait wait = {.device = device};
    NTSTATUS status = STATUS_SUCCESS;

    scanouts->users++;
    list_push_back(&scanouts->waits, &wait.link);
    while (!do_not_wait && !wait.over && !scanouts_ends(scanouts) &&
           scanouts_queued(scanouts, device) >= limit)
        (void)sim_waitq_wait(&scanouts->news, SIM_FOREVER);
    list_remove(&wait.link);
    if (wait.over)
        status = refuse(STATUS_DEVICE_REMOVED, "PRES-310",
                        "the device was destroyed while the present waited for room");
    else if (scanouts_ends(scanouts))
        status = scanouts_gone(scanouts);
    else if (scanouts_queued(scanouts, device) >= MOST_QUEUED)
        status = refuse(STATUS_NO_MEMORY, "PRES-289", "%u presents of the device are queued",
                        MOST_QUEUED);
    queued_leave(scanouts);
    return status;
}
