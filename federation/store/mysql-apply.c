/* See mysql-apply.h. */
#include "federation/store/mysql-apply.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "federation/store/mysql-connection.h"
#include "federation/store/mysql-schema.h"

#define IDENTIFIER_MAX 160

int fed_schema_print(const char *database, FILE *out)
{
    char name[IDENTIFIER_MAX];
    const struct fed_schema_part *parts;
    size_t n;

    parts = fed_mysql_schema(&n);
    fed_mysql_identifier(name, sizeof(name), database);
    fprintf(out,
            "-- The state store of a federation, for: mysql < FILE\n" FED_MYSQL_DATABASE
            ";\nUSE %s;\nSET sql_mode = 'STRICT_ALL_TABLES';\nDELIMITER //\n",
            name, name);
    for (size_t i = 0; i < n; i++) {
        if (parts[i].procedure)
            fprintf(out, "DROP PROCEDURE IF EXISTS %s//\n", parts[i].name);
        fprintf(out, "%s//\n", parts[i].text);
    }
    fputs("DELIMITER ;\n", out);
    return fflush(out) < 0 || ferror(out) ? -EIO : 0;
}

struct apply {
    sd_event *event;
    struct fed_connection *connection;
    struct fed_account account;
    struct fed_sql_run run;
    struct fed_schema_state state;
    char text[512];
    bool done;
    int error;
    char reason[512];
};

static void on_event(struct fed_connection *connection, int error, const char *reason)
{
    struct apply *a = fed_connection_userdata(connection);

    a->done = true;
    a->error = error;
    snprintf(a->reason, sizeof(a->reason), "%s", reason);
}

static void on_lost(struct fed_connection *connection)
{
    on_event(connection, -ECONNRESET, "the server has closed the connection");
}

static const struct fed_connection_events events = { on_event, on_event, on_lost };

static int wait_done(struct apply *a, const char *what, struct sv_error *err)
{
    int r = 0;

    while (r >= 0 && !a->done)
        r = sd_event_run(a->event, UINT64_MAX);
    a->done = false;
    if (r < 0)
        return sv_error_errno(err, r, "the event loop");
    return a->error == 0 ? 0
                         : sv_error_set(err, a->error, "federation store %s: %s: %s",
                                        a->account.url.text, what, a->reason);
}

static int query(struct apply *a, const char *what, const char *text, struct sv_error *err)
{
    fed_connection_query(a->connection, text);
    return wait_done(a, what, err);
}

static int make_part(struct apply *a, const struct fed_schema_part *p, struct sv_error *err)
{
    int r = 0;

    if (p->procedure) {
        snprintf(a->text, sizeof(a->text), "DROP PROCEDURE IF EXISTS %s", p->name);
        r = query(a, p->name, a->text, err);
    }
    return r < 0 ? r : query(a, p->name, p->text, err);
}

/* The database may not exist yet: the connection is made without one. */
static int make_all(struct apply *a, const char *database, struct sv_error *err)
{
    const struct fed_schema_part *parts;
    char name[IDENTIFIER_MAX];
    size_t n;
    int r;

    parts = fed_mysql_schema(&n);
    fed_mysql_identifier(name, sizeof(name), database);
    snprintf(a->text, sizeof(a->text), FED_MYSQL_DATABASE, name);
    r = query(a, "make the database", a->text, err);
    if (r == 0) {
        snprintf(a->text, sizeof(a->text), "USE %s", name);
        r = query(a, "use the database", a->text, err);
    }
    for (size_t i = 0; r == 0 && i < n; i++)
        r = make_part(a, &parts[i], err);
    return r;
}

/* A connection to the database, or to none, for one function. */
static int with_connection(struct apply *a, const struct fed_mysql_options *o, bool of_database,
                           int (*work)(struct apply *a, const char *database, struct sv_error *err),
                           struct sv_error *err)
{
    const struct fed_mysql *lib;
    int r = fed_mysql_load(&lib, err);

    if (r < 0)
        return r;
    fed_account_set(&a->account, o);
    if (!of_database)
        a->account.url.database[0] = '\0';
    r = fed_connection_new(a->event, lib, &a->account, &events, a, &a->connection);
    if (r < 0)
        (void)sv_error_errno(err, r, "federation store %s", o->url->text);
    else {
        fed_connection_open(a->connection);
        r = wait_done(a, "connect", err);
    }
    if (r == 0)
        r = work(a, o->url->database, err);
    fed_connection_free(a->connection);
    explicit_bzero(&a->account, sizeof(a->account));
    return r;
}

int fed_schema_apply(sd_event *event, const struct fed_mysql_options *o, struct sv_error *err)
{
    struct apply a = { .event = event };

    return with_connection(&a, o, false, make_all, err);
}

static bool on_state(struct fed_sql_run *run, const struct fed_value *columns)
{
    struct apply *a = (struct apply *)((char *)run - offsetof(struct apply, run));

    a->state = (struct fed_schema_state){ columns[0].number, columns[1].number, columns[2].number };
    return true;
}

static int look(struct apply *a, const char *database, struct sv_error *err)
{
    (void)database;
    a->run = (struct fed_sql_run){ .now = SQL_SCHEMA, .row = on_state };
    fed_connection_execute(a->connection, &a->run);
    return wait_done(a, "list tables and procedures", err);
}

int fed_schema_look(sd_event *event, const struct fed_mysql_options *o,
                    struct fed_schema_state *ret, struct sv_error *err)
{
    struct apply a = { .event = event };
    int r = with_connection(&a, o, true, look, err);

    if (r == 0)
        *ret = a.state;
    return r;
}
