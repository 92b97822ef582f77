/* See master-token.h. */
#include "nodemanager/amrmproxy/master-token.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"

#define FORMAT_AT 4 /* behind "HDTS" */

/* Leaves `local` in the place of the first. */
static bool exchange(struct yarn_credentials *c, const struct yarn_token *local,
                     struct yarn_token *ret_real)
{
    bool found = false;
    size_t n = 0;

    for (size_t i = 0; i < c->n_tokens; i++) {
        const bool is = sv_streq(c->tokens[i].token.kind, YARN_KIND_AMRM);

        if (is && found)
            continue;
        c->tokens[n] = c->tokens[i];
        if (is) {
            *ret_real = c->tokens[i].token;
            c->tokens[n].token = *local;
            found = true;
        }
        n++;
    }
    c->n_tokens = n;
    return found;
}

static int check_real(const struct yarn_token *real, struct yarn_attempt_id id,
                      struct sv_error *err)
{
    char own[YARN_ID_TEXT_MAX], text[YARN_ID_TEXT_MAX];
    struct yarn_amrm_token t;
    int r = yarn_amrm_token_decode(real->id, real->id_len, &t, err);

    if (r < 0)
        return sv_error_wrap(err, "AMRMToken of the start container request");
    if (yarn_app_id_cmp(t.attempt.app, id.app) == 0 && t.attempt.attempt == id.attempt)
        return 0;
    return sv_error_set(err, -EBADMSG,
                        "AMRMToken of %s in the start container request for application:%s",
                        yarn_attempt_id_text(t.attempt, own), yarn_attempt_id_text(id, text));
}

static int write_new(const struct yarn_credentials *c, enum yarn_credentials_format format,
                     struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc,
                     struct sv_error *err)
{
    _cleanup_buf_wipe_ struct sv_buf out = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    uint8_t *copy = NULL;
    int r = sv_buf_reserve(&out, clc->tokens.len + 1024);

    if (r >= 0)
        r = yarn_credentials_write_as(c, format, &out);
    if (r >= 0) {
        copy = sv_arena_memdup(a, out.data, out.len);
        r = copy ? 0 : -ENOMEM;
    }
    if (r < 0)
        return sv_error_errno(err, r, "credentials with the AMRMProxy's token");
    clc->tokens = (ProtobufCBinaryData){ .data = copy, .len = out.len };
    return 0;
}

int nm_master_token_exchange(Hadoop__Yarn__ContainerLaunchContextProto *clc,
                             struct yarn_attempt_id id, const struct yarn_token *local,
                             struct sv_arena *a, struct yarn_token *ret_real, struct sv_error *err)
{
    const ProtobufCBinaryData old = clc->tokens;
    struct yarn_credentials c = { .n_tokens = 0 };
    char text[YARN_ID_TEXT_MAX];
    struct yarn_token real;
    int r = 0;

    if (clc->has_tokens)
        r = yarn_credentials_parse(old.data, old.len, a, &c, err);
    if (r < 0)
        return r;
    if (!exchange(&c, local, &real)) /* Hadoop's words */
        return sv_error_set(err, -ENOENT,
                            "AMRMToken not found in the start container request for application:%s",
                            yarn_attempt_id_text(id, text));
    r = check_real(&real, id, err);
    if (r >= 0)
        r = write_new(&c,
                      old.data[FORMAT_AT] == YARN_CREDENTIALS_PROTOBUF ? YARN_CREDENTIALS_PROTOBUF
                                                                       : YARN_CREDENTIALS_WRITABLE,
                      a, clc, err);
    if (r >= 0)
        *ret_real = real;
    return r < 0 ? r : 0;
}
