/* See tighter.h. */
#include "nodemanager/launch/tighter.h"

#include <errno.h>
#include <inttypes.h>

#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/container-env.h"

/* NULL: not asked for. */
static const char *asked(const struct nm_container *c, const char *name)
{
    const char *v = nm_env_own_value(c, name);

    return v && *v ? v : NULL;
}

static int refuse(const char *name, const char *value, const char *rule, const char *nodes,
                  struct sv_error *err)
{
    char shown[64];

    sv_escape(shown, sizeof(shown), value);
    return sv_error_set(err, -EINVAL, "%s=%s: %s; this node gives %s", name, shown, rule, nodes);
}

/* The profiles are numbered from the tightest on. */
static int profile(const struct nm_container *c, enum exe_profile *ret, struct sv_error *err)
{
    const char *v = asked(c, NM_TIGHTER_PROFILE);
    const enum exe_profile nodes = c->ctx->conf->profile;

    *ret = nodes;
    for (int p = EXE_PROFILE_STRICT; v && p <= (int)nodes; p++)
        if (sv_streq(v, exe_profile_name((enum exe_profile)p))) {
            *ret = (enum exe_profile)p;
            return 0;
        }
    return v ? refuse(NM_TIGHTER_PROFILE, v,
                      "strict, hadoop or host, and none that shows more than the node's",
                      exe_profile_name(nodes), err)
             : 0;
}

static int network(const struct nm_container *c, enum exe_network *ret, struct sv_error *err)
{
    const char *v = asked(c, NM_TIGHTER_NETWORK);
    const enum exe_network nodes = c->ctx->conf->network;

    *ret = nodes;
    if (!v || sv_streq(v, exe_network_name(nodes)))
        return 0;
    if (!sv_streq(v, exe_network_name(EXE_NETWORK_NONE)))
        return refuse(NM_TIGHTER_NETWORK, v, "none, or the node's own", exe_network_name(nodes),
                      err);
    *ret = EXE_NETWORK_NONE;
    return 0;
}

static int pids(const struct nm_container *c, uint64_t *ret, struct sv_error *err)
{
    const char *v = asked(c, NM_TIGHTER_PIDS);
    const uint64_t nodes = (uint64_t)c->ctx->conf->pids_max;
    char text[32];

    *ret = 0;
    if (!v || sv_parse_u64(v, 1, nodes, ret) >= 0)
        return 0;
    (void)snprintf(text, sizeof(text), "%" PRIu64, nodes);
    return refuse(NM_TIGHTER_PIDS, v, "processes and threads, from 1 to the node's limit", text,
                  err);
}

int nm_tighter_of(const struct nm_container *c, struct nm_tighter *ret, struct sv_error *err)
{
    struct nm_tighter t;
    int r = profile(c, &t.profile, err);

    if (r >= 0)
        r = network(c, &t.network, err);
    if (r >= 0)
        r = pids(c, &t.pids, err);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}
