/* GET over HTTP without TLS, on the event loop: for the few requests that a short command makes of
 * the ResourceManager, where libcurl would take longer to load than the request takes
 * (curl-late.c). A connection a request; redirects are not followed; times and sizes are bounded.
 */
#ifndef SELVEDGE_CLIENT_HTTP_PLAIN_GET_H
#define SELVEDGE_CLIENT_HTTP_PLAIN_GET_H

#include <systemd/sd-event.h>

#include "client/http/fetch.h"

struct cli_plain; /* requests that are under way; NULL = none */

/* Of http://ADDRESS/PATH, ADDRESS being HOST:PORT: at most `max` bytes within `ms`; a longer body
 * is truncated, which is not an error. */
int cli_plain_get(struct cli_plain **list, sd_event *event, const char *address, const char *path,
                  size_t max, long ms, cli_fetch_fn fn, void *userdata) _must_use_;
/* They end with -ECANCELED; their callbacks must not make new ones. */
void cli_plain_cancel(struct cli_plain **list);

#endif
