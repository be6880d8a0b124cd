/* SPDX-License-Identifier: MIT */
/* Tables of lines that are damaged: everything is read within the file, and gives some number. */
#include "support/check_rule.h"

#include "loader/file.h"
#include "loader/lines.h"

#include <elf.h>
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
