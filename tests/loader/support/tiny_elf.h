/* SPDX-License-Identifier: MIT */
/* A small shared object that is made in memory, and read from there. */
#ifndef DXGK_TESTS_LOADER_TINY_ELF_H
#define DXGK_TESTS_LOADER_TINY_ELF_H

#include "support/check_rule.h"

#include "loader/elf_file.h"
#include "loader/file.h"
#include "loader/loader.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT 0x1000u /* address of the first byte of the file */

enum { SYMTAB, STRTAB, STRSZ, GNU_HASH, NEEDED, LAST_ENTRY };

struct tiny {
    Elf64_Ehdr header;
    Elf64_Phdr program[3]; /* code, data, the dynamic section */
    Elf64_Dyn dynamic[LAST_ENTRY + 1];
    Elf64_Sym symbol[4];
    char strings[64];
    struct {
        uint32_t buckets, first, blooms, shift;
        uint64_t bloom;
        uint32_t bucket[2], chain[2];
    } gnu;
    uint32_t old[2];
    Elf64_Shdr section[3]; /* none, .symtab, .strtab */
    Elf64_Sym all[3];
    char all_strings[32];
    char data[16];
};

#define OFFSET(member) ((uint32_t)offsetof(struct tiny, member))

/* Offsets of strings: 1 "first", 7 "second", 14 "libnone.so". */
static const char strings[] = "\0first\0second\0libnone.so";
static const char all_strings[] = "\0hidden\0file.c";

static inline struct tiny *make(void)
{
    static struct tiny t;

    memset(&t, 0, sizeof(t));
    memcpy(t.header.e_ident, ELFMAG, SELFMAG);
    t.header.e_ident[EI_CLASS] = ELFCLASS64;
    t.header.e_ident[EI_DATA] = ELFDATA2LSB;
    t.header.e_machine = EM_X86_64;
    t.header.e_type = ET_DYN;
    t.header.e_phentsize = sizeof(Elf64_Phdr);
    t.header.e_phnum = 3;
    t.header.e_phoff = OFFSET(program);
    t.header.e_shentsize = sizeof(Elf64_Shdr);
    t.header.e_shnum = 3;
    t.header.e_shoff = OFFSET(section);
    t.program[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_vaddr = AT,
                                .p_filesz = OFFSET(section),
                                .p_memsz = OFFSET(section)};
    t.program[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_W,
                                .p_vaddr = 0x9000,
                                .p_offset = OFFSET(data),
                                .p_filesz = sizeof(t.data),
                                .p_memsz = 0x100};
    t.program[2] = (Elf64_Phdr){
        .p_type = PT_DYNAMIC, .p_offset = OFFSET(dynamic), .p_filesz = sizeof(t.dynamic)};
    t.dynamic[SYMTAB] = (Elf64_Dyn){DT_SYMTAB, {AT + OFFSET(symbol)}};
    t.dynamic[STRTAB] = (Elf64_Dyn){DT_STRTAB, {AT + OFFSET(strings)}};
    t.dynamic[STRSZ] = (Elf64_Dyn){DT_STRSZ, {sizeof(strings)}};
    t.dynamic[GNU_HASH] = (Elf64_Dyn){DT_GNU_HASH, {AT + OFFSET(gnu)}};
    t.dynamic[NEEDED] = (Elf64_Dyn){DT_NEEDED, {14}};
    memcpy(t.strings, strings, sizeof(strings));
    t.symbol[1] = (Elf64_Sym){.st_name = 1, .st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC)};
    t.symbol[2] = (Elf64_Sym){.st_name = 7,
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                              .st_shndx = 1,
                              .st_value = AT + 0x10,
                              .st_size = 0x20};
    t.symbol[3] = (Elf64_Sym){.st_name = 1,
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                              .st_shndx = 1,
                              .st_value = 0x9000,
                              .st_size = 4};
    t.gnu.buckets = 2;
    t.gnu.first = 2;
    t.gnu.blooms = 1;
    t.gnu.bucket[0] = 2;
    t.gnu.chain[0] = 0x10;
    t.gnu.chain[1] = 0x11; /* the last of its bucket */
    t.old[0] = 1;
    t.old[1] = 3;
    t.section[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                .sh_entsize = sizeof(Elf64_Sym),
                                .sh_offset = OFFSET(all),
                                .sh_size = sizeof(t.all),
                                .sh_link = 2};
    t.section[2] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = OFFSET(all_strings), .sh_size = sizeof(all_strings)};
    memcpy(t.all_strings, all_strings, sizeof(all_strings));
    t.all[1] = (Elf64_Sym){.st_name = 1,
                           .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                           .st_shndx = 1,
                           .st_value = AT + 0x40,
                           .st_size = 8};
    t.all[2] = (Elf64_Sym){
        .st_name = 8, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FILE), .st_shndx = 1};
    return &t;
}

static struct elf_file parsed;
static char why[256];

static inline NTSTATUS parse_bytes(const struct tiny *tiny, size_t size)
{
    const struct loader_file source = {
        .bytes = (uint8_t *)(uintptr_t)tiny, .size = size, .name = "tiny.so"};

    why[0] = '\0';
    return elf_file_parse(&parsed, &source, why, sizeof(why));
}

static inline NTSTATUS parse(const struct tiny *tiny)
{
    return parse_bytes(tiny, sizeof(*tiny));
}

#endif
