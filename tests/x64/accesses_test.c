/* SPDX-License-Identifier: MIT */
/* Accesses of an image at which a machine under stress preempts: which become places of it, that they do what they did, that a
 * place which is hit often rests, and how one that faults is told. */
#include "x64/support/rewrite.h"

#include "x64/rewrite/accesses.h"
#include "x64/traps/preempt.h"

#define HITS       100u     /* after which a place rests, */
#define REST       1000001u /* for this long */
#define NO_POINTER 0u

/* With one pointer of the image; all accesses are chosen. */
static void replace_with(uint32_t pointer)
{
    struct x64_accesses accesses = {.one_of = 1};

    sim_current->stress = true;
    x64_accesses_find(&accesses, &image.table, TEXT, XDATA, &pointer, pointer != NO_POINTER);
    x64_accesses_place(&accesses, &image.table);
    CHECK(mprotect(image.base, IMAGE, PROT_READ | PROT_EXEC) == 0);
}

static void replace(void)
{
    replace_with(NO_POINTER);
}

static bool is_replaced(uint32_t at)
{
    uint8_t first;

    return image.base[at] == 0xF4 && x64_preempt_at((uintptr_t)image.base + at, &first);
}

/* ---- what they do ---- */

/* With rcx at 40 and the next one, rax and rdx as they are here: what they leave. */
static const struct {
    uint8_t bytes;
    uint8_t code[8];
    uint64_t left, rax;
} forms[] = {
    {4, {0x48, 0x8B, 0x01, 0xC3}, 40, 40},             /* mov rax, [rcx]; ret */
    {4, {0x48, 0x89, 0x11, 0xC3}, 20, 30},             /* mov [rcx], rdx; ret */
    {4, {0x48, 0x01, 0x01, 0xC3}, 70, 30},             /* add [rcx], rax; ret */
    {3, {0xFF, 0x01, 0xC3}, 41, 30},                   /* inc dword [rcx]; ret */
    {5, {0x48, 0x0F, 0xAF, 0x01, 0xC3}, 40, 1200},     /* imul rax, [rcx]; ret */
    {4, {0x0F, 0xB6, 0x01, 0xC3}, 40, 40},             /* movzx eax, byte [rcx]; ret */
    {6, {0xF0, 0x48, 0x0F, 0xC1, 0x01, 0xC3}, 70, 40}, /* lock xadd [rcx], rax; ret */
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static uint32_t function[16];

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

TEST_WITH(machine, an_access_does_what_it_did)
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

TEST_WITH(machine, only_accesses_to_memory_of_others_are_replaced)
{
    static const uint8_t plain[][8] = {
        {0x0F, 0x1F, 0x40, 0x00, 0xC3},       /* nop [rax] */
        {0x0F, 0x18, 0x09, 0xC3},             /* prefetcht0 [rcx] */
        {0x48, 0x8D, 0x01, 0xC3},             /* lea rax, [rcx] */
        {0x48, 0x8B, 0x44, 0x24, 0x20, 0xC3}, /* mov rax, [rsp + 32] */
        {0xFF, 0x21},                         /* jmp [rcx] */
        {0xA4, 0xC3},                         /* movsb */
        {0x0F, 0x10, 0x01, 0xC3},             /* movups xmm0, [rcx] */
        {0x65, 0x48, 0x8B, 0x01, 0xC3},       /* mov rax, gs:[rcx] */
    };
    static const uint8_t bytes[] = {5, 4, 4, 6, 2, 2, 4, 5};

    begin_image();
    for (unsigned i = 0; i < sizeof(bytes); i++)
        function[i] = add_function(plain[i], bytes[i], 0xC3, 0);
    replace();
    for (unsigned i = 0; i < sizeof(bytes); i++)
        CHECK(image.base[function[i]] == plain[i][0]);
    drop_image();
}

/* Puts code where no function of the table is, and leaves room behind it. Returns its offset. */
static uint32_t put(const uint8_t *code, uint32_t bytes, uint8_t padding)
{
    uint32_t at = image.at;

    memcpy(image.base + at, code, bytes);
    image.at = (at + bytes + 32) & ~15u;
    memset(image.base + at + bytes, padding, image.at - at - bytes);
    return at;
}

TEST_WITH(machine, what_pointers_lead_to_is_code_if_it_begins_and_ends_as_functions_do)
{
    static const uint8_t load[] = {0x8B, 0x01, 0xC3}; /* mov eax, [rcx]; ret */
    static const uint8_t no_end[] = {0x8B, 0x01, 0x90};
    static const uint8_t bad[] = {0x8B, 0x01, 0x06, 0xC3}; /* no instruction in 64 bits */
    uint32_t loads[4], pointed;

    begin_image();
    for (unsigned i = 0; i < 4; i++) /* lea rax, [...]; ret */
        function[i] = ADD(0xCC, 0, 0x48, 0x8D, 0x05, 0, 0, 0, 0, 0xC3);
    loads[0] = put(load, sizeof(load), 0xCC);
    loads[1] = put(no_end, sizeof(no_end), 0x06);
    loads[2] = put(bad, sizeof(bad), 0xCC);
    loads[3] = put(load, sizeof(load), 0x8B); /* other things follow at once */
    pointed = put(load, sizeof(load), 0xCC);
    for (unsigned i = 0; i < 4; i++)
        memcpy(image.base + function[i] + 3, &(int32_t){(int32_t)(loads[i] - function[i] - 7)}, 4);
    replace_with(pointed);
    CHECK(is_replaced(loads[0]) && is_replaced(pointed));
    for (unsigned i = 1; i < 4; i++)
        CHECK(image.base[loads[i]] == 0x8B);
    drop_image();
}

TEST_WITH(machine, a_pointer_to_no_boundary_of_functions_leads_nowhere)
{
    static const uint8_t load[] = {0x90, 0x8B, 0x01, 0xC3};
    uint32_t at;

    begin_image();
    at = put(load, sizeof(load), 0xCC);
    replace_with(at + 1);
    CHECK(image.base[at + 1] == 0x8B);
    drop_image();
}

/* ---- resting ---- */

static void call_often(void)
{
    uint32_t cell = 7;
    struct rig_registers r = {.flags = 0x202};
    uint64_t traps = x64_traps();

    r.gpr[1] = (uintptr_t)&cell;
    for (unsigned i = 0; i < HITS + 20; i++)
        rig_call(&r, image.base + function[0]);
    CHECK(r.gpr[0] == 7 && x64_traps() == traps + HITS);
    x64_preempt_wake();
    CHECK(!is_replaced(function[0]));
    sim_current->now += REST;
    x64_preempt_wake();
    CHECK(is_replaced(function[0]));
    rig_call(&r, image.base + function[0]);
    CHECK(x64_traps() == traps + HITS + 1);
}

TEST_WITH(machine, a_place_that_is_hit_often_rests)
{
    begin_image();
    function[0] = ADD(0xC3, 0, 0x8B, 0x01, 0xC3);
    replace();
    CHECK(rig_run(call_often));
    x64_preempt_forget((uintptr_t)image.base, IMAGE);
    CHECK(!is_replaced(function[0]));
    drop_image();
}

static void call_with_locals(void)
{
    uint64_t local[2] = {5, 6};
    struct rig_registers r = {.flags = 0x202};

    r.gpr[5] = (uintptr_t)local;
    rig_call(&r, image.base + function[0]);
    CHECK(r.gpr[0] == 5 && image.base[function[0]] == 0x48);
    sim_current->now += REST;
    x64_preempt_wake();
    CHECK(image.base[function[0]] == 0x48);
}

TEST_WITH(machine, a_local_variable_is_no_place_for_long)
{
    begin_image();
    function[0] = ADD(0xC3, 0, 0x48, 0x8B, 0x45, 0x00, 0xC3); /* mov rax, [rbp] */
    replace();
    CHECK(is_replaced(function[0]) && rig_run(call_with_locals));
    drop_image();
}

/* ---- one that faults ---- */

static void load_from_nowhere(void)
{
    struct rig_registers r = {.flags = 0x202};

    r.gpr[1] = 0x1000;
    rig_call(&r, image.base + function[0]);
}

static void store_to_nowhere(void)
{
    struct rig_registers r = {.flags = 0x202};

    r.gpr[1] = 0x1234000012340000;
    rig_call(&r, image.base + function[1]);
}

static void prepare_faults(void)
{
    begin_image();
    function[0] = ADD(0xC3, 0, 0x90, 0x8B, 0x01, 0xC3);
    function[1] = ADD(0xC3, 0, 0x90, 0x89, 0x01, 0xC3);
    replace();
}

TEST_WITH(machine, a_fault_of_one_is_its_own)
{
    prepare_faults();
    CHECK(is_replaced(function[0] + 1));
    CHECK(!rig_run(load_from_nowhere) && rig.faulted);
    CHECK(rig.fault.pc == (uintptr_t)image.base + function[0] + 1 && rig.fault.address == 0x1000);
    CHECK(rig.fault.kind == SIM_FAULT_READ && rig.fault.trap == 14);
    drop_image();
}

TEST_WITH(machine, an_address_that_is_not_canonical_is_a_protection_fault)
{
    prepare_faults();
    CHECK(!rig_run(store_to_nowhere) && rig.faulted);
    CHECK(rig.fault.pc == (uintptr_t)image.base + function[1] + 1);
    CHECK(rig.fault.kind == SIM_FAULT_WRITE && rig.fault.trap == 13);
    drop_image();
}
