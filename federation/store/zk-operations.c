/* See zk-operations.h. Reading, changing and writing a node again is done with its version, so that
 * nothing that another program writes meanwhile is lost. Every chain ends after a bounded number of
 * requests, whatever others do. */
#include "federation/store/zk-operations.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "federation/store/zk-paths.h"

#define TRIES_MAX 64 /* to write a node that others write */

/* ---- Finding the node ---- */

static void look(struct fed_zk_run *r);

static void on_looked(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                      const struct fed_zk_task *t)
{
    bool homes = fed_operations[r->call->request.op].kind == FED_HOME;

    if (status == -ENOENT && homes && r->place + 1 < FED_ZK_PLACES) {
        r->place++;
        look(r);
        return;
    }
    if (status < 0 && status != -ENOENT) {
        fed_zk_fail_status(r, status);
        return;
    }
    r->exists = status == 0;
    r->version = status == 0 ? a->version : 0;
    r->found(r, status, a, t);
}

static bool name_place(struct fed_zk_run *r)
{
    int status = fed_zk_path(r->z, r->call, r->place, &r->path);

    if (status == -EINVAL)
        fed_zk_fail(r, -EINVAL,
                    "ZooKeeper has no nodes of that name: a name must be shorter, without \"/\", "
                    "and not \".\" or \"..\"; rename it, or use a store in a database");
    else if (status < 0)
        fed_zk_fail_status(r, status);
    return status == 0;
}

static void look(struct fed_zk_run *r)
{
    if (name_place(r))
        fed_zk_get(r, r->path, on_looked, NULL);
}

/* Looks for the request's node; `found` is told its value, or -ENOENT. */
static void find(struct fed_zk_run *r, fed_zk_step found)
{
    if (++r->tries > TRIES_MAX) {
        fed_zk_fail(r, -EREMOTEIO, "other programs write it all the time");
        return;
    }
    r->found = found;
    r->place = 0;
    look(r);
}

/* Hadoop's daemons make a node first and then set its value: without one it is not there yet. */
static bool is_there(int status, const struct sv_zk_answer *a)
{
    return status == 0 && a->len > 0;
}

static void fail_absent(struct fed_zk_run *r)
{
    fed_zk_fail(r, -ENOENT, "it does not exist");
}

static struct fed_zk_bytes bytes_of(const struct sv_zk_answer *a)
{
    return (struct fed_zk_bytes){ a->data, a->len };
}

/* The record of the node; false: the call has failed. */
static bool read_record(struct fed_zk_run *r, const struct sv_zk_answer *a,
                        union fed_zk_record *ret)
{
    struct fed_call *c = r->call;
    const char *name = fed_zk_name(c), *rule = "";
    int status = name ? fed_zk_value_read(c->arena, fed_operations[c->request.op].kind, name,
                                          bytes_of(a), ret, &rule)
                      : -ENOMEM;

    if (status == -EBADMSG)
        fed_zk_fail(r, -EBADMSG, "node %s: %s", r->path, rule);
    else if (status < 0)
        fed_zk_fail_status(r, status);
    return status == 0;
}

/* The value to write has been made, or not. */
static bool made(struct fed_zk_run *r, int status, const char *rule)
{
    if (status == -EINVAL || status == -EBADMSG)
        fed_zk_fail(r, status, "%s", rule);
    else if (status < 0)
        fed_zk_fail_status(r, status);
    return status == 0;
}

static bool make_value(struct fed_zk_run *r, int64_t now_ms)
{
    const char *rule = "";
    int status = fed_zk_value_write(r->call->arena, &r->call->request, now_ms, &r->value, &rule);

    return made(r, status, rule);
}

/* ---- Creating a node, with the folders above it ---- */

static void create(struct fed_zk_run *r);

static void on_folder(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                      const struct fed_zk_task *t);

static void make_folder(struct fed_zk_run *r)
{
    const char *slash = strchr(r->path + r->made + 1, '/');
    char folder[SV_ZK_PATH_MAX + 1];

    if (!slash) {
        create(r);
        return;
    }
    r->made = (size_t)(slash - r->path);
    (void)snprintf(folder, sizeof(folder), "%.*s", (int)r->made, r->path);
    fed_zk_create(r, folder, (struct fed_zk_bytes){ 0 }, on_folder);
}

static void on_folder(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                      const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (status == 0 || status == -EEXIST || status == -EACCES) /* the next may exist */
        make_folder(r);
    else if (status == -ENOENT && ++r->tries <= TRIES_MAX) /* one above was removed */
        create(r);
    else
        fed_zk_fail_status(r, status);
}

static void on_created(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                       const struct fed_zk_task *t)
{
    if (status == -ENOENT && ++r->tries <= TRIES_MAX) {
        r->made = 0;
        make_folder(r);
    } else {
        r->written(r, status, a, t);
    }
}

static void create(struct fed_zk_run *r)
{
    fed_zk_create(r, r->path, r->value, on_created);
}

/* Writes r->value: a new node, or the version that was found. `written` is told -EEXIST, -ESTALE
 * and -ENOENT where another program was faster. */
static void write_found(struct fed_zk_run *r, fed_zk_step written)
{
    r->written = written;
    if (r->exists)
        fed_zk_set(r, r->path, r->value, r->version, written);
    else
        create(r);
}

static bool was_faster(int status)
{
    return status == -EEXIST || status == -ESTALE || status == -ENOENT;
}

static void done_or_fail(struct fed_zk_run *r, int status)
{
    if (status == 0)
        fed_zk_done(r);
    else
        fed_zk_fail_status(r, status);
}

/* ---- get, delete ---- */

static void on_record(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                      const struct fed_zk_task *t)
{
    union fed_zk_record record;

    (void)t;
    if (!is_there(status, a)) {
        fail_absent(r);
    } else if (read_record(r, a, &record)) {
        (void)fed_call_add(r->call, &record); /* fed_zk_done() says so, ignoring */
        fed_zk_done(r);
    }
}

static void get(struct fed_zk_run *r)
{
    find(r, on_record);
}

/* The first half of an application's id has gone, or others are below it. */
static void on_half_removed(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                            const struct fed_zk_task *t)
{
    (void)status;
    (void)a;
    (void)t;
    fed_zk_done(r);
}

static void on_removed(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                       const struct fed_zk_task *t)
{
    char half[SV_ZK_PATH_MAX + 1];

    (void)a;
    (void)t;
    if (status == -ENOENT) {
        fail_absent(r);
    } else if (status < 0 || !strstr(r->path, "/HIERARCHIES/")) {
        done_or_fail(r, status);
    } else {
        (void)snprintf(half, sizeof(half), "%.*s", (int)(strrchr(r->path, '/') - r->path), r->path);
        fed_zk_remove(r, half, SV_ZK_ANY_VERSION, on_half_removed);
    }
}

static void on_to_remove(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                         const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (status == 0)
        fed_zk_remove(r, r->path, SV_ZK_ANY_VERSION, on_removed);
    else
        fail_absent(r);
}

static void remove_node(struct fed_zk_run *r)
{
    find(r, on_to_remove);
}

/* ---- update ---- */

static void update(struct fed_zk_run *r);

static void on_updated(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                       const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (was_faster(status))
        update(r);
    else
        done_or_fail(r, status);
}

static void on_to_update(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                         const struct fed_zk_task *t)
{
    const char *rule = "";

    (void)t;
    if (!is_there(status, a))
        fail_absent(r);
    else if (made(r,
                  fed_zk_value_change(r->call->arena, &r->call->request, sv_wall_ms(), bytes_of(a),
                                      &r->value, &rule),
                  rule))
        write_found(r, on_updated);
}

static void update(struct fed_zk_run *r)
{
    find(r, on_to_update);
}

/* ---- set, register ---- */

static void on_put(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                   const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (was_faster(status) && ++r->tries <= TRIES_MAX) {
        r->exists = status == -EEXIST;
        r->version = SV_ZK_ANY_VERSION;
        write_found(r, on_put);
        return;
    }
    if (status == 0 && r->call->request.op == FED_MEMBER_REGISTER) {
        r->call->request.member.capability = r->call->request.member.capability ?: "";
        (void)fed_call_add(r->call, &r->call->request.member); /* as in on_record() */
    }
    done_or_fail(r, status);
}

/* Replaces the node, or makes it. */
static void put(struct fed_zk_run *r)
{
    int64_t now_ms = sv_wall_ms();

    if (r->call->request.op == FED_MEMBER_REGISTER)
        r->call->request.member.last_heartbeat_ms = now_ms;
    if (name_place(r) && make_value(r, now_ms)) {
        r->exists = false;
        write_found(r, on_put);
    }
}

static bool start_taken(const struct fed_zk_run *r, int64_t start_ms)
{
    for (size_t i = 0; i < r->n_starts; i++)
        if (r->starts[i] == start_ms)
            return true;
    return false;
}

static void put_member(struct fed_zk_run *r)
{
    while (start_taken(r, r->call->request.member.last_start_ms))
        r->call->request.member.last_start_ms++;
    put(r);
}

static void register_member(struct fed_zk_run *r)
{
    if (name_place(r))
        fed_zk_list_starts(r, put_member);
}

/* ---- add ---- */

static void add_home(struct fed_zk_run *r);

static void answer_home(struct fed_zk_run *r, const void *record)
{
    union fed_zk_record answered;
    bool home = fed_operations[r->call->request.op].kind == FED_HOME;

    memset(&answered, 0, sizeof(answered));
    if (home) {
        answered.home = *(const struct fed_home *)record;
        answered.home.context = NULL;
        answered.home.context_len = 0;
    } else {
        answered.reservation = *(const struct fed_reservation *)record;
    }
    (void)fed_call_add(r->call, &answered); /* as in on_record() */
    fed_zk_done(r);
}

static void on_home_added(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                          const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (was_faster(status))
        add_home(r);
    else if (status < 0)
        fed_zk_fail_status(r, status);
    else
        answer_home(r, &r->call->request.home); /* or .reservation */
}

/* The first writer wins. One that has made the node and not set its value, which Hadoop's daemons
 * do in two requests, is given time; then it is taken for dead. */
static void on_to_add(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                      const struct fed_zk_task *t)
{
    union fed_zk_record stored;
    bool home = fed_operations[r->call->request.op].kind == FED_HOME;
    int64_t now_ms = sv_wall_ms();

    (void)t;
    if (is_there(status, a)) {
        if (read_record(r, a, &stored))
            answer_home(r, &stored);
        return;
    }
    if (status == 0 && r->tries < TRIES_MAX / 2) {
        add_home(r);
        return;
    }
    if (status < 0) {
        r->place = 0;
        if (!name_place(r))
            return;
    }
    if (home)
        r->call->request.home.created_ms = now_ms;
    if (make_value(r, now_ms))
        write_found(r, on_home_added);
}

static void add_home(struct fed_zk_run *r)
{
    find(r, on_to_add);
}

static void on_added(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                     const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (status == -EEXIST)
        fed_zk_fail(r, -EEXIST, "it exists");
    else
        done_or_fail(r, status);
}

static void add(struct fed_zk_run *r)
{
    r->exists = false;
    if (name_place(r) && make_value(r, 0))
        write_found(r, on_added);
}

/* ---- Counters ---- */

static void count(struct fed_zk_run *r);

static void answer_count(struct fed_zk_run *r)
{
    if (fed_operations[r->call->request.op].has_records)
        (void)fed_call_add(r->call, &r->call->request.sequence); /* as in on_record() */
    fed_zk_done(r);
}

static void on_counted(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                       const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (was_faster(status))
        count(r);
    else if (status < 0)
        fed_zk_fail_status(r, status);
    else
        answer_count(r);
}

/* Hadoop's counters begin at 0 in ZooKeeper, and at 1 in a database: 1 is the first here too. */
static void on_to_count(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                        const struct fed_zk_task *t)
{
    struct fed_sequence *q = &r->call->request.sequence;
    enum fed_op op = r->call->request.op;
    int32_t stored = 0;

    (void)t;
    if (status == 0 && fed_zk_count_read(bytes_of(a), &stored) < 0) {
        fed_zk_fail(r, -EBADMSG, "node %s: its value is no number of four bytes", r->path);
        return;
    }
    if (op == FED_SEQUENCE_NEXT && stored == INT32_MAX) {
        fed_zk_fail(r, -EREMOTEIO, "it is at its end");
        return;
    }
    if (op != FED_SEQUENCE_SET)
        q->value = (stored > 0 ? stored : 1) + (op == FED_SEQUENCE_NEXT);
    if (op == FED_SEQUENCE_GET && stored > 0)
        answer_count(r);
    else if (make_value(r, 0))
        write_found(r, on_counted);
}

static void count(struct fed_zk_run *r)
{
    find(r, on_to_count);
}

/* ---- The layout's version ---- */

static void check_version(struct fed_zk_run *r);

static void on_marked(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                      const struct fed_zk_task *t)
{
    (void)a;
    (void)t;
    if (status == 0 || was_faster(status))
        check_version(r);
    else
        fed_zk_fail_status(r, status);
}

static void on_version(struct fed_zk_run *r, int status, const struct sv_zk_answer *a,
                       const struct fed_zk_task *t)
{
    union fed_zk_record v = { 0 };

    (void)t;
    if (!is_there(status, a)) {
        if (make_value(r, 0))
            write_found(r, on_marked);
        return;
    }
    if (!read_record(r, a, &v))
        return;
    if (v.version.major != 1) {
        fed_zk_fail(r, -EPROTONOSUPPORT,
                    "its version is %d.%d, this program knows 1.1: use the store with programs of "
                    "its version, or another yarn.federation.zk-state-store.parent-path",
                    v.version.major, v.version.minor);
        return;
    }
    (void)fed_call_add(r->call, &v.version); /* as in on_record() */
    fed_zk_done(r);
}

static void check_version(struct fed_zk_run *r)
{
    find(r, on_version);
}

/* ---- Operations ---- */

static void (*const operations[FED_OPS])(struct fed_zk_run *r) = {
    [FED_MEMBER_REGISTER] = register_member,
    [FED_MEMBER_DEREGISTER] = update,
    [FED_MEMBER_HEARTBEAT] = update,
    [FED_MEMBER_GET] = get,
    [FED_MEMBER_LIST] = fed_zk_list,
    [FED_HOME_ADD] = add_home,
    [FED_HOME_UPDATE] = update,
    [FED_HOME_GET] = get,
    [FED_HOME_LIST] = fed_zk_list,
    [FED_HOME_DELETE] = remove_node,
    [FED_RESERVATION_ADD] = add_home,
    [FED_RESERVATION_UPDATE] = update,
    [FED_RESERVATION_GET] = get,
    [FED_RESERVATION_LIST] = fed_zk_list,
    [FED_RESERVATION_DELETE] = remove_node,
    [FED_POLICY_SET] = put,
    [FED_POLICY_GET] = get,
    [FED_POLICY_LIST] = fed_zk_list,
    [FED_POLICY_DELETE] = remove_node,
    [FED_KEY_ADD] = add,
    [FED_KEY_GET] = get,
    [FED_KEY_DELETE] = remove_node,
    [FED_TOKEN_ADD] = add,
    [FED_TOKEN_UPDATE] = update,
    [FED_TOKEN_GET] = get,
    [FED_TOKEN_LIST] = fed_zk_list,
    [FED_TOKEN_DELETE] = remove_node,
    [FED_SEQUENCE_GET] = count,
    [FED_SEQUENCE_NEXT] = count,
    [FED_SEQUENCE_SET] = count,
    [FED_VERSION_CHECK] = check_version,
    [FED_VERSION_GET] = get,
};

void fed_zk_start(struct fed_zk_run *r)
{
    operations[r->call->request.op](r);
}
