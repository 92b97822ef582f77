/* See aux-frame.h. */
#include "nodemanager/aux-services/aux-frame.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

static void json_freep(json_t **j)
{
    json_decref(*j);
}

void nm_aux_answer_free(struct nm_aux_answer *a)
{
    free(a->metadata);
    *a = (struct nm_aux_answer){ 0 };
}

int nm_aux_frame_put(struct sv_buf *out, const char *json, size_t n)
{
    size_t before = out->len;
    int r;

    if (n == 0 || n > NM_AUX_FRAME_MAX)
        return -EMSGSIZE;
    r = sv_buf_put_u32(out, (uint32_t)n);
    if (r >= 0)
        r = sv_buf_put(out, json, n);
    if (r < 0)
        out->len = before;
    return r;
}

static int read_ready(const json_t *j, struct nm_aux_answer *ret, struct sv_error *err)
{
    const char *text = json_string_value(json_object_get(j, "metadata"));
    int r = text ? sv_base64_decode(text, strlen(text), NM_AUX_METADATA_MAX, &ret->metadata,
                                    &ret->metadata_len)
                 : -EINVAL;

    if (r == -ENOMEM)
        return sv_error_errno(err, r, "\"ready\"");
    if (r < 0)
        return sv_error_set(err, -EBADMSG,
                            "\"ready\" without \"metadata\" of at most %zu bytes in base64",
                            NM_AUX_METADATA_MAX);
    return 1;
}

static bool is_metric_name(const char *s)
{
    size_t n = strlen(s);

    return n > 0 && n <= NM_AUX_METRIC_NAME_MAX && isalpha((unsigned char)s[0]) &&
           strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == n;
}

static int read_metrics(json_t *j, struct nm_aux_metrics *ret, struct sv_error *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(j) || json_object_size(j) > NM_AUX_METRICS_MAX)
        return sv_error_set(err, -EBADMSG, "\"metrics\" that is no object of at most %d numbers",
                            NM_AUX_METRICS_MAX);
    json_object_foreach(j, name, value)
    {
        struct nm_aux_metric *m = &ret->v[ret->n];

        if (!is_metric_name(name) || !json_is_integer(value) || json_integer_value(value) < 0)
            return sv_error_set(err, -EBADMSG,
                                "\"metrics\" with something that is no letters and digits, or no "
                                "integer from 0");
        snprintf(m->name, sizeof(m->name), "%s", name);
        m->value = (int64_t)json_integer_value(value);
        ret->n++;
    }
    return 1;
}

static int read_outcome(const json_t *j, struct nm_aux_answer *ret, struct sv_error *err)
{
    const json_t *seq = json_object_get(j, "seq");
    const char *message = json_string_value(json_object_get(j, "message"));
    json_t *metrics = json_object_get(j, "metrics");

    if (!json_is_integer(seq) || json_integer_value(seq) < 0)
        return sv_error_set(err, -EBADMSG, "an answer without a \"seq\"");
    ret->seq = (uint64_t)json_integer_value(seq);
    if (message)
        sv_escape(ret->message, sizeof(ret->message), message);
    return metrics && ret->type == NM_AUX_DONE ? read_metrics(metrics, &ret->metrics, err) : 1;
}

static int read_object(const uint8_t *p, size_t n, struct nm_aux_answer *ret, struct sv_error *err)
{
    _cleanup_(json_freep) json_t *j = json_loadb((const char *)p, n, JSON_REJECT_DUPLICATES, NULL);
    const char *type = json_string_value(json_object_get(j, "type"));
    char shown[64];

    if (!json_is_object(j))
        return sv_error_set(err, -EBADMSG, "a frame of %zu bytes that is not a JSON object", n);
    *ret = (struct nm_aux_answer){ .type = NM_AUX_READY };
    if (sv_streq(type, "ready"))
        return read_ready(j, ret, err);
    ret->type = sv_streq(type, "failed") ? NM_AUX_FAILED : NM_AUX_DONE;
    if (ret->type == NM_AUX_FAILED || sv_streq(type, "done"))
        return read_outcome(j, ret, err);
    sv_escape(shown, sizeof(shown), type ? type : "");
    return sv_error_set(err, -EBADMSG, "a message of type \"%s\"", shown);
}

int nm_aux_frame_take(struct sv_buf *in, struct nm_aux_answer *ret, struct sv_error *err)
{
    size_t start = in->pos;
    const uint8_t *p;
    uint32_t n;

    if (sv_buf_get_u32(in, &n) < 0)
        return 0;
    if (n == 0 || n > NM_AUX_ANSWER_MAX)
        return sv_error_set(err, -EBADMSG, "a frame of %u bytes, 1 to %zu are allowed", n,
                            NM_AUX_ANSWER_MAX);
    if (sv_buf_get_ref(in, &p, n) < 0) {
        in->pos = start;
        return 0;
    }
    return read_object(p, n, ret, err);
}
