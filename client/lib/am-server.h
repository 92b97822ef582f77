/* The port on which an ApplicationMaster serves its own clients, as Hadoop's masters do: an IPC
 * server that knows who is entitled.
 *
 * With security the ResourceManager gives the master a key at registration, and each client a token
 * under it: then a client without one is refused. Without security a client's name is its claim.
 * Until the registration is answered, clients wait. Hostile: every client. */
#ifndef SELVEDGE_CLIENT_LIB_AM_SERVER_H
#define SELVEDGE_CLIENT_LIB_AM_SERVER_H

#include "client/lib/am.h"
#include "wire/ipc/ipc-server.h"

struct cli_am_server;

struct cli_am_server_config {
    const char *host;     /* numeric address or name to listen on; NULL = 0.0.0.0 */
    uint16_t first, last; /* a free port of this range; 0 and 0 = any */
    const struct ipc_protocol *const *protocols; /* NULL-terminated; static */
    void *userdata;                              /* for their handlers */
    const struct ipc_limits *limits;             /* NULL: those of a master, which are small */
    uint32_t qop_mask;                           /* wire/sasl/qop.h; 0 = all */
    enum yarn_hmac hmac; /* of tokens: hadoop.security.secret-manager.key-generator.algorithm */
    /* The account behind a client's name, which with security may be a principal
     * (hadoop.security.auth_to_local); NULL: the name. 0 or -errno. */
    int (*local_name)(void *userdata, const char *name, char ret[256], struct sv_error *err);
};

/* Before cli_am_register(), which takes the port. Freed before `am`. -EADDRINUSE: the whole range
 * is in use. */
int cli_am_serve(struct cli_am *am, const struct cli_am_server_config *cfg,
                 struct cli_am_server **ret, struct sv_error *err) _must_use_;
struct cli_am_server *cli_am_server_free(struct cli_am_server *s);
uint16_t cli_am_server_port(const struct cli_am_server *s);
/* A range of ports as Hadoop's keys have it, "50000-50050", or one port; "" = any. -EINVAL */
int cli_port_range_parse(const char *text, uint16_t *ret_first, uint16_t *ret_last) _must_use_;

/* ---- Access ---- */

struct sv_groups;
enum cli_access { CLI_VIEW, CLI_MODIFY };

struct cli_am_access {
    bool enabled;             /* yarn.acl.enable; false: everybody may everything */
    const char *owner;        /* who submitted the application, $USER in its containers */
    const char *admins;       /* yarn.admin.acl; NULL: nobody */
    struct sv_groups *groups; /* for groups of lists; NULL: only users count */
};
/* Whether `user` may view or change this application: its owner, an administrator, or someone of
 * the application's list (Hadoop's ApplicationACLsManager). False while groups are pending
 * (common/user-groups.h). */
bool cli_am_may(const struct cli_am *am, const struct cli_am_access *a, const char *user,
                enum cli_access access);

#endif
