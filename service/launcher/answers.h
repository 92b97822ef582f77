/* Long answers, in pieces: each call of the loop adds some. A framework whose tasks have become
 * others meanwhile ends the answer early. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_ANSWERS_H
#define SELVEDGE_SERVICE_LAUNCHER_ANSWERS_H

#include "common/buf.h"
#include "service/launcher/launcher.h"

struct svc_lr_pieces;

enum svc_lr_shape {
    SVC_LR_INFO,       /* FrameworkInfo */
    SVC_LR_AGGREGATED, /* AggregatedFrameworkStatus */
    SVC_LR_TOLD,       /* tasks by role alone, for a master */
};

/* `head`: malloc'd text before, or NULL; taken. NULL: no memory. */
struct svc_lr_pieces *svc_lr_pieces_of(struct svc_lr *l, const struct svc_framework *f,
                                       enum svc_lr_shape shape, char *head);
/* SummarizedFrameworkInfos; each filter NULL: all. */
struct svc_lr_pieces *svc_lr_pieces_list(struct svc_lr *l, const char *user,
                                         const enum svc_lr_client *client);
struct svc_lr_pieces *svc_lr_pieces_free(struct svc_lr_pieces *p);
/* Adds about `n` bytes. 1: there are more; 0: that was all; -ESTALE; -ENOMEM; -EMSGSIZE. */
int svc_lr_pieces_next(struct svc_lr_pieces *p, struct sv_buf *out, size_t n) _must_use_;

#endif
