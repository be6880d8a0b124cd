/* SPDX-License-Identifier: MIT */
/* A process that is set back to one point, many times. */
#include "host/support/refgpu_client.h"

#include "dxgkhost/fuzz.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/fiber.h"
#include "util/map.h"

#define RUNS  34u /* the last one changes mappings in the way that ends */
#define WORDS 4096u
#define PAGE  4096u
#define LARGE ((size_t)32 << 20)

/* What a child of the snapshot found; its exit status. */
enum { CHILD_GOOD = 7, CHILD_FAILED, CHILD_CANNOT };

/* In memory that stays as it is. */
struct shared {
    struct dxgk_repeat repeat;
    uint64_t different, time; /* of the machine, at the end of the first run */
    unsigned runs;
    unsigned failed; /* the line of a check; 0: none */
};

/* What is set back, too. */
struct world {
    struct shared *shared;
    struct gpu gpu;
    uint32_t *words;   /* of the client, in simulated RAM */
    char *heap, *kept; /* memory of the process: of malloc, and mappings of its own */
    unsigned runs;
};

struct plan {
    bool (*run)(void *world);
    const char *reason; /* why it cannot go on behind the first run; NULL: it can */
    int status;         /* of the child */
};

static void expect(struct shared *shared, bool condition, unsigned line)
{
    if (!condition && !shared->failed)
        shared->failed = line;
}

#define EXPECT(condition) expect(world->shared, condition, __LINE__)

static int repeat(const struct plan *plan, struct dxgk_snapshot *snapshot, struct world *world)
{
    struct shared *shared = world->shared;
    int result;

    shared->repeat.verify = true;
    result = dxgk_client_repeat(snapshot, plan->run, world, &shared->repeat);
    if (result != 0 && shared->runs == 0)
        return CHILD_CANNOT;
    if (shared->failed)
        fprintf(stderr, "rewind_test.c:%u, in run %u\n", shared->failed, shared->runs);
    if (shared->different)
        fprintf(stderr, "%lu pages are not as they were, the last one at 0x%lx\n",
                (unsigned long)shared->different, (unsigned long)shared->repeat.first_different);
    if (result != 0 && !plan->reason)
        fprintf(stderr, "run %u is the last: %s\n", shared->runs, shared->repeat.reason);
    if (shared->failed || shared->different)
        return CHILD_FAILED;
    if (plan->reason)
        return result == -1 && shared->runs == 1 && strstr(shared->repeat.reason, plan->reason)
                   ? CHILD_GOOD
                   : CHILD_FAILED;
    return result == 0 && shared->repeat.runs == RUNS ? CHILD_GOOD : CHILD_FAILED;
}

/* In a child, since it is all of a process that is set back. */
static void repeat_in_child(struct client *c)
{
    struct plan *plan = c->context;
    struct world *world = calloc(1, sizeof(*world));
    struct dxgk_snapshot *snapshot;
    int status = 0;
    pid_t child;

    TRY(c, world);
    world->words = dxgk_client_allocate(WORDS * sizeof(*world->words));
    world->shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    world->heap = calloc(WORDS, 1);
    world->kept = util_map(NULL, 4 * (size_t)PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TRY(c, world->words && world->heap && gpu_begin(&world->gpu) == STATUS_SUCCESS);
    world->words[0] = 1;
    world->kept[0] = world->kept[3 * PAGE] = 5;
    snapshot = dxgk_client_snapshot();
    TRY(c, snapshot);
    child = dxgk_snapshot_fork(snapshot);
    if (child == 0)
        _exit(repeat(plan, snapshot, world));
    TRY(c, child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    plan->status = WEXITSTATUS(status);
    TRY(c, dxgk_snapshot_restore(snapshot) >= 0 && world->words[0] == 1);
    dxgk_snapshot_destroy(snapshot);
    TRY(c, gpu_end(&world->gpu) == STATUS_SUCCESS);
    util_unmap(world->kept, 4 * (size_t)PAGE);
    munmap(world->shared, PAGE);
    free(world->heap);
    free(world);
}

static void check_plan(struct plan *plan)
{
    struct client c = {.program = repeat_in_child, .context = plan};
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, &c, repeat_in_child, DXGK_OK);
    client_report(&c);
    machine_end(&m);
    CHECK(plan->status == CHILD_GOOD || plan->status == CHILD_CANNOT);
    if (plan->status == CHILD_CANNOT && !SIM_ASAN)
        skip();
}

/* ---- memory ---- */

/* Of the client and of the driver's device, of the process, and what the machine keeps of them. */
static bool use_all(void *context)
{
    struct world *world = context;
    struct shared *shared = world->shared;
    struct memory memory;
    char *large;

    shared->different += shared->repeat.different;
    shared->runs++;
    EXPECT(world->runs++ == 0 && world->words[0] == 1 && world->words[1024] == 0);
    EXPECT(world->heap[100] == 0);
    for (uint32_t i = 0; i < WORDS; i += 1024)
        world->words[i] = shared->runs;
    memset(world->heap, (int)shared->runs, WORDS);
    large = malloc(LARGE); /* which the heap has not */
    EXPECT(large);
    memset(large, 1, shared->runs % 8 ? PAGE : LARGE);
    EXPECT(gpu_memory(&world->gpu, 0x10000, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_VRAM,
                      &memory) == STATUS_SUCCESS);
    memset(memory.cpu, (int)shared->runs, 0x10000);
    EXPECT(gpu_end(&world->gpu) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    if (shared->runs == 1)
        shared->time = dxgk_client_time();
    EXPECT(dxgk_client_time() == shared->time);
    return shared->runs < RUNS;
}

TEST(memory_is_set_back_behind_each_run)
{
    check_plan(&(struct plan){.run = use_all});
}

/* ---- mappings ---- */

static bool change_mappings(void *context)
{
    struct world *world = context;
    struct shared *shared = world->shared;
    char *kept = world->kept, *other;

    shared->different += shared->repeat.different;
    shared->runs++;
    EXPECT(kept[0] == 5 && kept[PAGE] == 0 && kept[3 * PAGE] == 5);
    kept[0] = kept[PAGE] = kept[3 * PAGE] = 6;
    other = util_map(NULL, 16 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    EXPECT(other != MAP_FAILED);
    other[0] = 1;
    switch (shared->runs % 6) {
    case 0:
        return util_unmap(kept, 4 * (size_t)PAGE) == 0;
    case 1:
        return util_protect(kept + PAGE, PAGE, PROT_NONE) == 0;
    case 2:
        EXPECT(util_map(kept, 2 * (size_t)PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                        -1, 0) == kept);
        return kept[0] == 0;
    case 3:
        return util_advise(kept, 4 * (size_t)PAGE, MADV_DONTNEED) == 0;
    case 4:
        return util_unmap(other, 16 * (size_t)PAGE) == 0 && shared->runs != RUNS;
    default:
        return util_protect(kept, 4 * (size_t)PAGE, PROT_READ) == 0;
    }
}

TEST(mappings_are_made_again_behind_each_run)
{
    check_plan(&(struct plan){.run = change_mappings});
}

/* ---- what cannot be set back ---- */

static bool leave_file(void *context)
{
    struct world *world = context;

    world->shared->runs++;
    return open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool leave_mapping(void *context)
{
    struct world *world = context;

    world->shared->runs++;
    return mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static void *do_nothing(void *context)
{
    return context;
}

static bool leave_thread(void *context)
{
    struct world *world = context;
    pthread_t thread;

    world->shared->runs++;
    return pthread_create(&thread, NULL, do_nothing, NULL) == 0;
}

TEST(a_process_with_something_left_is_not_set_back)
{
    check_plan(&(struct plan){.run = leave_file, .reason = "a file was opened or closed"});
    check_plan(&(struct plan){.run = leave_mapping, .reason = "mapped or unmapped by others"});
    check_plan(&(struct plan){.run = leave_thread, .reason = "a thread was made"});
}
