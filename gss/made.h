/* Products of a step of a GSS handshake: tokens, names and contexts of the library as memory of
 * ours. */
#ifndef SELVEDGE_GSS_MADE_H
#define SELVEDGE_GSS_MADE_H

#include <gssapi/gssapi.h>

#include "common/base.h"
#include "common/error.h"

/* sgss_made_free() after use. */
struct sgss_made {
    void *token, *context, *name; /* a NUL follows each */
    size_t token_len, context_len;
};
void sgss_made_free(struct sgss_made *m);

/* Copies a buffer of the library, with a NUL behind it, and releases it. -EMSGSIZE: longer than
 * `max`. */
int sgss_made_keep(gss_buffer_t b, size_t max, void **ret, size_t *ret_len) _must_use_;
/* The principal of `peer` becomes the name; `principal`, of ours, for messages. -EACCES: it is none
 * that this program passes on. */
int sgss_made_name(struct sgss_made *m, gss_name_t peer, const char *principal,
                   struct sv_error *err) _must_use_;

#endif
