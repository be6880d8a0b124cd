/* SPDX-License-Identifier: MIT */
/* Views in user mode through a started adapter: only while their process is current can they be touched. */
#include "port/support/memory_calls.h"

#include <dxgk_seh.h>

#include "nt/user_range.h"

#define VIEW_BYTES (2u * 4096u)

static PHYSICAL_ADDRESS bar(const struct probe *p, unsigned index)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *first =
        A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;

    return first[index].u.Memory.Start;
}

/* ---- the ways to make one ---- */

static struct {
    struct nt_process *a, *b;
    volatile char *view;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object;
    DXGKARGCB_MAP_PHYSICAL_MEMORY mapped;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages;
    bool reached;
} s;

static void map_object(struct probe *p)
{
    s.object = make_object(p, VIEW_BYTES);
    s.mapped = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = s.object.hPhysicalMemoryObject,
        .Size = VIEW_BYTES,
        .AccessMode = DXGK_ACCESS_MODE_USER_MODE};
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&s.mapped), STATUS_SUCCESS));
    s.view = s.mapped.pMappedAddress;
}

static void unmap_object(struct probe *p)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo = {.hPhysicalMemoryObject = s.object.hPhysicalMemoryObject,
                                            .pBaseAddress = s.mapped.pMappedAddress,
                                            .Size = s.mapped.Size};

    DXGK.DxgkCbUnmapPhysicalMemory(&undo);
    destroy_object(p, &s.object);
}

static void map_device(struct probe *p, unsigned index, MEMORY_CACHING_TYPE cache)
{
    PVOID mapped = NULL;

    CHECK(IS(
        DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar(p, index), 4096, FALSE, TRUE, cache, &mapped),
        STATUS_SUCCESS));
    s.view = mapped;
}

static void map_bar_memory(struct probe *p)
{
    map_device(p, 1, MmWriteCombined);
}

static void unmap_device(struct probe *p)
{
    CHECK(IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, (PVOID)(uintptr_t)s.view), STATUS_SUCCESS));
}

static void map_mdl(struct probe *p)
{
    s.pages = make_pages(p, VIEW_BYTES, DXGK_MEMORY_CACHING_TYPE_CACHED);
    s.view = MmMapLockedPagesSpecifyCache(s.pages.pMdl, UserMode, MmCached, NULL, FALSE,
                                          NormalPagePriority);
    CHECK(s.view != NULL);
}

static void unmap_mdl(struct probe *p)
{
    MmUnmapLockedPages((PVOID)(uintptr_t)s.view, s.pages.pMdl);
    CHECK(IS(free_pages(p, s.pages.hMemoryHandle), STATUS_SUCCESS));
}

static const struct way {
    void (*map)(struct probe *p), (*unmap)(struct probe *p);
    const char *rule, *what;
} ways[] = {
    {map_object, unmap_object, "PHYS-149",
     "a view of a physical memory object (MDL, Context 0x0) of client A"},
    {map_bar_memory, unmap_device, "PHYS-031", " at 0x0 of client A"},
    {map_mdl, unmap_mdl, "PHYS-195", "a view of the pages of an MDL of client A"},
};

static const struct way *way;

/* ---- who can touch it ---- */

static bool there(void)
{
    char byte;

    return sim_copy_checked(&byte, (const void *)(uintptr_t)(s.view + 4095), 1);
}

static bool valid(void)
{
    return MmIsAddressValid((PVOID)(uintptr_t)(s.view + 4095));
}

static void make_view(struct probe *p)
{
    way->map(p);
    s.view[4095] = 0x5A;
    CHECK_RULE("PHYS-195", there() && s.view[4095] == 0x5A);
}

static void look_from_a(struct probe *p)
{
    (void)p;
    CHECK_RULE(way->rule, there() && s.view[4095] == 0x5A);
    CHECK_RULE("PHYS-195", valid());
    s.reached = true;
}

static void look_from_b(struct probe *p)
{
    (void)p;
    CHECK_RULE("PHYS-195", !valid());
    CHECK_RULE(way->rule, !there());
    CHECK_RULE("PHYS-195", !there() && nt_user_range_denies((const void *)(uintptr_t)s.view));
    probe_sleep(1000);
    CHECK_RULE("PHYS-195", !there());
    s.reached = true;
}

static void unmap_from_a(struct probe *p)
{
    way->unmap(p);
    CHECK_RULE("PHYS-195", !there() && !nt_user_range_holds((const void *)(uintptr_t)s.view));
}

static void each_way(struct probe *p)
{
    s.a = probe_process(p, "client A");
    s.b = probe_process(p, "client B");
    in_process(p, s.a, make_view);
    CHECK_RULE(way->rule, !there()); /* System */
    CHECK_RULE("PHYS-195", !valid());
    s.reached = false;
    in_process(p, s.a, look_from_a);
    CHECK(s.reached);
    s.reached = false;
    in_process(p, s.b, look_from_b);
    CHECK(s.reached);
    CHECK_RULE("PHYS-195", !there());
    in_process(p, s.a, look_from_a);
    CHECK_RULE(way->rule, !there());
    in_process(p, s.a, unmap_from_a);
    CHECK_RULE("PHYS-195", probe_reports(p, VERIFY_WARNING) == 0);
    nt_process_destroy(s.a);
    nt_process_destroy(s.b);
}

static void a_view_is_its_processs_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        way = &ways[i];
        end(start_with(NULL), each_way);
    }
}

/* ---- in turns ---- */

static unsigned rounds[2];

static void touch_often(struct probe *p)
{
    for (unsigned i = 0; i < 200; i++) {
        CHECK_RULE("PHYS-195", there());
        s.view[i] = (char)i;
        probe_sleep(700 + 13 * i);
        CHECK_RULE("PHYS-195", s.view[i] == (char)i);
        rounds[0]++;
    }
    (void)p;
}

static void fail_often(struct probe *p)
{
    for (unsigned i = 0; i < 200; i++) {
        CHECK_RULE("PHYS-195", !there());
        probe_sleep(500 + 17 * i);
        CHECK_RULE("PHYS-195", !there());
        rounds[1]++;
    }
    (void)p;
}

/* Two processes on two processors, and two threads of one. */
static void all_at_once(struct probe *p)
{
    struct sim_thread *threads[4];

    s.a = probe_process(p, "client A");
    s.b = probe_process(p, "client B");
    memset(rounds, 0, sizeof(rounds));
    in_process(p, s.a, make_view);
    threads[0] = probe_thread(p, s.a, "a1", touch_often);
    threads[1] = probe_thread(p, s.b, "b1", fail_often);
    threads[2] = probe_thread(p, s.a, "a2", touch_often);
    threads[3] = probe_thread(p, s.b, "b2", fail_often);
    for (unsigned i = 0; i < 4; i++) {
        while (!sim_thread_ended(threads[i])) {
            CHECK_RULE("PHYS-195", !there());
            probe_sleep(1777);
        }
        sim_thread_release(threads[i]);
    }
    CHECK_RULE("PHYS-195", rounds[0] == 400 && rounds[1] == 400);
    in_process(p, s.a, unmap_from_a);
}

static void the_protection_follows_the_process(void **state)
{
    (void)state;
    way = &ways[0];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const struct probe_options options = {.seed = seed, .processors = (unsigned)seed};

        end(start_with(&options), all_at_once);
    }
}

/* ---- sections, whose pages move ---- */

static DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT section;

static void map_section(struct probe *p)
{
    s.mapped = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = section.hPhysicalMemoryObject,
        .Size = VIEW_BYTES,
        .AccessMode = DXGK_ACCESS_MODE_USER_MODE};
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&s.mapped), STATUS_SUCCESS));
    s.view = s.mapped.pMappedAddress;
    if (section.Section.PageProtection != PAGE_READONLY)
        s.view[4095] = 0x5A;
}

static void look_at_section(struct probe *p)
{
    char byte = 1;
    ULONG protection = section.Section.PageProtection;

    (void)p;
    CHECK_RULE("PHYS-195", there() && s.view[4095] == (protection == PAGE_READONLY ? 0 : 0x5A));
    CHECK_RULE("PHYS-152", sim_copy_checked((void *)(uintptr_t)s.view, &byte, 1) ==
                               (protection != PAGE_READONLY));
}

static void pages_move(struct probe *p)
{
    static const ULONG protections[] = {PAGE_READWRITE, PAGE_WRITECOPY, PAGE_READONLY};

    s.a = probe_process(p, "client A");
    for (unsigned i = 0; i < 3; i++) {
        DXGK_ADL *adl;

        section = (DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT){
            .hAdapter = DXGK.DeviceHandle,
            .Type = DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
            .Size = VIEW_BYTES,
            .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
        };
        section.Section.PageProtection = protections[i];
        section.Section.AllocationAttributes = SEC_COMMIT;
        CHECK(IS(DXGK.DxgkCbCreatePhysicalMemoryObject(&section), STATUS_SUCCESS));
        in_process(p, s.a, map_section);
        adl = make_adl(p, section.hAdapterMemoryObject, VIEW_BYTES); /* they go in */
        CHECK_RULE("PHYS-195", !there());
        in_process(p, s.a, look_at_section);
        free_adl(p, section.hAdapterMemoryObject, adl); /* and out */
        CHECK_RULE("PHYS-195", !there());
        in_process(p, s.a, look_at_section);
        s.object = section;
        in_process(p, s.a, unmap_object);
    }
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
}

static void moving_pages_open_nothing(void **state)
{
    (void)state;
    end(start_with(NULL), pages_move);
}

/* ---- one object, both modes, several processes ---- */

static DXGKARGCB_MAP_PHYSICAL_MEMORY of[2];

static void map_for(struct probe *p, unsigned which)
{
    of[which] = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = section.hPhysicalMemoryObject,
        .Size = VIEW_BYTES,
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

static void shared_by_all(struct probe *p)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY kernel = {.Size = VIEW_BYTES};
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY undo;
    char *bytes, byte;

    s.a = probe_process(p, "client A");
    s.b = probe_process(p, "client B");
    section = make_object(p, VIEW_BYTES);
    kernel.hPhysicalMemoryObject = section.hPhysicalMemoryObject;
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&kernel), STATUS_SUCCESS));
    bytes = kernel.pMappedAddress;
    bytes[102] = 0x42;
    in_process(p, s.a, map_for_a);
    in_process(p, s.b, map_for_b);
    CHECK_RULE("PHYS-153", bytes[100] == 0x40 && bytes[101] == 0x41);
    CHECK_RULE("PHYS-149", !nt_user_range_holds(bytes) &&
                               nt_user_range_denies(of[0].pMappedAddress) &&
                               nt_user_range_denies(of[1].pMappedAddress));
    in_process(p, s.b, unmap_as_of_b);
    in_process(p, s.a, still_there_for_a);
    in_process(p, s.a, unmap_as_a);
    CHECK_RULE("PHYS-153", bytes[101] == 0x41 && nt_user_range_holds(of[1].pMappedAddress));
    port_process_ended(p->port, s.b);
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

static void an_object_is_shared_by_processes(void **state)
{
    (void)state;
    end(start_with(NULL), shared_by_all);
}

/* ---- ports ---- */

static void map_ports(struct probe *p)
{
    PHYSICAL_ADDRESS port = {.QuadPart = bus_device_port(p->device[0], 4)};
    PVOID mapped = NULL;

    CHECK_RULE(
        "LIFE-097",
        IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, port, 16, TRUE, TRUE, MmNonCached, &mapped),
           STATUS_SUCCESS) &&
            (uintptr_t)mapped == (uintptr_t)port.QuadPart && !nt_user_range_holds(mapped));
    s.view = mapped;
}

static void ports_belong_to_nobody(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, map_ports);
    CHECK_RULE("LIFE-097", READ_PORT_ULONG((PULONG)(uintptr_t)s.view) == PROBE_ID);
    unmap_device(p); /* from System: there is no user mapping */
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
}

static void ports_have_no_user_mapping(void **state)
{
    static const char *const device[] = {"ports=32", NULL};
    const struct probe_options options = {.device = device};

    (void)state;
    end(start_with(&options), ports_belong_to_nobody);
}

/* ---- registers ---- */

static void map_registers(struct probe *p)
{
    map_device(p, 0, MmNonCached);
    CHECK_RULE("LIFE-097", READ_REGISTER_ULONG((PULONG)(uintptr_t)s.view) == PROBE_ID);
}

static void read_registers(struct probe *p)
{
    CHECK_RULE("LIFE-097", READ_REGISTER_ULONG((PULONG)(uintptr_t)s.view) == PROBE_ID);
    unmap_device(p);
}

/* ---- faults ---- */

/* As a call of the client interface does it. */
static void in_driver(struct probe *p, void (*body)(struct probe *p))
{
    struct sim_mark mark;
    uint64_t outer;

    if (SIM_RECOVER(&mark))
        return;
    outer = sim_inside_enter(SIM_FOREVER);
    body(p);
    sim_inside_leave(outer);
    sim_unmark(&mark);
}

static void read_the_view(struct probe *p)
{
    (void)p;
    s.reached = true;
    (void)s.view[0];
    fail_msg("the read went through");
}

static void write_the_view(struct probe *p)
{
    (void)p;
    s.view[0] = 1;
    fail_msg("the write went through");
}

static void read_the_register(struct probe *p)
{
    (void)p;
    (void)READ_REGISTER_ULONG((PULONG)(uintptr_t)s.view);
    fail_msg("the register was read");
}

static void drive_from_system(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, make_view);
    in_driver(p, read_the_view);
}

static void write_from_b(struct probe *p)
{
    in_driver(p, write_the_view);
}

static void drive_from_b(struct probe *p)
{
    s.a = probe_process(p, "client A");
    s.b = probe_process(p, "client B");
    in_process(p, s.a, make_view);
    in_process(p, s.b, write_from_b);
}

static void register_from_system(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, map_registers);
    in_driver(p, read_the_register);
}

static void a_driver_is_stopped_in_another_process(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = start_with(NULL);

        way = &ways[i];
        CHECK_RULE(way->rule, probe_run(p, drive_from_system) == SIM_STOPPED);
        CHECK_RULE("PHYS-195", probe_rule(p, "PHYS-195") == 1 &&
                                   probe_said(p, "PHYS-195", way->what) &&
                                   probe_said(p, "PHYS-195", " while System is current") &&
                                   probe_said(p, "PHYS-195", "read from a view of ") &&
                                   verify_bugcheck_state(p->log)->code == 0x1E);
        probe_destroy(p);
        p = start_with(NULL);
        CHECK_RULE(way->rule, probe_run(p, drive_from_b) == SIM_STOPPED);
        CHECK_RULE("PHYS-195", probe_said(p, "PHYS-195", way->what) &&
                                   probe_said(p, "PHYS-195", " while client B is current") &&
                                   probe_said(p, "PHYS-195", "wrote to a view of "));
        probe_destroy(p);
    }
}

static void registers_of_a_client_are_not_anothers(void **state)
{
    struct probe *p = start_with(NULL);

    (void)state;
    CHECK_RULE("LIFE-097", probe_run(p, register_from_system) == SIM_STOPPED);
    CHECK_RULE("LIFE-097", probe_said(p, "PHYS-195", "a view of BAR 0 of ") &&
                               probe_said(p, "PHYS-195", " of client A while System is current"));
    probe_destroy(p);
}

static void registers_both(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, map_registers);
    in_process(p, s.a, read_registers);
    CHECK_RULE("LIFE-097", probe_reports(p, VERIFY_WARNING) == 0);
}

static void registers_of_a_client_are_its_own(void **state)
{
    (void)state;
    end(start_with(NULL), registers_both);
}

/* A handler of the driver may take it, as where a client's pointer leads nowhere. */
static void take_it(struct probe *p)
{
    (void)p;
    s.reached = false;
    DXGK_TRY
    {
        (void)s.view[0];
        fail_msg("the read went through");
    }
    DXGK_EXCEPT(GetExceptionCode() == STATUS_ACCESS_VIOLATION ? EXCEPTION_EXECUTE_HANDLER
                                                              : EXCEPTION_CONTINUE_SEARCH)
    {
        s.reached = true;
    }
    CHECK_RULE("PHYS-195", s.reached);
}

static void handle_from_system(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, make_view);
    in_driver(p, take_it);
    CHECK_RULE("PHYS-195", probe_rule(p, "PHYS-195") == 0);
    in_process(p, s.a, unmap_from_a);
}

static void a_handler_may_take_the_fault(void **state)
{
    (void)state;
    way = &ways[0];
    end(start_with(NULL), handle_from_system);
}

/* A client ends; the machine and the other clients go on. */
static void clients_touch(struct probe *p)
{
    s.a = probe_process(p, "client A");
    s.b = probe_process(p, "client B");
    in_process(p, s.a, make_view);
    s.reached = false;
    in_process(p, s.b, read_the_view);
    CHECK_RULE("PHYS-195", s.reached && probe_rule(p, "PHYS-195") == 1 &&
                               probe_said(p, "PHYS-195", "of a client, which ends for it, read") &&
                               probe_said(p, "PHYS-195", way->what) &&
                               probe_said(p, "PHYS-195", " while client B is current"));
    in_process(p, s.a, look_from_a);
    in_process(p, s.a, unmap_from_a);
}

static void a_client_ends_for_it(void **state)
{
    (void)state;
    way = &ways[0];
    end(start_with(NULL), clients_touch);
}

/* ---- the host on behalf of others ---- */

static void lock_for_a(struct probe *p)
{
    PMDL mdl = IoAllocateMdl((PVOID)(uintptr_t)s.view, 4096, FALSE, FALSE, NULL);

    CHECK(mdl);
    MmProbeAndLockPages(mdl, UserMode, IoWriteAccess);
    CHECK_RULE("PHYS-195", mdl->MdlFlags & MDL_PAGES_LOCKED);
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ProbeForWrite((PVOID)(uintptr_t)s.view, 4096, 1);
    (void)p;
}

static volatile NTSTATUS raised;

static void lock_from_b(struct probe *p)
{
    PMDL mdl = IoAllocateMdl((PVOID)(uintptr_t)s.view, 4096, FALSE, FALSE, NULL);

    (void)p;
    CHECK(mdl);
    raised = 0;
    DXGK_TRY
    {
        MmProbeAndLockPages(mdl, UserMode, IoReadAccess);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        raised = GetExceptionCode();
    }
    CHECK_RULE("PHYS-195",
               IS(raised, STATUS_ACCESS_VIOLATION) && !(mdl->MdlFlags & MDL_PAGES_LOCKED));
    IoFreeMdl(mdl);
}

static void services(struct probe *p)
{
    s.a = probe_process(p, "client A");
    s.b = probe_process(p, "client B");
    in_process(p, s.a, make_view);
    in_process(p, s.a, lock_for_a);
    in_process(p, s.b, lock_from_b);
    CHECK_RULE("PHYS-195", probe_reports(p, VERIFY_ERROR) == 0);
    in_process(p, s.a, unmap_from_a);
}

static void free_the_view(struct probe *p)
{
    (void)p;
    ExFreePool((PVOID)(uintptr_t)s.view);
    fail_msg("the view was freed");
}

static void free_a_view(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, make_view);
    in_driver(p, free_the_view);
}

static void a_view_is_a_user_address(void **state)
{
    struct probe *p = start_with(NULL);

    (void)state;
    way = &ways[0];
    CHECK_RULE("NT-023", probe_run(p, free_a_view) == SIM_STOPPED &&
                             verify_bugcheck_state(p->log)->code == 0xC2 &&
                             verify_bugcheck_state(p->log)->parameter[0] == 0x40);
    probe_destroy(p);
}

static void services_see_the_same_protection(void **state)
{
    (void)state;
    way = &ways[0];
    end(start_with(NULL), services);
}

/* ---- the end of a process ---- */

static void process_ends(struct probe *p)
{
    s.a = probe_process(p, "client A");
    s.b = probe_process(p, "client B");
    in_process(p, s.a, make_view);
    nt_process_destroy(s.a); /* before those who made its views heard of it */
    CHECK_RULE("PHYS-195", !there() && nt_user_range_denies((const void *)(uintptr_t)s.view));
    in_process(p, s.b, look_from_b);
    destroy_object(p, &s.object);
    CHECK_RULE("PHYS-142", probe_rule(p, "PHYS-142") == 1 && !there() &&
                               !nt_user_range_holds((const void *)(uintptr_t)s.view));
}

static void a_view_outlives_nobody(void **state)
{
    (void)state;
    way = &ways[0];
    end(start_with(NULL), process_ends);
}

static void touch_what_is_left(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, make_view);
    nt_process_destroy(s.a);
    in_driver(p, read_the_view);
}

static void an_ended_process_is_told_as_such(void **state)
{
    struct probe *p = start_with(NULL);

    (void)state;
    way = &ways[0];
    CHECK_RULE("PHYS-195", probe_run(p, touch_what_is_left) == SIM_STOPPED);
    CHECK_RULE("PHYS-195",
               probe_said(p, "PHYS-195", " of a process that has ended while System is current"));
    probe_destroy(p);
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
    idle_was_there |= there();
}

static void wait_for_interrupt(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < 20; i++) {
        s.view[0] = 1;
        probe_device_cause(0, PROBE_CAUSE_TEST, 0);
        probe_sleep(100000);
    }
}

/* An interrupt on a processor that does nothing comes in no client's process, though a client ran there last. */
static void interrupts_come(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, make_view);
    idle_saw = idle_was_there = false;
    p->before[PROBE_InterruptRoutine] = look_while_idle;
    in_process(p, s.a, wait_for_interrupt);
    p->before[PROBE_InterruptRoutine] = NULL;
    CHECK_RULE("PHYS-195", idle_saw && !idle_was_there);
    in_process(p, s.a, unmap_from_a);
}

static void an_idle_processor_is_nobodys(void **state)
{
    const struct probe_options one = {.processors = 1};

    (void)state;
    way = &ways[0];
    end(start_with(&one), interrupts_come);
    end(start_with(NULL), interrupts_come);
}

/* ---- what MDL mappings may become ---- */

static void protect_mapping(struct probe *p)
{
    CHECK_RULE("PHYS-195",
               IS(MmProtectMdlSystemAddress(s.pages.pMdl, PAGE_READONLY), STATUS_NOT_MAPPED_VIEW));
    (void)p;
    s.view[1] = 2;
}

static void protect_for_system(struct probe *p)
{
    s.a = probe_process(p, "client A");
    in_process(p, s.a, make_view);
    in_process(p, s.a, protect_mapping);
    CHECK_RULE("PHYS-195", IS(MmProtectMdlSystemAddress(s.pages.pMdl, PAGE_READWRITE),
                              STATUS_NOT_MAPPED_VIEW) &&
                               !there());
    in_process(p, s.a, unmap_from_a);
}

static void a_user_mapping_is_no_system_address(void **state)
{
    (void)state;
    way = &ways[2];
    end(start_with(NULL), protect_for_system);
}

/* ---- shortage ---- */

static uint64_t request;
static NTSTATUS outcome;

static void map_short_of(struct probe *p)
{
    PVOID mapped = (PVOID)(uintptr_t)0x5A5A;

    p->sim->heap.fail_at = p->sim->heap.requests + request;
    if (way->map == map_object) {
        s.mapped.pMappedAddress = mapped;
        outcome = DXGK.DxgkCbMapPhysicalMemory(&s.mapped);
        mapped = s.mapped.pMappedAddress;
    } else {
        outcome = DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar(p, 1), 4096, FALSE, TRUE,
                                       MmWriteCombined, &mapped);
    }
    p->sim->heap.fail_at = 0;
    s.view = mapped;
    CHECK_RULE("PHYS-018", NT_SUCCESS(outcome) == (mapped != NULL));
}

static void until_it_works(struct probe *p)
{
    s.a = probe_process(p, "client A");
    s.object = make_object(p, VIEW_BYTES);
    s.mapped = (DXGKARGCB_MAP_PHYSICAL_MEMORY){
        .hPhysicalMemoryObject = s.object.hPhysicalMemoryObject,
        .Size = VIEW_BYTES,
        .AccessMode = DXGK_ACCESS_MODE_USER_MODE};
    outcome = STATUS_UNSUCCESSFUL;
    for (request = 1; !NT_SUCCESS(outcome); request++) {
        uint64_t mappings = bus_mappings(p->bus);
        size_t before = held(p);

        in_process(p, s.a, map_short_of);
        CHECK_RULE("PHYS-036",
                   NT_SUCCESS(outcome) || (IS(outcome, STATUS_INSUFFICIENT_RESOURCES) &&
                                           bus_mappings(p->bus) == mappings && held(p) == before));
    }
    CHECK(request > 4);
    in_process(p, s.a, way->unmap);
    if (way->map != map_object)
        destroy_object(p, &s.object);
}

static void a_failing_mapping_is_undone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        way = &ways[i];
        end(start_with(NULL), until_it_works);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_its_processs_own),
        cmocka_unit_test(the_protection_follows_the_process),
        cmocka_unit_test(moving_pages_open_nothing),
        cmocka_unit_test(an_object_is_shared_by_processes),
        cmocka_unit_test(ports_have_no_user_mapping),
        cmocka_unit_test(a_driver_is_stopped_in_another_process),
        cmocka_unit_test(registers_of_a_client_are_not_anothers),
        cmocka_unit_test(registers_of_a_client_are_its_own),
        cmocka_unit_test(a_handler_may_take_the_fault),
        cmocka_unit_test(a_client_ends_for_it),
        cmocka_unit_test(services_see_the_same_protection),
        cmocka_unit_test(a_view_is_a_user_address),
        cmocka_unit_test(a_view_outlives_nobody),
        cmocka_unit_test(an_ended_process_is_told_as_such),
        cmocka_unit_test(an_idle_processor_is_nobodys),
        cmocka_unit_test(a_user_mapping_is_no_system_address),
        cmocka_unit_test(a_failing_mapping_is_undone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
