/* Tickets of the daemon's own principals, from the keytab into caches of memory.
 *
 * One thread asks the KDC. A ticket is asked for when somebody first needs it, and again at 50 to
 * 80 % of its life, at a random moment: 10,000 nodes that came up together do not ask together.
 * Each new ticket gets a cache of its own and replaces the old one under the lock; the old one
 * stays until the last handshake that began with it ends. */
#ifndef SELVEDGE_GSS_TICKET_H
#define SELVEDGE_GSS_TICKET_H

#include <gssapi/gssapi.h>

#include "common/base.h"
#include "common/error.h"
#include "gss/keytab-check.h"

#define SGSS_PRINCIPALS_MAX 4 /* of a daemon: its own, HTTP/host */

struct sgss_tickets;
struct sgss_ticket; /* a cache in use */

/* Starts the thread. Lives as long as the program. */
int sgss_tickets_new(const struct sgss_keytabs *k, struct sgss_tickets **ret) _must_use_;
/* Waits for a valid ticket: at most `wait_ms`. -ETIMEDOUT; else the last attempt's error. After a
 * failure the next attempt is in 1, 2, 4 … 60 s, and until then the error is answered at once. */
int sgss_ticket_take(struct sgss_tickets *t, const char *principal, int64_t wait_ms,
                     struct sgss_ticket **ret, struct sv_error *err) _must_use_;
struct sgss_ticket *sgss_ticket_release(struct sgss_ticket *t); /* accepts NULL */
/* For gss_init_sec_context(); the ticket keeps it. */
gss_cred_id_t sgss_ticket_credential(const struct sgss_ticket *t);
int64_t sgss_ticket_until(const struct sgss_ticket *t); /* seconds since 1970 */

#endif
