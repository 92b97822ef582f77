/* The simple answers of HTTP servers: a status, Content-Length and a body as it is. Pure. */
#ifndef SELVEDGE_CLIENT_HTTP_PLAIN_ANSWER_H
#define SELVEDGE_CLIENT_HTTP_PLAIN_ANSWER_H

#include "common/base.h"

#define CLI_PLAIN_HEAD_MAX ((size_t)8 << 10) /* bytes of the status line and the headers */

struct cli_plain_answer {
    int status;
    size_t body, len; /* of the body: where it begins, and its bytes */
};

/* Reads what has come of an answer to a GET. 0: all of it. -EAGAIN: more is to come. -EPROTO: it is
 * not HTTP/1, or not simple (no body by its status, coded, without a length, with two, of more than
 * `max` bytes, or longer than it says). */
int cli_plain_answer(const char *data, size_t len, size_t max, struct cli_plain_answer *ret)
    _must_use_;

#endif
