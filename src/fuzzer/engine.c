/* SPDX-License-Identifier: MIT */
/*
 * The engine of `dxgkhost fuzz`: libFuzzer, whose target is a machine in another process.
 *
 * That process, the server, is started with the first input. Each input goes to it through memory
 * that both share (cli/fuzz_shared.h), and so do the counters of the places of the driver: they are
 * libFuzzer's extra counters. So libFuzzer's own options work as they do everywhere.
 *
 * Run by itself it is a target as any that is linked with libFuzzer: `PROGRAM [options] [corpus]`.
 * The command of the server is then in the file PROGRAM.command, a word a line; words that begin
 * with ./ are files beside it. A finding ends it as a crash does.
 *
 * Where a value that the driver has compared stands in the data of an input, the value that it was
 * compared with is tried in its place. libFuzzer has a table for that, too, but knows neither where
 * the value came from, nor keeps it long enough for a target that takes a millisecond.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fuzz_program.h"
#include "cli/fuzz_shared.h"

#define ARGUMENTS 512
#define HEAD      FUZZ_HEAD
#define RECORDS   FUZZ_CALLS

#define QUEUE      512u
#define TRIED_BITS 18u
/* of a value at a place of a call */
#define STRONG_TRIES 200u
#define WEAK_TRIES   4u

/* libFuzzer's */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
/* for libFuzzer */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

__attribute__((section("__libfuzzer_extra_counters"),
               aligned(4096))) static uint8_t counters[DXGK_PLACES];

static struct fuzz_shared *shared;
static bool alone; /* run by itself */
static int requests = -1, answers = -1;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "dxgkhost-fuzz: %s: %s\n", what, strerror(errno));
    _exit(1);
}

/* ---- the server ---- */

/* The words of its command, from a file of the process that started this one. */
static void read_command(int file, char **words)
{
    static char text[1 << 20];
    ssize_t bytes = pread(file, text, sizeof(text) - 1, 0);
    int count = 0;

    for (ssize_t at = 0; at < bytes && count < ARGUMENTS - 5; at += (ssize_t)strlen(text + at) + 1)
        words[count++] = text + at;
    words[count] = NULL;
}

/* The same, from the file beside this program. */
static void read_own_command(char **words)
{
    static char text[1 << 16], folder[4096], name[4096 + 16];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    char *line = text, *slash;
    FILE *file;
    size_t bytes = 0;
    int count = 0;

    folder[length > 0 ? length : 0] = '\0';
    snprintf(name, sizeof(name), "%s.command", folder);
    file = fopen(name, "r");
    if (file) {
        bytes = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
    }
    if (bytes == 0)
        fail(name);
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    while (count < ARGUMENTS - 5 && *line) {
        const size_t end = strcspn(line, "\n");
        const bool last = line[end] == '\0';

        line[end] = '\0';
        if (strncmp(line, "./", 2) == 0 && asprintf(&words[count], "%s%s", folder, line + 1) > 0)
            count++;
        else if (*line)
            words[count++] = line;
        line += end + !last;
    }
    words[count] = NULL;
}

static _Noreturn void be_server(int memory, const int *from_engine, const int *to_engine)
{
    const char *described = getenv(FUZZ_ENV_SERVER), *errors = getenv(FUZZ_ENV_ERRORS);
    static char *words[ARGUMENTS];
    static char served[64];
    int arguments, events = -1, count = 0;

    close(from_engine[1]);
    close(to_engine[0]);
    if (errors)
        dup2(atoi(errors), STDERR_FILENO);
    if (described && sscanf(described, "%d,%d", &arguments, &events) == 2)
        read_command(arguments, words);
    else
        read_own_command(words);
    while (words[count])
        count++;
    if (alone) {
        words[count++] = (char *)"--engine";
        words[count++] = (char *)"target";
    }
    snprintf(served, sizeof(served), "%d,%d,%d,%d", memory, from_engine[0], to_engine[1], events);
    words[count++] = (char *)"--serve";
    words[count++] = served;
    words[count] = NULL;
    (void)personality(ADDR_NO_RANDOMIZE); /* else the server would begin again for it */
    execv(words[0], words);
    fail(words[0]);
}

static void start_server(void)
{
    int memory = memfd_create("dxgkhost-fuzz", 0), to_server[2], to_engine[2];
    pid_t server;

    if (memory < 0 || ftruncate(memory, sizeof(*shared)) != 0 || pipe(to_server) != 0 ||
        pipe(to_engine) != 0)
        fail("a server");
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared == MAP_FAILED ||
        mmap(counters, sizeof(counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory,
             offsetof(struct fuzz_shared, counter)) == MAP_FAILED)
        fail("shared memory");
    server = fork();
    if (server == 0)
        be_server(memory, to_server, to_engine);
    if (server < 0)
        fail("a server");
    close(memory);
    close(to_server[0]);
    close(to_engine[1]);
    requests = to_server[1];
    answers = to_engine[0];
}

/* ---- records ---- */

/* Where records begin, and where the last one ends. */
static unsigned find_records(const uint8_t *data, size_t size, size_t *start)
{
    struct fuzz_call call;
    unsigned count = 0;
    size_t at = 0;

    start[0] = 0;
    while (count < RECORDS && fuzz_program_next(data, size, &at, &call))
        start[++count] = at;
    return count;
}

/* ---- values that were compared ---- */

/* Inputs that shall be tried. */
struct queue {
    unsigned put, taken; /* since the start */
    struct {
        uint32_t bytes;
        uint8_t input[FUZZ_INPUT];
    } input[QUEUE];
};

/* Of values that hardly stand in the input by chance; and of others, as zeroes. */
static struct queue strong, weak;
static uint8_t tried[1u << TRIED_BITS]; /* how often, by call, place and value */

/* Whether the value has not been tried often enough there. */
static bool is_new(enum fuzz_kind kind, size_t place, uint64_t value, uint32_t bytes, unsigned tries)
{
    uint64_t key = ((value ^ value >> 32) * 0x9E3779B97F4A7C15u) ^
                   ((uint64_t)kind << 48 | place << 8 | bytes) * 0xC2B2AE3D27D4EB4Fu;
    uint8_t *count = &tried[key >> (64 - TRIED_BITS)];

    if (*count >= tries)
        return false;
    ++*count;
    return true;
}

static bool is_strong(uint64_t value, uint32_t bytes)
{
    uint32_t distinct = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);

        distinct += byte != 0 && byte != UINT8_MAX;
    }
    return bytes >= 2 && distinct >= (bytes < 3 ? bytes : 3);
}

/* `is` has been compared with `other`: it takes its place in data of the call at [first, end). */
static void look_for(uint64_t is, uint64_t other, uint32_t bytes, size_t first, size_t end)
{
    struct queue *queue = is_strong(is, bytes) ? &strong : &weak;
    struct fuzz_call call;
    size_t behind = first;

    if (!fuzz_program_next(shared->input, shared->bytes, &behind, &call))
        return;
    for (size_t at = first + HEAD; at + bytes <= end && queue->put - queue->taken < QUEUE; at++) {
        if (memcmp(shared->input + at, &is, bytes) != 0 ||
            !is_new(call.kind, at - first, other, bytes,
                    queue == &strong ? STRONG_TRIES : WEAK_TRIES))
            continue;
        queue->input[queue->put % QUEUE].bytes = shared->bytes;
        memcpy(queue->input[queue->put % QUEUE].input, shared->input, shared->bytes);
        memcpy(queue->input[queue->put % QUEUE].input + at, &other, bytes);
        queue->put++;
    }
}

static void propose_all(void)
{
    size_t start[RECORDS + 1];
    unsigned count = find_records(shared->input, shared->bytes, start);

    for (uint32_t i = 0; i < shared->compares && i < FUZZ_COMPARES; i++) {
        const struct dxgk_compare c = shared->compare[i];
        uint32_t bytes = c.bytes;

        if (bytes == 8 && c.a >> 32 == 0 && c.b >> 32 == 0) /* widened, for the most part */
            bytes = 4;
        for (unsigned r = 0; r < count && bytes && bytes <= sizeof(c.a); r++) {
            look_for(c.a, c.b, bytes, start[r], start[r + 1]);
            look_for(c.b, c.a, bytes, start[r], start[r + 1]);
        }
    }
}

/* The next of them, into `data`. 0: there is none. */
static size_t take(struct queue *queue, uint8_t *data, size_t most)
{
    unsigned at = queue->taken % QUEUE;

    if (queue->taken == queue->put)
        return 0;
    queue->taken++;
    if (queue->input[at].bytes > most)
        return 0;
    memcpy(data, queue->input[at].input, queue->input[at].bytes);
    return queue->input[at].bytes;
}

/* ---- an input ---- */

/* libFuzzer keeps the input then. */
static _Noreturn void crash(void)
{
    fprintf(stderr, "==%d==ERROR: dxgkhost: %.*s\n", (int)getpid(), (int)sizeof(shared->finding),
            shared->finding);
    abort();
}

/* By this name programs are known as targets. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char word = 'r';

    if (!shared)
        start_server();
    shared->bytes = (uint32_t)(size < FUZZ_INPUT ? size : FUZZ_INPUT);
    if (shared->bytes)
        memcpy(shared->input, data, shared->bytes);
    if (write(requests, &word, 1) != 1)
        fail("the server has ended");
    for (;;) {
        ssize_t got = read(answers, &word, 1);

        if (got == 1)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        fputs("dxgkhost-fuzz: the server has ended\n", stderr);
        _exit(1);
    }
    if (word == FUZZ_FINE)
        propose_all();
    else if (alone)
        crash();
    return 0;
}

/* ---- mutations ---- */

static unsigned state;

static unsigned draw(unsigned below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* Other data of `length` bytes in place of those at [first, end). Returns the new size. */
static size_t replace(uint8_t *data, size_t size, size_t first, size_t end, const uint8_t *with,
                      size_t length)
{
    memmove(data + first + length, data + end, size - end);
    if (length)
        memcpy(data + first, with, length);
    return size - (end - first) + length;
}

/* ---- the driver's own layouts ---- */

/* A value of the field: one of its range as a rule, its ends often. */
static void put_field(uint8_t *to, const struct fuzz_field *field)
{
    uint64_t span = field->high - field->low + 1, value = field->low;

    if (field->any || draw(16) == 0) {
        for (unsigned i = 0; i < field->bytes; i++)
            to[i] = (uint8_t)(draw(4) ? draw(256) : 0);
        return;
    }
    if (field->low != field->high && draw(4) == 0)
        value = draw(2) ? field->low : field->high;
    else if (field->low != field->high)
        value += span ? ((uint64_t)draw(1u << 24) << 24 | draw(1u << 24)) % span : draw(1u << 24);
    memcpy(to, &value, field->bytes);
}

static const struct fuzz_layout *some_layout(void)
{
    const struct fuzz_grammar *grammar = &shared->grammar;

    return shared && grammar->layouts && grammar->layouts <= FUZZ_LAYOUTS
               ? &grammar->layout[draw(grammar->layouts)]
               : NULL;
}

/* A record as the layout has it. Returns its length. */
static size_t fill_record(uint8_t *record, const struct fuzz_layout *layout)
{
    size_t at = HEAD;

    record[0] = layout->kind;
    record[1] = layout->has_choice ? layout->choice : (uint8_t)draw(256);
    record[2] = (uint8_t)layout->bytes;
    record[3] = 0;
    for (unsigned i = 0; i < layout->fields && i < FUZZ_FIELDS; i++) {
        if (at + layout->field[i].bytes > HEAD + FUZZ_LAYOUT_BYTES)
            break;
        put_field(record + at, &layout->field[i]);
        at += layout->field[i].bytes;
    }
    return at;
}

/* Another value of one field, if the data could be of the layout. */
static bool change_field(uint8_t *record, size_t length, const struct fuzz_layout *layout)
{
    struct fuzz_call call;
    size_t at = 0, offset = HEAD;
    unsigned chosen;

    if (!layout || !layout->fields || length != HEAD + layout->bytes ||
        !fuzz_program_next(record, length, &at, &call) || call.kind != layout->kind)
        return false;
    chosen = draw(layout->fields);
    for (unsigned i = 0; i < chosen; i++)
        offset += layout->field[i].bytes;
    if (offset + layout->field[chosen].bytes <= length)
        put_field(record + offset, &layout->field[chosen]);
    return true;
}

/* One of the driver's own constants somewhere in the data, which may grow for it. */
static size_t place_constant(uint8_t *data, size_t size, size_t most)
{
    const uint32_t count = shared->constants < FUZZ_CONSTANTS ? shared->constants : FUZZ_CONSTANTS;
    const struct dxgk_compare constant = shared->constant[draw(count)];
    const size_t bytes = constant.bytes <= sizeof(constant.a) ? constant.bytes : sizeof(constant.a);
    const size_t at = bytes ? draw((unsigned)(size / bytes) + 1) * bytes : 0;

    if (bytes == 0 || at + bytes > most)
        return size;
    memcpy(data + at, &constant.a, bytes);
    return at + bytes > size ? at + bytes : size;
}

static size_t mutate_record(uint8_t *data, size_t size, size_t most, size_t first, size_t end)
{
    uint8_t record[HEAD + UINT8_MAX] = {0};
    size_t length = end - first < sizeof(record) ? end - first : sizeof(record);
    size_t room = most - (size - length), limit;

    memcpy(record, data + first, length);
    limit = room < sizeof(record) ? room : sizeof(record);
    if (limit < HEAD + 1)
        return LLVMFuzzerMutate(data, size, most);
    length = length < HEAD ? HEAD : length;
    if (draw(4) == 0) {
        static const uint8_t member[] = {0, 1, 3};

        record[member[draw(3)]] = (uint8_t)draw(256);
    } else if (draw(2) == 0 && change_field(record, length, some_layout())) {
        ; /* it has as many bytes as before */
    } else if (shared && shared->constants && draw(2) == 0) {
        length = HEAD + place_constant(record + HEAD, length - HEAD, limit - HEAD);
    } else {
        length = HEAD + LLVMFuzzerMutate(record + HEAD, length - HEAD, limit - HEAD);
    }
    record[2] = (uint8_t)(length - HEAD);
    return replace(data, size, first, end, record, length);
}

static size_t insert_record(uint8_t *data, size_t size, size_t most, size_t at)
{
    const struct fuzz_layout *layout = draw(4) ? some_layout() : NULL;
    uint8_t record[HEAD + FUZZ_LAYOUT_BYTES];
    size_t length = HEAD + 4 * draw(13);

    unsigned full = draw(3); /* distinct bytes, or many zeroes */

    for (size_t i = 0; i < length; i++)
        record[i] = i < HEAD || full || draw(4) == 0 ? (uint8_t)draw(256) : 0;
    record[2] = (uint8_t)(length - HEAD);
    record[3] = draw(2) ? 0 : record[3];
    if (layout)
        length = fill_record(record, layout);
    return size + length <= most ? replace(data, size, at, at, record, length)
                                 : LLVMFuzzerMutate(data, size, most);
}

static size_t repeat_record(uint8_t *data, size_t size, size_t most, size_t first, size_t end,
                            size_t at)
{
    uint8_t record[HEAD + UINT8_MAX];
    size_t length = end - first;

    if (length > sizeof(record) || size + length > most)
        return LLVMFuzzerMutate(data, size, most);
    memcpy(record, data + first, length);
    return replace(data, size, at, at, record, length);
}

/* In terms of calls for the most part, else of bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t start[RECORDS + 1];
    unsigned count = find_records(data, size, start), chosen, other, act;
    size_t taken = 0;

    state = seed;
    if (draw(8) != 0)
        taken = take(&strong, data, most);
    if (!taken && draw(2) == 0)
        taken = take(&weak, data, most);
    if (taken)
        return taken;
    if (count == 0)
        return insert_record(data, size, most, 0);
    chosen = draw(count);
    other = draw(count + 1);
    act = draw(16);
    if (act >= 11 && shared && shared->grammar.layouts)
        act = 0; /* known layouts are worth more than other bytes */
    switch (act) {
    case 0:
    case 1:
        return insert_record(data, size, most, start[other]);
    case 2:
        return count > 1 ? replace(data, size, start[chosen], start[chosen + 1], NULL, 0)
                         : insert_record(data, size, most, size);
    case 3:
    case 4:
        return repeat_record(data, size, most, start[chosen], start[chosen + 1], start[other]);
    case 5:
        return LLVMFuzzerMutate(data, size, most);
    default:
        return mutate_record(data, size, most, start[chosen], start[chosen + 1]);
    }
}

int main(int argc, char **argv)
{
    alone = !getenv(FUZZ_ENV_SERVER);
    return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput);
}
