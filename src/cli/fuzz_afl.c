/* SPDX-License-Identifier: MIT */
/*
 * The target of afl-fuzz. This process is the fork server that afl-fuzz talks to, over two pipes
 * whose descriptors are fixed; the machine is in another one (fuzz_server.c), as with libFuzzer.
 *
 *     afl-fuzz                                 here
 *         <- hello: size of the map, test cases in shared memory, a dictionary
 *         -> which of that it wants            <- the dictionary
 *         -> the last one was killed, or not   for each input
 *         <- the process, which afl-fuzz kills when time is up
 *         <- its status, as of waitpid: 0, or SIGABRT for a finding
 *
 * So the machine is started once, and is set back by its own means. The map of afl-fuzz has the
 * counters of places; behind them, one entry for each constant that the driver compares with and
 * number of bytes that were equal, so that inputs come nearer to it byte by byte.
 *
 * The protocol: https://aflplus.plus/docs/ and, for programs that are no compiled targets,
 * AFL++'s utils/afl_proxy.
 */
#include "cli/fuzz_afl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fuzz_server.h"
#include "cli/fuzz_shared.h"
#include "util/min_max.h"

#define FROM_AFL 198
#define TO_AFL   199

#define ENABLED      0x80000001u
#define SHARED_INPUT 0x01000000u
#define DICTIONARY   0x10000000u
#define MAP_BYTES    0x40000000u /* with one less than the bytes, in bits 1 to 23 */

#define COMPARE_BITS 13u
#define EQUAL_BYTES  8u
#define MAP          (DXGK_PLACES + (EQUAL_BYTES << COMPARE_BITS))
#define WORD_LEAST   2u /* bytes of a word of the dictionary */

#define ENV_MAP   "__AFL_SHM_ID"
#define ENV_INPUT "__AFL_SHM_FUZZ_ID"

struct afl {
    struct fuzz_options *options;
    struct fuzz_shared *shared;
    uint8_t *map;
    const uint8_t *input; /* the length, and the bytes; NULL: they are in standard input */
    int memory, requests, answers;
    pid_t server; /* 0: there is none */
};

static bool send_word(uint32_t word)
{
    return write(TO_AFL, &word, sizeof(word)) == (ssize_t)sizeof(word);
}

static bool receive_word(uint32_t *word)
{
    ssize_t got;

    do
        got = read(FROM_AFL, word, sizeof(*word));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(*word);
}

static void *attach(const char *name)
{
    const char *id = getenv(name);
    void *memory = id ? shmat(atoi(id), NULL, 0) : NULL;

    return memory == (void *)-1 ? NULL : memory;
}

/* ---- the server ---- */

static _Noreturn void be_server(struct afl *afl, const int *to_server, const int *from_server)
{
    close(to_server[1]);
    close(from_server[0]);
    close(FROM_AFL);
    close(TO_AFL);
    afl->options->serves = true;
    afl->options->shared = afl->memory;
    afl->options->requests = to_server[0];
    afl->options->answers = from_server[1];
    _exit(fuzz_serve(afl->options));
}

static bool start_server(struct afl *afl)
{
    int to_server[2], from_server[2];

    if (afl->server)
        return true;
    if (pipe(to_server) != 0 || pipe(from_server) != 0)
        return false;
    afl->server = fork();
    if (afl->server == 0)
        be_server(afl, to_server, from_server);
    close(to_server[0]);
    close(from_server[1]);
    afl->requests = to_server[1];
    afl->answers = from_server[0];
    if (afl->server > 0)
        return true;
    afl->server = 0;
    return false;
}

/* Returns its status. */
static int end_server(struct afl *afl)
{
    int status = 0;

    close(afl->requests);
    close(afl->answers);
    while (waitpid(afl->server, &status, 0) < 0 && errno == EINTR)
        ;
    afl->server = 0;
    return status;
}

/* Returns the status of the input, as of waitpid. */
static int run_input(struct afl *afl)
{
    char word = 'r';
    ssize_t got;

    if (write(afl->requests, &word, 1) != 1)
        return end_server(afl);
    do
        got = read(afl->answers, &word, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        return end_server(afl);
    return word == FUZZ_FINE ? 0 : SIGABRT;
}

/* ---- what afl-fuzz sees of an input ---- */

static void take_input(struct afl *afl)
{
    struct fuzz_shared *shared = afl->shared;
    uint32_t bytes = 0;
    ssize_t got;

    if (afl->input) {
        memcpy(&bytes, afl->input, sizeof(bytes));
        bytes = (uint32_t)min_of(bytes, FUZZ_INPUT);
        memcpy(shared->input, afl->input + sizeof(bytes), bytes);
    } else {
        (void)lseek(STDIN_FILENO, 0, SEEK_SET);
        while (bytes < FUZZ_INPUT &&
               (got = read(STDIN_FILENO, shared->input + bytes, FUZZ_INPUT - bytes)) > 0)
            bytes += (uint32_t)got;
    }
    shared->bytes = bytes;
}

static bool is_constant(const struct fuzz_shared *shared, uint64_t value, uint8_t bytes)
{
    for (uint32_t i = 0; i < shared->constants && i < FUZZ_CONSTANTS; i++)
        if (shared->constant[i].a == value && shared->constant[i].bytes == bytes)
            return true;
    return false;
}

static void mark_compare(struct afl *afl, uint64_t constant, uint64_t other, uint8_t bytes)
{
    const uint32_t hash = (uint32_t)((constant ^ (uint64_t)bytes << 56) * 0x9E3779B97F4A7C15u >>
                                     (64 - COMPARE_BITS));
    unsigned equal = 0;

    for (unsigned i = 0; i < bytes; i++)
        equal += (uint8_t)(constant >> 8 * i) == (uint8_t)(other >> 8 * i);
    if (equal < bytes) /* else the code behind it is reached */
        afl->map[DXGK_PLACES + hash * EQUAL_BYTES + equal] = 1;
}

static void show(struct afl *afl)
{
    const struct fuzz_shared *shared = afl->shared;

    memcpy(afl->map, shared->counter, DXGK_PLACES);
    afl->map[DXGK_PLACES - 1] = 1; /* a map with nothing in it is taken for a mistake */
    for (uint32_t i = 0; i < shared->compares && i < FUZZ_COMPARES; i++) {
        const struct dxgk_compare c = shared->compare[i];

        if (c.bytes < WORD_LEAST || c.bytes > EQUAL_BYTES)
            continue;
        if (is_constant(shared, c.a, c.bytes))
            mark_compare(afl, c.a, c.b, c.bytes);
        if (is_constant(shared, c.b, c.bytes))
            mark_compare(afl, c.b, c.a, c.bytes);
    }
}

/* ---- the beginning ---- */

/* Constants that the driver compares with, each behind its length. */
static bool send_dictionary(const struct fuzz_shared *shared)
{
    static uint8_t text[FUZZ_CONSTANTS * (1 + sizeof(uint64_t))];
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < shared->constants && i < FUZZ_CONSTANTS; i++) {
        const struct dxgk_compare *c = &shared->constant[i];

        if (c->bytes < WORD_LEAST || c->bytes > sizeof(c->a))
            continue;
        text[bytes] = c->bytes;
        memcpy(text + bytes + 1, &c->a, c->bytes);
        bytes += 1u + c->bytes;
    }
    return send_word(bytes) && write(TO_AFL, text, bytes) == (ssize_t)bytes;
}

/* False: nobody listens. */
static bool greet(struct afl *afl)
{
    const uint32_t hello = ENABLED | MAP_BYTES | (MAP - 1) << 1 | SHARED_INPUT |
                           (afl->shared->constants ? DICTIONARY : 0);
    uint32_t wanted;

    if (!send_word(hello) || !receive_word(&wanted))
        return false;
    if (wanted & SHARED_INPUT)
        afl->input = attach(ENV_INPUT);
    return !(wanted & DICTIONARY & hello) || send_dictionary(afl->shared);
}

static bool prepare(struct afl *afl)
{
    afl->memory = memfd_create("dxgkhost-fuzz", 0);
    if (afl->memory < 0 || ftruncate(afl->memory, sizeof(*afl->shared)) != 0)
        return false;
    afl->shared = mmap(NULL, sizeof(*afl->shared), PROT_READ | PROT_WRITE, MAP_SHARED, afl->memory,
                       0);
    return afl->shared != MAP_FAILED;
}

static int serve_afl(struct afl *afl)
{
    uint32_t killed;

    while (receive_word(&killed)) {
        int status;

        if (!start_server(afl) || !send_word((uint32_t)afl->server))
            return CLI_HOST;
        take_input(afl);
        status = run_input(afl);
        show(afl);
        if (!send_word((uint32_t)status))
            return CLI_HOST;
    }
    return CLI_OK;
}

int fuzz_afl(struct fuzz_options *options)
{
    struct afl afl = {.options = options, .map = attach(ENV_MAP)};
    int status;

    if (!afl.map) {
        fputs("dxgkhost: fuzz: --engine afl is for afl-fuzz: afl-fuzz -i corpus -o out -- dxgkhost "
              "fuzz DRIVER --engine afl\n",
              stderr);
        return CLI_USAGE;
    }
    if (!prepare(&afl) || !start_server(&afl)) {
        fprintf(stderr, "dxgkhost: fuzz: %s\n", strerror(errno));
        return CLI_HOST;
    }
    status = run_input(&afl); /* of nothing: the machine has been started then */
    if (!afl.server) {
        fputs("dxgkhost: fuzz: the driver does not start; `dxgkhost run` says why\n", stderr);
        return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_HOST;
    }
    status = greet(&afl) ? serve_afl(&afl) : CLI_HOST;
    if (afl.server)
        (void)end_server(&afl);
    return status;
}
