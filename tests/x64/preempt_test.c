/* SPDX-License-Identifier: MIT */
/*
 * Trapped instructions are places where the seed may let others run: before the access, and between the access and the next
 * instruction. Another thread counts. The count is taken by plain instructions just before and just after the one that traps,
 * and by the device while it answers.
 */
#include "x64/support/rig.h"

#include "sim/point.h"

#define SEEDS  20u
#define ROUNDS 400u

static volatile uint32_t count; /* of the other thread's turns */
static uint32_t at_access;
static bool over;
static unsigned before, after; /* rounds in which it ran there */

static void look(void)
{
    at_access = count;
}

static void count_turns(void)
{
    while (!over) {
        count++;
        sim_point(); /* as in any kernel service */
    }
}

/* `instruction` with the register at %[at]; may use eax, ecx, edi. */
#define BETWEEN_LOOKS(instruction)                                          \
    do {                                                                    \
        uint32_t first, last;                                               \
                                                                            \
        __asm__ volatile("movl (%[count]), %[first]\n\t" instruction "\n\t" \
                         "movl (%[count]), %[last]"                         \
                         : [first] "=&r"(first), [last] "=&r"(last)         \
                         : [count] "r"(&count), [at] "r"(rig.registers)     \
                         : "eax", "ecx", "rdi", "cc", "memory");            \
        before += at_access != first;                                       \
        after += last != at_access;                                         \
    } while (0)

#define DRIVER(name, instruction)             \
    static RIG_DRIVER_CODE void name(void)    \
    {                                         \
        for (unsigned i = 0; i < ROUNDS; i++) \
            BETWEEN_LOOKS(instruction);       \
        over = true;                          \
    }

DRIVER(load, "movl (%[at]), %%eax")
DRIVER(store, "movl $1, (%[at])")
DRIVER(modify, "orl $1, (%[at])")
DRIVER(store_string, "movl $3, %%ecx\n\tmovq %[at], %%rdi\n\trep stosl")

static void one_seed(uint64_t seed, void (*driver)(void))
{
    rig_boot(seed, 1);
    rig.on_access = look;
    count = before = after = 0;
    over = false;
    rig_start(count_turns);
    CHECK(rig_run(driver));
    rig_teardown();
}

static void seeds_differ(void (*driver)(void))
{
    unsigned with_before = 0, with_after = 0, without = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        unsigned b, a;

        one_seed(seed, driver);
        b = before;
        a = after;
        with_before += b > 0;
        with_after += a > 0;
        without += a < ROUNDS;
        one_seed(seed, driver);
        CHECK_RULE("THREAD-074/a", before == b && after == a); /* the same seed, the same choices */
    }
    CHECK_RULE("THREAD-074/a", with_before > 0);
    CHECK_RULE("THREAD-074/a", with_after > 0);
    CHECK(without > 0); /* it may happen, and need not */
}

TEST(others_may_run_around_a_load)
{
    seeds_differ(load);
}

TEST(others_may_run_around_a_store)
{
    seeds_differ(store);
}

TEST(others_may_run_around_a_read_modify_write)
{
    seeds_differ(modify);
}

TEST(others_may_run_around_a_string_instruction)
{
    seeds_differ(store_string);
}
