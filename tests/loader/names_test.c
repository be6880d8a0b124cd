/* SPDX-License-Identifier: MIT */
/* Names for reports, from an image that is made here: of addresses, and of the import that a call goes to; and the modules that an
 * image imports from. */
#include "loader/support/machine.h"

#include "loader/image.h"
#include "loader/imports.h"
#include "loader/pe.h"
#include "sim/machine.h"

#include <sys/mman.h>
#include <unistd.h>

#define CODE_BYTES 4096u

static struct machine machine;
static struct loader_image image;
static struct pe_image pe;
static struct pe_import imports[3];
static uint8_t *code; /* between two pages that are not there */

static void routine_a(void)
{
    imports[0].reported = false;
}

static void routine_b(void)
{
    imports[1].reported = false;
}

static void begin(void)
{
    struct loader_image *none = NULL;

    machine_begin(&machine);
    CHECK(machine_load(&machine, "/nowhere/none.sys", &none) == STATUS_OBJECT_NAME_NOT_FOUND);
    code = mmap(NULL, 3 * CODE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code != MAP_FAILED);
    code += CODE_BYTES;
    CHECK(mprotect(code, CODE_BYTES, PROT_READ | PROT_WRITE) == 0);
    memset(code, 0x90, CODE_BYTES);
    imports[0] = (struct pe_import){.name = 0, .target = (void *)(uintptr_t)routine_a};
    imports[1] = (struct pe_import){.name = 8, .target = (void *)(uintptr_t)routine_b};
    imports[2] = (struct pe_import){.name = 16, .target = NULL};
    pe = (struct pe_image){.import = imports,
                           .imports = 3,
                           .import_names = (char *)(uintptr_t) "ExFirst\0KeOther\0ZwNone"};
    image = (struct loader_image){.name = "made.sys",
                                  .base = (uintptr_t)code - 0x1000,
                                  .low = 0x1000,
                                  .high = 0x1000 + CODE_BYTES,
                                  .pe = &pe};
    list_init(&image.link);
    list_push_back(&loader_current()->images, &image.link);
}

static void end(void)
{
    list_remove(&image.link);
    symbol_table_finish(&image.symbols);
    munmap(code - CODE_BYTES, 3 * CODE_BYTES);
    machine_end(&machine);
}

static void put(unsigned at, const void *bytes, size_t count)
{
    memcpy(code + at, bytes, count);
}

static void put_distance(unsigned at, const void *to)
{
    int32_t distance = (int32_t)((uintptr_t)to - (uintptr_t)(code + at + 4));

    put(at, &distance, 4);
}

/* The name of what the call before `at` calls. */
static const char *name_at(unsigned at, const void *routine)
{
    static char name[32];

    strcpy(name, "unchanged");
    return loader_import_name((uintptr_t)code + at, (uintptr_t)routine, name, sizeof(name)) ? name
           : strcmp(name, "unchanged") == 0                                                 ? ""
                                            : "changed";
}

/* ---- calls ---- */

TEST(calls_through_a_slot_have_the_name_of_the_import)
{
    uint64_t *slot;

    begin();
    slot = (uint64_t *)(void *)(code + 0x800);
    *slot = (uintptr_t)routine_b;
    put(0x100, "\xFF\x15", 2);
    put_distance(0x102, slot);
    CHECK(strcmp(name_at(0x106, NULL), "KeOther") == 0);
    CHECK(strcmp(name_at(0x105, NULL), "") == 0 && strcmp(name_at(0x107, NULL), "") == 0);
    *slot = (uintptr_t)routine_a;
    CHECK(strcmp(name_at(0x106, (const void *)(uintptr_t)routine_b), "ExFirst") ==
          0); /* it counts more */
    *slot = 0;
    CHECK(strcmp(name_at(0x106, NULL), "") == 0);
    put_distance(0x102, code + CODE_BYTES); /* a slot that cannot be read */
    CHECK(strcmp(name_at(0x106, NULL), "") == 0);
    put(0x100, "\xFF\x25", 2); /* a jump is no call */
    put_distance(0x102, slot);
    *slot = (uintptr_t)routine_a;
    CHECK(strcmp(name_at(0x106, NULL), "") == 0);
    end();
}

TEST(calls_of_a_thunk_have_the_name_of_the_import)
{
    static const struct {
        const char *bytes;
        unsigned count;
        bool good;
    } thunks[] = {{"\xFF\x25", 2, true},
                  {"\xF2\xFF\x25", 3, true},
                  {"\x48\xFF\x25", 3, true},
                  {"\xF3\x0F\x1E\xFA\xFF\x25", 6, true},
                  {"\xF3\x0F\x1E\xFA\xF2\xFF\x25", 7, true},
                  {"\xFF\x15", 2, false},
                  {"\xFE\x25", 2, false},
                  {"\xF3\xFF\x25", 3, false},
                  {"\xF2\x48\xFF\x25", 4, false},
                  {"\xF3\x0F\x1E\xFB\xFF\x25", 6, false}};
    uint64_t *slot;

    begin();
    slot = (uint64_t *)(void *)(code + 0x800);
    *slot = (uintptr_t)routine_b;
    put(0x101, "\xE8", 1);
    put_distance(0x102, code + 0x200);
    for (size_t i = 0; i < sizeof(thunks) / sizeof(thunks[0]); i++) {
        memset(code + 0x200, 0x90, 16);
        put(0x200, thunks[i].bytes, thunks[i].count);
        put_distance(0x200 + thunks[i].count, slot);
        CHECK(strcmp(name_at(0x106, NULL), thunks[i].good ? "KeOther" : "") == 0);
    }
    put(0x200, "\xFF\x25", 2);
    put_distance(0x202, slot);
    put(0x101, "\xE9", 1);
    CHECK(strcmp(name_at(0x106, NULL), "") == 0);
    put(0x101, "\xE8", 1);
    put_distance(0x102, code - 0x100); /* a thunk that cannot be read */
    CHECK(strcmp(name_at(0x106, NULL), "") == 0);
    end();
}

TEST(other_calls_have_the_name_of_the_routine)
{
    const struct loader_image *other;
    char name[32] = "unchanged";

    begin();
    put(0x104, "\xFF\xD0", 2);
    CHECK(strcmp(name_at(0x106, (const void *)(uintptr_t)routine_a), "ExFirst") == 0);
    CHECK(strcmp(name_at(0x106, code), "") == 0 && strcmp(name_at(0x106, NULL), "") == 0);
    CHECK(strcmp(name_at(0, (const void *)(uintptr_t)routine_a), "ExFirst") ==
          0); /* nothing is before it */
    CHECK(strcmp(name_at(CODE_BYTES - 1, (const void *)(uintptr_t)routine_b), "KeOther") == 0);
    CHECK(strcmp(name_at(CODE_BYTES, (const void *)(uintptr_t)routine_b), "") == 0);
    list_remove(&image.link);
    other = loader_current()->images.next == &loader_current()->images ? NULL : &image;
    CHECK(!other &&
          !loader_import_name((uintptr_t)code + 0x106, (uintptr_t)routine_a, name, sizeof(name)));
    CHECK(strcmp(name, "unchanged") == 0);
    list_push_back(&loader_current()->images, &image.link);
    end();
}

TEST(a_machine_without_images_has_no_names)
{
    char name[32] = "unchanged";

    machine_begin(&machine);
    CHECK(!loader_import_name((uintptr_t)routine_a, (uintptr_t)routine_a, name, sizeof(name)));
    CHECK(!loader_symbolize((uintptr_t)routine_a, name, sizeof(name)));
    CHECK(strcmp(name, "unchanged") == 0);
    machine_end(&machine);
}

/* ---- addresses ---- */

TEST(addresses_have_the_name_of_their_function_or_their_distance)
{
    char text[64];
    uintptr_t base = 0;

    begin();
    CHECK(symbol_table_init(&image.symbols, 1, 6) == STATUS_SUCCESS);
    symbol_table_add(&image.symbols, "start", 5, 0x1010, 0x20);
    symbol_table_sort(&image.symbols);
    CHECK(loader_symbolize((uintptr_t)code, text, sizeof(text)) &&
          strcmp(text, "made.sys+0x1000") == 0);
    CHECK(loader_symbolize((uintptr_t)code + 0x10, text, sizeof(text)) &&
          strcmp(text, "made.sys!start+0x0") == 0);
    CHECK(loader_symbolize((uintptr_t)code + 0x30, text, sizeof(text)) &&
          strcmp(text, "made.sys!start+0x20") == 0);
    CHECK(loader_symbolize((uintptr_t)code + 0x31, text, sizeof(text)) &&
          strcmp(text, "made.sys+0x1031") == 0);
    CHECK(loader_symbolize((uintptr_t)code + CODE_BYTES - 1, text, sizeof(text)));
    CHECK(!loader_symbolize((uintptr_t)code + CODE_BYTES, text, sizeof(text)) &&
          !loader_symbolize((uintptr_t)code - 1, text, sizeof(text)));
    CHECK(loader_image_place(&image, &base) == CODE_BYTES && base == (uintptr_t)code);
    CHECK(!loader_image_export(&(struct loader_image){.pe = NULL}, "x"));
    CHECK(!loader_image_imports(&image, "ExFirst")); /* none are collected */
    end();
}

/* ---- modules ---- */

TEST(the_host_stands_in_for_some_modules)
{
    static const char *const host[] = {"ntoskrnl.exe",
                                       "NTOSKRNL.EXE",
                                       "ntkrnlmp.exe",
                                       "ntkrnlpa.exe",
                                       "HAL.dll",
                                       "ext-ms-win-ntos-ksr-l1-1-0.dll",
                                       "API-MS-Win-Core-Kernel32-Legacy-L1-1-0.dll",
                                       "ext-ms-win-hal-l1-1-0.dll"};
    static const char *const other[] = {"hal",
                                        "hal.dl",
                                        "hal.dll2",
                                        "watchdog.sys",
                                        "ext-ms-win-nto",
                                        "api-ms-win-security-base-l1-1-0.dll",
                                        "",
                                        "xntoskrnl.exe"};

    for (size_t i = 0; i < sizeof(host) / sizeof(host[0]); i++)
        CHECK(loader_module_is_host(host[i]));
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        CHECK(!loader_module_is_host(other[i]));
}

static NTSTATUS open_module(struct loader_image *importer, const char *folder, const char *name,
                            struct loader_image **module)
{
    const struct pe_file file = {.name = "made.sys",
                                 .folder = folder,
                                 .error = machine.error,
                                 .error_bytes = sizeof(machine.error)};

    *module = (struct loader_image *)(void *)&file;
    machine.error[0] = '\0';
    return loader_module_open(importer, &file, name, module);
}

TEST(a_module_is_loaded_once)
{
    const char *path = windows_driver("gcc", "library");
    struct loader_image other = {.name = "other.sys"}, *module, *again;
    char folder[512];

    NEED(path);
    snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
    begin();
    CHECK(open_module(&image, NULL, "library.sys", &module) == STATUS_SUCCESS && !module);
    CHECK(open_module(&image, "/nowhere", "library.sys", &module) == STATUS_SUCCESS && !module);
    CHECK(open_module(&image, folder, "nowhere.sys", &module) == STATUS_SUCCESS && !module);
    CHECK(open_module(&image, "/", "etc/passwd", &module) == STATUS_SUCCESS && !module);
    strcpy(image.name, "LIBRARY.sys"); /* not itself */
    CHECK(open_module(&image, folder, "library.sys", &module) == STATUS_SUCCESS && !module);
    strcpy(image.name, "made.sys");
    CHECK(open_module(&image, folder, "LIBRARY.sys", &module) == STATUS_SUCCESS && module);
    CHECK(loader_image_modules(&image) == 1 && loader_image_module(&image, 0) == module &&
          loader_module_last_use(module));
    CHECK(strcmp(loader_image_name(module), "library.sys") == 0);
    CHECK(open_module(&image, folder, "library.sys", &again) == STATUS_SUCCESS && again == module);
    CHECK(loader_image_modules(&image) == 1 && module->importers == 1);
    CHECK(open_module(&other, NULL, "Library.SYS", &again) == STATUS_SUCCESS && again == module);
    CHECK(module->importers == 2 && !loader_module_last_use(module));
    loader_modules_close(&other);
    CHECK(module->importers == 1 && loader_image_modules(&other) == 0 && !other.module);
    /* a driver of that name is no module of others */
    loader_modules_close(&image);
    CHECK(loader_image_modules(&image) == 0);
    loader_current()->depth = 7;
    CHECK(open_module(&image, folder, "library.sys", &module) == STATUS_SUCCESS && module);
    CHECK(loader_current()->depth == 7);
    loader_modules_close(&image);
    loader_current()->depth = 8;
    CHECK(open_module(&image, folder, "library.sys", &module) == STATUS_INVALID_IMAGE_FORMAT &&
          !module);
    CHECK(strcmp(machine.error, "made.sys: modules that import each other: library.sys") == 0);
    loader_current()->depth = 0;
    end();
}

/* What is no Windows image is no module. */
TEST(a_shared_object_is_no_module)
{
    struct loader_image *module;
    char path[600], folder[512];

    snprintf(folder, sizeof(folder), "%s/tests/drivers",
             getenv("DXGK_BUILD") ? getenv("DXGK_BUILD") : ".");
    snprintf(path, sizeof(path), "%s/counter.so", folder);
    CHECK(access(path, R_OK) == 0);
    begin();
    CHECK(open_module(&image, folder, "COUNTER.so", &module) == STATUS_INVALID_IMAGE_FORMAT &&
          !module);
    CHECK(strcmp(machine.error, "counter.so: not a Windows image") == 0);
    CHECK(loader_image_modules(&image) == 0 && loader_current()->depth == 0);
    end();
}
