/* See fed-shared.h. The files are the operator's. */
#include "nodemanager/federation/fed-shared.h"

#include <errno.h>

int nm_fed_shared_check(struct sv_conf *c, struct sv_error *err)
{
    struct fed_proxy_conf conf;
    struct fed_split_conf split;
    int r = fed_proxy_conf_load(c, &conf, err);

    if (r >= 0)
        r = fed_split_conf_load(c, &split, err);
    if (r >= 0)
        fed_split_conf_clear(&split);
    return r;
}

int nm_fed_shared_open(const struct nm_amrm_env *env, struct nm_fed_shared **ret,
                       struct sv_error *err)
{
    struct nm_fed_shared *s = calloc(1, sizeof(*s));
    int r = s ? fed_proxy_conf_load(env->conf, &s->conf, err)
              : sv_error_errno(err, -ENOMEM, "AMRMProxy");

    if (r >= 0)
        r = fed_split_conf_load(env->conf, &s->split, err);
    if (r < 0) {
        free(s);
        return r;
    }
    r = nm_turns_open(env->event, &s->turns);
    if (r < 0) {
        nm_fed_shared_close(s);
        return sv_error_errno(err, r, "AMRMProxy: timer");
    }
    s->env = env;
    s->wire = &nm_member_wire;
    s->wire_userdata = (void *)(uintptr_t)env;
    s->random = &fed_random_kernel;
    s->relaunch_ms = NM_FED_RELAUNCH_MS;
    s->policies = fed_policies_new(env->fed, env->policy->manager, FED_SIDE_PROXY);
    if (!s->policies) {
        nm_fed_shared_close(s);
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    }
    *ret = s;
    return 0;
}

void nm_fed_shared_close(struct nm_fed_shared *s)
{
    if (!s)
        return;
    fed_policies_free(s->policies);
    nm_turns_close(&s->turns);
    fed_split_conf_clear(&s->split);
    free(s);
}
