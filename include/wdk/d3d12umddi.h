/* SPDX-License-Identifier: MIT */
/*
 * The types of the user-mode interface for Direct3D 12 that the kernel half of a driver shares with its user-mode half. The rest of
 * that interface, functions above all, is left out.
 */
#ifndef DXGK_WDK_D3D12UMDDI_H
#define DXGK_WDK_D3D12UMDDI_H

#include "d3d10umddi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef D3D10DDI_HRESOURCE D3D12DDI_HRESOURCE;
typedef UINT64 D3D12DDI_GPU_VIRTUAL_ADDRESS;
#ifndef __d3d12_h__
typedef UINT64 D3D12_GPU_VIRTUAL_ADDRESS;
#endif

typedef enum D3D12DDI_TEXTURE_LAYOUT {
    D3D12DDI_TL_UNDEFINED = 0,
    D3D12DDI_TL_ROW_MAJOR = 1,
    D3D12DDI_TL_64KB_TILE_UNDEFINED_SWIZZLE = 2,
    D3D12DDI_TL_64KB_TILE_STANDARD_SWIZZLE = 3
} D3D12DDI_TEXTURE_LAYOUT;

typedef enum D3D12DDI_RESOURCE_DIMENSION {
    D3D12DDI_RD_BUFFER = 1,
    D3D12DDI_RD_TEXTURE1D = 2,
    D3D12DDI_RD_TEXTURE2D = 3,
    D3D12DDI_RD_TEXTURE3D = 4,
    D3D12DDI_RD_TEXTURECUBE = 5
} D3D12DDI_RESOURCE_DIMENSION;

typedef enum D3D12DDI_BUFFER_UAV_FLAGS {
    D3D12DDI_BUFFER_UAV_FLAG_NONE = 0,
    D3D12DDI_BUFFER_UAV_FLAG_RAW = 0x1
} D3D12DDI_BUFFER_UAV_FLAGS;

typedef struct D3D12DDIARG_BUFFER_UNORDERED_ACCESS_VIEW {
    D3D12DDI_HRESOURCE hDrvCounterResource;
    UINT64 FirstElement;
    UINT NumElements;
    UINT StructureByteStride;
    UINT64 CounterOffsetInBytes;
    D3D12DDI_BUFFER_UAV_FLAGS Flags;
} D3D12DDIARG_BUFFER_UNORDERED_ACCESS_VIEW;

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_D3D12UMDDI_H */
