/* SPDX-License-Identifier: MIT */
/* Tables of lines that are damaged: everything is read within the file, and gives some number. */
#include "support/check_rule.h"

#include "loader/file.h"
#include "loader/lines.h"
#include "util/rng.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

/* A file with a section of lines and one of names, behind which there is nothing. */
struct made {
    Elf64_Ehdr head;
    Elf64_Shdr line_section, name_section;
    uint8_t line[76];
    char names[12];
};

/* Of version 2. */
static const uint8_t unit[72] = {
    68, 0,    0,    0,    2,    0,    23,   0,    0,    0, /* its header */
    1,  1,    0xFF, 1,    10,                        /* lines from -1 on, opcodes from 10 on */
    0,  1,    1,    1,    1,    0,    0,    0,    1, /* operands */
    0,  'a',  '.',  'c',  0,    0,    0,    0,    0, /* no folder, a file */
    0,  9,    2,    0,    0x10, 0,    0,    0,    0,    0,    0, /* address 0x1000 */
    3,  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, /* the most that a line advances */
    3,  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, /* twice */
    1,  2,    16,   0,    1,    1, /* a row, and the end 16 bytes later */
};

static struct made *begin(struct loader_file *file)
{
    uint8_t *memory = mmap(NULL, 2ul * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
    struct made *made;

    CHECK(memory != MAP_FAILED && mprotect(memory + PAGE, PAGE, PROT_NONE) == 0);
    *file = (struct loader_file){.size = sizeof(*made), .name = "made"};
    file->bytes = memory + PAGE - sizeof(*made);
    made = (struct made *)(void *)file->bytes;
    made->head.e_shentsize = sizeof(made->line_section);
    made->head.e_shoff = offsetof(struct made, line_section);
    made->head.e_shnum = 2;
    made->head.e_shstrndx = 1;
    made->line_section = (Elf64_Shdr){
        .sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct made, line), .sh_size = sizeof(unit)};
    made->name_section = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                      .sh_name = 1,
                                      .sh_offset = offsetof(struct made, names),
                                      .sh_size = sizeof(made->names)};
    memcpy(made->line, unit, sizeof(unit));
    return made;
}

static void end(struct made *made)
{
    munmap((uint8_t *)(made + 1) - PAGE, 2ul * PAGE);
}

TEST(a_name_that_the_end_of_the_file_cuts_is_none)
{
    struct loader_file file;
    struct made *made = begin(&file);

    memcpy(made->names, "?.debug_line", sizeof(made->names));
    made->line_section.sh_name = 1;
    CHECK(!lines_read(&file));
    end(made);
}

TEST(a_line_may_be_any_number)
{
    struct loader_file file;
    struct made *made = begin(&file);
    struct lines *lines;
    char text[64];

    memcpy(made->names, ".debug_line", sizeof(made->names));
    made->name_section.sh_name = 11;
    lines = lines_read(&file);
    CHECK(lines);
    end(made);
    CHECK(lines_find(lines, 0x1000, text, sizeof(text)));
    CHECK(strcmp(text, "a.c:18446744073709551615") == 0);
    CHECK(lines_find(lines, 0x100F, text, sizeof(text)));
    CHECK(!lines_find(lines, 0x1010, text, sizeof(text)));
    CHECK(!lines_find(lines, 0xFFF, text, sizeof(text)));
    lines_free(lines);
}

/* ---- paths ---- */

struct written {
    uint8_t bytes[256];
    size_t used;
};

static void put(struct written *w, const void *bytes, size_t count)
{
    CHECK(w->used + count <= sizeof(w->bytes));
    memcpy(w->bytes + w->used, bytes, count);
    w->used += count;
}

/* A unit whose header has these names, and in which address 0x1000 is line 1 of this file. */
static void put_unit(struct written *w, uint8_t version, const void *names, size_t bytes,
                     uint8_t file)
{
    static const uint8_t rest[] = {1, 1, 0xFF, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1};
    const uint8_t program[] = {0, 9, 2, 0, 0x10, 0, 0, 0, 0, 0, 0, 4, file, 1, 2, 16, 0, 1, 1};
    const uint8_t head[] = {version, 0, 8,
                            0}; /* from version 5 on, sizes of addresses and selectors */
    const uint32_t header = (uint32_t)(sizeof(rest) + (version >= 4) + bytes),
                   whole = (uint32_t)(version >= 5 ? 4 : 2) + 4 + header + (uint32_t)sizeof(program);

    put(w, &whole, sizeof(whole));
    put(w, head, version >= 5 ? 4 : 2);
    put(w, &header, sizeof(header));
    put(w, rest, 1);
    put(w, "\1", version >= 4); /* operations of an instruction */
    put(w, rest + 1, sizeof(rest) - 1);
    put(w, names, bytes);
    put(w, program, sizeof(program));
}

/* Is that address, 0x40 below the one of the table, in this file? */
static void check_path(uint8_t version, const void *names, size_t bytes, uint8_t file,
                       const char *path, const char *name)
{
    struct lines_sections in = {.line = {NULL, 0}};
    struct written w = {.used = 0};
    struct lines *lines;
    char text[64] = "";

    put_unit(&w, version, names, bytes, file);
    in.line = (struct lines_section){w.bytes, w.used};
    lines = lines_keep(&in, 0x40);
    CHECK(lines);
    memset(&w, 0, sizeof(w)); /* it has a copy */
    CHECK(!lines_find_path(lines, 0x1000, text, sizeof(text)));
    CHECK(lines_find_path(lines, 0xFC0, text, sizeof(text)) == (path != NULL));
    if (path && strcmp(text, path) != 0)
        fail_msg("%s", text);
    CHECK(lines_find(lines, 0xFC0, text, sizeof(text)) == (path != NULL));
    CHECK(!path || strcmp(text, name) == 0);
    lines_free(lines);
}

TEST(paths_are_as_the_compiler_had_them)
{
    /* folders, and files with the numbers of their folders */
    static const char four[] =
        "/src\0inc\0\0a.c\0\0\0\0b.c\0\1\0\0c.h\0\2\0\0/d.h\0\1\0\0e.h\0\x09\0\0";
    static const char five[] =
        "\1\1\x08\3/home\0sub\0/usr\0\2\1\x08\2\x0B\6a.c\0\0b.c\0\1c.h\0\2/d.h\0\1e.h\0\x09"
        "C:\\f.c\0\1";
    static const struct {
        uint8_t file;
        const char *path;
    } with[] = {{0, "/home/a.c:1"}, {1, "/home/sub/b.c:1"}, {2, "/usr/c.h:1"},
                {3, "/d.h:1"},      {4, "e.h:1"},           {5, "C:\\f.c:1"}},
      without[] = {{1, "a.c:1"}, {2, "/src/b.c:1"}, {3, "inc/c.h:1"}, {4, "/d.h:1"}, {5, "e.h:1"}};

    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        for (uint8_t version = 2; version <= 4; version++)
            check_path(version, four, sizeof(four), without[i].file, without[i].path,
                       strrchr(without[i].path, '/') ? strrchr(without[i].path, '/') + 1
                                                     : without[i].path);
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
        check_path(5, five, sizeof(five) - 1, with[i].file, with[i].path,
                   strrchr(with[i].path, '/') ? strrchr(with[i].path, '/') + 1 : with[i].path);
    check_path(2, four, sizeof(four), 6, NULL, NULL); /* there is none */
    check_path(5, five, sizeof(five) - 1, 6, NULL, NULL);
}

/* What is cut off anywhere has no lines, or some. */
TEST(tables_may_end_anywhere)
{
    static const char five[] = "\1\1\x08\2/home\0sub\0\2\1\x08\2\x0B\2a.c\0\0b.c\0\1";
    struct written w = {.used = 0};
    char text[64];

    put_unit(&w, 5, five, sizeof(five) - 1, 1);
    for (size_t bytes = 1; bytes < w.used; bytes++) {
        struct lines_sections in = {.line = {w.bytes, bytes}};
        struct lines *lines = lines_keep(&in, 0);

        CHECK(lines);
        (void)lines_find_path(lines, 0x1000, text, sizeof(text));
        lines_free(lines);
    }
}

/* ---- many sequences ---- */

#define UNITS  40u
#define TABLES 200u
#define SPACE  0x200u /* of addresses */

/* A unit of version 2 with a sequence, [begin, begin + bytes), all of this line. */
static size_t put_sequence(uint8_t *to, uint8_t line, uint16_t begin, uint8_t bytes)
{
    static const uint8_t head[] = {46, 0, 0, 0, 2, 0, 19, 0, 0, 0, 1, 1,   0xFF, 1,
                                   10, 0, 1, 1, 1, 1, 0,  0, 0, 1, 0, 'a', 0,    0};
    const uint8_t program[] = {
        0, 9, 2, (uint8_t)begin, (uint8_t)(begin >> 8), 0, 0, 0, 0, 0, 0, 3, line, 1, 2, bytes,
        0, 1, 1};
    /* the header has an empty list of folders, a file without folder, time and size, and the end of the list */
    static const uint8_t rest[] = {0, 0, 0};
    const uint32_t header = (uint32_t)(sizeof(head) - 10 + sizeof(rest)),
                   whole = (uint32_t)(sizeof(head) - 4 + sizeof(rest) + sizeof(program));

    memcpy(to, head, sizeof(head));
    memcpy(to, &whole, sizeof(whole));
    memcpy(to + 6, &header, sizeof(header));
    memcpy(to + sizeof(head), rest, sizeof(rest));
    memcpy(to + sizeof(head) + sizeof(rest), program, sizeof(program));
    return sizeof(head) + sizeof(rest) + sizeof(program);
}

/* The line of an address is that of the first sequence in the table that has it, however they overlap. */
TEST(an_address_is_found_among_many_sequences)
{
    static uint8_t table[UNITS * 64];
    struct rng rng = {.state = 7};

    for (unsigned round = 0; round < TABLES; round++) {
        uint8_t expected[SPACE] = {0};
        struct lines_sections in = {.line = {table, 0}};
        unsigned units = 1 + rng_below(&rng, UNITS);
        struct lines *lines;

        for (unsigned i = 0; i < units; i++) {
            uint16_t begin = (uint16_t)rng_below(&rng, SPACE - 64);
            uint8_t bytes = (uint8_t)(1 + rng_below(&rng, round % 2 ? 8 : 60));

            in.line.size += put_sequence(table + in.line.size, (uint8_t)(i + 1), begin, bytes);
            for (unsigned at = begin; at < begin + bytes; at++)
                expected[at] = expected[at] ? expected[at] : (uint8_t)(i + 1);
        }
        lines = lines_keep(&in, 0);
        CHECK(lines);
        for (unsigned at = 0; at < SPACE; at++) {
            char text[64] = "", wanted[64];

            snprintf(wanted, sizeof(wanted), "a:%u", expected[at] + 1u);
            CHECK(lines_find(lines, at, text, sizeof(text)) == (expected[at] != 0));
            CHECK(!expected[at] || strcmp(text, wanted) == 0);
        }
        lines_free(lines);
    }
}
