/* See conf-unread.h. */
#include "nodemanager/conf/conf-unread.h"

#include <fnmatch.h>
#include <string.h>

#include "common/edit-distance.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/conf/conf-refused.h"
#include "nodemanager/conf/conf.h"

#define NM "yarn.nodemanager."
#define OWN "selvedge.nodemanager."
#define NAME_MAX_LEN 128u /* longer names are not compared */
#define LOGGED 3u         /* unknown names in the log line */

/* Patterns of keys that are read and contain a name chosen by the operator. */
static const struct {
    const char *pattern, *help;
} patterns[] = {
    { NM "numa-awareness.*.memory",
      "Memory of a NUMA node, in MB, where the topology is not read." },
    { NM "numa-awareness.*.cpus", "Processors of a NUMA node, where the topology is not read." },
    { NM "health-checker.*.path", "A health script: an absolute path." },
    { NM "health-checker.*.opts", "Its arguments, separated by spaces." },
    { NM "health-checker.*.interval-ms", "Time between two of its runs." },
    { NM "health-checker.*.timeout-ms", "Time limit of a run." },
    { NM "aux-services.*.class",
      "Class of Java of an auxiliary service, in a process of its own." },
    { NM "aux-services.*.classpath", "Jars of that class." },
    { NM "aux-services.*.remote-classpath", "The same: a jar of this node." },
    { OWN "aux-services.*.java-options", "Options of its JVM." },
    { OWN "aux-services.*.command", "Command of an auxiliary service." },
    { OWN "aux-services.*.socket", "Socket of an auxiliary service with a unit of its own." },
    { OWN "aux-services.*.socket-user", "The account that must be behind that socket." },
    { OWN "aux-services.*.properties", "Prefixes of keys that the service gets." },
    { OWN "aux-services.*.memory-mb", "Its data segment." },
    { OWN "aux-services.*.open-files", "Its descriptors." },
    { NM "resource-type.*", "The node's amount of a resource type, with its unit." },
    { "yarn.resource-types.*", "Unit and limits of a resource type." },
};

/* The group of keys that match a pattern. */
static const struct {
    const char *pattern, *like;
} families[] = {
    { NM "aux-services.*.system-classes", "disk-validator" }, /* key of a class loader */
    { NM "aux-services.*", "aux-services.manifest" },
    { NM "runtime.linux.*.class", "runtime.linux.docker.image-name" },
};

bool nm_key_is_whole(const char *row)
{
    static const char *const prefixes[] = { "yarn.", "hadoop.", "dfs.", "fs.", "ipc." };

    for (size_t i = 0; i < SV_ARRAY_LEN(prefixes); i++)
        if (sv_has_prefix(row, prefixes[i]))
            return true;
    return false;
}

/* Compares a group's "NAME" or "NAME=DEFAULT" with a name. -1: another key; 0: the key; 1: the key
 * at its default. */
static int compare(const char *row, const char *name, const char *value)
{
    size_t n = strcspn(row, "=");

    if (!nm_key_is_whole(row)) {
        if (!sv_has_prefix(name, NM))
            return -1;
        name += strlen(NM);
    }
    if (strncmp(row, name, n) != 0 || name[n])
        return -1;
    return row[n] && sv_streq(row + n + 1, value);
}

static const struct nm_key_group *find_group(const char *name, const char *value, bool *ret_default)
{
    for (const struct nm_key_group *g = nm_key_groups; g->text; g++)
        for (const char *const *k = g->keys; *k; k++) {
            int r = compare(*k, name, value);

            if (r < 0)
                continue;
            *ret_default = r > 0;
            return g;
        }
    return NULL;
}

static const struct nm_key_group *find_family(const char *name)
{
    char like[NAME_MAX_LEN];
    bool at_default;

    for (size_t i = 0; i < SV_ARRAY_LEN(families); i++) {
        if (fnmatch(families[i].pattern, name, 0) != 0)
            continue;
        snprintf(like, sizeof(like), "%s%s", nm_key_is_whole(families[i].like) ? "" : NM,
                 families[i].like);
        return find_group(like, "", &at_default);
    }
    return NULL;
}

/* ---- the nearest name -------------------------------------------------------------------------*/

struct nearest {
    const char *name;
    size_t best; /* distance; a candidate must be below it */
    char found[NAME_MAX_LEN + 1];
};

static void offer(struct nearest *n, const char *prefix, const char *known, size_t len)
{
    char text[NAME_MAX_LEN + 1];
    size_t d;

    if (strlen(prefix) + len > NAME_MAX_LEN)
        return;
    snprintf(text, sizeof(text), "%s%.*s", prefix, (int)len, known);
    d = sv_edit_distance(n->name, text);
    if (d < n->best) {
        n->best = d;
        memcpy(n->found, text, sizeof(text));
    }
}

/* Searches the keys of conf.c and of the groups; NULL if none is similar. */
static const char *find_nearest(struct nearest *n, const char *name)
{
    const struct sv_conf_key *k;

    *n = (struct nearest){ .name = name, .best = SV_MAX(strlen(name) / 5, (size_t)3) };
    if (strlen(name) > NAME_MAX_LEN)
        return NULL;
    for (size_t i = 0; (k = nm_conf_row(i)); i++)
        offer(n, "", k->name, strlen(k->name));
    for (const struct nm_key_group *g = nm_key_groups; g->text; g++)
        for (const char *const *s = g->keys; *s; s++)
            offer(n, nm_key_is_whole(*s) ? "" : NM, *s, strcspn(*s, "="));
    return *n->found ? n->found : NULL;
}

/* ---- the walk ---------------------------------------------------------------------------------*/

struct walk {
    nm_unread_fn fn;
    void *userdata;
};

bool nm_conf_is_used(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(patterns); i++)
        if (fnmatch(patterns[i].pattern, name, 0) == 0)
            return true;
    return nm_conf_is_read(name);
}

static int on_key(const char *name, const char *value, void *userdata)
{
    const struct walk *w = userdata;
    const struct nm_key_group *group;
    struct nearest near;
    bool at_default = false;

    if (nm_conf_is_used(name))
        return 0;
    group = find_group(name, value ? value : "", &at_default);
    if (!group)
        group = find_family(name);
    if (at_default || (!group && !sv_has_prefix(name, NM) && !sv_has_prefix(name, OWN)))
        return 0; /* no effect, or another program's */
    return w->fn(name, value ? value : "", group, group ? NULL : find_nearest(&near, name),
                 w->userdata);
}

int nm_conf_unread(struct sv_conf *c, nm_unread_fn fn, void *userdata)
{
    return sv_conf_each(c, on_key, &(struct walk){ fn, userdata });
}

/* ---- output -----------------------------------------------------------------------------------*/

static const char *const words[] = {
    [NM_KEY_NO_MEANING] = "without meaning here", [NM_KEY_NOT_DONE] = "not done"
};

struct listing {
    const struct sv_conf *conf;
    FILE *out;
    const struct nm_key_group *group; /* the group being printed; NULL: unknown keys */
    unsigned n;
};

/* "yarn-site.xml:12" or "command line". */
static const char *place_of(const struct sv_conf *c, const char *name, char *buf, size_t size)
{
    const struct sv_conf_key key = { .name = name };
    const char *file;
    char *end;

    sv_conf_origin(c, &key, buf, size); /* "/dir/yarn-site.xml:12: key" */
    end = strstr(buf, ": ");
    if (end)
        *end = '\0';
    file = strrchr(buf, '/');
    return file ? file + 1 : buf;
}

static int on_listed(const char *name, const char *value, const struct nm_key_group *group,
                     const char *nearest, void *userdata)
{
    struct listing *l = userdata;
    char buf[512];
    const char *place = place_of(l->conf, name, buf, sizeof(buf));

    (void)value;
    if (group != l->group)
        return 0;
    if (!group && nearest)
        fprintf(l->out, "unknown: %s (%s); is %s meant?\n", name, place, nearest);
    else if (!group)
        fprintf(l->out, "unknown: %s (%s)\n", name, place);
    else if (l->n == 0)
        fprintf(l->out, "%s (%s): %s (%s)", words[group->meaning], group->text, name, place);
    else
        fprintf(l->out, ", %s (%s)", name, place);
    l->n++;
    return 0;
}

int nm_conf_print_unread(struct sv_conf *c, FILE *out)
{
    struct listing l = { .conf = c, .out = out };
    int r = nm_conf_unread(c, on_listed, &l);

    for (const struct nm_key_group *g = nm_key_groups; g->text && r >= 0; g++) {
        l = (struct listing){ .conf = c, .out = out, .group = g };
        r = nm_conf_unread(c, on_listed, &l);
        if (l.n)
            fputc('\n', out);
    }
    return r;
}

struct summary {
    unsigned n[NM_KEY_UNKNOWN + 1];
    char unknown[512];
};

static int on_counted(const char *name, const char *value, const struct nm_key_group *group,
                      const char *nearest, void *userdata)
{
    struct summary *s = userdata;
    size_t len = strlen(s->unknown);

    (void)value;
    if (!group && s->n[NM_KEY_UNKNOWN] < LOGGED)
        snprintf(s->unknown + len, sizeof(s->unknown) - len, "%s%s%s%s%s", len ? ", " : ": ", name,
                 nearest ? " (is " : "", nearest ? nearest : "", nearest ? " meant?)" : "");
    s->n[group ? group->meaning : NM_KEY_UNKNOWN]++;
    return 0;
}

void nm_conf_log_unread(struct sv_conf *c)
{
    struct summary s = { 0 };

    if (nm_conf_unread(c, on_counted, &s) < 0 ||
        s.n[NM_KEY_NO_MEANING] + s.n[NM_KEY_NOT_DONE] + s.n[NM_KEY_UNKNOWN] == 0)
        return;
    sv_log_notice("configuration: %u keys of features that this version lacks, %u without meaning "
                  "here, %u unknown%s; selvedge-nodemanager --check-config lists them",
                  s.n[NM_KEY_NOT_DONE], s.n[NM_KEY_NO_MEANING], s.n[NM_KEY_UNKNOWN], s.unknown);
}

/* ---- the page of keys -------------------------------------------------------------------------*/

struct page {
    FILE *out;
    bool own_prefix; /* the table of yarn.nodemanager.*, else of all other keys of Hadoop's */
};

/* The key as the page's table shows it, or NULL if it is of the other one. */
static const char *shown(const struct page *p, const char *name)
{
    bool own = sv_has_prefix(name, NM);

    return own != p->own_prefix || sv_has_prefix(name, "selvedge.") ? NULL
           : own                                                    ? name + strlen(NM)
                                                                    : name;
}

static bool is_refused(const struct sv_conf_key *key)
{
    size_t n;
    const struct sv_conf_key *keys = nm_conf_refused_keys(&n);

    return key >= keys && key < keys + n;
}

static void print_read(const struct sv_conf_key *key, void *userdata)
{
    const struct page *p = userdata;
    const char *name = shown(p, key->name);

    if (name)
        fprintf(p->out, "| `%s` | %s | %s |\n", name, is_refused(key) ? "checked" : "honoured",
                key->help);
}

static void print_table(FILE *out, bool own_prefix)
{
    struct page p = { out, own_prefix };
    const char *name;

    nm_conf_each_key(print_read, &p);
    for (size_t i = 0; i < SV_ARRAY_LEN(patterns); i++)
        if ((name = shown(&p, patterns[i].pattern)))
            fprintf(out, "| `%s` | honoured | %s |\n", name, patterns[i].help);
    for (const struct nm_key_group *g = nm_key_groups; g->text; g++)
        for (const char *const *k = g->keys; *k; k++)
            if (nm_key_is_whole(*k) != own_prefix)
                fprintf(out, "| `%.*s` | %s | %s |\n", (int)strcspn(*k, "="), *k, words[g->meaning],
                        g->text);
}

void nm_conf_print_keys(FILE *out)
{
    fputs("| key, behind `yarn.nodemanager.` | here | meaning or reason |\n|---|---|---|\n", out);
    print_table(out, true);
    fputs("\n| other keys that it reads or names | here | meaning or reason |\n|---|---|---|\n",
          out);
    print_table(out, false);
}
