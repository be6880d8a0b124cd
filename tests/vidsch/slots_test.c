/* SPDX-License-Identifier: MIT */
/* Patch-location lists of WDDM 1.x: the checks of slots and split points, and bindings over a split point. */
#include "vidsch/device_wait.h"
#include "vidsch/support/scene.h"

#include <string.h>

/* ---- the checks of the list ---- */

/* Reports of one rule of exactly this severity. */
static bool told(const struct fixture *f, const char *rule, uint64_t times,
                 enum verify_severity severity)
{
    uint64_t found = 0;

    for (size_t i = 0; i < verify_records(f->log); i++) {
        const struct verify_record *record = verify_record_at(f->log, i);

        if (strcmp(record->rule, rule) == 0 && record->severity == severity)
            found += record->count;
    }
    return found == times && violations(f, rule) == times;
}

/* What is not known to be refused is told, and goes. */
TEST_WITH(fixture, slots_and_split_points_are_checked, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 3, 1, 0, 0);
    CHECK(scene_render(&s, 64, 1) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-104", violations(f, "PATCH-104") == 0);
    scene_element(&s, 0, 4, 1, 0, 0);
    CHECK_RULE("PATCH-104", scene_render(&s, 64, 1) == STATUS_SUCCESS &&
                                told(f, "PATCH-104", 1, VERIFY_WARNING));
    scene_element(&s, 0, 0, 0, 64, 999);
    CHECK_RULE("PATCH-112",
               scene_render(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-112") == 0);
    CHECK_RULE("PATCH-110", violations(f, "PATCH-110") == 0);
    scene_element(&s, 0, 0, 0, 65, 0);
    CHECK_RULE("PATCH-112",
               scene_render(&s, 64, 1) == STATUS_SUCCESS && told(f, "PATCH-112", 1, VERIFY_ERROR));
    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 1, 2, 0, 4);
    scene_element(&s, 2, 0, 3, 32, 32);
    scene_element(&s, 3, 1, 4, 32, 36);
    CHECK_RULE("PATCH-113",
               scene_render(&s, 64, 4) == STATUS_SUCCESS && violations(f, "PATCH-114") == 0);
    scene_element(&s, 3, 1, 4, 31, 36);
    CHECK_RULE("PATCH-114",
               scene_render(&s, 64, 4) == STATUS_SUCCESS && told(f, "PATCH-114", 1, VERIFY_ERROR));
    idle(s.client.device);
    CHECK_RULE("PATCH-104", calls_of(f, CALL_SUBMIT) == 6);
    scene_end(f, &s);
}

/* A split point that goes back, or lies behind the end, is one that can be served. */
TEST_WITH(fixture, odd_split_points_are_set_right, SCENE_V13, .max_slot = 3, .split = true)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 2, 32, 36);
    scene_element(&s, 2, 1, 3, 16, 40);
    scene_element(&s, 3, 0, 0, 99, 0);
    scene_element(&s, 4, 1, 0, 48, 0);
    CHECK(scene_render(&s, 64, 5) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-114", calls_of(f, CALL_SUBMIT) == 2 && scene_window_is(f, 0, 0, 32) &&
                                scene_elements_are(f, 0, 0, 1));
    CHECK_RULE("PATCH-112", scene_window_is(f, 1, 32, 64) && scene_elements_are(f, 1, 1, 4));
    scene_end(f, &s);
}

TEST_WITH(fixture, a_driver_without_slots_has_slot_0, SCENE_V13)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 0, 1, 0, 0);
    CHECK(scene_render(&s, 64, 1) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-104", violations(f, "PATCH-104") == 0);
    scene_element(&s, 0, 1, 1, 0, 0);
    CHECK_RULE("PATCH-104", scene_render(&s, 64, 1) == STATUS_SUCCESS &&
                                told(f, "PATCH-104", 1, VERIFY_WARNING));
    idle(s.client.device);
    CHECK_RULE("PATCH-104", calls_of(f, CALL_SUBMIT) == 2);
    scene_end(f, &s);
}

TEST_WITH(fixture, odd_elements_are_told_and_go, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 0, 1, 32, 32);
    scene_element(&s, 1, 1, 0, 48, 0);
    CHECK(scene_render(&s, 64, 2) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-115", violations(f, "PATCH-115") == 0);
    scene_element(&s, 0, 0, 1, 32, 31);
    CHECK_RULE("PATCH-115",
               scene_render(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-115") == 1);
    scene_element(&s, 0, 2, 1, 0, 0);
    scene_element(&s, 1, 2, 1, 0, 4);
    scene_element(&s, 2, 2, 0, 0, 0);
    scene_element(&s, 3, 2, 2, 32, 32);
    CHECK(scene_render(&s, 64, 4) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-118", violations(f, "PATCH-118") == 0);
    scene_element(&s, 2, 2, 2, 0, 8);
    scene_element(&s, 3, 2, 3, 32, 32);
    CHECK_RULE("PATCH-118",
               scene_render(&s, 64, 4) == STATUS_SUCCESS && told(f, "PATCH-118", 1, VERIFY_NOTE));
    scene_element(&s, 0, 0, 1, 0, 0);
    s.client.lists.patches[0].AllocationOffset = 65536;
    CHECK(scene_render(&s, 64, 1) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-108", violations(f, "PATCH-108") == 0);
    s.client.lists.patches[0].AllocationOffset = 65537;
    CHECK_RULE("PATCH-108",
               scene_render(&s, 64, 1) == STATUS_SUCCESS && violations(f, "PATCH-108") == 1);
    idle(s.client.device);
    CHECK_RULE("PATCH-115", calls_of(f, CALL_SUBMIT) == 6);
    scene_end(f, &s);
}

TEST_WITH(fixture, later_drivers_are_not_looked_at)
{
    struct scene s = scene_make(f);

    for (UINT i = 0; i < SCENE_MANY; i++)
        s.open[i]->listed = true;
    scene_element(&s, 0, 9, 1, 99, 0);
    scene_element(&s, 1, 9, 2, 0, 4);
    f->mm.room = 1;
    CHECK_RULE("PATCH-130", scene_render(&s, 64, 2) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-130", violations(f, "PATCH-104") + violations(f, "PATCH-112") +
                                    violations(f, "PATCH-114") + violations(f, "PATCH-115") ==
                                0);
    CHECK_RULE("PATCH-128", calls_of(f, CALL_SUBMIT) == 1 && f->mm.portions == 0);
    scene_end(f, &s);
}

/* ---- bindings over a split point ---- */

TEST_WITH(fixture, a_binding_that_leaks_is_refused, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    vidsch_device_drain(s.client.device, NULL);
    CHECK_RULE("PATCH-133", calls_of(f, CALL_SUBMIT) == 1 && scene_window_is(f, 0, 0, 32));
    CHECK_RULE("PATCH-134", calls_of(f, CALL_PATCH) == 1);
    CHECK_RULE("PATCH-135",
               violations(f, "PATCH-135") == 1 &&
                   vidsch_device_state(s.client.device) != D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK_RULE("PATCH-135", verify_record_at(f->log, 0)->code == 0x10E &&
                                verify_record_at(f->log, 0)->parameter[0] == 0x27 &&
                                verify_record_at(f->log, 0)->parameter[1] == 1 &&
                                verify_record_at(f->log, 0)->parameter[2] == s.open[0]->handle &&
                                verify_record_at(f->log, 0)->parameter[3] == 32);
    scene_end(f, &s);
}

TEST_WITH(fixture, windows_8, .version = DXGKDDI_INTERFACE_VERSION_WIN8, .max_slot = 3)
{
    a_binding_that_leaks_is_refused(f);
}

TEST_WITH(fixture, a_slot_that_is_emptied_does_not_leak, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 1, 1, 0, 0);
    scene_element(&s, 1, 2, 2, 0, 4);
    scene_element(&s, 2, 1, 0, 32, 0);
    scene_element(&s, 3, 2, 3, 32, 32);
    f->mm.room = 2;
    CHECK(scene_render(&s, 64, 4) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-117", violations(f, "PATCH-135") == 0 && scene_window_is(f, 1, 32, 64));
    CHECK_RULE("PATCH-133", scene_elements_are(f, 1, 2, 2));
    scene_end(f, &s);
}

/* The drivers of Windows 7: the binding stays, and so does the allocation. */
TEST_WITH(fixture, a_binding_may_stay, SCENE_V13, .max_slot = 3, .no_dma_patching = true)
{
    struct scene s = scene_make(f);

    f->driver.engine[0].hang = true;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-136", calls_of(f, CALL_SUBMIT) == 2 && violations(f, "PATCH-135") == 0);
    CHECK_RULE("PATCH-122", f->mm.kept == 1 && f->mm.last_kept == s.open[0]->handle);
    driver_run(f, 0);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", f->mm.kept == 0);
    scene_element(&s, 3, 1, 1, 32, 36); /* bound anew: it may move */
    f->driver.engine[0].hang = true;
    f->mm.room = 2;
    CHECK(scene_render(&s, 64, 4) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-123", calls_of(f, CALL_SUBMIT) == 4 && f->mm.kept == 0);
    driver_run(f, 0);
    scene_end(f, &s);
}

/* Neither drivers of before WDDM 1.2 nor those that do not take preemption have to bind anew. */
static void older_drivers_may_leave_bindings(struct fixture *f)
{
    struct scene s = scene_make(f);

    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-133", calls_of(f, CALL_SUBMIT) == 2 && violations(f, "PATCH-135") == 0);
    scene_end(f, &s);
}

TEST_WITH(fixture, windows_7, .version = DXGKDDI_INTERFACE_VERSION_WIN7, .max_slot = 3)
{
    older_drivers_may_leave_bindings(f);
}

TEST_WITH(fixture, without_preemption, SCENE_V13, .max_slot = 3, .no_preemption = true)
{
    older_drivers_may_leave_bindings(f);
}
