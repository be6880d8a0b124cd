/* SPDX-License-Identifier: MIT */
/* Termination handlers: their order, the ways that lead into them, and unwinding that collides with another one. */
#include "seh_kit.h"

static NOINLINE void finally_inner(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
            BEHIND_CALL();
        } __finally {
            note(2);
            report->value += (unsigned)_abnormal_termination();
        }
    } __finally {
        note(3);
        report->value += (unsigned)_abnormal_termination();
    }
    note(99);
}

static NOINLINE void finally_order(void)
{
    __try {
        __try {
            finally_inner();
        } __finally {
            note(4);
        }
    } __except (note(1), SEEN(TAKE)) {
        note(5);
    }
}
static NOINLINE void finally_normal(void)
{
    __try {
        nothing();
        note(1);
    } __finally {
        note(2);
        report->value = (unsigned)_abnormal_termination();
    }
    note(3);
}

static NOINLINE void leave(void)
{
    __try {
        nothing();
        note(1);
        if (report->count)
            __leave;
        note(99);
    } __finally {
        note(2);
    }
    note(3);
}

static NOINLINE unsigned return_out(void)
{
    __try {
        nothing();
        note(1);
        if (report->count)
            return 42;
        nothing();
    } __finally {
        note(2);
    }
    return 1;
}

static NOINLINE void goto_out(void)
{
    __try {
        __try {
            nothing();
            note(1);
            if (report->count)
                goto out;
            nothing();
        } __except (TAKE) {
            note(99);
        }
    } __finally {
        note(2);
    }
    note(98);
out:
    note(3);
}
/* ---- exceptions of termination handlers ---- */

static NOINLINE void collides_inside(void)
{
    __try {
        raise_status(STATUS_OF_OURS);
    } __finally {
        note(2);
        raise_status(ANOTHER_STATUS);
    }
}

static NOINLINE void collides_between(void)
{
    __try {
        collides_inside();
    } __finally {
        note(4);
    }
}

static NOINLINE void collided(void)
{
    __try {
        __try {
            collides_between();
        } __except (note(3), _exception_code() == (unsigned long)ANOTHER_STATUS ? TAKE : DISMISS) {
            note(5);
            report->value = (unsigned)_exception_code();
        }
    } __except (note(1), SEEN(TAKE)) {
        note(99);
    }
}

/* All scopes in one function: only those around the one that failed are left. */
static NOINLINE void collides_once(void)
{
    __try {
        __try {
            __try {
                raise_status(STATUS_OF_OURS);
                BEHIND_CALL();
            } __finally {
                note(2);
                raise_status(ANOTHER_STATUS);
                BEHIND_CALL();
            }
        } __finally {
            note(4);
        }
    } __except (note(_exception_code() == (unsigned long)STATUS_OF_OURS ? 1 : 3), SEEN(TAKE)) {
        note(5);
    }
}

int play_finally(unsigned scenario)
{
    switch (scenario) {
    case SEH_FINALLY_ORDER:
        finally_order();
        return 1;
    case SEH_FINALLY_NORMAL:
        finally_normal();
        return 1;
    case SEH_LEAVE:
        leave();
        return 1;
    case SEH_RETURN:
        report->value = return_out();
        return 1;
    case SEH_GOTO:
        goto_out();
        return 1;
    case SEH_COLLIDED:
        collided();
        return 1;
    case SEH_COLLIDED_SAME_FUNCTION:
        collides_once();
        return 1;
    default:
        return 0;
    }
}
