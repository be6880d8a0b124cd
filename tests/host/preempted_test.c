/* SPDX-License-Identifier: MIT */
/* A machine under stress preempts Windows images that were not compiled for that: tests/drivers/preempted loses updates that its
 * submissions make beside the ISR, in a function that calls nobody, unless they are synchronized. */
#include "host/support/refgpu_client.h"

#include <unistd.h>

#define SEEDS   200u
#define SOUND   40u
#define PACKETS 10u

static const char *const images[] = {"tests/drivers/gcc/preempted.sys",
                                     "tests/drivers/clang/preempted.sys"};
#define IMAGES (sizeof(images) / sizeof(images[0]))

enum { SYNCHRONIZED, SEVERAL_INSTRUCTIONS, ONE_INSTRUCTION }; /* as the driver has them */

static void write_registry(struct machine *m, unsigned lost)
{
    char path[] = "/tmp/dxgkhost-preempted-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    enum dxgk_result result;

    CHECK(file);
    fprintf(file, "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\preempted]\n");
    fprintf(file, "\"Lost\"=4:%02x000000\n", lost);
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

struct life {
    bool lost; /* a count: the driver stopped the machine */
    char seen[256];
    struct dxgk_statistics end;
};

/* A whole life. */
static struct life live(const char *image, unsigned lost, uint64_t seed, bool stress)
{
    struct life life = {.end.size = sizeof(life.end)};
    struct dxgk_machine_config config;
    struct dxgk_violation v;
    struct client *c = calloc(1, sizeof(*c));
    struct machine m;

    machine_config(&m, &config);
    config.seed = seed;
    config.stress = stress;
    machine_create(&m, &config);
    write_registry(&m, lost);
    CHECK(dxgk_machine_add_device(m.dxgk, machine_path("devices/refgpu.so"), NULL, 0, m.error,
                                  sizeof(m.error)) == DXGK_OK);
    if (dxgk_machine_load_driver(m.dxgk, machine_path(image), m.error, sizeof(m.error)) != DXGK_OK)
        fail_msg("driver: %s", m.error);
    machine_run_with(&m, c, work, DXGK_OK);
    (void)dxgk_machine_shutdown(m.dxgk);
    for (size_t i = 0; dxgk_machine_violation(m.dxgk, i, &v); i++) {
        life.lost = life.lost || strcmp(v.rule, "NT-166") == 0;
        snprintf(life.seen, sizeof(life.seen), "%s %s at %llu", v.rule, v.seen,
                 (unsigned long long)v.virtual_ns);
    }
    dxgk_machine_statistics(m.dxgk, &life.end);
    if (m.noisy)
        machine_print_violations(&m);
    dxgk_machine_destroy(m.dxgk);
    free(c);
    return life;
}

static bool is_there(const char *image)
{
    return access(machine_path(image), R_OK) == 0;
}

/* The first seed with which a count is lost; 0: with none. */
static uint64_t seed_that_loses(const char *image, unsigned lost)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        if (live(image, lost, seed, true).lost)
            return seed;
    return 0;
}

static void loses(unsigned lost)
{
    unsigned count = 0;

    for (unsigned i = 0; i < IMAGES; i++) {
        uint64_t seed = is_there(images[i]) ? seed_that_loses(images[i], lost) : 0;
        struct life one, other;

        if (!is_there(images[i]))
            continue;
        count++;
        CHECK_RULE("THREAD-074/b", seed != 0);
        one = live(images[i], lost, seed, true);
        other = live(images[i], lost, seed, true);
        CHECK_RULE("THREAD-074/b", one.lost && strcmp(one.seen, other.seen) == 0);
        CHECK_RULE("THREAD-074/b", memcmp(&one.end, &other.end, sizeof(one.end)) == 0);
    }
    if (count == 0)
        skip();
}

TEST(an_update_by_several_instructions_is_lost_with_some_seed)
{
    loses(SEVERAL_INSTRUCTIONS);
}

TEST(an_update_by_one_instruction_is_lost_with_some_seed)
{
    loses(ONE_INSTRUCTION);
}

TEST(an_update_that_is_synchronized_is_never_lost)
{
    for (unsigned i = 0; i < IMAGES; i++)
        for (uint64_t seed = 1; is_there(images[i]) && seed <= SOUND; seed++)
            CHECK_RULE("THREAD-074/b", !live(images[i], SYNCHRONIZED, seed, true).seen[0]);
}

TEST(without_stress_no_function_of_an_image_is_preempted)
{
    for (unsigned i = 0; i < IMAGES; i++)
        for (uint64_t seed = 1; is_there(images[i]) && seed <= SOUND; seed++)
            CHECK_RULE("THREAD-074/b", !live(images[i], SEVERAL_INSTRUCTIONS, seed, false).lost);
}
