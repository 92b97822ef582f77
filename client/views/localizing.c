/* See localizing.h. */
#include "client/views/localizing.h"

#include <string.h>

#include "client/ui/output.h"
#include "client/ui/table.h"
#include "common/str.h"

#define BYTES_MAX (INT64_C(1) << 60) /* sums of a few cannot overflow */

static int64_t number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;

    return n < 0 || n > BYTES_MAX ? -1 : (int64_t)n;
}

static struct cli_localizing_part part_of(const json_t *object)
{
    struct cli_localizing_part p = {
        .bytes = SV_MAX(number(object, "bytes"), INT64_C(0)),
        .total = number(object, "totalBytes"),
        .rate = number(object, "bytesPerSecond"),
    };

    if (p.rate == 0) /* as reported by a node */
        p.rate = -1;
    return p;
}

struct cli_localizing *cli_localizing_read(const json_t *container)
{
    const json_t *o = json_object_get(json_object_get(container, "selvedge"), "localization");
    const json_t *list = json_object_get(o, "downloading");
    struct cli_localizing *l = json_is_object(o) ? calloc(1, sizeof(*l)) : NULL;

    if (!l)
        return NULL;
    l->resources = (int)SV_MIN(SV_MAX(number(o, "resources"), INT64_C(0)), INT64_C(1) << 20);
    l->ready = (int)SV_MIN(SV_MAX(number(o, "ready"), INT64_C(0)), INT64_C(1) << 20);
    l->all = part_of(o);
    for (; l->n < CLI_LOCALIZING_FILES && l->n < json_array_size(list); l->n++) {
        const json_t *file = json_array_get(list, l->n);
        const char *name = json_string_value(json_object_get(file, "name"));

        sv_escape(l->files[l->n].name, sizeof(l->files[l->n].name), name ? name : "?");
        l->files[l->n].part = part_of(file);
    }
    return l;
}

int64_t cli_localizing_left_ms(const struct cli_localizing_part *p)
{
    const int64_t rest = p->total - p->bytes;

    if (p->total < 0 || p->rate <= 0 || rest < 0) /* an archive is unpacked after it was read */
        return -1;
    if (rest / p->rate > BYTES_MAX / 1000) /* some million years */
        return -1;
    return rest / p->rate * 1000 + rest % p->rate * 1000 / p->rate;
}

static json_t *part_json(const struct cli_localizing_part *p)
{
    return json_pack("{s:I, s:o, s:o, s:o}", "bytes", (json_int_t)p->bytes, "totalBytes",
                     cli_json_known(p->total), "bytesPerSecond", cli_json_known(p->rate),
                     "remainingMs", cli_json_known(cli_localizing_left_ms(p)));
}

void cli_localizing_put(json_t *row, const struct cli_localizing *l)
{
    static const struct cli_localizing_part none = { -1, -1, -1 };
    const struct cli_localizing_part *p = l ? &l->all : &none;
    json_t *files = json_array();

    for (size_t i = 0; l && i < l->n; i++) {
        json_t *one = part_json(&l->files[i].part);

        (void)json_object_set_new(one, "name", cli_json_string(l->files[i].name));
        (void)json_array_append_new(files, one);
    }
    (void)json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "localizedBytes", cli_json_known(l ? p->bytes : -1),
                  "localizeTotalBytes", cli_json_known(p->total), "localizeBytesPerSecond",
                  cli_json_known(p->rate), "localizeRemainingMs",
                  cli_json_known(cli_localizing_left_ms(p)), "localizing", files));
}

static const char *duration(int64_t ms, char buf[32])
{
    if (ms < INT64_C(120000))
        snprintf(buf, 32, "%lld s", (long long)((ms + 999) / 1000));
    else if (ms < INT64_C(7200000))
        snprintf(buf, 32, "%lld min", (long long)(ms / 60000));
    else
        snprintf(buf, 32, "%lld h", (long long)(ms / 3600000));
    return buf;
}

const char *cli_localizing_text(const struct cli_localizing_part *p,
                                char buf[CLI_LOCALIZING_TEXT_MAX])
{
    char bytes[32], one[32], total[40] = "", rate[40] = "", left[40] = "";
    int64_t ms = cli_localizing_left_ms(p);

    if (p->total >= 0)
        snprintf(total, sizeof(total), " of %s", cli_text_bytes(p->total, one));
    if (p->rate > 0)
        snprintf(rate, sizeof(rate), ", %s/s", cli_text_bytes(p->rate, one));
    if (ms >= 0)
        snprintf(left, sizeof(left), ", %s left", duration(ms, one));
    snprintf(buf, CLI_LOCALIZING_TEXT_MAX, "%s%s%s%s", cli_text_bytes(p->bytes, bytes), total, rate,
             left);
    return buf;
}

void cli_localizing_print(const struct cli_localizing *l, const char *container, FILE *out)
{
    char buf[CLI_LOCALIZING_TEXT_MAX];

    fprintf(out, "%s: %d of %d files localized\n", container, l->ready, l->resources);
    for (size_t i = 0; i < l->n; i++)
        fprintf(out, "    %s: %s\n", l->files[i].name, cli_localizing_text(&l->files[i].part, buf));
}

/* A sum with an unknown operand is unknown. */
static int64_t sum_of(int64_t a, int64_t b)
{
    return a < 0 || b < 0 ? -1 : SV_MIN(a + b, BYTES_MAX);
}

void cli_localizing_add(struct cli_localizing *sum, const struct cli_localizing *l)
{
    sum->resources += l->resources;
    sum->ready += l->ready;
    sum->all.bytes = SV_MIN(sum->all.bytes + l->all.bytes, BYTES_MAX);
    sum->all.total = sum_of(sum->all.total, l->all.total);
    sum->all.rate =
        SV_MIN(SV_MAX(sum->all.rate, INT64_C(0)) + SV_MAX(l->all.rate, INT64_C(0)), BYTES_MAX);
}
