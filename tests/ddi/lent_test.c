/* SPDX-License-Identifier: MIT */
/* What a driver writes past or before a structure that it was lent is reported, and hits nothing
 * of the host. */
#include "ddi/support/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "ddi/entry.h"

static struct {
    long offset;   /* of the first byte written, from the structure's start */
    size_t length; /* bytes written */
    int argument;  /* which one is the structure */
} wild;

static void write_wild(struct probe *p, struct probe_call *call)
{
    uint8_t *at = (uint8_t *)call->arg[wild.argument] + wild.offset;

    (void)p;
    for (size_t i = 0; i < wild.length; i++)
        at[i] = (uint8_t)~at[i];
    call->answered = true;
}

static enum ddi_entry number_of(const char *name)
{
    for (unsigned i = 1; i < DDI_CB_POWER_RUNTIME_CONTROL_REQUEST; i++)
        if (strcmp(ddi_entry_infos[i].name, name) == 0)
            return (enum ddi_entry)i;
    return DDI_NONE;
}

/* Reports that one call causes, of a driver that writes there. */
static uint64_t wrong(struct probe *p, const struct entry *entry, long offset, size_t length)
{
    uint64_t before = probe_rule(p, "LIFE-191");

    wild.offset = offset;
    wild.length = length;
    p->before[entry->ddi] = write_wild;
    entry->call(port_adapter_ddi(p->adapter[0]));
    p->before[entry->ddi] = NULL;
    return probe_rule(p, "LIFE-191") - before;
}

static int structure_argument(enum ddi_entry number)
{
    return number == DDI_DxgkDdiGetNodeMetadata || number == DDI_DxgkDdiQueryDeviceDescriptor ||
                   number == DDI_DxgkDdiLinkDevice
               ? 2
               : 1;
}

static void each_entry(struct probe *p)
{
    unsigned count = 0;

    for (size_t i = 0; i < catalogue_count; i++) {
        const struct entry *entry = &catalogue[i];
        enum ddi_entry number = number_of(entry->name);
        long bytes = number ? (long)ddi_entry_infos[number].bytes : 0;

        if (!bytes)
            continue;
        count++;
        wild.argument = structure_argument(number);
        CHECK_RULE("LIFE-191", wrong(p, entry, bytes, 1) == 1);
        CHECK_RULE("LIFE-191", wrong(p, entry, bytes + 63, 1) == 1);
        CHECK_RULE("LIFE-191", wrong(p, entry, bytes, 64) == 1);
        CHECK_RULE("LIFE-191", wrong(p, entry, bytes, 4000) == 1);
        CHECK_RULE("LIFE-191", wrong(p, entry, -1, 1) == 1);
        CHECK_RULE("LIFE-191", wrong(p, entry, -64, 64) == 1);
        CHECK_RULE("LIFE-191", wrong(p, entry, bytes, 0) == 0); /* it was repaired */
    }
    CHECK(count > 30);
}

TEST(a_write_outside_of_a_structure_is_reported)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    CHECK(probe_run(p, each_entry) == SIM_DONE);
    probe_destroy(p);
}

/* ---- fences ---- */

static const struct entry *tried;
static long end;

static void read_past(struct probe *p, struct probe_call *call)
{
    const volatile uint8_t *at = (const uint8_t *)(uintptr_t)call->arg[wild.argument];

    p->before[tried->ddi] = NULL; /* DxgkDdiCollectDbgInfo comes again */
    call->answered = true;
    (void)at[end - 1]; /* is there */
    (void)at[end];
}

static void call_tried(struct probe *p)
{
    p->before[tried->ddi] = read_past;
    tried->call(port_adapter_ddi(p->adapter[0]));
}

TEST(with_special_pool_a_read_past_a_structure_faults)
{
    const struct probe_options options = {.special_pool = true};

    for (size_t i = 0; i < catalogue_count; i++) {
        enum ddi_entry number = number_of(catalogue[i].name);
        struct probe *p;

        tried = &catalogue[i];
        end = number ? (long)ddi_entry_infos[number].bytes : 0;
        if (!end)
            continue;
        wild.argument = structure_argument(number);
        p = probe_create(&options);
        CHECK(NT_SUCCESS(probe_start(p)));
        catalogue_provide(p);
        CHECK_RULE("LIFE-191", probe_run(p, call_tried) == SIM_STOPPED);
        CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") == 1 &&
                                   probe_said(p, "LIFE-191", ", 0 past its end") &&
                                   strcmp(probe_record(p, "LIFE-191")->where, tried->name) == 0);
        probe_destroy(p);
    }
}

/* ---- escapes ---- */

static long data_offset;

static void write_past_data(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ESCAPE *args = (const void *)(uintptr_t)call->arg[1];
    uint8_t *at = (uint8_t *)args->pPrivateDriverData + data_offset;

    (void)p;
    *at = (uint8_t) ~*at;
    call->answered = true;
}

static void escapes(struct probe *p)
{
    static const UINT sizes[] = {8, 2048, 2049, 8000};
    struct ddi_adapter *door = port_adapter_ddi(p->adapter[0]);

    p->before[PROBE_Escape] = write_past_data;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        long outside[] = {-2048, -1, sizes[i], sizes[i] + 4000};
        uint8_t *data = calloc(1, sizes[i]);
        DXGKARG_ESCAPE args = {.pPrivateDriverData = data, .PrivateDriverDataSize = sizes[i]};
        uint64_t reports = probe_rule(p, "LIFE-191");

        for (size_t k = 0; k < sizeof(outside) / sizeof(outside[0]); k++) {
            data_offset = outside[k];
            (void)ddi_escape(door, &args);
            CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") == ++reports);
        }
        data_offset = sizes[i] - 1;
        (void)ddi_escape(door, &args);
        CHECK_RULE("LIFE-191", probe_rule(p, "LIFE-191") == reports && data[sizes[i] - 1] == 0xFF);
        free(data);
    }
}

TEST(a_write_outside_of_escape_data_is_reported)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    CHECK(probe_run(p, escapes) == SIM_DONE);
    probe_destroy(p);
}
