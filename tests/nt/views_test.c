/* SPDX-License-Identifier: MIT */
/* Views of clients' processes, views that have ended, and pool whose pages come and go with the level. */
#include "nt/base/caller.h"
#include "nt/base/current.h"
#include "nt/base/nt_config.h"
#include "nt/io/image_life.h"
#include "nt/mm/pool_page.h"
#include "nt/mm/retired_view.h"
#include "nt/mm/user_range.h"
#include "nt/nt.h"
#include "nt/ps/process.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "support/harness.h"

static struct nt_process *client;
static uint8_t *view;
static struct page_number pages[4];

static bool readable(const void *address)
{
    uint8_t byte;

    return sim_copy_checked(&byte, address, 1);
}

static bool writable(void *address)
{
    uint8_t byte = 5;

    return sim_copy_checked(address, &byte, 1);
}

/* ---- ranges of a process ---- */

static void take_view(void)
{
    struct ram_request request = {.pages = 4, .owner = RAM_CLIENT, .cache = RAM_CACHED};

    view = ram_view_reserve(h.ram, 4);
    CHECK(ram_take_pages(h.ram, &request, pages));
    CHECK(ram_view_point(h.ram, view, 0, pages, 4, true));
}

static void give_view(void)
{
    ram_view_release(h.ram, view, 4);
    ram_give_pages(h.ram, pages, 4);
}

static void use_as_client(void)
{
    CHECK(!nt_user_range_denies(view) && nt_user_range_holds(view));
    CHECK(readable(view) && writable(view + PAGE_SIZE - 1));
    CHECK(readable(view + PAGE_SIZE) && !writable(view + PAGE_SIZE)); /* to be read only */
    CHECK(!readable(view + 2 * PAGE_SIZE));                           /* emulated */
    CHECK(readable(view + 3 * PAGE_SIZE));                            /* in no range */
}

static void use_as_system(void)
{
    char text[200] = "x";

    CHECK(nt_user_range_denies(view) && nt_user_range_denies(view + 3 * PAGE_SIZE - 1));
    CHECK(!nt_user_range_denies(view + 3 * PAGE_SIZE) && !nt_user_range_holds(view + 3 * PAGE_SIZE));
    CHECK(!readable(view) && !readable(view + PAGE_SIZE) && readable(view + 3 * PAGE_SIZE));
    CHECK(!MmIsAddressValid(view) && MmIsAddressValid(view + 3 * PAGE_SIZE));
    CHECK(strcmp(nt_user_range_describe(view, text, sizeof(text)), "PHYS-195") == 0 &&
          strcmp(text, "the first of client while System is current") == 0);
    CHECK(!nt_user_range_describe(view + 3 * PAGE_SIZE, text, sizeof(text)));
    /* the host's own access */
    CHECK(nt_user_range_admit(view) && readable(view) && writable(view));
    CHECK(nt_user_range_admit(view)); /* again */
    nt_user_range_shut(view);
    CHECK(!readable(view));
    CHECK(nt_user_range_admit(view + PAGE_SIZE) && readable(view + PAGE_SIZE) &&
          !writable(view + PAGE_SIZE));
    nt_user_range_shut(view + PAGE_SIZE);
    CHECK(!nt_user_range_admit(view + 2 * PAGE_SIZE) && !readable(view + 2 * PAGE_SIZE));
    CHECK(nt_user_range_admit(view + 3 * PAGE_SIZE));
    nt_user_range_shut(view + 3 * PAGE_SIZE);
    CHECK(readable(view + 3 * PAGE_SIZE));
}

static void attach_and_leave(void)
{
    KAPC_STATE state;

    KeStackAttachProcess((PRKPROCESS)(void *)client, &state);
    CHECK(readable(view) && !nt_user_range_denies(view));
    KeUnstackDetachProcess(&state);
    CHECK(!readable(view) && nt_user_range_denies(view));
}

TEST_WITH(machine, ranges_follow_their_process)
{
    char text[200] = "x";

    client = nt_process_create("client");
    take_view();
    CHECK(nt_user_range_add(client, view, PAGE_SIZE, NT_USER_WRITE, "PHYS-195", "the first"));
    CHECK(nt_user_range_add(client, view + PAGE_SIZE, 5, NT_USER_READ, "PHYS-195", "the second"));
    CHECK(nt_user_range_add(client, view + 2 * PAGE_SIZE, PAGE_SIZE, NT_USER_TRAPPED, "PHYS-195",
                            "the third"));
    run_client(client, use_as_client);
    run(use_as_system);
    run(attach_and_leave);
    CHECK(nt_user_range_admit(view) && readable(view));
    nt_process_destroy(client);
    CHECK(nt_user_range_holds(view) && nt_user_range_denies(view) && !readable(view));
    CHECK(nt_user_range_describe(view, text, sizeof(text)) &&
          strcmp(text, "the first of a process that has ended while System is current") == 0);
    CHECK(nt_user_range_admit(view) && readable(view));
    nt_user_range_remove(view);
    CHECK(!nt_user_range_holds(view) && !readable(view) && nt_user_range_holds(view + PAGE_SIZE));
    nt_user_range_remove(view); /* there is none */
    nt_user_range_remove(view + PAGE_SIZE);
    nt_user_range_remove(view + 2 * PAGE_SIZE);
    give_view();
    CHECK(errors() == 0);
}

/* ---- views that have ended ---- */

static bool ended(const uint8_t *address, const char *expected)
{
    char text[200] = "";
    bool good = nt_retired_view_at(address, text, sizeof(text));

    return expected ? good && strcmp(text, expected) == 0 : !good && text[0] == '\0';
}

TEST_WITH(driver, views_that_have_ended_are_remembered)
{
    uint8_t *at = (uint8_t *)0x7000000;
    char place[96], text[200];

    CHECK(ended(at, NULL));
    nt_retired_view_add(at + 16, 100, "BAR 2", NULL, NULL);
    CHECK(ended(at, "a view of BAR 2 that the host had ended") &&
          ended(at + PAGE_SIZE - 1, "a view of BAR 2 that the host had ended"));
    CHECK(ended(at - 1, NULL) && ended(at + PAGE_SIZE, NULL));
    nt_retired_view_add(at + PAGE_SIZE - 1, 2, "RAM", "MmUnmapIoSpace", NULL);
    CHECK(ended(at + 5, "a view of RAM that MmUnmapIoSpace had ended")); /* the newest one */
    CHECK(ended(at + PAGE_SIZE, "a view of RAM that MmUnmapIoSpace had ended"));
    nt_caller_name((const void *)(uintptr_t)strlen, place, sizeof(place));
    snprintf(text, sizeof(text), "a view of RAM that a driver had ended, called at %.60s", place);
    nt_retired_view_add(at, 1, "RAM", "a driver", (const void *)(uintptr_t)strlen);
    CHECK(ended(at, text));
    CHECK(nt_retired_view_is_of_kernel(at));
    for (unsigned i = 0; i < NT_RETIRED_VIEWS - 1; i++) {
        CHECK(ended(at, text));
        nt_retired_view_add(at + (i + 8ull) * PAGE_SIZE, PAGE_SIZE, "another", NULL, NULL);
    }
    CHECK(ended(at, text) && ended(at + PAGE_SIZE, NULL)); /* the last that is remembered */
    nt_retired_view_add(at + 4 * PAGE_SIZE, PAGE_SIZE, "another", NULL, NULL);
    CHECK(ended(at, NULL) && ended(at + 8 * PAGE_SIZE, "a view of another that the host had ended"));
}

static void retire_as_client(void)
{
    nt_retired_view_add(view, PAGE_SIZE, "RAM", NULL, NULL);
    CHECK(!nt_retired_view_is_of_kernel(view) && !nt_retired_view_is_of_kernel(view + 1));
}

TEST_WITH(machine, views_of_clients_that_have_ended_are_theirs)
{
    client = nt_process_create("client");
    take_view();
    CHECK(nt_user_range_add(client, view, PAGE_SIZE, NT_USER_WRITE, "PHYS-195", "the first"));
    run_client(client, retire_as_client);
    nt_user_range_remove(view);
    CHECK(!nt_retired_view_is_of_kernel(view));
    nt_process_destroy(client);
    give_view();
}

/* ---- paged pool ---- */

#define BLOCKS (NT_OPEN_PAGES + 8)

static uint8_t *block[BLOCKS];

static unsigned count_readable(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < BLOCKS; i++)
        count += block[i] && readable(block[i]);
    return count;
}

static void use_paged_pool(void)
{
    KIRQL old;

    for (unsigned i = 0; i < BLOCKS; i++) {
        block[i] = ExAllocatePool2(POOL_FLAG_PAGED, 64, TAG);
        *block[i] = (uint8_t)i;
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK(*block[i] == (uint8_t)i);
    for (unsigned i = BLOCKS; i-- > 0;)
        CHECK(*block[i] == (uint8_t)i && *block[0] == 0);
    for (unsigned round = 0; round < 3; round++) {
        KeRaiseIrql(DISPATCH_LEVEL, &old);
        CHECK(count_readable() == 0); /* each page that was open is closed */
        KeLowerIrql(old);
        for (unsigned i = 0; i < BLOCKS; i += round + 1)
            CHECK(*block[i] == (uint8_t)i);
    }
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK(*block[3] == 3 && count_readable() == BLOCKS);
    KeLowerIrql(old);
    for (unsigned i = 0; i < BLOCKS; i += 2) {
        ExFreePoolWithTag(block[i], TAG);
        CHECK(!readable(block[i]));
        block[i] = NULL;
    }
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(count_readable() == 0);
    KeLowerIrql(old);
    for (unsigned i = 1; i < BLOCKS; i += 2) {
        CHECK(*block[i] == (uint8_t)i);
        ExFreePoolWithTag(block[i], TAG);
    }
    CHECK(errors() == 0);
}

TEST_WITH(machine, paged_pool_goes_with_the_level)
{
    const struct nt_config config = {.force_irql = true};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(use_paged_pool);
    CHECK(nt_image_leak_check(h.image) == 0);
}

/* ---- pool that is never freed ---- */

static const char *seen(void)
{
    return verify_record_at(h.log, verify_records(h.log) - 1)->seen;
}

static void *take(SIZE_T bytes, const char *tag)
{
    ULONG value;

    memcpy(&value, tag, sizeof(value));
    return ExAllocatePool2(POOL_FLAG_NON_PAGED, bytes, value);
}

static void leak_by_tags(void)
{
    static const char *const tags[] = {"aaaa", "bbbb", "cccc", "dddd", "eeee"};
    static const SIZE_T bytes[] = {100, 3000, 200, 1000, 50};
    void *more;

    for (unsigned i = 0; i < 5; i++)
        CHECK(take(bytes[i], tags[i]) != NULL);
    CHECK(take(500, "dddd") && errors() == 0);
    more = take(5150, "aaaa"); /* 10000 bytes in all, which is the limit */
    CHECK_RULE("NT-200/b", more && errors() == 0);
    ExFreePool(more);
    more = take(5151, "ffff");
    CHECK_RULE("NT-200/a", more && reported("NT-200", 0xC4, 0x62));
    CHECK(strncmp(seen(),
                  "10001 bytes of pool in 7 blocks were not freed: 'ffff' 5151 bytes in 1 "
                  "block(s) at ",
                  82) == 0);
    CHECK(strstr(seen(), "; 'bbbb' 3000 bytes in 1 block(s) at ") <
          strstr(seen(), "; 'dddd' 1500 bytes in 2 block(s) at "));
    CHECK(strstr(seen(), "bbbb") && strstr(seen(), "dddd") && !strstr(seen(), "cccc"));
    forget_reports();
    ExFreePool(more);
    CHECK(errors() == 0);
}

/* Tags beyond those that are told apart are one group, together with the last of these. */
static void leak_by_many_tags(void)
{
    char tag[5];

    for (unsigned i = 0; i < 300; i++) {
        snprintf(tag, sizeof(tag), "a%03u", i);
        CHECK(take(8, tag) != NULL);
    }
    CHECK(errors() == 0);
    CHECK(take(10000 - 2400 + 1, "zzzz") && reported("NT-200", 0xC4, 0x62));
    CHECK(strstr(seen(), ": 'a255' 7961 bytes in 46 block(s) at ") != NULL);
    forget_reports();
}

TEST_WITH(machine, leaks_are_told_by_tags)
{
    const struct nt_config config = {.pool_limit = 10000};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(leak_by_tags);
    nt_image_leak_check(h.image);
    forget_reports();
    run(leak_by_many_tags);
    nt_image_leak_check(h.image);
    forget_reports();
}
