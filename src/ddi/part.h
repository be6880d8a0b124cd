/* SPDX-License-Identifier: MIT */
/* The description of what a structure of a DDI points to. */
#ifndef DXGK_DDI_PART_H
#define DXGK_DDI_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which way the bytes go. */
enum ddi_part_way {
    DDI_PART_IN,   /* to the driver; what it writes there is dropped */
    DDI_PART_BACK, /* to the driver and back */
};

/* A pointer in a structure, and what it leads to: `count` elements of `each` bytes. */
struct ddi_part {
    size_t pointer;   /* offset of the pointer */
    size_t count;     /* offset of the count */
    unsigned counted; /* bytes of the count, 2, 4 or 8; 0: there is one element */
    size_t each;
    size_t (*bytes)(const void *structure); /* instead of count and each */
    /* whether the pointer is there, and leads to this: of a union, or by a type; NULL: it is */
    bool (*applies)(const void *structure);
    const struct ddi_part *inner; /* what each element points to; `each` is set then */
    const char *what;             /* for reports: "the private data of DXGKARG_ESCAPE" */
    const char *rule;             /* that a write outside breaks; NULL: LIFE-191 */
    const char *constant;         /* that a write to what only goes in breaks; NULL: none */
    enum ddi_part_way way;
    /* the host compares the pointer with its own itself: what the driver left there comes back, if
     * it is another */
    bool told;
};

/* The table (part_table.c), of each structure that has parts. */
extern const struct ddi_part ddi_parts_query_adapter_info[];
extern const struct ddi_part ddi_parts_query_device_descriptor[];
extern const struct ddi_part ddi_parts_escape[];
extern const struct ddi_part ddi_parts_query_interface[];
extern const struct ddi_part ddi_parts_dispatch_io_request[];
extern const struct ddi_part ddi_parts_create_process[];
extern const struct ddi_part ddi_parts_create_device_info[];
extern const struct ddi_part ddi_parts_create_context[];
extern const struct ddi_part ddi_parts_create_hw_context[];
extern const struct ddi_part ddi_parts_create_hw_queue[];
extern const struct ddi_part ddi_parts_submit_to_hw_queue[];
extern const struct ddi_part ddi_parts_create_native_fence[];
extern const struct ddi_part ddi_parts_monitored_values[];
extern const struct ddi_part ddi_parts_current_values[];
extern const struct ddi_part ddi_parts_create_doorbell[];
extern const struct ddi_part ddi_parts_present_display_only[];
extern const struct ddi_part ddi_parts_present[];
extern const struct ddi_part ddi_parts_present_planes[];
extern const struct ddi_part ddi_parts_check_planes[];
extern const struct ddi_part ddi_parts_check_planes_2[];
extern const struct ddi_part ddi_parts_check_planes_3[];
extern const struct ddi_part ddi_parts_show_planes[];
extern const struct ddi_part ddi_parts_show_planes_2[];
extern const struct ddi_part ddi_parts_show_planes_3[];
extern const struct ddi_part ddi_parts_set_pointer_shape[];
extern const struct ddi_part ddi_parts_update_path[];
extern const struct ddi_part ddi_parts_set_gamma[];
extern const struct ddi_part ddi_parts_set_palette[];
extern const struct ddi_part ddi_parts_set_timings[];
extern const struct ddi_part ddi_parts_recommend_vidpn[];
extern const struct ddi_part ddi_parts_create_allocation[];
extern const struct ddi_part ddi_parts_destroy_allocation[];
extern const struct ddi_part ddi_parts_open_allocation[];
extern const struct ddi_part ddi_parts_close_allocation[];
extern const struct ddi_part ddi_parts_standard_data[];
extern const struct ddi_part ddi_parts_map_cpu_host_aperture[];
extern const struct ddi_part ddi_parts_unmap_cpu_host_aperture[];
extern const struct ddi_part ddi_parts_collect_dbg_info[];

#endif
