/* Fuzzes definitions of services. What one dialect accepts prints, reads and prints the same again,
 * resolves within its limits, and its files are written or refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/definition/definition.h"
#include "service/definition/render.h"
#include "service/definition/service-keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static struct svc_tokens *some_tokens(void)
{
    struct svc_tokens *t = svc_tokens_new(NULL);

    MUST(t && svc_tokens_set(t, SVC_TOKEN_USER, "${USER}{{content}}") == 0);
    MUST(svc_tokens_set_peer(t, "mariadb-0", "node1", "::1") == 0);
    return t;
}

static void write_files(const struct svc_configuration *c, const struct svc_tokens *t)
{
    for (size_t i = 0; i < c->n_files; i++) {
        _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(SVC_RENDERED_MAX);
        struct sv_error err = { 0 };

        if (!svc_file_is_rendered(&c->files[i]) || svc_file_needs_source(&c->files[i]))
            continue;
        MUST(svc_file_render(&c->files[i], NULL, 0, t, &out, &err) == 0 || *err.text);
    }
}

/* The text of the definition, or NULL where it would be too long. */
static char *printed(const struct svc_definition *d)
{
    char *text = NULL;
    int r = svc_definition_print(d, &text);

    MUST(r == 0 || r == -EFBIG);
    return text;
}

static void check_again(const struct svc_definition *d)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_definition *again;
    struct sv_error err = { 0 };
    char *first = printed(d), *second;

    MUST(a);
    if (first) {
        MUST(svc_definition_parse(first, strlen(first), SVC_HADOOP, a, &again, &err) == 0);
        second = printed(again);
        MUST(second && !strcmp(first, second));
        free(second);
    }
    free(first);
}

static void check(const uint8_t *data, size_t size, enum svc_dialect dialect)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_tokens_ struct svc_tokens *t = some_tokens();
    struct svc_definition *d;
    struct sv_error err = { 0 };

    MUST(a);
    if (svc_definition_parse((const char *)data, size, dialect, a, &d, &err) < 0) {
        MUST(*err.text && !strchr(err.text, '\n'));
        return;
    }
    check_again(d);
    if (svc_definition_resolve(d, a, &err) < 0)
        return;
    check_again(d);
    for (size_t i = 0; i < d->n_components; i++) {
        int64_t n;

        write_files(&d->components[i].configuration, t);
        for (int k = 0; k < SVC_KEYS_N; k++)
            if (svc_key_row((enum svc_key)k)->type == SVC_KEY_INT)
                MUST(svc_key_int((enum svc_key)k, d, &d->components[i], NULL, &n, &err) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(data, size, SVC_STRICT);
    check(data, size, SVC_HADOOP);
    return 0;
}
