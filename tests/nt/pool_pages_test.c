/* SPDX-License-Identifier: MIT */
/* How many pages blocks of pool take, what a freed block leaves behind, and when requests that fail are too many. */
#include "nt/base/nt_config.h"
#include "nt/base/state.h"
#include "nt/io/image_life.h"
#include "nt/mm/pool.h"
#include "nt/mm/pool_limit.h"
#include "nt/mm/pool_page.h"
#include "nt/nt.h"
#include "ram/ram.h"
#include "support/harness.h"

static void *take(SIZE_T bytes)
{
    return ExAllocatePoolWithTag(NonPagedPoolNx, bytes, TAG);
}

/* ---- pages ---- */

/* Whole pages, and room for what is written past the end. */
static void count_pages(void)
{
    for (SIZE_T pages = 1; pages < 5; pages++) {
        uint64_t before = ram_free_pages(h.ram);
        void *block = take(pages * PAGE_SIZE);

        CHECK((uintptr_t)block % PAGE_SIZE == 0);
        CHECK(before - ram_free_pages(h.ram) == pages + 1);
        ExFreePool(block);
        CHECK(ram_free_pages(h.ram) == before);
        block = take(pages * PAGE_SIZE + PAGE_SIZE - 1);
        CHECK(before - ram_free_pages(h.ram) == pages + 1);
        ExFreePool(block);
        CHECK(ram_free_pages(h.ram) == before);
    }
    CHECK(errors() == 0);
}

TEST_WITH(machine, large_blocks_have_whole_pages)
{
    const struct nt_config config = {.quarantine_bytes = 1};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(count_pages);
}

/* A slot that is free again is used again, so that small blocks do not take page after page. */
static void use_slots_again(void)
{
    static void *block[200];
    uint64_t before;

    for (unsigned i = 0; i < 200; i++)
        block[i] = take(100);
    before = ram_free_pages(h.ram);
    for (unsigned i = 0; i < 1000; i++) {
        ExFreePool(block[i * 7 % 200]);
        block[i * 7 % 200] = take(100);
    }
    CHECK(ram_free_pages(h.ram) == before);
    for (unsigned i = 0; i < 200; i++)
        ExFreePool(block[i]);
    CHECK(ram_free_pages(h.ram) > before && errors() == 0);
}

TEST_WITH(machine, slots_are_used_again)
{
    const struct nt_config config = {.quarantine_bytes = 1};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(use_slots_again);
    CHECK(nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, the_peak_is_kept)
{
    struct nt_pool_statistics before, now;
    void *block;

    nt_pool_statistics(&before);
    block = take(100000);
    nt_pool_statistics(&now);
    CHECK(now.live_blocks == before.live_blocks + 1 && now.live_bytes == before.live_bytes + 100000);
    CHECK(now.allocations == before.allocations + 1 && now.peak_bytes == now.live_bytes);
    ExFreePool(block);
    block = take(50000);
    nt_pool_statistics(&now);
    CHECK(now.live_blocks == before.live_blocks + 1 && now.live_bytes == before.live_bytes + 50000);
    CHECK(now.peak_bytes == before.live_bytes + 100000);
    ExFreePool(block);
}

/* ---- after the end ---- */

static void write_to_freed_block(void)
{
    uint8_t *block = take(100);

    ExFreePool(block);
    block[50] = 5;
    CHECK(errors() == 0);
}

TEST_WITH(machine, writes_to_freed_blocks_are_found_at_unload)
{
    run(write_to_freed_block);
    CHECK(nt_image_leak_check(h.image) == 0);
    CHECK(broken("NT-026") && errors() == 1);
    forget_reports();
}

/* The memory of a lock that was freed is another lock when it is used again. */
static void order_locks(bool first_before_second, KSPIN_LOCK *locks)
{
    KSPIN_LOCK *outer = locks + (first_before_second ? 0 : 1);
    KSPIN_LOCK *inner = locks + (first_before_second ? 1 : 0);
    KIRQL old, raised;

    KeInitializeSpinLock(&locks[0]);
    KeInitializeSpinLock(&locks[1]);
    KeAcquireSpinLock(outer, &old);
    KeAcquireSpinLock(inner, &raised);
    KeReleaseSpinLock(inner, raised);
    KeReleaseSpinLock(outer, old);
}

static void use_memory_of_locks_again(void)
{
    KSPIN_LOCK *locks = take(2 * sizeof(*locks)), *again;

    order_locks(true, locks);
    ExFreePool(locks);
    again = take(2 * sizeof(*locks));
    CHECK(again == locks);
    order_locks(false, again);
    CHECK(errors() == 0);
    order_locks(true, again);
    CHECK_RULE("NT-059/a", reported("NT-059", 0xC4, 0x1001));
    forget_reports();
    ExFreePool(again);
}

TEST_WITH(machine, locks_in_freed_blocks_have_no_order)
{
    const struct nt_config config = {.quarantine_bytes = 1, .deadlock_detection = true};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(use_memory_of_locks_again);
    CHECK(nt_image_leak_check(h.image) == 0);
}

/* ---- requests that fail ---- */

static bool is_too_many(void)
{
    bool told;

    CHECK(take(ram_bytes(h.ram) + 1) == NULL);
    told = broken("NT-200");
    forget_reports();
    return told;
}

TEST_WITH(driver, only_failures_in_a_row_are_too_many)
{
    struct nt_pool *pool = nt_state()->pool;
    void *block = take(8), *other;

    pool->failed = NT_POOL_LIMIT_FAILED - 2;
    CHECK(!is_too_many() && is_too_many());
    CHECK_RULE("NT-200/b", !is_too_many()); /* counted anew */
    pool->failed = NT_POOL_LIMIT_FAILED - 1;
    other = take(8);
    CHECK(!is_too_many() && pool->failed == 1);
    pool->failed = NT_POOL_LIMIT_FAILED - 1;
    ExFreePool(block);
    CHECK(!is_too_many() && pool->failed == 1);
    ExFreePool(other);
}
