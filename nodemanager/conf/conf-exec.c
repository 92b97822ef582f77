/* Keys of sessions in containers (`selvedge exec`). See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#define EXEC "selvedge.nodemanager.exec."

enum { K_ENABLED, K_CLAIMED, K_IDLE, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_ENABLED] = { EXEC "enabled", SV_CONF_BOOL, "false", .help = "Owners of applications, and administrators that yarn.admin.acl names, may run programs in running containers (selvedge exec, yarn container -shell). Containers launched while it is false take none." },
    [K_CLAIMED] = { EXEC "claimed-names", SV_CONF_BOOL, "false", .help = "With hadoop.http.authentication.type=simple a caller's name is only a claim: true believes it, and whoever reaches the web port runs programs in everybody's containers. False: sessions need kerberos there, or are opened on the node." },
    [K_IDLE] = { EXEC "idle-timeout", SV_CONF_DURATION, "30m", 1000, INT64_MAX, 1, "A session ends that has had no input and no output for this time." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_exec_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

int nm_conf_exec_read(struct nm_conf *c, struct sv_error *err)
{
    int r;

    NM_CONF_GET(sv_conf_bool, K_ENABLED, &c->exec.enabled);
    NM_CONF_GET(sv_conf_bool, K_CLAIMED, &c->exec.claimed_names);
    NM_CONF_GET(sv_conf_duration_ms, K_IDLE, &c->exec.idle_ms);
    return 0;
}
