/* Memory and refusals of the answers to RPCs. Without memory the request fails, not the process. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_ANSWER_H
#define SELVEDGE_RM_LITE_REQUESTS_ANSWER_H

#include "common/arena.h"
#include "wire/ipc/ipc-server.h"

/* For building an answer: the arena of a call is bounded by the size of its request, and a short
 * request may have a long answer. At most 256 MiB; NULL without memory. */
struct sv_arena *rm_answer_arena(void) _must_use_;
/* Refuses a client's or operator's request as Apache does: a YarnException that names the
 * IOException. Hadoop's clients would retry a plain IOException for 15 minutes. */
void rm_answer_io_error(struct ipc_call *call, const char *fmt, ...) _printf_(2, 3);
/* Fails a request for lack of memory; the caller retries. */
void rm_answer_no_memory(struct ipc_call *call);

/* Packs an answer into *bytes, for a repeated request: malloc'ed, replaces what is there. Without
 * memory the process ends: the answer's changes are done, and a repeated request needs it. */
void rm_answer_remember(const ProtobufCMessage *answer, uint8_t **bytes, size_t *len);

/* An array of pointers for a repeated field, never of size 0. */
#define RM_ANSWER_ARRAY(a, type, n) sv_newn(a, type *, SV_MAX((size_t)(n), (size_t)1))

#endif
