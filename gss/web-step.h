/* The one step of a web client's handshake: SPNEGO, or Kerberos without it. Nothing is kept of it:
 * Hadoop's web servers take one token, too. */
#ifndef SELVEDGE_GSS_WEB_STEP_H
#define SELVEDGE_GSS_WEB_STEP_H

#include "common/base.h"
#include "common/error.h"
#include "gss/keytab-check.h"
#include "gss/made.h"
#include "gss/protocol.h"

/* Makes the replay cache, in memory of this process; before sgss_sandbox_calls(). */
int sgss_web_prepare(void) _must_use_;
/* Judges the token of a request of SGSS_WEB. Fills the answer but its id; its data is in `made`,
 * its words are the caller's, from err. Not by two threads at once: what one has taken, the other
 * would have to know. */
void sgss_web_step(const struct sgss_keytabs *k, const struct sgss_request *m,
                   struct sgss_made *made, struct sgss_answer *ret, struct sv_error *err);

#endif
