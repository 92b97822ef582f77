/* Rows of homes whose applications this ResourceManager has dropped: deleted one after the other,
 * each only if it says that the home is here. After the registration the rows of earlier lives are
 * looked through once. See member.h. */
#include <errno.h>
#include <stdlib.h>

#include "common/loop-guard.h"
#include "common/str.h"
#include "rm-lite/federation/member-internal.h"

static void next(struct rm_member *m)
{
    m->first_home = (m->first_home + 1) % m->homes_size;
    m->n_homes--;
    m->home_attempts = 0;
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm_member *m = userdata;

    (void)s;
    (void)usec;
    m->home_open = false;
    rm_homes_run(m);
    return 0;
}

/* A store that is away is waited for: the next heartbeat that arrives goes on. Another error is
 * tried again as yarn.federation.state-store.clean-up-* say. */
static void failed(struct rm_member *m, const struct fed_answer *a)
{
    const struct rm_conf *c = &m->rm->conf;

    if (fed_error_away(a->error) || a->error == -ECANCELED) {
        m->home_open = false;
        return;
    }
    if (a->error != -ENOENT && m->home_attempts++ < c->cleanup_retries) {
        if (sd_event_source_set_time_relative(m->home_timer,
                                              (uint64_t)c->cleanup_sleep_ms * 1000) >= 0 &&
            sd_event_source_set_enabled(m->home_timer, SD_EVENT_ONESHOT) >= 0)
            return;
    }
    if (a->error != -ENOENT)
        sv_log_warning("federation: %s: %s; the row is not deleted", fed_store_text(m->store),
                       a->reason);
    next(m);
    m->home_open = false;
    rm_homes_run(m);
}

static void on_deleted(const struct fed_answer *a, void *userdata)
{
    struct rm_member *m = userdata;

    if (a->error < 0) {
        failed(m, a);
        return;
    }
    next(m);
    m->home_open = false;
    rm_homes_run(m);
}

static void call(struct rm_member *m, enum fed_op op, fed_done done)
{
    const struct fed_request q = { .op = op, .home.app = m->homes[m->first_home] };

    m->home_open = fed_store_call(m->store, &q, done, m, NULL) >= 0;
}

static void on_home(const struct fed_answer *a, void *userdata)
{
    struct rm_member *m = userdata;

    if (a->error < 0) {
        failed(m, a);
        return;
    }
    if (a->n == 1 && sv_streq(a->homes[0].home, m->rm->conf.cluster_id)) {
        call(m, FED_HOME_DELETE, on_deleted);
        return;
    }
    next(m);
    m->home_open = false;
    rm_homes_run(m);
}

static void on_list(const struct fed_answer *a, void *userdata)
{
    struct rm_member *m = userdata;

    m->home_open = false;
    if (a->error < 0) {
        if (!fed_error_away(a->error) && a->error != -ECANCELED) {
            sv_log_warning("federation: %s: %s; rows of earlier applications are not deleted",
                           fed_store_text(m->store), a->reason);
            m->homes_listed = true;
        }
        return;
    }
    m->homes_listed = true;
    for (size_t i = 0; i < a->n; i++)
        if (!rm_app_find(m->rm, a->homes[i].app) &&
            a->homes[i].created_ms + RM_HOME_YOUNG_MS < m->rm->started_ms)
            rm_homes_push(m, a->homes[i].app);
    rm_homes_run(m);
}

void rm_homes_run(struct rm_member *m)
{
    if (m->home_open || !m->registered || m->away)
        return;
    if (!m->home_timer) {
        if (sd_event_add_time(m->rm->event, &m->home_timer, CLOCK_MONOTONIC, 0, 0, on_retry, m) < 0)
            return;
        (void)sd_event_source_set_enabled(m->home_timer, SD_EVENT_OFF); /* of a new one, ignoring */
    }
    if (!m->homes_listed) {
        const struct fed_request q = { .op = FED_HOME_LIST, .home.home = m->rm->conf.cluster_id };

        m->home_open = fed_store_call(m->store, &q, on_list, m, NULL) >= 0;
    } else if (m->n_homes > 0) {
        call(m, FED_HOME_GET, on_home);
    }
}

/* Turns the ring so that the oldest is first. */
static bool grow(struct rm_member *m)
{
    size_t size = m->homes_size ? 2 * m->homes_size : 64;
    struct yarn_app_id *all = calloc(size, sizeof(*all));

    if (!all)
        return false;
    for (size_t i = 0; i < m->n_homes; i++)
        all[i] = m->homes[(m->first_home + i) % m->homes_size];
    free(m->homes);
    m->homes = all;
    m->first_home = 0;
    m->homes_size = size;
    return true;
}

void rm_homes_push(struct rm_member *m, struct yarn_app_id id)
{
    if (m->n_homes == RM_HOMES_MAX || (m->n_homes == m->homes_size && !grow(m)))
        return; /* the next start finds it */
    m->homes[(m->first_home + m->n_homes++) % m->homes_size] = id;
}

void rm_homes_free(struct rm_member *m)
{
    sd_event_source_disable_unref(m->home_timer);
    free(m->homes);
}
