/* Identification of senders: the uid that the bus knows for the sender's unique name, the name of
 * that account, and its right to read everything (root, the daemon's own account, a member of
 * NM_BUS_ADMINS). Look-ups at the bus and the name service are asynchronous: a message whose sender
 * is not yet identified is queued and handled again later. Hostile: everybody who can connect to
 * the bus. The number of queued messages is bounded, in total, per sender and, once it is
 * known, per account. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_CALLER_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_CALLER_H

#include <systemd/sd-bus.h>

#include "common/user-groups.h"

#define NM_BUS_ADMINS "selvedge-admin"
#define NM_BUS_WAITING_MAX 128      /* messages */
#define NM_BUS_WAITING_OF_SENDER 16 /* per unique name */
#define NM_BUS_WAITING_OF_USER 32   /* of the senders of one uid */
#define NM_BUS_SENDERS_MAX 256      /* remembered */

struct nm_app;
struct nm_bus_callers;

struct nm_bus_caller {
    uid_t uid;
    bool sees_all;
    bool is_admin;                     /* a member of NM_BUS_ADMINS */
    char user[SV_GROUPS_NAME_MAX + 1]; /* "" = an account without a name */
};

typedef void (*nm_bus_again_fn)(sd_bus_message *m, void *userdata);

/* `groups`: groups of users, borrowed. `again` handles a message a second time. */
int nm_bus_callers_new(sd_event *event, struct sv_groups *groups, nm_bus_again_fn again,
                       void *userdata, struct nm_bus_callers **ret) _must_use_;
struct nm_bus_callers *nm_bus_callers_free(struct nm_bus_callers *s);
/* For a new connection: drops the senders and messages of the last one. */
void nm_bus_callers_reset(struct nm_bus_callers *s);
/* -EAGAIN: queued, `again` follows. -EBUSY: too many are queued. -EACCES: the bus does not know the
 * sender (any more). */
int nm_bus_callers_identify(struct nm_bus_callers *s, sd_bus_message *m, struct nm_bus_caller *ret)
    _must_use_;
/* The uid and, if known, the name of a sender that was identified before; sees_all and is_admin are
 * false. -EACCES: it was dropped from the cache. */
int nm_bus_callers_account(const struct nm_bus_callers *s, sd_bus_message *m,
                           struct nm_bus_caller *ret) _must_use_;
/* True if `who` may read objects of the application; NULL: a forgotten one. */
bool nm_bus_may_read(const struct nm_bus_caller *who, const struct nm_app *app);
/* Call it when groups of a user have become known. */
void nm_bus_callers_retry(struct nm_bus_callers *s);

#endif
