/* Random operations on several file systems, which must give the same answers: for
 * tests/interop/test-hdfs.
 *
 *   fs-compare USER STEPS FIRST-SEED LAST-SEED file:/DIR hdfs://HOST:PORT/DIR
 * webhdfs://HOST:PORT/DIR
 *
 * Becomes USER, whose the directories must be: root is denied nothing. Each seed has a directory of
 * its own below them. Prints the first answer of a file system that is not that of file:, and ends
 * with status 1, or how often it met each of the differences that it permits. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/web/curl.h"
#include "hdfs/servers.h"
#include "tests/lib/fs-steps.h"

#define PLACES 3
#define TIMEOUT_MS 60000

static const char *user;

struct place {
    const char *text;
    struct fs_url url;
    struct hdfs_site site;
    struct fs *fs;
};

/* ---- Where file systems differ by nature ---- */

#define FILE_ (1u << FS_SCHEME_FILE)
#define HDFS (1u << FS_SCHEME_HDFS)
#define WEB (1u << FS_SCHEME_WEBHDFS)
#define STEP(name) (1u << STEP_##name)
#define CAUSE(name) (1u << FS_CAUSE_##name)
#define OK (1u << STEP_OK)
#define TOO_LONG (1u << 31) /* beside a cause: a name is */
#define CHANGES                                                                                    \
    (STEP(CREATE) | STEP(RENAME) | STEP(REMOVE) | STEP(REMOVE_TREE) | STEP(MKDIR) | STEP(MODE))
#define LOOKS (STEP(STATUS) | STEP(LIST) | STEP(READ))

/* Where file: gives one of the answers `file`, the schemes may give one of `others` in its place;
 * none: the step is not taken there. */
static const struct {
    unsigned steps, schemes, file, others;
    const char *why;
} differences[] = {
    { STEP(APPEND), FILE_, CAUSE(UNSUPPORTED), 0,
      "this client appends on file: alone: the others must say so, and stay as they are" },
    { STEP(REPLICATION), WEB, CAUSE(UNSUPPORTED), OK | CAUSE(DENIED) | CAUSE(EXISTS),
      "this client sets a replication over WebHDFS alone" },
    { STEP(MKDIR), WEB, CAUSE(NOT_FOUND), 0, "MKDIRS makes the missing directories above" },
    { CHANGES, HDFS | WEB, CAUSE(NOT_FOUND) | TOO_LONG | OK, CAUSE(DENIED),
      "the right to change a directory is checked before what it has: there a missing or too long "
      "name is denied, even to be removed" },
    { (CHANGES | LOOKS | STEP(REPLICATION)) & ~(STEP(CREATE) | STEP(MKDIR)), HDFS | WEB,
      CAUSE(EXISTS), CAUSE(DENIED), "what is below a file is denied, but to who creates it" },
    { STEP(LIST), HDFS | WEB, OK, CAUSE(DENIED),
      "an empty directory is listed with the right to search it" },
    { STEP(READ), HDFS | WEB, CAUSE(DENIED), CAUSE(UNSUPPORTED),
      "a directory is no file, whoever asks" },
    { STEP(RENAME), HDFS | WEB, CAUSE(NOT_FOUND), CAUSE(EXISTS),
      "of two faults that in the new name may be told" },
    { LOOKS | CHANGES, HDFS | WEB, TOO_LONG, CAUSE(NOT_FOUND) | CAUSE(UNSUPPORTED) | OK,
      "a name that is too long is missing until it is made, and is in no url" },
};

static unsigned used[SV_ARRAY_LEN(differences)];

static unsigned kind_of(const struct step *s, const struct answer *file)
{
    bool long_name = strlen(s->path) > FS_NAME_MAX || strlen(s->to) > FS_NAME_MAX;

    return 1u << file->cause | (file->cause != STEP_OK && long_name ? TOO_LONG : 0);
}

static bool applies(size_t i, const struct step *s, enum fs_scheme scheme,
                    const struct answer *file)
{
    return differences[i].steps & 1u << s->op && differences[i].schemes & 1u << scheme &&
           differences[i].file & kind_of(s, file);
}

static bool is_taken(const struct step *s, enum fs_scheme scheme, const struct answer *file)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(differences); i++)
        if (applies(i, s, scheme, file) && !differences[i].others) {
            used[i]++;
            return false;
        }
    return true;
}

static bool may_differ(const struct step *s, enum fs_scheme scheme, const struct answer *file,
                       const struct answer *other)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(differences); i++)
        if (applies(i, s, scheme, file) && differences[i].others & 1u << other->cause) {
            used[i]++;
            return true;
        }
    return false;
}

/* ---- Comparing ---- */

/* False if an answer differs, after it was printed. */
static bool take(struct place p[PLACES], const struct step *s, struct answer *ret)
{
    char text[3 * STEP_PATH_MAX];

    answer_set(ret, -EOPNOTSUPP, "%s", "");
    ret->why[0] = 0;
    if (is_taken(s, p[0].url.scheme, ret))
        step_run(p[0].fs, s, ret);
    for (size_t i = 1; i < PLACES; i++) {
        struct answer a;

        if (!is_taken(s, p[i].url.scheme, ret))
            continue;
        step_run(p[i].fs, s, &a);
        if (strcmp(ret->text, a.text) == 0 || may_differ(s, p[i].url.scheme, ret, &a))
            continue;
        printf("%s\n  %s: %s (%s)\n  %s: %s (%s)\n", step_text(s, text), p[0].text, ret->text,
               ret->why, p[i].text, a.text, a.why);
        return false;
    }
    return true;
}

static bool take_at(struct place p[PLACES], enum step_op op, const char *path, struct answer *ret)
{
    struct step s = { .op = op };

    (void)snprintf(s.path, sizeof(s.path), "%s", path);
    return take(p, &s, ret);
}

/* A step, and what is there afterwards. */
static bool take_and_look(struct place p[PLACES], const struct step *s)
{
    struct answer a;

    return take(p, s, &a) && take_at(p, STEP_STATUS, s->path, &a) &&
           (!*s->to || take_at(p, STEP_STATUS, s->to, &a));
}

/* All that is below a directory, read. */
static bool walk(struct place p[PLACES], const char *dir, unsigned depth)
{
    char path[STEP_PATH_MAX];
    struct answer a;

    if (!take_at(p, STEP_LIST, dir, &a))
        return false;
    for (unsigned i = 0; depth > 0 && i < STEP_NAMES; i++) {
        (void)snprintf(path, sizeof(path), "%.100s%s%s", dir, *dir ? "/" : "", step_names[i]);
        if (!take_at(p, STEP_STATUS, path, &a) || !take_at(p, STEP_READ, path, &a))
            return false;
        if (a.cause == FS_CAUSE_UNSUPPORTED && !walk(p, path, depth - 1)) /* a directory */
            return false;
    }
    return true;
}

/* ---- Seeds ---- */

static void die(const char *what, const struct sv_error *err)
{
    printf("%s: %s\n", what, err->text);
    exit(2);
}

static void open_place(struct place *p, const char *name)
{
    const struct fs_options o = { .url = &p->url,
                                  .root = -1,
                                  .site = &p->site,
                                  .curl = &sv_curl_linked,
                                  .program = "fs-compare",
                                  .identity = { .user = user, .credentials = -1 },
                                  .no_sync = true,
                                  .limits = { .io_timeout_ms = TIMEOUT_MS } };
    struct sv_error err = { 0 };
    struct fs_status st;

    if (fs_open(&o, &p->fs, &err) < 0 || fs_mkdir(p->fs, name, 0700, &err) < 0 ||
        fs_enter(p->fs, name, &st, NULL, &err) < 0)
        die(p->text, &err);
}

static bool compare(struct place p[PLACES], unsigned seed, unsigned steps)
{
    struct steps all = { .random = seed, .depth = 3, .max_size = STEP_SIZE_MAX, .close = true };
    struct step open_again = { .op = STEP_MODE, .mode = 0700 };
    char name[20];
    bool good = true;

    (void)snprintf(name, sizeof(name), "%u", seed);
    (void)snprintf(open_again.path, sizeof(open_again.path), "%s", step_names[STEP_NAMES - 1]);
    for (size_t i = 0; i < PLACES; i++)
        open_place(&p[i], name);
    for (unsigned i = 0; good && i < steps; i++) {
        struct step s;

        step_next(&all, &s);
        good = take_and_look(p, &s);
        if (!good)
            printf("seed %u, step %u\n", seed, i);
    }
    if (good && !(take_and_look(p, &open_again) && walk(p, "", all.depth))) {
        printf("seed %u, after all steps\n", seed);
        good = false;
    }
    for (size_t i = 0; i < PLACES; i++)
        p[i].fs = fs_close(p[i].fs);
    return good;
}

static void become_user(void)
{
    const struct passwd *pw = getpwnam(user);

    if (!pw || setgroups(0, NULL) < 0 || setgid(pw->pw_gid) < 0 || setuid(pw->pw_uid) < 0) {
        perror(user);
        exit(2);
    }
}

static unsigned number(const char *text)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);

    if (*end || v > 1000000)
        exit(2);
    return (unsigned)v;
}

int main(int argc, char **argv)
{
    static struct place p[PLACES];
    struct sv_error err = { 0 };
    unsigned steps, seed;

    if (argc != 5 + PLACES)
        return 2;
    user = argv[1];
    steps = number(argv[2]);
    become_user();
    umask(0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < PLACES; i++) {
        p[i].text = argv[5 + i];
        if (fs_url_parse(p[i].text, &p[i].url, &err) < 0)
            die(p[i].text, &err);
        p[i].site = (struct hdfs_site){ .n_servers = 1,
                                        .failover = HDFS_FAILOVER_DEFAULT,
                                        .io_timeout_ms = TIMEOUT_MS };
        p[i].site.servers[0].port = p[i].url.port;
        (void)snprintf(p[i].site.servers[0].host, sizeof(p[i].site.servers[0].host), "%s",
                       p[i].url.host);
    }
    for (seed = number(argv[3]); seed <= number(argv[4]); seed++)
        if (!compare(p, seed, steps))
            return 1;
    for (size_t i = 0; i < SV_ARRAY_LEN(differences); i++)
        printf("%u times: %s\n", used[i], differences[i].why);
    printf("%u seeds of %u steps: the same\n", seed - number(argv[3]), steps);
    return 0;
}
