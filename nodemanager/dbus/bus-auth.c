/* See bus-auth.h. polkit's interface: org.freedesktop.PolicyKit1.Authority. */
#include "nodemanager/dbus/bus-auth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"

#define ALLOW_USER_INTERACTION 1u

struct question {
    struct question *prev, *next;
    struct nm_bus_auth *all;
    sd_bus_message *m;
    uid_t uid;
    sd_bus_slot *slot; /* of polkit's answer, then of the bus' */
};

struct nm_bus_auth {
    nm_bus_decided_fn decided;
    void *userdata;
    struct question *questions; /* utlist */
};

static void question_free(struct question *q)
{
    DL_DELETE(q->all->questions, q);
    sd_bus_slot_unref(q->slot);
    sd_bus_message_unref(q->m);
    free(q);
}

/* (bba{ss}): is authorized, is a challenge, details. */
static const char *refusal_of(sd_bus_message *reply)
{
    const sd_bus_error *e = sd_bus_message_get_error(reply);
    int authorized, challenge;

    if (e && (sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
              sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER)))
        return "polkit is not there to authorize anybody: root alone may do this";
    if (e)
        return "polkit has not answered, or cannot identify the caller";
    if (sd_bus_message_enter_container(reply, 'r', "bba{ss}") <= 0 ||
        sd_bus_message_read(reply, "bb", &authorized, &challenge) < 0)
        return "polkit's answer is malformed";
    if (authorized)
        return NULL;
    return challenge ? "not authorized by polkit without a password: call again interactively "
                       "(busctl --allow-interactive-authorization=yes)"
                     : "not authorized by polkit";
}

static void decide(struct question *q, const char *refusal)
{
    struct nm_bus_auth *all = q->all;
    sd_bus_message *m = sd_bus_message_ref(q->m);

    question_free(q);
    all->decided(m, refusal, all->userdata);
    sd_bus_message_unref(m);
}

/* NameHasOwner of the caller's unique name, which the bus never gives again. */
static int on_still_there(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
    SV_LOOP_HANDLER();
    struct question *q = userdata;
    int there = 0;

    (void)error;
    if (sd_bus_message_is_method_error(reply, NULL) || sd_bus_message_read(reply, "b", &there) < 0)
        decide(q, "the bus has not said whether the caller is still connected");
    else if (there)
        decide(q, NULL);
    else {
        sv_log_info("D-Bus: %s is dropped: its caller has left", sd_bus_message_get_member(q->m));
        question_free(q);
    }
    return 1;
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
    SV_LOOP_HANDLER();
    struct question *q = userdata;
    const char *refusal = refusal_of(reply);
    sd_bus_message *ask = NULL;
    int r;

    (void)error;
    if (refusal) {
        decide(q, refusal);
        return 1;
    }
    q->slot = sd_bus_slot_unref(q->slot);
    r = sd_bus_message_new_method_call(sd_bus_message_get_bus(q->m), &ask, "org.freedesktop.DBus",
                                       "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                       "NameHasOwner");
    if (r >= 0)
        r = sd_bus_message_append(ask, "s", sd_bus_message_get_sender(q->m));
    if (r >= 0)
        r = sd_bus_call_async(sd_bus_message_get_bus(q->m), &q->slot, ask, on_still_there, q,
                              (uint64_t)NM_BUS_LEFT_MS * 1000);
    sd_bus_message_unref(ask);
    if (r < 0)
        decide(q, "the bus cannot be asked whether the caller is still connected");
    return 1;
}

static bool too_many(const struct nm_bus_auth *a, uid_t uid)
{
    const struct question *q;
    int all = 0, own = 0;

    DL_FOREACH (a->questions, q) {
        all++;
        own += q->uid == uid;
    }
    return all >= NM_BUS_ASKED_MAX || own >= NM_BUS_ASKED_OF_USER;
}

static int append_arguments(sd_bus_message *ask, const char *sender, const char *action,
                            const char *const *details, bool interactive)
{
    int r =
        sd_bus_message_append(ask, "(sa{sv})s", "system-bus-name", 1, "name", "s", sender, action);

    if (r >= 0)
        r = sd_bus_message_open_container(ask, 'a', "{ss}");
    for (; *details && r >= 0; details += 2)
        r = sd_bus_message_append(ask, "{ss}", details[0], details[1]);
    if (r >= 0)
        r = sd_bus_message_close_container(ask);
    if (r >= 0)
        r = sd_bus_message_append(ask, "us", interactive ? ALLOW_USER_INTERACTION : 0, "");
    return r;
}

int nm_bus_auth_ask(struct nm_bus_auth *a, sd_bus_message *m, uid_t uid, const char *action,
                    const char *const *details)
{
    const char *sender = sd_bus_message_get_sender(m);
    bool interactive = sd_bus_message_get_allow_interactive_authorization(m) > 0;
    sd_bus *bus = sd_bus_message_get_bus(m);
    sd_bus_message *ask = NULL;
    struct question *q;
    int r;

    if (!sender)
        return -EACCES;
    if (too_many(a, uid))
        return -EBUSY;
    q = calloc(1, sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->all = a;
    q->uid = uid;
    q->m = sd_bus_message_ref(m);
    DL_APPEND(a->questions, q);
    r = sd_bus_message_new_method_call(
        bus, &ask, "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
        "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization");
    if (r >= 0)
        r = append_arguments(ask, sender, action, details, interactive);
    if (r >= 0)
        r = sd_bus_call_async(
            bus, &q->slot, ask, on_answer, q,
            (uint64_t)(interactive ? NM_BUS_INTERACTIVE_AUTH_MS : NM_BUS_AUTH_MS) * 1000);
    sd_bus_message_unref(ask);
    if (r < 0)
        question_free(q);
    return r < 0 ? r : 0;
}

void nm_bus_auth_reset(struct nm_bus_auth *a)
{
    while (a->questions)
        question_free(a->questions);
}

struct nm_bus_auth *nm_bus_auth_new(nm_bus_decided_fn decided, void *userdata)
{
    struct nm_bus_auth *a = calloc(1, sizeof(*a));

    if (a) {
        a->decided = decided;
        a->userdata = userdata;
    }
    return a;
}

struct nm_bus_auth *nm_bus_auth_free(struct nm_bus_auth *a)
{
    if (!a)
        return NULL;
    nm_bus_auth_reset(a);
    free(a);
    return NULL;
}
