/* SPDX-License-Identifier: MIT */
/* Views in user mode through a started adapter: only while their process is current can they be touched. */
#include "bus/ports.h"
#include "bus/window.h"
#include "nt/base/current.h"
#include "nt/mm/user_range.h"
#include "nt/ps/process.h"
#include "port/support/user_views.h"
#include "sim/fault.h"
#include "sim/thread.h"

static void each_way(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    user_view.b = probe_process(p, "client B");
    probe_run_in(p, user_view.a, user_view_make);
    CHECK_RULE(user_view_way->rule, !user_view_is_there()); /* System */
    CHECK_RULE("PHYS-195", !user_view_is_valid());
    user_view.reached = false;
    probe_run_in(p, user_view.a, user_view_look_from_a);
    CHECK(user_view.reached);
    user_view.reached = false;
    probe_run_in(p, user_view.b, user_view_look_from_b);
    CHECK(user_view.reached);
    CHECK_RULE("PHYS-195", !user_view_is_there());
    probe_run_in(p, user_view.a, user_view_look_from_a);
    CHECK_RULE(user_view_way->rule, !user_view_is_there());
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
    CHECK_RULE("PHYS-195", probe_reports(p, VERIFY_WARNING) == 0);
    nt_process_destroy(user_view.a);
    nt_process_destroy(user_view.b);
}

TEST(a_view_is_its_processs_own)
{
    for (unsigned i = 0; i < 3; i++) {
        user_view_way = &user_view_ways[i];
        probe_end(probe_started(NULL), each_way);
    }
}

/* ---- in turns ---- */

static unsigned rounds[2];

static void touch_often(struct probe *p)
{
    for (unsigned i = 0; i < 200; i++) {
        CHECK_RULE("PHYS-195", user_view_is_there());
        user_view.view[i] = (char)i;
        probe_sleep(700 + 13 * i);
        CHECK_RULE("PHYS-195", user_view.view[i] == (char)i);
        rounds[0]++;
    }
    (void)p;
}

static void fail_often(struct probe *p)
{
    for (unsigned i = 0; i < 200; i++) {
        CHECK_RULE("PHYS-195", !user_view_is_there());
        probe_sleep(500 + 17 * i);
        CHECK_RULE("PHYS-195", !user_view_is_there());
        rounds[1]++;
    }
    (void)p;
}

/* Two processes on two processors, and two threads of one. */
static void all_at_once(struct probe *p)
{
    struct sim_thread *threads[4];

    user_view.a = probe_process(p, "client A");
    user_view.b = probe_process(p, "client B");
    memset(rounds, 0, sizeof(rounds));
    probe_run_in(p, user_view.a, user_view_make);
    threads[0] = probe_thread(p, user_view.a, "a1", touch_often);
    threads[1] = probe_thread(p, user_view.b, "b1", fail_often);
    threads[2] = probe_thread(p, user_view.a, "a2", touch_often);
    threads[3] = probe_thread(p, user_view.b, "b2", fail_often);
    for (unsigned i = 0; i < 4; i++) {
        while (!sim_thread_ended(threads[i])) {
            CHECK_RULE("PHYS-195", !user_view_is_there());
            probe_sleep(1777);
        }
        sim_thread_release(threads[i]);
    }
    CHECK_RULE("PHYS-195", rounds[0] == 400 && rounds[1] == 400);
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
}

TEST(the_protection_follows_the_process)
{
    user_view_way = &user_view_ways[0];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const struct probe_options options = {.seed = seed, .processors = (unsigned)seed};

        probe_end(probe_started(&options), all_at_once);
    }
}

/* ---- sections, whose pages move ---- */

static DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT section;

static void map_section(struct probe *p)
{
    user_view.mapped = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = section.hPhysicalMemoryObject,
        .Size = USER_VIEW_BYTES,
        .AccessMode = DXGK_ACCESS_MODE_USER_MODE};
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&user_view.mapped), STATUS_SUCCESS));
    user_view.view = user_view.mapped.pMappedAddress;
    if (section.Section.PageProtection != PAGE_READONLY)
        user_view.view[4095] = 0x5A;
}

static void look_at_section(struct probe *p)
{
    char byte = 1;
    ULONG protection = section.Section.PageProtection;

    (void)p;
    CHECK_RULE("PHYS-195", user_view_is_there() &&
                               user_view.view[4095] == (protection == PAGE_READONLY ? 0 : 0x5A));
    CHECK_RULE("PHYS-152/ac", sim_copy_checked((void *)(uintptr_t)user_view.view, &byte, 1) ==
                                  (protection != PAGE_READONLY));
}

TEST_WITH(probe, moving_pages_open_nothing)
{
    static const ULONG protections[] = {PAGE_READWRITE, PAGE_WRITECOPY, PAGE_READONLY};

    user_view.a = probe_process(p, "client A");
    for (unsigned i = 0; i < 3; i++) {
        DXGK_ADL *adl;

        section = (DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT){
            .hAdapter = DXGK.DeviceHandle,
            .Type = DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
            .Size = USER_VIEW_BYTES,
            .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
        };
        section.Section.PageProtection = protections[i];
        section.Section.AllocationAttributes = SEC_COMMIT;
        CHECK(IS(DXGK.DxgkCbCreatePhysicalMemoryObject(&section), STATUS_SUCCESS));
        probe_run_in(p, user_view.a, map_section);
        adl = make_adl(p, section.hAdapterMemoryObject, USER_VIEW_BYTES); /* they go in */
        CHECK_RULE("PHYS-195", !user_view_is_there());
        probe_run_in(p, user_view.a, look_at_section);
        free_adl(p, section.hAdapterMemoryObject, adl); /* and out */
        CHECK_RULE("PHYS-195", !user_view_is_there());
        probe_run_in(p, user_view.a, look_at_section);
        user_view.object = section;
        probe_run_in(p, user_view.a, user_view_unmap_object);
    }
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
}

/* ---- one object, both modes, several processes ---- */

static DXGKARGCB_MAP_PHYSICAL_MEMORY of[2];

static void map_for(struct probe *p, unsigned which)
{
    of[which] = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = section.hPhysicalMemoryObject,
        .Size = USER_VIEW_BYTES,
        .AccessMode = DXGK_ACCESS_MODE_USER_MODE};
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&of[which]), STATUS_SUCCESS));
    ((volatile char *)of[which].pMappedAddress)[100 + which] = (char)(0x40 + which);
}

static void map_for_a(struct probe *p)
{
    map_for(p, 0);
}

static void map_for_b(struct probe *p)
{
    const volatile char *bytes;

    map_for(p, 1);
    bytes = of[1].pMappedAddress;
    CHECK_RULE("PHYS-153", bytes[100] == 0x40 && bytes[102] == 0x42 &&
                               of[0].pMappedAddress != of[1].pMappedAddress);
}

static void unmap_of(struct probe *p, unsigned which)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {.hPhysicalMemoryObject = section.hPhysicalMemoryObject,
                                            .pBaseAddress = of[which].pMappedAddress,
                                            .Size = of[which].Size};

    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
}

static void unmap_as_of_b(struct probe *p)
{
    unmap_of(p, 0);
    CHECK_RULE("PHYS-158", probe_rule(p, "PHYS-158") == 1);
}

static void still_there_for_a(struct probe *p)
{
    (void)p;
    CHECK_RULE("PHYS-158", ((const volatile char *)of[0].pMappedAddress)[101] == 0x41);
}

static void unmap_as_a(struct probe *p)
{
    unmap_of(p, 0);
    CHECK_RULE("PHYS-158", probe_rule(p, "PHYS-158") == 1 && probe_rule(p, "PHYS-157") == 0);
}

TEST_WITH(probe, an_object_is_shared_by_processes)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY kernel = {.Size = USER_VIEW_BYTES};
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo;
    char *bytes, byte;

    user_view.a = probe_process(p, "client A");
    user_view.b = probe_process(p, "client B");
    section = make_object(p, USER_VIEW_BYTES);
    kernel.hPhysicalMemoryObject = section.hPhysicalMemoryObject;
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&kernel), STATUS_SUCCESS));
    bytes = kernel.pMappedAddress;
    bytes[102] = 0x42;
    probe_run_in(p, user_view.a, map_for_a);
    probe_run_in(p, user_view.b, map_for_b);
    CHECK_RULE("PHYS-153", bytes[100] == 0x40 && bytes[101] == 0x41);
    CHECK_RULE("PHYS-149/c", !nt_user_range_holds(bytes) &&
                                 nt_user_range_denies(of[0].pMappedAddress) &&
                                 nt_user_range_denies(of[1].pMappedAddress));
    probe_run_in(p, user_view.b, unmap_as_of_b);
    probe_run_in(p, user_view.a, still_there_for_a);
    probe_run_in(p, user_view.a, unmap_as_a);
    CHECK_RULE("PHYS-153", bytes[101] == 0x41 && nt_user_range_holds(of[1].pMappedAddress));
    port_process_ended(p->port, user_view.b);
    CHECK_RULE("PHYS-159", probe_rule(p, "PHYS-159") == 1 && bytes[101] == 0x41 &&
                               !nt_user_range_holds(of[1].pMappedAddress) &&
                               !sim_copy_checked(&byte, of[1].pMappedAddress, 1));
    undo = (DXGKARGCB_UNMAP_PHYSICAL_MEMORY){.hPhysicalMemoryObject = kernel.hPhysicalMemoryObject,
                                             .pBaseAddress = kernel.pMappedAddress,
                                             .Size = kernel.Size};
    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
    destroy_object(p, &section);
    CHECK_RULE("PHYS-153", probe_reports(p, VERIFY_ERROR) == 2); /* PHYS-158, PHYS-159 */
}

/* ---- ports ---- */

static void map_ports(struct probe *p)
{
    PHYSICAL_ADDRESS port = {.QuadPart = bus_device_port(p->device[0], 4)};
    PVOID mapped = NULL;

    CHECK_RULE(
        "LIFE-097/c",
        IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, port, 16, TRUE, TRUE, MmNonCached, &mapped),
           STATUS_SUCCESS) &&
            (uintptr_t)mapped == (uintptr_t)port.QuadPart && !nt_user_range_holds(mapped));
    user_view.view = mapped;
}

static void ports_belong_to_nobody(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, map_ports);
    CHECK_RULE("LIFE-097/c", READ_PORT_ULONG((PULONG)(uintptr_t)user_view.view) == PROBE_ID);
    user_view_unmap_device(p); /* from System: there is no user mapping */
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
}

TEST(ports_have_no_user_mapping)
{
    static const char *const device[] = {"ports=32", NULL};
    const struct probe_options options = {.device = device};

    probe_end(probe_started(&options), ports_belong_to_nobody);
}

/* ---- registers ---- */

static void read_registers(struct probe *p)
{
    CHECK_RULE("LIFE-097/a", READ_REGISTER_ULONG((PULONG)(uintptr_t)user_view.view) == PROBE_ID);
    user_view_unmap_device(p);
}

TEST_WITH(probe, registers_of_a_client_are_its_own)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_map_registers);
    probe_run_in(p, user_view.a, read_registers);
    CHECK_RULE("LIFE-097/a", probe_reports(p, VERIFY_WARNING) == 0);
}

/* ---- processors that idle ---- */

static bool idle_saw, idle_was_there;

static void look_while_idle(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    if (nt_process_current() != nt_process_system())
        return;
    idle_saw = true;
    idle_was_there |= user_view_is_there();
}

static void wait_for_interrupt(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < 20; i++) {
        user_view.view[0] = 1;
        probe_device_cause(0, PROBE_CAUSE_TEST, 0);
        probe_sleep(100000);
    }
}

/* An interrupt on a processor that does nothing comes in no client's process, though a client ran there last. */
static void interrupts_come(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_make);
    idle_saw = idle_was_there = false;
    p->before[PROBE_InterruptRoutine] = look_while_idle;
    probe_run_in(p, user_view.a, wait_for_interrupt);
    p->before[PROBE_InterruptRoutine] = NULL;
    CHECK_RULE("PHYS-195", idle_saw && !idle_was_there);
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
}

TEST(an_idle_processor_is_nobodys)
{
    const struct probe_options one = {.processors = 1};

    user_view_way = &user_view_ways[0];
    probe_end(probe_started(&one), interrupts_come);
    probe_end(probe_started(NULL), interrupts_come);
}

/* ---- what MDL mappings may become ---- */

static void protect_mapping(struct probe *p)
{
    CHECK_RULE("PHYS-195", IS(MmProtectMdlSystemAddress(user_view.pages.pMdl, PAGE_READONLY),
                              STATUS_NOT_MAPPED_VIEW));
    (void)p;
    user_view.view[1] = 2;
}

static void protect_for_system(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_make);
    probe_run_in(p, user_view.a, protect_mapping);
    CHECK_RULE("PHYS-195", IS(MmProtectMdlSystemAddress(user_view.pages.pMdl, PAGE_READWRITE),
                              STATUS_NOT_MAPPED_VIEW) &&
                               !user_view_is_there());
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
}

TEST(a_user_mapping_is_no_system_address)
{
    user_view_way = &user_view_ways[2];
    probe_end(probe_started(NULL), protect_for_system);
}

/* ---- shortage ---- */

static uint64_t request;
static NTSTATUS outcome;

static void map_short_of(struct probe *p)
{
    PVOID mapped = (PVOID)(uintptr_t)0x5A5A;

    p->sim->heap.fail_at = p->sim->heap.requests + request;
    if (user_view_way->map == user_view_map_object) {
        user_view.mapped.pMappedAddress = mapped;
        outcome = DXGK.DxgkCbMapPhysicalMemory(&user_view.mapped);
        mapped = user_view.mapped.pMappedAddress;
    } else {
        outcome = DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, user_view_bar(p, 1), 4096, FALSE, TRUE,
                                       MmWriteCombined, &mapped);
    }
    p->sim->heap.fail_at = 0;
    user_view.view = mapped;
    CHECK_RULE("PHYS-018", NT_SUCCESS(outcome) == (mapped != NULL));
}

static void until_it_works(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    user_view.object = make_object(p, USER_VIEW_BYTES);
    user_view.mapped = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = user_view.object.hPhysicalMemoryObject,
        .Size = USER_VIEW_BYTES,
        .AccessMode = DXGK_ACCESS_MODE_USER_MODE};
    outcome = STATUS_UNSUCCESSFUL;
    for (request = 1; !NT_SUCCESS(outcome); request++) {
        uint64_t mappings = bus_mappings(p->bus);
        size_t before = held(p);

        probe_run_in(p, user_view.a, map_short_of);
        CHECK_RULE("PHYS-036/b",
                   NT_SUCCESS(outcome) || (IS(outcome, STATUS_INSUFFICIENT_RESOURCES) &&
                                           bus_mappings(p->bus) == mappings && held(p) == before));
    }
    CHECK(request > 4);
    probe_run_in(p, user_view.a, user_view_way->unmap);
    if (user_view_way->map != user_view_map_object)
        destroy_object(p, &user_view.object);
}

TEST(a_failing_mapping_is_undone)
{
    for (unsigned i = 0; i < 2; i++) {
        user_view_way = &user_view_ways[i];
        probe_end(probe_started(NULL), until_it_works);
    }
}
