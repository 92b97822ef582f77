/* The tokens that the application was submitted with, as selvedge-services takes them in a cluster
 * with Kerberos: those of file systems are for tasks, too, that of the ResourceManager is for the
 * master alone. A task on the master's node, which has the same account, could read it all the
 * same. Pure. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_JOB_TOKENS_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_JOB_TOKENS_H

#include "common/buf.h"
#include "common/error.h"

struct svc_job_tokens {
    bool of_rm;          /* there is one of the ResourceManager */
    struct sv_buf tasks; /* credentials of tasks; len 0: none */
};

/* `p`: `n` bytes of credentials as Hadoop writes them; 0: none. `ret` is to be freed, which wipes
 * it. -ENOMEM; else an error of yarn_credentials_parse(), in words. */
int svc_job_tokens_read(const uint8_t *p, size_t n, struct svc_job_tokens *ret,
                        struct sv_error *err) _must_use_;
void svc_job_tokens_free(struct svc_job_tokens *t);

#endif
