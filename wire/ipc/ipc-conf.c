/* Settings of IPC servers; see ipc-conf.h. */
#include "wire/ipc/ipc-conf.h"

#include "wire/frame.h"
#include "wire/sasl/qop.h"

enum {
    K_PROTECTION,
    K_MAX_DATA,
    K_MAX_CONNECTIONS,
    K_PER_ADDRESS,
    K_BACKLOG,
    K_IDLE_TIME,
    K_IDLE_THRESHOLD,
    K_MAX,
};

static const struct sv_conf_key keys[] = {
    [K_PROTECTION] = { "hadoop.rpc.protection", SV_CONF_STRING, "authentication",
                       .help = "Protection offered to connections with tokens: a list of "
                               "authentication, "
                               "integrity, privacy." },
    [K_MAX_DATA] = { "ipc.maximum.data.length", SV_CONF_INT, "134217728", 65536, IPC_FRAME_MAX,
                     .help = "Maximum size of one request in bytes." },
    [K_MAX_CONNECTIONS] = { "ipc.server.max.connections", SV_CONF_INT, "0", 0, 1000000,
                            .help = "Connections of one server; 0 = 10000. One more closes the "
                                    "idlest of the address that has the most." },
    [K_PER_ADDRESS] = { "selvedge.ipc.max-connections-per-address", SV_CONF_INT, "256", 1, 1000000,
                        .help = "Connections that one client address may hold at one server, or, "
                                "with Kerberos, one authenticated principal in its place; one "
                                "more closes its idlest." },
    [K_BACKLOG] = { "ipc.server.listen.queue.size", SV_CONF_INT, "1024", 1, 65535,
                    .help = "Connections that wait to be accepted." },
    [K_IDLE_TIME] = { "ipc.client.connection.maxidletime", SV_CONF_INT, "10000", 1000, 86400000,
                      .help = "Milliseconds; in a crowd a connection that was idle twice as long "
                              "is closed." },
    [K_IDLE_THRESHOLD] = { "ipc.client.idlethreshold", SV_CONF_INT, "4000", 1, 1000000,
                           .help = "How many connections are a crowd." },
};

const struct sv_conf_key *ipc_settings_keys(size_t *ret_n)
{
    *ret_n = K_MAX;
    return keys;
}

int ipc_settings_read(struct sv_conf *conf, struct ipc_server_settings *ret, struct sv_error *err)
{
    struct ipc_server_settings s = { 0 };
    const char *protection;
    int64_t v[K_MAX];
    int r = sv_conf_string(conf, &keys[K_PROTECTION], &protection, err);
    if (r >= 0)
        r = ipc_qop_parse(protection, &s.qop_mask, err);
    for (int k = K_MAX_DATA; r >= 0 && k < K_MAX; k++)
        r = sv_conf_int(conf, &keys[k], &v[k], err);
    if (r < 0)
        return r;
    s.limits.max_frame = (size_t)v[K_MAX_DATA];
    s.limits.max_connections = (size_t)v[K_MAX_CONNECTIONS];
    s.limits.max_per_address = (size_t)v[K_PER_ADDRESS];
    s.limits.backlog = (int)v[K_BACKLOG];
    s.limits.crowd = (size_t)v[K_IDLE_THRESHOLD];
    s.limits.crowd_idle_ms = 2 * v[K_IDLE_TIME];
    *ret = s;
    return 0;
}
