/* See conf.h. Names and defaults are those of Hadoop 3.4.2, but for the quorum: Hadoop's default is
 * a server of the same machine. */
#include "registry/conf.h"

#include <errno.h>
#include <string.h>

#include "registry/path.h"

#define ROOT_MAX 255

enum { K_QUORUM, K_ROOT, K_SESSION, K_INTERVAL, K_CEILING, K_SECURE, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_QUORUM] = { "hadoop.registry.zk.quorum", SV_CONF_STRING, NULL, .help = "ZooKeeper's servers with the registry: HOST:PORT, separated by commas; unset: records are kept beside the definition." },
    [K_ROOT] = { "hadoop.registry.zk.root", SV_CONF_STRING, "/registry", .help = "The registry's node in ZooKeeper." },
    [K_SESSION] = { "hadoop.registry.zk.session.timeout.ms", SV_CONF_DURATION, "60000", 1000, 600000, 1, .help = "Timeout of a ZooKeeper session." },
    [K_INTERVAL] = { "hadoop.registry.zk.retry.interval.ms", SV_CONF_DURATION, "1000", 1, 600000, 1, .help = "Pause before a request to a registry that is away is tried again; it doubles." },
    [K_CEILING] = { "hadoop.registry.zk.retry.ceiling.ms", SV_CONF_DURATION, "60000", 1, 3600000, 1, .help = "Longest such pause." },
    [K_SECURE] = { "hadoop.registry.secure", SV_CONF_BOOL, "false", .help = "A registry with Kerberos; not supported." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

static int check_root(const char *root, struct sv_error *err)
{
    size_t n = strlen(root);

    if (*root != '/' || n > ROOT_MAX || (n > 1 && root[n - 1] == '/') || strstr(root, "//"))
        return sv_error_set(err, -EINVAL,
                            "hadoop.registry.zk.root=%.128s: an absolute path of at most %d bytes "
                            "without a slash at its end",
                            root, ROOT_MAX);
    return 0;
}

int reg_conf_read(struct sv_conf *conf, struct reg_conf *ret, struct sv_error *err)
{
    struct reg_conf c = { 0 };
    int64_t session = 0;
    bool secure = false;
    int r = sv_conf_string(conf, &keys[K_QUORUM], &c.quorum, err);

    if (r == 0)
        r = sv_conf_string(conf, &keys[K_ROOT], &c.root, err);
    if (r == 0)
        r = check_root(c.root, err);
    if (r == 0)
        r = sv_conf_duration_ms(conf, &keys[K_SESSION], &session, err);
    if (r == 0)
        r = sv_conf_duration_ms(conf, &keys[K_INTERVAL], &c.retry_min_ms, err);
    if (r == 0)
        r = sv_conf_duration_ms(conf, &keys[K_CEILING], &c.retry_max_ms, err);
    if (r == 0)
        r = sv_conf_bool(conf, &keys[K_SECURE], &secure, err);
    if (c.quorum && !*c.quorum)
        c.quorum = NULL;
    if (r == 0 && secure && c.quorum)
        r = sv_error_set(err, -EOPNOTSUPP,
                         "hadoop.registry.secure=true: a registry with Kerberos is not supported; "
                         "unset it, or hadoop.registry.zk.quorum, and records go to files");
    if (r < 0)
        return r;
    c.session_ms = (uint32_t)session;
    c.retry_max_ms = SV_MAX(c.retry_max_ms, c.retry_min_ms);
    *ret = c;
    return 0;
}
