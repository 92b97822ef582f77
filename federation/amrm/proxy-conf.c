/* Keys about masters in other sub-clusters; see proxy-conf.h. */
#include "federation/amrm/proxy-conf.h"

#define PROXY "yarn.federation.amrmproxy."
#define HOUR_MS 3600000

/* Constants of Java's UnmanagedApplicationManager. */
#define POLL_MS 200
#define LAUNCH_MS 10000

enum { K_WAIT, K_TIMEOUT, K_TRIES, K_RETRY, K_LAUNCHES, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[K_COUNT] = {
    [K_WAIT] = { PROXY "hb.maximum.wait.ms", SV_CONF_INT, "5000", 1, HOUR_MS, .help = "Longest time that a master's heartbeat waits for its home; without an answer it gets what the other sub-clusters have answered." },
    [K_TIMEOUT] = { PROXY "subcluster.timeout.ms", SV_CONF_INT, "60000", 1, 24 * HOUR_MS, .help = "A sub-cluster that has not answered for so long gets no new requests, its figures do not count, and a master's end does not wait for it." },
    [K_TRIES] = { PROXY "register.uam.retry-count", SV_CONF_INT, "3", 1, 1000, .help = "Tries to launch, to register and to end an unmanaged master in a sub-cluster." },
    [K_RETRY] = { PROXY "register.uam.interval", SV_CONF_DURATION, "100ms", 1, HOUR_MS, 1, "Time between these tries." },
    [K_LAUNCHES] = { "yarn.nodemanager.amrmproxy.wait.uam-register.done", SV_CONF_BOOL, "false", .help = "A heartbeat that needs a further sub-cluster waits until the master is registered there, at most yarn.federation.amrmproxy.hb.maximum.wait.ms." },
};
/* clang-format on */

const struct sv_conf_key *fed_proxy_conf_keys(size_t *ret_n)
{
    *ret_n = K_COUNT;
    return keys;
}

int fed_proxy_conf_load(struct sv_conf *c, struct fed_proxy_conf *ret, struct sv_error *err)
{
    struct fed_proxy_conf conf = { .uam = { .poll_ms = POLL_MS, .launch_ms = LAUNCH_MS } };
    int64_t tries;
    int r = sv_conf_int(c, &keys[K_WAIT], &conf.wait_ms, err);

    if (r == 0)
        r = sv_conf_int(c, &keys[K_TIMEOUT], &conf.timeout_ms, err);
    if (r == 0)
        r = sv_conf_int(c, &keys[K_TRIES], &tries, err);
    if (r == 0)
        r = sv_conf_duration_ms(c, &keys[K_RETRY], &conf.uam.retry_ms, err);
    if (r == 0)
        r = sv_conf_bool(c, &keys[K_LAUNCHES], &conf.wait_for_launches, err);
    if (r < 0)
        return r;
    conf.uam.tries = (int32_t)tries;
    *ret = conf;
    return 0;
}
