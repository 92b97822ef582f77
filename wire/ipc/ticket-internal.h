/* Private to ticket.c and ticket-step.c: whose tickets a handshake uses. Copied into each
 * handshake, which runs on another thread. */
#ifndef SELVEDGE_WIRE_IPC_TICKET_INTERNAL_H
#define SELVEDGE_WIRE_IPC_TICKET_INTERNAL_H

#include <limits.h>

#include "wire/ipc/ticket-words.h"
#include "wire/ipc/ticket.h"
#include "wire/sasl/gss-library.h"

struct ipc_ticket_name { /* "": not set */
    const struct gss_ticket_library *gss;
    char principal[IPC_PRINCIPAL_MAX];
    char keytab[PATH_MAX];
    char cache[PATH_MAX];
};

struct ipc_ticket {
    struct ipc_ticket_name name;
};

const gss_OID_desc *ipc_ticket_mechanism(void); /* Kerberos 5 */
/* The library's last failure on this thread, as ipc_ticket_words(). */
int ipc_ticket_error(const struct ipc_ticket_name *n, OM_uint32 major, OM_uint32 minor,
                     const char *target, const char *key, struct sv_error *err);
int ipc_ticket_import(const struct ipc_ticket_name *n, const char *principal, gss_name_t *ret,
                      struct sv_error *err) _must_use_;
/* With a keytab a KDC may be asked. */
int ipc_ticket_acquire(const struct ipc_ticket_name *n, gss_cred_id_t *ret, struct sv_error *err)
    _must_use_;

#endif
