/* Fuzzes Slider's documents: resources.json, appConf.json and internal.json in one input, separated
 * by NULs. What is imported is a definition that prints and reads; the first document flexes it or
 * is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/definition/slider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Cuts the next document off; NULL: there is none. */
static const char *document(const char **at, const char *end, size_t *ret_n)
{
    const char *begin = *at, *nul;

    if (begin == end) {
        *ret_n = 0;
        return NULL;
    }
    nul = memchr(begin, 0, (size_t)(end - begin));
    *ret_n = (size_t)((nul ? nul : end) - begin);
    *at = nul ? nul + 1 : end;
    return begin;
}

static void check_definition(const struct svc_definition *d, const struct svc_slider_files *f)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_definition *again;
    struct sv_error err = { 0 };
    int64_t counts[SVC_COMPONENTS_MAX];
    char *text = NULL;
    int r = svc_definition_print(d, &text);

    MUST(a && (r == 0 || r == -EFBIG));
    if (r == 0)
        MUST(svc_definition_parse(text, strlen(text), SVC_HADOOP, a, &again, &err) == 0);
    free(text);
    if (svc_slider_flex(f->resources, f->n_resources, d, counts, &err) == 0)
        for (size_t i = 0; i < d->n_components; i++)
            MUST(counts[i] >= 0 && counts[i] <= SVC_INSTANCES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *at = (const char *)data, *end = at + size;
    struct svc_slider_files f;
    struct svc_definition *d;
    struct sv_error err = { 0 };

    MUST(a);
    f.resources = document(&at, end, &f.n_resources);
    f.app_conf = document(&at, end, &f.n_app_conf);
    f.internal = document(&at, end, &f.n_internal);
    if (svc_slider_import(&f, "s", a, &d, &err) < 0)
        MUST(*err.text && !strchr(err.text, '\n'));
    else
        check_definition(d, &f);
    return 0;
}
