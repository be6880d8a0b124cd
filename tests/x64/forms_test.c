/* SPDX-License-Identifier: MIT */
/* Rare forms of instructions on what is not plain memory. */
#include "bus/config.h"
#include "bus/device.h"
#include "bus/ports.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "support/inert_device.h"
#include "x64/support/rig.h"
#include "x64/traps/block.h"

#include <cpuid.h>
#include <sys/mman.h>

#define SHARED     0xFFFFF78000000000ull
#define GAP        0x2E20u /* from the GS base on: a member that is not there */
#define ARITHMETIC 0x8D5u

static const unsigned widths[] = {1, 2, 4, 8};

static uint64_t mask_of(unsigned width)
{
    return width == 8 ? UINT64_MAX : (1ull << 8 * width) - 1;
}

/* An instruction with an opcode for bytes and the next one for the other widths. */
static size_t encode(uint8_t *code, unsigned prefix, unsigned width, uint8_t opcode)
{
    size_t n = 0;

    if (prefix)
        code[n++] = (uint8_t)prefix;
    if (width == 2)
        code[n++] = 0x66;
    if (width == 8)
        code[n++] = 0x48;
    code[n++] = (uint8_t)(opcode | (width > 1));
    return n;
}

/* ---- moves ---- */

TEST_WITH(driver, the_accumulator_moves_to_and_from_absolute_addresses)
{
    for (unsigned w = 0; w < 4; w++) {
        const uint64_t before = 0x8877665544332211, there = 0xF1E2D3C4B5A69788;
        const uint64_t mask = mask_of(widths[w]), at = (uintptr_t)rig.registers + 0x40;
        struct rig_registers r = {.flags = 0x202};
        uint8_t code[16];
        size_t n = encode(code, 0, widths[w], 0xA0);

        memcpy(code + n, &at, 8);
        memcpy(rig.value + 0x40, &there, 8);
        r.gpr[0] = before;
        rig_forget_accesses();
        rig_execute(&r, code, n + 8);
        CHECK(rig.accesses == 1 && rig_accessed(0, false, 0x40, widths[w], there & mask));
        CHECK(r.gpr[0] == (widths[w] == 4 ? there & mask : (before & ~mask) | (there & mask)));
        n = encode(code, 0, widths[w], 0xA2);
        memcpy(code + n, &at, 8);
        r.gpr[0] = before;
        rig_forget_accesses();
        rig_execute(&r, code, n + 8);
        CHECK(rig.accesses == 1 && rig_accessed(0, true, 0x40, widths[w], before & mask));
        CHECK(r.gpr[0] == before);
    }
}

TEST_WITH(driver, prefixes_change_nothing_about_a_register)
{
    static const uint8_t prefix[] = {0x26, 0x2E, 0x36, 0x3E};

    for (unsigned i = 0; i < sizeof(prefix); i++) {
        struct rig_registers r = {.flags = 0x202};
        const uint8_t code[] = {prefix[i], 0x48, 0x8B, 0x43, 0x08}; /* mov rax, [rbx + 8] */
        uint64_t value = 0x1020304050607080 + i;

        memcpy(rig.value + 8, &value, 8);
        r.gpr[3] = (uintptr_t)rig.registers;
        rig_execute(&r, code, sizeof(code));
        CHECK(r.gpr[0] == value);
    }
}

TEST_WITH(driver, the_last_of_two_segment_prefixes_counts)
{
    const uint8_t code[] = {0x64, 0x65, 0x48, 0x8B, 0x03}; /* mov rax, gs:[rbx] */
    struct rig_registers r = {.flags = 0x202};

    r.gpr[0] = UINT64_MAX;
    r.gpr[3] = GAP;
    rig_execute(&r, code, sizeof(code));
    CHECK_RULE("NT-173/c", r.gpr[0] == 0);
    CHECK(rig_reported("NT-173") == 1 && strstr(rig_said("NT-173"), "gs:[0x2e20]"));
}

TEST_WITH(driver, short_addresses_leave_out_the_upper_half)
{
    const uint8_t load[] = {0x65, 0x67, 0x48, 0x8B, 0x43, 0x08}; /* mov rax, gs:[ebx + 8] */
    const uint8_t store[] = {0x67, 0x65, 0x89,
                             0x44, 0xCB, 0x20}; /* mov gs:[ebx + ecx * 8 + 32], eax */
    struct rig_registers r = {.flags = 0x202};

    r.gpr[0] = UINT64_MAX;
    r.gpr[3] = 0xFFFFFFFF00000000 | (GAP - 8);
    rig_execute(&r, load, sizeof(load));
    CHECK(r.gpr[0] == 0 && strstr(rig_said("NT-173"), "gs:[0x2e20]"));
    r.gpr[1] = 2;
    rig_execute(&r, store, sizeof(store));
    CHECK(rig_reported("NT-173") == 2 && strstr(rig_said("NT-173"), "gs:[0x2e48]"));
    CHECK(r.gpr[3] == (0xFFFFFFFF00000000 | (GAP - 8)));
}

/* ---- operands of odd sizes ---- */

static RIG_DRIVER_CODE void odd_sizes(void)
{
    uint64_t value = 0x4000C90FDAA22168;

    __asm__ volatile("fldpi; fstpt 16(%0)" : : "r"(rig.registers) : "memory");
    CHECK_RULE("NT-171/c", rig.accesses == 2 && rig_accessed(0, true, 16, 8, 0xC90FDAA22168C235) &&
                               rig_accessed(1, true, 24, 2, 0x4000));
    rig_forget_accesses();
    __asm__ volatile("fldt 16(%0); fstp %%st(0)" : : "r"(rig.registers) : "memory");
    CHECK(rig.accesses == 2 && rig_accessed(0, false, 16, 8, 0xC90FDAA22168C235) &&
          rig_accessed(1, false, 24, 2, 0x4000));
    rig_forget_accesses();
    __asm__ volatile("fnstenv 32(%0)" : : "r"(rig.registers) : "memory");
    CHECK(rig.accesses == 4 && rig.access[0].width == 8 && rig.access[0].offset == 32 &&
          rig.access[2].offset == 48 && rig.access[3].width == 4 && rig.access[3].offset == 56);
    /* both halves are not aligned to their width */
    rig_forget_accesses();
    __asm__ volatile("movq %0, %%xmm1; movups %%xmm1, 4(%1)"
                     :
                     : "r"(value), "r"(rig.registers)
                     : "xmm1", "memory");
    CHECK_RULE("NT-139/b", rig.accesses == 0 && rig_reported("NT-139") == 2);
    CHECK(
        strstr(rig_said("NT-139"), "register access at an address that is not aligned to 8 bytes"));
}

TEST_WITH(machine, odd_sizes_go_in_the_widest_parts)
{
    CHECK(rig_run(odd_sizes));
}

TEST_WITH(driver, cache_hints_reach_no_register)
{
    unsigned a, b = 0, c, d;

    __asm__ volatile("clflush 64(%0)" : : "r"(rig.registers));
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 23 & 1)
        __asm__ volatile("clflushopt 64(%0)" : : "r"(rig.registers));
    if (b >> 24 & 1)
        __asm__ volatile("clwb 64(%0)" : : "r"(rig.registers));
    CHECK(rig.accesses == 0 && verify_records(rig.log) == 0);
}

/* ---- strings ---- */

static const uint64_t operands[] = {0,
                                    1,
                                    2,
                                    0x0F,
                                    0x10,
                                    0x7F7F7F7F7F7F7F7F,
                                    0x8080808080808080,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    0x8000,
                                    0x7FFF,
                                    0x7FFFFFFFFFFFFFFF,
                                    0x8000000000000000,
                                    UINT64_MAX,
                                    0xFEDCBA9876543210};

#define OPERANDS (sizeof(operands) / sizeof(operands[0]))

/* The flags of a comparison, as the processor sets them on plain memory, and as it comes out on registers. */
static void compare_pair(unsigned width, uint8_t opcode, uint64_t a, uint64_t b)
{
    struct rig_registers native = {.flags = 0x202 | ARITHMETIC}, emulated;
    uint64_t source = a, destination = b;
    uint8_t code[4];
    size_t n = encode(code, 0, width, opcode);

    native.gpr[0] = a;
    native.gpr[6] = (uintptr_t)&source;
    emulated = native;
    memcpy(rig.value + 0x80, &b, 8);
    native.gpr[7] = (uintptr_t)&destination;
    emulated.gpr[7] = (uintptr_t)rig.registers + 0x80;
    rig_execute(&native, code, n);
    rig_execute(&emulated, code, n);
    if (native.flags != emulated.flags)
        fail_msg("opcode %x of %u bytes, %#lx and %#lx: flags %#lx, not %#lx", opcode, width, a, b,
                 emulated.flags, native.flags);
    CHECK(native.gpr[0] == emulated.gpr[0] && native.gpr[6] == emulated.gpr[6]);
    CHECK(emulated.gpr[7] == (uintptr_t)rig.registers + 0x80 + width);
}

TEST_WITH(driver, comparisons_set_the_flags_of_the_processor)
{
    for (unsigned w = 0; w < 4; w++)
        for (unsigned i = 0; i < OPERANDS; i++)
            for (unsigned k = 0; k < OPERANDS; k++) {
                compare_pair(widths[w], 0xA6, operands[i], operands[k]); /* cmps */
                compare_pair(widths[w], 0xAE, operands[i], operands[k]); /* scas */
            }
}

TEST_WITH(driver, loads_and_stores_of_strings_have_every_width)
{
    const uint64_t there = 0xF1E2D3C4B5A69788, before = 0x8877665544332211;

    for (unsigned w = 0; w < 4; w++) {
        const uint64_t mask = mask_of(widths[w]);
        struct rig_registers r = {.flags = 0x202};
        uint64_t plain = before;
        uint8_t code[4];

        memcpy(rig.value + 0x80, &there, 8);
        r.gpr[0] = before;
        r.gpr[6] = (uintptr_t)rig.registers + 0x80;
        rig_execute(&r, code, encode(code, 0, widths[w], 0xAC)); /* lods */
        CHECK(r.gpr[0] == (widths[w] == 4 ? there & mask : (before & ~mask) | (there & mask)));
        CHECK(r.gpr[6] == (uintptr_t)rig.registers + 0x80 + widths[w]);
        r.gpr[0] = before;
        r.gpr[7] = (uintptr_t)rig.registers + 0x80;
        r.flags = 0x602;                                         /* downwards */
        rig_execute(&r, code, encode(code, 0, widths[w], 0xAA)); /* stos */
        CHECK(r.gpr[7] == (uintptr_t)rig.registers + 0x80 - widths[w]);
        CHECK(memcmp(rig.value + 0x80, &before, widths[w]) == 0 &&
              rig.value[0x80 + widths[w]] != 0x55);
        r.flags = 0x202;
        memcpy(rig.value + 0x80, &there, 8);
        r.gpr[6] = (uintptr_t)rig.registers + 0x80;
        r.gpr[7] = (uintptr_t)&plain;
        rig_execute(&r, code, encode(code, 0, widths[w], 0xA4)); /* movs */
        CHECK(plain == ((before & ~mask) | (there & mask)));
        CHECK(r.gpr[6] == (uintptr_t)rig.registers + 0x80 + widths[w]);
        CHECK(r.gpr[7] == (uintptr_t)&plain + widths[w]);
    }
}

/* The source is in GS, the destination plain memory that a short address reaches. */
TEST_WITH(driver, strings_with_short_addresses_keep_to_the_lower_halves)
{
    const uint8_t move[] = {0xF3, 0x65, 0x67, 0xA5}; /* rep movs dword [edi], gs:[esi] */
    const uint8_t load[] = {0x65, 0x67, 0x48, 0xAD}; /* lods rax, gs:[esi] */
    uint8_t *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
                        -1, 0);
    struct rig_registers r = {.flags = 0x202};

    CHECK(low != MAP_FAILED);
    memset(low, 0x77, 16);
    r.gpr[1] = 0xFFFFFFFF00000003;
    r.gpr[6] = 0xAAAAAAAA00000000 | GAP;
    r.gpr[7] = 0xBBBBBBBB00000000 | (uintptr_t)low;
    rig_execute(&r, move, sizeof(move));
    CHECK(r.gpr[1] == 0 && r.gpr[6] == GAP + 12 && r.gpr[7] == (uintptr_t)low + 12);
    CHECK(low[0] == 0 && low[11] == 0 && low[12] == 0x77 && rig_reported("NT-173") == 3);
    CHECK(strstr(rig_said("NT-173"), "gs:[0x2e28]") && strstr(rig_said("NT-173"), "movsd at "));
    r.gpr[0] = UINT64_MAX;
    r.gpr[6] = 0xAAAAAAAA00000000 | GAP;
    rig_execute(&r, load, sizeof(load));
    CHECK(r.gpr[0] == 0 && r.gpr[6] == GAP + 8);
    munmap(low, 4096);
}

/* A source without the prefix is not in GS, nor is any destination. */
TEST_WITH(driver, only_the_source_of_a_string_is_in_gs)
{
    const uint8_t code[] = {0x65, 0xA4}; /* movs byte [rdi], gs:[rsi] */
    struct rig_registers r = {.flags = 0x202};

    rig.value[0x10] = 0x5A;
    r.gpr[6] = GAP;
    r.gpr[7] = (uintptr_t)rig.registers + 0x10;
    rig_execute(&r, code, sizeof(code));
    CHECK(rig.value[0x10] == 0 && rig_accessed(0, true, 0x10, 1, 0));
    CHECK(r.gpr[6] == GAP + 1 && r.gpr[7] == (uintptr_t)rig.registers + 0x11);
}

/* From registers on to plain memory: the processor goes on by itself, with the count that is left. */
TEST_WITH(driver, strings_leave_the_registers_behind)
{
    const uint8_t code[] = {0xF3, 0xA4};
    struct rig_registers r = {.flags = 0x602}; /* downwards */
    uint8_t to[8] = {0};

    for (unsigned i = 0; i < 8; i++)
        rig.value[i] = (uint8_t)(0x30 + i);
    r.gpr[1] = 8;
    r.gpr[6] = (uintptr_t)rig.registers + 7;
    r.gpr[7] = (uintptr_t)to + 7;
    rig_execute(&r, code, sizeof(code));
    CHECK(memcmp(to, "01234567", 8) == 0 && rig.accesses == 8);
    CHECK(rig_accessed(0, false, 7, 1, '7') && rig_accessed(7, false, 0, 1, '0'));
    CHECK(r.gpr[1] == 0 && r.gpr[7] == (uintptr_t)to - 1);
}

/* ---- ports ---- */

TEST_WITH(driver, strings_of_ports_have_every_form)
{
    uint8_t buffer[16] = {0};
    void *d = buffer + 4;
    const void *s = buffer;
    uint64_t count = 5;

    __asm__ volatile("insl" : "+D"(d) : "d"(0x1F0) : "memory"); /* the count is not for it */
    CHECK(d == buffer + 8 && buffer[3] == 0 && buffer[4] == 0xFF && buffer[7] == 0xFF &&
          buffer[8] == 0);
    CHECK_RULE("NT-139/c", rig_reported("NT-139") == 1);
    CHECK(strstr(rig_said("NT-139"), "insd at ") &&
          strstr(rig_said("NT-139"), "port 0x1f0, which no device has"));
    d = buffer + 12;
    __asm__ volatile("std; rep insb; cld" : "+D"(d), "+c"(count) : "d"(0x12345678) : "memory");
    CHECK(d == buffer + 7 && count == 0 && buffer[12] == 0xFF && buffer[8] == 0xFF &&
          buffer[13] == 0);
    CHECK(strstr(rig_said("NT-139"), "port 0x5678,"));
    d = buffer, count = 0;
    __asm__ volatile("rep insb" : "+D"(d), "+c"(count) : "d"(0x1F0) : "memory");
    CHECK(d == buffer && count == 0 && buffer[0] == 0);
    __asm__ volatile("outsb" : "+S"(s) : "d"(0x1F0) : "memory");
    CHECK(s == buffer + 1);
    count = 3;
    __asm__ volatile("rep outsw" : "+S"(s), "+c"(count) : "d"(0x1F0) : "memory");
    CHECK(s == buffer + 7 && count == 0 && rig_reported("NT-139") == 5);
    d = (void *)(uintptr_t)(rig.registers + 8), s = (const void *)(uintptr_t)(rig.registers + 16);
    __asm__ volatile("insb; outsl" : "+D"(d), "+S"(s) : "d"(0x1F0) : "memory");
    CHECK(rig.accesses == 2 && rig_accessed(0, true, 8, 1, 0xFF) &&
          rig_accessed(1, false, 16, 4, 0));
}

static struct dxgk_device_model port_model;
static unsigned port_width;
static uint64_t port_offset, port_value;

static bool configure_ports(const struct dxgk_device_config *config,
                            struct dxgk_device_description *description, const char **error)
{
    bool done = inert_device_configure(config, description, error);

    description->bar[0] = (struct dxgk_device_bar){DXGK_BAR_PORTS, 16};
    return done;
}

static uint64_t read_port(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    (void)device, (void)bar;
    port_offset = offset, port_width = width;
    return 0x13579BDF & mask_of(width);
}

static void write_port(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    (void)device, (void)bar;
    port_offset = offset, port_width = width, port_value = value;
}

TEST_WITH(driver, ports_of_a_device_answer)
{
    struct bus_refusal error;
    struct bus_device *device;
    uint64_t a = 0x1122334455667788;
    uint32_t port;

    port_model = (struct dxgk_device_model){
        .api_version = DXGK_DEVICE_API_VERSION,
        .name = "ports",
        .configure = configure_ports,
        .create = inert_device_create,
        .destroy = inert_device_destroy,
        .reset = inert_device_reset,
        .read = read_port,
        .write = write_port,
        .timer = inert_device_timer,
    };
    device = bus_device_add(rig.bus, &port_model, NULL, &error);
    CHECK(device);
    bus_config_write(device, 4, &(uint16_t){5}, 2); /* decode ports, master */
    port = bus_device_port(device, 0);
    __asm__ volatile("inb %%dx, %%al" : "+a"(a) : "d"(0xABCD0000 | (port + 3)));
    CHECK(a == 0x11223344556677DF && port_offset == 3 && port_width == 1);
    __asm__ volatile("inw %%dx, %%ax" : "+a"(a) : "d"(port + 2));
    CHECK(a == 0x1122334455669BDF && port_offset == 2 && port_width == 2);
    __asm__ volatile("inl %%dx, %%eax" : "+a"(a) : "d"(port + 12));
    CHECK(a == 0x13579BDF && port_offset == 12 && port_width == 4);
    __asm__ volatile("outw %%ax, %%dx" : : "a"(0x99887766), "d"(port + 8));
    CHECK(port_offset == 8 && port_width == 2 && port_value == 0x7766);
    __asm__ volatile("outl %%eax, %%dx" : : "a"(0x99887766), "d"(port + 4));
    CHECK(port_offset == 4 && port_width == 4 && port_value == 0x99887766);
    CHECK(rig_reported("NT-139") == 0);
    bus_device_remove(device);
}

/* ---- privileged ---- */

TEST_WITH(driver, registers_of_the_model_that_are_there_are_read)
{
    uint64_t a = UINT64_MAX, d = UINT64_MAX;

    __asm__ volatile("rdmsr" : "+a"(a), "+d"(d) : "c"(0xC0000080));
    CHECK_RULE("NT-175/a", a == 0xD01 && d == 0);
    a = d = UINT64_MAX;
    __asm__ volatile("rdmsr" : "+a"(a), "+d"(d) : "c"(0xC0000102));
    CHECK_RULE("NT-175/a", a == 0 && d == 0 && rig_reported("NT-175") == 0);
    a = d = UINT64_MAX;
    __asm__ volatile("rdpmc" : "+a"(a), "+d"(d) : "c"(0));
    CHECK(a == 0 && d == 0 && rig_reported("NT-175") == 1);
    CHECK(strstr(rig_said("NT-175"), "rdpmc at ") &&
          strstr(rig_said("NT-175"), "performance counters read as zero"));
    __asm__ volatile("movq %%cr3, %0" : "=r"(a));
    CHECK(strstr(rig_said("NT-175"), "control and debug registers read as zero"));
    __asm__ volatile("movq %0, %%dr3" : : "r"(a));
    CHECK(strstr(rig_said("NT-175"), "a write to a control or debug register has no effect"));
    __asm__ volatile("rdmsr" : "+a"(a), "+d"(d) : "c"(0x11));
    CHECK(strstr(rig_said("NT-175"), "a model-specific register that is not there reads as zero"));
    __asm__ volatile("cli");
    CHECK(strstr(rig_said("NT-175"), "cli at ") &&
          strstr(rig_said("NT-175"),
                 "masks interrupts of one processor only; it has no effect here"));
    __asm__ volatile("clts");
    CHECK(strstr(rig_said("NT-175"),
                 "a driver must not change the state of the processor; it has no effect"));
    CHECK(rig_reported("NT-175") == 6 && verify_count(rig.log, VERIFY_ERROR) == 5);
}

TEST_WITH(driver, software_interrupts_say_what_they_are)
{
    uint64_t a = 7, d = UINT64_MAX, c = UINT64_MAX;

    __asm__ volatile("int3");
    CHECK_RULE("NT-176/a", strstr(rig_said("NT-167"), "breakpoint: int3 at "));
    __asm__ volatile("int $0x2D" : : "a"(3));
    CHECK(rig_reported("NT-167") == 2 &&
          strstr(rig_said("NT-167"), "debug service 3 (int 2d): int at "));
    CHECK(verify_count(rig.log, VERIFY_ERROR) == 0);
    __asm__ volatile("int $0x2C");
    CHECK_RULE("NT-176/b", strstr(rig_said("NT-167"), "assertion failed: int at "));
    sim_stall((5ull << 32) - sim_now());
    __asm__ volatile("int $0x31" : "+a"(a), "+d"(d), "+c"(c));
    CHECK((d << 32 | a) >= 5ull << 32 && (d << 32 | a) <= sim_now() && c == UINT64_MAX);
    a = d = UINT64_MAX;
    __asm__ volatile("int $0x32" : "+a"(a), "+d"(d), "+c"(c));
    CHECK((d << 32 | a) >= 5ull << 32 && (d << 32 | a) <= sim_now() && c == 0);
}

static void unknown_interrupt(void)
{
    __asm__ volatile("int $0x21");
}

TEST_WITH(machine, other_software_interrupts_fault)
{
    CHECK(!rig_run(unknown_interrupt));
    CHECK(rig.faulted && rig.fault.kind == SIM_FAULT_PRIVILEGED &&
          rig.fault.address == rig.fault.pc);
}
