/* SPDX-License-Identifier: MIT */
/* The client interface as tables (calls.py): every exported D3DKMT*, its structure, and the members of that. */
#ifndef DXGK_FUZZ_CLIENT_CALLS_H
#define DXGK_FUZZ_CLIENT_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

enum member_kind {
    MEMBER_VALUE,
    MEMBER_HANDLE32, /* D3DKMT_HANDLE */
    MEMBER_HANDLE64, /* HANDLE */
    MEMBER_ENUM,
    MEMBER_ADDRESS, /* GPU virtual address */
    MEMBER_STRUCTURE,
    MEMBER_POINTER,
};

struct member {
    const char *name;
    uint32_t offset;
    uint32_t size; /* of the member; MEMBER_POINTER: of what it points to */
    enum member_kind kind;
    /* index of the enumeration or structure; MEMBER_POINTER: also -1, plain memory, and -2, handles */
    int of;
};

struct structure {
    const char *name;
    uint32_t size, first, count; /* its members */
    uint32_t bits;               /* flags that have a name, in its first 4 bytes */
};

struct enumeration {
    const char *name;
    uint32_t first, count; /* its constants */
};

struct call {
    const char *name;
    NTSTATUS (*function)(void *arguments);
    int structure; /* -1: none */
};

#define CALLS 184u

/* NULL: there are no more. */
const struct call *call_at(size_t index);
const struct structure *structure_at(int index);
const struct member *member_at(const struct structure *structure, uint32_t index);
int64_t constant_of(int enumeration, uint32_t random);

#endif
