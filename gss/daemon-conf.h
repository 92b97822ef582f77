/* The name of a daemon in a cluster with Kerberos: its keys, which each daemon names for itself,
 * and what is read of krb5.conf. With hadoop.security.authentication=simple none of them has a
 * meaning, as in Hadoop. */
#ifndef SELVEDGE_GSS_DAEMON_CONF_H
#define SELVEDGE_GSS_DAEMON_CONF_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"
#include "common/identity/auth-to-local.h"

/* The daemon's rows. */
struct sgss_conf_keys {
    const struct sv_conf_key *principal, *keytab;
    const struct sv_conf_key *web_principal, *web_keytab; /* NULL: tickets are not for its pages */
    const struct sv_conf_key *krb5_conf, *helper, *socket;
    const char *who; /* "this node, such as nm/_HOST@REALM", for messages */
};

/* All NULL and 0 unless `on`. Texts are those of the configuration or owned by this. */
struct sgss_conf {
    bool on;               /* hadoop.security.authentication=kerberos */
    const char *principal; /* of the daemon, full, _HOST replaced */
    const char *keytab;    /* of `principal`; not opened by the daemon */
    const char *own_host;  /* what _HOST means for it */
    const char *web_principal,
        *web_keytab;                /* SPNEGO, full, _HOST replaced, or "*"; NULL: not set */
    uint32_t qop_mask;              /* hadoop.rpc.protection; wire/sasl/qop.h */
    struct sv_auth_to_local *rules; /* owned */
    const char *krb5_conf;          /* absolute path */
    const char *realm;              /* its default_realm */
    const char *helper;             /* selvedge-gss, an absolute path */
    const char *socket;             /* of selvedge-gss.socket; NULL: the daemon starts the helper */
    char *owned[3];                 /* private: texts that are not the configuration's */
};

/* Reads the keys. `own_host`: the daemon's configured name, kept by the caller. -EINVAL, -ENOENT:
 * the text names key or file, and the remedy. */
int sgss_conf_read(struct sv_conf *c, const struct sgss_conf_keys *keys, const char *own_host,
                   struct sgss_conf *ret, struct sv_error *err) _must_use_;
void sgss_conf_free(struct sgss_conf *k);

/* Another service's principal, whose _HOST each connection replaces, and a glob of principals.
 * NULL: not set, or empty. */
int sgss_conf_service(struct sv_conf *c, const struct sv_conf_key *key, const char **ret,
                      struct sv_error *err) _must_use_;
int sgss_conf_pattern(struct sv_conf *c, const struct sv_conf_key *key, const char **ret,
                      struct sv_error *err) _must_use_;
/* -EINVAL, with file, line and key. */
int sgss_conf_refuse(struct sv_conf *c, const struct sv_conf_key *key, struct sv_error *err,
                     const char *why) _must_use_;

#endif
