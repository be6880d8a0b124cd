/* SPDX-License-Identifier: MIT */
/*
 * The I/O manager: driver and device objects, IRPs, files, interrupts, device properties, DMA
 * adapters' table of operations.
 */
#ifndef DXGK_WDK_WDM_IO_H
#define DXGK_WDK_WDM_IO_H

#include "dma.h"
#include "ps.h"
#include "power.h"
#include "resources.h"

#ifdef __cplusplus
extern "C" {
#endif

struct _DRIVER_OBJECT;
struct _FILE_OBJECT;
struct _IO_STACK_LOCATION;
struct _DEVICE_OBJECT_POWER_EXTENSION;
struct _SCSI_REQUEST_BLOCK;
struct _IORING_OBJECT;
struct _FILE_NETWORK_OPEN_INFORMATION;
struct _COMPRESSED_DATA_INFO;

typedef struct _DEVICE_OBJECT DEVICE_OBJECT, *PDEVICE_OBJECT;
typedef struct _DRIVER_OBJECT DRIVER_OBJECT, *PDRIVER_OBJECT;
typedef struct _FILE_OBJECT FILE_OBJECT, *PFILE_OBJECT;
typedef struct _IRP IRP, *PIRP;
typedef struct _IO_STACK_LOCATION IO_STACK_LOCATION, *PIO_STACK_LOCATION;
typedef struct _IO_TIMER *PIO_TIMER;
typedef struct _IO_COMPLETION_CONTEXT *PIO_COMPLETION_CONTEXT;
typedef struct _IO_SECURITY_CONTEXT *PIO_SECURITY_CONTEXT;
typedef struct _NAMED_PIPE_CREATE_PARAMETERS *PNAMED_PIPE_CREATE_PARAMETERS;
typedef struct _MAILSLOT_CREATE_PARAMETERS *PMAILSLOT_CREATE_PARAMETERS;
typedef struct _FILE_GET_QUOTA_INFORMATION *PFILE_GET_QUOTA_INFORMATION;
typedef struct _FILE_NETWORK_OPEN_INFORMATION *PFILE_NETWORK_OPEN_INFORMATION;
typedef struct _IO_WORKITEM *PIO_WORKITEM;
typedef ULONG DEVICE_TYPE;

typedef struct _IO_STATUS_BLOCK {
    union {
        NTSTATUS Status;
        PVOID Pointer;
    };
    ULONG_PTR Information;
} IO_STATUS_BLOCK, *PIO_STATUS_BLOCK;

typedef VOID NTAPI IO_APC_ROUTINE(PVOID ApcContext, PIO_STATUS_BLOCK IoStatusBlock, ULONG Reserved);
typedef IO_APC_ROUTINE *PIO_APC_ROUTINE;

/* --- Driver routines ---------------------------------------------------------------------- */

typedef NTSTATUS NTAPI DRIVER_INITIALIZE(
    struct _DRIVER_OBJECT *DriverObject, PUNICODE_STRING RegistryPath);
typedef DRIVER_INITIALIZE *PDRIVER_INITIALIZE;
typedef VOID NTAPI DRIVER_UNLOAD(struct _DRIVER_OBJECT *DriverObject);
typedef DRIVER_UNLOAD *PDRIVER_UNLOAD;
typedef NTSTATUS NTAPI DRIVER_ADD_DEVICE(
    struct _DRIVER_OBJECT *DriverObject, struct _DEVICE_OBJECT *PhysicalDeviceObject);
typedef DRIVER_ADD_DEVICE *PDRIVER_ADD_DEVICE;
typedef NTSTATUS NTAPI DRIVER_DISPATCH(struct _DEVICE_OBJECT *DeviceObject, struct _IRP *Irp);
typedef DRIVER_DISPATCH *PDRIVER_DISPATCH;
typedef VOID NTAPI DRIVER_STARTIO(struct _DEVICE_OBJECT *DeviceObject, struct _IRP *Irp);
typedef DRIVER_STARTIO *PDRIVER_STARTIO;
typedef VOID NTAPI DRIVER_CANCEL(struct _DEVICE_OBJECT *DeviceObject, struct _IRP *Irp);
typedef DRIVER_CANCEL *PDRIVER_CANCEL;
typedef IO_ALLOCATION_ACTION NTAPI DRIVER_CONTROL(
    struct _DEVICE_OBJECT *DeviceObject, struct _IRP *Irp, PVOID MapRegisterBase, PVOID Context);
typedef DRIVER_CONTROL *PDRIVER_CONTROL;
typedef NTSTATUS NTAPI IO_COMPLETION_ROUTINE(
    PDEVICE_OBJECT DeviceObject, PIRP Irp, PVOID Context);
typedef IO_COMPLETION_ROUTINE *PIO_COMPLETION_ROUTINE;
typedef VOID NTAPI DRIVER_LIST_CONTROL(
    struct _DEVICE_OBJECT *DeviceObject,
    struct _IRP *Irp,
    PSCATTER_GATHER_LIST ScatterGather,
    PVOID Context);
typedef DRIVER_LIST_CONTROL *PDRIVER_LIST_CONTROL;
typedef VOID NTAPI DMA_COMPLETION_ROUTINE(
    PDMA_ADAPTER DmaAdapter,
    PDEVICE_OBJECT DeviceObject,
    PVOID CompletionContext,
    DMA_COMPLETION_STATUS Status);
typedef DMA_COMPLETION_ROUTINE *PDMA_COMPLETION_ROUTINE;
typedef VOID NTAPI IO_WORKITEM_ROUTINE(PDEVICE_OBJECT DeviceObject, PVOID Context);
typedef IO_WORKITEM_ROUTINE *PIO_WORKITEM_ROUTINE;
typedef NTSTATUS NTAPI DRIVER_NOTIFICATION_CALLBACK_ROUTINE(
    PVOID NotificationStructure, PVOID Context);
typedef DRIVER_NOTIFICATION_CALLBACK_ROUTINE *PDRIVER_NOTIFICATION_CALLBACK_ROUTINE;

/* --- Query interfaces --------------------------------------------------------------------- */

typedef VOID(NTAPI *PINTERFACE_REFERENCE)(PVOID Context);
typedef VOID(NTAPI *PINTERFACE_DEREFERENCE)(PVOID Context);

typedef struct _INTERFACE {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
} INTERFACE, *PINTERFACE;

typedef BOOLEAN NTAPI TRANSLATE_BUS_ADDRESS(
    PVOID Context,
    PHYSICAL_ADDRESS BusAddress,
    ULONG Length,
    PULONG AddressSpace,
    PPHYSICAL_ADDRESS TranslatedAddress);
typedef TRANSLATE_BUS_ADDRESS *PTRANSLATE_BUS_ADDRESS;
typedef struct _DMA_ADAPTER *NTAPI GET_DMA_ADAPTER(
    PVOID Context,
    struct _DEVICE_DESCRIPTION *DeviceDescriptor,
    PULONG NumberOfMapRegisters);
typedef GET_DMA_ADAPTER *PGET_DMA_ADAPTER;
typedef ULONG NTAPI GET_SET_DEVICE_DATA(
    PVOID Context, ULONG DataType, PVOID Buffer, ULONG Offset, ULONG Length);
typedef GET_SET_DEVICE_DATA *PGET_SET_DEVICE_DATA;

typedef struct _BUS_INTERFACE_STANDARD {
    USHORT Size;
    USHORT Version;
    PVOID Context;
    PINTERFACE_REFERENCE InterfaceReference;
    PINTERFACE_DEREFERENCE InterfaceDereference;
    PTRANSLATE_BUS_ADDRESS TranslateBusAddress;
    PGET_DMA_ADAPTER GetDmaAdapter;
    PGET_SET_DEVICE_DATA SetBusData;
    PGET_SET_DEVICE_DATA GetBusData;
} BUS_INTERFACE_STANDARD, *PBUS_INTERFACE_STANDARD;

/* --- Fast I/O ----------------------------------------------------------------------------- */

typedef struct _FILE_BASIC_INFORMATION {
    LARGE_INTEGER CreationTime;
    LARGE_INTEGER LastAccessTime;
    LARGE_INTEGER LastWriteTime;
    LARGE_INTEGER ChangeTime;
    ULONG FileAttributes;
} FILE_BASIC_INFORMATION, *PFILE_BASIC_INFORMATION;

typedef struct _FILE_STANDARD_INFORMATION {
    LARGE_INTEGER AllocationSize;
    LARGE_INTEGER EndOfFile;
    ULONG NumberOfLinks;
    BOOLEAN DeletePending;
    BOOLEAN Directory;
} FILE_STANDARD_INFORMATION, *PFILE_STANDARD_INFORMATION;

typedef BOOLEAN NTAPI FAST_IO_CHECK_IF_POSSIBLE(
    struct _FILE_OBJECT *, PLARGE_INTEGER, ULONG, BOOLEAN, ULONG, BOOLEAN, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_CHECK_IF_POSSIBLE *PFAST_IO_CHECK_IF_POSSIBLE;
typedef BOOLEAN NTAPI FAST_IO_READ(
    struct _FILE_OBJECT *, PLARGE_INTEGER, ULONG, BOOLEAN, ULONG, PVOID, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_READ *PFAST_IO_READ;
typedef BOOLEAN NTAPI FAST_IO_WRITE(
    struct _FILE_OBJECT *, PLARGE_INTEGER, ULONG, BOOLEAN, ULONG, PVOID, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_WRITE *PFAST_IO_WRITE;
typedef BOOLEAN NTAPI FAST_IO_QUERY_BASIC_INFO(
    struct _FILE_OBJECT *, BOOLEAN, PFILE_BASIC_INFORMATION, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_QUERY_BASIC_INFO *PFAST_IO_QUERY_BASIC_INFO;
typedef BOOLEAN NTAPI FAST_IO_QUERY_STANDARD_INFO(
    struct _FILE_OBJECT *, BOOLEAN, PFILE_STANDARD_INFORMATION, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_QUERY_STANDARD_INFO *PFAST_IO_QUERY_STANDARD_INFO;
typedef BOOLEAN NTAPI FAST_IO_LOCK(
    struct _FILE_OBJECT *, PLARGE_INTEGER, PLARGE_INTEGER, PEPROCESS, ULONG, BOOLEAN, BOOLEAN,
    PIO_STATUS_BLOCK, struct _DEVICE_OBJECT *);
typedef FAST_IO_LOCK *PFAST_IO_LOCK;
typedef BOOLEAN NTAPI FAST_IO_UNLOCK_SINGLE(
    struct _FILE_OBJECT *, PLARGE_INTEGER, PLARGE_INTEGER, PEPROCESS, ULONG, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_UNLOCK_SINGLE *PFAST_IO_UNLOCK_SINGLE;
typedef BOOLEAN NTAPI FAST_IO_UNLOCK_ALL(
    struct _FILE_OBJECT *, PEPROCESS, PIO_STATUS_BLOCK, struct _DEVICE_OBJECT *);
typedef FAST_IO_UNLOCK_ALL *PFAST_IO_UNLOCK_ALL;
typedef BOOLEAN NTAPI FAST_IO_UNLOCK_ALL_BY_KEY(
    struct _FILE_OBJECT *, PVOID, ULONG, PIO_STATUS_BLOCK, struct _DEVICE_OBJECT *);
typedef FAST_IO_UNLOCK_ALL_BY_KEY *PFAST_IO_UNLOCK_ALL_BY_KEY;
typedef BOOLEAN NTAPI FAST_IO_DEVICE_CONTROL(
    struct _FILE_OBJECT *, BOOLEAN, PVOID, ULONG, PVOID, ULONG, ULONG, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_DEVICE_CONTROL *PFAST_IO_DEVICE_CONTROL;
typedef void NTAPI FAST_IO_ACQUIRE_FILE(struct _FILE_OBJECT *);
typedef FAST_IO_ACQUIRE_FILE *PFAST_IO_ACQUIRE_FILE;
typedef void NTAPI FAST_IO_RELEASE_FILE(struct _FILE_OBJECT *);
typedef FAST_IO_RELEASE_FILE *PFAST_IO_RELEASE_FILE;
typedef void NTAPI FAST_IO_DETACH_DEVICE(struct _DEVICE_OBJECT *, struct _DEVICE_OBJECT *);
typedef FAST_IO_DETACH_DEVICE *PFAST_IO_DETACH_DEVICE;
typedef BOOLEAN NTAPI FAST_IO_QUERY_NETWORK_OPEN_INFO(
    struct _FILE_OBJECT *, BOOLEAN, struct _FILE_NETWORK_OPEN_INFORMATION *,
    struct _IO_STATUS_BLOCK *, struct _DEVICE_OBJECT *);
typedef FAST_IO_QUERY_NETWORK_OPEN_INFO *PFAST_IO_QUERY_NETWORK_OPEN_INFO;
typedef NTSTATUS NTAPI FAST_IO_ACQUIRE_FOR_MOD_WRITE(
    struct _FILE_OBJECT *, PLARGE_INTEGER, struct _ERESOURCE **, struct _DEVICE_OBJECT *);
typedef FAST_IO_ACQUIRE_FOR_MOD_WRITE *PFAST_IO_ACQUIRE_FOR_MOD_WRITE;
typedef BOOLEAN NTAPI FAST_IO_MDL_READ(
    struct _FILE_OBJECT *, PLARGE_INTEGER, ULONG, ULONG, PMDL *, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_MDL_READ *PFAST_IO_MDL_READ;
typedef BOOLEAN NTAPI FAST_IO_MDL_READ_COMPLETE(
    struct _FILE_OBJECT *, PMDL, struct _DEVICE_OBJECT *);
typedef FAST_IO_MDL_READ_COMPLETE *PFAST_IO_MDL_READ_COMPLETE;
typedef BOOLEAN NTAPI FAST_IO_PREPARE_MDL_WRITE(
    struct _FILE_OBJECT *, PLARGE_INTEGER, ULONG, ULONG, PMDL *, PIO_STATUS_BLOCK,
    struct _DEVICE_OBJECT *);
typedef FAST_IO_PREPARE_MDL_WRITE *PFAST_IO_PREPARE_MDL_WRITE;
typedef BOOLEAN NTAPI FAST_IO_MDL_WRITE_COMPLETE(
    struct _FILE_OBJECT *, PLARGE_INTEGER, PMDL, struct _DEVICE_OBJECT *);
typedef FAST_IO_MDL_WRITE_COMPLETE *PFAST_IO_MDL_WRITE_COMPLETE;
typedef BOOLEAN NTAPI FAST_IO_READ_COMPRESSED(
    struct _FILE_OBJECT *, PLARGE_INTEGER, ULONG, ULONG, PVOID, PMDL *, PIO_STATUS_BLOCK,
    struct _COMPRESSED_DATA_INFO *, ULONG, struct _DEVICE_OBJECT *);
typedef FAST_IO_READ_COMPRESSED *PFAST_IO_READ_COMPRESSED;
typedef BOOLEAN NTAPI FAST_IO_WRITE_COMPRESSED(
    struct _FILE_OBJECT *, PLARGE_INTEGER, ULONG, ULONG, PVOID, PMDL *, PIO_STATUS_BLOCK,
    struct _COMPRESSED_DATA_INFO *, ULONG, struct _DEVICE_OBJECT *);
typedef FAST_IO_WRITE_COMPRESSED *PFAST_IO_WRITE_COMPRESSED;
typedef BOOLEAN NTAPI FAST_IO_MDL_READ_COMPLETE_COMPRESSED(
    struct _FILE_OBJECT *, PMDL, struct _DEVICE_OBJECT *);
typedef FAST_IO_MDL_READ_COMPLETE_COMPRESSED *PFAST_IO_MDL_READ_COMPLETE_COMPRESSED;
typedef BOOLEAN NTAPI FAST_IO_MDL_WRITE_COMPLETE_COMPRESSED(
    struct _FILE_OBJECT *, PLARGE_INTEGER, PMDL, struct _DEVICE_OBJECT *);
typedef FAST_IO_MDL_WRITE_COMPLETE_COMPRESSED *PFAST_IO_MDL_WRITE_COMPLETE_COMPRESSED;
typedef BOOLEAN NTAPI FAST_IO_QUERY_OPEN(
    struct _IRP *, PFILE_NETWORK_OPEN_INFORMATION, struct _DEVICE_OBJECT *);
typedef FAST_IO_QUERY_OPEN *PFAST_IO_QUERY_OPEN;
typedef NTSTATUS NTAPI FAST_IO_RELEASE_FOR_MOD_WRITE(
    struct _FILE_OBJECT *, struct _ERESOURCE *, struct _DEVICE_OBJECT *);
typedef FAST_IO_RELEASE_FOR_MOD_WRITE *PFAST_IO_RELEASE_FOR_MOD_WRITE;
typedef NTSTATUS NTAPI FAST_IO_ACQUIRE_FOR_CCFLUSH(struct _FILE_OBJECT *, struct _DEVICE_OBJECT *);
typedef FAST_IO_ACQUIRE_FOR_CCFLUSH *PFAST_IO_ACQUIRE_FOR_CCFLUSH;
typedef NTSTATUS NTAPI FAST_IO_RELEASE_FOR_CCFLUSH(struct _FILE_OBJECT *, struct _DEVICE_OBJECT *);
typedef FAST_IO_RELEASE_FOR_CCFLUSH *PFAST_IO_RELEASE_FOR_CCFLUSH;

typedef struct _FAST_IO_DISPATCH {
    ULONG SizeOfFastIoDispatch;
    PFAST_IO_CHECK_IF_POSSIBLE FastIoCheckIfPossible;
    PFAST_IO_READ FastIoRead;
    PFAST_IO_WRITE FastIoWrite;
    PFAST_IO_QUERY_BASIC_INFO FastIoQueryBasicInfo;
    PFAST_IO_QUERY_STANDARD_INFO FastIoQueryStandardInfo;
    PFAST_IO_LOCK FastIoLock;
    PFAST_IO_UNLOCK_SINGLE FastIoUnlockSingle;
    PFAST_IO_UNLOCK_ALL FastIoUnlockAll;
    PFAST_IO_UNLOCK_ALL_BY_KEY FastIoUnlockAllByKey;
    PFAST_IO_DEVICE_CONTROL FastIoDeviceControl;
    PFAST_IO_ACQUIRE_FILE AcquireFileForNtCreateSection;
    PFAST_IO_RELEASE_FILE ReleaseFileForNtCreateSection;
    PFAST_IO_DETACH_DEVICE FastIoDetachDevice;
    PFAST_IO_QUERY_NETWORK_OPEN_INFO FastIoQueryNetworkOpenInfo;
    PFAST_IO_ACQUIRE_FOR_MOD_WRITE AcquireForModWrite;
    PFAST_IO_MDL_READ MdlRead;
    PFAST_IO_MDL_READ_COMPLETE MdlReadComplete;
    PFAST_IO_PREPARE_MDL_WRITE PrepareMdlWrite;
    PFAST_IO_MDL_WRITE_COMPLETE MdlWriteComplete;
    PFAST_IO_READ_COMPRESSED FastIoReadCompressed;
    PFAST_IO_WRITE_COMPRESSED FastIoWriteCompressed;
    PFAST_IO_MDL_READ_COMPLETE_COMPRESSED MdlReadCompleteCompressed;
    PFAST_IO_MDL_WRITE_COMPLETE_COMPRESSED MdlWriteCompleteCompressed;
    PFAST_IO_QUERY_OPEN FastIoQueryOpen;
    PFAST_IO_RELEASE_FOR_MOD_WRITE ReleaseForModWrite;
    PFAST_IO_ACQUIRE_FOR_CCFLUSH AcquireForCcFlush;
    PFAST_IO_RELEASE_FOR_CCFLUSH ReleaseForCcFlush;
} FAST_IO_DISPATCH, *PFAST_IO_DISPATCH;

/* --- Driver, device and file objects ------------------------------------------------------ */

#define IO_TYPE_ADAPTER                 0x1
#define IO_TYPE_CONTROLLER              0x2
#define IO_TYPE_CSQ                     2
#define IO_TYPE_CSQ_EX                  3
#define IO_TYPE_CSQ_IRP_CONTEXT         1
#define IO_TYPE_DEVICE                  0x3
#define IO_TYPE_DEVICE_OBJECT_EXTENSION 0xD
#define IO_TYPE_DRIVER                  0x4
#define IO_TYPE_ERROR_LOG               0xB
#define IO_TYPE_ERROR_MESSAGE           0xC
#define IO_TYPE_FILE                    0x5
#define IO_TYPE_IORING                  0xE
#define IO_TYPE_IRP                     0x6
#define IO_TYPE_MASTER_ADAPTER          0x7
#define IO_TYPE_OPEN_PACKET             0x8
#define IO_TYPE_TIMER                   0x9
#define IO_TYPE_VPB                     0xA

#define DRVO_BUILTIN_DRIVER        0x4
#define DRVO_LEGACY_DRIVER         0x2
#define DRVO_UNLOAD_INVOKED        0x1
#define DRVO_BOOTREINIT_REGISTERED 0x20
#define DRVO_INITIALIZED           0x10
#define DRVO_LEGACY_RESOURCES      0x40
#define DRVO_REINIT_REGISTERED     0x8

#define DO_VERIFY_VOLUME                 0x2
#define DO_BUFFERED_IO                   0x4
#define DO_EXCLUSIVE                     0x8
#define DO_DIRECT_IO                     0x10
#define DO_MAP_IO_BUFFER                 0x20
#define DO_DEVICE_HAS_NAME               0x40
#define DO_DEVICE_INITIALIZING           0x80
#define DO_SYSTEM_BOOT_PARTITION         0x100
#define DO_LONG_TERM_REQUESTS            0x200
#define DO_NEVER_LAST_DEVICE             0x400
#define DO_SHUTDOWN_REGISTERED           0x800
#define DO_BUS_ENUMERATED_DEVICE         0x1000
#define DO_POWER_PAGABLE                 0x2000
#define DO_POWER_INRUSH                  0x4000
#define DO_LOW_PRIORITY_FILESYSTEM       0x10000
#define DO_SUPPORTS_TRANSACTIONS         0x40000
#define DO_FORCE_NEITHER_IO              0x80000
#define DO_VOLUME_DEVICE_OBJECT          0x100000
#define DO_SYSTEM_SYSTEM_PARTITION       0x200000
#define DO_SYSTEM_CRITICAL_PARTITION     0x400000
#define DO_DISALLOW_EXECUTE              0x800000
#define DO_DEVICE_TO_BE_RESET            0x4000000
#define DO_DEVICE_IRP_REQUIRES_EXTENSION 0x8000000
#define DO_DAX_VOLUME                    0x10000000
#define DO_BOOT_CRITICAL                 0x20000000

#define FILE_DEVICE_8042_PORT           0x27
#define FILE_DEVICE_ACPI                0x32
#define FILE_DEVICE_BATTERY             0x29
#define FILE_DEVICE_BEEP                0x1
#define FILE_DEVICE_BIOMETRIC           0x44
#define FILE_DEVICE_BLUETOOTH           0x41
#define FILE_DEVICE_BUS_EXTENDER        0x2A
#define FILE_DEVICE_CD_ROM              0x2
#define FILE_DEVICE_CD_ROM_FILE_SYSTEM  0x3
#define FILE_DEVICE_CHANGER             0x30
#define FILE_DEVICE_CONSOLE             0x50
#define FILE_DEVICE_CONTROLLER          0x4
#define FILE_DEVICE_CRYPT_PROVIDER      0x3F
#define FILE_DEVICE_DATALINK            0x5
#define FILE_DEVICE_DEVAPI              0x47
#define FILE_DEVICE_DFS                 0x6
#define FILE_DEVICE_DFS_FILE_SYSTEM     0x35
#define FILE_DEVICE_DFS_VOLUME          0x36
#define FILE_DEVICE_DISK                0x7
#define FILE_DEVICE_DISK_FILE_SYSTEM    0x8
#define FILE_DEVICE_DVD                 0x33
#define FILE_DEVICE_EHSTOR              0x46
#define FILE_DEVICE_EVENT_COLLECTOR     0x5F
#define FILE_DEVICE_FILE_SYSTEM         0x9
#define FILE_DEVICE_FIPS                0x3A
#define FILE_DEVICE_FULLSCREEN_VIDEO    0x34
#define FILE_DEVICE_GPIO                0x48
#define FILE_DEVICE_HOLOGRAPHIC         0x5B
#define FILE_DEVICE_INFINIBAND          0x3B
#define FILE_DEVICE_INPORT_PORT         0xA
#define FILE_DEVICE_KEYBOARD            0xB
#define FILE_DEVICE_KS                  0x2F
#define FILE_DEVICE_KSEC                0x39
#define FILE_DEVICE_MAILSLOT            0xC
#define FILE_DEVICE_MASS_STORAGE        0x2D
#define FILE_DEVICE_MIDI_IN             0xD
#define FILE_DEVICE_MIDI_OUT            0xE
#define FILE_DEVICE_MODEM               0x2B
#define FILE_DEVICE_MOUSE               0xF
#define FILE_DEVICE_MT_COMPOSITE        0x42
#define FILE_DEVICE_MT_TRANSPORT        0x43
#define FILE_DEVICE_MULTI_UNC_PROVIDER  0x10
#define FILE_DEVICE_NAMED_PIPE          0x11
#define FILE_DEVICE_NETWORK             0x12
#define FILE_DEVICE_NETWORK_BROWSER     0x13
#define FILE_DEVICE_NETWORK_FILE_SYSTEM 0x14
#define FILE_DEVICE_NETWORK_REDIRECTOR  0x28
#define FILE_DEVICE_NFP                 0x51
#define FILE_DEVICE_NULL                0x15
#define FILE_DEVICE_NVDIMM              0x5A
#define FILE_DEVICE_PARALLEL_PORT       0x16
#define FILE_DEVICE_PERSISTENT_MEMORY   0x59
#define FILE_DEVICE_PHYSICAL_NETCARD    0x17
#define FILE_DEVICE_PMI                 0x45
#define FILE_DEVICE_POINT_OF_SERVICE    0x54
#define FILE_DEVICE_PRINTER             0x18
#define FILE_DEVICE_PRM                 0x5E
#define FILE_DEVICE_SCANNER             0x19
#define FILE_DEVICE_SCREEN              0x1C
#define FILE_DEVICE_SDFXHCI             0x5C
#define FILE_DEVICE_SERENUM             0x37
#define FILE_DEVICE_SERIAL_MOUSE_PORT   0x1A
#define FILE_DEVICE_SERIAL_PORT         0x1B
#define FILE_DEVICE_SMARTCARD           0x31
#define FILE_DEVICE_SMB                 0x2E
#define FILE_DEVICE_SOUND               0x1D
#define FILE_DEVICE_SOUNDWIRE           0x61
#define FILE_DEVICE_STORAGE_REPLICATION 0x55
#define FILE_DEVICE_STREAMS             0x1E
#define FILE_DEVICE_SYSENV              0x52
#define FILE_DEVICE_TAPE                0x1F
#define FILE_DEVICE_TAPE_FILE_SYSTEM    0x20
#define FILE_DEVICE_TERMSRV             0x38
#define FILE_DEVICE_TRANSPORT           0x21
#define FILE_DEVICE_TRUST_ENV           0x56
#define FILE_DEVICE_UCM                 0x57
#define FILE_DEVICE_UCMTCPCI            0x58
#define FILE_DEVICE_UCMUCSI             0x5D
#define FILE_DEVICE_UNKNOWN             0x22
#define FILE_DEVICE_USB4                0x60
#define FILE_DEVICE_USBEX               0x49
#define FILE_DEVICE_VDM                 0x2C
#define FILE_DEVICE_VIDEO               0x23
#define FILE_DEVICE_VIRTUAL_BLOCK       0x53
#define FILE_DEVICE_VIRTUAL_DISK        0x24
#define FILE_DEVICE_VMBUS               0x3E
#define FILE_DEVICE_WAVE_IN             0x25
#define FILE_DEVICE_WAVE_OUT            0x26
#define FILE_DEVICE_WPD                 0x40

#define FILE_DEVICE_ALLOW_APPCONTAINER_TRAVERSAL 0x20000
#define FILE_DEVICE_IS_MOUNTED                   0x20
#define FILE_DEVICE_REQUIRE_SECURITY_CHECK       0x100000
#define FILE_DEVICE_SECURE_OPEN                  0x100

typedef struct _VPB {
    CSHORT Type;
    CSHORT Size;
    USHORT Flags;
    USHORT VolumeLabelLength;
    struct _DEVICE_OBJECT *DeviceObject;
    struct _DEVICE_OBJECT *RealDevice;
    ULONG SerialNumber;
    ULONG ReferenceCount;
    WCHAR VolumeLabel[32];
} VPB, *PVPB;

typedef struct DXGK_MS_STRUCT _WAIT_CONTEXT_BLOCK {
    union {
        KDEVICE_QUEUE_ENTRY WaitQueueEntry;
        struct DXGK_MS_STRUCT {
            LIST_ENTRY DmaWaitEntry;
            ULONG NumberOfChannels;
            ULONG SyncCallback : 1;
            ULONG DmaContext : 1;
            ULONG ZeroMapRegisters : 1;
            ULONG Reserved : 9;
            ULONG NumberOfRemapPages : 20;
        };
    };
    PDRIVER_CONTROL DeviceRoutine;
    PVOID DeviceContext;
    ULONG NumberOfMapRegisters;
    PVOID DeviceObject;
    PVOID CurrentIrp;
    PKDPC BufferChainingDpc;
} WAIT_CONTEXT_BLOCK, *PWAIT_CONTEXT_BLOCK;

typedef struct _DEVOBJ_EXTENSION DEVOBJ_EXTENSION, *PDEVOBJ_EXTENSION;

typedef struct DECLSPEC_ALIGN(16) _DEVICE_OBJECT {
    CSHORT Type;
    USHORT Size;
    LONG ReferenceCount;
    struct _DRIVER_OBJECT *DriverObject;
    struct _DEVICE_OBJECT *NextDevice;
    struct _DEVICE_OBJECT *AttachedDevice;
    struct _IRP *CurrentIrp;
    PIO_TIMER Timer;
    ULONG Flags;
    ULONG Characteristics;
    PVPB Vpb;
    PVOID DeviceExtension;
    ULONG DeviceType;
    CCHAR StackSize;
    union {
        LIST_ENTRY ListEntry;
        WAIT_CONTEXT_BLOCK Wcb;
    } Queue;
    ULONG AlignmentRequirement;
    KDEVICE_QUEUE DeviceQueue;
    KDPC Dpc;
    ULONG ActiveThreadCount;
    PSECURITY_DESCRIPTOR SecurityDescriptor;
    KEVENT DeviceLock;
    USHORT SectorSize;
    USHORT Spare1;
    struct _DEVOBJ_EXTENSION *DeviceObjectExtension;
    PVOID Reserved;
} DEVICE_OBJECT, *PDEVICE_OBJECT;

typedef struct _DEVOBJ_EXTENSION {
    CSHORT Type;
    USHORT Size;
    PDEVICE_OBJECT DeviceObject;
    ULONG PowerFlags;
    struct _DEVICE_OBJECT_POWER_EXTENSION *Dope;
    ULONG ExtensionFlags;
    PVOID DeviceNode;
    PDEVICE_OBJECT AttachedTo;
    LONG StartIoCount;
    LONG StartIoKey;
    ULONG StartIoFlags;
    PVPB Vpb;
    PVOID DependencyNode;
    PVOID InterruptContext;
    LONG InterruptCount;
    PVOID VerifierContext;
} DEVOBJ_EXTENSION, *PDEVOBJ_EXTENSION;

typedef struct _DRIVER_EXTENSION {
    struct _DRIVER_OBJECT *DriverObject;
    PDRIVER_ADD_DEVICE AddDevice;
    ULONG Count;
    UNICODE_STRING ServiceKeyName;
} DRIVER_EXTENSION, *PDRIVER_EXTENSION;

#define IRP_MJ_CREATE                   0x0
#define IRP_MJ_CREATE_NAMED_PIPE        0x1
#define IRP_MJ_CLOSE                    0x2
#define IRP_MJ_READ                     0x3
#define IRP_MJ_WRITE                    0x4
#define IRP_MJ_QUERY_INFORMATION        0x5
#define IRP_MJ_SET_INFORMATION          0x6
#define IRP_MJ_QUERY_EA                 0x7
#define IRP_MJ_SET_EA                   0x8
#define IRP_MJ_FLUSH_BUFFERS            0x9
#define IRP_MJ_QUERY_VOLUME_INFORMATION 0xA
#define IRP_MJ_SET_VOLUME_INFORMATION   0xB
#define IRP_MJ_DIRECTORY_CONTROL        0xC
#define IRP_MJ_FILE_SYSTEM_CONTROL      0xD
#define IRP_MJ_DEVICE_CONTROL           0xE
#define IRP_MJ_INTERNAL_DEVICE_CONTROL  0xF
#define IRP_MJ_SCSI                     15
#define IRP_MJ_SHUTDOWN                 0x10
#define IRP_MJ_LOCK_CONTROL             0x11
#define IRP_MJ_CLEANUP                  0x12
#define IRP_MJ_CREATE_MAILSLOT          0x13
#define IRP_MJ_QUERY_SECURITY           0x14
#define IRP_MJ_SET_SECURITY             0x15
#define IRP_MJ_POWER                    0x16
#define IRP_MJ_SYSTEM_CONTROL           0x17
#define IRP_MJ_DEVICE_CHANGE            0x18
#define IRP_MJ_QUERY_QUOTA              0x19
#define IRP_MJ_SET_QUOTA                0x1A
#define IRP_MJ_MAXIMUM_FUNCTION         0x1B
#define IRP_MJ_PNP                      0x1B
#define IRP_MJ_PNP_POWER                27

typedef struct _DRIVER_OBJECT {
    CSHORT Type;
    CSHORT Size;
    PDEVICE_OBJECT DeviceObject;
    ULONG Flags;
    PVOID DriverStart;
    ULONG DriverSize;
    PVOID DriverSection;
    PDRIVER_EXTENSION DriverExtension;
    UNICODE_STRING DriverName;
    PUNICODE_STRING HardwareDatabase;
    PFAST_IO_DISPATCH FastIoDispatch;
    PDRIVER_INITIALIZE DriverInit;
    PDRIVER_STARTIO DriverStartIo;
    PDRIVER_UNLOAD DriverUnload;
    PDRIVER_DISPATCH MajorFunction[28];
} DRIVER_OBJECT, *PDRIVER_OBJECT;

typedef struct _SECTION_OBJECT_POINTERS {
    PVOID DataSectionObject;
    PVOID SharedCacheMap;
    PVOID ImageSectionObject;
} SECTION_OBJECT_POINTERS, *PSECTION_OBJECT_POINTERS;

typedef struct _FILE_OBJECT {
    CSHORT Type;
    CSHORT Size;
    PDEVICE_OBJECT DeviceObject;
    PVPB Vpb;
    PVOID FsContext;
    PVOID FsContext2;
    PSECTION_OBJECT_POINTERS SectionObjectPointer;
    PVOID PrivateCacheMap;
    NTSTATUS FinalStatus;
    struct _FILE_OBJECT *RelatedFileObject;
    BOOLEAN LockOperation;
    BOOLEAN DeletePending;
    BOOLEAN ReadAccess;
    BOOLEAN WriteAccess;
    BOOLEAN DeleteAccess;
    BOOLEAN SharedRead;
    BOOLEAN SharedWrite;
    BOOLEAN SharedDelete;
    ULONG Flags;
    UNICODE_STRING FileName;
    LARGE_INTEGER CurrentByteOffset;
    ULONG Waiters;
    ULONG Busy;
    PVOID LastLock;
    KEVENT Lock;
    KEVENT Event;
    PIO_COMPLETION_CONTEXT CompletionContext;
    KSPIN_LOCK IrpListLock;
    LIST_ENTRY IrpList;
    PVOID FileObjectExtension;
} FILE_OBJECT, *PFILE_OBJECT;

/* --- Files -------------------------------------------------------------------------------- */

typedef enum _FILE_INFORMATION_CLASS {
    FileDirectoryInformation = 1,
    FileFullDirectoryInformation = 2,
    FileBothDirectoryInformation = 3,
    FileBasicInformation = 4,
    FileStandardInformation = 5,
    FileInternalInformation = 6,
    FileEaInformation = 7,
    FileAccessInformation = 8,
    FileNameInformation = 9,
    FileRenameInformation = 10,
    FileLinkInformation = 11,
    FileNamesInformation = 12,
    FileDispositionInformation = 13,
    FilePositionInformation = 14,
    FileFullEaInformation = 15,
    FileModeInformation = 16,
    FileAlignmentInformation = 17,
    FileAllInformation = 18,
    FileAllocationInformation = 19,
    FileEndOfFileInformation = 20,
    FileAlternateNameInformation = 21,
    FileStreamInformation = 22,
    FilePipeInformation = 23,
    FilePipeLocalInformation = 24,
    FilePipeRemoteInformation = 25,
    FileMailslotQueryInformation = 26,
    FileMailslotSetInformation = 27,
    FileCompressionInformation = 28,
    FileObjectIdInformation = 29,
    FileCompletionInformation = 30,
    FileMoveClusterInformation = 31,
    FileQuotaInformation = 32,
    FileReparsePointInformation = 33,
    FileNetworkOpenInformation = 34,
    FileAttributeTagInformation = 35,
    FileTrackingInformation = 36,
    FileIdBothDirectoryInformation = 37,
    FileIdFullDirectoryInformation = 38,
    FileValidDataLengthInformation = 39,
    FileShortNameInformation = 40,
    FileIoCompletionNotificationInformation = 41,
    FileIoStatusBlockRangeInformation = 42,
    FileIoPriorityHintInformation = 43,
    FileSfioReserveInformation = 44,
    FileSfioVolumeInformation = 45,
    FileHardLinkInformation = 46,
    FileProcessIdsUsingFileInformation = 47,
    FileNormalizedNameInformation = 48,
    FileNetworkPhysicalNameInformation = 49,
    FileIdGlobalTxDirectoryInformation = 50,
    FileIsRemoteDeviceInformation = 51,
    FileUnusedInformation = 52,
    FileNumaNodeInformation = 53,
    FileStandardLinkInformation = 54,
    FileRemoteProtocolInformation = 55,
    FileRenameInformationBypassAccessCheck = 56,
    FileLinkInformationBypassAccessCheck = 57,
    FileVolumeNameInformation = 58,
    FileIdInformation = 59,
    FileIdExtdDirectoryInformation = 60,
    FileReplaceCompletionInformation = 61,
    FileHardLinkFullIdInformation = 62,
    FileIdExtdBothDirectoryInformation = 63,
    FileDispositionInformationEx = 64,
    FileRenameInformationEx = 65,
    FileRenameInformationExBypassAccessCheck = 66,
    FileDesiredStorageClassInformation = 67,
    FileStatInformation = 68,
    FileMemoryPartitionInformation = 69,
    FileStatLxInformation = 70,
    FileCaseSensitiveInformation = 71,
    FileLinkInformationEx = 72,
    FileLinkInformationExBypassAccessCheck = 73,
    FileStorageReserveIdInformation = 74,
    FileCaseSensitiveInformationForceAccessCheck = 75,
    FileKnownFolderInformation = 76,
    FileStatBasicInformation = 77,
    FileId64ExtdDirectoryInformation = 78,
    FileId64ExtdBothDirectoryInformation = 79,
    FileIdAllExtdDirectoryInformation = 80,
    FileIdAllExtdBothDirectoryInformation = 81,
    FileMaximumInformation = 82,
} FILE_INFORMATION_CLASS, *PFILE_INFORMATION_CLASS;

typedef enum _FSINFOCLASS {
    FileFsVolumeInformation = 1,
    FileFsLabelInformation = 2,
    FileFsSizeInformation = 3,
    FileFsDeviceInformation = 4,
    FileFsAttributeInformation = 5,
    FileFsControlInformation = 6,
    FileFsFullSizeInformation = 7,
    FileFsObjectIdInformation = 8,
    FileFsDriverPathInformation = 9,
    FileFsVolumeFlagsInformation = 10,
    FileFsSectorSizeInformation = 11,
    FileFsDataCopyInformation = 12,
    FileFsMetadataSizeInformation = 13,
    FileFsFullSizeInformationEx = 14,
    FileFsGuidInformation = 15,
    FileFsMaximumInformation = 16,
} FS_INFORMATION_CLASS, *PFS_INFORMATION_CLASS;

typedef enum _DIRECTORY_NOTIFY_INFORMATION_CLASS {
    DirectoryNotifyInformation = 1,
    DirectoryNotifyExtendedInformation = 2,
    DirectoryNotifyFullInformation = 3,
    DirectoryNotifyMaximumInformation = 4,
} DIRECTORY_NOTIFY_INFORMATION_CLASS, *PDIRECTORY_NOTIFY_INFORMATION_CLASS;

#define FILE_ATTRIBUTE_ARCHIVE                0x20
#define FILE_ATTRIBUTE_COMPRESSED             0x800
#define FILE_ATTRIBUTE_DEDICATED              256
#define FILE_ATTRIBUTE_DEVICE                 0x40
#define FILE_ATTRIBUTE_DIRECTORY              0x10
#define FILE_ATTRIBUTE_EA                     0x40000
#define FILE_ATTRIBUTE_ENCRYPTED              0x4000
#define FILE_ATTRIBUTE_HIDDEN                 0x2
#define FILE_ATTRIBUTE_INTEGRITY_STREAM       0x8000
#define FILE_ATTRIBUTE_NORMAL                 0x80
#define FILE_ATTRIBUTE_NOT_CONTENT_INDEXED    0x2000
#define FILE_ATTRIBUTE_NO_SCRUB_DATA          0x20000
#define FILE_ATTRIBUTE_OFFLINE                0x1000
#define FILE_ATTRIBUTE_PINNED                 0x80000
#define FILE_ATTRIBUTE_READONLY               0x1
#define FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS  0x400000
#define FILE_ATTRIBUTE_RECALL_ON_OPEN         0x40000
#define FILE_ATTRIBUTE_REPARSE_POINT          0x400
#define FILE_ATTRIBUTE_SPARSE_FILE            0x200
#define FILE_ATTRIBUTE_STRICTLY_SEQUENTIAL    0x20000000
#define FILE_ATTRIBUTE_SYSTEM                 0x4
#define FILE_ATTRIBUTE_TEMPORARY              0x100
#define FILE_ATTRIBUTE_UNPINNED               0x100000
#define FILE_ATTRIBUTE_VALID_FLAGS            0x5AFFB7
#define FILE_ATTRIBUTE_VALID_KERNEL_SET_FLAGS 0x5A31A7
#define FILE_ATTRIBUTE_VALID_SET_FLAGS        0x1A31A7
#define FILE_ATTRIBUTE_VIRTUAL                0x10000
#define FILE_CREATE                           0x2
#define FILE_CREATED                          0x2
#define FILE_CREATE_PIPE_INSTANCE             0x4
#define FILE_CREATE_TREE_CONNECTION           0x80
#define FILE_DIRECTORY_FILE                   0x1
#define FILE_NON_DIRECTORY_FILE               0x40
#define FILE_OPEN                             0x1
#define FILE_OPENED                           0x1
#define FILE_OPEN_BY_FILE_ID                  0x2000
#define FILE_OPEN_FOR_BACKUP_INTENT           0x4000
#define FILE_OPEN_FOR_FREE_SPACE_QUERY        0x800000
#define FILE_OPEN_IF                          0x3
#define FILE_OPEN_NO_RECALL                   0x400000
#define FILE_OPEN_REMOTE_INSTANCE             0x400
#define FILE_OPEN_REPARSE_POINT               0x200000
#define FILE_OPEN_REQUIRING_OPLOCK            0x10000
#define FILE_OVERWRITE                        0x4
#define FILE_OVERWRITE_IF                     0x5
#define FILE_SHARE_DELETE                     0x4
#define FILE_SHARE_READ                       0x1
#define FILE_SHARE_VALID_FLAGS                0x7
#define FILE_SHARE_WRITE                      0x2
#define FILE_SUPERSEDE                        0x0
#define FILE_SUPERSEDED                       0x0
#define FILE_SYNCHRONOUS_IO_ALERT             0x10
#define FILE_SYNCHRONOUS_IO_NONALERT          0x20

#define FLUSH_FLAGS_FILE_DATA_ONLY      0x1
#define FLUSH_FLAGS_FILE_DATA_SYNC_ONLY 0x4
#define FLUSH_FLAGS_NO_SYNC             0x2
#define FLUSH_MULTIPLE_MAXIMUM          19

/* --- IRPs --------------------------------------------------------------------------------- */

#define METHOD_BUFFERED             0
#define METHOD_DIRECT_FROM_HARDWARE 2
#define METHOD_DIRECT_TO_HARDWARE   1
#define METHOD_IN_DIRECT            1
#define METHOD_NEITHER              3
#define METHOD_OUT_DIRECT           2

#define FILE_ANY_ACCESS   0
#define FILE_READ_ACCESS  0x1
#define FILE_WRITE_ACCESS 0x2

#define FILE_SPECIAL_ACCESS FILE_ANY_ACCESS
#ifndef CTL_CODE
#define CTL_CODE(DeviceType, Function, Method, Access)                                             \
    (((DeviceType) << 16) | ((Access) << 14) | ((Function) << 2) | (Method))
#endif
#define DEVICE_TYPE_FROM_CTL_CODE(Code) (((ULONG)((Code)&0xffff0000)) >> 16)
#define METHOD_FROM_CTL_CODE(Code) ((ULONG)((Code)&3))

#define IRP_MN_CANCEL_REMOVE_DEVICE         0x3
#define IRP_MN_CANCEL_STOP_DEVICE           0x6
#define IRP_MN_CHANGE_SINGLE_INSTANCE       0x2
#define IRP_MN_CHANGE_SINGLE_ITEM           0x3
#define IRP_MN_DEVICE_ENUMERATED            0x19
#define IRP_MN_DEVICE_USAGE_NOTIFICATION    0x16
#define IRP_MN_DISABLE_COLLECTION           0x7
#define IRP_MN_DISABLE_EVENTS               0x5
#define IRP_MN_EJECT                        0x11
#define IRP_MN_ENABLE_COLLECTION            0x6
#define IRP_MN_ENABLE_EVENTS                0x4
#define IRP_MN_EXECUTE_METHOD               0x9
#define IRP_MN_FILTER_RESOURCE_REQUIREMENTS 0xD
#define IRP_MN_POWER_SEQUENCE               0x1
#define IRP_MN_QUERY_ALL_DATA               0x0
#define IRP_MN_QUERY_BUS_INFORMATION        0x15
#define IRP_MN_QUERY_CAPABILITIES           0x9
#define IRP_MN_QUERY_DEVICE_RELATIONS       0x7
#define IRP_MN_QUERY_DEVICE_TEXT            0xC
#define IRP_MN_QUERY_ID                     0x13
#define IRP_MN_QUERY_INTERFACE              0x8
#define IRP_MN_QUERY_PNP_DEVICE_STATE       0x14
#define IRP_MN_QUERY_POWER                  0x3
#define IRP_MN_QUERY_REMOVE_DEVICE          0x1
#define IRP_MN_QUERY_RESOURCES              0xA
#define IRP_MN_QUERY_RESOURCE_REQUIREMENTS  0xB
#define IRP_MN_QUERY_SINGLE_INSTANCE        0x1
#define IRP_MN_QUERY_STOP_DEVICE            0x5
#define IRP_MN_READ_CONFIG                  0xF
#define IRP_MN_REGINFO                      0x8
#define IRP_MN_REGINFO_EX                   0xB
#define IRP_MN_REMOVE_DEVICE                0x2
#define IRP_MN_SCSI_CLASS                   0x1
#define IRP_MN_SET_LOCK                     0x12
#define IRP_MN_SET_POWER                    0x2
#define IRP_MN_START_DEVICE                 0x0
#define IRP_MN_STOP_DEVICE                  0x4
#define IRP_MN_SURPRISE_REMOVAL             0x17
#define IRP_MN_WAIT_WAKE                    0x0
#define IRP_MN_WRITE_CONFIG                 0x10

#define IRP_MN_COMPLETE                     0x4
#define IRP_MN_COMPLETE_MDL                 6
#define IRP_MN_COMPLETE_MDL_DPC             7
#define IRP_MN_COMPRESSED                   0x8
#define IRP_MN_DPC                          0x1
#define IRP_MN_FLUSH_AND_PURGE              0x1
#define IRP_MN_FLUSH_DATA_ONLY              0x2
#define IRP_MN_FLUSH_DATA_SYNC_ONLY         0x4
#define IRP_MN_FLUSH_NO_SYNC                0x3
#define IRP_MN_KERNEL_CALL                  0x4
#define IRP_MN_LOAD_FILE_SYSTEM             0x3
#define IRP_MN_LOCK                         0x1
#define IRP_MN_MDL                          0x2
#define IRP_MN_MDL_DPC                      3
#define IRP_MN_MOUNT_VOLUME                 0x1
#define IRP_MN_NORMAL                       0x0
#define IRP_MN_NOTIFY_CHANGE_DIRECTORY      0x2
#define IRP_MN_NOTIFY_CHANGE_DIRECTORY_EX   0x3
#define IRP_MN_QUERY_DIRECTORY              0x1
#define IRP_MN_QUERY_LEGACY_BUS_INFORMATION 0x18
#define IRP_MN_TRACK_LINK                   0x4
#define IRP_MN_UNLOCK_ALL                   0x3
#define IRP_MN_UNLOCK_ALL_BY_KEY            0x4
#define IRP_MN_UNLOCK_SINGLE                0x2
#define IRP_MN_USER_FS_REQUEST              0x0
#define IRP_MN_VERIFY_VOLUME                0x2

#define IRP_ALLOCATED_FIXED_SIZE   0x4
#define IRP_ALLOCATED_MUST_SUCCEED 0x2
#define IRP_ASSOCIATED_IRP         0x8
#define IRP_BUFFERED_IO            0x10
#define IRP_CLOSE_OPERATION        0x400
#define IRP_CREATE_OPERATION       0x80
#define IRP_DEALLOCATE_BUFFER      0x20
#define IRP_DEFER_IO_COMPLETION    0x800
#define IRP_HOLD_DEVICE_QUEUE      0x2000
#define IRP_INPUT_OPERATION        0x40
#define IRP_LOOKASIDE_ALLOCATION   0x8
#define IRP_MOUNT_COMPLETION       0x2
#define IRP_NOCACHE                0x1
#define IRP_OB_QUERY_NAME          0x1000
#define IRP_PAGING_IO              0x2
#define IRP_QUOTA_CHARGED          0x1
#define IRP_READ_OPERATION         0x100
#define IRP_SYNCHRONOUS_API        0x4
#define IRP_SYNCHRONOUS_PAGING_IO  0x40
#define IRP_UM_DRIVER_INITIATED_IO 0x400000
#define IRP_WRITE_OPERATION        0x200

#define SL_ALLOW_RAW_MOUNT                 0x1
#define SL_BYPASS_ACCESS_CHECK             0x1
#define SL_BYPASS_IO                       0x40
#define SL_CASE_SENSITIVE                  0x80
#define SL_ERROR_RETURNED                  0x2
#define SL_EXCLUSIVE_LOCK                  0x2
#define SL_FAIL_IMMEDIATELY                0x1
#define SL_FORCE_ACCESS_CHECK              0x1
#define SL_FORCE_ASYNCHRONOUS              0x1
#define SL_FORCE_DIRECT_WRITE              0x10
#define SL_FT_SEQUENTIAL_WRITE             0x8
#define SL_IGNORE_READONLY_ATTRIBUTE       0x40
#define SL_INDEX_SPECIFIED                 0x4
#define SL_INFO_FORCE_ACCESS_CHECK         0x1
#define SL_INFO_IGNORE_READONLY_ATTRIBUTE  0x40
#define SL_INVOKE_ON_CANCEL                0x20
#define SL_INVOKE_ON_ERROR                 0x80
#define SL_INVOKE_ON_SUCCESS               0x40
#define SL_KEY_SPECIFIED                   0x1
#define SL_NO_CURSOR_UPDATE                0x10
#define SL_OPEN_PAGING_FILE                0x2
#define SL_OPEN_TARGET_DIRECTORY           0x4
#define SL_OVERRIDE_VERIFY_VOLUME          0x2
#define SL_PENDING_RETURNED                0x1
#define SL_PERSISTENT_MEMORY_FIXED_MAPPING 0x20
#define SL_QUERY_DIRECTORY_MASK            0x1B
#define SL_READ_ACCESS_GRANTED             0x1
#define SL_REALTIME_STREAM                 0x20
#define SL_RESTART_SCAN                    0x1
#define SL_RETURN_ON_DISK_ENTRIES_ONLY     0x8
#define SL_RETURN_SINGLE_ENTRY             0x2
#define SL_STOP_ON_SYMLINK                 0x8
#define SL_WATCH_TREE                      0x1
#define SL_WRITE_ACCESS_GRANTED            0x4
#define SL_WRITE_THROUGH                   0x4

#define IOCTL_CANCEL_DEVICE_WAKE       0x298008
#define IOCTL_QUERY_DEVICE_POWER_STATE 0x294000
#define IOCTL_SET_DEVICE_WAKE          0x298004

typedef enum BUS_QUERY_ID_TYPE {
    BusQueryDeviceID = 0,
    BusQueryHardwareIDs = 1,
    BusQueryCompatibleIDs = 2,
    BusQueryInstanceID = 3,
    BusQueryDeviceSerialNumber = 4,
    BusQueryContainerID = 5,
} BUS_QUERY_ID_TYPE, *PBUS_QUERY_ID_TYPE;

typedef enum _DEVICE_RELATION_TYPE {
    BusRelations = 0,
    EjectionRelations = 1,
    PowerRelations = 2,
    RemovalRelations = 3,
    TargetDeviceRelation = 4,
    SingleBusRelations = 5,
    TransportRelations = 6,
} DEVICE_RELATION_TYPE, *PDEVICE_RELATION_TYPE;

typedef enum DEVICE_TEXT_TYPE {
    DeviceTextDescription = 0,
    DeviceTextLocationInformation = 1,
} DEVICE_TEXT_TYPE, *PDEVICE_TEXT_TYPE;

typedef enum _DEVICE_USAGE_NOTIFICATION_TYPE {
    DeviceUsageTypeUndefined = 0,
    DeviceUsageTypePaging = 1,
    DeviceUsageTypeHibernation = 2,
    DeviceUsageTypeDumpFile = 3,
    DeviceUsageTypeBoot = 4,
    DeviceUsageTypePostDisplay = 5,
    DeviceUsageTypeGuestAssigned = 6,
} DEVICE_USAGE_NOTIFICATION_TYPE, *PDEVICE_USAGE_NOTIFICATION_TYPE;

typedef enum _DEVICE_RESET_TYPE {
    FunctionLevelDeviceReset = 0,
    PlatformLevelDeviceReset = 1,
} DEVICE_RESET_TYPE, *PDEVICE_RESET_TYPE;

typedef struct DXGK_MS_STRUCT _DEVICE_CAPABILITIES {
    USHORT Size;
    USHORT Version;
    ULONG DeviceD1 : 1;
    ULONG DeviceD2 : 1;
    ULONG LockSupported : 1;
    ULONG EjectSupported : 1;
    ULONG Removable : 1;
    ULONG DockDevice : 1;
    ULONG UniqueID : 1;
    ULONG SilentInstall : 1;
    ULONG RawDeviceOK : 1;
    ULONG SurpriseRemovalOK : 1;
    ULONG WakeFromD0 : 1;
    ULONG WakeFromD1 : 1;
    ULONG WakeFromD2 : 1;
    ULONG WakeFromD3 : 1;
    ULONG HardwareDisabled : 1;
    ULONG NonDynamic : 1;
    ULONG WarmEjectSupported : 1;
    ULONG NoDisplayInUI : 1;
    ULONG Reserved1 : 1;
    ULONG WakeFromInterrupt : 1;
    ULONG SecureDevice : 1;
    ULONG ChildOfVgaEnabledBridge : 1;
    ULONG DecodeIoOnBoot : 1;
    ULONG Reserved : 9;
    ULONG Address;
    ULONG UINumber;
    DEVICE_POWER_STATE DeviceState[7];
    SYSTEM_POWER_STATE SystemWake;
    DEVICE_POWER_STATE DeviceWake;
    ULONG D1Latency;
    ULONG D2Latency;
    ULONG D3Latency;
} DEVICE_CAPABILITIES, *PDEVICE_CAPABILITIES;

typedef struct _DEVICE_RELATIONS {
    ULONG Count;
    PDEVICE_OBJECT Objects[1];
} DEVICE_RELATIONS, *PDEVICE_RELATIONS;

typedef struct _IO_STACK_LOCATION {
    UCHAR MajorFunction;
    UCHAR MinorFunction;
    UCHAR Flags;
    UCHAR Control;
    union {
        struct {
            PIO_SECURITY_CONTEXT SecurityContext;
            ULONG Options;
            USHORT POINTER_ALIGNMENT FileAttributes;
            USHORT ShareAccess;
            ULONG POINTER_ALIGNMENT EaLength;
        } Create;
        struct {
            PIO_SECURITY_CONTEXT SecurityContext;
            ULONG Options;
            USHORT POINTER_ALIGNMENT Reserved;
            USHORT ShareAccess;
            PNAMED_PIPE_CREATE_PARAMETERS Parameters;
        } CreatePipe;
        struct {
            PIO_SECURITY_CONTEXT SecurityContext;
            ULONG Options;
            USHORT POINTER_ALIGNMENT Reserved;
            USHORT ShareAccess;
            PMAILSLOT_CREATE_PARAMETERS Parameters;
        } CreateMailslot;
        struct {
            ULONG Length;
            ULONG POINTER_ALIGNMENT Key;
            ULONG Flags;
            LARGE_INTEGER ByteOffset;
        } Read;
        struct {
            ULONG Length;
            ULONG POINTER_ALIGNMENT Key;
            ULONG Flags;
            LARGE_INTEGER ByteOffset;
        } Write;
        struct {
            ULONG Length;
            PUNICODE_STRING FileName;
            FILE_INFORMATION_CLASS FileInformationClass;
            ULONG POINTER_ALIGNMENT FileIndex;
        } QueryDirectory;
        struct {
            ULONG Length;
            ULONG POINTER_ALIGNMENT CompletionFilter;
        } NotifyDirectory;
        struct {
            ULONG Length;
            ULONG POINTER_ALIGNMENT CompletionFilter;
            DIRECTORY_NOTIFY_INFORMATION_CLASS POINTER_ALIGNMENT DirectoryNotifyInformationClass;
        } NotifyDirectoryEx;
        struct {
            ULONG Length;
            FILE_INFORMATION_CLASS POINTER_ALIGNMENT FileInformationClass;
        } QueryFile;
        struct {
            ULONG Length;
            FILE_INFORMATION_CLASS POINTER_ALIGNMENT FileInformationClass;
            PFILE_OBJECT FileObject;
            union {
                struct {
                    BOOLEAN ReplaceIfExists;
                    BOOLEAN AdvanceOnly;
                };
                ULONG ClusterCount;
                HANDLE DeleteHandle;
            };
        } SetFile;
        struct {
            ULONG Length;
            PVOID EaList;
            ULONG EaListLength;
            ULONG POINTER_ALIGNMENT EaIndex;
        } QueryEa;
        struct {
            ULONG Length;
        } SetEa;
        struct {
            ULONG Length;
            FS_INFORMATION_CLASS POINTER_ALIGNMENT FsInformationClass;
        } QueryVolume;
        struct {
            ULONG Length;
            FS_INFORMATION_CLASS POINTER_ALIGNMENT FsInformationClass;
        } SetVolume;
        struct {
            ULONG OutputBufferLength;
            ULONG POINTER_ALIGNMENT InputBufferLength;
            ULONG POINTER_ALIGNMENT FsControlCode;
            PVOID Type3InputBuffer;
        } FileSystemControl;
        struct {
            PLARGE_INTEGER Length;
            ULONG Key;
            LARGE_INTEGER ByteOffset;
        } LockControl;
        struct {
            ULONG OutputBufferLength;
            ULONG POINTER_ALIGNMENT InputBufferLength;
            ULONG POINTER_ALIGNMENT IoControlCode;
            PVOID Type3InputBuffer;
        } DeviceIoControl;
        struct {
            SECURITY_INFORMATION SecurityInformation;
            ULONG POINTER_ALIGNMENT Length;
        } QuerySecurity;
        struct {
            SECURITY_INFORMATION SecurityInformation;
            PSECURITY_DESCRIPTOR SecurityDescriptor;
        } SetSecurity;
        struct {
            PVPB Vpb;
            PDEVICE_OBJECT DeviceObject;
            ULONG OutputBufferLength;
        } MountVolume;
        struct {
            PVPB Vpb;
            PDEVICE_OBJECT DeviceObject;
        } VerifyVolume;
        struct {
            struct _SCSI_REQUEST_BLOCK *Srb;
        } Scsi;
        struct {
            ULONG Length;
            PSID StartSid;
            PFILE_GET_QUOTA_INFORMATION SidList;
            ULONG SidListLength;
        } QueryQuota;
        struct {
            ULONG Length;
        } SetQuota;
        struct {
            DEVICE_RELATION_TYPE Type;
        } QueryDeviceRelations;
        struct {
            const GUID *InterfaceType;
            USHORT Size;
            USHORT Version;
            PINTERFACE Interface;
            PVOID InterfaceSpecificData;
        } QueryInterface;
        struct {
            PDEVICE_CAPABILITIES Capabilities;
        } DeviceCapabilities;
        struct {
            PIO_RESOURCE_REQUIREMENTS_LIST IoResourceRequirementList;
        } FilterResourceRequirements;
        struct {
            ULONG WhichSpace;
            PVOID Buffer;
            ULONG Offset;
            ULONG POINTER_ALIGNMENT Length;
        } ReadWriteConfig;
        struct {
            BOOLEAN Lock;
        } SetLock;
        struct {
            BUS_QUERY_ID_TYPE IdType;
        } QueryId;
        struct {
            DEVICE_TEXT_TYPE DeviceTextType;
            LCID POINTER_ALIGNMENT LocaleId;
        } QueryDeviceText;
        struct {
            BOOLEAN InPath;
            BOOLEAN Reserved[3];
            DEVICE_USAGE_NOTIFICATION_TYPE POINTER_ALIGNMENT Type;
        } UsageNotification;
        struct {
            SYSTEM_POWER_STATE PowerState;
        } WaitWake;
        struct {
            PPOWER_SEQUENCE PowerSequence;
        } PowerSequence;
        struct {
            union {
                ULONG SystemContext;
                SYSTEM_POWER_STATE_CONTEXT SystemPowerStateContext;
            };
            POWER_STATE_TYPE POINTER_ALIGNMENT Type;
            POWER_STATE POINTER_ALIGNMENT State;
            POWER_ACTION POINTER_ALIGNMENT ShutdownType;
        } Power;
        struct {
            PCM_RESOURCE_LIST AllocatedResources;
            PCM_RESOURCE_LIST AllocatedResourcesTranslated;
        } StartDevice;
        struct {
            ULONG_PTR ProviderId;
            PVOID DataPath;
            ULONG BufferSize;
            PVOID Buffer;
        } WMI;
        struct {
            PVOID Argument1;
            PVOID Argument2;
            PVOID Argument3;
            PVOID Argument4;
        } Others;
    } Parameters;
    PDEVICE_OBJECT DeviceObject;
    PFILE_OBJECT FileObject;
    PIO_COMPLETION_ROUTINE CompletionRoutine;
    PVOID Context;
} IO_STACK_LOCATION, *PIO_STACK_LOCATION;

typedef struct DECLSPEC_ALIGN(16) _IRP {
    CSHORT Type;
    USHORT Size;
    PMDL MdlAddress;
    ULONG Flags;
    union {
        struct _IRP *MasterIrp;
        LONG IrpCount;
        PVOID SystemBuffer;
    } AssociatedIrp;
    LIST_ENTRY ThreadListEntry;
    IO_STATUS_BLOCK IoStatus;
    KPROCESSOR_MODE RequestorMode;
    BOOLEAN PendingReturned;
    CHAR StackCount;
    CHAR CurrentLocation;
    BOOLEAN Cancel;
    KIRQL CancelIrql;
    CCHAR ApcEnvironment;
    UCHAR AllocationFlags;
    union {
        PIO_STATUS_BLOCK UserIosb;
        PVOID IoRingContext;
    };
    PKEVENT UserEvent;
    union {
        struct {
            union {
                PIO_APC_ROUTINE UserApcRoutine;
                PVOID IssuingProcess;
            };
            union {
                PVOID UserApcContext;
                struct _IORING_OBJECT *IoRing;
            };
        } AsynchronousParameters;
        LARGE_INTEGER AllocationSize;
    } Overlay;
    PDRIVER_CANCEL CancelRoutine;
    PVOID UserBuffer;
    union {
        struct {
            union {
                KDEVICE_QUEUE_ENTRY DeviceQueueEntry;
                PVOID DriverContext[4];
            };
            PETHREAD Thread;
            PCHAR AuxiliaryBuffer;
            LIST_ENTRY ListEntry;
            union {
                struct _IO_STACK_LOCATION *CurrentStackLocation;
                ULONG PacketType;
            };
            PFILE_OBJECT OriginalFileObject;
        } Overlay;
        KAPC Apc;
        PVOID CompletionKey;
    } Tail;
} IRP, *PIRP;

#define IoGetCurrentIrpStackLocation(Irp) ((Irp)->Tail.Overlay.CurrentStackLocation)
#define IoGetNextIrpStackLocation(Irp) ((Irp)->Tail.Overlay.CurrentStackLocation - 1)
#define IoSkipCurrentIrpStackLocation(Irp)                                                         \
    ((Irp)->CurrentLocation++, (Irp)->Tail.Overlay.CurrentStackLocation++)
#define IoSetNextIrpStackLocation(Irp)                                                             \
    ((Irp)->CurrentLocation--, (Irp)->Tail.Overlay.CurrentStackLocation--)
#define IoMarkIrpPending(Irp)                                                                      \
    (IoGetCurrentIrpStackLocation(Irp)->Control |= SL_PENDING_RETURNED)
#define IoSizeOfIrp(StackSize)                                                                     \
    ((USHORT)(sizeof(IRP) + ((StackSize) * (sizeof(IO_STACK_LOCATION)))))

FORCEINLINE VOID IoCopyCurrentIrpStackLocationToNext(PIRP Irp)
{
    PIO_STACK_LOCATION current = IoGetCurrentIrpStackLocation(Irp);
    PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(Irp);

    __builtin_memcpy(next, current, __builtin_offsetof(IO_STACK_LOCATION, CompletionRoutine));
    next->Control = 0;
}

FORCEINLINE VOID IoSetCompletionRoutine(
    PIRP Irp,
    PIO_COMPLETION_ROUTINE CompletionRoutine,
    PVOID Context,
    BOOLEAN InvokeOnSuccess,
    BOOLEAN InvokeOnError,
    BOOLEAN InvokeOnCancel)
{
    PIO_STACK_LOCATION next = IoGetNextIrpStackLocation(Irp);

    next->CompletionRoutine = CompletionRoutine;
    next->Context = Context;
    next->Control = (UCHAR)((InvokeOnSuccess ? SL_INVOKE_ON_SUCCESS : 0) |
                            (InvokeOnError ? SL_INVOKE_ON_ERROR : 0) |
                            (InvokeOnCancel ? SL_INVOKE_ON_CANCEL : 0));
}

NTKERNELAPI PIRP NTAPI IoAllocateIrp(CCHAR StackSize, BOOLEAN ChargeQuota);
NTKERNELAPI VOID NTAPI IoFreeIrp(PIRP Irp);
NTKERNELAPI VOID NTAPI IoInitializeIrp(PIRP Irp, USHORT PacketSize, CCHAR StackSize);
NTKERNELAPI VOID NTAPI IoReuseIrp(PIRP Irp, NTSTATUS Iostatus);
NTKERNELAPI BOOLEAN NTAPI IoCancelIrp(PIRP Irp);
NTKERNELAPI NTSTATUS NTAPI IofCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp);
NTKERNELAPI VOID NTAPI IofCompleteRequest(PIRP Irp, CCHAR PriorityBoost);
NTKERNELAPI NTSTATUS NTAPI IoSynchronousCallDriver(PDEVICE_OBJECT DeviceObject, PIRP Irp);
NTKERNELAPI PIRP NTAPI IoBuildDeviceIoControlRequest(
    ULONG IoControlCode,
    PDEVICE_OBJECT DeviceObject,
    PVOID InputBuffer,
    ULONG InputBufferLength,
    PVOID OutputBuffer,
    ULONG OutputBufferLength,
    BOOLEAN InternalDeviceIoControl,
    PKEVENT Event,
    PIO_STATUS_BLOCK IoStatusBlock);
NTKERNELAPI PIRP NTAPI IoBuildSynchronousFsdRequest(
    ULONG MajorFunction,
    PDEVICE_OBJECT DeviceObject,
    PVOID Buffer,
    ULONG Length,
    PLARGE_INTEGER StartingOffset,
    PKEVENT Event,
    PIO_STATUS_BLOCK IoStatusBlock);
#define IoCallDriver(DeviceObject, Irp) IofCallDriver(DeviceObject, Irp)
#define IoCompleteRequest(Irp, PriorityBoost) IofCompleteRequest(Irp, PriorityBoost)

/* --- MDLs --------------------------------------------------------------------------------- */

NTKERNELAPI PMDL NTAPI IoAllocateMdl(
    PVOID VirtualAddress, ULONG Length, BOOLEAN SecondaryBuffer, BOOLEAN ChargeQuota, PIRP Irp);
NTKERNELAPI VOID NTAPI IoFreeMdl(PMDL Mdl);
NTKERNELAPI VOID NTAPI IoBuildPartialMdl(
    PMDL SourceMdl, PMDL TargetMdl, PVOID VirtualAddress, ULONG Length);

/* --- Devices ------------------------------------------------------------------------------ */

typedef enum _DEVICE_REGISTRY_PROPERTY {
    DevicePropertyDeviceDescription = 0,
    DevicePropertyHardwareID = 1,
    DevicePropertyCompatibleIDs = 2,
    DevicePropertyBootConfiguration = 3,
    DevicePropertyBootConfigurationTranslated = 4,
    DevicePropertyClassName = 5,
    DevicePropertyClassGuid = 6,
    DevicePropertyDriverKeyName = 7,
    DevicePropertyManufacturer = 8,
    DevicePropertyFriendlyName = 9,
    DevicePropertyLocationInformation = 10,
    DevicePropertyPhysicalDeviceObjectName = 11,
    DevicePropertyBusTypeGuid = 12,
    DevicePropertyLegacyBusType = 13,
    DevicePropertyBusNumber = 14,
    DevicePropertyEnumeratorName = 15,
    DevicePropertyAddress = 16,
    DevicePropertyUINumber = 17,
    DevicePropertyInstallState = 18,
    DevicePropertyRemovalPolicy = 19,
    DevicePropertyResourceRequirements = 20,
    DevicePropertyAllocatedResources = 21,
    DevicePropertyContainerID = 22,
} DEVICE_REGISTRY_PROPERTY, *PDEVICE_REGISTRY_PROPERTY;

typedef enum _DEVICE_INSTALL_STATE {
    InstallStateInstalled = 0,
    InstallStateNeedsReinstall = 1,
    InstallStateFailedInstall = 2,
    InstallStateFinishInstall = 3,
} DEVICE_INSTALL_STATE, *PDEVICE_INSTALL_STATE;

typedef enum _DEVICE_DIRECTORY_TYPE {
    DeviceDirectoryData = 0,
} DEVICE_DIRECTORY_TYPE, *PDEVICE_DIRECTORY_TYPE;

typedef enum _DRIVER_DIRECTORY_TYPE {
    DriverDirectoryImage = 0,
    DriverDirectoryData = 1,
    DriverDirectorySharedData = 2,
} DRIVER_DIRECTORY_TYPE, *PDRIVER_DIRECTORY_TYPE;

typedef enum _DRIVER_REGKEY_TYPE {
    DriverRegKeyParameters = 0,
    DriverRegKeyPersistentState = 1,
    DriverRegKeySharedPersistentState = 2,
} DRIVER_REGKEY_TYPE, *PDRIVER_REGKEY_TYPE;

typedef enum _IO_NOTIFICATION_EVENT_CATEGORY {
    EventCategoryReserved = 0,
    EventCategoryHardwareProfileChange = 1,
    EventCategoryDeviceInterfaceChange = 2,
    EventCategoryTargetDeviceChange = 3,
    EventCategoryKernelSoftRestart = 4,
} IO_NOTIFICATION_EVENT_CATEGORY, *PIO_NOTIFICATION_EVENT_CATEGORY;

typedef enum _IO_PAGING_PRIORITY {
    IoPagingPriorityInvalid = 0,
    IoPagingPriorityNormal = 1,
    IoPagingPriorityHigh = 2,
    IoPagingPriorityReserved1 = 3,
    IoPagingPriorityReserved2 = 4,
} IO_PAGING_PRIORITY, *PIO_PAGING_PRIORITY;

typedef enum _IO_ACCESS_TYPE {
    ReadAccess = 0,
    WriteAccess = 1,
    ModifyAccess = 2,
} IO_ACCESS_TYPE, *PIO_ACCESS_TYPE;

typedef enum _IO_ACCESS_MODE {
    SequentialAccess = 0,
    RandomAccess = 1,
} IO_ACCESS_MODE, *PIO_ACCESS_MODE;

#define DEVICE_INTERFACE_INCLUDE_NONACTIVE 0x1
#define DEVICE_RESET_INTERFACE_VERSION     1
#define DEVICE_RESET_INTERFACE_VERSION_1   1
#define DEVICE_RESET_INTERFACE_VERSION_2   2
#define DEVICE_RESET_INTERFACE_VERSION_3   3
#define PLUGPLAY_PROPERTY_PERSISTENT       0x1
#define PLUGPLAY_REGKEY_CURRENT_HWPROFILE  4
#define PLUGPLAY_REGKEY_DEVICE             1
#define PLUGPLAY_REGKEY_DRIVER             2
#define WDM_MAJORVERSION                   0x6
#define WDM_MINORVERSION                   0x0

typedef struct _PLUGPLAY_NOTIFICATION_HEADER {
    USHORT Version;
    USHORT Size;
    GUID Event;
} PLUGPLAY_NOTIFICATION_HEADER, *PPLUGPLAY_NOTIFICATION_HEADER;

typedef struct _DEVICE_INTERFACE_CHANGE_NOTIFICATION {
    USHORT Version;
    USHORT Size;
    GUID Event;
    GUID InterfaceClassGuid;
    PUNICODE_STRING SymbolicLinkName;
} DEVICE_INTERFACE_CHANGE_NOTIFICATION, *PDEVICE_INTERFACE_CHANGE_NOTIFICATION;

typedef struct _TARGET_DEVICE_CUSTOM_NOTIFICATION {
    USHORT Version;
    USHORT Size;
    GUID Event;
    PFILE_OBJECT FileObject;
    LONG NameBufferOffset;
    UCHAR CustomDataBuffer[1];
} TARGET_DEVICE_CUSTOM_NOTIFICATION, *PTARGET_DEVICE_CUSTOM_NOTIFICATION;

NTKERNELAPI NTSTATUS NTAPI IoCreateDevice(
    PDRIVER_OBJECT DriverObject,
    ULONG DeviceExtensionSize,
    PUNICODE_STRING DeviceName,
    DEVICE_TYPE DeviceType,
    ULONG DeviceCharacteristics,
    BOOLEAN Exclusive,
    PDEVICE_OBJECT *DeviceObject);
NTKERNELAPI VOID NTAPI IoDeleteDevice(PDEVICE_OBJECT DeviceObject);
NTKERNELAPI NTSTATUS NTAPI IoCreateSymbolicLink(
    PUNICODE_STRING SymbolicLinkName, PUNICODE_STRING DeviceName);
NTKERNELAPI NTSTATUS NTAPI IoDeleteSymbolicLink(PUNICODE_STRING SymbolicLinkName);
NTKERNELAPI PDEVICE_OBJECT NTAPI IoAttachDeviceToDeviceStack(
    PDEVICE_OBJECT SourceDevice, PDEVICE_OBJECT TargetDevice);
NTKERNELAPI VOID NTAPI IoDetachDevice(PDEVICE_OBJECT TargetDevice);
NTKERNELAPI PDEVICE_OBJECT NTAPI IoGetAttachedDeviceReference(PDEVICE_OBJECT DeviceObject);
NTKERNELAPI PDEVICE_OBJECT NTAPI IoGetRelatedDeviceObject(PFILE_OBJECT FileObject);
NTKERNELAPI NTSTATUS NTAPI IoGetDeviceObjectPointer(
    PUNICODE_STRING ObjectName,
    ACCESS_MASK DesiredAccess,
    PFILE_OBJECT *FileObject,
    PDEVICE_OBJECT *DeviceObject);
NTKERNELAPI NTSTATUS NTAPI IoGetDeviceProperty(
    PDEVICE_OBJECT DeviceObject,
    DEVICE_REGISTRY_PROPERTY DeviceProperty,
    ULONG BufferLength,
    PVOID PropertyBuffer,
    PULONG ResultLength);
NTKERNELAPI NTSTATUS NTAPI IoOpenDeviceRegistryKey(
    PDEVICE_OBJECT DeviceObject,
    ULONG DevInstKeyType,
    ACCESS_MASK DesiredAccess,
    PHANDLE DeviceRegKey);
NTKERNELAPI NTSTATUS NTAPI IoRegisterDeviceInterface(
    PDEVICE_OBJECT PhysicalDeviceObject,
    const GUID *InterfaceClassGuid,
    PUNICODE_STRING ReferenceString,
    PUNICODE_STRING SymbolicLinkName);
NTKERNELAPI NTSTATUS NTAPI IoSetDeviceInterfaceState(
    PUNICODE_STRING SymbolicLinkName, BOOLEAN Enable);
NTKERNELAPI NTSTATUS NTAPI IoGetDeviceInterfaces(
    const GUID *InterfaceClassGuid,
    PDEVICE_OBJECT PhysicalDeviceObject,
    ULONG Flags,
    PZPWSTR *SymbolicLinkList);
NTKERNELAPI VOID NTAPI IoInvalidateDeviceRelations(
    PDEVICE_OBJECT DeviceObject, DEVICE_RELATION_TYPE Type);
NTKERNELAPI PKEVENT NTAPI IoCreateNotificationEvent(
    PUNICODE_STRING EventName, PHANDLE EventHandle);
NTKERNELAPI PKEVENT NTAPI IoCreateSynchronizationEvent(
    PUNICODE_STRING EventName, PHANDLE EventHandle);
NTKERNELAPI PIO_WORKITEM NTAPI IoAllocateWorkItem(PDEVICE_OBJECT DeviceObject);
NTKERNELAPI VOID NTAPI IoFreeWorkItem(PIO_WORKITEM IoWorkItem);
NTKERNELAPI VOID NTAPI IoQueueWorkItem(
    PIO_WORKITEM IoWorkItem,
    PIO_WORKITEM_ROUTINE WorkerRoutine,
    WORK_QUEUE_TYPE QueueType,
    PVOID Context);
NTKERNELAPI NTSTATUS NTAPI IoRegisterShutdownNotification(PDEVICE_OBJECT DeviceObject);
NTKERNELAPI VOID NTAPI IoUnregisterShutdownNotification(PDEVICE_OBJECT DeviceObject);

typedef struct _IO_ERROR_LOG_PACKET {
    UCHAR MajorFunctionCode;
    UCHAR RetryCount;
    USHORT DumpDataSize;
    USHORT NumberOfStrings;
    USHORT StringOffset;
    USHORT EventCategory;
    NTSTATUS ErrorCode;
    ULONG UniqueErrorValue;
    NTSTATUS FinalStatus;
    ULONG SequenceNumber;
    ULONG IoControlCode;
    LARGE_INTEGER DeviceOffset;
    ULONG DumpData[1];
} IO_ERROR_LOG_PACKET, *PIO_ERROR_LOG_PACKET;

NTKERNELAPI PVOID NTAPI IoAllocateErrorLogEntry(PVOID IoObject, UCHAR EntrySize);
NTKERNELAPI VOID NTAPI IoWriteErrorLogEntry(PVOID ElEntry);
NTKERNELAPI VOID NTAPI IoFreeErrorLogEntry(PVOID ElEntry);

/* --- Remove locks and cancel-safe queues -------------------------------------------------- */

typedef struct _IO_REMOVE_LOCK_COMMON_BLOCK {
    BOOLEAN Removed;
    BOOLEAN Reserved[3];
    LONG IoCount;
    KEVENT RemoveEvent;
} IO_REMOVE_LOCK_COMMON_BLOCK, *PIO_REMOVE_LOCK_COMMON_BLOCK;

typedef struct _IO_REMOVE_LOCK {
    IO_REMOVE_LOCK_COMMON_BLOCK Common;
} IO_REMOVE_LOCK, *PIO_REMOVE_LOCK;

struct _IO_CSQ;
typedef struct _IO_CSQ IO_CSQ, *PIO_CSQ;

typedef void NTAPI IO_CSQ_INSERT_IRP(struct _IO_CSQ *, PIRP);
typedef IO_CSQ_INSERT_IRP *PIO_CSQ_INSERT_IRP;
typedef void NTAPI IO_CSQ_REMOVE_IRP(PIO_CSQ, PIRP);
typedef IO_CSQ_REMOVE_IRP *PIO_CSQ_REMOVE_IRP;
typedef PIRP NTAPI IO_CSQ_PEEK_NEXT_IRP(PIO_CSQ, PIRP, PVOID);
typedef IO_CSQ_PEEK_NEXT_IRP *PIO_CSQ_PEEK_NEXT_IRP;
typedef void NTAPI IO_CSQ_ACQUIRE_LOCK(PIO_CSQ, PKIRQL);
typedef IO_CSQ_ACQUIRE_LOCK *PIO_CSQ_ACQUIRE_LOCK;
typedef void NTAPI IO_CSQ_RELEASE_LOCK(PIO_CSQ, KIRQL);
typedef IO_CSQ_RELEASE_LOCK *PIO_CSQ_RELEASE_LOCK;
typedef void NTAPI IO_CSQ_COMPLETE_CANCELED_IRP(PIO_CSQ, PIRP);
typedef IO_CSQ_COMPLETE_CANCELED_IRP *PIO_CSQ_COMPLETE_CANCELED_IRP;

typedef struct _IO_CSQ {
    ULONG Type;
    PIO_CSQ_INSERT_IRP CsqInsertIrp;
    PIO_CSQ_REMOVE_IRP CsqRemoveIrp;
    PIO_CSQ_PEEK_NEXT_IRP CsqPeekNextIrp;
    PIO_CSQ_ACQUIRE_LOCK CsqAcquireLock;
    PIO_CSQ_RELEASE_LOCK CsqReleaseLock;
    PIO_CSQ_COMPLETE_CANCELED_IRP CsqCompleteCanceledIrp;
    PVOID ReservePointer;
} IO_CSQ, *PIO_CSQ;

/* --- Interrupts --------------------------------------------------------------------------- */

#define CONNECT_CURRENT_VERSION       0x5
#define CONNECT_FULLY_SPECIFIED       0x1
#define CONNECT_FULLY_SPECIFIED_GROUP 0x4
#define CONNECT_LINE_BASED            0x2
#define CONNECT_MESSAGE_BASED         0x3
#define CONNECT_MESSAGE_BASED_PASSIVE 0x5

typedef struct _IO_INTERRUPT_MESSAGE_INFO_ENTRY {
    PHYSICAL_ADDRESS MessageAddress;
    KAFFINITY TargetProcessorSet;
    PKINTERRUPT InterruptObject;
    ULONG MessageData;
    ULONG Vector;
    KIRQL Irql;
    KINTERRUPT_MODE Mode;
    KINTERRUPT_POLARITY Polarity;
} IO_INTERRUPT_MESSAGE_INFO_ENTRY, *PIO_INTERRUPT_MESSAGE_INFO_ENTRY;

typedef struct _IO_INTERRUPT_MESSAGE_INFO {
    KIRQL UnifiedIrql;
    ULONG MessageCount;
    IO_INTERRUPT_MESSAGE_INFO_ENTRY MessageInfo[1];
} IO_INTERRUPT_MESSAGE_INFO, *PIO_INTERRUPT_MESSAGE_INFO;

typedef struct _IO_CONNECT_INTERRUPT_FULLY_SPECIFIED_PARAMETERS {
    PDEVICE_OBJECT PhysicalDeviceObject;
    PKINTERRUPT *InterruptObject;
    PKSERVICE_ROUTINE ServiceRoutine;
    PVOID ServiceContext;
    PKSPIN_LOCK SpinLock;
    KIRQL SynchronizeIrql;
    BOOLEAN FloatingSave;
    BOOLEAN ShareVector;
    ULONG Vector;
    KIRQL Irql;
    KINTERRUPT_MODE InterruptMode;
    KAFFINITY ProcessorEnableMask;
    USHORT Group;
} IO_CONNECT_INTERRUPT_FULLY_SPECIFIED_PARAMETERS;
typedef IO_CONNECT_INTERRUPT_FULLY_SPECIFIED_PARAMETERS
    *PIO_CONNECT_INTERRUPT_FULLY_SPECIFIED_PARAMETERS;

typedef struct _IO_CONNECT_INTERRUPT_LINE_BASED_PARAMETERS {
    PDEVICE_OBJECT PhysicalDeviceObject;
    PKINTERRUPT *InterruptObject;
    PKSERVICE_ROUTINE ServiceRoutine;
    PVOID ServiceContext;
    PKSPIN_LOCK SpinLock;
    KIRQL SynchronizeIrql;
    BOOLEAN FloatingSave;
} IO_CONNECT_INTERRUPT_LINE_BASED_PARAMETERS, *PIO_CONNECT_INTERRUPT_LINE_BASED_PARAMETERS;

typedef struct _IO_CONNECT_INTERRUPT_MESSAGE_BASED_PARAMETERS {
    PDEVICE_OBJECT PhysicalDeviceObject;
    union {
        PVOID *Generic;
        PIO_INTERRUPT_MESSAGE_INFO *InterruptMessageTable;
        PKINTERRUPT *InterruptObject;
    } ConnectionContext;
    PKMESSAGE_SERVICE_ROUTINE MessageServiceRoutine;
    PVOID ServiceContext;
    PKSPIN_LOCK SpinLock;
    KIRQL SynchronizeIrql;
    BOOLEAN FloatingSave;
    PKSERVICE_ROUTINE FallBackServiceRoutine;
} IO_CONNECT_INTERRUPT_MESSAGE_BASED_PARAMETERS, *PIO_CONNECT_INTERRUPT_MESSAGE_BASED_PARAMETERS;

typedef struct _IO_CONNECT_INTERRUPT_PARAMETERS {
    ULONG Version;
    union {
        IO_CONNECT_INTERRUPT_FULLY_SPECIFIED_PARAMETERS FullySpecified;
        IO_CONNECT_INTERRUPT_LINE_BASED_PARAMETERS LineBased;
        IO_CONNECT_INTERRUPT_MESSAGE_BASED_PARAMETERS MessageBased;
    };
} IO_CONNECT_INTERRUPT_PARAMETERS, *PIO_CONNECT_INTERRUPT_PARAMETERS;

typedef struct _IO_DISCONNECT_INTERRUPT_PARAMETERS {
    ULONG Version;
    union {
        PVOID Generic;
        PKINTERRUPT InterruptObject;
        PIO_INTERRUPT_MESSAGE_INFO InterruptMessageTable;
    } ConnectionContext;
} IO_DISCONNECT_INTERRUPT_PARAMETERS, *PIO_DISCONNECT_INTERRUPT_PARAMETERS;

typedef struct _IO_REPORT_INTERRUPT_ACTIVE_STATE_PARAMETERS {
    ULONG Version;
    union {
        PVOID Generic;
        PKINTERRUPT InterruptObject;
        PIO_INTERRUPT_MESSAGE_INFO InterruptMessageTable;
    } ConnectionContext;
} IO_REPORT_INTERRUPT_ACTIVE_STATE_PARAMETERS, *PIO_REPORT_INTERRUPT_ACTIVE_STATE_PARAMETERS;

NTKERNELAPI NTSTATUS NTAPI IoConnectInterruptEx(PIO_CONNECT_INTERRUPT_PARAMETERS Parameters);
NTKERNELAPI VOID NTAPI IoDisconnectInterruptEx(PIO_DISCONNECT_INTERRUPT_PARAMETERS Parameters);

/* --- DMA adapters ------------------------------------------------------------------------- */

typedef void (NTAPI *PPUT_DMA_ADAPTER)(PDMA_ADAPTER);
typedef PVOID (NTAPI *PALLOCATE_COMMON_BUFFER)(PDMA_ADAPTER, ULONG, PPHYSICAL_ADDRESS, BOOLEAN);
typedef void (NTAPI *PFREE_COMMON_BUFFER)(PDMA_ADAPTER, ULONG, PHYSICAL_ADDRESS, PVOID, BOOLEAN);
typedef NTSTATUS (NTAPI *PALLOCATE_ADAPTER_CHANNEL)(
    PDMA_ADAPTER, PDEVICE_OBJECT, ULONG, PDRIVER_CONTROL, PVOID);
typedef BOOLEAN (NTAPI *PFLUSH_ADAPTER_BUFFERS)(PDMA_ADAPTER, PMDL, PVOID, PVOID, ULONG, BOOLEAN);
typedef void (NTAPI *PFREE_ADAPTER_CHANNEL)(PDMA_ADAPTER);
typedef void (NTAPI *PFREE_MAP_REGISTERS)(PDMA_ADAPTER, PVOID, ULONG);
typedef PHYSICAL_ADDRESS (NTAPI *PMAP_TRANSFER)(PDMA_ADAPTER, PMDL, PVOID, PVOID, PULONG, BOOLEAN);
typedef ULONG (NTAPI *PGET_DMA_ALIGNMENT)(PDMA_ADAPTER);
typedef ULONG (NTAPI *PREAD_DMA_COUNTER)(PDMA_ADAPTER);
typedef NTSTATUS (NTAPI *PGET_SCATTER_GATHER_LIST)(
    PDMA_ADAPTER, PDEVICE_OBJECT, PMDL, PVOID, ULONG, PDRIVER_LIST_CONTROL, PVOID, BOOLEAN);
typedef void (NTAPI *PPUT_SCATTER_GATHER_LIST)(PDMA_ADAPTER, PSCATTER_GATHER_LIST, BOOLEAN);
typedef NTSTATUS (NTAPI *PCALCULATE_SCATTER_GATHER_LIST_SIZE)(
    PDMA_ADAPTER, PMDL, PVOID, ULONG, PULONG, PULONG);
typedef NTSTATUS (NTAPI *PBUILD_SCATTER_GATHER_LIST)(
    PDMA_ADAPTER, PDEVICE_OBJECT, PMDL, PVOID, ULONG, PDRIVER_LIST_CONTROL, PVOID, BOOLEAN, PVOID,
    ULONG);
typedef NTSTATUS (NTAPI *PBUILD_MDL_FROM_SCATTER_GATHER_LIST)(
    PDMA_ADAPTER, PSCATTER_GATHER_LIST, PMDL, PMDL *);
typedef NTSTATUS (NTAPI *PGET_DMA_ADAPTER_INFO)(PDMA_ADAPTER, PDMA_ADAPTER_INFO);
typedef NTSTATUS (NTAPI *PGET_DMA_TRANSFER_INFO)(
    PDMA_ADAPTER, PMDL, ULONGLONG, ULONG, BOOLEAN, PDMA_TRANSFER_INFO);
typedef NTSTATUS (NTAPI *PINITIALIZE_DMA_TRANSFER_CONTEXT)(PDMA_ADAPTER, PVOID);
typedef PVOID (NTAPI *PALLOCATE_COMMON_BUFFER_EX)(
    PDMA_ADAPTER, PPHYSICAL_ADDRESS, ULONG, PPHYSICAL_ADDRESS, BOOLEAN, NODE_REQUIREMENT);
typedef NTSTATUS (NTAPI *PALLOCATE_ADAPTER_CHANNEL_EX)(
    PDMA_ADAPTER, PDEVICE_OBJECT, PVOID, ULONG, ULONG, PDRIVER_CONTROL, PVOID, PVOID *);
typedef NTSTATUS (NTAPI *PCONFIGURE_ADAPTER_CHANNEL)(PDMA_ADAPTER, ULONG, PVOID);
typedef BOOLEAN (NTAPI *PCANCEL_ADAPTER_CHANNEL)(PDMA_ADAPTER, PDEVICE_OBJECT, PVOID);
typedef NTSTATUS (NTAPI *PMAP_TRANSFER_EX)(
    PDMA_ADAPTER, PMDL, PVOID, ULONGLONG, ULONG, PULONG, BOOLEAN, PSCATTER_GATHER_LIST, ULONG,
    PDMA_COMPLETION_ROUTINE, PVOID);
typedef NTSTATUS (NTAPI *PGET_SCATTER_GATHER_LIST_EX)(
    PDMA_ADAPTER, PDEVICE_OBJECT, PVOID, PMDL, ULONGLONG, ULONG, ULONG, PDRIVER_LIST_CONTROL,
    PVOID, BOOLEAN, PDMA_COMPLETION_ROUTINE, PVOID, PSCATTER_GATHER_LIST *);
typedef NTSTATUS (NTAPI *PBUILD_SCATTER_GATHER_LIST_EX)(
    PDMA_ADAPTER, PDEVICE_OBJECT, PVOID, PMDL, ULONGLONG, ULONG, ULONG, PDRIVER_LIST_CONTROL,
    PVOID, BOOLEAN, PVOID, ULONG, PDMA_COMPLETION_ROUTINE, PVOID, PVOID);
typedef NTSTATUS (NTAPI *PFLUSH_ADAPTER_BUFFERS_EX)(
    PDMA_ADAPTER, PMDL, PVOID, ULONGLONG, ULONG, BOOLEAN);
typedef void (NTAPI *PFREE_ADAPTER_OBJECT)(PDMA_ADAPTER, IO_ALLOCATION_ACTION);
typedef NTSTATUS (NTAPI *PCANCEL_MAPPED_TRANSFER)(PDMA_ADAPTER, PVOID);
typedef NTSTATUS (NTAPI *PALLOCATE_DOMAIN_COMMON_BUFFER)(
    PDMA_ADAPTER, HANDLE, PPHYSICAL_ADDRESS, ULONG, ULONG, MEMORY_CACHING_TYPE *, NODE_REQUIREMENT,
    PPHYSICAL_ADDRESS, PVOID *);
typedef NTSTATUS (NTAPI *PFLUSH_DMA_BUFFER)(PDMA_ADAPTER, PMDL, BOOLEAN);
typedef NTSTATUS (NTAPI *PJOIN_DMA_DOMAIN)(PDMA_ADAPTER, HANDLE);
typedef NTSTATUS (NTAPI *PLEAVE_DMA_DOMAIN)(PDMA_ADAPTER);
typedef HANDLE (NTAPI *PGET_DMA_DOMAIN)(PDMA_ADAPTER);
typedef PVOID (NTAPI *PALLOCATE_COMMON_BUFFER_WITH_BOUNDS)(
    PDMA_ADAPTER, PPHYSICAL_ADDRESS, PPHYSICAL_ADDRESS, ULONG, ULONG, MEMORY_CACHING_TYPE *,
    NODE_REQUIREMENT, PPHYSICAL_ADDRESS);
typedef NTSTATUS (NTAPI *PALLOCATE_COMMON_BUFFER_VECTOR)(
    PDMA_ADAPTER, PHYSICAL_ADDRESS, PHYSICAL_ADDRESS, MEMORY_CACHING_TYPE, NODE_REQUIREMENT, ULONG,
    ULONG, ULONGLONG, PDMA_COMMON_BUFFER_VECTOR *);
typedef void (NTAPI *PGET_COMMON_BUFFER_FROM_VECTOR_BY_INDEX)(
    PDMA_ADAPTER, PDMA_COMMON_BUFFER_VECTOR, ULONG, PVOID *, PPHYSICAL_ADDRESS);
typedef void (NTAPI *PFREE_COMMON_BUFFER_FROM_VECTOR)(
    PDMA_ADAPTER, PDMA_COMMON_BUFFER_VECTOR, ULONG);
typedef void (NTAPI *PFREE_COMMON_BUFFER_VECTOR)(PDMA_ADAPTER, PDMA_COMMON_BUFFER_VECTOR);
typedef NTSTATUS (NTAPI *PCREATE_COMMON_BUFFER_FROM_MDL)(
    PDMA_ADAPTER, PMDL, PDMA_COMMON_BUFFER_EXTENDED_CONFIGURATION, ULONG, PPHYSICAL_ADDRESS);

typedef struct _DMA_OPERATIONS {
    ULONG Size;
    PPUT_DMA_ADAPTER PutDmaAdapter;
    PALLOCATE_COMMON_BUFFER AllocateCommonBuffer;
    PFREE_COMMON_BUFFER FreeCommonBuffer;
    PALLOCATE_ADAPTER_CHANNEL AllocateAdapterChannel;
    PFLUSH_ADAPTER_BUFFERS FlushAdapterBuffers;
    PFREE_ADAPTER_CHANNEL FreeAdapterChannel;
    PFREE_MAP_REGISTERS FreeMapRegisters;
    PMAP_TRANSFER MapTransfer;
    PGET_DMA_ALIGNMENT GetDmaAlignment;
    PREAD_DMA_COUNTER ReadDmaCounter;
    PGET_SCATTER_GATHER_LIST GetScatterGatherList;
    PPUT_SCATTER_GATHER_LIST PutScatterGatherList;
    PCALCULATE_SCATTER_GATHER_LIST_SIZE CalculateScatterGatherList;
    PBUILD_SCATTER_GATHER_LIST BuildScatterGatherList;
    PBUILD_MDL_FROM_SCATTER_GATHER_LIST BuildMdlFromScatterGatherList;
    PGET_DMA_ADAPTER_INFO GetDmaAdapterInfo;
    PGET_DMA_TRANSFER_INFO GetDmaTransferInfo;
    PINITIALIZE_DMA_TRANSFER_CONTEXT InitializeDmaTransferContext;
    PALLOCATE_COMMON_BUFFER_EX AllocateCommonBufferEx;
    PALLOCATE_ADAPTER_CHANNEL_EX AllocateAdapterChannelEx;
    PCONFIGURE_ADAPTER_CHANNEL ConfigureAdapterChannel;
    PCANCEL_ADAPTER_CHANNEL CancelAdapterChannel;
    PMAP_TRANSFER_EX MapTransferEx;
    PGET_SCATTER_GATHER_LIST_EX GetScatterGatherListEx;
    PBUILD_SCATTER_GATHER_LIST_EX BuildScatterGatherListEx;
    PFLUSH_ADAPTER_BUFFERS_EX FlushAdapterBuffersEx;
    PFREE_ADAPTER_OBJECT FreeAdapterObject;
    PCANCEL_MAPPED_TRANSFER CancelMappedTransfer;
    PALLOCATE_DOMAIN_COMMON_BUFFER AllocateDomainCommonBuffer;
    PFLUSH_DMA_BUFFER FlushDmaBuffer;
    PJOIN_DMA_DOMAIN JoinDmaDomain;
    PLEAVE_DMA_DOMAIN LeaveDmaDomain;
    PGET_DMA_DOMAIN GetDmaDomain;
    PALLOCATE_COMMON_BUFFER_WITH_BOUNDS AllocateCommonBufferWithBounds;
    PALLOCATE_COMMON_BUFFER_VECTOR AllocateCommonBufferVector;
    PGET_COMMON_BUFFER_FROM_VECTOR_BY_INDEX GetCommonBufferFromVectorByIndex;
    PFREE_COMMON_BUFFER_FROM_VECTOR FreeCommonBufferFromVector;
    PFREE_COMMON_BUFFER_VECTOR FreeCommonBufferVector;
    PCREATE_COMMON_BUFFER_FROM_MDL CreateCommonBufferFromMdl;
} DMA_OPERATIONS, *PDMA_OPERATIONS;

NTKERNELAPI struct _DMA_ADAPTER *NTAPI IoGetDmaAdapter(
    PDEVICE_OBJECT PhysicalDeviceObject,
    struct _DEVICE_DESCRIPTION *DeviceDescription,
    PULONG NumberOfMapRegisters);

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_IO_H */
