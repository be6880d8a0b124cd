/* SPDX-License-Identifier: MIT */
/*
 * Contexts and queues for the scheduled engine of the fake machine. Context i has a save area, each
 * queue a progress fence, and every entry its own commands; all lie in one address space.
 */
#ifndef TESTS_REFGPU_FAKE_SCHED_H
#define TESTS_REFGPU_FAKE_SCHED_H

#include "fake_machine.h"

#define SCHED_CONTEXTS_AT 0x100000u /* bus addresses */
#define SCHED_QUEUES_AT   0x110000u
#define SCHED_FENCES_AT   0x120000u
#define SCHED_SAVES_AT    0x130000u
#define SCHED_RINGS_AT    0x180000u
#define SCHED_ENTRIES     64u
#define SCHED_FENCES      (FAKE_VA + 0x10000000ull) /* GPU virtual addresses */
#define SCHED_SAVES       (FAKE_VA + 0x20000000ull)
#define SCHED_DATA        (FAKE_VA + 0x40000000ull) /* 4 MiB of VRAM from 0x400000 on */
#define SCHED_DATA_AT     0x400000u

/* A machine with an empty scheduler that is enabled; `quantum`, `grace` in every band, ns. */
struct fake *sched_begin(uint32_t quantum, uint32_t grace);
void sched_enable(struct fake *fake);
void sched_command(struct fake *fake, uint32_t opcode, uint32_t index);

struct refgpu_context_descriptor sched_context(struct fake *fake, uint32_t index);
/* Write the descriptor and have it read. */
void sched_set_context(struct fake *fake, uint32_t index, const struct refgpu_context_descriptor *d);
struct refgpu_queue_descriptor sched_queue(struct fake *fake, uint32_t index);
void sched_set_queue(struct fake *fake, uint32_t index, const struct refgpu_queue_descriptor *d);

/* Context `index` in a band, with a priority, of a process; and queue `index` for it. */
void sched_add(struct fake *fake, uint32_t index, uint32_t band, int32_t priority, uint32_t process);
/* One more queue of a context. */
void sched_add_queue(struct fake *fake, uint32_t index, uint32_t context);

/* The commands as the next entry of the queue, with a doorbell. Returns its value: 1, 2, 3 ... */
uint64_t sched_push(struct fake *fake, uint32_t queue, const struct refgpu_builder *commands);
/* An entry that takes about `ns` and can be preempted only when it ends; `marks` times. */
void sched_push_delay(struct fake *fake, uint32_t queue, uint32_t ns);
uint64_t sched_progress(struct fake *fake, uint32_t queue);
/* Until the queue's progress fence has this value; the time when it had. Fails after 10 s. */
uint64_t sched_await(struct fake *fake, uint32_t queue, uint64_t value);
/* The queue that has the engine; REFGPU_SCHED_QUEUES: none. */
uint32_t sched_running(struct fake *fake);

#endif
