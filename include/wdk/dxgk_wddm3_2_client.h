/* SPDX-License-Identifier: MIT */
/*
 * The client interface of WDDM 3.2, as far as this host has it: what differs from d3dkmthk.h, which ends with 3.1. Names, order and
 * widths are those of the public pages.
 */
#ifndef DXGK_WDK_WDDM3_2_CLIENT_H
#define DXGK_WDK_WDDM3_2_CLIENT_H

#include "d3dkmthk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- D3DKMTCreateDoorbell ---- */

/* The structure that the function takes from 3.2 on: that of 3.1 with two members more. */
typedef struct _D3DKMT_CREATE_DOORBELL_WDDM3_2 {
    D3DKMT_HANDLE hHwQueue;
    D3DKMT_HANDLE hRingBuffer;
    D3DKMT_HANDLE hRingBufferControl;
    D3DKMT_CREATE_DOORBELL_FLAGS Flags;
    UINT PrivateDriverDataSize;
    void *PrivateDriverData;
    void *DoorbellCPUVirtualAddress;
    void *DoorbellSecondaryCPUVirtualAddress;
    void *DoorbellStatusCPUVirtualAddress;
    void *HwQueueProgressFenceLastQueuedValueCPUVirtualAddress;
    D3DKMT_HANDLE hDoorbell;
} D3DKMT_CREATE_DOORBELL_WDDM3_2;

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDDM3_2_CLIENT_H */
