/* SPDX-License-Identifier: MIT */
/* The PE/COFF file format, as far as x64 driver images use it; the names of members are ours, the
 * layouts are the format's. All multi-byte values are little-endian. An "address" is an offset from
 * the base of the mapped image (an RVA), an "offset" one in the file; "virtual" is an absolute
 * address at the preferred base. */
#ifndef DXGK_LOADER_PE_FORMAT_H
#define DXGK_LOADER_PE_FORMAT_H

#include <stdint.h>

#define PE_DOS_MAGIC        0x5A4Du /* "MZ" */
#define PE_DOS_HEADER_BYTES 64u
#define PE_DOS_NEW_HEADER   60u     /* where the offset of the signature is */
#define PE_SIGNATURE        0x4550u /* "PE", 0, 0 */
#define PE_MACHINE_X64      0x8664u
#define PE_MACHINE_X86      0x014Cu
#define PE_MACHINE_ARM64    0xAA64u
#define PE_MAGIC_64         0x020Bu
#define PE_MAGIC_32         0x010Bu
#define PE_SUBSYSTEM_NATIVE 1u

/* characteristics of the file */
#define PE_FILE_NO_RELOCATIONS 0x0001u
#define PE_FILE_EXECUTABLE     0x0002u

/* flags of a section */
#define PE_SECTION_CODE          0x00000020u
#define PE_SECTION_UNINITIALIZED 0x00000080u
#define PE_SECTION_DISCARDABLE   0x02000000u
#define PE_SECTION_EXECUTE       0x20000000u
#define PE_SECTION_READ          0x40000000u
#define PE_SECTION_WRITE         0x80000000u

enum pe_directory_index {
    PE_EXPORTS,
    PE_IMPORTS,
    PE_RESOURCES,
    PE_EXCEPTIONS,
    PE_SECURITY,
    PE_RELOCATIONS,
    PE_DEBUG,
    PE_TLS = 9,
    PE_LOAD_CONFIG,
    PE_DELAY_IMPORTS = 13,
    PE_CLR,
    PE_DIRECTORIES = 16,
};

struct pe_file_header {
    uint16_t machine, sections;
    uint32_t time, symbols_offset, symbols;
    uint16_t optional_bytes, characteristics;
};

struct pe_directory {
    uint32_t address, bytes;
};

/* Up to the directories, which follow it. */
struct pe_optional_header {
    uint16_t magic;
    uint8_t linker_major, linker_minor;
    uint32_t code_bytes, data_bytes, bss_bytes, entry, code_address;
    uint64_t base;
    uint32_t section_alignment, file_alignment;
    uint16_t system_major, system_minor, image_major, image_minor, subsystem_major, subsystem_minor;
    uint32_t reserved, image_bytes, header_bytes, checksum;
    uint16_t subsystem, dll_characteristics;
    uint64_t stack_reserve, stack_commit, heap_reserve, heap_commit;
    uint32_t loader_flags, directories;
};

struct pe_section_header {
    char name[8];
    uint32_t memory_bytes, address, file_bytes, offset;
    uint32_t relocations_offset, lines_offset;
    uint16_t relocations, lines;
    uint32_t flags;
};

struct pe_relocation_block {
    uint32_t page, bytes; /* bytes: of the block, this header included */
};
#define PE_RELOCATION_NONE   0u /* padding */
#define PE_RELOCATION_HIGH   1u
#define PE_RELOCATION_LOW    2u
#define PE_RELOCATION_32     3u
#define PE_RELOCATION_64     10u
#define PE_RELOCATION_OFFSET 0x0FFFu

struct pe_import_descriptor {
    uint32_t names, time, forwarder, module,
        slots; /* names 0: the slots hold the names until they are bound */
};
#define PE_IMPORT_BY_ORDINAL ((uint64_t)1 << 63)

struct pe_delay_descriptor {
    uint32_t attributes, module, handle, slots, names, bound, unload, time;
};
#define PE_DELAY_ADDRESSES \
    1u /* the members are addresses; else they are virtual, as old linkers wrote them */

struct pe_export_directory {
    uint32_t flags, time;
    uint16_t major, minor;
    uint32_t module, ordinal_base, functions, names, function_table, name_table, ordinal_table;
};

struct pe_tls_directory {
    uint64_t begin, end, index, callbacks; /* virtual */
    uint32_t zero_bytes, flags;
};

#define PE_CONFIG_COOKIE \
    0x58u /* in the load configuration: where the virtual address of the cookie is */
#define PE_DEFAULT_COOKIE 0x00002B992DDFA232u

/* COFF symbols, 18 bytes each, not aligned. */
#define PE_SYMBOL_BYTES          18u
#define PE_SYMBOL_VALUE          8u
#define PE_SYMBOL_SECTION        12u
#define PE_SYMBOL_TYPE           14u
#define PE_SYMBOL_CLASS          16u
#define PE_SYMBOL_AUXILIARY      17u
#define PE_SYMBOL_FUNCTION       0x20u /* type */
#define PE_SYMBOL_CLASS_EXTERNAL 2u
#define PE_SYMBOL_CLASS_STATIC   3u

#endif
