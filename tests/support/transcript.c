/* SPDX-License-Identifier: MIT */
/*
 * What is seen from outside is taken where rooms hand it over: the linker gives this file the calls of those functions
 * (--wrap in tests/CMakeLists.txt). A program that lacks the room has none of its calls.
 */
#include "support/transcript.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ddi/entry.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#pragma weak ddi_entry_infos /* not every program has the room */

#define MACHINES        8u
#define STRUCTURE_BYTES 8192u /* at most */
#define LEAST_HOST      UINT64_C(0x550000000000)
#define LAST_HOST       UINT64_C(0x7FFFFFFFFFFF)

struct told {
    struct sim_machine *machine;
    struct trace_sink *sink;
};

static struct told told[MACHINES];
static FILE *text; /* of the case that runs; NULL: none is taken */
static char *text_bytes;
static size_t text_length;

/* ---- lines ---- */

void transcript_line(const char *format, ...)
{
    va_list arguments;

    if (!text)
        return;
    va_start(arguments, format);
    (void)vfprintf(text, format, arguments);
    va_end(arguments);
    (void)putc('\n', text);
}

static void put_text(const char *what)
{
    for (; *what; what++)
        (void)putc_unlocked(*what, text);
}

/* A number as 0x%x, without what a sanitizer does in fprintf. */
static void put_number(uint64_t value)
{
    unsigned shift = 60;

    put_text("0x");
    while (shift && !(value >> shift))
        shift -= 4;
    for (;; shift -= 4) {
        (void)putc_unlocked("0123456789abcdef"[value >> shift & 15], text);
        if (!shift)
            return;
    }
}

/* strcmp of a sanitizer is slow, and names are many. */
static bool is_same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* ---- structures ---- */

struct leaf {
    const char *member;
    uint32_t offset, bytes;
};

struct structure {
    const char *name;
    const struct leaf *leaf;
    size_t leaves;
};

struct call {
    const char *name, *structure; /* of a client, and its argument */
};

#include "structures.inc"

/* What each entry gets by address. */
static const char *const entry_structures[] = {
#define DDI_ENTRY(name, level, irql, limit, flags, structure, way) [DDI_##name] = #structure,
#include "ddi/entry_table.h"
};

static void put_member(const struct leaf *leaf, const uint8_t *bytes)
{
    bool is_zero = true;

    for (uint32_t i = 0; i < leaf->bytes; i++)
        is_zero = is_zero && !bytes[i];
    if (is_zero)
        return;
    put_text(" ");
    put_text(leaf->member);
    for (uint32_t i = 0; i < leaf->bytes; i += 8) {
        uint64_t word = 0;

        memcpy(&word, bytes + i, leaf->bytes - i < 8 ? leaf->bytes - i : 8);
        put_text(i ? "," : "=");
        put_number(word);
    }
}

/* The members that are not zero, each for itself: what is between them may be anything. */
static void put_structure(const char *name, const void *structure, size_t bytes)
{
    static uint8_t copy[STRUCTURE_BYTES];
    const struct structure *found = NULL;

    for (size_t i = 0; i < sizeof(structures) / sizeof(structures[0]) && !found; i++)
        if (is_same(structures[i].name, name))
            found = &structures[i];
    if (!found || bytes > sizeof(copy))
        return;
    if (!structure || !sim_copy_checked(copy, structure, bytes)) {
        transcript_line("  %s: %s", name, structure ? "cannot be read" : "NULL");
        return;
    }
    put_text("  ");
    put_text(name);
    put_text(":");
    for (size_t i = 0; i < found->leaves; i++)
        if (found->leaf[i].offset + found->leaf[i].bytes <= bytes)
            put_member(&found->leaf[i], copy + found->leaf[i].offset);
    (void)putc('\n', text);
}

static enum ddi_entry entry_of(const char *name)
{
    for (unsigned i = DDI_NONE + 1; i < DDI_ENTRIES; i++)
        if (is_same(ddi_entry_infos[i].name + strlen("DxgkDdi"), name))
            return (enum ddi_entry)i;
    return DDI_NONE;
}

void transcript_ddi(const char *name, const uint64_t *argument, unsigned count, uint64_t result)
{
    enum ddi_entry entry;

    if (!text)
        return;
    put_text(name);
    put_text("(");
    for (unsigned i = 0; i < count; i++) {
        put_text(i ? ", " : "");
        put_number(argument[i]);
    }
    put_text(") = ");
    put_number(result);
    put_text("\n");
    entry = entry_of(name);
    if (entry != DDI_NONE && count)
        put_structure(entry_structures[entry], (const void *)(uintptr_t)argument[count - 1],
                      ddi_entry_infos[entry].bytes);
}

static void put_call(const char *name, const void *user, size_t bytes, int32_t status)
{
    if (!text)
        return;
    transcript_line("%s = 0x%08x", name, (unsigned)status);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (is_same(calls[i].name, name))
            put_structure(calls[i].structure, user, bytes);
}

/* ---- where rooms hand it over ---- */

void __real_sim_enter(struct sim_machine *machine);
void __wrap_sim_enter(struct sim_machine *machine);
void __real_sim_leave(void);
void __wrap_sim_leave(void);
void __real_sim_machine_destroy(struct sim_machine *machine);
void __wrap_sim_machine_destroy(struct sim_machine *machine);
void __real_verify_log_destroy(struct verify_log *log);
void __wrap_verify_log_destroy(struct verify_log *log);
void __real_refusal_end(struct refusal *refusal, const char *call, int32_t status);
void __wrap_refusal_end(struct refusal *refusal, const char *call, int32_t status);
__attribute__((weak)) int32_t __real_kmt_call_run(const char *name, void *body, void *user,
                                                  void *arguments, size_t bytes, unsigned flags);
int32_t __wrap_kmt_call_run(const char *name, void *body, void *user, void *arguments, size_t bytes,
                            unsigned flags);

static struct told *find(const struct sim_machine *machine)
{
    for (unsigned i = 0; i < MACHINES; i++)
        if (told[i].machine == machine)
            return &told[i];
    return NULL;
}

/* A machine that is not traced anyhow is traced from its first entry on. */
void __wrap_sim_enter(struct sim_machine *machine)
{
    struct told *t = find(machine);

    __real_sim_enter(machine);
    if (!text || trace_current)
        return;
    if (!t) {
        t = find(NULL);
        if (!t)
            return;
        t->machine = machine;
        t->sink = trace_sink_create();
    }
    trace_sink_install(t->sink, &machine->now);
}

void __wrap_sim_leave(void)
{
    const struct told *t = find(sim_current);

    if (t && trace_current == t->sink)
        trace_sink_install(NULL, NULL);
    __real_sim_leave();
}

static void write_trace(struct told *t)
{
    if (t->sink)
        (void)trace_write_json(t->sink, text);
    trace_sink_destroy(t->sink);
    *t = (struct told){NULL, NULL};
}

void __wrap_sim_machine_destroy(struct sim_machine *machine)
{
    struct told *t = machine ? find(machine) : NULL;

    if (t)
        write_trace(t);
    __real_sim_machine_destroy(machine);
}

static void tell_record(const struct verify_record *r)
{
    transcript_line("%s %d: %s [%.*s, %s, IRQL %u, %" PRIu64 " ns, %" PRIu64 " times%s%s%s]",
                    r->rule, (int)r->severity, r->seen, (int)strcspn(r->where, " +"), r->where,
                    r->thread, r->irql, r->time, r->count, r->refuses ? ", refuses" : "",
                    r->undoing ? ", undoing" : "", r->client ? ", client" : "");
    if (r->code)
        transcript_line("  code 0x%x, 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64,
                        r->code, r->parameter[0], r->parameter[1], r->parameter[2], r->parameter[3]);
}

void __wrap_verify_log_destroy(struct verify_log *log)
{
    for (size_t i = 0; log && text && i < verify_records(log); i++)
        tell_record(verify_record_at(log, i));
    __real_verify_log_destroy(log);
}

void __wrap_refusal_end(struct refusal *refusal, const char *call, int32_t status)
{
    __real_refusal_end(refusal, call, status);
    if (status < 0)
        transcript_line("%s: 0x%08x %s %s", call, (unsigned)status,
                        refusal->rule ? refusal->rule : "-", refusal->text);
}

int32_t __wrap_kmt_call_run(const char *name, void *body, void *user, void *arguments, size_t bytes,
                            unsigned flags)
{
    int32_t status = __real_kmt_call_run(name, body, user, arguments, bytes, flags);

    put_call(name, user, bytes, status);
    return status;
}

/* ---- the text of a case ---- */

static bool chosen(const char *what)
{
    const char *choice = getenv("DXGK_TRANSCRIPTS");

    return choice && strcmp(choice, what) == 0;
}

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

/* The number at `at`, 0x or decimal, if it is an address of the host: its length; else 0. */
static size_t host_address(const char *at)
{
    const unsigned base = at[0] == '0' && at[1] == 'x' ? 16 : 10;
    const char *end = base == 16 ? at + 2 : at;
    uint64_t value = 0;

    for (; digit_of(*end) < base; end++) {
        if (value > LAST_HOST)
            return 0;
        value = value * base + digit_of(*end);
    }
    return value >= LEAST_HOST && value <= LAST_HOST ? (size_t)(end - at) : 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* "test_nt+0x1234" is a place in code, which moves with the compiler; the length of "0x1234" in it, else 0. */
static size_t code_offset(const char *at, const char *begin)
{
    return at - begin >= 2 && at[-1] == '+' && is_word(at[-2]) && at[0] == '0' && at[1] == 'x'
               ? 2 + strspn(at + 2, "0123456789abcdef")
               : 0;
}

/* The length of the path of the sources or of the build in front of `at`, else 0. */
static size_t folder_at(const char *at)
{
    static const char *const names[] = {"DXGK_BUILD",
                                        "DXGK_SOURCE"}; /* one may be inside the other */

    for (unsigned i = 0; i < 2; i++) {
        const char *folder = *at == '/' ? getenv(names[i]) : NULL;
        size_t length = folder ? strlen(folder) : 0;

        if (length && strncmp(at, folder, length) == 0)
            return length;
    }
    return 0;
}

/* Write @ for each address of the host or in code, and for these folders, in place. */
static void forget_addresses(void)
{
    char *to = text_bytes;

    for (const char *from = text_bytes; *from;) {
        bool begins = is_digit(*from) && (from == text_bytes || !is_word(from[-1]));
        size_t length = begins ? code_offset(from, text_bytes) : folder_at(from);

        if (begins && !length)
            length = host_address(from);

        *to++ = length ? '@' : *from;
        from += length ? length : 1;
    }
    *to = '\0';
    text_length = (size_t)(to - text_bytes);
}

struct digest {
    uint64_t lines, hash; /* FNV-1a */
};

static struct digest digest(void)
{
    struct digest d = {0, UINT64_C(0xCBF29CE484222325)};

    for (size_t i = 0; i < text_length; i++) {
        d.hash = (d.hash ^ (unsigned char)text_bytes[i]) * UINT64_C(0x100000001B3);
        d.lines += text_bytes[i] == '\n';
    }
    return d;
}

/* "port" of .../tests/port/stop_test.c. */
static void room_of(const struct test_case *test, char *room, size_t bytes)
{
    const char *slash = strrchr(test->file, '/'), *begin = slash;

    while (begin > test->file && begin[-1] != '/')
        begin--;
    snprintf(room, bytes, "%.*s", (int)(slash - begin), begin);
}

/* Leave the text, and a row of its digest, in the build folder; *path gets where. */
static void leave(const struct test_case *test, const char *room, struct digest d, char *path,
                  size_t bytes)
{
    const char *build = getenv("DXGK_BUILD");
    FILE *file;

    snprintf(path, bytes, "%s/transcripts", build);
    mkdir(path, 0777);
    snprintf(path, bytes, "%s/transcripts/%s", build, room);
    mkdir(path, 0777);
    snprintf(path, bytes, "%s/transcripts/%s/%s.tsv", build, room, test->full_name);
    file = fopen(path, "w");
    if (file) {
        (void)fprintf(file, "%s\t%" PRIu64 "\t%016" PRIx64 "\n", test->full_name, d.lines, d.hash);
        fclose(file);
    }
    snprintf(path, bytes, "%s/transcripts/%s/%s.txt", build, room, test->full_name);
    file = fopen(path, "w");
    if (file) {
        (void)fwrite(text_bytes, 1, text_length, file);
        fclose(file);
    }
}

/* What is kept of the case: false: nothing. *varies: it is another one each time. */
static bool kept(const struct test_case *test, const char *room, struct digest *d, bool *varies)
{
    char path[512], line[512];
    size_t length = strlen(test->full_name);
    bool found = false;
    FILE *file;

    snprintf(path, sizeof(path), "%s/tests/transcripts/%s.tsv", getenv("DXGK_SOURCE"), room);
    file = fopen(path, "r");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof(line), file)) {
        char *rest = line + length + 1;

        if (strncmp(line, test->full_name, length) != 0 || line[length] != '\t')
            continue;
        found = true;
        *varies = strncmp(rest, "varies", strlen("varies")) == 0;
        d->lines = strtoull(rest, &rest, 10);
        d->hash = strtoull(rest, NULL, 16);
    }
    fclose(file);
    return found;
}

static int compare(const struct test_case *test)
{
    struct digest is = digest(), was = {0, 0};
    bool varies = false, known;
    char path[512], room[64];

    room_of(test, room, sizeof(room));
    known = kept(test, room, &was, &varies);
    if (chosen("write"))
        leave(test, room, is, path, sizeof(path));
    if (!chosen("check") || varies || (known && was.lines == is.lines && was.hash == is.hash))
        return 0;
    leave(test, room, is, path, sizeof(path));
    if (known)
        printf("    the transcript of %s has changed, from %" PRIu64 " lines to %" PRIu64
               ": it is in %s; tools/transcripts shows where\n",
               test->full_name, was.lines, is.lines, path);
    else
        printf("    no transcript of %s is kept: tools/transcripts --accept keeps it\n",
               test->full_name);
    return -1;
}

void transcript_begin(void)
{
    if (chosen("check") || chosen("write"))
        text = open_memstream(&text_bytes, &text_length);
}

int transcript_end(const struct test_case *test)
{
    int status;

    if (!text)
        return 0;
    for (unsigned i = 0; i < MACHINES; i++)
        if (told[i].machine)
            write_trace(&told[i]);
    fclose(text);
    text = NULL;
    forget_addresses();
    status = compare(test);
    free(text_bytes);
    return status;
}
