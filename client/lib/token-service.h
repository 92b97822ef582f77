/* The name of a token's service, by which Hadoop's clients find it among others: the addresses of
 * its servers, or their names where hadoop.security.token.service.use_ip is false. */
#ifndef SELVEDGE_CLIENT_LIB_TOKEN_SERVICE_H
#define SELVEDGE_CLIENT_LIB_TOKEN_SERVICE_H

#include <systemd/sd-event.h>

#include "common/conf.h"

#define CLI_SERVICE_MAX 4096 /* bytes with the NUL: 16 servers */

struct cli_service_name;

struct cli_service_server { /* the text outlives the look-up */
    const char *host;
    uint16_t port;
};

/* Called once, from the loop: "10.0.0.1:8032,10.0.0.2:8032". A name without an address stays. */
typedef void (*cli_service_fn)(const char *service, void *userdata);

/* Looks the servers up, off the loop. */
int cli_service_name_find(sd_event *event, struct sv_conf *conf,
                          const struct cli_service_server *servers, size_t n, cli_service_fn fn,
                          void *userdata, struct cli_service_name **ret) _must_use_;
/* Ends it without a call; may be called from the callback. Accepts NULL. */
struct cli_service_name *cli_service_name_free(struct cli_service_name *s);

#endif
