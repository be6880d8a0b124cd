/* SPDX-License-Identifier: MIT */
/* Child devices: when a driver is asked for its children, and what it may say of them. */
#include "port/support/admission.h"

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static void children(struct probe *p, ULONG count)
{
    p->children = count;
    for (ULONG i = 0; i < count; i++) {
        p->child[i].ChildDeviceType = TypeOther;
        p->child[i].ChildUid = 0x100 + i;
        p->child[i].ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
    }
    probe_set_entry(p, PROBE_QueryChildRelations, true);
    probe_set_entry(p, PROBE_QueryChildStatus, true);
    probe_set_entry(p, PROBE_QueryDeviceDescriptor, true);
}

static bool relations_zeroed;

static void look_at_relations(struct probe *p, struct probe_call *call)
{
    relations_zeroed = true;
    for (ULONG i = 0; i < (p->children + 1) * sizeof(DXGK_CHILD_DESCRIPTOR); i++)
        relations_zeroed = relations_zeroed && ((const uint8_t *)(uintptr_t)call->arg[1])[i] == 0;
}

static void write_terminator(struct probe *p, struct probe_call *call)
{
    ((PDXGK_CHILD_DESCRIPTOR)(uintptr_t)call->arg[1])[p->children].ChildUid = 1;
}

static void fail_call(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_NO_MEMORY;
}

static void not_implemented(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_NOT_IMPLEMENTED;
}

static DXGK_CHILD_STATUS asked;

static void note_child(struct probe *p, struct probe_call *call)
{
    (void)p;
    asked = *(const DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1];
}

static void overrun_descriptor(struct probe *p, struct probe_call *call)
{
    const DXGK_DEVICE_DESCRIPTOR *descriptor = (const DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)
                                                   call->arg[2];

    (void)p;
    ((uint8_t *)descriptor->DescriptorBuffer)[descriptor->DescriptorLength] = 1;
}

/* A driver that reports no children has been asked for them, and answers through `after`. */
static struct probe *start_childless(bool compute_only,
                                     void (*after)(struct probe *p, struct probe_call *call),
                                     NTSTATUS *status)
{
    struct probe *p = probe_create(NULL);

    if (compute_only)
        probe_make_compute_only(p);
    probe_set_entry(p, PROBE_QueryChildRelations, true);
    p->after[PROBE_QueryChildRelations] = after;
    *status = probe_start(p);
    return p;
}

TEST(a_driver_with_children_has_the_entries_for_them)
{
    struct probe *p = probe_create(NULL);

    CHECK_RULE("LIFE-074/a",
               NT_SUCCESS(probe_start(p)) && probe_count(p, PROBE_QueryChildRelations) == 0);
    probe_destroy(p);
    REFUSED("LIFE-074/b", "LIFE-074", p->children = 1);
    REFUSED("LIFE-074/b", "LIFE-074", children(p, 1),
            probe_set_entry(p, PROBE_QueryChildRelations, false));
    REFUSED("LIFE-074/b", "LIFE-074", children(p, 1),
            probe_set_entry(p, PROBE_QueryChildStatus, false));
    REFUSED("LIFE-074/b", "LIFE-074", children(p, 1),
            probe_set_entry(p, PROBE_QueryDeviceDescriptor, false));
}

TEST(relations_go_to_a_zeroed_array_with_a_terminator)
{
    struct probe *p = probe_create(NULL);

    children(p, 2);
    p->before[PROBE_QueryChildRelations] = look_at_relations;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-075/a", probe_nth(p, PROBE_QueryChildRelations, 0)->arg[2] ==
                                 3 * sizeof(DXGK_CHILD_DESCRIPTOR));
    CHECK_RULE("LIFE-075/b", relations_zeroed);
    probe_destroy(p);
    REPORTED("LIFE-076", "LIFE-076", VERIFY_WARNING, children(p, 1),
             p->after[PROBE_QueryChildRelations] = write_terminator);
}

TEST(a_driver_without_children_may_have_nothing_to_tell)
{
    struct probe *p;
    NTSTATUS status;

    p = start_childless(false, NULL, &status);
    CHECK_RULE("LIFE-077/a", NT_SUCCESS(status) && probe_count(p, PROBE_QueryChildRelations) == 1 &&
                                 probe_nth(p, PROBE_QueryChildRelations, 0)->arg[2] ==
                                     sizeof(DXGK_CHILD_DESCRIPTOR));
    probe_destroy(p);
    p = start_childless(false, fail_call, &status);
    CHECK_RULE("LIFE-077/d", IS(status, STATUS_NO_MEMORY));
    probe_destroy(p);
    p = start_childless(false, not_implemented, &status);
    CHECK_RULE("LIFE-077/b", NT_SUCCESS(status) && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
    p = start_childless(true, not_implemented, &status);
    CHECK_RULE("LIFE-077/c", NT_SUCCESS(status) && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}

TEST(children_differ_and_are_no_outputs)
{
    struct probe *p = probe_create(NULL);

    children(p, 2);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-079/c", p->adapters == 1); /* TypeOther is fine */
    probe_destroy(p);
    EXPECTED("LIFE-078/a", "LIFE-078", children(p, 2), p->child[1].ChildUid = p->child[0].ChildUid);
    EXPECTED("LIFE-078/b", "LIFE-078", children(p, 1),
             p->child[0].ChildCapabilities.Type.Other.MustBeZero = 1);
    REFUSED("LIFE-079/a", "LIFE-079", children(p, 1), p->child[0].ChildDeviceType = TypeVideoOutput);
    REFUSED("LIFE-079/b", "LIFE-079", children(p, 1),
            p->child[0].ChildDeviceType = TypeIntegratedDisplay);
}

TEST(the_status_of_a_child_is_asked_if_it_can_change)
{
    struct probe *p = probe_create(NULL);

    children(p, 2);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-080/a", probe_count(p, PROBE_QueryChildStatus) == 0);
    probe_destroy(p);
    p = probe_create(NULL);
    children(p, 2);
    p->child[1].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->before[PROBE_QueryChildStatus] = note_child;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-080/b", probe_count(p, PROBE_QueryChildStatus) == 1 &&
                                 probe_nth(p, PROBE_QueryChildStatus, 0)->irql == PASSIVE_LEVEL &&
                                 asked.Type == StatusConnection && asked.ChildUid == 0x101 &&
                                 port_adapter_child_connected(p->adapter[0], 0x101));
    probe_destroy(p);
    p = probe_create(NULL);
    children(p, 2);
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessPolled;
    p->child[1].ChildCapabilities.HpdAwareness = HpdAwarenessNone;
    p->before[PROBE_QueryChildStatus] = note_child;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-080/c", probe_count(p, PROBE_QueryChildStatus) == 1 &&
                                 asked.Type == StatusConnection && asked.ChildUid == 0x100);
    probe_destroy(p);
}

TEST(each_child_is_asked_for_its_descriptor)
{
    struct probe *p = probe_create(NULL);

    children(p, 2);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-081/a",
               probe_count(p, PROBE_QueryDeviceDescriptor) == 2 && probe_rule(p, "LIFE-081") == 0);
    probe_destroy(p);
    REPORTED("LIFE-081/b", "LIFE-081", VERIFY_ERROR, children(p, 1),
             p->before[PROBE_QueryDeviceDescriptor] = overrun_descriptor);
}

/* ---- failures ---- */

static void not_supported(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_NOT_SUPPORTED;
}

TEST(failed_relations_fail_the_start)
{
    struct probe *p;
    NTSTATUS status;

    p = start_childless(false, not_supported, &status);
    CHECK_RULE("LIFE-077/b", NT_SUCCESS(status) && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
    p = probe_create(NULL);
    children(p, 1);
    p->after[PROBE_QueryChildRelations] = not_implemented;
    CHECK(IS(probe_start(p), STATUS_NOT_IMPLEMENTED) && p->adapters == 0);
    probe_destroy(p);
    REFUSED("LIFE-079/a", "LIFE-079", children(p, 3), p->child[0].ChildDeviceType = TypeVideoOutput);
    REFUSED("LIFE-079/a", "LIFE-079", children(p, 3), p->child[2].ChildDeviceType = TypeVideoOutput);
    EXPECTED("LIFE-078/a", "LIFE-078", children(p, 3), p->child[2].ChildUid = p->child[0].ChildUid);
    p = probe_create(NULL);
    children(p, 1);
    p->child[0].ChildDeviceType = TypeUninitialized;
    CHECK(IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) && probe_rule(p, "LIFE-079") == 1);
    probe_destroy(p);
}

/* Plugged in, if it says so and the call succeeds. */
static void say_connected(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->HotPlug.Connected = TRUE;
    if (((DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->ChildUid == 0x101)
        call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

static void statuses_body(struct probe *p)
{
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = 0x100};

    CHECK_RULE("LIFE-080/b", port_adapter_child_connected(p->adapter[0], 0x100));
    CHECK(!port_adapter_child_connected(p->adapter[0], 0x101)); /* nothing is known */
    CHECK(port_adapter_child_connected(p->adapter[0], 0x102));
    CHECK(!port_adapter_child_connected(p->adapter[0], 0x103));
    CHECK(IS(dxgk->DxgkCbIndicateChildStatus(dxgk->DeviceHandle, &status), STATUS_SUCCESS) &&
          !port_adapter_child_connected(p->adapter[0], 0x100));
    status.Type = StatusRotation;
    status.ChildUid = 0x102;
    CHECK(IS(dxgk->DxgkCbIndicateChildStatus(dxgk->DeviceHandle, &status), STATUS_SUCCESS) &&
          port_adapter_child_connected(p->adapter[0], 0x102)); /* about something else */
    status.Type = StatusConnection;
    status.ChildUid = 0x101;
    status.HotPlug.Connected = TRUE;
    CHECK(IS(dxgk->DxgkCbIndicateChildStatus(dxgk->DeviceHandle, &status), STATUS_SUCCESS) &&
          port_adapter_child_connected(p->adapter[0], 0x101) &&
          !port_adapter_child_connected(p->adapter[0], 0x100));
    CHECK(IS(dxgk->DxgkCbIndicateChildStatus(dxgk->DeviceHandle, NULL), STATUS_INVALID_PARAMETER));
}

TEST(statuses_of_children)
{
    struct probe *p = probe_create(NULL);

    children(p, 3);
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->child[1].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->after[PROBE_QueryChildStatus] = say_connected;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, statuses_body);
}
