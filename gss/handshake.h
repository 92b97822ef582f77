/* Handshakes under way, by the daemon's numbers, and the steps of each. A worker has a handshake
 * for itself during a step. */
#ifndef SELVEDGE_GSS_HANDSHAKE_H
#define SELVEDGE_GSS_HANDSHAKE_H

#include "common/base.h"
#include "common/error.h"
#include "gss/keytab-check.h"
#include "gss/made.h"
#include "gss/protocol.h"
#include "gss/ticket.h"

#define SGSS_HANDSHAKES_MAX 4096
#define SGSS_HANDSHAKE_IDLE_MS 60000 /* one that nobody goes on with is dropped */

struct sgss_handshakes;
struct sgss_handshake;

int sgss_handshakes_new(const struct sgss_keytabs *k, struct sgss_tickets *t,
                        struct sgss_handshakes **ret) _must_use_;

/* Takes the handshake of the request for one step, or begins it. -EBUSY: too many, or a step of it
 * runs; -EINVAL: it is one of the other kind or principal. */
int sgss_handshake_take(struct sgss_handshakes *all, const struct sgss_request *m,
                        struct sgss_handshake **ret) _must_use_;
/* Gives it back: `over` drops it. */
void sgss_handshake_give(struct sgss_handshakes *all, struct sgss_handshake *h, bool over);
/* Drops it, when the step that runs has ended. An unknown number is no error: it has ended. */
void sgss_handshake_forget(struct sgss_handshakes *all, uint64_t number);
/* Drops those that are idle for too long. */
void sgss_handshakes_prune(struct sgss_handshakes *all);

/* One step, which may block at the KDC with SGSS_INIT. Fills the answer but its id; its data is in
 * `made`, its words are the caller's, from err. */
void sgss_handshake_step(struct sgss_handshake *h, const struct sgss_request *m, int64_t wait_ms,
                         struct sgss_made *made, struct sgss_answer *ret, struct sv_error *err);

#endif
