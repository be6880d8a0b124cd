/* SPDX-License-Identifier: MIT */
/*
 * The reference GPU, which does something wrong: the option act=NAME at place=CALLBACK, the nth=N time, or with chance=N at one
 * in so many calls; seed=N. What is not the act's is the model's own behaviour. fuzz/device_campaign.py runs it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dxgkhost/device.h"

const struct dxgk_device_model *refgpu_device_get_model(uint32_t api_version);

#define ROOM (1u << 20) /* of the buffer for wild accesses */

enum place { CONFIGURE, CREATE, RESET, READ, WRITE, TIMER, DESTROY, PLACES };

static const char *const place_names[PLACES] = {"configure", "create", "reset",  "read",
                                                "write",     "timer",  "destroy"};

static struct {
    const struct dxgk_device_model *real;
    const struct dxgk_device_services *services; /* the host's */
    struct dxgk_device_services own;             /* what the real model gets */
    void *host;
    char act[40];
    enum place place;
    uint64_t nth, chance, seed;
    uint64_t calls[PLACES];
    /* from the act on */
    bool ones, zeroes, garbage, flips, ignores, deaf;
    uint8_t buffer[ROOM];
} self;

static volatile int *volatile nothing; /* stays NULL */

static uint64_t next(void)
{
    uint64_t z = (self.seed += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t wild(void)
{
    static const uint64_t odd[] = {0,          1,          4095,        4096,
                                   0xFFFFFFFF, 1ull << 32, 1ull << 39,  1ull << 52,
                                   1ull << 63, ~0ull,      ~0ull - 4095};

    return next() % 3 ? odd[next() % (sizeof(odd) / sizeof(odd[0]))] : next();
}

/* ---- acts ---- */

static void dma(void)
{
    size_t run = 0;
    void *window;

    for (unsigned i = 0; i < 8; i++) {
        size_t bytes = next() % 4 ? next() % 8192 : next() % ROOM;

        (void)self.services->dma_read(self.host, wild(), self.buffer, bytes);
        (void)self.services->dma_write(self.host, wild(), self.buffer, bytes);
        window = self.services->dma_window(self.host, wild(), (enum dxgk_dma_access)(next() % 5),
                                           wild(), &run);
        if (window && run)
            (void)*(volatile uint8_t *)window;
        (void)self.services->dma_pasid(self.host, (uint32_t)wild(), wild(),
                                       (enum dxgk_dma_access)(next() % 5), self.buffer, bytes);
    }
}

static void services_wild(void)
{
    const struct dxgk_device_work work = {.node = (unsigned)(next() % 3 ? next() % 4 : wild()),
                                          .fence = (uint32_t)wild(),
                                          .begins = next() % 2,
                                          .bytes = (uint32_t)wild(),
                                          .address = wild()};

    self.services->interrupt(self.host, (uint32_t)wild());
    self.services->timer_arm(self.host, (unsigned)wild(), wild());
    self.services->timer_disarm(self.host, (unsigned)wild());
    (void)self.services->memory(self.host, (unsigned)wild());
    self.services->trace_end(self.host, (unsigned)wild(), "nothing");
    self.services->trace_begin(self.host, (unsigned)wild(), "something", wild());
    self.services->dma_source(self.host, (unsigned)wild(), wild());
    self.services->work(self.host, &work);
}

static void *other_thread(void *argument)
{
    (void)argument;
    dma();
    services_wild();
    return NULL;
}

static void thread(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, other_thread, NULL) == 0)
        pthread_join(other, NULL);
}

static bool is(const char *act)
{
    return strcmp(self.act, act) == 0;
}

/* What ends or holds up the process. */
static void act_on_process(void)
{
    if (is("fault"))
        nothing[4] = 1;
    else if (is("exit"))
        exit(0);
    else if (is("exit_at_once"))
        _exit(0);
    else if (is("abort"))
        abort();
    else if (is("sleep"))
        for (;;)
            pause();
    else if (is("loop"))
        for (;;)
            __asm__ volatile("");
}

static void act(void)
{
    act_on_process();
    if (!self.services) /* not created yet */
        return;
    self.ones |= is("ones");
    self.zeroes |= is("zeroes");
    self.garbage |= is("garbage");
    self.flips |= is("flips");
    self.ignores |= is("ignores");
    self.deaf |= is("deaf");
    if (is("dma"))
        dma();
    else if (is("services"))
        services_wild();
    else if (is("thread"))
        thread();
    else if (is("interrupts"))
        for (unsigned i = 0; i < 1000; i++)
            self.services->interrupt(self.host, (uint32_t)(next() % 4));
    else if (is("timer_now"))
        self.services->timer_arm(self.host, 15, 0);
    else if (is("timer_never"))
        for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++)
            self.services->timer_arm(self.host, i, wild());
}

static void at(enum place place)
{
    self.calls[place]++;
    if (place == self.place &&
        (self.chance ? next() % self.chance == 0 : self.calls[place] == self.nth))
        act();
}

/* ---- the model ---- */

static uint64_t number(const struct dxgk_device_config *config, const char *name, uint64_t otherwise)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < config->count; i++)
        if (strncmp(config->option[i], name, length) == 0 && config->option[i][length] == '=')
            return strtoull(config->option[i] + length + 1, NULL, 0);
    return otherwise;
}

static void options(const struct dxgk_device_config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        const char *option = config->option[i];

        if (strncmp(option, "act=", 4) == 0)
            snprintf(self.act, sizeof(self.act), "%s", option + 4);
        for (unsigned place = 0; strncmp(option, "place=", 6) == 0 && place < PLACES; place++)
            if (strcmp(option + 6, place_names[place]) == 0)
                self.place = (enum place)place;
    }
    self.nth = number(config, "nth", 1);
    self.chance = number(config, "chance", 0);
    self.seed = number(config, "seed", 1);
}

static void describe_wildly(struct dxgk_device_description *description)
{
    switch (next() % 6) {
    case 0:
        description->bar[next() % DXGK_DEVICE_BARS].bytes = wild();
        break;
    case 1:
        description->bar[next() % DXGK_DEVICE_BARS].kind = (enum dxgk_bar_kind)(next() % 6);
        break;
    case 2:
        description->messages = (uint32_t)wild();
        break;
    case 3:
        description->dma_bits = (uint8_t)next();
        break;
    case 4:
        description->device_memory = wild();
        break;
    default:
        description->class_code = (uint32_t)next();
        description->vendor = (uint16_t)next();
        break;
    }
}

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    bool good;

    options(config);
    at(CONFIGURE);
    good = self.real->configure(config, description, error);
    if (is("describe"))
        describe_wildly(description);
    return good && !is("refuse");
}

static void interrupt(void *host, uint32_t message)
{
    if (!self.deaf)
        self.services->interrupt(host, message);
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    self.services = services;
    self.host = host;
    self.own = *services;
    self.own.interrupt = interrupt;
    at(CREATE);
    return is("no_device") ? NULL : self.real->create(config, &self.own, host);
}

static void destroy(void *device)
{
    at(DESTROY);
    self.real->destroy(device);
}

static void reset(void *device)
{
    at(RESET);
    if (!self.ignores)
        self.real->reset(device);
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    uint64_t value;

    at(READ);
    value = self.real->read(device, bar, offset, width);
    if (self.ones)
        return ~0ull;
    if (self.zeroes)
        return 0;
    if (self.garbage && next() % 4 == 0)
        return next();
    return self.flips && next() % 4 == 0 ? value ^ 1ull << next() % 32 : value;
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    at(WRITE);
    if (!self.ignores && !self.ones)
        self.real->write(device, bar, offset, width,
                         self.garbage && next() % 8 == 0 ? next() : value);
}

static void timer(void *device, unsigned number_of_timer)
{
    at(TIMER);
    if (number_of_timer == 15 && is("timer_now"))
        self.services->timer_arm(self.host, 15, 0);
    else if (!self.ignores)
        self.real->timer(device, number_of_timer);
}

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    static const struct dxgk_device_model model = {
        .api_version = DXGK_DEVICE_API_VERSION,
        .name = "refgpu",
        .configure = configure,
        .create = create,
        .destroy = destroy,
        .reset = reset,
        .read = read_register,
        .write = write_register,
        .timer = timer,
    };

    self.real = refgpu_device_get_model(api_version);
    return self.real ? &model : NULL;
}
