/* SPDX-License-Identifier: MIT */
/* A frame of a stack as text, in its parts. */
#ifndef DXGK_CLI_STACK_FRAME_H
#define DXGK_CLI_STACK_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct cli_stack_frame {
    char name[384];     /* "refgpu.so!submit+0x42" */
    char module[128];   /* "refgpu.so" */
    char function[256]; /* "submit", "ring (inlined into submit)"; "": not known */
    char path[512];     /* of the source, without "." and ".."; "": not known */
    uint64_t line;
};

/* The next frame of dxgk_violation.stack; *stack becomes what is left. False: there is none. */
bool cli_stack_frame_next(const char **stack, struct cli_stack_frame *frame);

#endif
