/* SPDX-License-Identifier: MIT */
/* Devices with I/O ports: how a driver finds, maps and uses them. */
#include "port/support/probe.h"
#include "sim/fault.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define DXGK               p->state[0].dxgk
#define H                  DXGK.DeviceHandle
#define PORTS              32u
#define COMMAND            4u /* of the configuration space */
#define COMMAND_PORTS      1u

static struct probe *start(void)
{
    static const char *const device[] = {"ports=32", NULL};
    const struct probe_options options = {.device = device, .adapters = 2};
    struct probe *p = probe_create(&options);

    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

/* The n-th resource of one type; fails the test if there is none. */
static const CM_PARTIAL_RESOURCE_DESCRIPTOR *resource(const struct probe *p, unsigned adapter,
                                                      UCHAR type)
{
    const CM_PARTIAL_RESOURCE_LIST *list =
        &p->state[adapter].device.TranslatedResourceList->List[0].PartialResourceList;

    for (ULONG i = 0; i < list->Count; i++)
        if (list->PartialDescriptors[i].Type == type)
            return &list->PartialDescriptors[i];
    fail_msg("no resource of type %u", type);
    return NULL;
}

static NTSTATUS map(struct probe *p, LONGLONG at, ULONG length, bool ports, bool user, PVOID *mapped)
{
    *mapped = p;
    return DXGK.DxgkCbMapMemory(H, (PHYSICAL_ADDRESS){.QuadPart = at}, length, ports, user,
                                MmNonCached, mapped);
}

/* ---- the result ---- */

static PVOID mapped;

static void map_for_user(struct probe *p)
{
    CHECK(NT_SUCCESS(map(p, resource(p, 0, CmResourceTypePort)->u.Port.Start.QuadPart, PORTS, true,
                         true, &mapped)));
}

static void result_body(struct probe *p)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *ports = resource(p, 0, CmResourceTypePort);
    struct sim_thread *thread = probe_thread(p, probe_process(p, "client"), "client", map_for_user);
    uint32_t nothing;
    PVOID again;
    PVOID inside;

    while (!sim_thread_ended(thread))
        probe_sleep(1000000);
    sim_thread_release(thread);
    CHECK_RULE("LIFE-089/b", ports->u.Port.Length == PORTS && ports->Flags & CM_RESOURCE_PORT_IO &&
                                 resource(p, 1, CmResourceTypePort)->u.Port.Start.QuadPart !=
                                     ports->u.Port.Start.QuadPart);
    CHECK_RULE("PHYS-033", (LONGLONG)(uintptr_t)mapped == ports->u.Port.Start.QuadPart &&
                               !sim_copy_checked(&nothing, mapped, sizeof(nothing)));
    CHECK_RULE("PHYS-032", READ_PORT_ULONG(mapped) == PROBE_ID);
    CHECK_RULE("LIFE-096/b", READ_PORT_ULONG(mapped) == PROBE_ID);
    CHECK_RULE("PHYS-032", !sim_copy_checked(&nothing, mapped, sizeof(nothing)));

    /* the same ports twice, and a part of them */
    CHECK(NT_SUCCESS(map(p, ports->u.Port.Start.QuadPart, PORTS, true, false, &again)));
    CHECK_RULE("PHYS-033", again == mapped);
    CHECK(NT_SUCCESS(
        map(p, ports->u.Port.Start.QuadPart + PROBE_REG_SCRATCH, 4, true, false, &inside)));
    CHECK_RULE("PHYS-033", (char *)inside == (char *)mapped + PROBE_REG_SCRATCH);
    WRITE_PORT_ULONG(inside, 0x12345678);
    CHECK(READ_PORT_ULONG(inside) == 0x12345678 && READ_PORT_USHORT(inside) == 0x5678);

    /* a user mapping could not be ended from here, the system process */
    CHECK_RULE("PHYS-032", IS(DXGK.DxgkCbUnmapMemory(H, mapped), STATUS_SUCCESS));
    CHECK_RULE("LIFE-097/c", IS(DXGK.DxgkCbUnmapMemory(H, again), STATUS_SUCCESS));
    CHECK(IS(DXGK.DxgkCbUnmapMemory(H, mapped), STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbUnmapMemory(H, inside), STATUS_SUCCESS));
    CHECK(probe_rule(p, "LIFE-100") == 1 && probe_reports(p, VERIFY_ERROR) == 1);
}

/* ---- what is refused ---- */

static bool refused(struct probe *p, LONGLONG at, ULONG length, bool ports)
{
    uint64_t reports = probe_rule(p, "PHYS-027");
    PVOID result;

    return IS(map(p, at, length, ports, false, &result), STATUS_INVALID_PARAMETER) && !result &&
           probe_rule(p, "PHYS-027") == reports + 1;
}

static void refused_body(struct probe *p)
{
    LONGLONG ports = resource(p, 0, CmResourceTypePort)->u.Port.Start.QuadPart;
    LONGLONG others = resource(p, 1, CmResourceTypePort)->u.Port.Start.QuadPart;
    LONGLONG registers = resource(p, 0, CmResourceTypeMemory)->u.Memory.Start.QuadPart;
    PVOID result;

    CHECK_RULE("PHYS-027/a", refused(p, ports, PORTS + 1, true));
    CHECK_RULE("PHYS-027/a", refused(p, ports - 1, 4, true));
    CHECK_RULE("PHYS-027/d", refused(p, others, 4, true));
    CHECK_RULE("PHYS-027/e", refused(p, registers, 4, true));
    CHECK_RULE("PHYS-027/e", refused(p, ports, PORTS, false));
    CHECK_RULE("PHYS-027/c", refused(p, 0, 4, false));
    CHECK(IS(map(p, ports, 0, true, false, &result), STATUS_INVALID_PARAMETER));
    CHECK(probe_rule(p, "PHYS-027") == 6);
}

/* ---- accesses ---- */

static void access_body(struct probe *p)
{
    LONGLONG base = resource(p, 0, CmResourceTypePort)->u.Port.Start.QuadPart;
    UCHAR *scratch;
    ULONG number = 0xCAFE0102;
    USHORT command;
    ULONG moved;
    UCHAR bytes[3] = {1, 2, 3};
    PVOID at;

    CHECK(NT_SUCCESS(map(p, base, PORTS, true, false, &at)));
    scratch = (UCHAR *)at + PROBE_REG_SCRATCH;
    WRITE_PORT_BUFFER_UCHAR(scratch, bytes, 3); /* all to the one port */
    READ_PORT_BUFFER_UCHAR(scratch, bytes, 3);
    CHECK_RULE("NT-139/d", bytes[0] == 3 && bytes[1] == 3 && bytes[2] == 3);
    WRITE_PORT_ULONG((PULONG)(void *)scratch, number);
    CHECK_RULE("NT-139/d", READ_PORT_UCHAR(scratch) == 0x02 &&
                               READ_PORT_USHORT((PUSHORT)(void *)scratch) == 0x0102 &&
                               READ_PORT_ULONG((PULONG)(void *)scratch) == number);
    CHECK_RULE("NT-139/d", READ_PORT_USHORT((PUSHORT)(void *)(scratch + 1)) == 0xFFFF);
    CHECK_RULE("NT-139/c",
               READ_PORT_UCHAR((PUCHAR)(uintptr_t)0x80) == 0xFF && probe_rule(p, "NT-139") == 1);
    WRITE_PORT_UCHAR((PUCHAR)(uintptr_t)0x80, 1);
    CHECK_RULE("NT-139/c", probe_rule(p, "NT-139") == 2);
    /* the last port with a width that does not fit */
    CHECK_RULE("NT-139/c",
               READ_PORT_ULONG((PULONG)(void *)((UCHAR *)at + PORTS - 2)) == UINT32_MAX &&
                   probe_rule(p, "NT-139") == 3);

    /* not decoded */
    CHECK(NT_SUCCESS(DXGK.DxgkCbReadDeviceSpace(H, DXGK_WHICHSPACE_CONFIG, &command, COMMAND,
                                                sizeof(command), &moved)));
    CHECK(command & COMMAND_PORTS);
    command &= (USHORT)~COMMAND_PORTS;
    CHECK(NT_SUCCESS(DXGK.DxgkCbWriteDeviceSpace(H, DXGK_WHICHSPACE_CONFIG, &command, COMMAND,
                                                 sizeof(command), &moved)));
    CHECK(READ_PORT_ULONG((PULONG)(void *)scratch) == UINT32_MAX);
    command |= COMMAND_PORTS;
    CHECK(NT_SUCCESS(DXGK.DxgkCbWriteDeviceSpace(H, DXGK_WHICHSPACE_CONFIG, &command, COMMAND,
                                                 sizeof(command), &moved)));
    CHECK(READ_PORT_ULONG((PULONG)(void *)scratch) == number);
    /* left for the leak check */
}

static void run(void (*body)(struct probe *p), uint64_t leaks)
{
    struct probe *p = start();

    CHECK(probe_run(p, body) == SIM_DONE);
    (void)probe_stop(p);
    CHECK(probe_rule(p, "LIFE-101") == leaks);
    probe_destroy(p);
}

TEST(a_port_is_its_own_address)
{
    run(result_body, 0);
}

TEST(only_granted_ports_are_mapped)
{
    run(refused_body, 0);
}

TEST(accesses_reach_the_device)
{
    run(access_body, 1);
}
