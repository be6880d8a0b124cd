/* SPDX-License-Identifier: MIT */
#include "vidsch/root_check.h"
#include "bus/mmu.h"
#include "ddi/handle.h"
#include "vidmm/check/root_check.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"

/* From inside the model. Work that the scheduler does not know, since it was cancelled, is passed
 * over. */
static void root_in_use(void *context, unsigned ordinal, uint32_t fence, uint64_t root)
{
    const struct vidsch *vidsch = context;
    const struct vidsch_node *node = ordinal < vidsch->config.nodes ? &vidsch->node[ordinal] : NULL;

    for (uint32_t i = 0; node && i < node->count; i++) {
        const struct packet *packet = node_in_flight(node, i);

        if (packet->fence != fence || !packet->context->device->process->mm)
            continue;
        vidmm_check_root(packet->context->device->process->mm,
                         ddi_handle_number(packet->context->mm.host_handle), ordinal, fence, root);
        return;
    }
}

void vidsch_root_check_begin(struct vidsch *vidsch)
{
    if (vidsch->config.checked)
        bus_device_on_root(vidsch->config.checked, root_in_use, vidsch);
}

void vidsch_root_check_end(struct vidsch *vidsch)
{
    if (vidsch->config.checked)
        bus_device_on_root(vidsch->config.checked, NULL, NULL);
}
