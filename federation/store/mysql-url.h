/* The database's url in JDBC's spelling, as Hadoop's daemons have it in the same key:
 *
 *   jdbc:mysql://HOST[:PORT]/DATABASE[?NAME=VALUE&…], jdbc:mariadb://…
 *
 * Parameters that name the account, TLS and a local socket are honoured, in upper or lower case;
 * settings of Java's drivers are ignored. The rest of JDBC's forms (lists of hosts,
 * properties in parentheses, loadbalance and others) is refused. */
#ifndef SELVEDGE_FEDERATION_STORE_MYSQL_URL_H
#define SELVEDGE_FEDERATION_STORE_MYSQL_URL_H

#include "common/base.h"
#include "common/error.h"

#define FED_MYSQL_PORT 3306

enum fed_tls {
    FED_TLS_NONE,
    FED_TLS_ANY,      /* whoever the server is: useSSL, sslMode=REQUIRED, sslMode=trust */
    FED_TLS_VERIFIED, /* sslMode=VERIFY_…, verify-…: its certificate has the host and is signed */
};

struct fed_mysql_url {
    char host[256]; /* a name or an address, without brackets */
    uint16_t port;
    char database[65];
    char user[129];     /* "" = none */
    char password[257]; /* secret */
    char socket[108];   /* localSocket; "" = TCP */
    enum fed_tls tls;
    char ca[512];   /* serverSslCert, the signers' file; "" = the system's */
    char text[352]; /* "mysql://HOST:PORT/DATABASE", for messages */
};

/* -EINVAL with a text that has no part of the parameters, which may hold a password. */
int fed_mysql_url_parse(const char *url, struct fed_mysql_url *ret, struct sv_error *err)
    _must_use_;

#endif
