/* SPDX-License-Identifier: MIT */
/* Devices and domains: attachment, deletion, chosen addresses, large leaves behind the IOTLB. */
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "support/check_rule.h"
#include "util/alloc.h"
#include "verify/verify.h"

#include <string.h>

enum { BOTH = IOMMU_READ | IOMMU_WRITE };

static struct sim_machine *machine;
static struct verify_log *reports;
static struct ram *ram;

static int set_up(void)
{
    const struct sim_config config = {.seed = 3, .processors = 2};

    reports = verify_log_create();
    verify_log_install(reports);
    machine = sim_machine_create(&config);
    sim_enter(machine);
    ram = ram_create(&(struct ram_config){.bytes = (uint64_t)4 << 30});
    return ram ? 0 : -1;
}

static int tear_down(void)
{
    ram_destroy(ram);
    sim_leave();
    sim_machine_destroy(machine);
    verify_log_install(NULL);
    verify_log_destroy(reports);
    return 0;
}

#define RIG_ARGUMENT_device void
#define RIG_RUN_device(body)        \
    test_set_up(set_up, tear_down); \
    body()

static struct iommu_domain *make(enum iommu_mode mode)
{
    struct iommu_domain *domain = iommu_domain_create(
        ram, mode, (struct logical_addr){((uint64_t)1 << 40) - 1});

    CHECK(domain != NULL);
    return domain;
}

static struct page_number page(uint64_t number)
{
    return (struct page_number){number};
}

static struct logical_page device_page(uint64_t number)
{
    return (struct logical_page){number};
}

static uint64_t reach(const struct iommu_domain *domain, uint64_t logical)
{
    struct phys_addr physical;

    if (!iommu_translate(domain, (struct logical_addr){logical * PAGE_BYTES}, IOMMU_WRITE,
                         &physical))
        return 0;
    return physical.value / PAGE_BYTES;
}

/* ---- attachment ---- */

TEST_WITH(device, a_device_has_one_domain_at_most)
{
    struct iommu_domain *one = make(IOMMU_ISOLATION), *other = make(IOMMU_REMAP);
    struct iommu_device device = {.requester = 1}, second = {.requester = 2};

    CHECK_RULE("IOMMU-045", iommu_detach(one, &device) == IOMMU_NOT_ATTACHED);
    CHECK_RULE("IOMMU-045", iommu_attach(one, &device) == IOMMU_DONE && device.domain == one);
    CHECK_RULE("IOMMU-045", iommu_attach(one, &device) == IOMMU_ATTACHED);
    CHECK_RULE("IOMMU-045", iommu_attach(other, &device) == IOMMU_ATTACHED && device.domain == one);
    CHECK_RULE("IOMMU-045", iommu_detach(other, &device) == IOMMU_NOT_ATTACHED);
    CHECK(iommu_attach(one, &second) == IOMMU_DONE && iommu_domain_attached(one) == 2);
    CHECK_RULE("IOMMU-045", iommu_detach(one, &device) == IOMMU_DONE && !device.domain);
    CHECK_RULE("IOMMU-045", iommu_detach(one, &device) == IOMMU_NOT_ATTACHED);
    CHECK_RULE("IOMMU-045", iommu_attach(other, &device) == IOMMU_DONE);
    device.skip_attaches = 1;
    device.fail_attaches = 1;
    CHECK(iommu_detach(other, &device) == IOMMU_DONE && iommu_attach(one, &device) == IOMMU_DONE);
    CHECK(iommu_detach(one, &device) == IOMMU_DONE && iommu_attach(one, &device) == IOMMU_BROKEN);
    CHECK(!device.domain && iommu_attach(one, &device) == IOMMU_DONE);
    iommu_domain_destroy(one);
    iommu_domain_destroy(other);
}

TEST_WITH(device, a_domain_in_use_is_not_deleted)
{
    struct iommu_domain *domain = make(IOMMU_REMAP);
    struct iommu_device device = {.requester = 1};
    struct logical_page at;

    CHECK(iommu_attach(domain, &device) == IOMMU_DONE);
    CHECK_RULE("IOMMU-047", iommu_domain_delete(domain) == IOMMU_IN_USE);
    CHECK(iommu_map_run(domain, page(50), 3, BOTH, &at));
    CHECK(iommu_detach(domain, &device) == IOMMU_DONE);
    CHECK_RULE("IOMMU-047",
               iommu_domain_delete(domain) == IOMMU_IN_USE && reach(domain, at.value + 2) == 52);
    CHECK(iommu_domain_clear(domain) == 3 && ram_page_iommu_maps(ram, page(51)) == 0 &&
          reach(domain, at.value + 2) == 0);
    CHECK_RULE("IOMMU-047", iommu_domain_delete(domain) == IOMMU_DONE);
}

/* ---- two changes at a time ---- */

enum { CHANGES = 2000 };

struct changer {
    struct iommu_domain *domain;
    struct iommu_device *device;
    unsigned done, busy;
};

static void change(void *argument)
{
    struct changer *c = argument;

    for (unsigned i = 0; i < CHANGES; i++) {
        enum iommu_result result = iommu_attach(c->domain, c->device);

        c->busy += result == IOMMU_BUSY;
        if (result == IOMMU_DONE) {
            c->done++;
            while (iommu_detach(c->domain, c->device) == IOMMU_BUSY)
                c->busy++;
        }
    }
}

static void run_changers(struct changer *changers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sim_thread_release(sim_thread_create("changer", SIM_THREAD_KERNEL, change, &changers[i]));
    sim_run(NULL, NULL, SIM_FOREVER);
}

TEST_WITH(device, changes_of_one_device_never_overlap)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION);
    struct iommu_device device = {.requester = 1}, second = {.requester = 2};
    struct changer apart[2] = {{.domain = domain, .device = &device},
                               {.domain = domain, .device = &second}};
    struct changer together[2] = {{.domain = domain, .device = &device},
                                  {.domain = domain, .device = &device}};

    run_changers(apart, 2);
    CHECK(apart[0].done == CHANGES && apart[1].done == CHANGES);
    CHECK(verify_rule_count(reports, "IOMMU-046") == 0);
    run_changers(together, 2); /* nobody keeps them apart: it is told, and does no harm */
    CHECK_RULE("IOMMU-046",
               together[0].busy + together[1].busy > 0 &&
                   verify_rule_count(reports, "IOMMU-046") == together[0].busy + together[1].busy);
    CHECK(iommu_domain_attached(domain) == 0);
    iommu_domain_destroy(domain);
}

/* ---- chosen addresses ---- */

TEST_WITH(device, each_kind_of_domain_places_in_its_way)
{
    const struct iommu_region region = {device_page(100), 16};
    struct iommu_domain *placing = iommu_domain_create_placing(
        ram, (struct logical_addr){(1 << 24) - 1}, &region, 1);
    struct iommu_domain *host = make(IOMMU_REMAP);
    struct logical_page at, chosen = device_page(40), inside = device_page(104);

    CHECK(placing != NULL);
    CHECK_RULE("IOMMU-053",
               iommu_map_at(placing, &chosen, page(40), 1, BOTH, &at) == IOMMU_UNSUPPORTED);
    CHECK_RULE("IOMMU-053", iommu_map_at(placing, NULL, page(40), 2, BOTH, &at) == IOMMU_DONE &&
                                reach(placing, at.value + 1) == 41);
    CHECK_RULE("IOMMU-053", iommu_map_at(placing, &inside, page(104), 4, BOTH, NULL) == IOMMU_DONE &&
                                reach(placing, 107) == 107);
    CHECK(iommu_map_at(placing, &inside, page(9), 1, BOTH, NULL) == IOMMU_UNSUPPORTED);
    iommu_unmap_run(placing, inside, 4);
    CHECK(iommu_map_at(placing, &inside, page(104), 4, BOTH, NULL) == IOMMU_DONE);
    CHECK_RULE("IOMMU-053", iommu_map_at(host, NULL, page(40), 1, BOTH, &at) == IOMMU_UNSUPPORTED);
    CHECK_RULE("IOMMU-053", iommu_map_at(host, &chosen, page(7), 2, BOTH, &at) == IOMMU_DONE &&
                                at.value == 40 && reach(host, 41) == 8);
    CHECK_RULE("IOMMU-053",
               iommu_map_identity_run(host, page(900), 3, BOTH) && reach(host, 902) == 902);
    CHECK_RULE("IOMMU-050", iommu_map_at(host, &chosen, page(7), 1, BOTH, &at) == IOMMU_IN_USE);
    CHECK_RULE("IOMMU-051", iommu_map_at(host, &inside, page(7), 1, 4 | BOTH, &at) == IOMMU_INVALID);
    CHECK(iommu_map_at(host, &inside, page(7), 0, BOTH, &at) == IOMMU_INVALID);
    CHECK(iommu_validate(placing) && iommu_validate(host));
    iommu_domain_destroy(placing);
    iommu_domain_destroy(host);
}

/* ---- large leaves and the IOTLB ---- */

TEST_WITH(device, large_leaves_are_translated_and_flushed)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION);
    const uint64_t gib = (1 << 18);

    CHECK(iommu_map_run(domain, page(gib), 2 * gib, BOTH, NULL));
    CHECK(iommu_domain_large_pages(domain) == 2 && iommu_domain_bytes(domain) < 100000);
    CHECK(reach(domain, gib + 5) == gib + 5 && reach(domain, 2 * gib + 777) == 2 * gib + 777);
    CHECK(ram_page_iommu_maps(ram, page(gib + 5)) == 1);
    /* A second owner of a part, gone again: the leaf was split, and nothing is lost. */
    CHECK(iommu_map_run(domain, page(gib + 600), 10, BOTH, NULL));
    CHECK(iommu_domain_large_pages(domain) == 1 + 511 && iommu_validate(domain));
    iommu_unmap_run(domain, device_page(gib + 600), 10);
    CHECK(reach(domain, gib + 605) == gib + 605 && reach(domain, gib + 5) == gib + 5);
    iommu_unmap_run_unflushed(domain, device_page(gib), 2 * gib);
    CHECK_RULE("IOMMU-074/a", reach(domain, 2 * gib + 778) == 2 * gib + 778);
    iommu_flush_run(domain, device_page(2 * gib + 512),
                    512); /* an invalidation takes the piece it names */
    CHECK_RULE("IOMMU-074/b", reach(domain, 2 * gib + 778) == 0);
    iommu_flush_run(domain, device_page(gib), 2 * gib);
    CHECK(reach(domain, gib + 5) == 0 && reach(domain, gib + 605) == 0);
    CHECK(iommu_domain_mapped_pages(domain) == 0 && ram_page_iommu_maps(ram, page(gib + 5)) == 0);
    CHECK(iommu_domain_delete(domain) == IOMMU_DONE);
}

TEST_WITH(device, a_lost_flush_leaves_the_old_page_in_reach)
{
    struct iommu_domain *domain = make(IOMMU_REMAP);
    struct logical_page at;

    CHECK(iommu_map_run(domain, page(70), 1, BOTH, &at) && reach(domain, at.value) == 70);
    iommu_domain_lose_flushes(domain, 1);
    iommu_unmap_run(domain, at, 1);
    CHECK_RULE("IOMMU-074/a", reach(domain, at.value) == 70 && !iommu_page_mapped(domain, at));
    CHECK(iommu_map_run(domain, page(71), 1, BOTH, NULL));
    iommu_flush_run(domain, at, 1);
    CHECK_RULE("IOMMU-074/b", reach(domain, at.value) == 0);
    iommu_domain_destroy(domain);
}

TEST_WITH(device, rights_grow_without_a_flush)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION);
    struct phys_addr physical;

    CHECK(iommu_map_run(domain, page(70), 1, IOMMU_READ, NULL));
    CHECK(iommu_translate(domain, (struct logical_addr){70 << 12}, IOMMU_READ, &physical));
    CHECK(reach(domain, 70) == 0 && iommu_refusal(domain, (struct logical_addr){70 << 12},
                                                  IOMMU_WRITE) == IOMMU_CAUSE_RIGHTS);
    CHECK(iommu_map_run(domain, page(70), 1, BOTH, NULL));
    CHECK(reach(domain, 70) == 70);
    iommu_domain_destroy(domain);
}

TEST_WITH(device, isolation_is_taken_back_only_before_its_use)
{
    struct iommu_domain *domain = make(IOMMU_OFF);
    struct iommu_device device = {.requester = 1};

    CHECK(!iommu_domain_relax(domain));
    CHECK(iommu_domain_isolate(domain) && iommu_domain_relax(domain) &&
          iommu_domain_mode(domain) == IOMMU_OFF);
    CHECK(iommu_domain_isolate(domain) && iommu_attach(domain, &device) == IOMMU_DONE);
    CHECK_RULE("IOMMU-005",
               !iommu_domain_relax(domain) && iommu_domain_mode(domain) == IOMMU_ISOLATION);
    iommu_domain_destroy(domain);
}
