/* SPDX-License-Identifier: MIT */
/* Reading a shared object: a small one, with one thing changed at a time. */
#include "loader/support/tiny_elf.h"

static bool refuses(const struct tiny *tiny, const char *what)
{
    if (parse(tiny) == STATUS_INVALID_IMAGE_FORMAT && strncmp(why, "tiny.so: ", 9) == 0 &&
        strcmp(why + 9, what) == 0)
        return true;
    print_error("\"%s\" instead of \"%s\"\n", why, what);
    return false;
}

#define NO_SYMBOLS "damaged: the dynamic symbols lie outside the file"

TEST(the_parts_of_a_file_are_found)
{
    CHECK(parse(make()) == STATUS_SUCCESS && !why[0]);
    CHECK(parsed.size == sizeof(struct tiny) && strcmp(parsed.name, "tiny.so") == 0);
    CHECK(parsed.segments == 2 && parsed.low == AT && parsed.high == 0x9100);
    CHECK(parsed.segment[0].address == AT && parsed.segment[0].offset == 0 &&
          parsed.segment[0].file_bytes == OFFSET(section) &&
          parsed.segment[0].memory_bytes == OFFSET(section) &&
          parsed.segment[0].flags == (PF_R | PF_X));
    CHECK(parsed.segment[1].address == 0x9000 && parsed.segment[1].offset == OFFSET(data) &&
          parsed.segment[1].file_bytes == 16 && parsed.segment[1].memory_bytes == 0x100 &&
          parsed.segment[1].flags == (PF_R | PF_W));
    CHECK(parsed.dynamic.symbols == OFFSET(symbol) && parsed.dynamic.count == 4);
    CHECK(parsed.dynamic.strings == OFFSET(strings) &&
          parsed.dynamic.string_bytes == sizeof(strings));
    CHECK(parsed.all.symbols == OFFSET(all) && parsed.all.count == 3);
    CHECK(parsed.all.strings == OFFSET(all_strings) &&
          parsed.all.string_bytes == sizeof(all_strings));
    CHECK(parsed.needed_count == 1 && parsed.needed[0] == 14);
    CHECK(strcmp(elf_string(&parsed, &parsed.dynamic, 14), "libnone.so") == 0);
}

TEST(segments_in_any_order_have_their_bounds)
{
    struct tiny *t = make();
    const Elf64_Phdr first = t->program[0];

    t->program[0] = t->program[1];
    t->program[1] = first;
    CHECK(parse(t) == STATUS_SUCCESS && parsed.low == AT && parsed.high == 0x9100);
}

TEST(symbols_are_taken_member_by_member)
{
    struct tiny *t = make();
    struct elf_symbol s;

    CHECK(parse(t) == STATUS_SUCCESS);
    elf_symbol_at(&parsed, &parsed.dynamic, 0, &s);
    CHECK(s.name[0] == '\0' && !s.defined);
    elf_symbol_at(&parsed, &parsed.dynamic, 1, &s);
    CHECK(strcmp(s.name, "first") == 0 && !s.defined && s.binding == STB_WEAK && s.type == STT_FUNC);
    elf_symbol_at(&parsed, &parsed.dynamic, 2, &s);
    CHECK(strcmp(s.name, "second") == 0 && s.defined && s.binding == STB_GLOBAL &&
          s.type == STT_FUNC && s.value == AT + 0x10 && s.size == 0x20);
    elf_symbol_at(&parsed, &parsed.dynamic, 3, &s);
    CHECK(s.type == STT_OBJECT && s.value == 0x9000 && s.size == 4);
    /* a name that lies outside, or does not end */
    t->symbol[1].st_name = sizeof(strings);
    t->symbol[2].st_name = sizeof(strings) - 1;
    elf_symbol_at(&parsed, &parsed.dynamic, 1, &s);
    CHECK(s.name[0] == '\0' && s.binding == STB_WEAK);
    CHECK(!elf_string(&parsed, &parsed.dynamic, sizeof(strings)));
    CHECK(elf_string(&parsed, &parsed.dynamic, sizeof(strings) - 1));
    t->strings[sizeof(strings) - 1] = 'x';
    CHECK(!elf_string(&parsed, &parsed.dynamic, 14));
    CHECK(strcmp(elf_string(&parsed, &parsed.dynamic, 7), "second") == 0);
}

TEST(headers_of_other_files_are_refused)
{
    struct tiny *t = make();

    CHECK(parse_bytes(t, 3) == STATUS_INVALID_IMAGE_FORMAT &&
          strcmp(why, "tiny.so: neither an ELF file nor a Windows image") == 0);
    CHECK(parse_bytes(t, sizeof(t->header) - 1) == STATUS_INVALID_IMAGE_FORMAT &&
          strcmp(why, "tiny.so: truncated: the ELF header is not complete") == 0);
    CHECK(parse_bytes(t, OFFSET(dynamic) - 1) == STATUS_INVALID_IMAGE_FORMAT &&
          strcmp(why, "tiny.so: truncated: the program headers are not complete") == 0);
    CHECK(parse_bytes(t, OFFSET(dynamic)) == STATUS_INVALID_IMAGE_FORMAT &&
          strcmp(why, "tiny.so: truncated: a segment is not complete") == 0);
    t->header.e_ident[3] = 'G';
    CHECK(refuses(t, "neither an ELF file nor a Windows image"));
    (t = make())->header.e_ident[EI_CLASS] = ELFCLASS32;
    CHECK(refuses(t, "not built for x86-64"));
    (t = make())->header.e_ident[EI_DATA] = ELFDATA2MSB;
    CHECK(refuses(t, "not built for x86-64"));
    (t = make())->header.e_machine = EM_386;
    CHECK(refuses(t, "not built for x86-64"));
    (t = make())->header.e_type = ET_EXEC;
    CHECK(refuses(t, "not a shared object"));
    (t = make())->header.e_type = ET_REL;
    CHECK(refuses(t, "an object file, not a shared object"));
    (t = make())->header.e_phentsize++;
    CHECK(refuses(t, "no usable program headers"));
    (t = make())->header.e_phnum = 0;
    CHECK(refuses(t, "no usable program headers"));
    (t = make())->header.e_phnum = PN_XNUM;
    CHECK(refuses(t, "no usable program headers"));
    (t = make())->header.e_phnum = 0x1000;
    CHECK(refuses(t, "truncated: the program headers are not complete"));
}

TEST(segments_must_make_sense)
{
    struct tiny *t = make();

    t->program[1].p_filesz = sizeof(*t) - OFFSET(data) + 1;
    CHECK(refuses(t, "truncated: a segment is not complete"));
    (t = make())->program[1].p_memsz = 15;
    CHECK(refuses(t, "damaged: a segment has impossible sizes"));
    (t = make())->program[1].p_memsz = 16;
    CHECK(parse(t) == STATUS_SUCCESS && parsed.high == 0x9010);
    (t = make())->program[1].p_vaddr = UINT64_MAX - 0xFF;
    CHECK(refuses(t, "damaged: a segment has impossible sizes"));
    t->program[1].p_vaddr = (uint64_t)INT64_MAX - 0x100;
    CHECK(parse(t) == STATUS_SUCCESS && parsed.high == (uint64_t)INT64_MAX);
    t->program[1].p_vaddr++;
    CHECK(refuses(t, "damaged: a segment has impossible sizes"));
    t = make();
    t->program[0].p_type = t->program[1].p_type = PT_NOTE;
    CHECK(refuses(t, "damaged: nothing in it is to be loaded"));
    (t = make())->program[2].p_type = PT_NOTE;
    CHECK(refuses(t, "no dynamic section: not a shared object"));
}

/* A file with many small segments after the three. */
TEST(a_file_has_so_many_segments_at_most)
{
    const uint32_t most = ELF_MAX_SEGMENTS;

    for (uint32_t more = most - 2; more <= most - 1; more++) {
        size_t size = sizeof(struct tiny) + (3 + more) * sizeof(Elf64_Phdr);
        uint8_t *bytes = calloc(1, size);
        struct tiny *t = make();
        struct loader_file source = {.bytes = bytes, .size = size, .name = "tiny.so"};
        Elf64_Phdr *program = (Elf64_Phdr *)(void *)(bytes + sizeof(*t));

        CHECK(bytes);
        t->header.e_phoff = sizeof(*t);
        t->header.e_phnum = (uint16_t)(3 + more);
        memcpy(bytes, t, sizeof(*t));
        memcpy(program, t->program, sizeof(t->program));
        for (uint32_t i = 0; i < more; i++)
            program[3 + i] = (Elf64_Phdr){
                .p_type = PT_LOAD, .p_vaddr = 0x10000 + 0x1000ull * i, .p_memsz = 1};
        if (more + 2 <= most) {
            CHECK(elf_file_parse(&parsed, &source, why, sizeof(why)) == STATUS_SUCCESS);
            CHECK(parsed.segments == most && parsed.segment[most - 1].memory_bytes == 1);
        } else {
            CHECK(elf_file_parse(&parsed, &source, why, sizeof(why)) == STATUS_INVALID_IMAGE_FORMAT);
            CHECK(strcmp(why, "tiny.so: damaged: too many segments") == 0);
        }
        free(bytes);
    }
}

TEST(the_dynamic_section_must_name_its_tables)
{
    struct tiny *t = make();

    t->program[2].p_offset = sizeof(*t) - sizeof(Elf64_Dyn) + 1;
    CHECK(refuses(t, "truncated: the dynamic section is not complete"));
    (t = make())->dynamic[SYMTAB].d_tag = DT_DEBUG;
    CHECK(refuses(t, "no dynamic symbols"));
    (t = make())->dynamic[STRTAB].d_tag = DT_DEBUG;
    CHECK(refuses(t, "no dynamic symbols"));
    (t = make())->dynamic[GNU_HASH].d_tag = DT_DEBUG;
    CHECK(refuses(t, "no dynamic symbols"));
    (t = make())->dynamic[SYMTAB].d_tag = DT_NULL; /* ends it */
    CHECK(refuses(t, "no dynamic symbols"));
    (t = make())->dynamic[LAST_ENTRY] = (Elf64_Dyn){DT_NEEDED, {7}}; /* ends with the section */
    CHECK(parse(t) == STATUS_SUCCESS && parsed.needed_count == 2 && parsed.needed[1] == 7);
    t->program[2].p_filesz--;
    CHECK(parse(t) == STATUS_SUCCESS && parsed.needed_count == 1);
}

TEST(tables_must_lie_in_the_file)
{
    struct tiny *t = make();

    t->dynamic[STRTAB].d_un.d_ptr = AT - 1;
    CHECK(refuses(t, NO_SYMBOLS));
    (t = make())->dynamic[SYMTAB].d_un.d_ptr = AT + OFFSET(section);
    CHECK(refuses(t, NO_SYMBOLS));
    (t = make())->dynamic[GNU_HASH].d_un.d_ptr = 0x9010; /* behind the part that is in the file */
    CHECK(refuses(t, NO_SYMBOLS));
    (t = make())->dynamic[STRSZ].d_un.d_val = OFFSET(section) - OFFSET(strings);
    CHECK(parse(t) == STATUS_SUCCESS);
    t->dynamic[STRSZ].d_un.d_val++;
    CHECK(refuses(t, NO_SYMBOLS));
    /* four symbols up to the end of the segment, or more than it has */
    t = make();
    t->dynamic[SYMTAB].d_un.d_ptr = AT + OFFSET(section) - 4 * (uint32_t)sizeof(Elf64_Sym);
    CHECK(parse(t) == STATUS_SUCCESS && parsed.dynamic.count == 4);
    t->dynamic[SYMTAB].d_un.d_ptr++;
    CHECK(refuses(t, NO_SYMBOLS));
}

TEST(the_hash_table_counts_the_symbols)
{
    struct tiny *t = make();

    t->gnu.bucket[0] = 0;
    t->gnu.bucket[1] = 3;
    CHECK(parse(t) == STATUS_SUCCESS && parsed.dynamic.count == 4);
    t->gnu.chain[0] = 1; /* ends its own bucket */
    t->gnu.bucket[1] = 2;
    CHECK(parse(t) == STATUS_SUCCESS && parsed.dynamic.count == 3);
    t->gnu.bucket[1] = 1; /* below the first that is hashed: nothing is exported */
    CHECK(parse(t) == STATUS_SUCCESS && parsed.dynamic.count == 2);
    t->gnu.bucket[1] = 0x10000000;
    CHECK(refuses(t, NO_SYMBOLS));
    t = make();
    t->gnu.buckets = 0x10000000;
    CHECK(refuses(t, NO_SYMBOLS));
    t = make();
    t->gnu.blooms = 0x10000000;
    CHECK(refuses(t, NO_SYMBOLS));
    t = make();
    t->dynamic[GNU_HASH].d_un.d_ptr = 0x9000 + 16 - 15; /* where the head does not fit */
    memset(t->data, 0xFF, sizeof(t->data));
    CHECK(refuses(t, NO_SYMBOLS));
}

TEST(the_old_hash_table_says_how_many_symbols_there_are)
{
    struct tiny *t = make();

    t->dynamic[GNU_HASH] = (Elf64_Dyn){DT_HASH, {AT + OFFSET(old)}};
    CHECK(parse(t) == STATUS_SUCCESS && parsed.dynamic.count == 3);
    t->dynamic[NEEDED] = (Elf64_Dyn){DT_GNU_HASH, {AT + OFFSET(gnu)}}; /* which comes first */
    CHECK(parse(t) == STATUS_SUCCESS && parsed.dynamic.count == 4);
    t = make();
    t->dynamic[GNU_HASH] = (Elf64_Dyn){DT_HASH, {0x9010}};
    CHECK(refuses(t, NO_SYMBOLS));
    t->dynamic[GNU_HASH] = (Elf64_Dyn){DT_HASH, {0x9009}};
    CHECK(refuses(t, NO_SYMBOLS));
    t->dynamic[GNU_HASH] = (Elf64_Dyn){DT_HASH, {0x9008}};
    t->data[12] = 2;
    CHECK(parse(t) == STATUS_SUCCESS && parsed.dynamic.count == 2);
}

/* For reports only: the file is taken without it. */
TEST(a_symbol_table_that_is_damaged_is_absent)
{
    struct tiny *t = make();

#define ABSENT(change) \
    (t = make(), change, parse(t) == STATUS_SUCCESS && parsed.all.count == 0 && !why[0])
    CHECK(ABSENT(t->header.e_shoff = 0));
    CHECK(ABSENT(t->header.e_shoff = sizeof(*t) + 1));
    CHECK(ABSENT(t->header.e_shoff = sizeof(*t)));
    CHECK(ABSENT(t->header.e_shentsize++));
    CHECK(ABSENT(t->header.e_shnum = 1));
    CHECK(ABSENT(t->header.e_shnum = 2)); /* without its strings */
    CHECK(ABSENT(t->section[1].sh_type = SHT_PROGBITS));
    CHECK(ABSENT(t->section[1].sh_entsize++));
    CHECK(ABSENT(t->section[1].sh_link = 3));
    CHECK(ABSENT(t->section[1].sh_offset = sizeof(*t) - sizeof(t->all) + 1));
    CHECK(ABSENT(t->section[2].sh_offset = sizeof(*t) - sizeof(all_strings) + 1));
    t = make();
    t->section[2].sh_offset = sizeof(*t) - sizeof(all_strings);
    t->section[1].sh_size++; /* a part of a symbol is none */
    CHECK(parse(t) == STATUS_SUCCESS && parsed.all.count == 3);
    t->section[0] = t->section[1];
    t->section[0].sh_entsize = 8; /* the next one counts */
    CHECK(parse(t) == STATUS_SUCCESS && parsed.all.count == 3);
}
