/* SPDX-License-Identifier: MIT */
/* The pool: what blocks are like, what is refused, what is found out. */
#include "nt/base/nt_config.h"
#include "nt/io/image_life.h"
#include "nt/mm/pool.h"
#include "nt/mm/pool_special.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "sim/inside.h"
#include "sim/machine.h"
#include "sim/stop.h"
#include "support/harness.h"
#include "util/address.h"

static void *allocate(POOL_TYPE type, SIZE_T bytes)
{
    return ExAllocatePoolWithTag(type, bytes, TAG);
}

static void release(void *block)
{
    ExFreePoolWithTag(block, TAG);
}

static bool filled(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

static void check_alignment(void)
{
    static const SIZE_T sizes[] = {1, 16, 100, 1000, 2040, 4095, 4096, 5000, 100000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uintptr_t block = (uintptr_t)allocate(NonPagedPoolNx, sizes[i]);

        assert_true(block != 0);
        if (sizes[i] < PAGE_SIZE) {
            CHECK_RULE("NT-007/a", block % 16 == 0);
            CHECK_RULE("NT-007/b", block / PAGE_SIZE == (block + sizes[i] - 1) / PAGE_SIZE);
        } else {
            CHECK_RULE("NT-007/c", block % PAGE_SIZE == 0);
        }
        release((void *)block);
    }
}

TEST_WITH(machine, blocks_are_aligned_and_cross_no_page)
{
    run(check_alignment);
    assert_int_equal(errors(), 0);
}

TEST_WITH(driver, contents_are_as_asked)
{
    uint8_t *block = allocate(NonPagedPoolNx, 200);

    CHECK_RULE("NT-008", !filled(block, 200, 0) && block[0] != 0 && block[199] != 0);
    release(block);
    block = ExAllocatePool2(POOL_FLAG_NON_PAGED, 200, TAG);
    CHECK_RULE("NT-016/a", filled(block, 200, 0));
    release(block);
    block = ExAllocatePool2(POOL_FLAG_NON_PAGED, 20000, TAG);
    CHECK_RULE("NT-016/a", filled(block, 20000, 0));
    release(block);
    block = ExAllocatePool2(POOL_FLAG_NON_PAGED | POOL_FLAG_UNINITIALIZED, 200, TAG);
    CHECK_RULE("NT-016/b", block[7] != 0);
    release(block);
    block = ExAllocatePoolZero(NonPagedPoolNx, 333, TAG);
    CHECK_RULE("NT-015/b", filled(block, 333, 0));
    release(block);
    block = ExAllocatePoolUninitialized(NonPagedPoolNx, 333, TAG);
    CHECK_RULE("NT-015/c", !filled(block, 333, 0));
    release(block);
}

static void allocate_both(void)
{
    release(allocate(NonPagedPoolNx, 10));
    allocate(PagedPool, 10);
}

TEST_WITH(driver, level_limits_of_allocation)
{
    in_dpc(allocate_both);
    CHECK_RULE("NT-009/a", reported("NT-009", 0xC4, 0x01));
    CHECK_RULE("NT-009/c", !reported("NT-009", 0xC4, 0x02));
    in_interrupt(allocate_both);
    CHECK_RULE("NT-009/b", reported("NT-009", 0xC4, 0x02));
}

static void *paged_block;

static void free_paged(void)
{
    release(paged_block);
}

static void *nonpaged_block;

static void free_nonpaged(void)
{
    release(nonpaged_block);
}

TEST_WITH(driver, level_limits_of_freeing)
{
    paged_block = allocate(PagedPool, 64);
    nonpaged_block = allocate(NonPagedPoolNx, 64);
    in_dpc(free_paged);
    CHECK_RULE("NT-020/a", reported("NT-020", 0xC4, 0x11));
    in_interrupt(free_nonpaged);
    CHECK_RULE("NT-020/b", reported("NT-020", 0xC4, 0x12));
}

TEST_WITH(driver, zero_bytes_are_reported_and_give_a_block)
{
    void *a = allocate(NonPagedPoolNx, 0);
    void *b = allocate(NonPagedPoolNx, 0);

    CHECK_RULE("NT-010/a", reported("NT-010", 0xC4, 0x00));
    CHECK_RULE("NT-001", reported("NT-010", 0xC4, 0x00));
    CHECK_RULE("NT-010/b", a && b && a != b);
    forget_reports();
    release(a);
    release(b);
    CHECK_RULE("NT-010/c", errors() == 0);
}

TEST_WITH(driver, tags_are_checked)
{
    ExFreePool(ExAllocatePoolWithTag(NonPagedPoolNx, 8, 0));
    CHECK_RULE("NT-011/a", reported("NT-011", 0xC2, 0x9B));
    ExFreePool(ExAllocatePoolWithTag(NonPagedPoolNx, 8, 0x474942));
    CHECK_RULE("NT-011/b", reported("NT-011", 0xC2, 0x9C));
    ExFreePool(ExAllocatePoolWithTag(NonPagedPoolNx, 8, 0x2A2A2A2A));
    CHECK_RULE("NT-011/c", reported("NT-011", 0xC2, 0x9D));
    forget_reports();
    ExFreePool(ExAllocatePoolWithTag(NonPagedPoolNx, 8, 'A'));
    ExFreePool(ExAllocatePoolWithTag(NonPagedPoolNx, 8, 0x20202041));
    CHECK_RULE("NT-011/d", errors() == 0);
}

TEST_WITH(driver, older_forms_take_the_same_blocks)
{
    uint8_t *plain = ExAllocatePool(NonPagedPoolNx, 100),
            *urgent = ExAllocatePoolWithTagPriority(NonPagedPoolNx, 100, TAG, HighPoolPriority);

    CHECK_RULE("NT-007/a", plain && urgent && (uintptr_t)plain % 16 == 0);
    CHECK_RULE("NT-015/a", plain && !broken("NT-011")); /* the tag is the host's */
    memset(plain, 1, 100);
    memset(urgent, 2, 100);
    CHECK(filled(plain, 100, 1));
    ExFreePool(plain);
    release(urgent);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
    (void)ExAllocatePoolWithTagPriority(NonPagedPoolNx, 1, 0, NormalPoolPriority);
    CHECK(errors() > 0); /* no tag */
    (void)nt_image_leak_check(h.image);
    forget_reports();
}

TEST_WITH(driver, types_are_checked)
{
    ExFreePool(allocate(NonPagedPoolMustSucceed, 8));
    CHECK_RULE("NT-012/c", reported("NT-012", 0xC2, 0x9A));
    forget_reports();
    ExFreePool(allocate(NonPagedPoolCacheAligned, 8));
    CHECK_RULE("NT-012/d", broken("NT-012") && errors() == 0);
    forget_reports();
    ExFreePool(allocate((POOL_TYPE)(NonPagedPoolNx | POOL_COLD_ALLOCATION), 8));
    CHECK_RULE("NT-013/e", !broken("NT-012"));
}

static void fail_next(void)
{
    h.machine->heap.fail_at = h.machine->heap.requests + 1;
}

TEST_WITH(driver, failure_is_null_or_an_exception)
{
    void *block;

    fail_next();
    CHECK_RULE("NT-013/a", allocate(NonPagedPoolNx, 8) == NULL && h.raises == 0);
    fail_next();
    block = allocate((POOL_TYPE)(NonPagedPoolNx | POOL_RAISE_IF_ALLOCATION_FAILURE), 8);
    CHECK_RULE("NT-013/b", !block && h.raises == 1);
    fail_next();
    block = ExAllocatePoolWithQuotaTag(NonPagedPoolNx, 8, TAG);
    CHECK_RULE("NT-013/c", !block && h.raises == 2 && !NT_SUCCESS(h.raised));
    fail_next();
    block = ExAllocatePoolWithQuotaTag(
        (POOL_TYPE)(NonPagedPoolNx | POOL_QUOTA_FAIL_INSTEAD_OF_RAISE), 8, TAG);
    CHECK_RULE("NT-013/d", !block && h.raises == 2);
    fail_next();
    block = ExAllocatePool2(POOL_FLAG_NON_PAGED, 8, TAG);
    CHECK_RULE("NT-017/a", !block && h.raises == 2);
    fail_next();
    block = ExAllocatePool2(POOL_FLAG_NON_PAGED | POOL_FLAG_RAISE_ON_FAILURE, 8, TAG);
    CHECK_RULE("NT-017/e", !block && h.raises == 3);
    h.machine->heap.fail_at = 0;
}

static void allocate_quota(void)
{
    release(ExAllocatePoolWithQuotaTag(NonPagedPoolNx, 8, TAG));
}

TEST_WITH(driver, quota_needs_a_thread)
{
    in_dpc(allocate_quota);
    CHECK_RULE("NT-014/a", reported("NT-014", 0xC4, 0x10B));
}

TEST_WITH(driver, flags_of_pool2_are_checked)
{
    void *block;

    CHECK_RULE("NT-017/b", ExAllocatePool2(POOL_FLAG_NON_PAGED, 8, 0) == NULL);
    CHECK_RULE("NT-017/c", ExAllocatePool2(POOL_FLAG_NON_PAGED | 0x800, 8, TAG) == NULL);
    block = ExAllocatePool2(POOL_FLAG_NON_PAGED | (POOL_FLAGS)1 << 40, 8, TAG);
    CHECK_RULE("NT-017/d", block != NULL);
    release(block);
    CHECK_RULE("NT-018/a", ExAllocatePool2(POOL_FLAG_NON_PAGED | POOL_FLAG_PAGED, 8, TAG) == NULL);
    CHECK_RULE("NT-018/b", ExAllocatePool2(0, 8, TAG) == NULL);
}

TEST_WITH(driver, parameters_of_pool3_are_checked)
{
    POOL_EXTENDED_PARAMETER parameter = {.Type = PoolExtendedParameterPriority};
    void *block = ExAllocatePool3(POOL_FLAG_NON_PAGED, 8, TAG, &parameter, 1);

    CHECK_RULE("NT-019/a", block != NULL);
    release(block);
    parameter.Type = PoolExtendedParameterInvalidType;
    CHECK_RULE("NT-019/b", ExAllocatePool3(POOL_FLAG_NON_PAGED, 8, TAG, &parameter, 1) == NULL);
    CHECK_RULE("NT-019/c", ExAllocatePool3(POOL_FLAG_NON_PAGED, 8, TAG, NULL, 1) == NULL);
}

TEST_WITH(driver, tags_must_match)
{
    struct nt_pool_statistics before, after;
    void *block = allocate(NonPagedPoolNx, 24);

    nt_pool_statistics(&before);
    ExFreePoolWithTag(block, TAG + 1);
    nt_pool_statistics(&after);
    CHECK_RULE("NT-021/a", reported("NT-021", 0xC2, 0x0A));
    CHECK_RULE("NT-021/b", after.live_blocks == before.live_blocks);
    forget_reports();
    ExFreePool(block);
    CHECK_RULE("NT-021/c", errors() == 0);
    ExFreePoolWithTag(allocate(NonPagedPoolNx, 24), 0);
    CHECK_RULE("NT-022", errors() == 0);
}

TEST_WITH(driver, bad_addresses_are_named)
{
    static uint8_t not_pool[64];
    struct nt_pool_statistics before, after;
    uint8_t *block = allocate(NonPagedPoolNx, 100);

    nt_pool_statistics(&before);
    ExFreePool(not_pool);
    CHECK_RULE("NT-023/a", reported("NT-023", 0xC4, 0x10));
    ExFreePool(block + 16);
    CHECK_RULE("NT-023/d", reported("NT-023", 0xC4, 0x16));
    ExFreePool((void *)(uintptr_t)0x1000);
    CHECK_RULE("NT-023/c", reported("NT-023", 0xC2, 0x40));
    nt_pool_statistics(&after);
    CHECK_RULE("NT-023/e", after.live_blocks == before.live_blocks);
    ExFreePool(block);
    ExFreePool(block);
    CHECK_RULE("NT-023/b", reported("NT-023", 0xC4, 0x13));
    ExFreePool(NULL);
    CHECK_RULE("NT-024", reported("NT-024", 0xC4, 0x10));
}

TEST_WITH(driver, overruns_are_found)
{
    static const SIZE_T sizes[] = {1, 24, 100, 2000, 4095, 4096, 9000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint8_t *block = allocate(NonPagedPoolNx, sizes[i]);

        forget_reports();
        block[sizes[i]] = 0x11;
        release(block);
        CHECK_RULE("NT-025/a", reported("NT-025", 0xC4, 0x51));
        block = allocate(NonPagedPoolNx, sizes[i]);
        forget_reports();
        memset(block, 0x11, sizes[i]);
        release(block);
        CHECK_RULE("NT-025/a", errors() == 0);
    }
}

static void write_before(SIZE_T bytes, SIZE_T distance)
{
    uint8_t *block = allocate(NonPagedPoolNx, bytes);

    forget_reports();
    *(block - distance) = 0x11;
    release(block);
}

TEST_WITH(driver, underruns_are_found)
{
    static const SIZE_T sizes[] = {0, 1, 16, 24, 100, 2000, 4064};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        write_before(sizes[i], 1);
        CHECK_RULE("NT-025/b", reported("NT-025", 0x19, 0x20) && errors() == 1);
        write_before(sizes[i], 16);
        CHECK_RULE("NT-025/b", reported("NT-025", 0x19, 0x20));
    }
    forget_reports();
    for (SIZE_T bytes = 1; bytes < 5000; bytes += 7) {
        uint8_t *block = allocate(NonPagedPoolNx, bytes);

        CHECK((uintptr_t)block % 16 == 0);
        CHECK(bytes >= PAGE_SIZE || (uintptr_t)block % PAGE_SIZE + bytes <= PAGE_SIZE);
        memset(block, 0x11, bytes);
        release(block);
    }
    CHECK_RULE("NT-025/b", errors() == 0);
}

static void underrun_special(void)
{
    write_before(50, 1);
    CHECK_RULE("NT-025/b", reported("NT-025", 0x19, 0x20));
    write_before(50, 256);
    CHECK_RULE("NT-025/b", reported("NT-025", 0x19, 0x20));
    write_before(50, 257); /* it is not looked at */
    CHECK_RULE("NT-025/b", errors() == 0);
}

TEST_WITH(driver, freed_memory_is_watched)
{
    uint8_t *block = allocate(NonPagedPoolNx, 100);

    memset(block, 0x42, 100);
    release(block);
    CHECK_RULE("NT-026/a", !filled(block, 100, 0x42) && filled(block, 100, block[0]));
    block[50] ^= 1;
    for (unsigned i = 0; i < 6000; i++)
        release(allocate(NonPagedPoolNx, 100));
    CHECK_RULE("NT-026/b", broken("NT-026"));
}

static void leak_two(void)
{
    allocate(NonPagedPoolNx, 123);
    allocate(PagedPool, 5000);
    nt_image_unloading(h.image);
    release(allocate(NonPagedPoolNx, 8));
}

TEST_WITH(machine, leaks_are_listed)
{
    struct nt_pool_statistics statistics;

    run(leak_two);
    CHECK_RULE("NT-027/a", reported("NT-027", 0xC4, 0x61));
    forget_reports();
    CHECK_RULE("NT-027/b", nt_image_leak_check(h.image) == 2);
    CHECK_RULE("NT-027/b", reported("NT-027", 0xC4, 0x62));
    assert_non_null(strstr(verify_record_at(h.log, verify_records(h.log) - 1)->seen, "5000"));
    nt_pool_statistics(&statistics);
    assert_int_equal(statistics.live_blocks, 0);
}

TEST_WITH(driver, active_objects_in_freed_memory_are_found)
{
    KTIMER *timer = allocate(NonPagedPoolNx, sizeof(*timer));

    KeInitializeTimer(timer);
    KeSetTimer(timer, relative_ms(1000), NULL);
    release(timer);
    CHECK_RULE("NT-006/a", reported("NT-006", 0xC4, 0x15));
    timer = allocate(NonPagedPoolNx, sizeof(*timer));
    KeInitializeTimer(timer);
    KeSetTimer(timer, relative_ms(1), NULL);
    pause_ns(2000000);
    forget_reports();
    release(timer);
    CHECK_RULE("NT-006/a", errors() == 0);
}

TEST_WITH(driver, blocks_are_simulated_ram)
{
    uint8_t *block = allocate(NonPagedPoolNx, 10000);
    PHYSICAL_ADDRESS first = MmGetPhysicalAddress(block);

    for (unsigned i = 0; i < 10000; i += 1000) {
        PHYSICAL_ADDRESS at = MmGetPhysicalAddress(block + i);

        block[i] = (uint8_t)i;
        assert_ptr_equal(ram_direct(h.ram, (struct phys_addr){(uint64_t)at.QuadPart}), block + i);
    }
    assert_int_not_equal(first.QuadPart, 0);
    release(block);
}

/* Random allocations and frees, with a shadow of what each block must hold. */
static void stress(void)
{
    enum { SLOTS = 200 };
    static uint8_t *block[SLOTS];
    static size_t bytes[SLOTS];

    memset(block, 0, sizeof(block));
    for (unsigned round = 0; round < 20000; round++) {
        unsigned i = sim_random(SLOTS);

        if (block[i]) {
            assert_true(filled(block[i], bytes[i], (uint8_t)i));
            release(block[i]);
            block[i] = NULL;
        } else {
            bytes[i] = sim_random(20) == 0 ? sim_random(30000) + 1 : sim_random(600) + 1;
            block[i] = allocate(NonPagedPoolNx, bytes[i]);
            assert_non_null(block[i]);
            memset(block[i], (int)i, bytes[i]);
        }
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        if (block[i])
            release(block[i]);
    }
}

TEST_WITH(machine, random_use_keeps_blocks_apart)
{
    uint64_t pages = ram_free_pages(h.ram);

    run(stress);
    assert_int_equal(errors(), 0);
    run(check_alignment);
    assert_int_equal(nt_image_leak_check(h.image), 0);
    assert_true(ram_free_pages(h.ram) <= pages);
}

TEST_WITH(driver, each_internal_failure_is_survived)
{
    unsigned failed = 0;

    for (uint64_t n = 1; n < 20; n++) {
        void *block;

        h.machine->heap.fail_at = h.machine->heap.requests + n;
        block = allocate(NonPagedPoolNx, 700);
        h.machine->heap.fail_at = 0;
        if (block)
            break;
        failed++;
        CHECK_RULE("NT-003/a", nt_image_leak_check(h.image) == 0);
    }
    CHECK_RULE("NT-003/a", failed > 1);
}

static unsigned share_failed;

static void allocate_many(void)
{
    for (unsigned i = 0; i < 2000; i++) {
        void *block = allocate(NonPagedPoolNx, 32);

        if (block)
            release(block);
        else
            share_failed++;
    }
}

TEST_WITH(machine, a_share_of_requests_can_fail)
{
    const struct nt_config config = {.fail_percent = 6};

    harness_teardown();
    harness_boot(1, 3, &config);
    share_failed = 0;
    run(allocate_many);
    CHECK_RULE("NT-003/b", share_failed > 60 && share_failed < 200);
}

/* ---- special pool ---- */

static uint32_t fault_code;

static void note_fault(const struct sim_fault *fault)
{
    fault_code = nt_pool_fault((void *)fault->address);
    sim_stop();
}

static uint8_t *special;

static void touch(void *arg)
{
    sim_inside_enter(SIM_FOREVER);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* before the access */
    *(volatile uint8_t *)arg = 1;
}

static void overrun_special(void)
{
    special = allocate(NonPagedPoolNx, 32);
    memset(special, 1, 32);
    fault_code = 0;
    start("driver", touch, special + 32);
}

static void use_freed_special(void)
{
    special = allocate(NonPagedPoolNx, 5000);
    memset(special, 1, 5000);
    release(special);
    fault_code = 0;
    start("driver", touch, special + 100);
}

static void double_free_special(void)
{
    special = allocate(NonPagedPoolNx, 50);
    CHECK_RULE("NT-007/a", (uintptr_t)special % 16 == 0);
    release(special);
    assert_int_equal(errors(), 0);
    release(special);
    CHECK_RULE("NT-023/b", reported("NT-023", 0xC4, 0x13));
}

TEST_WITH(machine, special_pool_faults_at_the_access)
{
    const struct nt_config config = {.special_pool = true};

    harness_teardown();
    harness_boot(1, 1, &config);
    sim_on_fault(note_fault);
    run(overrun_special);
    CHECK_RULE("NT-025/c", fault_code == 0xCD);
    h.threads_left = 1;
    harness_teardown();
    harness_boot(1, 1, &config);
    sim_on_fault(note_fault);
    run(use_freed_special);
    CHECK_RULE("NT-025/d", fault_code == 0xCC);
    h.threads_left = 1;
    harness_teardown();
    harness_boot(1, 1, &config);
    run(double_free_special);
    run(underrun_special);
    forget_reports();
    run(stress);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}
