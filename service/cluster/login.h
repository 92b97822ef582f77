/* The server's own ticket and what it gets with it for one request: calls to the ResourceManager as
 * the caller, and delegation tokens of HDFS and of the ResourceManager in the caller's name. In a
 * cluster with Kerberos a request's process has a selvedge-gss of its own, which ends with it:
 * ticket and key are never in the process that parses definitions.
 *
 * Tokens are for the ResourceManager to renew. They are the application's with the submission, else
 * they are cancelled with the request: a NameNode keeps each one that it has given for a day. */
#ifndef SELVEDGE_SERVICE_CLUSTER_LOGIN_H
#define SELVEDGE_SERVICE_CLUSTER_LOGIN_H

#include "common/buf.h"
#include "common/error.h"

struct svc_cluster;
struct svc_login;
struct ipc_kerberos;

/* Waits for the ticket; once. */
int svc_login_open(struct svc_cluster *c, struct sv_error *err) _must_use_;
struct svc_login *svc_login_free(struct svc_login *l); /* cancels tokens; NULL is allowed */
const struct ipc_kerberos *svc_login_rm(const struct svc_login *l);

/* Opens the file system of the caller's definitions: a descriptor of credentials ("HDTS…") with its
 * token, the login's; -1: none is needed (no Kerberos, file:). In *ret. */
int svc_login_credentials(struct svc_cluster *c, int *ret, struct sv_error *err) _must_use_;
/* Gets a token of the ResourceManager, once, with which the application's master can call it as
 * clients do. Nothing without Kerberos. */
int svc_login_rm_token(struct svc_cluster *c, struct sv_error *err) _must_use_;
/* Both as bytes, for the application; len 0: none. */
void svc_login_tokens(const struct svc_cluster *c, const uint8_t **ret, size_t *ret_len);
/* The application has them. */
void svc_login_handed(struct svc_cluster *c);

#endif
