/* `selvedge doctor`: the state store of a federation: is it there, of a known version, does it have
 * tables and procedures that are right? Hostile: its answers. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "client/doctor/doctor.h"
#include "federation/store/member-epoch.h"
#include "federation/store/mysql-apply.h"
#include "federation/store/mysql-schema.h"
#include "federation/store/store-conf.h"

#define AREA "federation"

struct look {
    struct doctor *d;
    sd_event *event;
    bool answered, ok;
};

static void on_answer(const struct fed_answer *a, void *userdata)
{
    struct look *l = userdata;

    l->answered = true;
    l->ok = a->error == 0 || a->error == -ENOENT;
    if (!l->ok)
        cli_doctor_report(l->d, DOCTOR_BAD, AREA, NULL, "%s", a->reason);
    else if (a->n_broken > 0)
        cli_doctor_report(l->d, DOCTOR_WEAK, AREA, "correct or delete the row", "%s", a->reason);
}

static void on_version(const struct fed_answer *a, void *userdata)
{
    struct look *l = userdata;

    on_answer(a, userdata);
    if (a->n == 0 || a->versions[0].major == 1)
        return;
    l->ok = false;
    cli_doctor_report(l->d, DOCTOR_BAD, AREA, "use programs of its version, or an empty store",
                      "the state store's version is %d.%d, this program knows 1.1",
                      a->versions[0].major, a->versions[0].minor);
}

static void on_one_epoch(const struct fed_member *a, const struct fed_member *b, int64_t epoch,
                         void *userdata)
{
    cli_doctor_report(userdata, DOCTOR_BAD, AREA,
                      "set another yarn.resourcemanager.epoch on one of them and restart it",
                      "%s and %s both have epoch %" PRId64 ": containers that one application has "
                      "there get equal ids",
                      a->id, b->id, epoch);
}

static void on_members(const struct fed_answer *a, void *userdata)
{
    size_t active = 0;

    on_answer(a, userdata);
    for (size_t i = 0; i < a->n; i++)
        active += fed_state_active(a->members[i].state);
    if (a->error == 0)
        cli_doctor_report(((struct look *)userdata)->d, active > 0 ? DOCTOR_OK : DOCTOR_NOTE, AREA,
                          NULL, "the state store has %zu members, of which %zu are running", a->n,
                          active);
    if (fed_members_with_one_epoch(a->members, a->n, on_one_epoch, ((struct look *)userdata)->d) <
        0)
        cli_doctor_report(((struct look *)userdata)->d, DOCTOR_NOTE, AREA, NULL,
                          "epochs of members: not checked: out of memory");
}

/* Makes a call and waits for its answer; false where no further one is of use. */
static bool ask(struct look *l, struct fed_store *s, enum fed_op op, fed_done done)
{
    const struct fed_request q = { .op = op };

    l->answered = l->ok = false;
    if (fed_store_call(s, &q, done, l, NULL) < 0)
        return false;
    while (!l->answered && sd_event_run(l->event, UINT64_MAX) >= 0)
        ;
    return l->ok;
}

/* Procedures are called by Apache's daemons alone. */
static void schema(struct doctor *d, sd_event *event, const struct fed_mysql_options *o)
{
    static const char remedy[] = "selvedge federation schema --apply";
    struct fed_schema_state s;
    struct sv_error err = { 0 };
    size_t n, parts, procedures = 0;
    const struct fed_schema_part *p = fed_mysql_schema(&parts);

    for (n = 0; n < parts; n++)
        procedures += p[n].procedure;
    if (fed_schema_look(event, o, &s, &err) < 0)
        cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL, "tables and procedures: not checked: %s",
                          err.text);
    else if (s.wrong > 0)
        cli_doctor_report(d, DOCTOR_WEAK, AREA, remedy,
                          "%" PRId64 " procedures are those of Hadoop's script: they fail where "
                          "names of tables have case, and write times of the session's zone, so "
                          "that a member of Apache's looks lost",
                          s.wrong);
    else if (s.procedures < (int64_t)procedures)
        cli_doctor_report(d, s.procedures == 0 ? DOCTOR_NOTE : DOCTOR_WEAK, AREA, remedy,
                          "%" PRId64 " of the %zu procedures are there: Apache's daemons cannot "
                          "use this store",
                          s.procedures, procedures);
}

static void database(struct doctor *d, sd_event *event)
{
    struct fed_mysql_url url;
    struct fed_mysql_options o;

    if (fed_store_mysql_options(d->conf.conf, &url, &o, NULL) == 0)
        schema(d, event, &o);
    explicit_bzero(&url, sizeof(url));
}

/* A check does not make a new file. */
static bool no_file(struct doctor *d, const char *class)
{
    const char *path;

    if (strcmp(class, FED_CLASS_SQLITE) != 0 ||
        fed_store_sqlite_path(d->conf.conf, &path, NULL) < 0 || access(path, F_OK) == 0)
        return false;
    cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL, "%s: does not exist, the first daemon makes it",
                      path);
    return true;
}

static void check(struct doctor *d, sd_event *event, const char *class)
{
    struct look l = { .d = d, .event = event };
    struct fed_store *s = NULL;
    struct sv_error err = { 0 };
    bool ok;

    if (strstr(class, "MemoryFederationStateStore")) {
        cli_doctor_report(d, DOCTOR_BAD, AREA, "set it to " FED_CLASS_SQL " or " FED_CLASS_SQLITE,
                          "yarn.federation.state-store.class: in memory, each daemon has a store "
                          "of its own");
        return;
    }
    if (no_file(d, class))
        return;
    if (fed_store_open(event, d->conf.conf, &s, &err) < 0) {
        cli_doctor_report(d, DOCTOR_BAD, AREA, NULL, "%s", err.text);
        return;
    }
    ok = ask(&l, s, FED_VERSION_GET, on_version) && ask(&l, s, FED_MEMBER_LIST, on_members);
    fed_store_free(s);
    if (ok && strcmp(class, FED_CLASS_SQL) == 0)
        database(d, event);
}

void cli_doctor_federation(struct doctor *d)
{
    const char *enabled =
        d->have_conf ? sv_conf_raw(d->conf.conf, "yarn.federation.enabled") : NULL;
    const char *class;
    sd_event *event = NULL;

    if (!enabled || strcasecmp(enabled, "true") != 0 ||
        fed_store_class(d->conf.conf, &class, NULL) < 0)
        return;
    if (sd_event_new(&event) < 0)
        cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL, "not checked: out of memory");
    else
        check(d, event, class);
    sd_event_unref(event);
}
