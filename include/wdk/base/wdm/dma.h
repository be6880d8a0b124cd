/* SPDX-License-Identifier: MIT */
/* DMA adapters, and the IOMMU interface of a DMA adapter. */
#ifndef DXGK_WDK_WDM_DMA_H
#define DXGK_WDK_WDM_DMA_H

#include "mm.h"
#include "resources.h"

#ifdef __cplusplus
extern "C" {
#endif

struct _DEVICE_OBJECT;
struct _IRP;
typedef ULONG NODE_REQUIREMENT;

typedef enum _DMA_WIDTH {
    Width8Bits = 0,
    Width16Bits = 1,
    Width32Bits = 2,
    Width64Bits = 3,
    WidthNoWrap = 4,
    MaximumDmaWidth = 5,
} DMA_WIDTH, *PDMA_WIDTH;

typedef enum _DMA_SPEED {
    Compatible = 0,
    TypeA = 1,
    TypeB = 2,
    TypeC = 3,
    TypeF = 4,
    MaximumDmaSpeed = 5,
} DMA_SPEED, *PDMA_SPEED;

typedef enum _DMA_COMPLETION_STATUS {
    DmaComplete = 0,
    DmaAborted = 1,
    DmaError = 2,
    DmaCancelled = 3,
} DMA_COMPLETION_STATUS, *PDMA_COMPLETION_STATUS;

typedef enum _IO_ALLOCATION_ACTION {
    KeepObject = 1,
    DeallocateObject = 2,
    DeallocateObjectKeepRegisters = 3,
} IO_ALLOCATION_ACTION, *PIO_ALLOCATION_ACTION;

#define DEVICE_DESCRIPTION_VERSION         0
#define DEVICE_DESCRIPTION_VERSION1        1
#define DEVICE_DESCRIPTION_VERSION2        2
#define DEVICE_DESCRIPTION_VERSION3        3
#define DMA_ADAPTER_INFO_VERSION1          1
#define DMA_ADAPTER_INFO_VERSION_CRASHDUMP 0xFFFFFFFFU
#define DMA_FAIL_ON_BOUNCE                 0x4
#define DMA_SYNCHRONOUS_CALLBACK           0x1
#define DMA_TRANSFER_CONTEXT_SIZE_V1       128
#define DMA_TRANSFER_CONTEXT_VERSION1      1
#define DMA_TRANSFER_INFO_VERSION1         1
#define DMA_TRANSFER_INFO_VERSION2         2
#define DMA_ZERO_BUFFERS                   0x2

typedef struct _DEVICE_DESCRIPTION {
    ULONG Version;
    BOOLEAN Master;
    BOOLEAN ScatterGather;
    BOOLEAN DemandMode;
    BOOLEAN AutoInitialize;
    BOOLEAN Dma32BitAddresses;
    BOOLEAN IgnoreCount;
    BOOLEAN Reserved1;
    BOOLEAN Dma64BitAddresses;
    ULONG BusNumber;
    ULONG DmaChannel;
    INTERFACE_TYPE InterfaceType;
    DMA_WIDTH DmaWidth;
    DMA_SPEED DmaSpeed;
    ULONG MaximumLength;
    ULONG DmaPort;
    ULONG DmaAddressWidth;
    ULONG DmaControllerInstance;
    ULONG DmaRequestLine;
    PHYSICAL_ADDRESS DeviceAddress;
} DEVICE_DESCRIPTION, *PDEVICE_DESCRIPTION;

typedef struct _DMA_ADAPTER DMA_ADAPTER, *PDMA_ADAPTER;
typedef struct _DMA_OPERATIONS DMA_OPERATIONS, *PDMA_OPERATIONS;

struct _DMA_ADAPTER {
    USHORT Version;
    USHORT Size;
    PDMA_OPERATIONS DmaOperations;
};

typedef struct _DMA_ADAPTER_INFO_V1 {
    ULONG ReadDmaCounterAvailable;
    ULONG ScatterGatherLimit;
    ULONG DmaAddressWidth;
    ULONG Flags;
    ULONG MinimumTransferUnit;
} DMA_ADAPTER_INFO_V1, *PDMA_ADAPTER_INFO_V1;

typedef struct _DMA_ADAPTER_INFO_CRASHDUMP {
    DEVICE_DESCRIPTION DeviceDescription;
    SIZE_T DeviceIdSize;
    PVOID DeviceId;
} DMA_ADAPTER_INFO_CRASHDUMP, *PDMA_ADAPTER_INFO_CRASHDUMP;

typedef struct _DMA_ADAPTER_INFO {
    ULONG Version;
    union {
        DMA_ADAPTER_INFO_V1 V1;
        DMA_ADAPTER_INFO_CRASHDUMP Crashdump;
    };
} DMA_ADAPTER_INFO, *PDMA_ADAPTER_INFO;

typedef struct _DMA_TRANSFER_INFO_V1 {
    ULONG MapRegisterCount;
    ULONG ScatterGatherElementCount;
    ULONG ScatterGatherListSize;
} DMA_TRANSFER_INFO_V1, *PDMA_TRANSFER_INFO_V1;

typedef struct _DMA_TRANSFER_INFO_V2 {
    ULONG MapRegisterCount;
    ULONG ScatterGatherElementCount;
    ULONG ScatterGatherListSize;
    ULONG LogicalPageCount;
} DMA_TRANSFER_INFO_V2, *PDMA_TRANSFER_INFO_V2;

typedef struct _DMA_TRANSFER_INFO {
    ULONG Version;
    union {
        DMA_TRANSFER_INFO_V1 V1;
        DMA_TRANSFER_INFO_V2 V2;
    };
} DMA_TRANSFER_INFO, *PDMA_TRANSFER_INFO;

typedef struct _SCATTER_GATHER_ELEMENT {
    PHYSICAL_ADDRESS Address;
    ULONG Length;
    ULONG_PTR Reserved;
} SCATTER_GATHER_ELEMENT, *PSCATTER_GATHER_ELEMENT;

/* Holds NumberOfElements elements. */
typedef struct _SCATTER_GATHER_LIST {
    ULONG NumberOfElements;
    ULONG_PTR Reserved;
    SCATTER_GATHER_ELEMENT Elements[];
} SCATTER_GATHER_LIST, *PSCATTER_GATHER_LIST;

typedef struct _DMA_COMMON_BUFFER_VECTOR *PDMA_COMMON_BUFFER_VECTOR;
typedef struct _DMA_COMMON_BUFFER_EXTENDED_CONFIGURATION *PDMA_COMMON_BUFFER_EXTENDED_CONFIGURATION;

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_DMA_H */
