/* The helper's operations that end with their answer (check, init, signal, delete), and localizers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <utlist.h>

#include "common/fd.h"
#include "common/str.h"
#include "executor/internal.h"
#include "executor/network-plan.h"

struct operation {
    struct operation *prev, *next; /* of exe->operations */
    struct exe *exe;
    exe_done done;
    void *userdata;
    bool check;
    char object[EXE_TEXT_MAX];
};

const char *exe_profile_name(enum exe_profile p)
{
    static const char *const names[] = { "", "strict", "hadoop", "host" };
    return names[p <= EXE_PROFILE_HOST ? p : 0];
}

const char *exe_network_name(enum exe_network n)
{
    static const char *const names[] = { "host", "none", "private", "" };
    return names[n <= EXE_NETWORK_PRIVATE ? n : 3];
}

void exe_network_line(struct net_request *q, const char *key, const char *value)
{
    q->magic = NET_MAGIC;
    q->version = NET_VERSION;
    if (strcmp(key, "network-mode") == 0)
        (void)snprintf(q->mode, sizeof(q->mode), "%s", value);
    else if (strcmp(key, "network-link") == 0)
        (void)snprintf(q->link, sizeof(q->link), "%s", value);
    else if (strcmp(key, "network-range") == 0)
        (void)snprintf(q->range, sizeof(q->range), "%s", value);
    else if (strcmp(key, "network-gateway") == 0)
        (void)snprintf(q->gateway, sizeof(q->gateway), "%s", value);
    else if (strcmp(key, "network-mtu") == 0)
        q->mtu = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(key, "network-outbound-mbit") == 0)
        q->total_kbit = (uint32_t)strtoul(value, NULL, 10) * 1000;
}

/* The answer to CHECK: lines of key=value, against our own settings. */
struct policy {
    const struct exe *exe;
    size_t n_local, n_log;
    bool profile, network; /* ours is one of those that are allowed */
    struct net_request net;
    char wrong[256];
    char unfiltered[256]; /* why it starts nothing, although all is in order */
};

static void wrong(struct policy *p, const char *what, const char *theirs, const char *ours)
{
    if (p->wrong[0] == '\0')
        (void)snprintf(p->wrong, sizeof(p->wrong),
                       "%s: container-executor.cfg has %.80s, the NodeManager has %.80s", what,
                       theirs, ours ? ours : "none");
}

static void compare_dir(struct policy *p, const char *what, char **ours, size_t *n,
                        const char *theirs)
{
    const char *mine = *n < sv_strv_len(ours) ? ours[*n] : NULL;
    ++*n;
    if (!sv_streq(mine, theirs))
        wrong(p, what, theirs, mine);
}

static void compare(struct policy *p, const char *key, const char *value)
{
    const struct exe *x = p->exe;
    if (strcmp(key, "local-dir") == 0)
        compare_dir(p, "yarn.nodemanager.local-dirs", x->local_dirs, &p->n_local, value);
    else if (strcmp(key, "log-dir") == 0)
        compare_dir(p, "yarn.nodemanager.log-dirs", x->log_dirs, &p->n_log, value);
    else if (strcmp(key, "cgroup-root") == 0 && x->cgroups &&
             !sv_streq(value, cg_root_path(x->cgroups)))
        wrong(p, "selvedge.cgroup.root", value, cg_root_path(x->cgroups));
    else if (strcmp(key, "unenforced-limits-allowed") == 0 && x->cgroups &&
             cg_root_missing(x->cgroups) && (!x->unenforced_allowed || strcmp(value, "true") != 0))
        wrong(p, "limits cannot be enforced here and this is not allowed by both sides", value,
              x->unenforced_allowed ? "true" : "false");
    else if (strcmp(key, "profile") == 0)
        p->profile |= strcmp(value, exe_profile_name(x->profile)) == 0;
    else if (strcmp(key, "network") == 0)
        p->network |= strcmp(value, exe_network_name(x->network)) == 0;
    else if (strcmp(key, "no-device-filter") == 0)
        (void)snprintf(p->unfiltered, sizeof(p->unfiltered), "%s", value);
    else if (strncmp(key, "network-", 8) == 0)
        exe_network_line(&p->net, key, value);
    else if (strcmp(key, "selinux") == 0 && (strcmp(value, "off") == 0) == x->labels)
        wrong(p, "selvedge.sandbox.selinux and selvedge.nodemanager.selinux.labels", value,
              x->labels ? "true" : "false");
}

/* What this daemon would ask for and root does not allow. */
static void not_allowed(struct policy *p, const char *ours, const char *value, const char *theirs)
{
    if (p->wrong[0] == '\0')
        (void)snprintf(p->wrong, sizeof(p->wrong),
                       "%s is %s, which %s in container-executor.cfg does not allow; add it "
                       "there, or use one that is there",
                       ours, value, theirs);
}

/* What each launch would be refused for is said at once. */
static void plan_network(struct exe *x, struct policy *p)
{
    struct net_plan plan;
    char why[NET_TEXT_MAX];
    p->net.rate_kbit = x->net_rate_kbit;
    p->net.ceil_kbit = x->net_ceil_kbit;
    if (net_plan_make(&p->net, &plan, why, sizeof(why)) == 0)
        x->addresses = net_plan_addresses(&plan);
    else if (p->wrong[0] == '\0')
        (void)snprintf(p->wrong, sizeof(p->wrong), "network private: %.200s", why);
}

/* EXE_STATUS_OK, or what is at fault, with words. */
static enum exe_status compare_policy(struct exe *x, const struct exe_reply *reply, char *why,
                                      size_t n)
{
    struct policy p = { .exe = x };
    _cleanup_free_ char *text = strndup(reply->text, reply->text_len);
    char *rest = text;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = '\0';
        compare(&p, line, value);
    }
    if (!text)
        (void)snprintf(p.wrong, sizeof(p.wrong), "out of memory");
    if (p.n_local < sv_strv_len(x->local_dirs))
        wrong(&p, "yarn.nodemanager.local-dirs", "fewer", "more");
    if (p.n_log < sv_strv_len(x->log_dirs))
        wrong(&p, "yarn.nodemanager.log-dirs", "fewer", "more");
    if (x->profile && !p.profile)
        not_allowed(&p, "selvedge.nodemanager.sandbox.profile", exe_profile_name(x->profile),
                    "selvedge.sandbox.profiles");
    if (x->profile && !p.network)
        not_allowed(&p, "selvedge.nodemanager.network", exe_network_name(x->network),
                    "selvedge.sandbox.networks");
    else if (x->profile && x->network == EXE_NETWORK_PRIVATE)
        plan_network(x, &p);
    (void)snprintf(why, n, "%s", p.wrong[0] ? p.wrong : p.unfiltered);
    return p.wrong[0]        ? EXE_STATUS_CONFIG_SYNTAX
           : p.unfiltered[0] ? EXE_STATUS_DEVICE_FILTER
                             : EXE_STATUS_OK;
}

static void on_answer(const struct exe_reply *reply, int pidfd, int status, void *userdata)
{
    struct operation *o = userdata;
    struct exe_failure f;
    char why[256];
    bool failed = !reply || reply->status != EXE_STATUS_OK;
    (void)sv_close(pidfd);
    DL_DELETE(o->exe->operations, o);
    if (failed) {
        exe_failure_from(reply, status, o->object, &f);
    } else if (o->check) {
        enum exe_status said = compare_policy(o->exe, reply, why, sizeof(why));
        failed = said != EXE_STATUS_OK;
        if (failed)
            exe_failure_set(&f, said, 0, o->object, why);
    }
    if (o->done)
        o->done(failed ? &f : NULL, o->userdata);
    free(o);
}

void exe_operations_free(struct exe *x)
{
    while (x->operations) {
        struct operation *o = x->operations;
        DL_DELETE(x->operations, o);
        free(o);
    }
}

int exe_operate(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                const char *object, exe_done done, void *userdata)
{
    static const struct exe_call_ops ops = { .answer = on_answer };
    struct operation *o = calloc(1, sizeof(*o));
    if (!o)
        return -ENOMEM;
    o->exe = x;
    o->done = done;
    o->userdata = userdata;
    o->check = r->op == EXE_OP_CHECK;
    (void)snprintf(o->object, sizeof(o->object), "%s", object);
    int e = exe_call_start(x, r, fds, n_fds, &ops, o, NULL, NULL);
    if (e < 0)
        free(o);
    else
        DL_APPEND(x->operations, o);
    return e;
}

int exe_check(struct exe *x, bool rebuild, exe_done done, void *userdata)
{
    struct exe_request r = { .op = EXE_OP_CHECK, .what = rebuild ? EXE_CHECK_REBUILD : 0 };
    return exe_operate(x, &r, NULL, 0, "container-executor", done, userdata);
}

int exe_init_app(struct exe *x, struct yarn_app_id app, const char *user, uint32_t local_mask,
                 uint32_t log_mask, const uint16_t *categories, exe_done done, void *userdata)
{
    struct exe_request r = { .op = EXE_OP_INIT_APP,
                             .local_mask = local_mask,
                             .log_mask = log_mask };
    char object[EXE_TEXT_MAX];
    exe_request_app(&r, app);
    exe_request_categories(&r, categories);
    exe_app_text(&r, object);
    int e = exe_request_user(&r, user);
    return e < 0 ? e : exe_operate(x, &r, NULL, 0, object, done, userdata);
}

int exe_delete(struct exe *x, const struct exe_delete_what *d, exe_done done, void *userdata)
{
    struct exe_request r = { .op = EXE_OP_DELETE, .what = (uint8_t)d->what };
    const bool resource = d->what == EXE_DELETE_RESOURCE;
    const bool logs = d->what == EXE_DELETE_APP_LOGS || d->what == EXE_DELETE_CONTAINER_LOGS;
    const bool public =
        d->what == EXE_DELETE_PUBLIC || (resource && d->visibility == EXE_VISIBILITY_PUBLIC);
    char object[EXE_TEXT_MAX];
    if (d->what == EXE_DELETE_CONTAINER || d->what == EXE_DELETE_CONTAINER_LOGS)
        exe_request_container(&r, d->container);
    else if (d->what == EXE_DELETE_APP || d->what == EXE_DELETE_APP_LOGS ||
             (resource && d->visibility == EXE_VISIBILITY_APPLICATION))
        exe_request_app(&r, d->app);
    if (!public && (!d->user || exe_request_user(&r, d->user) < 0))
        return -EINVAL;
    r.local_mask = logs ? 0 : d->local_mask;
    r.log_mask = logs ? d->log_mask : 0;
    if (resource) {
        r.visibility = (uint8_t)d->visibility;
        r.resource_id = d->resource_id;
        r.resource_dir = d->resource_dir;
    }
    if (r.container)
        exe_container_text(&r, object);
    else if (r.app)
        exe_app_text(&r, object);
    else
        (void)snprintf(object, sizeof(object), "%s", d->user ? d->user : "public cache");
    return exe_operate(x, &r, NULL, 0, object, done, userdata);
}

struct exe_localizer {
    struct exe *exe;
    struct exe_localizer *prev, *next;
    struct exe_call *call;
    struct exe_localizer_ops ops;
    void *userdata;
    bool started;
};

struct exe_localizer *exe_localizer_free(struct exe_localizer *l)
{
    if (!l)
        return NULL;
    DL_DELETE(l->exe->localizers, l);
    if (l->call) { /* its monitor ends when the socket does, and it with the monitor */
        exe_call_hang_up(l->call);
        exe_call_forget(l->call);
    }
    free(l);
    return NULL;
}

void exe_localizers_free(struct exe *x)
{
    while (x->localizers)
        (void)exe_localizer_free(x->localizers);
}

static void on_localizer(const struct exe_reply *reply, int pidfd, int status, void *userdata)
{
    struct exe_localizer *l = userdata;
    struct exe_failure f;
    (void)sv_close(pidfd);
    if (reply && reply->status == EXE_STATUS_OK) {
        l->started = true;
        if (l->ops.started) /* who waits for the channel alone needs no word of the start */
            l->ops.started(l, reply->pid, l->userdata);
        return;
    }
    exe_failure_from(reply, status, "container-localizer", &f);
    exe_call_forget(l->call);
    l->call = NULL;
    l->ops.ended(l, &f, status, l->userdata);
}

static void on_localizer_end(int status, void *userdata)
{
    struct exe_localizer *l = userdata;
    l->call = NULL;
    l->ops.ended(l, NULL, status, l->userdata);
}

int exe_localizer_start(struct exe *x, const struct exe_localizer_start *s,
                        const struct exe_localizer_ops *ops, void *userdata,
                        struct exe_localizer **ret, struct sv_error *err)
{
    static const struct exe_call_ops call_ops = { .answer = on_localizer,
                                                  .ended = on_localizer_end };
    struct exe_request r = { .op = EXE_OP_LOCALIZE,
                             .what = (uint8_t)s->visibility,
                             .local_mask = s->local_mask };
    struct exe_localizer *l = calloc(1, sizeof(*l));
    if (!l)
        return sv_error_errno(err, -ENOMEM, "container-localizer");
    *l = (struct exe_localizer){ .exe = x, .ops = *ops, .userdata = userdata };
    DL_APPEND(x->localizers, l);
    if (s->app)
        exe_request_app(&r, *s->app);
    exe_request_categories(&r, s->categories);
    int e = s->user ? exe_request_user(&r, s->user) : 0;
    e = e < 0 ? sv_error_set(err, e, "container-localizer: user name is too long")
              : exe_call_start(x, &r, &s->channel, 1, &call_ops, l, &l->call, err);
    if (e < 0) {
        (void)exe_localizer_free(l);
        return e;
    }
    *ret = l;
    return 0;
}
