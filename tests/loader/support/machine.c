/* SPDX-License-Identifier: MIT */
#include "bus/bus.h"
#include "ddi/ddi.h"
#include "loader/support/machine.h"
#include "nt/base/image.h"
#include "nt/nt.h"
#include "ram/ram.h"
#include "sim/inside.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "x64/exceptions/exception.h"
#include "x64/x64.h"

#include <sys/stat.h>
#include <unistd.h>

struct machine *machine_begin(struct machine *m)
{
    const struct sim_config sim = {.seed = 1, .processors = 1};
    const struct ram_config ram = {.bytes = 64u << 20};
    struct nt_config nt = {.raise = x64_raise_in_caller, .find = x64_routine_find};
    const struct ddi_hooks hooks = {.symbolize = loader_symbolize, .frame = loader_frame};

    memset(m, 0, sizeof(*m));
    m->log = verify_log_create();
    m->sim = sim_machine_create(&sim);
    CHECK(m->log && m->sim);
    verify_log_install(m->log);
    sim_enter(m->sim);
    nt.ram = m->ram = ram_create(&ram);
    nt.bus = m->bus = bus_create(m->ram);
    m->nt = nt_create(&nt);
    CHECK(m->nt && x64_create());
    ddi_install(&hooks);
    return m;
}

void machine_end(struct machine *m)
{
    ddi_uninstall();
    x64_destroy();
    nt_destroy(m->nt);
    bus_destroy(m->bus);
    ram_destroy(m->ram);
    sim_leave();
    sim_machine_destroy(m->sim);
    verify_log_install(NULL);
    verify_log_destroy(m->log);
}

const char *windows_driver(const char *compiler, const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *text = path[turn++ % 4];

    snprintf(text, sizeof(path[0]), "%s/tests/drivers/%s/%s.sys",
             getenv("DXGK_BUILD") ? getenv("DXGK_BUILD") : ".", compiler, name);
    return access(text, R_OK) == 0 ? text : NULL;
}

NTSTATUS machine_load_with(struct machine *m, const char *path, unsigned options,
                           struct loader_image **image)
{
    *image = NULL;
    return loader_image_load(path, options, image, m->error, sizeof(m->error));
}

NTSTATUS machine_load(struct machine *m, const char *path, struct loader_image **image)
{
    return machine_load_with(m, path, 0, image);
}

NTSTATUS machine_load_bytes(struct machine *m, const void *bytes, size_t size,
                            struct loader_image **image)
{
    char path[] = "/tmp/dxgkhost-loader-test-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "wb");
    NTSTATUS status;

    CHECK(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
    status = machine_load(m, path, image);
    unlink(path);
    return status;
}

uint8_t *file_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    uint8_t *bytes;

    CHECK(file && fstat(fileno(file), &about) == 0);
    *size = (size_t)about.st_size;
    bytes = malloc(*size);
    CHECK(bytes && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

bool one_line(const char *text)
{
    return text[0] && !strchr(text, '\n');
}

struct call {
    struct nt_image *owner;
    PDRIVER_INITIALIZE entry;
    void *path;
    NTSTATUS status;
    bool ended;
};

static void call_main(void *arg)
{
    struct call *call = arg;
    uint64_t deadline = sim_inside_enter(SIM_FOREVER);

    nt_image_enter(call->owner);
    call->status = call->entry(NULL, call->path);
    nt_image_enter(NULL);
    sim_inside_leave(deadline);
    call->ended = true;
}

bool machine_try_entry(struct machine *m, const struct loader_image *image, void *path,
                       NTSTATUS *status)
{
    struct call call = {.owner = m->owner, .entry = loader_image_entry(image), .path = path};
    struct sim_thread *thread = sim_thread_create("entry", SIM_THREAD_KERNEL, call_main, &call);

    CHECK(thread != NULL);
    sim_leave(); /* the test program's own handlers of faults came in between */
    sim_enter(m->sim);
    sim_run(NULL, NULL, m->until ? m->until : SIM_FOREVER);
    sim_thread_release(thread);
    *status = call.status;
    return call.ended;
}

NTSTATUS machine_call_entry(struct machine *m, const struct loader_image *image, void *path)
{
    NTSTATUS status;

    CHECK(machine_try_entry(m, image, path, &status));
    return status;
}
