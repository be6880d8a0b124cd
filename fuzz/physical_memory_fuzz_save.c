/* SPDX-License-Identifier: MIT */
/* Frame buffer save. */
#include "physical_memory_fuzz.h"

void save(unsigned adapter)
{
    unsigned what = below(8);
    UINT index = below(3);
    struct books before = books();
    NTSTATUS status = STATUS_SUCCESS;

    switch (what) {
    case 0: {
        DXGKARGCB_PINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index,
                                                .CommitSize = quantity()};

        status = physical_save_pin(run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pMdl != NULL));
        break;
    }
    case 1: {
        DXGKARGCB_PINFRAMEBUFFERFORSAVE2 args = {.PhysicalAdapterIndex = index,
                                                 .CommitSize = quantity(),
                                                 .Flags.Value = byte() > 240 ? (UINT)number(4)
                                                                             : below(2)};

        status = physical_save_pin2(run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pAdl != NULL));
        break;
    }
    case 2:
    case 3: {
        DXGKARGCB_UNPINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index};

        status = physical_save_unpin(run->adapter[adapter], &args);
        break;
    }
    case 4: {
        DXGKARGCB_MAPFRAMEBUFFERPOINTER args = {.PhysicalAdapterIndex = index,
                                                .Size = quantity(),
                                                .Offset = byte() & 1 ? quantity() : 0};
        uint64_t size = args.Size;

        status = physical_save_map(run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pBaseAddress != NULL));
        if (status == STATUS_SUCCESS) {
            ((char *)args.pBaseAddress)[args.Offset] = 1;
            ((char *)args.pBaseAddress)[args.Offset + size - 1] = 1;
            note(PHYSICAL_SAVE_MAPPING, adapter, args.pBaseAddress)->owner = index;
        }
        break;
    }
    case 5:
    case 6: {
        const struct thing *thing = some(PHYSICAL_SAVE_MAPPING);
        DXGKARGCB_UNMAPFRAMEBUFFERPOINTER args = {
            .PhysicalAdapterIndex = byte() & 7 && thing ? thing->owner : index,
            .pBaseAddress = handle_of(thing)};

        status = physical_save_unmap(run->adapter[adapter], &args);
        if (status == STATUS_SUCCESS)
            gone(PHYSICAL_SAVE_MAPPING, args.pBaseAddress);
        break;
    }
    default:
        return;
    }
    if (status != STATUS_SUCCESS)
        must_be_unchanged(&before);
}
