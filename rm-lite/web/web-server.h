/* Opens the ResourceManager's web server (8088, or 8090 with TLS). */
#ifndef SELVEDGE_RM_LITE_WEB_WEB_SERVER_H
#define SELVEDGE_RM_LITE_WEB_WEB_SERVER_H

#include "common/error.h"
#include "rm-lite/core/context.h"

struct rm_web_server;
struct sgss_client;

/* Listens as the configuration says, and serves rm_web_handle(): sets rm->http and rm->web_port.
 * Reads ssl-server.xml and the keys. `kerberos`: judges tickets; NULL: the cluster is not secure.
 */
int rm_web_server_open(struct rm *rm, struct sgss_client *kerberos, struct rm_web_server **ret,
                       struct sv_error *err) _must_use_;
/* Before `kerberos` ends. Accepts NULL, returns NULL. */
struct rm_web_server *rm_web_server_close(struct rm_web_server *s);

#endif
