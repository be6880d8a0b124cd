/* SPDX-License-Identifier: MIT */
/* What the parts of the image seh.sys share: the kernel's structures and imports without headers, since the image is made for
 * targets that have none, and helpers to raise exceptions and to note what was passed. What guarded code calls is not inlined: the
 * compiler looks for exceptions in calls only. */
#ifndef DXGK_TESTS_SEH_KIT_H
#define DXGK_TESTS_SEH_KIT_H

#include "seh.h"

typedef unsigned long long u64;
#define NOINLINE __attribute__((noinline))
#define IMPORT   __declspec(dllimport)

struct record {
    unsigned code, flags;
    struct record *next;
    void *address;
    unsigned parameters;
    u64 parameter[15];
};

struct context { /* the part that is used */
    u64 home[6];
    unsigned flags, mxcsr;
    unsigned short segments[6];
    unsigned eflags;
    u64 debug[6];
    u64 general[16]; /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, ... */
    u64 rip;
    _Alignas(16) unsigned char rest[1232 - 256];
};

struct pointers {
    struct record *record;
    struct context *context;
};

IMPORT __attribute__((noreturn)) void RtlRaiseStatus(int status);

#define STATUS_OF_OURS ((int)0xE0001234)
#define ANOTHER_STATUS ((int)0xE0005678)

extern struct seh_report *report;

void note(unsigned event);
/* A filter that keeps what it saw. */
int seen(struct pointers *pointers, int answer);
/* The function's code is where the exception must be. */
void expect_at(const void *function);

/* An address that the compiler does not know: for a constant argument clang 19 copies the function that is called, under another
 * name, and the fault is not in the function that the test expects. */
static inline volatile unsigned *hidden(u64 address)
{
    __asm__ volatile("" : "+r"(address));
    return (volatile unsigned *)address;
}

unsigned read_at(volatile unsigned *address);
void raise_status(int status);
void fault_now(void);
void nothing(void);

#define SEEN(answer) seen((struct pointers *)_exception_info(), answer)
#define TAKE         1
#define DISMISS      0
#define CONTINUE     (-1)

/* In nested scopes something follows the call: clang 14 begins the next range of the scope table at its return address, so that
 * the handlers around would be found twice, on Windows, too. */
#define BEHIND_CALL() note(97)

/* Each plays a scenario if it is one of its own. */
int play_simple(unsigned scenario);
int play_filters(unsigned scenario);
int play_finally(unsigned scenario);
int play_frames(unsigned scenario);
int play_unhandled(unsigned scenario);

#endif
