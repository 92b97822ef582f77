/* The members of the federation as one attempt sees them; see fed-attempt.h. Numbers of members
 * stay for the attempt's life. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/frame.h"

#define LATER_US 1000000
#define ACCURACY_US 10000

/* ---- Later ---- */

static int on_later(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_fed *f = userdata;

    (void)s;
    (void)usec;
    f->step(f);
    return 0;
}

void nm_fed_later(struct nm_fed *f)
{
    int r;

    if (!f->later) {
        r = sd_event_add_time_relative(f->at->env->event, &f->later, CLOCK_MONOTONIC, LATER_US,
                                       ACCURACY_US, on_later, f);
    } else {
        r = sd_event_source_set_time_relative(f->later, LATER_US);
        if (r >= 0)
            r = sd_event_source_set_enabled(f->later, SD_EVENT_ONESHOT);
    }
    if (r < 0)
        sv_log_err("%s: timer: %s", f->at->text, strerror(-r));
}

/* ---- Members ---- */

/* `hint`: where it probably is, for lists keep their order. */
static int find(const struct nm_fed *f, const char *id, size_t hint)
{
    if (hint < f->n_members && strcmp(f->members[hint].id, id) == 0)
        return (int)hint;
    for (size_t i = 0; i < f->n_members; i++)
        if (strcmp(f->members[i].id, id) == 0)
            return (int)i;
    return -ENOENT;
}

static int find_or_add(struct nm_fed *f, const char *id, size_t hint)
{
    int at = find(f, id, hint);
    struct nm_fed_member *grown;

    if (at >= 0)
        return at;
    if (f->n_members >= FED_MEMBERS_MAX)
        return -ENOMEM;
    grown = reallocarray(f->members, f->n_members + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    f->members = grown;
    grown[f->n_members] = (struct nm_fed_member){ .id = strdup(id) };
    return grown[f->n_members].id ? (int)f->n_members++ : -ENOMEM;
}

int nm_fed_member_add(struct nm_fed *f, const char *id)
{
    return find_or_add(f, id, 0);
}

static size_t take_member(struct nm_fed *f, const struct fed_member *m, size_t hint)
{
    int at = find_or_add(f, m->id, hint);
    struct nm_fed_member *own = at < 0 ? NULL : &f->members[at];

    if (!own)
        return hint; /* the next list has it again */
    own->listed = true;
    own->active = fed_state_active(m->state);
    if (own->sub && nm_sub_set_addresses(own->sub, m) < 0)
        sv_log_warning("%s: sub-cluster %s: its address is not taken: no memory", f->at->text,
                       m->id);
    return (size_t)at + 1;
}

static void on_members(const struct fed_answer *a, void *userdata)
{
    struct nm_fed *f = userdata;
    bool first = !f->members_known;
    size_t hint = 0;

    f->ask_members = 0;
    if (a->error < 0) {
        if (a->error != -ECANCELED && !f->members_known) {
            sv_log_warning("%s: the federation's members: %s", f->at->text, a->reason);
            nm_fed_later(f);
        }
        return;
    }
    for (size_t i = 0; i < f->n_members; i++)
        f->members[i].listed = f->members[i].active = false;
    for (size_t i = 0; i < a->n; i++)
        hint = take_member(f, &a->members[i], hint);
    f->members_known = true;
    if (first)
        f->step(f);
}

void nm_fed_ask_members(struct nm_fed *f)
{
    const struct fed_request q = { .op = FED_MEMBER_LIST };
    uint64_t wait = 0;
    int r;

    if (f->ask_members)
        return;
    r = fed_cache_get(f->shared->env->fed, &q, on_members, f, &wait);
    if (r == 0)
        f->ask_members = wait;
    else if (r < 0 && !f->members_known)
        nm_fed_later(f);
}

void nm_fed_flush_members(struct nm_fed *f)
{
    int64_t now = sv_now_ms();

    if (now - f->shared->flushed_ms < FED_CACHE_RETRY_MS)
        return;
    f->shared->flushed_ms = now;
    fed_cache_flush(f->shared->env->fed, &(struct fed_request){ .op = FED_MEMBER_LIST });
    nm_fed_ask_members(f);
}

const struct fed_member *nm_fed_listed(const struct nm_fed *f, const char *id)
{
    const struct fed_answer *a = fed_cache_members(f->shared->env->fed);

    for (size_t i = 0; a && i < a->n; i++)
        if (strcmp(a->members[i].id, id) == 0)
            return &a->members[i];
    return NULL;
}

bool nm_fed_silent(const struct nm_fed *f, size_t member)
{
    const struct nm_sub_cluster *s = f->members[member].sub;
    int64_t now = sv_now_ms(), since = s ? nm_sub_answered_ms(s) : 0;

    if (!s || now - f->called_before_ms > f->shared->conf.timeout_ms)
        return false; /* the master itself was silent */
    if (member == NM_FED_HOME && !since)
        since = f->home_since_ms;
    if (!since) /* it begins so; after a launch that has failed it is tried again some time */
        return !f->members[member].failed_ms ||
               now - f->members[member].failed_ms <= f->shared->conf.timeout_ms;
    return now - since > f->shared->conf.timeout_ms;
}

void nm_fed_members_clear(struct nm_fed *f)
{
    if (f->ask_members)
        (void)fed_cache_cancel(f->shared->env->fed, f->ask_members); /* gone is as good, ignoring */
    if (f->ask_context)
        (void)fed_cache_cancel(f->shared->env->fed, f->ask_context); /* as above, ignoring */
    for (size_t i = 0; i < f->n_members; i++) {
        nm_sub_free(f->members[i].sub);
        free(f->members[i].id);
        free(f->members[i].token);
    }
    free(f->members);
    f->members = NULL;
    f->n_members = 0;
    sd_event_source_disable_unref(f->later);
}

/* ---- Sub-clusters ---- */

int nm_fed_sub(struct nm_fed *f, size_t member, struct nm_sub_cluster **ret)
{
    struct nm_fed_member *m = &f->members[member];
    struct nm_sub_config c = { .event = f->at->env->event,
                               .turns = &f->shared->turns,
                               .id = m->id,
                               .member = member,
                               .app = &f->app,
                               .wire = f->shared->wire,
                               .wire_userdata = f->shared->wire_userdata,
                               .owner = f->owner,
                               .userdata = f,
                               .settings = f->shared->conf.uam,
                               .home = member == NM_FED_HOME };

    if (c.home) { /* the master waits for it, however long it is away */
        c.settings.tries = INT32_MAX;
        c.settings.retry_ms = FED_CACHE_RETRY_MS;
    }
    if (!m->sub) {
        m->sub = nm_sub_new(&c);
        if (!m->sub)
            return -ENOMEM;
        if (nm_sub_set_addresses(m->sub, nm_fed_listed(f, m->id)) < 0)
            return -ENOMEM;
    }
    *ret = m->sub;
    return 0;
}

/* ---- The application, as the store has it ---- */

static void take_context(struct nm_fed *f, const struct fed_home *home)
{
    ProtobufCMessage *m = NULL;
    int r;

    if (!home->context)
        return;
    r = ipc_unpack(f->arena, &hadoop__yarn__application_submission_context_proto__descriptor,
                   home->context, home->context_len, &m);
    if (r >= 0)
        f->app.context = (const Hadoop__Yarn__ApplicationSubmissionContextProto *)m;
    else
        sv_log_warning("%s: what the store has of its submission cannot be read (%s): its priority "
                       "and labels are not known to other sub-clusters",
                       f->at->text, strerror(-r));
}

static void on_context(const struct fed_answer *a, void *userdata)
{
    struct nm_fed *f = userdata;

    f->ask_context = 0;
    if (a->error == -ECANCELED)
        return;
    if (a->error < 0 && fed_error_away(a->error)) {
        nm_fed_later(f);
        return;
    }
    if (a->error >= 0 && a->n)
        take_context(f, &a->homes[0]);
    f->context_known = true;
    f->step(f);
}

void nm_fed_ask_context(struct nm_fed *f)
{
    const struct fed_request q = { .op = FED_HOME_GET, .home = { .app = f->at->id.app } };
    uint64_t wait = 0;
    int r;

    if (f->ask_context)
        return;
    r = fed_cache_get(f->shared->env->fed, &q, on_context, f, &wait);
    if (r == 0)
        f->ask_context = wait;
    else if (r < 0)
        nm_fed_later(f);
}
