/* SPDX-License-Identifier: MIT */
#include "loader/pdb.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/pe.h"
#include "util/checked.h"

#define CODEVIEW     2u /* a type of debug directory entry */
#define ENTRY_BYTES  28u
#define LARGEST_PATH 1024u
#define STREAM_INFO  1u
#define STREAM_DBI   3u
#define NO_STREAM    UINT32_MAX

struct record {
    uint8_t guid[16];
    uint32_t age;
    char path[LARGEST_PATH]; /* as the linker had it */
};

/* ---- the image ---- */

static uint32_t word(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static bool read_record(const struct loader_file *file, uint64_t at, uint64_t bytes,
                        struct record *record)
{
    const uint8_t *from = file->bytes + at;

    if (!range_inside(at, bytes, file->size) || bytes < 25 || bytes - 24 > LARGEST_PATH ||
        memcmp(from, "RSDS", 4) != 0)
        return false;
    memcpy(record->guid, from + 4, sizeof(record->guid));
    record->age = word(from + 20);
    memcpy(record->path, from + 24, bytes - 24);
    record->path[LARGEST_PATH - 1] = '\0';
    return memchr(from + 24, 0, bytes - 24) && record->path[0];
}

static bool record_of(const char *image, struct record *record)
{
    struct loader_file file;
    struct pe_file pe;
    const struct pe_section *section;
    const struct pe_directory *debug = &pe.directory[PE_DEBUG];
    bool found = false;

    if (!NT_SUCCESS(loader_file_read(&file, image, "image", NULL, 0)))
        return false;
    if (loader_file_is_pe(&file) && NT_SUCCESS(pe_file_parse(&pe, &file, 0, NULL, 0)) &&
        (section = pe_section_at(&pe, debug->address)) != NULL)
        for (uint32_t i = 0; i + ENTRY_BYTES <= debug->bytes && !found; i += ENTRY_BYTES) {
            uint64_t at = (uint64_t)debug->address - section->address + section->offset + i;

            if (range_inside(at, ENTRY_BYTES, file.size) && word(file.bytes + at + 12) == CODEVIEW)
                found = read_record(&file, word(file.bytes + at + 24), word(file.bytes + at + 16),
                                    record);
        }
    loader_file_free(&file);
    return found;
}

/* ---- the PDB: a file of streams, each a list of blocks ---- */

struct streams {
    int file;
    uint32_t block_bytes, directory_bytes,
        map; /* block with the numbers of the directory's blocks */
};

static bool read_at(int file, uint64_t at, void *to, size_t bytes)
{
    return pread(file, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool open_streams(struct streams *s)
{
    static const char magic[] = "Microsoft C/C++ MSF 7.00\r\n\x1A"
                                "DS\0\0";
    uint8_t head[56];

    if (!read_at(s->file, 0, head, sizeof(head)) || memcmp(head, magic, 32) != 0)
        return false;
    s->block_bytes = word(head + 32);
    s->directory_bytes = word(head + 44);
    s->map = word(head + 52);
    return s->block_bytes >= 512 && s->block_bytes <= 65536 && s->block_bytes % 512 == 0;
}

/* A number of the directory. */
static bool directory_word(const struct streams *s, uint64_t index, uint32_t *value)
{
    uint64_t at = index * 4, block = at / s->block_bytes;
    uint32_t number;

    return at + 4 <= s->directory_bytes && block < s->block_bytes / 4 &&
           read_at(s->file, (uint64_t)s->map * s->block_bytes + block * 4, &number, 4) &&
           read_at(s->file, (uint64_t)number * s->block_bytes + at % s->block_bytes, value, 4);
}

/* The first bytes of a stream, at most a block. */
static bool stream_begin(const struct streams *s, uint32_t stream, void *to, uint32_t bytes)
{
    uint32_t count, size = 0, number;
    uint64_t blocks = 0;

    if (!directory_word(s, 0, &count) || stream >= count || count > 65536)
        return false;
    for (uint32_t i = 0; i <= stream; i++) {
        if (i > 0 && size != NO_STREAM)
            blocks += (size + (uint64_t)s->block_bytes - 1) / s->block_bytes;
        if (!directory_word(s, 1 + i, &size))
            return false;
    }
    return size != NO_STREAM && size >= bytes && bytes <= s->block_bytes &&
           directory_word(s, 1 + count + blocks, &number) &&
           read_at(s->file, (uint64_t)number * s->block_bytes, to, bytes);
}

/* The age is that of the debug information, which a tool that only adds to the file leaves. */
static enum pdb_found compare(int file, const struct record *record)
{
    struct streams s = {.file = file};
    uint8_t info[28], dbi[12];

    if (!open_streams(&s) || !stream_begin(&s, STREAM_INFO, info, sizeof(info)))
        return PDB_DAMAGED;
    if (memcmp(info + 12, record->guid, sizeof(record->guid)) != 0)
        return PDB_OTHER;
    if (!stream_begin(&s, STREAM_DBI, dbi, sizeof(dbi)))
        return PDB_DAMAGED;
    return word(dbi + 8) == record->age ? PDB_FOUND : PDB_OTHER;
}

static enum pdb_found look_at(const char *path, const struct record *record)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat is;
    enum pdb_found found = PDB_ABSENT;

    if (file < 0)
        return found;
    if (fstat(file, &is) == 0 && S_ISREG(is.st_mode))
        found = compare(file, record);
    close(file);
    return found;
}

/* The linker may have run on Windows. */
static const char *name_of(const char *path)
{
    const char *name = path;

    for (const char *at = path; *at; at++)
        if (*at == '/' || *at == '\\')
            name = at + 1;
    return name;
}

enum pdb_found pdb_find(const char *image, char *path, size_t bytes)
{
    const char *slash = strrchr(image, '/');
    struct record record;
    enum pdb_found found;

    path[0] = '\0';
    if (!record_of(image, &record) || !name_of(record.path)[0])
        return PDB_NO_RECORD;
    snprintf(path, bytes, "%.*s%s", slash ? (int)(slash + 1 - image) : 0, image,
             name_of(record.path));
    found = look_at(path, &record);
    if (found != PDB_ABSENT)
        return found;
    found = look_at(record.path, &record);
    snprintf(path, bytes, "%s", found == PDB_ABSENT ? name_of(record.path) : record.path);
    return found;
}
