/* SPDX-License-Identifier: MIT */
/* A machine that goes on in children of fork, from one point. */
#include "host/support/refgpu_client.h"

#include "dxgkhost/fuzz.h"

#include <sys/wait.h>
#include <unistd.h>

#define WORDS 4096u

/* What a child found; its exit status. */
enum { CHILD_GOOD = 7, CHILD_FAILED };

/* Calls of the interface, memory of the driver's device, and memory of the client's own. */
static int use_machine(struct client *c, struct gpu *g, uint32_t *words)
{
    struct memory memory;

    if (words[0] != 1)
        return CHILD_FAILED;
    for (uint32_t i = 0; i < WORDS; i += 1024)
        words[i] = 2;
    if (gpu_memory(g, 0x10000, 0, REFGPU_IN_VRAM, &memory) != STATUS_SUCCESS ||
        gpu_end(g) != STATUS_SUCCESS)
        return CHILD_FAILED;
    dxgk_client_sleep(1000000);
    return dxgk_machine_violations(c->machine->dxgk) == 0 ? CHILD_GOOD : CHILD_FAILED;
}

static void fork_twice(struct client *c)
{
    uint32_t *words = dxgk_client_allocate(WORDS * sizeof(*words));
    struct dxgk_snapshot *snapshot;
    struct gpu g;

    TRY(c, words && gpu_begin(&g) == STATUS_SUCCESS);
    words[0] = 1;
    snapshot = dxgk_client_snapshot();
    TRY(c, snapshot && dxgk_snapshot_bytes(snapshot) > 0);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t before = dxgk_client_time();
        int status = 0;
        pid_t child = dxgk_snapshot_fork(snapshot);

        if (child == 0)
            _exit(use_machine(c, &g, words));
        TRY(c, child > 0 && waitpid(child, &status, 0) == child);
        TRY(c, WIFEXITED(status) && WEXITSTATUS(status) == CHILD_GOOD);
        TRY(c, words[0] == 2); /* shared, until it is set back */
        TRY(c, dxgk_snapshot_restore(snapshot) >= 4);
        TRY(c, dxgk_snapshot_restore(snapshot) == 0);
        TRY(c, words[0] == 1 && words[1024] == 0);
        TRY(c, dxgk_client_time() == before);
    }
    dxgk_snapshot_destroy(snapshot);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_machine_goes_on_in_children_from_one_point)
{
    struct client c = {.program = fork_twice};
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, &c, fork_twice, DXGK_OK);
    client_report(&c);
    machine_end(&m);
}

static void return_in_child(struct client *c)
{
    struct dxgk_snapshot *snapshot = dxgk_client_snapshot();
    int status = 0;
    pid_t child;

    TRY(c, snapshot != NULL);
    child = dxgk_snapshot_fork(snapshot);
    if (child == 0)
        return; /* the run comes to its end in the child */
    TRY(c, child > 0 && waitpid(child, &status, 0) == child);
    TRY(c, WIFEXITED(status) && WEXITSTATUS(status) == CHILD_GOOD);
    TRY(c, dxgk_snapshot_restore(snapshot) >= 0);
    dxgk_snapshot_destroy(snapshot);
}

TEST(a_run_ends_in_the_child_as_in_its_parent)
{
    struct client c = {.program = return_in_child};
    const pid_t parent = getpid();
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, &c, return_in_child, DXGK_OK);
    if (getpid() != parent)
        _exit(dxgk_machine_shutdown(m.dxgk) == DXGK_OK ? CHILD_GOOD : CHILD_FAILED);
    client_report(&c);
    machine_end(&m);
}

TEST(only_clients_take_snapshots)
{
    struct machine m;

    CHECK(!dxgk_client_snapshot());
    machine_begin(&m, DXGK_IOMMU_OFF);
    CHECK(!dxgk_client_snapshot());
    machine_end(&m);
}
