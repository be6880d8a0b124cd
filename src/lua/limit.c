/* SPDX-License-Identifier: MIT */
/*
 * The end of scripts that compute for ever (KMT-494). A hook that counts instructions would double
 * the time of any script; so a timer of the thread's processor time looks ten times a second
 * how much virtual time has passed, and only a script that is over its limit gets a hook, which
 * raises the error at the next instruction. The hook stays: a script that catches the error meets
 * it again. Each coroutine has hooks of its own, so the functions that enter one keep note of which
 * runs.
 */
#include "lua/limit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>

#include "sim/machine.h"

#define LIMIT_SIGNAL (SIGRTMIN + 7)
#define TICK_MS      100
#define NS_A_SECOND \
    10000000u /* of virtual time that count as progress, for each second of the limit */

/* Threads of one script; what more there are have no limit. */
#define THREADS 64u

struct limit {
    struct limit_thread {
        const struct sim_thread *thread; /* NULL: none */
        lua_State *volatile running;
    } thread[THREADS];
    volatile bool over;
    uint64_t seconds, ns, quiet_ms;
    timer_t timer;
    bool armed;
    char place[256]; /* "file:line: " where it was first found to be over */
};

static _Thread_local struct limit limit;

static struct limit_thread *limit_thread(const struct sim_thread *thread)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (limit.thread[i].thread == thread)
            return &limit.thread[i];
    return NULL;
}

static void too_long(lua_State *L, lua_Debug *where)
{
    (void)where;
    if (!limit.place[0]) {
        luaL_where(L, 0);
        snprintf(limit.place, sizeof(limit.place), "%s", lua_tostring(L, -1));
    }
    lua_pushfstring(
        L,
        "%sthe script took %I s of processor time for less than a hundredth of it in virtual "
        "time (KMT-494, --script-limit)",
        limit.place, (lua_Integer)limit.seconds);
    lua_error(L);
}

static void stop_at_next_instruction(lua_State *L)
{
    lua_sethook(L, too_long, LUA_MASKCOUNT, 1);
}

static void on_tick(int number)
{
    const struct sim_machine *m = sim_current;
    (void)number;
    if (!limit.armed || !m)
        return;
    if (m->now - limit.ns >= limit.seconds * NS_A_SECOND) {
        limit.ns = m->now;
        limit.quiet_ms = 0;
    } else if (m->inside) {
        return; /* the driver's own time */
    } else {
        limit.quiet_ms += TICK_MS; /* of the script, or of the host's threads, which work for it */
    }
    limit.over |= limit.quiet_ms >= limit.seconds * 1000;
    for (unsigned i = 0; limit.over && i < THREADS; i++)
        if (limit.thread[i].running)
            stop_at_next_instruction(limit.thread[i].running);
}

/* Calls the function below its arguments, which runs the coroutine. */
static int run_in(lua_State *L, lua_State *coroutine)
{
    struct limit_thread *here = limit_thread(sim_current->thread);
    int status;

    if (coroutine && here)
        here->running = coroutine;
    status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    if (here)
        here->running = L;
    if (limit.over)
        stop_at_next_instruction(L);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* coroutine.resume and coroutine.close; the original is the upvalue. */
static int enter(lua_State *L)
{
    lua_State *coroutine = lua_tothread(L, 1);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return run_in(L, coroutine);
}

/* What coroutine.wrap returned, and its coroutine, are the upvalues. */
static int step(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return run_in(L, lua_tothread(L, lua_upvalueindex(2)));
}

static int wrap(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    (void)lua_getupvalue(L, -1, 1);
    lua_pushcclosure(L, step, 2);
    return 1;
}

/* In the table on top of the stack. */
static void replace(lua_State *L, const char *name, lua_CFunction function)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

static bool arm(void)
{
    struct sigaction action;
    struct sigevent event;
    const struct itimerspec tick = {.it_interval = {.tv_nsec = TICK_MS * 1000000L},
                                    .it_value = {.tv_nsec = TICK_MS * 1000000L}};

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_tick;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = LIMIT_SIGNAL;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    if (sigaction(LIMIT_SIGNAL, &action, NULL) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &limit.timer) != 0)
        return false;
    limit.armed = true;
    return timer_settime(limit.timer, 0, &tick, NULL) == 0;
}

bool lua_limit_begin(lua_State *L, uint64_t seconds)
{
    memset(&limit, 0, sizeof(limit));
    if (seconds == 0)
        return true;
    lua_getglobal(L, "coroutine");
    replace(L, "resume", enter);
    replace(L, "close", enter);
    replace(L, "wrap", wrap);
    lua_pop(L, 1);
    limit.seconds = seconds;
    lua_limit_enter(L);
    return arm();
}

void lua_limit_enter(lua_State *L)
{
    struct limit_thread *here = limit.seconds ? limit_thread(NULL) : NULL;

    if (!here)
        return;
    here->running = L;
    here->thread = sim_current->thread;
    if (limit.over)
        stop_at_next_instruction(L);
}

void lua_limit_leave(void)
{
    struct limit_thread *here = limit_thread(sim_current->thread);

    if (!here)
        return;
    here->running = NULL;
    here->thread = NULL;
}

void lua_limit_check(lua_State *L)
{
    if (limit.over)
        too_long(L, NULL);
}

void lua_limit_end(void)
{
    memset(limit.thread, 0, sizeof(limit.thread));
    if (limit.armed)
        timer_delete(limit.timer);
    limit.armed = false;
}
