/* SPDX-License-Identifier: MIT */
#include "vidsch/dxgkrnl_objects.h"
#include "nt/ps/process.h"
#include "vidmm/process.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/node.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"

/* Device.ClientType; what Windows calls its own devices is not known. */
enum client_type { CLIENT_OF_HOST = 0, CLIENT_OF_USER = 1 };

/* Context.Flags */
enum context_flags { CONTEXT_OF_SYSTEM = 1, CONTEXT_OF_PAGING = 2 };

#define NAME_LENGTH 64u /* of a node, at most */

static uint64_t device_handle(const struct vidsch_device *device)
{
    return wintrace_handle(WINTRACE_DEVICE, device->vidsch->ddi->handles.adapter,
                           ddi_handle_number(device->host_handle));
}

void vidsch_tell_device(const struct vidsch_device *device, enum object_event event)
{
    static const enum wintrace_emitted kinds[] = {[OBJECT_BEGINS] = WINTRACE_DEVICE_START,
                                                  [OBJECT_ENDS] = WINTRACE_DEVICE_STOP,
                                                  [OBJECT_LISTED] = WINTRACE_DEVICE_LISTED};

    if (wintrace_on())
        wintrace_emit(kinds[event], (uintptr_t)nt_process_id(vidmm_process_nt(device->process->mm)),
                      vidsch_adapter_handle(device->vidsch),
                      device->system ? CLIENT_OF_HOST : CLIENT_OF_USER, device_handle(device),
                      device->flags.RequestVSync, device->flags.DisableGpuTimeout, 0);
}

static const enum wintrace_emitted context_kinds[] = {[OBJECT_BEGINS] = WINTRACE_CONTEXT_START,
                                                      [OBJECT_ENDS] = WINTRACE_CONTEXT_STOP,
                                                      [OBJECT_LISTED] = WINTRACE_CONTEXT_LISTED};

void vidsch_tell_context(const struct vidsch_context *context, enum object_event event)
{
    const DXGK_CONTEXTINFO *info = &context->info;

    if (wintrace_on())
        wintrace_emit(context_kinds[event], device_handle(context->device), context->node->ordinal,
                      1, info->DmaBufferSize, info->DmaBufferSegmentSet,
                      info->DmaBufferPrivateDataSize, info->AllocationListSize,
                      info->PatchLocationListSize,
                      context->device->system ? CONTEXT_OF_SYSTEM | CONTEXT_OF_PAGING : 0,
                      vidsch_context_handle(context), 0, 0);
}

static void tell_name(const struct vidsch_node *node)
{
    const DXGKARG_GETNODEMETADATA *metadata = &node->info.metadata;
    uint64_t value[4 + NAME_LENGTH] = {vidsch_adapter_handle(node->vidsch), node->ordinal,
                                       (uint64_t)metadata->EngineType};
    size_t length = 0;

    while (length < NAME_LENGTH &&
           length < sizeof(metadata->FriendlyName) / sizeof(metadata->FriendlyName[0]) &&
           metadata->FriendlyName[length]) {
        value[3 + length] = metadata->FriendlyName[length];
        length++;
    }
    wintrace_record(WINTRACE_NODE_METADATA, value, 4 + length);
}

void vidsch_tell_nodes(const struct vidsch *vidsch, enum object_event event)
{
    if (!wintrace_on() || !vidsch->system_device)
        return;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
        const struct vidsch_node *node = &vidsch->node[i];

        if (event != OBJECT_ENDS)
            tell_name(node);
        wintrace_emit(context_kinds[event], device_handle(vidsch->system_device), i, 1, 0, 0, 0, 0,
                      0, CONTEXT_OF_SYSTEM, vidsch_node_context_handle(node), 0, 0);
    }
}

void vidsch_tell_all(const struct vidsch *vidsch)
{
    if (!wintrace_on())
        return;
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        vidsch_tell_device(device, OBJECT_LISTED);
        LIST_FOR(node, &device->contexts)
            vidsch_tell_context(CONTAINER(node, struct vidsch_context, link), OBJECT_LISTED);
    }
    vidsch_tell_nodes(vidsch, OBJECT_LISTED);
}
