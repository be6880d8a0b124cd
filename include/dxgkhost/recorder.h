/* SPDX-License-Identifier: MIT */
/*
 * Recorders: what a machine records, in memory that its process shares with the one that created it. A driver, a device model
 * and a client are code of this process: any of them can end it, by a wild write, abort(), exit() or a loop. Whoever forked the
 * machine's process can then still say what was going on:
 *
 *     struct dxgk_recorder *recorder = dxgk_recorder_create();
 *     if (fork() == 0) {
 *         dxgk_recorder_catch(recorder);
 *         config.recorder = recorder;
 *         ... dxgk_machine_create(&config, ...), run, ...
 *         dxgk_recorder_release(recorder);
 *         exit(status);
 *     }
 *     ... waitpid ...
 *     dxgk_recorder_ending(recorder, &ending);      // a signal or exit(), with its place and stack; or nothing: _exit, SIGKILL
 *     dxgk_recorder_place(recorder, &place);        // what was going on
 *     dxgk_recorder_violation(recorder, i, &violation);
 *     dxgk_recorder_write_trace(recorder, file);
 *
 * The questions may be asked at any time, also while the machine runs. They are for the process that created the recorder or
 * one that it forked, since strings of the program itself must be at the same addresses. What was recorded is not trusted: a
 * question about damaged records is answered with false, but a careful reader asks in a process of its own.
 */
#ifndef DXGKHOST_RECORDER_H
#define DXGKHOST_RECORDER_H

#include "dxgkhost/dxgkhost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Make a recorder. NULL: out of memory, or of address space. */
DXGK_API struct dxgk_recorder *dxgk_recorder_create(void);
/* Free a recorder. */
DXGK_API void dxgk_recorder_destroy(struct dxgk_recorder *recorder);

/* Record, from now on, what ends this process: SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGXCPU and
 * SIGVTALRM, which then end it as they would have, and calls of exit(), quick_exit() and pthread_exit(). SIGVTALRM is for a
 * parent that has waited long enough. Once in a process, before its machine is created. False: no memory for a
 * signal stack. */
DXGK_API bool dxgk_recorder_catch(struct dxgk_recorder *recorder);
/* The process has done its work: calls of exit() are its own from now on. */
DXGK_API void dxgk_recorder_release(struct dxgk_recorder *recorder);

/* How the machine's process ended, as far as it could still say. */
struct dxgk_ending {
    int signal;       /* 0: it was no signal */
    bool exited;      /* it ended itself */
    const char *how;  /* by "exit", "quick_exit" or "pthread_exit" */
    int status;       /* of exit */
    bool has_address; /* of SIGSEGV and SIGBUS */
    bool in_driver;   /* while a call into the driver was in progress */
    bool second; /* a further signal came while the first was recorded, so stack may end early */
    uint64_t address, pc;
    const char *place; /* "refgpu.so!StartDevice+0x42"; "": unknown */
    const char *stack; /* frames, innermost first, one per line; "": unknown */
};
/* How the process ended. False: it said nothing. */
DXGK_API bool dxgk_recorder_ending(const struct dxgk_recorder *recorder, struct dxgk_ending *ending);

struct dxgk_place {
    char doing[256]; /* of the host: "loading the driver gpu.so", "running the workload" */
    char call[64];   /* the DDI or callback in progress on the current processor; "": none */
    char thread[32]; /* the simulated thread; "": the processor idled */
    unsigned processor, irql;
    uint64_t virtual_ns;
    uint64_t steps;       /* grows while the machine runs */
    uint64_t submissions; /* paging not included */
    bool in_driver, stopped;
};
/* What was going on. False: there was no machine yet. */
DXGK_API bool dxgk_recorder_place(const struct dxgk_recorder *recorder, struct dxgk_place *place);

/* What was recorded of the machine: as dxgk_machine_violations, dxgk_machine_violation, dxgk_machine_write_trace,
 * dxgk_machine_write_timeline and dxgk_machine_write_dxgkrnl. */
DXGK_API size_t dxgk_recorder_violations(const struct dxgk_recorder *recorder);
DXGK_API bool dxgk_recorder_violation(const struct dxgk_recorder *recorder, size_t index,
                                      struct dxgk_violation *violation);
DXGK_API bool dxgk_recorder_write_trace(const struct dxgk_recorder *recorder, FILE *out);
DXGK_API bool dxgk_recorder_write_timeline(const struct dxgk_recorder *recorder, FILE *out);
DXGK_API bool dxgk_recorder_write_dxgkrnl(const struct dxgk_recorder *recorder,
                                          enum dxgk_windows_trace form, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
