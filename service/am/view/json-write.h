/* Appends JSON to a buffer, for answers too large to be built as a tree. Hostile: every text. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_JSON_WRITE_H
#define SELVEDGE_SERVICE_AM_VIEW_JSON_WRITE_H

#include "common/buf.h"

/* All return 0, -EMSGSIZE or -ENOMEM, as the buffer. */

/* A string with its quotes. What is no UTF-8 becomes U+FFFD; NULL is "". */
int svc_json_text(struct sv_buf *b, const char *text) _must_use_;
/* ,"name":"text": names are ours. Writes nothing where the text is NULL or "". */
int svc_json_member(struct sv_buf *b, const char *name, const char *text) _must_use_;
int svc_json_number(struct sv_buf *b, const char *name, int64_t value) _must_use_;

#endif
