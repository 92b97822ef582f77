/* One GET over plain HTTP without libcurl, whose thirty libraries take longer to load than most
 * commands run (docs/adr/0091-a-first-get-without-libcurl.md). It gives up at the first thing out
 * of the ordinary; the caller then repeats the request by libcurl. */
#ifndef SELVEDGE_CLIENT_HTTP_PLAIN_GET_H
#define SELVEDGE_CLIENT_HTTP_PLAIN_GET_H

#include <systemd/sd-event.h>

#include "common/base.h"

struct cli_plain_get;

/* `status`: the HTTP status, or -errno when it gave up. `body` is NUL-terminated and valid during
 * the callback, which runs once, from the loop, and may free the request. */
typedef void (*cli_plain_done)(int status, const char *body, size_t len, void *userdata);

/* Asks for `url`, with `accept` ("Name: value") as a header, for a body of at most `max` bytes;
 * both texts are copied. -EINVAL: the URL is not http://HOST:PORT/…; -ENOMEM; else an error of the
 * socket. On error `done` is not called. */
int cli_plain_get(sd_event *event, const char *url, const char *accept, size_t max,
                  cli_plain_done done, void *userdata, struct cli_plain_get **ret) _must_use_;
/* Accepts NULL, returns NULL; `done` is not called any more. */
struct cli_plain_get *cli_plain_get_free(struct cli_plain_get *g);

#endif
