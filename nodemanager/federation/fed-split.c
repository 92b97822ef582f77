/* The first half of a heartbeat: what sub-clusters are asked for, and by whom. In turns of the
 * loop; see fed-attempt.h. Hostile: the master's request. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"

#define LAUNCH_ROWS 32 /* that a new sub-cluster costs, with its submission */

/* ---- Requests of a silent sub-cluster ---- */

/* Its launch has failed, which is known at once, or it is registered and has not answered for long.
 */
static bool has_failed(const struct nm_fed *f, size_t member)
{
    const struct nm_sub_cluster *s = f->members[member].sub;
    int state = s ? nm_sub_state(s) : FED_UAM_NEW;

    return state == FED_UAM_FAILED ||
           (state == FED_UAM_RUNNING && nm_fed_silent(f, member) &&
            sv_now_ms() - nm_sub_heard_ms(s) > f->shared->conf.timeout_ms);
}

static void tell_moved(const struct nm_fed *f, size_t member, int r)
{
    int32_t n = f->work.n_moved;

    if (n)
        sv_log_notice(
            "%s: sub-cluster %s is silent or has no master of it: %d containers are requested "
            "at the home",
            f->at->text, f->members[member].id, n);
    if (r < 0)
        sv_log_warning("%s: requests in sub-cluster %s, which is silent, not moved to the home: %s",
                       f->at->text, f->members[member].id, strerror(-r));
}

int nm_fed_move(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_work *w = &f->work;
    struct nm_sub_cluster *home = f->members[NM_FED_HOME].sub;

    for (w->member = SV_MAX(w->member, (size_t)1); w->member < f->n_members; w->member++) {
        int r = has_failed(f, w->member)
                    ? nm_sub_move(f->members[w->member].sub, home, b, &w->n_moved)
                    : 0;

        if (r == FED_MORE)
            return r;
        tell_moved(f, w->member, r);
        w->n_moved = 0;
    }
    return 0;
}

/* ---- The split ---- */

static void set_figures(struct fed_target *t, const struct fed_figure *g)
{
    if (!g || !g->known)
        return;
    t->has_memory = g->has_limit;
    t->memory_mb = g->limit.memory_mb;
    t->has_load = g->has_load;
    t->pending = g->pending;
    t->active_cores = g->active_cores;
}

static struct fed_target *list_targets(const struct nm_fed *f, struct sv_arena *a)
{
    struct fed_target *v = sv_newn(a, struct fed_target, f->n_members + 1);

    for (size_t i = 0; v && i < f->n_members; i++) {
        const struct nm_fed_member *m = &f->members[i];

        v[i] = (struct fed_target){ .id = m->id,
                                    .active = m->active,
                                    .timed_out = nm_fed_silent(f, i),
                                    .answered = m->sub && nm_sub_answered_ms(m->sub) };
        set_figures(&v[i], fed_merge_figure(f->merge, i));
    }
    return v;
}

static int begin(struct nm_fed *f, struct sv_error *err)
{
    struct nm_fed_work *w = &f->work;
    const struct fed_manager *manager = fed_policy_last(f->shared->policies, f->app.queue);
    const struct fed_asking in = { .manager = manager ?: f->shared->env->policy->manager,
                                   .conf = &f->shared->split,
                                   .resolver = f->shared->env->policy->resolver,
                                   .targets = list_targets(f, w->arena),
                                   .n_targets = f->n_members,
                                   .home = NM_FED_HOME,
                                   .random = f->shared->random };
    const struct fed_splitting_of of = { &in, f->call->allocate, nm_fed_owner, f, w->arena };

    w->n_parts = f->n_members; /* members may be added meanwhile, none of them with a part */
    w->parts = sv_newn(w->arena, struct fed_part, w->n_parts + 1);
    if (!in.targets || !w->parts)
        return -ENOMEM;
    return fed_split_begin(&of, &w->split, err);
}

int nm_fed_split(struct nm_fed *f, struct fed_budget *b, struct sv_error *err)
{
    struct nm_fed_work *w = &f->work;
    struct fed_split_notes notes = { 0 };
    int r = w->split ? 0 : begin(f, err);

    if (r >= 0)
        r = fed_split_run(w->split, b, w->parts, &notes, err);
    if (r != 0)
        return r;
    w->split = fed_split_end(w->split);
    if (notes.n_unowned)
        sv_log_info("%s: %zu releases and updates of containers that no sub-cluster has are "
                    "dropped",
                    f->at->text, notes.n_unowned);
    return 0;
}

/* ---- Each sub-cluster's part ---- */

/* Launches an unmanaged master for new requests, and again for those that a failed one has left.
 * One that may still be registered, in a sub-cluster that was away for long, is so again in any
 * case: its containers run on. */
static void launch(struct nm_fed *f, size_t member, bool has_asks)
{
    struct nm_fed_member *m = &f->members[member];
    int state = nm_sub_state(m->sub);

    if (member == NM_FED_HOME || !m->active || !f->context_known)
        return;
    if (state == FED_UAM_NEW || state == FED_UAM_FINISHED ||
        (state == FED_UAM_FAILED &&
         (has_asks || nm_sub_has_news(m->sub) || nm_sub_has_token(m->sub)) &&
         sv_now_ms() - m->failed_ms >= f->shared->relaunch_ms))
        nm_sub_start(m->sub);
}

static size_t open_bytes(const struct nm_fed *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_members; i++)
        n += f->members[i].sub ? nm_sub_bytes(f->members[i].sub) : 0;
    return n;
}

static int refuse_bytes(struct sv_error *err)
{
    return sv_error_set(err, -E2BIG,
                        "the master has more than %u MiB of open requests, releases, updates and "
                        "blacklisted nodes in all sub-clusters; request less at a time",
                        NM_FED_OPEN_BYTES_MAX >> 20);
}

static int take_part(struct nm_fed *f, struct nm_sub_cluster *s, const struct fed_part *part,
                     struct fed_budget *b, struct sv_error *err)
{
    struct nm_fed_work *w = &f->work;
    size_t before = nm_sub_bytes(s);
    int r = nm_sub_take(s, part->request, &w->at, b, err);

    w->open_bytes += nm_sub_bytes(s) - SV_MIN(before, nm_sub_bytes(s));
    if (r >= 0 && w->open_bytes > NM_FED_OPEN_BYTES_MAX)
        return refuse_bytes(err);
    if (r == 0)
        launch(f, w->member, part->has_asks);
    return r;
}

int nm_fed_take(struct nm_fed *f, struct fed_budget *b, struct sv_error *err)
{
    struct nm_fed_work *w = &f->work;

    if (!w->member && !w->at.list)
        w->open_bytes = open_bytes(f);
    for (; w->member < w->n_parts; w->member++, w->at = (struct fed_relay_at){ 0 }) {
        const struct fed_part *part = &w->parts[w->member];
        struct nm_sub_cluster *s = f->members[w->member].sub;
        int r = 0;

        if (!s && part->has_asks) {
            r = nm_fed_sub(f, w->member, &s);
            fed_spend(b, LAUNCH_ROWS);
        }
        if (r == 0 && s)
            r = take_part(f, s, part, b, err);
        if (r != 0)
            return r;
    }
    return 0;
}

/* The home last: answers of others that are as quick go with the same answer. */
void nm_fed_beat_all(struct nm_fed *f)
{
    for (size_t i = f->n_members; i-- > 0;)
        if (f->members[i].sub)
            nm_sub_beat(f->members[i].sub);
}
