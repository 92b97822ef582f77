/* See member-line.h. */
#include "nodemanager/federation/member-line.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "wire/exceptions.h"

/* ---- The real wire ---- */

static int real_dial(void *userdata, const struct nm_amrm_dial *d, void **ret_connection,
                     struct sv_error *err)
{
    struct ipc_proxy *p;
    int r = nm_amrm_dial(userdata, d, &p, err);

    if (r >= 0)
        *ret_connection = p;
    return r;
}

static void real_close(void *connection)
{
    ipc_proxy_free(connection);
}

static int real_call(void *connection, const char *method, const ProtobufCMessage *request,
                     const ProtobufCMessageDescriptor *response, ipc_done done, void *userdata,
                     int32_t *ret_id)
{
    return ipc_proxy_call(connection, method, request, response, 0, done, userdata, ret_id);
}

static void real_cancel(void *connection, int32_t id)
{
    (void)ipc_proxy_cancel(connection, id); /* gone is as good, ignoring */
}

const struct nm_member_wire nm_member_wire = { real_dial, real_close, real_call, real_cancel };

/* ---- The line ---- */

void nm_member_line_drop(struct nm_member_line *l)
{
    if (!l->open)
        return;
    l->done = NULL; /* its end finds nobody */
    l->wire->cancel(l->connection, l->id);
    l->open = false;
}

void nm_member_line_hang_up(struct nm_member_line *l)
{
    if (l->connection)
        l->wire->close(SV_TAKE(l->connection));
}

void nm_member_line_clear(struct nm_member_line *l)
{
    nm_member_line_drop(l);
    nm_member_line_hang_up(l);
    free(SV_TAKE(l->address));
    l->arena = sv_arena_wipe(l->arena);
    l->has_token = false;
}

int nm_member_line_set_address(struct nm_member_line *l, const char *address)
{
    char *copy;

    if (sv_streq(l->address, address))
        return 0;
    copy = strdup(address);
    if (!copy)
        return -ENOMEM;
    free(l->address);
    l->address = copy;
    nm_member_line_hang_up(l);
    return 0;
}

int nm_member_line_set_token(struct nm_member_line *l, const struct yarn_token *t)
{
    struct sv_arena *a = sv_arena_new(2 * YARN_TOKEN_ID_MAX);
    struct yarn_token own = { .id_len = t->id_len, .password_len = t->password_len };

    if (!a)
        return -ENOMEM;
    own.id = sv_arena_memdup(a, t->id, t->id_len);
    own.password = sv_arena_memdup(a, t->password, t->password_len);
    own.kind = sv_arena_strdup(a, t->kind);
    own.service = sv_arena_strdup(a, t->service);
    if (!own.id || !own.password || !own.kind || !own.service) {
        sv_arena_wipe(a);
        return -ENOMEM;
    }
    sv_arena_wipe(l->arena);
    l->arena = a;
    l->token = own;
    l->has_token = l->stale = true;
    return 0;
}

static int connect_line(struct nm_member_line *l, struct sv_error *err)
{
    const struct nm_amrm_dial d = {
        .service = l->service,
        .address = l->address,
        .user = l->user,
        .token = l->has_token ? &l->token : NULL,
        .connect_ms = NM_MEMBER_CONNECT_MS,
        .call_ms = NM_MEMBER_CALL_MS,
    };

    if (l->stale)
        nm_member_line_hang_up(l);
    l->stale = false;
    if (l->connection)
        return 0;
    if (!l->address && !l->own)
        return sv_error_set(err, -EDESTADDRREQ, "the state store has no address of it");
    return l->wire->dial(l->wire_userdata, &d, &l->connection, err);
}

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_member_line *l = userdata;

    if (!l->done)
        return; /* dropped */
    l->open = false;
    l->done(r, err, l->userdata);
}

int nm_member_line_call(struct nm_member_line *l, const char *method,
                        const ProtobufCMessage *request, const ProtobufCMessageDescriptor *response,
                        ipc_done done, void *userdata, struct sv_error *err)
{
    int r;

    if (l->open)
        return sv_error_set(err, -EBUSY, "%s: a call is open", method);
    r = connect_line(l, err);
    if (r < 0)
        return r;
    r = l->wire->call(l->connection, method, request, response, on_done, l, &l->id);
    if (r < 0)
        return sv_error_errno(err, r, "%s", method);
    l->open = true;
    l->done = done;
    l->userdata = userdata;
    return 0;
}

/* ---- Meanings of failed calls ---- */

/* "…, expect responseId to be 7, but get 3": all versions since 2.8 say so. */
static bool expected_id(const char *text, int32_t *ret)
{
    static const char words[] = "expect responseId to be ";
    const char *at = strstr(text, words);
    char *end;
    long v;

    if (!at || !strstr(text, "Invalid responseId"))
        return false;
    errno = 0;
    v = strtol(at + sizeof(words) - 1, &end, 10);
    if (errno || end == at + sizeof(words) - 1 || v < 0 || v > INT32_MAX)
        return false;
    *ret = (int32_t)v;
    return true;
}

static enum nm_member_fault of_exception(const char *class, const char *text, int32_t *ret_expected)
{
    if (sv_streq(class, JAVA_AM_NOT_REGISTERED))
        return NM_FAULT_NOT_REGISTERED;
    if (sv_streq(class, JAVA_ATTEMPT_NOT_FOUND) || sv_streq(class, JAVA_APP_NOT_FOUND) ||
        sv_streq(class, JAVA_INVALID_TOKEN))
        return NM_FAULT_LOST;
    if (!sv_streq(class, JAVA_INVALID_AM_REQUEST))
        return NM_FAULT_REFUSED;
    if (expected_id(text, ret_expected))
        return NM_FAULT_RESPONSE_ID;
    return strstr(text, "is already registered") ? NM_FAULT_REGISTERED : NM_FAULT_REFUSED;
}

enum nm_member_fault nm_member_fault_of(const struct ipc_result *r, const struct sv_error *err,
                                        int32_t *ret_expected)
{
    if (r->status != -EREMOTEIO || ipc_failure_is_absence(ipc_failure_of(r)))
        return NM_FAULT_ABSENT;
    return of_exception(r->java_class, err->text, ret_expected);
}

const char *nm_member_fault_text(const struct sv_error *err, const char *method)
{
    const char *at = strstr(err->text, method), *text = at ? at + strlen(method) : NULL;

    return text && text[0] == ':' && text[1] == ' ' ? text + 2 : err->text;
}
