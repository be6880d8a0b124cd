/* SPDX-License-Identifier: MIT */
/* Device registers through pointers: every width, form and register; what the device sees, what the code gets. */
#include "bus/device.h"
#include "bus/window.h"
#include "nt/mm/retired_view.h"
#include "x64/support/rig.h"

#define AT(type, offset) (*(volatile type *)(rig.registers + (offset)))

static RIG_DRIVER_CODE void plain_c(void)
{
    AT(uint8_t, 1) = 0x11;
    AT(uint16_t, 2) = 0x2222;
    AT(uint32_t, 4) = 0x44444444;
    AT(uint64_t, 8) = 0x8888888888888888;
    CHECK(AT(uint8_t, 1) == 0x11);
    CHECK(AT(uint16_t, 2) == 0x2222);
    CHECK(AT(uint32_t, 4) == 0x44444444);
    CHECK(AT(uint64_t, 8) == 0x8888888888888888);
}

TEST_WITH(machine, volatile_pointers_reach_the_device_with_their_width)
{
    CHECK(rig_run(plain_c));
    CHECK(rig.accesses == 8);
    CHECK_RULE("NT-171/a", rig_accessed(0, true, 1, 1, 0x11));
    CHECK_RULE("NT-171/a", rig_accessed(1, true, 2, 2, 0x2222));
    CHECK_RULE("NT-171/a", rig_accessed(2, true, 4, 4, 0x44444444));
    CHECK_RULE("NT-171/a", rig_accessed(3, true, 8, 8, 0x8888888888888888));
    CHECK_RULE("NT-139/a", rig_accessed(6, false, 4, 4, 0x44444444));
    CHECK(x64_traps() == 8);
}

static RIG_DRIVER_CODE void io_space(void)
{
    PHYSICAL_ADDRESS bar = {.QuadPart = (LONGLONG)bus_device_bar(rig.device, 0).value + 0x20};
    volatile uint32_t *mapped = MmMapIoSpace(bar, 16, MmNonCached);

    CHECK(mapped);
    mapped[1] = 0x600D;
    CHECK_RULE("NT-134/a", rig_accessed(0, true, 0x24, 4, 0x600D) && mapped[1] == 0x600D);
    CHECK(rig_reported("NT-139") == 0 && mapped[4] == UINT32_MAX);
    CHECK_RULE("NT-139/c", rig_reported("NT-139") == 1); /* behind the mapping */
    MmUnmapIoSpace((PVOID)(uintptr_t)mapped, 16);
}

TEST_WITH(machine, io_space_is_reached_through_pointers)
{
    CHECK(rig_run(io_space));
}

/* Encode `mov reg, [base]` or `mov [base], reg` for any two registers and any width. */
static size_t encode_move(uint8_t *code, bool store, unsigned reg, unsigned base, unsigned width)
{
    size_t n = 0;

    if (width == 2)
        code[n++] = 0x66;
    code[n++] = (uint8_t)(0x40 | (width == 8 ? 8 : 0) | (reg & 8 ? 4 : 0) | (base & 8 ? 1 : 0));
    code[n++] = (uint8_t)((store ? 0x88 : 0x8A) | (width > 1));
    code[n++] = (uint8_t)(0x40 | (reg & 7) << 3 | (base & 7));
    if ((base & 7) == 4)
        code[n++] = 0x24;
    code[n++] = 0x10; /* disp8 */
    return n;
}

TEST_WITH(driver, every_register_and_width_loads_and_stores)
{
    static const unsigned widths[] = {1, 2, 4, 8};

    for (unsigned reg = 0; reg < 16; reg++) {
        for (unsigned base = 0; base < 16; base++) {
            for (unsigned w = 0; w < 4; w++) {
                uint64_t mask = widths[w] == 8 ? UINT64_MAX : (1ull << 8 * widths[w]) - 1;
                uint64_t before = 0x0123456789ABCDEF * (reg + 3), expected;
                struct rig_registers r = {.flags = 0x202};
                uint64_t value = 0xFEDCBA9876543210 + base;
                uint8_t code[16];

                if (reg == 4 || base == 4 || reg == base)
                    continue;
                memcpy(rig.value + 0x10, &value, 8);
                r.gpr[base] = (uintptr_t)rig.registers;
                r.gpr[reg] = before;
                rig_execute(&r, code, encode_move(code, false, reg, base, widths[w]));
                expected = widths[w] == 4 ? (uint32_t)value : (before & ~mask) | (value & mask);
                CHECK(r.gpr[reg] == expected);
                r.gpr[reg] = before;
                rig_execute(&r, code, encode_move(code, true, reg, base, widths[w]));
                memcpy(&value, rig.value + 0x10, 8);
                CHECK((value & mask) == (before & mask));
            }
        }
    }
}

static RIG_DRIVER_CODE void extensions(void)
{
    uint64_t out;

    AT(uint32_t, 0) = 0x80C0FFF1;
    __asm__ volatile("movzbl (%1), %k0" : "=r"(out) : "r"(rig.registers));
    CHECK(out == 0xF1);
    __asm__ volatile("movsbq (%1), %0" : "=r"(out) : "r"(rig.registers));
    CHECK(out == 0xFFFFFFFFFFFFFFF1);
    __asm__ volatile("movzwl 2(%1), %k0" : "=r"(out) : "r"(rig.registers));
    CHECK(out == 0x80C0);
    __asm__ volatile("movswl 2(%1), %k0" : "=r"(out) : "r"(rig.registers));
    CHECK(out == 0xFFFF80C0);
    __asm__ volatile("movslq (%1), %0" : "=r"(out) : "r"(rig.registers));
    CHECK(out == 0xFFFFFFFF80C0FFF1);
    __asm__ volatile("movb 1(%1), %%ah; movzbl %%ah, %%eax" : "=a"(out) : "r"(rig.registers));
    CHECK(out == 0xFF);
    __asm__ volatile("movl $0x12345678, 16(%0)" : : "r"(rig.registers) : "memory");
    __asm__ volatile("movq $-2, 24(%0,%1,8)" : : "r"(rig.registers), "r"(1ull) : "memory");
    CHECK(AT(uint32_t, 16) == 0x12345678);
    CHECK(AT(uint64_t, 32) == 0xFFFFFFFFFFFFFFFE);
}

TEST_WITH(machine, moves_extend_as_they_should)
{
    CHECK(rig_run(extensions));
}

static RIG_DRIVER_CODE void modify(void)
{
    bool zero, carry;

    AT(uint32_t, 4) = 0xF0;
    rig_forget_accesses();
    __asm__ volatile("orl $0x0F, 4(%0)" : : "r"(rig.registers) : "memory", "cc");
    CHECK_RULE("NT-171/b", rig.accesses == 2 && rig_accessed(0, false, 4, 4, 0xF0) &&
                               rig_accessed(1, true, 4, 4, 0xFF));
    __asm__ volatile("andl $0xFFFFFF00, 4(%2)"
                     : "=@ccz"(zero), "=@ccc"(carry)
                     : "r"(rig.registers)
                     : "memory");
    CHECK(zero && !carry && AT(uint32_t, 4) == 0);
    __asm__ volatile("subl $1, 4(%2)"
                     : "=@ccz"(zero), "=@ccc"(carry)
                     : "r"(rig.registers)
                     : "memory");
    CHECK(!zero && carry && AT(uint32_t, 4) == 0xFFFFFFFF);
    rig_forget_accesses();
    __asm__ volatile("testb $1, 4(%1)" : "=@ccz"(zero) : "r"(rig.registers));
    CHECK(!zero && rig.accesses == 1 && rig_accessed(0, false, 4, 1, 0xFF));
}

TEST_WITH(machine, read_modify_write_reads_once_and_writes_once)
{
    CHECK(rig_run(modify));
}

static RIG_DRIVER_CODE void atomics(void)
{
    uint32_t old = 5;
    bool equal;

    AT(uint32_t, 0) = 5;
    CHECK(__atomic_exchange_n((uint32_t *)rig.registers, 7, __ATOMIC_SEQ_CST) == 5);
    CHECK(__atomic_fetch_add((uint32_t *)rig.registers, 3, __ATOMIC_SEQ_CST) == 7);
    __asm__ volatile("lock cmpxchgl %3, (%2)"
                     : "=@ccz"(equal), "+a"(old)
                     : "r"(rig.registers), "r"(1)
                     : "memory");
    CHECK(!equal && old == 10);
    __asm__ volatile("lock cmpxchgl %3, (%2)"
                     : "=@ccz"(equal), "+a"(old)
                     : "r"(rig.registers), "r"(1)
                     : "memory");
    CHECK(equal && AT(uint32_t, 0) == 1);
}

TEST_WITH(machine, locked_instructions_work)
{
    CHECK(rig_run(atomics));
}

static RIG_DRIVER_CODE void bits(void)
{
    bool was;

    AT(uint64_t, 64) = 0;
    rig_forget_accesses();
    /* bit 70 from 56: two words further */
    __asm__ volatile("btsl %2, (%1)" : "=@ccc"(was) : "r"(rig.registers + 56), "r"(70) : "memory");
    CHECK(!was && rig_accessed(0, false, 64, 4, 0) && rig_accessed(1, true, 64, 4, 0x40));
    __asm__ volatile("btq %2, (%1)" : "=@ccc"(was) : "r"(rig.registers + 72), "r"(-64l + 6));
    CHECK(was);
    __asm__ volatile("btrl $6, (%1)" : "=@ccc"(was) : "r"(rig.registers + 64) : "memory");
    CHECK(was && AT(uint32_t, 64) == 0);
}

TEST_WITH(machine, bit_strings_find_their_word)
{
    CHECK(rig_run(bits));
}

static RIG_DRIVER_CODE void vectors(void)
{
    uint64_t in[2] = {0x1111111122222222, 0x3333333344444444}, out[4] = {0};

    rig_forget_accesses();
    __asm__ volatile("movups %1, %%xmm5; movups %%xmm5, 32(%0)"
                     :
                     : "r"(rig.registers), "m"(in)
                     : "xmm5", "memory");
    CHECK_RULE("NT-171/c", rig.accesses == 2 && rig_accessed(0, true, 32, 8, in[0]) &&
                               rig_accessed(1, true, 40, 8, in[1]));
    __asm__ volatile("movdqa 32(%1), %%xmm9; movdqu %%xmm9, %0"
                     : "=m"(out)
                     : "r"(rig.registers)
                     : "xmm9");
    CHECK(out[0] == in[0] && out[1] == in[1]);
    __asm__ volatile("movd 36(%1), %%xmm3; movq %%xmm3, %0"
                     : "=m"(out[0])
                     : "r"(rig.registers)
                     : "xmm3");
    CHECK(out[0] == 0x11111111);
    __asm__ volatile("movnti %q1, 48(%0)" : : "r"(rig.registers), "r"(in[1]) : "memory");
    CHECK(AT(uint64_t, 48) == in[1]);
    if (__builtin_cpu_supports("avx2")) {
        memset(out, 0, sizeof(out));
        __asm__ volatile("vmovdqu 32(%1), %%ymm12; vpaddb 32(%1), %%ymm12, %%ymm12;"
                         "vmovdqu %%ymm12, %0; vzeroupper"
                         : "=m"(out)
                         : "r"(rig.registers)
                         : "xmm12");
        CHECK(out[0] == 0x2222222244444444 && out[2] == 0x6666666688888888);
    }
    __asm__ volatile("fildll 32(%1); fistpll %0" : "=m"(out[0]) : "r"(rig.registers));
    CHECK(out[0] == in[0]);
}

TEST_WITH(machine, vector_accesses_are_split_into_eight_bytes)
{
    CHECK(rig_run(vectors));
}

/* ---- strings ---- */

static RIG_DRIVER_CODE void strings(void)
{
    uint8_t from[64], to[64] = {0};
    const void *s;
    void *d;
    uint64_t count;

    for (unsigned i = 0; i < sizeof(from); i++)
        from[i] = (uint8_t)(3 * i);
    s = from, d = (void *)(uintptr_t)(rig.registers + 4096 - 32), count = 16;
    rig_forget_accesses();
    __asm__ volatile("rep movsl" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    CHECK(count == 0 && s == from + 64 && d == (void *)(rig.registers + 4096 + 32));
    CHECK_RULE("NT-171/d", rig.accesses == 16 && rig_accessed(15, true, 4096 + 28, 4, 0xBDBAB7B4));
    CHECK(memcmp(rig.value + 4096 - 32, from, 64) == 0);
    s = (const void *)(uintptr_t)(rig.registers + 4096 - 32), d = to, count = 8;
    __asm__ volatile("rep movsq" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    CHECK(memcmp(to, from, 64) == 0);
    d = (void *)(uintptr_t)(rig.registers + 128), count = 6;
    __asm__ volatile("rep stosw" : "+D"(d), "+c"(count) : "a"(0xABCD) : "memory");
    CHECK(AT(uint64_t, 128) == 0xABCDABCDABCDABCD && AT(uint32_t, 136) == 0xABCDABCD);
    d = (void *)(uintptr_t)(rig.registers + 135), count = 3;
    __asm__ volatile("std; rep stosb; cld" : "+D"(d), "+c"(count) : "a"(0) : "memory");
    CHECK(AT(uint64_t, 128) == 0x000000CDABCDABCD && d == (void *)(rig.registers + 132));
}

TEST_WITH(machine, string_instructions_go_element_by_element)
{
    CHECK(rig_run(strings));
}

static RIG_DRIVER_CODE void scans(void)
{
    const uint8_t text[] = "0123456x89";
    const void *s, *d;
    uint64_t count, value;
    bool equal;

    memcpy(rig.value + 256, "0123456789", 10);
    d = (const void *)(rig.registers + 256), count = 10;
    __asm__ volatile("repne scasb" : "=@ccz"(equal), "+D"(d), "+c"(count) : "a"('4') : "memory");
    CHECK(equal && count == 5);
    s = text, d = (const void *)(rig.registers + 256), count = 10;
    __asm__ volatile("repe cmpsb" : "=@ccz"(equal), "+S"(s), "+D"(d), "+c"(count) : : "memory");
    CHECK(!equal && count == 2 && s == text + 8);
    s = (const void *)(rig.registers + 256);
    __asm__ volatile("lodsl" : "=a"(value), "+S"(s) : : "memory");
    CHECK(value == 0x33323130 && s == (const void *)(rig.registers + 260));
    d = (const void *)(rig.registers + 256), count = 0;
    rig_forget_accesses();
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(count) : : "memory");
    CHECK(rig.accesses == 0);
}

TEST_WITH(machine, comparing_strings_stop_where_they_should)
{
    CHECK(rig_run(scans));
}

/* ---- the stack ---- */

static RIG_DRIVER_CODE void stack(void)
{
    uint64_t value = 0;

    AT(uint64_t, 512) = 0x5151515151515151;
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushq 512(%1); popq %0; lea 128(%%rsp), %%rsp"
                     : "=r"(value)
                     : "r"(rig.registers)
                     : "memory");
    CHECK(value == 0x5151515151515151);
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushq $77; popq 520(%0); lea 128(%%rsp), %%rsp"
                     :
                     : "r"(rig.registers)
                     : "memory");
    CHECK(AT(uint64_t, 520) == 77);
}

TEST_WITH(machine, push_and_pop_reach_registers)
{
    CHECK(rig_run(stack));
}

/* ---- what goes wrong ---- */

static RIG_DRIVER_CODE void wrong(void)
{
    CHECK_RULE("NT-139/b", *(volatile uint16_t *)(rig.registers + 1) == 0xFFFF);
    CHECK_RULE("NT-139/b", rig_reported("NT-139") == 1 && rig.accesses == 0);
    bus_unmap(rig.bus, (void *)(uintptr_t)rig.registers);
    nt_retired_view_add((const void *)(uintptr_t)rig.registers, RIG_REGISTERS, "BAR 0 of the rig",
                        "MmUnmapIoSpace", NULL);
    CHECK(AT(uint32_t, 0) == 0xFFFFFFFF);
    CHECK_RULE("PHYS-194", strstr(rig_said("NT-139"), "mov") &&
                               strstr(rig_said("NT-139"), "in a view of BAR 0 of the rig that "
                                                          "MmUnmapIoSpace had ended"));
    AT(uint32_t, 0) = 1;
    CHECK_RULE("NT-139/b", rig_reported("NT-139") == 3 && rig.accesses == 0);
    CHECK(strstr(rig_said("NT-139"), "mov"));
}

TEST_WITH(machine, unaligned_and_unmapped_accesses_are_reported)
{
    CHECK(rig_run(wrong));
}

static void save_all(void)
{
    static _Alignas(64) uint8_t area[8192];

    (void)area;
    __asm__ volatile("fxsave64 (%0)" : : "r"(rig.registers) : "memory");
}

TEST_WITH(machine, what_no_device_could_take_is_a_violation_and_a_fault)
{
    CHECK(!rig_run(save_all));
    CHECK_RULE("NT-171/e", rig_reported("NT-171") == 1 && rig.faulted && rig.accesses == 0);
    CHECK(strstr(rig_said("NT-171"), "fxsave"));
}

/* ---- what a trap must not touch ---- */

#define VECTORS 16u

struct floating {
    uint32_t control, control_after; /* MXCSR */
    uint64_t unused;
    uint8_t top[16]; /* of the x87 stack, with pi on it */
};

/* Load the vector registers from `in`, take the trap of a load, and store them to `out`. */
void around_trap(const void *in, void *out, volatile void *trapping, struct floating *floating);
__asm__(".text\n"
        ".globl around_trap\n"
        ".type around_trap, @function\n"
        "around_trap:\n"
        "    stmxcsr -8(%rsp)\n    ldmxcsr (%rcx)\n    fldpi\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "    vmovdqu 32*\\n(%rdi), %ymm\\n\n"
        ".endr\n"
        "    movl (%rdx), %eax\n"
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        "    vmovdqu %ymm\\n, 32*\\n(%rsi)\n"
        ".endr\n"
        "    stmxcsr 4(%rcx)\n    fstpt 16(%rcx)\n    ldmxcsr -8(%rsp)\n    vzeroupper\n    ret\n"
        ".size around_trap, . - around_trap\n");

/* As a device model in C may. */
static void use_all_vectors(void)
{
    static const uint32_t control = 0x1F80;

    __asm__ volatile("vzeroall\n\tldmxcsr %0\n\tfldz\n\tfstp %%st(0)" : : "m"(control));
}

static void floating_point(void)
{
    static uint8_t in[VECTORS * 32], out[VECTORS * 32];
    static const uint8_t pi[10] = {0x35, 0xC2, 0x68, 0x21, 0xA2, 0xDA, 0x0F, 0xC9, 0x00, 0x40};
    struct floating floating = {.control = 0x7F80}; /* rounds toward zero */

    for (unsigned i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 37 + i / 256);
    for (unsigned i = 0; i < 100; i++) {
        memset(out, 0, sizeof(out));
        floating.control_after = 0;
        around_trap(in, out, rig.registers, &floating);
        CHECK(memcmp(in, out, sizeof(in)) == 0);
        CHECK(floating.control_after == floating.control);
        CHECK(memcmp(floating.top, pi, sizeof(pi)) == 0);
    }
}

TEST_WITH(machine, floating_point_survives_a_trap)
{
    if (!__builtin_cpu_supports("avx"))
        skip();
    rig.on_access = use_all_vectors;
    CHECK(rig_run(floating_point));
    CHECK(x64_traps() == 100 && rig.accesses == 100);
}
