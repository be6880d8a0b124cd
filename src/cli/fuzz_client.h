/* SPDX-License-Identifier: MIT */
/* The client of a campaign: what it has opened and made, and the calls of inputs with that. */
#ifndef DXGK_CLI_FUZZ_CLIENT_H
#define DXGK_CLI_FUZZ_CLIENT_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "cli/fuzz_program.h"

#define FUZZ_DEVICES     4u
#define FUZZ_CONTEXTS    8u
#define FUZZ_ALLOCATIONS 32u

struct fuzz_context {
    D3DKMT_HANDLE handle, device; /* 0: there is none */
    bool is_virtual;
    /* of one that is not */
    void *commands;
    UINT command_bytes;
    D3DDDI_ALLOCATIONLIST *allocation;
    UINT allocations;
    D3DDDI_PATCHLOCATIONLIST *patch;
    UINT patches;
};

struct fuzz_allocation {
    D3DKMT_HANDLE handle, device, resource, share; /* 0: there is none */
    D3DGPU_VIRTUAL_ADDRESS address;                /* 0: it has none */
};

struct fuzz_client {
    D3DKMT_HANDLE adapter;
    D3DKMT_HANDLE device[FUZZ_DEVICES];
    D3DKMT_HANDLE queue; /* paging queue of the first device; 0: there is none */
    struct fuzz_context context[FUZZ_CONTEXTS];
    struct fuzz_allocation allocation[FUZZ_ALLOCATIONS];
    uint8_t data[FUZZ_DATA]; /* of the call */
    /* NULL, or called before and after each call */
    void (*before)(void *listener, const struct fuzz_call *call);
    void (*after)(void *listener, const struct fuzz_call *call, NTSTATUS status);
    void *listener;
};

/* On a client's thread: opens the first adapter, makes a device and, where the driver takes them
 * without private data, contexts and allocations. False: there is no adapter. */
bool fuzz_client_open(struct fuzz_client *client);
/* Makes the calls of an input, then closes. */
void fuzz_client_run(struct fuzz_client *client, const uint8_t *input, size_t bytes);
/* Closes all, unless it is closed, and waits a moment. */
void fuzz_client_close(struct fuzz_client *client);

#endif
