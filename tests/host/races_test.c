/* SPDX-License-Identifier: MIT */
/* Races in drivers built with the compiler's hooks (tests/drivers/races): each mistake is found within a few seeds, with both
 * places, and nothing is found where there is none. */
#include "host/support/refgpu_client.h"

#include <unistd.h>

#define SEEDS   200u
#define IMAGES  5u
#define PACKETS 10u

/* The mistakes of tests/drivers/races/races.h, in that order, and the functions of which one is named first, the other then. */
static const struct {
    const char *what, *one, *other;
} races[] = {
    {"unlocked submission and ISR", "begin_flight", "races_interrupt"},
    {"DPC without the lock", "retire", "retire"},
    {"wrong lock", "retire", "retire"},
    {"interlocked on one side", "count_packet", "count_packet"},
    {"raised level for a lock", "retire", "retire"},
    {"polled flag", "thread_main", "wait_for_thread"},
    {"checked twice", "races_use_made", "races_use_made"},
    {"open list", "turn_list", "sum_of"},
    {"work item at teardown", "work", "races_stop"},
    {"timer and thread", "tick", "races_device"},
    {"shared for writing", "advance", "advance"},
    {"thread not waited for", "thread_main", "end_thread"},
};

static void write_registry(struct machine *m, unsigned number)
{
    char path[] = "/tmp/dxgkhost-races-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\races]\n");
    fprintf(file, "\"Race\"=4:%02x000000\n", number);
    CHECK(fclose(file) == 0);
    result = dxgk_machine_load_registry(m->dxgk, path, m->error, sizeof(m->error));
    unlink(path);
    CHECK(result == DXGK_OK);
}

/* Packets of both engines at a time. */
static void work(struct client *c)
{
    struct memory commands, target;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL,
                             0, &target) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, target.handle) == STATUS_SUCCESS);
    for (unsigned i = 0; i < PACKETS; i++) {
        struct refgpu_builder b;

        refgpu_builder_init(&b, g.lists.pCommandBuffer, g.lists.CommandBufferSize);
        refgpu_fill(&b, REFGPU_REF(0, 0), 4096, i);
        g.lists.pAllocationList[0].hAllocation = target.handle;
        g.lists.pAllocationList[0].Value = 0;
        g.lists.pAllocationList[0].WriteOperation = 1;
        TRY(c, gpu_submit(g.copy, commands.va, 0) == STATUS_SUCCESS);
        TRY(c, gpu_render(&g, refgpu_builder_bytes(&b), 1) == STATUS_SUCCESS);
    }
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* "": the driver is loaded from where it is; else a folder from which it is gone once it is loaded. */
static char passing[32];

/* The name stays, which is that of the service. */
static void load_driver(struct machine *m, const char *driver)
{
    char path[512], command[1100];

    snprintf(path, sizeof(path), "%s", machine_path(driver));
    if (passing[0]) {
        CHECK(mkdtemp(passing));
        snprintf(path, sizeof(path), "%s%s", passing, strrchr(driver, '/'));
        snprintf(command, sizeof(command), "cp '%s' '%s'", machine_path(driver), path);
        CHECK(system(command) == 0); // NOLINT
    }
    if (dxgk_machine_load_driver(m->dxgk, path, m->error, sizeof(m->error)) != DXGK_OK)
        fail_msg("driver: %s", m->error);
    if (passing[0])
        CHECK(unlink(path) == 0 && rmdir(passing) == 0);
}

/* The miniport's flags and slots that its ISR shares with others are volatile, which an image does not show. */
static bool is_volatile(const char *driver, const char *seen)
{
    return strstr(driver, ".sys") &&
           (strstr(seen, "!forget_context+") || strstr(seen, "!RefGpuDpcRoutine+"));
}

/* A whole life. `seen`: the first race that was reported, "" if there was none. */
static void live(const char *driver, unsigned race, uint64_t seed, bool detect, char *seen,
                 size_t bytes)
{
    struct dxgk_machine_config config;
    struct dxgk_violation v;
    struct client *c = calloc(1, sizeof(*c));
    struct machine m;

    machine_config(&m, &config);
    config.seed = seed;
    config.stress = true;
    config.races = detect;
    machine_create(&m, &config);
    write_registry(&m, race);
    CHECK(dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), NULL, 0, m.error,
                                  sizeof(m.error)) == DXGK_OK);
    load_driver(&m, driver);
    machine_run_with(&m, c, work, DXGK_OK);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    seen[0] = '\0';
    for (size_t i = 0; dxgk_machine_violation(m.dxgk, i, &v); i++)
        if (strcmp(v.rule, "THREAD-080") == 0 && !seen[0] && !is_volatile(driver, v.seen))
            snprintf(seen, bytes, "%s in %s", v.seen, v.where);
    for (size_t i = 0; dxgk_machine_violation(m.dxgk, i, &v); i++) /* of an image, a warning */
        CHECK(strcmp(v.rule, "THREAD-080") != 0 ||
              (strcmp(v.severity, "warning") == 0) == (strstr(driver, ".sys") != NULL));
    if (m.noisy)
        machine_print_violations(&m);
    dxgk_machine_destroy(m.dxgk);
    free(c);
}

/* Whether it names a line of source for each: of an inline routine, that of its header. */
static bool names_lines(const char *seen)
{
    const char *earlier = strstr(seen, "earlier");
    const char *now = strstr(seen, "+0x"), *before = earlier ? strstr(earlier, "+0x") : NULL;
    unsigned line = 0, earlier_line = 0;

    return now && before && sscanf(now, "+0x%*x at %*[a-z_.]:%u", &line) == 1 &&
           sscanf(before, "+0x%*x at %*[a-z_.]:%u", &earlier_line) == 1 && line && earlier_line;
}

/* Whether the first race names both functions, one of them first and the other after it. */
static bool names(const char *seen, const char *driver, const char *one, const char *other)
{
    const char *earlier = strstr(seen, "earlier");
    char a[64], b[64];
    const char *first;

    for (unsigned turn = 0; turn < 2 && earlier; turn++) {
        snprintf(a, sizeof(a), "%s!%s+0x", driver, turn ? other : one);
        snprintf(b, sizeof(b), "%s!%s+0x", driver, turn ? one : other);
        first = strstr(seen, a);
        if (first && first < earlier && strstr(earlier, b))
            return true;
    }
    return false;
}

/* True: the mistake is found within some seeds, and both places are named. */
static bool found(unsigned i, const char *folder, const char *driver)
{
    char seen[1024] = "", path[64];
    uint64_t seed = 1;
    bool right;

    snprintf(path, sizeof(path), "%s/%s", folder, driver);
    for (; seed <= SEEDS && !seen[0]; seed++)
        live(path, i + 1, seed, true, seen, sizeof(seen));
    right = seen[0] && names(seen, driver, races[i].one, races[i].other) &&
            (strstr(driver, ".sys") || names_lines(seen));
    if (!right || getenv("DXGK_NOISY"))
        printf("    %s, seed %llu: %s\n", races[i].what, (unsigned long long)seed - 1, seen);
    return right;
}

TEST(each_mistake_in_the_order_of_accesses_is_found)
{
    for (unsigned i = 0; i < sizeof(races) / sizeof(races[0]); i++)
        CHECK_RULE("THREAD-080/b", found(i, "tests/drivers", "races.so"));
}

TEST(each_is_found_in_a_windows_image)
{
    char seen[1024];

    if (access(machine_path("tests/drivers/gcc/races.sys"), R_OK) != 0)
        skip();
    for (unsigned i = 0; i < sizeof(races) / sizeof(races[0]); i++)
        CHECK_RULE("THREAD-080/c", found(i, "tests/drivers/gcc", "races.sys"));
    for (uint64_t seed = 1; seed <= IMAGES; seed++) {
        live("tests/drivers/gcc/races.sys", 0, seed, true, seen, sizeof(seen));
        if (seen[0])
            printf("    seed %llu: %s\n", (unsigned long long)seed, seen);
        CHECK_RULE("THREAD-080/c", !seen[0]);
    }
}

TEST(a_report_does_not_open_the_file_of_the_driver)
{
    char seen[1024] = "";

    for (uint64_t seed = 1; seed <= SEEDS && !seen[0]; seed++) {
        snprintf(passing, sizeof(passing), "/tmp/dxgkhost-races-XXXXXX");
        live("tests/drivers/races.so", 1, seed, true, seen, sizeof(seen));
    }
    passing[0] = '\0';
    if (!names_lines(seen))
        printf("    %s\n", seen);
    CHECK_RULE("THREAD-080/b", names_lines(seen));
}

TEST(a_driver_whose_accesses_are_in_order_has_no_races)
{
    const uint64_t sound = getenv("DXGK_LONG") ? 1000 : 20, alone = getenv("DXGK_LONG") ? 100 : 8;
    char seen[1024];

    for (uint64_t seed = 1; seed <= sound; seed++) {
        live("tests/drivers/races.so", 0, seed, true, seen, sizeof(seen));
        if (seen[0])
            printf("    seed %llu: %s\n", (unsigned long long)seed, seen);
        CHECK_RULE("THREAD-080/a", !seen[0]);
    }
    for (uint64_t seed = 1; seed <= alone; seed++) {
        live("tests/drivers/refgpu_races.so", 0, seed, true, seen, sizeof(seen));
        if (seen[0])
            printf("    seed %llu: %s\n", (unsigned long long)seed, seen);
        CHECK_RULE("THREAD-080/a", !seen[0]);
    }
}

TEST(a_machine_that_does_not_detect_races_runs_such_a_driver_all_the_same)
{
    char seen[1024];

    live("tests/drivers/races.so", 1, 1, false, seen, sizeof(seen));
    CHECK(!seen[0]);
}
