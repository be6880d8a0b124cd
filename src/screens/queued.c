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

/* PRES-288, PRES-289 */
NTSTATUS queued_await_room(struct scanouts *scanouts, const struct vidmm_device *device, UINT limit,
                           bool do_not_wait)
{
    NTSTATUS status = STATUS_SUCCESS;

    scanouts->users++;
    while (!do_not_wait && !scanouts->stop && !sim_current->stopped &&
           scanouts_queued(scanouts, device) >= limit)
        (void)sim_waitq_wait(&scanouts->news, SIM_FOREVER);
    if (scanouts->stop || sim_current->stopped)
        status = STATUS_DEVICE_REMOVED;
    else if (scanouts_queued(scanouts, device) >= MOST_QUEUED)
        status = refuse(STATUS_NO_MEMORY, "PRES-289", "%u presents of the device are queued",
                        MOST_QUEUED);
    queued_leave(scanouts);
    return status;
}
