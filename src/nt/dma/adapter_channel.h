/* SPDX-License-Identifier: MIT */
/* Map registers as a driver has them between AllocateAdapterChannel and their release. */
#ifndef DXGK_NT_ADAPTER_CHANNEL_H
#define DXGK_NT_ADAPTER_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/base/resource.h"
#include "util/list.h"

struct nt_dma_adapter;

/* A MapRegisterBase points to it. The device needs no map registers: the number is only kept. */
struct nt_dma_channel {
    struct nt_resource resource;
    struct nt_dma_adapter *adapter;
    ULONG registers;
    struct list link; /* in nt_dma_adapter.waiting */
    bool waiting;
    DEVICE_OBJECT *device_object;
    DRIVER_CONTROL *control;
    void *context;
    const void *transfer_context; /* of the extended form; NULL: none */
    struct list transfers;        /* struct nt_dma_transfer by of_channel */
};

/* The channel of a MapRegisterBase of the adapter; NULL, which is reported: it is none. */
struct nt_dma_channel *nt_dma_channel_find(const struct nt_dma_adapter *adapter, const void *base,
                                           const char *routine);

#endif
