/* SPDX-License-Identifier: MIT */
/* Breakdowns of a driver (tests/drivers/faults.c) that might take the report of them along: each ends at once, in a bug check that
 * tells its first cause, wherever it happens, in an ELF object and in Windows images of each compiler. */
#include "../drivers/faults.h"
#include "sim/fiber.h"
#include "host/support/machine.h"

#include <unistd.h>

#define SECONDS 20u /* after which a case counts as one without end; each takes some milliseconds */

struct breakdown {
    enum fault_act act;
    const char *rule;
    const char *words;    /* in what is reported; NULL: any */
    unsigned first, last; /* places; 0: all of them */
};

#define EVERYWHERE(act, rule, words) \
    {                                \
        act, rule, words, 0, 0       \
    }

static const char *const places[] = {NULL,
                                     "DriverEntry",
                                     "DxgkDdiCreateDevice",
                                     "DxgkDdiCreateDevice",
                                     "DxgkDdiInterruptRoutine",
                                     "DxgkDdiDpcRoutine",
                                     "",
                                     ""};

static const char *const drivers[] = {"tests/drivers/faults.so", "tests/drivers/gcc/faults.sys",
                                      "tests/drivers/clang/faults.sys"};

static void write_registry(struct machine *m, unsigned act, unsigned place)
{
    char path[] = "/tmp/dxgkhost-faults-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\faults]\n");
    fprintf(file, "\"Act\"=4:%02x000000\n\"Place\"=4:%02x000000\n", act, place);
    CHECK(fclose(file) == 0);
    result = dxgk_machine_load_registry(m->dxgk, path, m->error, sizeof(m->error));
    unlink(path);
    CHECK(result == DXGK_OK);
}

static void create_device(struct client *c)
{
    D3DKMT_ENUMADAPTERS list = {0};
    D3DKMT_CREATEDEVICE device = {0};

    TRY(c, D3DKMTEnumAdapters(&list) == STATUS_SUCCESS && list.NumAdapters == 1);
    device.hAdapter = list.Adapters[0].hAdapter;
    (void)D3DKMTCreateDevice(&device);
}

/* Load the driver and let it act. The result is that of the step that failed. */
static enum dxgk_result act(struct machine *m, const char *driver, unsigned number, unsigned place)
{
    struct client *c = calloc(1, sizeof(*c));
    struct dxgk_machine_config config;
    enum dxgk_result result;

    machine_config(m, &config);
    config.processors = 2;
    machine_create(m, &config);
    write_registry(m, number, place);
    CHECK(dxgk_machine_add_device(m->dxgk, machine_path("examples/blitter_device.so"), NULL, 0,
                                  m->error, sizeof(m->error)) == DXGK_OK);
    result = dxgk_machine_load_driver(m->dxgk, machine_path(driver), m->error, sizeof(m->error));
    if (result == DXGK_OK) {
        c->machine = m;
        c->program = create_device;
        result = dxgk_machine_run(m->dxgk, "client", client_main, c);
    }
    free(c);
    return result;
}

static bool told(const struct machine *m, const struct breakdown *b, const char *place)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, &v); i++) {
        if (strcmp(v.rule, b->rule) != 0 || (b->words && !strstr(v.seen, b->words)))
            continue;
        if (strstr(v.seen, place) || strstr(v.where, place))
            return true;
    }
    return false;
}

/* Zeros may reach the word that guards the caller's frame, before the return to address 0. */
static bool told_either(const struct machine *m, const struct breakdown *b, const char *place)
{
    struct breakdown guard = *b;

    guard.rule = "THREAD-075";
    return told(m, b, place) || (b->act == ACT_OVERRUN_ZERO && told(m, &guard, place));
}

static void check_stop(const char *driver, const struct breakdown *b, unsigned place)
{
    struct dxgk_statistics s;
    struct machine m;

    if (getenv("DXGK_NOISY"))
        fprintf(stderr, "%s, act %d at %u\n", driver, (int)b->act, place);
    alarm(SECONDS);
    (void)act(&m, driver, b->act, place);
    dxgk_machine_statistics(m.dxgk, &s);
    if (m.noisy)
        machine_print_violations(&m);
    if (!s.bugcheck || !told_either(&m, b, places[place])) {
        machine_print_violations(&m);
        fail_msg("%s, act %d at %u: no bug check, or not of %s (%s)", driver, (int)b->act, place,
                 b->rule, b->words ? b->words : "");
    }
    (void)dxgk_machine_shutdown(m.dxgk);
    dxgk_machine_destroy(m.dxgk);
    alarm(0);
}

static void check_everywhere(const struct breakdown *b, size_t count)
{
    for (size_t k = 0; k < sizeof(drivers) / sizeof(drivers[0]); k++) {
        if (access(machine_path(drivers[k]), R_OK) != 0)
            continue; /* no such compiler here */
        for (size_t i = 0; i < count; i++)
            for (unsigned place = PLACE_ENTRY; place < PLACE_END; place++)
                if (place >= b[i].first && (!b[i].last || place <= b[i].last))
                    check_stop(drivers[k], &b[i], place);
    }
}

TEST(overrun_stacks_end_in_a_report)
{
    static const struct breakdown b[] = {
        EVERYWHERE(ACT_OVERRUN_64, "NT-002", "Overrun"),
        EVERYWHERE(ACT_OVERRUN_1K, "NT-002", "Overrun"),
        EVERYWHERE(ACT_OVERRUN_1200, "NT-002", "Overrun"),
        EVERYWHERE(ACT_OVERRUN_4K, "NT-002", "Overrun"),
        EVERYWHERE(ACT_OVERRUN_ZERO, "NT-002", NULL),
        EVERYWHERE(ACT_OVERRUN_ALL, "NT-002", "Overrun"),
    };

    if (SIM_ASAN)
        skip(); /* the host's own frames are overwritten, whose checks come first */
    check_everywhere(b, sizeof(b) / sizeof(b[0]));
}

TEST(stacks_that_are_none_end_in_a_report)
{
    static const struct breakdown b[] = {
        EVERYWHERE(ACT_RECURSION, "NT-002", "overflowed its stack"),
        EVERYWHERE(ACT_STACK_LOW, "NT-002", "stack pointer"),
        EVERYWHERE(ACT_STACK_NON_CANONICAL, "NT-002", "stack pointer"),
        EVERYWHERE(ACT_STACK_ELSEWHERE, "NT-002", "stack pointer"),
        EVERYWHERE(ACT_FRAME_LOW, "NT-002", "address 0x18"),
        EVERYWHERE(ACT_FRAME_NON_CANONICAL, "NT-002", "address 0x18"),
        EVERYWHERE(ACT_NULL, "NT-002", "address 0x18"),
        EVERYWHERE(ACT_NON_CANONICAL, "NT-002", "address 0xdead000000000010"),
    };

    check_everywhere(b, sizeof(b) / sizeof(b[0]));
}

/* The number of the line of the driver's source that has these words; 0: none has. */
static unsigned line_with(const char *words)
{
    char path[1024], line[512];
    unsigned number = 0, found = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/tests/drivers/faults.c", getenv("DXGK_SOURCE"));
    file = fopen(path, "r");
    CHECK(file);
    while (fgets(line, sizeof(line), file)) {
        number++;
        if (!found && strstr(line, words))
            found = number;
    }
    fclose(file);
    return found;
}

/* Is the next frame at this line of the source, given with a whole path? */
static bool is_at(const char **stack, const char *function, unsigned line)
{
    const size_t length = strcspn(*stack, "\n");
    char frame[512], end[64];
    const char *place;

    snprintf(frame, sizeof(frame), "%.*s", (int)length, *stack);
    *stack += length + ((*stack)[length] != '\0');
    snprintf(end, sizeof(end), "/faults.c:%u)", line);
    place = strstr(frame, " (/");
    return strstr(frame, function) && place && strlen(place) >= strlen(end) &&
           strcmp(place + strlen(place) - strlen(end), end) == 0;
}

/* A frame that is in progress is at its call, not behind it. */
static void check_lines(const char *driver)
{
    struct dxgk_violation v;
    const char *stack;
    struct machine m;

    alarm(SECONDS);
    (void)act(&m, driver, ACT_NULL, PLACE_ENTRY);
    CHECK(dxgk_machine_violation(m.dxgk, 0, &v));
    stack = v.stack;
    if (!is_at(&stack, "!BreakAt+0x", line_with("(0x18 + zero) = 1;")) ||
        !is_at(&stack, "!DriverEntry+0x", line_with("BREAK_AT(PLACE_ENTRY);")))
        fail_msg("%s: %s", driver, v.stack);
    (void)dxgk_machine_shutdown(m.dxgk);
    dxgk_machine_destroy(m.dxgk);
    alarm(0);
}

TEST(stacks_name_the_lines_of_the_source)
{
    for (size_t k = 0; k < sizeof(drivers) / sizeof(drivers[0]); k++)
        if (access(machine_path(drivers[k]), R_OK) == 0) /* else no such compiler here */
            check_lines(drivers[k]);
}

/* NT-002 */
TEST(faults_in_services_name_the_service)
{
    static const struct breakdown b[] = {
        /* at PASSIVE_LEVEL */
        {ACT_ZW_BAD_POINTER, "NT-002", "ZwQueryValueKey called by faults.s", 0, PLACE_CLIENT},
        EVERYWHERE(ACT_PRINT_BAD_POINTER, "NT-002", "DbgPrint called by faults.s"),
        EVERYWHERE(ACT_COPY_BAD_POINTER, "NT-002", "called by faults.s"), /* memcpy, or memmove */
        EVERYWHERE(ACT_EVENT_BAD_POINTER, "NT-002", "KeInitializeEvent called by faults.s"),
    };

    check_everywhere(b, sizeof(b) / sizeof(b[0]));
    check_rule_record("NT-002", __FILE__, __LINE__, __func__);
}

/* What a driver leaves changed is put right, told, and the machine goes on. */
static void check_told(const struct breakdown *b, size_t count)
{
    struct machine m;

    for (size_t k = 0; k < sizeof(drivers) / sizeof(drivers[0]); k++) {
        if (access(machine_path(drivers[k]), R_OK) != 0)
            continue;
        for (size_t i = 0; i < count; i++)
            for (unsigned place = PLACE_ENTRY; place < PLACE_THREAD; place++) {
                struct dxgk_statistics s;
                enum dxgk_result result;

                alarm(SECONDS);
                result = act(&m, drivers[k], b[i].act, place);
                dxgk_machine_statistics(m.dxgk, &s);
                if (result != DXGK_OK || s.bugcheck || !told(&m, &b[i], places[place])) {
                    machine_print_violations(&m);
                    fail_msg("%s, act %d at %u: result %d, or no %s (%s)", drivers[k],
                             (int)b[i].act, place, (int)result, b[i].rule, b[i].words);
                }
                CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
                dxgk_machine_destroy(m.dxgk);
                alarm(0);
            }
    }
    for (size_t i = 0; i < count; i++)
        check_rule_record(strcmp(b[i].rule, "NT-167") == 0 ? "NT-167/d" : b[i].rule, __FILE__,
                          __LINE__, __func__);
}

TEST(the_processor_is_put_right_when_a_driver_returns)
{
    static const struct breakdown b[] = {
        EVERYWHERE(ACT_DIRECTION, "THREAD-076", "DF (direction)"),
        EVERYWHERE(ACT_ALIGNMENT, "THREAD-076", "AC (alignment check)"),
        EVERYWHERE(ACT_MXCSR, "THREAD-077", "MXCSR 0x7f80, was 0x1f80"),
        EVERYWHERE(ACT_X87, "THREAD-077", "control word 0x7f, was 0x37f"),
    };

    check_told(b, sizeof(b) / sizeof(b[0]));
}

TEST(breakpoints_are_told_by_name)
{
    static const struct breakdown b[] = {
        EVERYWHERE(ACT_INT3, "NT-167", "int3 at faults.s"),
        EVERYWHERE(ACT_INT_2D, "NT-167", "debug service 1 (int 2d)"),
    };
    static const struct breakdown fast_fail = EVERYWHERE(ACT_INT_29, "NT-176", "code 2");

    check_told(b, sizeof(b) / sizeof(b[0]));
    check_everywhere(&fast_fail, 1);
}

/* An overrun of the caller alone: the driver's own frames, through which it returns, are whole. */
TEST(overwritten_callers_are_found_when_the_driver_returns)
{
    /* DriverEntry calls the function that breaks, and the routine of a thread need not return. */
    static const struct breakdown b = {ACT_CALLERS_FRAME, "THREAD-075", "stack of its caller",
                                       PLACE_SYSTEM, PLACE_DPC};

    check_everywhere(&b, 1);
    check_rule_record("THREAD-075", __FILE__, __LINE__, __func__);
}

TEST(a_thread_of_the_drivers_own_is_told_at_unload)
{
    const struct breakdown b = EVERYWHERE(0, "THREAD-079", "1 thread(s) of the host's process");
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    CHECK(dxgk_machine_add_device(m.dxgk, machine_path("examples/blitter_device.so"), NULL, 0,
                                  m.error, sizeof(m.error)) == DXGK_OK);
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("tests/drivers/own_thread.so"), m.error,
                                   sizeof(m.error)) == DXGK_OK);
    (void)dxgk_machine_shutdown(m.dxgk);
    if (!told(&m, &b, "own worker")) {
        machine_print_violations(&m);
        fail_msg("the thread is not told");
    }
    check_rule_record("THREAD-079", __FILE__, __LINE__, __func__);
    dxgk_machine_destroy(m.dxgk); /* the image stays, since the thread runs in it */
}
