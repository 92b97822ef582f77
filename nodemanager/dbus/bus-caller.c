/* See bus-caller.h. */
#include "nodemanager/dbus/bus-caller.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

#include "common/loop-guard.h"
#include "common/str.h"
#include "nodemanager/core/application.h"

#define BUS_MS 10000        /* limit of a credentials query to the bus */
#define NAME_MS 300000      /* cache lifetime of a uid's name */
#define NO_NAME_MS 30000    /* cache lifetime of "no name" */
#define ENTRY_MAX 65536     /* bytes of an account in the name service */
#define UNIQUE_NAME_MAX 256 /* D-Bus: 255 bytes */

struct sender {
    UT_hash_handle hh;
    struct nm_bus_callers *all;
    char name[UNIQUE_NAME_MAX];
    sd_bus_slot *slot; /* pending credentials query; NULL: answered */
    bool unknown;      /* unknown to the bus */
    uid_t uid;
    char user[SV_GROUPS_NAME_MAX + 1]; /* at the last identification */
    unsigned waiting;
};

struct waiting {
    struct waiting *prev, *next;
    sd_bus_message *m;
};

struct nm_bus_callers {
    sd_event *event;
    struct sv_groups *groups; /* groups of users, borrowed */
    struct sv_groups *names;  /* names of uids, each as a list of one */
    struct sender *senders;   /* uthash, the oldest first */
    struct waiting *waiting;  /* utlist */
    unsigned n_waiting;
    nm_bus_again_fn again;
    void *userdata;
};

/* ---- the name of a uid, on a thread of the pool ---- */

static char **name_of_uid(void *data, const char *text, char *why, size_t why_size)
{
    _cleanup_free_ char *buf = malloc(ENTRY_MAX);
    struct passwd pw, *found = NULL;
    char **names = NULL;
    uint64_t uid;

    (void)data, (void)why, (void)why_size;
    if (!buf || sv_parse_u64(text, 0, UINT32_MAX - 1, &uid) < 0 ||
        getpwuid_r((uid_t)uid, &pw, buf, ENTRY_MAX, &found) != 0 || !found)
        return NULL;
    names = calloc(2, sizeof(*names));
    if (names && !(names[0] = strdup(pw.pw_name)))
        names = sv_strv_free(names);
    return names;
}

/* ---- waiting messages ---- */

static struct sender *sender_find(const struct nm_bus_callers *s, const char *name)
{
    struct sender *found = NULL;

    HASH_FIND_STR(s->senders, name, found);
    return found;
}

static void waiting_free(struct nm_bus_callers *s, struct waiting *w)
{
    struct sender *sender = sender_find(s, sd_bus_message_get_sender(w->m));

    if (sender)
        sender->waiting--;
    DL_DELETE(s->waiting, w);
    s->n_waiting--;
    sd_bus_message_unref(w->m);
    free(w);
}

/* Messages that wait of the account of an identified sender. */
static unsigned waiting_of(const struct nm_bus_callers *s, uid_t uid)
{
    unsigned n = 0;

    for (const struct sender *o = s->senders; o; o = o->hh.next)
        n += !o->slot && !o->unknown && o->uid == uid ? o->waiting : 0;
    return n;
}

static int keep(struct nm_bus_callers *s, struct sender *sender, sd_bus_message *m)
{
    struct waiting *w;

    if (s->n_waiting >= NM_BUS_WAITING_MAX || sender->waiting >= NM_BUS_WAITING_OF_SENDER ||
        (!sender->slot && waiting_of(s, sender->uid) >= NM_BUS_WAITING_OF_USER))
        return -EBUSY;
    w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->m = sd_bus_message_ref(m);
    DL_APPEND(s->waiting, w);
    s->n_waiting++;
    sender->waiting++;
    return -EAGAIN;
}

/* Handles each waiting message again once; it may have to wait for something else. */
bool nm_bus_may_read(const struct nm_bus_caller *who, const struct nm_app *app)
{
    return who->sees_all || (app && *who->user && sv_streq(who->user, app->user));
}

void nm_bus_callers_retry(struct nm_bus_callers *s)
{
    for (unsigned n = s->n_waiting; n > 0 && s->waiting; n--) {
        sd_bus_message *m = sd_bus_message_ref(s->waiting->m);

        waiting_free(s, s->waiting);
        s->again(m, s->userdata);
        sd_bus_message_unref(m);
    }
}

static void on_name_known(void *userdata)
{
    nm_bus_callers_retry(userdata);
}

/* ---- senders ---- */

static void sender_free(struct nm_bus_callers *s, struct sender *sender)
{
    HASH_DEL(s->senders, sender);
    sd_bus_slot_unref(sender->slot);
    free(sender);
}

/* The bus never reuses a unique name, so its credentials do not change. */
static int on_uid(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    SV_LOOP_HANDLER();
    struct sender *sender = userdata;
    struct nm_bus_callers *all = sender->all;
    uint32_t uid;

    (void)error;
    sender->slot = sd_bus_slot_unref(sender->slot);
    if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "u", &uid) < 0)
        sender->unknown = true;
    else
        sender->uid = uid;
    nm_bus_callers_retry(all);
    return 1;
}

static int question(struct nm_bus_callers *s, sd_bus *bus, const char *name, struct sender **ret)
{
    struct sender *sender, *tmp;
    sd_bus_message *q = NULL;
    int r;

    if (strlen(name) >= UNIQUE_NAME_MAX)
        return -EACCES;
    HASH_ITER (hh, s->senders, sender, tmp)
        if (HASH_COUNT(s->senders) >= NM_BUS_SENDERS_MAX && !sender->slot && !sender->waiting)
            sender_free(s, sender);
    if (HASH_COUNT(s->senders) >= NM_BUS_SENDERS_MAX)
        return -EBUSY;
    sender = calloc(1, sizeof(*sender));
    if (!sender)
        return -ENOMEM;
    sender->all = s;
    snprintf(sender->name, sizeof(sender->name), "%s", name);
    r = sd_bus_message_new_method_call(bus, &q, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                       "org.freedesktop.DBus", "GetConnectionUnixUser");
    if (r >= 0)
        r = sd_bus_message_append(q, "s", name);
    if (r >= 0)
        r = sd_bus_call_async(bus, &sender->slot, q, on_uid, sender, (uint64_t)BUS_MS * 1000);
    sd_bus_message_unref(q);
    if (r < 0) {
        free(sender);
        return r;
    }
    HASH_ADD_STR(s->senders, name, sender);
    *ret = sender;
    return 0;
}

/* -EAGAIN: a look-up is under way. */
static int account_of(struct nm_bus_callers *s, uid_t uid, struct nm_bus_caller *ret)
{
    struct nm_bus_caller who = { .uid = uid };
    char text[16];
    char *const *names;
    int r;

    snprintf(text, sizeof(text), "%u", (unsigned)uid);
    who.sees_all = uid == 0 || uid == geteuid();
    if (!who.sees_all) {
        r = sv_groups_of(s->names, text, &names);
        if (r < 0)
            return r;
        snprintf(who.user, sizeof(who.user), "%s", names[0] ? names[0] : "");
        r = sv_groups_of(s->groups, who.user, &names);
        (void)sv_groups_missed(s->groups); /* the web server has its own mark, ignoring */
        if (r < 0)
            return r;
        for (; *names; names++)
            who.is_admin = who.is_admin || sv_streq(*names, NM_BUS_ADMINS);
        who.sees_all = who.is_admin;
    }
    *ret = who;
    return 0;
}

int nm_bus_callers_identify(struct nm_bus_callers *s, sd_bus_message *m, struct nm_bus_caller *ret)
{
    const char *name = sd_bus_message_get_sender(m);
    struct sender *sender;
    int r;

    if (!name)
        return -EACCES;
    sender = sender_find(s, name);
    if (!sender) {
        r = question(s, sd_bus_message_get_bus(m), name, &sender);
        return r < 0 ? r : keep(s, sender, m);
    }
    if (sender->slot)
        return keep(s, sender, m);
    if (sender->unknown)
        return -EACCES;
    r = account_of(s, sender->uid, ret);
    if (r >= 0)
        memcpy(sender->user, ret->user, sizeof(sender->user));
    return r == -EAGAIN ? keep(s, sender, m) : r;
}

int nm_bus_callers_account(const struct nm_bus_callers *s, sd_bus_message *m,
                           struct nm_bus_caller *ret)
{
    const char *name = sd_bus_message_get_sender(m);
    const struct sender *sender = name ? sender_find(s, name) : NULL;

    *ret = (struct nm_bus_caller){ .uid = UINT32_MAX };
    if (!sender || sender->slot || sender->unknown)
        return -EACCES;
    ret->uid = sender->uid;
    memcpy(ret->user, sender->user, sizeof(ret->user));
    return 0;
}

/* ---- life ---- */

void nm_bus_callers_reset(struct nm_bus_callers *s)
{
    struct sender *sender, *tmp;

    while (s->waiting)
        waiting_free(s, s->waiting);
    HASH_ITER (hh, s->senders, sender, tmp)
        sender_free(s, sender);
}

int nm_bus_callers_new(sd_event *event, struct sv_groups *groups, nm_bus_again_fn again,
                       void *userdata, struct nm_bus_callers **ret)
{
    struct nm_bus_callers *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    *s = (struct nm_bus_callers){
        .event = event, .groups = groups, .again = again, .userdata = userdata
    };
    r = sv_groups_new(event,
                      &(struct sv_groups_conf){ .cache_ms = NAME_MS,
                                                .negative_ms = NO_NAME_MS,
                                                .source = { .names = name_of_uid },
                                                .known = on_name_known,
                                                .userdata = s },
                      &s->names);
    if (r < 0) {
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct nm_bus_callers *nm_bus_callers_free(struct nm_bus_callers *s)
{
    if (!s)
        return NULL;
    nm_bus_callers_reset(s);
    sv_groups_free(s->names);
    free(s);
    return NULL;
}
