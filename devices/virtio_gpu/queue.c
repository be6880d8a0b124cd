/* SPDX-License-Identifier: MIT */
/*
 * The queues are worked off by timers: a command takes its effect, and its answer is there, `latency`
 * after the driver has notified the device or the command before it has ended, and later by the
 * bytes that it moves. A command for the pointer waits for the commands of the control queue that were
 * there before it: drivers fill its picture by that queue, and do not wait themselves.
 */
#include "gpu.h"

#define BYTES_PER_NS 16u

static unsigned timer_of(unsigned queue)
{
    return queue == GPU_CONTROL_QUEUE ? GPU_TIMER_CONTROL : GPU_TIMER_CURSOR;
}

static void arm(struct gpu *gpu, unsigned queue, uint64_t delay)
{
    gpu->working[queue] = true;
    gpu->services->timer_arm(gpu->host, timer_of(queue), delay);
}

void gpu_notify(void *device, unsigned queue)
{
    struct gpu *gpu = device;

    if (queue == GPU_CURSOR_QUEUE)
        gpu->cursor_after = virtio_progress(&gpu->virtio, GPU_CONTROL_QUEUE).put;
    if (!gpu->working[queue])
        arm(gpu, queue, gpu->options.latency);
}

/* The control queue is not where it was when the cursor queue was notified last. */
static bool is_early(struct gpu *gpu)
{
    const struct virtio_progress control = virtio_progress(&gpu->virtio, GPU_CONTROL_QUEUE);

    return gpu->working[GPU_CONTROL_QUEUE] && (int16_t)(control.taken - gpu->cursor_after) < 0;
}

void gpu_work(struct gpu *gpu, unsigned queue)
{
    struct gpu_cursor cursor = {{0}, 0, 0, 0, 0, 0, 0, 0, 0};
    uint64_t moved = 0;
    uint32_t written = 0;

    gpu->working[queue] = false;
    if (queue == GPU_CURSOR_QUEUE && is_early(gpu)) {
        arm(gpu, queue, gpu->options.latency + 1);
        return;
    }
    if (!virtio_take(&gpu->virtio, queue, &gpu->chain))
        return;
    gpu->services->dma_source(gpu->host, queue, gpu->chain.head);
    if (queue == GPU_CONTROL_QUEUE) {
        written = gpu_control(gpu, &moved);
    } else {
        (void)virtio_chain_read(&gpu->virtio, &gpu->chain, 0, &cursor, sizeof(cursor));
        gpu_cursor_command(gpu, &cursor);
    }
    virtio_give(&gpu->virtio, &gpu->chain, written);
    if (virtio_has_more(&gpu->virtio, queue))
        arm(gpu, queue, gpu->options.latency + moved / BYTES_PER_NS);
}
