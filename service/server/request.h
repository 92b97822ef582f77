/* A request on its way from the server to the process that answers it, and the answer on its way
 * back. Both ends are this program. */
#ifndef SELVEDGE_SERVICE_SERVER_REQUEST_H
#define SELVEDGE_SERVICE_SERVER_REQUEST_H

#include "service/api/api.h"

/* Puts the request into a memory file; the descriptor, or -errno. */
int svc_request_put(const struct svc_request *q) _must_use_;
/* Maps it; the texts of *ret end with NUL and live until the process ends. */
int svc_request_get(int fd, struct svc_request *ret) _must_use_;

struct svc_answer_head {
    uint32_t status;
    uint32_t length; /* of the body that follows */
};
/* Writes head and body. */
int svc_answer_write(int fd, const struct svc_answer *a) _must_use_;

#endif
