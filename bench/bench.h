/* SPDX-License-Identifier: MIT */
/* The benchmark program: cases, results, and the client side that most cases share. */
#ifndef DXGK_BENCH_H
#define DXGK_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "dxgkhost/dxgkhost.h"
#include "refgpu_umd.h"

struct bench_options {
    bool quick;         /* a fraction of the work: does it run at all */
    bool cpu_time;      /* of this process instead of the wall clock's: on a busy machine */
    uint64_t seed_base; /* shifts every seed */
    const char *driver, *device;
    const char *registry; /* file for machines; NULL: none */
};

extern struct bench_options bench_options;

/* Seconds, of the wall clock unless --cpu-time. */
double bench_now(void);
/* One figure: ns each, and how many a second. `live`: live allocations meanwhile, 0 if it has no meaning. */
void bench_result(const char *name, uint64_t live, uint64_t count, double seconds);
/* A figure that is a time by itself, in ms. */
void bench_milliseconds(const char *name, double seconds);
/* More about the last result: printed below it, and a member of it in JSON. `key` is a literal. */
void bench_detail(const char *key, double value);
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A machine with RefGPU; fn runs as a client. */
void bench_on_machine(void (*fn)(void *argument), void *argument);

void bench_on_machine_with(enum dxgk_iommu iommu, void (*fn)(void *argument), void *argument);
/* With another configuration than the initial one; seed and processors are the benchmark's. */
void bench_on_machine_as(const struct dxgk_machine_config *config, void (*fn)(void *argument),
                         void *argument);

/* A device with a context on each engine, opened from a client. */
struct bench_client {
    D3DKMT_HANDLE adapter, device, queue, queue_sync, physical, virtual, fence;
    uint64_t fence_value;
    void *commands;
    UINT command_bytes;
    D3DDDI_ALLOCATIONLIST *list;
    UINT list_count;
};

void bench_client_open(struct bench_client *client);
void bench_client_close(struct bench_client *client);
D3DKMT_HANDLE bench_allocate(struct bench_client *client, uint64_t bytes, uint32_t flags,
                             uint32_t segments);
void bench_free(struct bench_client *client, const D3DKMT_HANDLE *list, UINT count);
void bench_make_resident(struct bench_client *client, const D3DKMT_HANDLE *list, UINT count);
/* Signal the fence from a context, and wait for it on the CPU. */
void bench_drain(struct bench_client *client, D3DKMT_HANDLE context);
/* As many allocations of a page, and no more. */
D3DKMT_HANDLE *bench_make_live(struct bench_client *client, uint64_t count);
void bench_drop_live(struct bench_client *client, D3DKMT_HANDLE *list, uint64_t count);
extern const uint64_t bench_live_counts[3];
/* *fence: that of the paging queue when it is mapped; 0: it is. */
D3DGPU_VIRTUAL_ADDRESS bench_map_pages(struct bench_client *client, D3DKMT_HANDLE allocation,
                                       uint64_t pages, UINT64 *fence);
void bench_unmap(struct bench_client *client, D3DGPU_VIRTUAL_ADDRESS va, uint64_t bytes);
void bench_wait_queue(struct bench_client *client, UINT64 value);
void bench_check(const char *call, NTSTATUS status);

/* Cases. */
void bench_floors(void);
void bench_first_submission(void);
int bench_first_submission_child(void);
void bench_submit(void);
void bench_queues(void);
void bench_patches(void);
void bench_patch_locations(void);
void bench_map(void);
void bench_map_large(void);
void bench_addresses(void);
void bench_addresses_large(void);
void bench_contiguous(void);
void bench_explore(void);
void bench_traps(void);
void bench_image(void);
void bench_frames(void);
void bench_frames_1t(void);
void bench_frame_sets(void);
void bench_frame_books(void);
void bench_io_table(void);
void bench_dma(void);
void bench_gpu_copy(void);
void bench_displays(void);

#endif
