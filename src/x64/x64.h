/* SPDX-License-Identifier: MIT */
/*
 * What x64 kernel code does without a call, made to work in user mode: it accesses device registers
 * through pointers, reads the IRQL from CR8 and the current thread from the processor block (gs:),
 * reads the shared data page of the system, and executes privileged instructions.
 *
 * Theory of operation
 *
 *   The processor block is real: the GS base of the host thread follows the current simulated
 *   processor, so such a read runs at full speed (block.c). Everything else traps. The signal
 *   handler copies the interrupted registers to a frame on the fiber's own stack, and execution
 *   continues there in a routine called the landing (trap.c, landing.S), which is no longer in a
 *   signal handler: like any kernel service it may reach a point, be switched away, be preempted by
 *   an interrupt, or stop the machine.
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
 *   flags are correct by construction.
 *
 *   Reads of CR8 in images are rewritten at load to jumps into code that reads the level from the
 *   processor block; where that is not provably safe, they trap. Reads of the time stamp counter,
 *   which do not trap by themselves, are rewritten so that they do (rewrite.h).
 */
#ifndef DXGK_X64_H
#define DXGK_X64_H

#include <stdbool.h>
#include <stdint.h>

/* Call after nt_create and before anything runs in the current machine. False: out of memory. */
bool x64_create(void);
/* Whether x64_create was called for the current machine. */
bool x64_is_created(void);
/* Call before nt_destroy; allowed if nothing was created. */
void x64_destroy(void);

/* Number of instructions that trapped so far. */
uint64_t x64_traps(void);

#endif
