/* SPDX-License-Identifier: MIT */
/*
 * Accesses of an image to memory that is watched for races: what each instruction accesses, how it passes, and what becomes of one
 * that does not come to its end. Functions of the image lie in a section of their own.
 */
#include "x64/support/rig.h"

#include "loader/pe.h"
#include "nt/base/image.h"
#include "nt/mm/race_guard.h"
#include "race/race.h"
#include "sim/machine.h"

#include <stdlib.h>
#include <sys/mman.h>

#define TAG   0x74736554u /* "Test" */
#define PAGE  4096u
#define IMAGE __attribute__((section("race_image"), used)) RIG_DRIVER_CODE

extern char __start_race_image[], __stop_race_image[];

/* Pages that are watched, and one behind them that is not there. */
#define PAGES 3u
static char *watched;

static void begin(void)
{
    rig_boot(11, 2);
    sim_current->races = race_create(2); /* the machine's from now on */
    rig.image->base = (uintptr_t)__start_race_image;
    rig.image->bytes = (uint64_t)(__stop_race_image - __start_race_image);
    watched = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    CHECK(watched != MAP_FAILED);
    CHECK(mprotect(watched + PAGES * PAGE, PAGE, PROT_NONE) == 0);
    nt_race_guard_begin();
    race_watch(sim_current->races, watched, PAGES * PAGE);
    nt_race_guard_add(watched, PAGES * PAGE, false);
}

static void end(void)
{
    nt_race_guard_forget(watched, PAGES * PAGE);
    rig_teardown();
    munmap(watched, (PAGES + 1) * PAGE);
}

static bool closed(unsigned page)
{
    return nt_race_guard_traps_at((uintptr_t)watched + page * PAGE);
}

/* One thread, then another one: nothing orders them but the driver's own doing. */
static bool races(void (*first)(void), void (*second)(void))
{
    bool found;

    begin();
    CHECK(rig_run(first));
    CHECK(rig_run(second));
    found = rig_reported("THREAD-080") != 0;
    CHECK(closed(0));
    end();
    return found;
}

#define DO(name, instructions)                                                             \
    static IMAGE void name(void)                                                           \
    {                                                                                      \
        char *at = watched;                                                                \
                                                                                           \
        __asm__ volatile(instructions : "+D"(at) : : "rax", "rcx", "rsi", "cc", "memory"); \
    }

DO(write_f0, "movl $1, 0xF0(%%rdi)")
DO(write_0, "movl $1, (%%rdi)")
DO(write_8, "movl $1, 8(%%rdi)")
DO(write_12, "movl $1, 12(%%rdi)")
DO(add_locked, "lock addl $1, 8(%%rdi)")
DO(exchange, "movl $3, %%eax\n\txchgl %%eax, 8(%%rdi)")
DO(set_bit_locked, "movl $70, %%eax\n\tlock btsl %%eax, (%%rdi)")
DO(set_bit, "movl $70, %%eax\n\tbtsl %%eax, (%%rdi)")
DO(set_bit_before, "leaq 16(%%rdi), %%rcx\n\tmovl $-64, %%eax\n\tlock btsl %%eax, (%%rcx)")
DO(look_at_bit, "movl $70, %%eax\n\tbtl %%eax, (%%rdi)")
DO(write_and_set_bit, "movl $1, (%%rdi)\n\tmovl $70, %%eax\n\tlock btsl %%eax, (%%rdi)")
DO(set_bit_and_write, "movl $70, %%eax\n\tlock btsl %%eax, (%%rdi)\n\tmovl $1, (%%rdi)")

TEST(only_the_prefix_makes_an_instruction_atomic)
{
    CHECK_RULE("THREAD-080/c", races(write_f0, write_f0));
    CHECK_RULE("THREAD-080/c", !races(add_locked, add_locked));
    CHECK_RULE("THREAD-080/c", !races(add_locked, exchange));
    CHECK_RULE("THREAD-080/c", races(add_locked, write_8));
}

TEST(an_atomic_bit_is_of_the_word_that_contains_it)
{
    CHECK_RULE("THREAD-080/c", !races(set_bit_locked, set_bit_locked));
    CHECK_RULE("THREAD-080/c", !races(set_bit_locked, add_locked));
    CHECK_RULE("THREAD-080/c", !races(set_bit_locked, set_bit_before));
    CHECK_RULE("THREAD-080/c", races(set_bit_locked, set_bit));
    CHECK_RULE("THREAD-080/c", races(set_bit_locked, write_8));
    CHECK_RULE("THREAD-080/c", races(look_at_bit, write_8));
    CHECK_RULE("THREAD-080/c", !races(look_at_bit, look_at_bit));
    CHECK_RULE("THREAD-080/c", !races(set_bit_locked, write_0));
    CHECK_RULE("THREAD-080/c", !races(set_bit_locked, write_12));
    CHECK_RULE("THREAD-080/c", !races(write_and_set_bit, set_bit_and_write));
}

DO(write_page_1, "movl $1, 4096(%%rdi)")
DO(write_page_1_beyond, "movl $1, 4104(%%rdi)")
DO(move_to_page_1, "movq %%rdi, %%rsi\n\taddq $4096, %%rdi\n\tmovsq")
DO(move_much_to_page_1, "movq %%rdi, %%rsi\n\taddq $4096, %%rdi\n\tmovl $3, %%ecx\n\trep movsl")
DO(compare_with_page_1, "movq %%rdi, %%rsi\n\taddq $4096, %%rdi\n\tcmpsq")

/* Two registers of the device, from there and to there, which is emulated. */
static IMAGE void read_registers(void)
{
    volatile void *source = rig.registers;
    char *target = watched + 4;
    uint64_t count = 2;

    __asm__ volatile("rep movsl" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
}

static IMAGE void write_registers(void)
{
    char *source = watched + 4;
    volatile void *target = rig.registers;
    uint64_t count = 2;

    __asm__ volatile("rep movsl" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
}

TEST(what_is_emulated_accesses_memory_too)
{
    CHECK_RULE("THREAD-080/c", races(write_8, read_registers));
    CHECK_RULE("THREAD-080/c", races(read_registers, write_8));
    CHECK_RULE("THREAD-080/c", races(write_registers, write_8));
    CHECK_RULE("THREAD-080/c", !races(write_registers, write_0));
    CHECK_RULE("THREAD-080/c", !races(write_registers, write_12));
    CHECK_RULE("THREAD-080/c", !races(write_registers, write_registers));
}

TEST(an_instruction_with_two_operands_accesses_both)
{
    CHECK_RULE("THREAD-080/c", races(write_0, move_to_page_1));
    CHECK_RULE("THREAD-080/c", races(move_to_page_1, write_page_1));
    CHECK_RULE("THREAD-080/c", !races(move_to_page_1, write_page_1_beyond));
    CHECK_RULE("THREAD-080/c", races(move_much_to_page_1, write_page_1_beyond));
    CHECK_RULE("THREAD-080/c", races(compare_with_page_1, write_page_1));
    CHECK_RULE("THREAD-080/c", !races(compare_with_page_1, compare_with_page_1));
}

/* More than a page's share within its window. */
static IMAGE void write_often(void)
{
    for (unsigned i = 0; i < 5000; i++)
        __asm__ volatile("movl $1, (%%rdi)" : : "D"(watched) : "memory");
}

TEST(a_page_rests_unless_a_variable_there_gives_order)
{
    begin();
    CHECK(rig_run(write_often));
    CHECK(!closed(0) && closed(1));
    end();
    begin();
    CHECK(rig_run(add_locked));
    CHECK(rig_run(write_often));
    CHECK_RULE("THREAD-080/c", closed(0));
    end();
}

/* ---- pages that may hold code ---- */

static char *executable; /* a block of pool, and the result of the code there */
static unsigned result;

static IMAGE void take_executable(void)
{
    executable = ExAllocatePoolWithTag(NonPagedPoolExecute, 2 * PAGE, TAG);
}

static IMAGE void write_there(void)
{
    executable[8] = 1;
}

/* mov eax, 5; ret */
static IMAGE void write_code(void)
{
    memcpy(executable + PAGE, "\xB8\5\0\0\0\xC3", 6);
}

static IMAGE void run_there(void)
{
    unsigned (*code)(void);
    char *first = executable + PAGE;

    memcpy(&code, &first, sizeof(code));
    result = code();
}

static IMAGE void give_executable(void)
{
    ExFreePoolWithTag(executable, TAG);
}

TEST(executable_pool_is_watched_until_code_runs_there)
{
    begin();
    CHECK(rig_run(take_executable));
    CHECK_RULE("THREAD-080/c", nt_race_guard_traps_at((uintptr_t)executable));
    CHECK(rig_run(write_there));
    CHECK(rig_run(write_code));
    CHECK(rig_reported("THREAD-080") == 0);
    CHECK(rig_run(write_there));
    CHECK_RULE("THREAD-080/c", rig_reported("THREAD-080") == 1);
    CHECK(nt_race_guard_traps_at((uintptr_t)executable + PAGE));
    CHECK(rig_run(run_there) && result == 5);
    CHECK(!nt_race_guard_traps_at((uintptr_t)executable + PAGE));
    CHECK(nt_race_guard_traps_at((uintptr_t)executable));
    CHECK(rig_run(run_there) && rig_run(give_executable));
    end();
}

/* ---- instructions that do not come to their end ---- */

static bool closed_then; /* while the device answered */

static void look(void)
{
    closed_then = closed(0);
}

/* It begins on the page, and is then emulated. */
static IMAGE void copy_to_register(void)
{
    char *source = watched;
    volatile void *target = rig.registers;

    __asm__ volatile("movsl\n\tmovl $2, 8(%%rcx)"
                     : "+S"(source), "+D"(target)
                     : "c"(watched)
                     : "memory");
}

static IMAGE void copy_to_nowhere(void)
{
    char *source = watched, *target = watched + PAGES * PAGE;

    __asm__ volatile("movsq" : "+S"(source), "+D"(target) : : "memory");
}

TEST(an_instruction_that_goes_on_in_the_emulation_leaves_no_page_open)
{
    begin();
    *(uint32_t *)(void *)watched = 0x12345678;
    rig.on_access = look;
    CHECK(rig_run(copy_to_register));
    CHECK(rig_accessed(0, true, 0, 4, 0x12345678));
    CHECK_RULE("THREAD-080/c", closed_then && closed(0));
    CHECK(*(uint32_t *)(void *)(watched + 8) == 2);
    end();
}

TEST(an_instruction_that_faults_leaves_no_page_open)
{
    begin();
    CHECK(!rig_run(copy_to_nowhere) && rig.faulted);
    CHECK(rig.fault.kind == SIM_FAULT_WRITE);
    CHECK(rig.fault.address == (uintptr_t)watched + PAGES * PAGE);
    CHECK_RULE("THREAD-080/c", closed(0));
    end();
}

TEST(a_section_that_was_discarded_is_not_opened_again)
{
    struct pe_image pe = {.discardables = 1};

    begin();
    pe.base = (uint8_t *)watched;
    pe.discardable = calloc(1, sizeof(*pe.discardable));
    pe.discardable->bytes = PAGE;
    pe_discard(&pe);
    free(pe.discardable);
    CHECK(!rig_run(write_0) && rig.faulted);
    CHECK_RULE("THREAD-080/c", rig.fault.address == (uintptr_t)watched && !closed(0) && closed(1));
    end();
}

/* ---- what the host does there ---- */

static char *from, *to;

static void move_bytes(void)
{
    uint64_t count = PAGES * PAGE;

    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
}

static void store_bytes(void)
{
    uint64_t count = PAGES * PAGE;

    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory");
}

static bool faults_at(void (*fn)(void), const char *address, uint64_t rest)
{
    rig.faulted = false;
    return !rig_run(fn) && rig.faulted && rig.fault.kind != SIM_FAULT_STACK &&
           rig.fault.address == (uintptr_t)address && rig.registers_then.general[1] == rest;
}

TEST(a_large_copy_of_the_host_ends_where_memory_does)
{
    char *end_of_memory;

    begin();
    end_of_memory = watched + PAGES * PAGE;
    from = watched;
    to = watched + 100;
    CHECK(faults_at(move_bytes, end_of_memory, 100));
    CHECK(closed(0) && closed(1) && closed(2));
    end();
    begin();
    from = watched + 1000;
    to = watched;
    CHECK(faults_at(move_bytes, end_of_memory, 1000));
    end();
    begin();
    to = watched + PAGE;
    CHECK(faults_at(store_bytes, end_of_memory, PAGE));
    CHECK(watched[PAGES * PAGE - 1] == 7 && watched[PAGE] == 7 && watched[PAGE - 1] == 0);
    CHECK(closed(0) && closed(1) && closed(2));
    end();
}

TEST(a_copy_that_overlaps_itself_repeats_its_beginning)
{
    begin();
    memcpy(watched, "abc", 3);
    from = watched;
    to = watched + 3;
    CHECK(faults_at(move_bytes, watched + PAGES * PAGE, 3));
    CHECK(memcmp(watched, "abcabcabc", 9) == 0);
    CHECK(memcmp(watched + PAGES * PAGE - 6, "abcabc", 6) == 0);
    end();
}
