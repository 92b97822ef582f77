/* Numbers of containers by owner, place and allocation tag: see struct rm_tag_count. Pure; Hadoop:
 * AllocationTagsManager. A container costs (2 + tags of its application) x 2 places x its tags
 * updates of the table, each factor bounded in scheduler.h; one without tags costs nothing. */
#include <stdlib.h>
#include <string.h>

#include "rm-lite/scheduler/scheduler-impl.h"

static struct rm_tag_count *find(const struct rm_sched *s, const void *owner, const void *place,
                                 const struct rm_word *tag)
{
    struct rm_tag_count *t, probe = { .key = { owner, place, tag } };

    HASH_FIND(hh, s->tag_counts, &probe.key, sizeof(probe.key), t);
    return t;
}

int64_t rm_tags_of(const struct rm_sched *s, const void *owner, const void *place,
                   const struct rm_word *tag)
{
    const struct rm_tag_count *t = find(s, owner, place, tag);

    return t ? t->n : 0;
}

/* Returns the change of the table's size. */
static int count(struct rm_sched *s, const void *owner, const void *place,
                 const struct rm_word *tag, int more)
{
    struct rm_tag_count *t = find(s, owner, place, tag);
    bool is_new = !t;

    if (is_new) {
        t = calloc(1, sizeof(*t));
        if (!t)
            sv_out_of_memory();
        t->key.owner = owner;
        t->key.place = place;
        t->key.tag = tag;
        HASH_ADD(hh, s->tag_counts, key, sizeof(t->key), t);
    }
    t->n += more;
    if (t->n > 0)
        return is_new;
    HASH_DEL(s->tag_counts, t);
    free(t);
    return is_new ? 0 : -1;
}

static void count_place(struct rm_sched *s, struct rm_sched_app *app, const void *place,
                        const struct rm_placement *p, int more)
{
    for (size_t i = 0; i < p->n_tags; i++) {
        app->n_tag_counts += count(s, app, place, p->tags[i], more);
        (void)count(s, s, place, p->tags[i], more);
        for (size_t k = 0; k < app->n_app_tags; k++)
            (void)count(s, app->app_tags[k], place, p->tags[i], more);
    }
}

/* A tagged container holds the name of its rack, which is the rack's address in the table. */
void rm_tags_count(struct rm_sched *s, const struct rm_sched_container *c, int more)
{
    struct rm_word *rack = rm_word_get(s, c->node->rack);

    count_place(s, c->app, c->node, c->placement, more);
    count_place(s, c->app, rack, c->placement, more);
    if (more < 0) {
        rm_word_put(s, rack);
        rm_word_put(s, rack);
    }
}

bool rm_tags_fit(const struct rm_sched_app *app, size_t n)
{
    return app->n_tag_counts + (int64_t)n * 2 <= RM_TAG_COUNTS_MAX;
}
