/* Settings of a TLS server: Hadoop's hadoop.ssl.* and the server's ssl-server.xml. The files
 * are the operator's: trusted. */
#ifndef SELVEDGE_COMMON_TLS_TLS_CONF_H
#define SELVEDGE_COMMON_TLS_TLS_CONF_H

#include "common/base.h"
#include "common/conf.h"
#include "common/error.h"

struct sv_tls_store_conf {
    const char *key; /* the key that names the file, for messages */
    char *path;      /* absolute; NULL: none */
    char *password;  /* "" if none is set */
};

struct sv_tls_conf {
    struct sv_tls_store_conf keys, trust;
    bool client_cert;            /* client certificates are required, signed by one of `trust` */
    bool tls12, tls13;           /* allowed versions */
    char **included, **excluded; /* cipher suites by their Java names; included empty: all */
    int64_t reload_ms;
    /* The kernel encrypts what is sent, where it knows the cipher suite. Set by the caller, and not
     * with tls13, where a client may ask for new keys, which kernels before 6.14 refuse. */
    bool kernel;
};

/* `conf` has hadoop.ssl.*, `conf_dir` is the configuration's directory (NULL: none). Free with
 * sv_tls_conf_free, also after an error. */
int sv_tls_conf_load(struct sv_conf *conf, const char *conf_dir, struct sv_tls_conf *ret,
                     struct sv_error *err) _must_use_;
/* The rows of core-site.xml, for printing; ssl-server.xml has those of ssl.server. */
const struct sv_conf_key *sv_tls_conf_keys(size_t *ret_n);
void sv_tls_conf_free(struct sv_tls_conf *c);

#endif
