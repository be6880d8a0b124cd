/* SPDX-License-Identifier: MIT */
/* What the files of host share: the machine as the embedding API sees it. */
#ifndef DXGK_HOST_H
#define DXGK_HOST_H

#include "dxgkhost/dxgkhost.h"
#include "kmt/kmt.h"
#include "loader/loader.h"
#include "ram/ram.h"
#include "trace/trace.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/record/vidmm_config.h"
#include "vidsch/vidsch.h"

#include <ntddk.h>

struct nt_image;
struct nt_process;
struct port_answers;
struct port_config;

struct host_device {
    struct list link;
    struct bus_device *bus;
    char **option; /* copies: a model may keep the pointers */
    size_t options;
    bool has_driver;
};

struct host_driver {
    struct list link;
    struct loader_image *image;
    struct nt_image *nt_image;
    struct port_driver *port;
};

/* What drivers import from, beside the host. */
struct host_module {
    struct list link;
    struct loader_image *image; /* the loader's, as long as a driver needs it */
    struct nt_image *nt_image;
};

struct host_adapter {
    struct list link;
    struct host_device *device;
    struct port_adapter *port;
};

struct host_process {
    struct list link;
    struct nt_process *nt;
    bool ended; /* kmt is done with it; goes when its last thread has gone */
};

/* Of adapters that are gone. */
struct host_totals {
    struct vidmm_statistics mm;
    struct vidsch_statistics sch;
    uint64_t iommu_maps, ddi_calls;
};

struct dxgk_depot {
    struct ram_depot *ram;
};

struct dxgk_machine {
    struct dxgk_machine_config config;
    struct sim_machine *sim;
    struct verify_log *log;
    struct trace_sink *trace;
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
    struct port *port;
    struct kmt *kmt;
    struct list devices, drivers, modules, adapters, processes;
    uint32_t live; /* processes that have not ended */
    struct host_totals totals;
    uint64_t leaks;
    uint64_t requests_at_creation;
    char *waits; /* lines of who waits for what, of a deadlock; malloc */
    bool shut_down;
    struct {
        void (*line)(void *context, const char *line); /* NULL: nobody asked */
        void *context;
    } inspect;
};

/* The machine that is entered; NULL: none. */
struct dxgk_machine *host_current(void);

/* dxgk_machine_create, with the n-th internal allocation of the creation itself failing (0:
 * none). */
struct dxgk_machine *host_machine_create(const struct dxgk_machine_config *config,
                                         uint64_t fail_in_creation, char *error, size_t error_bytes);

/* Around every function of the API that touches the machine. False if the caller is inside already
 * (a client, a log callback); then nothing is to be left. */
bool host_enter(struct dxgk_machine *machine);
void host_leave(bool entered);

void host_log(struct dxgk_machine *machine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* run.c: run fn(arg) on a kernel thread of the system process until it is done. */
enum dxgk_result host_run_kernel(struct dxgk_machine *machine, const char *name,
                                 void (*fn)(void *arg), void *arg);
/* The machine of the client whose thread this is; NULL: it is none, or one inside a call. */
struct dxgk_machine *host_client_machine(void);
/* End the processes that clients left, on a kernel thread; count them. */
void host_end_processes(struct dxgk_machine *machine);
/* Free what is left of processes that have ended. */
void host_reap_processes(struct dxgk_machine *machine);

/* driver.c: dxgk_machine_load_driver, for a machine that is entered. */
enum dxgk_result host_load_driver(struct dxgk_machine *machine, const char *path, char *error,
                                  size_t error_bytes);
/* module.c, on a kernel thread: for an image that is about to be entered for the first time, or is
 * not going to be entered again. */
NTSTATUS host_initialize_modules(struct dxgk_machine *machine, const struct loader_image *image);
void host_unload_modules(struct dxgk_machine *machine, const struct loader_image *image);
void host_free_modules(struct dxgk_machine *machine); /* what is left of them */
/* inspect.c: what the port driver was told; `context` is the machine. */
void host_observe(void *context, const struct port_answers *answers);
void host_stop_drivers(struct dxgk_machine *machine);
void host_free_drivers(struct dxgk_machine *machine);

/* report.c: add what the adapter counted to the totals. */
void host_count_adapter(struct host_totals *totals, struct port_adapter *adapter);

/* ---- the IOMMU (iommu.c) ---- */

/* NULL: the configuration is possible; else why not. */
const char *host_check_iommu(const struct dxgk_machine_config *config);
void host_configure_iommu(const struct dxgk_machine_config *config, struct port_config *port);

#endif
