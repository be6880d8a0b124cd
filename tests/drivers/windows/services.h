/* SPDX-License-Identifier: MIT */
/* What services.c is asked to do, and what it tells. */
#ifndef DXGK_TESTS_SERVICES_H
#define DXGK_TESTS_SERVICES_H

enum services_scenario {
    SERVICES_OBJECTS,    /* each kind of dispatcher object */
    SERVICES_WAITS,      /* each kind of wait */
    SERVICES_MDL,        /* build, map, lock, partial, free */
    SERVICES_REGISTRY,   /* create, set, query, enumerate, delete */
    SERVICES_FLOAT,      /* floating point in a DPC, while a thread computes */
    SERVICES_EXECUTABLE, /* code in executable pool */
    SERVICES_NX,         /* code in pool that is not executable: does not return */
    SERVICES_TIMER_LEFT, /* a timer is set when the driver goes */
};

struct services_report {
    unsigned scenario;
    unsigned checks;      /* what was looked at */
    unsigned failed_line; /* the first that did not hold; 0: none */
};

#endif
