/* SPDX-License-Identifier: MIT */
/*
 * Devices, contexts and nodes as events of Microsoft-Windows-DxgKrnl: when they begin and end, and
 * all that there are, for who begins or ends to record. Nothing happens unless the machine records
 * them.
 */
#ifndef DXGK_VIDSCH_DXGKRNL_OBJECTS_H
#define DXGK_VIDSCH_DXGKRNL_OBJECTS_H

struct vidsch;
struct vidsch_context;
struct vidsch_device;

/* Which of the three events of a device or context. */
enum object_event { OBJECT_BEGINS, OBJECT_ENDS, OBJECT_LISTED };

void vidsch_tell_device(const struct vidsch_device *device, enum object_event event);
void vidsch_tell_context(const struct vidsch_context *context, enum object_event event);
/* What the adapter's nodes are called, and the contexts of their preemption requests. */
void vidsch_tell_nodes(const struct vidsch *vidsch, enum object_event event);
/* All of them. */
void vidsch_tell_all(const struct vidsch *vidsch);

#endif
