/* SPDX-License-Identifier: MIT */
/*
 * The segment queries of WDDM 1.x: QUERYSEGMENT below 1.2, QUERYSEGMENT3 for 1.2 and 1.3
 * (CAPS-071). Their descriptors are arrays without a stride, and may name banks. They are turned
 * into descriptors of WDDM 2.0, which the rest of the host works with.
 */
#include <string.h>

#include "port/query/segments_1x.h"
#include "port/query/query.h"
#include "port/query/segment_count.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "port/record/port_refuse.h"
#include "util/alloc.h"
#include "vidmm/record/vidmm_config.h"

#define MAX_BANKS    127u   /* the largest HintedBank */
#define FLAGS_OF_1_0 0x3FFu /* bits of DXGK_SEGMENTFLAGS below WDDM 1.2 */
#define FLAGS_OF_1_2 0x7FFu /* and in WDDM 1.2 and 1.3, which add DirectFlip */

/* DXGK_QUERYSEGMENTOUT and DXGK_QUERYSEGMENTOUT3 differ only in the type that the pointer points
 * to. */
_Static_assert(sizeof(DXGK_QUERYSEGMENTOUT) == sizeof(DXGK_QUERYSEGMENTOUT3) &&
                   offsetof(DXGK_QUERYSEGMENTOUT, PagingBufferPrivateDataSize) ==
                       offsetof(DXGK_QUERYSEGMENTOUT3, PagingBufferPrivateDataSize),
               "one reader for both");

struct form {
    DXGK_QUERYADAPTERINFOTYPE type;
    size_t descriptor_bytes;
};

static struct form form_of(const struct port_adapter *adapter)
{
    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WIN8)
        return (struct form){DXGKQAITYPE_QUERYSEGMENT, sizeof(DXGK_SEGMENTDESCRIPTOR)};
    return (struct form){DXGKQAITYPE_QUERYSEGMENT3, sizeof(DXGK_SEGMENTDESCRIPTOR3)};
}

static NTSTATUS query(struct port_adapter *adapter, const struct form *form,
                      DXGK_QUERYSEGMENTOUT3 *out)
{
    DXGK_QUERYSEGMENTIN in; /* SEG-012: there is no AGP aperture */

    memset(&in, 0, sizeof(in));
    return port_query(adapter, form->type, &in, sizeof(in), out, sizeof(*out));
}

/* ---- banks ---- */

/* SEG-037, SEG-038: banks are hints for placement, so a bad table is only reported. The last bank
 * ends with the segment; its entry is not read. Returns how many banks there are, with their ends.
 * */
static UINT read_banks(UINT id, const DXGK_SEGMENTDESCRIPTOR3 *d, SIZE_T end[MAX_BANKS])
{
    SIZE_T before = 0;

    if (!d->Flags.UseBanking || d->Flags.Aperture)
        return 0;
    if (d->NbOfBanks == 0 || d->NbOfBanks > MAX_BANKS) {
        VIOLATION("SEG-038", "segment %u: UseBanking with %u banks; 1 to %u are possible", id,
                  d->NbOfBanks, MAX_BANKS);
        return 0;
    }
    if (d->NbOfBanks > 1 &&
        (!d->pBankRangeTable ||
         !port_boundary_take_bytes(end, d->pBankRangeTable, (d->NbOfBanks - 1) * sizeof(*end)))) {
        VIOLATION("SEG-038", "segment %u: pBankRangeTable cannot be read", id);
        return 0;
    }
    for (UINT bank = 0; bank + 1 < d->NbOfBanks; bank++) {
        if (end[bank] <= before || end[bank] >= d->Size) {
            VIOLATION("SEG-038", "segment %u: bank %u ends at 0x%llx, after 0x%llx of 0x%llx", id,
                      bank + 1, (unsigned long long)end[bank], (unsigned long long)before,
                      (unsigned long long)d->Size);
            return 0;
        }
        before = end[bank];
    }
    end[d->NbOfBanks - 1] = d->Size;
    return d->NbOfBanks;
}

static NTSTATUS take_banks(struct port_adapter *adapter, UINT id, const DXGK_SEGMENTDESCRIPTOR3 *d)
{
    struct port_segments *segments = &adapter->segments;
    SIZE_T end[MAX_BANKS];
    const UINT count = read_banks(id, d, end);
    struct vidmm_bank *bank;

    if (count == 0)
        return STATUS_SUCCESS;
    bank = util_realloc(segments->bank, (segments->bank_count + count) * sizeof(*bank));
    if (!bank)
        return STATUS_NO_MEMORY;
    segments->bank = bank;
    for (UINT i = 0; i < count; i++)
        bank[segments->bank_count++] = (struct vidmm_bank){id, end[i]};
    return STATUS_SUCCESS;
}

/* ---- descriptors ---- */

static DXGK_SEGMENTDESCRIPTOR3 from_first(const DXGK_SEGMENTDESCRIPTOR *d)
{
    return (DXGK_SEGMENTDESCRIPTOR3){
        .Flags = d->Flags,
        .BaseAddress = d->BaseAddress,
        .CpuTranslatedAddress = d->CpuTranslatedAddress,
        .Size = d->Size,
        .NbOfBanks = d->NbOfBanks,
        .pBankRangeTable = d->pBankRangeTable,
        .CommitLimit = d->CommitLimit,
    };
}

static DXGK_SEGMENTDESCRIPTOR4 to_fourth(const DXGK_SEGMENTDESCRIPTOR3 *d)
{
    return (DXGK_SEGMENTDESCRIPTOR4){
        .Flags = d->Flags,
        .BaseAddress = d->BaseAddress,
        .Size = d->Size,
        .CommitLimit = d->CommitLimit,
        .SystemMemoryEndAddress = d->SystemMemoryEndAddress,
        .CpuTranslatedAddress = d->CpuTranslatedAddress,
    };
}

/* Clear flags that only a later version defines. */
static void drop_later_flags(const struct port_adapter *adapter, UINT id, DXGK_SEGMENTFLAGS *flags)
{
    const bool is_1_2 = port_model_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WIN8;
    const UINT known = is_1_2 ? FLAGS_OF_1_2 : FLAGS_OF_1_0;

    if (flags->Value & ~known)
        WARNING("CAPS-079", "segment %u: flags 0x%x do not exist in this driver's WDDM version", id,
                flags->Value & ~known);
    flags->Value &= known;
}

static NTSTATUS take_descriptors(struct port_adapter *adapter, const struct form *form,
                                 const uint8_t *array, UINT count)
{
    DXGK_SEGMENTDESCRIPTOR4 *table = (void *)adapter->segments.table;
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        const void *element = array + i * form->descriptor_bytes;
        DXGK_SEGMENTDESCRIPTOR3 d;

        if (form->type == DXGKQAITYPE_QUERYSEGMENT)
            d = from_first(element);
        else
            memcpy(&d, element, sizeof(d));
        status = take_banks(adapter, i + 1, &d);
        drop_later_flags(adapter, i + 1, &d.Flags);
        table[i] = to_fourth(&d);
    }
    return status;
}

/* ---- the two calls ---- */

static NTSTATUS query_table(struct port_adapter *adapter, const struct form *form, uint8_t *array,
                            UINT count)
{
    const UINT offered = count; /* the element behind is a guard */
    DXGK_QUERYSEGMENTOUT3 out = {.NbSegment = count, .pSegmentDescriptor = (void *)array};
    NTSTATUS status = query(adapter, form, &out);

    if (!NT_SUCCESS(status))
        return status;
    count = port_segment_count_agree(adapter, count, out.NbSegment);
    for (size_t i = 0; i < form->descriptor_bytes; i++)
        if (array[offered * form->descriptor_bytes + i]) {
            PORT_FINDING(adapter, "CAPS-072", "the driver wrote more than %u segment descriptors",
                         offered);
            break;
        }
    status = take_descriptors(adapter, form, array, count);
    adapter->segments.out = (DXGK_QUERYSEGMENTOUT4){
        .NbSegment = count,
        .pSegmentDescriptor = adapter->segments.table,
        .PagingBufferSegmentId = out.PagingBufferSegmentId,
        .PagingBufferSize = out.PagingBufferSize,
        .PagingBufferPrivateDataSize = out.PagingBufferPrivateDataSize,
        .SegmentDescriptorStride = sizeof(DXGK_SEGMENTDESCRIPTOR4),
    };
    adapter->segments.count = count;
    return status;
}

NTSTATUS port_segments_1x_query(struct port_adapter *adapter)
{
    struct form form = form_of(adapter);
    DXGK_QUERYSEGMENTOUT3 out;
    uint8_t *array;
    NTSTATUS status;

    memset(&out, 0, sizeof(out));
    status = query(adapter, &form, &out);
    if (NT_SUCCESS(status))
        status = port_segment_count_check(adapter, out.NbSegment);
    if (!NT_SUCCESS(status))
        return status;
    array = util_zalloc((size_t)out.NbSegment + 1, form.descriptor_bytes);
    adapter->segments.table = util_zalloc((size_t)out.NbSegment + 1,
                                          sizeof(DXGK_SEGMENTDESCRIPTOR4));
    status = array && adapter->segments.table ? query_table(adapter, &form, array, out.NbSegment)
                                              : STATUS_NO_MEMORY;
    util_free(array);
    return status;
}
