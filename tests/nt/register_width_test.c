/* SPDX-License-Identifier: MIT */
/* Registers, memory and ports of a device, by accesses of each width. */
#include "bus/bus.h"
#include "bus/device.h"
#include "bus/memory.h"
#include "bus/ports.h"
#include "support/harness.h"
#include "support/inert_device.h"
#include "support/test_device.h"

#include <sys/mman.h>

static struct bus_device *device;

static uint8_t *map(unsigned bar, SIZE_T bytes)
{
    return MmMapIoSpace(physical(bus_device_bar(device, bar).value), bytes, MmNonCached);
}

/* Each accessor and its form for several, at an address that holds nothing. The neighbours stay. */
#define USE(TYPE, NAME, at)                                                       \
    do {                                                                          \
        const TYPE some[3] = {(TYPE)0x8182838485868788, (TYPE)0x9192939495969798, \
                              (TYPE)0xA1A2A3A4A5A6A7A8};                          \
        volatile TYPE *place = (volatile TYPE *)(void *)(at);                     \
        TYPE back[4] = {0, 0, 0, 0x5A};                                           \
        TYPE copy[3];                                                             \
                                                                                  \
        memcpy(copy, some, sizeof(copy));                                         \
        WRITE_REGISTER_BUFFER_##NAME(place, copy, 3);                             \
        READ_REGISTER_BUFFER_##NAME(place, back, 3);                              \
        CHECK(memcmp(back, some, sizeof(some)) == 0 && back[3] == 0x5A);          \
        CHECK(READ_REGISTER_##NAME(place + 3) == 0);                              \
        WRITE_REGISTER_##NAME(place + 1, (TYPE)0x1112131415161718);               \
        CHECK(READ_REGISTER_##NAME(place) == some[0]);                            \
        CHECK(READ_REGISTER_##NAME(place + 1) == (TYPE)0x1112131415161718);       \
        CHECK(READ_REGISTER_##NAME(place + 2) == some[2]);                        \
        WRITE_REGISTER_BUFFER_##NAME(place, copy, 0);                             \
        READ_REGISTER_BUFFER_##NAME(place + 1, back, 0);                          \
        CHECK(back[0] == some[0]);                                                \
    } while (0)

static void use_widths(uint8_t *base)
{
    USE(UCHAR, UCHAR, base);
    USE(USHORT, USHORT, base + 0x40);
    USE(ULONG, ULONG, base + 0x80);
    USE(ULONG64, ULONG64, base + 0xC0);
    CHECK(errors() == 0);
}

/* At the end of memory, where one byte more is a fault. */
static void use_end(void)
{
    uint8_t *pages = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *end = pages + 4096;

    CHECK(pages != MAP_FAILED && mprotect(pages, 4096, PROT_READ | PROT_WRITE) == 0);
    WRITE_REGISTER_ULONG64((PULONG64)(void *)(end - 8), 0x8877665544332211);
    CHECK(READ_REGISTER_ULONG64((PULONG64)(void *)(end - 8)) == 0x8877665544332211);
    CHECK(READ_REGISTER_ULONG((PULONG)(void *)(end - 4)) == 0x88776655);
    CHECK(READ_REGISTER_USHORT((PUSHORT)(void *)(end - 2)) == 0x8877);
    CHECK(READ_REGISTER_UCHAR(end - 1) == 0x88);
    WRITE_REGISTER_ULONG((PULONG)(void *)(end - 4), 0x1A2B3C4D);
    WRITE_REGISTER_USHORT((PUSHORT)(void *)(end - 2), 0x5E6F);
    WRITE_REGISTER_UCHAR(end - 1, 0x77);
    CHECK(READ_REGISTER_ULONG64((PULONG64)(void *)(end - 8)) == 0x776F3C4D44332211);
    CHECK(errors() == 0);
    munmap(pages, 8192);
}

/* Not aligned: reads ones, and changes nothing. */
static void use_unaligned(uint8_t *base)
{
    for (unsigned offset = 1; offset < 8; offset++) {
        uint8_t *at = base + 0x200 + offset;

        forget_reports();
        CHECK(READ_REGISTER_USHORT((PUSHORT)(void *)at) == (offset % 2 ? 0xFFFF : 0));
        CHECK_RULE("NT-139/b", broken("NT-139") == (offset % 2 != 0));
        forget_reports();
        CHECK(READ_REGISTER_ULONG((PULONG)(void *)at) == (offset % 4 ? 0xFFFFFFFF : 0));
        CHECK_RULE("NT-139/b", broken("NT-139") == (offset % 4 != 0));
        forget_reports();
        CHECK(READ_REGISTER_ULONG64((PULONG64)(void *)at) == ~0ull);
        WRITE_REGISTER_ULONG64((PULONG64)(void *)at, 5);
        CHECK_RULE("NT-139/b", errors() == 2);
        if (offset % 4)
            WRITE_REGISTER_ULONG((PULONG)(void *)at, 5);
        if (offset % 2)
            WRITE_REGISTER_USHORT((PUSHORT)(void *)at, 5);
    }
    forget_reports();
    CHECK(READ_REGISTER_ULONG64((PULONG64)(void *)(base + 0x200)) == 0);
    CHECK(READ_REGISTER_ULONG64((PULONG64)(void *)(base + 0x208)) == 0 && errors() == 0);
}

static void use_device(void)
{
    uint8_t *registers = map(0, 4096), *memory = map(2, 65536);
    uint8_t *block = ExAllocatePoolZero(NonPagedPoolNx, 4096, TAG);

    use_widths(registers);
    CHECK(test_device->reads != 0 && test_device->last_width == 8);
    use_widths(memory);
    CHECK(((uint8_t *)bus_device_memory(device, 2))[0x40] == 0x88);
    use_widths(block); /* RAM that is used like registers */
    use_end();
    CHECK(block[0x40] == 0x88 && block[0x80 + 4] == 0x18);
    use_unaligned(registers);
    use_unaligned(memory);
    use_unaligned(block);
    MmUnmapIoSpace(registers, 4096);
    MmUnmapIoSpace(memory, 65536);
    ExFreePool(block);
    CHECK(errors() == 0);
    WRITE_REGISTER_ULONG((PULONG)(void *)registers, 5);
    CHECK(broken("NT-139"));
    forget_reports();
    WRITE_REGISTER_UCHAR(memory, 5);
    CHECK(READ_REGISTER_UCHAR(memory) == 0xFF);
    CHECK(broken("NT-139"));
    forget_reports();
}

TEST_WITH(machine, registers_have_four_widths)
{
    device = test_device_add(h.bus);
    run(use_device);
}

/* ---- ports ---- */

static bool configure_ports(const struct dxgk_device_config *config,
                            struct dxgk_device_description *description, const char **error)
{
    inert_device_configure(config, description, error);
    description->bar[1] = (struct dxgk_device_bar){DXGK_BAR_PORTS, 32};
    return true;
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "ports",
    .configure = configure_ports,
    .create = inert_device_create,
    .destroy = inert_device_destroy,
    .reset = inert_device_reset,
    .read = inert_device_read,
    .write = inert_device_write,
    .timer = inert_device_timer,
};

/* The forms for several use one port again and again. */
#define USE_PORT(TYPE, NAME, number)                                           \
    do {                                                                       \
        TYPE *port = (TYPE *)(uintptr_t)(number);                              \
        TYPE some[3] = {(TYPE)0x81828384, (TYPE)0x91929394, (TYPE)0xA1A2A3A4}; \
        TYPE back[4] = {0, 0, 0, 0x5A};                                        \
                                                                               \
        WRITE_PORT_##NAME(port, some[1]);                                      \
        CHECK_RULE("NT-139/d", READ_PORT_##NAME(port) == some[1]);             \
        WRITE_PORT_BUFFER_##NAME(port, some, 3);                               \
        CHECK(READ_PORT_##NAME(port) == some[2]);                              \
        WRITE_PORT_BUFFER_##NAME(port, some, 1);                               \
        READ_PORT_BUFFER_##NAME(port, back, 3);                                \
        CHECK(back[0] == some[0] && back[1] == some[0] && back[2] == some[0]); \
        CHECK(back[3] == 0x5A);                                                \
        WRITE_PORT_BUFFER_##NAME(port, some + 1, 0);                           \
        READ_PORT_BUFFER_##NAME(port, back + 3, 0);                            \
        CHECK(READ_PORT_##NAME(port) == some[0] && back[3] == 0x5A);           \
        CHECK(READ_PORT_##NAME(port + 1) == 0);                                \
        CHECK(errors() == 0);                                                  \
        CHECK(READ_PORT_##NAME((TYPE *)(uintptr_t)0x70) == (TYPE)~0ull);       \
        CHECK_RULE("NT-139/c", broken("NT-139") && errors() == 1);             \
        WRITE_PORT_##NAME((TYPE *)(uintptr_t)0x70, 1);                         \
        CHECK_RULE("NT-139/c", errors() == 2);                                 \
        READ_PORT_BUFFER_##NAME((TYPE *)(uintptr_t)0x70, back, 3);             \
        WRITE_PORT_BUFFER_##NAME((TYPE *)(uintptr_t)0x70, back, 2);            \
        CHECK_RULE("NT-139/c", errors() == 7 && back[2] == (TYPE)~0ull);       \
        forget_reports();                                                      \
    } while (0)

static void use_ports(void)
{
    uint32_t first = bus_device_port(device, 1);

    USE_PORT(UCHAR, UCHAR, first);
    USE_PORT(USHORT, USHORT, first + 8);
    USE_PORT(ULONG, ULONG, first + 16);
}

TEST_WITH(machine, ports_have_three_widths)
{
    struct bus_refusal error;

    device = bus_device_add(h.bus, &model, NULL, &error);
    CHECK(device);
    run(use_ports);
}
