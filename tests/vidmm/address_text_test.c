/* SPDX-License-Identifier: MIT */
/* What is said of an address: the entry on which its walk ends, and the ring of ended mappings. */
#include "support/gva_rig.h"
#include "support/gva_updates.h"
#include "vidmm/space/address_text.h"
#include "vidmm/space/va_history.h"

#include <stdarg.h>

#define SPAN (512ull * 4096)
#define GB   (1ull << 30)

static bool ends_with(const char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool ends_with(const char *text, const char *format, ...)
{
    char end[256];
    size_t length;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(end, sizeof(end), format, arguments);
    va_end(arguments);
    length = strlen(end);
    if (strlen(text) >= length && strcmp(text + strlen(text) - length, end) == 0)
        return true;
    printf("    '%s' does not end: %s\n", end, text);
    return false;
}

static struct vidmm_address_text look(const struct gva_rig *rig, uint64_t va)
{
    struct vidmm_address_text text;

    vidmm_address_text(rig->process, va, &text);
    return text;
}

TEST_WITH(gva, a_page_is_named_with_its_place)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + 5 * 4096, 3, 2)));
    gva_idle(rig);
    CHECK_RULE("TDR-083", ends_with(look(rig, GB + 6 * 4096).walk,
                                    "; level 0 [6] page, segment %u offset 0x%x", GVA_VRAM_SEGMENT,
                                    0x1004000));
    CHECK_RULE("TDR-083", ends_with(look(rig, GB + 7 * 4096).walk, "; level 0 [7] invalid"));
    CHECK(ends_with(look(rig, 2 * GB).walk, "; level 2 [2] invalid"));
    CHECK(ends_with(look(rig, UINT64_MAX).walk, "the address is outside the address space"));
    gva_object_destroy(rig, object);
}

static void large(struct gva_options *options)
{
    options->mmu.LargePageSupported = 1;
}

TEST_WITH(gva, a_large_page_ends_the_walk_above, large(options))
{
    struct gva_object *object = gva_object_resident(rig, 1024, 0x1000);
    uint64_t va = gva_map_simple(rig, object, 512);

    gva_idle(rig);
    CHECK_RULE("TDR-083", ends_with(look(rig, va + 4096).walk,
                                    "; level 1 [%u] large page, segment %u offset 0x%x",
                                    (unsigned)(va / SPAN), GVA_VRAM_SEGMENT, 0x1001000));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_range_of_zero_says_so)
{
    uint64_t va = 0;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &va)));
    gva_idle(rig);
    CHECK_RULE("TDR-083", ends_with(look(rig, va).walk, "] Zero"));
}

/* Each reason has its words. */
TEST_WITH(gva, what_is_not_resident_says_why)
{
    static const char *const words[] = {
        [ABSENCE_NEVER] = "never made resident",
        [ABSENCE_ROOM] = "evicted to make room for others",
        [ABSENCE_OFFERED] = "discarded while it was offered",
        [ABSENCE_EVICTED] = "evicted by D3DKMTEvict",
        [ABSENCE_DEMOTED] = "moved out, its device was over its budget",
        [ABSENCE_MOVED] = "on its way to another place",
        [ABSENCE_POWER] = "moved out for a change of power or of the IOMMU domain",
        [ABSENCE_RESET] = "lost in a reset of the adapter",
    };
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        object->allocation.absence = (enum allocation_absence)i;
        CHECK_RULE("TDR-083", ends_with(look(rig, GB).owner,
                                        "(number %u, 0x8000 bytes) at 0x%llx to "
                                        "0x%llx is mapped there, but not resident: %s; on no "
                                        "residency list",
                                        (unsigned)object->allocation.number.of_client, GB,
                                        GB + 0x7FFF, words[i]));
    }
    object->allocation.number.of_client = 0; /* of a context, say */
    CHECK(strncmp(look(rig, GB).owner, "an allocation of the driver (0x8000 bytes) at ", 46) == 0);
    gva_object_destroy(rig, object);
}

/* The ring keeps 64: one ended mapping more, and the first is forgotten. */
TEST_WITH(gva, ended_mappings_are_kept_for_a_while)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    for (uint64_t i = 0; i < VA_HISTORY; i++) {
        CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + i * 4096, 0, 1)));
        gva_idle(rig);
        CHECK(NT_SUCCESS(gva_free(rig, GB + i * 4096, 1)));
    }
    CHECK_RULE("TDR-083", strncmp(look(rig, GB).owner, "last there was allocation ", 26) == 0);
    CHECK(ends_with(look(rig, GB + VA_HISTORY * 4096).owner, "nothing was ever mapped there"));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + VA_HISTORY * 4096, 0, 1)));
    gva_idle(rig);
    CHECK(NT_SUCCESS(gva_free(rig, GB + VA_HISTORY * 4096, 1)));
    CHECK_RULE("TDR-083",
               ends_with(look(rig, GB).owner, "nothing is mapped there, nor was by any of "
                                              "the last 64 mappings that ended"));
    CHECK(strncmp(look(rig, GB + 4096).owner, "last there was allocation ", 26) == 0);
    gva_object_destroy(rig, object);
}

/* Parts of a mapping end where others are mapped over it: below, above, in the middle. */
TEST_WITH(gva, parts_of_a_mapping_end)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct gva_object *other = gva_object_resident(rig, 8, 0x2000);
    uint64_t va = 0;

    CHECK(NT_SUCCESS(gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &va)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, va + 2 * 4096, 0, 8)));
    CHECK(NT_SUCCESS(gva_map_part(rig, other, va, 0, 3)));
    CHECK(NT_SUCCESS(gva_map_part(rig, other, va + 9 * 4096, 0, 3)));
    CHECK(NT_SUCCESS(gva_map_part(rig, other, va + 5 * 4096, 0, 2)));
    gva_idle(rig);
    gva_object_destroy(rig, other);
    for (uint64_t page = 2; page < 10; page++) {
        bool whole = page == 3 || page == 4 || page == 7 || page == 8;
        const struct va_past *past = NULL;

        for (uint64_t n = 0; n < rig->process->space->history.count; n++)
            if (va / 4096 + page - rig->process->space->history.last[n].first <
                    rig->process->space->history.last[n].pages &&
                rig->process->space->history.last[n].end == MAPPING_REPLACED)
                past = &rig->process->space->history.last[n];
        CHECK_RULE("TDR-083", whole == !past &&
                                  (!past || past->number == object->allocation.number.of_client));
    }
    gva_object_destroy(rig, object);
}
