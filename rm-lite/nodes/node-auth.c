/* Authentication of nodes; see node-auth.h. Hostile: every peer of 8031, containers of our own
 * nodes among them; the keys of all tokens are behind it. */
#include "rm-lite/nodes/node-auth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common/address.h"
#include "common/str.h"
#include "rm-lite/security/node-principal.h"
#include "wire/ipc/resolve.h"
#include "wire/token/node-secret.h"

#define UNPROTECTED "selvedge.rm.unprotected-nodes"
#define TELL_MS 5000 /* between two messages about refused peers, which may be many */

struct rm_node_auth {
    struct yarn_node_secret secret; /* len 0: none */
    struct sv_network *unprotected;
    size_t n_unprotected;
    int64_t told_ms; /* when a refusal was last logged; 0 = never */
};

/* ---- The list ---- */

static int parse_networks(const char *text, struct rm_node_auth *a, struct sv_error *err)
{
    _cleanup_strv_ char **list = NULL;
    int r = sv_strv_split(text ? text : "", ',', &list);

    if (r < 0)
        return sv_error_errno(err, r, UNPROTECTED);
    a->unprotected = calloc(sv_strv_len(list) + 1, sizeof(*a->unprotected));
    if (!a->unprotected)
        return sv_error_errno(err, -ENOMEM, UNPROTECTED);
    for (char **s = list; s && *s; s++) {
        r = sv_network_parse(*s, &a->unprotected[a->n_unprotected]);
        if (r < 0)
            return sv_error_set(err, r, UNPROTECTED ": \"%s\" is not an address, ADDRESS/BITS or *",
                                *s);
        a->n_unprotected++;
    }
    return 0;
}

static bool is_unprotected(const struct rm_node_auth *a, const struct in6_addr *ip)
{
    for (size_t i = 0; i < a->n_unprotected; i++)
        if (sv_network_has(&a->unprotected[i], ip))
            return true;
    return false;
}

/* ---- Life ---- */

/* The node secret is for clusters without it. */
static int with_kerberos(const struct rm *rm, struct sv_error *err)
{
    if (rm->conf.unprotected_nodes && *rm->conf.unprotected_nodes)
        return sv_error_set(err, -EINVAL,
                            UNPROTECTED "=%s: with hadoop.security.authentication=kerberos each "
                                        "node shows its ticket; take the key away",
                            rm->conf.unprotected_nodes);
    return 0;
}

int rm_node_auth_new(struct rm *rm, struct sv_error *err)
{
    struct rm_node_auth *a = calloc(1, sizeof(*a));
    const char *key = yarn_node_secret_key()->name;
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "%s", key);
    rm->node_auth = a;
    if (rm->conf.kerberos.own.on)
        return with_kerberos(rm, err);
    r = yarn_node_secret_load(rm->xml, &a->secret, err);
    if (r >= 0)
        r = parse_networks(rm->conf.unprotected_nodes, a, err);
    if (r < 0)
        return r;
    if (a->secret.len == 0 && a->n_unprotected == 0)
        return sv_error_set(
            err, -ENOKEY,
            "%s: there is no node secret, and without it every peer of the "
            "ResourceTracker's port would get the keys of all tokens. Make one (umask "
            "077; head -c 32 /dev/urandom | base64 > %s, owned by the daemon's "
            "account) and copy it to each node, or name the addresses of nodes "
            "without it in " UNPROTECTED,
            key, yarn_node_secret_key()->def);
    if (a->secret.len > 0)
        sv_log_info("nodes must have the node secret %s", a->secret.id);
    if (a->n_unprotected > 0)
        sv_log_warning(UNPROTECTED "=%s: every peer there, containers included, can "
                                   "register as a node and gets the keys of all tokens",
                       rm->conf.unprotected_nodes);
    return 0;
}

void rm_node_auth_free(struct rm *rm)
{
    struct rm_node_auth *a = rm->node_auth;

    rm->node_auth = NULL;
    if (!a)
        return;
    yarn_node_secret_clear(&a->secret);
    free(a->unprotected);
    free(a);
}

/* ---- Connections and calls ---- */

static bool may_tell(struct rm_node_auth *a)
{
    int64_t now = sv_now_ms();

    if (a->told_ms && now - a->told_ms < TELL_MS)
        return false;
    a->told_ms = SV_MAX(now, (int64_t)1);
    return true;
}

static int verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                  size_t *ret_password_len, char ret_user[256], const char **ret_class,
                  struct sv_error *err, void *userdata)
{
    const struct rm *rm = userdata;
    int r = yarn_node_token_verify(&rm->node_auth->secret, id, id_len, ret_password,
                                   ret_password_len, ret_user, err);

    (void)ret_class; /* InvalidToken */
    if (r < 0 && err && may_tell(rm->node_auth))
        sv_log_warning("a node was refused: %s", err->text);
    return r;
}

bool rm_node_auth_simple(const struct rm *rm)
{
    return rm->node_auth->n_unprotected > 0;
}

ipc_token_verifier rm_node_auth_verifier(const struct rm *rm)
{
    return rm->node_auth->secret.len > 0 ? verify : NULL;
}

/* The server has taken nobody but nodes (service-access.c); a node's ticket is for its own host. */
static bool ticket_allows(struct rm *rm, struct ipc_call *call, const char *host)
{
    const struct ipc_peer *peer = ipc_call_peer(call);

    if (peer->principal && !peer->real_user &&
        rm_node_principal_check(rm->conf.kerberos.nodes, peer->principal, NULL) >= 0 &&
        rm_node_principal_is_host(peer->principal, host))
        return true;
    if (may_tell(rm->node_auth))
        sv_log_warning("node %s at %s was refused: its ticket is that of %s", host, peer->address,
                       peer->principal ?: peer->user);
    ipc_call_fail(call, JAVA_ACCESS_CONTROL, "node %s: the ticket is that of %s", host,
                  peer->principal ?: peer->user);
    return false;
}

bool rm_node_auth_allows(struct rm *rm, struct ipc_call *call, const char *host)
{
    const struct ipc_peer *peer = ipc_call_peer(call);

    if (rm->conf.kerberos.own.on)
        return ticket_allows(rm, call, host);
    if (peer->token && sv_streq(peer->user, host))
        return true;
    if (!peer->token && is_unprotected(rm->node_auth, &peer->ip))
        return true;
    if (may_tell(rm->node_auth))
        sv_log_warning("node %s at %s was refused: %s", host, peer->address,
                       peer->token ? "its token is another node's"
                                   : "it has no node secret, and " UNPROTECTED
                                     " does not name its address");
    if (peer->token)
        ipc_call_fail(call, JAVA_ACCESS_CONTROL, "node %s: the token is that of %s", host,
                      peer->user);
    else
        ipc_call_fail(call, JAVA_ACCESS_CONTROL,
                      "node %s at %s: a node secret is demanded (%s on the node), or the address "
                      "in %s on the ResourceManager",
                      host, peer->address, yarn_node_secret_key()->name, UNPROTECTED);
    return false;
}
