/* See conf-unread.h. */
#include "rm-lite/conf/conf-unread.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "common/edit-distance.h"
#include "common/log.h"
#include "common/str.h"
#include "rm-lite/conf/rm-conf.h"

#define RM "yarn.resourcemanager."

/* Names with a free part, and keys that yarn-default.xml lacks. */
static const struct {
    const char *pattern;
    enum rm_key_meaning meaning;
    const char *why;
} families[] = {
    { RM "webapp.rest-csrf.browser-useragents-regex", RM_KEY_READ, "the web server" },
    { RM "monitor.capacity.preemption.*", RM_KEY_READ, "preemption" },
    { RM "zk-*", RM_KEY_NO_MEANING, "of Hadoop's state store in ZooKeeper" },
    { RM "hostname.*", RM_KEY_OTHER, "of several ResourceManagers" },
    { RM "*address.*", RM_KEY_OTHER, "of several ResourceManagers" },
};

static bool is_accepted(const struct rm_key_refusal *f, const char *value)
{
    bool found = sv_streq(value, f->key.def);

    for (const char *const *a = f->also; a && *a && !found; a++)
        found = sv_streq(value, *a);
    return found;
}

int rm_conf_check_refused(struct sv_conf *c, struct sv_error *err)
{
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++) {
        const char *value = "true";
        bool refused = false;
        char at[512];
        int r;

        if (f->key.type == SV_CONF_BOOL)
            r = sv_conf_bool(c, &f->key, &refused, err);
        else if ((r = sv_conf_string(c, &f->key, &value, err)) >= 0)
            refused = !is_accepted(f, value);
        if (r < 0)
            return r;
        if (!refused)
            continue;
        sv_conf_origin(c, &f->key, at, sizeof(at));
        return sv_error_set(err, -EOPNOTSUPP, "%s is \"%.200s\", not \"%s\": %s", at, value,
                            f->key.def, f->why);
    }
    return 0;
}

static bool has_row(const char *name)
{
    const struct sv_conf_key *k;

    for (size_t i = 0; (k = rm_conf_row(i)); i++)
        if (sv_streq(k->name, name))
            return true;
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        if (sv_streq(f->key.name, name))
            return true;
    return false;
}

/* The key of a group: its text "NAME=DEFAULT". */
static const char *find(const char *name, const struct rm_key_group **ret)
{
    const char *rest = name + strlen(RM);
    size_t n = strlen(rest);

    for (const struct rm_key_group *g = rm_key_groups; g->text; g++)
        for (const char *const *k = g->keys; *k; k++)
            if (strcspn(*k, "=") == n && strncmp(*k, rest, n) == 0) {
                *ret = g;
                return *k;
            }
    return NULL;
}

struct walk {
    rm_unread_fn fn;
    void *userdata;
    const char *name;
    size_t best; /* distance; a candidate must be below it */
    char nearest[SV_EDIT_NAME_MAX + 1];
};

static void offer(struct walk *w, const char *known)
{
    size_t d = sv_edit_distance(w->name, known);

    if (d >= w->best || strlen(known) > SV_EDIT_NAME_MAX)
        return;
    w->best = d;
    memcpy(w->nearest, known, strlen(known) + 1);
}

static const char *find_nearest(struct walk *w, const char *name)
{
    const struct sv_conf_key *k;

    if (strlen(name) > SV_EDIT_NAME_MAX)
        return NULL;
    w->name = name;
    w->best = SV_MAX(strlen(name) / 5, (size_t)3);
    *w->nearest = 0;
    for (size_t i = 0; (k = rm_conf_row(i)); i++)
        offer(w, k->name);
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        offer(w, f->key.name);
    for (const struct rm_key_group *g = rm_key_groups; g->text; g++)
        for (const char *const *s = g->keys; *s; s++) {
            char text[SV_EDIT_NAME_MAX + 1];

            snprintf(text, sizeof(text), RM "%.*s", (int)strcspn(*s, "="), *s);
            offer(w, text);
        }
    return *w->nearest ? w->nearest : NULL;
}

/* *ret_row: its text "NAME=DEFAULT", NULL when it has none. */
static enum rm_key_meaning classify(const char *name, const char **ret_row, const char **ret_why)
{
    const struct rm_key_group *group;

    *ret_row = find(name, &group);
    if (*ret_row) {
        *ret_why = group->text;
        return group->meaning;
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(families); i++)
        if (fnmatch(families[i].pattern, name, 0) == 0) {
            *ret_why = families[i].why;
            return families[i].meaning;
        }
    *ret_why = "no key of the ResourceManager";
    return RM_KEY_UNKNOWN;
}

static int on_key(const char *name, const char *value, void *userdata)
{
    struct walk *w = userdata;
    enum rm_key_meaning meaning;
    const char *row, *why;

    if (!sv_has_prefix(name, RM) || has_row(name))
        return 0;
    meaning = classify(name, &row, &why);
    if (meaning < RM_KEY_NO_MEANING || (row && sv_streq(strchr(row, '=') + 1, value ? value : "")))
        return 0;
    w->fn(name, meaning, why, meaning == RM_KEY_UNKNOWN ? find_nearest(w, name) : NULL,
          w->userdata);
    return 0;
}

int rm_conf_unread(struct sv_conf *c, rm_unread_fn fn, void *userdata)
{
    return sv_conf_each(c, on_key, &(struct walk){ .fn = fn, .userdata = userdata });
}

static const char *const words[] = {
    [RM_KEY_READ] = "honoured",
    [RM_KEY_OTHER] = "of other programs",
    [RM_KEY_NO_MEANING] = "without meaning here",
    [RM_KEY_NOT_DONE] = "ignored",
    [RM_KEY_UNKNOWN] = "unknown",
};

enum rm_key_meaning rm_conf_meaning(const char *name, const char **ret_word, const char **ret_why)
{
    const char *row;
    enum rm_key_meaning meaning = RM_KEY_UNKNOWN;

    *ret_why = "no key of the ResourceManager";
    if (sv_has_prefix(name, RM))
        meaning = classify(name, &row, ret_why);
    *ret_word = words[meaning];
    return meaning;
}

const char *rm_conf_nearest(const char *name, char ret[RM_KEY_NAME_MAX + 1])
{
    struct walk w = { .name = name };
    const char *nearest = find_nearest(&w, name);

    if (!nearest || strlen(nearest) > RM_KEY_NAME_MAX)
        return NULL;
    return memcpy(ret, nearest, strlen(nearest) + 1);
}

static void log_key(const char *name, enum rm_key_meaning meaning, const char *why,
                    const char *nearest, void *userdata)
{
    (void)userdata;
    if (meaning == RM_KEY_UNKNOWN)
        sv_log_warning("configuration: %s is unknown%s%s%s", name, nearest ? "; is " : "",
                       nearest ? nearest : "", nearest ? " meant?" : "");
    else
        sv_log_notice("configuration: %s is %s: %s", name, words[meaning], why);
}

void rm_conf_log_unread(struct sv_conf *c)
{
    int r = rm_conf_unread(c, log_key, NULL);

    if (r < 0)
        sv_log_warning("configuration: keys are not compared: %s", strerror(-r));
}

static void print_refusal(const struct rm_key_refusal *f, const char *name, FILE *out)
{
    if (*f->key.def)
        fprintf(out, "| `%s` | refused unless `%s`", name, f->key.def);
    else
        fprintf(out, "| `%s` | refused unless empty", name);
    for (const char *const *a = f->also; a && *a; a++)
        fprintf(out, " or `%s`", *a);
    fprintf(out, " | %s |\n", f->why);
}

void rm_conf_print_keys(FILE *out)
{
    const struct sv_conf_key *k;

    fputs("| key, behind `yarn.resourcemanager.` | here | meaning or reason |\n|---|---|---|\n",
          out);
    for (size_t i = 0; (k = rm_conf_row(i)); i++)
        if (sv_has_prefix(k->name, RM))
            fprintf(out, "| `%s` | honoured | %s |\n", k->name + strlen(RM), k->help);
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        if (sv_has_prefix(f->key.name, RM))
            print_refusal(f, f->key.name + strlen(RM), out);
    for (const struct rm_key_group *g = rm_key_groups; g->text; g++)
        for (const char *const *s = g->keys; *s; s++)
            fprintf(out, "| `%.*s` | %s | %s |\n", (int)strcspn(*s, "="), *s, words[g->meaning],
                    g->text);
    fputs("\n| key | here | reason |\n|---|---|---|\n", out);
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        if (!sv_has_prefix(f->key.name, RM))
            print_refusal(f, f->key.name, out);
}
