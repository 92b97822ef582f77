/* An attempt's life, for pipeline.c. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_ATTEMPT_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_ATTEMPT_H

#include "nodemanager/amrmproxy/pipeline.h"

#define NM_AMRM_RECORD_TOKEN "amrmtoken" /* the real token's text, as Hadoop's */
#define NM_AMRM_RECORD_USER "user"

/* `at` has env and id, and is zero otherwise. -ENOMEM: to be closed all the same. */
int nm_amrm_attempt_open(struct nm_amrm_attempt *at, const char *user, const struct yarn_token *t)
    _must_use_;
void nm_amrm_attempt_close(struct nm_amrm_attempt *at);
/* Writes the record. */
int nm_amrm_keep_token(struct nm_amrm_attempt *at, const struct yarn_token *t) _must_use_;

#endif
