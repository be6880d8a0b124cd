/* SPDX-License-Identifier: MIT */
/* Views in user mode that are touched while another process is current: who is stopped, what is told, what services see. */
#include "nt/mm/user_range.h"
#include "nt/ps/process.h"
#include "port/support/user_views.h"
#include "sim/inside.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/sim.h"

#include <dxgk_seh.h>

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
    user_view.reached = true;
    (void)user_view.view[0];
    fail_msg("the read went through");
}

static void write_the_view(struct probe *p)
{
    (void)p;
    user_view.view[0] = 1;
    fail_msg("the write went through");
}

static void read_the_register(struct probe *p)
{
    (void)p;
    (void)READ_REGISTER_ULONG((PULONG)(uintptr_t)user_view.view);
    fail_msg("the register was read");
}

static void drive_from_system(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_make);
    in_driver(p, read_the_view);
}

static void write_from_b(struct probe *p)
{
    in_driver(p, write_the_view);
}

static void drive_from_b(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    user_view.b = probe_process(p, "client B");
    probe_run_in(p, user_view.a, user_view_make);
    probe_run_in(p, user_view.b, write_from_b);
}

static void register_from_system(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_map_registers);
    in_driver(p, read_the_register);
}

TEST(a_driver_is_stopped_in_another_process)
{
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = probe_started(NULL);

        user_view_way = &user_view_ways[i];
        CHECK_RULE(user_view_way->rule, probe_run(p, drive_from_system) == SIM_STOPPED);
        CHECK_RULE("PHYS-195", probe_rule(p, "PHYS-195") == 1 &&
                                   probe_said(p, "PHYS-195", user_view_way->what) &&
                                   probe_said(p, "PHYS-195", " while System is current") &&
                                   probe_said(p, "PHYS-195", "read from a view of ") &&
                                   verify_bugcheck_state(p->log)->code == 0x1E);
        probe_destroy(p);
        p = probe_started(NULL);
        CHECK_RULE(user_view_way->rule, probe_run(p, drive_from_b) == SIM_STOPPED);
        CHECK_RULE("PHYS-195", probe_said(p, "PHYS-195", user_view_way->what) &&
                                   probe_said(p, "PHYS-195", " while client B is current") &&
                                   probe_said(p, "PHYS-195", "wrote to a view of "));
        probe_destroy(p);
    }
}

TEST(registers_of_a_client_are_not_anothers)
{
    struct probe *p = probe_started(NULL);

    CHECK_RULE("LIFE-097/a", probe_run(p, register_from_system) == SIM_STOPPED);
    CHECK_RULE("LIFE-097/a", probe_said(p, "PHYS-195", "a view of BAR 0 of ") &&
                                 probe_said(p, "PHYS-195", " of client A while System is current"));
    probe_destroy(p);
}

/* A handler of the driver may take it, as where a client's pointer leads nowhere. */
static void take_it(struct probe *p)
{
    (void)p;
    user_view.reached = false;
    DXGK_TRY
    {
        (void)user_view.view[0];
        fail_msg("the read went through");
    }
    DXGK_EXCEPT(GetExceptionCode() == STATUS_ACCESS_VIOLATION ? EXCEPTION_EXECUTE_HANDLER
                                                              : EXCEPTION_CONTINUE_SEARCH)
    {
        user_view.reached = true;
    }
    CHECK_RULE("PHYS-195", user_view.reached);
}

static void handle_from_system(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_make);
    in_driver(p, take_it);
    CHECK_RULE("PHYS-195", probe_rule(p, "PHYS-195") == 0);
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
}

TEST(a_handler_may_take_the_fault)
{
    user_view_way = &user_view_ways[0];
    probe_end(probe_started(NULL), handle_from_system);
}

/* So it may the fault at what was a process's view, in that process itself. */
static void handle_in_a_after_unmap(struct probe *p)
{
    in_driver(p, take_it);
}

static void handle_after_unmap(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_make);
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
    probe_run_in(p, user_view.a, handle_in_a_after_unmap);
    CHECK_RULE("PHYS-194", probe_rule(p, "PHYS-194") == 0);
}

TEST(a_handler_may_take_a_late_use)
{
    for (unsigned i = 0; i < 3; i++) {
        user_view_way = &user_view_ways[i];
        probe_end(probe_started(NULL), handle_after_unmap);
    }
}

/* A client ends; the machine and the other clients go on. */
static void clients_touch(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    user_view.b = probe_process(p, "client B");
    probe_run_in(p, user_view.a, user_view_make);
    user_view.reached = false;
    probe_run_in(p, user_view.b, read_the_view);
    CHECK_RULE("PHYS-195", user_view.reached && probe_rule(p, "PHYS-195") == 1 &&
                               probe_said(p, "PHYS-195", "of a client, which ends for it, read") &&
                               probe_said(p, "PHYS-195", user_view_way->what) &&
                               probe_said(p, "PHYS-195", " while client B is current"));
    probe_run_in(p, user_view.a, user_view_look_from_a);
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
}

TEST(a_client_ends_for_it)
{
    user_view_way = &user_view_ways[0];
    probe_end(probe_started(NULL), clients_touch);
}

/* ---- the host on behalf of others ---- */

static void lock_for_a(struct probe *p)
{
    PMDL mdl = IoAllocateMdl((PVOID)(uintptr_t)user_view.view, 4096, FALSE, FALSE, NULL);

    CHECK(mdl);
    MmProbeAndLockPages(mdl, UserMode, IoWriteAccess);
    CHECK_RULE("PHYS-195", mdl->MdlFlags & MDL_PAGES_LOCKED);
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ProbeForWrite((PVOID)(uintptr_t)user_view.view, 4096, 1);
    (void)p;
}

static volatile NTSTATUS raised;

static void lock_from_b(struct probe *p)
{
    PMDL mdl = IoAllocateMdl((PVOID)(uintptr_t)user_view.view, 4096, FALSE, FALSE, NULL);

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
    user_view.a = probe_process(p, "client A");
    user_view.b = probe_process(p, "client B");
    probe_run_in(p, user_view.a, user_view_make);
    probe_run_in(p, user_view.a, lock_for_a);
    probe_run_in(p, user_view.b, lock_from_b);
    CHECK_RULE("PHYS-195", probe_reports(p, VERIFY_ERROR) == 0);
    probe_run_in(p, user_view.a, user_view_unmap_from_a);
}

TEST(services_see_the_same_protection)
{
    user_view_way = &user_view_ways[0];
    probe_end(probe_started(NULL), services);
}

static void free_the_view(struct probe *p)
{
    (void)p;
    ExFreePool((PVOID)(uintptr_t)user_view.view);
    fail_msg("the view was freed");
}

static void free_a_view(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_make);
    in_driver(p, free_the_view);
}

TEST(a_view_is_a_user_address)
{
    struct probe *p = probe_started(NULL);

    user_view_way = &user_view_ways[0];
    CHECK_RULE("NT-023/c", probe_run(p, free_a_view) == SIM_STOPPED &&
                               verify_bugcheck_state(p->log)->code == 0xC2 &&
                               verify_bugcheck_state(p->log)->parameter[0] == 0x40);
    probe_destroy(p);
}

/* ---- the end of a process ---- */

static void process_ends(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    user_view.b = probe_process(p, "client B");
    probe_run_in(p, user_view.a, user_view_make);
    nt_process_destroy(user_view.a); /* before those who made its views heard of it */
    CHECK_RULE("PHYS-195", !user_view_is_there() &&
                               nt_user_range_denies((const void *)(uintptr_t)user_view.view));
    probe_run_in(p, user_view.b, user_view_look_from_b);
    destroy_object(p, &user_view.object);
    CHECK_RULE("PHYS-142/b", probe_rule(p, "PHYS-142") == 1 && !user_view_is_there() &&
                                 !nt_user_range_holds((const void *)(uintptr_t)user_view.view));
}

TEST(a_view_outlives_nobody)
{
    user_view_way = &user_view_ways[0];
    probe_end(probe_started(NULL), process_ends);
}

static void touch_what_is_left(struct probe *p)
{
    user_view.a = probe_process(p, "client A");
    probe_run_in(p, user_view.a, user_view_make);
    nt_process_destroy(user_view.a);
    in_driver(p, read_the_view);
}

TEST(an_ended_process_is_told_as_such)
{
    struct probe *p = probe_started(NULL);

    user_view_way = &user_view_ways[0];
    CHECK_RULE("PHYS-195", probe_run(p, touch_what_is_left) == SIM_STOPPED);
    CHECK_RULE("PHYS-195",
               probe_said(p, "PHYS-195", " of a process that has ended while System is current"));
    probe_destroy(p);
}
