/* SPDX-License-Identifier: MIT */
/* The pool at the borders of what its routines take: levels, tags, types, flags. */
#include "nt/base/image.h"
#include "nt/base/nt_config.h"
#include "nt/io/image_life.h"
#include "nt/mm/pool.h"
#include "ram/ram.h"
#include "sim/event.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "support/harness.h"
#include "util/address.h"

#include <inttypes.h>
#include <stdio.h>

static void *allocate(POOL_TYPE type, SIZE_T bytes)
{
    return ExAllocatePoolWithTag(type, bytes, TAG);
}

static const struct verify_record *last_record(void)
{
    return verify_record_at(h.log, verify_records(h.log) - 1);
}

/* ---- levels ---- */

static void use_nonpaged(void)
{
    ExFreePool(allocate(NonPagedPoolNx, 10));
}

TEST_WITH(driver, levels_at_the_border)
{
    KIRQL old;
    void *block;

    KeRaiseIrql(APC_LEVEL, &old);
    block = allocate(PagedPool, 10);
    CHECK_RULE("NT-009/d", block && errors() == 0);
    ExFreePool(block);
    CHECK_RULE("NT-020/d", errors() == 0);
    KeLowerIrql(old);
    in_dpc(use_nonpaged);
    CHECK_RULE("NT-020/c", errors() == 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ExFreePool(ExAllocatePoolZero(PagedPool, 10, TAG));
    CHECK_RULE("NT-015/d", reported("NT-009", 0xC4, 0x01));
    KeLowerIrql(old);
    forget_reports();
    ExFreePool(ExAllocatePoolUninitialized(NonPagedPoolNx, 0, TAG));
    CHECK_RULE("NT-015/d", reported("NT-010", 0xC4, 0x00));
}

static struct sim_interrupt interrupt;
static bool served;

static bool allocate_with_quota(void *context, uint32_t message)
{
    struct nt_image *outer = nt_image_enter(h.image);

    (void)context;
    (void)message;
    ExFreePool(ExAllocatePoolWithQuotaTag(NonPagedPoolNx, 8, TAG));
    nt_image_enter(outer);
    served = true;
    return true;
}

static void raise_interrupt(struct sim_event *event)
{
    (void)event;
    sim_interrupt_raise(&interrupt);
}

/* The interrupt comes while no thread runs. */
TEST_WITH(driver, quota_is_not_charged_to_the_idle_process)
{
    struct sim_event event = {.fire = raise_interrupt};

    served = false;
    sim_interrupt_connect(&interrupt, allocate_with_quota, NULL, 0, SIM_IRQL_DEVICE);
    sim_event_arm(&event, sim_now() + 1000000);
    pause_ns(2000000);
    sim_interrupt_disconnect(&interrupt);
    CHECK_RULE("NT-014/b", served && reported("NT-014", 0xC4, 0x10A));
    CHECK(!reported("NT-014", 0xC4, 0x10B));
    forget_reports();
    ExFreePool(ExAllocatePoolWithQuotaTag(NonPagedPoolNx, 8, TAG));
    CHECK_RULE("NT-014/c", errors() == 0);
}

/* ---- tags and types ---- */

TEST_WITH(driver, characters_of_tags)
{
    static const struct {
        ULONG tag;
        bool good;
    } tags[] = {{0x41417E20, true},  {0x41411F41, false}, {0x41417F41, false},
                {0x41000041, false}, {0x00003030, true},  {0x30303030, true}};

    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        forget_reports();
        ExFreePool(ExAllocatePoolWithTag(NonPagedPoolNx, 8, tags[i].tag));
        CHECK_RULE("NT-011/e", reported("NT-011", 0xC2, 0x9D) == !tags[i].good);
    }
}

TEST_WITH(driver, session_pool_is_not_for_drivers)
{
    ExFreePool(allocate(NonPagedPoolSession, 8));
    CHECK_RULE("NT-012/e", broken("NT-012") && errors() == 0);
}

TEST_WITH(driver, more_than_there_is_gives_nothing)
{
    CHECK_RULE("NT-007/d", !allocate(NonPagedPoolNx, 128u << 20) && errors() == 0);
    CHECK_RULE("NT-017/a", !ExAllocatePool2(POOL_FLAG_NON_PAGED, 128u << 20, TAG) && errors() == 0);
}

/* ---- flags ---- */

static bool is_kind(POOL_FLAGS flags, bool paged, bool executable)
{
    uint8_t *block = ExAllocatePool2(flags, 100, TAG);
    const struct nt_block *record = nt_pool_find(block);
    bool same = block && record->paged == paged && record->executable == executable;

    ExFreePool(block);
    return same && errors() == 0;
}

TEST_WITH(driver, flags_select_the_pool)
{
    CHECK_RULE("NT-016/c", is_kind(0x40, false, false));
    CHECK_RULE("NT-016/c", is_kind(0x80, false, true));
    CHECK_RULE("NT-016/c", is_kind(0x100, true, false));
    CHECK_RULE("NT-016/d", is_kind(0x41, false, false) && is_kind(0x101, true, false));
    CHECK_RULE("NT-016/d", is_kind(0x48, false, false) && is_kind(0x108, true, false));
    CHECK_RULE("NT-018/a", !ExAllocatePool2(0xC0, 8, TAG) && !ExAllocatePool2(0x180, 8, TAG));
    CHECK_RULE("NT-018/a", !ExAllocatePool2(0x1C0, 8, TAG));
    CHECK_RULE("NT-017/e", !ExAllocatePool2(0x60, 8, 0) && h.raises == 1);
    CHECK_RULE("NT-017/e", !ExAllocatePool2(0x860, 8, TAG) && h.raises == 2);
}

/* Whether code may be run there, as the host's system has it. */
static bool may_run(const void *place)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t begin, end;
    char may[5] = "", line[512];
    bool found = false;

    CHECK(maps);
    while (!found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, may) == 3 &&
                (uintptr_t)place >= begin && (uintptr_t)place < end;
    fclose(maps);
    return found && may[2] == 'x';
}

/* Until its memory is used again, and no other block with it. */
TEST_WITH(driver, executable_blocks_can_be_run)
{
    void *block = ExAllocatePool2(POOL_FLAG_NON_PAGED_EXECUTE, 8192, TAG);
    void *other = ExAllocatePool2(POOL_FLAG_NON_PAGED, 8192, TAG);

    CHECK(may_run(block) && !may_run(other));
    ExFreePool(block);
    nt_pool_flush_quarantine(0);
    CHECK(!may_run(block));
    ExFreePool(other);
    CHECK(errors() == 0);
}

/* ---- what is told ---- */

TEST_WITH(driver, both_tags_are_told)
{
    void *block = allocate(NonPagedPoolNx, 24);
    const struct verify_record *record;

    ExFreePoolWithTag(block, TAG + 1);
    record = last_record();
    CHECK_RULE("NT-021/a", record->parameter[1] == (uintptr_t)block &&
                               record->parameter[2] == TAG && record->parameter[3] == TAG + 1);
    ExFreePool(block);
}

/* A block that is free already, and an address in one, take nothing else along. */
TEST_WITH(driver, bad_addresses_free_nothing)
{
    struct nt_pool_statistics before, after;
    uint8_t *block = allocate(NonPagedPoolNx, 100), *other = allocate(NonPagedPoolNx, 100);

    ExFreePool(other);
    nt_pool_statistics(&before);
    ExFreePool(other);
    ExFreePool(NULL);
    ExFreePool(block + 99);
    nt_pool_statistics(&after);
    CHECK_RULE("NT-023/e",
               after.live_blocks == before.live_blocks && after.live_bytes == before.live_bytes);
    forget_reports();
    ExFreePool(block);
    assert_int_equal(errors(), 0);
}

static void leak_one(void)
{
    allocate(NonPagedPoolNx, 321);
}

TEST_WITH(machine, a_leak_is_described)
{
    const struct verify_record *record;

    run(leak_one);
    CHECK(nt_image_leak_check(h.image) == 1);
    record = last_record();
    CHECK_RULE("NT-027/c", strstr(record->seen, "'Test'") && strstr(record->seen, "321 bytes"));
    CHECK_RULE("NT-027/d", strstr(record->seen, "made at test_nt"));
}

static bool written_found;

static void write_after_free(void)
{
    uint8_t *block = allocate(NonPagedPoolNx, 100);

    ExFreePool(block);
    block[50] ^= 1;
    for (unsigned i = 0; i < 20; i++)
        ExFreePool(allocate(NonPagedPoolNx, 100));
    written_found = broken("NT-026");
}

TEST_WITH(machine, the_quarantine_has_a_size)
{
    const struct nt_config config = {.quarantine_bytes = 1024};

    run(write_after_free);
    CHECK_RULE("NT-026/c", !written_found);
    harness_teardown();
    harness_boot(1, 1, &config);
    run(write_after_free);
    CHECK_RULE("NT-026/c", written_found);
}
