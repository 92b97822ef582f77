/* See job-file.h. */
#include "client/run/job-file.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "client/run/yaml-tree.h"
#include "common/edit-distance.h"
#include "common/str.h"

enum kind {
    TEXT,
    NAME, /* of a group */
    COUNT,
    MEMORY,
    SECONDS,
    COMMAND,
    ENVIRONMENT,
    FILES,
    ARCHIVES,
    DIRECTORIES,
    GROUPS,
};

struct key {
    const char *name;
    enum kind kind;
    size_t offset; /* of the member */
    int64_t min, max;
};

#define JOB(member) offsetof(struct cli_job_file, member)
static const struct key job_keys[] = {
    { "name", TEXT, JOB(name), 0, 0 },
    { "queue", TEXT, JOB(queue), 0, 0 },
    { "deadline", SECONDS, JOB(deadline_s), 0, 0 },
    { "at-once", COUNT, JOB(at_once), 1, CLI_INSTANCES_MAX },
    { "retries", COUNT, JOB(retries), 0, 1000 },
    { "tries", COUNT, JOB(tries), 1, 100 },
    { "environment", ENVIRONMENT, JOB(set), 0, 0 },
    { "files", FILES, JOB(set), 0, 0 },
    { "archives", ARCHIVES, JOB(set), 0, 0 },
    { "directories", DIRECTORIES, JOB(set), 0, 0 },
    { "view-acl", TEXT, JOB(view_acl), 0, 0 },
    { "modify-acl", TEXT, JOB(modify_acl), 0, 0 },
    { "rolled-logs", TEXT, JOB(rolled_logs), 0, 0 },
    { "am-memory", MEMORY, JOB(am_memory_mb), 0, 0 },
    { "groups", GROUPS, 0, 0, 0 },
};
#define GROUP(member) offsetof(struct cli_file_group, member)
static const struct key group_keys[] = {
    { "name", NAME, GROUP(name), 0, 0 },
    { "command", COMMAND, GROUP(command), 0, 0 },
    { "instances", COUNT, GROUP(instances), 1, CLI_INSTANCES_MAX },
    { "memory", MEMORY, GROUP(memory_mb), 0, 0 },
    { "vcores", COUNT, GROUP(vcores), 1, 1 << 20 },
    { "gpus", COUNT, GROUP(gpus), 0, 1 << 20 },
    { "retries", COUNT, GROUP(retries), 0, 1000 },
    { "at-once", COUNT, GROUP(at_once), 1, CLI_INSTANCES_MAX },
    { "environment", ENVIRONMENT, GROUP(set), 0, 0 },
    { "files", FILES, GROUP(set), 0, 0 },
    { "archives", ARCHIVES, GROUP(set), 0, 0 },
    { "directories", DIRECTORIES, GROUP(set), 0, 0 },
};

struct reader {
    struct sv_arena *a;
    struct sv_error *err;
    struct cli_job_file *job;
    char path[64]; /* of the map that is read: "" or "groups[2]." */
};

static int wrong(const struct reader *r, const struct cli_yaml *y, const char *key,
                 const char *expected)
{
    bool scalar = y->kind == CLI_YAML_SCALAR;

    return sv_error_set(r->err, -EBADMSG, "line %d: %s%s: %s%.100s%sexpected %s", y->line, r->path,
                        key, scalar ? "\"" : "", scalar ? y->text : "", scalar ? "\": " : "",
                        expected);
}

static int no_memory(const struct reader *r)
{
    return sv_error_errno(r->err, -ENOMEM, "job file");
}

/* ---- Scalars ---- */

static int read_text(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                     const char **ret)
{
    if (y->kind != CLI_YAML_SCALAR || *y->text == '\0' || strlen(y->text) > 4096 ||
        strpbrk(y->text, "\n\r\t\x1b"))
        return wrong(r, y, k->name, "a text of one line");
    *ret = y->text;
    return 0;
}

static int read_name(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                     const char **ret)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    if (y->kind != CLI_YAML_SCALAR || *y->text == '\0' || strlen(y->text) >= CLI_GROUP_NAME_MAX ||
        strspn(y->text, good) != strlen(y->text))
        return wrong(r, y, k->name, "1 to 63 letters, digits, and - _ .");
    *ret = y->text;
    return 0;
}

static int read_count(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                      int64_t *ret)
{
    char expected[64];
    uint64_t n;

    (void)snprintf(expected, sizeof(expected), "a number from %lld to %lld", (long long)k->min,
                   (long long)k->max);
    if (y->kind != CLI_YAML_SCALAR ||
        sv_parse_u64(y->text, (uint64_t)k->min, (uint64_t)k->max, &n) < 0)
        return wrong(r, y, k->name, expected);
    *ret = (int64_t)n;
    return 0;
}

/* A plain number is MiB, as everywhere in YARN. */
static int read_memory(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                       int64_t *ret)
{
    uint64_t bytes, mb;

    if (y->kind == CLI_YAML_SCALAR && sv_parse_u64(y->text, 1, 1u << 30, &mb) == 0)
        bytes = mb << 20;
    else if (y->kind != CLI_YAML_SCALAR || sv_parse_size(y->text, &bytes) < 0 ||
             bytes < (1u << 20) || bytes > (1ULL << 50))
        return wrong(r, y, k->name, "a size of 1 MiB or more, such as 256m or 2g");
    *ret = (int64_t)((bytes + (1u << 20) - 1) >> 20);
    return 0;
}

static int read_seconds(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                        int64_t *ret)
{
    int64_t ms;

    if (y->kind != CLI_YAML_SCALAR || sv_parse_duration_ms(y->text, 1000, &ms) < 0 || ms <= 0)
        return wrong(r, y, k->name, "a time, such as 90 (seconds), 5m or 2h");
    *ret = (ms + 999) / 1000;
    return 0;
}

/* ---- Commands, variables, files ---- */

static int read_command(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                        struct cli_file_command *ret)
{
    static const char expected[] =
        "a line for bash, or a list of a program and its arguments, at most 256 texts";
    size_t n = y->kind == CLI_YAML_SCALAR ? 1 : cli_yaml_count(y);
    const char **words = sv_newn(r->a, const char *, n + 1);

    if (!words)
        return no_memory(r);
    if (y->kind == CLI_YAML_MAP || n == 0 || n > CLI_FILE_WORDS_MAX)
        return wrong(r, y, k->name, expected);
    if (y->kind == CLI_YAML_SCALAR) {
        words[0] = y->text;
    } else {
        n = 0;
        for (const struct cli_yaml *i = y->first; i; i = i->next) {
            if (i->kind != CLI_YAML_SCALAR)
                return wrong(r, i, k->name, expected);
            words[n++] = i->text;
        }
    }
    if (*words[0] == '\0')
        return wrong(r, y, k->name, expected);
    *ret = (struct cli_file_command){ words, y->kind == CLI_YAML_SCALAR };
    return 0;
}

static bool good_variable(const char *name)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return *name && strspn(name, good) == strlen(name) && !(*name >= '0' && *name <= '9');
}

static int read_environment(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                            struct cli_file_set *ret)
{
    size_t n = cli_yaml_count(y);

    ret->env = sv_newn(r->a, struct cli_file_env, n + 1);
    if (!ret->env)
        return no_memory(r);
    if (y->kind != CLI_YAML_MAP || n > CLI_FILE_WORDS_MAX)
        return wrong(r, y, k->name, "a map of at most 256 variables, NAME: VALUE");
    for (const struct cli_yaml *i = y->first; i; i = i->next) {
        if (!good_variable(i->key) || i->kind != CLI_YAML_SCALAR)
            return sv_error_set(r->err, -EBADMSG,
                                "line %d: %s%s.%.64s: expected the name of a variable with a text",
                                i->line, r->path, k->name, i->key);
        ret->env[ret->n_env++] = (struct cli_file_env){ i->key, i->text };
    }
    return 0;
}

/* "PATH" or "PATH#NAME"; a trailing slash refers to the directory itself. */
static int read_path(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                     struct cli_file_path *ret)
{
    const char *hash = y->kind == CLI_YAML_SCALAR ? strrchr(y->text, '#') : NULL, *slash;
    char *path = y->kind == CLI_YAML_SCALAR ? sv_arena_strdup(r->a, y->text) : NULL;
    size_t n = path ? hash ? (size_t)(hash - y->text) : strlen(path) : 0;

    while (n > 1 && path[n - 1] == '/')
        n--;
    if (path)
        path[n] = '\0';
    slash = path ? strrchr(path, '/') : NULL;
    ret->path = path;
    ret->name = hash ? hash + 1 : slash ? slash + 1 : path;
    if (!path || n == 0 || !*ret->name || strchr(ret->name, '/') || strcmp(ret->name, ".") == 0 ||
        strcmp(ret->name, "..") == 0 || strlen(ret->name) > 200)
        return wrong(r, y, k->name, "PATH or PATH#NAME");
    ret->type = k->kind == FILES ? CLI_FILE : CLI_ARCHIVE;
    ret->directory = k->kind == DIRECTORIES;
    return 0;
}

static int read_paths(const struct reader *r, const struct cli_yaml *y, const struct key *k,
                      struct cli_file_set *ret)
{
    size_t n = cli_yaml_count(y);
    struct cli_file_path *all;

    if (y->kind != CLI_YAML_LIST || n + ret->n_files > CLI_FILE_LIST_MAX)
        return wrong(r, y, k->name, "a list of paths, at most 200");
    all = sv_newn(r->a, struct cli_file_path, ret->n_files + n + 1);
    if (!all)
        return no_memory(r);
    if (ret->n_files > 0)
        memcpy(all, ret->files, ret->n_files * sizeof(*all));
    ret->files = all;
    for (const struct cli_yaml *i = y->first; i; i = i->next) {
        int result = read_path(r, i, k, &all[ret->n_files]);

        if (result < 0)
            return result;
        ret->n_files++;
    }
    return 0;
}

/* ---- Maps ---- */

static int read_groups(struct reader *r, const struct cli_yaml *y);

static int read_value(struct reader *r, const struct cli_yaml *y, const struct key *k, char *object)
{
    void *member = object + k->offset;

    switch (k->kind) {
    case TEXT:
        return read_text(r, y, k, member);
    case NAME:
        return read_name(r, y, k, member);
    case COUNT:
        return read_count(r, y, k, member);
    case MEMORY:
        return read_memory(r, y, k, member);
    case SECONDS:
        return read_seconds(r, y, k, member);
    case COMMAND:
        return read_command(r, y, k, member);
    case ENVIRONMENT:
        return read_environment(r, y, k, member);
    case FILES:
    case ARCHIVES:
    case DIRECTORIES:
        return read_paths(r, y, k, member);
    case GROUPS:
        return read_groups(r, y);
    }
    return -EINVAL;
}

static int unknown(const struct reader *r, const struct cli_yaml *y, const struct key *keys,
                   size_t n)
{
    const char *hit = NULL;
    size_t best = strlen(y->key) / 3 + 2;

    for (size_t i = 0; i < n; i++) {
        size_t d = sv_edit_distance(y->key, keys[i].name);

        if (d < best && d < strlen(keys[i].name)) {
            best = d;
            hit = keys[i].name;
        }
    }
    return sv_error_set(r->err, -EBADMSG, "line %d: %s%.100s: no such key%s%s%s", y->line, r->path,
                        y->key, hit ? "; is " : "; docs/job-file.md has them", hit ? hit : "",
                        hit ? " meant?" : "");
}

static int read_map(struct reader *r, const struct cli_yaml *map, const struct key *keys, size_t n,
                    void *object)
{
    for (const struct cli_yaml *y = map->first; y; y = y->next) {
        const struct key *k = NULL;
        int result;

        for (size_t i = 0; i < n && !k; i++)
            if (strcmp(keys[i].name, y->key) == 0)
                k = &keys[i];
        result = k ? read_value(r, y, k, object) : unknown(r, y, keys, n);
        if (result < 0)
            return result;
    }
    return 0;
}

static int read_group(struct reader *r, const struct cli_yaml *y, struct cli_file_group *ret)
{
    int result;

    *ret = (struct cli_file_group){
        .instances = 1, .memory_mb = 256, .vcores = 1, .retries = -1, .line = y->line
    };
    if (y->kind != CLI_YAML_MAP)
        return wrong(r, y, "", "a map with name and command");
    result = read_map(r, y, group_keys, SV_ARRAY_LEN(group_keys), ret);
    if (result < 0)
        return result;
    if (!ret->name || !ret->command.words)
        return sv_error_set(r->err, -EBADMSG, "line %d: %s%s: missing", y->line, r->path,
                            ret->name ? "command" : "name");
    return 0;
}

static int read_groups(struct reader *r, const struct cli_yaml *y)
{
    struct cli_job_file *job = r->job;
    size_t n = cli_yaml_count(y), at = 0;
    int64_t instances = 0;
    int result = 0;

    if (y->kind != CLI_YAML_LIST || n < 1 || n > CLI_GROUPS_MAX)
        return wrong(r, y, "groups", "a list of 1 to 64 groups");
    job->groups = sv_newn(r->a, struct cli_file_group, n);
    if (!job->groups)
        return no_memory(r);
    for (const struct cli_yaml *i = y->first; i && result >= 0; i = i->next, at++) {
        struct cli_file_group *g = &job->groups[at];

        (void)snprintf(r->path, sizeof(r->path), "groups[%zu].", at);
        result = read_group(r, i, g);
        for (size_t j = 0; result >= 0 && j < at; j++)
            if (strcmp(job->groups[j].name, g->name) == 0)
                result = sv_error_set(r->err, -EBADMSG, "line %d: %sname: %s: given twice", i->line,
                                      r->path, g->name);
        instances += result < 0 ? 0 : g->instances;
    }
    r->path[0] = '\0';
    job->n_groups = n;
    if (result >= 0 && instances > CLI_INSTANCES_MAX)
        return sv_error_set(r->err, -EBADMSG, "line %d: groups: %lld instances, at most %d",
                            y->line, (long long)instances, CLI_INSTANCES_MAX);
    return result;
}

int cli_job_file_parse(const char *text, size_t len, struct sv_arena *a, struct cli_job_file *ret,
                       struct sv_error *err)
{
    struct cli_job_file job = { 0 };
    struct reader r = { .a = a, .err = err, .job = &job };
    struct cli_yaml *root;
    int result = cli_yaml_parse(text, len, a, &root, err);

    if (result < 0)
        return result;
    if (root->kind != CLI_YAML_MAP)
        return wrong(&r, root, "the file", "a map of keys");
    result = read_map(&r, root, job_keys, SV_ARRAY_LEN(job_keys), &job);
    if (result < 0)
        return result;
    if (job.n_groups == 0)
        return sv_error_set(err, -EBADMSG, "line %d: groups: missing", root->line);
    *ret = job;
    return 0;
}

const char *cli_job_file_key(bool group, size_t i)
{
    size_t n = group ? SV_ARRAY_LEN(group_keys) : SV_ARRAY_LEN(job_keys);

    return i >= n ? NULL : group ? group_keys[i].name : job_keys[i].name;
}
