/* SPDX-License-Identifier: MIT */
/* Frame buffer save. */
#include "physical_memory_fuzz.h"

void fuzz_save(unsigned adapter)
{
    unsigned what = fuzz_below(8);
    UINT index = fuzz_below(3);
    struct fuzz_books before = fuzz_books();
    NTSTATUS status = STATUS_SUCCESS;

    switch (what) {
    case 0: {
        DXGKARGCB_PINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index,
                                                .CommitSize = fuzz_quantity()};

        status = physical_save_pin(fuzz_run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pMdl != NULL));
        break;
    }
    case 1: {
        DXGKARGCB_PINFRAMEBUFFERFORSAVE2 args = {
            .PhysicalAdapterIndex = index,
            .CommitSize = fuzz_quantity(),
            .Flags.Value = fuzz_byte() > 240 ? (UINT)fuzz_number(4) : fuzz_below(2)};

        status = physical_save_pin2(fuzz_run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pAdl != NULL));
        break;
    }
    case 2:
    case 3: {
        DXGKARGCB_UNPINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index};

        status = physical_save_unpin(fuzz_run->adapter[adapter], &args);
        break;
    }
    case 4: {
        DXGKARGCB_MAPFRAMEBUFFERPOINTER args = {.PhysicalAdapterIndex = index,
                                                .Size = fuzz_quantity(),
                                                .Offset = fuzz_byte() & 1 ? fuzz_quantity() : 0};
        uint64_t size = args.Size;

        status = physical_save_map(fuzz_run->adapter[adapter], &args);
        MUST((status == STATUS_SUCCESS) == (args.pBaseAddress != NULL));
        if (status == STATUS_SUCCESS) {
            ((char *)args.pBaseAddress)[args.Offset] = 1;
            ((char *)args.pBaseAddress)[args.Offset + size - 1] = 1;
            fuzz_note(PHYSICAL_SAVE_MAPPING, adapter, args.pBaseAddress)->owner = index;
        }
        break;
    }
    case 5:
    case 6: {
        const struct fuzz_thing *thing = fuzz_some(PHYSICAL_SAVE_MAPPING);
        DXGKARGCB_UNMAPFRAMEBUFFERPOINTER args = {
            .PhysicalAdapterIndex = fuzz_byte() & 7 && thing ? thing->owner : index,
            .pBaseAddress = fuzz_handle_of(thing)};

        status = physical_save_unmap(fuzz_run->adapter[adapter], &args);
        if (status == STATUS_SUCCESS)
            fuzz_gone(PHYSICAL_SAVE_MAPPING, args.pBaseAddress);
        break;
    }
    default:
        return;
    }
    if (status != STATUS_SUCCESS)
        fuzz_must_be_unchanged(&before);
}
