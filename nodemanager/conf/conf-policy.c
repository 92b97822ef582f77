/* Service authorization: hadoop-policy.xml, where hadoop.security.authorization is true. */
#include "common/identity/service-policy.h"
#include "common/log.h"
#include "nodemanager/conf/conf-parts.h"
#include "wire/ipc/methods.h"

/* clang-format off */
static const struct sv_conf_key keys[] = {
    { "hadoop.security.authorization", SV_CONF_BOOL, "false", .help = "true: hadoop-policy.xml says who may connect to the NodeManager's port, and from where: security.containermanagement.protocol.acl, .acl.blocked, .hosts, .hosts.blocked, and their defaults security.service.authorization.default.*; a reload reads it again." },
};
/* clang-format on */

const struct sv_conf_key *nm_conf_policy_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

int nm_conf_policy_load(struct sv_conf *c, struct sv_policy **ret, struct sv_error *err)
{
    bool on;
    int r = sv_conf_bool(c, &keys[0], &on, err);

    if (r < 0)
        return r;
    if (on)
        return sv_policy_load(sv_services_nodemanager, sv_conf_dir(c), ret, err);
    *ret = NULL;
    return 0;
}

int nm_conf_policy_read(struct nm_conf *c, struct sv_error *err)
{
    int r = nm_conf_policy_load(c->conf, &c->policy, err);

    c->policy_missing = r > 0;
    return SV_MIN(r, 0);
}

void nm_conf_policy_log(const struct nm_conf *c)
{
    if (!c->policy)
        return;
    if (c->policy_missing)
        sv_log_warning("hadoop.security.authorization is true, and %s has no " SV_POLICY_FILE
                       ": what it does not say admits everybody, as in Hadoop",
                       sv_conf_dir(c->conf));
    /* Hadoop compares the same name. */
    if (!sv_policy_admits_all(c->policy, YARN_CONTAINER_MANAGEMENT_PROTOCOL))
        sv_log_warning(SV_POLICY_FILE ": security.containermanagement.protocol.acl or its default "
                                      "is not * alone: who calls the NodeManager is an application "
                                      "attempt, appattempt_…, which no list of users or groups "
                                      "names; restrict security.containermanagement.protocol.hosts "
                                      "in its place");
}
