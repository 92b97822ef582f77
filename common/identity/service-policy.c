/* See service-policy.h. */
#include "common/identity/service-policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/acl.h"
#include "common/identity/machine-list.h"
#include "common/str.h"

#define DEFAULTS "security.service.authorization.default"
#define BLANKS " \t\r\n\f\v"

#define YARN "org.apache.hadoop.yarn."

const struct sv_service sv_services_nodemanager[] = {
    { YARN "api.ContainerManagementProtocolPB", "containermanagement" },
    { YARN "server.nodemanager.api.LocalizationProtocolPB", "resourcelocalizer" },
    { YARN "server.api.CollectorNodemanagerProtocolPB", "collector-nodemanager" },
    { YARN "api.ApplicationMasterProtocolPB", "applicationmaster-nodemanager.applicationmaster" },
    { NULL, NULL },
};

const struct sv_service sv_services_resourcemanager[] = {
    { YARN "server.api.ResourceTrackerPB", "resourcetracker" },
    { YARN "api.ApplicationClientProtocolPB", "applicationclient" },
    { YARN "api.ApplicationMasterProtocolPB", "applicationmaster" },
    { YARN "server.api.DistributedSchedulingAMProtocolPB", "distributedscheduling" },
    { YARN "server.api.ResourceManagerAdministrationProtocolPB", "resourcemanager-administration" },
    { YARN "api.ContainerManagementProtocolPB", "containermanagement" },
    { "org.apache.hadoop.ha.HAServiceProtocol", "ha.service" },
    { NULL, NULL },
};

enum { ADMITTED, BLOCKED, N_LISTS };

struct rule {
    const struct sv_service *service;
    char *acl[N_LISTS];
    struct sv_machine_list *machines[N_LISTS];
};

struct sv_policy {
    size_t n;
    struct rule rules[];
};

struct sv_policy *sv_policy_free(struct sv_policy *p)
{
    if (!p)
        return NULL;
    for (size_t i = 0; i < p->n; i++)
        for (int l = 0; l < N_LISTS; l++) {
            free(p->rules[i].acl[l]);
            sv_machine_list_free(p->rules[i].machines[l]);
        }
    free(p);
    return NULL;
}

/* ---- Keys ---- */

/* NULL: not set. */
static int value_of_key(struct sv_conf *c, const char *key, const char **ret, struct sv_error *err)
{
    return sv_conf_text(c, &(struct sv_conf_key){ key, SV_CONF_STRING, NULL, .help = "" }, ret,
                        err);
}

/* The value of security.NAME.protocol + suffix, else of the default + suffix, else `otherwise`.
 * `key` becomes that of the two which is in force. */
static int value_of(struct sv_conf *c, const struct sv_service *s, const char *suffix,
                    const char *otherwise, char key[static 160], const char **ret,
                    struct sv_error *err)
{
    int r;

    (void)snprintf(key, 160, "security.%s.protocol%s", s->name, suffix); /* of our tables: fits */
    r = value_of_key(c, key, ret, err);
    if (r < 0 || *ret)
        return r;
    (void)snprintf(key, 160, DEFAULTS "%s", suffix);
    r = value_of_key(c, key, ret, err);
    if (r >= 0 && !*ret)
        *ret = otherwise;
    return r;
}

static void wrap(struct sv_conf *c, const char *key, struct sv_error *err)
{
    char at[512];

    sv_conf_origin(c, &(struct sv_conf_key){ .name = key }, at, sizeof(at));
    (void)sv_error_wrap(err, "%s", at); /* the caller has the code, ignoring */
}

/* A * in the users or in the groups admits everybody in Hadoop, whatever stands beside. */
static bool is_ambiguous(const char *acl)
{
    const char *groups = acl + strcspn(acl, " ");
    const char *g = groups + strspn(groups, BLANKS);

    if (sv_acl_allows_all(acl))
        return false;
    return (acl[0] == '*' && groups == acl + 1) || (*g == '*' && !g[1 + strspn(g + 1, BLANKS)]);
}

static int read_acl(struct sv_conf *c, const struct sv_service *s, const char *suffix,
                    const char *otherwise, char **ret, struct sv_error *err)
{
    char key[160];
    const char *text;
    int r = value_of(c, s, suffix, otherwise, key, &text, err);

    if (r < 0)
        return r;
    if (strlen(text) > SV_POLICY_ACL_MAX)
        r = sv_error_set(err, -EINVAL, "longer than %zu bytes: name groups", SV_POLICY_ACL_MAX);
    else if (is_ambiguous(text))
        r = sv_error_set(err, -EINVAL,
                         "\"%.100s\": a * beside users or groups, which would mean "
                         "everybody; let * stand alone, or take it away",
                         text);
    else if (!(*ret = strdup(text)))
        r = sv_error_errno(err, -ENOMEM, "users and groups");
    if (r < 0)
        wrap(c, key, err);
    return r;
}

static int read_machines(struct sv_conf *c, const struct sv_service *s, const char *suffix,
                         const char *otherwise, struct sv_machine_list **ret, struct sv_error *err)
{
    char key[160];
    const char *text;
    int r = value_of(c, s, suffix, otherwise, key, &text, err);

    if (r >= 0 && (r = sv_machine_list_parse(text, ret, err)) < 0)
        wrap(c, key, err);
    return r;
}

static int read_rule(struct sv_conf *c, struct rule *rule, struct sv_error *err)
{
    int r = read_acl(c, rule->service, ".acl", "*", &rule->acl[ADMITTED], err);

    if (r >= 0)
        r = read_acl(c, rule->service, ".acl.blocked", "", &rule->acl[BLOCKED], err);
    if (r >= 0)
        r = read_machines(c, rule->service, ".hosts", "*", &rule->machines[ADMITTED], err);
    if (r >= 0)
        r = read_machines(c, rule->service, ".hosts.blocked", "", &rule->machines[BLOCKED], err);
    return r;
}

int sv_policy_read(const struct sv_service *services, struct sv_conf *c, struct sv_policy **ret,
                   struct sv_error *err)
{
    _cleanup_(sv_policy_freep) struct sv_policy *p = NULL;
    size_t n = 0;
    int r = 0;

    while (services[n].protocol)
        n++;
    p = calloc(1, sizeof(*p) + n * sizeof(p->rules[0]));
    if (!p)
        return sv_error_errno(err, -ENOMEM, "service authorization");
    p->n = n;
    for (size_t i = 0; i < n && r >= 0; i++) {
        p->rules[i].service = &services[i];
        r = read_rule(c, &p->rules[i], err);
    }
    if (r < 0)
        return r;
    *ret = SV_TAKE(p);
    return 0;
}

int sv_policy_load(const struct sv_service *services, const char *dir, struct sv_policy **ret,
                   struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    _cleanup_free_ char *path = NULL;
    bool missing;
    int r;

    if (!c || sv_asprintf(&path, "%s/" SV_POLICY_FILE, dir) < 0)
        return sv_error_errno(err, -ENOMEM, SV_POLICY_FILE);
    r = sv_conf_load_hadoop(c, dir, err);
    if (r < 0)
        return r;
    r = sv_conf_load_file(c, path, err);
    missing = r == -ENOENT;
    if (r >= 0 || missing)
        r = sv_policy_read(services, c, ret, err);
    return r < 0 ? r : missing;
}

/* ---- Callers ---- */

static const struct rule *find(const struct sv_policy *p, const char *protocol)
{
    for (size_t i = 0; i < p->n; i++)
        if (sv_streq(p->rules[i].service->protocol, protocol))
            return &p->rules[i];
    return NULL;
}

bool sv_policy_admits_all(const struct sv_policy *p, const char *protocol)
{
    const struct rule *rule = find(p, protocol);

    return rule && sv_acl_allows_all(rule->acl[ADMITTED]) &&
           !rule->acl[BLOCKED][strspn(rule->acl[BLOCKED], BLANKS ",")];
}

/* True if the list names groups and nobody knows those of the user: no account of the machine is
 * without one. */
static bool groups_unknown(const char *acl, const struct sv_policy_caller *caller)
{
    char *const *names;

    return caller->groups && sv_acl_names_groups(acl) &&
           sv_groups_of(caller->groups, caller->user, &names) >= 0 && !*names;
}

static int check_users(const struct rule *rule, const struct sv_policy_caller *caller)
{
    bool admitted, blocked;

    (void)sv_groups_missed(caller->groups); /* missed by others, ignoring */
    admitted = sv_acl_admits(rule->acl[ADMITTED], caller->user, caller->groups);
    if (!admitted)
        return sv_groups_missed(caller->groups) ? -EAGAIN : -EACCES;
    blocked = sv_acl_admits(rule->acl[BLOCKED], caller->user, caller->groups) ||
              groups_unknown(rule->acl[BLOCKED], caller);
    if (!blocked && sv_groups_missed(caller->groups))
        return -EAGAIN;
    return blocked ? -EACCES : 0;
}

static const char *address_text(const struct in6_addr *ip, char ret[INET6_ADDRSTRLEN])
{
    return (IN6_IS_ADDR_V4MAPPED(ip) ? inet_ntop(AF_INET, ip->s6_addr + 12, ret, INET6_ADDRSTRLEN)
                                     : inet_ntop(AF_INET6, ip, ret, INET6_ADDRSTRLEN))
               ?: "?";
}

static int refuse_user(const struct sv_policy_caller *c, const char *protocol, struct sv_error *err)
{
    if (c->real_user)
        return sv_error_set(err, -EACCES,
                            "User %s (auth:PROXY) via %s (auth:%s) is not authorized for protocol "
                            "interface %s: denied by configured ACL",
                            c->user, c->real_user, c->method, protocol);
    return sv_error_set(err, -EACCES,
                        "User %s (auth:%s) is not authorized for protocol interface %s: denied by "
                        "configured ACL",
                        c->user, c->method, protocol);
}

int sv_policy_check(const struct sv_policy *p, const char *protocol,
                    const struct sv_policy_caller *caller, struct sv_error *err)
{
    const struct rule *rule = find(p, protocol);
    char ip[INET6_ADDRSTRLEN];
    int r;

    if (!rule)
        return sv_error_set(err, -EACCES, "Protocol interface %s is not known.", protocol);
    r = check_users(rule, caller);
    if (r == -EACCES)
        return refuse_user(caller, protocol, err);
    if (r < 0)
        return r;
    if (!sv_machine_list_has(rule->machines[ADMITTED], caller->ip) ||
        sv_machine_list_has(rule->machines[BLOCKED], caller->ip))
        return sv_error_set(err, -EACCES, "Host %s is not authorized for protocol interface %s",
                            address_text(caller->ip, ip), protocol);
    return 0;
}
