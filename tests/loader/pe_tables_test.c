/* SPDX-License-Identifier: MIT */
/* The tables of a Windows image, made by hand and each read alone: exports, symbols, relocations, thread-local storage, the cookie
 * and the functions. */
#include "loader/support/machine.h"

#include "loader/pe.h"
#include "loader/symbols.h"
#include "sim/machine.h"

#include <sys/mman.h>

#define IMAGE_BYTES 0x4000u
#define TEXT        0x1000u /* 0x800 bytes of code; then data from 0x2000 to 0x4000 */
#define DATA        0x2000u
#define EXPORTS     0x2000u
#define EXPORTS_END 0x2200u
#define STRINGS     0x2100u

static struct machine machine;
static _Alignas(16) uint8_t bytes[IMAGE_BYTES];
static struct pe_image image;
static struct pe_file file;
static char error[256];

static void put(uint32_t address, const void *from, size_t count)
{
    memcpy(bytes + address, from, count);
}

static void put_32(uint32_t address, uint32_t value)
{
    put(address, &value, 4);
}

static void put_16(uint32_t address, uint16_t value)
{
    put(address, &value, 2);
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

static void begin(void)
{
    machine_begin(&machine);
    memset(bytes, 0, sizeof(bytes));
    memset(error, 0, sizeof(error));
    image = (struct pe_image){.base = bytes, .bytes = IMAGE_BYTES, .mapped_bytes = IMAGE_BYTES};
    file = (struct pe_file){.bytes = bytes,
                            .size = IMAGE_BYTES,
                            .name = "hand.sys",
                            .sections = 2,
                            .error = error,
                            .error_bytes = sizeof(error)};
    file.section[0] = (struct pe_section){".text", TEXT,  0x800,
                                          TEXT,    0x800, PE_SECTION_EXECUTE | PE_SECTION_READ};
    file.section[1] = (struct pe_section){".data", DATA,   0x2000,
                                          DATA,    0x2000, PE_SECTION_READ | PE_SECTION_WRITE};
}

static void end(void)
{
    machine_end(&machine);
}

/* ---- exports ---- */

/* Three functions from ordinal 5 on; names "alpha" of the second, "beta" of the first, "gamma" of the third, which is a
 * forwarder. */
static struct pe_export_directory exports = {.ordinal_base = 5,
                                             .functions = 4,
                                             .names = 3,
                                             .function_table = 0x2040,
                                             .name_table = 0x2060,
                                             .ordinal_table = 0x2080};

static void make_exports(const struct pe_export_directory *directory)
{
    put(EXPORTS, directory, sizeof(*directory));
    put_32(0x2040, TEXT + 0x10);
    put_32(0x2044, TEXT + 0x20);
    put_32(0x2048, STRINGS + 0x40);
    put_32(0x204C, DATA + 0x1000);
    put_32(0x2060, STRINGS);
    put_32(0x2064, STRINGS + 8);
    put_32(0x2068, STRINGS + 16);
    put_16(0x2080, 1);
    put_16(0x2082, 0);
    put_16(0x2084, 2);
    put(STRINGS, "alpha", 6);
    put(STRINGS + 8, "beta", 5);
    put(STRINGS + 16, "gamma", 6);
    put(STRINGS + 0x40, "other.there", 12);
    image.exports = (struct pe_directory){EXPORTS, EXPORTS_END - EXPORTS};
    file.directory[PE_EXPORTS] = image.exports;
}

TEST(exports_are_found_by_name_and_ordinal)
{
    begin();
    make_exports(&exports);
    CHECK(pe_export_find(&image, "alpha", 0) == bytes + TEXT + 0x20);
    CHECK(pe_export_find(&image, "beta", 5) == bytes + TEXT + 0x10);
    CHECK(!pe_export_find(&image, "gamma", 0)); /* a forwarder */
    CHECK(!pe_export_find(&image, "alph", 0) && !pe_export_find(&image, "alphabet", 0));
    CHECK(pe_export_find(&image, NULL, 5) == bytes + TEXT + 0x10);
    CHECK(pe_export_find(&image, NULL, 6) == bytes + TEXT + 0x20);
    CHECK(!pe_export_find(&image, NULL, 7));
    CHECK(pe_export_find(&image, NULL, 8) == bytes + DATA + 0x1000);
    CHECK(!pe_export_find(&image, NULL, 9) && !pe_export_find(&image, NULL, 4));
    put_32(0x2040, 0); /* one that is not there */
    CHECK(!pe_export_find(&image, NULL, 5) && !pe_export_find(&image, "beta", 0));
    put_32(0x2040, EXPORTS - 1); /* right before the directory, and right behind it */
    CHECK(pe_export_find(&image, NULL, 5) == bytes + EXPORTS - 1);
    put_32(0x2040, EXPORTS_END);
    CHECK(pe_export_find(&image, NULL, 5) == bytes + EXPORTS_END);
    put_32(0x2040, EXPORTS_END - 1);
    CHECK(!pe_export_find(&image, NULL, 5));
    put_32(0x2040, IMAGE_BYTES - 1);
    CHECK(pe_export_find(&image, NULL, 5) == bytes + IMAGE_BYTES - 1);
    put_32(0x2040, IMAGE_BYTES);
    CHECK(!pe_export_find(&image, NULL, 5));
    end();
}

TEST(exports_that_lie_are_not_found)
{
    struct pe_export_directory e = exports;

    begin();
    make_exports(&e);
    image.exports.bytes = sizeof(e) - 1;
    CHECK(!pe_export_find(&image, "alpha", 0) && !pe_export_find(&image, NULL, 5));
    image.exports.bytes = sizeof(e);
    CHECK(pe_export_find(&image, "alpha", 0));
    e.name_table = IMAGE_BYTES - 8;
    make_exports(&e);
    put_32(IMAGE_BYTES - 8, STRINGS + 8);
    put_32(IMAGE_BYTES - 4, STRINGS);
    put_16(0x2080, 0);
    put_16(0x2082, 1);
    CHECK(pe_export_find(&image, "beta", 0) == bytes + TEXT + 0x10);
    CHECK(pe_export_find(&image, "alpha", 0) == bytes + TEXT + 0x20);
    CHECK(!pe_export_find(&image, "gamma", 0)); /* its name would be behind the end */
    e = exports;
    e.ordinal_table = IMAGE_BYTES - 1;
    make_exports(&e);
    CHECK(!pe_export_find(&image, "alpha", 0));
    e = exports;
    e.function_table = IMAGE_BYTES - 7;
    make_exports(&e);
    put_32(IMAGE_BYTES - 7, TEXT);
    CHECK(pe_export_find(&image, NULL, 5) == bytes + TEXT && !pe_export_find(&image, NULL, 6));
    e = exports;
    e.names = 1;
    make_exports(&e);
    CHECK(pe_export_find(&image, "alpha", 0) && !pe_export_find(&image, "beta", 0));
    put_32(0x2060, IMAGE_BYTES); /* a name that is none */
    CHECK(!pe_export_find(&image, "alpha", 0));
    end();
}

TEST(texts_end_in_the_image_and_are_short)
{
    begin();
    memset(bytes + 0x3000, 'x', 0x1000);
    bytes[0x3000 + 511] = '\0';
    CHECK(pe_text_at(&image, 0x3000) == (const char *)bytes + 0x3000);
    bytes[0x3000 + 511] = 'x';
    bytes[0x3000 + 512] = '\0';
    CHECK(!pe_text_at(&image, 0x3000) && pe_text_at(&image, 0x3001));
    CHECK(!pe_text_at(&image, IMAGE_BYTES - 1) && !pe_text_at(&image, IMAGE_BYTES));
    bytes[IMAGE_BYTES - 1] = '\0';
    CHECK(pe_text_at(&image, IMAGE_BYTES - 1) && pe_text_at(&image, IMAGE_BYTES - 512));
    CHECK(!pe_text_at(&image, IMAGE_BYTES - 513));
    CHECK(pe_at(&image, IMAGE_BYTES, 0) == bytes + IMAGE_BYTES && !pe_at(&image, IMAGE_BYTES, 1));
    CHECK(pe_at(&image, IMAGE_BYTES - 8, 8) && !pe_at(&image, IMAGE_BYTES - 7, 8));
    CHECK(!pe_at(&image, (uint64_t)IMAGE_BYTES + 1, 0) && !pe_at(&image, 0, UINT64_MAX));
    end();
}

/* ---- symbols ---- */

static const char *name_at(const struct symbol_table *table, uint32_t address, uint64_t *size)
{
    const struct symbol *symbol = symbol_table_find(table, address);

    if (size)
        *size = symbol ? symbol->size : 0;
    return symbol ? table->names + symbol->name : "";
}

static struct symbol_table read_symbols(void)
{
    struct symbol_table table;

    CHECK(pe_read_symbols(&table, &image, &file) == STATUS_SUCCESS);
    return table;
}

TEST(without_symbols_the_exports_give_names)
{
    struct symbol_table table;
    uint64_t size;

    begin();
    make_exports(&exports);
    table = read_symbols();
    CHECK(table.count == 2); /* neither the forwarder nor data */
    CHECK(strcmp(name_at(&table, TEXT + 0x20, &size), "alpha") == 0 && size == 0x7E0);
    CHECK(strcmp(name_at(&table, TEXT + 0x1F, &size), "beta") == 0 && size == 0x10);
    symbol_table_finish(&table);
    put_16(0x2082, 4); /* no such function */
    table = read_symbols();
    CHECK(table.count == 1 && strcmp(name_at(&table, TEXT + 0x20, NULL), "alpha") == 0);
    symbol_table_finish(&table);
    put_16(0x2082, 0);
    put(STRINGS, "", 1); /* no name */
    table = read_symbols();
    CHECK(table.count == 1 && strcmp(name_at(&table, TEXT + 0x10, NULL), "beta") == 0);
    symbol_table_finish(&table);
    file.directory[PE_EXPORTS].bytes = sizeof(exports) - 1;
    table = read_symbols();
    CHECK(table.count == 0);
    symbol_table_finish(&table);
    end();
}

/* Where the symbols are in the file: behind the image. */
static uint8_t whole[IMAGE_BYTES + 0x200];

static void put_symbol(unsigned index, const char *name, uint32_t value, int16_t section,
                       uint16_t type, uint8_t class, uint8_t auxiliary)
{
    uint8_t *symbol = whole + IMAGE_BYTES + index * PE_SYMBOL_BYTES;

    memset(symbol, 0, PE_SYMBOL_BYTES);
    if (name)
        memcpy(symbol, name, strnlen(name, 8));
    memcpy(symbol + PE_SYMBOL_VALUE, &value, 4);
    memcpy(symbol + PE_SYMBOL_SECTION, &section, 2);
    memcpy(symbol + PE_SYMBOL_TYPE, &type, 2);
    symbol[PE_SYMBOL_CLASS] = class;
    symbol[PE_SYMBOL_AUXILIARY] = auxiliary;
}

static void make_coff(uint32_t count, const char *strings, uint32_t string_bytes)
{
    uint8_t *at = whole + IMAGE_BYTES + count * PE_SYMBOL_BYTES;

    file.bytes = whole;
    file.header.symbols_offset = IMAGE_BYTES;
    file.header.symbols = count;
    file.size = IMAGE_BYTES + count * PE_SYMBOL_BYTES + string_bytes;
    memcpy(at, &string_bytes, 4);
    memcpy(at + 4, strings, string_bytes - 4);
}

/* The name of a symbol at an offset of the strings. */
static void name_by_offset(unsigned index, uint32_t offset)
{
    memcpy(whole + IMAGE_BYTES + index * PE_SYMBOL_BYTES + 4, &offset, 4);
}

TEST(symbols_are_functions_of_sections)
{
    struct symbol_table table;

    begin();
    make_exports(&exports);
    put_symbol(0, "one", 0x10, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(1, "fullname", 0x20, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(2, "value", 0x30, 1, 0, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(3, "nowhere", 0x40, 0, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(4, "absolute", 0x40, -1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(5, "third", 0x40, 3, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(6, "label", 0x40, 1, PE_SYMBOL_FUNCTION, 6, 0);
    put_symbol(7, "behind", 0x800, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(8, "last", 0x7FF, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 1);
    put_symbol(9, "noise", 0x50, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(10, "in data", 0x10, 2, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    put_symbol(11, NULL, 0x60, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    name_by_offset(11, 4);
    put_symbol(12, NULL, 0x70, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    name_by_offset(12, 0);
    put_symbol(13, NULL, 0x80, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    name_by_offset(13, 4 + 16);
    put_symbol(14, NULL, 0x90, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_EXTERNAL, 0);
    name_by_offset(14, 4 + 15); /* empty */
    make_coff(15, "a_longer_name\0e", 4 + 16);
    table = read_symbols();
    CHECK(table.count == 5);
    CHECK(strcmp(name_at(&table, TEXT + 0x10, NULL), "one") == 0);
    CHECK(strcmp(name_at(&table, TEXT + 0x20, NULL), "fullname") == 0);
    CHECK(strcmp(name_at(&table, TEXT + 0x60, NULL), "a_longer_name") == 0);
    CHECK(strcmp(name_at(&table, TEXT + 0x7FF, NULL), "last") == 0);
    CHECK(strcmp(name_at(&table, DATA + 0x10, NULL), "in data") == 0);
    symbol_table_finish(&table);
    /* the last name ends with the strings, which are cut short */
    name_by_offset(11, 4 + 14);
    table = read_symbols();
    CHECK(strcmp(name_at(&table, TEXT + 0x60, NULL), "e") == 0);
    symbol_table_finish(&table);
    /* without the strings, only short names; without the symbols, the exports */
    file.size--;
    table = read_symbols();
    CHECK(table.count == 4 && strcmp(name_at(&table, TEXT + 0x10, NULL), "one") == 0);
    symbol_table_finish(&table);
    file.size = IMAGE_BYTES + 15 * PE_SYMBOL_BYTES;
    table = read_symbols();
    CHECK(table.count == 4);
    symbol_table_finish(&table);
    file.size--;
    table = read_symbols();
    CHECK(table.count == 2 && strcmp(name_at(&table, TEXT + 0x10, NULL), "beta") == 0);
    symbol_table_finish(&table);
    file.size++;
    file.header.symbols_offset = 0;
    table = read_symbols();
    CHECK(table.count == 2);
    symbol_table_finish(&table);
    end();
}

TEST(names_reach_to_the_next_thing_that_is_known)
{
    static const struct x64_function functions[] = {{TEXT + 0x20, TEXT + 0x28, 0x3000},
                                                    {TEXT + 0x60, TEXT + 0x70, 0x3000},
                                                    {TEXT + 0x300, TEXT + 0x310, 0x3000}};
    struct symbol_table table;
    uint64_t size;

    begin();
    image.table = (struct x64_function_table){
        .base = (uintptr_t)bytes, .image_bytes = IMAGE_BYTES, .function = functions, .count = 3};
    put_symbol(0, "a", 0x10, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(1, "b", 0x20, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(2, "c", 0x30, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(3, "d", 0x30, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(4, "e", 0x50, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(5, "f", 0x200, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(6, "g", 0x400, 1, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    put_symbol(7, "h", 0x20, 2, PE_SYMBOL_FUNCTION, PE_SYMBOL_CLASS_STATIC, 0);
    make_coff(8, "", 4);
    table = read_symbols();
    CHECK(table.count == 8);
    CHECK(strcmp(name_at(&table, TEXT + 0x10, &size), "a") == 0 && size == 0x10);
    CHECK(strcmp(name_at(&table, TEXT + 0x20, &size), "b") == 0 && size == 8); /* as the table says */
    (void)name_at(&table, TEXT + 0x30, &size);                                 /* c or d */
    CHECK(size == 0x20 && table.symbol[2].size == 0x20 && table.symbol[3].size == 0x20);
    CHECK(strcmp(name_at(&table, TEXT + 0x50, &size), "e") == 0 &&
          size == 0x10); /* to a function without a name */
    CHECK(strcmp(name_at(&table, TEXT + 0x200, &size), "f") == 0 && size == 0x100);
    CHECK(strcmp(name_at(&table, TEXT + 0x400, &size), "g") == 0 &&
          size == 0x400); /* to the end of the section */
    CHECK(strcmp(name_at(&table, DATA + 0x20, &size), "h") == 0 && size == 0x1FE0);
    symbol_table_finish(&table);
    end();
}

/* ---- relocations ---- */

static void make_block(uint32_t at, uint32_t page, uint32_t size, uint16_t first, uint16_t second)
{
    put_32(at, page);
    put_32(at + 4, size);
    put_16(at + 8, first);
    put_16(at + 10, second);
}

TEST(relocations_move_by_the_distance)
{
    const uint64_t base = 0x140000000, distance = (uintptr_t)bytes - base;

    begin();
    file.optional.base = base;
    file.directory[PE_RELOCATIONS] = (struct pe_directory){0x3000, 24};
    make_block(0x3000, 0x2000, 12, 0xA123, 0x0000);
    make_block(0x300C, 0x1000, 12, 0xAFF8, 0xA008);
    put_64(0x2123, base + 0x10);
    put_64(0x1FF8, base + 0x20);
    put_64(0x1008, base + 0x30);
    put_64(0x2000, 0x1111);
    CHECK(pe_relocate(&image, &file) == STATUS_SUCCESS);
    CHECK(get_64(0x2123) == (uintptr_t)bytes + 0x10 && get_64(0x1FF8) == (uintptr_t)bytes + 0x20);
    CHECK(get_64(0x1008) == (uintptr_t)bytes + 0x30 && get_64(0x2000) == 0x1111);
    /* what is behind the end is not looked at, nor where nothing has to move */
    file.directory[PE_RELOCATIONS].bytes = 12 + 7;
    CHECK(pe_relocate(&image, &file) == STATUS_SUCCESS && get_64(0x1008) == (uintptr_t)bytes + 0x30);
    CHECK(get_64(0x2123) == base + 2 * distance + 0x10);
    file.optional.base = (uintptr_t)bytes;
    CHECK(pe_relocate(&image, &file) == STATUS_SUCCESS &&
          get_64(0x2123) == base + 2 * distance + 0x10);
    end();
}

TEST(relocations_that_lie_are_refused)
{
    begin();
    file.optional.base = 0x140000000;
    file.directory[PE_RELOCATIONS] = (struct pe_directory){0x3000, 12};
    make_block(0x3000, 0x3000, 12, 0xAFF8, 0);
    CHECK(pe_relocate(&image, &file) == STATUS_SUCCESS);
    make_block(0x3000, 0x3000, 12, 0xAFF9, 0);
    CHECK(pe_relocate(&image, &file) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error, "hand.sys: damaged: a relocation at 0x3ff9 lies outside it") == 0);
    make_block(0x3000, 0x3000, 12, 0, 0x3ABC);
    CHECK(pe_relocate(&image, &file) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error,
                 "hand.sys: a relocation of type 3 at 0x3abc, which x64 images do not have") == 0);
    make_block(0x3000, 0x3000, 13, 0, 0);
    CHECK(pe_relocate(&image, &file) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error, "hand.sys: damaged: a block of 0xd bytes of relocations at 0x3000") == 0);
    make_block(0x3000, 0x3000, 7, 0, 0);
    CHECK(pe_relocate(&image, &file) == STATUS_INVALID_IMAGE_FORMAT);
    make_block(0x3000, 0x3000, 8, 0x3000, 0x3000); /* nothing is in it */
    CHECK(pe_relocate(&image, &file) == STATUS_SUCCESS);
    make_block(0x3000, 0x3000, 11, 0, 0x3000); /* half an entry is none */
    CHECK(pe_relocate(&image, &file) == STATUS_SUCCESS);
    end();
}

/* ---- thread-local storage, cookie, functions ---- */

TEST(an_empty_tls_directory_is_nothing)
{
    struct pe_tls_directory tls = {.begin = 0x1000, .end = 0x1000, .index = 0x3000};

    begin();
    CHECK(pe_check_tls(&image, &file) == STATUS_SUCCESS);
    file.directory[PE_TLS] = (struct pe_directory){0x3000, sizeof(tls)};
    put(0x3000, &tls, sizeof(tls));
    CHECK(pe_check_tls(&image, &file) == STATUS_SUCCESS &&
          verify_rule_count(machine.log, "LIFE-186") == 0);
    tls.end += 0x20;
    put(0x3000, &tls, sizeof(tls));
    file.directory[PE_TLS].bytes--; /* not the whole of it */
    CHECK(pe_check_tls(&image, &file) == STATUS_SUCCESS &&
          verify_rule_count(machine.log, "LIFE-186") == 0);
    file.directory[PE_TLS].bytes++;
    tls.zero_bytes = 3;
    put(0x3000, &tls, sizeof(tls));
    CHECK(pe_check_tls(&image, &file) == STATUS_SUCCESS);
    CHECK(verify_rule_count(machine.log, "LIFE-186") == 1 &&
          strstr(verify_record_at(machine.log, 0)->seen, "(35 bytes)"));
    tls.end = tls.begin;
    put(0x3000, &tls, sizeof(tls));
    CHECK(pe_check_tls(&image, &file) == STATUS_SUCCESS &&
          verify_rule_count(machine.log, "LIFE-186") == 2);
    tls.zero_bytes = 0;
    tls.callbacks = 0x1000;
    put(0x3000, &tls, sizeof(tls));
    CHECK(pe_check_tls(&image, &file) == STATUS_SUCCESS &&
          verify_rule_count(machine.log, "LIFE-186") == 3);
    end();
}

static void make_config(uint32_t size, uint64_t where)
{
    file.directory[PE_LOAD_CONFIG] = (struct pe_directory){0x3000, 0x40};
    put_32(0x3000, size);
    put_64(0x3000 + PE_CONFIG_COOKIE, where);
}

TEST(the_cookie_is_set_where_there_is_one)
{
    const uint64_t here = (uintptr_t)bytes + 0x3800;
    uint64_t first;

    begin();
    file.header.time = 0x1234;
    file.optional.checksum = 0x5678;
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS);
    make_config(PE_CONFIG_COOKIE + 7, here);
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) == 0);
    make_config(PE_CONFIG_COOKIE + 8, 0);
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0) == 0);
    make_config(PE_CONFIG_COOKIE + 8, here);
    file.directory[PE_LOAD_CONFIG].bytes = 3; /* not even its size */
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) == 0);
    make_config(PE_CONFIG_COOKIE + 8, here);
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) != 0 &&
          get_64(0x3800) >> 48 == 0);
    first = get_64(0x3800);
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) == first);
    put_64(0x3800, PE_DEFAULT_COOKIE);
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) == first);
    put_64(0x3800, 0x77); /* its own */
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) == 0x77);
    put_64(0x3800, 0);
    file.header.time++;
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) != first);
    put_64(0x3800, 0);
    file.header.time--;
    file.optional.checksum++;
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(0x3800) != first);
    /* in the last bytes of the image, and not quite */
    make_config(PE_CONFIG_COOKIE + 8, (uintptr_t)bytes + IMAGE_BYTES - 8);
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS && get_64(IMAGE_BYTES - 8) != 0);
    make_config(PE_CONFIG_COOKIE + 8, (uintptr_t)bytes + IMAGE_BYTES - 7);
    CHECK(pe_set_cookie(&image, &file) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error, "hand.sys: damaged: its security cookie lies outside it") == 0);
    make_config(0x1001, here);
    CHECK(pe_set_cookie(&image, &file) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error, "hand.sys: damaged: a load configuration of 0x1001 bytes at 0x3000") == 0);
    make_config(0x1000, here);
    CHECK(pe_set_cookie(&image, &file) == STATUS_SUCCESS);
    end();
}

static NTSTATUS read_functions(const struct x64_function *function, unsigned count)
{
    NTSTATUS status;

    put(0x3000, function, count * sizeof(*function));
    file.directory[PE_EXCEPTIONS] = (struct pe_directory){0x3000,
                                                          count * (uint32_t)sizeof(*function)};
    image.function = NULL;
    image.table = (struct x64_function_table){.count = 0};
    error[0] = '\0';
    status = pe_read_functions(&image, &file);
    if (!NT_SUCCESS(status))
        CHECK(image.table.count == 0);
    util_free(image.function);
    return status;
}

TEST(functions_are_in_order_and_inside)
{
    struct x64_function f[] = {{0x1000, 0x1010, 0x3000},
                               {0x1010, 0x1020, IMAGE_BYTES - 4},
                               {0x1020, IMAGE_BYTES, 0x3001},
                               {0, 0, 0},
                               {0, 0, 0}};

    begin();
    image.mapped_bytes = IMAGE_BYTES + 0x5000;
    CHECK(read_functions(f, 5) == STATUS_SUCCESS && image.table.count == 3);
    CHECK(image.table.base == (uintptr_t)bytes && image.table.image_bytes == IMAGE_BYTES &&
          image.table.spare == (uintptr_t)bytes + IMAGE_BYTES && image.table.spare_bytes == 0x5000);
    CHECK(read_functions(f, 3) == STATUS_SUCCESS && image.table.count == 3);
    CHECK(read_functions(f, 0) == STATUS_SUCCESS && image.table.count == 0);
    f[1].begin = 0x100F;
    CHECK(read_functions(f, 3) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error, "hand.sys: damaged: entry 1 of the exception table, 0x100f to 0x1020, is "
                        "not in order") == 0);
    f[1].begin = f[1].end;
    CHECK(read_functions(f, 3) == STATUS_INVALID_IMAGE_FORMAT);
    f[1].begin = 0x1010;
    f[2].end++;
    CHECK(read_functions(f, 3) == STATUS_INVALID_IMAGE_FORMAT);
    f[2].end--;
    f[1].unwind = IMAGE_BYTES - 3;
    CHECK(read_functions(f, 3) == STATUS_SUCCESS); /* the lowest bit is no part of the address */
    f[1].unwind = IMAGE_BYTES - 2;
    CHECK(read_functions(f, 3) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error, "hand.sys: damaged: unwind information at 0x3ffe lies outside it") == 0);
    file.directory[PE_EXCEPTIONS].bytes = 13;
    CHECK(pe_read_functions(&image, &file) == STATUS_INVALID_IMAGE_FORMAT);
    CHECK(strcmp(error, "hand.sys: damaged: an exception table of 0xd bytes") == 0);
    end();
}

/* ---- pages ---- */

TEST(sections_to_discard_are_noted_by_pages)
{
    begin();
    file.sections = 3;
    file.section[0].flags |= PE_SECTION_DISCARDABLE;
    file.section[1].flags |= PE_SECTION_DISCARDABLE;
    file.section[1].memory_bytes = 0;
    file.section[2] = (struct pe_section){"INIT", 0x3000, 0x1001, 0, 0, PE_SECTION_DISCARDABLE};
    CHECK(pe_note_discardable(&image, &file) == STATUS_SUCCESS);
    CHECK(image.discardables == 2 && image.discardable[0].address == TEXT &&
          image.discardable[0].bytes == 0x1000 && image.discardable[1].address == 0x3000 &&
          image.discardable[1].bytes == 0x2000);
    util_free(image.discardable);
    end();
}
