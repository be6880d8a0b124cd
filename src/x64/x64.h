/* SPDX-License-Identifier: MIT */
/*
 * What x64 kernel code does without calling anybody: reads and writes device registers through
 * pointers, reads the level from CR8 and the current thread from the processor block (gs:), looks
 * at the shared data page of the system, executes instructions that only a kernel may.
 *
 * Theory of operation
 *
 *   The processor block is real: the GS base of the host thread follows the current simulated
 *   processor, so such a read costs what it costs anywhere (block.c). Everything else traps. The
 *   signal handler copies the interrupted registers to a frame on the fiber's own stack and goes on
 *   in a landing there (trap.c, landing.S), with ordinary rights: it may reach a point, be switched
 *   away, be preempted by an interrupt, or stop the machine, as any kernel service may.
 *
 *     signal -> frame -> landing -> plan of the instruction (plan.c: decoded once, and kept)
 *                                    +- memory operand: read it, run the instruction on the
 *                                    |  copy, write it back (stub.c)
 *                                    +- string: element by element (string_instruction.c)
 *                                    +- CR8, ports, MSRs, ...: by hand (privileged.c)
 *                                    +- none of ours: the same fault again, for good
 *               registers <- landing
 *
 *   Instructions with a memory operand are not interpreted: the same instruction is run by the real
 *   processor with all registers of the driver, but on a copy of the operand. So its results and
 *   flags are right by construction, whatever it is.
 *
 *   Reads of CR8 in images are rewritten at load to jumps into code that reads the level from the
 *   processor block; where that is not provably safe, they trap. Reads of the time stamp counter,
 *   which would not, are made to (rewrite.h).
 */
#ifndef DXGK_X64_H
#define DXGK_X64_H

#include <stdbool.h>
#include <stdint.h>

/* For the current machine, after nt_create and before anything runs. False: out of memory. */
bool x64_create(void);
/* Has the current machine been through x64_create? */
bool x64_is_created(void);
/* Before nt_destroy. Nothing was created: allowed. */
void x64_destroy(void);

/* Instructions that trapped so far. */
uint64_t x64_traps(void);

#endif
