/* SPDX-License-Identifier: MIT */
#include "cli/fuzz_campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fuzz_finding.h"
#include "cli/fuzz_shared.h"
#include "cli/shell_word.h"
#include "util/array.h"

#define ENGINE   "dxgkhost-fuzz"
#define DISTINCT 1024u
#define PATH     4160u
#define WORDS    32u /* of the command of an engine */

struct found {
    struct fuzz_finding finding;
    char file[PATH];
};

struct campaign {
    const struct fuzz_options *options;
    pid_t engine[FUZZ_ENGINES];
    uint32_t engines; /* that were started */
    int arguments, errors;
    int events[2];
    struct found *found;
    uint32_t distinct;
    uint64_t runs, failed;
    unsigned places, reached;
    double reset_us, reset_pages; /* of the slowest engine; 0: there was none */
    uint64_t reset_different, lost;
    char lost_reason[128];
    bool ended; /* a server has said how it ended */
    int status; /* of a server that could not begin; CLI_OK: none */
    bool asked; /* engines were asked to end */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static volatile sig_atomic_t interrupt;

static void on_interrupt(int number)
{
    interrupt = number;
}

/* ---- the engines ---- */

static bool program_path(char *path, size_t bytes)
{
    const ssize_t length = readlink("/proc/self/exe", path, bytes - 1);

    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Beside the program in a build, and where it is installed. */
static bool engine_path(char *path, size_t bytes)
{
    static const char *const places[] = {"", "../" DXGK_LIBRARY_FOLDER "/"};
    char program[3072], *slash;

    if (!program_path(program, sizeof(program)))
        return false;
    slash = strrchr(program, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        snprintf(path, bytes, "%s%s" ENGINE, program, places[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    fputs("dxgkhost: fuzz: " ENGINE " is not there: it is built where clang's libFuzzer is "
          "(Debian: clang, libclang-rt-dev)\n",
          stderr);
    return false;
}

/* The words of the server's command, each with its terminator. */
static int write_arguments(int argc, char **argv)
{
    char program[4096];
    int file = memfd_create("dxgkhost-fuzz", 0);

    if (file < 0 || !program_path(program, sizeof(program)))
        return -1;
    dprintf(file, "%s%cfuzz%c", program, '\0', '\0');
    for (int i = 0; i < argc; i++)
        dprintf(file, "%s%c", argv[i], '\0');
    return file;
}

static bool make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "dxgkhost: %s: %s\n", path, strerror(errno));
    return false;
}

struct words {
    char *word[WORDS];
    size_t count;
    char text[WORDS][PATH];
};

static void add_word(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_word(struct words *words, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words->text[words->count], PATH, format, arguments);
    va_end(arguments);
    words->word[words->count] = words->text[words->count];
    words->count++;
}

static void engine_words(const struct fuzz_options *options, const char *path, uint32_t number,
                         const char *merged, struct words *words)
{
    add_word(words, "%s", path); /* it runs itself to merge */
    add_word(words, "-max_len=%" PRIu64, options->most_bytes);
    add_word(words, "-timeout=%" PRIu64, options->limit_s + 60);
    add_word(words, "-rss_limit_mb=0");
    if (merged) {
        add_word(words, "-merge=1");
        add_word(words, "%s", merged);
    } else {
        add_word(words, "-reload=%d", options->engines > 1);
        add_word(words, "-print_final_stats=1");
        if (options->runs)
            add_word(words, "-runs=%" PRIu64,
                     (options->runs + options->engines - 1) / options->engines);
        if (options->seconds)
            add_word(words, "-max_total_time=%" PRIu64, options->seconds);
        if (options->seed)
            add_word(words, "-seed=%" PRIu64, options->seed + number);
        if (options->dictionary)
            add_word(words, "-dict=%s", options->dictionary);
    }
    add_word(words, "%s", options->corpus);
}

static _Noreturn void be_engine(const struct campaign *campaign, uint32_t number, const char *path,
                                const char *merged)
{
    static struct words words;
    char log[PATH], text[64];
    int file;

    snprintf(log, sizeof(log), "%s/engine-%u.log", campaign->options->run.out, number + 1);
    file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file >= 0) {
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
    }
    close(campaign->events[0]);
    snprintf(text, sizeof(text), "%d,%d", campaign->arguments, merged ? -1 : campaign->events[1]);
    setenv(FUZZ_ENV_SERVER, text, 1);
    snprintf(text, sizeof(text), "%d", campaign->errors);
    setenv(FUZZ_ENV_ERRORS, text, 1);
    engine_words(campaign->options, path, number, merged, &words);
    execv(path, words.word);
    _exit(CLI_HOST);
}

static bool start_engines(struct campaign *campaign, const char *path)
{
    fflush(NULL);
    for (uint32_t i = 0; i < campaign->options->engines; i++) {
        pid_t engine = fork();

        if (engine == 0)
            be_engine(campaign, i, path, NULL);
        if (engine < 0) {
            fprintf(stderr, "dxgkhost: no process for an engine: %s\n", strerror(errno));
            return false;
        }
        campaign->engine[campaign->engines++] = engine;
    }
    return true;
}

static void ask_to_end(struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->engines && !campaign->asked; i++)
        kill(campaign->engine[i], SIGINT);
    campaign->asked = true;
}

/* ---- what they say ---- */

static void put_command(FILE *out, const struct fuzz_options *options, const char *file)
{
    fputs("dxgkhost fuzz", out);
    for (int i = 0; i < options->run_argc; i++) {
        putc(' ', out);
        cli_shell_word(out, options->run_argv[i]);
    }
    fputs(" --replay ", out);
    cli_shell_word(out, file);
}

static void print_found(FILE *out, const struct campaign *campaign, const struct found *found)
{
    const struct fuzz_finding *finding = &found->finding;

    fprintf(out, "%s %s: %s\n", finding->severity, finding->rule, finding->seen);
    if (finding->where[0] || finding->frame[0])
        fprintf(out, "  in %s%s%s\n", finding->where, finding->frame[0] ? ", at " : "",
                finding->frame);
    fputs("  ", out);
    put_command(out, campaign->options, found->file);
    putc('\n', out);
}

/* Beside the input: what it shows, and how. */
static void write_note(const struct campaign *campaign, const struct found *found)
{
    char path[PATH + 8];
    FILE *note;

    snprintf(path, sizeof(path), "%s.txt", found->file);
    note = found->file[0] == '(' ? NULL : fopen(path, "w");
    if (!note)
        return;
    print_found(note, campaign, found);
    fclose(note);
}

static void take_finding(struct campaign *campaign, const struct fuzz_finding *finding,
                         const char *file)
{
    struct found *found = &campaign->found[campaign->distinct];

    for (uint32_t i = 0; i < campaign->distinct; i++)
        if (fuzz_finding_same(&campaign->found[i].finding, finding))
            return;
    if (campaign->distinct == DISTINCT)
        return;
    campaign->distinct++;
    found->finding = *finding;
    snprintf(found->file, sizeof(found->file), "%s", file);
    write_note(campaign, found);
    printf("\n");
    print_found(stdout, campaign, found);
    fflush(stdout);
    if (campaign->options->stop_after && campaign->distinct >= campaign->options->stop_after)
        ask_to_end(campaign);
}

/* Of a server that has ended. */
static bool take_resets(struct campaign *campaign, const char *line)
{
    double us, pages;
    uint64_t count;
    int text = 0;

    if (sscanf(line, "resets\t%lf\t%lf\t%" SCNu64, &us, &pages, &count) == 3) {
        if (us > campaign->reset_us)
            campaign->reset_us = us;
        if (pages > campaign->reset_pages)
            campaign->reset_pages = pages;
        campaign->reset_different += count;
        return true;
    }
    if (sscanf(line, "lost\t%" SCNu64 "\t%n", &count, &text) != 1 || !text)
        return false;
    campaign->lost += count;
    snprintf(campaign->lost_reason, sizeof(campaign->lost_reason), "%s", line + text);
    return true;
}

static void take_line(struct campaign *campaign, char *line)
{
    struct fuzz_finding finding;
    uint64_t runs, failed;
    unsigned reached, places;
    char *file;
    int status;

    if (sscanf(line, "end\t%d\t%" SCNu64 "\t%" SCNu64 "\t%u\t%u", &status, &runs, &failed, &reached,
               &places) == 5) {
        campaign->ended = true;
        campaign->status = status != CLI_OK ? status : campaign->status;
        campaign->runs += runs;
        campaign->failed += failed;
        campaign->reached = reached > campaign->reached ? reached : campaign->reached;
        campaign->places = places > campaign->places ? places : campaign->places;
    } else if (!take_resets(campaign, line) && fuzz_finding_read(line, &finding, &file)) {
        take_finding(campaign, &finding, file);
    }
}

/* Until no server is left. */
static void listen_to(struct campaign *campaign)
{
    FILE *events = fdopen(campaign->events[0], "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (!events)
        return;
    for (;;) {
        errno = 0;
        length = getline(&line, &room, events);
        if (length > 0) {
            line[strcspn(line, "\n")] = '\0';
            take_line(campaign, line);
            continue;
        }
        if (errno != EINTR)
            break;
        clearerr(events);
        if (interrupt)
            ask_to_end(campaign);
    }
    free(line);
    fclose(events);
}

/* ---- the whole ---- */

static void print_speed(const struct campaign *campaign, double seconds)
{
    fprintf(stderr, "%.1f s, %.0f inputs a second", seconds, (double)campaign->runs / seconds);
    if (campaign->reset_us > 0)
        fprintf(stderr, ", reset %.0f us of %.0f pages", campaign->reset_us, campaign->reset_pages);
    fputc('\n', stderr);
    if (campaign->reset_different)
        fprintf(stderr, "dxgkhost: fuzz: %" PRIu64 " pages were not set back\n",
                campaign->reset_different);
    if (campaign->lost)
        fprintf(stderr, "dxgkhost: fuzz: %" PRIu64 " resets by another process: %s\n",
                campaign->lost, campaign->lost_reason);
}

static int conclude(struct campaign *campaign, double seconds)
{
    const struct fuzz_options *options = campaign->options;
    bool failed = false;

    for (uint32_t i = 0; i < campaign->engines; i++) {
        int status = 0;

        while (waitpid(campaign->engine[i], &status, 0) < 0 && errno == EINTR)
            ;
        failed |= !campaign->asked && status != 0;
    }
    if (campaign->status != CLI_OK)
        return campaign->status;
    if (!campaign->ended || (failed && !campaign->runs)) {
        fprintf(stderr, "dxgkhost: fuzz: the engine failed; %s/engine-1.log says why\n",
                options->run.out);
        return CLI_HOST;
    }
    printf("\ndxgkhost fuzz %s\n", options->run.driver);
    printf("  %-22s %" PRIu64 ", %" PRIu64 " of them failed in %u way%s\n", "inputs",
           campaign->runs, campaign->failed, campaign->distinct, campaign->distinct == 1 ? "" : "s");
    if (campaign->places)
        printf("  %-22s %u reached\n", "places", campaign->reached);
    else
        printf("  %-22s the driver is not instrumented: docs/fuzzing.md says how\n", "places");
    print_speed(campaign, seconds);
    if (interrupt)
        return 128 + (int)interrupt;
    return campaign->distinct ? CLI_BROKEN : CLI_OK;
}

static void catch_interrupts(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Puts into the corpus what it lacks of itself, and takes the rest away: into a new folder, which
 * takes its place. */
static int reduce_corpus(struct campaign *campaign, const char *path)
{
    const struct fuzz_options *options = campaign->options;
    char merged[PATH], old[PATH];
    int status = 0;
    pid_t engine;

    snprintf(merged, sizeof(merged), "%s.merged", options->corpus);
    snprintf(old, sizeof(old), "%s.old", options->corpus);
    if (!make_folder(merged))
        return CLI_HOST;
    fflush(NULL);
    engine = fork();
    if (engine == 0)
        be_engine(campaign, 0, path, merged);
    while (engine > 0 && waitpid(engine, &status, 0) < 0 && errno == EINTR)
        ;
    if (engine < 0 || status != 0 || rename(options->corpus, old) != 0 ||
        rename(merged, options->corpus) != 0) {
        fprintf(stderr,
                "dxgkhost: fuzz: the corpus could not be reduced; %s/engine-1.log says why\n",
                options->run.out);
        return CLI_HOST;
    }
    printf("dxgkhost fuzz: %s is reduced; what it was is in %s\n", options->corpus, old);
    return CLI_OK;
}

int fuzz_campaign(struct fuzz_options *options, int argc, char **argv)
{
    struct campaign campaign = {.options = options};
    char path[4096];
    double start = now();
    int status = CLI_HOST;

    if (!engine_path(path, sizeof(path)) || !make_folder(options->run.out) ||
        !make_folder(options->corpus) || !make_folder(options->findings))
        return CLI_HOST;
    campaign.arguments = write_arguments(argc, argv);
    campaign.errors = dup(STDERR_FILENO);
    campaign.found = calloc(DISTINCT, sizeof(*campaign.found));
    if (campaign.arguments < 0 || campaign.errors < 0 || !campaign.found ||
        pipe(campaign.events) != 0) {
        fprintf(stderr, "dxgkhost: fuzz: %s\n", strerror(errno));
        free(campaign.found);
        return CLI_HOST;
    }
    if (options->reduce_corpus) {
        status = reduce_corpus(&campaign, path);
    } else if (start_engines(&campaign, path)) {
        catch_interrupts();
        close(campaign.events[1]);
        listen_to(&campaign);
        status = conclude(&campaign, now() - start);
    }
    free(campaign.found);
    return status;
}
