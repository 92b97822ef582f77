/* HTTP requests of the command line, on its event loop, by libcurl, which the first request loads;
 * a command that makes a single GET may do without it (plain-get.h).
 * Responses come from daemons and from applications: sizes and times are bounded, redirects are not
 * followed. */
#ifndef SELVEDGE_CLIENT_HTTP_FETCH_H
#define SELVEDGE_CLIENT_HTTP_FETCH_H

#include <systemd/sd-event.h>

#include "common/base.h"

struct cli_fetch;

/* status: the HTTP status, or -errno when there is none; `why` is then the reason as text. `body`
 * is NUL-terminated and valid during the callback. */
typedef void (*cli_fetch_fn)(int status, const char *body, size_t len, const char *why,
                             void *userdata);

int cli_fetch_new(sd_event *event, struct cli_fetch **ret) _must_use_;
/* Open requests end with -ECANCELED first; their callbacks must not make new ones. */
struct cli_fetch *cli_fetch_free(struct cli_fetch *f);

/* A GET goes without libcurl before any request needs that: while no other is under way, and unless
 * it has a header of cli_fetch_header() or a ticket. What it does not understand is repeated by
 * libcurl. */
void cli_fetch_plain_first(struct cli_fetch *f);
/* Later requests have the user's Kerberos ticket for their server (SPNEGO): `at_once`, or for those
 * that ask for it. */
void cli_fetch_negotiate(struct cli_fetch *f, bool at_once);
/* Sets the time limit of later requests, initially 20 s. After it, up to 500 requests run at the
 * same time, else 16: each has a handle, and a job's containers are many. */
void cli_fetch_patience(struct cli_fetch *f, long ms);
#define CLI_FETCH_VIEW_MS 5000 /* for interactive views of several nodes */

#define CLI_FETCH_HEADERS_MAX 4
/* Adds "Name: value" to all later requests, but for those to servers of jobs. Copied. -ENOSPC. */
int cli_fetch_header(struct cli_fetch *f, const char *line) _must_use_;

/* Receives at most `max` bytes; a longer body is truncated, which is not an error. */
int cli_fetch_get(struct cli_fetch *f, const char *url, size_t max, cli_fetch_fn fn, void *userdata)
    _must_use_;
/* As above, of a server that a job runs: it never gets the user's ticket, which it could show to
 * the NodeManager of its host. */
int cli_fetch_get_of_job(struct cli_fetch *f, const char *url, size_t max, cli_fetch_fn fn,
                         void *userdata) _must_use_;
/* Sends `json` as the body, or none if it is NULL, with this method; receives as cli_fetch_get().
 */
int cli_fetch_send(struct cli_fetch *f, const char *method, const char *url, const char *json,
                   size_t max, cli_fetch_fn fn, void *userdata) _must_use_;
/* Sends an empty body with one header "Name: value", to a server that a job runs. */
int cli_fetch_post(struct cli_fetch *f, const char *url, const char *header, cli_fetch_fn fn,
                   void *userdata) _must_use_;

#endif
