/* Private declarations of the executor. */
#ifndef SELVEDGE_EXECUTOR_INTERNAL_H
#define SELVEDGE_EXECUTOR_INTERNAL_H

#include "executor/exe.h"

#define EXE_ASSIGNABLE_MAX 256

struct exe_call;
struct exe_dialer;
struct operation;

struct exe {
    sd_event *event;
    char *helper, *debug_program;
    struct exe_dialer *dialer; /* NULL: setuid mode */
    bool unreachable;          /* see exe_unreachable */
    struct cg_root *cgroups;
    char **local_dirs, **log_dirs;
    bool unenforced_allowed, labels;
    enum exe_profile profile;
    enum exe_network network;
    uint32_t net_rate_kbit, net_ceil_kbit, addresses;
    struct exe_device assignable[EXE_ASSIGNABLE_MAX]; /* by the last answer to CHECK */
    unsigned n_assignable;
    uint64_t next_request;
    uint16_t version;       /* of requests: the older one if the helper has refused ours */
    struct exe_call *calls; /* utlist */
    struct exe_container *containers; /* utlist */
    struct exe_localizer *localizers; /* utlist */
    struct operation *operations;     /* utlist: unanswered */
};

/* helper-client.c: one helper process, one request. `answer` comes first, once, with a reply or
 * NULL (the helper ended without one; then `status` is its wait status); `pidfd` belongs to the
 * callee. `ended` comes once the process has been reaped or, if it is not our child (socket), when
 * the connection has ended: `status` is then a localizer's exit status, else 0. Both from the
 * loop. */
struct exe_call_ops {
    void (*answer)(const struct exe_reply *reply, int pidfd, int status, void *userdata);
    /* After the answer the other side closed the socket: a monitor has written its record. */
    void (*closed)(void *userdata);
    void (*ended)(int status, void *userdata);
};
/* Setuid mode: starts the helper, which waits for its request; socket-activated mode: only creates
 * the object. The caller must not dispatch events before the request is sent. */
int exe_call_open(struct exe *x, struct exe_call **ret, struct sv_error *err) _must_use_;
/* Sends the one request of `c`, which is freed on failure. `fds` are duplicated; `closed` and
 * `ended` may be NULL. */
int exe_call_send(struct exe_call *c, struct exe_request *r, const int *fds, size_t n_fds,
                  const struct exe_call_ops *ops, void *userdata, struct sv_error *err) _must_use_;
/* exe_call_open and exe_call_send. */
int exe_call_start(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                   const struct exe_call_ops *ops, void *userdata, struct exe_call **ret,
                   struct sv_error *err) _must_use_;
/* Before exe_call_send, or instead of it: the helper ends without a request. */
void exe_call_abandon(struct exe_call *c);
/* Frees the call without a callback; the process continues (and is reaped when it ends). NULL is
 * accepted. */
void exe_call_forget(struct exe_call *c);
/* Closes our end of the request socket, which ends a localizer's monitor. */
void exe_call_hang_up(struct exe_call *c);
/* Frees all. */
void exe_calls_free(struct exe *x);

/* policy-check.c: EXE_STATUS_OK, or the mismatch, with a message. */
enum exe_status exe_policy_compare(struct exe *x, const struct exe_reply *reply, char *why,
                                   size_t n);

/* operations.c: a request that ends with its answer. `object` names its object in failures; `done`
 * may be NULL, and is not called if the daemon ends before. */
int exe_operate(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                const char *object, exe_done done, void *userdata) _must_use_;

int exe_operate_signal(struct exe *x, struct exe_request *r, int init, const char *object,
                       exe_signalled done, void *userdata) _must_use_;

/* container.c: the directory of its exit record, opened, of one that runs, else -ESRCH; and whose
 * container it is. */
int exe_container_private(const struct exe_container *c, struct exe **ret) _must_use_;

void exe_failure_set(struct exe_failure *f, enum exe_status status, int error, const char *object,
                     const char *text);

/* container.c: for exe_free. */
void exe_containers_free(struct exe *x);
void exe_localizers_free(struct exe *x);
void exe_operations_free(struct exe *x);

#endif
