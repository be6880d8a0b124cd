/* SPDX-License-Identifier: MIT */
/* Interlocked instructions of an image that is watched for races: which become breakpoints, that they do what they did, and that
 * they give order wherever their operand is. */
#include "nt/base/image.h" /* before there is an `image` */
#include "x64/support/rewrite.h"

#include "nt/mm/race_guard.h"
#include "race/race.h"
#include "x64/rewrite/locked.h"
#include "x64/traps/locked.h"

static void replace(void)
{
    struct x64_locked locked = {.at = NULL};

    if (!sim_current->races)
        sim_current->races = race_create(1); /* the machine's from now on */
    x64_locked_find(&locked, &image.table, TEXT, XDATA, NULL, 0);
    CHECK(x64_rewrite(&image.table, TEXT, XDATA, &image.counts));
    x64_locked_replace(&locked, &image.table);
    CHECK(mprotect(image.base, IMAGE, PROT_READ | PROT_EXEC) == 0);
}

static bool is_replaced(uint32_t at)
{
    uint8_t first;

    return image.base[at] == 0xCC && x64_locked_at((uintptr_t)image.base + at, &first);
}

/* ---- what they do ---- */

/* With rcx at 40 and the next one, rax and rdx as they are here: what they leave. */
static const struct {
    uint8_t bytes;
    uint8_t code[8];
    uint64_t left, rax;
} forms[] = {
    {4, {0xF0, 0xFF, 0x01, 0xC3}, 41, 30},             /* lock inc dword [rcx]; ret */
    {5, {0x66, 0xF0, 0xFF, 0x09, 0xC3}, 39, 30},       /* lock dec word [rcx]; ret */
    {6, {0xF0, 0x48, 0x0F, 0xC1, 0x01, 0xC3}, 70, 40}, /* lock xadd [rcx], rax; ret */
    {4, {0x48, 0x87, 0x01, 0xC3}, 30, 40},             /* xchg [rcx], rax; ret */
    {6, {0xF0, 0x48, 0x0F, 0xB1, 0x11, 0xC3}, 40, 40}, /* lock cmpxchg [rcx], rdx; ret */
    {6, {0xF0, 0x48, 0x0F, 0xAB, 0x11, 0xC3}, 40 | 1ull << 20, 30}, /* lock bts [rcx], rdx; ret */
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static uint32_t function[FORMS + 8];

static void call_forms(void)
{
    for (unsigned i = 0; i < FORMS; i++) {
        uint64_t cell[2] = {40, 50};
        struct rig_registers r = {.flags = 0x202};
        uint64_t traps = x64_traps();

        r.gpr[0] = 30;
        r.gpr[1] = (uintptr_t)cell;
        r.gpr[2] = 20;
        rig_call(&r, image.base + function[i]);
        CHECK(cell[0] == forms[i].left && cell[1] == 50 && r.gpr[0] == forms[i].rax);
        CHECK(x64_traps() == traps + 1);
    }
}

TEST_WITH(machine, an_interlocked_instruction_does_what_it_did)
{
    begin_image();
    for (unsigned i = 0; i < FORMS; i++)
        function[i] = add_function(forms[i].code, forms[i].bytes, 0xC3, 0);
    replace();
    for (unsigned i = 0; i < FORMS; i++)
        CHECK(is_replaced(function[i]));
    CHECK(rig_run(call_forms));
    drop_image();
}

/* ---- which ones ---- */

static void call_leaf(void)
{
    uint32_t cell = 1;
    struct rig_registers r = {.flags = 0x202};

    r.gpr[1] = (uintptr_t)&cell;
    rig_call(&r, image.base + function[0]);
    CHECK(cell == 2 && x64_traps() == 1);
}

TEST_WITH(machine, only_what_is_an_instruction_is_replaced)
{
    static const uint8_t leaf[] = {0xF0, 0xFF, 0x01, 0xC3};

    begin_image();
    /* call the leaf; ret */
    function[0] = ADD(0xC3, 0, 0xE8, 0, 0, 0, 0, 0xC3);
    /* ret, and what looks like one; mov eax, what looks like one; lea in its place; inc without lock */
    function[1] = ADD(0xC3, 0, 0xC3, 0xF0, 0xFF, 0x01, 0xC3);
    function[2] = ADD(0xC3, 0, 0xB8, 0xF0, 0xFF, 0x01, 0xC3, 0xC3);
    function[3] = ADD(0xC3, 0, 0xFF, 0x01, 0xC3);
    /* xchg eax, ecx; ret */
    function[4] = ADD(0xC3, 0, 0x87, 0xC1, 0xC3, 0xC3);
    function[5] = image.at; /* in no function of the table */
    memcpy(image.base + function[5], leaf, sizeof(leaf));
    memcpy(image.base + function[0] + 1, &(int32_t){(int32_t)(function[5] - function[0] - 5)}, 4);
    function[6] = image.at + 16; /* which nobody calls */
    memcpy(image.base + function[6], leaf, sizeof(leaf));
    replace();
    CHECK(is_replaced(function[5]));
    CHECK(image.base[function[1] + 1] == 0xF0 && image.base[function[2] + 1] == 0xF0);
    CHECK(image.base[function[3]] == 0xFF && image.base[function[4]] == 0x87);
    CHECK(image.base[function[6]] == 0xF0);
    CHECK(rig_run(call_leaf));
    x64_locked_forget((uintptr_t)image.base, IMAGE);
    CHECK(!is_replaced(function[5]));
    drop_image();
}

/* ---- one that faults; one behind a breakpoint ---- */

static void call_nowhere(void)
{
    struct rig_registers r = {.flags = 0x202};

    r.gpr[1] = 0x1000;
    rig_call(&r, image.base + function[0]);
}

static void call_behind_breakpoint(void)
{
    uint32_t cell = 1;
    struct rig_registers r = {.flags = 0x202};

    r.gpr[1] = (uintptr_t)&cell;
    rig_call(&r, image.base + function[1]);
    CHECK(cell == 3 && rig_reported("NT-167") == 0);
}

TEST_WITH(machine, a_fault_of_one_is_its_own)
{
    begin_image();
    function[0] = ADD(0xC3, 0, 0x90, 0xF0, 0xFF, 0x01, 0xC3);
    /* two of them */
    function[1] = ADD(0xC3, 0, 0xF0, 0xFF, 0x01, 0xF0, 0xFF, 0x01, 0xC3);
    replace();
    CHECK(is_replaced(function[0] + 1) && is_replaced(function[1] + 3));
    CHECK(rig_run(call_behind_breakpoint));
    CHECK(!rig_run(call_nowhere) && rig.faulted);
    CHECK(rig.fault.pc == (uintptr_t)image.base + function[0] + 1 && rig.fault.address == 0x1000);
    CHECK(rig.fault.kind == SIM_FAULT_WRITE && rig.fault.trap == 14);
    drop_image();
}

/* ---- order ---- */

static uint32_t *guarded;
static uint32_t elsewhere[2], *variable;

static void write_and_tell(void)
{
    struct rig_registers r = {.flags = 0x202};

    r.gpr[1] = (uintptr_t)variable;
    r.gpr[2] = (uintptr_t)guarded;
    rig_call(&r, image.base + function[0]);
}

static void ask_and_write(void)
{
    struct rig_registers r = {.flags = 0x202};

    r.gpr[1] = (uintptr_t)&elsewhere[0];
    r.gpr[2] = (uintptr_t)guarded;
    rig_call(&r, image.base + function[1]);
}

static bool races(uint32_t *told)
{
    bool found;

    rig_boot(11, 2);
    sim_current->races = race_create(2); /* the machine's from now on */
    begin_image();
    /* mov [rdx], eax; lock inc [rcx]; ret, and the other way round */
    function[0] = ADD(0xC3, 0, 0x89, 0x02, 0xF0, 0xFF, 0x01, 0xC3);
    function[1] = ADD(0xC3, 0, 0xF0, 0xFF, 0x01, 0x89, 0x02, 0xC3);
    replace();
    rig.image->base = (uintptr_t)image.base;
    rig.image->bytes = IMAGE;
    guarded = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(guarded != MAP_FAILED);
    nt_race_guard_begin();
    race_watch(sim_current->races, guarded, 4096);
    nt_race_guard_add(guarded, 4096, false);
    variable = told ? told : guarded + 16;
    CHECK(rig_run(write_and_tell));
    CHECK(rig_run(ask_and_write));
    found = rig_reported("THREAD-080") != 0;
    nt_race_guard_forget(guarded, 4096);
    munmap(guarded, 4096);
    drop_image();
    rig_teardown();
    return found;
}

TEST(an_interlocked_instruction_gives_order_wherever_its_operand_is)
{
    CHECK_RULE("THREAD-080/c", !races(&elsewhere[0]));
    CHECK_RULE("THREAD-080/c", races(&elsewhere[1]));
    CHECK_RULE("THREAD-080/c", races(NULL));
}
