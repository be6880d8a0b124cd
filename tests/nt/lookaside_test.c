/* SPDX-License-Identifier: MIT */
/* Lookaside lists: what they are initialised with, and what is left of them. */
#include "nt/io/image_life.h"
#include "support/harness.h"

static unsigned allocated, freed;
static SIZE_T wanted_bytes;
static ULONG wanted_tag;
static PLOOKASIDE_LIST_EX told_list;

static PVOID NTAPI my_allocate(POOL_TYPE type, SIZE_T bytes, ULONG tag)
{
    allocated++;
    wanted_bytes = bytes;
    wanted_tag = tag;
    return ExAllocatePoolWithTag(type, bytes, tag);
}

static VOID NTAPI free_ex(PVOID buffer, PLOOKASIDE_LIST_EX list)
{
    told_list = list;
    freed++;
    ExFreePool(buffer);
}

static PVOID NTAPI allocate_ex(POOL_TYPE type, SIZE_T bytes, ULONG tag, PLOOKASIDE_LIST_EX list)
{
    told_list = list;
    return my_allocate(type, bytes, tag);
}

static NPAGED_LOOKASIDE_LIST nonpaged;
static PAGED_LOOKASIDE_LIST paged;

static void init_nonpaged(void)
{
    ExInitializeNPagedLookasideList(&nonpaged, my_allocate, NULL, 0, 48, TAG, 0);
}

/* Refused, or put right, with one violation of the rule. */
static bool one_broken(const char *rule)
{
    bool one = errors() == 1 && broken(rule);

    forget_reports();
    return one;
}

TEST_WITH(driver, arguments_of_lookaside_lists)
{
    NPAGED_LOOKASIDE_LIST *list = ExAllocatePoolWithTag(NonPagedPoolNx, 1024, TAG);
    void *entry;

    in_dpc(init_nonpaged);
    CHECK_RULE("NT-028/d", errors() == 0);
    entry = ExAllocateFromNPagedLookasideList(&nonpaged);
    CHECK_RULE("NT-028/b", allocated == 1 && wanted_bytes == 48 && wanted_tag == TAG);
    ExFreeToNPagedLookasideList(&nonpaged, entry);
    ExDeleteNPagedLookasideList(&nonpaged);
    in_interrupt(init_nonpaged);
    CHECK_RULE("NT-028/d", one_broken("NT-028"));
    ExDeleteNPagedLookasideList(&nonpaged);

    ExInitializeNPagedLookasideList(list, NULL, NULL, 0x800, 48, TAG, 0);
    CHECK_RULE("NT-028/c", one_broken("NT-028"));
    ExDeleteNPagedLookasideList(list);
    ExInitializeNPagedLookasideList(
        list, NULL, NULL, POOL_NX_ALLOCATION | POOL_RAISE_IF_ALLOCATION_FAILURE, 48, TAG, 0);
    CHECK_RULE("NT-028/c", errors() == 0);
    ExDeleteNPagedLookasideList(list);
    ExInitializeNPagedLookasideList(list, NULL, NULL, 0, 48, TAG, 1);
    CHECK_RULE("NT-028/c", one_broken("NT-028"));
    ExDeleteNPagedLookasideList(list);
    ExInitializeNPagedLookasideList((PNPAGED_LOOKASIDE_LIST)(void *)((uint8_t *)list + 8), NULL,
                                    NULL, 0, 48, TAG, 0);
    CHECK_RULE("NT-028/e", one_broken("NT-028"));
    ExFreePool(list);
    CHECK_RULE("NT-028/e", errors() == 0); /* it was not initialised */
}

TEST_WITH(driver, sizes_of_entries_have_a_minimum)
{
    ExInitializeNPagedLookasideList(&nonpaged, NULL, NULL, 0, LOOKASIDE_MINIMUM_BLOCK_SIZE, TAG, 0);
    CHECK_RULE("NT-029/a", errors() == 0);
    ExDeleteNPagedLookasideList(&nonpaged);
    ExInitializeNPagedLookasideList(&nonpaged, NULL, NULL, 0, LOOKASIDE_MINIMUM_BLOCK_SIZE - 1, TAG,
                                    0);
    CHECK_RULE("NT-029/a", reported("NT-029", 0xC4, 0xCD));
    ExDeleteNPagedLookasideList(&nonpaged);
}

static void hold_an_entry(void)
{
    void *held, *other;

    init_nonpaged();
    held = ExAllocateFromNPagedLookasideList(&nonpaged);
    other = ExAllocateFromNPagedLookasideList(&nonpaged);
    assert_true(held != other);
    ExFreeToNPagedLookasideList(&nonpaged, other);
    ExDeleteNPagedLookasideList(&nonpaged);
}

TEST_WITH(machine, entries_that_are_held_are_leaks)
{
    run(hold_an_entry);
    assert_int_equal(errors(), 0);
    CHECK_RULE("NT-031/b", nt_image_leak_check(h.image) == 1 && reported("NT-027", 0xC4, 0x62));
}

static void use_paged(void)
{
    ExFreeToPagedLookasideList(&paged, ExAllocateFromPagedLookasideList(&paged));
}

static void delete_paged(void)
{
    ExDeletePagedLookasideList(&paged);
}

TEST_WITH(driver, paged_lists_need_a_low_level_and_a_head_that_stays)
{
    PAGED_LOOKASIDE_LIST *head = ExAllocatePoolWithTag(PagedPool, sizeof(*head), TAG);

    ExInitializePagedLookasideList(&paged, NULL, NULL, 0, 48, TAG, 0);
    in_dpc(use_paged);
    CHECK_RULE("NT-032/b", reported("NT-009", 0xC4, 0x01));
    forget_reports();
    in_dpc(delete_paged);
    CHECK_RULE("NT-032/c", one_broken("NT-032"));
    delete_paged();
    CHECK_RULE("NT-032/c", errors() == 0); /* the first one had no effect */
    ExInitializePagedLookasideList(head, NULL, NULL, 0, 48, TAG, 0);
    CHECK_RULE("NT-032/d", reported("NT-004", 0xC4, 0xE1));
    ExDeletePagedLookasideList(head);
    ExFreePool(head);
}

static LOOKASIDE_LIST_EX ex;

static void use_ex(void)
{
    void *entry[6];

    assert_int_equal(
        ExInitializeLookasideListEx(&ex, allocate_ex, free_ex, NonPagedPoolNx, 0, 48, TAG, 0),
        STATUS_SUCCESS);
    told_list = NULL;
    freed = 0;
    for (unsigned i = 0; i < 6; i++)
        entry[i] = ExAllocateFromLookasideListEx(&ex);
    CHECK_RULE("NT-033/a", told_list == &ex);
    told_list = NULL;
    for (unsigned i = 0; i < 6; i++)
        ExFreeToLookasideListEx(&ex, entry[i]);
    CHECK_RULE("NT-033/b", told_list == &ex && freed == 2);
}

TEST_WITH(driver, extended_lists_free_what_is_cached)
{
    ExInitializeLookasideListEx(&ex, allocate_ex, free_ex, NonPagedPoolNx, 0, 48, TAG, 0);
    ExFreeToLookasideListEx(&ex, ExAllocateFromLookasideListEx(&ex));
    freed = 0;
    told_list = NULL;
    ExDeleteLookasideListEx(&ex);
    CHECK_RULE("NT-033/b", freed == 1 && told_list == &ex);
}

TEST_WITH(machine, extended_lists_are_told_and_must_be_deleted)
{
    run(use_ex);
    assert_int_equal(errors(), 0);
    nt_image_leak_check(h.image);
    CHECK_RULE("NT-033/d", broken("NT-031"));
}
