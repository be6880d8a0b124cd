/* SPDX-License-Identifier: MIT */
/* Physical memory objects from their opening to their end, and what drivers leave of them. */
#include "port/support/object_calls.h"

typedef DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT creation;

static const struct probe_options two = {.adapters = 2, .port = {.iommu = IOMMU_ISOLATION}};

#define SYSMM_FATAL 0x1E4u

/* Calls of what destroys, with whatever handles. */
static void destroy(struct probe *p, HANDLE object, HANDLE opened)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {.hPhysicalMemoryObject = object,
                                                     .hAdapterMemoryObject = opened};

    DXGK.DxgkCbDestroyPhysicalMemoryObject(&args);
}

static creation make_unopened(struct probe *p, DXGK_PHYSICAL_MEMORY_TYPE type, SIZE_T bytes)
{
    creation args = ask_object(p, type, bytes);

    args.hAdapter = NULL;
    CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
    return args;
}

/* ---- handles ---- */

TEST_WITH(memory, each_handle_serves_its_own_side, &memory_isolated)
{
    creation args = make_object(p, PAGE);
    HANDLE object = args.hPhysicalMemoryObject, opened = args.hAdapterMemoryObject, again;
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = ask_view(opened, 0, PAGE);
    DXGK_ADL *adl = make_adl(p, opened, PAGE);
    DXGKARGCB_FREE_ADL wrong = {.hAdapterMemoryObject = object, .pAdl = adl};
    size_t before = held(p);

    CHECK_RULE("PHYS-130/a", IS(try_adl(p, object, 0, PAGE, ADL_ANY), STATUS_INVALID_HANDLE) &&
                                 probe_rule(p, "PHYS-130") == 1);
    DXGK.DxgkCbFreeAdl(&wrong);
    CHECK_RULE("PHYS-130/a", probe_rule(p, "PHYS-130") == 2 && held(p) == before);
    close_object(p, object);
    CHECK_RULE("PHYS-130/a", probe_rule(p, "PHYS-130") == 3 && held(p) == before);
    CHECK_RULE("PHYS-130/b", IS(DXGK.DxgkCbMapPhysicalMemory(&view), STATUS_INVALID_HANDLE) &&
                                 view.pMappedAddress == NULL && probe_rule(p, "PHYS-130") == 4);
    CHECK_RULE("PHYS-130/b",
               IS(open_object(p, DXGK.DeviceHandle, opened, &again), STATUS_INVALID_HANDLE) &&
                   again == NULL && probe_rule(p, "PHYS-130") == 5);
    destroy(p, opened, NULL);
    CHECK_RULE("PHYS-130/b", probe_rule(p, "PHYS-130") == 6 && held(p) == before);
    end_view_as(p, opened, NONE, PAGE);
    CHECK_RULE("PHYS-130/b", probe_rule(p, "PHYS-130") == 7);
    free_adl(p, opened, adl);
    destroy_object(p, &args);
    CHECK(probe_rule(p, "PHYS-130") == 7);
}

/* ---- opening ---- */

TEST_WITH(memory, an_object_is_opened_before_its_first_list, &two)
{
    creation args = make_unopened(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, PAGE);
    HANDLE object = args.hPhysicalMemoryObject, h = DXGK.DeviceHandle,
           other = p->state[1].dxgk.DeviceHandle, opened, second;

    CHECK_RULE("PHYS-131/a", IS(try_adl(p, object, 0, PAGE, ADL_ANY), STATUS_INVALID_HANDLE));
    CHECK_RULE("PHYS-131/a", IS(try_adl(p, NULL, 0, PAGE, ADL_ANY), STATUS_INVALID_HANDLE));
    CHECK_RULE("PHYS-131/b", IS(open_object(p, h, object, &opened), STATUS_SUCCESS) &&
                                 opened != NULL && opened != object);
    CHECK_RULE("PHYS-131/b", IS(try_adl(p, opened, 0, PAGE, ADL_ANY), STATUS_SUCCESS));
    CHECK_RULE("PHYS-132/b", IS(open_object(p, h, object, &second), STATUS_ALREADY_REGISTERED) &&
                                 second == NULL && probe_rule(p, "PHYS-132") == 1);
    CHECK_RULE("PHYS-133", IS(open_object(p, other, object, &second), STATUS_NOT_SUPPORTED) &&
                               second == NULL && probe_rule(p, "PHYS-133") == 1);
    CHECK_RULE("PHYS-131/b", IS(try_adl(p, opened, 0, PAGE, ADL_ANY), STATUS_SUCCESS));
    close_object(p, opened);
    CHECK_RULE("PHYS-134/c", IS(open_object(p, h, object, &opened), STATUS_SUCCESS));
    close_object(p, opened);
    CHECK_RULE("PHYS-134/c", IS(open_object(p, other, object, &opened), STATUS_SUCCESS) &&
                                 IS(try_adl(p, opened, 0, PAGE, ADL_ANY), STATUS_SUCCESS));
    close_object(p, opened);
    CHECK_RULE("PHYS-134/a", IS(open_object(p, NULL, object, &opened), STATUS_INVALID_PARAMETER) &&
                                 opened == NULL && probe_rule(p, "PHYS-134") == 1);
    CHECK_RULE("PHYS-134/b",
               IS(open_object(p, A->context, object, &opened), STATUS_INVALID_PARAMETER) &&
                   IS(open_object(p, NONE, object, &opened), STATUS_INVALID_PARAMETER) &&
                   opened == NULL && probe_rule(p, "LIFE-063") == 2);
    destroy(p, object, NULL);
    args = make_object(p, PAGE);
    CHECK_RULE("PHYS-132/a", IS(open_object(p, h, args.hPhysicalMemoryObject, &second),
                                STATUS_ALREADY_REGISTERED) &&
                                 second == NULL && probe_rule(p, "PHYS-132") == 2);
    CHECK_RULE("PHYS-133", IS(open_object(p, other, args.hPhysicalMemoryObject, &second),
                              STATUS_NOT_SUPPORTED));
    destroy_object(p, &args);
}

TEST_WITH(memory, opening_maps_nothing, &memory_isolated)
{
    struct memory_state before = memory_now(p);
    creation made = make_object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 8 * PAGE);
    creation args = make_unopened(p, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 8 * PAGE);
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, args.hPhysicalMemoryObject, 0, PAGE),
                                  seen = make_view(p, made.hPhysicalMemoryObject, 0, PAGE);
    uint64_t page = page_of(view_bytes(&view)), other = page_of(view_bytes(&seen));
    DXGK_ADL *adl;
    HANDLE opened;

    CHECK(
        IS(open_object(p, DXGK.DeviceHandle, args.hPhysicalMemoryObject, &opened), STATUS_SUCCESS));
    CHECK_RULE("PHYS-173/a", memory_now(p).mapped == before.mapped);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_RULE("PHYS-173/a", !device_reaches(p, other + i));
        CHECK_RULE("PHYS-173/b", !device_reaches(p, page + i));
    }
    adl = make_adl_at(p, opened, 2 * PAGE, 2 * PAGE, ADL_REQUIRE);
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("PHYS-173/c", device_reaches(p, page + i) == (i == 2 || i == 3));
    free_adl(p, opened, adl);
    end_view(p, &view);
    end_view(p, &seen);
    destroy(p, args.hPhysicalMemoryObject, opened);
    destroy_object(p, &made);
}

/* ---- closing ---- */

TEST_WITH(memory, closing_leaves_the_memory, &memory_isolated)
{
    struct memory_state before = memory_now(p);
    creation args = make_object(p, PAGE);
    HANDLE opened = args.hAdapterMemoryObject;
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, args.hPhysicalMemoryObject, 0, PAGE), later;

    strcpy(view_bytes(&view), "alive");
    CHECK_RULE("PHYS-136/b", IS(try_adl(p, opened, 0, PAGE, ADL_ANY), STATUS_SUCCESS));
    close_object(p, opened);
    CHECK_RULE("PHYS-136/b", probe_reports(p, VERIFY_WARNING) == 0);
    CHECK_RULE("PHYS-135/a", strcmp(view_bytes(&view), "alive") == 0);
    later = make_view(p, args.hPhysicalMemoryObject, 0, PAGE);
    CHECK_RULE("PHYS-135/a", strcmp(view_bytes(&later), "alive") == 0);
    CHECK_RULE("PHYS-135/b", IS(try_adl(p, opened, 0, PAGE, ADL_ANY), STATUS_INVALID_HANDLE) &&
                                 probe_said(p, "PHYS-130", "retired"));
    destroy(p, args.hPhysicalMemoryObject, opened);
    CHECK_RULE("PHYS-138/b", probe_rule(p, "PHYS-138") == 1 &&
                                 probe_said(p, "PHYS-138", "retired") &&
                                 strcmp(view_bytes(&view), "alive") == 0);
    end_view(p, &view);
    end_view(p, &later);
    destroy(p, args.hPhysicalMemoryObject, NULL);
    CHECK_RULE("PHYS-138/b", memory_same(p, before) && probe_reports(p, VERIFY_WARNING) == 2);
    args = make_object(p, PAGE);
    destroy_object(p, &args);
    CHECK_RULE("PHYS-138/a", memory_same(p, before) && probe_reports(p, VERIFY_WARNING) == 2);
    close_object(p, args.hAdapterMemoryObject);
    CHECK_RULE("PHYS-138/c", probe_reports(p, VERIFY_WARNING) == 3);
}

/* ---- what is the end ---- */

static creation victim;
static DXGK_ADL *victim_list;
static size_t victim_held;

static void prepare_victim(struct probe *p, bool list)
{
    victim = make_object(p, PAGE);
    victim_list = list ? make_adl(p, victim.hAdapterMemoryObject, PAGE) : NULL;
    victim_held = held(p);
}

static void close_over_a_list(struct probe *p)
{
    prepare_victim(p, true);
    close_object(p, victim.hAdapterMemoryObject);
}

static void destroy_under_a_list(struct probe *p)
{
    prepare_victim(p, true);
    destroy_object(p, &victim);
}

/* The list is worse than the opening that is not named. */
static void destroy_both_ways(struct probe *p)
{
    prepare_victim(p, true);
    destroy(p, victim.hPhysicalMemoryObject, NULL);
}

static void destroy_while_open(struct probe *p)
{
    prepare_victim(p, false);
    destroy(p, victim.hPhysicalMemoryObject, NULL);
}

TEST(fatal_ends)
{
    static const struct {
        void (*body)(struct probe *p);
        uint64_t subcode;
        const char *clause, *rule;
    } cases[] = {{close_over_a_list, 7, "PHYS-136/a", "PHYS-136"},
                 {destroy_under_a_list, 5, "PHYS-139", "PHYS-139"},
                 {destroy_both_ways, 5, "PHYS-139", "PHYS-139"},
                 {destroy_while_open, 6, "PHYS-140", "PHYS-140"}};

    for (unsigned i = 0; i < 4; i++) {
        struct probe *p = probe_started(&memory_isolated);
        const struct verify_bugcheck *bugcheck = verify_bugcheck_state(p->log);
        size_t calls;

        CHECK_RULE("PHYS-005/a", probe_run(p, cases[i].body) == SIM_STOPPED);
        CHECK_RULE(cases[i].clause, bugcheck->happened && bugcheck->code == SYSMM_FATAL &&
                                        bugcheck->parameter[0] == cases[i].subcode &&
                                        strcmp(bugcheck->rule, cases[i].rule) == 0);
        CHECK_RULE("PHYS-005/a",
                   probe_record(p, cases[i].rule)->severity == VERIFY_FATAL &&
                       probe_record(p, cases[i].rule)->code == SYSMM_FATAL &&
                       probe_record(p, cases[i].rule)->parameter[0] == cases[i].subcode);
        CHECK_RULE("PHYS-005/b", held(p) == victim_held); /* the call is undone */
        CHECK_RULE(cases[i].clause, held(p) == victim_held);
        calls = p->calls;
        CHECK_RULE("PHYS-005/c", IS(try_object(p, &victim), STATUS_DEVICE_REMOVED) &&
                                     IS(try_adl(p, victim.hAdapterMemoryObject, 0, PAGE, ADL_ANY),
                                        STATUS_DEVICE_REMOVED) &&
                                     p->calls == calls);
        probe_destroy(p);
    }
}

static void break_plainly(struct probe *p)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(0);

    CHECK_RULE("PHYS-005/d", IS(take_block(p, &block), STATUS_INVALID_PARAMETER) &&
                                 probe_record(p, "PHYS-044")->severity == VERIFY_ERROR &&
                                 probe_record(p, "PHYS-044")->code == 0);
    block = ask_block(1);
    CHECK_RULE("PHYS-005/d", IS(try_block(p, &block), STATUS_SUCCESS));
}

TEST(other_breaches_end_nothing)
{
    struct probe *p = probe_started(&memory_isolated);

    CHECK_RULE("PHYS-005/d",
               probe_run(p, break_plainly) == SIM_DONE && !verify_bugcheck_state(p->log)->happened);
    probe_destroy(p);
}

/* ---- destroying ---- */

TEST_WITH(memory, handles_that_do_not_belong_together, &memory_isolated)
{
    creation a = make_object(p, PAGE), b = make_object(p, PAGE);
    size_t before = held(p);

    destroy(p, a.hPhysicalMemoryObject, b.hAdapterMemoryObject);
    CHECK_RULE("PHYS-141", probe_rule(p, "PHYS-141") == 1 && held(p) == before);
    CHECK_RULE("PHYS-141",
               IS(try_adl(p, a.hAdapterMemoryObject, 0, PAGE, ADL_ANY), STATUS_SUCCESS) &&
                   IS(try_adl(p, b.hAdapterMemoryObject, 0, PAGE, ADL_ANY), STATUS_SUCCESS));
    destroy_object(p, &a);
    destroy_object(p, &b);
    CHECK_RULE("PHYS-141", probe_reports(p, VERIFY_WARNING) == 1 && held(p) == before - 4);
}

static DXGKARGCB_MAP_PHYSICAL_MEMORY user_mapping;

static void map_for_client(struct probe *p)
{
    user_mapping = ask_view(victim.hPhysicalMemoryObject, 0, PAGE);
    user_mapping.AccessMode = DXGK_ACCESS_MODE_USER_MODE;
    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&user_mapping), STATUS_SUCCESS));
}

static void client_has_lost_it(struct probe *p)
{
    (void)p;
    CHECK_RULE("PHYS-142/b", !readable(user_mapping.pMappedAddress));
}

TEST_WITH(memory, views_left_at_the_end, &memory_isolated)
{
    struct nt_process *process = probe_process(p, "client");
    struct memory_state before = memory_now(p);
    DXGKARGCB_MAP_PHYSICAL_MEMORY first, second;

    victim = make_object(p, 2 * PAGE);
    first = make_view(p, victim.hPhysicalMemoryObject, 0, PAGE);
    second = make_view(p, victim.hPhysicalMemoryObject, 0, 2 * PAGE);
    probe_run_in(p, process, map_for_client);
    destroy_object(p, &victim);
    CHECK_RULE("PHYS-142/a", probe_rule(p, "PHYS-142") == 3);
    CHECK_RULE("PHYS-142/a", !readable(first.pMappedAddress) && !readable(second.pMappedAddress) &&
                                 !readable((char *)second.pMappedAddress + PAGE));
    probe_run_in(p, process, client_has_lost_it);
    CHECK_RULE("PHYS-142/c", memory_same(p, before));
}

/* ---- without an adapter ---- */

static creation outliving;
static unsigned restarts;

static void open_and_look(struct probe *p)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY view = make_view(p, outliving.hPhysicalMemoryObject, 0, PAGE);
    HANDLE opened;
    DXGK_ADL *adl;

    CHECK_RULE("PHYS-144/a",
               IS(open_object(p, DXGK.DeviceHandle, outliving.hPhysicalMemoryObject, &opened),
                  STATUS_SUCCESS));
    adl = make_adl(p, opened, PAGE);
    CHECK_RULE("PHYS-144/a", restarts == 0 || (device_byte(p, adl->Pages[0], 0) == 'k' &&
                                               *view_bytes(&view) == 'k'));
    set_byte(&view, 0, 'k');
    free_adl(p, opened, adl);
    close_object(p, opened);
    end_view(p, &view);
    restarts++;
}

static void live_through_a_restart(struct probe *p)
{
    restarts = 0;
    outliving = make_unopened(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, PAGE);
    open_and_look(p);
    probe_restart(p);
    open_and_look(p);
    CHECK_RULE("PHYS-144/a",
               restarts == 2 && probe_rule(p, "PHYS-022") == 0 && probe_rule(p, "PHYS-143") == 0);
}

static void destroy_at_unload(struct probe *p, struct probe_call *call)
{
    (void)call;
    destroy(p, outliving.hPhysicalMemoryObject, NULL);
}

TEST(an_object_without_adapter_outlives_it)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = probe_started(&memory_isolated);

        CHECK(probe_run(p, live_through_a_restart) == SIM_DONE);
        p->before[PROBE_Unload] = i == 0 ? destroy_at_unload : NULL;
        (void)probe_stop(p);
        CHECK_RULE("PHYS-144/b",
                   probe_rule(p, "PHYS-144") == i && probe_reports(p, VERIFY_WARNING) == i);
        probe_destroy(p);
    }
}
