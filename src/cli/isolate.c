/* SPDX-License-Identifier: MIT */
/*
 * A machine's process without rights.
 *
 *   seccomp      the system calls that a machine needs are allowed, with arguments that stay inside
 *                the process; any other arrives here as SIGSYS before anything was done
 *   Landlock     no file can be opened and no socket connected, even if a call came through
 *   namespaces   no network device, no other process's message queues, where the system allows it
 *
 * SIGSYS of a call that opens or looks at a file asks the broker, and hands its answer to the
 * caller. That of rt_sigprocmask does what was asked, but leaves SIGSYS unblocked: where it is
 * blocked, the system ends the process, and the refused call has no name; C libraries start new
 * processes so. Any other call fails with EPERM if client, device model or host made it. A driver
 * that makes one, or is refused a file, is named, and its process ends: what else it would do can
 * no longer be told.
 */
#include "cli/isolate.h"

#ifdef DXGK_HAVE_SECCOMP

#include "cli/broker.h"
#include "host/last_words.h"
#include "loader/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static int broker = -1; /* of this process, for the signal handler */

/* ---- the calls that are needed ---- */

static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(msync),
    SCMP_SYS(brk),
    SCMP_SYS(memfd_create),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(timer_create),
    SCMP_SYS(timer_settime),
    SCMP_SYS(timer_gettime),
    SCMP_SYS(timer_delete),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(getrandom),
    SCMP_SYS(sched_yield),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getcwd),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3), /* freopen */
    SCMP_SYS(getrusage),
    SCMP_SYS(times),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(restart_syscall),
};

static bool allow_if(scmp_filter_ctx filter, int call, unsigned argument, scmp_datum_t value)
{
    const struct scmp_arg_cmp is = {
        .arg = argument, .op = SCMP_CMP_EQ, .datum_a = value, .datum_b = 0};

    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &is) == 0;
}

/* To read its own limits. */
static bool allow_limits(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp none[] = {{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = 0, .datum_b = 0},
                                        {.arg = 2, .op = SCMP_CMP_EQ, .datum_a = 0, .datum_b = 0}};

    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, none) == 0;
}

static bool allow_some(scmp_filter_ctx filter)
{
    static const int fcntls[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, F_ADD_SEALS};
    const scmp_datum_t self = (scmp_datum_t)getpid(), channel = (scmp_datum_t)broker;
    bool good = true;

    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        good &= seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, allowed[i], 0, NULL) == 0;
    for (size_t i = 0; i < sizeof(fcntls) / sizeof(fcntls[0]); i++)
        good &= allow_if(filter, SCMP_SYS(fcntl), 1, (scmp_datum_t)fcntls[i]);
    good &= allow_if(filter, SCMP_SYS(ioctl), 1, TCGETS);
    good &= allow_if(filter, SCMP_SYS(kill), 0, self);
    good &= allow_if(filter, SCMP_SYS(tgkill), 0, self);
    good &= allow_if(filter, SCMP_SYS(sendmsg), 0, channel);
    good &= allow_if(filter, SCMP_SYS(recvmsg), 0, channel);
    return good && allow_limits(filter);
}

/* ---- asking the broker ---- */

/* Returns what a system call would: a file or 0, or -errno. */
static long ask(const struct cli_file_request *request, struct cli_file_answer *answer)
{
    struct iovec out = {(void *)(uintptr_t)request, sizeof(*request)},
                 in = {answer, sizeof(*answer)};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr question = {.msg_iov = &out, .msg_iovlen = 1},
                  reply = {.msg_iov = &in,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof(control.bytes)};
    int file;

    if (sendmsg(broker, &question, MSG_NOSIGNAL) < 0 ||
        recvmsg(broker, &reply, MSG_CMSG_CLOEXEC) != sizeof(*answer))
        return -EIO;
    if (answer->error)
        return -answer->error;
    if (request->operation != CLI_FILE_OPEN)
        return 0;
    if (reply.msg_controllen < sizeof(control.header))
        return -EIO;
    memcpy(&file, CMSG_DATA(&control.header), sizeof(file));
    return file;
}

/* A file call in the form of the newer ones: folder, path, and the arguments from `rest` on. */
struct file_call {
    enum cli_file_operation operation;
    int folder;
    const char *path;
    const greg_t *rest[2];
};

static bool is_file_call(int number, const greg_t *regs, struct file_call *call)
{
    const bool at = number == SYS_openat || number == SYS_newfstatat || number == SYS_readlinkat ||
                    number == SYS_faccessat || number == SYS_faccessat2;
    const greg_t *argument[] = {&regs[REG_RDI], &regs[REG_RSI], &regs[REG_RDX], &regs[REG_R10]};

    switch (number) {
    case SYS_openat:
    case SYS_open:
        call->operation = CLI_FILE_OPEN;
        break;
    case SYS_newfstatat:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_faccessat:
    case SYS_faccessat2:
        call->operation = CLI_FILE_STAT;
        break;
    case SYS_readlink:
    case SYS_readlinkat:
        call->operation = CLI_FILE_LINK;
        break;
    default:
        return false;
    }
    call->folder = at ? (int)*argument[0] : AT_FDCWD;
    call->path = (const char *)*argument[at];
    call->rest[0] = argument[1 + at];
    call->rest[1] = argument[2 + (at && number != SYS_newfstatat)];
    return true;
}

static long open_by_broker(int number, const struct file_call *call)
{
    struct cli_file_request request = {.operation = call->operation};
    struct cli_file_answer answer;
    const bool looks = number == SYS_access || number == SYS_faccessat || number == SYS_faccessat2;
    long result;

    if (number == SYS_newfstatat && call->path && !call->path[0]) /* of an open file */
        return syscall(SYS_fstat, call->folder, *call->rest[0]) == 0 ? 0 : -errno;
    if (call->folder != AT_FDCWD && call->path[0] != '/')
        return -EPERM;
    if (strlen(call->path) >= sizeof(request.path))
        return -ENAMETOOLONG;
    strcpy(request.path, call->path);
    if (call->operation == CLI_FILE_OPEN) {
        request.flags = (int)*call->rest[0];
        request.mode = (mode_t)*call->rest[1];
    }
    result = ask(&request, &answer);
    if (result < 0 || call->operation == CLI_FILE_OPEN || looks)
        return result;
    if (call->operation == CLI_FILE_STAT) {
        memcpy((void *)*call->rest[0], &answer.status, sizeof(answer.status));
        return 0;
    }
    if (answer.length > (size_t)*call->rest[1])
        answer.length = (size_t)*call->rest[1];
    memcpy((void *)*call->rest[0], answer.link, answer.length);
    return (long)answer.length;
}

/* ---- blocking of signals ---- */

/* rt_sigprocmask: the mask of the interrupted context is what holds after the handler. */
static long change_mask(ucontext_t *context)
{
    const greg_t *regs = context->uc_mcontext.gregs;
    const uint64_t *set = (const uint64_t *)regs[REG_RSI];
    uint64_t *old = (uint64_t *)regs[REG_RDX];
    uint64_t before, wanted = 0;

    if (regs[REG_R10] != sizeof(before))
        return -EINVAL;
    memcpy(&before, &context->uc_sigmask, sizeof(before));
    if (set)
        memcpy(&wanted, set, sizeof(wanted));
    wanted &= ~(UINT64_C(1) << (SIGSYS - 1));
    switch (set ? (int)regs[REG_RDI] : SIG_BLOCK) {
    case SIG_BLOCK:
        wanted = before | wanted;
        break;
    case SIG_UNBLOCK:
        wanted = before & ~wanted;
        break;
    case SIG_SETMASK:
        break;
    default:
        return -EINVAL;
    }
    memcpy(&context->uc_sigmask, &wanted, sizeof(wanted));
    if (old)
        memcpy(old, &before, sizeof(before));
    return 0;
}

/* ---- refusals ---- */

static void name_call(int number, const struct file_call *call, char *text, size_t bytes)
{
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number);

    if (call)
        snprintf(text, bytes, "%s(\"%.200s\")", name ? name : "?", call->path);
    else
        snprintf(text, bytes, "%s (number %d)", name ? name : "?", number);
}

/* Told once for each call, on the file that standard error is. */
static void tell_refusal(int number, const char *what)
{
    static bool told[1024];
    char line[512];
    int length;

    if (number < 0 || number >= 1024 || told[number])
        return;
    told[number] = true;
    length = snprintf(line, sizeof(line), "dxgkhost: isolated: refused the system call %s\n", what);
    (void)!write(STDERR_FILENO, line, (size_t)length);
}

static void on_system_call(int signal, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    const int number = info->si_syscall;
    const int saved = errno;
    struct file_call call;
    bool files;
    long result = -EPERM;
    char what[300];

    (void)signal;
    if (number == SYS_rt_sigprocmask) {
        context->uc_mcontext.gregs[REG_RAX] = change_mask(context);
        return;
    }
    files = is_file_call(number, context->uc_mcontext.gregs, &call);
    if (files && !(host_last_words_in_driver_call() && number != SYS_newfstatat))
        result = open_by_broker(number, &call);
    if (result == -EPERM || result == -EACCES) {
        name_call(number, files ? &call : NULL, what, sizeof(what));
        if (host_last_words_in_driver())
            host_last_words_system_call(what, context);
        tell_refusal(number, what);
    }
    context->uc_mcontext.gregs[REG_RAX] = result;
    errno = saved;
}

/* ---- giving up rights ---- */

static void restrict_by_landlock(void)
{
    struct landlock_ruleset_attr rules = {.handled_access_fs = (UINT64_C(1) << 13) - 1};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    long set;

    if (version < 1)
        return;
    if (version >= 2)
        rules.handled_access_fs |= UINT64_C(1) << 13; /* to link or rename across folders */
    if (version >= 3)
        rules.handled_access_fs |= UINT64_C(1) << 14; /* to truncate */
    set = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
    if (set < 0)
        return;
    (void)syscall(SYS_landlock_restrict_self, set, 0);
    close((int)set);
}

bool cli_isolate_possible(const char **why)
{
    if (prctl(PR_GET_SECCOMP) == 0)
        return true;
    *why = "the system has no seccomp filters";
    return false;
}

bool cli_isolate(int socket, const char **why)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    struct sigaction action;
    bool done;

    broker = socket;
    loader_threads_hide();
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    (void)unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC);
    *why = "the filter of system calls was refused";
    done = filter && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           sigaction(SIGSYS, &action, NULL) == 0;
    if (done) {
        restrict_by_landlock();
        done = allow_some(filter) && seccomp_load(filter) == 0;
    }
    if (filter)
        seccomp_release(filter);
    return done;
}

#else

bool cli_isolate_possible(const char **why)
{
    *why = "this build has no isolation, since libseccomp was not there";
    return false;
}

bool cli_isolate(int socket, const char **why)
{
    (void)socket;
    return cli_isolate_possible(why);
}

#endif
