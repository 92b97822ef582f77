/* See am-server.h. Hostile: every client, authenticated or not, and its token. */
#include "client/lib/am-server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/am-internal.h"
#include "common/acl.h"
#include "common/str.h"
#include "common/user-groups.h"
#include "wire/sasl/qop.h"

struct cli_am_server {
    struct cli_am *am;
    struct ipc_server *ipc;
    enum yarn_hmac hmac;
    int (*local_name)(void *userdata, const char *name, char ret[256], struct sv_error *err);
    void *userdata;
};

/* A master has few clients, and is one of many on its node. */
static const struct ipc_limits small = {
    .max_frame = (size_t)8 << 20,
    .max_connections = 256,
    .max_per_address = 128,
    .max_preauth = 64,
    .max_inflight_per_conn = 64,
    .max_outq_per_conn = (size_t)8 << 20,
    .max_memory = (size_t)64 << 20,
    .backlog = 64,
};

/* ---- Authentication ---- */

static int verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                  size_t *ret_password_len, char ret_user[SASL_USER_MAX], const char **ret_class,
                  struct sv_error *err, void *userdata)
{
    const struct cli_am_server *s = userdata;
    struct yarn_master_key key = { .len = s->am->client_key_len };
    struct yarn_client_am_token t;
    int r = yarn_client_am_token_decode(id, id_len, &t, err);

    (void)ret_class; /* InvalidToken */
    if (r < 0)
        return r;
    if (key.len == 0)
        return sv_error_set(err, -EACCES,
                            "This ApplicationMaster has no key for tokens of clients: it is not "
                            "registered yet, or the cluster has no security");
    if (yarn_attempt_id_cmp(t.attempt, s->am->attempt) != 0)
        return sv_error_set(err, -EACCES,
                            "The token is for another attempt of an application: get a new report "
                            "from the ResourceManager");
    memcpy(key.bytes, s->am->client_key, key.len);
    r = yarn_token_password(s->hmac, &key, id, id_len, ret_password, ret_password_len);
    explicit_bzero(&key, sizeof(key));
    if (r < 0)
        return sv_error_errno(err, r, "token");
    if (s->local_name)
        return s->local_name(s->userdata, t.client, ret_user, err);
    (void)snprintf(ret_user, SASL_USER_MAX, "%s", t.client);
    return 0;
}

/* Without security a name is a claim, as in Hadoop; with it, a client without a token is a
 * stranger.
 */
static int authorize(void *userdata, const struct ipc_peer *peer, const char *protocol,
                     struct sv_error *err)
{
    const struct cli_am_server *s = userdata;

    (void)protocol;
    if (!s->am->was_registered)
        return -EAGAIN;
    if (s->am->client_key_len > 0 && !peer->token)
        return sv_error_set(err, -EACCES,
                            "%s authentication is not enabled here: present the client-to-AM token "
                            "of the application's report",
                            ipc_peer_method(peer));
    return 0;
}

static void on_key(void *userdata)
{
    struct cli_am_server *s = userdata;

    ipc_server_ask_again(s->ipc);
}

/* ---- The port ---- */

int cli_port_range_parse(const char *text, uint16_t *ret_first, uint16_t *ret_last)
{
    const char *dash = strchr(text, '-');
    char first[8] = "";
    uint64_t low, high;

    if (!*text) {
        *ret_first = *ret_last = 0;
        return 0;
    }
    if (dash && (size_t)(dash - text) >= sizeof(first))
        return -EINVAL;
    if (dash)
        memcpy(first, text, (size_t)(dash - text));
    if (sv_parse_u64(dash ? first : text, 1, UINT16_MAX, &low) < 0)
        return -EINVAL;
    high = low;
    if (dash && sv_parse_u64(dash + 1, low, UINT16_MAX, &high) < 0)
        return -EINVAL;
    *ret_first = (uint16_t)low;
    *ret_last = (uint16_t)high;
    return 0;
}

static int listen_in_range(struct cli_am_server *s, struct ipc_server_config *ipc,
                           const struct cli_am_server_config *cfg, struct sv_error *err)
{
    int r;

    for (unsigned port = cfg->first; port <= cfg->last; port++) {
        ipc->port = (uint16_t)port;
        r = ipc_server_new(s->am->event, ipc, &s->ipc, err);
        if (r != -EADDRINUSE)
            return r;
    }
    return sv_error_set(err, -EADDRINUSE,
                        "ApplicationMaster: every port of %u-%u is in use: give a wider range",
                        cfg->first, cfg->last);
}

int cli_am_serve(struct cli_am *am, const struct cli_am_server_config *cfg,
                 struct cli_am_server **ret, struct sv_error *err)
{
    struct cli_am_server *s;
    struct ipc_server_config ipc = { .host = cfg->host ? cfg->host : "0.0.0.0",
                                     .allow_simple = true, /* but see authorize() */
                                     .verify_token = verify,
                                     .authorization = authorize,
                                     .qop_mask = cfg->qop_mask ? cfg->qop_mask : IPC_QOP_ALL,
                                     .protocols = cfg->protocols,
                                     .userdata = cfg->userdata,
                                     .limits = cfg->limits ? *cfg->limits : small };
    int r;

    if (am->on_key)
        return sv_error_set(err, -EALREADY, "ApplicationMaster: it serves a port already");
    if (cfg->last < cfg->first)
        return sv_error_set(err, -EINVAL, "ApplicationMaster: ports %u-%u: not a range", cfg->first,
                            cfg->last);
    s = calloc(1, sizeof(*s));
    if (!s)
        return sv_error_errno(err, -ENOMEM, "ApplicationMaster: its port");
    s->am = am;
    s->hmac = cfg->hmac;
    s->local_name = cfg->local_name;
    s->userdata = cfg->userdata;
    ipc.auth_userdata = s;
    r = listen_in_range(s, &ipc, cfg, err);
    if (r < 0) {
        free(s);
        return r;
    }
    am->on_key = on_key;
    am->on_key_userdata = s;
    *ret = s;
    return 0;
}

struct cli_am_server *cli_am_server_free(struct cli_am_server *s)
{
    if (!s)
        return NULL;
    s->am->on_key = NULL;
    s->am->on_key_userdata = NULL;
    ipc_server_free(s->ipc);
    free(s);
    return NULL;
}

uint16_t cli_am_server_port(const struct cli_am_server *s)
{
    return ipc_server_port(s->ipc);
}

/* ---- Access ---- */

bool cli_am_may(const struct cli_am *am, const struct cli_am_access *a, const char *user,
                enum cli_access access)
{
    const char *acl = access == CLI_MODIFY ? am->modify_acl : am->view_acl;

    return !a->enabled || (a->owner && sv_streq(user, a->owner)) ||
           (a->admins && sv_acl_admits(a->admins, user, a->groups)) ||
           (acl && sv_acl_admits(acl, user, a->groups));
}
