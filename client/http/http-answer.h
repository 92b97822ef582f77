/* Reads the answer to a GET of HTTP/1.0, of which the server closes the connection behind the last
 * byte. Hostile: all of it. */
#ifndef SELVEDGE_CLIENT_HTTP_HTTP_ANSWER_H
#define SELVEDGE_CLIENT_HTTP_HTTP_ANSWER_H

#include "common/base.h"

#define CLI_HTTP_HEAD_MAX 32768

struct cli_http_answer {
    int status;        /* 100 to 599 */
    size_t head;       /* bytes before the body */
    int64_t announced; /* bytes of the body as the server says; -1: up to the end */
};

/* `data` holds the first `len` bytes. 0; -EAGAIN while the head is not there as a whole; -EPROTO
 * when it is not HTTP, is longer than CLI_HTTP_HEAD_MAX, or announces a body in another coding than
 * as it stands. */
int cli_http_answer(const char *data, size_t len, struct cli_http_answer *ret) _must_use_;

#endif
