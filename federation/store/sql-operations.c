/* Operations as statements, one after the other. */
#include <errno.h>

#include "federation/store/sql.h"

/* More members that started in the same millisecond, or applications that others delete while they
 * are added, are no accident. */
#define TRIES_MAX 64

static bool finish(struct fed_sql_run *run)
{
    fed_call_done(run->call);
    return false;
}

static bool fail(struct fed_sql_run *run, int error, const char *reason)
{
    fed_call_fail(run->call, error, "%s", reason);
    return false;
}

static bool execute(struct fed_sql_run *run, enum fed_sql statement)
{
    if (run->step >= 3 * TRIES_MAX)
        return fail(run, -EREMOTEIO, "other writers are always faster");
    run->now = statement;
    run->step++;
    if (fed_sql_bind(run) < 0)
        return fail(run, -ENOMEM, "out of memory");
    return true;
}

/* True if the statement found a row, broken or not. */
static bool has_row(const struct fed_sql_run *run)
{
    return run->call->answer.n > 0 || run->call->answer.error < 0;
}

/* The one statement of the operation. */
static enum fed_sql only(enum fed_op op)
{
    static const enum fed_sql statements[FED_OPS] = {
        [FED_MEMBER_DEREGISTER] = SQL_MEMBER_DEREGISTER,
        [FED_MEMBER_HEARTBEAT] = SQL_MEMBER_HEARTBEAT,
        [FED_MEMBER_GET] = SQL_MEMBER_GET,
        [FED_MEMBER_LIST] = SQL_MEMBER_LIST,
        [FED_HOME_UPDATE] = SQL_HOME_UPDATE,
        [FED_HOME_GET] = SQL_HOME_GET,
        [FED_HOME_DELETE] = SQL_HOME_DELETE,
        [FED_RESERVATION_UPDATE] = SQL_RESERVATION_UPDATE,
        [FED_RESERVATION_GET] = SQL_RESERVATION_GET,
        [FED_RESERVATION_LIST] = SQL_RESERVATION_LIST,
        [FED_RESERVATION_DELETE] = SQL_RESERVATION_DELETE,
        [FED_POLICY_SET] = SQL_POLICY_SET,
        [FED_POLICY_GET] = SQL_POLICY_GET,
        [FED_POLICY_LIST] = SQL_POLICY_LIST,
        [FED_POLICY_DELETE] = SQL_POLICY_DELETE,
        [FED_KEY_ADD] = SQL_KEY_INSERT,
        [FED_KEY_GET] = SQL_KEY_GET,
        [FED_KEY_DELETE] = SQL_KEY_DELETE,
        [FED_TOKEN_ADD] = SQL_TOKEN_INSERT,
        [FED_TOKEN_UPDATE] = SQL_TOKEN_UPDATE,
        [FED_TOKEN_GET] = SQL_TOKEN_GET,
        [FED_TOKEN_LIST] = SQL_TOKEN_LIST,
        [FED_TOKEN_DELETE] = SQL_TOKEN_DELETE,
        [FED_VERSION_GET] = SQL_VERSION_GET,
    };

    return statements[op];
}

/* Reads rows; fed_call_done() knows whether one is missing. */
static bool read_rows(struct fed_sql_run *run)
{
    const struct fed_request *q = &run->call->request;

    if (run->step > 0)
        return finish(run);
    if (q->op == FED_HOME_LIST)
        return execute(run, q->home.home ? SQL_HOME_LIST_OF : SQL_HOME_LIST);
    return execute(run, only(q->op));
}

/* Changes or deletes a row that must exist. */
static bool change(struct fed_sql_run *run)
{
    if (run->step == 0)
        return execute(run, only(run->call->request.op));
    return run->changed > 0 ? finish(run) : fail(run, -ENOENT, "it does not exist");
}

/* Writes a row that may exist, or must not. */
static bool insert(struct fed_sql_run *run)
{
    if (run->step == 0)
        return execute(run, only(run->call->request.op));
    return run->duplicate ? fail(run, -EEXIST, "it exists") : finish(run);
}

/* UPDATE, then INSERT where there is no row: a REPLACE would delete another member's row that has
 * the same start, which is unique. */
static bool member_register(struct fed_sql_run *run)
{
    if (run->step == 0)
        return execute(run, SQL_MEMBER_UPDATE);
    if (run->now == SQL_MEMBER_GET)
        return finish(run);
    if (run->duplicate) { /* the start is another member's, or the row has just been inserted */
        run->call->request.member.last_start_ms++;
        return execute(run, SQL_MEMBER_UPDATE);
    }
    if (run->now == SQL_MEMBER_UPDATE && run->changed == 0)
        return execute(run, SQL_MEMBER_INSERT);
    return execute(run, SQL_MEMBER_GET);
}

/* Inserts, and reads what is stored, which an earlier writer may have inserted. */
static bool add_home(struct fed_sql_run *run)
{
    bool of_app = run->call->request.op == FED_HOME_ADD;
    enum fed_sql first = of_app ? SQL_HOME_INSERT : SQL_RESERVATION_INSERT;

    if (run->step == 0)
        return execute(run, first);
    if (run->now == first)
        return execute(run, of_app ? SQL_HOME_STORED : SQL_RESERVATION_GET);
    if (!has_row(run))
        return execute(run, first); /* deleted since */
    return finish(run);
}

static bool sequence_get(struct fed_sql_run *run)
{
    if (run->step == 0 || run->now == SQL_SEQUENCE_INSERT)
        return execute(run, SQL_SEQUENCE_GET);
    if (!has_row(run))
        return execute(run, SQL_SEQUENCE_INSERT);
    return finish(run);
}

static bool sequence_next(struct fed_sql_run *run)
{
    if (run->step == 0 || run->now == SQL_SEQUENCE_INSERT)
        return execute(run, SQL_SEQUENCE_NEXT);
    if (run->now == SQL_SEQUENCE_NEW)
        return finish(run);
    return execute(run, run->changed > 0 ? SQL_SEQUENCE_NEW : SQL_SEQUENCE_INSERT);
}

static bool sequence_set(struct fed_sql_run *run)
{
    if (run->step == 0 || run->duplicate)
        return execute(run, SQL_SEQUENCE_SET);
    if (run->now == SQL_SEQUENCE_SET && run->changed == 0)
        return execute(run, SQL_SEQUENCE_INSERT);
    return finish(run);
}

static bool version_check(struct fed_sql_run *run)
{
    struct fed_call *c = run->call;
    const struct fed_version *v = c->records;

    if (run->step == 0 || run->now == SQL_VERSION_INSERT)
        return execute(run, SQL_VERSION_GET);
    if (!has_row(run))
        return execute(run, SQL_VERSION_INSERT);
    if (c->answer.n > 0 && v->major != 1) {
        fed_call_fail(
            c, -EPROTONOSUPPORT,
            "its version is %d.%d, this program knows 1.1: use the store with programs of "
            "its version, or an empty one",
            v->major, v->minor);
        return false;
    }
    return finish(run);
}

static bool (*const operations[FED_OPS])(struct fed_sql_run *run) = {
    [FED_MEMBER_REGISTER] = member_register,
    [FED_MEMBER_DEREGISTER] = change,
    [FED_MEMBER_HEARTBEAT] = change,
    [FED_MEMBER_GET] = read_rows,
    [FED_MEMBER_LIST] = read_rows,
    [FED_HOME_ADD] = add_home,
    [FED_HOME_UPDATE] = change,
    [FED_HOME_GET] = read_rows,
    [FED_HOME_LIST] = read_rows,
    [FED_HOME_DELETE] = change,
    [FED_RESERVATION_ADD] = add_home,
    [FED_RESERVATION_UPDATE] = change,
    [FED_RESERVATION_GET] = read_rows,
    [FED_RESERVATION_LIST] = read_rows,
    [FED_RESERVATION_DELETE] = change,
    [FED_POLICY_SET] = insert,
    [FED_POLICY_GET] = read_rows,
    [FED_POLICY_LIST] = read_rows,
    [FED_POLICY_DELETE] = change,
    [FED_KEY_ADD] = insert,
    [FED_KEY_GET] = read_rows,
    [FED_KEY_DELETE] = change,
    [FED_TOKEN_ADD] = insert,
    [FED_TOKEN_UPDATE] = change,
    [FED_TOKEN_GET] = read_rows,
    [FED_TOKEN_LIST] = read_rows,
    [FED_TOKEN_DELETE] = change,
    [FED_SEQUENCE_GET] = sequence_get,
    [FED_SEQUENCE_NEXT] = sequence_next,
    [FED_SEQUENCE_SET] = sequence_set,
    [FED_VERSION_CHECK] = version_check,
    [FED_VERSION_GET] = read_rows,
};

bool fed_sql_step(struct fed_sql_run *run)
{
    return operations[run->call->request.op](run);
}
