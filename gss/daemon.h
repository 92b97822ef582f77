/* A daemon's Kerberos: the helper selvedge-gss, the daemon's own login and its renewal, and the
 * identity with which it calls a service. Nothing here waits for a KDC.
 *
 * The login is tried again by itself for as long as the daemon runs: a KDC that is away at the
 * start ends nothing. The helper asks it again after 1, 2, 4 … 60 s, and the daemon the helper,
 * each four seconds at most. The helper renews the ticket; the daemon looks after it when it should
 * have been renewed, and logs in anew at a helper that was started again. */
#ifndef SELVEDGE_GSS_DAEMON_H
#define SELVEDGE_GSS_DAEMON_H

#include "common/identity/principal.h"
#include "gss/client.h"
#include "wire/ipc/ipc-client.h"

struct sgss_daemon;

struct sgss_daemon_config {
    sd_event *event;
    const char *principal;      /* full, _HOST replaced: "nm/worker1.example@EXAMPLE.COM" */
    const char *helper;         /* absolute path of selvedge-gss; used where `socket` is NULL */
    const char *socket;         /* of selvedge-gss.socket; NULL: the helper is started here */
    const char *const *keytabs; /* NULL-terminated, for a helper that is started here */
    /* Directories of jobs, NULL-terminated, below which no keytab is trusted; NULL: none. Likewise
     * for a helper that is started here. */
    const char *const *local_dirs;
    const char *krb5_conf; /* NULL: /etc/krb5.conf; likewise */
    /* The state has changed (below); may be NULL. Called from the loop. Neither this nor `told`
     * may free the daemon. */
    void (*changed)(void *userdata);
    /* A line for the operator: of the helper, or of the ticket. May be NULL. */
    void (*told)(const char *text, void *userdata);
    void *userdata;
    int64_t rest_ms; /* for tests; 0: 1000, before the first repetition of a login */
};

/* Texts are copied. Starts the helper and the login; -errno as sgss_client_new(), and -EINVAL for
 * names that no principal has. */
int sgss_daemon_new(const struct sgss_daemon_config *cfg, struct sgss_daemon **ret,
                    struct sv_error *err) _must_use_;
struct sgss_daemon *sgss_daemon_free(struct sgss_daemon *d);
static inline void sgss_daemon_freep(struct sgss_daemon **d)
{
    *d = sgss_daemon_free(*d);
}

/* For handshakes of clients of ours: servers of IPC, SPNEGO. */
struct sgss_client *sgss_daemon_client(struct sgss_daemon *d);
const char *sgss_daemon_principal(const struct sgss_daemon *d);

struct sgss_daemon_state {
    uint64_t until;    /* end of the ticket, seconds since 1970; 0: there is none that is valid */
    const char *words; /* why there is none, or why it was not renewed; "": all is well. Valid
                        * until the loop goes on */
    bool pending;      /* the first login has not been answered yet */
    struct sgss_client_state helper;
};
struct sgss_daemon_state sgss_daemon_state(const struct sgss_daemon *d);

/* How the daemon calls a service: `ipc` is for ipc_client_config.kerberos, the rest is private.
 * Must not move while a client uses it. */
struct sgss_service {
    struct ipc_kerberos ipc;
    struct sgss_daemon *daemon;
    struct sv_server_name server; /* its texts are the caller's, and outlive the service; `host` is
                                   * set by each connection */
};
/* `key`, for messages, `configured` and `pattern`: see struct sv_server_name. */
void sgss_service_init(struct sgss_service *s, struct sgss_daemon *d, const char *key,
                       const char *configured, const char *pattern, const char *own_host);

#endif
