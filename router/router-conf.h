/* Configuration of selvedge-router: one row a key, read once at the start; and what becomes of the
 * keys yarn.router.* that have none. The files are the operator's. */
#ifndef SELVEDGE_ROUTER_ROUTER_CONF_H
#define SELVEDGE_ROUTER_ROUTER_CONF_H

#include <stdio.h>

#include "common/conf.h"
#include "common/web/web-auth.h"
#include "router/conf-kerberos.h"
#include "router/conf-tokens.h"
#include "wire/ipc/ipc-conf.h"

struct rtr_conf {
    const char *host; /* texts are the configuration's */
    uint16_t port;
    const char *web_host; /* NULL: no web port */
    uint16_t web_port;
    int64_t retries;    /* of a submission, at other members */
    int64_t timeout_ms; /* of one call to one member */
    int64_t max_calls;  /* of clients, open at once */
    bool partial;       /* lists without the members that do not answer */
    bool authorization; /* hadoop-policy.xml is asked */
    struct ipc_server_settings ipc;
    struct sv_web_auth auth; /* groups of users alone */
    struct rtr_conf_kerberos kerberos;
    struct rtr_conf_tokens tokens;
};

/* -EINVAL, -ENOENT: a value that is refused, or krb5.conf; the reason names file, line and key. */
int rtr_conf_read(struct sv_conf *conf, struct rtr_conf *ret, struct sv_error *err) _must_use_;
void rtr_conf_clear(struct rtr_conf *c);
/* Logs a line for each key yarn.router.* that is set and has no effect. */
void rtr_conf_log_unread(struct sv_conf *conf);
void rtr_conf_print(struct sv_conf *conf, FILE *out); /* name, value, help: a line each */
/* The table of docs/federation.md. */
void rtr_conf_print_keys(FILE *out);

#endif
