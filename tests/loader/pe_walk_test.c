/* SPDX-License-Identifier: MIT */
/* The imports of a Windows image that is made by hand: what is collected, what is filled in, and where tables end. */
#include "loader/support/machine.h"

#include <stddef.h>

#include "loader/image.h"
#include "loader/pe.h"
#include "sim/machine.h"
#include "util/alloc.h"

#define BYTES   0x3000u
#define TABLE   0x1000u /* import descriptors */
#define DELAYED 0x1100u
#define NAMES   0x1200u /* three arrays of names of 0x40 bytes each; slots 0x400 behind */
#define SLOTS   0x1600u
#define TEXTS   0x1A00u

static struct machine machine;
static _Alignas(16) uint8_t bytes[BYTES];
static struct pe_image pe;
static struct loader_image image;
static struct pe_file file;

static void put(uint32_t address, const void *from, size_t count)
{
    memcpy(bytes + address, from, count);
}

static void put_64(uint32_t address, uint64_t value)
{
    put(address, &value, 8);
}

static uint64_t get_64(uint32_t address)
{
    uint64_t value;

    memcpy(&value, bytes + address, 8);
    return value;
}

/* The index-th import of an array: a text behind a hint, or an ordinal. */
static void put_name(unsigned array, unsigned index, const char *text, uint16_t ordinal)
{
    uint32_t at = TEXTS + 0x100 * array + 0x20 * index;

    if (text)
        put(at + 2, text, strlen(text) + 1);
    put_64(NAMES + 0x40 * array + 8 * index, text ? at : PE_IMPORT_BY_ORDINAL | ordinal);
}

static void put_module(uint32_t text, const char *name)
{
    put(text, name, strlen(name) + 1);
}

static void put_descriptor(unsigned index, unsigned array, uint32_t module, bool names)
{
    const struct pe_import_descriptor d = {.names = names ? NAMES + 0x40 * array : 0,
                                           .module = module,
                                           .slots = names ? SLOTS + 0x40 * array
                                                          : NAMES + 0x40 * array};

    put(TABLE + (uint32_t)sizeof(d) * index, &d, sizeof(d));
}

static void begin(void)
{
    machine_begin(&machine);
    memset(bytes, 0, sizeof(bytes));
    memset(machine.error, 0, sizeof(machine.error));
    pe = (struct pe_image){.base = bytes, .bytes = BYTES};
    image = (struct loader_image){.name = "hand.sys", .pe = &pe};
    file = (struct pe_file){
        .name = "hand.sys", .error = machine.error, .error_bytes = sizeof(machine.error)};
    file.directory[PE_IMPORTS].address = TABLE;
    put_module(0x2800, "NTOSKRNL.exe");
    put_module(0x2820, "helper.sys");
    put_descriptor(0, 0, 0x2800, true);
    put_descriptor(1, 1, 0x2820, true);
    put_name(0, 0, "KeGetCurrentProcessorNumberEx", 0);
    put_name(0, 1, "ExNoSuch\x80Routine", 0);
    put_name(0, 2, NULL, 4660);
    put_name(1, 0, NULL, 7);
    put_name(1, 1, "Helps", 0);
}

static NTSTATUS collect(void)
{
    machine.error[0] = '\0';
    pe.import = NULL;
    pe.import_names = NULL;
    pe.imports = 0;
    return pe_collect_imports(&image, &file);
}

static void finish(void)
{
    util_free(pe.import);
    util_free(pe.import_names);
}

static void end(void)
{
    machine_end(&machine);
}

static bool is(unsigned index, const char *module, const char *name, uint32_t slot)
{
    const struct pe_import *import = &pe.import[index];

    return strcmp(pe.import_names + import->module, module) == 0 &&
           strcmp(pe.import_names + import->name, name) == 0 && import->slot == slot;
}

TEST(imports_are_collected_in_their_order)
{
    begin();
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 5 && !machine.error[0]);
    CHECK(is(0, "NTOSKRNL.exe", "KeGetCurrentProcessorNumberEx", SLOTS) && pe.import[0].target &&
          pe.import[0].target == loader_module_find("KeGetCurrentProcessorNumberEx"));
    CHECK(is(1, "NTOSKRNL.exe", "ExNoSuch?Routine", SLOTS + 8) && !pe.import[1].target);
    CHECK(is(2, "NTOSKRNL.exe", "#4660", SLOTS + 16) && pe.import[2].by_ordinal &&
          pe.import[2].ordinal == 4660 && !pe.import[2].target);
    CHECK(is(3, "helper.sys", "#7", SLOTS + 0x40) && pe.import[3].ordinal == 7);
    CHECK(is(4, "helper.sys", "Helps", SLOTS + 0x48) && !pe.import[4].by_ordinal &&
          pe.import[4].ordinal == 0 && !pe.import[4].delayed && !pe.import[4].target);
    finish();
    end();
}

TEST(slots_may_hold_the_names)
{
    begin();
    put_descriptor(0, 0, 0x2800, false);
    memset(bytes + TABLE + sizeof(struct pe_import_descriptor), 0,
           sizeof(struct pe_import_descriptor));
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 3);
    CHECK(is(0, "NTOSKRNL.exe", "KeGetCurrentProcessorNumberEx", NAMES));
    finish();
    file.directory[PE_IMPORTS].address = 0;
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 0);
    finish();
    /* a descriptor without slots is the last one */
    file.directory[PE_IMPORTS].address = TABLE;
    memset(bytes + TABLE + offsetof(struct pe_import_descriptor, slots), 0, 4);
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 0);
    finish();
    end();
}

TEST(delayed_imports_come_last)
{
    struct pe_delay_descriptor d = {.attributes = PE_DELAY_ADDRESSES,
                                    .module = 0x2820,
                                    .slots = SLOTS + 0x80,
                                    .names = NAMES + 0x80};

    begin();
    file.directory[PE_DELAY_IMPORTS].address = DELAYED;
    put(DELAYED, &d, sizeof(d));
    put_name(2, 0, "Late", 0);
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 6);
    CHECK(is(5, "helper.sys", "Late", SLOTS + 0x80) && pe.import[5].delayed &&
          !pe.import[4].delayed);
    finish();
    d.attributes = 0;
    put(DELAYED, &d, sizeof(d));
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(machine.error,
                 "hand.sys: damaged: delayed imports in the form of 32-bit images") == 0);
    file.directory[PE_DELAY_IMPORTS].address = BYTES - (uint32_t)sizeof(d) + 1;
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(machine.error, "hand.sys: damaged: its delayed imports do not end inside it") == 0);
    file.directory[PE_DELAY_IMPORTS].address = BYTES - (uint32_t)sizeof(d);
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 5);
    finish();
    end();
}

TEST(tables_of_imports_end_inside_the_image)
{
    const uint32_t size = sizeof(struct pe_import_descriptor);

    begin();
    file.directory[PE_IMPORTS].address = BYTES - size;
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 0);
    finish();
    file.directory[PE_IMPORTS].address++;
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(machine.error, "hand.sys: damaged: its import table does not end inside it") == 0);
    file.directory[PE_IMPORTS].address = TABLE;
    put_descriptor(0, 0, BYTES, true); /* no name of a module */
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(machine.error, "hand.sys: damaged: it imports from a module without a name") == 0);
    put_descriptor(0, 0, 0x2FF0, true); /* an empty one */
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    put_descriptor(0, 0, 0x2800, true);
    put(TABLE, &(uint32_t){BYTES - 8}, 4); /* the names are in the last eight bytes, and go on */
    put_64(BYTES - 8, PE_IMPORT_BY_ORDINAL | 1);
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(machine.error,
                 "hand.sys: damaged: its imports from NTOSKRNL.exe do not end inside it") == 0);
    put_64(BYTES - 8, 0);
    CHECK(collect() == STATUS_SUCCESS && pe.imports == 2);
    finish();
    put_descriptor(0, 0, 0x2800, true);
    put(TABLE + offsetof(struct pe_import_descriptor, slots), &(uint32_t){BYTES - 16}, 4);
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT); /* three imports in two slots */
    end();
}

TEST(imports_without_a_name_are_refused)
{
    begin();
    put_64(NAMES + 8, UINT64_C(1) << 32);
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(machine.error, "hand.sys: damaged: an import at 0x1608 has no name") == 0);
    put_64(NAMES + 8, BYTES - 2);
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    put_64(NAMES + 8, 0x2F00); /* an empty one */
    CHECK(collect() == STATUS_INVALID_IMAGE_FORMAT);
    put(BYTES - 2, "x", 2);
    put_64(NAMES + 8, BYTES - 4);
    CHECK(collect() == STATUS_SUCCESS && is(1, "NTOSKRNL.exe", "x", SLOTS + 8));
    finish();
    end();
}

TEST(slots_are_filled_in_when_nothing_is_missing)
{
    begin();
    CHECK(collect() == STATUS_SUCCESS);
    CHECK(pe_bind_imports(&pe, &file) == STATUS_DRIVER_ENTRYPOINT_NOT_FOUND);
    CHECK(strcmp(machine.error,
                 "hand.sys: imports 4 routines that the host does not have: NTOSKRNL.exe!#4660 "
                 "(by ordinal, which is different in each build of the kernel), "
                 "NTOSKRNL.exe!ExNoSuch?Routine, helper.sys!#7, helper.sys!Helps") == 0);
    CHECK(get_64(SLOTS) == 0); /* not one */
    for (unsigned i = 1; i < 5; i++)
        pe.import[i].target = (void *)(uintptr_t)(0x1000 + i);
    CHECK(pe_bind_imports(&pe, &file) == STATUS_SUCCESS);
    CHECK(get_64(SLOTS) == (uintptr_t)pe.import[0].target && get_64(SLOTS + 8) == 0x1001 &&
          get_64(SLOTS + 16) == 0x1002 && get_64(SLOTS + 24) == 0 &&
          get_64(SLOTS + 0x40) == 0x1003 && get_64(SLOTS + 0x48) == 0x1004);
    /* one that the host stands in for, and a delayed one, which is told when it is called */
    pe.import[4].stub = true;
    pe.import[3].stub = pe.import[3].delayed = true;
    machine.error[0] = '\0';
    CHECK(pe_bind_imports(&pe, &file) == STATUS_SUCCESS && !machine.error[0]);
    CHECK(strcmp(verify_record_at(machine.log, verify_records(machine.log) - 1)->seen,
                 "hand.sys imports 1 routine that the host stands in for: helper.sys!Helps") == 0);
    finish();
    end();
}
