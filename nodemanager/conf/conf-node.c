/* Keys of the node itself: its name, addresses and ResourceManagers. See conf-parts.h. */
#include "nodemanager/conf/conf-parts.h"

#include <errno.h>
#include <string.h>

#include "nodemanager/conf/conf-address.h"

#define NM "yarn.nodemanager."
#define FOREVER INT64_MAX

enum {
    K_HOSTNAME,
    K_ADDRESS,
    K_BIND_HOST,
    K_WEBAPP,
    K_RM_ADDRESS,
    K_TRACK_STOPPED,
    K_RM_MINIMUM,
    K_HMAC,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_HOSTNAME] = { NM "hostname", SV_CONF_STRING, "0.0.0.0", .help = "Name of this node; 0.0.0.0 = the canonical host name of the machine." },
    [K_ADDRESS] = { NM "address", SV_CONF_ADDRESS, "${yarn.nodemanager.hostname}:8041", .help = "ContainerManagementProtocol; host:port is the node's id. 0.0.0.0 listens on every address, and the node registers as yarn.nodemanager.hostname." },
    [K_BIND_HOST] = { NM "bind-host", SV_CONF_STRING, NULL, .help = "Address to listen on instead of the host of yarn.nodemanager.address." },
    [K_WEBAPP] = { NM "webapp.address", SV_CONF_ADDRESS, "${yarn.nodemanager.hostname}:8042", .help = "REST and container logs." },
    [K_RM_ADDRESS] = { "yarn.resourcemanager.resource-tracker.address", SV_CONF_ADDRESS, "${yarn.resourcemanager.hostname}:8031", .help = "ResourceTracker of the ResourceManager." },
    [K_TRACK_STOPPED] = { NM "duration-to-track-stopped-containers", SV_CONF_DURATION, "600000", 0, FOREVER, 1, "Time for which a stopped container is remembered as recently stopped." },
    [K_RM_MINIMUM] = { NM "resourcemanager.minimum.version", SV_CONF_STRING, "NONE", .help = "Lowest ResourceManager version to work with: NONE, EqualToNM or a version." },
    [K_HMAC] = { "hadoop.security.secret-manager.key-generator.algorithm", SV_CONF_STRING, "HmacSHA1", .help = "HMAC of tokens; the same on all nodes." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *nm_conf_node_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* Names and listening addresses. A wildcard address cannot be a node's name: peers must be able to
 * connect. */
static int read_addresses(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    const char *named = sv_conf_raw(c->conf, keys[K_HOSTNAME].name), *bind;
    char name[NM_HOST_MAX];
    int r = sv_conf_address(c->conf, &keys[K_ADDRESS], &c->hostname, &c->port, err);

    if (r >= 0)
        r = sv_conf_address(c->conf, &keys[K_WEBAPP], &c->web_host, &c->web_port, err);
    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_string, K_BIND_HOST, &bind);
    c->web_host_bound = bind && *bind;
    if (c->web_host_bound)
        c->bind_host = c->web_host = bind;
    else
        c->bind_host = c->hostname;
    if (!nm_host_is_wildcard(c->hostname))
        return 0;
    if (named && *named && !nm_host_is_wildcard(named)) {
        c->hostname = named;
        return 0;
    }
    if (known)
        (void)snprintf(name, sizeof(name), "%s", known->hostname);
    else
        r = nm_host_canonical(name, err);
    if (r >= 0)
        r = sv_conf_set(c->conf, keys[K_HOSTNAME].name, name);
    c->hostname = r < 0 ? NULL : sv_conf_raw(c->conf, keys[K_HOSTNAME].name);
    return c->hostname ? 0 : sv_error_errno(err, r < 0 ? r : -ENOMEM, "host name");
}

/* The node's address as seen by containers on the host's network. */
static int read_node_address(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    char text[NM_HOST_MAX];

    c->node_address = c->hostname;
    if (known)
        return 0;
    if (nm_host_address(c->hostname, text) < 0)
        return 0; /* a name that peers may be able to resolve */
    c->node_address = c->own_address = strdup(text);
    return c->own_address ? 0 : sv_error_errno(err, -ENOMEM, "configuration");
}

int nm_conf_node_read(struct nm_conf *c, const struct nm_conf *known, struct sv_error *err)
{
    const char *s;
    int r;

    r = read_addresses(c, known, err);
    if (r >= 0)
        r = read_node_address(c, known, err);
    if (r < 0)
        return r;
    r = yarn_rm_proxy_config(c->conf, YARN_RM_TRACKER, &c->rm, err);
    if (r < 0)
        return r;
    NM_CONF_GET(sv_conf_duration_ms, K_TRACK_STOPPED, &c->track_stopped_ms);
    NM_CONF_GET(sv_conf_string, K_RM_MINIMUM, &c->rm_minimum_version);
    NM_CONF_GET(sv_conf_string, K_HMAC, &s);
    r = yarn_hmac_parse(s, &c->hmac);
    if (r < 0)
        return sv_error_set(err, r,
                            "%s: \"%s\" is not one of HmacSHA1, HmacSHA224, HmacSHA256, "
                            "HmacSHA384, HmacSHA512",
                            keys[K_HMAC].name, s);
    return 0;
}
