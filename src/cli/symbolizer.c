/* SPDX-License-Identifier: MIT */
#include "cli/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/session.h"
#include "loader/pdb.h"
#include "util/array.h"

#define ANSWERS     256u
#define PATIENCE_NS 3000000000u /* for one answer; the first one reads the PDB */
#define LOOK_NS     200000u

struct answer {
    uint64_t offset;
    bool there;
    struct dxgk_source source;
};

struct symbolizer {
    char image[4096]; /* the driver; another one is not looked at */
    char why[4352];   /* it has no lines; "": it has, or nobody expects any */
    bool tells;
    int to, from;    /* -1: none runs */
    int keep;        /* the other end of `to`, so that writing to it ends no process */
    unsigned owed;   /* answers that nobody waits for */
    char text[8192]; /* what has come */
    size_t used;
    struct answer answer[ANSWERS];
};

/* ---- the process ---- */

static const char *const programs[] = {
    "llvm-symbolizer",    "llvm-symbolizer-19", "llvm-symbolizer-18", "llvm-symbolizer-17",
    "llvm-symbolizer-16", "llvm-symbolizer-15", "llvm-symbolizer-14"};

static bool spawn(const char *program, int in, int out)
{
    char *const words[] = {(char *)program, (char *)"--relative-address",
                           (char *)"--output-style=LLVM", (char *)"--inlines", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    bool done;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    done = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO) == 0 &&
           posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) == 0 &&
           posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ==
               0 &&
           posix_spawnp(&child, program, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return done;
}

/* DXGK_SYMBOLIZER names another one than those in PATH. */
static bool start(struct symbolizer *s)
{
    const char *chosen = getenv("DXGK_SYMBOLIZER");
    int question[2], answer[2];
    bool runs;

    if (pipe2(question, O_CLOEXEC) != 0)
        return false;
    if (pipe2(answer, O_CLOEXEC) != 0) {
        close(question[0]);
        close(question[1]);
        return false;
    }
    runs = chosen && spawn(chosen, question[0], answer[1]);
    for (size_t i = 0; !chosen && !runs && i < ARRAY_COUNT(programs); i++)
        runs = spawn(programs[i], question[0], answer[1]);
    close(answer[1]);
    s->keep = question[0];
    s->to = question[1];
    s->from = answer[0];
    (void)fcntl(s->from, F_SETFL, O_NONBLOCK);
    (void)fcntl(s->to, F_SETFL, O_NONBLOCK);
    return runs;
}

static void stop(struct symbolizer *s)
{
    close(s->to);
    close(s->from);
    close(s->keep);
    s->to = s->from = s->keep = -1;
}

/* ---- questions ---- */

static bool ask(struct symbolizer *s, uint64_t offset)
{
    char text[sizeof(s->image) + 40];
    int length = snprintf(text, sizeof(text), "CODE \"%s\" 0x%" PRIx64 "\n", s->image, offset);

    return write(s->to, text, (size_t)length) == length;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The end of the first answer in s->text, behind its empty line; NULL: it is not complete. */
static char *end_of_answer(struct symbolizer *s)
{
    char *end;

    s->text[s->used] = '\0';
    end = strstr(s->text, "\n\n");
    return end ? end + 2 : NULL;
}

/* Waits for an answer. NULL: it does not come. */
static char *wait_for(struct symbolizer *s)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    uint64_t end = now_ns() + PATIENCE_NS;
    char *behind;

    while (!(behind = end_of_answer(s)) && s->used + 1 < sizeof(s->text)) {
        ssize_t got = read(s->from, s->text + s->used, sizeof(s->text) - 1 - s->used);

        if (got > 0)
            s->used += (size_t)got;
        else if (got == 0 || (errno != EAGAIN && errno != EINTR) || now_ns() > end)
            return NULL;
        else
            (void)nanosleep(&look, NULL);
    }
    return behind;
}

static void forget_to(struct symbolizer *s, const char *behind)
{
    size_t gone = (size_t)(behind - s->text);

    s->used -= gone;
    memmove(s->text, behind, s->used);
}

static const char *next_line(const char **text, size_t *length)
{
    const char *line = *text;

    *length = strcspn(line, "\n");
    *text = line + *length + (line[*length] == '\n');
    return line;
}

/* "??" is what is not known. Of a C++ function the parameters are left out. */
static void take_function(char *to, size_t bytes, const char *line, size_t length)
{
    const char *end = length > 1 ? memchr(line + 1, '(', length - 1) : NULL;

    snprintf(to, bytes, "%.*s", (int)(end ? (size_t)(end - line) : length), line);
    if (strncmp(to, "??", 2) == 0)
        to[0] = '\0';
    for (char *at = to; *at; at++)
        if (*at == ' ')
            *at = '_';
}

/* "C:\gpu\submit.c:85:0" */
static void take_place(char *to, size_t bytes, const char *line, size_t length)
{
    const char *column = memrchr(line, ':', length);

    snprintf(to, bytes, "%.*s", (int)(column ? (size_t)(column - line) : length), line);
    if (strncmp(to, "??", 2) == 0 || (strlen(to) > 2 && strcmp(to + strlen(to) - 2, ":0") == 0))
        to[0] = '\0';
    for (char *at = to; *at; at++)
        if (*at == '\\')
            *at = '/';
}

/* Two lines for each function, from the innermost one that was inlined outwards: the line is that
 * of the first one. */
static void take(struct dxgk_source *source, const char *text)
{
    for (unsigned functions = 0; *text && *text != '\n'; functions++) {
        size_t length;
        const char *line = next_line(&text, &length);

        take_function(source->function, sizeof(source->function), line, length);
        if (functions == 0)
            take_function(source->inlined, sizeof(source->inlined), line, length);
        line = next_line(&text, &length);
        if (functions == 0)
            take_place(source->line, sizeof(source->line), line, length);
        if (*text == '\n' && functions == 0)
            source->inlined[0] = '\0'; /* it is the only one */
    }
}

static bool fetch(struct symbolizer *s, struct answer *answer)
{
    char *behind = NULL;

    if (!ask(s, answer->offset))
        return false;
    for (s->owed++; s->owed; s->owed--) {
        behind = wait_for(s);
        if (!behind)
            return false;
        if (s->owed > 1)
            forget_to(s, behind);
    }
    take(&answer->source, s->text);
    forget_to(s, behind);
    return true;
}

/* ---- for the machine ---- */

static void say_why(struct symbolizer *s)
{
    if (s->tells && s->why[0])
        fprintf(stderr, "dxgkhost: note: %s\n", s->why);
    s->tells = false;
}

static void tell(void *context, const char *image, uint64_t offset, struct dxgk_source *source)
{
    struct symbolizer *s = context;
    struct answer *answer = &s->answer[(offset ^ offset >> 8) % ANSWERS];

    if (strcmp(image, s->image) != 0)
        return;
    say_why(s);
    if (!answer->there || answer->offset != offset) {
        *answer = (struct answer){.offset = offset, .there = true};
        if (s->to >= 0 && !fetch(s, answer)) {
            stop(s);
            fprintf(stderr, "dxgkhost: note: llvm-symbolizer has ended, or takes too long: what "
                            "follows has no lines of source\n");
        }
    }
    *source = answer->source;
}

static void look_for_lines(struct symbolizer *s, const char *driver)
{
    char pdb[4096];
    const char *name = strrchr(driver, '/');

    name = name ? name + 1 : driver;
    switch (pdb_find(s->image, pdb, sizeof(pdb))) {
    case PDB_NO_RECORD:
        return;
    case PDB_ABSENT:
        snprintf(s->why, sizeof(s->why), "%.100s: no lines of source, as %.1000s is not beside it",
                 name, pdb);
        return;
    case PDB_OTHER:
        snprintf(s->why, sizeof(s->why),
                 "%.100s: no lines of source, as %.1000s is of another build (GUID or age differ)",
                 name, pdb);
        return;
    case PDB_DAMAGED:
        snprintf(s->why, sizeof(s->why), "%.100s: no lines of source, as %.1000s is no whole PDB",
                 name, pdb);
        return;
    case PDB_FOUND:
        break;
    }
    if (strpbrk(s->image, "\"\n"))
        return;
    if (!start(s)) {
        stop(s);
        snprintf(s->why, sizeof(s->why),
                 "%.100s: lines of source need llvm-symbolizer (Debian: llvm), which is not there",
                 name);
        return;
    }
    s->owed = ask(s, 0); /* it reads the PDB meanwhile */
}

void cli_symbolizer_begin(struct cli_options *options, bool tells)
{
    struct symbolizer *s = options->driver ? calloc(1, sizeof(*s)) : NULL;
    char *path = s ? realpath(options->driver, NULL) : NULL;

    if (!path || strlen(path) >= sizeof(s->image)) {
        free(path);
        free(s);
        return;
    }
    strcpy(s->image, path);
    free(path);
    s->tells = tells;
    s->to = s->from = s->keep = -1;
    look_for_lines(s, options->driver);
    options->config.source = tell;
    options->config.source_context = s;
}

void cli_symbolizer_end(struct cli_options *options)
{
    struct symbolizer *s = options->config.source == tell ? options->config.source_context : NULL;

    if (!s)
        return;
    options->config.source = NULL;
    options->config.source_context = NULL;
    stop(s);
    free(s);
}
