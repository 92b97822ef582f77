/* Compares the policy in force, from the answer to CHECK, with the daemon's own settings: a
 * mismatch that would fail every launch is reported once, at the start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "executor/internal.h"
#include "executor/network-plan.h"

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
    bool profile, network; /* ours is among those allowed */
    struct net_request net;
    char wrong[256];
    char unfiltered[256]; /* reason for missing filters, with every setting in order */
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
    else if (strcmp(key, "no-filter") == 0)
        (void)snprintf(p->unfiltered, sizeof(p->unfiltered), "%s", value);
    else if (strncmp(key, "network-", 8) == 0)
        exe_network_line(&p->net, key, value);
    else if (strcmp(key, "selinux") == 0 && (strcmp(value, "off") == 0) == x->labels)
        wrong(p, "selvedge.sandbox.selinux and selvedge.nodemanager.selinux.labels", value,
              x->labels ? "true" : "false");
}

/* A setting of this daemon that root's configuration does not allow. */
static void not_allowed(struct policy *p, const char *ours, const char *value, const char *theirs)
{
    if (p->wrong[0] == '\0')
        (void)snprintf(p->wrong, sizeof(p->wrong),
                       "%s is %s, which %s in container-executor.cfg does not allow; add it "
                       "there, or use one that is there",
                       ours, value, theirs);
}

/* Refuses at the start a network that would fail every launch. */
static void plan_network(struct exe *x, struct policy *p)
{
    struct net_plan plan;
    char why[NET_TEXT_MAX];
    p->net.rate_kbit = x->net_rate_kbit;
    p->net.ceil_kbit = x->net_ceil_kbit;
    if (exe_net_plan_make(&p->net, &plan, why, sizeof(why)) == 0)
        x->addresses = exe_net_plan_addresses(&plan);
    else if (p->wrong[0] == '\0')
        (void)snprintf(p->wrong, sizeof(p->wrong), "network private: %.200s", why);
}

/* "195:0" */
static void add_assignable(struct exe *x, const char *value)
{
    struct exe_device d;
    char end;
    if (x->n_assignable < EXE_ASSIGNABLE_MAX &&
        sscanf(value, "%u:%u%c", &d.major, &d.minor, &end) == 2)
        x->assignable[x->n_assignable++] = d;
}

enum exe_status exe_policy_compare(struct exe *x, const struct exe_reply *reply, char *why,
                                   size_t n)
{
    struct policy p = { .exe = x };
    _cleanup_free_ char *text = strndup(reply->text, reply->text_len);
    char *rest = text;
    x->n_assignable = 0;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = '\0';
        compare(&p, line, value);
        if (strcmp(line, "device") == 0)
            add_assignable(x, value);
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
