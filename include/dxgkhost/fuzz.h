/* SPDX-License-Identifier: MIT */
/*
 * What a fuzzer of drivers needs of a machine: to go on from one point many times, and to see which code of the driver ran.
 *
 * A client function takes a snapshot and forks; the machine goes on in the child, while the parent waits for its end:
 *
 *     struct dxgk_snapshot *snapshot = dxgk_client_snapshot();
 *     for (;;) {
 *         pid_t child = dxgk_snapshot_fork(snapshot);
 *         if (child == 0) {
 *             dxgk_client_coverage_clear();
 *             ... D3DKMT* calls, dxgk_machine_violation ...
 *             dxgk_client_coverage(counters);
 *             _exit(0);
 *         }
 *         waitpid(child, &status, 0);
 *         dxgk_snapshot_restore(snapshot);
 *     }
 *
 * Memory of the process is shared copy-on-write, as always after fork. Simulated RAM and device memory are files that several
 * mappings show, which fork shares with the child: the snapshot has a copy of their pages, and restores those that a child has changed.
 */
#ifndef DXGKHOST_FUZZ_H
#define DXGKHOST_FUZZ_H

#include <sys/types.h>

#include "dxgkhost/dxgkhost.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dxgk_snapshot;

/* Take a snapshot. Called by a client, on a machine without a recorder. NULL: it is none, the machine has been stopped, or out of memory. */
DXGK_API struct dxgk_snapshot *dxgk_client_snapshot(void);
/* Fork a child that goes on from the snapshot. Called by the same client. In the child, 0 is returned, and the machine is the child's: it may do what it likes with it, also
 * return from the client function, and ends by _exit. One child lives at a time. -1: there is no child; errno says why. */
DXGK_API pid_t dxgk_snapshot_fork(struct dxgk_snapshot *snapshot);
/* Undo what the child has changed: RAM and device memory are again as they were; the child has ended. Returns how many pages it had changed; -1: the host
 * failed, and the snapshot is of no use any more. */
DXGK_API int64_t dxgk_snapshot_restore(struct dxgk_snapshot *snapshot);
/*
 * Run again and again from the same point. Called by the same client, as a rule in a child: calls run(context) again and again, each time with the whole process as it was at the first
 * one, until it returns false. That costs much less than a child for each: only pages that were written are set back. Stays as it is: memory that
 * is MAP_SHARED, but for RAM and device memory; files; timers. `context` and `repeat` should be in such memory, or are set back, too.
 *
 * 0: run has returned false. -1: the process cannot be set back, or, after some runs, not once more, as repeat->reason says: with an older
 * kernel than Linux 6.7; with sanitizers; when a file or a thread was left. Then run has come to its end, and the process should, too.
 */
struct dxgk_repeat {
    bool verify;          /* compare all memory after each reset, which takes milliseconds */
    uint64_t runs;        /* that have come to their end */
    uint64_t nanoseconds; /* of the last reset */
    uint64_t pages;       /* that were set back in it */
    uint64_t different; /* pages that are not as they were nevertheless, with verify: 0, or a mistake of the host */
    uint64_t first_different; /* an address */
    const char *reason;       /* NULL: it goes on */
};
DXGK_API int dxgk_client_repeat(struct dxgk_snapshot *snapshot, bool (*run)(void *context),
                                void *context, struct dxgk_repeat *repeat);
/* Bytes of RAM and device memory that a snapshot has a copy of. */
DXGK_API uint64_t dxgk_snapshot_bytes(const struct dxgk_snapshot *snapshot);
/* Free a snapshot. */
DXGK_API void dxgk_snapshot_destroy(struct dxgk_snapshot *snapshot);

/* ---- coverage, of a machine that was configured with it ---- */

/* Called by a client: forget what was counted so far. */
DXGK_API void dxgk_client_coverage_clear(void);
/* Called by a client: finds basic blocks in drivers that are not instrumented, if no driver is, and counts these: with
 * breakpoints, which come again with dxgk_client_coverage_clear. The code of the drivers is writable from then on. */
DXGK_API bool dxgk_client_coverage_break(void);
/* Called by a client: how often each place of its drivers has run since then, up to 255; a place has the same number in each
 * machine that loads the same images. Returns how many counters it has filled, at most DXGK_PLACES: those of other places are
 * zero, and `counters` has DXGK_PLACES zeroes before. 0: the drivers are not instrumented. */
#define DXGK_PLACES 65536u
DXGK_API uint32_t dxgk_client_coverage(uint8_t *counters);
/* Called by a client: different values of `bytes` bytes that the driver has compared since then, as far as they were kept and it
 * was built with -fsanitize-coverage=trace-cmp. Returns how many. */
struct dxgk_compare {
    uint64_t a, b;
    uint8_t bytes;
};
DXGK_API uint32_t dxgk_client_compares(struct dxgk_compare *compares, uint32_t most);

/* Called by a client: looks for constants of comparisons in the code of drivers, as dxgk_client_coverage_break does of those that get
 * breakpoints. False: out of memory. */
DXGK_API bool dxgk_client_find_constants(void);
/* Called by a client: those constants, in the member a. Returns how many. */
DXGK_API uint32_t dxgk_client_constants(struct dxgk_compare *constants, uint32_t most);

#ifdef __cplusplus
}
#endif

#endif
