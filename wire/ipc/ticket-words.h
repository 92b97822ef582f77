/* Failures of a user's Kerberos login in one line: what is wrong, and what helps, which is kinit as
 * often as not. Pure. */
#ifndef SELVEDGE_WIRE_IPC_TICKET_WORDS_H
#define SELVEDGE_WIRE_IPC_TICKET_WORDS_H

#include "common/base.h"
#include "common/error.h"

struct ipc_ticket_failure {
    uint32_t major, minor; /* of GSSAPI; minor: libkrb5's number */
    const char *text;      /* the library's, for it */
    const char *principal; /* ours; NULL: not known */
    const char *target;    /* the server's; NULL: not known yet */
    const char *key;       /* which names the server; with `target` */
    const char *keytab;    /* NULL: tickets are by kinit */
};

/* Returns the error's code: -EAGAIN: no KDC answers, which may pass; -ENOKEY and -EKEYEXPIRED: no
 * ticket; -EACCES: another reason. */
int ipc_ticket_words(const struct ipc_ticket_failure *f, struct sv_error *err);

#endif
