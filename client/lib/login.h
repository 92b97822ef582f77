/* A client's identity in a cluster with Kerberos, and what proves it: a delegation token of the
 * ResourceManager's that a file has, else the user's own tickets, by kinit or by a keytab. Without
 * Kerberos a client is who it says, and nothing here is needed.
 *
 * Nothing blocks but the look at files and caches; KDCs are asked by handshakes
 * (wire/ipc/ticket.h). Trusted: configuration, environment and files of the user. */
#ifndef SELVEDGE_CLIENT_LIB_LOGIN_H
#define SELVEDGE_CLIENT_LIB_LOGIN_H

#include "common/conf.h"
#include "wire/ipc/proxy.h"
#include "wire/ipc/ticket.h"
#include "wire/token/token.h"

#define CLI_NAMENODE_PRINCIPAL "dfs.namenode.kerberos.principal"
#define CLI_RM_PRINCIPAL "yarn.resourcemanager.principal"

struct cli_login;
struct hdfs_tickets;

/* NULL and no error without Kerberos. The tokens are those of $HADOOP_TOKEN_FILE_LOCATION; they
 * come first, as in Hadoop, unless selvedge.client.kerberos.principal is set; `service`
 * YARN_RM_ADMIN takes tickets alone. Errors as ipc_ticket_new(), and those of files. `conf`
 * outlives the login. */
int cli_login_new(struct sv_conf *conf, enum yarn_rm_service service, struct cli_login **ret,
                  struct sv_error *err) _must_use_;
struct cli_login *cli_login_free(struct cli_login *l); /* accepts NULL */
static inline void cli_login_freep(struct cli_login **l)
{
    *l = cli_login_free(*l);
}

/* "alice@EXAMPLE.COM": of the ticket, or the token's owner. */
const char *cli_login_principal(const struct cli_login *l);
/* The user whom a caller with a ticket acts for, $HADOOP_PROXY_USER; NULL: itself. */
const char *cli_login_for_user(const struct cli_login *l);
/* NULL: a token has been found. */
const struct ipc_ticket *cli_login_ticket(const struct cli_login *l);
/* The ResourceManager's token; NULL: tickets are used. */
const struct yarn_token *cli_login_token(const struct cli_login *l);
uint32_t cli_login_qop(const struct cli_login *l); /* hadoop.rpc.protection */
/* Bytes of the token file, "" and 0: there is none; and a descriptor of it, -1. */
const uint8_t *cli_login_credentials(const struct cli_login *l, size_t *ret_len);
int cli_login_credentials_fd(const struct cli_login *l);
/* For reading and writing HDFS; NULL: tokens of the file are all there is. */
const struct hdfs_tickets *cli_login_hdfs(const struct cli_login *l);

/* How to call the ResourceManager, and NameNodes, on a loop; with tickets. */
void cli_login_rm_service(const struct cli_login *l, sd_event *event,
                          struct ipc_ticket_service *ret);
void cli_login_namenode_service(const struct cli_login *l, sd_event *event,
                                struct ipc_ticket_service *ret);

/* Among `all` the token for the ResourceManagers of `rm`; NULL: none. Of several, the one whose
 * service names a server of theirs; the only one is taken whatever it names. Pure, but for
 * look-ups of servers' names where there are several. */
const struct yarn_token *cli_login_choose(const struct yarn_credentials *all,
                                          const struct ipc_proxy_config *rm);
/* Rows of the keys. */
const struct sv_conf_key *cli_login_keys(size_t *ret_n);

#endif
