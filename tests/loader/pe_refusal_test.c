/* SPDX-License-Identifier: MIT */
/* Windows images in which one thing is wrong: each is refused with one line that says what, nothing is kept, nothing of it runs.
 * All are made from a good one. */
#include "loader/support/machine.h"

#include "loader/pe_format.h"
#include "sim/machine.h"
#include "util/rng.h"
#include "x64/unwind/function_table.h"

#define STATUS_BAD STATUS_INVALID_IMAGE_FORMAT

/* A good image's bytes, to be damaged, with its headers found. */
struct draft {
    uint8_t *bytes;
    size_t size;
    uint32_t *new_header; /* where the DOS header says that the PE header is */
    uint32_t *signature;
    struct pe_file_header *file;
    struct pe_optional_header *optional;
    struct pe_directory *directory;
    struct pe_section_header *section;
};

static struct draft draft(const char *path)
{
    struct draft d = {0};
    uint8_t *at;

    d.bytes = file_bytes(path, &d.size);
    d.new_header = (uint32_t *)(void *)(d.bytes + PE_DOS_NEW_HEADER);
    at = d.bytes + *d.new_header;
    d.signature = (uint32_t *)(void *)at;
    d.file = (struct pe_file_header *)(void *)(at + 4);
    d.optional = (struct pe_optional_header *)(void *)(d.file + 1);
    d.directory = (struct pe_directory *)(void *)(d.optional + 1);
    d.section = (struct pe_section_header *)(void *)((uint8_t *)d.optional + d.file->optional_bytes);
    return d;
}

static struct pe_section_header *section_of(const struct draft *d, uint32_t address)
{
    for (uint32_t i = 0; i < d->file->sections; i++)
        if (address - d->section[i].address < d->section[i].memory_bytes)
            return &d->section[i];
    fail_msg("no section has 0x%x", address);
    return NULL;
}

/* The bytes at an address of the mapped image, in the file. */
static void *at(const struct draft *d, uint32_t address)
{
    const struct pe_section_header *section = section_of(d, address);

    return d->bytes + section->offset + (address - section->address);
}

static void expect(struct draft *d, NTSTATUS status, const char *why)
{
    struct machine machine, *m = machine_begin(&machine);
    uint64_t live = m->sim->heap.live_blocks;
    struct loader_image *image;
    NTSTATUS got = machine_load_bytes(m, d->bytes, d->size, &image);

    if (got != status || image || !strstr(m->error, why))
        fail_msg("0x%08x: \"%s\"; expected 0x%08x: \"%s\"", (unsigned)got, m->error,
                 (unsigned)status, why);
    CHECK_RULE("LIFE-183",
               one_line(m->error) && strncmp(m->error, "dxgkhost-loader-test-", 21) == 0);
    CHECK(m->sim->heap.live_blocks <= live + 1); /* the loader's own state */
    machine_end(m);
    free(d->bytes);
}

/* REFUSED("what the line says", what is wrong, with the image as d). */
#define REFUSED(why, ...) REFUSED_AS(STATUS_BAD, why, __VA_ARGS__)
#define REFUSED_AS(status, why, ...)  \
    do {                              \
        struct draft d = draft(good); \
        __VA_ARGS__;                  \
        expect(&d, status, why);      \
    } while (0)

/* The image that has everything. */
static const char *good;

#define NEED_GOOD()                              \
    do {                                         \
        good = windows_driver("clang", "probe"); \
        NEED(good);                              \
    } while (0)

TEST(truncated_headers)
{
    NEED_GOOD();
    REFUSED("the DOS header is not complete", d.size = 40);
    REFUSED("no PE header at", d.size = *d.new_header + 3u);
    REFUSED("no PE header at 0xffffffff", *d.new_header = UINT32_MAX);
    REFUSED("the PE header is not complete", d.size = *d.new_header + 10u);
    REFUSED("the optional header is not complete", d.size = *d.new_header + 24u + 50u);
    REFUSED("the optional header is not complete", d.file->optional_bytes = 20);
    REFUSED("the directories are not complete", d.size = *d.new_header + 24u + 112u + 5u;
            d.optional->header_bytes = 100);
    REFUSED("the section headers are not complete",
            d.size = (size_t)((uint8_t *)d.section - d.bytes) + 5;
            d.optional->header_bytes = 100);
}

TEST(foreign_programs)
{
    NEED_GOOD();
    REFUSED("a DOS program", *d.signature = 0x454E);
    REFUSED("32-bit x86", d.file->machine = PE_MACHINE_X86);
    REFUSED("ARM64", d.file->machine = PE_MACHINE_ARM64);
    REFUSED("machine 0x1234", d.file->machine = 0x1234);
    REFUSED("PE32 image", d.optional->magic = PE_MAGIC_32);
    REFUSED("not a PE32+ header", d.optional->magic = 0x107);
    REFUSED("not executable", d.file->characteristics &= (uint16_t)~PE_FILE_EXECUTABLE);
    REFUSED("subsystem 3", d.optional->subsystem = 3);
    REFUSED("a .NET program", d.directory[PE_CLR] = (struct pe_directory){0x1000, 16});
}

TEST(lying_sizes)
{
    NEED_GOOD();
    REFUSED("aligned to 0x20 bytes", d.optional->section_alignment = 0x20);
    REFUSED("aligned to 0x3000 bytes", d.optional->section_alignment = 0x3000);
    REFUSED("aligned to 0x0 bytes", d.optional->section_alignment = 0);
    REFUSED("file alignment 0x201", d.optional->file_alignment = 0x201);
    REFUSED("file alignment 0x2000", d.optional->file_alignment = 0x2000);
    REFUSED("an image of 0x0 bytes", d.optional->image_bytes = 0);
    REFUSED("an image of 0xffffffff bytes", d.optional->image_bytes = UINT32_MAX);
    REFUSED("headers of 0xffffffff bytes", d.optional->header_bytes = UINT32_MAX);
    REFUSED("headers of", d.optional->header_bytes = (uint32_t)d.size + 1);
    REFUSED("no room for 16 directories", d.optional->directories = UINT32_MAX;
            d.file->optional_bytes = 128);
    REFUSED("directory 1 (", d.directory[PE_IMPORTS].address = UINT32_MAX);
    REFUSED("directory 3 (", d.directory[PE_EXCEPTIONS].bytes = UINT32_MAX);
}

TEST(lying_sections)
{
    NEED_GOOD();
    REFUSED("0 sections", d.file->sections = 0);
    REFUSED("65535 sections", d.file->sections = 65535);
    REFUSED("section 0 (.text) at 0x1001 is not aligned", d.section[0].address = 0x1001);
    REFUSED("overlaps what is before it", d.section[0].address = 0);
    REFUSED("overlaps what is before it", d.section[1].address = d.section[0].address);
    REFUSED("lies outside the image", d.section[1].memory_bytes = UINT32_MAX);
    REFUSED("lies outside the image", d.section[1].address = 0xFFFFF000);
    REFUSED("section 0 (.text) is not complete", d.section[0].offset = (uint32_t)d.size);
    REFUSED("section 0 (.text) is not complete", d.section[0].offset = UINT32_MAX);
    REFUSED("is not complete", d.size = d.section[1].offset + 1u);
    REFUSED("section 1 (???ata)", memcpy(d.section[1].name, "\n\x1b\x80", 3);
            d.section[1].address = 0x1001);
}

TEST(lying_entry)
{
    NEED_GOOD();
    REFUSED_AS(STATUS_DRIVER_ENTRYPOINT_NOT_FOUND, "no entry point", d.optional->entry = 0);
    REFUSED("entry point 0xffffffff is not code", d.optional->entry = UINT32_MAX);
    REFUSED("is not code", d.optional->entry = d.section[1].address);
    REFUSED("is not code", d.optional->entry = 0x10);
}

TEST(lying_relocations)
{
    NEED_GOOD();
#define BLOCK ((struct pe_relocation_block *)at(&d, d.directory[PE_RELOCATIONS].address))
#define ENTRY ((uint16_t *)(void *)(BLOCK + 1))
    REFUSED("a block of 0x0 bytes of relocations", BLOCK->bytes = 0);
    REFUSED("a block of 0x7 bytes of relocations", BLOCK->bytes = 7);
    REFUSED("a block of 0xffffffff bytes of relocations", BLOCK->bytes = UINT32_MAX);
    REFUSED("a relocation of type 3", *ENTRY = (uint16_t)(PE_RELOCATION_32 << 12));
    REFUSED("a relocation at 0xfffff", BLOCK->page = 0xFFFFF000);
    REFUSED("a relocation at 0x", BLOCK->page = d.optional->image_bytes;
            *ENTRY = (uint16_t)(PE_RELOCATION_64 << 12));
    REFUSED("a relocation at 0x", BLOCK->page = d.optional->image_bytes - 4096;
            *ENTRY = (uint16_t)(PE_RELOCATION_64 << 12 | 0xFF9));
    REFUSED("no relocations, and its base 0x140000001",
            d.file->characteristics |= PE_FILE_NO_RELOCATIONS;
            d.optional->base++);
    REFUSED("no relocations, and its base 0x0", d.file->characteristics |= PE_FILE_NO_RELOCATIONS;
            d.optional->base = 0);
    REFUSED("is not usable", d.file->characteristics |= PE_FILE_NO_RELOCATIONS;
            d.optional->base = 0xFFFFF80000000000u);
    REFUSED("is in use", d.file->characteristics |= PE_FILE_NO_RELOCATIONS;
            d.optional->base = (uintptr_t)&good & ~(uint64_t)0xFFFF);
#undef BLOCK
#undef ENTRY
}

/* The first entry of the first module's names; not aligned. */
static void *first_entry(const struct draft *d)
{
    const struct pe_import_descriptor *module = at(d, d->directory[PE_IMPORTS].address);

    return at(d, module->names);
}

static uint64_t first_name(const struct draft *d)
{
    uint64_t value;

    memcpy(&value, first_entry(d), sizeof(value));
    return value;
}

static void set_first_name(const struct draft *d, uint64_t value)
{
    memcpy(first_entry(d), &value, sizeof(value));
}

TEST(lying_imports)
{
    NEED_GOOD();
#define MODULE ((struct pe_import_descriptor *)at(&d, d.directory[PE_IMPORTS].address))
#define NAME   ((char *)at(&d, (uint32_t)first_name(&d)))
    REFUSED("its import table does not end inside it",
            d.directory[PE_IMPORTS] = (struct pe_directory){d.optional->image_bytes - 4, 4});
    REFUSED("a module without a name", MODULE->module = UINT32_MAX);
    REFUSED("a module without a name", *(char *)at(&d, MODULE->module) = 0);
    REFUSED("imports from ntoskrnl.exe do not end inside it", MODULE->names = UINT32_MAX - 8);
    REFUSED("imports from ntoskrnl.exe do not end inside it", MODULE->slots = UINT32_MAX - 8);
    REFUSED("imports from ntoskrnl.exe do not end inside it",
            MODULE->slots = d.optional->image_bytes - 4);
    REFUSED("has no name", set_first_name(&d, 0x7FFFFFFF));
    REFUSED("has no name", set_first_name(&d, UINT64_C(1) << 40));
    REFUSED("has no name", NAME[2] = 0);
    REFUSED_AS(STATUS_DRIVER_ENTRYPOINT_NOT_FOUND, "ntoskrnl.exe!#513",
               set_first_name(&d, PE_IMPORT_BY_ORDINAL | 513));
    REFUSED_AS(STATUS_DRIVER_ENTRYPOINT_NOT_FOUND, "ntoskrnl.exe!Db?P", NAME[4] = '\n');
    REFUSED_AS(STATUS_DRIVER_ENTRYPOINT_NOT_FOUND, "mtoskrnl.exe!",
               *(char *)at(&d, MODULE->module) = 'm');
#undef MODULE
#undef NAME
}

TEST(lying_delayed_imports)
{
    NEED_GOOD();
#define DELAYED ((struct pe_delay_descriptor *)at(&d, d.directory[PE_DELAY_IMPORTS].address))
    REFUSED("its delayed imports do not end inside it",
            d.directory[PE_DELAY_IMPORTS] = (struct pe_directory){d.optional->image_bytes - 4, 4});
    REFUSED("in the form of 32-bit images", DELAYED->attributes = 0);
    REFUSED("a module without a name", DELAYED->module = UINT32_MAX);
    REFUSED("imports from hal.dll do not end inside it", DELAYED->names = UINT32_MAX - 8);
    REFUSED("imports from hal.dll do not end inside it", DELAYED->slots = UINT32_MAX - 8);
#undef DELAYED
}

TEST(lying_functions)
{
    NEED_GOOD();
#define FUNCTIONS ((uint32_t(*)[3])at(&d, d.directory[PE_EXCEPTIONS].address))
    REFUSED("an exception table of 0x", d.directory[PE_EXCEPTIONS].bytes -= 1);
    REFUSED("entry 0 of the exception table", FUNCTIONS[0][1] = FUNCTIONS[0][0]);
    REFUSED("entry 0 of the exception table", FUNCTIONS[0][1] = UINT32_MAX);
    REFUSED("entry 1 of the exception table", FUNCTIONS[1][0] = FUNCTIONS[0][1] - 1);
    REFUSED("unwind information at 0xfffffffc lies outside", FUNCTIONS[0][2] = 0xFFFFFFFC);
#undef FUNCTIONS
}

/* Only not expected: a warning, and the image is there; refused if the rule is set to error. */
TEST(thread_local_variables)
{
    NEED_GOOD();
    for (int error = 0; error < 2; error++) {
        struct machine machine, *m = machine_begin(&machine);
        struct loader_image *image;
        struct draft d = draft(good);
        NTSTATUS status;

        d.directory[PE_TLS] = (struct pe_directory){0x1000, 40};
        if (error)
            CHECK(verify_set_severity(m->log, "LIFE-186", VERIFY_ERROR));
        status = machine_load_bytes(m, d.bytes, d.size, &image);
        CHECK_RULE("LIFE-186", status == (error ? STATUS_INVALID_IMAGE_FORMAT : STATUS_SUCCESS) &&
                                   verify_rule_count(m->log, "LIFE-186") == 1 &&
                                   verify_record_at(m->log, 0)->refuses == error &&
                                   (strstr(m->error, "thread-local variables") != NULL) == error);
        if (image)
            loader_image_unload(image);
        machine_end(m);
        free(d.bytes);
    }
}

TEST(lying_cookie)
{
    NEED_GOOD();
#define CONFIG ((uint8_t *)at(&d, d.directory[PE_LOAD_CONFIG].address))
    REFUSED("a load configuration of 0xffffffff bytes", memset(CONFIG, 0xFF, 4));
    REFUSED("its security cookie lies outside", memset(CONFIG + PE_CONFIG_COOKIE, 0x11, 8));
#undef CONFIG
}

/* What is wrong without harm is not refused: an empty TLS directory, a symbol table that lies, exports that lie. */
TEST(harmless_damage_is_let_through)
{
    struct machine machine, *m;
    struct loader_image *image;
    struct draft d;
    char text[128];

    NEED_GOOD();
    m = machine_begin(&machine);
    d = draft(good);
    d.file->symbols = UINT32_MAX;
    d.directory[PE_EXPORTS] = (struct pe_directory){d.optional->image_bytes - 40, 40};
    CHECK(NT_SUCCESS(machine_load_bytes(m, d.bytes, d.size, &image)));
    CHECK(loader_symbolize((uintptr_t)loader_image_entry(image), text, sizeof(text)) &&
          strstr(text, "+0x"));
    loader_image_unload(image);
    machine_end(m);
    free(d.bytes);
}

/* Whether the exception table of a draft has a function that begins at the address. */
static bool is_in_table(const struct draft *d, uint32_t address)
{
    const struct pe_directory *directory = &d->directory[PE_EXCEPTIONS];
    const struct x64_function *all = at(d, directory->address);

    for (uint32_t i = 0; i < directory->bytes / sizeof(*all); i++)
        if (all[i].begin == address)
            return true;
    return false;
}

/* Take the names of all functions that the exception table has. Returns how many names remain. */
static unsigned take_names(const struct draft *d)
{
    unsigned left = 0;

    for (uint32_t i = 0; i < d->file->symbols; i++) {
        uint8_t *symbol = d->bytes + d->file->symbols_offset + i * PE_SYMBOL_BYTES;
        uint32_t value;
        int16_t section;

        memcpy(&value, symbol + PE_SYMBOL_VALUE, sizeof(value));
        memcpy(&section, symbol + PE_SYMBOL_SECTION, sizeof(section));
        if (symbol[PE_SYMBOL_TYPE] == PE_SYMBOL_FUNCTION && section > 0) {
            if (is_in_table(d, d->section[section - 1].address + value))
                symbol[PE_SYMBOL_TYPE] = 0;
            else
                left++;
        }
        i += symbol[PE_SYMBOL_AUXILIARY];
    }
    return left;
}

/* A function whose name is not in the image has none: it is no part of the leaf function before
 * it, which the exception table does not have. */
TEST(no_function_has_the_name_of_another)
{
    const struct x64_function_table *table;
    struct machine machine, *m;
    struct loader_image *image;
    struct draft d;
    char text[128];

    NEED_GOOD();
    m = machine_begin(&machine);
    d = draft(good);
    CHECK(take_names(&d) > 0);
    CHECK(NT_SUCCESS(machine_load_bytes(m, d.bytes, d.size, &image)));
    table = x64_function_table_find((uintptr_t)loader_image_entry(image));
    for (uint32_t i = 0; i < table->count; i++)
        if (loader_symbolize(table->base + table->function[i].begin + 1, text, sizeof(text)) &&
            strchr(text, '!'))
            fail_msg("%s is in the function behind it", text);
    loader_image_unload(image);
    machine_end(m);
    free(d.bytes);
}

/* Nothing runs while an image is loaded, so that any damage may be tried here: it is refused with a line, or harmless. */
TEST(random_damage_never_crashes)
{
    const char *path[2] = {windows_driver("gcc", "probe"), windows_driver("clang", "probe")};
    struct rng rng = {.state = 7};
    unsigned refused = 0, loaded = 0;

    NEED(path[0] && path[1] ? path[0] : NULL);
    for (unsigned i = 0; i < 2; i++) {
        struct machine machine, *m = machine_begin(&machine);
        size_t size;
        uint8_t *bytes = file_bytes(path[i], &size), *copy = malloc(size);

        CHECK(copy != NULL);
        for (unsigned round = 0; round < 1500; round++) {
            struct loader_image *image;

            memcpy(copy, bytes, size);
            for (unsigned k = 0; k < 1 + round % 4; k++)
                copy[rng_below(&rng, round % 2 ? (uint32_t)size : 0x400)] = (uint8_t)rng_next(&rng);
            if (NT_SUCCESS(machine_load_bytes(m, copy, size, &image))) {
                loader_image_unload(image);
                loaded++;
            } else {
                CHECK(!image && one_line(m->error));
                refused++;
            }
        }
        free(copy);
        free(bytes);
        machine_end(m);
    }
    CHECK(refused > 100 && loaded > 100);
}
